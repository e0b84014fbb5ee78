/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/gst.h>

#include "gstmccoutlet.h"

static const GstMccOutletFuncs no_funcs;
static guint received, lost;

static GstFlowReturn
count (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  received++;
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static void
push_caps (GstPad *pad, const gchar *text)
{
  GstCaps *caps = gst_caps_from_string (text);

  g_assert_true (gst_pad_push_event (pad, gst_event_new_caps (caps)));
  gst_caps_unref (caps);
}

static void
push_packet (GstPad *pad)
{
  g_assert_cmpint (gst_pad_push (pad, gst_buffer_new_allocate (NULL, 20, NULL)), ==, GST_FLOW_OK);
}

/* An encoder's new parameter sets are new caps: the stream goes on with them. */
static void
test_caps_change (void)
{
  GstMccOutlet *outlet = gst_mcc_outlet_new (&no_funcs, NULL, "stream", 0);
  GstPad *src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  GstPad *sink = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));
  GstSegment segment;
  GstCaps *caps;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  GST_PAD_SET_ACCEPT_TEMPLATE (sink);
  gst_pad_set_chain_function (sink, count);
  gst_pad_set_active (sink, TRUE);
  gst_pad_set_active (src, TRUE);
  gst_mcc_outlet_start (outlet);
  g_assert_cmpint (gst_pad_link (gst_mcc_outlet_get_src (outlet), sink), ==, GST_PAD_LINK_OK);
  gst_mcc_outlet_add (outlet, src, 7);
  g_assert_true (gst_pad_push_event (src, gst_event_new_stream_start ("x")));
  push_caps (src, "application/x-rtp, media=video, sprop-parameter-sets=(string)a");
  g_assert_true (gst_pad_push_event (src, gst_event_new_segment (&segment)));
  push_packet (src);
  push_caps (src, "application/x-rtp, media=video, sprop-parameter-sets=(string)b");
  push_packet (src);
  g_assert_cmpuint (received, ==, 2);
  caps = gst_pad_get_current_caps (sink);
  g_assert_cmpstr (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "sprop-parameter-sets"), ==, "b");
  gst_caps_unref (caps);
  gst_mcc_outlet_stop (outlet);
  gst_mcc_outlet_remove (outlet, src);
  gst_mcc_outlet_free (outlet);
  gst_object_unref (sink);
  gst_object_unref (src);
}

/* One that plays into *@sink, which counts. */
static GstMccOutlet *
start_outlet (const GstMccOutletFuncs *funcs, GstPad **sink)
{
  GstMccOutlet *outlet = gst_mcc_outlet_new (funcs, NULL, "stream", 0);

  *sink = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));
  GST_PAD_SET_ACCEPT_TEMPLATE (*sink);
  gst_pad_set_chain_function (*sink, count);
  gst_pad_set_active (*sink, TRUE);
  gst_mcc_outlet_start (outlet);
  g_assert_cmpint (gst_pad_link (gst_mcc_outlet_get_src (outlet), *sink), ==, GST_PAD_LINK_OK);
  return outlet;
}

static void
stop_outlet (GstMccOutlet *outlet, GstPad *sink, GstPad *const *src, guint n)
{
  gst_mcc_outlet_stop (outlet);
  for (guint i = 0; i < n; i++) {
    gst_mcc_outlet_remove (outlet, src[i]);
    gst_object_unref (src[i]);
  }
  gst_mcc_outlet_free (outlet);
  gst_object_unref (sink);
}

static void
on_lost (gpointer owner, guint packets)
{
  lost += packets;
}

static GstPad *
add_source (GstMccOutlet *outlet, guint32 ssrc)
{
  GstPad *src = gst_object_ref_sink (gst_pad_new (NULL, GST_PAD_SRC));
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_set_active (src, TRUE);
  gst_mcc_outlet_add (outlet, src, ssrc);
  g_assert_true (gst_pad_push_event (src, gst_event_new_stream_start ("x")));
  push_caps (src, "application/x-rtp, media=video");
  g_assert_true (gst_pad_push_event (src, gst_event_new_segment (&segment)));
  return src;
}

static void
push_lost (GstPad *src)
{
  gst_pad_push_event (src, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
                               gst_structure_new_empty ("GstRTPPacketLost")));
}

/* What a sender lost whom another has replaced nobody misses. */
static void
test_lost_of_replaced (void)
{
  static const GstMccOutletFuncs funcs = { .lost = on_lost };
  GstPad *sink, *src[2];
  GstMccOutlet *outlet = start_outlet (&funcs, &sink);

  src[0] = add_source (outlet, 7);
  src[1] = add_source (outlet, 8);
  push_packet (src[0]);
  push_lost (src[0]);
  g_assert_cmpuint (lost, ==, 1);
  push_packet (src[1]);
  push_lost (src[0]);
  g_assert_cmpuint (lost, ==, 1);
  push_lost (src[1]);
  g_assert_cmpuint (lost, ==, 2);
  stop_outlet (outlet, sink, src, 2);
}

/* A sender that changes its payload type and changes it back: rtpbin has a pad for each, and the
 * first one goes on where it was, unless another sender has come. */
static void
test_payload_type_comes_back (void)
{
  GstPad *sink, *src[3];
  GstMccOutlet *outlet = start_outlet (&no_funcs, &sink);

  received = 0;
  src[0] = add_source (outlet, 7);
  push_packet (src[0]);
  src[1] = add_source (outlet, 7);
  for (guint i = 0; i < 6; i++)
    push_packet (src[(i + 1) % 2]);
  g_assert_cmpuint (received, ==, 7);
  src[2] = add_source (outlet, 8);
  push_packet (src[2]);
  push_packet (src[0]);
  push_packet (src[1]);
  g_assert_cmpuint (received, ==, 8);
  stop_outlet (outlet, sink, src, 3);
}

/* ---- who waits while another one's buffer is blocked ---- */

static GMutex door_lock;
static GCond door_cond;
static gboolean blocked, open_door;

static GstFlowReturn
block (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  g_mutex_lock (&door_lock);
  blocked = TRUE;
  g_cond_broadcast (&door_cond);
  while (!open_door)
    g_cond_wait (&door_cond, &door_lock);
  g_mutex_unlock (&door_lock);
  return count (pad, parent, buffer);
}

static gint pushed; /* atomic */

static gpointer
push_one (gpointer src)
{
  push_packet (src);
  push_lost (src);
  g_atomic_int_inc (&pushed);
  return NULL;
}

/* Who has been replaced does not wait for the one that replaced it, whose sink is paused: rtpbin
 * waits for its thread, and a state change for rtpbin. */
static void
test_replaced_does_not_wait (void)
{
  static const GstMccOutletFuncs funcs = { .lost = on_lost };
  GThread *threads[3];
  GstPad *sink, *src[3];
  GstMccOutlet *outlet = start_outlet (&funcs, &sink);

  received = lost = 0;
  for (guint i = 0; i < 3; i++)
    src[i] = add_source (outlet, i < 2 ? 7 : 8);
  push_packet (src[0]);
  gst_pad_set_chain_function (sink, block);
  threads[2] = g_thread_new ("new", push_one, src[2]);
  g_mutex_lock (&door_lock);
  while (!blocked)
    g_cond_wait (&door_cond, &door_lock);
  g_mutex_unlock (&door_lock);
  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("old", push_one, src[i]);
  for (guint i = 0; i < 300 && g_atomic_int_get (&pushed) < 2; i++)
    g_usleep (10000);
  g_assert_cmpint (g_atomic_int_get (&pushed), ==, 2);
  g_mutex_lock (&door_lock);
  open_door = TRUE;
  g_cond_broadcast (&door_cond);
  g_mutex_unlock (&door_lock);
  for (guint i = 0; i < 3; i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (received, ==, 2);
  g_assert_cmpuint (lost, ==, 1);
  stop_outlet (outlet, sink, src, 3);
}

/* A live stream: there is no other place in it, and nobody pulls. */
static void
test_queries (void)
{
  static const GstFormat formats[] = { GST_FORMAT_TIME, GST_FORMAT_BYTES, GST_FORMAT_DEFAULT };
  GstMccOutlet *outlet = gst_mcc_outlet_new (&no_funcs, NULL, "stream", 0);
  GstQuery *query;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gboolean seekable = TRUE;
    gint64 start, end;
    GstFormat format;

    query = gst_query_new_seeking (formats[i]);
    g_assert_true (gst_pad_query (gst_mcc_outlet_get_src (outlet), query));
    gst_query_parse_seeking (query, &format, &seekable, &start, &end);
    g_assert_cmpint (format, ==, formats[i]);
    g_assert_false (seekable);
    g_assert_cmpint (start, ==, 0);
    g_assert_cmpint (end, ==, -1);
    gst_query_unref (query);
  }
  query = gst_query_new_scheduling ();
  g_assert_true (gst_pad_query (gst_mcc_outlet_get_src (outlet), query));
  g_assert_true (gst_query_has_scheduling_mode (query, GST_PAD_MODE_PUSH));
  g_assert_false (gst_query_has_scheduling_mode (query, GST_PAD_MODE_PULL));
  gst_query_unref (query);
  gst_mcc_outlet_free (outlet);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/outlet/caps-change", test_caps_change);
  g_test_add_func ("/outlet/lost-of-who-was-replaced", test_lost_of_replaced);
  g_test_add_func ("/outlet/payload-type-comes-back", test_payload_type_comes_back);
  g_test_add_func ("/outlet/queries", test_queries);
  g_test_add_func ("/outlet/who-was-replaced-does-not-wait", test_replaced_does_not_wait);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is not live leaves at its pace, however late it begins, and after each seek.
 */
#include <gst/check/gstcheck.h>

#include "gstmcchold.h"

#define COUNT 11
#define STEP (50 * GST_MSECOND)

typedef struct {
  GstElement *pipeline, *clocksync;
  GstPad *src; /* ours, upstream of clocksync */
} Fixture;

static gboolean live;

static gboolean
on_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, live, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static void
push_segment (Fixture *self)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_true (gst_pad_push_event (self->src, gst_event_new_segment (&segment)));
}

static void
fixture_init (Fixture *self, GstMccHold *hold)
{
  GstElement *clocksync = gst_element_factory_make ("clocksync", NULL);
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  GstPad *pad;

  self->pipeline = gst_pipeline_new (NULL);
  gst_mcc_hold_add (hold, clocksync);
  self->clocksync = clocksync;
  g_object_set (sink, "async", FALSE, "sync", FALSE, NULL);
  gst_bin_add_many (GST_BIN (self->pipeline), clocksync, sink, NULL);
  g_assert_true (gst_element_link (clocksync, sink));
  self->src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  gst_pad_set_query_function (self->src, on_query);
  pad = gst_element_get_static_pad (clocksync, "sink");
  gst_pad_link_full (self->src, pad, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (pad);
  gst_pad_set_active (self->src, TRUE);
  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
  gst_element_get_state (self->pipeline, NULL, NULL, 5 * GST_SECOND);
  g_assert_true (gst_pad_push_event (self->src, gst_event_new_stream_start ("s")));
  push_segment (self);
}

static void
fixture_clear (Fixture *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_pad_set_active (self->src, FALSE);
  gst_object_unref (self->src);
  gst_object_unref (self->pipeline);
}

/* How long COUNT buffers take, of which the first is at 0; in lists or one by one. */
static gdouble
push_all (Fixture *self, gboolean lists)
{
  gint64 begin = g_get_monotonic_time ();

  for (guint i = 0; i < COUNT; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 10, NULL);
    GstFlowReturn flow;

    GST_BUFFER_PTS (buffer) = i * STEP;
    if (lists) {
      GstBufferList *list = gst_buffer_list_new ();

      gst_buffer_list_add (list, buffer);
      flow = gst_pad_push_list (self->src, list);
    } else {
      flow = gst_pad_push (self->src, buffer);
    }
    g_assert_cmpint (flow, ==, GST_FLOW_OK);
  }
  return (gdouble)(g_get_monotonic_time () - begin) / G_USEC_PER_SEC;
}

static const gdouble whole_s = (gdouble)(COUNT - 1) * STEP / GST_SECOND;

/* It opens slowly: no burst of what was due meanwhile. What is live was made in time. */
static void
test_late (void)
{
  static const struct {
    gboolean live, lists, held;
    guint late_ms;
  } table[] = { { FALSE, FALSE, TRUE, 1000 }, { FALSE, TRUE, TRUE, 1000 },
    { FALSE, FALSE, TRUE, 0 }, { TRUE, FALSE, FALSE, 1000 } };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    GstMccHold *hold = gst_mcc_hold_new ();
    Fixture self;
    gdouble took_s;

    live = table[i].live;
    fixture_init (&self, hold);
    g_usleep (table[i].late_ms * 1000);
    took_s = push_all (&self, table[i].lists);
    g_test_message ("row %u: %.2f s", i, took_s);
    if (table[i].held)
      g_assert_cmpfloat (took_s, >=, whole_s - 0.2);
    else
      g_assert_cmpfloat (took_s, <, whole_s / 2);
    fixture_clear (&self);
    gst_mcc_hold_unref (hold);
  }
}

/* A flushing seek in a pipeline whose running time goes on, twice; then one where it begins anew.
 */
static void
test_flush (void)
{
  GstMccHold *hold = gst_mcc_hold_new ();
  Fixture self;

  live = FALSE;
  fixture_init (&self, hold);
  g_usleep (G_USEC_PER_SEC / 2);
  for (guint i = 0; i < 4; i++) {
    gdouble took_s = push_all (&self, FALSE);

    g_test_message ("%u: %.2f s", i, took_s);
    g_assert_cmpfloat (took_s, >=, whole_s - 0.2);
    g_assert_cmpfloat (took_s, <=, whole_s + 0.4);
    gst_pad_push_event (self.src, gst_event_new_flush_start ());
    gst_pad_push_event (self.src, gst_event_new_flush_stop (TRUE));
    if (i == 2)
      gst_element_set_base_time (
          self.pipeline, gst_clock_get_time (GST_ELEMENT_CLOCK (self.pipeline)));
    push_segment (&self);
  }
  fixture_clear (&self);
  gst_mcc_hold_unref (hold);
}

static gint64
offset_of (Fixture *self)
{
  gint64 offset;

  g_object_get (self->clocksync, "ts-offset", &offset, NULL);
  return offset;
}

static void
push_one (Fixture *self)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 10, NULL);

  GST_BUFFER_PTS (buffer) = 0;
  g_assert_cmpint (gst_pad_push (self->src, buffer), ==, GST_FLOW_OK);
}

/* The layers of one sender stay together: all as late as the latest, until all have flushed; and a
 * source that follows another one without a flush goes on so. */
static void
test_together (void)
{
  GstMccHold *hold = gst_mcc_hold_new ();
  Fixture self[2];

  live = FALSE;
  for (guint i = 0; i < 2; i++)
    fixture_init (&self[i], hold);
  push_one (&self[0]);
  g_assert_cmpint (offset_of (&self[0]), ==, 0);
  g_usleep (2 * G_USEC_PER_SEC / 5);
  push_one (&self[1]);
  g_assert_cmpint (offset_of (&self[1]), >, 350 * (gint64)GST_MSECOND);
  g_assert_cmpint (offset_of (&self[0]), ==, offset_of (&self[1]));
  gst_pad_push_event (self[1].src, gst_event_new_stream_start ("next"));
  push_segment (&self[1]);
  push_one (&self[1]);
  g_assert_cmpint (offset_of (&self[1]), >, 350 * (gint64)GST_MSECOND);
  gst_pad_push_event (self[0].src, gst_event_new_flush_start ());
  g_assert_cmpint (offset_of (&self[0]), ==, offset_of (&self[1]));
  gst_pad_push_event (self[1].src, gst_event_new_flush_start ());
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (offset_of (&self[i]), ==, 0);
    gst_pad_push_event (self[i].src, gst_event_new_flush_stop (FALSE)); /* running time goes on */
    push_segment (&self[i]);
  }
  push_one (&self[0]);
  g_assert_cmpint (offset_of (&self[1]), >, 350 * (gint64)GST_MSECOND);
  gst_mcc_hold_reset (hold);
  g_assert_cmpint (offset_of (&self[1]), ==, 0);
  gst_mcc_hold_unref (hold); /* its elements go on with it */
  for (guint i = 0; i < 2; i++)
    fixture_clear (&self[i]);
}

int
main (int argc, char **argv)
{
  gst_check_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hold/late", test_late);
  g_test_add_func ("/hold/flush", test_flush);
  g_test_add_func ("/hold/together", test_together);
  return g_test_run ();
}

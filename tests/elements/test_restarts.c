/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A sender that stops and starts by way of READY, without keys, before a receiver that goes on:
 * under other SSRCs, as ours do, and under the same one, as others' may. Its numbers then begin
 * below those before, and its timestamps anew.
 */
#include <gst/gst.h>

#include "ownport.h"
#include "packets.h"
#include "register.h"

#define VIDEO                                                                                      \
  "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=96,framerate=30/1 ! "
#define ENCODED VIDEO "x264enc tune=zerolatency key-int-max=300 ! rtph264pay name=pay "
#define WITHIN_MS 10000
#define SSRC 0x77u

typedef struct {
  const gchar *name, *sender, *receiver;
  gboolean forwards; /* what leaves is one stream: its timestamps never go back */
  gboolean same;     /* SSRC */
} Case;

typedef struct {
  GstElement *pipeline, *element;
  GMutex lock;
  guint buffers, back;
  guint32 time; /* newest */
} Side;

static gchar group[32];
static guint16 port;

static GstPadProbeReturn
on_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Side *side = data;
  guint32 time = 0;

  gst_buffer_extract (GST_PAD_PROBE_INFO_BUFFER (info), 4, &time, sizeof time);
  time = GUINT32_FROM_BE (time);
  g_mutex_lock (&side->lock);
  side->back += side->buffers > 0 && (gint32)(time - side->time) < 0;
  side->time = time;
  side->buffers++;
  g_mutex_unlock (&side->lock);
  return GST_PAD_PROBE_OK;
}

static gboolean
relabel (GstBuffer **buffer, guint i, gpointer data)
{
  guint32 ssrc = GUINT32_TO_BE (SSRC);

  gst_buffer_fill (*buffer, 8, &ssrc, sizeof ssrc);
  return TRUE;
}

static void
relabel_caps (GstPadProbeInfo *info)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return;
  gst_event_parse_caps (event, &caps);
  caps = gst_caps_copy (caps);
  gst_caps_set_simple (caps, "ssrc", G_TYPE_UINT, SSRC, NULL);
  gst_event_unref (event);
  info->data = gst_event_new_caps (caps);
  gst_caps_unref (caps);
}

static GstPadProbeReturn
on_payloaded (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM)
    relabel_caps (info);
  else
    packets_change (info, relabel);
  return GST_PAD_PROBE_OK;
}

static guint
count (Side *side)
{
  guint n;

  g_mutex_lock (&side->lock);
  n = side->buffers;
  g_mutex_unlock (&side->lock);
  return n;
}

static gboolean
comes (Side *side, guint more)
{
  guint wanted = count (side) + more;

  for (guint ms = 0; ms < WITHIN_MS && count (side) < wanted; ms += 50)
    g_usleep (50000);
  return count (side) >= wanted;
}

/* FALSE: an element is missing. */
static gboolean
start (Side *side, const gchar *description)
{
  GError *error = NULL;

  memset (side, 0, sizeof *side);
  g_mutex_init (&side->lock);
  side->pipeline = gst_parse_launch (description, &error);
  if (error) {
    g_test_skip (error->message);
    g_clear_error (&error);
    gst_clear_object (&side->pipeline);
    return FALSE;
  }
  side->element = gst_bin_get_by_name (GST_BIN (side->pipeline), "it");
  g_object_set (side->element, "address", group, "port", port, "multicast-iface", "lo", NULL);
  return TRUE;
}

static void
play (Side *side)
{
  g_assert_cmpint (
      gst_element_set_state (side->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

/* Whom the receiver follows. */
static guint
source_ssrc (Side *side)
{
  GstStructure *stats;
  guint ssrc = 0;

  g_object_get (side->element, "stats", &stats, NULL);
  gst_structure_get_uint (stats, "source-ssrc", &ssrc);
  gst_structure_free (stats);
  return ssrc;
}

static void
stop (Side *side)
{
  gst_element_set_state (side->pipeline, GST_STATE_NULL);
  gst_object_unref (side->element);
  gst_object_unref (side->pipeline);
  g_mutex_clear (&side->lock);
}

static void
test_restart (gconstpointer data)
{
  const Case *test = data;
  gchar *text = g_strdup_printf ("%s name=it latency=50 ! fakesink sync=false", test->receiver);
  Side sender, receiver;
  GstElement *pay;
  GstPad *pad;

  if (!start (&sender, test->sender)) {
    g_free (text);
    return;
  }
  g_assert_true (start (&receiver, text));
  g_free (text);
  pay = gst_bin_get_by_name (GST_BIN (sender.pipeline), "pay");
  pad = gst_element_get_static_pad (receiver.element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &receiver, NULL);
  gst_object_unref (pad);
  if (test->same) {
    pad = gst_element_get_static_pad (pay, "src");
    gst_pad_add_probe (pad,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST
            | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        on_payloaded, NULL, NULL);
    gst_object_unref (pad);
  }
  if (pay)
    g_object_set (pay, "seqnum-offset", 40000, "timestamp-offset", 1000u, NULL);
  play (&sender);
  play (&receiver);
  g_assert_true (comes (&receiver, 100));
  for (gint i = 0; i < 2; i++) {
    guint before, ssrc = source_ssrc (&receiver);
    gint64 begun;

    gst_element_set_state (sender.pipeline, GST_STATE_READY);
    g_usleep (300000); /* what was on its way */
    before = count (&receiver);
    if (pay)
      g_object_set (pay, "seqnum-offset", 30000 - 10000 * i, NULL);
    begun = g_get_monotonic_time ();
    play (&sender);
    g_assert_true (comes (&receiver, 1));
    g_test_message ("%08x, first packet after %.0f ms", source_ssrc (&receiver),
        (gdouble)(g_get_monotonic_time () - begun) / 1e3);
    g_assert_true (comes (&receiver, 90));
    g_assert_cmpuint (count (&receiver), >, before);
    if (test->same)
      g_assert_cmpuint (source_ssrc (&receiver), ==, SSRC);
    else
      g_assert_cmpuint (source_ssrc (&receiver), !=, ssrc);
  }
  if (test->forwards)
    g_assert_cmpuint (receiver.back, ==, 0);
  gst_clear_object (&pay);
  stop (&receiver);
  stop (&sender);
}

int
main (int argc, char **argv)
{
  static const Case cases[] = {
    { "asmp", ENCODED "! asmpsink name=it", "asmpsrc", FALSE, FALSE },
    { "asmp/same-ssrc", ENCODED "! asmpsink name=it", "asmpsrc", FALSE, TRUE },
    { "assp", VIDEO "asspsimulcastbin name=it streams=100000:300000", "asspsimulcastsrc", TRUE,
        FALSE },
    { "assp/request-pad", ENCODED "! it.sink_0 asspsimulcastbin name=it streams=100000:300000",
        "asspsimulcastsrc", TRUE, FALSE },
    { "assp/same-ssrc", ENCODED "! it.sink_0 asspsimulcastbin name=it streams=100000:300000",
        "asspsimulcastsrc", TRUE, TRUE },
    { "elm", ENCODED "! elmlayersink name=it", "elmlayersrc", TRUE, FALSE },
  };

  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  register_elements ();
  own_group (group, sizeof group);
  port = own_port (8);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *name = g_strconcat ("/restarts/", cases[i].name, NULL);

    g_test_add_data_func (name, &cases[i], test_restart);
    g_free (name);
  }
  return g_test_run ();
}

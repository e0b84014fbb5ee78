/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmcchold.h"

GST_DEBUG_CATEGORY_STATIC (gst_mcc_hold_debug);
#define GST_CAT_DEFAULT gst_mcc_hold_debug

/* Set where a flush ends or a start begins; the streaming thread's. */
static const gchar begun[] = "mcc-begun";

static gboolean
is_live (GstPad *sink)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live = TRUE; /* not known: as it was */

  if (gst_pad_peer_query (sink, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  return live;
}

/* GST_CLOCK_TIME_NONE: it has no time. */
static GstClockTime
running_time_of (GstPad *pad, GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_DTS_OR_PTS (buffer), running = GST_CLOCK_TIME_NONE;
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;

  if (!event)
    return running;
  gst_event_parse_segment (event, &segment);
  if (segment->format == GST_FORMAT_TIME)
    running = gst_segment_to_running_time (segment, GST_FORMAT_TIME, time);
  gst_event_unref (event);
  return running;
}

/* The first one has left clocksync, in time or late. */
static void
look_at_first (GstPad *src, GstElement *clocksync, GstBuffer *buffer)
{
  GstClockTime due = running_time_of (src, buffer);
  GstClockTime now = gst_element_get_current_running_time (clocksync);
  GstPad *sink;
  gint64 offset;
  gboolean sync;

  if (!GST_CLOCK_TIME_IS_VALID (due) || !GST_CLOCK_TIME_IS_VALID (now))
    return;
  g_object_set_data (G_OBJECT (clocksync), begun, GINT_TO_POINTER (TRUE));
  g_object_get (clocksync, "sync", &sync, "ts-offset", &offset, NULL);
  if (!sync || GST_CLOCK_DIFF (due, now) - offset <= (GstClockTimeDiff)GST_MCC_HOLD_LATE)
    return;
  sink = gst_element_get_static_pad (clocksync, "sink");
  if (!is_live (sink)) {
    GST_INFO_OBJECT (clocksync, "begins %" GST_TIME_FORMAT " late", GST_TIME_ARGS (now - due));
    g_object_set (clocksync, "ts-offset", GST_CLOCK_DIFF (due, now), NULL);
  }
  gst_object_unref (sink);
}

static GstPadProbeReturn
on_left (GstPad *src, GstPadProbeInfo *info, gpointer data)
{
  GstElement *clocksync = data;
  GstBuffer *buffer;

  if (g_object_get_data (G_OBJECT (clocksync), begun))
    return GST_PAD_PROBE_OK;
  buffer = info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST
               ? gst_buffer_list_get (GST_PAD_PROBE_INFO_BUFFER_LIST (info), 0)
               : GST_PAD_PROBE_INFO_BUFFER (info);
  if (buffer)
    look_at_first (src, clocksync, buffer);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_event (GstPad *sink, GstPadProbeInfo *info, gpointer data)
{
  GstElement *clocksync = data;
  GstEventType type = GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info));

  if (type == GST_EVENT_FLUSH_STOP || type == GST_EVENT_STREAM_START) {
    g_object_set_data (G_OBJECT (clocksync), begun, NULL);
    g_object_set (clocksync, "ts-offset", (gint64)0, NULL);
  }
  return GST_PAD_PROBE_OK;
}

void
gst_mcc_hold (GstElement *clocksync)
{
  GstPad *sink = gst_element_get_static_pad (clocksync, "sink");
  GstPad *src = gst_element_get_static_pad (clocksync, "src");

  GST_DEBUG_CATEGORY_INIT (gst_mcc_hold_debug, "mcchold", 0, "what is not live, held to its pace");
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      on_event, clocksync, NULL);
  gst_pad_add_probe (
      src, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_left, clocksync, NULL);
  gst_object_unref (sink);
  gst_object_unref (src);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asspworld.h"
#include "lastref.h"

#include <string.h>

static void
take_packet (World *world, GstBuffer *buffer)
{
  guint8 data[16];
  gint64 now = g_get_monotonic_time ();
  guint32 time;
  guint16 seq;

  gst_buffer_extract (buffer, 0, data, sizeof data);
  seq = GST_READ_UINT16_BE (data + 2);
  time = GST_READ_UINT32_BE (data + 4);
  if (world->buffers > 0) {
    world->gaps += seq != (guint16)(world->seq + 1);
    world->back += (gint32)(time - world->time) < 0;
    world->other_ssrc += world->ssrc != GST_READ_UINT32_BE (data + 8);
    world->longest_us = MAX (world->longest_us, now - world->newest_us);
    if (time == world->time)
      world->out_packets++;
    else {
      world->torn += world->out_packets != 3;
      world->out_packets = 1;
    }
  } else {
    world->out_packets = 1;
  }
  world->newest_us = now;
  world->seq = seq;
  world->time = time;
  world->ssrc = GST_READ_UINT32_BE (data + 8);
  world->stream = data[13];
  world->buffers++;
}

static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  World *world = data;

  g_mutex_lock (&world->lock);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    take_packet (world, GST_PAD_PROBE_INFO_BUFFER (info));
  else
    switch (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))) {
      case GST_EVENT_STREAM_START:
        world->stream_starts++;
        break;
      case GST_EVENT_CAPS:
        world->caps++;
        break;
      case GST_EVENT_SEGMENT:
        world->segments++;
        break;
      case GST_EVENT_EOS:
        world->eos++;
        break;
      default:
        break;
    }
  g_mutex_unlock (&world->lock);
  return GST_PAD_PROBE_OK;
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  const GstStructure *s = gst_message_get_structure (message);
  World *world = data;
  GError *error = NULL;

  g_mutex_lock (&world->lock);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    world->errors++;
    gst_message_parse_error (message, &error, NULL);
    g_strlcpy (world->error, error->message, sizeof world->error);
    g_error_free (error);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    world->warnings++;
    gst_message_parse_warning (message, &error, NULL);
    g_strlcpy (world->warning, error->message, sizeof world->warning);
    g_error_free (error);
  } else if (s && gst_structure_has_name (s, "adaptive-multicast-switch")) {
    world->switches++;
    gst_structure_get_int (s, "from", &world->from);
    gst_structure_get_int (s, "to", &world->to);
    g_strlcpy (world->reason, gst_structure_get_string (s, "reason"), sizeof world->reason);
    g_assert_true (gst_structure_has_field_typed (s, "duration", G_TYPE_UINT64));
  }
  g_mutex_unlock (&world->lock);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static void
on_notify (GObject *object, GParamSpec *pspec, World *world)
{
  g_atomic_int_inc (&world->notified);
}

void
world_start (World *world, AsspSource *peer, const gchar *more)
{
  gchar *text = g_strdup_printf ("asspsimulcastsrc name=src address=%s port=%u multicast-iface=lo "
                                 "latency=100 ttl-mc=1 %s ! fakesink name=sink sync=false "
                                 "async=false",
      peer->group, peer->port, more);
  GstElement *sink;
  GstBus *bus;
  GstPad *pad;

  memset (world, 0, sizeof *world);
  world->from = world->to = -2;
  world->peer = peer;
  g_mutex_init (&world->lock);
  world->pipeline = gst_parse_launch (text, NULL);
  g_assert_nonnull (world->pipeline);
  g_free (text);
  world->src = gst_bin_get_by_name (GST_BIN (world->pipeline), "src");
  g_signal_connect (world->src, "notify::stream", G_CALLBACK (on_notify), world);
  sink = gst_bin_get_by_name (GST_BIN (world->pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_data, world, NULL);
  gst_object_unref (pad);
  gst_object_unref (sink);
  bus = gst_element_get_bus (world->pipeline);
  gst_bus_set_sync_handler (bus, on_message, world, NULL);
  gst_object_unref (bus);
  g_assert_cmpint (
      gst_element_set_state (world->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

void
world_stop (World *world)
{
  g_assert_cmpint (
      gst_element_set_state (world->pipeline, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  g_assert_cmpuint (world->errors, ==, 0);
  gst_object_unref (world->src);
  last_unref (world->pipeline);
  g_mutex_clear (&world->lock);
}

gint
world_shown (World *world)
{
  gint stream;

  g_object_get (world->src, "stream", &stream, NULL);
  return stream;
}

static void
explain (World *world, gint stream)
{
  GstStructure *stats;
  gchar *text;

  g_object_get (world->src, "stats", &stats, NULL);
  text = gst_structure_to_string (stats);
  g_mutex_lock (&world->lock);
  g_test_message ("stream %d is not shown: %d is, the newest of %u packets is of %u; "
                  "%u warnings (%s), %u errors (%s)",
      stream, world_shown (world), world->buffers, world->stream, world->warnings, world->warning,
      world->errors, world->error);
  g_mutex_unlock (&world->lock);
  if (world->peer)
    g_test_message ("the sender heard %d requests for key units, %d reports, %d BYEs",
        g_atomic_int_get (&world->peer->plis), g_atomic_int_get (&world->peer->reports),
        g_atomic_int_get (&world->peer->byes));
  g_test_message ("%s", text);
  g_free (text);
  gst_structure_free (stats);
}

gboolean
world_comes_to (World *world, gint stream, gdouble seconds)
{
  for (gint64 end = g_get_monotonic_time () + (gint64)(seconds * G_USEC_PER_SEC);
       g_get_monotonic_time () < end; g_usleep (5000)) {
    gboolean packets;

    g_mutex_lock (&world->lock);
    packets = world->stream == stream && world->buffers > 0;
    g_mutex_unlock (&world->lock);
    if (world_shown (world) == stream && packets)
      return TRUE;
  }
  explain (world, stream);
  return FALSE;
}

guint64
world_stat (World *world, const gchar *name)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (world->src, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  gst_structure_free (stats);
  return value;
}

gboolean
world_stat_reaches (World *world, const gchar *name, guint64 least, gdouble seconds)
{
  for (gint64 end = g_get_monotonic_time () + (gint64)(seconds * G_USEC_PER_SEC);
       g_get_monotonic_time () < end; g_usleep (10000))
    if (world_stat (world, name) >= least)
      return TRUE;
  return FALSE;
}

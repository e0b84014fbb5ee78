/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sinkfixture.h"

#include <string.h>

#include "gstasmpsink.h"
#include "lastref.h"

gboolean
sink_setup (SinkFixture *f, const gchar *description)
{
  gchar **parts = g_strsplit (description, "@", 2);
  GError *error = NULL;
  gchar *whole;

  memset (f, 0, sizeof *f);
  asmp_peer_init (&f->peer, 0x1234);
  whole = g_strdup_printf ("%sasmpsink name=sink address=127.0.0.1 port=%u seed=7 %s", parts[0],
      f->peer.port, parts[1] ? parts[1] : "");
  f->pipeline = gst_parse_launch (whole, &error);
  g_strfreev (parts);
  g_free (whole);
  if (error) {
    g_test_skip (error->message);
    g_clear_error (&error);
    gst_clear_object (&f->pipeline);
    asmp_peer_clear (&f->peer);
    return FALSE;
  }
  f->sink = gst_bin_get_by_name (GST_BIN (f->pipeline), "sink");
  f->encoder = gst_bin_get_by_name (GST_BIN (f->pipeline), "e");
  f->bus = gst_element_get_bus (f->pipeline);
  return TRUE;
}

void
sink_teardown (SinkFixture *f)
{
  GstElement *sink = f->sink;

  gst_element_set_state (f->pipeline, GST_STATE_NULL);
  gst_bus_set_flushing (f->bus, TRUE);
  gst_clear_object (&f->encoder);
  gst_object_unref (f->bus);
  gst_object_unref (f->pipeline);
  last_unref (sink);
  asmp_peer_clear (&f->peer);
}

void
sink_play (SinkFixture *f)
{
  g_assert_cmpint (
      gst_element_set_state (f->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

void
sink_meet (SinkFixture *f)
{
  for (guint i = 0; i < 500; i++) {
    asmp_peer_run (&f->peer, 10);
    if (f->peer.packets > 0 && f->peer.sender && f->peer.sessions > 0
        && f->peer.session.payload_type != 255)
      return;
  }
  g_error ("nothing came: %" G_GUINT64_FORMAT " packets, %u announcements", f->peer.packets,
      f->peer.sessions);
}

void
sink_join (SinkFixture *f, guint64 rate_bps)
{
  asmp_peer_report (&f->peer, rate_bps, 0);
  asmp_peer_run (&f->peer, 110);
  asmp_peer_report (&f->peer, rate_bps, 0);
}

gboolean
sink_packets (SinkFixture *f, guint packets)
{
  gint64 until = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
  guint64 wanted = f->peer.packets + packets;

  while (f->peer.packets < wanted && g_get_monotonic_time () < until)
    asmp_peer_run (&f->peer, 5);
  return f->peer.packets >= wanted;
}

GstMessage *
sink_wait_message (SinkFixture *f, GstMessageType type, guint ms)
{
  gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;
  GstMessage *message = NULL;

  while (!message && g_get_monotonic_time () < until) {
    asmp_peer_run (&f->peer, 2);
    message = gst_bus_pop_filtered (f->bus, type);
  }
  return message;
}

GstStructure *
sink_wait_element_message (
    SinkFixture *f, const gchar *name, const gchar *field, const gchar *text, guint ms)
{
  gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;

  while (g_get_monotonic_time () < until) {
    GstMessage *message = sink_wait_message (f, GST_MESSAGE_ELEMENT, 20);
    GstStructure *found = NULL;

    if (!message)
      continue;
    if (gst_message_has_name (message, name)) {
      const GstStructure *s = gst_message_get_structure (message);

      if (!field || g_strcmp0 (gst_structure_get_string (s, field), text) == 0)
        found = gst_structure_copy (s);
    }
    gst_message_unref (message);
    if (found)
      return found;
  }
  return NULL;
}

guint
sink_count_warnings (SinkFixture *f, const gchar *part)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (f->bus, GST_MESSAGE_WARNING))) {
    GError *error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    g_test_message ("warning: %s", error->message);
    n += strstr (error->message, part) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  return n;
}

gboolean
sink_warns_once (SinkFixture *f, const gchar *part, guint ms)
{
  gint64 until = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
  guint n = 0;

  while (n == 0 && g_get_monotonic_time () < until) {
    asmp_peer_run (&f->peer, 5);
    n = sink_count_warnings (f, part);
  }
  asmp_peer_run (&f->peer, ms);
  return n + sink_count_warnings (f, part) == 1;
}

guint64
get_u64 (GstElement *element, const gchar *property)
{
  guint64 value;

  g_object_get (element, property, &value, NULL);
  return value;
}

guint
get_uint (GstElement *element, const gchar *property)
{
  guint value;

  g_object_get (element, property, &value, NULL);
  return value;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asspbinfixture.h"
#include "lastref.h"

#include <string.h>

#define BIN "asspsimulcastbin name=bin multicast-iface=lo ttl-mc=0 seed=7 "

gboolean
bin_setup (BinFixture *f, const gchar *description)
{
  gchar **parts = g_strsplit (description, "@", 2), *whole;
  GError *error = NULL;

  memset (f, 0, sizeof *f);
  assp_peer_init (&f->peer, 0x1234);
  whole = g_strdup_printf (
      "%s" BIN "address=%s port=%u %s", parts[0], f->peer.group, f->peer.port, parts[1]);
  f->pipeline = gst_parse_launch (whole, &error);
  g_strfreev (parts);
  g_free (whole);
  if (error) {
    g_test_skip (error->message);
    g_clear_error (&error);
    gst_clear_object (&f->pipeline);
    assp_peer_clear (&f->peer);
    return FALSE;
  }
  f->bin = gst_bin_get_by_name (GST_BIN (f->pipeline), "bin");
  f->bus = gst_element_get_bus (f->pipeline);
  return TRUE;
}

void
bin_teardown (BinFixture *f)
{
  GstElement *bin = f->bin;

  gst_element_set_state (f->pipeline, GST_STATE_NULL);
  gst_bus_set_flushing (f->bus, TRUE);
  gst_object_unref (f->bus);
  gst_object_unref (f->pipeline);
  last_unref (bin);
  assp_peer_clear (&f->peer);
}

void
bin_play (BinFixture *f)
{
  g_assert_cmpint (
      gst_element_set_state (f->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

void
bin_meet (BinFixture *f, guint n)
{
  for (guint ms = 0; ms < 8000; ms += 10) {
    guint heard = 0;

    assp_peer_run (&f->peer, 10);
    for (guint i = 0; i < n; i++)
      heard += f->peer.stream[i].frames > 2 && f->peer.stream[i].sessions > 0
               && f->peer.stream[i].session.payload_type != 255;
    if (heard == n && f->peer.descriptions > 0)
      return;
  }
  g_error ("not all came: %u descriptions, frames %u %u %u", f->peer.descriptions,
      f->peer.stream[0].frames, f->peer.stream[1].frames, f->peer.stream[2].frames);
}

void
bin_enter (BinFixture *f, guint stream, guint64 rate_bps)
{
  assp_peer_report (&f->peer, stream, rate_bps, 0);
  assp_peer_run (&f->peer, 110);
  assp_peer_report (&f->peer, stream, rate_bps, 0);
}

gboolean
bin_frames (BinFixture *f, guint stream, guint n)
{
  guint wanted = f->peer.stream[stream].frames + n;

  for (guint ms = 0; ms < 10000 && f->peer.stream[stream].frames < wanted; ms += 5)
    assp_peer_run (&f->peer, 5);
  return f->peer.stream[stream].frames >= wanted;
}

GstMessage *
bin_wait_message (BinFixture *f, GstMessageType type, guint ms)
{
  GstMessage *message = NULL;

  for (gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;
       !message && g_get_monotonic_time () < until;) {
    assp_peer_run (&f->peer, 2);
    message = gst_bus_pop_filtered (f->bus, type);
  }
  return message;
}

GstStructure *
bin_wait_element_message (BinFixture *f, const gchar *name, gint stream, guint ms)
{
  for (gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;
       g_get_monotonic_time () < until;) {
    GstMessage *message = bin_wait_message (f, GST_MESSAGE_ELEMENT, 20);
    GstStructure *found = NULL;
    gint about = -1;

    if (message && gst_message_has_name (message, name)
        && gst_structure_get_int (gst_message_get_structure (message), "stream", &about)
        && about == stream)
      found = gst_structure_copy (gst_message_get_structure (message));
    if (message)
      gst_message_unref (message);
    if (found)
      return found;
  }
  return NULL;
}

guint64
bin_stream_u64 (BinFixture *f, guint stream, const gchar *field)
{
  GstStructure *stats;
  const GstStructure *one;
  guint64 value = 0;

  g_object_get (f->bin, "stats", &stats, NULL);
  one = gst_value_get_structure (
      gst_value_array_get_value (gst_structure_get_value (stats, "streams"), stream));
  g_assert_true (gst_structure_get_uint64 (one, field, &value));
  gst_structure_free (stats);
  return value;
}

guint
bin_stream_uint (BinFixture *f, guint stream, const gchar *field)
{
  GstStructure *stats;
  const GstStructure *one;
  gboolean flag;
  guint value = 0;

  g_object_get (f->bin, "stats", &stats, NULL);
  one = gst_value_get_structure (
      gst_value_array_get_value (gst_structure_get_value (stats, "streams"), stream));
  if (gst_structure_get_boolean (one, field, &flag))
    value = (guint)flag;
  else
    g_assert_true (gst_structure_get_uint (one, field, &value));
  gst_structure_free (stats);
  return value;
}

void
bin_wait_reports (BinFixture *f, guint n)
{
  for (guint ms = 0; ms < 15000; ms += 20) {
    guint heard = 0;

    for (guint i = 0; i < n; i++)
      heard += f->peer.stream[i].reports > 0;
    if (heard == n)
      return;
    assp_peer_run (&f->peer, 20);
  }
  g_error ("no sender report of a stream");
}

void
bin_check_time_base (BinFixture *f, guint n)
{
  bin_meet (f, n);
  bin_wait_reports (f, n);
  assp_peer_run (&f->peer, 500);
  for (guint i = 1; i < n; i++) {
    const AsspPeerStream *a = &f->peer.stream[0], *b = &f->peer.stream[i];
    guint common = 0;

    for (guint k = 0; k < MIN (a->frames, ASSP_PEER_TIMES); k++)
      for (guint l = 0; l < MIN (b->frames, ASSP_PEER_TIMES); l++)
        common += a->time[k] == b->time[l];
    g_test_message ("%u of %u frames of stream %u have the time of one of stream 0", common,
        MIN (b->frames, ASSP_PEER_TIMES), i);
    g_assert_cmpuint (common, >=, MIN (b->frames, ASSP_PEER_TIMES) / 2);
    /* and so have the sender reports */
    g_assert_cmpuint ((guint32)(b->sr_rtp_time - b->time[0] + 90000 * 20), <, 90000 * 40);
  }
}

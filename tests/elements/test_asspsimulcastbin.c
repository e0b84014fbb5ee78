/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastbin beside a receiver that the test plays: states, groups, time base, reports, key
 * units, streams that idle, encoders that fail, streams that others encode.
 */
#include <string.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "assppeer.h"
#include "gstasspsimulcastbin.h"

#define LADDER "streams=200000:400000,400000:900000,900000:2000000 "
#define SOURCE                                                                                     \
  "videotestsrc is-live=true pattern=snow ! video/x-raw,width=640,height=360,framerate=30/1 ! "
#define BIN "asspsimulcastbin name=bin multicast-iface=lo ttl-mc=0 seed=7 "

typedef struct {
  AsspPeer peer;
  GstElement *pipeline, *bin;
  GstBus *bus;
} Fixture;

/* @description with "@" for the element and its place. FALSE: an element is missing, skip. */
static gboolean
setup (Fixture *f, const gchar *description)
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

static void
teardown (Fixture *f)
{
  GstElement *bin = f->bin;

  gst_element_set_state (f->pipeline, GST_STATE_NULL);
  gst_bus_set_flushing (f->bus, TRUE);
  gst_object_unref (f->bus);
  gst_object_unref (f->pipeline);
  g_assert_cmpint (G_OBJECT (bin)->ref_count, ==, 1);
  gst_object_unref (bin);
  assp_peer_clear (&f->peer);
}

static void
play (Fixture *f)
{
  g_assert_cmpint (
      gst_element_set_state (f->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

/* Runs until @n streams were heard, and announced with caps. */
static void
meet (Fixture *f, guint n)
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

/* In @stream; the first report is probation. */
static void
enter (Fixture *f, guint stream, guint64 rate_bps)
{
  assp_peer_report (&f->peer, stream, rate_bps, 0);
  assp_peer_run (&f->peer, 110);
  assp_peer_report (&f->peer, stream, rate_bps, 0);
}

static gboolean
frames (Fixture *f, guint stream, guint n)
{
  guint wanted = f->peer.stream[stream].frames + n;

  for (guint ms = 0; ms < 10000 && f->peer.stream[stream].frames < wanted; ms += 5)
    assp_peer_run (&f->peer, 5);
  return f->peer.stream[stream].frames >= wanted;
}

static GstMessage *
wait_message (Fixture *f, GstMessageType type, guint ms)
{
  GstMessage *message = NULL;

  for (gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;
       !message && g_get_monotonic_time () < until;) {
    assp_peer_run (&f->peer, 2);
    message = gst_bus_pop_filtered (f->bus, type);
  }
  return message;
}

static GstStructure *
wait_element_message (Fixture *f, const gchar *name, gint stream, guint ms)
{
  for (gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;
       g_get_monotonic_time () < until;) {
    GstMessage *message = wait_message (f, GST_MESSAGE_ELEMENT, 20);
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

/* One field of a stream's stats. */
static guint64
stream_u64 (Fixture *f, guint stream, const gchar *field)
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

static guint
stream_uint (Fixture *f, guint stream, const gchar *field)
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

/* ---- states ---- */

static void
test_states (void)
{
  static const GstState walk[] = { GST_STATE_READY, GST_STATE_NULL, GST_STATE_PAUSED,
    GST_STATE_READY, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_READY,
    GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PLAYING, GST_STATE_NULL };
  Fixture f;

  if (!setup (&f, SOURCE "@" LADDER))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (walk); i++) {
    g_assert_cmpint (gst_element_set_state (f.pipeline, walk[i]), !=, GST_STATE_CHANGE_FAILURE);
    gst_element_get_state (f.pipeline, NULL, NULL, 5 * GST_SECOND);
    assp_peer_run (&f.peer, 30);
  }
  g_assert_cmpuint (GST_BIN_NUMCHILDREN (f.bin), ==, 0); /* nothing stays in NULL */
  teardown (&f);
}

static void
test_plays_again (void)
{
  Fixture f;

  if (!setup (&f, SOURCE "@" LADDER))
    return;
  for (guint i = 0; i < 2; i++) {
    guint32 ssrc = f.peer.stream[0].ssrc;

    play (&f);
    for (guint k = 0; k < 3; k++)
      f.peer.stream[k].frames = f.peer.stream[k].sessions = f.peer.stream[k].byes = 0;
    meet (&f, 3);
    g_assert_cmpuint (f.peer.stream[0].ssrc, !=, ssrc);
    gst_element_set_state (f.pipeline, GST_STATE_NULL);
    assp_peer_run (&f.peer, 50);
    for (guint k = 0; k < 3; k++)
      g_assert_cmpuint (f.peer.stream[k].byes, >=, 1);
  }
  teardown (&f);
}

/* ---- the streams ---- */

/* Until a sender report of each was heard; all share the RTCP of the lowest. */
static void
wait_reports (Fixture *f, guint n)
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

static void
test_streams (void)
{
  Fixture f;
  const MccAsspStreams *s;

  if (!setup (&f, SOURCE "@" LADDER))
    return;
  play (&f);
  meet (&f, 3);
  wait_reports (&f, 3);
  s = &f.peer.streams;
  g_assert_cmpuint (s->count, ==, 3);
  for (guint i = 0; i < 3; i++) {
    const AsspPeerStream *stream = &f.peer.stream[i];

    g_assert_cmpuint (s->stream[i].ssrc, ==, stream->ssrc);
    g_assert_cmpuint (s->stream[i].address_offset, ==, 1 + i);
    g_assert_cmpuint (s->stream[i].port_offset, ==, 2 * i);
    g_assert_cmpuint (s->stream[i].flags & MCC_ASSP_RUNNING, !=, 0);
    g_assert_cmpuint (stream->gaps, ==, 0);
    g_assert_cmpuint (stream->unstamped, ==, 0);
    g_assert_cmpuint (stream->reports, >=, 1);
    g_assert_cmpstr (stream->session.encoding_name, ==, "H264");
    g_assert_cmpuint (stream->session.clock_rate, ==, 90000);
    g_assert_cmpuint (stream->session.send_time_id, ==, 14);
    g_assert_nonnull (strstr (stream->session.parameters, "sprop-parameter-sets="));
    for (guint k = 0; k < i; k++)
      g_assert_cmpuint (stream->ssrc, !=, f.peer.stream[k].ssrc);
  }
  g_assert_cmpuint (s->stream[1].low_bps, ==, 400000);
  g_assert_cmpuint (s->stream[1].high_bps, ==, 900000);
  g_assert_cmpuint (f.peer.cnames, ==, 0); /* one for all */
  g_assert_true (*f.peer.cname);
  teardown (&f);
}

/* The same picture has the same RTP time in each stream, also where others chose the payloaders'
 * offsets. */
static void
check_time_base (Fixture *f, guint n)
{
  meet (f, n);
  wait_reports (f, n);
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

static void
test_time_base (void)
{
  Fixture f;

  if (!setup (&f, SOURCE "@" LADDER))
    return;
  play (&f);
  check_time_base (&f, 3);
  teardown (&f);
}

/* Each smaller than the next, with the frames that its rate allows. */
static void
test_pictures (void)
{
  Fixture f;

  if (!setup (&f, "videotestsrc is-live=true ! video/x-raw,width=1280,height=720,framerate=60/1 ! @"
                  "streams=100000:300000,1000000:2000000,10000000:20000000"))
    return;
  play (&f);
  meet (&f, 3);
  g_assert_cmpuint (stream_uint (&f, 0, "width"), ==, 320);
  g_assert_cmpuint (stream_uint (&f, 0, "height"), ==, 180);
  g_assert_cmpuint (stream_uint (&f, 0, "one-frame-of"), ==, 2);
  g_assert_cmpuint (stream_uint (&f, 1, "width"), ==, 960);
  g_assert_cmpuint (stream_uint (&f, 1, "one-frame-of"), ==, 2);
  g_assert_cmpuint (stream_uint (&f, 2, "width"), ==, 1280);
  g_assert_cmpuint (stream_uint (&f, 2, "one-frame-of"), ==, 1);
  g_assert_nonnull (strstr (f.peer.stream[0].session.parameters, "a-framerate=30"));
  teardown (&f);
}

static void
on_bitrate_changed (GstElement *bin, GstElement *encoder, guint64 bitrate, gpointer data)
{
  g_atomic_int_inc ((gint *)data);
}

/* A report moves the target of its stream, and of no other. */
static void
test_reports (void)
{
  Fixture f;
  GstStructure *message;
  gint changes = 0;
  guint64 bitrate = 0, total = 0;

  if (!setup (&f, SOURCE "@" LADDER))
    return;
  g_signal_connect (f.bin, "encoder-bitrate-changed", G_CALLBACK (on_bitrate_changed), &changes);
  play (&f);
  meet (&f, 3);
  g_assert_cmpuint (stream_u64 (&f, 1, "target-bitrate"), ==, 400000);
  enter (&f, 1, 600000);
  message = wait_element_message (&f, "adaptive-multicast-receiver", 1, 2000);
  g_assert_nonnull (message);
  g_assert_cmpstr (gst_structure_get_string (message, "state"), ==, "joined");
  gst_structure_free (message);
  for (guint i = 0; i < 40 && stream_u64 (&f, 1, "target-bitrate") < 550000; i++) {
    assp_peer_run (&f.peer, 100);
    assp_peer_report (&f.peer, 1, 600000, 0);
  }
  g_assert_cmpuint (stream_u64 (&f, 1, "target-bitrate"), >, 550000);
  g_assert_cmpuint (stream_u64 (&f, 0, "target-bitrate"), ==, 200000);
  g_assert_cmpuint (stream_u64 (&f, 2, "target-bitrate"), ==, 900000);
  g_assert_cmpuint (stream_u64 (&f, 1, "applied-bitrate"), >, 400000);
  g_assert_cmpuint (stream_uint (&f, 1, "num-receivers"), ==, 1);
  g_object_get (f.bin, "target-bitrate", &total, NULL);
  g_assert_cmpuint (total, >, 200000 + 550000 + 900000 - 1);
  g_assert_cmpint (g_atomic_int_get (&changes), >, 0);
  /* clamped to the stream's bounds, both ways */
  for (guint i = 0; i < 3; i++) {
    assp_peer_report (&f.peer, 1, 50000, 0);
    assp_peer_run (&f.peer, 110);
  }
  g_assert_cmpuint (stream_u64 (&f, 1, "target-bitrate"), ==, 400000);
  message = wait_element_message (&f, "adaptive-multicast-target", 1, 2000);
  g_assert_nonnull (message);
  g_assert_true (gst_structure_get_uint64 (message, "bitrate", &bitrate));
  g_assert_cmpuint (bitrate, <=, 600000);
  gst_structure_free (message);
  /* a report elsewhere takes it out of here */
  enter (&f, 2, 1200000);
  assp_peer_run (&f.peer, 200);
  g_assert_cmpuint (stream_uint (&f, 1, "num-receivers"), ==, 0);
  g_assert_cmpuint (stream_uint (&f, 2, "num-receivers"), ==, 1);
  assp_peer_bye (&f.peer);
  assp_peer_run (&f.peer, 200);
  g_assert_cmpuint (stream_uint (&f, 2, "num-receivers"), ==, 0);
  teardown (&f);
}

static void
test_decides (void)
{
  Fixture f;
  guint32 round;

  if (!setup (&f, SOURCE "@" LADDER))
    return;
  play (&f);
  meet (&f, 1);
  round = f.peer.streams.round;
  for (guint i = 0; i < 70 && f.peer.streams.round == round; i++)
    assp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.streams.round, ==, round + 1);
  g_assert_cmpuint (f.peer.streams.flags & MCC_ASSP_DECIDE, !=, 0);
  teardown (&f);
}

static void
test_key_units (void)
{
  Fixture f;
  guint before[3];

  /* a still picture: no key units of the encoder's own */
  if (!setup (&f,
          "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER))
    return;
  play (&f);
  meet (&f, 3);
  assp_peer_run (&f.peer, 1500);
  for (guint i = 0; i < 3; i++)
    before[i] = f.peer.stream[i].key_units;
  assp_peer_pli (&f.peer, 1);
  assp_peer_run (&f.peer, 500);
  g_assert_cmpuint (f.peer.stream[1].key_units, ==, before[1] + 1);
  g_assert_cmpuint (f.peer.stream[0].key_units, ==, before[0]);
  g_assert_cmpuint (f.peer.stream[2].key_units, ==, before[2]);
  assp_peer_run (&f.peer, 1500);
  g_signal_emit_by_name (f.bin, "force-key-unit");
  assp_peer_run (&f.peer, 500);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (f.peer.stream[i].key_units, >, before[i]);
  teardown (&f);
}

/* ---- idle streams ---- */

static void
test_idle (void)
{
  Fixture f;
  guint before, key_units;
  gint64 asked;

  if (!setup (&f, SOURCE "@" LADDER "idle-timeout=1500"))
    return;
  play (&f);
  meet (&f, 3);
  enter (&f, 1, 600000);
  for (guint i = 0; i < 25; i++) {
    assp_peer_run (&f.peer, 100);
    assp_peer_report (&f.peer, 1, 600000, 0);
  }
  before = f.peer.stream[2].frames;
  g_assert_true (frames (&f, 0, 10)); /* the lowest never idles */
  g_assert_true (frames (&f, 1, 10)); /* somebody is there */
  g_assert_cmpuint (f.peer.stream[2].frames, ==, before);
  g_assert_false (f.peer.streams.stream[2].flags & MCC_ASSP_RUNNING);
  g_assert_true (f.peer.streams.stream[1].flags & MCC_ASSP_RUNNING);
  g_assert_cmpuint (stream_uint (&f, 2, "running"), ==, 0);
  g_assert_cmpuint (f.peer.stream[2].byes, ==, 0);

  key_units = f.peer.stream[2].key_units;
  asked = g_get_monotonic_time ();
  enter (&f, 2, 1200000);
  g_assert_true (frames (&f, 2, 1));
  g_test_message ("first packet %.0f ms after the first report",
      (gdouble)(f.peer.stream[2].last_us - asked) / 1e3);
  g_assert_cmpint (f.peer.stream[2].last_us - asked, <, 1000000);
  g_assert_true (frames (&f, 2, 5));
  g_assert_cmpuint (f.peer.stream[2].key_units, ==, key_units + 1); /* it begins with one */
  g_assert_cmpuint (f.peer.stream[2].gaps, ==, 0);
  g_assert_cmpuint (stream_uint (&f, 2, "running"), ==, 1);
  assp_peer_run (&f.peer, 600);
  g_assert_true (f.peer.streams.stream[2].flags & MCC_ASSP_RUNNING);
  teardown (&f);
}

/* ---- ends ---- */

static void
check_eos (Fixture *f, guint n)
{
  GstMessage *message = wait_message (f, GST_MESSAGE_EOS | GST_MESSAGE_ERROR, 10000);
  gint64 eos_us = g_get_monotonic_time (), last = 0;

  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  assp_peer_run (&f->peer, 200);
  for (guint i = 0; i < n; i++) {
    g_assert_cmpuint (f->peer.stream[i].byes, >=, 1);
    g_assert_cmpuint (f->peer.stream[i].gaps, ==, 0);
    last = MAX (last, f->peer.stream[i].last_us);
  }
  g_test_message ("EOS %.1f ms after the last packet", (gdouble)(eos_us - last) / 1e3);
  g_assert_cmpint (eos_us - last, <=, 500000);
}

/* A file is held to its time, in front of the encoders; frames are dropped only where the processor
 * has no time for them, and none where sync is off. */
static void
test_eos (void)
{
  for (guint sync = 0; sync < 2; sync++) {
    Fixture f;
    gint64 start = g_get_monotonic_time ();

    if (!setup (&f, sync ? "videotestsrc num-buffers=45 pattern=snow ! "
                           "video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER
                         : "videotestsrc num-buffers=45 pattern=snow ! "
                           "video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER
                           "sync=false"))
      return;
    play (&f);
    check_eos (&f, 3);
    if (sync)
      g_assert_cmpint (g_get_monotonic_time () - start, >=, 1400000);
    for (guint i = 0; i < 3; i++)
      g_assert_cmpuint (f.peer.stream[i].frames, >=, sync ? 1 : 45);
    teardown (&f);
  }
}

static void
test_eos_while_idle (void)
{
  Fixture f;

  if (!setup (&f, "videotestsrc num-buffers=90 pattern=snow ! "
                  "video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER "idle-timeout=500"))
    return;
  play (&f);
  check_eos (&f, 3);
  g_assert_cmpuint (f.peer.stream[2].frames, <, 60);
  teardown (&f);
}

/* ---- an encoder that fails ---- */

/* As an encoder does that cannot go on. */
static GstPadProbeReturn
on_broken (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GST_ELEMENT_ERROR (data, STREAM, ENCODE, ("it broke"), (NULL));
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
  return GST_PAD_PROBE_HANDLED;
}

static void
break_stream (Fixture *f, guint stream)
{
  gchar *name = g_strdup_printf ("stream%u", stream);
  GstElement *branch = gst_bin_get_by_name (GST_BIN (f->bin), name);
  GstElement *broken = gst_bin_get_by_name (GST_BIN (branch), "breaks");
  GstPad *pad = gst_element_get_static_pad (broken, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_broken, broken, NULL);
  gst_object_unref (pad);
  gst_object_unref (broken);
  gst_object_unref (branch);
  g_free (name);
}

static void
test_encoder_fails (void)
{
  Fixture f;
  GstMessage *message;
  GError *error = NULL;
  guint before;

  if (!setup (&f, "videotestsrc is-live=true pattern=snow ! "
                  "video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER
                  "encoder-description=\"identity name=breaks ! x264enc tune=zerolatency\""))
    return;
  play (&f);
  meet (&f, 3);
  break_stream (&f, 1);
  do {
    message = wait_message (&f, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR, 5000);
    g_assert_nonnull (message);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
    g_clear_error (&error);
    gst_message_parse_warning (message, &error, NULL);
    g_test_message ("%s", error->message);
    gst_message_unref (message);
  } while (!strstr (error->message, "Stream 1 is not sent any more"));
  g_clear_error (&error);
  assp_peer_run (&f.peer, 300); /* what the pacer had */
  before = f.peer.stream[1].frames;
  g_assert_true (frames (&f, 0, 10));
  g_assert_true (frames (&f, 2, 5));
  g_assert_cmpuint (f.peer.stream[1].frames, ==, before);
  g_assert_false (f.peer.streams.stream[1].flags & MCC_ASSP_RUNNING);
  enter (&f, 1, 600000); /* nobody can wake it */
  assp_peer_run (&f.peer, 300);
  g_assert_cmpuint (stream_uint (&f, 1, "running"), ==, 0);
  /* EOS comes all the same */
  gst_element_send_event (f.pipeline, gst_event_new_eos ());
  message = wait_message (&f, GST_MESSAGE_EOS | GST_MESSAGE_ERROR, 10000);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  teardown (&f);
}

static void
test_all_encoders_fail (void)
{
  Fixture f;
  GstMessage *message;

  if (!setup (&f, SOURCE "@" LADDER
                         "encoder-description=\"identity name=breaks ! x264enc tune=zerolatency\""))
    return;
  play (&f);
  meet (&f, 3);
  for (guint i = 0; i < 3; i++)
    break_stream (&f, i);
  message = wait_message (&f, GST_MESSAGE_ERROR, 5000);
  g_assert_nonnull (message);
  gst_message_unref (message);
  teardown (&f);
}

/* ---- others' encoders ---- */

#define OWN(n)                                                                                     \
  "t. ! queue ! x264enc name=e" #n " tune=zerolatency key-int-max=30 ! rtph264pay name=p" #n       \
  " ! bin.sink_" #n " "

static const gchar own[] = "videotestsrc is-live=true pattern=snow ! "
                           "video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! "
                           "tee name=t " OWN (0) OWN (1) "@";

static void
test_request_pads (void)
{
  Fixture f;
  GstElement *encoder;
  guint bitrate;

  if (!setup (&f, own))
    return;
  g_object_set (f.bin, "streams", "200000:400000,400000:900000", NULL);
  play (&f);
  check_time_base (&f, 2);
  g_assert_cmpuint (f.peer.streams.count, ==, 2);
  enter (&f, 1, 800000);
  for (guint i = 0; i < 30; i++) {
    assp_peer_run (&f.peer, 100);
    assp_peer_report (&f.peer, 1, 800000, 0);
  }
  encoder = gst_bin_get_by_name (GST_BIN (f.pipeline), "e1");
  g_object_get (encoder, "bitrate", &bitrate, NULL);
  g_assert_cmpuint (bitrate, >, 450);
  g_assert_cmpuint (bitrate, <, 900);
  gst_object_unref (encoder);
  encoder = gst_bin_get_by_name (GST_BIN (f.pipeline), "e0");
  g_object_get (encoder, "bitrate", &bitrate, NULL);
  g_assert_cmpuint (bitrate, <, 220);
  gst_object_unref (encoder);
  teardown (&f);
}

/* Payloaders with time bases that the application chose. */
static void
test_request_time_base (void)
{
  Fixture f;
  GstElement *payloader;

  if (!setup (&f, own))
    return;
  g_object_set (f.bin, "streams", "200000:400000,400000:900000", NULL);
  for (guint i = 0; i < 2; i++) {
    payloader = gst_bin_get_by_name (GST_BIN (f.pipeline), i ? "p1" : "p0");
    g_object_set (payloader, "timestamp-offset", 4294967000u + 777u * i, NULL);
    gst_object_unref (payloader);
  }
  play (&f);
  check_time_base (&f, 2);
  teardown (&f);
}

static void
test_request_idles (void)
{
  Fixture f;
  guint before, key_units;

  if (!setup (&f, own))
    return;
  g_object_set (f.bin, "streams", "200000:400000,400000:900000", "idle-timeout", 800u, NULL);
  play (&f);
  meet (&f, 2);
  assp_peer_run (&f.peer, 1500);
  before = f.peer.stream[1].frames;
  g_assert_true (frames (&f, 0, 10));
  g_assert_cmpuint (f.peer.stream[1].frames, ==, before);
  key_units = f.peer.stream[1].key_units;
  enter (&f, 1, 800000);
  g_assert_true (frames (&f, 1, 5));
  g_assert_cmpuint (f.peer.stream[1].key_units, >, key_units);
  teardown (&f);
}

static void
test_sdp (void)
{
  Fixture f;
  gchar *directory = g_dir_make_tmp ("mcc-assp-XXXXXX", NULL), *text = NULL;
  gchar *location = g_build_filename (directory, "s%d.sdp", NULL);

  if (setup (&f, SOURCE "@" LADDER)) {
    g_object_set (f.bin, "sdp-location", location, NULL);
    play (&f);
    meet (&f, 3);
    for (guint i = 0; i < 3; i++) {
      gchar *name = g_strdup_printf ("s%u.sdp", i);
      gchar *path = g_build_filename (directory, name, NULL);
      gchar *line = g_strdup_printf ("m=video %u RTP/AVP 96", f.peer.port + 2 * i);
      gchar *rtcp = g_strdup_printf ("a=rtcp:%u IN IP4 %s", f.peer.port + 1, f.peer.group);

      for (guint n = 0; n < 300 && !g_file_get_contents (path, &text, NULL, NULL); n++)
        assp_peer_run (&f.peer, 10);
      g_assert_nonnull (text);
      g_assert_nonnull (strstr (text, line));
      g_assert_nonnull (strstr (text, rtcp));
      g_clear_pointer (&text, g_free);
      g_unlink (path);
      g_free (name);
      g_free (path);
      g_free (line);
      g_free (rtcp);
    }
    teardown (&f);
  }
  g_rmdir (directory);
  g_free (directory);
  g_free (location);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN);
#define ADD(name, func) g_test_add_func ("/asspsimulcastbin/" name, func)
  ADD ("states", test_states);
  ADD ("plays-again", test_plays_again);
  ADD ("streams", test_streams);
  ADD ("one-time-base", test_time_base);
  ADD ("pictures", test_pictures);
  ADD ("reports", test_reports);
  ADD ("decides-each-round", test_decides);
  ADD ("key-units", test_key_units);
  ADD ("idle-and-return", test_idle);
  ADD ("eos", test_eos);
  ADD ("eos-while-idle", test_eos_while_idle);
  ADD ("encoder-fails", test_encoder_fails);
  ADD ("all-encoders-fail", test_all_encoders_fail);
  ADD ("request-pads", test_request_pads);
  ADD ("request-pads/one-time-base", test_request_time_base);
  ADD ("request-pads/idle-and-return", test_request_idles);
  ADD ("sdp", test_sdp);
  return g_test_run ();
}

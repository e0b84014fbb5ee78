/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastbin beside a receiver that the test plays: states, groups, time base, reports, key
 * units, streams that idle, ends.
 */
#include <string.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "asspbinfixture.h"
#include "gstasspsimulcastbin.h"
#include "gstmccsender.h"

/* ---- states ---- */

static void
test_states (void)
{
  static const GstState walk[] = { GST_STATE_READY, GST_STATE_NULL, GST_STATE_PAUSED,
    GST_STATE_READY, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_READY,
    GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PLAYING, GST_STATE_NULL };
  BinFixture f;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (walk); i++) {
    g_assert_cmpint (gst_element_set_state (f.pipeline, walk[i]), !=, GST_STATE_CHANGE_FAILURE);
    gst_element_get_state (f.pipeline, NULL, NULL, 5 * GST_SECOND);
    assp_peer_run (&f.peer, 30);
  }
  g_assert_cmpuint (GST_BIN_NUMCHILDREN (f.bin), ==, 0); /* nothing stays in NULL */
  bin_teardown (&f);
}

/* Who has said BYE comes back under other names, from NULL or READY: numbers and times are others.
 */
static void
test_plays_again (void)
{
  BinFixture f;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  for (guint i = 0; i < 3; i++) {
    guint32 ssrc[3];

    for (guint k = 0; k < 3; k++)
      ssrc[k] = f.peer.stream[k].ssrc;
    bin_play (&f);
    for (guint k = 0; k < 3; k++)
      f.peer.stream[k].frames = f.peer.stream[k].sessions = f.peer.stream[k].byes = 0;
    bin_meet (&f, 3);
    for (guint k = 0; k < 3; k++) {
      g_assert_cmpuint (f.peer.stream[k].ssrc, !=, ssrc[k]);
      g_assert_cmpuint (f.peer.streams.stream[k].ssrc, ==, f.peer.stream[k].ssrc);
    }
    gst_element_set_state (f.pipeline, i == 0 ? GST_STATE_NULL : GST_STATE_READY);
    assp_peer_run (&f.peer, 50);
    for (guint k = 0; k < 3; k++)
      g_assert_cmpuint (f.peer.stream[k].byes, >=, 1);
  }
  bin_teardown (&f);
}

/* ---- the streams ---- */

/* As asmpsink, with payloaders of others; a stream that begins late does not hold up the first. */
static void
test_announces_what_it_sends (void)
{
  BinFixture f;
  const MccAsspStreams *s = &f.peer.streams;

  if (!bin_setup (&f, "audiotestsrc is-live=true samplesperbuffer=441 ! tee name=t "
                      "t. ! queue ! rtpL16pay ! valve name=v0 drop=true ! bin.sink_0 "
                      "t. ! queue ! rtpL16pay ! valve name=v1 drop=true ! bin.sink_1 "
                      "@ streams=200000:900000,900000:2000000"))
    return;
  bin_play (&f);
  assp_peer_run (&f.peer, 700);
  g_assert_cmpuint (f.peer.descriptions, ==, 0);
  for (guint i = 0; i < 2; i++) {
    gchar *name = g_strdup_printf ("v%u", i);
    GstElement *valve = gst_bin_get_by_name (GST_BIN (f.pipeline), name);

    g_object_set (valve, "drop", FALSE, NULL);
    gst_object_unref (valve);
    g_free (name);
    g_assert_true (bin_frames (&f, i, 1));
    assp_peer_run (&f.peer, 150);
    g_assert_cmpuint (f.peer.stream[i].sessions, >=, 1);
    g_assert_cmpuint (s->stream[i].ssrc, ==, f.peer.stream[i].ssrc);
    if (i == 0)
      g_assert_cmpuint (s->stream[1].ssrc, ==, 0);
  }
  assp_peer_run (&f.peer, 600);
  g_assert_cmpuint (f.peer.stream[0].renames + f.peer.stream[1].renames, ==, 0);
  bin_teardown (&f);
}

static void
test_streams (void)
{
  BinFixture f;
  const MccAsspStreams *s;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  bin_wait_reports (&f, 3);
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
  bin_teardown (&f);
}

static void
test_time_base (void)
{
  BinFixture f;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  bin_play (&f);
  bin_check_time_base (&f, 3);
  bin_teardown (&f);
}

static void
on_bitrate_changed (GstElement *bin, GstElement *encoder, guint64 bitrate, gpointer data)
{
  g_atomic_int_inc ((gint *)data);
}

/* The bus is told of one that leaves @stream, and why. */
static void
check_left (BinFixture *f, gint stream, const gchar *reason)
{
  GstStructure *message = NULL;

  do {
    g_clear_pointer (&message, gst_structure_free);
    message = bin_wait_element_message (f, "adaptive-multicast-receiver", stream, 2000);
    g_assert_nonnull (message);
  } while (g_strcmp0 (gst_structure_get_string (message, "state"), "left") != 0);
  g_assert_cmpstr (gst_structure_get_string (message, "reason"), ==, reason);
  gst_structure_free (message);
}

/* Packets leave in bursts while nobody limits a stream, one at a time while a receiver nearby does.
 */
static void
test_pacing (void)
{
  BinFixture f;
  gdouble share[2];

  if (!bin_setup (&f, SOURCE "@ streams=4000000:8000000"))
    return;
  bin_play (&f);
  bin_meet (&f, 1);
  for (guint i = 0; i < 2; i++) {
    AsspPeerStream before = f.peer.stream[0];

    assp_peer_run (&f.peer, 700);
    share[i] = (gdouble)(f.peer.stream[0].together - before.together)
               / (gdouble)(f.peer.stream[0].packets - before.packets);
    bin_enter (&f, 0, 4000000);
    assp_peer_run (&f.peer, 300);
  }
  g_test_message ("%.2f of the packets together, %.2f while limited", share[0], share[1]);
  g_assert_cmpfloat (share[0], >, 0.5);
  g_assert_cmpfloat (share[1], <, 0.25);
  bin_teardown (&f);
}

/* A report moves the target of its stream, and of no other. */
static void
test_reports (void)
{
  BinFixture f;
  GstStructure *message;
  gint changes = 0;
  guint64 bitrate = 0, total = 0;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  g_signal_connect (f.bin, "encoder-bitrate-changed", G_CALLBACK (on_bitrate_changed), &changes);
  bin_play (&f);
  bin_meet (&f, 3);
  g_assert_cmpuint (bin_stream_u64 (&f, 1, "target-bitrate"), ==, 400000);
  bin_enter (&f, 1, 600000);
  message = bin_wait_element_message (&f, "adaptive-multicast-receiver", 1, 2000);
  g_assert_nonnull (message);
  g_assert_cmpstr (gst_structure_get_string (message, "state"), ==, "joined");
  gst_structure_free (message);
  for (guint i = 0; i < 40 && bin_stream_u64 (&f, 1, "target-bitrate") < 550000; i++) {
    assp_peer_run (&f.peer, 100);
    assp_peer_report (&f.peer, 1, 600000, 0);
  }
  g_assert_cmpuint (bin_stream_u64 (&f, 1, "target-bitrate"), >, 550000);
  g_assert_cmpuint (bin_stream_u64 (&f, 0, "target-bitrate"), ==, 200000);
  g_assert_cmpuint (bin_stream_u64 (&f, 2, "target-bitrate"), ==, 900000);
  g_assert_cmpuint (bin_stream_u64 (&f, 1, "applied-bitrate"), >, 400000);
  g_assert_cmpuint (bin_stream_uint (&f, 1, "num-receivers"), ==, 1);
  g_object_get (f.bin, "target-bitrate", &total, NULL);
  g_assert_cmpuint (total, >, 200000 + 550000 + 900000 - 1);
  g_assert_cmpint (g_atomic_int_get (&changes), >, 0);
  /* clamped to the stream's bounds, both ways */
  for (guint i = 0; i < 3; i++) {
    assp_peer_report (&f.peer, 1, 300000, 0);
    assp_peer_run (&f.peer, 110);
  }
  g_assert_cmpuint (bin_stream_u64 (&f, 1, "target-bitrate"), ==, 400000);
  message = bin_wait_element_message (&f, "adaptive-multicast-target", 1, 2000);
  g_assert_nonnull (message);
  g_assert_true (gst_structure_get_uint64 (message, "bitrate", &bitrate));
  g_assert_cmpuint (bitrate, <=, 600000);
  gst_structure_free (message);
  /* ... but where nobody bears nearly the lower one the lowest stream's is the end */
  assp_peer_report (&f.peer, 1, 50000, 0);
  assp_peer_run (&f.peer, 110);
  g_assert_cmpuint (bin_stream_u64 (&f, 1, "target-bitrate"), ==, 200000);
  /* a report elsewhere takes it out of here */
  bin_enter (&f, 2, 1200000);
  assp_peer_run (&f.peer, 200);
  g_assert_cmpuint (bin_stream_uint (&f, 1, "num-receivers"), ==, 0);
  g_assert_cmpuint (bin_stream_uint (&f, 2, "num-receivers"), ==, 1);
  check_left (&f, 1, "moved");
  assp_peer_bye (&f.peer);
  assp_peer_run (&f.peer, 200);
  check_left (&f, 2, "bye");
  g_assert_cmpuint (bin_stream_uint (&f, 2, "num-receivers"), ==, 0);
  bin_teardown (&f);
}

/* The totals have the receivers of all streams, whoever is slowest first. */
static void
test_slowest_first (void)
{
  GstStructure *stats;
  const GValue *receivers;
  guint first = 0;
  BinFixture f;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  bin_play (&f);
  bin_meet (&f, 2);
  bin_enter (&f, 0, 380000);
  f.peer.ssrc++;
  bin_enter (&f, 1, 350000);
  assp_peer_run (&f.peer, 200);
  g_object_get (f.bin, "stats", &stats, NULL);
  receivers = gst_structure_get_value (stats, "receivers");
  g_assert_cmpuint (gst_value_array_get_size (receivers), ==, 2);
  g_assert_true (gst_structure_get_uint (
      gst_value_get_structure (gst_value_array_get_value (receivers, 0)), "ssrc", &first));
  g_assert_cmpuint (first, ==, f.peer.ssrc);
  gst_structure_free (stats);
  bin_teardown (&f);
}

/* One that claims far less than all that it gets without a loss: in the totals, too. */
static void
test_quarantined (void)
{
  GstStructure *stats;
  guint total = 99, one = 0;
  BinFixture f;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  bin_play (&f);
  bin_meet (&f, 2);
  for (guint i = 0; i < 300 && one == 0; i++) {
    assp_peer_report (&f.peer, 1, 20000, 0);
    assp_peer_run (&f.peer, 100);
    one = bin_stream_uint (&f, 1, "num-quarantined");
  }
  g_assert_cmpuint (one, ==, 1);
  g_object_get (f.bin, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint (stats, "num-quarantined", &total));
  g_assert_cmpuint (total, ==, 1);
  gst_structure_free (stats);
  bin_teardown (&f);
}

static void
test_decides (void)
{
  BinFixture f;
  guint32 round;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  bin_play (&f);
  bin_meet (&f, 1);
  round = f.peer.streams.round;
  for (guint i = 0; i < 70 && f.peer.streams.round == round; i++)
    assp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.streams.round, ==, round + 1);
  g_assert_cmpuint (f.peer.streams.flags & MCC_ASSP_DECIDE, !=, 0);
  bin_teardown (&f);
}

static void
test_key_units (void)
{
  BinFixture f;
  guint before[3];

  /* a still picture: no key units of the encoder's own */
  if (!bin_setup (&f,
          "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER))
    return;
  bin_play (&f);
  bin_meet (&f, 3);
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
  bin_teardown (&f);
}

/* ---- idle streams ---- */

static void
test_idle (void)
{
  BinFixture f;
  guint before, key_units;
  gint64 asked;

  if (!bin_setup (&f, SOURCE "@" LADDER "idle-timeout=4000"))
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  bin_enter (&f, 1, 600000);
  for (guint i = 0; i < 50; i++) {
    assp_peer_run (&f.peer, 100);
    assp_peer_report (&f.peer, 1, 600000, 0);
  }
  before = f.peer.stream[2].frames;
  g_assert_true (bin_frames (&f, 0, 10)); /* the lowest never idles */
  g_assert_true (bin_frames (&f, 1, 10)); /* somebody is there */
  g_assert_cmpuint (f.peer.stream[2].frames, ==, before);
  g_assert_false (f.peer.streams.stream[2].flags & MCC_ASSP_RUNNING);
  g_assert_true (f.peer.streams.stream[1].flags & MCC_ASSP_RUNNING);
  g_assert_cmpuint (bin_stream_uint (&f, 2, "running"), ==, 0);
  g_assert_cmpuint (f.peer.stream[2].byes, ==, 0);

  key_units = f.peer.stream[2].key_units;
  asked = g_get_monotonic_time ();
  bin_enter (&f, 2, 1200000);
  g_assert_true (bin_frames (&f, 2, 1));
  g_test_message ("first packet %.0f ms after the first report",
      (gdouble)(f.peer.stream[2].last_us - asked) / 1e3);
  g_assert_cmpint (f.peer.stream[2].last_us - asked, <, 1000000);
  g_assert_true (bin_frames (&f, 2, 5));
  g_assert_cmpuint (f.peer.stream[2].key_units, ==, key_units + 1); /* it begins with one */
  g_assert_cmpuint (f.peer.stream[2].gaps, ==, 0);
  g_assert_cmpuint (bin_stream_uint (&f, 2, "running"), ==, 1);
  /* The announcement waits for the RTCP budget, a kilobyte in four seconds for this ladder. */
  while (!(f.peer.streams.stream[2].flags & MCC_ASSP_RUNNING)
         && g_get_monotonic_time () - asked < 2500000)
    assp_peer_run (&f.peer, 5);
  g_test_message ("announced after %.0f ms", (gdouble)(g_get_monotonic_time () - asked) / 1e3);
  g_assert_true (f.peer.streams.stream[2].flags & MCC_ASSP_RUNNING);
  bin_teardown (&f);
}

static gboolean
stops (BinFixture *f)
{
  guint before;

  for (guint i = 0; i < 40; i++) {
    before = f->peer.stream[0].frames;
    assp_peer_run (&f->peer, 500);
    if (f->peer.stream[0].frames == before)
      return TRUE;
  }
  return FALSE;
}

/* What no-feedback says holds from when it is set. */
static void
test_no_feedback (void)
{
  BinFixture f;

  if (!bin_setup (&f, SOURCE "@" LADDER))
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  gst_util_set_object_arg (G_OBJECT (f.bin), "no-feedback", "stop");
  g_assert_true (stops (&f));
  gst_util_set_object_arg (G_OBJECT (f.bin), "no-feedback", "minimum");
  g_assert_true (bin_frames (&f, 0, 5));
  gst_util_set_object_arg (G_OBJECT (f.bin), "no-feedback", "stop");
  g_assert_true (stops (&f));
  bin_enter (&f, 0, 300000);
  g_assert_true (bin_frames (&f, 0, 5));
  bin_teardown (&f);
}

static void (*inner_act) (GstMccSender *sender, GstMccSenderTodo *todo);
static GPrivate acting = G_PRIVATE_INIT (NULL);
static gint inside, together; /* atomic */

static void
act_counted (GstMccSender *sender, GstMccSenderTodo *todo)
{
  if (g_atomic_int_add (&inside, 1) > 0)
    g_atomic_int_inc (&together);
  g_private_set (&acting, sender);
  inner_act (sender, todo);
  g_private_set (&acting, NULL);
  g_usleep (5000); /* so that another thread would come, too */
  g_atomic_int_add (&inside, -1);
}

static void
on_target (GObject *bin, GParamSpec *pspec, gpointer data)
{
  gint *outside = data;

  if (!g_private_get (&acting))
    g_atomic_int_inc (outside);
}

/* What the clock changes, a stream that idles, and what reports do: one after the other. */
static void
test_idle_in_turn (void)
{
  GstMccSenderClass *klass = g_type_class_ref (GST_TYPE_ASSP_SIMULCAST_BIN);
  gint outside = 0;
  BinFixture f;

  inner_act = klass->act;
  klass->act = act_counted;
  if (bin_setup (&f, SOURCE "@" LADDER "idle-timeout=400")) {
    g_signal_connect (f.bin, "notify::target-bitrate", G_CALLBACK (on_target), &outside);
    bin_play (&f);
    bin_meet (&f, 1);
    for (guint i = 0; i < 60; i++) {
      assp_peer_report (&f.peer, i / 20 + i % 2 > 1 ? 1 : 0, 210000 + 30000 * (i % 5), 0);
      assp_peer_run (&f.peer, 50);
    }
    g_assert_cmpuint (bin_stream_uint (&f, 2, "running"), ==, 0);
    bin_teardown (&f);
    g_assert_cmpint (outside, ==, 0);
    g_assert_cmpint (together, ==, 0);
  }
  klass->act = inner_act;
  g_type_class_unref (klass);
}

/* ---- ends ---- */

static void
check_eos (BinFixture *f, guint n)
{
  GstMessage *message = bin_wait_message (f, GST_MESSAGE_EOS | GST_MESSAGE_ERROR, 10000);
  gint64 eos_us = g_get_monotonic_time (), last = 0;

  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  assp_peer_run (&f->peer, 200);
  for (guint i = 0; i < n; i++) {
    for (guint ms = 0; ms < 2000 && f->peer.stream[i].byes == 0; ms += 10)
      assp_peer_run (&f->peer, 10);
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
    BinFixture f;
    gint64 start = g_get_monotonic_time ();

    if (!bin_setup (&f, sync ? "videotestsrc num-buffers=45 pattern=snow ! "
                               "video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER
                             : "videotestsrc num-buffers=45 pattern=snow ! "
                               "video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER
                               "sync=false"))
      return;
    bin_play (&f);
    check_eos (&f, 3);
    if (sync)
      g_assert_cmpint (g_get_monotonic_time () - start, >=, 1400000);
    for (guint i = 0; i < 3; i++)
      g_assert_cmpuint (f.peer.stream[i].frames, >=, sync ? 1 : 45);
    bin_teardown (&f);
  }
}

static void
test_eos_while_idle (void)
{
  BinFixture f;

  if (!bin_setup (&f,
          "videotestsrc num-buffers=90 pattern=snow ! "
          "video/x-raw,width=320,height=240,framerate=30/1 ! @" LADDER "idle-timeout=500"))
    return;
  bin_play (&f);
  check_eos (&f, 3);
  g_assert_cmpuint (f.peer.stream[2].frames, <, 60);
  bin_teardown (&f);
}

static void
test_sdp (void)
{
  BinFixture f;
  gchar *directory = g_dir_make_tmp ("mcc-assp-XXXXXX", NULL), *text = NULL;
  gchar *location = g_build_filename (directory, "s%d.sdp", NULL);

  if (bin_setup (&f, SOURCE "@" LADDER)) {
    g_object_set (f.bin, "sdp-location", location, NULL);
    bin_play (&f);
    bin_meet (&f, 3);
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
    bin_teardown (&f);
  }
  g_rmdir (directory);
  g_free (directory);
  g_free (location);
}

/* Of all streams in @ms. */
static guint
count_frames (BinFixture *f, guint ms)
{
  guint n = 0;

  for (guint i = 0; i < 3; i++)
    f->peer.stream[i].frames = 0;
  assp_peer_run (&f->peer, ms);
  for (guint i = 0; i < 3; i++)
    n += f->peer.stream[i].frames;
  return n;
}

/* Whether stream 0 runs, as described: an announcement waits for its budget. */
static gboolean
described_as (BinFixture *f, gboolean running)
{
  const MccAsspStream *stream = &f->peer.streams.stream[0];

  for (guint ms = 0; ms < 8000 && ((stream->flags & MCC_ASSP_RUNNING) != 0) != running; ms += 20)
    assp_peer_run (&f->peer, 20);
  return ((stream->flags & MCC_ASSP_RUNNING) != 0) == running;
}

/* no-feedback=stop: all streams stop where nobody reports, until somebody does; figures and the
 * description say so. */
static void
test_no_feedback_stops (void)
{
  BinFixture f;
  gboolean stopped = FALSE;
  guint64 total = 1;

  if (!bin_setup (&f, SOURCE "@ no-feedback=stop " LADDER))
    return;
  bin_play (&f);
  bin_meet (&f, 3);
  for (guint i = 0; i < 30 && !stopped; i++)
    stopped = count_frames (&f, 500) == 0;
  g_assert_true (stopped);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (bin_stream_uint (&f, i, "running"), ==, 0);
  g_object_get (f.bin, "target-bitrate", &total, NULL);
  g_assert_cmpuint (total, ==, 0);
  g_assert_true (described_as (&f, FALSE));
  bin_enter (&f, 0, 300000);
  g_assert_true (bin_frames (&f, 0, 3));
  g_assert_cmpuint (bin_stream_uint (&f, 0, "running"), ==, 1);
  g_assert_true (described_as (&f, TRUE));
  bin_teardown (&f);
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
  ADD ("announces-what-it-sends", test_announces_what_it_sends);
  ADD ("one-time-base", test_time_base);
  ADD ("pacing", test_pacing);
  ADD ("reports", test_reports);
  ADD ("slowest-first-in-the-totals", test_slowest_first);
  ADD ("quarantined-in-the-totals", test_quarantined);
  ADD ("decides-each-round", test_decides);
  ADD ("key-units", test_key_units);
  ADD ("idle-and-return", test_idle);
  ADD ("no-feedback", test_no_feedback);
  ADD ("idle-in-turn", test_idle_in_turn);
  ADD ("eos", test_eos);
  ADD ("eos-while-idle", test_eos_while_idle);
  ADD ("sdp", test_sdp);
  ADD ("no-feedback-stops", test_no_feedback_stops);
  return g_test_run ();
}

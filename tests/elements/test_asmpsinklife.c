/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpsink: how a stream ends, pauses and is flushed, asmpsink beside other elements, warnings.
 */
#include <string.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "gstasmpsink.h"
#include "sinkfixture.h"

/* ---- ends ---- */

static void
test_eos (void)
{
  SinkFixture f;
  GstMessage *message;
  gint64 eos_us;
  guint64 before;

  /* Not live: clocksync holds it to its time. */
  if (!sink_setup (&f, "videotestsrc num-buffers=45 ! " VIDEO "@ start-bitrate=300000"))
    return;
  sink_play (&f);
  message = sink_wait_message (&f, GST_MESSAGE_EOS | GST_MESSAGE_ERROR, 10000);
  eos_us = g_get_monotonic_time ();
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  asmp_peer_run (&f.peer, 0); /* what is in the socket left before */
  before = f.peer.packets;
  asmp_peer_run (&f.peer, 200);
  g_test_message ("EOS %.1f ms after the last packet, BYE %.1f ms",
      (gdouble)(eos_us - f.peer.last_rtp_us) / 1e3,
      (gdouble)(f.peer.bye_us - f.peer.last_rtp_us) / 1e3);
  g_assert_cmpuint (f.peer.packets, ==, before);
  g_assert_cmpint (eos_us - f.peer.last_rtp_us, <=, 500000);
  g_assert_cmpuint (f.peer.byes, >=, 1);
  g_assert_cmpint (f.peer.bye_us, >=, f.peer.last_rtp_us);
  g_assert_cmpuint (f.peer.gaps, ==, 0);
  /* BYE was said: no more announcements */
  f.peer.sessions = 0;
  asmp_peer_run (&f.peer, 800);
  g_assert_cmpuint (f.peer.sessions, ==, 0);
  sink_teardown (&f);
}

static void
test_file_takes_its_time (void)
{
  SinkFixture f;
  GstMessage *message;
  gint64 start = g_get_monotonic_time ();

  if (!sink_setup (&f, "videotestsrc num-buffers=30 ! " VIDEO "@"))
    return;
  sink_play (&f);
  message = sink_wait_message (&f, GST_MESSAGE_EOS, 10000);
  g_assert_nonnull (message);
  gst_message_unref (message);
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 900000);
  sink_teardown (&f);
}

static void
test_stop_says_bye (void)
{
  SinkFixture f;

  if (!sink_setup (&f, LIVE "@"))
    return;
  sink_play (&f);
  sink_meet (&f);
  gst_element_set_state (f.pipeline, GST_STATE_NULL);
  asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.byes, >=, 1);
  sink_teardown (&f);
}

static void
test_pause_resume (void)
{
  SinkFixture f;
  guint64 before;

  if (!sink_setup (&f, LIVE "@"))
    return;
  sink_play (&f);
  sink_meet (&f);
  gst_element_set_state (f.pipeline, GST_STATE_PAUSED);
  asmp_peer_run (&f.peer, 400); /* what was queued */
  before = f.peer.packets;
  asmp_peer_run (&f.peer, 500);
  g_assert_cmpuint (f.peer.packets, ==, before);
  g_assert_cmpuint (f.peer.byes, ==, 0);
  sink_play (&f);
  g_assert_true (sink_packets (&f, 6));
  g_assert_cmpuint (f.peer.gaps, ==, 0);
  sink_teardown (&f);
}

/* A new run has other RTP times: none of them is told before its first packet. */
static void
test_new_run_reports_anew (void)
{
  SinkFixture f;
  guint sessions;
  guint32 ssrc;

  if (!sink_setup (&f, "videotestsrc pattern=snow ! " VIDEO "@"))
    return;
  sink_play (&f);
  sink_meet (&f);
  for (guint i = 0; i < 50 && f.peer.srs == 0; i++)
    asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.srs, >=, 1);
  gst_element_set_state (f.pipeline, GST_STATE_READY);
  asmp_peer_run (&f.peer, 200);
  f.peer.srs = 0;
  sessions = f.peer.sessions;
  ssrc = f.peer.media_ssrc;
  gst_element_set_state (f.pipeline, GST_STATE_PAUSED); /* what is not live waits */
  for (guint i = 0; i < 50 && f.peer.sessions < sessions + 2; i++)
    asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.sessions, >=, sessions + 2);
  g_assert_cmpuint (f.peer.srs, ==, 0);
  sink_play (&f);
  for (guint i = 0; i < 50 && f.peer.srs == 0; i++)
    asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.srs, >=, 1);
  g_assert_cmpuint (f.peer.media_ssrc, !=, ssrc); /* which has said BYE */
  sink_teardown (&f);
}

static void
test_flush (void)
{
  SinkFixture f;

  if (!sink_setup (&f, "videotestsrc num-buffers=3000 ! " VIDEO "@"))
    return;
  sink_play (&f);
  sink_meet (&f);
  g_assert_true (
      gst_element_seek_simple (f.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 10 * GST_SECOND));
  asmp_peer_run (&f.peer, 200); /* what was on its way */
  g_assert_true (sink_packets (&f, 6));
  sink_teardown (&f);
}

/* ---- beside others ---- */

static void
test_preview_and_recording (void)
{
  SinkFixture f;
  GstMessage *message;
  gchar *path = g_build_filename (g_get_tmp_dir (), "mcc-asmpsink-XXXXXX", NULL);
  gchar *description;
  GStatBuf info;

  g_close (g_mkstemp (path), NULL);
  description = g_strdup_printf (
      "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240 ! tee name=r "
      "r. ! queue ! fakesink r. ! queue ! x264enc name=e tune=zerolatency ! tee name=t "
      "t. ! queue ! h264parse ! mp4mux ! filesink location=%s "
      "t. ! queue ! rtph264pay ! @",
      path);
  if (sink_setup (&f, description)) {
    sink_play (&f);
    sink_meet (&f);
    asmp_peer_run (&f.peer, 500);
    g_assert_cmpuint (get_uint (f.encoder, "pass"), ==, 5); /* found through the tee */
    gst_element_send_event (f.pipeline, gst_event_new_eos ());
    message = sink_wait_message (&f, GST_MESSAGE_EOS | GST_MESSAGE_ERROR, 3000);
    g_assert_nonnull (message);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
    gst_message_unref (message);
    asmp_peer_run (&f.peer, 50);
    g_assert_cmpuint (f.peer.byes, >=, 1);
    g_assert_cmpint (g_stat (path, &info), ==, 0);
    g_assert_cmpint (info.st_size, >, 1000);
    sink_teardown (&f);
  }
  g_unlink (path);
  g_free (description);
  g_free (path);
}

static void
test_two_in_one_process (void)
{
  SinkFixture a, b;

  if (!sink_setup (&a, LIVE "@") || !sink_setup (&b, LIVE "@"))
    return;
  sink_play (&a);
  sink_play (&b);
  sink_meet (&a);
  sink_meet (&b);
  sink_join (&a, 300000);
  asmp_peer_run (&a.peer, 50);
  g_assert_cmpuint (get_u64 (a.sink, "target-bitrate"), !=, 0);
  g_assert_cmpuint (a.peer.media_ssrc, !=, b.peer.media_ssrc);
  sink_teardown (&a);
  asmp_peer_run (&b.peer, 300);
  g_assert_cmpuint (b.peer.gaps, ==, 0);
  sink_teardown (&b);
}

/* What is written to @path by then; the caller's. */
static gchar *
take_file (SinkFixture *f, const gchar *path)
{
  gchar *text = NULL;

  for (guint i = 0; i < 500 && (!text || !*text); i++) {
    g_free (text);
    asmp_peer_run (&f->peer, 10);
    g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  }
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  return text;
}

static void
test_sdp (void)
{
  SinkFixture f;
  gchar *path = g_build_filename (g_get_tmp_dir (), "mcc-asmpsink-XXXXXX", NULL), *text;

  g_close (g_mkstemp (path), NULL);
  if (sink_setup (&f, LIVE "@")) {
    g_object_set (f.sink, "sdp-location", path, NULL);
    sink_play (&f);
    sink_meet (&f);
    text = take_file (&f, path);
    g_assert_nonnull (strstr (text, "a=rtpmap:96 H264/90000"));
    g_free (text);
    sink_teardown (&f);
  }
  g_unlink (path);
  g_free (path);
}

/* The sockets stay as they were made from NULL to READY: so does what others are told of them. */
static void
test_network_of_the_start (void)
{
  static const gchar *const addresses[] = { "239.255.1.1", "", NULL };
  SinkFixture f;
  gchar *path = g_build_filename (g_get_tmp_dir (), "mcc-asmpsink-XXXXXX", NULL), *text;

  g_close (g_mkstemp (path), NULL);
  if (sink_setup (&f, LIVE "@ ttl=7 session-bandwidth=600000")) {
    for (guint i = 0; i < G_N_ELEMENTS (addresses); i++) {
      gst_element_set_state (f.pipeline, GST_STATE_READY);
      g_object_set (f.sink, "address", addresses[i], "sdp-location", path, "ttl", 8, "ttl-mc", 9,
          "session-bandwidth", G_GUINT64_CONSTANT (900000), NULL);
      f.peer.sessions = 0;
      sink_play (&f);
      sink_meet (&f);
      g_assert_cmpuint (f.peer.session.ttl, ==, 7);
      g_assert_cmpuint (f.peer.session.session_bandwidth_bps, ==, 600000);
      text = take_file (&f, path);
      g_assert_nonnull (strstr (text, "c=IN IP4 127.0.0.1"));
      g_free (text);
    }
    sink_teardown (&f);
  }
  g_unlink (path);
  g_free (path);
}

/* ---- warnings ---- */

static void
test_no_feedback_warns_once (void)
{
  SinkFixture f;

  if (!sink_setup (&f, LIVE "@ start-bitrate=400000"))
    return;
  sink_play (&f);
  sink_meet (&f);
  asmp_peer_run (&f.peer, 6500);
  g_assert_cmpuint (sink_count_warnings (&f, "No receiver reports"), ==, 1);
  g_assert_cmpuint (get_u64 (f.sink, "target-bitrate"), ==, 100000);
  sink_teardown (&f);
}

static void
test_no_feedback_stops (void)
{
  SinkFixture f;
  guint64 before;

  if (!sink_setup (&f, LIVE "@ no-feedback=stop"))
    return;
  sink_play (&f);
  sink_meet (&f);
  sink_join (&f, 200000);
  asmp_peer_run (&f.peer, 100);
  asmp_peer_bye (&f.peer);
  for (guint i = 0; i < 150 && !(f.peer.session.flags & MCC_SESSION_STOPPED); i++)
    asmp_peer_run (&f.peer, 100);
  g_assert_true (f.peer.session.flags & MCC_SESSION_STOPPED);
  asmp_peer_run (&f.peer, 300);
  before = f.peer.packets;
  asmp_peer_run (&f.peer, 500);
  g_assert_cmpuint (f.peer.packets, ==, before);
  f.peer.ssrc = 0x777;
  sink_join (&f, 200000);
  g_assert_true (sink_packets (&f, 1));
  sink_teardown (&f);
}

/* A looped film that nobody watches for a while must be found by who comes later. */
static void
test_stopped_at_its_end (void)
{
  SinkFixture f;
  GstPad *pad;

  if (!sink_setup (&f, LIVE "@ no-feedback=stop"))
    return;
  sink_play (&f);
  sink_meet (&f);
  for (guint i = 0; i < 200 && !(f.peer.session.flags & MCC_SESSION_STOPPED); i++)
    asmp_peer_run (&f.peer, 100);
  g_assert_true (f.peer.session.flags & MCC_SESSION_STOPPED);
  pad = gst_element_get_static_pad (f.sink, "sink");
  gst_pad_send_event (pad, gst_event_new_eos ());
  gst_object_unref (pad);
  for (guint i = 0; i < 50 && f.peer.byes == 0; i++)
    asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.byes, ==, 1);
  g_assert_true (gst_element_seek_simple (f.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  f.peer.sessions = 0;
  for (guint i = 0; i < 50 && f.peer.sessions == 0; i++)
    asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.sessions, >, 0);
  sink_join (&f, 200000);
  g_assert_true (sink_packets (&f, 1));
  sink_teardown (&f);
}

static void
test_pre_encoded_warns_once (void)
{
  SinkFixture f;

  if (!sink_setup (&f,
          "fakesrc is-live=true format=time do-timestamp=true sizetype=fixed sizemax=1200 "
          "datarate=62500 "
          "! application/x-rtp,media=video,encoding-name=X,clock-rate=90000,payload=96 ! "
          "identity ! @"))
    return;
  sink_play (&f);
  g_assert_true (sink_warns_once (&f, "No encoder", 300));
  sink_teardown (&f);
}

/* rtpmp4vpay's first caps have no clock rate; those that its packets leave with are complete. (This
 * encoder's times are of no use, so they are not waited for.) */
static void
test_caps_in_two_steps (void)
{
  SinkFixture f;

  if (!sink_setup (&f,
          "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! "
          "avenc_mpeg4 ! rtpmp4vpay ! @encoder-control=none sync=false"))
    return;
  sink_play (&f);
  sink_meet (&f);
  g_assert_cmpstr (f.peer.session.encoding_name, ==, "MP4V-ES");
  g_assert_cmpuint (f.peer.session.clock_rate, ==, 90000);
  g_assert_cmpuint (sink_count_warnings (&f, "cannot be announced"), ==, 0);
  sink_teardown (&f);
}

/* Its codebooks are too long for an announcement: who joins later has them from the stream, and the
 * user hears why. */
static void
test_theora (void)
{
  GstElement *payloader;
  SinkFixture f;

  if (!sink_setup (&f,
          "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 "
          "! theoraenc name=e ! rtptheorapay name=p ! @"))
    return;
  payloader = gst_bin_get_by_name (GST_BIN (f.pipeline), "p");
  sink_play (&f);
  g_assert_true (sink_packets (&f, 30));
  g_assert_cmpuint (get_uint (payloader, "config-interval"), ==, 1);
  g_assert_true (sink_warns_once (&f, "cannot be announced", 100));
  gst_object_unref (payloader);
  sink_teardown (&f);
}

/* Packets that leave without caps that can be announced: said once. */
static void
test_mute_warns_once (void)
{
  SinkFixture f;
  gint64 until = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;

  if (!sink_setup (
          &f, LIVE "capssetter replace=true caps=application/x-rtp,media=video,payload=96 ! @"))
    return;
  sink_play (&f);
  while (f.peer.packets < 30 && g_get_monotonic_time () < until)
    asmp_peer_run (&f.peer, 10);
  g_assert_cmpuint (f.peer.packets, >=, 30);
  g_assert_true (sink_warns_once (&f, "cannot be announced", 100));
  sink_teardown (&f);
}

static void
test_refused_encoder_warns_once (void)
{
  SinkFixture f;

  if (!sink_setup (&f, "videotestsrc is-live=true ! video/x-raw,width=352,height=288 ! avenc_h263p "
                       "name=e ! rtph263ppay ! @"))
    return;
  sink_play (&f);
  g_assert_true (sink_warns_once (&f, "x264enc", 500)); /* its caps come too */
  sink_teardown (&f);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asmpsink", GST_RANK_NONE, GST_TYPE_ASMP_SINK);
  g_test_add_func ("/asmpsink/eos", test_eos);
  g_test_add_func ("/asmpsink/file-takes-its-time", test_file_takes_its_time);
  g_test_add_func ("/asmpsink/stop-says-bye", test_stop_says_bye);
  g_test_add_func ("/asmpsink/pause-resume", test_pause_resume);
  g_test_add_func ("/asmpsink/new-run-reports-anew", test_new_run_reports_anew);
  g_test_add_func ("/asmpsink/flush", test_flush);
  g_test_add_func ("/asmpsink/preview-and-recording", test_preview_and_recording);
  g_test_add_func ("/asmpsink/two-in-one-process", test_two_in_one_process);
  g_test_add_func ("/asmpsink/sdp", test_sdp);
  g_test_add_func ("/asmpsink/network-of-the-start", test_network_of_the_start);
  g_test_add_func ("/asmpsink/warns-once/no-feedback", test_no_feedback_warns_once);
  g_test_add_func ("/asmpsink/warns-once/pre-encoded", test_pre_encoded_warns_once);
  g_test_add_func ("/asmpsink/caps-in-two-steps", test_caps_in_two_steps);
  g_test_add_func ("/asmpsink/warns-once/caps", test_mute_warns_once);
  g_test_add_func ("/asmpsink/theora", test_theora);
  g_test_add_func ("/asmpsink/warns-once/refused-encoder", test_refused_encoder_warns_once);
  g_test_add_func ("/asmpsink/no-feedback-stops", test_no_feedback_stops);
  g_test_add_func ("/asmpsink/no-feedback-stops/at-its-end", test_stopped_at_its_end);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib/gstdio.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "asmppeer.h"
#include "gstasmpsink.h"

#define VIDEO                                                                                      \
  "video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! x264enc name=e "                  \
  "tune=zerolatency ! rtph264pay name=p ! "
#define LIVE "videotestsrc is-live=true pattern=snow ! " VIDEO

typedef struct {
  AsmpPeer peer;
  GstElement *pipeline, *sink, *encoder;
  GstBus *bus;
} Fixture;

/* @description with "@" for asmpsink that sends to our peer. */
static gboolean
setup (Fixture *f, const gchar *description)
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

static void
teardown (Fixture *f)
{
  GstElement *sink = f->sink;

  gst_element_set_state (f->pipeline, GST_STATE_NULL);
  gst_bus_set_flushing (f->bus, TRUE);
  gst_clear_object (&f->encoder);
  gst_object_unref (f->bus);
  gst_object_unref (f->pipeline);
  g_assert_cmpint (G_OBJECT (sink)->ref_count, ==, 1);
  gst_object_unref (sink);
  asmp_peer_clear (&f->peer);
}

static void
play (Fixture *f)
{
  g_assert_cmpint (
      gst_element_set_state (f->pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
}

/* Runs until the peer has heard packets and an announcement with caps. */
static void
meet (Fixture *f)
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

/* Two reports: the first one is probation. */
static void
join (Fixture *f, guint64 rate_bps)
{
  asmp_peer_report (&f->peer, rate_bps, 0);
  asmp_peer_run (&f->peer, 110);
  asmp_peer_report (&f->peer, rate_bps, 0);
}

static GstMessage *
wait_message (Fixture *f, GstMessageType type, guint ms)
{
  gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;
  GstMessage *message = NULL;

  while (!message && g_get_monotonic_time () < until) {
    asmp_peer_run (&f->peer, 2);
    message = gst_bus_pop_filtered (f->bus, type);
  }
  return message;
}

/* An element message with this name (and @field = @text, unless NULL); its structure. */
static GstStructure *
wait_element_message (
    Fixture *f, const gchar *name, const gchar *field, const gchar *text, guint ms)
{
  gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;

  while (g_get_monotonic_time () < until) {
    GstMessage *message = wait_message (f, GST_MESSAGE_ELEMENT, 20);
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

static guint
count_warnings (Fixture *f, const gchar *part)
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

static guint64
get_u64 (GstElement *element, const gchar *property)
{
  guint64 value;

  g_object_get (element, property, &value, NULL);
  return value;
}

static guint
get_uint (GstElement *element, const gchar *property)
{
  guint value;

  g_object_get (element, property, &value, NULL);
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

  if (!setup (&f, LIVE "@"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (walk); i++) {
    g_assert_cmpint (gst_element_set_state (f.pipeline, walk[i]), !=, GST_STATE_CHANGE_FAILURE);
    gst_element_get_state (f.pipeline, NULL, NULL, 5 * GST_SECOND);
    asmp_peer_run (&f.peer, 30);
  }
  teardown (&f);
}

static void
test_plays_again (void)
{
  Fixture f;

  if (!setup (&f, LIVE "@"))
    return;
  for (guint i = 0; i < 3; i++) {
    play (&f);
    f.peer.packets = f.peer.sessions = 0;
    memset (&f.peer.session, 0, sizeof f.peer.session);
    f.peer.session.payload_type = 255;
    g_clear_object (&f.peer.sender);
    meet (&f);
    gst_element_set_state (f.pipeline, GST_STATE_NULL);
  }
  teardown (&f);
}

/* ---- the stream ---- */

static void
test_stream (void)
{
  Fixture f;
  GstElement *payloader;
  gint interval;

  if (!setup (&f, LIVE "@"))
    return;
  play (&f);
  meet (&f);
  asmp_peer_run (&f.peer, 1000);
  g_assert_cmpuint (f.peer.packets, >, 20);
  g_assert_cmpuint (f.peer.gaps, ==, 0);
  g_assert_cmpuint (f.peer.unstamped, ==, 0);
  g_assert_cmpuint (f.peer.sessions, >=, 2); /* at least every 500 ms */
  g_assert_cmpstr (f.peer.session.encoding_name, ==, "H264");
  g_assert_cmpstr (f.peer.session.media, ==, "video");
  g_assert_cmpuint (f.peer.session.payload_type, ==, 96);
  g_assert_cmpuint (f.peer.session.clock_rate, ==, 90000);
  g_assert_cmpuint (f.peer.session.send_time_id, ==, 14);
  g_assert_cmpuint (f.peer.session.media_ssrc, ==, f.peer.media_ssrc);
  g_assert_cmpuint (f.peer.session.min_bps, ==, 100000);
  g_assert_nonnull (strstr (f.peer.session.parameters, "sprop-parameter-sets="));
  payloader = gst_bin_get_by_name (GST_BIN (f.pipeline), "p");
  g_object_get (payloader, "config-interval", &interval, NULL);
  g_assert_cmpint (interval, ==, -1);
  g_assert_cmpuint (get_uint (payloader, "mtu"), ==, 1200);
  gst_object_unref (payloader);
  g_assert_cmpuint (f.peer.largest, >, 1000);
  g_assert_cmpuint (f.peer.largest, <=, 1208); /* with the extension: 1256 bytes of IPv6 */
  teardown (&f);
}

static gint64 changed_us;

static void
on_bitrate_changed (GstElement *sink, GstElement *encoder, guint64 bitrate, gpointer data)
{
  *(guint64 *)data = bitrate;
  changed_us = g_get_monotonic_time ();
}

static void
on_notify (GObject *sink, GParamSpec *pspec, gpointer data)
{
  g_atomic_int_inc ((gint *)data);
}

static void
test_report_drives_encoder (void)
{
  Fixture f;
  guint64 asked = 0;
  gint notified = 0;
  gint64 said_us;
  GstStructure *message;
  guint ssrc;

  if (!setup (&f, LIVE "@ start-bitrate=1000000"))
    return;
  g_signal_connect (f.sink, "encoder-bitrate-changed", G_CALLBACK (on_bitrate_changed), &asked);
  g_signal_connect (f.sink, "notify::target-bitrate", G_CALLBACK (on_notify), &notified);
  play (&f);
  meet (&f);
  g_assert_cmpuint (get_uint (f.encoder, "bitrate"), >, 800);
  asmp_peer_report (&f.peer, 900000, 0);
  asmp_peer_run (&f.peer, 300);

  changed_us = 0;
  said_us = g_get_monotonic_time ();
  asmp_peer_report (&f.peer, 400000, 0);
  while (changed_us == 0 && g_get_monotonic_time () < said_us + 2000000)
    g_usleep (100);
  g_test_message ("the encoder had it after %.1f ms", (gdouble)(changed_us - said_us) / 1e3);
  g_assert_cmpint (changed_us - said_us, >, 0);
  g_assert_cmpint (changed_us - said_us, <, 33000); /* a frame */
  g_assert_cmpuint (get_u64 (f.sink, "target-bitrate"), ==, 400000);
  g_assert_cmpuint (asked, <=, 400000);
  g_assert_cmpuint (asked, >, 200000);
  g_assert_cmpuint (get_uint (f.encoder, "bitrate"), ==, asked / 1000);
  g_assert_cmpint (g_atomic_int_get (&notified), >, 0);
  message = wait_element_message (&f, "adaptive-multicast-target", "reason", "receiver", 2000);
  g_assert_nonnull (message);
  g_assert_true (gst_structure_get_uint (message, "limiting-ssrc", &ssrc));
  g_assert_cmpuint (ssrc, ==, 0x1234);
  gst_structure_free (message);
  teardown (&f);
}

/* What is sent follows the target, headers included, though the content wants far more. */
static void
test_wire_rate (void)
{
  Fixture f;
  guint64 before;
  gdouble rate;

  if (!setup (&f, LIVE "@ start-bitrate=500000"))
    return;
  play (&f);
  meet (&f);
  join (&f, 500000);
  for (guint i = 0; i < 20; i++) {
    asmp_peer_run (&f.peer, 100);
    asmp_peer_report (&f.peer, 500000, 0);
  }
  before = f.peer.bytes;
  for (guint i = 0; i < 30; i++) {
    asmp_peer_run (&f.peer, 100);
    asmp_peer_report (&f.peer, 500000, 0);
  }
  rate = (gdouble)(f.peer.bytes - before) * 8 / 3.0;
  g_test_message ("%.0f bit/s on the wire for a target of 500000", rate);
  g_assert_cmpfloat (rate, <, 550000);
  g_assert_cmpfloat (rate, >, 400000);
  g_assert_cmpuint (f.peer.rtts, >, 0);
  teardown (&f);
}

static void
test_receiver_messages (void)
{
  Fixture f;
  GstStructure *message;

  if (!setup (&f, LIVE "@"))
    return;
  play (&f);
  meet (&f);
  join (&f, 400000);
  message = wait_element_message (&f, "adaptive-multicast-receiver", "state", "joined", 2000);
  g_assert_nonnull (message);
  gst_structure_free (message);
  asmp_peer_bye (&f.peer);
  message = wait_element_message (&f, "adaptive-multicast-receiver", "state", "left", 1000);
  g_assert_nonnull (message);
  gst_structure_free (message);
  teardown (&f);
}

static void
test_stats (void)
{
  Fixture f;
  GstStructure *stats;
  guint n = 0;

  if (!setup (&f, LIVE "@ stats-interval=200"))
    return;
  play (&f);
  meet (&f);
  join (&f, 400000);
  gst_bus_set_flushing (f.bus, TRUE); /* what came so far */
  gst_bus_set_flushing (f.bus, FALSE);
  for (gint64 until = g_get_monotonic_time () + 1500000; g_get_monotonic_time () < until;) {
    stats = wait_element_message (&f, "adaptive-multicast-stats", NULL, NULL, 300);
    n += stats != NULL;
    g_clear_pointer (&stats, gst_structure_free);
  }
  g_assert_cmpuint (n, >=, 5);
  g_assert_cmpuint (n, <=, 9);
  g_object_get (f.sink, "stats", &stats, NULL);
  g_assert_cmpuint (gst_value_array_get_size (gst_structure_get_value (stats, "receivers")), ==, 1);
  gst_structure_free (stats);
  teardown (&f);
}

/* ---- key units ---- */

static GstPadProbeReturn
on_upstream (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (gst_video_event_is_force_key_unit (GST_PAD_PROBE_INFO_EVENT (info)))
    g_atomic_int_inc ((gint *)data);
  return GST_PAD_PROBE_OK;
}

static void
test_key_units (void)
{
  Fixture f;
  GstPad *pad;
  gint requests = 0;

  if (!setup (&f, LIVE "@"))
    return;
  pad = gst_element_get_static_pad (f.encoder, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_upstream, &requests, NULL);
  play (&f);
  meet (&f);
  g_signal_emit_by_name (f.sink, "force-key-unit");
  asmp_peer_run (&f.peer, 50);
  g_assert_cmpint (g_atomic_int_get (&requests), ==, 1);
  /* 20 PLI in 2 s: one a second at most */
  for (guint i = 0; i < 20; i++) {
    asmp_peer_pli (&f.peer);
    asmp_peer_run (&f.peer, 100);
  }
  g_test_message ("%d requests", requests);
  g_assert_cmpint (g_atomic_int_get (&requests), >=, 2);
  g_assert_cmpint (g_atomic_int_get (&requests), <=, 4);
  gst_object_unref (pad);
  teardown (&f);
}

/* ---- ends ---- */

static void
test_eos (void)
{
  Fixture f;
  GstMessage *message;
  gint64 eos_us;
  guint64 before;

  /* Not live: clocksync holds it to its time. */
  if (!setup (&f, "videotestsrc num-buffers=45 ! " VIDEO "@ start-bitrate=300000"))
    return;
  play (&f);
  message = wait_message (&f, GST_MESSAGE_EOS | GST_MESSAGE_ERROR, 10000);
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
  teardown (&f);
}

static void
test_file_takes_its_time (void)
{
  Fixture f;
  GstMessage *message;
  gint64 start = g_get_monotonic_time ();

  if (!setup (&f, "videotestsrc num-buffers=30 ! " VIDEO "@"))
    return;
  play (&f);
  message = wait_message (&f, GST_MESSAGE_EOS, 10000);
  g_assert_nonnull (message);
  gst_message_unref (message);
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 900000);
  teardown (&f);
}

static void
test_stop_says_bye (void)
{
  Fixture f;

  if (!setup (&f, LIVE "@"))
    return;
  play (&f);
  meet (&f);
  gst_element_set_state (f.pipeline, GST_STATE_NULL);
  asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.byes, >=, 1);
  teardown (&f);
}

static void
test_pause_resume (void)
{
  Fixture f;
  guint64 before;

  if (!setup (&f, LIVE "@"))
    return;
  play (&f);
  meet (&f);
  gst_element_set_state (f.pipeline, GST_STATE_PAUSED);
  asmp_peer_run (&f.peer, 400); /* what was queued */
  before = f.peer.packets;
  asmp_peer_run (&f.peer, 500);
  g_assert_cmpuint (f.peer.packets, ==, before);
  g_assert_cmpuint (f.peer.byes, ==, 0);
  play (&f);
  asmp_peer_run (&f.peer, 500);
  g_assert_cmpuint (f.peer.packets, >, before + 5);
  g_assert_cmpuint (f.peer.gaps, ==, 0);
  teardown (&f);
}

static void
test_flush (void)
{
  Fixture f;
  guint64 before;

  if (!setup (&f, "videotestsrc num-buffers=3000 ! " VIDEO "@"))
    return;
  play (&f);
  meet (&f);
  g_assert_true (
      gst_element_seek_simple (f.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 10 * GST_SECOND));
  asmp_peer_run (&f.peer, 200);
  before = f.peer.packets;
  asmp_peer_run (&f.peer, 500);
  g_assert_cmpuint (f.peer.packets, >, before + 5);
  teardown (&f);
}

/* ---- beside others ---- */

static void
test_preview_and_recording (void)
{
  Fixture f;
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
  if (setup (&f, description)) {
    play (&f);
    meet (&f);
    asmp_peer_run (&f.peer, 500);
    g_assert_cmpuint (get_uint (f.encoder, "pass"), ==, 5); /* found through the tee */
    gst_element_send_event (f.pipeline, gst_event_new_eos ());
    message = wait_message (&f, GST_MESSAGE_EOS | GST_MESSAGE_ERROR, 3000);
    g_assert_nonnull (message);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
    gst_message_unref (message);
    asmp_peer_run (&f.peer, 50);
    g_assert_cmpuint (f.peer.byes, >=, 1);
    g_assert_cmpint (g_stat (path, &info), ==, 0);
    g_assert_cmpint (info.st_size, >, 1000);
    teardown (&f);
  }
  g_unlink (path);
  g_free (description);
  g_free (path);
}

static void
test_two_in_one_process (void)
{
  Fixture a, b;

  if (!setup (&a, LIVE "@") || !setup (&b, LIVE "@"))
    return;
  play (&a);
  play (&b);
  meet (&a);
  meet (&b);
  join (&a, 300000);
  asmp_peer_run (&a.peer, 50);
  g_assert_cmpuint (get_u64 (a.sink, "target-bitrate"), !=, 0);
  g_assert_cmpuint (a.peer.media_ssrc, !=, b.peer.media_ssrc);
  teardown (&a);
  asmp_peer_run (&b.peer, 300);
  g_assert_cmpuint (b.peer.gaps, ==, 0);
  teardown (&b);
}

static void
test_sdp (void)
{
  Fixture f;
  gchar *path = g_build_filename (g_get_tmp_dir (), "mcc-asmpsink-XXXXXX", NULL), *text = NULL;

  g_close (g_mkstemp (path), NULL);
  if (setup (&f, LIVE "@")) {
    g_object_set (f.sink, "sdp-location", path, NULL);
    play (&f);
    meet (&f);
    asmp_peer_run (&f.peer, 100);
    g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
    g_assert_nonnull (strstr (text, "a=rtpmap:96 H264/90000"));
    g_free (text);
    teardown (&f);
  }
  g_unlink (path);
  g_free (path);
}

/* ---- warnings ---- */

static void
test_no_feedback_warns_once (void)
{
  Fixture f;

  if (!setup (&f, LIVE "@ start-bitrate=400000"))
    return;
  play (&f);
  meet (&f);
  asmp_peer_run (&f.peer, 6500);
  g_assert_cmpuint (count_warnings (&f, "No receiver reports"), ==, 1);
  g_assert_cmpuint (get_u64 (f.sink, "target-bitrate"), ==, 100000);
  teardown (&f);
}

static void
test_no_feedback_stops (void)
{
  Fixture f;
  guint64 before;

  if (!setup (&f, LIVE "@ no-feedback=stop"))
    return;
  play (&f);
  meet (&f);
  join (&f, 200000);
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
  join (&f, 200000);
  asmp_peer_run (&f.peer, 500);
  g_assert_cmpuint (f.peer.packets, >, before);
  teardown (&f);
}

static void
test_pre_encoded_warns_once (void)
{
  Fixture f;
  guint n;

  if (!setup (&f, "fakesrc is-live=true format=time do-timestamp=true sizetype=fixed sizemax=1200 "
                  "datarate=62500 "
                  "! application/x-rtp,media=video,encoding-name=X,clock-rate=90000,payload=96 ! "
                  "identity ! @"))
    return;
  play (&f);
  asmp_peer_run (&f.peer, 300);
  n = count_warnings (&f, "No encoder");
  g_assert_cmpuint (n, ==, 1);
  teardown (&f);
}

/* rtpmp4vpay's first caps have no clock rate; those that its packets leave with are complete. (This
 * encoder's times are of no use, so they are not waited for.) */
static void
test_caps_in_two_steps (void)
{
  Fixture f;

  if (!setup (&f, "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! "
                  "avenc_mpeg4 ! rtpmp4vpay ! @encoder-control=none sync=false"))
    return;
  play (&f);
  meet (&f);
  g_assert_cmpstr (f.peer.session.encoding_name, ==, "MP4V-ES");
  g_assert_cmpuint (f.peer.session.clock_rate, ==, 90000);
  g_assert_cmpuint (count_warnings (&f, "cannot be announced"), ==, 0);
  teardown (&f);
}

/* Packets that leave without caps that can be announced: said once. */
static void
test_mute_warns_once (void)
{
  Fixture f;
  gint64 until = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;

  if (!setup (&f, LIVE "capssetter replace=true caps=application/x-rtp,media=video,payload=96 ! @"))
    return;
  play (&f);
  while (f.peer.packets < 30 && g_get_monotonic_time () < until)
    asmp_peer_run (&f.peer, 10);
  g_assert_cmpuint (f.peer.packets, >=, 30);
  g_assert_cmpuint (count_warnings (&f, "cannot be announced"), ==, 1);
  teardown (&f);
}

static void
test_refused_encoder_warns_once (void)
{
  Fixture f;

  if (!setup (&f, "videotestsrc is-live=true ! video/x-raw,width=352,height=288 ! avenc_h263p "
                  "name=e ! rtph263ppay ! @"))
    return;
  play (&f);
  asmp_peer_run (&f.peer, 500); /* its caps come too */
  g_assert_cmpuint (count_warnings (&f, "x264enc"), ==, 1);
  teardown (&f);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asmpsink", GST_RANK_NONE, GST_TYPE_ASMP_SINK);
  g_test_add_func ("/asmpsink/states", test_states);
  g_test_add_func ("/asmpsink/plays-again", test_plays_again);
  g_test_add_func ("/asmpsink/stream", test_stream);
  g_test_add_func ("/asmpsink/report-drives-encoder-within-a-frame", test_report_drives_encoder);
  g_test_add_func ("/asmpsink/wire-rate-follows", test_wire_rate);
  g_test_add_func ("/asmpsink/receiver-messages", test_receiver_messages);
  g_test_add_func ("/asmpsink/stats", test_stats);
  g_test_add_func ("/asmpsink/key-units", test_key_units);
  g_test_add_func ("/asmpsink/eos", test_eos);
  g_test_add_func ("/asmpsink/file-takes-its-time", test_file_takes_its_time);
  g_test_add_func ("/asmpsink/stop-says-bye", test_stop_says_bye);
  g_test_add_func ("/asmpsink/pause-resume", test_pause_resume);
  g_test_add_func ("/asmpsink/flush", test_flush);
  g_test_add_func ("/asmpsink/preview-and-recording", test_preview_and_recording);
  g_test_add_func ("/asmpsink/two-in-one-process", test_two_in_one_process);
  g_test_add_func ("/asmpsink/sdp", test_sdp);
  g_test_add_func ("/asmpsink/warns-once/no-feedback", test_no_feedback_warns_once);
  g_test_add_func ("/asmpsink/warns-once/pre-encoded", test_pre_encoded_warns_once);
  g_test_add_func ("/asmpsink/caps-in-two-steps", test_caps_in_two_steps);
  g_test_add_func ("/asmpsink/warns-once/caps", test_mute_warns_once);
  g_test_add_func ("/asmpsink/warns-once/refused-encoder", test_refused_encoder_warns_once);
  g_test_add_func ("/asmpsink/no-feedback-stops", test_no_feedback_stops);
  return g_test_run ();
}

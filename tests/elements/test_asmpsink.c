/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpsink beside a receiver that the test plays: states, the stream, reports, key units.
 */
#include <string.h>

#include <gst/gst.h>
#include <gst/video/video.h>

#include "gstasmpsink.h"
#include "sinkfixture.h"

/* ---- states ---- */

static void
test_states (void)
{
  static const GstState walk[] = { GST_STATE_READY, GST_STATE_NULL, GST_STATE_PAUSED,
    GST_STATE_READY, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_READY,
    GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PLAYING, GST_STATE_NULL };
  SinkFixture f;

  if (!sink_setup (&f, LIVE "@"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (walk); i++) {
    g_assert_cmpint (gst_element_set_state (f.pipeline, walk[i]), !=, GST_STATE_CHANGE_FAILURE);
    gst_element_get_state (f.pipeline, NULL, NULL, 5 * GST_SECOND);
    asmp_peer_run (&f.peer, 30);
  }
  sink_teardown (&f);
}

static void
test_plays_again (void)
{
  SinkFixture f;

  if (!sink_setup (&f, LIVE "@"))
    return;
  for (guint i = 0; i < 3; i++) {
    sink_play (&f);
    f.peer.packets = f.peer.sessions = 0;
    memset (&f.peer.session, 0, sizeof f.peer.session);
    f.peer.session.payload_type = 255;
    g_clear_object (&f.peer.sender);
    sink_meet (&f);
    gst_element_set_state (f.pipeline, GST_STATE_NULL);
  }
  sink_teardown (&f);
}

/* RFC 3550 6.4.1: counts are of an SSRC; who plays by them would see a thousand packets lost. */
static void
test_reports_count_anew (void)
{
  SinkFixture f;

  if (!sink_setup (&f, LIVE "@ start-bitrate=2000000"))
    return;
  sink_play (&f);
  sink_meet (&f);
  asmp_peer_run (&f.peer, 2000);
  g_assert_cmpuint (f.peer.sr_packets, >, 100);
  gst_element_set_state (f.pipeline, GST_STATE_READY);
  asmp_peer_run (&f.peer, 100);
  f.peer.packets = f.peer.sr_packets = f.peer.sessions = 0;
  sink_play (&f);
  for (guint i = 0; i < 50 && f.peer.sessions < 2; i++) /* each with our SR */
    asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (f.peer.sessions, >=, 2);
  g_assert_cmpuint (f.peer.sr_packets, <=, f.peer.packets + 20);
  sink_teardown (&f);
}

/* ---- the stream ---- */

static void
test_stream (void)
{
  SinkFixture f;
  GstElement *payloader;
  gint interval;

  if (!sink_setup (&f, LIVE "@"))
    return;
  sink_play (&f);
  sink_meet (&f);
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
  sink_teardown (&f);
}

/* Before there is a stream, receivers can only take its announcement for another sender's. In each
 * start anew: payloaders choose another SSRC. */
static void
test_announces_what_it_sends (void)
{
  SinkFixture f;
  GstElement *valve;

  if (!sink_setup (&f, LIVE "valve name=v drop=true ! @"))
    return;
  valve = gst_bin_get_by_name (GST_BIN (f.pipeline), "v");
  for (guint i = 0; i < 2; i++) {
    f.peer.sessions = f.peer.renames = 0;
    f.peer.packets = 0;
    sink_play (&f);
    asmp_peer_run (&f.peer, 700);
    g_assert_cmpuint (f.peer.sessions, ==, 0);
    g_object_set (valve, "drop", FALSE, NULL);
    g_assert_true (sink_packets (&f, 1));
    asmp_peer_run (&f.peer, 150);
    g_assert_cmpuint (f.peer.sessions, >=, 1);
    asmp_peer_run (&f.peer, 500);
    g_assert_cmpuint (f.peer.renames, ==, 0);
    g_assert_cmpuint (f.peer.session.media_ssrc, ==, f.peer.media_ssrc);
    g_object_set (valve, "drop", TRUE, NULL);
    gst_element_set_state (f.pipeline, GST_STATE_READY);
    asmp_peer_run (&f.peer, 50);
  }
  gst_object_unref (valve);
  sink_teardown (&f);
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

static guint64
target_of (SinkFixture *f)
{
  guint64 target;

  g_object_get (f->sink, "target-bitrate", &target, NULL);
  return target;
}

/* Reports in whose compounds nothing names the media come from who does not hear it. */
static void
test_blind_report (void)
{
  SinkFixture f;

  if (!sink_setup (&f, LIVE "@ start-bitrate=1000000"))
    return;
  sink_play (&f);
  sink_meet (&f);
  sink_join (&f, 900000);
  asmp_peer_run (&f.peer, 300);
  g_assert_cmpuint (target_of (&f), ==, 900000);
  f.peer.ssrc++;
  f.peer.blind = TRUE;
  for (guint i = 0; i < 5; i++)
    sink_join (&f, 200000);
  asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (target_of (&f), ==, 900000);
  f.peer.blind = FALSE;
  sink_join (&f, 200000);
  asmp_peer_run (&f.peer, 100);
  g_assert_cmpuint (target_of (&f), ==, 200000);
  sink_teardown (&f);
}

static void
test_report_drives_encoder (void)
{
  SinkFixture f;
  guint64 asked = 0;
  gint notified = 0;
  gint64 said_us;
  GstStructure *message;
  guint ssrc;

  if (!sink_setup (&f, LIVE "@ start-bitrate=1000000"))
    return;
  g_signal_connect (f.sink, "encoder-bitrate-changed", G_CALLBACK (on_bitrate_changed), &asked);
  g_signal_connect (f.sink, "notify::target-bitrate", G_CALLBACK (on_notify), &notified);
  sink_play (&f);
  sink_meet (&f);
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
  message = sink_wait_element_message (&f, "adaptive-multicast-target", "reason", "receiver", 2000);
  g_assert_nonnull (message);
  g_assert_true (gst_structure_get_uint (message, "limiting-ssrc", &ssrc));
  g_assert_cmpuint (ssrc, ==, 0x1234);
  gst_structure_free (message);
  sink_teardown (&f);
}

/* Share of the packets of @ms that left with the one before. */
static gdouble
together (SinkFixture *f, guint ms)
{
  guint64 packets = f->peer.packets, with_another = f->peer.together;

  asmp_peer_run (&f->peer, ms);
  return (gdouble)(f->peer.together - with_another) / (gdouble)(f->peer.packets - packets);
}

/* In bursts while nobody limits, one at a time while a receiver nearby does; in bursts again after
 * the element was stopped. */
static void
test_pacing (void)
{
  SinkFixture f;

  if (!sink_setup (&f, LIVE "@ start-bitrate=4000000"))
    return;
  for (guint i = 0; i < 2; i++) {
    gdouble before, limited;

    sink_play (&f);
    sink_meet (&f);
    before = together (&f, 700);
    sink_join (&f, 4000000);
    asmp_peer_run (&f.peer, 300);
    limited = together (&f, 700);
    g_test_message ("%.2f of the packets together, %.2f while limited", before, limited);
    g_assert_cmpfloat (before, >, 0.5);
    g_assert_cmpfloat (limited, <, 0.25);
    gst_element_set_state (f.pipeline, GST_STATE_READY);
  }
  sink_teardown (&f);
}

/* What is sent follows the target, headers included, though the content wants far more. */
static void
test_wire_rate (void)
{
  SinkFixture f;
  guint64 before;
  gint64 begin;
  gdouble rate;

  if (!sink_setup (&f, LIVE "@ start-bitrate=500000"))
    return;
  sink_play (&f);
  sink_meet (&f);
  sink_join (&f, 500000);
  for (guint i = 0; i < 20; i++) {
    asmp_peer_run (&f.peer, 100);
    asmp_peer_report (&f.peer, 500000, 0);
  }
  before = f.peer.bytes;
  begin = g_get_monotonic_time ();
  for (guint i = 0; i < 30; i++) {
    asmp_peer_run (&f.peer, 100);
    asmp_peer_report (&f.peer, 500000, 0);
  }
  rate = (gdouble)(f.peer.bytes - before) * 8e6 / (gdouble)(g_get_monotonic_time () - begin);
  g_test_message ("%.0f bit/s on the wire for a target of 500000", rate);
  g_assert_cmpfloat (rate, <, 550000);
  g_assert_cmpfloat (rate, >, 400000);
  g_assert_cmpuint (f.peer.rtts, >, 0);
  sink_teardown (&f);
}

static void
test_receiver_messages (void)
{
  SinkFixture f;
  GstStructure *message;

  if (!sink_setup (&f, LIVE "@"))
    return;
  sink_play (&f);
  sink_meet (&f);
  sink_join (&f, 400000);
  message = sink_wait_element_message (&f, "adaptive-multicast-receiver", "state", "joined", 2000);
  g_assert_nonnull (message);
  gst_structure_free (message);
  asmp_peer_bye (&f.peer);
  message = sink_wait_element_message (&f, "adaptive-multicast-receiver", "state", "left", 1000);
  g_assert_nonnull (message);
  gst_structure_free (message);
  sink_teardown (&f);
}

static void
test_stats (void)
{
  SinkFixture f;
  GstStructure *stats;
  guint n = 0;

  if (!sink_setup (&f, LIVE "@ stats-interval=200"))
    return;
  sink_play (&f);
  sink_meet (&f);
  sink_join (&f, 400000);
  gst_bus_set_flushing (f.bus, TRUE); /* what came so far */
  gst_bus_set_flushing (f.bus, FALSE);
  for (gint64 until = g_get_monotonic_time () + 1500000; g_get_monotonic_time () < until;) {
    stats = sink_wait_element_message (&f, "adaptive-multicast-stats", NULL, NULL, 300);
    n += stats != NULL;
    g_clear_pointer (&stats, gst_structure_free);
  }
  g_assert_cmpuint (n, >=, 5);
  g_assert_cmpuint (n, <=, 9);
  g_object_get (f.sink, "stats", &stats, NULL);
  g_assert_cmpuint (gst_value_array_get_size (gst_structure_get_value (stats, "receivers")), ==, 1);
  gst_structure_free (stats);
  sink_teardown (&f);
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
  SinkFixture f;
  GstPad *pad;
  gint requests = 0;
  gint64 begin;

  if (!sink_setup (&f, LIVE "@"))
    return;
  pad = gst_element_get_static_pad (f.encoder, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_upstream, &requests, NULL);
  sink_play (&f);
  sink_meet (&f);
  begin = g_get_monotonic_time ();
  g_signal_emit_by_name (f.sink, "force-key-unit");
  for (guint i = 0; i < 500 && g_atomic_int_get (&requests) == 0; i++)
    asmp_peer_run (&f.peer, 10);
  asmp_peer_run (&f.peer, 50);
  g_assert_cmpint (g_atomic_int_get (&requests), ==, 1);
  /* 20 PLI in 2 s: one a second at most */
  for (guint i = 0; i < 20; i++) {
    asmp_peer_pli (&f.peer);
    asmp_peer_run (&f.peer, 100);
  }
  g_test_message ("%d requests", requests);
  g_assert_cmpint (g_atomic_int_get (&requests), >=, 2);
  g_assert_cmpint (g_atomic_int_get (&requests), <=,
      2 + (gint)((g_get_monotonic_time () - begin) / G_USEC_PER_SEC));
  gst_object_unref (pad);
  sink_teardown (&f);
}

/* ---- ECN ---- */

/* Reports until the peer sees @tos on RTP; FALSE: not within 3 s. */
static gboolean
gets_tos (SinkFixture *f, guint8 tos)
{
  for (guint i = 0; i < 30; i++) {
    asmp_peer_report (&f->peer, 400000, 0);
    asmp_peer_run (&f->peer, 100);
    if (f->peer.tos == tos)
      return TRUE;
  }
  g_test_message ("TOS 0x%02x", f->peer.tos);
  return FALSE;
}

static gboolean
says_ecn (SinkFixture *f)
{
  GstStructure *stats;
  gboolean ecn = FALSE;

  g_object_get (f->sink, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_boolean (stats, "ecn", &ecn));
  gst_structure_free (stats);
  return ecn;
}

/* ECT(0) while the receiver says that it heeds marks; the DSCP stays, and RTCP is not ECT. */
static void
test_ecn (void)
{
  SinkFixture f;

  for (guint restart = 0; restart < 2; restart++) {
    if (restart == 0 && !sink_setup (&f, LIVE "@ ecn=true qos-dscp=46"))
      return;
    sink_play (&f);
    sink_meet (&f);
    asmp_peer_run (&f.peer, 200);
    g_assert_cmpuint (f.peer.tos, ==, 46 << 2); /* nobody is known to heed them */
    g_assert_false (says_ecn (&f));
    f.peer.ecn = MCC_REPORT_ECN_HEEDED;
    g_assert_true (gets_tos (&f, 46 << 2 | MCC_ECN_ECT0));
    g_assert_cmpuint (f.peer.session.flags & MCC_SESSION_ECT, !=, 0);
    g_assert_cmpuint (f.peer.rtcp_tos, ==, 46 << 2);
    g_assert_true (says_ecn (&f));
    f.peer.ecn = MCC_REPORT_ECN_BROKEN;
    g_assert_true (gets_tos (&f, 46 << 2));
    asmp_peer_run (&f.peer, 700);
    g_assert_cmpuint (f.peer.session.flags & MCC_SESSION_ECT, ==, 0);
    f.peer.ecn = MCC_REPORT_ECN_HEEDED;
    g_assert_true (gets_tos (&f, 46 << 2 | MCC_ECN_ECT0));
    /* a new session knows nobody */
    gst_element_set_state (f.pipeline, GST_STATE_READY);
    asmp_peer_run (&f.peer, 50);
    f.peer.packets = 0;
    f.peer.sessions = 0;
  }
  sink_teardown (&f);
}

static void
test_ecn_is_asked_for (void)
{
  static const gchar *const none[] = { "", "ecn=true variant=published" };

  for (guint i = 0; i < G_N_ELEMENTS (none); i++) {
    gchar *text = g_strconcat (LIVE "@ ", none[i], NULL);
    SinkFixture f;
    gboolean ready = sink_setup (&f, text);

    g_free (text);
    if (!ready)
      return;
    sink_play (&f);
    sink_meet (&f);
    f.peer.ecn = MCC_REPORT_ECN_HEEDED;
    for (guint n = 0; n < 15; n++) {
      asmp_peer_report (&f.peer, 400000, 0);
      asmp_peer_run (&f.peer, 100);
      g_assert_cmpuint (f.peer.tos & 3, ==, MCC_ECN_NOT_ECT);
    }
    sink_teardown (&f);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "asmpsink", GST_RANK_NONE, GST_TYPE_ASMP_SINK);
  g_test_add_func ("/asmpsink/states", test_states);
  g_test_add_func ("/asmpsink/plays-again", test_plays_again);
  g_test_add_func ("/asmpsink/reports-count-anew", test_reports_count_anew);
  g_test_add_func ("/asmpsink/stream", test_stream);
  g_test_add_func ("/asmpsink/announces-what-it-sends", test_announces_what_it_sends);
  g_test_add_func ("/asmpsink/report-drives-encoder-within-a-frame", test_report_drives_encoder);
  g_test_add_func ("/asmpsink/pacing", test_pacing);
  g_test_add_func ("/asmpsink/blind-report-has-no-effect", test_blind_report);
  g_test_add_func ("/asmpsink/wire-rate-follows", test_wire_rate);
  g_test_add_func ("/asmpsink/receiver-messages", test_receiver_messages);
  g_test_add_func ("/asmpsink/stats", test_stats);
  g_test_add_func ("/asmpsink/key-units", test_key_units);
  g_test_add_func ("/asmpsink/ecn/while-all-heed-marks", test_ecn);
  g_test_add_func ("/asmpsink/ecn/is-asked-for", test_ecn_is_asked_for);
  return g_test_run ();
}

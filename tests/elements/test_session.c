/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsession: a sender and a receiver on the loopback interface, RTP, our APP packets, key-unit
 * requests and BYE between them, by multicast and by unicast.
 */
#include <netinet/in.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gst/rtp/gstrtpbuffer.h>

#include "gstmccproperties.h"
#include "gstmccsessionprivate.h"
#include "ownport.h"

typedef struct {
  GMutex lock;
  GCond cond;
  guint rtp, leaving, apps, byes, key_units, blocks;
  guint dropped[MCC_DROP_COUNT];
  guint32 app_ssrc;
  guint32 ssrc;
  guint32 highest_seq;
} Side;

typedef struct {
  Side tx, rx;
  GstElement *tx_pipe, *rx_pipe;
  GstMccSession *sender, *receiver;
  GstPad *feed; /* into the sender */
  guint16 port;
  guint16 seq;
} World;

#define COUNT(field)                                                                               \
  Side *side = owner;                                                                              \
  g_mutex_lock (&side->lock);                                                                      \
  side->field++;                                                                                   \
  g_cond_broadcast (&side->cond);                                                                  \
  g_mutex_unlock (&side->lock)

static void
on_app (gpointer owner, const MccApp *app, const MccAddress *from)
{
  ((Side *)owner)->app_ssrc = app->ssrc;
  COUNT (apps);
}

static void
on_block (gpointer owner, guint stream, guint32 ssrc, const MccPlainReport *report,
    gboolean has_app, const MccAddress *from)
{
  ((Side *)owner)->highest_seq = report->highest_seq;
  g_assert_cmpuint (report->rtt, <, 10 * MCC_SECOND);
  COUNT (blocks);
}

static void
on_bye (gpointer owner, guint32 ssrc, const MccAddress *from)
{
  COUNT (byes);
}

static void
on_key_unit (gpointer owner, guint stream, guint32 ssrc)
{
  COUNT (key_units);
}

static void
on_dropped (gpointer owner, MccDrop drop, guint32 ssrc)
{
  COUNT (dropped[drop]);
}

static void
on_ssrc (gpointer owner, guint stream, guint32 ssrc)
{
  ((Side *)owner)->ssrc = ssrc;
}

static GstMccSourceVerdict
on_rtp (gpointer owner, guint stream, const guint8 *data, gsize size, const MccAddress *from,
    guint bytes, const GstMccArrival *arrival)
{
  g_assert_cmpuint (bytes, ==, size + 28);
  g_assert_nonnull (from);
  g_assert_cmpint (arrival->ecn, ==, MCC_ECN_NOT_ECT);
  COUNT (rtp);
  return GST_MCC_SOURCE_PASS;
}

static GstBuffer *
on_leaving (gpointer owner, GstBuffer *buffer, GstBuffer **before)
{
  COUNT (leaving);
  return buffer;
}

static const GstMccSessionHandler handler = {
  .app = on_app,
  .report_block = on_block,
  .bye = on_bye,
  .key_unit_request = on_key_unit,
  .dropped = on_dropped,
  .ssrc_changed = on_ssrc,
  .rtp = on_rtp,
  .leaving = on_leaving,
};

static gboolean
reached (Side *side, guint *value, guint wanted)
{
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;
  gboolean good = TRUE;

  g_mutex_lock (&side->lock);
  while (good && *value < wanted)
    good = g_cond_wait_until (&side->cond, &side->lock, end);
  g_mutex_unlock (&side->lock);
  return *value >= wanted;
}

static GstCaps *
rtp_caps (void)
{
  return gst_caps_from_string ("application/x-rtp,media=video,encoding-name=H264,"
                               "clock-rate=90000,payload=96");
}

static void
feed (World *world, guint n)
{
  GstBufferList *list = gst_buffer_list_new ();

  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_rtp_buffer_new_allocate (200, 0, 0);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
    memset (gst_rtp_buffer_get_payload (&rtp), 0x55, 200);
    gst_rtp_buffer_set_payload_type (&rtp, 96);
    gst_rtp_buffer_set_seq (&rtp, world->seq++);
    gst_rtp_buffer_set_ssrc (&rtp, 0x1234abcd);
    gst_rtp_buffer_set_timestamp (&rtp, (guint32)world->seq * 3000);
    gst_rtp_buffer_unmap (&rtp);
    GST_BUFFER_PTS (buffer) = gst_element_get_current_running_time (world->tx_pipe);
    gst_buffer_list_add (list, buffer);
  }
  g_assert_cmpint (gst_pad_push_list (world->feed, list), ==, GST_FLOW_OK);
}

static void
start_feed (World *world)
{
  GstPad *pad = gst_mcc_session_get_rtp_pad (world->sender, 0);
  GstCaps *caps = rtp_caps ();
  GstSegment segment;

  world->feed = gst_object_ref_sink (gst_pad_new ("feed", GST_PAD_SRC));
  g_assert_cmpint (gst_pad_link (world->feed, pad), ==, GST_PAD_LINK_OK);
  gst_pad_set_active (world->feed, TRUE);
  gst_pad_push_event (world->feed, gst_event_new_stream_start ("feed"));
  gst_caps_set_simple (caps, "ssrc", G_TYPE_UINT, 0x1234abcd, NULL);
  gst_pad_push_event (world->feed, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (world->feed, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  gst_object_unref (pad);
}

static void
world_start (World *world, const gchar *address, const gchar *iface)
{
  GstMccSessionSettings settings = { .address = (gchar *)address,
    .port = own_port (2),
    .multicast_iface = (gchar *)iface,
    .ttl = 1,
    .ttl_mc = 1,
    .loop = TRUE,
    .qos_dscp = -1,
    .latency_ms = 50 };
  GstElement *tx_bin = gst_bin_new ("tx"), *rx_bin = gst_bin_new ("rx");
  GstElement *fakesink = gst_element_factory_make ("fakesink", NULL);
  GError *error = NULL;
  GstPad *src, *ghost, *sink;

  memset (world, 0, sizeof *world);
  g_mutex_init (&world->tx.lock);
  g_mutex_init (&world->rx.lock);
  g_cond_init (&world->tx.cond);
  g_cond_init (&world->rx.cond);
  world->tx_pipe = gst_pipeline_new ("tx-pipe");
  world->rx_pipe = gst_pipeline_new ("rx-pipe");
  gst_bin_add (GST_BIN (world->tx_pipe), tx_bin);
  gst_bin_add_many (GST_BIN (world->rx_pipe), rx_bin, fakesink, NULL);
  world->sender = gst_mcc_session_new_sender (GST_BIN (tx_bin), &handler, &world->tx);
  world->receiver = gst_mcc_session_new_receiver (GST_BIN (rx_bin), &handler, &world->rx);
  world->port = (guint16)settings.port;
  g_assert_true (gst_mcc_session_open (world->receiver, &settings, &error));
  g_assert_no_error (error);
  g_assert_true (gst_mcc_session_open (world->sender, &settings, &error));
  g_assert_no_error (error);
  src = gst_mcc_session_get_rtp_pad (world->receiver, 0);
  ghost = gst_ghost_pad_new ("src", src);
  gst_element_add_pad (rx_bin, ghost);
  sink = gst_element_get_static_pad (fakesink, "sink");
  g_object_set (fakesink, "async", FALSE, "sync", FALSE, NULL);
  g_assert_cmpint (gst_pad_link (ghost, sink), ==, GST_PAD_LINK_OK);
  gst_object_unref (sink);
  gst_object_unref (src);
  g_assert_true (gst_mcc_session_start (world->receiver));
  g_assert_true (gst_mcc_session_start (world->sender));
  gst_mcc_session_resume (world->receiver);
  g_assert_cmpint (gst_element_set_state (world->rx_pipe, GST_STATE_PLAYING), !=, 0);
  g_assert_cmpint (gst_element_set_state (world->tx_pipe, GST_STATE_PLAYING), !=, 0);
  start_feed (world);
}

static void
world_stop (World *world)
{
  gst_pad_set_active (world->feed, FALSE);
  gst_mcc_session_stop (world->receiver);
  gst_mcc_session_stop (world->sender);
  gst_element_set_state (world->rx_pipe, GST_STATE_NULL);
  gst_element_set_state (world->tx_pipe, GST_STATE_NULL);
  gst_mcc_session_free (world->receiver);
  gst_mcc_session_free (world->sender);
  g_clear_object (&world->feed);
  gst_object_unref (world->rx_pipe);
  gst_object_unref (world->tx_pipe);
}

static MccApp
report (guint32 number)
{
  MccApp app = { .subtype = MCC_APP_REPORT };

  app.report.number = number;
  app.report.rate_bps = 400000;
  return app;
}

static MccApp
announcement (guint32 number)
{
  MccApp app = { .subtype = MCC_APP_SESSION };

  app.session.number = number;
  app.session.target_bps = app.session.max_bps = 1000000;
  app.session.payload_type = 255;
  return app;
}

static void
run (const gchar *address, const gchar *iface)
{
  World world;
  GstCaps *caps = rtp_caps ();
  MccApp app;

  world_start (&world, address, iface);
  /* RTP waits for its caps, then nothing of it is missing */
  feed (&world, 5);
  g_assert_true (reached (&world.rx, &world.rx.rtp, 5));
  g_assert_cmpuint (world.rx.leaving, ==, 0);
  gst_mcc_session_set_caps (world.receiver, caps);
  feed (&world, 1);
  g_assert_true (reached (&world.rx, &world.rx.leaving, 6));
  g_assert_cmpuint (gst_mcc_session_get_ssrc (world.sender, 0), ==, 0x1234abcd);

  app = announcement (1);
  gst_mcc_session_send (world.sender, 0, &app, 1, FALSE);
  g_assert_true (reached (&world.rx, &world.rx.apps, 1));
  g_assert_cmpuint (world.rx.app_ssrc, ==, 0x1234abcd);
  app = report (1);
  gst_mcc_session_send (world.receiver, 0, &app, 1, FALSE);
  g_assert_true (reached (&world.tx, &world.tx.apps, 1));
  g_assert_cmpuint (world.tx.app_ssrc, ==, gst_mcc_session_get_ssrc (world.receiver, 0));
  g_assert_true (reached (&world.tx, &world.tx.blocks, 1));
  g_assert_cmpuint (world.tx.highest_seq, ==, 5);

  gst_mcc_session_request_key_unit (world.receiver, 0);
  g_assert_true (reached (&world.tx, &world.tx.key_units, 1));

  gst_mcc_session_send (world.receiver, 0, NULL, 0, TRUE);
  g_assert_true (reached (&world.tx, &world.tx.byes, 1));
  gst_mcc_session_send (world.sender, 0, NULL, 0, TRUE);
  g_assert_true (reached (&world.rx, &world.rx.byes, 1));
  if (iface) /* multicast comes back */
    g_assert_cmpuint (world.tx.dropped[MCC_DROP_OWN], >, 0);
  g_assert_cmpuint (world.tx.dropped[MCC_DROP_MALFORMED], ==, 0);
  g_assert_cmpuint (world.rx.dropped[MCC_DROP_MALFORMED], ==, 0);
  g_assert_cmpuint (world.rx.dropped[MCC_DROP_SSRC_MISMATCH], ==, 0);
  world_stop (&world);
  gst_caps_unref (caps);
}

static void
test_multicast (void)
{
  gchar group[32];

  g_snprintf (group, sizeof group, "239.255.%d.%d", 128 + getpid () / 256 % 64, getpid () % 256);
  run (group, "lo");
}

static guint
known (GstMccSession *session)
{
  guint n = 0;

  g_object_get (session->stream[0].rtp_session, "num-sources", &n, NULL);
  return n;
}

/* Names without end, each heard twice: rtpsession, which keeps each for long and walks over all for
 * each, gets to know some at a sender, and nobody but the sender at a receiver. */
static void
test_names (void)
{
  guint8 compound[20] = { 0x80, 201, 0, 1, 0, 0, 0, 0, 0x81, 202, 0, 2, 0, 0, 0, 0, 1, 1, 'x' };
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GstCaps *caps = rtp_caps ();
  GSocketAddress *to;
  gchar group[32];
  World world;

  g_snprintf (group, sizeof group, "239.255.%d.%d", 128 + getpid () / 256 % 64, getpid () % 256);
  world_start (&world, group, "lo");
  gst_mcc_session_set_caps (world.receiver, caps);
  feed (&world, 5);
  g_assert_true (reached (&world.rx, &world.rx.rtp, 5));
  to = g_inet_socket_address_new_from_string (group, (guint16)(world.port + 1));
  g_socket_set_option (socket, IPPROTO_IP, IP_MULTICAST_IF, (gint)g_htonl (INADDR_LOOPBACK), NULL);
  for (guint i = 0; i < 2000; i++) {
    GST_WRITE_UINT32_BE (compound + 4, 0x50000000u + i);
    GST_WRITE_UINT32_BE (compound + 12, 0x50000000u + i);
    for (guint twice = 0; twice < 2; twice++)
      g_socket_send_to (socket, to, (gchar *)compound, sizeof compound, NULL, NULL);
    g_usleep (2500);
  }
  g_usleep (200000);
  g_assert_cmpuint (known (world.receiver), <=, 2);
  g_assert_cmpuint (known (world.sender), >=, 100);
  g_assert_cmpuint (known (world.sender), <=, GST_MCC_SCREEN_KNOWN);
  g_object_unref (to);
  g_object_unref (socket);
  world_stop (&world);
  gst_caps_unref (caps);
}

static void
test_unicast (void)
{
  run ("127.0.0.1", NULL);
}

static void
assert_refused (GstMccSessionSettings settings, const gchar *property)
{
  GError *error = NULL;

  g_assert_false (gst_mcc_session_settings_check (&settings, &error));
  g_assert_nonnull (error);
  g_assert_true (g_str_has_prefix (error->message, property));
  g_clear_error (&error);
}

static void
test_settings (void)
{
  GstMccSessionSettings good = {
    .address = (gchar *)"239.255.1.1", .port = 5004, .ttl = 64, .ttl_mc = 64, .qos_dscp = -1
  };
  GstMccSessionSettings bad;

  g_assert_true (gst_mcc_session_settings_check (&good, NULL));
#define REFUSE(field, value, name)                                                                 \
  bad = good;                                                                                      \
  bad.field = value;                                                                               \
  assert_refused (bad, name)
  REFUSE (address, NULL, "address:");
  REFUSE (address, (gchar *)"localhost", "address:");
  REFUSE (address, (gchar *)"224.0.0.251", "address:");
  REFUSE (address, (gchar *)"ff02::42", "multicast-iface:");
  REFUSE (port, 5005, "port:");
  REFUSE (port, 0, "port:");
  REFUSE (port, 65536, "port:");
  REFUSE (port, (guint)-2, "port:");
  REFUSE (ttl, 256, "ttl:");
  REFUSE (ttl, -1, "ttl:");
  REFUSE (ttl_mc, 256, "ttl-mc:");
  REFUSE (qos_dscp, 64, "qos-dscp:");
  REFUSE (qos_dscp, -2, "qos-dscp:");
  REFUSE (source_address, (gchar *)"nowhere", "source-address:");
  REFUSE (source_address, (gchar *)"fd00::1", "source-address:");
  REFUSE (source_address, (gchar *)"239.1.1.1", "source-address:");
  REFUSE (feedback_address, (gchar *)"239.1.1.1", "feedback-address:");
  REFUSE (feedback_port, 65536, "feedback-port:");
  REFUSE (feedback_port, 6001, "feedback-port:");
}

static void
test_no_such_interface (void)
{
  GstMccSessionSettings settings = { .address = (gchar *)"239.255.1.1",
    .port = 15004,
    .multicast_iface = (gchar *)"nosuch0",
    .ttl = 1,
    .ttl_mc = 1,
    .qos_dscp = -1 };
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstMccSession *session = gst_mcc_session_new_sender (GST_BIN (bin), &handler, NULL);
  GError *error = NULL;

  g_assert_false (gst_mcc_session_open (session, &settings, &error));
  g_assert_true (g_str_has_prefix (error->message, "multicast-iface:"));
  g_assert_nonnull (strstr (error->message, "nosuch0"));
  g_clear_error (&error);
  gst_mcc_session_free (session);
  gst_object_unref (bin);
}

/* What is shorter than an SSRC's place is not looked at: nothing is readable behind it. */
static void
test_short_rtcp (void)
{
  gsize page = (gsize)sysconf (_SC_PAGESIZE);
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstMccSession *session = gst_mcc_session_new_receiver (GST_BIN (bin), &handler, NULL);
  guint8 *data = mmap (NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  g_assert_true (data != MAP_FAILED);
  g_assert_cmpint (mprotect (data + page, page, PROT_NONE), ==, 0);
  for (gsize size = 0; size < 8; size++)
    g_assert_cmpuint (gst_mcc_session_map_rtcp (session, data + page - size, size), ==, size);
  munmap (data, 2 * page);
  gst_mcc_session_free (session);
  gst_object_unref (bin);
}

/* ---- sockets ---- */

static GstMccSessionSettings
socket_settings (const gchar *feedback, guint feedback_port)
{
  static gchar group[32];

  g_snprintf (group, sizeof group, "239.255.%d.%d", 128 + getpid () / 256 % 64, getpid () % 256);
  return (GstMccSessionSettings){ .address = group,
    .port = own_port (2),
    .multicast_iface = (gchar *)"lo",
    .feedback_address = (gchar *)feedback,
    .feedback_port = feedback_port,
    .ttl = 7,
    .ttl_mc = 3,
    .loop = TRUE,
    .qos_dscp = -1,
    .latency_ms = 50 };
}

/* What goes to the group goes as far as the media, 0 is this host; ours before it is announced. By
 * unicast it goes as far as we have set. */
static void
test_announced_ttl (void)
{
  static const GstMccSessionHandler nobody;
  GstMccSessionSettings settings = socket_settings (NULL, 0);
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstMccSession *session = gst_mcc_session_new_receiver (GST_BIN (bin), &nobody, NULL);
  GSocket *rtcp;
  MccAddress none = { 0 };
  GError *error = NULL;

  g_assert_true (gst_mcc_session_open (session, &settings, &error));
  g_assert_no_error (error);
  rtcp = session->sockets.rtcp;
  g_assert_cmpuint (g_socket_get_multicast_ttl (rtcp), ==, 3);
  for (guint ttl = 0; ttl < 256; ttl += 51) {
    gst_mcc_session_set_feedback (session, &none, (guint8)(255 - ttl));
    g_assert_cmpuint (g_socket_get_multicast_ttl (rtcp), ==, 255 - ttl);
    g_assert_cmpuint (g_socket_get_ttl (rtcp), ==, 7);
  }
  gst_mcc_session_close (session);
  gst_mcc_session_free (session);
  gst_object_unref (bin);
}

#define NAT "203.0.113.7" /* of nobody: TEST-NET-3 */

/* A sender behind a NAT has its port of all addresses, beside its group and receivers of that; the
 * kernel would share the reports among two. */
static void
test_feedback_port (void)
{
  GstMccSessionSettings settings = socket_settings (NAT, 0), other;
  GstMccSockets first, second, receiver;
  GError *error = NULL;

  g_assert_true (gst_mcc_sockets_open (&first, &settings, GST_MCC_SOCKETS_SENDER, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (first.rtcp_port, ==, settings.port + 1);
  g_assert_true (gst_mcc_sockets_open (&receiver, &settings, GST_MCC_SOCKETS_RECEIVER, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++) {
    other = socket_settings (i == 0 ? NAT : "127.0.0.1", settings.port + 1);
    other.address = (gchar *)"239.255.77.1";
    g_assert_false (gst_mcc_sockets_open (&second, &other, GST_MCC_SOCKETS_SENDER, &error));
    g_test_message ("%s", error->message);
    g_assert_true (g_str_has_prefix (error->message, "feedback-port: cannot use"));
    g_clear_error (&error);
  }
  gst_mcc_sockets_close (&first);
  g_assert_true (gst_mcc_sockets_open (&second, &other, GST_MCC_SOCKETS_SENDER, &error));
  g_assert_no_error (error);
  gst_mcc_sockets_close (&second);
  gst_mcc_sockets_close (&receiver);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/multicast", test_multicast);
  g_test_add_func ("/session/unicast", test_unicast);
  g_test_add_func ("/session/names-without-end", test_names);
  g_test_add_func ("/session/settings-name-the-property", test_settings);
  g_test_add_func ("/session/no-such-interface", test_no_such_interface);
  g_test_add_func ("/session/short-rtcp", test_short_rtcp);
  g_test_add_func ("/session/announced-ttl", test_announced_ttl);
  g_test_add_func ("/session/feedback-port-is-ones-own", test_feedback_port);
  return g_test_run ();
}

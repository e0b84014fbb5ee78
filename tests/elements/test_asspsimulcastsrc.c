/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastsrc on the loopback interface against senders that the test plays.
 */
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <gst/check/gstcheck.h>

#include "asspworld.h"
#include "gstasspsimulcastsrc.h"
#include "gstmccreceiver.h"
#include "ownport.h"
#include "settings.h"
#include "startlate.h"

static gchar group[32];
static guint16 port;

static void
test_properties (void)
{
  GstElement *element = gst_element_factory_make ("asspsimulcastsrc", NULL);
  gint value;
  guint latency;

  gst_object_ref_sink (element);
  g_object_get (element, "stream", &value, NULL);
  g_assert_cmpint (value, ==, -1);
  g_object_get (element, "lock-stream", &value, NULL);
  g_assert_cmpint (value, ==, -1);
  for (gint i = -1; i <= 8; i++) {
    g_object_set (element, "lock-stream", i, NULL);
    g_object_get (element, "lock-stream", &value, NULL);
    g_assert_cmpint (value, ==, i);
  }
  g_object_set (element, "latency", 123, NULL);
  g_object_get (element, "latency", &latency, NULL);
  g_assert_cmpuint (latency, ==, 123);
  gst_object_unref (element);
  element = gst_element_make_from_uri (
      GST_URI_SRC, "assp://239.1.2.3:6000?lock-stream=2&latency=100&leave-latency=500", NULL, NULL);
  g_assert_nonnull (element);
  gst_object_ref_sink (element);
  g_object_get (element, "lock-stream", &value, "latency", &latency, NULL);
  g_assert_cmpint (value, ==, 2);
  g_assert_cmpuint (latency, ==, 100);
  g_object_get (element, "leave-latency", &latency, NULL);
  g_assert_cmpuint (latency, ==, 500);
  gst_object_unref (element);
}

static void
test_bad_settings (void)
{
  static const gchar *const bad[][3] = {
    { "port=5005", "port", "even" },
    { "address=x", "address", "239.255.12.42" },
    { "address=224.0.0.1", "address", "239.255.12.42" },
    { "ttl=256", "ttl", "0 to 255" },
    { "qos-dscp=64", "qos-dscp", "0 to 63" },
    { "multicast-iface=nosuch0", "multicast-iface", "ip link" },
    { "source-address=239.1.1.1", "source-address", "host" },
    { "latency=60001", "latency", "60000" },
    { "encoding-name=nosuch", "encoding-name", "" },
    { "caps=video/x-raw", "caps", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gchar *text = g_strdup_printf ("asspsimulcastsrc multicast-iface=lo %s ! fakesink", bad[i][0]);

    settings_refused (text, bad[i][1], bad[i][2]);
    g_free (text);
  }
  settings_accepted (
      "asspsimulcastsrc multicast-iface=lo port=15210 lock-stream=7 ! fakesink", GST_STATE_PLAYING);
  settings_accepted ("asspsimulcastsrc address=127.0.0.1 port=15212 ! fakesink", GST_STATE_PLAYING);
}

static void
test_states (void)
{
  World world;
  AsspSource peer;

  assp_source_init (&peer, group, port, 0x100);
  assp_source_start (&peer);
  world_start (&world, &peer, "");
  for (guint i = 0; i < 3; i++) {
    gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
    g_assert_true (world_comes_to (&world, 0, 5));
    g_assert_cmpint (
        gst_element_set_state (world.pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_NO_PREROLL);
    g_assert_cmpint (world_shown (&world), ==, -1);
    world.stream = 99;
    gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
    g_assert_true (world_comes_to (&world, 0, 5));
    gst_element_set_state (world.pipeline, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    world.stream = 99;
  }
  world_stop (&world);
  g_assert_cmpint (peer.byes, >=, 5);
  assp_source_stop (&peer, FALSE);
}

/* Knowing the address only: the lowest stream; then, told so, one after the other. */
static void
test_switches (void)
{
  static const gint order[] = { 2, 1, 0, 1 };
  World world;
  AsspSource peer;
  gint before = 0;

  assp_source_init (&peer, group, port, 0x200);
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 0, 5));
  g_assert_cmpint (world.from, ==, -1);
  g_assert_cmpint (world.to, ==, 0);
  g_assert_cmpstr (world.reason, ==, "start");
  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    g_usleep (i == 0 ? 6 * G_USEC_PER_SEC : G_USEC_PER_SEC);
    g_object_set (world.src, "lock-stream", order[i], NULL);
    g_assert_true (world_comes_to (&world, order[i], 8));
    g_usleep (300000);
    g_mutex_lock (&world.lock);
    g_assert_cmpint (world.from, ==, before);
    g_assert_cmpint (world.to, ==, order[i]);
    g_assert_cmpstr (world.reason, ==, "lock");
    g_mutex_unlock (&world.lock);
    before = order[i];
    for (guint wait = 0; wait < 100 && g_atomic_int_get (&peer.report_stream) != order[i]; wait++)
      g_usleep (10000);
    g_assert_cmpint (g_atomic_int_get (&peer.report_stream), ==, order[i]);
  }
  /* one stream, whose caps never change: what differs comes in band */
  g_assert_cmpuint (world.stream_starts, ==, 1);
  g_assert_cmpuint (world.caps, ==, 1);
  g_assert_cmpuint (world.segments, ==, 1);
  g_assert_cmpuint (world.other_ssrc, ==, 0);
  g_assert_cmpuint (world.gaps, ==, 0);
  g_assert_cmpuint (world.back, ==, 0);
  g_assert_cmpuint (world.torn, ==, 0);
  g_assert_cmpint (world.notified, >=, 5);
  g_assert_cmpuint (world_stat (&world, "switches"), ==, 4);
  g_assert_cmpuint (world_stat (&world, "joins"), ==, 5);
  g_assert_cmpuint (world_stat (&world, "leaves"), ==, 4);
  g_assert_cmpint (world.warnings, ==, 0);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

/* An application's handler wants the lock that the application holds while it sets a property. */
typedef struct {
  GMutex lock;
  gint waits, met;
} Application;

static void
on_stream (GObject *object, GParamSpec *pspec, Application *self)
{
  gint64 end = g_get_monotonic_time () + 8 * G_USEC_PER_SEC;

  g_atomic_int_set (&self->waits, TRUE);
  while (g_get_monotonic_time () < end)
    if (g_mutex_trylock (&self->lock)) {
      g_mutex_unlock (&self->lock);
      return;
    } else {
      g_usleep (1000);
    }
  g_atomic_int_set (&self->met, TRUE);
}

static gboolean
others_wait (GstMccReceiver *receiver)
{
  gboolean some;

  g_mutex_lock (&receiver->lock);
  some = !g_queue_is_empty (&receiver->waiting);
  g_mutex_unlock (&receiver->lock);
  return some;
}

/* What the lowest stream's RTCP says of another is heeded as that one's own word. */
static void
test_carried (void)
{
  World world;
  AsspSource peer;

  assp_source_init (&peer, group, port, 0x240);
  peer.carries = TRUE;
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=1");
  g_assert_true (world_comes_to (&world, 1, 8));
  g_assert_true (world_stat_reaches (&world, "announced-bitrate", 1100000, 5));
  g_assert_cmpuint (world_stat (&world, "dropped-ssrc-mismatch"), ==, 0);
  g_assert_cmpuint (world.caps, ==, 1);
  g_assert_cmpint (world.warnings, ==, 0);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

static void
test_set_under_a_lock (void)
{
  Application application = { 0 };
  World world;
  AsspSource peer;

  g_mutex_init (&application.lock);
  assp_source_init (&peer, group, port, 0x2c0);
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 0, 5));
  g_signal_connect (world.src, "notify::stream", G_CALLBACK (on_stream), &application);
  g_object_set (world.src, "lock-stream", 1, NULL);
  g_mutex_lock (&application.lock);
  for (guint i = 0; i < 1000 && !g_atomic_int_get (&application.waits); i++)
    g_usleep (10000);
  g_assert_true (application.waits);
  /* meanwhile another thread has something to do, too */
  for (guint i = 0; i < 500 && !others_wait (GST_MCC_RECEIVER (world.src)); i++)
    g_usleep (10000);
  g_assert_true (others_wait (GST_MCC_RECEIVER (world.src)));
  g_object_set (world.src, "lock-stream", 2, NULL);
  g_mutex_unlock (&application.lock);
  g_assert_false (g_atomic_int_get (&application.met));
  g_assert_true (world_comes_to (&world, 2, 8)); /* told the machine, nevertheless */
  g_signal_handlers_disconnect_by_data (world.src, &application);
  world_stop (&world);
  g_assert_false (application.met);
  assp_source_stop (&peer, FALSE);
  g_mutex_clear (&application.lock);
}

/* The SSRC of the stream that is shown meets another one's (RFC 3550 8.2). */
static void
test_renamed (void)
{
  World world;
  AsspSource peer;
  guint before;

  assp_source_init (&peer, group, port, 0x280);
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 0, 5));
  g_atomic_int_set (&peer.renamed, 0x40);
  g_usleep (1500000);
  before = world.buffers;
  g_usleep (500000);
  g_assert_cmpuint (world.buffers, >, before + 50);
  g_assert_cmpuint (world.other_ssrc, ==, 0);
  g_assert_cmpuint (world.gaps, ==, 0);
  g_assert_cmpuint (world.back, ==, 0);
  g_assert_cmpuint (world.stream_starts, ==, 1);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

static void
test_announced_at_the_start (void)
{
  GstMccReceiverClass *klass = g_type_class_ref (GST_TYPE_ASSP_SIMULCAST_SRC);
  World world;
  AsspSource peer;

  start_late (klass);
  assp_source_init (&peer, group, port, 0x2e0);
  assp_source_start (&peer);
  world_start (&world, &peer, "");
  g_assert_true (world_comes_to (&world, 0, 5));
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
  start_in_time (klass);
  g_type_class_unref (klass);
}

static const GstMccMachine *inner_machine;

static gpointer
create_and_set (GstMccReceiver *owner, const MccAsmpReceiverConfig *config, MccTime now)
{
  gpointer core = inner_machine->create (owner, config, now);

  g_object_set (owner, "lock-stream", 2, NULL); /* as an application's thread may */
  return core;
}

static void
test_set_at_the_start (void)
{
  GstMccReceiverClass *klass = g_type_class_ref (GST_TYPE_ASSP_SIMULCAST_SRC);
  GstMccMachine machine = *klass->machine;
  World world;
  AsspSource peer;

  inner_machine = klass->machine;
  machine.create = create_and_set;
  klass->machine = &machine;
  assp_source_init (&peer, group, port, 0x2f0);
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 2, 5));
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
  klass->machine = inner_machine;
  g_type_class_unref (klass);
}

static gboolean
comes_as (World *world, const gchar *encoding)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (world->pipeline), "sink");
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  gboolean so = FALSE;

  for (guint i = 0; i < 500 && !so; i++) {
    GstCaps *caps = gst_pad_get_current_caps (pad);

    so = caps
         && g_strcmp0 (gst_structure_get_string (gst_caps_get_structure (caps, 0), "encoding-name"),
                encoding)
                == 0;
    gst_clear_caps (&caps);
    g_usleep (10000);
  }
  gst_object_unref (pad);
  gst_object_unref (sink);
  return so;
}

/* The stream that is shown is announced as another encoding: what comes out is said to be that, in
 * the same stream of packets. */
static void
test_another_encoding (void)
{
  World world;
  AsspSource peer;
  guint before;

  assp_source_init (&peer, group, port, 0x340);
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 0, 5));
  g_assert_true (comes_as (&world, "H264"));
  g_assert_cmpuint (world.caps, ==, 1);
  g_atomic_pointer_set (&peer.encoding_name, "MP4V-ES");
  g_assert_true (comes_as (&world, "MP4V-ES"));
  before = world.buffers;
  g_usleep (500000);
  g_assert_cmpuint (world.buffers, >, before + 20);
  g_assert_cmpuint (world.caps, ==, 2);
  g_assert_cmpuint (world.stream_starts, ==, 1);
  g_assert_cmpuint (world.other_ssrc, ==, 0);
  g_assert_cmpuint (world.gaps, ==, 0);
  g_assert_cmpuint (world_stat (&world, "joins"), ==, 1);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

/* Caps that the user gives stand from the first packet on. */
static void
test_user_caps (void)
{
  World world;
  AsspSource peer;

  assp_source_init (&peer, group, port, 0x300);
  assp_source_start (&peer);
  world_start (&world, &peer, "encoding-name=H264 lock-stream=1");
  g_assert_true (world_comes_to (&world, 1, 5));
  g_assert_cmpuint (world.caps, ==, 1);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

/* Who has a group's port to itself, so that it cannot be joined. */
static GSocket *
occupy (const gchar *address, guint16 on_port)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *place = g_inet_socket_address_new_from_string (address, on_port);

  g_assert_true (g_socket_bind (socket, place, FALSE, NULL));
  g_object_unref (place);
  return socket;
}

/* The lowest stream, which nobody goes back from, cannot be joined at first. */
static void
test_join_fails (void)
{
  guint last = (guint)atoi (strrchr (group, '.') + 1);
  gchar *next = g_strdup_printf ("%.*s.%u", (gint)(strrchr (group, '.') - group), group, last + 1);
  GSocket *other = occupy (next, port);
  World world;
  AsspSource peer;

  assp_source_init (&peer, group, port, 0x380);
  assp_source_start (&peer);
  world_start (&world, &peer, "");
  g_usleep (1500000);
  g_assert_cmpint (world_shown (&world), ==, -1);
  g_assert_cmpuint (world.warnings, ==, 1);
  g_object_unref (other);
  g_assert_true (world_comes_to (&world, 0, 5));
  g_assert_cmpuint (world.warnings, ==, 1);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
  g_free (next);
}

/* A stream that does not come: back, and the picture goes on. */
static void
test_stream_does_not_come (void)
{
  World world;
  AsspSource peer;

  assp_source_init (&peer, group, port, 0x400);
  peer.alive[2] = FALSE;
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 0, 5));
  g_object_set (world.src, "lock-stream", 2, NULL);
  g_assert_true (world_stat_reaches (&world, "late-joins", 1, 12));
  g_object_set (world.src, "lock-stream", 0, NULL);
  world.stream = 99;
  g_assert_true (world_comes_to (&world, 0, 5));
  g_assert_cmpuint (world.other_ssrc, ==, 0);
  g_assert_cmpuint (world.stream_starts, ==, 1);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

/* What was counted stays, and is counted on; by way of READY all begins anew. */
static void
check_over_a_pause (World *world)
{
  guint64 overlaps = world_stat (world, "overlaps");

  g_assert_cmpuint (overlaps, >, 0);
  gst_element_set_state (world->pipeline, GST_STATE_PAUSED);
  g_assert_cmpuint (world_stat (world, "overlaps"), ==, overlaps);
  world->stream = 99;
  gst_element_set_state (world->pipeline, GST_STATE_PLAYING);
  g_assert_true (world_comes_to (world, 0, 8));
  g_assert_cmpuint (world_stat (world, "overlaps"), >=, overlaps);
  gst_element_set_state (world->pipeline, GST_STATE_READY);
  gst_element_set_state (world->pipeline, GST_STATE_PAUSED);
  g_assert_cmpuint (world_stat (world, "overlaps"), ==, 0);
}

/* The stream that is shown dies while the sender lives: another one. */
static void
test_stream_dies (void)
{
  World world;
  AsspSource peer;

  assp_source_init (&peer, group, port, 0x500);
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=1");
  g_assert_true (world_comes_to (&world, 1, 5));
  g_object_set (world.src, "lock-stream", -1, NULL);
  g_atomic_int_set (&peer.alive[1], FALSE);
  g_assert_true (world_comes_to (&world, 0, 15));
  g_assert_cmpuint (world.stream_starts, ==, 1);
  check_over_a_pause (&world);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

/* Another ladder at other groups, other SSRCs, other clock: what comes out goes on. */
static void
test_sender_restarts (gconstpointer data)
{
  gboolean bye = GPOINTER_TO_INT (data);
  World world;
  AsspSource peer;
  guint32 ssrc;

  assp_source_init (&peer, group, port, 0x600);
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=2");
  g_assert_true (world_comes_to (&world, 2, 5));
  ssrc = world.ssrc;
  assp_source_stop (&peer, bye);
  assp_source_init (&peer, group, port, 0x700);
  peer.count = 2;
  peer.time_base = 0x50000000;
  peer.address_offset = 5;
  assp_source_start (&peer);
  g_assert_true (world_comes_to (&world, 1, 25));
  g_assert_cmpuint (world.ssrc, ==, ssrc);
  g_assert_cmpuint (world.other_ssrc, ==, 0);
  g_assert_cmpuint (world.gaps, ==, 0);
  g_assert_cmpuint (world.back, ==, 0);
  g_assert_cmpuint (world.stream_starts, ==, 1);
  g_assert_cmpuint (world.caps, ==, 1);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

/* Another host describes our sender's streams, or others: nobody follows. */
static void
test_forged (void)
{
  World world;
  AsspSource peer, forger;

  assp_source_init (&peer, group, port, 0x800);
  assp_source_start (&peer);
  world_start (&world, &peer, "");
  g_assert_true (world_comes_to (&world, 0, 5));
  assp_source_init (&forger, group, port, 0x800);
  forger.host = "127.0.0.2";
  forger.number = 1000000;
  forger.count = 1;
  forger.address_offset = 9;
  memset (forger.alive, 0, sizeof forger.alive);
  assp_source_start (&forger);
  g_assert_true (world_stat_reaches (&world, "dropped-address", 10, 8));
  assp_source_stop (&forger, FALSE);
  g_assert_cmpuint (world.warnings, ==, 0);
  assp_source_init (&forger, group, port, 0x900); /* a sender of its own */
  forger.host = "127.0.0.2";
  forger.address_offset = 9;
  assp_source_start (&forger);
  g_assert_true (world_stat_reaches (&world, "dropped-other-sender", 10, 8));
  assp_source_stop (&forger, FALSE);
  g_assert_cmpuint (world.warnings, ==, 1);
  g_assert_nonnull (strstr (world.warning, "Another sender"));
  g_assert_cmpint (world_shown (&world), ==, 0);
  g_assert_cmpuint (world.gaps, ==, 0);
  g_assert_cmpuint (world.torn, ==, 0);
  g_assert_cmpuint (world_stat (&world, "joins"), <=, 3); /* up, as the path has room */
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

static void
say_bye (GSocket *socket, guint32 ssrc)
{
  guint8 bye[16] = { 0x80, 201, 0, 1, 0, 0, 0, 0, 0x81, 203, 0, 1 };
  GSocketAddress *to = g_inet_socket_address_new_from_string (group, (guint16)(port + 1));

  GST_WRITE_UINT32_BE (bye + 4, ssrc);
  GST_WRITE_UINT32_BE (bye + 12, ssrc);
  g_socket_send_to (socket, to, (gchar *)bye, sizeof bye, NULL, NULL);
  g_object_unref (to);
}

/* A stream is joined and does not come: who says BYE in its name elsewhere, and has streams of his
 * own, does not have us for that. */
static void
test_forged_bye (void)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *elsewhere = g_inet_socket_address_new_from_string ("127.0.0.2", 0);
  World world;
  AsspSource peer, forger;

  g_assert_true (g_socket_bind (socket, elsewhere, FALSE, NULL));
  g_socket_set_option (socket, IPPROTO_IP, IP_MULTICAST_IF, (gint)g_htonl (INADDR_LOOPBACK), NULL);
  assp_source_init (&peer, group, port, 0xf00);
  g_atomic_int_set (&peer.alive[1], FALSE);
  assp_source_start (&peer);
  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 0, 5));
  assp_source_init (&forger, group, port, 0x1000);
  forger.host = "127.0.0.2";
  forger.address_offset = 9;
  g_object_set (world.src, "lock-stream", 1, NULL);
  for (guint i = 0; i < 10; i++) {
    g_usleep (20000);
    for (guint stream = 0; stream < ASSP_SOURCE_STREAMS; stream++)
      say_bye (socket, 0xf00 + stream);
  }
  assp_source_start (&forger);
  g_assert_true (world_stat_reaches (&world, "dropped-other-sender", 10, 8));
  g_assert_cmpuint (world_stat (&world, "dropped-address"), >=, 10);
  assp_source_stop (&forger, FALSE);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
  g_object_unref (elsewhere);
  g_object_unref (socket);
}

static gboolean
comes (GSocket *socket)
{
  gchar data[2048];

  while (g_socket_receive (socket, data, sizeof data, NULL, NULL) > 0)
    ;
  return g_socket_condition_timed_wait (socket, G_IO_IN, 3 * G_USEC_PER_SEC, NULL, NULL);
}

/* @peer asks for reports at the socket that is returned. */
static GSocket *
start_with_feedback (AsspSource *peer)
{
  GSocket *feedback
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *place = g_inet_socket_address_new_from_string ("127.0.0.1", 0);

  g_assert_true (g_socket_bind (feedback, place, FALSE, NULL));
  g_socket_set_blocking (feedback, FALSE);
  g_object_unref (place);
  place = g_socket_get_local_address (feedback, NULL);
  assp_source_init (peer, group, port, 0xd00);
  peer->feedback_port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (place));
  g_object_unref (place);
  assp_source_start (peer);
  return feedback;
}

/* Reports go where our sender wants them, whoever else announces between its word and a switch. */
static void
test_feedback_of_ours (void)
{
  AsspSource peer, other;
  GSocket *feedback = start_with_feedback (&peer);
  World world;

  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 0, 5));
  g_assert_true (comes (feedback));
  g_atomic_int_set (&peer.describes, FALSE);
  assp_source_init (&other, group, port, 0xe00);
  other.host = "127.0.0.2";
  other.address_offset = 9;
  assp_source_start (&other);
  g_assert_true (world_stat_reaches (&world, "dropped-other-sender", 10, 8));
  g_object_set (world.src, "lock-stream", 1, NULL);
  g_assert_true (world_comes_to (&world, 1, 8));
  assp_source_stop (&other, FALSE);
  g_usleep (100000); /* what is said of the switch */
  g_assert_cmpuint (world.warnings, ==, 1);
  g_assert_nonnull (strstr (world.warning, "Another sender"));
  g_assert_true (comes (feedback));
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
  g_object_unref (feedback);
}

/* feedback-address waits for the next start: until then reports go where the sender wants them. */
static void
test_feedback_of_the_start (void)
{
  AsspSource peer;
  GSocket *feedback = start_with_feedback (&peer);
  World world;

  world_start (&world, &peer, "lock-stream=0");
  g_assert_true (world_comes_to (&world, 0, 5));
  g_object_set (world.src, "feedback-address", "127.0.0.9", "lock-stream", 1, NULL);
  g_assert_true (world_comes_to (&world, 1, 8));
  g_usleep (1200000); /* an announcement of it */
  g_assert_true (comes (feedback));
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
  g_object_unref (feedback);
}

/* The property ssrc says whose. */
static void
test_wanted_sender (void)
{
  World world;
  AsspSource first, second;

  assp_source_init (&first, group, port, 0xa00);
  assp_source_start (&first);
  assp_source_init (&second, group, port, 0xb00);
  second.address_offset = 9;
  assp_source_start (&second);
  world_start (&world, &second, "ssrc=2817"); /* 0xb01 */
  g_assert_true (world_comes_to (&world, 0, 5));
  g_assert_cmpint (g_atomic_int_get (&first.plis), <=, 1); /* before it knows whose it is */
  {
    GstStructure *stats;
    const GValue *list;
    guint ssrc = 0;

    g_object_get (world.src, "stats", &stats, NULL);
    list = gst_structure_get_value (stats, "streams");
    g_assert_cmpuint (gst_value_array_get_size (list), ==, 3);
    gst_structure_get_uint (
        gst_value_get_structure (gst_value_array_get_value (list, 0)), "ssrc", &ssrc);
    g_assert_cmpuint (ssrc, ==, 0xb00);
    gst_structure_free (stats);
  }
  world_stop (&world);
  assp_source_stop (&first, FALSE);
  assp_source_stop (&second, FALSE);
}

static void
test_flush_and_eos (void)
{
  World world;
  AsspSource peer;
  guint before;

  assp_source_init (&peer, group, port, 0xc00);
  assp_source_start (&peer);
  world_start (&world, &peer, "");
  g_assert_true (world_comes_to (&world, 0, 5));
  g_assert_true (gst_element_send_event (world.pipeline, gst_event_new_flush_start ()));
  g_assert_true (gst_element_send_event (world.pipeline, gst_event_new_flush_stop (TRUE)));
  before = world.buffers;
  g_usleep (500000);
  g_assert_cmpuint (world.buffers, >, before + 20);
  g_assert_cmpuint (world.segments, ==, 2);
  g_assert_cmpuint (world.stream_starts, ==, 1);
  gst_element_send_event (world.pipeline, gst_event_new_eos ());
  for (guint i = 0; i < 100 && world.eos == 0; i++)
    g_usleep (10000);
  g_assert_cmpuint (world.eos, ==, 1);
  world_stop (&world);
  assp_source_stop (&peer, FALSE);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_snprintf (group, sizeof group, "239.255.%d.%d", 128 + getpid () / 256 % 64, getpid () % 240);
  port = own_port (8);
  GST_ELEMENT_REGISTER (asspsimulcastsrc, NULL);
  g_test_add_func ("/asspsimulcastsrc/properties", test_properties);
  g_test_add_func ("/asspsimulcastsrc/bad-settings-name-the-property", test_bad_settings);
  g_test_add_func ("/asspsimulcastsrc/states", test_states);
  g_test_add_func ("/asspsimulcastsrc/announced-at-the-start", test_announced_at_the_start);
  g_test_add_func ("/asspsimulcastsrc/set-at-the-start", test_set_at_the_start);
  g_test_add_func ("/asspsimulcastsrc/switches-are-not-seen", test_switches);
  g_test_add_func ("/asspsimulcastsrc/carried-announcements", test_carried);
  g_test_add_func ("/asspsimulcastsrc/set-under-a-lock", test_set_under_a_lock);
  g_test_add_func ("/asspsimulcastsrc/renamed", test_renamed);
  g_test_add_func ("/asspsimulcastsrc/another-encoding", test_another_encoding);
  g_test_add_func ("/asspsimulcastsrc/user-caps", test_user_caps);
  g_test_add_func ("/asspsimulcastsrc/join-fails-at-first", test_join_fails);
  g_test_add_func ("/asspsimulcastsrc/stream-does-not-come", test_stream_does_not_come);
  g_test_add_func ("/asspsimulcastsrc/stream-dies", test_stream_dies);
  g_test_add_data_func (
      "/asspsimulcastsrc/sender-restarts", GINT_TO_POINTER (FALSE), test_sender_restarts);
  g_test_add_data_func (
      "/asspsimulcastsrc/sender-restarts-after-bye", GINT_TO_POINTER (TRUE), test_sender_restarts);
  g_test_add_func ("/asspsimulcastsrc/forged-description", test_forged);
  g_test_add_func ("/asspsimulcastsrc/forged-bye", test_forged_bye);
  g_test_add_func ("/asspsimulcastsrc/feedback-of-ours", test_feedback_of_ours);
  g_test_add_func ("/asspsimulcastsrc/feedback-of-the-start", test_feedback_of_the_start);
  g_test_add_func ("/asspsimulcastsrc/wanted-sender", test_wanted_sender);
  g_test_add_func ("/asspsimulcastsrc/flush-and-eos", test_flush_and_eos);
  return g_test_run ();
}

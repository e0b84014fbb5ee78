/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * elmlayersrc, and elmlayersink before it: real encoders, sockets and decoders in one process.
 */
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>
#include <gst/gst.h>

#include "claim.h"
#include "gstelmlayersink.h"
#include "gstelmlayersrc.h"
#include "gstmccreceiver.h"
#include "mcclayerorder.h"
#include "mccrtpextension.h"
#include "packets.h"
#include "settings.h"
#include "startlate.h"

#define X264                                                                                       \
  "x264enc bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 sync-lookahead=0 mb-tree=false "  \
  "threads=1 vbv-buf-capacity=400 option-string=scenecut=0 speed-preset=superfast bitrate=500 ! "  \
  "video/x-h264,profile=main ! rtph264pay config-interval=-1 "

typedef struct {
  GstElement *sender, *receiver, *sink, *src;
  gint pictures, flagged, complaints;
  GMutex lock;
  GstClockTime newest; /* by pts */
} World;

static gchar *group;
static guint port = 15400;

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  World *world = data;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR
      || (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING
          && !GST_IS_BIN (GST_MESSAGE_SRC (message)))) {
    GError *error = NULL;

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else
      gst_message_parse_warning (message, &error, NULL);
    g_test_message ("%s: %s", GST_MESSAGE_SRC_NAME (message), error->message);
    g_error_free (error);
    g_atomic_int_inc (&world->complaints);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static GstPadProbeReturn
on_picture (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  World *world = data;

  g_atomic_int_inc (&world->pictures);
  if (GST_BUFFER_FLAG_IS_SET (GST_PAD_PROBE_INFO_BUFFER (info), GST_BUFFER_FLAG_CORRUPTED)) {
    g_test_message ("picture %d, of %" GST_TIME_FORMAT ", is flagged", world->pictures,
        GST_TIME_ARGS (GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info))));
    g_atomic_int_inc (&world->flagged);
  }
  return GST_PAD_PROBE_OK;
}

static GstElement *
launch (World *world, const gchar *text, const gchar *name, GstElement **element)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);
  GstBus *bus;

  if (error) {
    g_test_skip (error->message);
    g_clear_error (&error);
    gst_clear_object (&pipeline);
    return NULL;
  }
  *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, on_message, world, NULL);
  gst_object_unref (bus);
  return pipeline;
}

/* FALSE: an element is missing, skip. */
static gboolean
world_start (World *world, const gchar *encoder, const gchar *more)
{
  gchar *text;
  GstElement *out;
  GstPad *pad;

  memset (world, 0, sizeof *world);
  g_mutex_init (&world->lock);
  port += 20;
  text = g_strdup_printf ("videotestsrc is-live=true ! "
                          "video/x-raw,format=I420,width=320,height=180,framerate=30/1 ! %s "
                          "! elmlayersink name=sink address=%s port=%u multicast-iface=lo ttl-mc=0",
      encoder, group, port);
  world->sender = launch (world, text, "sink", &world->sink);
  g_free (text);
  if (!world->sender)
    return FALSE;
  text = g_strdup_printf (
      "elmlayersrc name=src address=%s port=%u multicast-iface=lo ttl-mc=0 %s ! "
      "rtph264depay ! avdec_h264 max-threads=1 ! fakesink name=out sync=false async=false",
      group, port, more);
  world->receiver = launch (world, text, "src", &world->src);
  g_free (text);
  g_assert_nonnull (world->receiver);
  out = gst_bin_get_by_name (GST_BIN (world->receiver), "out");
  pad = gst_element_get_static_pad (out, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_picture, world, NULL);
  gst_object_unref (pad);
  gst_object_unref (out);
  return TRUE;
}

static void
world_play (World *world)
{
  gst_element_set_state (world->sender, GST_STATE_PLAYING);
  g_usleep (300000);
  gst_element_set_state (world->receiver, GST_STATE_PLAYING);
}

static void
world_stop (World *world)
{
  gst_element_set_state (world->receiver, GST_STATE_NULL);
  gst_element_set_state (world->sender, GST_STATE_NULL);
  g_assert_cmpint (world->complaints, ==, 0);
  g_assert_cmpint (world->flagged, ==, 0);
  gst_object_unref (world->receiver);
  gst_object_unref (world->sender);
  g_assert_cmpuint (G_OBJECT (world->src)->ref_count, ==, 1);
  g_assert_cmpuint (G_OBJECT (world->sink)->ref_count, ==, 1);
  gst_object_unref (world->src);
  gst_object_unref (world->sink);
  g_mutex_clear (&world->lock);
}

static gint
level (World *world)
{
  gint value;

  g_object_get (world->src, "level", &value, NULL);
  return value;
}

static gboolean
comes_to (World *world, gint wanted, guint seconds)
{
  for (guint i = 0; i < seconds * 50; i++) {
    if (level (world) == wanted)
      return TRUE;
    g_usleep (20000);
  }
  g_test_message ("level %d, not %d", level (world), wanted);
  return FALSE;
}

static gdouble
frame_rate (World *world, gdouble seconds)
{
  gint before = g_atomic_int_get (&world->pictures);

  g_usleep ((gulong)(seconds * G_USEC_PER_SEC));
  return (g_atomic_int_get (&world->pictures) - before) / seconds;
}

static guint64
figure (World *world, const gchar *field)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (world->src, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, field, &value));
  gst_structure_free (stats);
  return value;
}

/* As the receiver knows it. */
static guint32
layer_ssrc (World *world, guint layer)
{
  GstStructure *stats;
  const GValue *layers;
  guint ssrc = 0;

  g_object_get (world->src, "stats", &stats, NULL);
  layers = gst_structure_get_value (stats, "layers");
  if (gst_value_array_get_size (layers) > layer)
    gst_structure_get_uint (
        gst_value_get_structure (gst_value_array_get_value (layers, layer)), "ssrc", &ssrc);
  gst_structure_free (stats);
  return ssrc;
}

/* ---- settings ---- */

static void
test_properties (void)
{
  static const gchar *const strategies[] = { "naive", "skeptical", "lazy" };
  static const gchar *const measures[] = { "lip", "lap", "window", "auto" };
  GstElement *element = g_object_new (GST_TYPE_ELM_LAYER_SRC, NULL);
  gint value;
  guint latency;
  gchar *text;

  gst_object_ref_sink (element);
  g_object_get (element, "level", &value, "latency", &latency, NULL);
  g_assert_cmpint (value, ==, -1);
  g_assert_cmpuint (latency, ==, 400);
  g_object_get (element, "max-level", &value, NULL);
  g_assert_cmpint (value, ==, -1);
  for (gint i = -1; i < 7; i++) {
    g_object_set (element, "max-level", i, NULL);
    g_object_get (element, "max-level", &value, NULL);
    g_assert_cmpint (value, ==, i);
  }
  g_object_get (element, "loss-measure", &value, "leave-latency", &latency, NULL);
  g_assert_cmpint (value, ==, 3);
  g_assert_cmpuint (latency, ==, 2000);
  for (guint i = 0; i < G_N_ELEMENTS (measures); i++) {
    gst_util_set_object_arg (G_OBJECT (element), "strategy", strategies[i % 3]);
    gst_util_set_object_arg (G_OBJECT (element), "loss-measure", measures[i]);
    g_object_get (element, "strategy", &value, NULL);
    g_assert_cmpint (value, ==, (gint)i % 3);
    g_object_get (element, "loss-measure", &value, NULL);
    g_assert_cmpint (value, ==, (gint)i);
  }
  gst_object_unref (element);
  element = gst_element_make_from_uri (GST_URI_SRC,
      "elm://"
      "239.1.2.3:6000?max-level=1&strategy=naive&loss-measure=lap&latency=500&leave-latency=0",
      NULL, NULL);
  g_assert_nonnull (element);
  gst_object_ref_sink (element);
  g_object_get (element, "max-level", &value, "latency", &latency, NULL);
  g_assert_cmpint (value, ==, 1);
  g_assert_cmpuint (latency, ==, 500);
  g_object_get (element, "leave-latency", &latency, NULL);
  g_assert_cmpuint (latency, ==, 0);
  text = gst_uri_handler_get_uri (GST_URI_HANDLER (element));
  g_assert_true (g_str_has_prefix (text, "elm://239.1.2.3:6000"));
  g_free (text);
  gst_object_unref (element);
}

static void
test_bad_settings (void)
{
  static const gchar *const bad[][3] = {
    { "port=5005", "port", "even" },
    { "address=x", "address", "239.255.12.42" },
    { "ttl=256", "ttl", "0 to 255" },
    { "multicast-iface=nosuch0", "multicast-iface", "ip link" },
    { "latency=60001", "latency", "60000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gchar *text = g_strdup_printf ("elmlayersrc multicast-iface=lo %s ! fakesink", bad[i][0]);

    settings_refused (text, bad[i][1], bad[i][2]);
    g_free (text);
  }
  settings_accepted (
      "elmlayersrc multicast-iface=lo port=15310 max-level=6 ! fakesink", GST_STATE_PLAYING);
}

/* ---- with a sender ---- */

/* Knowing the address only: the base layer, then more; each shows at once. */
static void
test_levels (void)
{
  static const gdouble rates[] = { 7.5, 15, 30 };
  World world;

  if (!world_start (&world, X264, ""))
    return;
  world_play (&world);
  g_assert_true (comes_to (&world, 0, 5));
  g_assert_true (comes_to (&world, 2, 25));
  for (gint i = 0; i < 3; i++) {
    gdouble rate;

    g_object_set (world.src, "max-level", i, NULL);
    g_assert_true (comes_to (&world, i, i == 0 ? 1 : 15));
    g_usleep (800000); /* what was in the jitterbuffer */
    rate = frame_rate (&world, 2);
    g_test_message ("level %d: %.1f frames a second", i, rate);
    g_assert_cmpfloat (rate, >, 0.75 * rates[i]);
    g_assert_cmpfloat (rate, <, 1.25 * rates[i]);
  }
  g_assert_cmpuint (figure (&world, "dropped-malformed"), ==, 0);
  world_stop (&world);
}

/* Moved at random; nothing is seen of it but frame rates. */
static void
test_random_levels (void)
{
  GRand *random = g_rand_new_with_seed (9);
  World world;

  if (!world_start (&world, X264, "variant=enhanced strategy=naive"))
    return;
  world_play (&world);
  g_assert_true (comes_to (&world, 1, 20));
  for (guint i = 0; i < (g_test_slow () ? 1000 : 100); i++) {
    g_object_set (world.src, "max-level", g_rand_int_range (random, -1, 3), NULL);
    g_usleep ((gulong)g_rand_int_range (random, 10000, 300000));
  }
  g_test_message ("%" G_GUINT64_FORMAT " joins, %" G_GUINT64_FORMAT " leaves, %d pictures",
      figure (&world, "joins"), figure (&world, "leaves"), world.pictures);
  g_assert_cmpint (world.pictures, >, 50);
  world_stop (&world);
  g_rand_free (random);
}

static void
test_states (void)
{
  World world;

  if (!world_start (&world, X264, ""))
    return;
  world_play (&world);
  for (guint i = 0; i < 3; i++) {
    gst_element_set_state (world.receiver, GST_STATE_PLAYING);
    g_assert_true (comes_to (&world, 0, 5));
    g_assert_cmpfloat (frame_rate (&world, 2), >, 3);
    g_assert_cmpint (
        gst_element_set_state (world.receiver, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_NO_PREROLL);
    g_assert_cmpint (level (&world), ==, -1);
    gst_element_set_state (world.receiver, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
  }
  world_stop (&world);
}

/* Another process of the sender: the picture comes again, in the same stream. */
static void
test_sender_restarts (void)
{
  World world;

  if (!world_start (&world, X264, ""))
    return;
  world_play (&world);
  g_assert_true (comes_to (&world, 0, 5));
  g_assert_cmpfloat (frame_rate (&world, 2), >, 3);
  gst_element_set_state (world.sender, GST_STATE_NULL);
  g_usleep (500000);
  gst_element_set_state (world.sender, GST_STATE_PLAYING);
  g_usleep (4000000);
  g_assert_cmpfloat (frame_rate (&world, 2), >, 3);
  world_stop (&world);
}

static void
test_announced_at_the_start (void)
{
  GstMccReceiverClass *klass = g_type_class_ref (GST_TYPE_ELM_LAYER_SRC);
  World world;

  if (world_start (&world, X264, "encoding-name=H264")) {
    start_late (klass);
    world_play (&world);
    g_assert_true (comes_to (&world, 0, 5));
    g_assert_cmpfloat (frame_rate (&world, 3), >, 3);
    world_stop (&world);
    start_in_time (klass);
  }
  g_type_class_unref (klass);
}

static const GstMccMachine *inner_machine;

static gpointer
create_and_set (GstMccReceiver *owner, const MccAsmpReceiverConfig *config, MccTime now)
{
  gpointer core = inner_machine->create (owner, config, now);

  g_object_set (owner, "max-level", 0, NULL); /* as an application's thread may */
  return core;
}

static void
test_set_at_the_start (void)
{
  GstMccReceiverClass *klass = g_type_class_ref (GST_TYPE_ELM_LAYER_SRC);
  GstMccMachine machine = *klass->machine;
  World world;

  if (world_start (&world, X264, "strategy=naive")) {
    inner_machine = klass->machine;
    machine.create = create_and_set;
    klass->machine = &machine;
    world_play (&world);
    g_assert_true (comes_to (&world, 0, 5));
    for (guint i = 0; i < 80; i++) {
      g_assert_cmpint (level (&world), ==, 0);
      g_usleep (100000);
    }
    world_stop (&world);
    klass->machine = inner_machine;
  }
  g_type_class_unref (klass);
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

/* The base layer, which nobody goes back from, cannot be joined at first. */
static void
test_join_fails (void)
{
  GSocket *other;
  World world;

  if (!world_start (&world, X264, ""))
    return;
  other = occupy (group, (guint16)port);
  world_play (&world);
  g_usleep (2000000);
  g_assert_cmpint (level (&world), ==, -1);
  g_object_unref (other);
  g_assert_true (comes_to (&world, 0, 5));
  g_assert_cmpfloat (frame_rate (&world, 2), >, 3);
  world_stop (&world);
}

/* ---- senders that do wrong ---- */

static GstPadProbeReturn
on_layer_lost (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_DROP;
}

/* Says that it is of another layer than its group's. */
static gboolean
relabel (GstBuffer **buffer, guint index, gpointer data)
{
  MccLayerOrder order;
  GstMapInfo map;
  gsize bytes = 0;

  g_assert_true (gst_buffer_map (*buffer, &map, GST_MAP_READWRITE));
  for (guint8 id = 1; id < 15; id++) {
    guint8 *element = (guint8 *)mcc_rtp_packet_element (map.data, map.size, id, &bytes);

    if (element && bytes > 3 && mcc_layer_order_read (element, bytes, &order))
      element[0] = (guint8)((element[0] & ~7) | 2);
  }
  gst_buffer_unmap (*buffer, &map);
  return TRUE;
}

static GstPadProbeReturn
on_relabel (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  packets_change (info, relabel);
  return GST_PAD_PROBE_OK;
}

/* On what goes to the socket of @layer. */
static void
spoil (World *world, guint layer, GstPadProbeCallback callback)
{
  GstIterator *iterator;
  GValue value = G_VALUE_INIT;
  guint found = 0;

  gst_element_set_state (world->sender, GST_STATE_READY);
  iterator = gst_bin_iterate_all_by_element_factory_name (GST_BIN (world->sink), "udpsink");
  while (gst_iterator_next (iterator, &value) == GST_ITERATOR_OK) {
    GstElement *udp = g_value_get_object (&value);
    GstPad *pad = gst_element_get_static_pad (udp, "sink");
    gint to;

    g_object_get (udp, "port", &to, NULL);
    if (to == (gint)(port + 2 * layer)) {
      gst_pad_add_probe (
          pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, callback, world, NULL);
      found++;
    }
    gst_object_unref (pad);
    g_value_unset (&value);
  }
  gst_iterator_free (iterator);
  g_assert_cmpuint (found, ==, 1);
}

/* It is given up and counted; the base layer goes on. */
static void
test_layer_absent (void)
{
  World world;

  if (!world_start (&world, X264, "strategy=naive"))
    return;
  spoil (&world, 1, on_layer_lost);
  world_play (&world);
  g_assert_true (comes_to (&world, 0, 5));
  for (guint i = 0; i < 200 && figure (&world, "absent-layers") == 0; i++)
    g_usleep (100000);
  g_assert_cmpuint (figure (&world, "absent-layers"), >, 0);
  g_assert_cmpint (level (&world), ==, 0);
  g_assert_cmpfloat (frame_rate (&world, 2), >, 5);
  world_stop (&world);
}

static void
test_layer_order_wrong (void)
{
  World world;

  if (!world_start (&world, X264, "strategy=naive"))
    return;
  spoil (&world, 1, on_relabel);
  world_play (&world);
  g_assert_true (comes_to (&world, 0, 5));
  for (guint i = 0; i < 200 && figure (&world, "absent-layers") == 0; i++)
    g_usleep (100000);
  g_assert_cmpuint (figure (&world, "dropped-bad-value"), >, 0);
  g_assert_cmpint (level (&world), ==, 0);
  g_assert_cmpfloat (frame_rate (&world, 2), >, 5);
  world_stop (&world);
}

/* Somebody else has the SSRC of the sender's base layer: it takes another one, and is followed. */
static void
test_collision (void)
{
  gdouble rate = 0.0;
  guint32 before;
  World world;

  if (!world_start (&world, X264, ""))
    return;
  world_play (&world);
  g_assert_true (comes_to (&world, 1, 15));
  before = layer_ssrc (&world, 0);
  claim_ssrc (group, (guint16)(port + 1), before);
  for (guint i = 0; i < 500 && layer_ssrc (&world, 0) == before; i++)
    g_usleep (20000);
  g_assert_cmphex (layer_ssrc (&world, 0), !=, before);
  /* The level may still be that of the sender before. */
  for (guint i = 0; i < 12 && rate <= 10.0; i++)
    rate = frame_rate (&world, 2);
  g_assert_cmpfloat (rate, >, 10.0);
  g_assert_cmpint (level (&world), >=, 1);
  world_stop (&world);
}

/* The SSRC of a layer above: nobody leaves for it. */
static void
test_collision_above (void)
{
  guint64 leaves;
  guint32 before;
  World world;

  if (!world_start (&world, X264, ""))
    return;
  world_play (&world);
  g_assert_true (comes_to (&world, 2, 25));
  before = layer_ssrc (&world, 1);
  leaves = figure (&world, "leaves");
  claim_ssrc (group, (guint16)(port + 1), before);
  for (guint i = 0; i < 500 && layer_ssrc (&world, 1) == before; i++)
    g_usleep (20000);
  g_assert_cmphex (layer_ssrc (&world, 1), !=, before);
  g_usleep (2000000);
  g_assert_cmpuint (figure (&world, "leaves"), ==, leaves);
  g_assert_cmpfloat (frame_rate (&world, 2), >, 22.0);
  world_stop (&world);
}

/* ---- a sender that gets another address ---- */

/* Carries the base layer and RTCP from one group to another, from the address that is set. */
typedef struct {
  GSocket *in[2], *out[2];
  GSocketAddress *to[2];
  gint address, ended, mute; /* mute: RTCP alone */
  GThread *thread;
} Relay;

static gpointer
relay (gpointer data)
{
  Relay *self = data;
  gchar bytes[2048];

  while (!g_atomic_int_get (&self->ended)) {
    GPollFD fds[2] = { { g_socket_get_fd (self->in[0]), G_IO_IN, 0 },
      { g_socket_get_fd (self->in[1]), G_IO_IN, 0 } };

    g_poll (fds, 2, 50);
    for (guint i = 0; i < 2; i++) {
      gssize size = fds[i].revents & G_IO_IN
                        ? g_socket_receive (self->in[i], bytes, sizeof bytes, NULL, NULL)
                        : 0;

      if (size > 0 && !(i == 0 && g_atomic_int_get (&self->mute)))
        g_socket_send_to (self->out[g_atomic_int_get (&self->address)], self->to[i], bytes,
            (gsize)size, NULL, NULL);
    }
  }
  return NULL;
}

static GSocket *
bound_to (const gchar *address, guint on_port)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *place = g_inet_socket_address_new_from_string (address, on_port);

  g_assert_true (g_socket_bind (socket, place, TRUE, NULL));
  g_object_unref (place);
  return socket;
}

static void
relay_start (Relay *self, const gchar *from, const gchar *to)
{
  GInetAddress *address = g_inet_address_new_from_string (from);

  memset (self, 0, sizeof *self);
  for (guint i = 0; i < 2; i++) {
    self->in[i] = bound_to (from, port + i);
    g_assert_true (g_socket_join_multicast_group (self->in[i], address, FALSE, "lo", NULL));
    self->to[i] = g_inet_socket_address_new_from_string (to, port + i);
    self->out[i] = bound_to (i == 0 ? "127.0.0.1" : "127.0.0.2", 0);
    g_socket_set_option (
        self->out[i], IPPROTO_IP, IP_MULTICAST_IF, (gint)g_htonl (INADDR_LOOPBACK), NULL);
  }
  g_object_unref (address);
  self->thread = g_thread_new ("relay", relay, self);
}

static void
relay_stop (Relay *self)
{
  g_atomic_int_set (&self->ended, TRUE);
  g_thread_join (self->thread);
  for (guint i = 0; i < 2; i++) {
    g_object_unref (self->in[i]);
    g_object_unref (self->out[i]);
    g_object_unref (self->to[i]);
  }
}

/* By DHCP, by another interface or by what stands in for it: with its SSRCs. */
static void
test_another_address (void)
{
  gchar *encoder = g_strconcat ("x264enc key-int-max=30 ", X264 + strlen ("x264enc "), NULL);
  gchar *other
      = g_strdup_printf ("239.255.%d.%d", 192 + getpid () / 256 % 60, getpid () % 240 + 10);
  gchar *more = g_strdup_printf ("address=%s max-level=0", other);
  World world;

  if (world_start (&world, encoder, more)) {
    gint64 moved;
    gint before;
    Relay way;

    relay_start (&way, group, other);
    world_play (&world);
    g_assert_true (comes_to (&world, 0, 10));
    g_assert_cmpfloat (frame_rate (&world, 5), >, 3);
    g_atomic_int_set (&way.address, 1);
    moved = g_get_monotonic_time ();
    g_usleep (1500000); /* what was on its way */
    before = g_atomic_int_get (&world.pictures);
    while (g_atomic_int_get (&world.pictures) == before
           && g_get_monotonic_time () - moved < 12 * G_USEC_PER_SEC)
      g_usleep (20000);
    g_test_message (
        "pictures again after %.1f s", (gdouble)(g_get_monotonic_time () - moved) / G_USEC_PER_SEC);
    g_assert_cmpint (g_get_monotonic_time () - moved, <, 9 * G_USEC_PER_SEC);
    g_assert_cmpfloat (frame_rate (&world, 2), >, 3);
    relay_stop (&way);
    world_stop (&world);
  }
  g_free (more);
  g_free (other);
  g_free (encoder);
}

/* The layers are described and nothing of them has come: who says BYE for their sender elsewhere is
 * not heard then either. */
static void
test_bye_of_another_host (void)
{
  gchar *other
      = g_strdup_printf ("239.255.%d.%d", 192 + getpid () / 256 % 60, getpid () % 240 + 10);
  gchar *more = g_strdup_printf ("address=%s max-level=0", other);
  guint8 bye[16] = { 0x80, 201, 0, 1, 0, 0, 0, 0, 0x81, 203, 0, 1 };
  World world;

  if (world_start (&world, X264, more)) {
    GSocket *stranger = bound_to ("127.0.0.3", 0);
    Relay way;

    g_socket_set_option (
        stranger, IPPROTO_IP, IP_MULTICAST_IF, (gint)g_htonl (INADDR_LOOPBACK), NULL);
    relay_start (&way, group, other);
    g_atomic_int_set (&way.mute, TRUE);
    world_play (&world);
    for (guint i = 0; i < 500 && layer_ssrc (&world, 0) == 0; i++)
      g_usleep (20000);
    GST_WRITE_UINT32_BE (bye + 4, layer_ssrc (&world, 0));
    GST_WRITE_UINT32_BE (bye + 12, layer_ssrc (&world, 0));
    for (guint i = 0; i < 5; i++)
      g_socket_send_to (stranger, way.to[1], (gchar *)bye, sizeof bye, NULL, NULL);
    for (guint i = 0; i < 100 && figure (&world, "dropped-address") < 5; i++)
      g_usleep (20000);
    g_assert_cmpuint (figure (&world, "dropped-address"), ==, 5);
    g_atomic_int_set (&way.mute, FALSE);
    g_assert_true (comes_to (&world, 0, 10));
    relay_stop (&way);
    world_stop (&world);
    g_object_unref (stranger);
  }
  g_free (more);
  g_free (other);
}

/* Each half takes as long; "element" or "layers" runs one, nothing both. */
int
main (int argc, char **argv)
{
  const gchar *half;

  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  half = argc > 1 ? argv[1] : "";
  g_assert_true (argc == 1 || g_str_equal (half, "element") || g_str_equal (half, "layers"));
  group = g_strdup_printf ("239.255.%d.%d", 192 + getpid () / 256 % 60, getpid () % 240);
  gst_element_register (NULL, "elmlayersink", GST_RANK_NONE, GST_TYPE_ELM_LAYER_SINK);
  gst_element_register (NULL, "elmlayersrc", GST_RANK_PRIMARY, GST_TYPE_ELM_LAYER_SRC);
  if (!g_str_equal (half, "layers")) {
    g_test_add_func ("/elmlayersrc/properties-round-trip", test_properties);
    g_test_add_func ("/elmlayersrc/bad-settings-are-named", test_bad_settings);
    g_test_add_func ("/elmlayersrc/levels-are-frame-rates", test_levels);
    g_test_add_func ("/elmlayersrc/every-state-and-no-leak", test_states);
    g_test_add_func ("/elmlayersrc/announced-at-the-start", test_announced_at_the_start);
    g_test_add_func ("/elmlayersrc/a-sender-that-restarts", test_sender_restarts);
    g_test_add_func ("/elmlayersrc/a-sender-that-takes-another-ssrc", test_collision);
  }
  if (!g_str_equal (half, "element")) {
    g_test_add_func ("/elmlayersrc/levels-at-random-break-no-picture", test_random_levels);
    g_test_add_func ("/elmlayersrc/join-fails-at-first", test_join_fails);
    g_test_add_func ("/elmlayersrc/set-at-the-start", test_set_at_the_start);
    g_test_add_func ("/elmlayersrc/a-layer-that-never-comes", test_layer_absent);
    g_test_add_func ("/elmlayersrc/a-sender-that-gets-another-address", test_another_address);
    g_test_add_func ("/elmlayersrc/bye-of-another-host", test_bye_of_another_host);
    g_test_add_func ("/elmlayersrc/packets-of-another-layer", test_layer_order_wrong);
    g_test_add_func ("/elmlayersrc/a-layer-that-takes-another-ssrc", test_collision_above);
  }
  return g_test_run ();
}

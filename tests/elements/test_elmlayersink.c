/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * elmlayersink: what it makes of a stream, heard at its groups.
 */
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <net/if.h>

#include "claim.h"
#include "gstelmlayersink.h"
#include "gstelmlayersrc.h"
#include "lastref.h"
#include "mcclayerorder.h"
#include "mccrtpextension.h"
#include "settings.h"

#define LAYERS 3

typedef struct {
  guint32 time; /* abs-send-time */
  guint layer;
  gboolean first, marker; /* of its picture */
} Sent;

/* What comes to the group of each layer. */
typedef struct {
  GstElement *pipeline, *sink;
  GSocket *socket[LAYERS], *rtcp; /* of the base layer */
  guint32 announcer;              /* of the first RTCP with APP packets */
  guint packets[LAYERS], wrong, gaps;
  guint32 ssrc[LAYERS];
  guint16 seq[LAYERS];
  MccLayerOrder newest; /* by place */
  guint order_gaps;
  gboolean begun;
  guint8 flags; /* of all units */
  guint8 id;    /* of the extension: 14 is abs-send-time's where a payloader reserves it */
  GArray *sent; /* of Sent; NULL: nobody asks */
} World;

static guint port = 15700;

static GSocket *
open_group (guint layer, const gchar *base, guint to_port)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GInetAddress *group = g_inet_address_new_from_string (base);
  guint8 bytes[4];
  GSocketAddress *address;

  memcpy (bytes, g_inet_address_to_bytes (group), 4);
  bytes[3] = (guint8)(bytes[3] + layer);
  g_object_unref (group);
  group = g_inet_address_new_from_bytes (bytes, G_SOCKET_FAMILY_IPV4);
  address = g_inet_socket_address_new (group, (guint16)to_port);
  g_assert_true (g_socket_bind (socket, address, TRUE, NULL));
  g_assert_true (g_socket_join_multicast_group (socket, group, FALSE, "lo", NULL));
  g_socket_set_blocking (socket, FALSE);
  g_object_unref (address);
  g_object_unref (group);
  return socket;
}

/* @text with "@" for the element. */
static gboolean
world_start (World *world, const gchar *text)
{
  gchar *base = g_strdup_printf ("239.255.%d.%d", 64 + getpid () / 256 % 60, getpid () % 240);
  gchar **parts = g_strsplit (text, "@", 2), *whole;
  GError *error = NULL;

  memset (world, 0, sizeof *world);
  world->id = 13;
  port += 20;
  whole = g_strdup_printf (
      "%selmlayersink name=sink multicast-iface=lo ttl-mc=0 address=%s port=%u %s", parts[0], base,
      port, parts[1]);
  world->pipeline = gst_parse_launch (whole, &error);
  g_free (whole);
  g_strfreev (parts);
  if (error) {
    g_test_skip (error->message);
    g_clear_error (&error);
    gst_clear_object (&world->pipeline);
    g_free (base);
    return FALSE;
  }
  world->sink = gst_bin_get_by_name (GST_BIN (world->pipeline), "sink");
  for (guint i = 0; i < LAYERS; i++)
    world->socket[i] = open_group (i, base, port + 2 * i);
  world->rtcp = open_group (0, base, port + 1);
  g_free (base);
  return TRUE;
}

static void
note_sent (World *world, guint layer, const guint8 *data, gsize size, guint8 flags)
{
  gsize bytes = 0;
  const guint8 *time = mcc_rtp_packet_element (data, size, world->id == 14 ? 13 : 14, &bytes);
  Sent sent = { .layer = layer, .first = flags & MCC_LAYER_FIRST, .marker = (data[1] & 0x80) != 0 };

  g_assert_true (time && bytes == 3);
  sent.time = GST_READ_UINT24_BE (time);
  g_array_append_val (world->sent, sent);
}

static void
take (World *world, guint layer, const guint8 *data, gsize size)
{
  gsize bytes = 0;
  const guint8 *element = mcc_rtp_packet_element (data, size, world->id, &bytes);
  guint16 seq = GST_READ_UINT16_BE (data + 2);
  MccLayerOrder order;

  if (!element || !mcc_layer_order_read (element, bytes, &order) || order.layer != layer) {
    world->wrong++;
    return;
  }
  if (world->packets[layer] > 0)
    world->gaps += seq != (guint16)(world->seq[layer] + 1)
                   || GST_READ_UINT32_BE (data + 8) != world->ssrc[layer];
  world->seq[layer] = seq;
  world->ssrc[layer] = GST_READ_UINT32_BE (data + 8);
  world->packets[layer]++;
  world->flags |= order.flags;
  world->newest = order;
  if (world->sent)
    note_sent (world, layer, data, size, order.flags);
}

static void
take_rtcp (World *world, const guint8 *data, gsize size)
{
  for (gsize at = 0; at + 8 <= size; at += 4 * (GST_READ_UINT16_BE (data + at + 2) + 1u))
    if (data[at + 1] == 204 && world->announcer == 0) /* APP */
      world->announcer = GST_READ_UINT32_BE (data + 4);
}

static void
listen_for (World *world, guint ms)
{
  guint8 data[2000];
  gssize rtcp;

  for (guint i = 0; i < ms / 5; i++) {
    for (guint layer = 0; layer < LAYERS; layer++)
      for (;;) {
        gssize size
            = g_socket_receive (world->socket[layer], (gchar *)data, sizeof data, NULL, NULL);

        if (size <= 0)
          break;
        take (world, layer, data, (gsize)size);
      }
    while ((rtcp = g_socket_receive (world->rtcp, (gchar *)data, sizeof data, NULL, NULL)) > 0)
      take_rtcp (world, data, (gsize)rtcp);
    g_usleep (5000);
  }
}

static void
world_stop (World *world)
{
  gst_element_set_state (world->pipeline, GST_STATE_NULL);
  gst_object_unref (world->pipeline);
  last_unref (world->sink);
  for (guint i = 0; i < LAYERS; i++)
    g_object_unref (world->socket[i]);
  g_object_unref (world->rtcp);
}

static void
test_properties (void)
{
  GstElement *element = g_object_new (GST_TYPE_ELM_LAYER_SINK, NULL);
  guint layers;
  guint64 rate;
  gchar *address;

  gst_object_ref_sink (element);
  for (guint i = 1; i <= 7; i++) {
    g_object_set (element, "layers", i, NULL);
    g_object_get (element, "layers", &layers, NULL);
    g_assert_cmpuint (layers, ==, i);
  }
  g_object_set (
      element, "address", "239.255.12.60", "max-bitrate", G_GUINT64_CONSTANT (5000000), NULL);
  g_object_get (element, "address", &address, "max-bitrate", &rate, NULL);
  g_assert_cmpstr (address, ==, "239.255.12.60");
  g_assert_cmpuint (rate, ==, 5000000);
  g_free (address);
  /* not there rather than without effect */
  g_assert_null (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "ecn"));
  gst_object_unref (element);
  element = gst_element_make_from_uri (GST_URI_SINK, "elm://239.1.2.3:6000?layers=2", NULL, NULL);
  g_assert_nonnull (element);
  gst_object_ref_sink (element);
  g_object_get (element, "layers", &layers, NULL);
  g_assert_cmpuint (layers, ==, 2);
  gst_object_unref (element);
}

static void
test_bad_settings (void)
{
  static const gchar *const bad[][3] = {
    { "port=5005", "port", "even" },
    { "address=x", "address", "239.255.12.42" },
    { "address=239.255.255.254", "address", "lower" },
    { "port=65532", "port", "lower" },
    { "min-bitrate=2000 max-bitrate=1000", "min-bitrate", "" },
    { "address=232.1.2.3", "source-address", "this host's own address" },
    { "address=127.0.0.1", "address", "group" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gchar *text
        = g_strdup_printf ("appsrc is-live=true ! elmlayersink multicast-iface=lo %s", bad[i][0]);

    settings_refused (text, bad[i][1], bad[i][2]);
    g_free (text);
  }
}

/* min-bitrate has no effect, and refuses none while it is at its default. */
static void
test_low_maximum (void)
{
  GstElement *sink = gst_object_ref_sink (g_object_new (GST_TYPE_ELM_LAYER_SINK, "multicast-iface",
      "lo", "max-bitrate", G_GUINT64_CONSTANT (80000), NULL));

  g_assert_cmpint (gst_element_set_state (sink, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sink);
}

static void
test_pads (void)
{
  GstElement *sink = g_object_new (GST_TYPE_ELM_LAYER_SINK, NULL);
  GstPad *layer, *always = gst_element_get_static_pad (sink, "sink");
  GstPad *src = gst_pad_new ("src", GST_PAD_SRC);

  gst_object_ref_sink (sink);
  gst_object_ref_sink (src);
  g_assert_null (gst_element_request_pad_simple (sink, "layer_9"));
  layer = gst_element_request_pad_simple (sink, "layer_1");
  g_assert_nonnull (layer);
  g_assert_cmpstr (GST_PAD_NAME (layer), ==, "layer_1");
  g_assert_cmpint (gst_pad_link (src, always), !=, GST_PAD_LINK_OK);
  /* layer_0 is missing */
  g_assert_cmpint (gst_element_set_state (sink, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_element_release_request_pad (sink, layer);
  gst_object_unref (layer);
  g_assert_cmpint (gst_pad_link (src, always), ==, GST_PAD_LINK_OK);
  g_assert_null (gst_element_request_pad_simple (sink, "layer_%u"));
  gst_pad_unlink (src, always);
  gst_object_unref (src);
  gst_object_unref (always);
  last_unref (sink);
}

/* Each to its group, each numbered on; EOS ends it. */
static void
test_split (void)
{
  World world;
  GstMessage *message;
  GstBus *bus;

  if (!world_start (&world,
          "videotestsrc is-live=true num-buffers=90 ! "
          "video/x-raw,format=I420,width=320,height=180,framerate=30/1 ! x264enc bframes=3 "
          "b-pyramid=true b-adapt=false rc-lookahead=0 sync-lookahead=0 mb-tree=false threads=1 "
          "option-string=scenecut=0 ! video/x-h264,profile=main ! rtph264pay "
          "config-interval=-1 ! @"))
    return;
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  listen_for (&world, 2000);
  g_assert_cmpuint (world.wrong, ==, 0);
  g_assert_cmpuint (world.gaps, ==, 0);
  for (guint i = 0; i < LAYERS; i++)
    g_assert_cmpuint (world.packets[i], >, 10);
  g_assert_true (world.ssrc[0] != world.ssrc[1] && world.ssrc[1] != world.ssrc[2]);
  g_assert_cmpuint (world.newest.count, ==, 3);
  bus = gst_element_get_bus (world.pipeline);
  message = gst_bus_timed_pop_filtered (bus, 5 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_object_unref (bus);
  world_stop (&world);
}

static gboolean
stops (World *world)
{
  guint sent = 1;

  for (guint i = 0; i < 40 && sent > 0; i++) {
    memset (world->packets, 0, sizeof world->packets);
    listen_for (world, 500);
    sent = world->packets[0] + world->packets[1] + world->packets[2];
  }
  return sent == 0;
}

/* no-feedback=stop: all layers stop where nobody reports; another value lets them go on, with a key
 * unit. */
static void
test_no_feedback_stops (void)
{
  World world;

  if (!world_start (&world,
          "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=180,framerate=30/1 "
          "! x264enc bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 sync-lookahead=0 "
          "mb-tree=false threads=1 option-string=scenecut=0 ! video/x-h264,profile=main ! "
          "rtph264pay config-interval=-1 ! @ no-feedback=stop"))
    return;
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  listen_for (&world, 1000);
  g_assert_cmpuint (world.packets[0], >, 0);
  g_assert_true (stops (&world));
  world.flags = 0;
  gst_util_set_object_arg (G_OBJECT (world.sink), "no-feedback", "minimum");
  listen_for (&world, 1500);
  g_assert_cmpuint (world.packets[0], >, 5);
  g_assert_true (world.flags & MCC_LAYER_KEY);
  gst_util_set_object_arg (G_OBJECT (world.sink), "no-feedback", "stop");
  g_assert_true (stops (&world));
  world_stop (&world);
}

static void
test_layer_pads (void)
{
  World world;

  if (!world_start (&world,
          "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=96,framerate=30/1 "
          "! jpegenc ! "
          "rtpjpegpay ! sink.layer_0 videotestsrc is-live=true ! "
          "video/x-raw,format=I420,width=320,height=192,framerate=30/1 ! jpegenc ! rtpjpegpay ! "
          "sink.layer_1 "
          "@"))
    return;
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  listen_for (&world, 1500);
  g_assert_cmpuint (world.wrong, ==, 0);
  g_assert_cmpuint (world.gaps, ==, 0);
  g_assert_cmpuint (world.packets[0], >, 10);
  g_assert_cmpuint (world.packets[1], >, 10);
  g_assert_cmpuint (world.newest.count, ==, 2);
  g_assert_cmpuint (world.announcer, ==, world.ssrc[0]); /* receivers take it from nobody else */
  world_stop (&world);
}

/* Pictures of layer 1 while which something of layer 0 was sent. */
static guint
count_shared (const GArray *sent)
{
  const Sent *first = NULL;
  guint shared = 0;

  for (guint i = 0; i < sent->len; i++) {
    const Sent *at = &g_array_index (sent, Sent, i);
    gboolean between = FALSE;

    if (at->layer == 1 && at->first)
      first = at;
    if (at->layer != 1 || !at->marker || !first)
      continue;
    for (guint k = 0; k < sent->len; k++) {
      const Sent *other = &g_array_index (sent, Sent, k);

      between |= other->layer == 0 && other->time > first->time && other->time < at->time;
    }
    shared += between;
    first = NULL;
  }
  return shared;
}

/* Once their rates are known layers are sent side by side, each at its own: no picture makes
 * another layer's wait. */
static void
test_side_by_side (void)
{
  World world;

  if (!world_start (&world,
          "videotestsrc is-live=true pattern=snow "
          "! video/x-raw,format=I420,width=160,height=96,framerate=10/1 ! jpegenc ! "
          "rtpjpegpay ! sink.layer_0 videotestsrc is-live=true pattern=snow ! "
          "video/x-raw,format=I420,width=160,height=96,framerate=10/1 ! jpegenc ! rtpjpegpay ! "
          "sink.layer_1 "
          "@"))
    return;
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  listen_for (&world, 4500);
  world.sent = g_array_new (FALSE, FALSE, sizeof (Sent));
  listen_for (&world, 2000);
  g_assert_cmpuint (world.wrong + world.gaps, ==, 0);
  g_test_message ("%u packets, %u pictures", world.sent->len, count_shared (world.sent));
  g_assert_cmpuint (count_shared (world.sent), >=, 8);
  g_array_unref (world.sent);
  world_stop (&world);
}

/* ---- RTP by hand ---- */

static guint16 next_seq;

static void
push (World *world, GstElement *src, guint32 time, const guint8 *payload, gsize size)
{
  guint8 packet[64] = { 0x80, 0x80 | 96 };
  GstBuffer *buffer;

  GST_WRITE_UINT16_BE (packet + 2, next_seq++);
  GST_WRITE_UINT32_BE (packet + 4, time * 3000);
  GST_WRITE_UINT32_BE (packet + 8, 1);
  memcpy (packet + 12, payload, size);
  buffer = gst_buffer_new_memdup (packet, 12 + size);
  GST_BUFFER_PTS (buffer) = time * GST_MSECOND;
  g_assert_cmpint (gst_app_src_push_buffer (GST_APP_SRC (src), buffer), ==, GST_FLOW_OK);
  listen_for (world, 10);
}

static GstElement *
start_vp8 (World *world)
{
  GstElement *src;

  g_assert_true (world_start (world,
      "appsrc name=src format=time caps=application/x-rtp,media=video,encoding-name=VP8,"
      "clock-rate=90000,payload=96 ! @sync=false"));
  world->id = 14;
  src = gst_bin_get_by_name (GST_BIN (world->pipeline), "src");
  gst_element_set_state (world->pipeline, GST_STATE_PLAYING);
  return src;
}

static const guint8 key[] = { 0x90, 0x20, 0x00, 0x90 }, base[] = { 0x90, 0x20, 0x00, 0x91 },
                    middle[] = { 0x90, 0x20, 0x60, 0x91 }, top[] = { 0x90, 0x20, 0xa0, 0x91 };

static guint32
announced_ssrc (World *world, guint layer)
{
  GstStructure *stats;
  guint ssrc = 0;

  g_object_get (world->sink, "stats", &stats, NULL);
  gst_structure_get_uint (gst_value_get_structure (gst_value_array_get_value (
                              gst_structure_get_value (stats, "layers"), layer)),
      "ssrc", &ssrc);
  gst_structure_free (stats);
  return ssrc;
}

/* An encoder that makes more layers than before: there are more. */
static void
test_more_layers (void)
{
  World world;
  GstElement *src = start_vp8 (&world);

  for (guint i = 0; i < 12; i++)
    push (&world, src, i, i ? base : key, sizeof base);
  listen_for (&world, 600);
  g_assert_cmpuint (world.newest.count, ==, 1);
  g_assert_cmpuint (world.packets[0], ==, 12);
  push (&world, src, 20, middle, sizeof middle);
  listen_for (&world, 200);
  g_assert_cmpuint (world.newest.count, ==, 2);
  push (&world, src, 21, top, sizeof top);
  listen_for (&world, 200);
  g_assert_cmpuint (world.newest.count, ==, 3);
  g_assert_cmpuint (world.packets[1], ==, 1);
  g_assert_cmpuint (world.packets[2], ==, 1);
  g_assert_cmpuint (world.wrong, ==, 0);
  gst_object_unref (src);
  world_stop (&world);
}

/* Descriptors that say more than there is: one warning, everybody gets the packet, nobody begins
 * with it. */
static void
test_malformed (void)
{
  static const guint8 cut[][5]
      = { { 0x90 }, { 0x90, 0x80 }, { 0x90, 0x80, 0x80 }, { 0x90, 0xf0, 0x80, 0x05, 0x01 } };
  static const gsize sizes[] = { 1, 2, 3, 5 };
  World world;
  GstElement *src = start_vp8 (&world);
  GstBus *bus = gst_element_get_bus (world.pipeline);
  GstMessage *message;
  guint warnings = 0;

  for (guint i = 0; i < 12; i++)
    push (&world, src, i, i ? (i % 2 ? top : base) : key, sizeof base);
  listen_for (&world, 600);
  world.flags = 0;
  memset (world.packets, 0, sizeof world.packets);
  for (guint i = 0; i < G_N_ELEMENTS (cut); i++)
    push (&world, src, 100 + i, cut[i], sizes[i]);
  listen_for (&world, 300);
  g_assert_cmpuint (world.packets[0], ==, G_N_ELEMENTS (cut));
  g_assert_cmphex (world.flags, ==, MCC_LAYER_FIRST);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR))) {
    GError *error = NULL;

    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
    gst_message_parse_warning (message, &error, NULL);
    warnings += strstr (error->message, "cannot be read") != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  g_assert_cmpuint (warnings, ==, 1);
  gst_object_unref (bus);
  gst_object_unref (src);
  world_stop (&world);
}

/* Somebody else has the SSRC of a layer: it takes another one, tells so, and its packets go on. */
static void
test_collision (void)
{
  World world;
  guint32 before[LAYERS];
  GstElement *src = start_vp8 (&world);
  gchar *group;

  g_object_get (world.sink, "address", &group, NULL);
  for (guint i = 0; i < 40; i++)
    push (&world, src, i, i == 0 ? key : i % 4 == 0 ? base : i % 2 ? top : middle, sizeof base);
  memcpy (before, world.ssrc, sizeof before);
  for (guint layer = 0; layer < 2; layer++) {
    guint wrong = world.wrong;

    g_test_message ("layer %u", layer);
    claim_ssrc (group, (guint16)(port + 1), before[layer]);
    for (guint i = 0; i < 400 && world.ssrc[layer] == before[layer]; i++)
      push (&world, src, 1000 * (layer + 1) + i,
          i % 4 == 0 ? base
          : i % 2    ? top
                     : middle,
          sizeof base);
    memset (world.packets, 0, sizeof world.packets);
    for (guint i = 0; i < 40; i++)
      push (&world, src, 1000 * (layer + 1) + 500 + i,
          i % 4 == 0 ? base
          : i % 2    ? top
                     : middle,
          sizeof base);
    for (guint k = 0; k < LAYERS; k++) {
      g_assert_cmpuint (world.packets[k], >=, 5); /* all go on */
      g_assert_cmpint (world.ssrc[k] != before[k], ==, k == layer);
    }
    g_assert_cmpuint (announced_ssrc (&world, layer), ==, world.ssrc[layer]);
    g_assert_cmpuint (world.wrong, ==, wrong);
    memcpy (before, world.ssrc, sizeof before);
    g_usleep (layer == 0 ? 10500000 : 0); /* GST_MCC_SCREEN_COLLISION */
  }
  g_free (group);
  gst_object_unref (src);
  world_stop (&world);
}

/* A sender and a receiver that takes all of its layers. */
typedef struct {
  World world;
  GstElement *receiver, *encoder;
  gint told; /* target-bitrate was notified; atomic */
} Pair;

static void
on_target (GObject *sink, GParamSpec *pspec, gpointer told)
{
  g_atomic_int_inc ((gint *)told);
}

/* Of the encoder, in READY: nobody sees it but by the caps. */
static void
link_late (Pair *pair)
{
  GstPad *src = gst_element_get_static_pad (pair->encoder, "src"), *sink = gst_pad_get_peer (src);

  gst_pad_unlink (src, sink);
  gst_element_set_state (pair->world.pipeline, GST_STATE_READY);
  g_assert_cmpint (gst_pad_link (src, sink), ==, GST_PAD_LINK_OK);
  gst_object_unref (src);
  gst_object_unref (sink);
}

static gboolean
pair_start (Pair *pair, const gchar *source, const gchar *control, gboolean late)
{
  gchar *text = g_strdup_printf ("%s @ %s", source, control), *address;
  GError *error = NULL;
  gboolean good = world_start (&pair->world, text);
  guint group_port;

  g_free (text);
  if (!good)
    return FALSE;
  pair->encoder = gst_bin_get_by_name (GST_BIN (pair->world.pipeline), "encoder");
  g_signal_connect (
      pair->world.sink, "notify::target-bitrate", G_CALLBACK (on_target), &pair->told);
  g_object_get (pair->world.sink, "address", &address, "port", &group_port, NULL);
  text = g_strdup_printf (
      "elmlayersrc address=%s port=%u multicast-iface=lo ! fakesink", address, group_port);
  pair->receiver = gst_parse_launch (text, &error);
  g_assert_no_error (error);
  g_free (text);
  g_free (address);
  gst_element_set_state (pair->receiver, GST_STATE_PLAYING);
  if (late)
    link_late (pair);
  gst_element_set_state (pair->world.pipeline, GST_STATE_PLAYING);
  return TRUE;
}

static guint
pair_bitrate (Pair *pair, guint64 *target)
{
  guint kbps;

  g_object_get (pair->world.sink, "target-bitrate", target, NULL);
  g_object_get (pair->encoder, "bitrate", &kbps, NULL);
  return kbps;
}

static void
pair_stop (Pair *pair)
{
  gst_element_set_state (pair->receiver, GST_STATE_NULL);
  gst_object_unref (pair->receiver);
  gst_object_unref (pair->encoder);
  world_stop (&pair->world);
}

/* Its rate rises once its receiver has had all layers for a while, by a tenth, and nothing else of
 * it changes; with encoder-control=none the application is told, of what is measured. Who sets it
 * may change while it runs. */
static void
test_encoder (void)
{
  static const gchar source[]
      = "videotestsrc is-live=true pattern=snow ! "
        "video/x-raw,format=I420,width=160,height=96,framerate=30/1 ! x264enc name=encoder "
        "bitrate=300 bframes=3 b-pyramid=true b-adapt=false rc-lookahead=0 sync-lookahead=0 "
        "mb-tree=false threads=1 vbv-buf-capacity=400 option-string=scenecut=0 ! "
        "video/x-h264,profile=main ! rtph264pay config-interval=-1 !";
  Pair moved = { 0 }, told = { 0 }, given = { 0 };
  guint64 target, other = 0, *seen;
  GArray *measured;
  gboolean tenth = FALSE;
  guint kbps = 300, given_kbps = 300;
  gint before, after;

  if (!pair_start (&moved, source, "", TRUE))
    return;
  g_assert_true (pair_start (&told, source, "", FALSE));
  g_assert_true (pair_start (&given, source, "encoder-control=none", FALSE));
  g_usleep (2 * G_USEC_PER_SEC);
  gst_util_set_object_arg (G_OBJECT (told.world.sink), "encoder-control", "none");
  gst_util_set_object_arg (G_OBJECT (given.world.sink), "encoder-control", "auto");
  measured = g_array_new (FALSE, FALSE, sizeof *seen);
  g_object_get (moved.encoder, "pass", &before, NULL);
  for (guint i = 0; i < 900 && (kbps == 300 || given_kbps == 300 || !tenth); i++) {
    g_usleep (100000);
    if (kbps == 300)
      kbps = pair_bitrate (&moved, &target);
    if (given_kbps == 300)
      given_kbps = pair_bitrate (&given, &other);
    g_assert_cmpuint (pair_bitrate (&told, &other), ==, 300);
    /* A tenth more than another value, which is told before or once the rise is taken back. */
    seen = (guint64 *)(gpointer)measured->data;
    for (guint k = 0; k < measured->len; k++)
      tenth = tenth || (guint64)(1.1 * (gdouble)seen[k]) == other
              || (guint64)(1.1 * (gdouble)other) == seen[k];
    if (other > 0 && (measured->len == 0 || seen[measured->len - 1] != other))
      g_array_append_val (measured, other);
  }
  g_array_unref (measured);
  g_object_get (moved.encoder, "pass", &after, NULL);
  g_test_message ("%u kb/s, target %" G_GUINT64_FORMAT, kbps, target);
  g_assert_cmpuint (kbps, ==, 330);
  g_assert_cmpuint (given_kbps, ==, 330);
  g_assert_cmpuint (target, ==, 330000);
  g_assert_cmpint (after, ==, before);
  g_test_message ("told %" G_GUINT64_FORMAT, other);
  g_assert_true (tenth);
  g_assert_cmpint (g_atomic_int_get (&told.told), >, 1);
  /* Begun anew, it is as it was set. */
  gst_element_set_state (moved.world.pipeline, GST_STATE_NULL);
  gst_element_set_state (moved.world.pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 100 && kbps != 300; i++) {
    g_usleep (100000);
    kbps = pair_bitrate (&moved, &target);
  }
  g_assert_cmpuint (kbps, ==, 300);
  pair_stop (&moved);
  pair_stop (&told);
  pair_stop (&given);
}

static void
test_states (void)
{
  World world;

  if (!world_start (&world,
          "videotestsrc is-live=true ! video/x-raw,width=160,height=96,framerate=30/1 ! vp8enc "
          "deadline=1 ! rtpvp8pay ! @"))
    return;
  for (guint i = 0; i < 3; i++) {
    memset (world.packets, 0, sizeof world.packets);
    gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
    listen_for (&world, 900);
    g_assert_cmpuint (world.packets[0], >, 3);
    gst_element_set_state (world.pipeline, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    listen_for (&world, 20);
  }
  g_assert_cmpuint (world.wrong, ==, 0);
  world_stop (&world);
}

/* What gst-inspect says of what is a layers' sender's own. */
static void
test_blurbs (void)
{
  static const gchar *const words[][2]
      = { { "min-bitrate", "Without effect here" }, { "max-bitrate", "all layers" },
          { "start-bitrate", "all layers" }, { "target-bitrate", "all layers" },
          { "no-feedback", "without effect here" }, { "configure-encoder", "payloader" } };
  GObjectClass *klass = g_type_class_ref (GST_TYPE_ELM_LAYER_SINK);
  guint n;
  GParamSpec **specs = g_object_class_list_properties (klass, &n);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    const gchar *blurb = g_param_spec_get_blurb (g_object_class_find_property (klass, words[i][0]));

    g_test_message ("%s: %s", words[i][0], blurb);
    g_assert_nonnull (strstr (blurb, words[i][1]));
  }
  for (guint i = 0; i < n; i++)
    if (specs[i]->owner_type == GST_TYPE_ELM_LAYER_SINK)
      g_assert_null (strstr (g_param_spec_get_blurb (specs[i]), "lowest stream"));
  g_free (specs);
  g_type_class_unref (klass);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "elmlayersink", GST_RANK_NONE, GST_TYPE_ELM_LAYER_SINK);
  gst_element_register (NULL, "elmlayersrc", GST_RANK_NONE, GST_TYPE_ELM_LAYER_SRC);
  g_test_add_func ("/elmlayersink/properties-round-trip", test_properties);
  g_test_add_func ("/elmlayersink/bad-settings-are-named", test_bad_settings);
  g_test_add_func ("/elmlayersink/low-maximum", test_low_maximum);
  g_test_add_func ("/elmlayersink/one-kind-of-pad", test_pads);
  g_test_add_func ("/elmlayersink/each-layer-to-its-group", test_split);
  g_test_add_func ("/elmlayersink/no-feedback-stops", test_no_feedback_stops);
  g_test_add_func ("/elmlayersink/a-stream-a-layer", test_layer_pads);
  g_test_add_func ("/elmlayersink/layers-side-by-side", test_side_by_side);
  g_test_add_func ("/elmlayersink/an-encoder-that-makes-more-layers", test_more_layers);
  g_test_add_func ("/elmlayersink/malformed-descriptors", test_malformed);
  g_test_add_func ("/elmlayersink/a-layers-ssrc-that-another-one-has", test_collision);
  g_test_add_func ("/elmlayersink/an-encoder-whose-rate-moves", test_encoder);
  g_test_add_func ("/elmlayersink/every-state", test_states);
  g_test_add_func ("/elmlayersink/blurbs-are-its-own", test_blurbs);
  return g_test_run ();
}

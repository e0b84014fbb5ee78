/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What all senders have: encoders that are named and not there, what is announced, and what they
 * say of themselves.
 */
#include <string.h>

#include <gio/gio.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#include "gstmccproperties.h"
#include "lastref.h"
#include "mccasmpsender.h"
#include "mccasspsender.h"
#include "mccelmapp.h"
#include "ownport.h"
#include "register.h"

#define CAPS                                                                                       \
  "application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload=96,extmap-1=a"
#define PT_APP 204

typedef struct {
  const gchar *factory, *pad;
} Sender;

static const Sender asmp = { "asmpsink", "sink" }, assp = { "asspsimulcastbin", "sink_0" },
                    elm = { "elmlayersink", "sink" };

typedef struct {
  GstElement *pipeline, *sink, *src;
  GstBus *bus;
  guint pushed;
} World;

static gchar group[32];
static guint16 port;

static void
world_make (World *world, const Sender *sender, const gchar *settings)
{
  gchar *text = g_strdup_printf ("appsrc name=src format=time caps=\"" CAPS "\" ! it.%s "
                                 "%s name=it sync=false multicast-iface=lo ttl-mc=0 address=%s "
                                 "port=%u %s",
      sender->pad, sender->factory, group, port, settings);
  GError *error = NULL;

  memset (world, 0, sizeof *world);
  world->pipeline = gst_parse_launch (text, &error);
  g_assert_no_error (error);
  g_free (text);
  world->sink = gst_bin_get_by_name (GST_BIN (world->pipeline), "it");
  world->src = gst_bin_get_by_name (GST_BIN (world->pipeline), "src");
  world->bus = gst_element_get_bus (world->pipeline);
}

static void
world_stop (World *world)
{
  gst_element_set_state (world->pipeline, GST_STATE_NULL);
  gst_object_unref (world->src);
  gst_bus_set_flushing (world->bus, TRUE);
  gst_object_unref (world->bus);
  gst_object_unref (world->pipeline);
  last_unref (world->sink);
}

/* Pictures of one packet. */
static void
push (World *world, guint n)
{
  for (guint i = 0; i < n; i++, world->pushed++) {
    guint8 packet[20] = { 0x80, 0x80 | 96 };
    GstBuffer *buffer;

    GST_WRITE_UINT16_BE (packet + 2, world->pushed);
    GST_WRITE_UINT32_BE (packet + 4, world->pushed * 3600);
    packet[12] = 0x10;
    buffer = gst_buffer_new_memdup (packet, sizeof packet);
    GST_BUFFER_PTS (buffer) = world->pushed * 40 * GST_MSECOND;
    g_assert_cmpint (gst_app_src_push_buffer (GST_APP_SRC (world->src), buffer), ==, GST_FLOW_OK);
  }
}

/* Those that come within @ms. */
static guint
count_warnings (World *world, const gchar *part, guint ms)
{
  gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;
  guint n = 0;

  do {
    GstMessage *message
        = gst_bus_timed_pop_filtered (world->bus, 10 * GST_MSECOND, GST_MESSAGE_WARNING);
    GError *error = NULL;

    if (!message)
      continue;
    gst_message_parse_warning (message, &error, NULL);
    g_test_message ("%s", error->message);
    n += strstr (error->message, part) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  } while (g_get_monotonic_time () < until);
  return n;
}

/* ---- encoder-name ---- */

/* Said once, when all should be there, and again of another name. */
static void
test_no_such_encoder (gconstpointer data)
{
  guint said = 0;
  World world;

  world_make (&world, data, "encoder-name=nosuch");
  g_assert_cmpint (
      gst_element_set_state (world.pipeline, GST_STATE_READY), !=, GST_STATE_CHANGE_FAILURE);
  g_object_set (world.sink, "encoder-name", "neither", NULL);
  g_assert_cmpuint (count_warnings (&world, "no element", 100), ==, 0);
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  push (&world, 20);
  for (guint i = 0; i < 50 && said == 0; i++)
    said = count_warnings (&world, "no element \"neither\"", 100);
  g_assert_cmpuint (said, ==, 1);
  g_object_set (world.sink, "encoder-name", "wrong", NULL);
  g_assert_cmpuint (count_warnings (&world, "no element \"wrong\"", 100), ==, 1);
  g_object_set (world.sink, "encoder-name", "wrong", NULL);
  push (&world, 20);
  g_assert_cmpuint (count_warnings (&world, "no element", 300), ==, 0);
  g_object_set (world.sink, "encoder-name", "src", NULL); /* no encoder, but there */
  g_object_set (world.sink, "encoder-name", NULL, NULL);
  g_assert_cmpuint (count_warnings (&world, "no element", 100), ==, 0);
  g_object_set (world.sink, "encoder-name", "wrong", NULL);
  g_assert_cmpuint (count_warnings (&world, "no element \"wrong\"", 100), ==, 1);
  world_stop (&world);
}

/* ---- session-bandwidth ---- */

static GSocket *
listen_to_rtcp (void)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GInetAddress *host = g_inet_address_new_from_string (group);
  GSocketAddress *address = g_inet_socket_address_new (host, (guint16)(port + 1));

  g_assert_true (g_socket_bind (socket, address, TRUE, NULL));
  g_assert_true (g_socket_join_multicast_group (socket, host, FALSE, "lo", NULL));
  g_socket_set_timeout (socket, 10);
  g_object_unref (address);
  g_object_unref (host);
  return socket;
}

/* Of the first announcement that comes. */
static guint64
hear_bandwidth (GSocket *socket)
{
  for (;;) {
    guint8 data[2000];
    gssize size = g_socket_receive (socket, (gchar *)data, sizeof data, NULL, NULL);

    g_assert_cmpint (size, >, 0);
    for (gsize at = 0; at + 8 <= (gsize)size;) {
      gsize bytes = 4 + 4 * (gsize)GST_READ_UINT16_BE (data + at + 2);
      MccElmApp app;

      if (data[at + 1] == PT_APP && mcc_elm_app_decode (data + at, bytes, &app) == MCC_DROP_NONE
          && app.subtype == MCC_APP_SESSION)
        return app.asmp.session.session_bandwidth_bps;
      at += bytes;
    }
  }
}

/* Of layers: what is set, else max-bitrate, where that is less than the layers' own. */
static void
test_layers_bandwidth (void)
{
  static const struct {
    const gchar *settings;
    guint64 bps;
  } rows[] = { { "", 600000 }, { "max-bitrate=300000", 300000 },
    { "max-bitrate=300000 session-bandwidth=200000", 200000 },
    { "max-bitrate=300000 session-bandwidth=400000", 400000 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GSocket *socket = listen_to_rtcp ();
    World world;

    g_test_message ("%s", rows[i].settings);
    world_make (&world, &elm, rows[i].settings);
    gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
    push (&world, 20);
    g_assert_cmpuint (hear_bandwidth (socket), ==, rows[i].bps);
    world_stop (&world);
    g_object_unref (socket);
  }
}

/* ---- stats-interval ---- */

typedef struct {
  GMutex lock;
  GCond cond;
  gint64 told[2]; /* when, by who posts */
  guint n;
} Told;

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Told *told = data;

  if (gst_message_has_name (message, "adaptive-multicast-stats")) {
    g_mutex_lock (&told->lock);
    if (told->n < G_N_ELEMENTS (told->told))
      told->told[told->n++] = g_get_monotonic_time ();
    g_cond_signal (&told->cond);
    g_mutex_unlock (&told->lock);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static void
test_stats_interval (void)
{
  GstMccProperties properties;
  Told told = { 0 };
  World world;

  gst_mcc_properties_init (&properties, "asmp");
  g_assert_true (gst_mcc_properties_get_stats_interval (&properties) == MCC_TIME_NONE);
  properties.stats_interval_ms = 99;
  g_assert_cmpuint (gst_mcc_properties_get_stats_interval (&properties), ==, 100 * MCC_MSECOND);
  properties.stats_interval_ms = G_MAXUINT;
  g_assert_cmpuint (
      gst_mcc_properties_get_stats_interval (&properties), ==, G_MAXUINT * MCC_MSECOND);
  gst_mcc_properties_clear (&properties);

  g_mutex_init (&told.lock);
  g_cond_init (&told.cond);
  world_make (&world, &asmp, "stats-interval=1");
  gst_bus_set_sync_handler (world.bus, on_message, &told, NULL);
  gst_element_set_state (world.pipeline, GST_STATE_PAUSED);
  g_mutex_lock (&told.lock);
  while (told.n < G_N_ELEMENTS (told.told))
    g_cond_wait (&told.cond, &told.lock);
  g_mutex_unlock (&told.lock);
  gst_bus_set_sync_handler (world.bus, NULL, NULL, NULL);
  /* the messages' own limit lets the first few through at once */
  g_assert_cmpint (told.told[1] - told.told[0], >=, 50000);
  world_stop (&world);
  g_cond_clear (&told.cond);
  g_mutex_clear (&told.lock);
}

/* ---- what they say of themselves ---- */

static void
test_no_clock (void)
{
  const Sender *senders[] = { &asmp, &assp, &elm };

  for (guint i = 0; i < G_N_ELEMENTS (senders); i++) {
    World world;

    world_make (&world, senders[i], "");
    for (GstState state = GST_STATE_NULL; state <= GST_STATE_READY; state++) {
      gst_element_set_state (world.pipeline, state);
      g_assert_false (GST_OBJECT_FLAG_IS_SET (world.sink, GST_ELEMENT_FLAG_PROVIDE_CLOCK));
    }
    world_stop (&world);
  }
}

/* ---- no memory: the linker takes the cores' from here ---- */

static gboolean no_memory;

MccAsmpSender *__real_mcc_asmp_sender_new (const MccAsmpSenderConfig *config, MccTime now);
MccAsmpSender *__wrap_mcc_asmp_sender_new (const MccAsmpSenderConfig *config, MccTime now);
MccAsspSender *__real_mcc_assp_sender_new (const MccAsspSenderConfig *config, MccTime now);
MccAsspSender *__wrap_mcc_assp_sender_new (const MccAsspSenderConfig *config, MccTime now);

MccAsmpSender *
__wrap_mcc_asmp_sender_new (const MccAsmpSenderConfig *config, MccTime now)
{
  return no_memory ? NULL : __real_mcc_asmp_sender_new (config, now);
}

MccAsspSender *
__wrap_mcc_assp_sender_new (const MccAsspSenderConfig *config, MccTime now)
{
  return no_memory ? NULL : __real_mcc_assp_sender_new (config, now);
}

static void
test_no_memory (gconstpointer data)
{
  GstMessage *message;
  GError *error = NULL;
  World world;

  world_make (&world, data, "");
  no_memory = TRUE;
  g_assert_cmpint (
      gst_element_set_state (world.pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  no_memory = FALSE;
  message = gst_bus_pop_filtered (world.bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  g_error_free (error);
  gst_message_unref (message);
  world_stop (&world);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  register_elements ();
  own_group (group, sizeof group);
  port = own_port (8);
  g_test_add_data_func ("/sendersettings/no-such-encoder/asmp", &asmp, test_no_such_encoder);
  g_test_add_data_func ("/sendersettings/no-such-encoder/assp", &assp, test_no_such_encoder);
  g_test_add_data_func ("/sendersettings/no-such-encoder/elm", &elm, test_no_such_encoder);
  g_test_add_func ("/sendersettings/bandwidth-of-layers", test_layers_bandwidth);
  g_test_add_func ("/sendersettings/stats-interval-has-a-floor", test_stats_interval);
  g_test_add_func ("/sendersettings/no-clock", test_no_clock);
  g_test_add_data_func ("/sendersettings/no-memory/asmp", &asmp, test_no_memory);
  g_test_add_data_func ("/sendersettings/no-memory/assp", &assp, test_no_memory);
  return g_test_run ();
}

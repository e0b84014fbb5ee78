/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Senders with a request pad a stream or layer: what happens to the pads after NULL.
 */
#include <string.h>
#include <unistd.h>

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#include "gstasspsimulcastbin.h"
#include "gstelmlayersink.h"
#include "gstelmlayersrc.h"
#include "lastref.h"

#define PADS 2
#define CAPS                                                                                       \
  "application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload=96,extmap-1=a"

typedef struct {
  GstElement *pipeline, *sink, *src[PADS];
  GstBus *bus;
} World;

#define ELM "elmlayersink", "layer"
#define ASSP "asspsimulcastbin", "sink"

static guint port = 17700;

static void
world_start (World *world, const gchar *element, const gchar *pad, const gchar *settings)
{
  gchar *text = g_strdup_printf (
      "appsrc name=src0 format=time caps=\"" CAPS "\" ! sink.%s_0 "
      "appsrc name=src1 format=time caps=\"" CAPS "\" ! sink.%s_1 "
      "%s name=sink multicast-iface=lo ttl-mc=0 address=239.255.%d.%d port=%u %s",
      pad, pad, element, 64 + getpid () / 256 % 60, getpid () % 240, port, settings);
  GError *error = NULL;

  port += 20;
  world->pipeline = gst_parse_launch (text, &error);
  g_assert_no_error (error);
  g_free (text);
  world->sink = gst_bin_get_by_name (GST_BIN (world->pipeline), "sink");
  world->src[0] = gst_bin_get_by_name (GST_BIN (world->pipeline), "src0");
  world->src[1] = gst_bin_get_by_name (GST_BIN (world->pipeline), "src1");
  world->bus = gst_element_get_bus (world->pipeline);
}

static void
world_stop (World *world)
{
  gst_element_set_state (world->pipeline, GST_STATE_NULL);
  gst_object_unref (world->src[0]);
  gst_object_unref (world->src[1]);
  gst_bus_set_flushing (world->bus, TRUE);
  gst_object_unref (world->bus);
  gst_object_unref (world->pipeline);
  last_unref (world->sink);
}

/* A picture of one packet, at @ms. */
static void
push (World *world, guint src, guint ms)
{
  static guint16 seq;
  guint8 packet[20] = { 0x80, 0x80 | 96 };
  GstBuffer *buffer;

  GST_WRITE_UINT16_BE (packet + 2, seq++);
  GST_WRITE_UINT32_BE (packet + 4, ms * 90);
  GST_WRITE_UINT32_BE (packet + 8, src);
  packet[12] = 0x10;
  buffer = gst_buffer_new_memdup (packet, sizeof packet);
  GST_BUFFER_PTS (buffer) = ms * GST_MSECOND;
  gst_app_src_push_buffer (GST_APP_SRC (world->src[src]), buffer);
}

static gpointer
release (gpointer data)
{
  World *world = data;
  GstPad *src = gst_element_get_static_pad (world->src[1], "src"), *pad = gst_pad_get_peer (src);

  gst_element_release_request_pad (world->sink, pad);
  gst_object_unref (pad);
  gst_object_unref (src);
  return NULL;
}

/* A pad that is released, whatever the state: nobody waits, and the other one ends the stream. */
static void
check_release (GstState state, const gchar *element, const gchar *pad, const gchar *settings)
{
  gint64 begun;
  GstMessage *message;
  World world;

  world_start (&world, element, pad, settings);
  for (guint i = 0; i < 10; i++)
    push (&world, 0, 40 * i);
  if (state > GST_STATE_READY) /* nobody takes them else */
    for (guint i = 0; i < 10; i++)
      push (&world, 1, 40 * i);
  gst_element_set_state (world.pipeline, state);
  g_usleep (100000);
  begun = g_get_monotonic_time ();
  g_thread_join (g_thread_new ("release", release, &world));
  g_assert_cmpint (g_get_monotonic_time () - begun, <, 1000000);
  g_usleep (100000); /* the release's own thread is done: in READY nothing can end yet */
  gst_app_src_end_of_stream (GST_APP_SRC (world.src[0]));
  gst_element_set_state (world.pipeline, GST_STATE_PLAYING);
  message
      = gst_bus_timed_pop_filtered (world.bus, 5 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_message_unref (message);
  world_stop (&world);
}

static void
test_release_ready (void)
{
  check_release (GST_STATE_READY, ELM, "");
  check_release (GST_STATE_READY, ASSP, "");
}

static void
test_release_paused (void)
{
  check_release (GST_STATE_PAUSED, ELM, "");
  check_release (GST_STATE_PAUSED, ASSP, "");
  check_release (GST_STATE_PAUSED, ELM, "sync=false");
  check_release (GST_STATE_PAUSED, ASSP, "sync=false");
}

static void
test_release_playing (void)
{
  check_release (GST_STATE_PLAYING, ELM, "");
  check_release (GST_STATE_PLAYING, ASSP, "");
}

static void
assert_error (World *world, const gchar *part)
{
  GstMessage *message = gst_bus_timed_pop_filtered (world->bus, GST_SECOND, GST_MESSAGE_ERROR);
  GError *error = NULL;

  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, part));
  g_error_free (error);
  gst_message_unref (message);
}

/* What is bad by READY->PAUSED is told then. */
static void
test_looks_again (void)
{
  World world;
  GstPad *pad;

  world_start (&world, ELM, "");
  gst_element_set_state (world.pipeline, GST_STATE_READY);
  g_object_set (world.sink, "start-bitrate", G_GUINT64_CONSTANT (1), NULL);
  g_assert_cmpint (
      gst_element_set_state (world.pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  assert_error (&world, "start-bitrate");
  world_stop (&world);

  world_start (&world, ELM, "");
  gst_element_set_state (world.pipeline, GST_STATE_READY);
  pad = gst_element_get_static_pad (world.sink, "layer_0");
  gst_element_release_request_pad (world.sink, pad);
  gst_object_unref (pad);
  g_assert_cmpint (
      gst_element_set_state (world.pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  assert_error (&world, "layer_0 is missing");
  world_stop (&world);
}

static void
check_refused (GstElement *sink, const gchar *template, const gchar *name, const gchar *why)
{
  GstElementClass *klass = GST_ELEMENT_GET_CLASS (sink);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (sink, bus);
  /* gst_element_request_pad() has a critical for a name that is taken */
  g_assert_null (klass->request_new_pad (
      sink, gst_element_class_get_pad_template (klass, template), name, NULL));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_assert_cmpstr (error->message, ==, why);
  g_error_free (error);
  gst_message_unref (message);
  g_assert_false (gst_bus_have_pending (bus));
  gst_element_set_bus (sink, NULL);
  gst_object_unref (bus);
}

/* Who gets no pad is told why. */
static void
test_refused_numbers (void)
{
  GstElement *sink = gst_object_ref_sink (g_object_new (GST_TYPE_ELM_LAYER_SINK, NULL));
  GstPad *pads[7];

  pads[0] = gst_element_request_pad_simple (sink, "layer_2");
  check_refused (sink, "layer_%u", "layer_2",
      "layer_2 is taken: request another one, or layer_%u for the next.");
  check_refused (sink, "layer_%u", "layer_7", "There is no layer_7: request layer_0 to layer_6.");
  check_refused (sink, "layer_%u", "layer_x", "There is no layer_x: request layer_0 to layer_6.");
  for (guint i = 1; i < G_N_ELEMENTS (pads); i++)
    pads[i] = gst_element_request_pad_simple (sink, "layer_%u");
  check_refused (sink, "layer_%u", NULL,
      "layer_0 to layer_6 are taken, and there are no more: at most 7 layers.");
  for (guint i = 0; i < G_N_ELEMENTS (pads); i++) {
    g_assert_nonnull (pads[i]);
    gst_element_release_request_pad (sink, pads[i]);
    gst_object_unref (pads[i]);
  }
  last_unref (sink);
  sink = gst_object_ref_sink (g_object_new (GST_TYPE_ASSP_SIMULCAST_BIN, NULL));
  check_refused (sink, "sink_%u", "sink_8", "There is no sink_8: request sink_0 to sink_7.");
  last_unref (sink);
}

/* What is set while it is being made is taken by all that is made, before and behind. */
static void
on_element (GstBin *bin, GstElement *child, gpointer data)
{
  g_object_set (bin, "sync", FALSE, NULL);
}

static void
check_set_meanwhile (const gchar *element, const gchar *pad)
{
  GstIterator *children;
  GValue item = G_VALUE_INIT;
  guint seen = 0;
  World world;

  world_start (&world, element, pad, "");
  g_signal_connect (world.sink, "element-added", G_CALLBACK (on_element), NULL);
  gst_element_set_state (world.pipeline, GST_STATE_READY);
  children = gst_bin_iterate_elements (GST_BIN (world.sink));
  for (; gst_iterator_next (children, &item) == GST_ITERATOR_OK; g_value_reset (&item)) {
    GstElement *child = g_value_get_object (&item);
    gboolean sync = TRUE;

    if (!g_str_has_prefix (GST_OBJECT_NAME (child), "clocksync"))
      continue;
    g_object_get (child, "sync", &sync, NULL);
    g_assert_false (sync);
    seen++;
  }
  g_value_unset (&item);
  gst_iterator_free (children);
  g_assert_cmpuint (seen, ==, PADS);
  world_stop (&world);
}

static void
test_set_meanwhile (void)
{
  check_set_meanwhile (ELM);
  check_set_meanwhile (ASSP);
}

/* ---- others at it while it goes down ---- */

typedef struct {
  GstElement *element;
  gint stop;
} Hammer;

static gpointer
hammer (gpointer data)
{
  Hammer *self = data;
  gboolean sender
      = g_object_class_find_property (G_OBJECT_GET_CLASS (self->element), "sync") != NULL;

  for (guint i = 0; !g_atomic_int_get (&self->stop); i++) {
    GstStructure *stats;

    g_object_get (self->element, "stats", &stats, NULL);
    gst_structure_free (stats);
    if (!sender)
      continue;
    g_object_set (self->element, "pacing-factor", 1.0 + i % 7, "sync", (gboolean)(i % 2),
        "pacing-max-delay", 100 + i % 100, NULL);
    g_signal_emit_by_name (self->element, "force-key-unit");
  }
  return NULL;
}

static void
check_hammer (GstElement *pipeline, GstElement *element)
{
  Hammer data = { element, FALSE };
  GThread *threads[2];

  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("hammer", hammer, &data);
  for (guint i = 0; i < 60; i++) {
    gst_element_set_state (pipeline, i % 3 ? GST_STATE_PLAYING : GST_STATE_READY);
    g_usleep (i % 5 * 1000);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  g_atomic_int_set (&data.stop, TRUE);
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);
}

static void
test_hammer_senders (void)
{
  World world;

  world_start (&world, ELM, "");
  check_hammer (world.pipeline, world.sink);
  world_stop (&world);
  world_start (&world, ASSP, "");
  check_hammer (world.pipeline, world.sink);
  world_stop (&world);
}

/* Packets of all layers fit where the base layer's do, and who joins one late gets its headers. */
static void
test_payloaders (void)
{
  GstElement *pipeline = gst_parse_launch ("rtph264pay name=a ! sink.layer_0 "
                                           "rtph264pay name=b ! sink.layer_1 "
                                           "rtph264pay name=c mtu=900 ! sink.layer_2 "
                                           "elmlayersink name=sink multicast-iface=lo "
                                           "address=239.255.70.4 port=17680",
      NULL);
  static const struct {
    const gchar *name;
    guint mtu;
  } rows[] = { { "a", 1200 }, { "b", 1200 }, { "c", 900 } };

  g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstElement *payloader = gst_bin_get_by_name (GST_BIN (pipeline), rows[i].name);
    guint mtu;
    gint interval;

    g_object_get (payloader, "mtu", &mtu, "config-interval", &interval, NULL);
    g_assert_cmpuint (mtu, ==, rows[i].mtu);
    g_assert_cmpint (interval, ==, -1);
    gst_object_unref (payloader);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

static void
test_hammer_receiver (void)
{
  GstElement *pipeline = gst_parse_launch (
      "elmlayersrc name=src multicast-iface=lo address=239.255.70.3 port=17690 ! fakesink", NULL);
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");

  check_hammer (pipeline, src);
  gst_object_unref (src);
  gst_object_unref (pipeline);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  gst_element_register (NULL, "elmlayersink", GST_RANK_NONE, GST_TYPE_ELM_LAYER_SINK);
  gst_element_register (NULL, "asspsimulcastbin", GST_RANK_NONE, GST_TYPE_ASSP_SIMULCAST_BIN);
  gst_element_register (NULL, "elmlayersrc", GST_RANK_NONE, GST_TYPE_ELM_LAYER_SRC);
  g_test_add_func ("/senderpads/release-in-ready", test_release_ready);
  g_test_add_func ("/senderpads/release-in-paused", test_release_paused);
  g_test_add_func ("/senderpads/release-in-playing", test_release_playing);
  g_test_add_func ("/senderpads/looks-again-before-paused", test_looks_again);
  g_test_add_func ("/senderpads/refused-numbers", test_refused_numbers);
  g_test_add_func ("/senderpads/set-while-it-is-made", test_set_meanwhile);
  g_test_add_func ("/senderpads/figures-and-settings-while-it-goes-down", test_hammer_senders);
  g_test_add_func ("/senderpads/payloader-of-each-layer", test_payloaders);
  g_test_add_func ("/senderpads/receivers-figures-while-it-goes-down", test_hammer_receiver);
  return g_test_run ();
}

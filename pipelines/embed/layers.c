/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Temporal layers of vp8enc for elmlayersink: their properties are arrays, which gst-launch-1.0
 * cannot set. Three layers of 7.5, 15 and 30 frames a second of a test picture, to a group each.
 *
 *   cc layers.c -o layers $(pkg-config --cflags --libs gstreamer-1.0)
 *   ./layers 239.255.12.60 5020 [seconds]
 *
 * Receive with: gst-play-1.0 elm://239.255.12.60:5020
 */
#include <signal.h>
#include <stdlib.h>

#include <glib-unix.h>
#include <gst/gst.h>

static int status;
static GstElement *pipeline;

/* A GValueArray of int. */
static void
set_integers (GstElement *encoder, const gchar *property, const gint *values, guint n)
{
  GValueArray *array;

  G_GNUC_BEGIN_IGNORE_DEPRECATIONS
  array = g_value_array_new (n);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_INT);
    g_value_set_int (&value, values[i]);
    g_value_array_append (array, &value);
    g_value_unset (&value);
  }
  g_object_set (encoder, property, array, NULL);
  g_value_array_free (array);
  G_GNUC_END_IGNORE_DEPRECATIONS
}

/* A GST_TYPE_ARRAY of what the property holds; @text has blanks between its values. */
static void
set_array (GstElement *encoder, const gchar *property, const gchar *text)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), property);
  GType type = GST_PARAM_SPEC_ARRAY_LIST (pspec)->element_spec->value_type;
  gchar **parts = g_strsplit (text, " ", -1);
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; parts[i]; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, type);
    if (!gst_value_deserialize (&value, parts[i]))
      g_error ("%s: %s is no value", property, parts[i]);
    gst_value_array_append_and_take_value (&array, &value);
  }
  g_object_set_property (G_OBJECT (encoder), property, &array);
  g_value_unset (&array);
  g_strfreev (parts);
}

/* Pictures are of layers 0 2 1 2, 0 2 1 2, ... Layer 0 knows itself only; layer 1 keeps its picture
 * in the golden frame; layer 2 keeps none. A sync flag is a promise: such a picture refers to layer
 * 0 alone. */
static void
set_layers (GstElement *encoder)
{
  static const gint ids[] = { 0, 2, 1, 2 }, every[] = { 4, 2, 1 },
                    cumulative_bps[] = { 400000, 600000, 800000 };

  g_object_set (encoder, "temporal-scalability-number-layers", 3,
      "temporal-scalability-periodicity", 4, NULL);
  set_integers (encoder, "temporal-scalability-layer-id", ids, 4);
  set_integers (encoder, "temporal-scalability-rate-decimator", every, 3);
  set_integers (encoder, "temporal-scalability-target-bitrate", cumulative_bps, 3);
  set_array (encoder, "temporal-scalability-layer-flags",
      "no-ref-golden+no-upd-golden+no-ref-alt+no-upd-alt "
      "no-ref-golden+no-upd-golden+no-upd-alt+no-upd-last+no-upd-entropy "
      "no-ref-golden+no-ref-alt+no-upd-alt+no-upd-last+no-upd-entropy "
      "no-ref-alt+no-upd-golden+no-upd-alt+no-upd-last+no-upd-entropy");
  set_array (encoder, "temporal-scalability-layer-sync-flags", "false true true false");
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer loop)
{
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    gst_message_parse_warning (message, &error, NULL);
    g_printerr ("warning: %s\n", error->message);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("error: %s\n", error->message);
    status = 1;
    g_main_loop_quit (loop);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
    g_main_loop_quit (loop);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_LATENCY) { /* told late */
    gst_bin_recalculate_latency (GST_BIN (pipeline));
  }
  g_clear_error (&error);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_time (gpointer data)
{
  gst_element_send_event (pipeline, gst_event_new_eos ());
  return G_SOURCE_REMOVE;
}

/* What ends a program in use: Ctrl-C, systemd and kill, a terminal that goes (but not with nohup).
 * Receivers are told, and the camera is free. */
static void
watch_signals (void)
{
  g_unix_signal_add (SIGINT, on_time, NULL);
  g_unix_signal_add (SIGTERM, on_time, NULL);
  if (signal (SIGHUP, SIG_IGN) != SIG_IGN)
    g_unix_signal_add (SIGHUP, on_time, NULL);
}

int
main (int argc, char **argv)
{
  GstElement *encoder, *sink;
  GError *error = NULL;
  GMainLoop *loop;
  GstBus *bus;

  gst_init (&argc, &argv);
  if (argc < 3) {
    g_printerr ("usage: %s ADDRESS PORT [SECONDS]\n", argv[0]);
    return 2;
  }
  pipeline = gst_parse_launch (
      "videotestsrc is-live=true horizontal-speed=4 ! "
      "video/x-raw,format=I420,width=640,height=360,framerate=30/1 ! "
      "vp8enc name=encoder deadline=1 cpu-used=8 end-usage=cbr target-bitrate=800000 "
      "keyframe-max-dist=300 ! rtpvp8pay picture-id-mode=15-bit ! elmlayersink name=sink",
      &error);
  if (error) {
    g_printerr ("error: %s\n", error->message);
    return 1;
  }
  encoder = gst_bin_get_by_name (GST_BIN (pipeline), "encoder");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  set_layers (encoder);
  g_object_set (sink, "address", argv[1], "port", atoi (argv[2]), NULL);
  gst_object_unref (encoder);
  gst_object_unref (sink);
  loop = g_main_loop_new (NULL, FALSE);
  bus = gst_element_get_bus (pipeline);
  gst_bus_add_watch (bus, on_message, loop);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  watch_signals ();
  if (argc > 3)
    g_timeout_add_seconds ((guint)atoi (argv[3]), on_time, NULL);
  g_main_loop_run (loop);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_main_loop_unref (loop);
  return status;
}

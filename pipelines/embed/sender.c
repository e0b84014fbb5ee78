/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Embedding asmpsink in an application: a test picture to a group, the target rate on the terminal.
 *
 *   cc sender.c -o sender $(pkg-config --cflags --libs gstreamer-1.0)
 *   ./sender 239.255.12.42 5004 [seconds]
 */
#include <signal.h>
#include <stdlib.h>

#include <glib-unix.h>
#include <gst/gst.h>

static int status;
static GstElement *pipeline;

static void
on_target (GObject *sink, GParamSpec *pspec, gpointer user_data)
{
  guint64 bitrate = 0;

  g_object_get (sink, "target-bitrate", &bitrate, NULL);
  g_print ("the network allows %" G_GUINT64_FORMAT " kb/s\n", bitrate / 1000);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer loop)
{
  const GstStructure *structure = gst_message_get_structure (message);
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      if (gst_structure_has_name (structure, "adaptive-multicast-receiver"))
        g_print ("receiver %s\n", gst_structure_get_string (structure, "state"));
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, NULL);
      g_printerr ("warning: %s\n", error->message);
      g_clear_error (&error);
      break;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      g_printerr ("error: %s\n", error->message);
      g_clear_error (&error);
      status = 1;
      g_main_loop_quit (loop);
      break;
    case GST_MESSAGE_EOS:
      g_main_loop_quit (loop);
      break;
    case GST_MESSAGE_LATENCY: /* encoders tell theirs late */
      gst_bin_recalculate_latency (GST_BIN (pipeline));
      break;
    default:
      break;
  }
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
  GError *error = NULL;
  GMainLoop *loop = g_main_loop_new (NULL, FALSE);
  GstElement *sink;
  GstBus *bus;

  gst_init (&argc, &argv);
  if (argc < 3) {
    g_printerr ("usage: %s ADDRESS PORT [SECONDS]\n", argv[0]);
    return 2;
  }
  pipeline = gst_parse_launch ("videotestsrc is-live=true ! video/x-raw,format=I420 "
                               "! x264enc tune=zerolatency ! rtph264pay ! asmpsink name=sink",
      &error);
  if (error) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (sink, "address", argv[1], "port", atoi (argv[2]), NULL);
  g_signal_connect (sink, "notify::target-bitrate", G_CALLBACK (on_target), NULL);
  bus = gst_element_get_bus (pipeline);
  gst_bus_add_watch (bus, on_message, loop);
  watch_signals ();
  if (argc > 3)
    g_timeout_add_seconds ((guint)atoi (argv[3]), on_time, NULL);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_main_loop_run (loop);
  gst_element_set_state (pipeline, GST_STATE_NULL);

  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_main_loop_unref (loop);
  return status;
}

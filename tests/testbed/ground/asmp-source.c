/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ideal source in front of a real asmpsink: full packets, evenly spaced at its target, as the
 * laboratory's `cbr` source. An encoder at 10 Mb/s would cost more than a core.
 *
 *   ground-asmp PACKET_BYTES asmpsink name=mcc PROPERTY=VALUE...
 *
 * PACKET_BYTES is the IP packet's size. Says "ready", waits in NULL for a line, since READY joins,
 * plays until standard input ends, then sends BYE. A JSON line at each change of target or of who
 * limits: {time, target, limiting} (CLOCK_MONOTONIC, s).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/rtp/gstrtpbuffer.h>

#define SEND_TIME_ID 1
#define HEADERS (20 + 8 + 12 + 8) /* IP, UDP, RTP, extension with the send time */
#define CLOCK_RATE 90000
#define SHORTEST_SLEEP_US 2000
#define CAPS                                                                                       \
  "application/x-rtp,media=application,clock-rate=90000,encoding-name=X-GROUND,payload=96,"        \
  "ssrc=(uint)12345678,extmap-1=http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"

typedef struct {
  GstElement *pipeline;
  GstElement *source;
  GstElement *sink;
  guint packet_bytes;
  gint quit;
  guint64 target;
  gchar *limiting;
} Ground;

static GstBuffer *
make_packet (const Ground *self, guint16 seq, GstClockTime time)
{
  static const guint8 stamp[3] = { 0, 0, 0 };
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (self->packet_bytes - HEADERS, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 96);
  gst_rtp_buffer_set_seq (&rtp, seq);
  gst_rtp_buffer_set_timestamp (
      &rtp, (guint32)gst_util_uint64_scale (time, CLOCK_RATE, GST_SECOND));
  gst_rtp_buffer_set_ssrc (&rtp, 12345678);
  gst_rtp_buffer_set_marker (&rtp, TRUE);
  gst_rtp_buffer_add_extension_onebyte_header (&rtp, SEND_TIME_ID, stamp, sizeof stamp);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = time;
  return buffer;
}

static void
tell (Ground *self, guint64 target)
{
  GstStructure *stats = NULL;
  const gchar *limiting = NULL;

  g_object_get (self->sink, "stats", &stats, NULL);
  if (stats)
    limiting = gst_structure_get_string (stats, "limiting-address");
  if (target != self->target || g_strcmp0 (limiting, self->limiting) != 0) {
    self->target = target;
    g_free (self->limiting);
    self->limiting = g_strdup (limiting);
    printf ("{\"time\": %.4f, \"target\": %" G_GUINT64_FORMAT ", \"limiting\": \"%s\"}\n",
        (double)g_get_monotonic_time () * 1e-6, target, limiting ? limiting : "");
    fflush (stdout);
  }
  if (stats)
    gst_structure_free (stats);
}

static gpointer
produce (gpointer data)
{
  Ground *self = data;
  gint64 start = g_get_monotonic_time (), next = start, told = 0;
  guint16 seq = 0;
  guint64 target;

  while (!g_atomic_int_get (&self->quit)) {
    gint64 now = g_get_monotonic_time ();

    g_object_get (self->sink, "target-bitrate", &target, NULL);
    if (now - told >= 50000) {
      tell (self, target);
      told = now;
    }
    if (next < now - 100000)
      next = now - 100000; /* held up: no burst of more than that afterwards */
    while (next <= now && target > 0) {
      GstClockTime time = (GstClockTime)(next - start) * GST_USECOND;
      if (gst_app_src_push_buffer (GST_APP_SRC (self->source), make_packet (self, seq++, time))
          != GST_FLOW_OK)
        return NULL;
      next += (gint64)(8e6 * self->packet_bytes / (double)target);
    }
    g_usleep ((gulong)CLAMP (next - g_get_monotonic_time (), SHORTEST_SLEEP_US, 50000));
  }
  return NULL;
}

static gboolean
open_pipeline (Ground *self, int argc, char **argv)
{
  GString *text = g_string_new ("appsrc name=source format=time is-live=true !");
  GError *error = NULL;
  GstCaps *caps = gst_caps_from_string (CAPS);

  for (int i = 2; i < argc; i++)
    g_string_append_printf (text, " %s", argv[i]);
  self->pipeline = gst_parse_launch (text->str, &error);
  g_string_free (text, TRUE);
  if (error) {
    fprintf (stderr, "ground-asmp: %s\n", error->message);
    return FALSE;
  }
  self->source = gst_bin_get_by_name (GST_BIN (self->pipeline), "source");
  self->sink = gst_bin_get_by_name (GST_BIN (self->pipeline), "mcc");
  gst_app_src_set_caps (GST_APP_SRC (self->source), caps);
  gst_caps_unref (caps);
  return self->sink != NULL;
}

int
main (int argc, char **argv)
{
  Ground self = { 0 };
  GThread *producer;
  char line[64];

  gst_init (&argc, &argv);
  if (argc < 3) {
    fprintf (stderr, "usage: ground-asmp PACKET_BYTES asmpsink name=mcc ...\n");
    return 2;
  }
  self.packet_bytes = (guint)g_ascii_strtoull (argv[1], NULL, 10);
  if (self.packet_bytes <= HEADERS + 1 || self.packet_bytes > 1500
      || !open_pipeline (&self, argc, argv))
    return 2;
  puts ("ready");
  fflush (stdout);
  if (!fgets (line, sizeof line, stdin))
    return 0;
  if (gst_element_set_state (self.pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    fprintf (stderr, "ground-asmp: the pipeline does not start\n");
    return 1;
  }
  producer = g_thread_new ("produce", produce, &self);
  while (fgets (line, sizeof line, stdin))
    ;
  g_atomic_int_set (&self.quit, 1);
  g_thread_join (producer);
  gst_element_set_state (self.pipeline, GST_STATE_NULL);
  return 0;
}

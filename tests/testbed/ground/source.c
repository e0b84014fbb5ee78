/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ideal sources in front of a real asmpsink, asspsimulcastbin or elmlayersink: full packets, evenly
 * spaced at the target of each stream, or at the rate of each layer, as the laboratory's. An
 * encoder at 10 Mb/s would cost more than a core.
 *
 *   ground-source PACKET_BYTES [--streams N | --layers BPS,BPS,...] ELEMENT name=mcc
 * PROPERTY=VALUE...
 *
 * PACKET_BYTES is the IP packet's size, the layers' rates are cumulative. Of the pictures of
 * streams and layers there is only where they begin, 25 a second: a key unit that is asked for
 * begins with the next one (RFC 6184: an SPS and an IDR slice, of zeros). Says "ready", waits in
 * NULL for a line, since READY joins, plays until standard input ends, then sends BYE. JSON lines:
 * {time, target, limiting} at each change (CLOCK_MONOTONIC, s), with `targets` of streams.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/rtp/gstrtpbuffer.h>

#define SEND_TIME_ID 1
#define ORDER_ROOM 12             /* of the layers' header extension, docs/wire-format.md */
#define HEADERS (20 + 8 + 12 + 8) /* IP, UDP, RTP, extension with the send time */
#define CLOCK_RATE 90000
#define SHORTEST_SLEEP_US 2000
#define HELD_UP_US 100000 /* no burst of more than that afterwards */
#define TELL_US 50000
#define FRAME_US 40000
#define SOURCES_MAX 8
#define CAPS                                                                                       \
  "application/x-rtp,clock-rate=90000,payload=96,"                                                 \
  "extmap-1=http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
/* RFC 6184 5.2, 5.7.1: a NAL unit of these types begins so. */
#define NAL_SLICE 0x41
#define NAL_SLICE_UNUSED 0x01 /* nothing refers to it */
#define NAL_IDR 0x65
#define NAL_SPS 0x67
#define STAP_A 0x78
#define SPS_BYTES 8

typedef struct {
  GstElement *source;
  guint16 seq;
  gint64 next;  /* packet, us */
  gint64 phase; /* of its pictures, us */
  gint64 picture;
  guint64 rate;        /* of a layer alone; 0: the target's */
  gboolean key, first; /* the picture is a key unit; its first packet */
  gint wanted;         /* a key unit, atomic */
} Source;

typedef struct {
  GstElement *pipeline, *sink;
  guint packet_bytes, n;
  gboolean pictures, layered;
  Source sources[SOURCES_MAX];
  gint quit;
  guint64 targets[SOURCES_MAX];
  gchar *limiting;
} Ground;

static void
fill_payload (Source *source, guint8 *data, gsize size, gboolean layer)
{
  gsize sps = 1 + 2 + SPS_BYTES;

  memset (data, 0, size);
  data[0] = source->key ? NAL_IDR : layer ? NAL_SLICE_UNUSED : NAL_SLICE;
  if (!source->key || !source->first || size < sps + 4)
    return;
  data[0] = STAP_A;
  GST_WRITE_UINT16_BE (data + 1, SPS_BYTES);
  data[3] = NAL_SPS;
  GST_WRITE_UINT16_BE (data + sps, size - sps - 2);
  data[sps + 2] = NAL_IDR;
}

static GstBuffer *
make_packet (const Ground *self, Source *source, gint64 at, gboolean last)
{
  static const guint8 stamp[3] = { 0, 0, 0 };
  gsize payload = self->packet_bytes - HEADERS - (self->layered ? ORDER_ROOM : 0);
  GstBuffer *buffer = gst_rtp_buffer_new_allocate ((guint)payload, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gint64 picture = self->pictures ? source->phase + source->picture * FRAME_US : at;
  GstClockTime time = (GstClockTime)picture * GST_USECOND;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 96);
  gst_rtp_buffer_set_seq (&rtp, source->seq++);
  gst_rtp_buffer_set_timestamp (
      &rtp, (guint32)gst_util_uint64_scale (time, CLOCK_RATE, GST_SECOND));
  gst_rtp_buffer_set_ssrc (&rtp, 12345678 + (guint32)(source - self->sources));
  gst_rtp_buffer_set_marker (&rtp, last || !self->pictures);
  fill_payload (
      source, gst_rtp_buffer_get_payload (&rtp), payload, self->layered && source != self->sources);
  gst_rtp_buffer_add_extension_onebyte_header (&rtp, SEND_TIME_ID, stamp, sizeof stamp);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = (GstClockTime)at * GST_USECOND;
  return buffer;
}

static void
print_string (const gchar *text)
{
  gchar *escaped = g_strescape (text, NULL);

  printf ("\"%s\"", escaped);
  g_free (escaped);
}

static double
monotonic (void)
{
  return (double)g_get_monotonic_time () * 1e-6;
}

/* Reads the targets; tells them where they, or who limits, have changed. */
static void
tell (Ground *self)
{
  GstStructure *stats = NULL;
  const gchar *limiting = NULL;
  const GValue *streams = NULL;
  guint64 targets[SOURCES_MAX] = { 0 }, all = 0;

  g_object_get (self->sink, "stats", &stats, "target-bitrate", &all, NULL);
  targets[0] = all;
  if (stats) {
    limiting = gst_structure_get_string (stats, "limiting-address");
    streams = gst_structure_get_value (stats, "streams");
  }
  for (guint i = 0; streams && i < MIN (gst_value_array_get_size (streams), self->n); i++)
    gst_structure_get_uint64 (gst_value_get_structure (gst_value_array_get_value (streams, i)),
        "target-bitrate", &targets[i]);
  if (memcmp (targets, self->targets, sizeof targets) != 0
      || g_strcmp0 (limiting, self->limiting) != 0) {
    memcpy (self->targets, targets, sizeof targets);
    g_free (self->limiting);
    self->limiting = g_strdup (limiting);
    printf (
        "{\"time\": %.4f, \"target\": %" G_GUINT64_FORMAT ", \"limiting\": ", monotonic (), all);
    print_string (limiting ? limiting : "");
    for (guint i = 0; streams && i < self->n; i++)
      printf ("%s%" G_GUINT64_FORMAT "%s", i == 0 ? ", \"targets\": [" : ", ", targets[i],
          i + 1 == self->n ? "]" : "");
    puts ("}");
    fflush (stdout);
  }
  if (stats)
    gst_structure_free (stats);
}

static void
begin_picture (Source *source, gint64 picture)
{
  source->picture = picture;
  source->key = g_atomic_int_compare_and_exchange (&source->wanted, TRUE, FALSE);
  source->first = TRUE;
}

/* What stops a pipeline is on its bus. */
static void
tell_why (const Ground *self)
{
  GstBus *bus = gst_element_get_bus (self->pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *debug = NULL;

  if (message)
    gst_message_parse_error (message, &error, &debug);
  fprintf (stderr, "ground-source: the sink takes no more: %s (%s)\n",
      error ? error->message : "it does not say why", debug ? debug : "");
  g_clear_error (&error);
  g_free (debug);
  g_clear_pointer (&message, gst_message_unref);
  gst_object_unref (bus);
}

/* FALSE: it takes no more. */
static gboolean
produce_due (Ground *self, Source *source, guint64 rate, gint64 now)
{
  source->next = MAX (source->next, now - HELD_UP_US);
  while (source->next <= now && rate > 0) {
    gint64 at = source->next;
    gint64 after = at + (gint64)(8e6 * self->packet_bytes / (double)rate);
    gint64 picture = (at - source->phase) / FRAME_US;
    gboolean last = (after - source->phase) / FRAME_US != picture;

    if (picture != source->picture)
      begin_picture (source, picture);
    if (gst_app_src_push_buffer (GST_APP_SRC (source->source), make_packet (self, source, at, last))
        != GST_FLOW_OK)
      return FALSE;
    source->first = FALSE;
    source->next = after;
  }
  return TRUE;
}

static gpointer
produce (gpointer data)
{
  Ground *self = data;
  gint64 start = g_get_monotonic_time (), told = -TELL_US;

  for (guint i = 0; i < self->n; i++) {
    /* apart: in a layered stream no two pictures have the same time */
    self->sources[i].next = self->sources[i].phase = (gint64)i * FRAME_US / self->n;
    self->sources[i].picture = -1;
    self->sources[i].wanted = i == 0 || !self->layered;
  }
  while (!g_atomic_int_get (&self->quit)) {
    gint64 now = g_get_monotonic_time () - start, next = now + 50000;

    if (now - told >= TELL_US) {
      tell (self);
      told = now;
    }
    for (guint i = 0; i < self->n; i++) {
      Source *source = &self->sources[i];

      if (!produce_due (self, source, source->rate ? source->rate : self->targets[i], now)) {
        tell_why (self);
        exit (1);
      }
      next = MIN (next, source->next);
    }
    now = g_get_monotonic_time () - start; /* CLAMP would look three times, and sleep by the last */
    g_usleep ((gulong)CLAMP (next - now, SHORTEST_SLEEP_US, 50000));
  }
  return NULL;
}

static GstPadProbeReturn
on_upstream (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (gst_event_has_name (GST_PAD_PROBE_INFO_EVENT (info), "GstForceKeyUnit"))
    g_atomic_int_set (&((Source *)data)->wanted, TRUE);
  return GST_PAD_PROBE_OK;
}

static gboolean
add_source (Ground *self, guint i, const gchar *pad_name)
{
  Source *source = &self->sources[i];
  GstPad *pad;
  gchar *name = g_strdup_printf (pad_name, i);
  GstCaps *caps = gst_caps_from_string (CAPS);
  gboolean ok;

  gst_caps_set_simple (caps, "ssrc", G_TYPE_UINT, 12345678 + i, "media", G_TYPE_STRING,
      self->pictures ? "video" : "application", "encoding-name", G_TYPE_STRING,
      self->pictures ? "H264" : "X-GROUND", NULL);
  source->source = gst_element_factory_make ("appsrc", NULL);
  g_object_set (source->source, "format", GST_FORMAT_TIME, "is-live", TRUE, "caps", caps, NULL);
  gst_caps_unref (caps);
  gst_bin_add (GST_BIN (self->pipeline), source->source);
  ok = gst_element_link_pads (source->source, "src", self->sink, name);
  g_free (name);
  pad = gst_element_get_static_pad (source->source, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_upstream, source, NULL);
  gst_object_unref (pad);
  return ok;
}

static gboolean
open_pipeline (Ground *self, int argc, char **argv, const gchar *pad_name)
{
  GString *text = g_string_new (NULL);
  GError *error = NULL;

  for (int i = 0; i < argc; i++)
    g_string_append_printf (text, " %s", argv[i]);
  self->pipeline = gst_pipeline_new (NULL);
  self->sink = gst_parse_launch (text->str, &error);
  g_string_free (text, TRUE);
  if (error) {
    fprintf (stderr, "ground-source: %s\n", error->message);
    return FALSE;
  }
  gst_bin_add (GST_BIN (self->pipeline), self->sink);
  for (guint i = 0; i < self->n; i++)
    if (!add_source (self, i, pad_name)) {
      fprintf (stderr, "ground-source: no pad for source %u\n", i);
      return FALSE;
    }
  return TRUE;
}

/* The arguments up to the element; how many, or 0: wrong ones. */
static int
read_options (Ground *self, int argc, char **argv, const gchar **pad_name)
{
  guint64 below = 0;

  self->packet_bytes = argc > 2 ? (guint)g_ascii_strtoull (argv[1], NULL, 10) : 0;
  if (self->packet_bytes <= HEADERS + ORDER_ROOM + 32 || self->packet_bytes > 1500)
    return 0;
  self->n = 1;
  *pad_name = "sink";
  if (argc > 4 && strcmp (argv[2], "--streams") == 0) {
    self->n = (guint)g_ascii_strtoull (argv[3], NULL, 10);
    *pad_name = "sink_%u";
  } else if (argc > 4 && strcmp (argv[2], "--layers") == 0) {
    gchar **rates = g_strsplit (argv[3], ",", -1);

    self->layered = TRUE;
    *pad_name = "layer_%u";
    self->n = MIN (g_strv_length (rates), SOURCES_MAX);
    for (guint i = 0; i < self->n; i++) {
      guint64 rate = g_ascii_strtoull (rates[i], NULL, 10);

      self->sources[i].rate = rate > below ? rate - below : 0;
      below = rate;
      if (self->sources[i].rate == 0)
        self->n = 0;
    }
    g_strfreev (rates);
  } else {
    return 2;
  }
  self->pictures = TRUE;
  return self->n > 0 && self->n <= SOURCES_MAX ? 4 : 0;
}

int
main (int argc, char **argv)
{
  Ground self = { 0 };
  const gchar *pad_name;
  GThread *producer;
  char line[64];
  int used;

  gst_init (&argc, &argv);
  used = read_options (&self, argc, argv, &pad_name);
  if (used == 0) {
    fprintf (stderr, "usage: ground-source PACKET_BYTES [--streams N | --layers BPS,...] ELEMENT "
                     "name=mcc ...\n");
    return 2;
  }
  if (!open_pipeline (&self, argc - used, argv + used, pad_name))
    return 2;
  puts ("ready");
  fflush (stdout);
  if (!fgets (line, sizeof line, stdin))
    return 0;
  if (gst_element_set_state (self.pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    fprintf (stderr, "ground-source: the pipeline does not start\n");
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

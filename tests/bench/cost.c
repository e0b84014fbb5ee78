/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One side of the cost benchmark (tests/bench/cost): pushes or receives RTP at a steady rate, so
 * that two designs do the same work.
 *
 *   cost PORT send MODE SECONDS     MODE: generator, rtpbin, asmpsink, unpaced (asmpsink, each
 *                                   frame at once)
 *   cost PORT bare BURST SECONDS    a plain thread and sendmmsg(2): BURST packets each 5 ms until
 *                                   the frame is sent
 *   cost PORT receive MODE SECONDS  MODE: udpsrc, rtpbin, asmpsrc
 *   cost PORT blast SECONDS         plain UDP sender for `receive`
 *
 * 4 Mb/s in frames of 30 a second, 1200-byte RTP packets with a reserved abs-send-time extension,
 * each frame one GstBufferList, to loopback. What is measured begins after a second, when all runs:
 * prints the packets, user and system CPU seconds of SECONDS; callgrind (--instr-atstart=no) counts
 * for that long.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gio/gio.h>
#include <gst/gst.h>
#include <gst/rtp/gstrtpbuffer.h>

#ifdef HAVE_CALLGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#define PACKET_BYTES 1200
#define FRAMES_PER_SECOND 30
#define PACKETS_PER_FRAME 14 /* 4.03 Mb/s */
#define WARM_UP 1            /* s */
#define GIVE_UP 5            /* s without a packet */
#define SEND_TIME_ID 14      /* as cost-peer knows it */
#define CAPS                                                                                       \
  "application/x-rtp,media=video,clock-rate=90000,encoding-name=H264,payload=96,"                  \
  "ssrc=(uint)12345678,extmap-14=http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"

static guint16 port;

static GstBuffer *
make_packet (guint16 seq, guint32 timestamp, gboolean marker)
{
  static const guint8 stamp[3] = { 0, 0, 0 };
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (PACKET_BYTES - 20, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 96);
  gst_rtp_buffer_set_seq (&rtp, seq);
  gst_rtp_buffer_set_timestamp (&rtp, timestamp);
  gst_rtp_buffer_set_ssrc (&rtp, 12345678);
  gst_rtp_buffer_set_marker (&rtp, marker);
  gst_rtp_buffer_add_extension_onebyte_header (&rtp, SEND_TIME_ID, stamp, sizeof stamp);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static void
begin (struct rusage *before)
{
  getrusage (RUSAGE_SELF, before);
  CALLGRIND_START_INSTRUMENTATION;
}

static void
report (guint64 packets, const struct rusage *before)
{
  struct rusage after;

  CALLGRIND_STOP_INSTRUMENTATION;
  getrusage (RUSAGE_SELF, &after);
  g_print ("packets %" G_GUINT64_FORMAT " user %.4f sys %.4f\n", packets,
      (double)(after.ru_utime.tv_sec - before->ru_utime.tv_sec)
          + 1e-6 * (double)(after.ru_utime.tv_usec - before->ru_utime.tv_usec),
      (double)(after.ru_stime.tv_sec - before->ru_stime.tv_sec)
          + 1e-6 * (double)(after.ru_stime.tv_usec - before->ru_stime.tv_usec));
}

#define ASMPSINK                                                                                   \
  "asmpsink name=in address=127.0.0.1 port=%u encoder-control=none min-bitrate=4000000 "           \
  "start-bitrate=6000000 max-bitrate=8000000 no-feedback=hold"

/* NULL: no such mode. */
static gchar *
sender_description (const gchar *mode)
{
  if (g_str_equal (mode, "generator"))
    return g_strdup ("fakesink name=in sync=false async=false");
  if (g_str_equal (mode, "rtpbin"))
    return g_strdup_printf (
        "rtpbin name=in rtp-profile=avpf "
        "in.send_rtp_src_0 ! udpsink host=127.0.0.1 port=%u sync=false async=false",
        port);
  if (g_str_equal (mode, "asmpsink"))
    return g_strdup_printf (ASMPSINK, port);
  if (g_str_equal (mode, "unpaced"))
    return g_strdup_printf (ASMPSINK " pacing-factor=100", port);
  return NULL;
}

static GstPad *
open_sender (const gchar *mode, GstElement **pipeline)
{
  GError *error = NULL;
  gchar *description = sender_description (mode);
  GstElement *bin = description ? gst_parse_launch (description, &error) : NULL;
  GstElement *in;
  GstPad *src = gst_pad_new ("src", GST_PAD_SRC);
  GstPad *sink;
  GstSegment segment;
  GstCaps *caps = gst_caps_from_string (CAPS);

  if (!bin)
    g_error ("%s", error ? error->message : "no such mode");
  g_free (description);
  *pipeline = bin;
  if (!GST_IS_PIPELINE (bin)) {
    *pipeline = gst_pipeline_new (NULL);
    gst_bin_add (GST_BIN (*pipeline), bin);
  }
  in = gst_bin_get_by_name (GST_BIN (*pipeline), "in");
  sink = g_str_equal (mode, "rtpbin") ? gst_element_get_static_pad (in, "send_rtp_sink_0") : NULL;
  if (!sink && g_str_equal (mode, "rtpbin"))
    sink = gst_element_request_pad_simple (in, "send_rtp_sink_0");
  if (!sink)
    sink = gst_element_get_static_pad (in, "sink");
  gst_element_set_state (*pipeline, GST_STATE_PLAYING);
  gst_pad_set_active (src, TRUE);
  gst_pad_push_event (src, gst_event_new_stream_start ("cost"));
  if (gst_pad_link (src, sink) != GST_PAD_LINK_OK)
    g_error ("cannot link the generator to %s", mode);
  gst_pad_push_event (src, gst_event_new_stream_start ("cost"));
  gst_pad_push_event (src, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (src, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  gst_object_unref (sink);
  gst_object_unref (in);
  return src;
}

static int
run_send (const gchar *mode, guint seconds)
{
  GstElement *pipeline;
  GstPad *src;
  struct rusage before;
  gint64 start;
  guint64 packets = 0;
  guint frames = (WARM_UP + seconds) * FRAMES_PER_SECOND;

  src = open_sender (mode, &pipeline);
  start = g_get_monotonic_time ();
  for (guint frame = 0; frame < frames; frame++) {
    GstBufferList *list = gst_buffer_list_new_sized (PACKETS_PER_FRAME);
    gint64 wait = start + frame * G_USEC_PER_SEC / FRAMES_PER_SECOND - g_get_monotonic_time ();

    if (wait > 0)
      g_usleep ((gulong)wait);
    if (frame == WARM_UP * FRAMES_PER_SECOND)
      begin (&before);
    for (guint i = 0; i < PACKETS_PER_FRAME; i++, packets++)
      gst_buffer_list_add (
          list, make_packet ((guint16)packets, frame * 3000, i == PACKETS_PER_FRAME - 1));
    if (gst_pad_push_list (src, list) != GST_FLOW_OK)
      g_error ("%s does not take packets", mode);
  }
  g_usleep (200000);
  report (packets - WARM_UP * FRAMES_PER_SECOND * PACKETS_PER_FRAME, &before);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_pad_set_active (src, FALSE);
  gst_object_unref (src);
  gst_object_unref (pipeline);
  return 0;
}

/* What waking up and sending costs on this machine without GStreamer. */
static int
run_bare (guint burst, guint seconds)
{
  static guint8 data[PACKET_BYTES];
  struct sockaddr_in to = {
    .sin_family = AF_INET, .sin_port = g_htons (port), .sin_addr = { g_htonl (INADDR_LOOPBACK) }
  };
  struct iovec vector = { data, sizeof data };
  struct mmsghdr messages[PACKETS_PER_FRAME];
  struct rusage before;
  gint64 start = g_get_monotonic_time ();
  int fd = socket (AF_INET, SOCK_DGRAM, 0);
  guint64 packets = 0;

  if (fd < 0 || burst == 0)
    return 2;
  for (guint i = 0; i < PACKETS_PER_FRAME; i++)
    messages[i] = (struct mmsghdr){
      .msg_hdr = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &vector, .msg_iovlen = 1 }
    };
  getrusage (RUSAGE_SELF, &before);
  for (guint frame = 0; frame < seconds * FRAMES_PER_SECOND; frame++) {
    gint64 due = start + frame * G_USEC_PER_SEC / FRAMES_PER_SECOND;

    for (guint sent = 0; sent < PACKETS_PER_FRAME; due += 5000) {
      gint64 wait = due - g_get_monotonic_time ();
      int n = (int)MIN (burst, PACKETS_PER_FRAME - sent);

      if (wait > 0)
        g_usleep ((gulong)wait);
      sendmmsg (fd, messages, (guint)n, 0);
      sent += (guint)n;
    }
    packets += PACKETS_PER_FRAME;
  }
  report (packets, &before);
  close (fd);
  return 0;
}

static void
on_handoff (GstElement *sink, GstBuffer *buffer, GstPad *pad, guint64 *packets)
{
  (*packets)++;
}

static void
on_pad_added (GstElement *rtpbin, GstPad *pad, GstElement *sink)
{
  GstPad *target = gst_element_get_static_pad (sink, "sink");

  if (g_str_has_prefix (GST_PAD_NAME (pad), "recv_rtp_src") && !gst_pad_is_linked (target))
    gst_pad_link (pad, target);
  gst_object_unref (target);
}

/* Until the receiver has handed out @wanted packets, or no more come (some were lost). */
static void
wait_packets (volatile const guint64 *packets, guint64 wanted)
{
  gint64 last = g_get_monotonic_time ();
  guint64 seen = *packets;

  while (seen < wanted && g_get_monotonic_time () < last + GIVE_UP * G_USEC_PER_SEC) {
    g_usleep (10000);
    if (*packets != seen)
      last = g_get_monotonic_time ();
    seen = *packets;
  }
}

static int
run_receive (const gchar *mode, guint seconds)
{
  const guint rate = FRAMES_PER_SECOND * PACKETS_PER_FRAME;
  GstElement *pipeline, *sink, *rtpbin;
  GError *error = NULL;
  struct rusage before;
  guint64 packets = 0, first;
  gchar *description;

  if (g_str_equal (mode, "udpsrc"))
    description
        = g_strdup_printf ("udpsrc port=%u caps=\"" CAPS "\" ! fakesink name=out sync=false", port);
  else if (g_str_equal (mode, "rtpbin"))
    description = g_strdup_printf (
        "rtpbin name=bin latency=1000 rtp-profile=avpf udpsrc port=%u caps=\"" CAPS
        "\" ! bin.recv_rtp_sink_0 fakesink name=out sync=false async=false",
        port);
  else if (g_str_equal (mode, "asmpsrc"))
    description = g_strdup_printf ("asmpsrc address=127.0.0.1 port=%u latency=1000 caps=\"" CAPS
                                   "\" ! fakesink name=out sync=false",
        port);
  else
    return 2;
  pipeline = gst_parse_launch (description, &error);
  if (error)
    g_error ("%s", error->message);
  g_free (description);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_object_set (sink, "signal-handoffs", TRUE, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (on_handoff), &packets);
  rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "bin");
  if (rtpbin) {
    g_signal_connect (rtpbin, "pad-added", G_CALLBACK (on_pad_added), sink);
    gst_object_unref (rtpbin);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_print ("ready\n");
  wait_packets (&packets, WARM_UP * rate);
  begin (&before);
  first = packets;
  wait_packets (&packets, first + seconds * rate);
  report (packets - first, &before);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return 0;
}

static int
run_blast (guint seconds)
{
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, 0, NULL);
  GSocketAddress *to = g_inet_socket_address_new_from_string ("127.0.0.1", port);
  gint64 start = g_get_monotonic_time ();
  guint16 seq = 0;

  for (guint frame = 0; frame < (WARM_UP + seconds) * FRAMES_PER_SECOND; frame++) {
    for (guint i = 0; i < PACKETS_PER_FRAME; i++) {
      /* Evenly over the frame's time, as a pacer does. */
      gint64 due = start
                   + (gint64)(frame * PACKETS_PER_FRAME + i) * G_USEC_PER_SEC
                         / (FRAMES_PER_SECOND * PACKETS_PER_FRAME);
      gint64 wait = due - g_get_monotonic_time ();
      GstBuffer *packet = make_packet (seq++, frame * 3000, i == PACKETS_PER_FRAME - 1);
      GstMapInfo map;
      guint32 stamp = (guint32)((due % (64 * G_USEC_PER_SEC)) * 262144 / G_USEC_PER_SEC);

      if (wait > 0)
        g_usleep ((gulong)wait);
      gst_buffer_map (packet, &map, GST_MAP_READWRITE);
      map.data[17] = (guint8)(stamp >> 16);
      map.data[18] = (guint8)(stamp >> 8);
      map.data[19] = (guint8)stamp;
      g_socket_send_to (socket, to, (const gchar *)map.data, map.size, NULL, NULL);
      gst_buffer_unmap (packet, &map);
      gst_buffer_unref (packet);
    }
  }
  g_object_unref (to);
  g_object_unref (socket);
  return 0;
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  if (argc >= 2)
    port = (guint16)atoi (argv[1]);
  if (argc == 5 && g_str_equal (argv[2], "send"))
    return run_send (argv[3], (guint)atoi (argv[4]));
  if (argc == 5 && g_str_equal (argv[2], "receive"))
    return run_receive (argv[3], (guint)atoi (argv[4]));
  if (argc == 4 && g_str_equal (argv[2], "blast"))
    return run_blast ((guint)atoi (argv[3]));
  if (argc == 5 && g_str_equal (argv[2], "bare"))
    return run_bare ((guint)atoi (argv[3]), (guint)atoi (argv[4]));
  g_printerr ("usage: cost PORT send|receive MODE SECONDS, cost PORT bare BURST SECONDS, "
              "cost PORT blast SECONDS\n");
  return 2;
}

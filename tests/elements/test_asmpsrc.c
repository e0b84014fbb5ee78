/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpsrc on the loopback interface against a sender that the test plays packet by packet.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gst/check/gstcheck.h>
#include <gst/rtp/gstrtcpbuffer.h>
#include <gst/video/video-event.h>

#include "gstasmpsrc.h"
#include "gstmcccompound.h"
#include "gstmccsockets.h"
#include "ownport.h"
#include "settings.h"

/* Of this process: another run on the same host must not be heard. */
static gchar group[32];
static guint16 group_port;
#define CAPS                                                                                       \
  "application/x-rtp,media=(string)video,encoding-name=(string)H264,clock-rate=(int)90000,"        \
  "payload=(int)96"

/* What came out of the element, and what it sent by RTCP. */
typedef struct {
  GMutex lock;
  GCond cond;
  guint buffers, stream_starts, caps, segments, eos, flush_starts, flush_stops;
  guint32 last_ssrc;
  guint plis, byes, reports, rrs;
  GstMccSockets sockets; /* a sender's */
  GThread *listener;
  gint quit;
  gboolean garbage;
  GstElement *pipeline, *src;
  guint32 number;
  gboolean ect;                       /* announced */
  MccAppReport said;                  /* newest */
  guint32 unwanted_from, unwanted_to; /* RTP timestamps that are not to be played */
  guint unwanted;                     /* buffers with them */
} World;

static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  World *world = data;

  g_mutex_lock (&world->lock);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    guint8 header[12];

    gst_buffer_extract (GST_PAD_PROBE_INFO_BUFFER (info), 0, header, sizeof header);
    world->last_ssrc = GST_READ_UINT32_BE (header + 8);
    world->unwanted += GST_READ_UINT32_BE (header + 4) >= world->unwanted_from
                       && GST_READ_UINT32_BE (header + 4) < world->unwanted_to;
    world->buffers++;
  } else {
    switch (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))) {
      case GST_EVENT_STREAM_START:
        world->stream_starts++;
        break;
      case GST_EVENT_CAPS:
        world->caps++;
        break;
      case GST_EVENT_SEGMENT:
        world->segments++;
        break;
      case GST_EVENT_EOS:
        world->eos++;
        break;
      case GST_EVENT_FLUSH_START:
        world->flush_starts++;
        break;
      case GST_EVENT_FLUSH_STOP:
        world->flush_stops++;
        break;
      default:
        break;
    }
  }
  g_cond_broadcast (&world->cond);
  g_mutex_unlock (&world->lock);
  return GST_PAD_PROBE_OK;
}

static void
count_rtcp (World *world, const guint8 *data, gsize size)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer = gst_buffer_new_memdup (data, size);
  GstRTCPPacket packet;
  gboolean asks = FALSE;

  if (!gst_rtcp_buffer_validate (buffer)) {
    g_assert_true (world->garbage); /* the test's own; what the element sends is valid */
    gst_buffer_unref (buffer);
    return;
  }
  gst_rtcp_buffer_map (buffer, GST_MAP_READ, &rtcp);
  g_mutex_lock (&world->lock);
  for (gboolean more = gst_rtcp_buffer_get_first_packet (&rtcp, &packet); more;
       more = gst_rtcp_packet_move_to_next (&packet)) {
    switch (gst_rtcp_packet_get_type (&packet)) {
      case GST_RTCP_TYPE_RR:
        world->rrs++;
        break;
      case GST_RTCP_TYPE_PSFB:
        world->plis++;
        asks = TRUE;
        break;
      case GST_RTCP_TYPE_BYE:
        world->byes++;
        break;
      case GST_RTCP_TYPE_APP:
        world->reports++;
        break;
      default:
        break;
    }
  }
  for (gsize at = 0; at + 4 <= size; at += 4u * (GST_READ_UINT16_BE (data + at + 2) + 1u)) {
    MccApp app;

    if (data[at + 1] == GST_RTCP_TYPE_APP
        && mcc_app_decode (data + at, 4u * (GST_READ_UINT16_BE (data + at + 2) + 1u), &app)
               == MCC_DROP_NONE
        && app.subtype == MCC_APP_REPORT)
      world->said = app.report;
  }
  /* without one its loss would be a plain player's, of the few packets that it has */
  g_assert_true (world->garbage || world->reports > 0 || world->byes > 0 || asks);
  g_cond_broadcast (&world->cond);
  g_mutex_unlock (&world->lock);
  gst_rtcp_buffer_unmap (&rtcp);
  gst_buffer_unref (buffer);
}

static gpointer
listen_thread (gpointer data)
{
  World *world = data;
  guint8 datagram[2048];

  while (!g_atomic_int_get (&world->quit)) {
    gssize size;

    if (!g_socket_condition_timed_wait (
            world->sockets.rtcp_group, G_IO_IN, 20 * G_TIME_SPAN_MILLISECOND, NULL, NULL))
      continue;
    size = g_socket_receive (
        world->sockets.rtcp_group, (gchar *)datagram, sizeof datagram, NULL, NULL);
    /* not our own announcements */
    if (size >= 8 && GST_READ_UINT32_BE (datagram + 4) < 0x10000u)
      continue;
    if (size > 0 && datagram[1] == GST_RTCP_TYPE_RR)
      count_rtcp (world, datagram, (gsize)size);
  }
  return NULL;
}

static gboolean
reached (World *world, guint *value, guint wanted)
{
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;
  gboolean good;

  g_mutex_lock (&world->lock);
  while (*value < wanted && g_cond_wait_until (&world->cond, &world->lock, end))
    ;
  good = *value >= wanted;
  g_mutex_unlock (&world->lock);
  return good;
}

static void
world_start (World *world, const gchar *more)
{
  GstMccSessionSettings settings = { .address = group,
    .port = group_port,
    .multicast_iface = (gchar *)"lo",
    .ttl = 1,
    .ttl_mc = 1,
    .loop = TRUE,
    .qos_dscp = -1 };
  gchar *text = g_strdup_printf ("asmpsrc name=src address=%s port=%d multicast-iface=lo "
                                 "latency=50 ttl-mc=1 %s ! fakesink name=sink sync=false "
                                 "async=false",
      group, group_port, more);
  GError *error = NULL;
  GstElement *sink;
  GstPad *pad;

  memset (world, 0, sizeof *world);
  g_mutex_init (&world->lock);
  g_cond_init (&world->cond);
  world->pipeline = gst_parse_launch (text, &error);
  g_assert_no_error (error);
  g_free (text);
  world->src = gst_bin_get_by_name (GST_BIN (world->pipeline), "src");
  sink = gst_bin_get_by_name (GST_BIN (world->pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
          | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      on_data, world, NULL);
  gst_object_unref (pad);
  gst_object_unref (sink);
  g_assert_true (gst_mcc_sockets_open (&world->sockets, &settings, TRUE, &error));
  g_assert_no_error (error);
  world->listener = g_thread_new ("listener", listen_thread, world);
}

static void
world_play (World *world)
{
  GstStateChangeReturn result = gst_element_set_state (world->pipeline, GST_STATE_PLAYING);

  g_assert_cmpint (result, !=, GST_STATE_CHANGE_FAILURE);
  result = gst_element_get_state (world->pipeline, NULL, NULL, 2 * GST_SECOND);
  g_assert_cmpint (result, ==, GST_STATE_CHANGE_SUCCESS);
}

static void
world_stop (World *world)
{
  g_assert_cmpint (
      gst_element_set_state (world->pipeline, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  g_atomic_int_set (&world->quit, TRUE);
  g_thread_join (world->listener);
  gst_mcc_sockets_close (&world->sockets);
  gst_object_unref (world->src);
  gst_object_unref (world->pipeline);
  g_mutex_clear (&world->lock);
  g_cond_clear (&world->cond);
}

static void
send_to (World *world, GSocket *socket, guint16 port, const guint8 *data, gsize size)
{
  MccAddress address = world->sockets.group;
  GSocketAddress *to;

  address.port = port;
  to = gst_mcc_address_to_socket (&address, 0);
  g_socket_send_to (socket, to, (const gchar *)data, size, NULL, NULL);
  g_object_unref (to);
}

/* @n RTP packets of @ssrc from @seq on, one per 33 ms of media; H.264 type @nal. */
static void
send_rtp (World *world, guint32 ssrc, guint16 seq, guint n, guint8 nal)
{
  for (guint i = 0; i < n; i++) {
    guint8 packet[200] = { 0x80, 0x80 | 96 };

    GST_WRITE_UINT16_BE (packet + 2, seq + i);
    GST_WRITE_UINT32_BE (packet + 4, (guint32)(seq + i) * 3000);
    GST_WRITE_UINT32_BE (packet + 8, ssrc);
    packet[12] = nal;
    send_to (world, world->sockets.rtp, group_port, packet, sizeof packet);
    g_usleep (2000);
  }
}

static void
announce (World *world, guint32 ssrc)
{
  GstMccCompound compound = { .ssrc = ssrc, .cname = "sender" };
  MccApp app = { .subtype = MCC_APP_SESSION, .ssrc = ssrc };
  GstBuffer *buffer;
  GstMapInfo map;

  app.session.number = ++world->number;
  app.session.flags = world->ect ? MCC_SESSION_ECT : 0;
  app.session.target_bps = 500000;
  app.session.min_bps = 100000;
  app.session.max_bps = 1000000;
  app.session.start_bps = 150000;
  app.session.session_bandwidth_bps = 1000000;
  app.session.suppress_bps = G_MAXUINT64;
  app.session.media_ssrc = ssrc;
  app.session.ttl = 1;
  app.session.payload_type = 96;
  app.session.clock_rate = 90000;
  g_strlcpy (app.session.media, "video", sizeof app.session.media);
  g_strlcpy (app.session.encoding_name, "H264", sizeof app.session.encoding_name);
  buffer = gst_mcc_compound_build (&compound, &app, 1, 0, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  send_to (world, world->sockets.rtcp, group_port + 1, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

/* ---- tests ---- */

static void
test_states (void)
{
  World world;

  world_start (&world, "");
  for (guint i = 0; i < 3; i++) {
    world_play (&world);
    g_assert_cmpint (
        gst_element_set_state (world.pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_NO_PREROLL);
    world_play (&world);
    g_assert_cmpint (
        gst_element_set_state (world.pipeline, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
    world_play (&world);
    g_assert_cmpint (
        gst_element_set_state (world.pipeline, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  }
  world_stop (&world);
}

static void
test_bad_settings (void)
{
  static const gchar *const bad[][3] = {
    { "port=5005", "port", "even" },
    { "port=0", "port", "even" },
    { "port=-2", "port", "even" },
    { "port=65535", "port", "even" },
    { "port=65536", "port", "65534" },
    { "address=x", "address", "239.255.12.42" },
    { "address=\"\"", "address", "239.255.12.42" },
    { "address=224.0.0.1", "address", "239.255.12.42" },
    { "address=255.255.255.255", "address", "239.255.12.42" },
    { "address=192.0.2.77", "address", "choose another" },
    { "ttl=256", "ttl", "0 to 255" },
    { "ttl=-1", "ttl", "0 to 255" },
    { "ttl-mc=256", "ttl-mc", "0 to 255" },
    { "ttl-mc=-1", "ttl-mc", "0 to 255" },
    { "qos-dscp=64", "qos-dscp", "0 to 63" },
    { "qos-dscp=-2", "qos-dscp", "0 to 63" },
    { "multicast-iface=nosuch0", "multicast-iface", "ip link" },
    { "source-address=x", "source-address", "IP address" },
    { "source-address=239.1.1.1", "source-address", "host" },
    { "source-address=fd00::1", "source-address", "IP version" },
    { "feedback-address=239.1.1.1", "feedback-address", "host" },
    { "feedback-address=x", "feedback-address", "IP address" },
    { "feedback-port=65536", "feedback-port", "65535" },
    { "feedback-port=-1", "feedback-port", "65535" },
    { "feedback-port=6001", "feedback-port", "feedback-address" },
    { "session-bandwidth=281474976710656", "session-bandwidth", "281474976710655" },
    { "latency=60001", "latency", "60000" },
    { "latency=4294967295", "latency", "60000" },
    { "encoding-name=nosuch", "encoding-name", "" },
    { "caps=video/x-raw", "caps", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gchar *text = g_strdup_printf ("asmpsrc multicast-iface=lo %s ! fakesink", bad[i][0]);

    settings_refused (text, bad[i][1], bad[i][2]);
    g_free (text);
  }
}

static void
test_bounds (void)
{
  static const gchar *const good[]
      = { "port=65534", "ttl=0", "ttl=255", "ttl-mc=0", "ttl-mc=255", "qos-dscp=0", "qos-dscp=63",
          "latency=0", "latency=60000", "ssrc=1", "ssrc=4294967295", "session-bandwidth=1",
          "session-bandwidth=281474976710655", "feedback-address=127.0.0.1 feedback-port=65535",
          "feedback-address=127.0.0.1", "stats-interval=1", "stats-interval=4294967295",
          "seed=18446744073709551615", "address=127.0.0.1 port=15206", "address=0.0.0.0 port=15206",
          "address=239.255.255.255", "address=ff15::42", "address=224.0.1.0" };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    gchar *text = g_strdup_printf ("asmpsrc multicast-iface=lo port=15208 %s ! fakesink", good[i]);

    settings_accepted (text, GST_STATE_PLAYING);
    g_free (text);
  }
}

static void
test_announced_caps_and_reports (void)
{
  World world;
  GstPad *pad;
  GstCaps *caps;
  guint sent = 0;

  world_start (&world, "");
  world_play (&world);
  send_rtp (&world, 0x1001, 10, 12, 0x65);
  g_assert_cmpuint (world.buffers, ==, 0);
  announce (&world, 0x1001); /* from then on, and nothing that came before is missing */
  for (guint16 i = 0; i < 100 && world.buffers == 0; i++) { /* RTCP has a thread of its own */
    send_rtp (&world, 0x1001, (guint16)(22 + i), 1, 0x61);
    g_usleep (20000);
    sent++;
  }
  g_assert_true (reached (&world, &world.buffers, 12 + sent));
  pad = gst_element_get_static_pad (world.src, "src");
  caps = gst_pad_get_current_caps (pad);
  g_assert_cmpstr (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "encoding-name"), ==, "H264");
  g_assert_false (gst_structure_has_field (gst_caps_get_structure (caps, 0), "ssrc"));
  gst_caps_unref (caps);
  gst_object_unref (pad);
  for (guint i = 0; i < 20 && world.reports < 2; i++) {
    announce (&world, 0x1001);
    send_rtp (&world, 0x1001, (guint16)(22 + sent + 20 * i), 20, 0x61);
  }
  g_assert_true (reached (&world, &world.reports, 2));
  world_stop (&world);
  g_assert_cmpuint (world.byes, ==, 1);
}

static void
test_restart_is_one_stream (void)
{
  World world;

  world_start (&world, "encoding-name=H264");
  world_play (&world);
  for (guint run = 0; run < 4; run++) {
    guint before = world.buffers;

    send_rtp (&world, 0x2000 + run, (guint16)(65500 + 50 * run), 40, 0x65);
    /* all of it: a sender begins with the key unit */
    g_assert_true (reached (&world, &world.buffers, before + 40));
    g_assert_cmpuint (world.last_ssrc, ==, 0x2000 + run);
    g_usleep (250000);
  }
  g_assert_cmpuint (world.stream_starts, ==, 1);
  g_assert_cmpuint (world.caps, ==, 1);
  g_assert_cmpuint (world.segments, ==, 1);
  g_assert_cmpuint (world.eos, ==, 0);
  world_stop (&world);
}

static void
test_key_unit_requests (void)
{
  World world;
  GstPad *pad;
  guint plis;

  world_start (&world, "encoding-name=H264");
  world_play (&world);
  send_rtp (&world, 0x3001, 1, 20, 0x61);
  g_assert_true (reached (&world, &world.plis, 1)); /* on join */
  send_rtp (&world, 0x3001, 21, 20, 0x61);
  g_usleep (1600000);
  g_assert_true (reached (&world, &world.plis, 2)); /* again: none has come */
  send_rtp (&world, 0x3001, 41, 2, 0x65);
  g_usleep (200000);
  plis = world.plis;
  pad = gst_element_get_static_pad (world.src, "src");
  gst_pad_send_event (
      pad, gst_video_event_new_upstream_force_key_unit (GST_CLOCK_TIME_NONE, TRUE, 1));
  gst_object_unref (pad);
  g_assert_true (reached (&world, &world.plis, plis + 1)); /* a decoder asks */
  world_stop (&world);
}

/* Access units with slices of both kinds, of those that hold an IDR slice. */
typedef struct {
  gint key_units, mixed;
} Units;

static GstPadProbeReturn
on_unit (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Units *units = data;
  gboolean idr = FALSE, other = FALSE;
  GstMapInfo map;

  gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ);
  for (gsize at = 0, next; at + 4 < map.size; at = next) {
    guint32 bytes;

    memcpy (&bytes, map.data + at, sizeof bytes); /* not aligned */
    next = at + 4 + GUINT32_FROM_BE (bytes);
    idr |= (map.data[at + 4] & 0x1f) == 5;
    other |= (map.data[at + 4] & 0x1f) == 1;
  }
  gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  g_atomic_int_add (&units->key_units, idr);
  g_atomic_int_add (&units->mixed, idr && other);
  return GST_PAD_PROBE_OK;
}

typedef struct {
  guint8 number, frame, marker, payload[8];
} Fragment;

static void
send_fragments (World *world, guint32 ssrc, const Fragment *fragments, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint8 packet[100] = { 0x80, fragments[i].marker | 96 };

    GST_WRITE_UINT16_BE (packet + 2, fragments[i].number);
    GST_WRITE_UINT32_BE (packet + 4, fragments[i].frame * 3000u);
    GST_WRITE_UINT32_BE (packet + 8, ssrc);
    memcpy (packet + 12, fragments[i].payload, sizeof fragments[i].payload);
    send_to (world, world->sockets.rtp, group_port, packet, sizeof packet);
  }
}

static void
hole_before_key_unit (const Fragment *holed, guint n)
{
  static const Fragment sets[] = { { 1, 1, 0, { 0x67, 0x42, 0xc0, 0x1e, 0xd9, 0x00, 0xa0, 0x47 } },
    { 2, 1, 0, { 0x68, 0xce, 0x05, 0xcb, 0x20 } } };
  Units units = { 0 };
  World world;
  GstElement *sink;
  GstPad *pad;
  gint before;

  world_start (&world, "encoding-name=H264 ! rtph264depay "
                       "! video/x-h264,stream-format=avc,alignment=au");
  sink = gst_bin_get_by_name (GST_BIN (world.pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_unit, &units, NULL);
  gst_object_unref (pad);
  gst_object_unref (sink);
  world_play (&world);
  send_fragments (&world, 0x3101, sets, G_N_ELEMENTS (sets));
  send_rtp (&world, 0x3101, 3, 18, 0x65);
  g_assert_true (reached (&world, &world.buffers, 16));
  g_usleep (100000);
  before = g_atomic_int_get (&units.key_units);
  send_fragments (&world, 0x3101, holed, n);
  /* the media is ahead of the clock, so what is lost is waited for */
  for (guint i = 0; i < 30 && g_atomic_int_get (&units.key_units) == before; i++)
    g_usleep (100000);
  g_assert_cmpint (g_atomic_int_get (&units.key_units), ==, before + 1);
  g_assert_cmpint (g_atomic_int_get (&units.mixed), ==, 0);
  world_stop (&world);
}

/* A frame loses a fragment of its second slice, or the last one and its marker, and a key unit is
 * next: what a depayloader has of the one must not spoil the other. */
static void
test_hole_before_key_unit (void)
{
  static const Fragment within[] = { { 21, 21, 0, { 0x61, 0x80 } }, { 22, 21, 0, { 0x7c, 0x81 } },
    { 24, 21, 0, { 0x7c, 0x01 } }, { 25, 21, 0x80, { 0x7c, 0x41 } },
    { 26, 22, 0, { 0x7c, 0x85, 0x80 } }, { 27, 22, 0x80, { 0x7c, 0x45 } } };
  static const Fragment at_end[] = { { 21, 21, 0, { 0x61, 0x80 } }, { 22, 21, 0, { 0x7c, 0x81 } },
    { 24, 22, 0, { 0x7c, 0x85, 0x80 } }, { 25, 22, 0x80, { 0x7c, 0x45 } } };

  hole_before_key_unit (within, G_N_ELEMENTS (within));
  hole_before_key_unit (at_end, G_N_ELEMENTS (at_end));
}

static void
test_bye (void)
{
  World world;

  world_start (&world, "encoding-name=H264");
  world.unwanted_from = 21 * 3000;
  world.unwanted_to = 41 * 3000;
  world_play (&world);
  send_rtp (&world, 0x4001, 1, 20, 0x65);
  g_assert_true (reached (&world, &world.buffers, 18));
  gst_element_set_state (world.pipeline, GST_STATE_PAUSED);
  g_assert_true (reached (&world, &world.byes, 1));
  /* nothing is heard while paused, and what came then is not played */
  send_rtp (&world, 0x4001, 21, 20, 0x65);
  world_play (&world);
  send_rtp (&world, 0x4001, 41, 20, 0x65);
  g_assert_true (reached (&world, &world.buffers, 36));
  g_usleep (100000);
  g_assert_cmpuint (world.unwanted, ==, 0);
  gst_element_set_state (world.pipeline, GST_STATE_READY);
  g_assert_true (reached (&world, &world.byes, 2));
  world_stop (&world);
}

static void
test_eos_and_latency (void)
{
  World world;
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min, max;
  gboolean live;
  GstPad *pad;

  world_start (&world, "encoding-name=H264");
  world_play (&world);
  send_rtp (&world, 0x5001, 1, 20, 0x65);
  g_assert_true (reached (&world, &world.buffers, 18));
  pad = gst_element_get_static_pad (world.src, "src");
  g_assert_true (gst_pad_query (pad, query));
  gst_object_unref (pad);
  gst_query_parse_latency (query, &live, &min, &max);
  g_assert_true (live);
  g_assert_cmpuint (min, ==, 50 * GST_MSECOND);
  gst_query_unref (query);
  gst_element_send_event (world.pipeline, gst_event_new_eos ());
  g_assert_true (reached (&world, &world.eos, 1));
  world_stop (&world);
}

static GstPadProbeReturn
on_blocked (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_set ((gint *)data, TRUE);
  return GST_PAD_PROBE_OK;
}

/* Downstream is flushed though no push to it returns; then the one stream goes on. */
static void
test_flush (void)
{
  World world;
  GstPad *pad;
  gulong probe;
  gint blocked = FALSE;
  guint before, plis;

  world_start (&world, "encoding-name=H264");
  world_play (&world);
  g_assert_false (gst_element_send_event (world.src, gst_event_new_flush_stop (TRUE)));
  send_rtp (&world, 0x5101, 1, 20, 0x65);
  g_assert_true (reached (&world, &world.buffers, 20));
  pad = gst_element_get_static_pad (world.src, "src");
  probe = gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, on_blocked, &blocked, NULL);
  send_rtp (&world, 0x5101, 21, 20, 0x65);
  for (guint i = 0; i < 500 && !g_atomic_int_get (&blocked); i++)
    g_usleep (10000);
  g_assert_true (g_atomic_int_get (&blocked));
  g_assert_true (gst_element_send_event (world.pipeline, gst_event_new_flush_start ()));
  g_assert_cmpuint (world.flush_starts, ==, 1);
  gst_pad_remove_probe (pad, probe);
  before = world.buffers;
  g_assert_cmpuint (before, ==, 20); /* what was blocked is gone */
  plis = world.plis;
  g_assert_true (gst_element_send_event (world.pipeline, gst_event_new_flush_stop (TRUE)));
  g_assert_cmpuint (world.flush_stops, ==, 1);
  g_assert_true (reached (&world, &world.plis, plis + 1));
  send_rtp (&world, 0x5101, 41, 20, 0x65);
  g_assert_true (reached (&world, &world.buffers, before + 20));
  g_assert_cmpuint (world.stream_starts, ==, 1);
  g_assert_cmpuint (world.segments, ==, 2);
  g_assert_cmpuint (world.flush_starts, ==, 1);
  g_assert_cmpuint (world.flush_stops, ==, 1);
  /* what is not seekable says so, and nothing is flushed for it */
  g_assert_false (
      gst_element_seek_simple (world.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SECOND));
  g_assert_cmpuint (world.flush_starts, ==, 1);
  gst_object_unref (pad);
  world_stop (&world);
}

/* Whatever comes in, of any size, the element lives and its stream goes on. */
static void
test_garbage (void)
{
  World world;
  GRand *rand = g_rand_new_with_seed (11);
  guint8 *data = g_malloc (65000);

  world_start (&world, "encoding-name=H264");
  world.garbage = TRUE;
  world_play (&world);
  send_rtp (&world, 0x6001, 1, 20, 0x65);
  for (guint i = 0; i < 3000; i++) {
    gsize size = i < 300 ? i : (gsize)g_rand_int_range (rand, 0, i % 50 ? 200 : 60000);

    for (gsize at = 0; at < size; at++)
      data[at] = (guint8)g_rand_int (rand);
    if (size > 1 && i % 2)
      data[0] = (guint8)(0x80 | (data[0] & 0x3f));
    if (size > 12 && i % 3 == 0) /* of the sender itself: extensions, CSRCs and padding gone mad */
      GST_WRITE_UINT32_BE (data + 8, 0x6001);
    if (size > 12 && i % 3 == 0)
      GST_WRITE_UINT16_BE (data + 2, 21 + i / 3);
    if (size > 1 && i % 4 == 0)
      data[1] = (guint8)g_rand_int_range (rand, 200, 208);
    send_to (&world, world.sockets.rtp, (guint16)(group_port + i % 2), data, size);
    if (i % 50 == 0)
      g_usleep (1000);
  }
  g_usleep (100000);
  {
    guint before = world.buffers;

    send_rtp (&world, 0x6001, 2000, 80, 0x65);
    g_assert_true (reached (&world, &world.buffers, before + 20));
  }
  world_stop (&world);
  g_rand_free (rand);
  g_free (data);
}

static void
test_uri (void)
{
  GError *error = NULL;
  GstElement *element
      = gst_element_make_from_uri (GST_URI_SRC, "asmp://239.1.2.3:6000?latency=100", NULL, &error);
  guint latency;

  g_assert_no_error (error);
  g_assert_nonnull (element);
  g_object_get (element, "latency", &latency, NULL);
  g_assert_cmpuint (latency, ==, 100);
  gst_object_unref (gst_object_ref_sink (element));
}

static void
test_unicast_port_taken (void)
{
  gchar *text = g_strdup_printf ("asmpsrc address=127.0.0.1 port=%u ! fakesink", group_port);
  GstElement *first = gst_parse_launch (text, NULL);
  GstElement *second = gst_parse_launch (text, NULL);

  g_assert_cmpint (gst_element_set_state (first, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
  g_assert_cmpint (gst_element_set_state (second, GST_STATE_PLAYING), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (first, GST_STATE_NULL);
  gst_element_set_state (second, GST_STATE_NULL);
  gst_object_unref (first);
  g_free (text);
  gst_object_unref (second);
}

/* A mark reaches the protocol: it is counted, reported and no loss. */
static void
test_ecn (void)
{
  int ce = MCC_ECN_CE;
  World world;
  GstStructure *stats;
  guint64 value = 0;
  gdouble loss = 1.0;

  world_start (&world, "");
  world.ect = TRUE;
  world_play (&world);
  announce (&world, 0x1234);
  gst_mcc_sockets_set_ect (&world.sockets, TRUE);
  send_rtp (&world, 0x1234, 1, 100, 5);
  g_assert_cmpint (
      setsockopt (g_socket_get_fd (world.sockets.rtp), IPPROTO_IP, IP_TOS, &ce, sizeof ce), ==, 0);
  send_rtp (&world, 0x1234, 101, 1, 5);
  gst_mcc_sockets_set_ect (&world.sockets, TRUE);
  send_rtp (&world, 0x1234, 102, 200, 5);
  g_assert_true (reached (&world, &world.reports, world.reports + 2));
  g_object_get (world.src, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, "ecn-marked", &value));
  g_assert_cmpuint (value, ==, 1);
  g_assert_cmpstr (gst_structure_get_string (stats, "ecn"), ==, "good");
  g_assert_true (gst_structure_get_uint64 (stats, "packets-lost", &value));
  g_assert_cmpuint (value, ==, 0);
  g_assert_true (gst_structure_get_double (stats, "loss", &loss));
  g_assert_cmpfloat (loss, ==, 0.0);
  gst_structure_free (stats);
  g_mutex_lock (&world.lock);
  g_assert_cmpuint (world.said.ecn, ==, MCC_REPORT_ECN_HEEDED);
  g_assert_cmpuint (world.said.packets_lost, ==, 0);
  g_assert_cmpfloat (world.said.loss_ratio, >, 0.0);
  g_assert_cmpfloat (world.said.marked_share, ==, 1.0);
  g_mutex_unlock (&world.lock);
  world_stop (&world);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_snprintf (group, sizeof group, "239.255.%d.%d", 64 + getpid () / 256 % 64, getpid () % 256);
  group_port = own_port (2);
  GST_ELEMENT_REGISTER (asmpsrc, NULL);
  g_test_add_func ("/asmpsrc/states", test_states);
  g_test_add_func ("/asmpsrc/bad-settings-name-the-property", test_bad_settings);
  g_test_add_func ("/asmpsrc/bounds", test_bounds);
  g_test_add_func ("/asmpsrc/announced-caps-and-reports", test_announced_caps_and_reports);
  g_test_add_func ("/asmpsrc/restart-is-one-stream", test_restart_is_one_stream);
  g_test_add_func ("/asmpsrc/key-unit-requests", test_key_unit_requests);
  g_test_add_func ("/asmpsrc/hole-before-key-unit", test_hole_before_key_unit);
  g_test_add_func ("/asmpsrc/bye-on-pause-and-stop", test_bye);
  g_test_add_func ("/asmpsrc/eos-and-latency", test_eos_and_latency);
  g_test_add_func ("/asmpsrc/flush", test_flush);
  g_test_add_func ("/asmpsrc/garbage", test_garbage);
  g_test_add_func ("/asmpsrc/uri", test_uri);
  g_test_add_func ("/asmpsrc/unicast-port-taken", test_unicast_port_taken);
  g_test_add_func ("/asmpsrc/ecn-marks", test_ecn);
  return g_test_run ();
}

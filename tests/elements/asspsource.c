/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "asspsource.h"

#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "gstmcccompound.h"
#include "gstmccsockets.h"

#define FPS 50
#define KEY_FRAMES 10
#define ALONE_FRAMES (3 * FPS) /* so long each stream announces itself where one carries */
#define PT_RR 201
#define PT_BYE 203
#define PT_APP 204
#define PT_PSFB 206

void
assp_source_init (AsspSource *self, const gchar *group, guint16 port, guint32 ssrc)
{
  *self = (AsspSource){ .group = group,
    .port = port,
    .ssrc = ssrc,
    .count = ASSP_SOURCE_STREAMS,
    .address_offset = 1,
    .encoding_name = "H264",
    .payload_type = 96,
    .alive = { TRUE, TRUE, TRUE },
    .describes = TRUE,
    .report_stream = -1 };
}

static GSocket *
make_socket (const gchar *host, guint16 port, const gchar *join)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *address = g_inet_socket_address_new_from_string (host, port);
  struct ip_mreqn request = { .imr_ifindex = (int)if_nametoindex ("lo") };

  g_assert_true (g_socket_bind (socket, address, join != NULL, NULL));
  g_object_unref (address);
  g_assert_cmpint (
      setsockopt (g_socket_get_fd (socket), IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request),
      ==, 0);
  if (join) {
    GInetAddress *group = g_inet_address_new_from_string (join);

    g_assert_true (g_socket_join_multicast_group (socket, group, FALSE, "lo", NULL));
    g_object_unref (group);
  }
  g_socket_set_blocking (socket, FALSE);
  return socket;
}

static void
send_to (AsspSource *self, guint address_offset, guint port_offset, const guint8 *data, gsize size)
{
  MccAddress base, address;
  GSocketAddress *to;

  g_assert_true (gst_mcc_address_parse (self->group, self->port, &base));
  g_assert_cmpint (mcc_place_address (&base,
                       (MccPlace){ (guint16)address_offset, (guint16)port_offset }, &address),
      ==, MCC_PLACE_GOOD);
  to = gst_mcc_address_to_socket (&address, 0);
  g_socket_send_to (self->out, to, (const gchar *)data, size, NULL, NULL);
  g_object_unref (to);
}

static guint32
ssrc_of (AsspSource *self, guint stream)
{
  return self->ssrc + stream + (stream == 0 ? (guint32)g_atomic_int_get (&self->renamed) : 0);
}

/* Byte 13: the stream; 14 and 15: the frame. */
static void
send_frame (AsspSource *self, guint stream)
{
  gboolean key = (self->frame + 3 * stream) % KEY_FRAMES == 0;

  for (guint i = 0; i < 3; i++) {
    guint8 packet[200] = { 0x80, (guint8)(self->payload_type + stream) };

    if (i == 2)
      packet[1] |= 0x80;
    GST_WRITE_UINT16_BE (packet + 2, self->seq[stream]++);
    GST_WRITE_UINT32_BE (packet + 4, self->time_base + self->frame * (90000 / FPS));
    GST_WRITE_UINT32_BE (packet + 8, ssrc_of (self, stream));
    packet[12] = !key ? 0x61 : i == 0 ? 0x67 : 0x65;
    packet[13] = (guint8)stream;
    GST_WRITE_UINT16_BE (packet + 14, self->frame);
    send_to (self, self->address_offset + stream, 2 * stream, packet, sizeof packet);
  }
}

static void
fill_session (AsspSource *self, guint stream, MccAppSession *out)
{
  out->number = self->number;
  out->target_bps = 500000 * (stream + 1);
  out->min_bps = 400000 * (stream + 1);
  out->max_bps = 600000 * (stream + 1);
  out->start_bps = out->min_bps;
  out->session_bandwidth_bps = 1000000;
  out->suppress_bps = G_MAXUINT64;
  out->media_ssrc = ssrc_of (self, stream);
  out->ttl = 1;
  if (self->feedback_port)
    g_assert_true (gst_mcc_address_parse (
        self->host ? self->host : "127.0.0.1", self->feedback_port, &out->feedback));
  out->payload_type = (guint8)(self->payload_type + stream);
  out->clock_rate = 90000;
  g_strlcpy (out->media, "video", sizeof out->media);
  g_strlcpy (
      out->encoding_name, g_atomic_pointer_get (&self->encoding_name), sizeof out->encoding_name);
  g_snprintf (out->parameters, sizeof out->parameters, "profile-level-id=42e0%02x", stream);
}

static void
say (AsspSource *self, guint stream, const MccAsspApp *apps, guint n, gboolean bye)
{
  GstMccCompound compound = { .ssrc = ssrc_of (self, stream), .cname = "sender", .bye = bye };
  GstMccSenderInfo info = { .ntp = 1, .rtp_time = self->time_base };
  GstMccApps list = { .n = n, .assp = apps };
  GstBuffer *buffer;
  GstMapInfo map;

  compound.sender = &info;
  buffer = gst_mcc_compound_build_from (&compound, &list, 0, 0, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  send_to (self, 0, 1, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

static gboolean
carries_now (const AsspSource *self)
{
  return self->carries && self->frame >= ALONE_FRAMES;
}

static void
announce (AsspSource *self, guint stream, MccAsspApp *app)
{
  *app = (MccAsspApp){
    .ssrc = ssrc_of (self, stream), .subtype = MCC_APP_SESSION, .stream = stream
  };
  app->asmp.ssrc = app->ssrc;
  app->asmp.subtype = app->subtype;
  fill_session (self, stream, &app->asmp.session);
}

/* As a sender does: without strings. */
static void
carry (AsspSource *self, guint stream, MccAsspApp *app)
{
  MccAppSession *session = &app->asmp.session;

  announce (self, stream, app);
  session->target_bps += session->target_bps / 10;
  memset (session->media, 0, sizeof session->media);
  memset (session->encoding_name, 0, sizeof session->encoding_name);
  memset (session->parameters, 0, sizeof session->parameters);
}

static void
describe (AsspSource *self, guint stream)
{
  MccAsspApp apps[1 + ASSP_SOURCE_STREAMS]
      = { { .ssrc = ssrc_of (self, stream), .subtype = MCC_ASSP_STREAMS, .stream = stream } };
  MccAsspStreams *streams = &apps[0].streams;
  guint n = 1;

  self->number++;
  streams->number = self->number;
  streams->count = self->count;
  for (guint i = 0; i < self->count; i++)
    streams->stream[i] = (MccAsspStream){ .low_bps = 400000 * (i + 1),
      .high_bps = 600000 * (i + 1) < 400000 * (i + 2) ? 600000 * (i + 1) : 400000 * (i + 2),
      .average_bps = 400000 * (i + 1),
      .address_offset = (guint16)(self->address_offset + i),
      .port_offset = (guint16)(2 * i),
      .flags = MCC_ASSP_RUNNING,
      .ssrc = ssrc_of (self, i) };
  announce (self, stream, &apps[n++]);
  for (guint i = 1; carries_now (self) && i < self->count; i++)
    carry (self, i, &apps[n++]);
  say (self, stream, apps, n, FALSE);
}

static void
hear (AsspSource *self)
{
  guint8 data[2048];
  gssize size;

  while ((size = g_socket_receive (self->in, (gchar *)data, sizeof data, NULL, NULL)) > 0) {
    if (data[1] != PT_RR)
      continue;
    for (gsize at = 0; at + 4 <= (gsize)size;) {
      gsize bytes = 4 + 4 * (gsize)GST_READ_UINT16_BE (data + at + 2);
      MccAsspApp app;

      switch (data[at + 1]) {
        case PT_PSFB:
          g_atomic_int_inc (&self->plis);
          break;
        case PT_BYE:
          g_atomic_int_inc (&self->byes);
          break;
        case PT_APP:
          g_assert_cmpint (mcc_assp_app_decode (data + at, bytes, &app), ==, MCC_DROP_NONE);
          g_atomic_int_inc (&self->reports);
          g_atomic_int_set (&self->report_stream, (gint)app.stream);
          break;
        default:
          break;
      }
      at += bytes;
    }
  }
}

static gpointer
source_thread (gpointer data)
{
  AsspSource *self = data;
  gint64 next = g_get_monotonic_time ();

  while (!g_atomic_int_get (&self->quit)) {
    for (guint i = 0; i < self->count; i++)
      if (g_atomic_int_get (&self->alive[i]))
        send_frame (self, i);
    if (self->frame % (FPS / 10) == 0 && g_atomic_int_get (&self->describes))
      for (guint i = 0; i < (carries_now (self) ? 1 : self->count); i++)
        describe (self, i);
    hear (self);
    self->frame++;
    next += G_USEC_PER_SEC / FPS;
    if (next > g_get_monotonic_time ())
      g_usleep ((gulong)(next - g_get_monotonic_time ()));
  }
  return NULL;
}

void
assp_source_start (AsspSource *self)
{
  self->out = make_socket (self->host ? self->host : "127.0.0.1", 0, NULL);
  self->in = make_socket (self->group, (guint16)(self->port + 1), self->group);
  self->quit = FALSE;
  self->thread = g_thread_new ("sender", source_thread, self);
}

void
assp_source_stop (AsspSource *self, gboolean bye)
{
  g_atomic_int_set (&self->quit, TRUE);
  g_thread_join (self->thread);
  for (guint i = 0; bye && i < self->count; i++)
    say (self, i, NULL, 0, TRUE);
  hear (self);
  g_object_unref (self->out);
  g_object_unref (self->in);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "assppeer.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gstmcccompound.h"

#define EXTENSION_ID 14        /* what payloaders are made to reserve */
#define BUFFER_BYTES (4 << 20) /* a test that is kept from the CPU loses no packet */
#define RTCP_SR 200
#define RTCP_SDES 202
#define RTCP_BYE 203
#define RTCP_APP 204

static GSocket *
join (const gchar *base, guint address_offset, guint16 port)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GInetAddress *group = g_inet_address_new_from_string (base), *sum;
  guint8 bytes[4];
  guint32 number;
  GSocketAddress *address;

  memcpy (bytes, g_inet_address_to_bytes (group), 4);
  number = GST_READ_UINT32_BE (bytes) + address_offset;
  GST_WRITE_UINT32_BE (bytes, number);
  sum = g_inet_address_new_from_bytes (bytes, G_SOCKET_FAMILY_IPV4);
  address = g_inet_socket_address_new (sum, port);
  g_assert_true (g_socket_bind (socket, address, TRUE, NULL));
  g_assert_true (g_socket_join_multicast_group (socket, sum, FALSE, "lo", NULL));
  (void)g_socket_set_option (socket, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES, NULL);
  g_socket_set_blocking (socket, FALSE);
  g_object_unref (address);
  g_object_unref (group);
  g_object_unref (sum);
  return socket;
}

void
assp_peer_init (AsspPeer *self, guint32 ssrc)
{
  static guint round;
  GInetAddress *any = g_inet_address_new_any (G_SOCKET_FAMILY_IPV4);
  GSocketAddress *address = g_inet_socket_address_new (any, 0);

  memset (self, 0, sizeof *self);
  self->ssrc = ssrc;
  self->number = 1;
  self->port = (guint16)(20000 + 8 * (getpid () % 1500) + 8 * (round % 10));
  g_snprintf (self->group, sizeof self->group, "239.255.%d.%u", 64 + getpid () % 64,
      1 + 10 * (round++ % 20));
  self->rtcp = join (self->group, 0, (guint16)(self->port + 1));
  for (guint i = 0; i < ASSP_PEER_STREAMS; i++)
    self->stream[i].rtp = join (self->group, 1 + i, (guint16)(self->port + 2 * i));
  self->out
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  g_assert_true (g_socket_bind (self->out, address, FALSE, NULL));
  g_object_unref (address);
  g_object_unref (any);
}

void
assp_peer_clear (AsspPeer *self)
{
  g_clear_object (&self->rtcp);
  g_clear_object (&self->out);
  g_clear_object (&self->sender);
  for (guint i = 0; i < ASSP_PEER_STREAMS; i++)
    g_clear_object (&self->stream[i].rtp);
}

/* Whether the payload begins or is part of an H.264 IDR picture's first slice. */
static gboolean
begins_idr (const guint8 *payload, gsize size)
{
  if (size < 2)
    return FALSE;
  if ((payload[0] & 0x1f) == 5)
    return TRUE;
  return (payload[0] & 0x1f) == 28 && (payload[1] & 0x80) && (payload[1] & 0x1f) == 5;
}

static void
take_rtp (AsspPeerStream *self, const guint8 *data, gsize size)
{
  guint16 seq = GST_READ_UINT16_BE (data + 2);
  guint32 time = GST_READ_UINT32_BE (data + 4);
  gsize header = 12;

  g_assert_cmpuint (size, >=, 12);
  if (self->packets > 0 && seq != (guint16)(self->seq + 1))
    self->gaps++;
  self->seq = seq;
  self->ssrc = GST_READ_UINT32_BE (data + 8);
  self->packets++;
  self->bytes += size + 28;
  self->last_us = g_get_monotonic_time ();
  if (self->frames == 0 || self->time[(self->frames - 1) % ASSP_PEER_TIMES] != time)
    self->time[self->frames++ % ASSP_PEER_TIMES] = time;
  if (data[0] & 0x10) {
    if (size < 20 || GST_READ_UINT16_BE (data + 12) != 0xbede || data[16] != (EXTENSION_ID << 4 | 2)
        || GST_READ_UINT24_BE (data + 17) == 0) {
      self->unstamped++;
    } else {
      self->together += self->send_time == GST_READ_UINT24_BE (data + 17);
      self->send_time = GST_READ_UINT24_BE (data + 17);
    }
    header += 4 + 4u * GST_READ_UINT16_BE (data + 14);
  } else {
    self->unstamped++;
  }
  if (size > header && begins_idr (data + header, size - header)
      && (self->key_units == 0 || self->key_time != time)) {
    self->key_units++;
    self->key_time = time;
  }
}

static AsspPeerStream *
find (AsspPeer *self, guint32 ssrc)
{
  for (guint i = 0; i < self->streams.count && i < ASSP_PEER_STREAMS; i++)
    if (self->streams.stream[i].ssrc == ssrc)
      return &self->stream[i];
  for (guint i = 0; i < ASSP_PEER_STREAMS; i++)
    if (self->stream[i].packets > 0 && self->stream[i].ssrc == ssrc)
      return &self->stream[i];
  return NULL;
}

static void
take_app (AsspPeer *self, const guint8 *data, gsize size)
{
  MccAsspApp app;

  g_assert_cmpint (mcc_assp_app_decode (data, size, &app), ==, MCC_DROP_NONE);
  if (app.subtype == MCC_ASSP_STREAMS) {
    self->streams = app.streams;
    self->descriptions++;
  } else if (app.subtype == MCC_APP_SESSION) {
    MccAppSession *known = &self->stream[app.stream].session;

    g_assert_cmpuint (app.ssrc, ==, app.asmp.session.media_ssrc);
    mcc_app_session_complete (&app.asmp.session, self->stream[app.stream].sessions ? known : NULL);
    self->stream[app.stream].renames += self->stream[app.stream].sessions > 0
                                        && app.asmp.session.media_ssrc != known->media_ssrc;
    *known = app.asmp.session;
    self->stream[app.stream].sessions++;
  } else if (app.subtype == MCC_APP_RTT) {
    self->rtts++;
  }
}

static void
take_cname (AsspPeer *self, const guint8 *data, gsize size)
{
  gchar name[64] = "";

  if (size < 12 || data[8] != 1)
    return;
  memcpy (name, data + 10, MIN (data[9], sizeof name - 1));
  if (*self->cname && strcmp (self->cname, name) != 0)
    self->cnames++;
  g_strlcpy (self->cname, name, sizeof self->cname);
}

static void
take_rtcp (AsspPeer *self, const guint8 *data, gsize size)
{
  while (size >= 8) {
    gsize length = 4u * (GST_READ_UINT16_BE (data + 2) + 1u);
    guint32 ssrc = GST_READ_UINT32_BE (data + 4);

    g_assert_cmpuint (length, <=, size);
    if (data[1] == RTCP_APP)
      take_app (self, data, length);
    else if (data[1] == RTCP_SDES)
      take_cname (self, data, length);
    else if (find (self, ssrc) && data[1] == RTCP_BYE)
      find (self, ssrc)->byes++;
    else if (find (self, ssrc) && data[1] == RTCP_SR) {
      find (self, ssrc)->reports++;
      find (self, ssrc)->sr_rtp_time = GST_READ_UINT32_BE (data + 16);
    }
    data += length;
    size -= length;
  }
}

static void
take_all (AsspPeer *self)
{
  GSocketAddress *from = NULL;
  guint8 data[2048];
  gssize size;

  for (guint i = 0; i < ASSP_PEER_STREAMS; i++)
    while (
        (size = g_socket_receive (self->stream[i].rtp, (gchar *)data, sizeof data, NULL, NULL)) > 0)
      take_rtp (&self->stream[i], data, (gsize)size);
  while ((size = g_socket_receive_from (self->rtcp, &from, (gchar *)data, sizeof data, NULL, NULL))
         > 0) {
    g_clear_object (&self->sender);
    self->sender = g_steal_pointer (&from);
    take_rtcp (self, data, (gsize)size);
  }
}

void
assp_peer_run (AsspPeer *self, guint ms)
{
  gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;

  do {
    take_all (self);
    g_usleep (500);
  } while (g_get_monotonic_time () < until);
}

static void
say (AsspPeer *self, const GstMccCompound *compound, const MccAsspApp *app)
{
  GstMccApps apps = { .n = app ? 1 : 0, .assp = app };
  GstBuffer *buffer = gst_mcc_compound_build_from (
      compound, &apps, 0, (MccTime)g_get_monotonic_time () * 1000, NULL);
  GstMapInfo map;

  g_assert_nonnull (self->sender);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_assert_cmpint (
      g_socket_send_to (self->out, self->sender, (const gchar *)map.data, map.size, NULL, NULL), ==,
      (gssize)map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

void
assp_peer_report (AsspPeer *self, guint stream, guint64 rate_bps, guint32 flags)
{
  GstMccCompound compound = { .ssrc = self->ssrc, .cname = "peer" };
  GstMccReception reception;
  MccAsspApp app;

  memset (&app, 0, sizeof app);
  if (self->stream[stream].packets) { /* that it is heard is what admits us */
    gst_mcc_reception_reset (&reception, self->stream[stream].ssrc);
    gst_mcc_reception_handle_rtp (&reception, self->stream[stream].seq, 0, 0);
    compound.reception = &reception;
  }
  app.ssrc = app.asmp.ssrc = self->ssrc;
  app.subtype = app.asmp.subtype = MCC_APP_REPORT;
  app.stream = stream;
  app.asmp.report.number = self->number++;
  app.asmp.report.flags = flags | MCC_REPORT_RTT_MEASURED;
  app.asmp.report.rate_bps = app.asmp.report.received_bps = rate_bps;
  app.asmp.report.potential_bps = self->potential_bps;
  app.asmp.report.rtt = 20 * MCC_MSECOND;
  app.asmp.report.highest_seq = self->stream[stream].packets ? self->stream[stream].seq : 0;
  say (self, &compound, &app);
}

void
assp_peer_pli (AsspPeer *self, guint stream)
{
  GstMccCompound compound
      = { .ssrc = self->ssrc, .cname = "peer", .pli_ssrc = self->streams.stream[stream].ssrc };

  say (self, &compound, NULL);
}

void
assp_peer_bye (AsspPeer *self)
{
  GstMccCompound compound = { .ssrc = self->ssrc, .cname = "peer", .bye = TRUE };

  say (self, &compound, NULL);
}

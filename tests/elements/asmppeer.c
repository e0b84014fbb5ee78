/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asmppeer.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "gstmcccompound.h"

#define EXTENSION_ID 14 /* what asmpsink lets payloaders reserve */
#define RTCP_SR 200
#define RTCP_BYE 203
#define RTCP_APP 204

static GSocket *
bind_socket (guint16 port, guint16 *bound)
{
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GInetAddress *host = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  GSocketAddress *address = g_inet_socket_address_new (host, port);

  g_object_unref (host);
  if (!g_socket_bind (socket, address, FALSE, NULL))
    g_clear_object (&socket);
  g_object_unref (address);
  if (socket && bound) {
    address = g_socket_get_local_address (socket, NULL);
    *bound = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (address));
    g_object_unref (address);
  }
  if (socket) {
    int on = 1;

    g_socket_set_blocking (socket, FALSE);
    setsockopt (g_socket_get_fd (socket), IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
  }
  return socket;
}

void
asmp_peer_init (AsmpPeer *self, guint32 ssrc)
{
  memset (self, 0, sizeof *self);
  self->ssrc = ssrc;
  self->number = 1;
  for (;;) {
    guint16 port = 0;

    self->rtp = bind_socket (0, &port);
    g_assert_nonnull (self->rtp);
    if (port % 2 == 0 && port < 65000 && (self->rtcp = bind_socket ((guint16)(port + 1), NULL))) {
      self->port = port;
      return;
    }
    g_clear_object (&self->rtp);
  }
}

void
asmp_peer_clear (AsmpPeer *self)
{
  g_clear_object (&self->rtp);
  g_clear_object (&self->rtcp);
  g_clear_object (&self->sender);
}

static void
take_rtp (AsmpPeer *self, const guint8 *data, gsize size)
{
  guint16 seq = GST_READ_UINT16_BE (data + 2);

  g_assert_cmpuint (size, >=, 12);
  if (self->packets > 0 && seq != (guint16)(self->seq + 1))
    self->gaps++;
  self->seq = seq;
  self->media_ssrc = GST_READ_UINT32_BE (data + 8);
  self->packets++;
  self->bytes += size + 28;
  self->largest = MAX (self->largest, (guint64)size + 28);
  self->last_rtp_us = g_get_monotonic_time ();
  if (size >= 20 && (data[0] & 0x10) && GST_READ_UINT16_BE (data + 12) == 0xbede
      && data[16] == (EXTENSION_ID << 4 | 2)) {
    self->together += self->send_time_us != 0 && self->send_time == GST_READ_UINT24_BE (data + 17);
    self->send_time = GST_READ_UINT24_BE (data + 17);
    self->send_time_us = self->last_rtp_us;
    if (self->send_time == 0)
      self->unstamped++;
  } else {
    self->unstamped++;
  }
}

static void
take_rtcp (AsmpPeer *self, const guint8 *data, gsize size)
{
  while (size >= 4) {
    gsize length = 4u * (GST_READ_UINT16_BE (data + 2) + 1u);
    MccApp app;

    g_assert_cmpuint (length, <=, size);
    if (data[1] == RTCP_SR) {
      self->srs++;
      if (length >= 28)
        self->sr_packets = MAX (self->sr_packets, GST_READ_UINT32_BE (data + 20));
    } else if (data[1] == RTCP_BYE) {
      self->byes++;
      self->bye_us = g_get_monotonic_time ();
    } else if (data[1] == RTCP_APP) {
      g_assert_cmpint (mcc_app_decode (data, length, &app), ==, MCC_DROP_NONE);
      if (app.subtype == MCC_APP_SESSION) {
        self->renames += self->sessions > 0 && app.session.media_ssrc != self->session.media_ssrc;
        self->session = app.session;
        self->sessions++;
      } else if (app.subtype == MCC_APP_RTT) {
        self->rtt = app.rtt;
        self->rtts++;
      }
    }
    data += length;
    size -= length;
  }
}

/* One datagram, with the TOS byte of its header; 0: none. */
static gsize
take_datagram (GSocket *socket, guint8 *data, gsize size, guint8 *tos, struct sockaddr_in *from)
{
  guint64 control[8];
  struct iovec vector = { data, size };
  struct msghdr message = { .msg_name = from,
    .msg_namelen = sizeof *from,
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = control,
    .msg_controllen = sizeof control };
  gssize n = recvmsg (g_socket_get_fd (socket), &message, 0);

  for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR (&message) : NULL; c;
       c = CMSG_NXTHDR (&message, c))
    if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
      *tos = *CMSG_DATA (c);
  return n > 0 ? (gsize)n : 0;
}

static void
take_all (AsmpPeer *self)
{
  guint8 data[2048];
  struct sockaddr_in from;
  gsize size;

  while ((size = take_datagram (self->rtp, data, sizeof data, &self->tos, &from)) > 0)
    take_rtp (self, data, size);
  while ((size = take_datagram (self->rtcp, data, sizeof data, &self->rtcp_tos, &from)) > 0) {
    g_clear_object (&self->sender);
    self->sender = g_socket_address_new_from_native (&from, sizeof from);
    take_rtcp (self, data, size);
  }
}

void
asmp_peer_run (AsmpPeer *self, guint ms)
{
  gint64 until = g_get_monotonic_time () + (gint64)ms * 1000;

  do {
    take_all (self);
    g_usleep (500);
  } while (g_get_monotonic_time () < until);
}

static void
say (AsmpPeer *self, const GstMccCompound *compound, const MccApp *app)
{
  guint used;
  GstBuffer *buffer = gst_mcc_compound_build (
      compound, app, app ? 1 : 0, (MccTime)g_get_monotonic_time () * 1000, &used);
  GstMapInfo map;

  g_assert_nonnull (self->sender);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_assert_cmpint (
      g_socket_send_to (self->rtcp, self->sender, (const gchar *)map.data, map.size, NULL, NULL),
      ==, (gssize)map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

void
asmp_peer_report (AsmpPeer *self, guint64 rate_bps, guint32 flags)
{
  GstMccReception reception = { .ssrc = self->media_ssrc };
  GstMccCompound compound = { .ssrc = self->ssrc, .cname = "peer", .reception = &reception };
  MccApp app;

  if (self->packets > 0 && !self->blind)
    gst_mcc_reception_handle_rtp (&reception, self->seq, 0, 0);
  memset (&app, 0, sizeof app);
  app.ssrc = self->ssrc;
  app.subtype = MCC_APP_REPORT;
  app.report.number = self->number++;
  app.report.ecn = self->ecn;
  app.report.flags = flags | MCC_REPORT_RTT_MEASURED;
  app.report.rate_bps = rate_bps;
  app.report.received_bps = rate_bps;
  app.report.rtt = 20 * MCC_MSECOND;
  app.report.highest_seq = self->seq;
  if (self->send_time_us) {
    app.report.flags |= MCC_REPORT_ECHO;
    app.report.echo = self->send_time;
    app.report.hold = (MccTime)(g_get_monotonic_time () - self->send_time_us) * MCC_USECOND;
  }
  say (self, &compound, &app);
  self->reports_sent++;
}

void
asmp_peer_pli (AsmpPeer *self)
{
  GstMccCompound compound = { .ssrc = self->ssrc, .cname = "peer", .pli_ssrc = self->media_ssrc };

  say (self, &compound, NULL);
}

void
asmp_peer_bye (AsmpPeer *self)
{
  GstMccCompound compound = { .ssrc = self->ssrc, .cname = "peer", .bye = TRUE };

  say (self, &compound, NULL);
}

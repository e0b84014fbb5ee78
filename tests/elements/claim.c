/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "claim.h"

#include <gst/gst.h>
#include <netinet/in.h>

void
claim_ssrc (const gchar *group, guint16 rtcp_port, guint32 ssrc)
{
  guint8 compound[20] = { 0x80, 201, 0, 1, 0, 0, 0, 0, 0x81, 202, 0, 2, 0, 0, 0, 0, 1, 1, 'x' };
  GSocket *socket
      = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *to = g_inet_socket_address_new_from_string (group, rtcp_port);

  GST_WRITE_UINT32_BE (compound + 4, ssrc);
  GST_WRITE_UINT32_BE (compound + 12, ssrc);
  g_socket_set_option (socket, IPPROTO_IP, IP_MULTICAST_IF, (gint)g_htonl (INADDR_LOOPBACK), NULL);
  g_assert_cmpint (
      g_socket_send_to (socket, to, (gchar *)compound, sizeof compound, NULL, NULL), >, 0);
  g_object_unref (to);
  g_object_unref (socket);
}

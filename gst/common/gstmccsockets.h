/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsockets: the sockets of one RTP session, made from the network settings.
 *
 *            RTP                          RTCP in (a)           RTCP in (b) and out
 *  sender    out, any port                group:port+1 (ASM)    feedback:fport, or any port
 *  receiver  in, group:port               group:port+1          any port
 *  unicast   out / in local:port          -                     any port / local:port+1
 *  streams   gst_mcc_sockets_open_stream  as a receiver
 *
 * RTCP leaves from a socket of its own, so its port tells our looped packets from others' even
 * when several members share a host. A receiver's are in no group but between _rejoin() and
 * _leave(): who does not report must load no link. Every error names the property and the mend;
 * nothing falls back silently to another interface.
 */
#pragma once

#include <gio/gio.h>

#include "gstmccsession.h"

G_BEGIN_DECLS

typedef enum {
  GST_MCC_SOCKETS_RECEIVER,
  GST_MCC_SOCKETS_SENDER,
  GST_MCC_SOCKETS_STREAMS /* a receiver whose RTP comes from groups that it joins and leaves */
} GstMccSocketsKind;

typedef struct {
  gboolean sender;
  gboolean ipv6;
  gboolean multicast;
  gboolean ssm;        /* with source-address */
  GSocket *rtp;        /* out (sender), in (receiver); NULL: streams */
  GSocket *rtcp_group; /* in, joined; NULL when nothing comes that way */
  GSocket *rtcp;       /* in and out */
  guint16 rtcp_port;   /* local port of .rtcp */
  guint scope;         /* index of .iface when last looked up, 0 = none; atomic */
  gchar *iface;
  MccAddress group;    /* address and port of RTP */
  MccAddress source;   /* of SSM; family 0 = none */
  MccAddress feedback; /* sender: ours to announce; receiver: where reports go; family 0 = none */
} GstMccSockets;

/* Receiver: it has joined to see that it can, and has left again. */
gboolean gst_mcc_sockets_open (GstMccSockets *self, const GstMccSessionSettings *settings,
    GstMccSocketsKind kind, GError **error);
void gst_mcc_sockets_close (GstMccSockets *self);
/* Receiver: leaves the group, joins it again; what had come before is read away. FALSE, *error as
 * below. */
void gst_mcc_sockets_leave (GstMccSockets *self);
gboolean gst_mcc_sockets_rejoin (GstMccSockets *self, GError **error);
/* Out of all groups, and those of @streams, and in again, on the interface that has the name now,
 * or that the routes lead to; what leaves, leaves by it. What waits to be read stays. Sockets that
 * are bound to a link-local group of IPv6 stay with the interface that they were made for. FALSE: a
 * group could not be joined; *error, if asked for, names the first such and the mend. */
gboolean gst_mcc_sockets_renew (
    GstMccSockets *self, GSocket *const *streams, guint n, GError **error);
/* ... of what leaves only. Any thread. */
void gst_mcc_sockets_renew_output (GstMccSockets *self);
/* Interface of link-local IPv6 addresses. Any thread. */
guint32 gst_mcc_sockets_get_scope (GstMccSockets *self);
/* Receiver: a socket for RTP at @place, joined. Caller unrefs. NULL: *error says why. */
GSocket *gst_mcc_sockets_open_stream (GstMccSockets *self, MccPlace place, GError **error);
/* ... out of its group; the kernel delivers nothing any more. */
void gst_mcc_sockets_leave_stream (GstMccSockets *self, GSocket *socket);
/* TTL of what leaves by .rtcp for a group; 0: it stays on this host. */
void gst_mcc_sockets_set_ttl (GstMccSockets *self, guint8 ttl);
/* Whether what leaves by .rtp is ECT(0); the DSCP stays. */
void gst_mcc_sockets_set_ect (GstMccSockets *self, gboolean ect);
/* Packets that the kernel dropped at @socket since it was made, 0 where it does not tell. */
guint32 gst_mcc_sockets_get_drops (GSocket *socket);

/* Kernel memory of what waits to be read, 0 where it does not tell. */
guint32 gst_mcc_sockets_get_backlog (GSocket *socket);

gboolean gst_mcc_address_parse (const gchar *text, guint port, MccAddress *out);
gboolean gst_mcc_address_from_socket (GSocketAddress *address, MccAddress *out);
/* @scope: interface index for link-local IPv6, else ignored. Transfer: full. */
GSocketAddress *gst_mcc_address_to_socket (const MccAddress *address, guint32 scope);
gboolean gst_mcc_address_is_multicast (const MccAddress *address);
/* The same host; ports may differ. */

G_END_DECLS

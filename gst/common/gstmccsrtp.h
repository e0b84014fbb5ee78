/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsrtp: SRTP and SRTCP (RFC 3711) of one session, by libsrtp: packets in place, no socket, no
 * clock. All members of a group share its keys; each SSRC has a key stream of its own, because the
 * SSRC is in the IV (RFC 3711 4.1.1), so that one master key is enough for all streams and layers.
 * A second source with the same SSRC would use the same key stream: SSRCs must be random, not the
 * user's or a seed's.
 *
 * Keys are text, one a line, # begins a comment:
 *
 *   [MKI] BASE64        master key and salt, as RFC 4568's inline: has them (30 bytes for
 *                       aes-128-icm, 46 for aes-256-icm)
 *
 * with a number 1 .. 2^32 - 1 as MKI, which is 4 bytes on the wire; without MKIs there is one key.
 * Lines are in the order in which keys are used. A sender uses the last; a receiver reads with all
 * of them and speaks under the one that the sender has come to (the first, before it hears one). So
 * keys change without a lost packet where receivers get the new one before the sender does.
 *
 * Nothing here prints a key, or what a line holds: errors name the line's number.
 */
#pragma once

#include <glib.h>

#include "mccindexapp.h"

G_BEGIN_DECLS

typedef enum { GST_MCC_SRTP_AES_128_ICM, GST_MCC_SRTP_AES_256_ICM } GstMccSrtpCipher;
/* Of SRTP; SRTCP always has 80 bits (RFC 3711 5.2, 7.5). */
typedef enum { GST_MCC_SRTP_HMAC_SHA1_80, GST_MCC_SRTP_HMAC_SHA1_32 } GstMccSrtpAuth;

/* Room that protecting needs behind a packet: index, MKI, tag. */
#define GST_MCC_SRTP_ROOM 32

typedef struct _GstMccSrtp GstMccSrtp;

/* @sender: of RTP. NULL: *error, without the key, says what is wrong and the mend. */
GstMccSrtp *gst_mcc_srtp_new (gboolean sender, const gchar *keys, GstMccSrtpCipher cipher,
    GstMccSrtpAuth auth, GError **error);
void gst_mcc_srtp_free (GstMccSrtp *self);
/* Other keys from now on; what was counted per SSRC goes on. FALSE: nothing has changed. */
gboolean gst_mcc_srtp_set_keys (GstMccSrtp *self, const gchar *keys, GError **error);

/* What SRTP adds to an RTP packet. */
guint gst_mcc_srtp_get_overhead (GstMccSrtp *self);
/* ... to an RTCP compound (RFC 3711 3.4): its index, the tag, which is long always, the MKI. */
guint gst_mcc_srtp_get_rtcp_overhead (GstMccSrtp *self);

/* Any thread. @data has room for GST_MCC_SRTP_ROOM bytes more than *size. FALSE: it cannot leave.
 */
gboolean gst_mcc_srtp_protect (GstMccSrtp *self, gboolean rtcp, guint8 *data, gsize *size);
/* MCC_DROP_NONE: @data is the packet as it was; UNAUTHENTIC or REPLAYED: it is not to be used; OWN:
 * nor that, for we have sent it.
 * @followed: whom a receiver follows (0: nobody), who is never forgotten. @now does not run back.
 */
MccDrop gst_mcc_srtp_unprotect (
    GstMccSrtp *self, gboolean rtcp, guint8 *data, gsize *size, guint32 followed, MccTime now);

/* Sender: how far its streams are. */
void gst_mcc_srtp_get_indexes (GstMccSrtp *self, MccIndexApp *out);
/* Receiver: how far the sender's are: authentic, that is from SRTCP. What is said last counts. */
void gst_mcc_srtp_set_indexes (
    GstMccSrtp *self, const MccIndexApp *app, guint32 followed, MccTime now);

G_END_DECLS

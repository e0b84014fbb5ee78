/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccrtpread: what a receiver reads out of RTP packets: when they were sent, whether they carry
 * a key unit, and how frames are told apart. Nothing is read behind the given size.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The abs-send-time (24 bits) under the header extension @id (RFC 8285) of the RTP packet @data.
 * FALSE: it has none. */
gboolean gst_mcc_rtp_find_send_time (const guint8 *data, gsize size, guint8 id, guint32 *send_time);

/* The payload (padding included) of the RTP packet @data, its bytes in *payload_size; NULL: not
 * valid, or empty. */
const guint8 *gst_mcc_rtp_find_payload (const guint8 *data, gsize size, gsize *payload_size);

typedef enum {
  GST_MCC_PAYLOAD_OTHER, /* key units cannot be told */
  GST_MCC_PAYLOAD_H264,
  GST_MCC_PAYLOAD_H265,
  GST_MCC_PAYLOAD_VP8,
  GST_MCC_PAYLOAD_VP9
} GstMccPayload;

GstMccPayload gst_mcc_payload_from_name (const gchar *encoding_name);
/* Whether @payload (an RTP payload) begins or carries a key unit. Reads nothing behind @size. */
gboolean gst_mcc_payload_is_key_unit (GstMccPayload kind, const guint8 *payload, gsize size);
/* Whether @payload alone tells that an access unit that begins with it can be decoded: parameter
 * sets, or the first packet of a key frame where there are none. */
gboolean gst_mcc_payload_begins (GstMccPayload kind, const guint8 *payload, gsize size);
/* Whether @payload is a fragment of a unit, and not its first (RFC 6184 5.8, RFC 7798 4.4.3). */
gboolean gst_mcc_payload_continues (GstMccPayload kind, const guint8 *payload, gsize size);
gboolean gst_mcc_payload_has_delimiter (GstMccPayload kind);
/* Full. An access unit delimiter (ITU-T H.264 7.3.2.4, H.265 7.3.2.5) as a packet without a marker,
 * else as @packet; NULL: the encoding has none, or @packet has no RTP header. */
GstBuffer *gst_mcc_payload_new_delimiter (GstMccPayload kind, GstBuffer *packet);

G_END_DECLS

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccrtpread: what a receiver reads out of RTP packets: when they were sent, and whether they
 * carry a key unit. Nothing is read behind the given size.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The abs-send-time (24 bits) under the one-byte header extension @id (RFC 8285) of the RTP packet
 * @data, at least 12 bytes. FALSE: it has none. */
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

G_END_DECLS

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccabssendtime: the RTP header extension abs-send-time, 24 bits of 6.18 fixed point seconds.
 *
 * The extension object makes a payloader reserve the bytes and puts extmap-<id> into its caps; what
 * it writes is 0. The pacer overwrites the bytes as a packet leaves. It is not registered as an
 * element: nobody but us needs it, and receivers read the id from the announcement.
 */
#pragma once

#include <gst/gst.h>
#include <gst/rtp/rtp.h>

G_BEGIN_DECLS

#define GST_MCC_ABS_SEND_TIME_URI "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"

#define GST_TYPE_MCC_ABS_SEND_TIME (gst_mcc_abs_send_time_get_type ())
G_DECLARE_FINAL_TYPE (
    GstMccAbsSendTime, gst_mcc_abs_send_time, GST, MCC_ABS_SEND_TIME, GstRTPHeaderExtension)

/* The id that @caps give to the extension, 0 = none; *free_id (may be NULL): one that @caps do not
 * use, 0 = all are. */
guint8 gst_mcc_abs_send_time_id_from_caps (GstCaps *caps, guint8 *free_id);

/* Makes @payloader reserve the bytes under a free id, unless it does. FALSE: it cannot. */
gboolean gst_mcc_abs_send_time_reserve (GstElement *payloader);

typedef struct {
  guint16 seq;
  guint32 header_bytes; /* RTP header with extension */
} GstMccRtpInfo;

/* Writes @send_time into the extension @id of the RTP packet @buffer (writable), in place where
 * the bytes are reserved; otherwise adds the extension. FALSE: not RTP, or no room for it. */
gboolean gst_mcc_abs_send_time_stamp (
    GstBuffer *buffer, guint8 id, guint32 send_time, guint16 *seq);
/* Adds @shift to the RTP time of the packet @buffer (writable). */
void gst_mcc_rtp_shift_time (GstBuffer *buffer, guint32 shift);
/* Only reads. */
gboolean gst_mcc_rtp_info (GstBuffer *buffer, GstMccRtpInfo *out);

G_END_DECLS

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstmccreceiver.c, gstmccreceiverkeyunit.c, gstmccreceiverproperties.c and
 * gstmccreceiversilence.c share.
 */
#pragma once

#include "gstmccreceiver.h"

G_BEGIN_DECLS

void gst_mcc_receiver_install_properties (GObjectClass *object);

/* The session's handler, of what concerns key units. */
void gst_mcc_receiver_handle_key_unit_request (gpointer owner, guint stream, guint32 ssrc);
void gst_mcc_receiver_handle_lost (gpointer owner, guint packets);
GstBuffer *gst_mcc_receiver_handle_leaving (gpointer owner, GstBuffer *buffer, GstBuffer **before);

/* When nothing is heard. What is to be told of it: */
typedef enum {
  GST_MCC_RECEIVER_SILENCE_NONE,
  GST_MCC_RECEIVER_SILENCE_NOBODY, /* no sender yet */
  GST_MCC_RECEIVER_SILENCE_LOST,   /* no more of the one there was */
  GST_MCC_RECEIVER_SILENCE_KEY,    /* ... but what comes is not authentic */
  GST_MCC_RECEIVER_SILENCE_UNREAD  /* RTP, but no RTCP that can be read */
} GstMccReceiverSilence;

/* PLAYING begins. */
void gst_mcc_receiver_begin_silence_locked (GstMccReceiver *self, MccTime now);
void gst_mcc_receiver_note_lost_locked (GstMccReceiver *self);
/* A packet has come; @ours: of the sender that we follow. */
void gst_mcc_receiver_note_rtp_locked (GstMccReceiver *self, gboolean ours, MccTime now);
GstMccReceiverSilence gst_mcc_receiver_check_silence_locked (
    GstMccReceiver *self, MccTime now, MccTime *next);
/* Without the lock. */
void gst_mcc_receiver_tell_silence (GstMccReceiver *self, GstMccReceiverSilence silence);
/* From who acts, with the lock, which it releases meanwhile: joins all groups again if that is due.
 */
void gst_mcc_receiver_rejoin_locked (GstMccReceiver *self);
/* Without the lock. */
MccTime gst_mcc_receiver_next_rejoin (GstMccReceiver *self);

G_END_DECLS

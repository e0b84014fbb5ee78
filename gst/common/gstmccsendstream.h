/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsendstream: one stream of a sender, from where its packets come in to rtpbin: pacer,
 * encoder and session description.
 *
 *   encoder ! payloader ! ... ! entry -> pacer -> gstmccsession
 *
 * The owner tells the target; the pacer and the encoder upstream of the entry follow it. Warnings
 * are the owner's and come once each.
 */
#pragma once

#include <gst/gst.h>

#include "gstmccencoder.h"
#include "gstmccpacer.h"
#include "gstmccsenderproperties.h"
#include "gstmccsession.h"
#include "gstmccstats.h"

G_BEGIN_DECLS

typedef struct _GstMccSendStream GstMccSendStream;

/* As GstMccPacerHandler has them. */
typedef struct {
  void (*sent) (gpointer owner, guint stream, guint packets, guint64 bytes, guint32 highest_seq);
  void (*caps) (gpointer owner, guint stream, GstCaps *caps);
  void (*eos) (gpointer owner, guint stream);
  void (*again) (gpointer owner, guint stream);
  void (*key_unit) (gpointer owner, guint stream);
  guint (*lane) (gpointer owner, guint32 ssrc); /* NULL: there is one */
} GstMccSendStreamHandler;

/* @owner: the element, whose child the pacer is. */
GstMccSendStream *gst_mcc_send_stream_new (GstBin *owner, guint number,
    const GstMccSendStreamHandler *handler, GstMccEncoderChanged changed);
/* The pacer goes with its bin, or by _remove(). */
void gst_mcc_send_stream_free (GstMccSendStream *self);
/* Takes the pacer out of the bin. */
void gst_mcc_send_stream_remove (GstMccSendStream *self);

GstElement *gst_mcc_send_stream_get_pacer (GstMccSendStream *self);
/* The sink pad of a child by which packets come in: upstream of it are payloader and encoder. */
void gst_mcc_send_stream_set_entry (GstMccSendStream *self, GstPad *pad);
GstMccEncoder *gst_mcc_send_stream_get_encoder (GstMccSendStream *self);

/* Links the pacer to the session's RTP pad of this number. */
gboolean gst_mcc_send_stream_link (GstMccSendStream *self, GstMccSession *session);
/* Unlinks it and forgets the encoder. */
void gst_mcc_send_stream_unlink (GstMccSendStream *self);
void gst_mcc_send_stream_configure (GstMccSendStream *self, const GstMccSenderSettings *settings);
void gst_mcc_send_stream_set_pacing (GstMccSendStream *self, const MccPacing *pacing);
/* Takes the encoder's settings over; FALSE: an error was posted. */
gboolean gst_mcc_send_stream_set_encoder (
    GstMccSendStream *self, const GstMccEncoderSettings *settings);
/* Looks for the encoder and the payloader; @expected: caps are here, so both should be. */
void gst_mcc_send_stream_look_upstream (GstMccSendStream *self, gboolean expected);
/* Another entry of the stream, of a layer: its payloader makes packets as the first one's does. */
void gst_mcc_send_stream_configure_entry (GstMccSendStream *self, GstPad *entry);

/* The RTP time base that all streams of a session share: payloaders at their default get it, what
 * others send is shifted to it. Before _look_upstream(). */
void gst_mcc_send_stream_set_time_base (GstMccSendStream *self, guint32 offset);

/* Before data flows: warnings may come again. */
void gst_mcc_send_stream_start (GstMccSendStream *self, guint64 target_bps);
void gst_mcc_send_stream_set_target (GstMccSendStream *self, guint64 target_bps);
/* After packets were sent: corrects what the encoder is asked for, from time to time. */
void gst_mcc_send_stream_refresh (GstMccSendStream *self, MccTime now);
/* Warns of input that nobody steers and that stays above the target. */
void gst_mcc_send_stream_check_above (GstMccSendStream *self, guint64 sent_bps, MccTime now);
void gst_mcc_send_stream_set_stopped (GstMccSendStream *self, gboolean stopped);
/* Asks upstream, that is the encoder, for a key unit. */
void gst_mcc_send_stream_request_key_unit (GstMccSendStream *self);
/* Writes the description of a stream with @caps, sent with @network (taken over: cleared), to
 * @location, in a thread of its own: a disk may be slow. What was asked last stays. */
void gst_mcc_send_stream_write_sdp (GstMccSendStream *self, const gchar *location,
    GstMccSessionSettings *network, guint64 max_bps, GstCaps *caps);
void gst_mcc_send_stream_get_extra (GstMccSendStream *self, GstMccSenderExtra *out);

G_END_DECLS

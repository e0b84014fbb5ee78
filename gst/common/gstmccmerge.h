/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccmerge: several streams of one content in, one RTP stream out (mccsplice.h), under one SSRC,
 * for rtpbin sees no change of stream. Packets of a stream whose encoding is not known yet are held
 * (GST_MCC_MERGE_HOLD, GST_MCC_MERGE_PACKETS; the oldest give way): its first one may be the key
 * unit.
 */
#pragma once

#include <gst/gst.h>

#include "gstmccrtpread.h"
#include "mcctime.h"

G_BEGIN_DECLS

#define GST_MCC_MERGE_STREAMS 8
#define GST_MCC_MERGE_HOLD MCC_SECOND
#define GST_MCC_MERGE_PACKETS 512

typedef struct _GstMccMerge GstMccMerge;

/* From _handle() and _due(), without a lock. */
typedef struct {
  /* Transfer full. @late: it was held. */
  void (*out) (gpointer owner, GstBuffer *buffer, gboolean late);
  /* What comes out next is @stream. */
  void (*cut) (gpointer owner, guint stream);
  /* What comes out is @stream, and what it carries was told anew: it may be another encoding. */
  void (*kind) (gpointer owner, guint stream);
  /* Nothing of @stream is of use any more. */
  void (*left) (gpointer owner, guint stream);
  /* A key unit of @stream was torn; another is needed. */
  void (*key_unit) (gpointer owner, guint stream);
} GstMccMergeFuncs;

/* NULL: no memory. @ssrc: of what comes out. */
GstMccMerge *gst_mcc_merge_new (const GstMccMergeFuncs *funcs, gpointer owner, guint32 ssrc);
void gst_mcc_merge_free (GstMccMerge *self);

/* Any thread; done by the next _due(). See mccsplice.h. */
void gst_mcc_merge_join (GstMccMerge *self, guint stream, guint32 ssrc);
void gst_mcc_merge_leave (GstMccMerge *self, guint stream);
/* What @stream carries; clock_rate 0: that is not known any more. */
void gst_mcc_merge_set_kind (GstMccMerge *self, guint stream, GstMccPayload kind, guint clock_rate);
/* Any thread; at once: nothing is joined. */
void gst_mcc_merge_reset (GstMccMerge *self, MccTime now);

/* One thread. @buffer (transfer full) holds an RTP header at least, and nobody else has it. */
void gst_mcc_merge_handle (GstMccMerge *self, guint stream, GstBuffer *buffer, MccTime now);
/* Returns when to call it next. */
MccTime gst_mcc_merge_due (GstMccMerge *self, MccTime now);

/* From `cut` and `kind`: what comes out has this payload type; -1: its own. */
void gst_mcc_merge_set_payload_type (GstMccMerge *self, gint payload_type);

/* Any thread. */
gboolean gst_mcc_merge_wants (GstMccMerge *self, guint stream, guint32 ssrc);
guint32 gst_mcc_merge_get_ssrc (GstMccMerge *self);
/* The compound @data with what it says of the stream that is shown, as if that were what comes out;
 * in place; returns its bytes, 0: it says nothing of that. BYE goes: what comes out goes on. */
gsize gst_mcc_merge_map_rtcp (GstMccMerge *self, guint8 *data, gsize size);

G_END_DECLS

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmcclayers: packets of the layers of one content in, one RTP stream out that can be decoded
 * (mcclayermerge.h), under one SSRC, so that rtpbin sees no layers. How many there are the packets
 * say.
 */
#pragma once

#include <gst/gst.h>

#include "mcclayermerge.h"

G_BEGIN_DECLS

typedef struct _GstMccLayers GstMccLayers;

/* From _handle() and _due(), without a lock. */
typedef struct {
  /* Transfer full. */
  void (*out) (gpointer owner, GstBuffer *buffer);
  /* The first picture of @layer since it was joined comes next. */
  void (*shown) (gpointer owner, guint layer);
  /* The base layer has a gap. */
  void (*key_unit) (gpointer owner);
} GstMccLayersFuncs;

/* NULL: no memory. @ssrc: of what comes out. @wait: for a gap. */
GstMccLayers *gst_mcc_layers_new (
    const GstMccLayersFuncs *funcs, gpointer owner, guint32 ssrc, MccTime wait);
void gst_mcc_layers_free (GstMccLayers *self);

/* Any thread; done before the next packet. */
void gst_mcc_layers_join (GstMccLayers *self, guint layer);
void gst_mcc_layers_leave (GstMccLayers *self, guint layer);
/* Another sender, or one that begins anew, whose base layer has @ssrc. */
void gst_mcc_layers_restart (GstMccLayers *self, guint32 ssrc);
/* The id of the header extension; 0: not known, nothing comes out. */
void gst_mcc_layers_set_media (GstMccLayers *self, guint8 order_id, guint clock_rate);
/* Any thread; at once: no layer is joined. */
void gst_mcc_layers_reset (GstMccLayers *self, MccTime now);

/* One thread. @buffer (transfer full) holds an RTP header at least, and nobody else has it. */
void gst_mcc_layers_handle (GstMccLayers *self, guint layer, GstBuffer *buffer, MccTime now);
/* Returns when to call it next. */
MccTime gst_mcc_layers_due (GstMccLayers *self, MccTime now);

/* Any thread. */
void gst_mcc_layers_get_stats (GstMccLayers *self, MccLayerMergeStats *out);
void gst_mcc_layers_clear_stats (GstMccLayers *self);
/* The compound @data with what it says of the base layer, as if that were what comes out; in place;
 * returns its bytes, 0: it says nothing of that. */
gsize gst_mcc_layers_map_rtcp (GstMccLayers *self, guint8 *data, gsize size);

G_END_DECLS

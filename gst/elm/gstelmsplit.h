/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstelmsplit: an internal element that makes layers of RTP: whole access units, each of one layer
 * (mcclayerclass.h), with the SSRC and numbers of its layer and the order of mcclayerorder.h. What
 * leaves is one sequence of packets in decoding order, unit by unit.
 *
 * Either one stream comes in, whose units are sorted by what they say, or one stream a layer. Of
 * one stream, the layers are counted first: over GST_ELM_SPLIT_UNITS units or GST_ELM_SPLIT_TIME,
 * which are held; a unit of a higher layer that comes later makes them more. None of them is empty:
 * where none is of the B references, say, those above take their place, all in one.
 */
#pragma once

#include <gst/gst.h>

#include "mcclayerclass.h"

G_BEGIN_DECLS

#define GST_ELM_SPLIT_UNITS 8
#define GST_ELM_SPLIT_TIME (500 * GST_MSECOND)

#define GST_TYPE_ELM_SPLIT (gst_elm_split_get_type ())
G_DECLARE_FINAL_TYPE (GstElmSplit, gst_elm_split, GST, ELM_SPLIT, GstElement)

/* A streaming thread; nothing of the split may be called from it but _get_. */
typedef struct {
  /* What comes next is of so many layers. */
  void (*layers) (gpointer owner, guint count);
  /* A unit could not be read. */
  void (*malformed) (gpointer owner, MccLayerError error);
  /* Packets of @layer that come next have another SSRC, for somebody else had theirs. */
  void (*renamed) (gpointer owner, guint layer, guint32 ssrc);
  /* Caps that leave no ids of RTP header extensions for the layers' order and the send time, which
   * are refused. */
  void (*no_id) (gpointer owner, GstCaps *caps);
} GstElmSplitHandler;

/* @count: of layers at most. @seed: of SSRCs and first numbers. Played again by way of READY it has
 * other SSRCs; numbers go on. */
GstElement *gst_elm_split_new (
    const GstElmSplitHandler *handler, gpointer owner, guint count, guint64 seed);
/* Adds a sink pad for packets of @layer, -1: of all. No transfer. */
GstPad *gst_elm_split_add_pad (GstElmSplit *self, gint layer);
guint32 gst_elm_split_get_ssrc (GstElmSplit *self, guint layer);
/* The layer whose packets that leave have it; 0: none. */
guint gst_elm_split_find_layer (GstElmSplit *self, guint32 ssrc);
/* A serialized event of this structure goes in front of packets with another SSRC: uint layer, uint
 * ssrc; new caps follow. A flush takes it away. */
#define GST_ELM_SPLIT_RENAMED "elm-renamed"
/* Units of each layer so far. */
void gst_elm_split_get_units (GstElmSplit *self, guint64 units[MCC_LAYER_ORDER_LAYERS_MAX]);

G_END_DECLS

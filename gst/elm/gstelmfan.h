/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstelmfan: an internal element behind the pacer that hands each packet to the stream of its SSRC.
 * Nothing waits in it, and what comes one behind another leaves so. A layer's other SSRC is told
 * between the packets (GST_ELM_SPLIT_RENAMED); as that may be lost in a flush or a stop, the split
 * is asked behind those.
 */
#pragma once

#include <gst/gst.h>

#include "gstelmsplit.h"

G_BEGIN_DECLS

#define GST_TYPE_ELM_FAN (gst_elm_fan_get_type ())
G_DECLARE_FINAL_TYPE (GstElmFan, gst_elm_fan, GST, ELM_FAN, GstElement)

/* The pacer's thread: @packets of together @bytes on the wire have left; @highest_seq is the
 * extended number of the newest. */
typedef void (*GstElmFanSent) (
    gpointer owner, guint layer, guint packets, guint64 bytes, guint32 highest_seq);

GstElement *gst_elm_fan_new (GstElmSplit *split, GstElmFanSent sent, gpointer owner);
/* Header bytes of IP and UDP. */
void gst_elm_fan_set_overhead (GstElmFan *self, guint bytes);
/* The src pad of the next layer. No transfer. */
GstPad *gst_elm_fan_add_pad (GstElmFan *self);

G_END_DECLS

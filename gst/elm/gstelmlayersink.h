/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * elmlayersink: sends the layers of a stream, each to a group of its own.
 *
 * What is decided is decided by the core (mccelmsender.h, mcclayerclass.h); this element
 * translates.
 */
#pragma once

#include "gstmccsender.h"

G_BEGIN_DECLS

#define GST_TYPE_ELM_LAYER_SINK (gst_elm_layer_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstElmLayerSink, gst_elm_layer_sink, GST, ELM_LAYER_SINK, GstMccSender)

GST_ELEMENT_REGISTER_DECLARE (elmlayersink);

G_END_DECLS

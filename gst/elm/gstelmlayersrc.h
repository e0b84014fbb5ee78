/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "gstmccreceiver.h"

G_BEGIN_DECLS

#define GST_TYPE_ELM_LAYER_SRC (gst_elm_layer_src_get_type ())
G_DECLARE_FINAL_TYPE (GstElmLayerSrc, gst_elm_layer_src, GST, ELM_LAYER_SRC, GstMccReceiver)
GST_ELEMENT_REGISTER_DECLARE (elmlayersrc)

G_END_DECLS

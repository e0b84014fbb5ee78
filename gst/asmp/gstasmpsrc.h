/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpsrc: receives an adaptive stream from a group and reports the rate its path can take.
 */
#pragma once

#include "gstmccreceiver.h"

G_BEGIN_DECLS

#define GST_TYPE_ASMP_SRC (gst_asmp_src_get_type ())
G_DECLARE_FINAL_TYPE (GstAsmpSrc, gst_asmp_src, GST, ASMP_SRC, GstMccReceiver)

GST_ELEMENT_REGISTER_DECLARE (asmpsrc);

G_END_DECLS

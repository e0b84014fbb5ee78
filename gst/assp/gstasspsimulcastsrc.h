/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastsrc: receives one of several streams of a video, and moves between them unseen.
 *
 * What is decided is decided by the core (mccasspreceiver.h, mccsplice.h); this element translates.
 */
#pragma once

#include "gstmccreceiver.h"

G_BEGIN_DECLS

#define GST_TYPE_ASSP_SIMULCAST_SRC (gst_assp_simulcast_src_get_type ())
G_DECLARE_FINAL_TYPE (
    GstAsspSimulcastSrc, gst_assp_simulcast_src, GST, ASSP_SIMULCAST_SRC, GstMccReceiver)

GST_ELEMENT_REGISTER_DECLARE (asspsimulcastsrc);

G_END_DECLS

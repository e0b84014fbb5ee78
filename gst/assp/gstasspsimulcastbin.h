/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsimulcastbin: sends several versions of one video, each adaptive and to a group of its own.
 *
 *   sink -> clocksync -> tee -> (gstasspbranch) -> pacer -> rtpbin -> udpsink     for each stream
 *   or sink_%u -> clocksync -> pacer -> rtpbin -> udpsink
 *
 * What is decided is decided by the core (mccasspsender.h); this element translates.
 */
#pragma once

#include "gstmccsender.h"

G_BEGIN_DECLS

#define GST_TYPE_ASSP_SIMULCAST_BIN (gst_assp_simulcast_bin_get_type ())
G_DECLARE_FINAL_TYPE (
    GstAsspSimulcastBin, gst_assp_simulcast_bin, GST, ASSP_SIMULCAST_BIN, GstMccSender)

GST_ELEMENT_REGISTER_DECLARE (asspsimulcastbin);

G_END_DECLS

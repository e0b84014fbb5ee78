/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpsink: sends one adaptive RTP stream to a multicast group.
 *
 *   sink -> clocksync -> pacer -> rtpbin -> udpsink
 *
 * What is decided is decided by the core (mccasmpsender.h); this element translates.
 */
#pragma once

#include "gstmccsender.h"

G_BEGIN_DECLS

#define GST_TYPE_ASMP_SINK (gst_asmp_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstAsmpSink, gst_asmp_sink, GST, ASMP_SINK, GstMccSender)

GST_ELEMENT_REGISTER_DECLARE (asmpsink);

G_END_DECLS

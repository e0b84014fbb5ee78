/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccgate: what stands between a receiver's udpsrc and rtpbin.
 *
 * Asks `accept` for each RTP packet, then holds packets until the caps are known (rtpbin drops RTP
 * without caps in silence, the first key unit with it): at most GST_MCC_GATE_HOLD long and
 * GST_MCC_GATE_PACKETS packets; the oldest give way and are counted. Packets of a sender that may
 * come to be followed wait apart, as long and as many: once it is (gst_mcc_gate_reset()), they go
 * first, and the key unit that it began with is not lost. Two pads without a parent,
 * so that no element needs a type of its own for it.
 */
#pragma once

#include <gst/gst.h>

#include "mcctime.h"

G_BEGIN_DECLS

#define GST_MCC_GATE_HOLD MCC_SECOND
#define GST_MCC_GATE_PACKETS 512

typedef struct _GstMccGate GstMccGate;

typedef enum {
  GST_MCC_GATE_DROP,
  GST_MCC_GATE_PASS,
  GST_MCC_GATE_WAIT /* its sender may come to be followed */
} GstMccGateVerdict;

/* From udpsrc's thread. */
typedef GstMccGateVerdict (*GstMccGateAccept) (gpointer owner, GstBuffer *buffer, MccTime now);
/* EOS came from upstream (the application ends the pipeline). */
typedef void (*GstMccGateEos) (gpointer owner);

GstMccGate *gst_mcc_gate_new (GstMccGateAccept accept, GstMccGateEos eos, gpointer owner);
void gst_mcc_gate_free (GstMccGate *self);
/* No transfer. */
GstPad *gst_mcc_gate_get_sink (GstMccGate *self);
GstPad *gst_mcc_gate_get_src (GstMccGate *self);
void gst_mcc_gate_start (GstMccGate *self);
void gst_mcc_gate_stop (GstMccGate *self);
/* Caps of what comes; any thread. */
void gst_mcc_gate_set_caps (GstMccGate *self, GstCaps *caps);
/* Another stream begins whose caps are not known yet: holds again. The old caps are taken when no
 * others come in GST_MCC_GATE_HOLD. */
void gst_mcc_gate_reset (GstMccGate *self);
/* Packets dropped for want of caps. */
guint64 gst_mcc_gate_get_dropped (GstMccGate *self);

G_END_DECLS

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccpacer: an internal element in front of rtpbin that sends packets when the core's pacer says
 * so (mccpacer.h), from a thread of its own that wakes at most once a burst (5 ms, or less where
 * somebody limits: mccpacing.h) and pushes what is due as one buffer list, stamped with
 * abs-send-time.
 *
 * A stream of several layers has a lane for each: its packets wait for one another only, and leave
 * between those of other lanes. Events keep their place between the packets of all: EOS leaves
 * behind the last one. Packets are never dropped (but on a flush, and all of them while stopped) or
 * reordered within a lane. The thread that delivers them waits only when GST_MCC_PACER_LIMIT
 * packets are queued, that is, when the network blocks.
 */
#pragma once

#include <gst/gst.h>

#include "mcclayerorder.h"
#include "mccpacer.h"

G_BEGIN_DECLS

#define GST_MCC_PACER_LIMIT 16384
#define GST_MCC_PACER_LANES MCC_LAYER_ORDER_LAYERS_MAX

#define GST_TYPE_MCC_PACER (gst_mcc_pacer_get_type ())
G_DECLARE_FINAL_TYPE (GstMccPacer, gst_mcc_pacer, GST, MCC_PACER, GstElement)

/* Called without a lock of the pacer. Any may be NULL. */
typedef struct {
  /* The pacer's thread: @packets of together @bytes on the wire were pushed; @highest_seq is the
   * extended number of the newest. */
  void (*sent) (gpointer owner, guint packets, guint64 bytes, guint32 highest_seq);
  /* The streaming thread: packets with these caps come next; @send_time_id of abs-send-time. */
  void (*caps) (gpointer owner, GstCaps *caps, guint8 send_time_id);
  /* The streaming thread: the lane, below GST_MCC_PACER_LANES, of packets with this SSRC. NULL: 0.
   */
  guint (*lane) (gpointer owner, guint32 ssrc);
  /* The pacer's thread: the last packet was pushed, EOS comes next. */
  void (*eos) (gpointer owner);
  /* A stream begins, or was flushed: behind an EOS it goes on, be it that nothing leaves as yet. */
  void (*again) (gpointer owner);
  /* Somebody behind asks for a key unit; the request goes no further. */
  void (*key_unit) (gpointer owner);
} GstMccPacerHandler;

GstElement *gst_mcc_pacer_new (const GstMccPacerHandler *handler, gpointer owner);

void gst_mcc_pacer_set_config (GstMccPacer *self, gdouble factor, MccTime max_delay);
void gst_mcc_pacer_set_pacing (GstMccPacer *self, const MccPacing *pacing);
/* Header bytes of IP and UDP. */
void gst_mcc_pacer_set_overhead (GstMccPacer *self, guint bytes);
/* Of each lane. */
void gst_mcc_pacer_set_target (GstMccPacer *self, guint64 target_bps);
/* Of one of several, which make @all_bps together. */
void gst_mcc_pacer_set_lane_target (
    GstMccPacer *self, guint lane, guint64 target_bps, guint64 all_bps);
/* From .caps: added to the RTP time of the packets with these caps. */
void gst_mcc_pacer_set_time_shift (GstMccPacer *self, guint32 shift);
/* While stopped, what comes in is dropped (no-feedback=stop). */
void gst_mcc_pacer_set_stopped (GstMccPacer *self, gboolean stopped);
/* What to ask of the encoder for @target_bps (mccencoding.h); TRUE when it should get *out_bps
 * now. */
gboolean gst_mcc_pacer_ask (GstMccPacer *self, guint64 target_bps, guint64 *out_bps);
/* *delay: of the lane that waits longest. *behind: the encoder gets less than the target for it. */
void gst_mcc_pacer_get_stats (
    GstMccPacer *self, MccTime *delay, guint64 *overruns, gboolean *behind);

G_END_DECLS

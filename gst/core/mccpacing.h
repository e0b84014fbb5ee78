/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccpacing: how evenly a sender's packets shall leave (`enhanced`).
 *
 * Where nobody limits the stream its packets may leave as is cheapest for the host, in bursts.
 * Beside others they find the queue of a bottleneck that is full now and then; who sends four
 * packets at once or a picture at 1.5 times its rate meets more losses there than TCP does, and
 * what the equation makes of them is less than TCP's rate. So packets leave as evenly as pictures
 * allow, and bursts are a small part of the RTT, which queues are of the size of; for
 * MCC_PACING_HOLD longer than somebody limits, for who has just as much as its share is limited now
 * and then.
 */
#pragma once

#include <stdbool.h>

#include "mcctime.h"

/* All ours. */
#define MCC_PACING_HOLD (10 * MCC_SECOND)
#define MCC_PACING_BURST_MOST (5 * MCC_MSECOND)
#define MCC_PACING_BURST_LEAST MCC_MSECOND
#define MCC_PACING_BURST_OF_RTT 50
/* Of one frame is what comes that soon behind what came before, and behind its first packet. */
#define MCC_PACING_FRAME_GAP (5 * MCC_MSECOND)
#define MCC_PACING_FRAME_COMES (20 * MCC_MSECOND)
#define MCC_PACING_FRAME_MOST (50 * MCC_MSECOND) /* from one frame to the next */

typedef struct {
  MccTime pairs; /* of packets so far apart two leave together now and then (mccpairs.h); 0: no */
  bool even;     /* a picture's packets take until the next one (mccpacer.h) ... */
  MccTime burst; /* ... in bursts of at most that, or one packet; > 0 where even */
} MccPacing;

extern const MccPacing mcc_pacing_default; /* neither: where nobody limits */

/* Beside others on a path of @rtt, ns; 0: not known. */
MccPacing mcc_pacing_beside (MccTime rtt);
bool mcc_pacing_equal (const MccPacing *a, const MccPacing *b);

/* When frames come. */
typedef struct {
  MccTime first;  /* packet of the newest frame came; MCC_TIME_NONE: none did */
  MccTime newest; /* packet */
  double mean_s;  /* from one frame to the next, smoothed; 0: not known */
} MccPacingFrames;

void mcc_pacing_frames_init (MccPacingFrames *self);
/* Something comes at @now, ns. Returns the mean time from a frame to the next, s, at most
 * MCC_PACING_FRAME_MOST; 0: not known. */
double mcc_pacing_frames_handle (MccPacingFrames *self, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccpacing: how evenly a sender's packets shall leave (`enhanced`).
 *
 * Where nobody limits the stream its packets may leave as is cheapest for the host: in bursts of
 * MCC_PACING_BURST_MOST. Beside others they find the queue of a bottleneck that is full now and
 * then; who sends four packets at once or a picture at 1.5 times its rate meets more losses there
 * than TCP does, and what the equation makes of them is less than TCP's rate. So packets leave as
 * evenly as pictures allow, and bursts are a small part of the RTT, which queues are of the size
 * of.
 */
#pragma once

#include <stdbool.h>

#include "mcctime.h"

/* All ours. */
#define MCC_PACING_BURST_MOST (5 * MCC_MSECOND)
#define MCC_PACING_BURST_LEAST MCC_MSECOND
#define MCC_PACING_BURST_OF_RTT 25

typedef struct {
  bool pairs;    /* two packets leave together now and then (mccpairs.h) */
  bool even;     /* a picture's packets take until the next one (mccpacer.h) */
  MccTime burst; /* > 0: what leaves at once is that long at most, or one packet */
} MccPacing;

extern const MccPacing mcc_pacing_default; /* where nobody limits */

/* Of who is limited on a path of @rtt, ns; 0: not known. */
MccPacing mcc_pacing_limited (MccTime rtt);
bool mcc_pacing_equal (const MccPacing *a, const MccPacing *b);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccqueue: queueing delay without a common clock (enhanced).
 *
 * The transit time relative to the first packet (mccjitter.h CJ) minus its skew-corrected minimum
 * over a window. Clock skew up to 500 ppm and a path whose base delay changes are followed within
 * the window: the minimum is kept in buckets, and the skew is the slope of the lower hull of the
 * buckets' minima, zero until 30 s of data exist.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_QUEUE_BUCKETS 32

typedef struct {
  bool started;
  MccTime window; /* length of the baseline window, ns */
  MccTime bucket_start;
  unsigned head, count;
  struct {
    MccTime time;         /* arrival of the minimum */
    MccTimeDelta transit; /* the minimum */
  } bucket[MCC_QUEUE_BUCKETS];
  double skew;       /* s/s */
  MccTimeDelta base; /* baseline at base_time */
  MccTime base_time;
  MccTimeDelta last; /* newest queueing delay */
} MccQueue;

/* @window 0 = the default, 60 s. */
void mcc_queue_init (MccQueue *self, MccTime window);
/* @transit: mccjitter's cumulative jitter for the packet that arrived at @arrival. Returns the
 * queueing delay >= 0 of this packet, ns. */
MccTime mcc_queue_handle_packet (MccQueue *self, MccTimeDelta transit, MccTime arrival);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccqueue: queueing delay without a common clock (enhanced).
 *
 *   queue = transit - (base + skew (arrival - base_time))
 *
 * transit is relative to the first packet (mccjitter.h, CJ). The baseline lies under the minima of
 * the buckets of the last `window` and under every packet since: a path whose base delay falls is
 * followed at once, one whose base delay rises within the window. The skew of the clocks (up to
 * 500 ppm) is the slope of the lower hull of the buckets' minima over the middle half of the
 * window, zero until 30 s of data exist. It is conservative: it only changes while minima in each
 * quarter of the window lie within 1 ms of that line, so that a queue that stands for 20 s is not
 * taken for skew. (A queue that grows steadily, slower than 500 us a second, for a whole window
 * would be.)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_QUEUE_BUCKETS 32

typedef struct {
  bool started;
  bool has_skew;  /* it was measured */
  MccTime window; /* length of the baseline window, ns */
  MccTime start;  /* arrival of the first packet */
  MccTime bucket_start;
  unsigned head, count; /* newest bucket, buckets in use */
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

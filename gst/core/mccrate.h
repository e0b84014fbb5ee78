/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrate: the receiver's rate controller; one const table per variant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "mcccapacity.h"
#include "mcccarried.h"
#include "mccpairs.h"
#include "mcctypes.h"

/* What is known when a controller decides. */
typedef struct {
  MccTime now;
  MccTime rtt; /* smoothed; the initial one while !rtt_measured */
  bool rtt_measured;
  double loss_ratio;           /* of the loss measure, 0 = none yet */
  double remembered_ratio;     /* ... without forgetting (mccloss.h); 0: the same */
  bool loss_in_interval;       /* losses, or marks (ECN), since the last decision */
  bool marked_alone;           /* ... marks, but no loss: a queue is not full, yet too long */
  MccTime last_loss_event;     /* MCC_TIME_NONE: never */
  double marked_share;         /* of loss_ratio: marks (ECN), 0..1 */
  double overflow_share;       /* of loss_ratio: dropped by a full queue, 0..1 */
  double packet_bytes;         /* mean IP bytes */
  double gamma;                /* congestion indicator */
  MccTime queue_delay;         /* standing queue: the smallest of the last decision interval */
  MccTime queue_peak;          /* ... the largest of it */
  MccTime stood_still;         /* nothing came for so long, and then late (mccstandstill.h); or 0 */
  MccTime transmission;        /* of a mean packet's, what is not in the queue's delays */
  MccTime sent_span;           /* by their send times, what arrived since the last decision ... */
  uint64_t sent_bytes;         /* ... and how much that was ... */
  MccTime came_span;           /* ... and how long it took to come; 0: not known */
  uint64_t received_bps;       /* long: 1 s or 2 RTT */
  uint64_t received_now_bps;   /* short: 200 ms or 1 RTT */
  uint64_t grain_bps;          /* of it: a packet more or less; 0: not known */
  const MccCapacity *capacity; /* NULL: not measured */
  const MccPairs *pairs;       /* NULL: none are sent */
  const MccCarried *carried;   /* what arrived lately; NULL: not measured */
  uint64_t announced_bps;      /* the sender's target; 0 = none heard */
  uint64_t start_bps, min_bps, max_bps;
  uint64_t floor_bps; /* is sent even where our rate is below (ASSP: the stream's bound); 0: none */
  bool try_slot;      /* of the sender's clock: all receivers may try a little more together */
  bool others_queue;  /* what stands was seen not to be ours, until this very decision (ASSP) */
  bool others_limit;  /* another receiver limits what arrives (mccasmppath.h) */
  bool held_down;     /* what is sent is what others bear, or the floor: it says nothing of us */
  bool crowd_holds;   /* ... of many receivers */
} MccRateInput;

typedef struct MccRate MccRate;

typedef struct {
  const char *name;
  size_t size;
  void (*init) (MccRate *self, uint64_t start_bps); /* on zeroed memory, rate = start */
  /* A decision: the new TCP-friendly rate. */
  void (*decide) (MccRate *self, const MccRateInput *input);
} MccRateController;

typedef enum {
  MCC_RATE_START,      /* nothing measured: no limit to report */
  MCC_RATE_SLOW_START, /* doubling until the first sign of congestion */
  MCC_RATE_DELAY,      /* alone on the bottleneck: holds the standing queue at its target */
  MCC_RATE_TCP         /* competing: the throughput equation rules */
} MccRateMode;

extern const MccRateController mcc_rate_published; /* ASMP eq. 12-14 */
extern const MccRateController mcc_rate_enhanced;

MccRate *mcc_rate_new (const MccRateController *controller, uint64_t start_bps);
void mcc_rate_free (MccRate *self);
/* As new: another sender is followed. */
void mcc_rate_reset (MccRate *self, uint64_t start_bps);
/* What is measured from now on may be more: the rate is @bps at least. */
void mcc_rate_raise (MccRate *self, uint64_t bps);
void mcc_rate_decide (MccRate *self, const MccRateInput *input);
uint64_t mcc_rate_get_bps (const MccRate *self);
MccRateMode mcc_rate_mode (const MccRate *self);
/* As of the last decision, an overflow is of our making. The enhanced controller's; else false. */
bool mcc_rate_owns_queue (const MccRate *self);
/* As of the last decision, packets that leave together would show whose queue it is (mccpairs.h).
 */
bool mcc_rate_asks_pairs (const MccRate *self);
/* As of the last decision, pairs of the last seconds showed that the link carries little more than
 * what arrives: nothing is left for others. */
bool mcc_rate_fills_link (const MccRate *self);
/* As of the last decision, bit/s: what the link was lately seen to carry at least, whoever sent it;
 * 0: not known, or no queue stands, or nothing came. The enhanced controller's. */
uint64_t mcc_rate_link_bps (const MccRate *self);
/* With this decision rivals were met on a link that was alone ours: half of what it was seen to
 * carry, which is the most that a fair share can be; else 0. The enhanced controller's. */
uint64_t mcc_rate_share_bps (const MccRate *self);
/* The loss ratio that TCP would meet where we meet @loss_ratio, of which @overflow_share (0..1) was
 * dropped by a full queue: that strikes TCP's pairs of packets more often than paced ones. */
double mcc_rate_tcp_loss_ratio (double loss_ratio, double overflow_share);
/* How long a packet takes of what is received, in seconds. */
double mcc_rate_packet_s (const MccRateInput *input);
/* What a mean packet's transmission adds to the queue's delays where the link carries no more than
 * arrives. */
double mcc_rate_packet_delay_s (const MccRateInput *input);

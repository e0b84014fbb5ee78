/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccswing: whether a queue that comes and goes is others' (enhanced; ours).
 *
 * Alone on a link we get what it carries while the queue stands, and no more than that once it is
 * gone. Where as much arrives without the queue as with it, and the queue did not go by what we
 * sent less than that, what stood there was somebody else's: a TCP flow fills a queue and empties
 * it, whatever we do.
 *
 * Laws: a stream that has the link for itself, whose queue stands and goes because what is sent
 * varies, makes no swing, even if it sends nearly what the link carries while there is none;
 * MCC_SWINGS in sequence count, for MCC_SWING_SPAN; a loss of ours ends all that is known.
 * Constant memory and cost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_SWINGS 2
#define MCC_SWING_SPAN (30 * MCC_SECOND)

typedef struct {
  MccTime now; /* of the last call; MCC_TIME_NONE: none yet */
  uint64_t packets;
  /* While the queue stood, and since it is gone. */
  MccTime stood, empty;
  uint64_t stood_packets, empty_packets;
  bool was_empty;
  /* The queue's highest since it stood, and how much later than at the rate of what arrived
   * meanwhile that was sent which came since then. */
  MccTime peak;
  double late_ns;
  unsigned swings;
  MccTime swung; /* newest */
} MccSwing;

void mcc_swing_init (MccSwing *self);
/* Another stream comes over the path: what is known of others stays. */
void mcc_swing_splice (MccSwing *self);
/* At each decision: the smallest queue since the last one, above which one stands (@floor),
 * packets received in all, the time between the sending of the newest and of that at the last
 * decision, whether we have lost any. */
void mcc_swing_look (MccSwing *self, MccTime queue, MccTime floor, uint64_t packets,
    MccTime sent_span, bool losses, MccTime now);
bool mcc_swing_is_others (const MccSwing *self, MccTime now);

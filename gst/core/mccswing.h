/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccswing: whether a queue that comes and goes is others' (enhanced; ours).
 *
 * Alone on a link we get what it carries while the queue stands, and no more than that once it is
 * gone. Where as much arrives without the queue as with it, what stood there was somebody else's:
 * a TCP flow fills a queue and empties it, whatever we do.
 *
 * Laws: a stream that has the link for itself, whose queue stands and goes because what is sent
 * varies, makes no swing, as long as it sends less than the link carries while there is none;
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
  unsigned swings;
  MccTime swung; /* newest */
} MccSwing;

void mcc_swing_init (MccSwing *self);
/* Another stream comes over the path: what is known of others stays. */
void mcc_swing_splice (MccSwing *self);
/* At each decision: the smallest queue since the last one, above which one stands (@floor),
 * packets received in all, whether we have lost any. */
void mcc_swing_look (
    MccSwing *self, MccTime queue, MccTime floor, uint64_t packets, bool losses, MccTime now);
bool mcc_swing_is_others (const MccSwing *self, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccratepairs: what packets that leave together (mccpairs.h) show of the link, and when they are
 * asked for.
 */
#include "mccrateenhanced.h"

#define ASK_TIME (8 * MCC_SECOND)    /* after a queue that may be others' */
#define KNOWN_TIME (60 * MCC_SECOND) /* that it is ours */
#define OURS 0.85                    /* received, of what the link is seen to carry */
#define LESS 0.7                     /* ... of what was then: others may have come */

/* Of the link as it is now. 0: not known. */
double
mcc_rate_enhanced_pairs_bps (const MccRateEnhanced *self, const MccRateInput *input)
{
  if (input->pairs == NULL)
    return 0.0;
  return (double)mcc_pairs_proven_bps (input->pairs, self->slower_at, input->now);
}

bool
mcc_rate_enhanced_knows_ours (const MccRateEnhanced *self, const MccRateInput *input)
{
  return self->known_ours != MCC_TIME_NONE && self->known_ours >= self->slower_at
         && input->now - self->known_ours < KNOWN_TIME
         && (double)input->received_bps >= LESS * self->known_bps;
}

/* By what it carries at most: a short packet is over within the jitter, and says little. */
static bool
shows_ours (const MccRateEnhanced *self, const MccRateInput *input)
{
  if (input->pairs == NULL)
    return false;
  uint64_t most_bps = mcc_pairs_most_bps (input->pairs, self->slower_at, input->now);
  return (double)(input->received_now_bps + input->grain_bps) >= OURS * (double)most_bps;
}

/* Whoever holds a queue for its own asks whether it is. Pairs cost a packet of queue, and who
 * competes needs no proof: packets that leave together would meet fewer of the losses there than
 * paced ones. */
void
mcc_rate_enhanced_ask_pairs (MccRateEnhanced *self, const MccRateInput *input)
{
  self->base.asks_pairs = false;
  self->base.fills_link = shows_ours (self, input);
  if (self->base.mode != MCC_RATE_DELAY) {
    self->doubted = self->known_ours = MCC_TIME_NONE;
    return;
  }
  if (input->queue_peak > mcc_rate_enhanced_target_queue (self, input))
    self->doubted = input->now;
  if (self->base.fills_link) {
    self->known_ours = input->now;
    self->known_bps = (double)input->received_bps;
  }
  bool doubts = self->doubted != MCC_TIME_NONE && input->now - self->doubted < ASK_TIME;
  self->base.asks_pairs = doubts && !mcc_rate_enhanced_knows_ours (self, input);
}

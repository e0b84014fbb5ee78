/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrecentloss: which part of what was sent in the last one to two seconds was lost.
 *
 * Ours. A loss measure remembers single losses for long; this tells a stream that hardly arrives
 * from one that does. Constant memory and cost.
 */
#pragma once

#include <stdint.h>

#include "mcctime.h"

#define MCC_RECENT_LOSS_TIME MCC_SECOND

typedef struct {
  struct {
    MccTime time; /* MCC_TIME_NONE: not yet */
    uint64_t received, lost;
  } mark[2]; /* newest first */
  uint64_t received, lost;
} MccRecentLoss;

void mcc_recent_loss_init (MccRecentLoss *self);
/* So many packets were received and lost in all; fewer than before: they are counted anew. */
void mcc_recent_loss_look (MccRecentLoss *self, uint64_t received, uint64_t lost, MccTime now);
/* 0..1; 1 while it is not known. */
double mcc_recent_loss_ratio (const MccRecentLoss *self);

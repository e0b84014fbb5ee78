/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccrecentloss.h"

#include <math.h>

void
mcc_recent_loss_init (MccRecentLoss *self)
{
  *self = (MccRecentLoss){ .mark = { { .time = MCC_TIME_NONE }, { .time = MCC_TIME_NONE } } };
}

void
mcc_recent_loss_look (MccRecentLoss *self, uint64_t received, uint64_t lost, MccTime now)
{
  if (received < self->received)
    mcc_recent_loss_init (self);
  self->received = received;
  self->lost = lost;
  if (self->mark[0].time != MCC_TIME_NONE && now - self->mark[0].time < MCC_RECENT_LOSS_TIME)
    return;
  self->mark[1] = self->mark[0];
  self->mark[0].time = now;
  self->mark[0].received = received;
  self->mark[0].lost = lost;
}

double
mcc_recent_loss_ratio (const MccRecentLoss *self)
{
  if (self->mark[1].time == MCC_TIME_NONE)
    return 1.0;
  double received = (double)(self->received - self->mark[1].received);
  /* What came late counts as lost no more. */
  double lost = fmax ((double)self->lost - (double)self->mark[1].lost, 0.0);
  return received + lost > 0.0 ? lost / (received + lost) : 1.0;
}

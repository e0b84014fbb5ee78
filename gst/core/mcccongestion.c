/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcccongestion.h"

#include <string.h>

void
mcc_congestion_init (MccCongestion *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_congestion_handle_packet (MccCongestion *self, MccTimeDelta cumulative_jitter)
{
  double cj = (double)cumulative_jitter * 1e-9;

  self->short_sum += cj;
  self->short_count++;
  self->long_sum += cj;
  self->long_count++;
}

double
mcc_congestion_handle_interval (MccCongestion *self)
{
  /* An interval without packets says nothing: the verdict stays. */
  if (self->short_count > 0)
    self->congested
        = self->short_sum / (double)self->short_count >= self->long_sum / (double)self->long_count;
  self->short_sum = 0.0;
  self->short_count = 0;
  return self->congested ? MCC_GAMMA_CONGESTED : MCC_GAMMA_UNLOADED;
}

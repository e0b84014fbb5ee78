/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmslowstart.h"

void
mcc_elm_slow_start_init (MccElmSlowStart *self, MccVariant variant, MccTime interval)
{
  memset (self, 0, sizeof *self);
  self->variant = variant;
  self->interval = interval;
  self->active = true;
}

void
mcc_elm_slow_start_joined (MccElmSlowStart *self, const MccElmLayers *layers, unsigned level,
    MccTime rtt, uint64_t packets, MccTime now)
{
  double share
      = (double)layers->layer[0].cumulative_bps / (double)layers->layer[level].cumulative_bps;
  self->joined = now;
  self->deaf_until = now + mcc_time_from_seconds (share * mcc_time_to_seconds (self->interval));
  if (self->variant == MCC_VARIANT_PUBLISHED)
    return;
  self->deaf_until = mcc_time_max (self->deaf_until, now + rtt);
  self->deaf_packets = packets + MCC_ELM_SLOW_START_PACKETS;
}

void
mcc_elm_slow_start_look (MccElmSlowStart *self, const MccElmLayers *layers, unsigned level,
    double x_bps, uint64_t events, uint64_t packets, MccTime now)
{
  if (!self->active || now < self->deaf_until
      || !(x_bps < (double)layers->layer[level].cumulative_bps))
    return;
  if (self->variant == MCC_VARIANT_PUBLISHED
      || (events >= MCC_ELM_SLOW_START_EVENTS && packets >= self->deaf_packets))
    self->active = false;
}

bool
mcc_elm_slow_start_due (const MccElmSlowStart *self, MccTime now)
{
  return self->active && now >= self->joined + self->interval;
}

MccTime
mcc_elm_slow_start_next (const MccElmSlowStart *self, MccTime now)
{
  if (!self->active)
    return MCC_TIME_NONE;
  if (now < self->deaf_until)
    return mcc_time_min (self->deaf_until, self->joined + self->interval);
  return self->joined + self->interval;
}

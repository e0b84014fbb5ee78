/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcckeyunit.h"

void
mcc_key_unit_init (MccKeyUnit *self)
{
  self->last = MCC_TIME_NONE;
  self->wanted = false;
}

static MccTime
two_rtt (MccTime rtt_max)
{
  return MCC_KEY_UNIT_RTTS * mcc_time_min (rtt_max, MCC_KEY_UNIT_RTT_MAX);
}

static MccTime
spacing (MccTime rtt_max)
{
  return mcc_time_max (MCC_KEY_UNIT_INTERVAL, two_rtt (rtt_max));
}

void
mcc_key_unit_request (MccKeyUnit *self, MccTime rtt_max, MccTime now)
{
  MccTime answered
      = mcc_time_min (two_rtt (rtt_max) + MCC_KEY_UNIT_ANSWERED, spacing (rtt_max) / 2);
  if (self->last == MCC_TIME_NONE || now >= self->last + answered)
    self->wanted = true;
}

MccTime
mcc_key_unit_next_timeout (const MccKeyUnit *self, MccTime rtt_max)
{
  if (!self->wanted)
    return MCC_TIME_NONE;
  if (self->last == MCC_TIME_NONE)
    return 0;
  return self->last + spacing (rtt_max);
}

bool
mcc_key_unit_take (MccKeyUnit *self, MccTime rtt_max, MccTime now)
{
  if (!self->wanted || mcc_key_unit_next_timeout (self, rtt_max) > now)
    return false;
  self->wanted = false;
  self->last = now;
  return true;
}

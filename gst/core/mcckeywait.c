/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcckeywait.h"

void
mcc_key_wait_init (MccKeyWait *self)
{
  *self = (MccKeyWait){ .followed = MCC_TIME_NONE, .last = MCC_TIME_NONE, .due = MCC_TIME_NONE };
}

void
mcc_key_wait_set_recognised (MccKeyWait *self, bool recognised)
{
  self->recognised = recognised;
}

void
mcc_key_wait_follow (MccKeyWait *self, MccTime now)
{
  self->followed = now;
  mcc_key_wait_want (self, false, now);
}

void
mcc_key_wait_leave_to_others (MccKeyWait *self, MccTime now)
{
  self->followed = now;
  mcc_key_wait_got (self);
}

bool
mcc_key_wait_loss_counts (const MccKeyWait *self, MccTime now)
{
  return self->followed == MCC_TIME_NONE || now >= self->followed + MCC_KEY_WAIT_SETTLE;
}

void
mcc_key_wait_want (MccKeyWait *self, bool loss, MccTime now)
{
  MccTime spacing = loss ? MCC_KEY_WAIT_LOSS : MCC_KEY_WAIT_MIN;
  MccTime due = self->last == MCC_TIME_NONE ? now : mcc_time_max (now, self->last + spacing);

  if (loss && !mcc_key_wait_loss_counts (self, now))
    due = mcc_time_max (due, self->followed + MCC_KEY_WAIT_SETTLE);
  if (self->wanted) {
    if (!loss && self->tries == 0)
      self->due = mcc_time_min (self->due, due);
    return;
  }
  self->wanted = true;
  self->tries = 0;
  self->due = due;
}

void
mcc_key_wait_renew (MccKeyWait *self, MccTime now)
{
  mcc_key_wait_got (self);
  mcc_key_wait_want (self, false, now);
}

void
mcc_key_wait_got (MccKeyWait *self)
{
  self->wanted = false;
  self->due = MCC_TIME_NONE;
}

MccTime
mcc_key_wait_next_timeout (const MccKeyWait *self)
{
  return self->wanted ? self->due : MCC_TIME_NONE;
}

bool
mcc_key_wait_take (MccKeyWait *self, MccTime rtt, MccTime now)
{
  MccTime answer
      = MCC_KEY_WAIT_RTTS * mcc_time_min (rtt, MCC_KEY_WAIT_RTT_MAX) + MCC_KEY_WAIT_ENCODER;

  if (!self->wanted || now < self->due)
    return false;
  self->last = now;
  self->due = now + (mcc_time_max (MCC_KEY_WAIT_MIN, answer) << self->tries);
  if (self->tries + 1 < MCC_KEY_WAIT_TRIES)
    self->tries++;
  else if (!self->recognised)
    mcc_key_wait_got (self);
  return true;
}

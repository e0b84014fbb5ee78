/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccidle.h"

void
mcc_idle_init (MccIdle *self, MccTime after, MccTime now)
{
  *self = (MccIdle){ .after = after, .since = now, .running = true };
}

bool
mcc_idle_set_occupied (MccIdle *self, bool occupied, MccTime now)
{
  bool runs_again = occupied && !self->running;

  if (occupied)
    self->since = MCC_TIME_NONE;
  else if (self->since == MCC_TIME_NONE)
    self->since = now;
  self->left = self->left || occupied;
  self->running = self->running || occupied;
  return runs_again;
}

bool
mcc_idle_set_after (MccIdle *self, MccTime after, MccTime now)
{
  bool runs_again = after == MCC_TIME_NONE && !self->running;

  if (self->after == MCC_TIME_NONE && after != MCC_TIME_NONE && self->since != MCC_TIME_NONE)
    self->since = now;
  self->after = after;
  self->running = self->running || runs_again;
  return runs_again;
}

MccTime
mcc_idle_next_timeout (const MccIdle *self)
{
  if (!self->running || self->since == MCC_TIME_NONE || self->after == MCC_TIME_NONE)
    return MCC_TIME_NONE;
  return self->since + (self->left ? mcc_time_max (self->after, MCC_IDLE_LEFT) : self->after);
}

bool
mcc_idle_handle_timeout (MccIdle *self, MccTime now)
{
  if (now < mcc_idle_next_timeout (self))
    return false;
  self->running = false;
  return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmpatience.h"

void
mcc_elm_patience_init (MccElmPatience *self, MccTime now)
{
  *self = (MccElmPatience){ .credit = MCC_ELM_PATIENCE_MOST, .credited = now };
}

static void
earn (MccElmPatience *self, MccTime now)
{
  MccTime earned = (now - self->credited) / MCC_ELM_PATIENCE_SHARE;
  self->credit = mcc_time_min (self->credit + earned, MCC_ELM_PATIENCE_MOST);
  self->credited += earned * MCC_ELM_PATIENCE_SHARE;
}

static void
end (MccElmPatience *self, MccTime now)
{
  bool rests = self->used > 0 || now - self->since >= MCC_ELM_PATIENCE_MOST;
  self->rest_until = rests ? now + MCC_ELM_PATIENCE_REST : 0;
  self->until = 0;
}

bool
mcc_elm_patience_hear (MccElmPatience *self, MccTime length, MccTime now)
{
  earn (self, now);
  if (self->until != 0 && now >= self->until)
    end (self, now);
  if (now < self->rest_until || self->credit == 0)
    return false;
  if (self->until == 0) {
    self->since = now;
    self->used = 0;
  }
  self->most = length;
  self->until = mcc_time_max (
      self->until, mcc_time_min (now + length, self->since + MCC_ELM_PATIENCE_MOST));
  return true;
}

bool
mcc_elm_patience_look (MccElmPatience *self, MccTime passed, bool troubled, MccTime now)
{
  earn (self, now);
  if (self->until == 0)
    return false;
  bool excused = now < self->until && (troubled || self->used > 0);
  if (excused) {
    self->used += passed;
    self->credit -= mcc_time_min (passed, self->credit);
    excused = self->used < self->most && self->credit > 0;
  }
  if (now < self->until && (excused || self->used == 0))
    return excused;
  end (self, now);
  return false;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmpatience.h"

#include <string.h>

#include "mccelmmemory.h"

void
mcc_elm_patience_init (MccElmPatience *self, MccTime now)
{
  memset (self, 0, sizeof *self);
  self->credit = MCC_ELM_PATIENCE_MOST;
  self->credited = now;
}

static void
earn (MccElmPatience *self, MccTime now)
{
  MccTime earned = (now - self->credited) / MCC_ELM_PATIENCE_SHARE;
  self->credit = mcc_time_min (self->credit + earned, MCC_ELM_PATIENCE_MOST);
  self->credited += earned * MCC_ELM_PATIENCE_SHARE;
}

/* The place of @ssrc and @layer, else the one that was used longest ago. */
static unsigned
find (const MccElmPatience *self, uint32_t ssrc, unsigned layer)
{
  unsigned oldest = 0;
  for (unsigned i = 0; i < MCC_ELM_PATIENCE_HEARD; i++) {
    if (self->heard[i].wait > 0 && self->heard[i].ssrc == ssrc && self->heard[i].layer == layer)
      return i;
    if (self->heard[i].last < self->heard[oldest].last)
      oldest = i;
  }
  return oldest;
}

bool
mcc_elm_patience_take (
    MccElmPatience *self, uint32_t ssrc, unsigned layer, MccTime length, MccTime now)
{
  earn (self, now);
  if (now < self->rest_until || length > self->credit)
    return false;
  unsigned place = find (self, ssrc, layer);
  bool known = self->heard[place].wait > 0 && self->heard[place].ssrc == ssrc
               && self->heard[place].layer == layer;
  MccTime since = now - self->heard[place].last, wait = self->heard[place].wait;
  if (known && since < wait)
    return false;
  self->heard[place].ssrc = ssrc;
  self->heard[place].layer = layer;
  self->heard[place].last = now;
  self->heard[place].wait = known && since < 2 * wait
                                ? mcc_time_min (2 * wait, MCC_ELM_BACK_OFF_MAX)
                                : MCC_ELM_BACK_OFF_MIN;
  self->credit -= length;
  self->rest_until = now + length + MCC_ELM_PATIENCE_REST;
  return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccrejoin.h"

void
mcc_rejoin_init (MccRejoin *self, MccTime now)
{
  *self = (MccRejoin){ .due = now + MCC_REJOIN_FIRST, .wait = 2 * MCC_REJOIN_FIRST };
}

void
mcc_rejoin_stop (MccRejoin *self)
{
  self->due = MCC_TIME_NONE;
}

void
mcc_rejoin_handle_heard (MccRejoin *self, MccTime now)
{
  if (self->due != MCC_TIME_NONE)
    mcc_rejoin_init (self, now);
}

bool
mcc_rejoin_handle_timeout (MccRejoin *self, MccTime now)
{
  MccTime late;

  if (now < self->due)
    return false;
  late = now - self->due;
  if (late >= MCC_TIME_ABSENCE) { /* what has come meanwhile waits to be read */
    self->due = now + MCC_REJOIN_FIRST;
    return false;
  }
  self->due = now + self->wait;
  self->wait = mcc_time_min (2 * self->wait, MCC_REJOIN_MOST);
  return true;
}

void
mcc_rejoin_handle_failed (MccRejoin *self, MccTime now)
{
  if (self->due != MCC_TIME_NONE)
    mcc_rejoin_init (self, now);
}

MccTime
mcc_rejoin_next_timeout (const MccRejoin *self)
{
  return self->due;
}

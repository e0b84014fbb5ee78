/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccstall.h"

void
mcc_stall_init (MccStall *self)
{
  *self = (MccStall){ .last = MCC_TIME_NONE };
}

static bool
was_silent (const MccStall *self, MccTime now)
{
  return self->last != MCC_TIME_NONE && now >= self->last + MCC_TIME_ABSENCE;
}

bool
mcc_stall_needs_backlog (const MccStall *self, MccTime now)
{
  return self->draining || was_silent (self, now);
}

bool
mcc_stall_handle_packet (MccStall *self, uint32_t backlog_bytes, MccTime now, uint64_t *dropped)
{
  *dropped = 0;
  if (was_silent (self, now) && backlog_bytes >= MCC_STALL_BACKLOG_BYTES)
    self->draining = true;
  self->last = now;
  if (!self->draining)
    return false;
  self->stale++;
  if (backlog_bytes < MCC_STALL_DRAINED_BYTES) {
    self->draining = false;
    *dropped = self->stale;
    self->stale = 0;
  }
  return true;
}

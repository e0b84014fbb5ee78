/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcccarried.h"

#define RING (MCC_CARRIED_SLOTS + 1)

/* The number of the slot that @now is in. */
static uint64_t
slot_of (const MccCarried *self, MccTime now)
{
  return now > self->first ? (now - self->first) / MCC_CARRIED_SLOT : 0;
}

void
mcc_carried_add (MccCarried *self, uint64_t bytes, MccTime now)
{
  if (self->count == 0) {
    self->first = now;
    self->bytes[0] = 0;
    self->count = 1;
  }
  uint64_t slot = slot_of (self, now);
  if (slot >= self->count + RING)
    self->count = slot + 1 - RING; /* older ones are forgotten anyway */
  while (self->count <= slot)
    self->bytes[self->count++ % RING] = 0;
  self->bytes[(self->count - 1) % RING] += bytes;
}

uint64_t
mcc_carried_bps (const MccCarried *self, MccTime since, MccTime now)
{
  if (self->count == 0)
    return 0;
  uint64_t end = slot_of (self, now), most = 0; /* the open one */
  uint64_t slot = end > MCC_CARRIED_SLOTS ? end - MCC_CARRIED_SLOTS : 0;
  for (; slot < end && slot < self->count; slot++)
    if (self->first + slot * MCC_CARRIED_SLOT >= since && self->bytes[slot % RING] > most)
      most = self->bytes[slot % RING];
  return (uint64_t)((double)most * 8e9 / (double)MCC_CARRIED_SLOT);
}

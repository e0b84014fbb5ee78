/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcccapacity.h"

#include <string.h>

#define BUCKET (MCC_CAPACITY_SPAN / MCC_CAPACITY_BUCKETS)

void
mcc_capacity_init (MccCapacity *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_capacity_handle_packet (MccCapacity *self, uint32_t bytes, MccTime now)
{
  uint64_t before
      = self->packets > 0 ? self->packet[(self->packets - 1) % MCC_CAPACITY_PACKETS].bytes : 0;
  unsigned newest = self->packets++ % MCC_CAPACITY_PACKETS;
  self->packet[newest].time = now;
  self->packet[newest].bytes = before + bytes;

  double most = 0.0;
  for (uint64_t age = 1; age < self->packets && age < MCC_CAPACITY_PACKETS; age *= 2) {
    unsigned slot = (self->packets - 1 - age) % MCC_CAPACITY_PACKETS;
    double bits = 8.0 * (double)(self->packet[newest].bytes - self->packet[slot].bytes);
    double s = mcc_time_to_seconds (now - self->packet[slot].time + MCC_CAPACITY_JITTER);
    if (bits > most * s)
      most = bits / s;
  }
  uint64_t index = now / BUCKET;
  unsigned b = index % MCC_CAPACITY_BUCKETS;
  if (self->bucket[b].index != index) {
    self->bucket[b].index = index;
    self->bucket[b].bps = 0;
  }
  if (most > (double)self->bucket[b].bps)
    self->bucket[b].bps = (uint64_t)most;
}

uint64_t
mcc_capacity_proven_bps (const MccCapacity *self, MccTime since, MccTime now)
{
  uint64_t newest = now / BUCKET;
  uint64_t oldest = since / BUCKET + 1;
  uint64_t seen[MCC_CAPACITY_BUCKETS];
  unsigned count = 0;

  if (newest >= MCC_CAPACITY_BUCKETS && oldest <= newest - MCC_CAPACITY_BUCKETS)
    oldest = newest - MCC_CAPACITY_BUCKETS + 1;
  for (unsigned b = 0; b < MCC_CAPACITY_BUCKETS; b++) {
    uint64_t bps = self->bucket[b].bps;
    if (self->bucket[b].index < oldest || self->bucket[b].index > newest || bps == 0)
      continue;
    unsigned at = count++;
    for (; at > 0 && seen[at - 1] < bps; at--)
      seen[at] = seen[at - 1];
    seen[at] = bps;
  }
  return count > 0 ? seen[count / 2] : 0;
}

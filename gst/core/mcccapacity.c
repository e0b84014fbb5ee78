/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcccapacity.h"

#include <string.h>

#include "mccmedian.h"

#define BUCKET (MCC_CAPACITY_SPAN / MCC_CAPACITY_BUCKETS)

void
mcc_capacity_init (MccCapacity *self)
{
  memset (self, 0, sizeof *self);
}

/* Bit/s of what came after @first, up to @last. */
static double
train_bps (const MccCapacityPacket *first, const MccCapacityPacket *last)
{
  double bits = 8.0 * (double)(last->bytes - first->bytes);
  return bits / mcc_time_to_seconds (last->time - first->time + MCC_CAPACITY_JITTER);
}

/* Of trains that are too long for the packets that are kept: on a fast link they are over before
 * the jitter is little against them. */
static double
long_trains_bps (MccCapacity *self, const MccCapacityPacket *newest)
{
  uint64_t number = self->packets - 1, strides = number / MCC_CAPACITY_STRIDE;
  double most = 0.0;
  if (number % MCC_CAPACITY_STRIDE == 0)
    self->stride[strides % MCC_CAPACITY_PACKETS] = *newest;
  uint64_t age = MCC_CAPACITY_PACKETS / MCC_CAPACITY_STRIDE;
  for (; age <= strides && age < MCC_CAPACITY_PACKETS; age *= 2) {
    const MccCapacityPacket *first = &self->stride[(strides - age) % MCC_CAPACITY_PACKETS];
    if (newest->time - first->time > MCC_CAPACITY_LONG)
      break;
    double bps = train_bps (first, newest);
    most = bps > most ? bps : most;
  }
  return most;
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
    double bps = train_bps (&self->packet[slot], &self->packet[newest]);
    most = bps > most ? bps : most;
  }
  double longer = long_trains_bps (self, &self->packet[newest]);
  most = longer > most ? longer : most;
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
    count = mcc_median_add (seen, count, bps);
  }
  return mcc_median_get (seen, count);
}

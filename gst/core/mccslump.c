/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccslump.h"

#include <stdbool.h>
#include <string.h>

#define SLOTS (MCC_SLUMP_PACKETS + 1)

void
mcc_slump_clear (MccSlump *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_slump_handle_packet (MccSlump *self, uint32_t bytes, MccTime queue, MccTime now)
{
  unsigned slot = self->count++ % SLOTS;
  self->packet[slot].time = now;
  self->packet[slot].queue = queue;
  self->packet[slot].bytes = bytes;
}

/* Whether the queue grew by that part of the time between the packets @older and @newer ago. */
static bool
grew (const MccSlump *self, unsigned older, unsigned newer)
{
  unsigned a = (self->count - 1 - older) % SLOTS, b = (self->count - 1 - newer) % SLOTS;
  double time_s = mcc_time_to_seconds (self->packet[b].time - self->packet[a].time);
  double growth_s
      = mcc_time_to_seconds (self->packet[b].queue) - mcc_time_to_seconds (self->packet[a].queue);
  return time_s > 0.0 && growth_s >= MCC_SLUMP_SLOPE * time_s;
}

uint64_t
mcc_slump_bps (const MccSlump *self)
{
  if (self->count < SLOTS)
    return 0;
  unsigned oldest = self->count % SLOTS, newest = (self->count - 1) % SLOTS;
  if (self->packet[newest].queue < self->packet[oldest].queue + MCC_SLUMP_QUEUE
      || !grew (self, MCC_SLUMP_PACKETS, MCC_SLUMP_PACKETS / 2)
      || !grew (self, MCC_SLUMP_PACKETS / 2, 0))
    return 0;
  /* The older half may have begun before. */
  double bytes = 0.0;
  for (unsigned age = 0; age < MCC_SLUMP_PACKETS / 2; age++)
    bytes += self->packet[(self->count - 1 - age) % SLOTS].bytes;
  MccTime since = self->packet[(self->count - 1 - MCC_SLUMP_PACKETS / 2) % SLOTS].time;
  return (uint64_t)(8.0 * bytes / mcc_time_to_seconds (self->packet[newest].time - since));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmlink.h"

#include <string.h>

#define LONGEST (500 * MCC_MSECOND) /* a stretch; what comes later is the next one's */

void
mcc_elm_link_clear (MccElmLink *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_elm_link_handle_packet (
    MccElmLink *self, uint32_t bytes, MccTime queue, MccTime floor, MccTime now)
{
  if (queue < floor) {
    self->packets = 0;
    return;
  }
  if (self->packets == 0 || now - self->first > LONGEST) {
    self->packets = 0;
    self->bytes = 0;
    self->first = now;
    self->queue_first = queue;
  } else {
    self->bytes += bytes;
  }
  self->packets++;
  self->last = now;
  self->queue_last = queue;
}

double
mcc_elm_link_bps (const MccElmLink *self, unsigned packets, MccTime time, double slope)
{
  MccTime span = self->last - self->first;
  double span_s = mcc_time_to_seconds (span);
  if (self->packets < packets || span < time || span == 0
      || mcc_time_to_seconds (self->queue_last)
             < mcc_time_to_seconds (self->queue_first) + slope * span_s)
    return 0.0;
  return 8.0 * (double)self->bytes / span_s;
}

double
mcc_elm_link_sent_bps (const MccElmLink *self)
{
  double span_s = mcc_time_to_seconds (self->last - self->first)
                  - mcc_time_to_seconds (self->queue_last)
                  + mcc_time_to_seconds (self->queue_first);
  return self->packets > 1 && span_s > 0.0 ? 8.0 * (double)self->bytes / span_s : 0.0;
}

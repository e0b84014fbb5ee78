/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccoverflow.h"

#include <math.h>

#define QUEUE_LEAST (2 * MCC_MSECOND) /* longest below: jitter, no queue */
#define LEVEL_NONE 0.6                /* RED, CoDel and random loss are about there or below */
#define LEVEL_ALL 0.85                /* drop tail is above */

void
mcc_overflow_init (MccOverflow *self, MccTime now)
{
  *self = (MccOverflow){ .since = now, .level = 1.0, .events = 1 };
}

void
mcc_overflow_handle_packet (MccOverflow *self, MccTime queue, bool gap, MccTime now)
{
  if (now - self->since >= MCC_OVERFLOW_SPAN) {
    self->since = now;
    self->longest[1] = self->longest[0];
    self->longest[0] = 0;
  }
  self->longest[0] = mcc_time_max (self->longest[0], queue);
  if (gap)
    self->at_gap = mcc_time_max (self->before, queue);
  self->before = queue;
}

MccTime
mcc_overflow_longest (const MccOverflow *self)
{
  return mcc_time_max (self->longest[0], self->longest[1]);
}

void
mcc_overflow_handle_event (MccOverflow *self)
{
  MccTime longest = mcc_overflow_longest (self);
  double level = longest < QUEUE_LEAST ? 0.0 : (double)self->at_gap / (double)longest;
  if (self->events < MCC_OVERFLOW_EVENTS)
    self->events++;
  self->level += (fmin (level, 1.0) - self->level) / self->events;
}

double
mcc_overflow_share (const MccOverflow *self)
{
  return fmin (1.0, fmax (0.0, (self->level - LEVEL_NONE) / (LEVEL_ALL - LEVEL_NONE)));
}

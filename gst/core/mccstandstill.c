/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccstandstill.h"

#define LEAST (40 * MCC_MSECOND)
#define APART 3.0 /* packets: they come in frames */
#define LATE 0.7  /* of the time in which nothing came */
#define GAIN 0.02
#define COUNTED 4.0 /* times that, a longer time counts as */

void
mcc_standstill_init (MccStandstill *self)
{
  *self = (MccStandstill){ .last = MCC_TIME_NONE };
}

MccTime
mcc_standstill_handle_packet (MccStandstill *self, MccTime queue, MccTime arrival)
{
  MccTime gap = self->last != MCC_TIME_NONE && arrival > self->last ? arrival - self->last : 0;
  MccTime late = queue > self->queue ? queue - self->queue : 0;
  bool known = self->apart > 0.0;
  bool stood = known && gap >= LEAST && (double)gap >= APART * self->apart
               && (double)late >= LATE * (double)gap;

  if (self->last != MCC_TIME_NONE && !known) {
    self->apart = (double)gap;
  } else if (known) {
    double most = COUNTED * self->apart;
    self->apart += GAIN * (((double)gap < most ? (double)gap : most) - self->apart);
  }
  self->last = arrival;
  self->queue = queue;
  return stood ? gap : 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccdistinct.h"

#include <math.h>
#include <string.h>

void
mcc_distinct_clear (MccDistinct *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_distinct_add (MccDistinct *self, uint32_t ssrc)
{
  uint32_t bit = (ssrc * UINT32_C (2654435761)) >> (32 - MCC_DISTINCT_LOG2);
  uint64_t mask = UINT64_C (1) << (bit % 64);
  if ((self->map[bit / 64] & mask) != 0)
    return;
  self->map[bit / 64] |= mask;
  self->bits++;
  double clear = fmax (MCC_DISTINCT_BITS - self->bits, 1.0) / MCC_DISTINCT_BITS;
  self->count = (unsigned)(-MCC_DISTINCT_BITS * log (clear) + 0.5);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmsequence.h"

#include <string.h>

void
mcc_elm_sequence_init (MccElmSequence *self)
{
  memset (self, 0, sizeof *self);
}

bool
mcc_elm_sequence_number (MccElmSequence *self, unsigned layer, const uint16_t *c, uint16_t *out)
{
  MccElmSequenceLayer *of = &self->layer[layer];
  uint16_t own = (uint16_t)(c[layer] - (layer > 0 ? c[layer - 1] : 0));
  uint16_t ahead = (uint16_t)(own - of->highest), behind = (uint16_t)-ahead;

  if (of->started && behind < of->known) {
    *out = of->given[own % MCC_ELM_SEQUENCE_LATE];
    return true;
  }
  if (of->started && behind < MCC_ELM_SEQUENCE_JUMP)
    return false;
  if (!of->started || ahead > MCC_ELM_SEQUENCE_JUMP) {
    of->known = 0;
    ahead = 1;
  }
  for (uint16_t i = (uint16_t)(own - ahead + 1); i != (uint16_t)(own + 1); i++)
    of->given[i % MCC_ELM_SEQUENCE_LATE] = ++self->number;
  of->known = of->known + ahead < MCC_ELM_SEQUENCE_LATE ? of->known + ahead : MCC_ELM_SEQUENCE_LATE;
  of->started = true;
  of->highest = own;
  *out = self->number;
  return true;
}

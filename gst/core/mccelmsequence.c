/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmsequence.h"

#include <string.h>

void
mcc_elm_sequence_init (MccElmSequence *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_elm_sequence_join (MccElmSequence *self, unsigned layer)
{
  self->layer[layer] = (MccElmSequenceLayer){ 0 };
}

/* Whether the packet before this one was as far off, and just before it. */
static bool
agrees (MccElmSequenceLayer *of, uint16_t own)
{
  bool agreed = of->jumped && own == of->jumped_to;
  of->jumped = !agreed;
  of->jumped_to = (uint16_t)(own + 1);
  return agreed;
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
  if (of->started && ahead > MCC_ELM_SEQUENCE_JUMP && !agrees (of, own))
    return false;
  if (!of->started || ahead > MCC_ELM_SEQUENCE_JUMP) {
    of->known = 0;
    ahead = 1;
  }
  of->jumped = false;
  for (uint16_t i = (uint16_t)(own - ahead + 1); i != (uint16_t)(own + 1); i++)
    of->given[i % MCC_ELM_SEQUENCE_LATE] = ++self->number;
  of->known = of->known + ahead < MCC_ELM_SEQUENCE_LATE ? of->known + ahead : MCC_ELM_SEQUENCE_LATE;
  of->started = true;
  of->highest = own;
  *out = self->number;
  return true;
}

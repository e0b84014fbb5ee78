/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccpairs.h"

#include <string.h>

#define MEAN 16.0 /* packets */

bool
mcc_pairs_due (MccTime last, uint32_t bytes, uint64_t bps, MccTime now)
{
  if (bps == 0 || 8 * (uint64_t)bytes * MCC_SECOND / bps < MCC_PAIRS_APART)
    return false;
  return last == MCC_TIME_NONE || now >= last + MCC_PAIRS_PERIOD;
}

void
mcc_pairs_init (MccPairs *self)
{
  memset (self, 0, sizeof *self);
  self->first = MCC_TIME_NONE;
}

static void
note_proof (MccPairs *self, uint32_t bytes, MccTime arrival)
{
  unsigned newest = self->proofs++ % MCC_PAIRS_KEPT;
  self->proof[newest].time = arrival;
  self->proof[newest].bps
      = 8 * (uint64_t)bytes * MCC_SECOND / (arrival - self->first + MCC_PAIRS_JITTER);
}

void
mcc_pairs_handle_packet (MccPairs *self, uint64_t number, uint32_t bytes, MccTimeDelta apart,
    MccTime queue, MccTime arrival)
{
  bool follows = self->started && number == self->number + 1 && apart >= 0;
  if (follows)
    self->mean_apart += ((double)apart - self->mean_apart) / MEAN;
  if (follows && self->first != MCC_TIME_NONE && apart < (MccTimeDelta)MCC_PAIRS_TOGETHER
      && queue >= MCC_PAIRS_QUEUE && arrival >= self->first)
    note_proof (self, bytes, arrival);
  /* Of what is sent closely all the time two are no pair. */
  bool alone = follows && apart >= (MccTimeDelta)MCC_PAIRS_APART
               && self->mean_apart >= (double)MCC_PAIRS_APART;
  self->first = alone ? arrival : MCC_TIME_NONE;
  self->number = number;
  self->started = true;
}

uint64_t
mcc_pairs_proven_bps (const MccPairs *self, MccTime since, MccTime now)
{
  uint64_t seen[MCC_PAIRS_KEPT];
  unsigned count = 0;

  for (unsigned i = 0; i < MCC_PAIRS_KEPT && i < self->proofs; i++) {
    MccTime time = self->proof[i].time;
    if (time <= since || now >= time + MCC_PAIRS_SPAN)
      continue;
    unsigned at = count++;
    for (; at > 0 && seen[at - 1] < self->proof[i].bps; at--)
      seen[at] = seen[at - 1];
    seen[at] = self->proof[i].bps;
  }
  return count >= MCC_PAIRS_LEAST ? seen[count / 2] : 0;
}

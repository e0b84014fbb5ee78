/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccpairs.h"

#include <string.h>

#include "mccmedian.h"

#define MEAN 16.0 /* packets */

bool
mcc_pairs_due (MccTime last, MccTime apart, uint32_t bytes, uint64_t bps, MccTime now)
{
  if (bps == 0 || 8 * (uint64_t)bytes * MCC_SECOND / bps < apart)
    return false;
  return last == MCC_TIME_NONE || now >= last + MCC_PAIRS_PERIOD;
}

void
mcc_pairs_init (MccPairs *self, MccTime apart)
{
  memset (self, 0, sizeof *self);
  self->apart = apart;
  self->first = MCC_TIME_NONE;
}

static void
note_proof (MccPairs *self, uint32_t bytes, MccTime arrival)
{
  unsigned newest = self->proofs++ % MCC_PAIRS_KEPT;
  uint64_t bits = 8 * (uint64_t)bytes;
  MccTime apart = arrival - self->first;
  MccTime least = apart > MCC_PAIRS_JITTER ? apart - MCC_PAIRS_JITTER : 1;
  self->proof[newest].time = arrival;
  self->proof[newest].bps = bits * MCC_SECOND / (apart + MCC_PAIRS_JITTER);
  self->proof[newest].most_bps = bits * MCC_SECOND / least;
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
  bool alone
      = follows && apart >= (MccTimeDelta)self->apart && self->mean_apart >= (double)self->apart;
  self->first = alone ? arrival : MCC_TIME_NONE;
  self->number = number;
  self->started = true;
}

/* 0: too few. */
static uint64_t
median (const MccPairs *self, bool most, MccTime since, MccTime now)
{
  uint64_t seen[MCC_PAIRS_KEPT];
  unsigned count = 0;

  for (unsigned i = 0; i < MCC_PAIRS_KEPT && i < self->proofs; i++) {
    MccTime time = self->proof[i].time;
    if (time <= since || now >= time + MCC_PAIRS_SPAN)
      continue;
    count = mcc_median_add (seen, count, most ? self->proof[i].most_bps : self->proof[i].bps);
  }
  return count >= MCC_PAIRS_LEAST ? mcc_median_get (seen, count) : 0;
}

uint64_t
mcc_pairs_proven_bps (const MccPairs *self, MccTime since, MccTime now)
{
  return median (self, false, since, now);
}

uint64_t
mcc_pairs_most_bps (const MccPairs *self, MccTime since, MccTime now)
{
  uint64_t bps = median (self, true, since, now);
  return bps > 0 ? bps : UINT64_MAX;
}

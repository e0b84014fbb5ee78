/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccseq.h"

/* @modulus is a power of two. */
static uint64_t
extend (MccSeq *self, uint64_t seq, uint64_t modulus)
{
  if (!self->started) {
    self->started = true;
    self->highest = modulus + seq;
    return self->highest;
  }

  uint64_t ahead = (seq - self->highest) & (modulus - 1);
  /* Half a cycle away is as near before as after (RFC 1982 leaves it open): taken as late. */
  if (ahead < modulus / 2) {
    self->highest += ahead;
    return self->highest;
  }
  return self->highest + ahead - modulus;
}

uint64_t
mcc_seq_extend16 (MccSeq *self, uint16_t seq)
{
  return extend (self, seq, UINT64_C (1) << 16);
}

uint64_t
mcc_seq_extend32 (MccSeq *self, uint32_t seq)
{
  return extend (self, seq, UINT64_C (1) << 32);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccseq: sequence numbers that wrap, extended to 64 bits (RFC 3550, A.1).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  bool started;
  uint64_t highest; /* highest extended number so far */
} MccSeq;

/* The extended number nearest to the highest one so far whose low 16 (32) bits are @seq. The first
 * number starts the space at 2^16 (2^32) + seq, so that numbers before it exist. Raises @highest.
 */
uint64_t mcc_seq_extend16 (MccSeq *self, uint16_t seq);
uint64_t mcc_seq_extend32 (MccSeq *self, uint32_t seq);

/* The highest 16-bit number as RFC 3550 reports it: the cycles since the first one, and the number.
 */
static inline uint32_t
mcc_seq_highest32 (const MccSeq *self)
{
  return (uint32_t)(self->highest - (UINT64_C (1) << 16));
}

/* Serial arithmetic (RFC 1982): whether @a comes after @b; false when equal or half a cycle away.
 */
static inline bool
mcc_seq_newer16 (uint16_t a, uint16_t b)
{
  uint16_t d = (uint16_t)(a - b);
  return d != 0 && d < 0x8000;
}

static inline bool
mcc_seq_newer32 (uint32_t a, uint32_t b)
{
  uint32_t d = a - b;
  return d != 0 && d < UINT32_C (0x80000000);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccdistinct: about how many different SSRCs were seen, in 128 bytes (linear counting, Whang et
 * al. 1990: their number follows from the share of a hashed map's bits that are still clear).
 */
#pragma once

#include <stdint.h>

#define MCC_DISTINCT_LOG2 10
#define MCC_DISTINCT_BITS                                                                          \
  (1 << MCC_DISTINCT_LOG2) /* standard error 2.6 % of 1000, 7 % of 5000; 7098 at most */

typedef struct {
  uint64_t map[MCC_DISTINCT_BITS / 64];
  unsigned bits;  /* set */
  unsigned count; /* SSRCs, about; saturates */
} MccDistinct;

void mcc_distinct_clear (MccDistinct *self);
void mcc_distinct_add (MccDistinct *self, uint32_t ssrc);

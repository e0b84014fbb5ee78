/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccmedian: the median of a few numbers, sorted as they come. Quadratic in their count.
 */
#pragma once

#include <stdint.h>

/* Into @sorted, which has room, the largest first; returns @count + 1. */
static inline unsigned
mcc_median_add (uint64_t *sorted, unsigned count, uint64_t value)
{
  unsigned at = count;
  for (; at > 0 && sorted[at - 1] < value; at--)
    sorted[at] = sorted[at - 1];
  sorted[at] = value;
  return count + 1;
}

/* Of an even count the lower of the two; 0: there are none. */
static inline uint64_t
mcc_median_get (const uint64_t *sorted, unsigned count)
{
  return count > 0 ? sorted[count / 2] : 0;
}

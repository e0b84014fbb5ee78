/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmtarget.h"

#include <math.h>

#define BELOW 0.95
#define LEAST_RANK 0.05 /* and the highest is 1 less that */
#define STEP 0.1

bool
mcc_elm_bounds_valid (const MccElmBounds *bounds, unsigned count)
{
  for (unsigned k = 0; k < count; k++) {
    if (bounds[k].max_bps == 0)
      continue;
    if (bounds[k].min_bps == 0 || bounds[k].min_bps > bounds[k].max_bps)
      return false;
    if (k > 0 && bounds[k - 1].max_bps > 0
        && (bounds[k].min_bps <= bounds[k - 1].min_bps
            || bounds[k].max_bps <= bounds[k - 1].max_bps))
      return false;
  }
  return true;
}

void
mcc_elm_target_move (const MccElmBounds *bounds, unsigned count, const uint64_t *could_bps,
    unsigned receivers, uint64_t *target_bps)
{
  double below = 0.0;
  for (unsigned k = 0; k < count; k++) {
    double present = (double)target_bps[k], target = present;
    if (bounds[k].max_bps > 0) {
      double part = count > 1 ? (double)k / (double)(count - 1) : 0.0;
      double rank = LEAST_RANK + (1.0 - 2.0 * LEAST_RANK) * part;
      target = BELOW * (double)could_bps[(unsigned)(rank * (double)(receivers - 1))];
      target = fmax (fmin (target, (1.0 + STEP) * present), (1.0 - STEP) * present);
      target = fmax (target, MCC_ELM_TARGET_STEP * below);
      target = fmax (fmin (target, (double)bounds[k].max_bps), (double)bounds[k].min_bps);
    }
    target = fmax (target, below + 1.0);
    target_bps[k] = (uint64_t)target;
    below = target;
  }
}

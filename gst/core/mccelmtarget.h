/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmtarget: cumulative rates that serve most receivers, for an encoder that can move them
 * (enhanced; ours, a first form).
 *
 * Level 0 aims at what 95 % of the receivers could take, the highest at what 5 % could, those
 * between at equal steps of rank; 5 % below it, so that it is taken. A target moves by at most a
 * tenth a time, stays within its bounds, and is at least MCC_ELM_TARGET_STEP times the one below,
 * as far as the bounds allow. Receivers that nothing limits count as above all bounds.
 */
#pragma once

#include "mccelmlayers.h"

#define MCC_ELM_TARGET_STEP 1.25

typedef struct {
  uint64_t min_bps, max_bps; /* of the cumulative rate; max 0: it cannot be moved */
} MccElmBounds;

/* Whether each is in order, and rises with the level. */
bool mcc_elm_bounds_valid (const MccElmBounds *bounds, unsigned count);
/* @could_bps: of @receivers > 0, rising; @target_bps: in and out, @count of them. */
void mcc_elm_target_move (const MccElmBounds *bounds, unsigned count, const uint64_t *could_bps,
    unsigned receivers, uint64_t *target_bps);

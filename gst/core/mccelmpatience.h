/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmpatience: whether another receiver's word that it tries a layer excuses our losses
 * (enhanced; ours).
 *
 * Whoever says so is believed, for nobody could prove it; but what that may excuse is bounded.
 * Laws:
 *  - One receiver is believed for one layer once in MCC_ELM_BACK_OFF_MIN, then in twice that time,
 *    and so on up to MCC_ELM_BACK_OFF_MAX: one that keeps to mccelmmemory.h tries no more often.
 *    After twice its wait it begins anew.
 *  - All together excuse no more than MCC_ELM_PATIENCE_SHARE of the time, and MCC_ELM_PATIENCE_MOST
 *    at once: what any number of forged names gains.
 *  - Between two there is MCC_ELM_PATIENCE_REST.
 * Constant memory and cost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_ELM_PATIENCE_SHARE 8 /* one part in so many */
#define MCC_ELM_PATIENCE_MOST (12 * MCC_SECOND)
#define MCC_ELM_PATIENCE_REST (5 * MCC_SECOND)
#define MCC_ELM_PATIENCE_HEARD 16

typedef struct {
  MccTime credit, credited; /* what may be excused, as of then */
  MccTime rest_until;
  /* Who was believed lately. */
  struct {
    uint32_t ssrc;
    unsigned layer;
    MccTime last, wait; /* wait 0: nobody yet */
  } heard[MCC_ELM_PATIENCE_HEARD];
} MccElmPatience;

void mcc_elm_patience_init (MccElmPatience *self, MccTime now);
/* @ssrc says that it tries @layer. True: losses of @length from now on are excused. */
bool mcc_elm_patience_take (
    MccElmPatience *self, uint32_t ssrc, unsigned layer, MccTime length, MccTime now);

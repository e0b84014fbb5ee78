/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmpatience: whether another receiver's word that it tries a layer excuses our losses
 * (enhanced; ours).
 *
 * Whoever says so is believed, for nobody could prove it, and mostly it is behind another link:
 * only time in which there was something to excuse counts. That is bounded:
 *  - by one part in MCC_ELM_PATIENCE_SHARE of all time, MCC_ELM_PATIENCE_MOST of which may be saved
 *    up, and by `length` at once, beside the loss that it begins with: what any number of forged
 *    names gains;
 *  - after it, and after MCC_ELM_PATIENCE_MOST of readiness, nobody is believed for
 *    MCC_ELM_PATIENCE_REST.
 * Constant memory and cost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_ELM_PATIENCE_SHARE 8 /* one part in so many */
#define MCC_ELM_PATIENCE_MOST (12 * MCC_SECOND)
#define MCC_ELM_PATIENCE_REST (5 * MCC_SECOND)

typedef struct {
  MccTime credit, credited; /* what may be excused, as of then */
  MccTime since, until;     /* ready for that; until 0: not */
  MccTime most, used;       /* of this time */
  MccTime rest_until;
} MccElmPatience;

void mcc_elm_patience_init (MccElmPatience *self, MccTime now);
/* Somebody says that he tries a layer, which takes @length. False: he is not believed. */
bool mcc_elm_patience_hear (MccElmPatience *self, MccTime length, MccTime now);
static inline bool
mcc_elm_patience_is_ready (const MccElmPatience *self, MccTime now)
{
  return now < self->until;
}
/* The time from the last look to this one, @passed, which is @troubled. True: it is excused. */
bool mcc_elm_patience_look (MccElmPatience *self, MccTime passed, bool troubled, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmwhole: the rate T of one encoder that makes all layers (enhanced; ours).
 *
 * Such an encoder has one freedom: layer k is a share of T that is its own, so that all B_k move
 * together. A receiver that is below the highest level tells by that what it can take of the
 * layers, but not how much more or less would be right; one at the highest level may be able to
 * take more. So T is home, the rate it began with, while levels differ, and higher while all have
 * outgrown it:
 *
 *   rise    for MCC_ELM_WHOLE_PERIOD all receivers but 5 % have been at the highest level, limited
 *           by nothing or to more than MCC_ELM_WHOLE_ROOM of it: by a tenth, as a trial, watched
 *           for that time and three t_fb
 *   undo    during a trial more than 5 %, and more than one (the only one), are below the highest
 *           level or limited to less than it has, or the mean of what receivers have, B of their
 *           levels, is less than before: T is as before at once, and no trial follows for 60, 120,
 *           ... 960 s; a trial that lasts lets that begin anew
 *   return  T is above home, and for MCC_ELM_WHOLE_RETURN more than half, and more than one (the
 *           only one), have been below the highest level, or more than 5 %, and more than one, have
 *           the base layer only and are limited to less, or the mean is less than it could be at
 *           home, where each takes what it can have as long as it is less than the level above its
 *           own: a tenth towards home, and one more every MCC_ELM_WHOLE_PERIOD
 *           while that stays so; the same waits
 *
 * So home <= T <= max, and without receivers T stays. One of several makes nothing rise; it ends a
 * trial where it loses more than all others gain.
 * Where less than 85 % of T is sent (the encoder has nothing to fill it with) no trial. Plain
 * players have the base layer only, and count by its rate.
 */
#pragma once

#include "mccelmlayers.h"

#define MCC_ELM_WHOLE_STEP 1.1
#define MCC_ELM_WHOLE_ROOM 1.21
#define MCC_ELM_WHOLE_PERIOD (10 * MCC_SECOND)
#define MCC_ELM_WHOLE_RETURN (30 * MCC_SECOND)
#define MCC_ELM_WHOLE_WAIT_MIN (60 * MCC_SECOND)
#define MCC_ELM_WHOLE_WAIT_MAX (960 * MCC_SECOND)

typedef struct {
  uint64_t max_bps;  /* of all layers as measured; 0: it cannot be moved */
  uint64_t home_bps; /* what the encoder has now; 0: what is measured first */
} MccElmWholeBounds;

typedef struct {
  MccElmWholeBounds bounds;
  uint64_t target_bps, before_bps; /* T, and before the trial; 0: not known yet */
  MccTime watch_until;             /* of a trial; 0: none */
  MccTime next, wait, not_before;
  MccTime ready_since, home_since;                     /* MCC_TIME_NONE: it is not so */
  double mean_before_bps;                              /* of what receivers had before the trial */
  unsigned receivers, ready, troubled, below, starved; /* of this look */
  double has_bps, home_bps;                            /* likewise, sums: now; at most at home */
} MccElmWhole;

typedef struct {
  unsigned level;
  bool plain, limited;
  uint64_t rate_bps; /* where limited */
} MccElmWholeReceiver;

void mcc_elm_whole_init (MccElmWhole *self, const MccElmWholeBounds *bounds, MccTime now);
/* A look, once a second or so: each receiver, then the decision. True: T is another one. */
void mcc_elm_whole_add (
    MccElmWhole *self, const MccElmLayers *layers, const MccElmWholeReceiver *receiver);
bool mcc_elm_whole_decide (MccElmWhole *self, const MccElmLayers *layers, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmstrategy: when a receiver at level i joins layer i+1 or leaves layer i, from the smoothed
 * calculated rate X (ELM 6.1).
 *
 *   naive      join when X > B_{i+1}, leave when X < B_i
 *   skeptical  the same, once it has been so for `join_delay` (`leave_delay`)
 *   lazy       once it has been so for d = (1 - delta) join_delay_max, delta = (X - B_{i+1}) /
 *              (B_{i+1} - B_i) clamped to 0..1 (eq. 18, 20), or (1 - sqrt (delta)) leave_delay_max,
 *              delta = (B_i - X) / (B_i - B_{i-1}) (eq. 19, 21); both move with X. B_{-1} = 0.
 *
 * A condition that ends begins anew (timers are cancelled). The passive zone of the lazy strategy
 * widens [B_i, B_{i+1}] by that part of itself on both sides; inside no timer runs.
 *
 * enhanced: join_bps and leave_bps stand for B_{i+1} and B_i: the geometric means of B_i and its
 * neighbours, so that the level nearest to X is sought. Jain's index of B and X is a function of
 * |ln (B / X)| alone; rates below X, the thesis' rule, lose up to half.
 */
#pragma once

#include "mccelmlayers.h"

typedef struct {
  MccTime join_delay, leave_delay;         /* skeptical: 10 s, 5 s; enhanced 10 s, 2 s (ours) */
  MccTime join_delay_max, leave_delay_max; /* lazy: 25 s, 25 s; enhanced 25 s, 8 s */
  double passive_zone;                     /* lazy: 0 = off (the thesis' runs) */
} MccElmTimers;

extern const MccElmTimers mcc_elm_timers_default;
/* Those of the variant. */
const MccElmTimers *mcc_elm_timers (MccVariant variant);

typedef struct {
  MccTime now;
  double x_bps;               /* INFINITY: nothing limits */
  double join_bps, leave_bps; /* 0: B_{i+1}, B_i, as in the thesis */
  const MccElmLayers *layers;
  unsigned level;
  bool may_join; /* there is a layer above that may be joined */
} MccElmStrategyInput;

/* Since when the condition holds; MCC_TIME_NONE: it does not. */
typedef struct {
  MccElmTimers timers;
  MccTime join_since, leave_since;
  MccTime next; /* when it may be time, if X stays; MCC_TIME_NONE: never */
} MccElmStrategyState;

typedef struct {
  const char *name;
  /* +1: join the next layer; -1: leave the highest one; 0. */
  int (*decide) (MccElmStrategyState *state, const MccElmStrategyInput *input);
} MccElmStrategy;

extern const MccElmStrategy mcc_elm_naive;
extern const MccElmStrategy mcc_elm_skeptical;
extern const MccElmStrategy mcc_elm_lazy;

/* NULL when the name is none of "naive", "skeptical", "lazy". */
const MccElmStrategy *mcc_elm_strategy_find (const char *name);
void mcc_elm_strategy_init (MccElmStrategyState *state, const MccElmTimers *timers);
/* No condition holds: the level is another one, or nothing could be measured. */
void mcc_elm_strategy_reset (MccElmStrategyState *state);
/* So much time did not count. */
void mcc_elm_strategy_shift (MccElmStrategyState *state, MccTime passed);

/* For the strategies: above which X the next layer is joined, INFINITY when it may not be; below
 * which the highest is left. */
double mcc_elm_strategy_join_bps (const MccElmStrategyInput *input);
double mcc_elm_strategy_leave_bps (const MccElmStrategyInput *input);
/* Notes whether the conditions "join" and "leave" hold. */
void mcc_elm_strategy_note (MccElmStrategyState *state, bool join, bool leave, MccTime now);
/* ... whether one has held for its delay; sets `next`. */
int mcc_elm_strategy_ripe (
    MccElmStrategyState *state, MccTime join_delay, MccTime leave_delay, MccTime now);

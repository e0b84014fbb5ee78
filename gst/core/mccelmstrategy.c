/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmstrategy.h"

#include <math.h>

const MccElmTimers mcc_elm_timers_default = { .join_delay = 10 * MCC_SECOND,
  .leave_delay = 5 * MCC_SECOND,
  .join_delay_max = 25 * MCC_SECOND,
  .leave_delay_max = 25 * MCC_SECOND };

/* X has a memory of its own, and what is left by mistake is joined again soon. */
static const MccElmTimers enhanced = { .join_delay = 10 * MCC_SECOND,
  .leave_delay = 2 * MCC_SECOND,
  .join_delay_max = 25 * MCC_SECOND,
  .leave_delay_max = 8 * MCC_SECOND };

const MccElmTimers *
mcc_elm_timers (MccVariant variant)
{
  return variant == MCC_VARIANT_ENHANCED ? &enhanced : &mcc_elm_timers_default;
}

const MccElmStrategy *
mcc_elm_strategy_find (const char *name)
{
  static const MccElmStrategy *const all[] = { &mcc_elm_naive, &mcc_elm_skeptical, &mcc_elm_lazy };
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
    if (strcmp (name, all[i]->name) == 0)
      return all[i];
  return NULL;
}

void
mcc_elm_strategy_init (MccElmStrategyState *state, const MccElmTimers *timers)
{
  state->timers = *timers;
  mcc_elm_strategy_reset (state);
}

void
mcc_elm_strategy_reset (MccElmStrategyState *state)
{
  state->join_since = state->leave_since = state->next = MCC_TIME_NONE;
}

double
mcc_elm_strategy_join_bps (const MccElmStrategyInput *input)
{
  if (!input->may_join)
    return INFINITY;
  return input->join_bps > 0.0 ? input->join_bps
                               : (double)input->layers->layer[input->level + 1].cumulative_bps;
}

double
mcc_elm_strategy_leave_bps (const MccElmStrategyInput *input)
{
  return input->leave_bps > 0.0 ? input->leave_bps
                                : (double)input->layers->layer[input->level].cumulative_bps;
}

void
mcc_elm_strategy_shift (MccElmStrategyState *state, MccTime passed)
{
  if (state->join_since != MCC_TIME_NONE)
    state->join_since += passed;
  if (state->leave_since != MCC_TIME_NONE)
    state->leave_since += passed;
}

void
mcc_elm_strategy_note (MccElmStrategyState *state, bool join, bool leave, MccTime now)
{
  state->join_since = join ? mcc_time_min (state->join_since, now) : MCC_TIME_NONE;
  state->leave_since = leave ? mcc_time_min (state->leave_since, now) : MCC_TIME_NONE;
}

int
mcc_elm_strategy_ripe (
    MccElmStrategyState *state, MccTime join_delay, MccTime leave_delay, MccTime now)
{
  state->next = MCC_TIME_NONE;
  if (state->leave_since != MCC_TIME_NONE) {
    state->next = state->leave_since + leave_delay;
    return now >= state->next ? -1 : 0;
  }
  if (state->join_since != MCC_TIME_NONE) {
    state->next = state->join_since + join_delay;
    return now >= state->next ? 1 : 0;
  }
  return 0;
}

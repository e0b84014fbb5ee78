/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmstrategy.h"

#include <math.h>

static MccTime
part (double share, MccTime delay)
{
  return mcc_time_from_seconds (fmin (fmax (share, 0.0), 1.0) * mcc_time_to_seconds (delay));
}

static int
decide (MccElmStrategyState *state, const MccElmStrategyInput *input)
{
  const MccElmLayer *layer = &input->layers->layer[input->level];
  double own = (double)layer->cumulative_bps;
  double below = input->level > 0 ? (double)layer[-1].cumulative_bps : 0.0;
  double next = input->may_join ? (double)layer[1].cumulative_bps : INFINITY;
  double zone = input->may_join ? state->timers.passive_zone * (next - own) : 0.0;
  double join_bps = mcc_elm_strategy_join_bps (input);
  double leave_bps = mcc_elm_strategy_leave_bps (input);
  bool join = input->may_join && input->x_bps > join_bps + zone;
  bool leave = input->level > 0 && input->x_bps < leave_bps - zone;
  mcc_elm_strategy_note (state, join, leave, input->now);
  MccTime join_delay = 0, leave_delay = 0;
  if (join)
    join_delay
        = part (1.0 - (input->x_bps - join_bps) / (next - own), state->timers.join_delay_max);
  if (leave)
    leave_delay = part (1.0 - sqrt (fmin ((leave_bps - input->x_bps) / (own - below), 1.0)),
        state->timers.leave_delay_max);
  return mcc_elm_strategy_ripe (state, join_delay, leave_delay, input->now);
}

const MccElmStrategy mcc_elm_lazy = { "lazy", decide };

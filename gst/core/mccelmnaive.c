/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmstrategy.h"

static int
decide (MccElmStrategyState *state, const MccElmStrategyInput *input)
{
  bool join = input->may_join && input->x_bps > mcc_elm_strategy_join_bps (input);
  bool leave = input->level > 0 && input->x_bps < mcc_elm_strategy_leave_bps (input);
  mcc_elm_strategy_note (state, join, leave, input->now);
  return mcc_elm_strategy_ripe (state, 0, 0, input->now);
}

const MccElmStrategy mcc_elm_naive = { "naive", decide };

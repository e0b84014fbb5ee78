/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccpacing.h"

const MccPacing mcc_pacing_default
    = { .pairs = false, .even = false, .burst = MCC_PACING_BURST_MOST };

/* In whole milliseconds, so that it changes now and then only. */
MccPacing
mcc_pacing_limited (MccTime rtt)
{
  MccTime burst = rtt / MCC_PACING_BURST_OF_RTT / MCC_MSECOND * MCC_MSECOND;
  MccPacing pacing = { .even = true };
  pacing.burst = rtt == 0 ? MCC_PACING_BURST_MOST
                          : mcc_time_clamp (burst, MCC_PACING_BURST_LEAST, MCC_PACING_BURST_MOST);
  return pacing;
}

bool
mcc_pacing_equal (const MccPacing *a, const MccPacing *b)
{
  return a->pairs == b->pairs && a->even == b->even && a->burst == b->burst;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccrtcp.h"

#include <assert.h>

/* A session without bandwidth must not make times that overflow when they are added. */
#define INTERVAL_MAX (24 * 3600 * MCC_SECOND)

uint64_t
mcc_rtcp_base_bps (uint64_t target_bps, uint64_t session_bps)
{
  uint64_t floor_bps = session_bps / MCC_RTCP_FLOOR_SHARE;
  if (floor_bps > MCC_RTCP_FLOOR_BPS)
    floor_bps = MCC_RTCP_FLOOR_BPS;
  if (target_bps < floor_bps)
    return floor_bps;
  return target_bps < session_bps ? target_bps : session_bps;
}

MccTime
mcc_rtcp_interval (uint64_t target_bps, uint64_t session_bps, double share, unsigned members,
    double compound_bytes)
{
  assert (share > 0.0 && share <= 1.0 && compound_bytes > 0.0);
  double bps = (double)mcc_rtcp_base_bps (target_bps, session_bps);
  double bits = 8.0 * compound_bytes * (members ? members : 1);

  if (bps <= 0.0)
    return INTERVAL_MAX;
  return mcc_time_clamp (mcc_time_from_seconds (bits / (MCC_RTCP_FRACTION * share * bps)),
      MCC_RTCP_MIN_INTERVAL, INTERVAL_MAX);
}

double
mcc_rtcp_known_bps (uint64_t base_bps, unsigned receivers)
{
  double n = receivers > 0 ? receivers : 1;
  double alike = 2.0 / (n + 1.0), theirs = 2.0 * MCC_RTCP_RECEIVER_SHARE / n;
  return (double)base_bps * (alike < theirs ? alike : theirs);
}

MccTime
mcc_rtcp_randomize (MccRng *rng, MccTime interval)
{
  double factor = (mcc_rng_uniform (rng) + 0.5) / MCC_RTCP_COMPENSATION;

  interval = mcc_time_min (interval, INTERVAL_MAX);
  return mcc_time_max ((MccTime)((double)interval * factor), MCC_RTCP_MIN_INTERVAL);
}

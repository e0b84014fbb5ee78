/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccsuppress.h"

#include <math.h>

MccTime
mcc_suppress_wait (MccRng *rng, unsigned receivers, MccTime rtt_max)
{
  double lambda = log (receivers > 1 ? receivers : 1) + 1.0;             /* RFC 5401 */
  double wait = log1p (mcc_rng_uniform (rng) * expm1 (lambda)) / lambda; /* of T */

  return mcc_time_from_seconds (wait * MCC_SUPPRESS_K * mcc_time_to_seconds (rtt_max));
}

bool
mcc_suppress_covers (uint64_t heard_bps, uint64_t own_bps, bool enhanced)
{
  double heard = (double)heard_bps, own = (double)own_bps;

  return fabs (heard - own) <= MCC_SUPPRESS_SIMILAR * own || (enhanced && heard < own);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccsuppress.h"

#include <math.h>

static double
lambda_of (unsigned receivers)
{
  return log (receivers > 1 ? receivers : 1) + 1.0; /* RFC 5401 */
}

double
mcc_suppress_factor (unsigned receivers)
{
  return fmax (
      MCC_SUPPRESS_K_MIN, 1.2 * lambda_of (receivers) / (2.0 * log (MCC_SUPPRESS_REPORTS)));
}

MccTime
mcc_suppress_wait_within (MccRng *rng, unsigned receivers, MccTime longest)
{
  double lambda = lambda_of (receivers);
  double wait = log1p (mcc_rng_uniform (rng) * expm1 (lambda)) / lambda; /* of T */

  return mcc_time_from_seconds (wait * mcc_time_to_seconds (longest));
}

MccTime
mcc_suppress_wait (MccRng *rng, unsigned receivers, MccTime rtt_max)
{
  double longest = mcc_suppress_factor (receivers) * mcc_time_to_seconds (rtt_max);

  return mcc_suppress_wait_within (rng, receivers, mcc_time_from_seconds (longest));
}

bool
mcc_suppress_covers (uint64_t heard_bps, uint64_t own_bps, bool enhanced)
{
  double heard = (double)heard_bps, own = (double)own_bps;

  return fabs (heard - own) <= MCC_SUPPRESS_SIMILAR * own || (enhanced && heard < own);
}

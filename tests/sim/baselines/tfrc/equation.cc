/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "equation.h"

#include <cmath>

namespace sim
{

double
TfrcRate (double packet_bytes, double rtt, double p)
{
  const double rto = 4.0 * rtt; /* RFC 5348 3.1, RFC 4654 2.1: t_RTO = 4 R */

  return 8.0 * packet_bytes
         / (rtt * std::sqrt (2.0 * p / 3.0)
             + rto * 3.0 * std::sqrt (3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p));
}

double
TfrcLossEventRate (double packet_bytes, double rtt, double rate_bps)
{
  double low = 1e-12, high = 1.0;

  /* The rate falls with p: halve the interval, on a logarithmic scale. */
  for (int i = 0; i < 100; i++) {
    double middle = std::sqrt (low * high);

    if (TfrcRate (packet_bytes, rtt, middle) > rate_bps)
      low = middle;
    else
      high = middle;
  }
  return high;
}

} // namespace sim

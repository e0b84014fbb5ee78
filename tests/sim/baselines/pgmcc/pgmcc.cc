/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pgmcc.h"

#include <cmath>

namespace sim::pgmcc
{

double
InverseThroughput (Model model, double rtt, double loss_ratio)
{
  double p = loss_ratio, simple = rtt * std::sqrt (p);

  return model == Model::SIMPLE ? simple : simple * (1.0 + 9.0 * p * (1.0 + 32.0 * p * p));
}

bool
Replaces (double inverse_i, double inverse_acker)
{
  return inverse_acker < SWITCH_RATIO * inverse_i;
}

} // namespace sim::pgmcc

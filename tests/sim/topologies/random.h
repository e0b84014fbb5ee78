/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * random: streams of random numbers by name, so that what one host or flow draws does not depend on
 * what else there is: the same seed gives a flow the same start and delay in every variant.
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

extern "C" {
#include "mccrng.h"
}

namespace sim
{

class Random
{
public:
  Random (std::uint64_t seed, const std::string &name)
  {
    std::uint64_t hash = 0xcbf29ce484222325; /* FNV-1a, 64 bits */
    for (unsigned char byte : name)
      hash = (hash ^ byte) * 0x100000001b3;
    mcc_rng_init (&m_rng, hash ^ (seed * 0x9e3779b97f4a7c15));
  }

  std::uint64_t Next ()
  {
    return mcc_rng_next (&m_rng);
  }
  double Uniform (double low = 0, double high = 1)
  {
    return low + (high - low) * mcc_rng_uniform (&m_rng);
  }
  double Exponential (double mean)
  {
    return -mean * std::log (1 - mcc_rng_uniform (&m_rng));
  }
  /* Of the given mean; @shape > 1. */
  double Pareto (double mean, double shape)
  {
    return mean * (shape - 1) / shape * std::pow (1 - mcc_rng_uniform (&m_rng), -1 / shape);
  }
  /* A number, or uniform in [lo, hi]. */
  double Draw (const nlohmann::json &value)
  {
    if (value.is_array ())
      return Uniform (value.at (0).get<double> (), value.at (1).get<double> ());
    return value.get<double> ();
  }

private:
  MccRng m_rng;
};

} // namespace sim

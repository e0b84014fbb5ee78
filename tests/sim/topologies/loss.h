/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * loss: random loss of packets, Gilbert-Elliott (Elliott, "Estimates of error rates for codes on
 * burst-noise channels", 1963); Bernoulli is its case without a bad state.
 *
 * Per packet: it is lost with the state's ratio, then the state changes with the state's
 * probability. pi_bad = good_to_bad / (good_to_bad + bad_to_good); loss ratio = pi_bad bad_loss +
 * (1 - pi_bad) good_loss; a stay in the bad state is 1 / bad_to_good packets in the mean. It starts
 * in its stationary distribution.
 */
#pragma once

#include <nlohmann/json.hpp>

#include "random.h"

namespace sim
{

struct LossParameters {
  double good_to_bad = 0, bad_to_good = 1, bad_loss = 0, good_loss = 0;

  /* {"type": "bernoulli", "ratio":} or {"type": "gilbert", ...}; null is no loss. */
  static LossParameters FromJson (const nlohmann::json &loss);
  /* Each parameter on the line from @from (0) to @to (1). */
  static LossParameters Between (
      const LossParameters &from, const LossParameters &to, double position);
};

class Loss
{
public:
  Loss (const LossParameters &parameters, Random random);

  void Set (const LossParameters &parameters);
  const LossParameters &Parameters () const
  {
    return m_parameters;
  }
  bool Lose ();

private:
  LossParameters m_parameters;
  Random m_random;
  bool m_bad;
};

} // namespace sim

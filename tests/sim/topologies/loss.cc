/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "loss.h"

#include "topology.h"

namespace sim
{

LossParameters
LossParameters::FromJson (const nlohmann::json &loss)
{
  LossParameters result;
  if (loss.is_null ())
    return result;
  const std::string type = loss.at ("type");
  if (type == "bernoulli") {
    result.good_loss = loss.at ("ratio");
  } else if (type == "gilbert") {
    result.good_to_bad = loss.at ("good_to_bad");
    result.bad_to_good = loss.at ("bad_to_good");
    result.bad_loss = loss.value ("bad_loss", 1.0);
    result.good_loss = loss.value ("good_loss", 0.0);
  } else if (type != "none") {
    throw ScenarioError ("no loss of type \"" + type + "\": bernoulli, gilbert, none");
  }
  return result;
}

LossParameters
LossParameters::Between (const LossParameters &from, const LossParameters &to, double position)
{
  auto between = [position] (double a, double b) { return a + (b - a) * position; };
  LossParameters result;
  result.good_to_bad = between (from.good_to_bad, to.good_to_bad);
  result.bad_to_good = between (from.bad_to_good, to.bad_to_good);
  result.bad_loss = between (from.bad_loss, to.bad_loss);
  result.good_loss = between (from.good_loss, to.good_loss);
  return result;
}

Loss::Loss (const LossParameters &parameters, Random random)
    : m_parameters (parameters), m_random (random)
{
  const double changes = parameters.good_to_bad + parameters.bad_to_good;
  m_bad = changes > 0 && m_random.Uniform () < parameters.good_to_bad / changes;
}

void
Loss::Set (const LossParameters &parameters)
{
  m_parameters = parameters;
}

bool
Loss::Lose ()
{
  const LossParameters &p = m_parameters;
  const bool lost = m_random.Uniform () < (m_bad ? p.bad_loss : p.good_loss);
  if (m_random.Uniform () < (m_bad ? p.bad_to_good : p.good_to_bad))
    m_bad = !m_bad;
  return lost;
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "onoff.h"

#include <ns3/simulator.h>

#include "topology.h"

namespace sim
{

OnOff::OnOff (const nlohmann::json &spec, Random random, std::function<void (bool)> set)
    : m_spec (spec), m_random (random), m_set (std::move (set))
{
  if (m_spec.is_null ())
    return;
  const std::string kind = m_spec.value ("distribution", "constant");
  if (kind != "constant" && kind != "exponential" && kind != "pareto")
    throw ScenarioError ("onoff: no distribution \"" + kind + "\": constant, exponential, pareto");
}

double
OnOff::Length (bool on)
{
  const double mean = m_spec.at (on ? "on" : "off");
  const std::string kind = m_spec.value ("distribution", "constant");
  if (kind == "exponential")
    return m_random.Exponential (mean);
  if (kind == "pareto")
    return m_random.Pareto (mean, m_spec.value ("shape", 1.5));
  return mean;
}

void
OnOff::Start ()
{
  Turn (true);
}

void
OnOff::Stop ()
{
  m_next.Cancel ();
  if (m_on)
    m_set (false);
  m_on = false;
}

void
OnOff::Turn (bool on)
{
  m_next.Cancel ();
  if (on != m_on)
    m_set (on);
  m_on = on;
  if (!m_spec.is_null ())
    m_next = ns3::Simulator::Schedule (ns3::Seconds (Length (on)), &OnOff::Turn, this, !on);
}

} // namespace sim

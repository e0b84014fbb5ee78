/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * onoff: when a flow runs: from its start to its stop, in between as its "onoff" says.
 *
 * {"on": s, "off": s, "distribution": "constant", "exponential" or "pareto", "shape": > 1}; on and
 * off are means; it starts with an on time.
 */
#pragma once

#include <functional>

#include <nlohmann/json.hpp>
#include <ns3/event-id.h>

#include "random.h"

namespace sim
{

class OnOff
{
public:
  /* @spec: null is always on. */
  OnOff (const nlohmann::json &spec, Random random, std::function<void (bool on)> set);

  void Start ();
  void Stop ();

private:
  void Turn (bool on);
  double Length (bool on);

  nlohmann::json m_spec;
  Random m_random;
  std::function<void (bool)> m_set;
  bool m_on = false;
  ns3::EventId m_next;
};

} // namespace sim

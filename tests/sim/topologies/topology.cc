/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topology.h"

namespace sim
{

void
WithPlace (const std::string &place, const std::function<void ()> &build)
{
  try {
    build ();
  } catch (const std::exception &error) {
    throw ScenarioError (place + ": " + error.what ());
  }
}

} // namespace sim

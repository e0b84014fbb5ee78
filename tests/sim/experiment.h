/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * experiment: one run of a normalised scenario (README.md).
 */
#pragma once

#include <functional>
#include <memory>

#include <nlohmann/json.hpp>

#include "topology.h"

namespace sim
{

/* Runs @scenario and returns its result. ScenarioError or a nlohmann::json exception when it cannot
 * be run as it is. @progress (may be empty) is called every second of virtual time. One at a time:
 * ns-3's simulator is global. */
nlohmann::json RunScenario (
    const nlohmann::json &scenario, const std::function<void (double now)> &progress = {});

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * queue: a link's queue from a scenario.
 */
#pragma once

#include <nlohmann/json.hpp>

#include "link.h"

namespace sim
{

/* {"type": "droptail" | "red" | "codel", "size": {"packets": n} | {"bytes": n}, ...}. RED as ns-3
 * has it (Floyd and Jacobson 1993, gentle: 2000), not adaptive; its "min" and "max" in the unit of
 * "size". @stream: of RED's random numbers. @rate_bps: RED ages its average over idle times. */
void SetQueue (Link &link, const nlohmann::json &queue, double rate_bps, std::int64_t stream);

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * result: records as the JSON result (README.md). Whole numbers are written as such; what is JSON's
 * own business (the shortest form that reads back the same) makes the bytes reproducible.
 */
#pragma once

#include <functional>

#include <nlohmann/json.hpp>

#include "linkrecord.h"
#include "port.h"
#include "record.h"

namespace sim
{

using HostName = std::function<std::string (HostId)>;

nlohmann::json SenderResult (const SenderRecord &record, const HostName &name);
nlohmann::json ReceiverResult (const ReceiverRecord &record);
nlohmann::json FlowResult (const FlowRecord &record);
nlohmann::json LinkResult (const LinkRecord &record);

} // namespace sim

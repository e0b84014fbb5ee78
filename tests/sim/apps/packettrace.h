/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * packettrace: every packet of what one receiver showed, and what came of it; for picture quality.
 */
#pragma once

#include <nlohmann/json.hpp>

#include "multicast.h"
#include "record.h"

namespace sim
{

constexpr double PLAYOUT_LATENCY = 0.3; /* s; what arrives later is late (lost = 2) */

/* {"streams": [{"low_bps":, "high_bps":}], "targets": [[s, stream, bit/s]], "shown": [[s, stream]],
 * "packets": [[s, stream, lost]]}; all times are those of sending. From shown[i] on until the next
 * one every packet of that stream is listed, whether it came (0), was lost (1) or late (2). Where
 * "layered" is true streams are layers (both bounds are the layer's own rate), and shown[i] is that
 * one with all below. A flow of one stream has its least and highest rate as bounds. */
nlohmann::json PacketTraceResult (
    const MulticastConfig &config, const SenderRecord &sender, const PacketTrace &trace);

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * elm: the hosts of ELM around the core's machines, as gst/elm hosts them in the elements. RTCP is
 * group 0, layer k is group 1 + k.
 *
 * The source is ideal, evenly spaced or in whole pictures (layersource.h). Each packet carries the
 * layers' order (mcclayerorder.h) as on the wire.
 *
 * Options (MulticastConfig::options): strategy: naive, skeptical or lazy; loss: lip, lap or window;
 * history: intervals; smoothed_by: percentiles, ewma or none; slow_start_interval, join_delay,
 * leave_delay: s, of the skeptical and the lazy strategy; leave_latency: s, what receivers take for
 * the network's; max_level.
 */
#pragma once

#include "asmp.h"

extern "C" {
#include "mccelmreceiver.h"
#include "mccelmsender.h"
#include "mcclayerorder.h"
#include "mccrtpextension.h"
}

namespace sim
{

constexpr unsigned ELM_RTCP_GROUP = 0;
constexpr unsigned ELM_LAYERS_MAX = MCC_LAYER_ORDER_LAYERS_MAX;

inline unsigned
ElmGroup (unsigned layer)
{
  return 1 + layer;
}

/* A packet's header: RTP with abs-send-time and the layers' order. */
struct ElmRtp {
  std::array<std::uint8_t, ASMP_RTP_BYTES + 4 + MCC_LAYER_ORDER_BYTES_MAX + 3> data;
  std::size_t size;
};

ElmRtp MakeElmRtp (
    std::uint32_t ssrc, std::uint16_t seq, std::uint32_t send_time, const MccLayerOrder &order);
bool ParseElmRtp (const Datagram &datagram, MccRtpPacket *packet, MccLayerOrder *order);

std::unique_ptr<MulticastSender> NewElmSender (
    MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record);
std::unique_ptr<MulticastReceiver> NewElmReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record);

} // namespace sim

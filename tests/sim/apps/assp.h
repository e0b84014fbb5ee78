/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * assp: the hosts of ASSP around the core's machines, as gst/assp hosts them in the elements. RTCP
 * is group 0, stream k is group 1 + k.
 *
 * The source is ideal: each stream sends full packets, evenly spaced at its target, all the time.
 * Of pictures it has only where key units begin: one that is asked for begins with the first packet
 * after the next frame time (FRAME_RATE; every stream has a phase of its own), and takes no more
 * bytes than other pictures. A receiver cuts over with that packet; when it is lost, the receiver
 * asks again.
 *
 * Options (MulticastConfig::options), besides asmp.h's: alpha, beta, kappa, lambda (ASSP eq. 6-10);
 * leave_latency: s, what receivers take for the network's; lock_stream; max_streams: the ladder is
 * live.
 */
#pragma once

#include "asmp.h"

extern "C" {
#include "mccasspreceiver.h"
#include "mccasspsender.h"
}

namespace sim
{

constexpr unsigned ASSP_RTCP_GROUP = 0;

inline unsigned
AsspGroup (unsigned stream)
{
  return 1 + stream;
}

/* Behind the RTP header, in place of media. */
struct AsspMedia {
  std::uint32_t number; /* of the packet in its stream: 0, 1, ... */
  std::uint8_t key;     /* a key unit begins with it */
  std::uint8_t reserved[3];
};
static_assert (sizeof (AsspMedia) == 8);
constexpr std::uint32_t ASSP_PAYLOAD_BYTES = ASMP_RTP_BYTES + sizeof (AsspMedia);

std::unique_ptr<MulticastSender> NewAsspSender (
    MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record);
std::unique_ptr<MulticastReceiver> NewAsspReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record);

} // namespace sim

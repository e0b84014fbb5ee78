/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elm.h"

#include <algorithm>

namespace sim
{
namespace
{

constexpr std::uint8_t ORDER_ID = 2;

template <MccVariant variant>
std::unique_ptr<MulticastSender>
NewSender (Port &port, const MulticastConfig &config, SenderRecord &record)
{
  return NewElmSender (variant, port, config, record);
}

template <MccVariant variant>
std::unique_ptr<MulticastReceiver>
NewReceiver (Port &port, const MulticastConfig &config, ReceiverRecord &record)
{
  return NewElmReceiver (variant, port, config, record);
}

} // namespace

ElmRtp
MakeElmRtp (
    std::uint32_t ssrc, std::uint16_t seq, std::uint32_t send_time, const MccLayerOrder &order)
{
  ElmRtp out{};
  AsmpRtp rtp = MakeRtp (ssrc, seq, send_time);
  std::copy (rtp.begin (), rtp.end (), out.data.begin ());
  std::uint8_t *element = out.data.data () + ASMP_RTP_BYTES;
  std::size_t bytes = mcc_layer_order_write (&order, element + 1);
  element[0] = static_cast<std::uint8_t> (ORDER_ID << 4 | (bytes - 1));
  std::size_t words = (1 + bytes + 3) / 4; /* besides abs-send-time's */
  out.data[15] = static_cast<std::uint8_t> (1 + words);
  out.size = ASMP_RTP_BYTES + 4 * words;
  return out;
}

bool
ParseElmRtp (const Datagram &datagram, MccRtpPacket *packet, MccLayerOrder *order)
{
  std::size_t bytes;
  if (!ParseRtp (datagram, packet))
    return false;
  const std::uint8_t *element
      = mcc_rtp_packet_element (datagram.data, datagram.size, ORDER_ID, &bytes);
  return element != nullptr && mcc_layer_order_read (element, bytes, order);
}

extern const MulticastProtocol elm_published_protocol, elm_enhanced_protocol;
const MulticastProtocol elm_published_protocol
    = { "published", NewSender<MCC_VARIANT_PUBLISHED>, NewReceiver<MCC_VARIANT_PUBLISHED> };
const MulticastProtocol elm_enhanced_protocol
    = { "enhanced", NewSender<MCC_VARIANT_ENHANCED>, NewReceiver<MCC_VARIANT_ENHANCED> };

} // namespace sim

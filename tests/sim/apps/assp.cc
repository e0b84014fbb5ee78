/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "assp.h"

namespace sim
{
namespace
{

template <MccVariant variant>
std::unique_ptr<MulticastSender>
NewSender (Port &port, const MulticastConfig &config, SenderRecord &record)
{
  return NewAsspSender (variant, port, config, record);
}

template <MccVariant variant>
std::unique_ptr<MulticastReceiver>
NewReceiver (Port &port, const MulticastConfig &config, ReceiverRecord &record)
{
  return NewAsspReceiver (variant, port, config, record);
}

} // namespace

extern const MulticastProtocol assp_published_protocol, assp_enhanced_protocol;
const MulticastProtocol assp_published_protocol
    = { "published", NewSender<MCC_VARIANT_PUBLISHED>, NewReceiver<MCC_VARIANT_PUBLISHED> };
const MulticastProtocol assp_enhanced_protocol
    = { "enhanced", NewSender<MCC_VARIANT_ENHANCED>, NewReceiver<MCC_VARIANT_ENHANCED> };

} // namespace sim

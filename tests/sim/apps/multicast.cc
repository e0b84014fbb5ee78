/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "multicast.h"

namespace sim
{

extern const MulticastProtocol asmp_enhanced_protocol;
extern const MulticastProtocol asmp_published_protocol;
extern const MulticastProtocol assp_enhanced_protocol;
extern const MulticastProtocol assp_published_protocol;
extern const MulticastProtocol cbr_protocol;
extern const MulticastProtocol pgmcc_protocol;
extern const MulticastProtocol smcc_protocol;
extern const MulticastProtocol tfmcc_protocol;
extern const MulticastProtocol tfrc_protocol;

static const MulticastProtocol *const protocols[] = {
  &asmp_enhanced_protocol,
  &asmp_published_protocol,
  &cbr_protocol,
  &pgmcc_protocol,
  &smcc_protocol,
  &tfmcc_protocol,
  &tfrc_protocol,
};

static const MulticastProtocol *const simulcast_protocols[] = {
  &assp_enhanced_protocol,
  &assp_published_protocol,
};

const MulticastProtocol *
FindMulticastProtocol (const std::string &name, bool simulcast)
{
  for (const MulticastProtocol *protocol : simulcast_protocols)
    if (simulcast && name == protocol->name)
      return protocol;
  for (const MulticastProtocol *protocol : protocols)
    if (name == protocol->name)
      return protocol;
  return nullptr;
}

} // namespace sim

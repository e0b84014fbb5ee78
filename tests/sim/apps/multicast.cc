/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "multicast.h"

namespace sim
{

extern const MulticastProtocol asmp_enhanced_protocol;
extern const MulticastProtocol asmp_published_protocol;
extern const MulticastProtocol cbr_protocol;
extern const MulticastProtocol pgmcc_protocol;
extern const MulticastProtocol tfmcc_protocol;
extern const MulticastProtocol tfrc_protocol;

static const MulticastProtocol *const protocols[] = {
  &asmp_enhanced_protocol,
  &asmp_published_protocol,
  &cbr_protocol,
  &pgmcc_protocol,
  &tfmcc_protocol,
  &tfrc_protocol,
};

const MulticastProtocol *
FindMulticastProtocol (const std::string &name)
{
  for (const MulticastProtocol *protocol : protocols)
    if (name == protocol->name)
      return protocol;
  return nullptr;
}

} // namespace sim

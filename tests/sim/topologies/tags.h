/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tags: what a packet carries for our records; not a byte on the wire.
 */
#pragma once

#include <ns3/tag.h>

#include "port.h"

namespace sim
{

/* When and by whom a packet was sent; of our ports' datagrams also what UDP's header would say. */
class OriginTag : public ns3::Tag
{
public:
  static ns3::TypeId GetTypeId ();
  ns3::TypeId GetInstanceTypeId () const override;
  std::uint32_t GetSerializedSize () const override;
  void Serialize (ns3::TagBuffer buffer) const override;
  void Deserialize (ns3::TagBuffer buffer) override;
  void Print (std::ostream &stream) const override;

  double sent = 0; /* s, true time */
  HostId from = 0;
  std::uint32_t size = 0;  /* of the payload without its padding */
  std::int32_t group = -1; /* -1: unicast */
  std::int32_t flow = -1;  /* of the port; -1: no port's */
};

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tags.h"

#include <ostream>

namespace sim
{

ns3::TypeId
OriginTag::GetTypeId ()
{
  static ns3::TypeId id = ns3::TypeId ("sim::OriginTag")
                              .SetParent<ns3::Tag> ()
                              .AddConstructor<OriginTag> ()
                              .SetGroupName ("Sim");
  return id;
}

ns3::TypeId
OriginTag::GetInstanceTypeId () const
{
  return GetTypeId ();
}

std::uint32_t
OriginTag::GetSerializedSize () const
{
  return 8 + 4 * 4;
}

void
OriginTag::Serialize (ns3::TagBuffer buffer) const
{
  buffer.WriteDouble (sent);
  buffer.WriteU32 (from);
  buffer.WriteU32 (size);
  buffer.WriteU32 (static_cast<std::uint32_t> (group));
  buffer.WriteU32 (static_cast<std::uint32_t> (flow));
}

void
OriginTag::Deserialize (ns3::TagBuffer buffer)
{
  sent = buffer.ReadDouble ();
  from = buffer.ReadU32 ();
  size = buffer.ReadU32 ();
  group = static_cast<std::int32_t> (buffer.ReadU32 ());
  flow = static_cast<std::int32_t> (buffer.ReadU32 ());
}

void
OriginTag::Print (std::ostream &stream) const
{
  stream << "from=" << from << " group=" << group;
}

} // namespace sim

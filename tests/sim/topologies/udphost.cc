/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "udphost.h"

#include <ns3/ipv4-header.h>
#include <ns3/simulator.h>

#include "nsport.h"
#include "tags.h"

namespace sim
{

using ns3::Ipv4Address;

static constexpr std::uint8_t UDP = 17;
static constexpr std::uint8_t TTL = 64;

UdpHost::UdpHost (std::uint32_t id, ns3::Ptr<Link> link, Router *router, std::uint32_t interface)
    : m_own (HostAddress (id)), m_link (link), m_router (router), m_router_interface (interface)
{
  m_link->SetTaker ([this] (const ns3::Packet &packet) { return Take (packet); });
}

UdpHost::~UdpHost ()
{
  m_link->SetTaker (nullptr);
}

void
UdpHost::SetPort (unsigned flow, NsPort *port)
{
  if (port != nullptr)
    m_ports[flow] = port;
  else
    m_ports.erase (flow);
}

void
UdpHost::Join (Ipv4Address group)
{
  Tell (group, true);
}

void
UdpHost::Leave (Ipv4Address group)
{
  Tell (group, false);
}

void
UdpHost::Tell (Ipv4Address group, bool joined)
{
  Membership &membership = m_groups[group.Get ()];
  if (membership.joined == joined)
    return;
  membership.joined = joined;
  ns3::Simulator::Schedule (m_link->Delay (), &Router::Hear, m_router, m_router_interface, group,
      joined, ++membership.times);
}

void
UdpHost::Send (ns3::Ptr<ns3::Packet> packet, Ipv4Address to, bool ect)
{
  ns3::Ipv4Header header;
  header.SetSource (m_own);
  header.SetDestination (to);
  header.SetProtocol (UDP);
  header.SetTtl (TTL);
  header.SetPayloadSize (static_cast<std::uint16_t> (packet->GetSize ()));
  if (ect)
    header.SetEcn (ns3::Ipv4Header::ECN_ECT0);
  packet->AddHeader (header);
  m_link->Pass (packet);
}

bool
UdpHost::Take (const ns3::Packet &packet)
{
  OriginTag origin;
  if (!packet.PeekPacketTag (origin) || origin.flow < 0)
    return false;
  const Ipv4Address to = Destination (packet);
  const auto group = m_groups.find (to.Get ());
  if (to == m_own || (group != m_groups.end () && group->second.joined)) {
    const auto port = m_ports.find (static_cast<unsigned> (origin.flow));
    if (port != m_ports.end ())
      port->second->Deliver (packet, origin);
  }
  return true;
}

} // namespace sim

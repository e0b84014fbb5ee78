/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostrouting.h"

#include <ns3/ipv4-route.h>
#include <ns3/simulator.h>

namespace sim
{

using ns3::Ipv4Address;

ns3::TypeId
HostRouting::GetTypeId ()
{
  static ns3::TypeId id = ns3::TypeId ("sim::HostRouting")
                              .SetParent<ns3::Ipv4RoutingProtocol> ()
                              .SetGroupName ("Sim")
                              .AddConstructor<HostRouting> ();
  return id;
}

void
HostRouting::Connect (Ipv4Address own, ns3::Ptr<Link> link, Router *router, std::uint32_t interface)
{
  m_own = own;
  m_link = link;
  m_router = router;
  m_router_interface = interface;
  m_route = ns3::Create<ns3::Ipv4Route> ();
  m_route->SetSource (own);
  m_route->SetGateway (Ipv4Address::GetAny ());
  m_route->SetOutputDevice (link);
}

void
HostRouting::Join (Ipv4Address group)
{
  Tell (group, true);
}

void
HostRouting::Leave (Ipv4Address group)
{
  Tell (group, false);
}

void
HostRouting::Tell (Ipv4Address group, bool joined)
{
  Membership &membership = m_groups[group.Get ()];
  if (membership.joined == joined)
    return;
  membership.joined = joined;
  ns3::Simulator::Schedule (m_link->Delay (), &Router::Hear, m_router, m_router_interface, group,
      joined, ++membership.times);
}

ns3::Ptr<ns3::Ipv4Route>
HostRouting::RouteOutput (ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header &, ns3::Ptr<ns3::NetDevice>,
    ns3::Socket::SocketErrno &error)
{
  error = ns3::Socket::ERROR_NOTERROR;
  return m_route;
}

bool
HostRouting::RouteInput (ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header &header,
    ns3::Ptr<const ns3::NetDevice> device, Callbacks::Unicast, Callbacks::Multicast,
    Callbacks::Local local, Callbacks::Error)
{
  const Ipv4Address to = header.GetDestination ();
  const auto group = m_groups.find (to.Get ());
  if (to == m_own || (group != m_groups.end () && group->second.joined))
    local (packet, header, device->GetIfIndex ());
  return true;
}

void
HostRouting::NotifyInterfaceUp (std::uint32_t)
{
}

void
HostRouting::NotifyInterfaceDown (std::uint32_t)
{
}

void
HostRouting::NotifyAddAddress (std::uint32_t, ns3::Ipv4InterfaceAddress)
{
}

void
HostRouting::NotifyRemoveAddress (std::uint32_t, ns3::Ipv4InterfaceAddress)
{
}

void
HostRouting::SetIpv4 (ns3::Ptr<ns3::Ipv4>)
{
}

void
HostRouting::PrintRoutingTable (ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const
{
}

void
HostRouting::DoDispose ()
{
  m_link = nullptr;
  m_route = nullptr;
  ns3::Ipv4RoutingProtocol::DoDispose ();
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostrouting.h"

#include <ns3/ipv4-route.h>

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
HostRouting::Connect (Ipv4Address own, ns3::Ptr<Link> link)
{
  m_route = ns3::Create<ns3::Ipv4Route> ();
  m_route->SetSource (own);
  m_route->SetGateway (Ipv4Address::GetAny ());
  m_route->SetOutputDevice (link);
}

ns3::Ptr<ns3::Ipv4Route>
HostRouting::RouteOutput (ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header &, ns3::Ptr<ns3::NetDevice>,
    ns3::Socket::SocketErrno &error)
{
  error = ns3::Socket::ERROR_NOTERROR;
  return m_route;
}

bool
HostRouting::RouteInput (ns3::Ptr<const ns3::Packet>, const ns3::Ipv4Header &,
    ns3::Ptr<const ns3::NetDevice>, Callbacks::Unicast, Callbacks::Multicast, Callbacks::Local,
    Callbacks::Error)
{
  return false;
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
  m_route = nullptr;
  ns3::Ipv4RoutingProtocol::DoDispose ();
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "routing.h"

#include <algorithm>

#include <ns3/assert.h>
#include <ns3/ipv4-route.h>
#include <ns3/node.h>
#include <ns3/simulator.h>

namespace sim
{

using ns3::Ipv4Address;
using ns3::Simulator;

static constexpr std::uint32_t FIRST_HOST = (10u << 24) + 1; /* 10.0.0.1 */
static constexpr std::uint32_t NO_ROUTE = UINT32_MAX;

ns3::TypeId
Routing::GetTypeId ()
{
  static ns3::TypeId id = ns3::TypeId ("sim::Routing")
                              .SetParent<ns3::Ipv4RoutingProtocol> ()
                              .SetGroupName ("Sim")
                              .AddConstructor<Routing> ();
  return id;
}

Ipv4Address
Routing::AddressOf (std::uint32_t index)
{
  return Ipv4Address (FIRST_HOST + index);
}

std::uint32_t
Routing::IndexOf (Ipv4Address address)
{
  return address.Get () - FIRST_HOST;
}

void
Routing::AddInterface (
    ns3::Ptr<Link> link, ns3::Ptr<Routing> peer, std::uint32_t peer_interface, bool to_host)
{
  auto route = ns3::Create<ns3::Ipv4Route> ();
  route->SetSource (m_own);
  route->SetGateway (Ipv4Address::GetAny ());
  route->SetOutputDevice (link);
  m_interfaces.push_back ({ link, ns3::PeekPointer (peer), peer_interface, to_host, route });
}

void
Routing::SetRoute (std::uint32_t index, std::uint32_t interface)
{
  if (m_routes.size () <= index)
    m_routes.resize (index + 1, NO_ROUTE);
  m_routes[index] = interface;
}

Routing::Group &
Routing::FindGroup (Ipv4Address address)
{
  Group &group = m_groups[address.Get ()];
  group.sides.resize (m_interfaces.size ());
  return group;
}

void
Routing::Join (Ipv4Address group)
{
  FindGroup (group).joined = true;
  Tell (group);
}

void
Routing::Leave (Ipv4Address group)
{
  FindGroup (group).joined = false;
  Tell (group);
}

/* Each neighbour router for which the answer to "members on this side?" has changed. */
void
Routing::Tell (Ipv4Address address)
{
  Group &group = FindGroup (address);
  const auto with_members = std::count_if (
      group.sides.begin (), group.sides.end (), [] (const Side &side) { return side.members; });
  for (std::size_t i = 0; i < group.sides.size (); i++) {
    Side &side = group.sides[i];
    const bool members = group.joined || with_members > (side.members ? 1 : 0);
    if (m_interfaces[i].to_host || members == side.told)
      continue;
    side.told = members;
    const Interface &interface = m_interfaces[i];
    Simulator::Schedule (interface.link->Delay (), &Routing::Hear, interface.peer,
        interface.peer_interface, address, members, ++side.told_times);
  }
}

void
Routing::Hear (std::uint32_t interface, Ipv4Address address, bool members, std::uint64_t time)
{
  Side &side = FindGroup (address).sides[interface];
  if (time < side.heard_times)
    return; /* overtaken while the delay fell */
  side.heard_times = time;
  if (!members && m_interfaces[interface].to_host && m_leave_latency.IsStrictlyPositive ())
    Simulator::Schedule (
        m_leave_latency, &Routing::SetMembers, this, interface, address, members, time);
  else
    SetMembers (interface, address, members, time);
}

void
Routing::SetMembers (std::uint32_t interface, Ipv4Address address, bool members, std::uint64_t time)
{
  Side &side = FindGroup (address).sides[interface];
  if (time != side.heard_times)
    return; /* joined again while its leave waited */
  side.members = members;
  Tell (address);
}

ns3::Ptr<ns3::Ipv4Route>
Routing::RouteOutput (ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header &header,
    ns3::Ptr<ns3::NetDevice>, ns3::Socket::SocketErrno &error)
{
  std::uint32_t interface = 0;
  if (!m_is_host) {
    const std::uint32_t index = IndexOf (header.GetDestination ());
    interface = index < m_routes.size () ? m_routes[index] : NO_ROUTE;
  }
  if (interface >= m_interfaces.size ()) {
    error = ns3::Socket::ERROR_NOROUTETOHOST;
    return nullptr;
  }
  error = ns3::Socket::ERROR_NOTERROR;
  return m_interfaces[interface].route;
}

bool
Routing::RouteInput (ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header &header,
    ns3::Ptr<const ns3::NetDevice> device, UnicastForwardCallback unicast,
    MulticastForwardCallback multicast, LocalDeliverCallback local, ErrorCallback failed)
{
  const Ipv4Address to = header.GetDestination ();
  const std::uint32_t interface = device->GetIfIndex (); /* 0 is ns-3's loopback */
  if (to.IsMulticast ()) {
    const auto group = m_groups.find (to.Get ());
    if (group == m_groups.end ())
      return true;
    if (group->second.joined)
      local (packet, header, interface);
    if (!m_is_host)
      Forward (group->second, interface - 1, packet, header, multicast);
    return true;
  }
  if (m_is_host && to == m_own) {
    local (packet, header, interface);
    return true;
  }
  const std::uint32_t index = IndexOf (to);
  if (m_is_host || index >= m_routes.size () || m_routes[index] == NO_ROUTE) {
    failed (packet, header, ns3::Socket::ERROR_NOROUTETOHOST);
    return false;
  }
  unicast (m_interfaces[m_routes[index]].route, packet, header);
  return true;
}

void
Routing::Forward (const Group &group, std::uint32_t from, ns3::Ptr<const ns3::Packet> packet,
    const ns3::Ipv4Header &header, const MulticastForwardCallback &multicast) const
{
  auto route = ns3::Create<ns3::Ipv4MulticastRoute> ();
  bool any = false;
  for (std::uint32_t i = 0; i < group.sides.size (); i++) {
    if (i == from || !group.sides[i].members)
      continue;
    route->SetOutputTtl (i + 1, 1);
    any = true;
  }
  if (any)
    multicast (route, packet, header);
}

void
Routing::NotifyInterfaceUp (std::uint32_t)
{
}

void
Routing::NotifyInterfaceDown (std::uint32_t)
{
}

void
Routing::NotifyAddAddress (std::uint32_t, ns3::Ipv4InterfaceAddress)
{
}

void
Routing::NotifyRemoveAddress (std::uint32_t, ns3::Ipv4InterfaceAddress)
{
}

void
Routing::SetIpv4 (ns3::Ptr<ns3::Ipv4>)
{
}

void
Routing::PrintRoutingTable (ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const
{
}

void
Routing::DoDispose ()
{
  m_interfaces.clear ();
  m_groups.clear ();
  ns3::Ipv4RoutingProtocol::DoDispose ();
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "router.h"

#include <algorithm>

#include <ns3/abort.h>
#include <ns3/simulator.h>

namespace sim
{

using ns3::Ipv4Address;
using ns3::Simulator;

static constexpr std::uint32_t FIRST_HOST = (10u << 24) + 1; /* 10.0.0.1 */

Ipv4Address
HostAddress (std::uint32_t index)
{
  return Ipv4Address (FIRST_HOST + index);
}

std::uint32_t
HostIndex (Ipv4Address address)
{
  return address.Get () - FIRST_HOST;
}

std::uint32_t
Router::AddInterface (ns3::Ptr<Link> link, Router *peer, std::uint32_t peer_interface)
{
  const std::uint32_t number = Interfaces ();
  m_interfaces.push_back ({ link, peer, peer_interface });
  link->SetArrivalHandler (
      [this, number] (ns3::Ptr<ns3::Packet> packet) { Forward (number, packet); });
  return number;
}

void
Router::SetRoute (std::uint32_t index, std::uint32_t interface)
{
  if (m_routes.size () <= index)
    m_routes.resize (index + 1, UINT32_MAX);
  m_routes[index] = interface;
}

Router::Group &
Router::FindGroup (Ipv4Address address)
{
  Group &group = m_groups[address.Get ()];
  group.resize (m_interfaces.size ());
  return group;
}

/* Each neighbour router for which the answer to "members on this side?" has changed. */
void
Router::Tell (Ipv4Address address)
{
  Group &group = FindGroup (address);
  const auto with_members = std::count_if (
      group.begin (), group.end (), [] (const Side &side) { return side.members; });
  for (std::size_t i = 0; i < group.size (); i++) {
    const Interface &interface = m_interfaces[i];
    Side &side = group[i];
    const bool members = with_members > (side.members ? 1 : 0);
    if (interface.peer == nullptr || members == side.told)
      continue;
    side.told = members;
    Simulator::Schedule (interface.link->Delay (), &Router::Hear, interface.peer,
        interface.peer_interface, address, members, ++side.told_times);
  }
}

void
Router::Hear (std::uint32_t interface, Ipv4Address address, bool members, std::uint64_t time)
{
  Side &side = FindGroup (address)[interface];
  if (time < side.heard_times)
    return; /* overtaken while the delay fell */
  side.heard_times = time;
  const bool from_host = m_interfaces[interface].peer == nullptr;
  if (!members && from_host && m_leave_latency.IsStrictlyPositive ())
    Simulator::Schedule (
        m_leave_latency, &Router::SetMembers, this, interface, address, members, time);
  else
    SetMembers (interface, address, members, time);
}

void
Router::SetMembers (std::uint32_t interface, Ipv4Address address, bool members, std::uint64_t time)
{
  Side &side = FindGroup (address)[interface];
  if (time != side.heard_times)
    return; /* joined again while its leave waited */
  side.members = members;
  Tell (address);
}

void
Router::Forward (std::uint32_t from, ns3::Ptr<ns3::Packet> packet)
{
  const Ipv4Address to = Destination (*packet);
  if (!to.IsMulticast ()) {
    const std::uint32_t index = HostIndex (to);
    NS_ABORT_MSG_UNLESS (
        index < m_routes.size () && m_routes[index] < Interfaces (), "no route to " << to);
    m_interfaces[m_routes[index]].link->Pass (packet);
    return;
  }
  const auto group = m_groups.find (to.Get ());
  if (group == m_groups.end ())
    return;
  for (std::uint32_t i = 0; i < group->second.size (); i++)
    if (i != from && group->second[i].members)
      m_interfaces[i].link->Pass (packet->Copy ());
}

} // namespace sim

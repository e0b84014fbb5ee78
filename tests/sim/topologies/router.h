/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * router: a router in a tree of routers with hosts as leaves. It looks at a packet's destination
 * and hands it to the link; ns-3's IP layer is on hosts only, for in routers it would take half of
 * a run's time and do no more (no fragments, no TTL that could end in a tree).
 *
 * Unicast: a table by host index, filled once.
 *
 * Multicast: one bidirectional tree per group, any source (as BIDIR-PIM, RFC 5015, but without a
 * rendezvous point: in a tree every neighbour is on the way). A router knows of each interface
 * whether members lie behind it and forwards to all those but the one a packet came by. It tells a
 * neighbour whether members lie on its own side whenever that changes; the word takes the link's
 * delay of that moment, is never lost and uses no rate. So a join takes effect when it has reached
 * the nearest router that has the traffic. A leave takes effect @leave_latency after it reached the
 * last router (IGMP's last member query time), unless the host joined again; then it travels up.
 */
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <ns3/ipv4-address.h>
#include <ns3/nstime.h>

#include "link.h"

namespace sim
{

/* Hosts are 10.0.0.1, 10.0.0.2, ... in the order of their indices. */
ns3::Ipv4Address HostAddress (std::uint32_t index);
std::uint32_t HostIndex (ns3::Ipv4Address address);

class Router
{
public:
  explicit Router (ns3::Time leave_latency) : m_leave_latency (leave_latency)
  {
  }

  /* @link leads to @peer's interface @peer_interface, or to a host (null); its number. */
  std::uint32_t AddInterface (
      ns3::Ptr<Link> link, Router *peer = nullptr, std::uint32_t peer_interface = 0);
  std::uint32_t Interfaces () const
  {
    return static_cast<std::uint32_t> (m_interfaces.size ());
  }
  /* Packets for host number @index leave by @interface. */
  void SetRoute (std::uint32_t index, std::uint32_t interface);

  /* The neighbour on @interface says whether members lie behind it; for the @time-th time. */
  void Hear (std::uint32_t interface, ns3::Ipv4Address group, bool members, std::uint64_t time);

private:
  struct Interface {
    ns3::Ptr<Link> link;
    Router *peer;
    std::uint32_t peer_interface;
  };
  /* What is known of a group on one interface. */
  struct Side {
    bool members = false; /* behind it */
    bool told = false;    /* the neighbour: members on this side */
    std::uint64_t told_times = 0;
    std::uint64_t heard_times = 0;
  };
  using Group = std::vector<Side>; /* by interface */

  Group &FindGroup (ns3::Ipv4Address group);
  void Tell (ns3::Ipv4Address group);
  void SetMembers (
      std::uint32_t interface, ns3::Ipv4Address group, bool members, std::uint64_t time);
  void Forward (std::uint32_t from, ns3::Ptr<ns3::Packet> packet);

  ns3::Time m_leave_latency;
  std::vector<Interface> m_interfaces;
  std::vector<std::uint32_t> m_routes; /* by host index */
  std::map<std::uint32_t, Group> m_groups;
};

} // namespace sim

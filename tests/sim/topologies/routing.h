/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * routing: an ns-3 routing protocol for a tree of routers with hosts as leaves.
 *
 * Unicast: a table by host index, filled once; hosts send everything to their router.
 *
 * Multicast: one bidirectional tree per group, any source (as BIDIR-PIM, RFC 5015, but without a
 * rendezvous point: in a tree every neighbour is on the way). A router knows of each interface
 * whether members lie behind it and forwards to all those but the one a packet came by. It tells a
 * neighbour whether members lie on its own side whenever that changes; the word takes the link's
 * delay of that moment, is never lost and uses no rate. So a join takes effect when it has reached
 * the nearest router that has the traffic. A leave takes effect @leave_latency after it reached the
 * last router (IGMP's last member query time), unless the host joined again; then it travels up.
 * The host itself hears nothing from its leave on, though the traffic goes on over its link.
 */
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <ns3/ipv4-address.h>
#include <ns3/ipv4-routing-protocol.h>
#include <ns3/nstime.h>

#include "link.h"

namespace sim
{

class Routing : public ns3::Ipv4RoutingProtocol
{
public:
  static ns3::TypeId GetTypeId ();

  /* The next interface of this node, over @link, leads to @peer's interface @peer_interface. */
  void AddInterface (
      ns3::Ptr<Link> link, ns3::Ptr<Routing> peer, std::uint32_t peer_interface, bool to_host);
  void SetHost (ns3::Ipv4Address own)
  {
    m_own = own;
    m_is_host = true;
  }
  /* Of a router: packets for host number @index leave by @interface. */
  void SetRoute (std::uint32_t index, std::uint32_t interface);
  void SetLeaveLatency (ns3::Time latency)
  {
    m_leave_latency = latency;
  }

  /* Of a host. */
  void Join (ns3::Ipv4Address group);
  void Leave (ns3::Ipv4Address group);

  /* The address of host number @index, and back. */
  static ns3::Ipv4Address AddressOf (std::uint32_t index);
  static std::uint32_t IndexOf (ns3::Ipv4Address address);

  ns3::Ptr<ns3::Ipv4Route> RouteOutput (ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header &header,
      ns3::Ptr<ns3::NetDevice> device, ns3::Socket::SocketErrno &error) override;
  bool RouteInput (ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header &header,
      ns3::Ptr<const ns3::NetDevice> device, UnicastForwardCallback unicast,
      MulticastForwardCallback multicast, LocalDeliverCallback local,
      ErrorCallback failed) override;
  void NotifyInterfaceUp (std::uint32_t interface) override;
  void NotifyInterfaceDown (std::uint32_t interface) override;
  void NotifyAddAddress (std::uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
  void NotifyRemoveAddress (std::uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
  void SetIpv4 (ns3::Ptr<ns3::Ipv4> ipv4) override;
  void PrintRoutingTable (
      ns3::Ptr<ns3::OutputStreamWrapper> stream, ns3::Time::Unit unit) const override;

protected:
  void DoDispose () override;

private:
  struct Interface {
    ns3::Ptr<Link> link;
    Routing *peer;
    std::uint32_t peer_interface; /* 0 based, as all interfaces here: ns-3's loopback is left out */
    bool to_host;
    ns3::Ptr<ns3::Ipv4Route> route;
  };
  /* What is known of a group on one interface. */
  struct Side {
    bool members = false; /* behind it */
    bool told = false;    /* the neighbour: members on this side */
    std::uint64_t told_times = 0;
    std::uint64_t heard_times = 0;
  };
  struct Group {
    bool joined = false; /* this host */
    std::vector<Side> sides;
  };

  Group &FindGroup (ns3::Ipv4Address group);
  void Tell (ns3::Ipv4Address group);
  void Hear (std::uint32_t interface, ns3::Ipv4Address group, bool members, std::uint64_t time);
  void SetMembers (
      std::uint32_t interface, ns3::Ipv4Address group, bool members, std::uint64_t time);
  void Forward (const Group &group, std::uint32_t from, ns3::Ptr<const ns3::Packet> packet,
      const ns3::Ipv4Header &header, const MulticastForwardCallback &multicast) const;

  bool m_is_host = false;
  ns3::Ipv4Address m_own;
  ns3::Time m_leave_latency;
  std::vector<Interface> m_interfaces;
  std::vector<std::uint32_t> m_routes; /* by host index */
  std::map<std::uint32_t, Group> m_groups;
};

} // namespace sim

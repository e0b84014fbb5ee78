/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * udphost: UDP and group membership of a host, between its link and its ports, without ns-3's IP
 * layer, which would take half of a multicast run's time and do no more (no fragments, no routes).
 *
 * A host hears nothing of a group from its leave on, though the traffic goes on over its link for
 * the leave latency.
 */
#pragma once

#include <map>

#include "router.h"

namespace sim
{

class NsPort;

class UdpHost
{
public:
  /* Host @id, whose @link leads to @router's @interface. */
  UdpHost (std::uint32_t id, ns3::Ptr<Link> link, Router *router, std::uint32_t interface);
  ~UdpHost ();

  /* @port, or null: gets what comes for @flow. */
  void SetPort (unsigned flow, NsPort *port);
  void Join (ns3::Ipv4Address group);
  void Leave (ns3::Ipv4Address group);
  /* @packet is what follows the IP header. */
  void Send (ns3::Ptr<ns3::Packet> packet, ns3::Ipv4Address to, bool ect);

private:
  struct Membership {
    bool joined = false;
    std::uint64_t times = 0;
  };

  void Tell (ns3::Ipv4Address group, bool joined);
  /* Whether it was one of ours. */
  bool Take (const ns3::Packet &packet);

  ns3::Ipv4Address m_own;
  ns3::Ptr<Link> m_link;
  Router *m_router;
  std::uint32_t m_router_interface;
  std::map<std::uint32_t, Membership> m_groups;
  std::map<unsigned, NsPort *> m_ports; /* by flow */
};

} // namespace sim

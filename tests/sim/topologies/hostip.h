/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * hostip: the IP of a host, between its link and its ports or ns-3's TCP. In the place of ns-3's
 * IP layer, which would take a fifth of a run's time and do no more (no fragments, no routes); from
 * that TCP has its endpoints only.
 *
 * A host hears nothing of a group from its leave on, though the traffic goes on over its link for
 * the leave latency.
 */
#pragma once

#include <map>

#include <ns3/ipv4-interface.h>
#include <ns3/ipv4-route.h>
#include <ns3/node.h>
#include <ns3/tcp-l4-protocol.h>

#include "router.h"

namespace sim
{

class NsPort;

class HostIp
{
public:
  /* Host @id, whose @link leads to @router's @interface. */
  HostIp (std::uint32_t id, ns3::Ptr<Link> link, Router *router, std::uint32_t interface);
  ~HostIp ();

  /* @port, or null: gets what comes for @flow. */
  void SetPort (unsigned flow, NsPort *port);
  void Join (ns3::Ipv4Address group);
  void Leave (ns3::Ipv4Address group);
  /* @packet is what follows the IP header. */
  void Send (ns3::Ptr<ns3::Packet> packet, ns3::Ipv4Address to, bool ect);

  /* Stands between the TCP of @node, whose only device is the link, and the link. */
  void SetTcp (ns3::Ptr<ns3::Node> node);

private:
  struct Membership {
    bool joined = false;
    std::uint64_t times = 0;
  };

  void Tell (ns3::Ipv4Address group, bool joined);
  void Pass (ns3::Ptr<ns3::Packet> packet, ns3::Ipv4Header header);
  void SendTcp (ns3::Ptr<ns3::Packet> packet, ns3::Ipv4Address from, ns3::Ipv4Address to,
      std::uint8_t protocol, ns3::Ptr<ns3::Ipv4Route> route);
  void Take (ns3::Ptr<ns3::Packet> packet);
  void TakeTcp (ns3::Ptr<ns3::Packet> packet);

  ns3::Ipv4Address m_own;
  ns3::Ptr<Link> m_link;
  Router *m_router;
  std::uint32_t m_router_interface;
  std::map<std::uint32_t, Membership> m_groups;
  std::map<unsigned, NsPort *> m_ports; /* by flow */
  ns3::Ptr<ns3::TcpL4Protocol> m_tcp;
  ns3::Ptr<ns3::Ipv4Interface> m_interface; /* TCP's */
};

} // namespace sim

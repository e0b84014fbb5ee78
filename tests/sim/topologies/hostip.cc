/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostip.h"

#include <ns3/ipv4-header.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>

#include "nsport.h"
#include "tags.h"

namespace sim
{

using ns3::Ipv4Address;

static constexpr std::uint8_t UDP = 17;
static constexpr std::uint8_t TTL = 64;

HostIp::HostIp (std::uint32_t id, ns3::Ptr<Link> link, Router *router, std::uint32_t interface)
    : m_own (HostAddress (id)), m_link (link), m_router (router), m_router_interface (interface)
{
  m_link->SetTaker ([this] (ns3::Ptr<ns3::Packet> packet) { Take (packet); });
}

HostIp::~HostIp ()
{
  m_link->SetTaker (nullptr);
  if (m_tcp)
    m_tcp->SetDownTarget (ns3::IpL4Protocol::DownTargetCallback ());
}

void
HostIp::SetPort (unsigned flow, NsPort *port)
{
  if (port != nullptr)
    m_ports[flow] = port;
  else
    m_ports.erase (flow);
}

void
HostIp::Join (Ipv4Address group)
{
  Tell (group, true);
}

void
HostIp::Leave (Ipv4Address group)
{
  Tell (group, false);
}

void
HostIp::Tell (Ipv4Address group, bool joined)
{
  Membership &membership = m_groups[group.Get ()];
  if (membership.joined == joined)
    return;
  membership.joined = joined;
  ns3::Simulator::Schedule (m_link->Delay (), &Router::Hear, m_router, m_router_interface, group,
      joined, ++membership.times);
}

void
HostIp::Send (ns3::Ptr<ns3::Packet> packet, Ipv4Address to, bool ect)
{
  ns3::Ipv4Header header;
  header.SetSource (m_own);
  header.SetDestination (to);
  header.SetProtocol (UDP);
  if (ect)
    header.SetEcn (ns3::Ipv4Header::ECN_ECT0);
  Pass (packet, header);
}

void
HostIp::SetTcp (ns3::Ptr<ns3::Node> node)
{
  m_tcp = node->GetObject<ns3::TcpL4Protocol> ();
  m_interface = node->GetObject<ns3::Ipv4L3Protocol> ()->GetInterface (m_link->GetIfIndex ());
  m_tcp->SetDownTarget (ns3::MakeCallback (&HostIp::SendTcp, this));
}

void
HostIp::SendTcp (ns3::Ptr<ns3::Packet> packet, Ipv4Address from, Ipv4Address to,
    std::uint8_t protocol, ns3::Ptr<ns3::Ipv4Route>)
{
  ns3::Ipv4Header header;
  header.SetSource (from);
  header.SetDestination (to);
  header.SetProtocol (protocol);
  ns3::SocketIpTosTag tos;
  if (packet->RemovePacketTag (tos))
    header.SetTos (tos.GetTos ());
  Pass (packet, header);
}

void
HostIp::Pass (ns3::Ptr<ns3::Packet> packet, ns3::Ipv4Header header)
{
  header.SetTtl (TTL);
  header.SetPayloadSize (static_cast<std::uint16_t> (packet->GetSize ()));
  packet->AddHeader (header);
  m_link->Send (packet, ns3::Address (), 0);
}

void
HostIp::Take (ns3::Ptr<ns3::Packet> packet)
{
  OriginTag origin;
  if (!packet->PeekPacketTag (origin) || origin.flow < 0) {
    TakeTcp (packet);
    return;
  }
  const Ipv4Address to = Destination (*packet);
  const auto group = m_groups.find (to.Get ());
  if (to != m_own && (group == m_groups.end () || !group->second.joined))
    return;
  const auto port = m_ports.find (static_cast<unsigned> (origin.flow));
  if (port != m_ports.end ())
    port->second->Deliver (*packet, origin);
}

void
HostIp::TakeTcp (ns3::Ptr<ns3::Packet> packet)
{
  if (!m_tcp)
    return;
  ns3::Ptr<ns3::Packet> segment = packet->Copy ();
  ns3::Ipv4Header header;
  segment->RemoveHeader (header);
  m_tcp->Receive (segment, header, m_interface);
}

} // namespace sim

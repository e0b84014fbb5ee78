/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "nsport.h"

#include <cmath>

#include <ns3/inet-socket-address.h>
#include <ns3/ipv4-header.h>
#include <ns3/simulator.h>
#include <ns3/udp-socket-factory.h>
#include <ns3/uinteger.h>

#include "tags.h"

namespace sim
{

using ns3::Simulator;

static constexpr std::uint8_t ECT0 = ns3::Ipv4Header::ECN_ECT0;
static constexpr std::uint8_t CE = ns3::Ipv4Header::ECN_CE;

static std::uint16_t
PortNumber (unsigned flow)
{
  return static_cast<std::uint16_t> (5000 + flow);
}

NsPort::NsPort (HostId host, ns3::Ptr<ns3::Node> node, ns3::Ptr<HostRouting> routing, unsigned flow,
    Clock clock)
    : m_host (host), m_routing (routing), m_flow (flow), m_clock (clock),
      m_socket (ns3::Socket::CreateSocket (node, ns3::UdpSocketFactory::GetTypeId ()))
{
  m_socket->SetAttribute ("IpMulticastTtl", ns3::UintegerValue (64));
  m_socket->Bind (ns3::InetSocketAddress (ns3::Ipv4Address::GetAny (), PortNumber (flow)));
  m_socket->SetIpRecvTos (true);
  m_socket->SetRecvCallback (ns3::Callback<void, ns3::Ptr<ns3::Socket>> (
      [this] (ns3::Ptr<ns3::Socket> socket) { Receive (socket); }));
}

NsPort::~NsPort ()
{
  m_socket->SetRecvCallback (ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>> ());
  m_socket->Close ();
}

MccTime
NsPort::Now () const
{
  const double passed = static_cast<double> (Simulator::Now ().GetNanoSeconds ());
  return static_cast<MccTime> (
      std::llround (m_clock.epoch_s * 1e9) + std::llround (passed * (1 + m_clock.drift)));
}

ns3::EventId
NsPort::At (MccTime when, std::function<void ()> callback)
{
  const MccTime now = Now ();
  std::int64_t wait = 0;
  if (when > now) {
    /* Rounded up, so that the clock then shows at least @when. */
    wait = static_cast<std::int64_t> (
        std::ceil (static_cast<double> (when - now) / (1 + m_clock.drift)));
  }
  return Simulator::Schedule (ns3::NanoSeconds (wait), std::move (callback));
}

ns3::Ipv4Address
NsPort::GroupAddress (unsigned group) const
{
  return ns3::Ipv4Address (239u << 24 | (m_flow & 0xffff) << 8 | (group & 0xff));
}

void
NsPort::SendGroup (
    unsigned group, const void *data, std::size_t size, std::uint32_t ip_bytes, bool ect)
{
  Send (GroupAddress (group), static_cast<std::int32_t> (group), data, size, ip_bytes, ect);
}

void
NsPort::SendTo (HostId to, const void *data, std::size_t size, std::uint32_t ip_bytes, bool ect)
{
  Send (HostAddress (to), -1, data, size, ip_bytes, ect);
}

void
NsPort::Send (ns3::Ipv4Address to, std::int32_t group, const void *data, std::size_t size,
    std::uint32_t ip_bytes, bool ect)
{
  NS_ABORT_UNLESS (ip_bytes >= size + UDP_HEADERS);
  auto packet = ns3::Create<ns3::Packet> (
      static_cast<const std::uint8_t *> (data), static_cast<std::uint32_t> (size));
  packet->AddPaddingAtEnd (ip_bytes - UDP_HEADERS - static_cast<std::uint32_t> (size));
  OriginTag tag;
  tag.sent = Simulator::Now ().GetSeconds ();
  tag.from = m_host;
  tag.size = static_cast<std::uint32_t> (size);
  tag.group = group;
  packet->AddPacketTag (tag);
  if (ect) {
    /* Per packet: what a socket does with SetIpTos () differs between releases of ns-3. */
    ns3::SocketIpTosTag tos;
    tos.SetTos (ECT0);
    packet->AddPacketTag (tos);
  }
  m_socket->SendTo (packet, 0, ns3::InetSocketAddress (to, PortNumber (m_flow)));
}

void
NsPort::Receive (ns3::Ptr<ns3::Socket> socket)
{
  while (ns3::Ptr<ns3::Packet> packet = socket->Recv ())
    Deliver (packet);
}

void
NsPort::Deliver (ns3::Ptr<ns3::Packet> packet)
{
  OriginTag origin;
  if (!m_handler || !packet->PeekPacketTag (origin))
    return;
  ns3::SocketIpTosTag tos;
  const bool ce = packet->PeekPacketTag (tos) && (tos.GetTos () & 3) == CE;
  m_data.resize (origin.size);
  packet->CopyData (m_data.data (), origin.size);
  m_handler ({ origin.from, origin.group >= 0,
      origin.group >= 0 ? static_cast<unsigned> (origin.group) : 0,
      packet->GetSize () + UDP_HEADERS, ce, m_data.data (), origin.size,
      Simulator::Now ().GetSeconds () - origin.sent });
}

void
NsPort::Join (unsigned group)
{
  m_routing->Join (GroupAddress (group));
}

void
NsPort::Leave (unsigned group)
{
  m_routing->Leave (GroupAddress (group));
}

} // namespace sim

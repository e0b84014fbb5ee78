/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "nsport.h"

#include <algorithm>
#include <cmath>

#include <ns3/abort.h>
#include <ns3/ipv4-header.h>
#include <ns3/simulator.h>

namespace sim
{

using ns3::Simulator;

static constexpr std::uint32_t IP_HEADER = 20;
static constexpr std::uint32_t UDP_HEADER = UDP_HEADERS - IP_HEADER;

NsPort::NsPort (HostId id, HostIp &host, unsigned flow, Clock clock)
    : m_id (id), m_host (host), m_flow (flow), m_clock (clock)
{
  m_host.SetPort (flow, this);
}

NsPort::~NsPort ()
{
  m_host.SetPort (m_flow, nullptr);
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
  return MulticastAddress (m_flow, group);
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
  /* Of the UDP header only its room: the tag tells the port. */
  m_sent.assign (UDP_HEADER + size, 0);
  std::copy_n (static_cast<const std::uint8_t *> (data), size, m_sent.begin () + UDP_HEADER);
  auto packet
      = ns3::Create<ns3::Packet> (m_sent.data (), static_cast<std::uint32_t> (m_sent.size ()));
  packet->AddPaddingAtEnd (ip_bytes - UDP_HEADERS - static_cast<std::uint32_t> (size));
  OriginTag tag;
  tag.sent = Simulator::Now ().GetSeconds ();
  tag.from = m_id;
  tag.size = static_cast<std::uint32_t> (size);
  tag.group = group;
  tag.flow = static_cast<std::int32_t> (m_flow);
  packet->AddPacketTag (tag);
  m_host.Send (packet, to, ect);
}

void
NsPort::Deliver (const ns3::Packet &packet, const OriginTag &origin)
{
  if (!m_handler)
    return;
  m_received.resize (UDP_HEADERS + origin.size);
  packet.CopyData (m_received.data (), UDP_HEADERS + origin.size);
  const auto ecn = static_cast<MccEcn> (m_received[1] & 3);
  m_handler ({ origin.from, origin.group >= 0,
      origin.group >= 0 ? static_cast<unsigned> (origin.group) : 0, packet.GetSize (), ecn,
      m_received.data () + UDP_HEADERS, origin.size,
      Simulator::Now ().GetSeconds () - origin.sent });
}

void
NsPort::Join (unsigned group)
{
  m_host.Join (GroupAddress (group));
}

void
NsPort::Leave (unsigned group)
{
  m_host.Leave (GroupAddress (group));
}

} // namespace sim

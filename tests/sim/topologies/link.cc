/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "link.h"

#include <algorithm>

#include <ns3/channel.h>
#include <ns3/ipv4-header.h>
#include <ns3/ipv4-queue-disc-item.h>
#include <ns3/node.h>
#include <ns3/simulator.h>

#include "tags.h"

namespace sim
{

using ns3::Simulator;
using ns3::Time;

static constexpr std::uint16_t IPV4 = 0x0800;

ns3::TypeId
Link::GetTypeId ()
{
  static ns3::TypeId id
      = ns3::TypeId ("sim::Link").SetParent<ns3::NetDevice> ().SetGroupName ("Sim");
  return id;
}

Time
Link::TimeFor (double bits) const
{
  return ns3::Seconds (bits / m_rate_bps);
}

void
Link::SetRate (double rate_bps)
{
  const double before = m_rate_bps;
  m_rate_bps = rate_bps;
  if (m_record != nullptr)
    m_record->rate_bps.Set (rate_bps);
  if (!m_sending)
    return;
  const double bits_left = (m_sending_ends - Simulator::Now ()).GetSeconds () * before;
  m_sent.Cancel ();
  m_sending_ends = Simulator::Now () + TimeFor (bits_left);
  m_sent = Simulator::Schedule (m_sending_ends - Simulator::Now (), &Link::Sent, this);
}

void
Link::SetDisc (ns3::Ptr<ns3::QueueDisc> disc)
{
  using Item = ns3::Ptr<const ns3::QueueDiscItem>;
  m_disc = disc;
  m_disc->TraceConnectWithoutContext ("Drop", ns3::Callback<void, Item> ([this] (Item item) {
    auto ip = ns3::DynamicCast<const ns3::Ipv4QueueDiscItem> (item);
    QueueDropped (ip->GetHeader ().GetDestination ());
  }));
  m_disc->TraceConnectWithoutContext (
      "Mark", ns3::Callback<void, Item, const char *> ([this] (Item, const char *) {
        if (m_record != nullptr)
          m_record->marks.Add (1);
      }));
  m_disc->Initialize ();
}

void
Link::QueueDropped (ns3::Ipv4Address destination)
{
  if (m_record != nullptr)
    m_record->queue_drops.Add (1);
  if (m_drop)
    m_drop (destination);
}

ns3::Ipv4Address
Destination (const ns3::Packet &packet)
{
  std::uint8_t header[20];
  packet.CopyData (header, sizeof header);
  return ns3::Ipv4Address::Deserialize (header + 16);
}

ns3::Ipv4Address
MulticastAddress (unsigned flow, unsigned group)
{
  return ns3::Ipv4Address (239u << 24 | (flow & 0xffff) << 8 | (group & 0xff));
}

std::pair<unsigned, unsigned>
GroupOf (ns3::Ipv4Address address)
{
  return { address.Get () >> 8 & 0xffff, address.Get () & 0xff };
}

bool
Link::Send (ns3::Ptr<ns3::Packet> packet, const ns3::Address &, std::uint16_t)
{
  OriginTag tag;
  if (m_stamps && !packet->PeekPacketTag (tag)) {
    tag.sent = Simulator::Now ().GetSeconds ();
    packet->AddPacketTag (tag);
  }
  Pass (packet);
  return true;
}

bool
Link::Fits (std::uint64_t packets, std::uint64_t bytes) const
{
  return (m_limit.in_bytes ? bytes : packets) <= m_limit.size;
}

void
Link::PassSteady (ns3::Ptr<ns3::Packet> packet)
{
  const Time now = Simulator::Now ();
  const std::uint32_t bytes = packet->GetSize ();
  while (!m_departures.empty () && m_departures.front ().end <= now) {
    m_fifo_bytes -= m_departures.front ().bytes;
    m_departures.pop_front ();
  }
  /* The first of them is being sent. */
  if (!m_departures.empty ()
      && !Fits (m_departures.size (), m_fifo_bytes - m_departures.front ().bytes + bytes)) {
    QueueDropped (Destination (*packet));
    return;
  }
  const Time start = m_departures.empty () ? now : m_departures.back ().end;
  const Time end = start + TimeFor (8.0 * bytes);
  m_departures.push_back ({ end, bytes });
  m_fifo_bytes += bytes;
  if (!m_loss || !m_loss->Lose ())
    Simulator::Schedule (Arrival (end) - now, &Link::Receive, m_peer, packet);
  else if (m_drop)
    Simulator::Schedule (end - now, [this, packet] { m_drop (Destination (*packet)); });
}

void
Link::Pass (ns3::Ptr<ns3::Packet> packet)
{
  if (m_steady) {
    PassSteady (packet);
    return;
  }
  Enqueue (packet);
  if (!m_sending)
    SendNext ();
}

void
Link::Enqueue (ns3::Ptr<ns3::Packet> packet)
{
  if (m_disc) {
    ns3::Ipv4Header header;
    packet->RemoveHeader (header);
    auto item = ns3::Create<ns3::Ipv4QueueDiscItem> (packet, m_address, IPV4, header);
    item->SetTimeStamp (Simulator::Now ());
    m_disc->Enqueue (item);
    return;
  }
  const std::uint64_t bytes = packet->GetSize ();
  /* A free link takes a packet past its queue, even when the queue holds none. */
  if (m_sending && !Fits (m_fifo.size () + 1, m_fifo_bytes + bytes)) {
    QueueDropped (Destination (*packet));
    return;
  }
  m_fifo.push_back ({ packet, Simulator::Now () });
  m_fifo_bytes += bytes;
}

std::optional<Link::Waiting>
Link::Dequeue ()
{
  if (m_disc) {
    ns3::Ptr<ns3::QueueDiscItem> item = m_disc->Dequeue ();
    if (!item)
      return {};
    const Time since = item->GetTimeStamp ();
    item->AddHeader ();
    return Waiting{ item->GetPacket (), since };
  }
  if (m_fifo.empty ())
    return {};
  Waiting first = m_fifo.front ();
  m_fifo.pop_front ();
  m_fifo_bytes -= first.packet->GetSize ();
  return first;
}

Time
Link::Arrival (Time departure)
{
  Time delay = m_delay;
  if (m_jitter.IsStrictlyPositive ())
    delay += ns3::Seconds (m_random->Uniform (0, m_jitter.GetSeconds ()));
  m_last_arrival = std::max (m_last_arrival, departure + delay);
  return m_last_arrival;
}

void
Link::SendNext ()
{
  m_sending = Dequeue ();
  if (!m_sending)
    return;
  const Time time = TimeFor (8.0 * m_sending->packet->GetSize ());
  /* From here on: how long it waited. */
  m_sending->since = Simulator::Now () - m_sending->since;
  m_sending_ends = Simulator::Now () + time;
  m_sent = Simulator::Schedule (time, &Link::Sent, this);
}

void
Link::Sent ()
{
  ns3::Ptr<ns3::Packet> packet = m_sending->packet;
  if (m_loss && m_loss->Lose ()) {
    if (m_record != nullptr)
      m_record->random_drops.Add (1);
    if (m_drop)
      m_drop (Destination (*packet));
  } else {
    if (m_record != nullptr) {
      const double waited = m_sending->since.GetSeconds ();
      m_record->bytes.Add (packet->GetSize ());
      m_record->packets.Add (1);
      m_record->delay.Add (waited);
      m_record->delays.push_back (static_cast<float> (waited));
      const ns3::Ipv4Address to = Destination (*packet);
      if (to.IsMulticast ())
        m_record->multicast[GroupOf (to)].Add (packet->GetSize ());
    }
    const Time now = Simulator::Now ();
    Simulator::Schedule (Arrival (now) - now, &Link::Receive, m_peer, packet);
  }
  SendNext ();
}

void
Link::Receive (ns3::Ptr<ns3::Packet> packet)
{
  if (m_arrival)
    m_arrival (packet);
  if (m_taker)
    m_taker (packet);
}

void
Link::DoDispose ()
{
  m_sent.Cancel ();
  m_fifo.clear ();
  m_sending.reset ();
  m_disc = nullptr;
  m_node = nullptr;
  ns3::NetDevice::DoDispose ();
}

bool
Link::SendFrom (
    ns3::Ptr<ns3::Packet> packet, const ns3::Address &, const ns3::Address &to, std::uint16_t type)
{
  return Send (packet, to, type);
}

void
Link::SetIfIndex (std::uint32_t index)
{
  m_index = index;
}

std::uint32_t
Link::GetIfIndex () const
{
  return m_index;
}

ns3::Ptr<ns3::Channel>
Link::GetChannel () const
{
  return nullptr;
}

void
Link::SetAddress (ns3::Address address)
{
  m_address = ns3::Mac48Address::ConvertFrom (address);
}

ns3::Address
Link::GetAddress () const
{
  return m_address;
}

bool
Link::SetMtu (std::uint16_t mtu)
{
  m_mtu = mtu;
  return true;
}

std::uint16_t
Link::GetMtu () const
{
  return m_mtu;
}

bool
Link::IsLinkUp () const
{
  return true;
}

void
Link::AddLinkChangeCallback (ns3::Callback<void>)
{
}

bool
Link::IsBroadcast () const
{
  return true;
}

ns3::Address
Link::GetBroadcast () const
{
  return ns3::Mac48Address::GetBroadcast ();
}

bool
Link::IsMulticast () const
{
  return true;
}

ns3::Address
Link::GetMulticast (ns3::Ipv4Address group) const
{
  return ns3::Mac48Address::GetMulticast (group);
}

ns3::Address
Link::GetMulticast (ns3::Ipv6Address group) const
{
  return ns3::Mac48Address::GetMulticast (group);
}

bool
Link::IsBridge () const
{
  return false;
}

bool
Link::IsPointToPoint () const
{
  return true;
}

ns3::Ptr<ns3::Node>
Link::GetNode () const
{
  return m_node;
}

void
Link::SetNode (ns3::Ptr<ns3::Node> node)
{
  m_node = node;
}

bool
Link::NeedsArp () const
{
  return false;
}

void
Link::SetReceiveCallback (ReceiveCallback)
{
}

void
Link::SetPromiscReceiveCallback (PromiscReceiveCallback)
{
}

bool
Link::SupportsSendFrom () const
{
  return false;
}

} // namespace sim

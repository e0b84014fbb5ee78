/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * link: one direction of a point-to-point link, as an ns-3 device that carries IP packets and no
 * header of its own, so that rates are of IP bytes.
 *
 * - The queue is a FIFO of @limit packets or bytes, or an ns-3 queue disc (RED, CoDel). The packet
 *   that is being sent is not in it. A FIFO in bytes takes a packet when all of it fits.
 * - A change of the rate applies to the packet being sent, too: what is left of it goes at the new
 *   rate.
 * - A change of the delay applies to packets that leave from now on; those under way keep theirs.
 *   No packet overtakes another: when the delay falls, later packets wait for the last one under
 *   way and arrive together with it. A change of path in a real network may reorder; but every
 *   protocol here takes reordering beyond 3 packets for loss, and we want to see changes of delay
 *   alone.
 * - With jitter every packet takes up to so much longer, uniform and independent, in order: a
 *   host's processing time. Without any, packets clocked by ACKs meet the queue in phases locked to
 *   each other (Floyd and Jacobson, "On traffic phase effects in packet-switched gateways", 1992).
 * - A steady link, whose rate and delay never change and of which nothing is recorded, knows all
 *   when a packet comes: one event for a packet, not two.
 * - Random loss strikes when a packet has left the queue, so that it took its share of the link.
 */
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include <ns3/data-rate.h>
#include <ns3/event-id.h>
#include <ns3/ipv4-address.h>
#include <ns3/mac48-address.h>
#include <ns3/net-device.h>
#include <ns3/nstime.h>
#include <ns3/packet.h>
#include <ns3/queue-disc.h>

#include "linkrecord.h"
#include "loss.h"
#include "random.h"

namespace sim
{

struct QueueLimit {
  bool in_bytes;
  std::uint64_t size;
};

/* Of an IP packet, read from its bytes. */
ns3::Ipv4Address Destination (const ns3::Packet &packet);

/* Group @group of flow number @flow; and back. */
ns3::Ipv4Address MulticastAddress (unsigned flow, unsigned group);
std::pair<unsigned, unsigned> GroupOf (ns3::Ipv4Address address);

class Link : public ns3::NetDevice
{
public:
  static ns3::TypeId GetTypeId ();
  /* A packet for @destination was dropped, by a queue or at random. */
  using DropHandler = std::function<void (ns3::Ipv4Address destination)>;
  using ArrivalHandler = std::function<void (ns3::Ptr<ns3::Packet>)>;

  void SetPeer (ns3::Ptr<Link> peer)
  {
    m_peer = ns3::PeekPointer (peer);
  }
  void SetRate (double rate_bps);
  void SetDelay (ns3::Time delay)
  {
    m_delay = delay;
  }
  /* Each packet takes up to @most longer, uniformly, in the order they left. */
  void SetJitter (ns3::Time most, Random random)
  {
    m_jitter = most;
    m_random.emplace (random);
  }
  void SetLimit (QueueLimit limit)
  {
    m_limit = limit;
  }
  void SetDisc (ns3::Ptr<ns3::QueueDisc> disc);
  void SetLoss (Loss loss)
  {
    m_loss = loss;
  }
  void SetRecord (LinkRecord *record)
  {
    m_record = record;
  }
  void SetDropHandler (DropHandler handler)
  {
    m_drop = std::move (handler);
  }
  /* Gets what arrives from the peer; on a host before it is taken. */
  void SetArrivalHandler (ArrivalHandler handler)
  {
    m_arrival = std::move (handler);
  }
  /* Gets it then: a host. */
  void SetTaker (ArrivalHandler taker)
  {
    m_taker = std::move (taker);
  }
  /* No disc, no record, and no change from now on. */
  void SetSteady ()
  {
    m_steady = true;
  }
  /* Gives what leaves without one a tag with the time, for RecordFlow (tags.h). */
  void SetStamps (bool stamps)
  {
    m_stamps = stamps;
  }

  double Rate () const
  {
    return m_rate_bps;
  }
  ns3::Time Delay () const
  {
    return m_delay;
  }
  Loss &RandomLoss ()
  {
    return *m_loss;
  }

  /* Sends or drops it; what Send () does for ns-3. */
  void Pass (ns3::Ptr<ns3::Packet> packet);

  bool Send (ns3::Ptr<ns3::Packet> packet, const ns3::Address &to, std::uint16_t protocol) override;
  bool SendFrom (ns3::Ptr<ns3::Packet> packet, const ns3::Address &from, const ns3::Address &to,
      std::uint16_t protocol) override;

  /* What an ns-3 device must answer. */
  void SetIfIndex (std::uint32_t index) override;
  std::uint32_t GetIfIndex () const override;
  ns3::Ptr<ns3::Channel> GetChannel () const override;
  void SetAddress (ns3::Address address) override;
  ns3::Address GetAddress () const override;
  bool SetMtu (std::uint16_t mtu) override;
  std::uint16_t GetMtu () const override;
  bool IsLinkUp () const override;
  void AddLinkChangeCallback (ns3::Callback<void> callback) override;
  bool IsBroadcast () const override;
  ns3::Address GetBroadcast () const override;
  bool IsMulticast () const override;
  ns3::Address GetMulticast (ns3::Ipv4Address group) const override;
  ns3::Address GetMulticast (ns3::Ipv6Address group) const override;
  bool IsBridge () const override;
  bool IsPointToPoint () const override;
  ns3::Ptr<ns3::Node> GetNode () const override;
  void SetNode (ns3::Ptr<ns3::Node> node) override;
  bool NeedsArp () const override;
  void SetReceiveCallback (ReceiveCallback callback) override;
  void SetPromiscReceiveCallback (PromiscReceiveCallback callback) override;
  bool SupportsSendFrom () const override;

protected:
  void DoDispose () override;

private:
  struct Waiting {
    ns3::Ptr<ns3::Packet> packet;
    ns3::Time since;
  };

  struct Departure {
    ns3::Time end;
    std::uint32_t bytes;
  };

  bool Fits (std::uint64_t packets, std::uint64_t bytes) const;
  void PassSteady (ns3::Ptr<ns3::Packet> packet);
  /* When what leaves at @departure arrives. */
  ns3::Time Arrival (ns3::Time departure);
  void Enqueue (ns3::Ptr<ns3::Packet> packet);
  std::optional<Waiting> Dequeue ();
  void SendNext ();
  void Sent ();
  void Receive (ns3::Ptr<ns3::Packet> packet);
  void QueueDropped (ns3::Ipv4Address destination);
  ns3::Time TimeFor (double bits) const;

  ns3::Ptr<ns3::Node> m_node;
  std::uint32_t m_index = 0;
  std::uint16_t m_mtu = 65535;
  ns3::Mac48Address m_address;
  Link *m_peer = nullptr;

  double m_rate_bps = 0;
  ns3::Time m_delay, m_jitter;
  std::optional<Random> m_random;
  QueueLimit m_limit = { false, 1000 };
  ns3::Ptr<ns3::QueueDisc> m_disc;
  std::optional<Loss> m_loss;
  LinkRecord *m_record = nullptr;
  DropHandler m_drop;
  ArrivalHandler m_arrival, m_taker;
  bool m_stamps = false, m_steady = false;

  std::deque<Waiting> m_fifo;
  std::uint64_t m_fifo_bytes = 0;
  std::deque<Departure> m_departures; /* steady: what has not left; m_fifo_bytes are all theirs */
  std::optional<Waiting> m_sending;
  ns3::Time m_sending_ends;
  ns3::EventId m_sent;
  ns3::Time m_last_arrival;
};

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tcp.h"

#include <ns3/boolean.h>
#include <ns3/enum.h>
#include <ns3/inet-socket-address.h>
#include <ns3/simulator.h>
#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-l4-protocol.h>
#include <ns3/tcp-prr-recovery.h>
#include <ns3/tcp-socket-base.h>
#include <ns3/uinteger.h>

#include "tags.h"
#include "tcpalgorithms.h"
#include "tcpbbr.h"
#include "tcpcubic.h"

namespace sim
{

using ns3::Ptr;
using ns3::Socket;

/* IPv4 20, TCP 20, time stamps 12. */
static constexpr std::uint32_t HEADERS = 52;
static constexpr std::uint32_t BUFFER = 16 << 20;
/* As much as TCP may hold unsent: never short of data, and little goes out after the end. */
static constexpr std::uint32_t AHEAD = 16;

static ns3::TypeId
CongestionType (const std::string &name)
{
  if (name == "reno")
    return TcpReno::GetTypeId ();
  if (name == "newreno")
    return TcpNewReno::GetTypeId ();
  if (name == "cubic")
    return TcpCubic::GetTypeId ();
  if (name == "bbr")
    return TcpBbr::GetTypeId ();
  throw ScenarioError ("no congestion control \"" + name + "\": reno, newreno, cubic, bbr");
}

class TcpFlow::Connection
{
public:
  Connection (Ptr<Socket> socket, ns3::Address to, std::uint32_t segment, FlowRecord &record)
      : m_socket (socket), m_chunk (segment)
  {
    using State = ns3::TcpSocketState::TcpCongState_t;
    m_socket->TraceConnectWithoutContext (
        "CongState", ns3::Callback<void, State, State> ([&record] (State, State state) {
          if (state == ns3::TcpSocketState::CA_RECOVERY)
            record.recoveries.Add (1);
          else if (state == ns3::TcpSocketState::CA_LOSS)
            record.timeouts.Add (1);
        }));
    m_socket->SetConnectCallback (
        ns3::Callback<void, Ptr<Socket>> ([this] (Ptr<Socket>) { Write (); }),
        ns3::MakeNullCallback<void, Ptr<Socket>> ());
    m_socket->SetDataSentCallback (
        ns3::Callback<void, Ptr<Socket>, std::uint32_t> ([this] (Ptr<Socket>, std::uint32_t bytes) {
          m_sent += bytes;
          Write ();
        }));
    m_socket->Bind ();
    m_socket->Connect (to);
  }
  ~Connection ()
  {
    m_socket->SetConnectCallback (
        ns3::MakeNullCallback<void, Ptr<Socket>> (), ns3::MakeNullCallback<void, Ptr<Socket>> ());
    m_socket->SetDataSentCallback (ns3::MakeNullCallback<void, Ptr<Socket>, std::uint32_t> ());
  }
  void Close ()
  {
    m_closed = true;
    m_socket->Close ();
  }

private:
  void Write ()
  {
    if (m_closed || m_written - m_sent > AHEAD / 2 * m_chunk)
      return;
    while (m_written - m_sent < AHEAD * m_chunk) {
      if (m_socket->Send (ns3::Create<ns3::Packet> (m_chunk)) < 0)
        return;
      m_written += m_chunk;
    }
  }

  Ptr<Socket> m_socket;
  std::uint32_t m_chunk;
  std::uint64_t m_written = 0, m_sent = 0;
  bool m_closed = false;
};

TcpFlow::TcpFlow (Network &network, HostId from, HostId to, const nlohmann::json &flow,
    unsigned number, Random random, FlowRecord &record)
    : m_network (network), m_from (from), m_to (to), m_congestion (flow.at ("congestion")),
      m_segment (flow.at ("segment").get<std::uint32_t> () - HEADERS),
      m_ecn (flow.value ("ecn", false)), m_port (static_cast<std::uint16_t> (5000 + number)),
      m_record (record),
      m_onoff (flow.value ("onoff", nlohmann::json ()), random, [this] (bool on) { Set (on); })
{
  m_listener = NewSocket (to);
  m_listener->Bind (ns3::InetSocketAddress (ns3::Ipv4Address::GetAny (), m_port));
  m_listener->Listen ();
  m_listener->SetAcceptCallback (ns3::MakeNullCallback<bool, Ptr<Socket>, const ns3::Address &> (),
      ns3::Callback<void, Ptr<Socket>, const ns3::Address &> (
          [] (Ptr<Socket> socket, const ns3::Address &) {
            socket->SetRecvCallback (ns3::Callback<void, Ptr<Socket>> ([] (Ptr<Socket> readable) {
              while (readable->Recv ())
                ;
            }));
            socket->SetCloseCallbacks (
                ns3::Callback<void, Ptr<Socket>> ([] (Ptr<Socket> closed) { closed->Close (); }),
                ns3::MakeNullCallback<void, Ptr<Socket>> ());
          }));
  RecordFlow (network, from, to, record);
}

TcpFlow::~TcpFlow () = default;

Ptr<Socket>
TcpFlow::NewSocket (HostId host) const
{
  auto tcp = m_network.NodeOf (host)->GetObject<ns3::TcpL4Protocol> ();
  Ptr<Socket> socket
      = tcp->CreateSocket (CongestionType (m_congestion), ns3::TcpPrrRecovery::GetTypeId ());
  socket->SetAttribute ("SegmentSize", ns3::UintegerValue (m_segment));
  socket->SetAttribute ("SndBufSize", ns3::UintegerValue (BUFFER));
  socket->SetAttribute ("RcvBufSize", ns3::UintegerValue (BUFFER));
  socket->SetAttribute ("InitialCwnd", ns3::UintegerValue (10));
  socket->SetAttribute ("DelAckCount", ns3::UintegerValue (2));
  socket->SetAttribute ("DelAckTimeout", ns3::TimeValue (ns3::MilliSeconds (40)));
  /* Linux: RTO = SRTT + max (200 ms, 4 RTTVAR). A floor of 200 ms under the sum instead would fire
   * at each delayed ACK once the RTT is near it. */
  socket->SetAttribute ("ClockGranularity", ns3::TimeValue (ns3::MilliSeconds (200)));
  socket->SetAttribute ("MinRto", ns3::TimeValue (ns3::MilliSeconds (200)));
  socket->SetAttribute ("ConnTimeout", ns3::TimeValue (ns3::Seconds (1)));
  /* It never gives up: an outage is part of an experiment. */
  socket->SetAttribute ("ConnCount", ns3::UintegerValue (1000));
  socket->SetAttribute ("DataRetries", ns3::UintegerValue (1000000));
  /* What comes late to a closed connection meets the listener, which ns-3 then lets probe a window
   * with data that it has not got: a crash. Our receivers always read, no window stays closed. */
  socket->SetAttribute ("PersistTimeout", ns3::TimeValue (ns3::Seconds (1e6)));
  socket->SetAttribute ("Sack", ns3::BooleanValue (true));
  socket->SetAttribute ("Timestamp", ns3::BooleanValue (true));
  auto base = ns3::DynamicCast<ns3::TcpSocketBase> (socket);
  base->SetUseEcn (m_ecn ? ns3::TcpSocketState::On : ns3::TcpSocketState::Off);
  if (m_congestion == "bbr")
    TcpBbr::Install (base, 1000000 + m_from);
  return socket;
}

void
TcpFlow::Start ()
{
  m_onoff.Start ();
}

void
TcpFlow::Stop ()
{
  m_onoff.Stop ();
}

void
TcpFlow::Set (bool on)
{
  if (on) {
    m_connections.push_back (std::make_unique<Connection> (NewSocket (m_from),
        ns3::InetSocketAddress (Network::AddressOf (m_to), m_port), m_segment, m_record));
  } else if (!m_connections.empty ()) {
    m_connections.back ()->Close ();
  }
}

void
RecordFlow (Network &network, HostId from, HostId to, FlowRecord &record)
{
  network.Stamp (from);
  network.OnArrival (to, [&record] (Ptr<ns3::Packet> packet) {
    record.bytes.Add (packet->GetSize ());
    record.packets.Add (1);
    OriginTag tag;
    if (packet->PeekPacketTag (tag))
      record.delay.Add (ns3::Simulator::Now ().GetSeconds () - tag.sent);
  });
  network.OnDrop (to, [&record] { record.lost.Add (1); });
}

} // namespace sim

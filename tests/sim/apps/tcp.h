/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tcp: a TCP flow between two hosts that always has data while it is on.
 *
 * Congestion: reno (ns-3's TcpLinuxReno, mended: tcpalgorithms.h), newreno (RFC 6582), cubic and
 * bbr (mended, too: tcpcubic.h, tcpbbr.h); SACK, PRR, time stamps, delayed ACKs, window scaling,
 * and as Linux: initial window 10, minimal RTO 200 ms, ACKs delayed 40 ms at most, connection
 * time-out 1 s. A full segment is @segment IP bytes. Each on time is a connection of its own: real
 * short transfers start so, and no burst of an old window follows an idle time. After the end of an
 * on time what TCP has taken already still goes out, some segments.
 */
#pragma once

#include <memory>

#include <nlohmann/json.hpp>
#include <ns3/socket.h>

#include "network.h"
#include "onoff.h"
#include "record.h"

namespace sim
{

class TcpFlow
{
public:
  /* @flow: a scenario's; @number: its port. */
  TcpFlow (Network &network, HostId from, HostId to, const nlohmann::json &flow, unsigned number,
      Random random, FlowRecord &record);
  ~TcpFlow ();

  void Start ();
  void Stop ();

private:
  class Connection;
  ns3::Ptr<ns3::Socket> NewSocket (HostId host) const;
  void Set (bool on);

  Network &m_network;
  HostId m_from, m_to;
  std::string m_congestion;
  std::uint32_t m_segment;
  bool m_ecn;
  std::uint16_t m_port;
  FlowRecord &m_record;
  OnOff m_onoff;
  ns3::Ptr<ns3::Socket> m_listener;
  std::vector<std::unique_ptr<Connection>> m_connections;
};

/* Counts what arrives at @to and what is dropped on its way there; @from is its only sender. */
void RecordFlow (Network &network, HostId from, HostId to, FlowRecord &record);

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tcpalgorithms: ns-3's Reno and CUBIC with two faults of ns-3 (3.37) mended.
 *
 * As it leaves fast recovery, TcpSocketBase hands the whole window, from the first hole on, to
 * IncreaseWindow, though most of it was SACKed and counted before. Linux Reno, which counts
 * segments, takes that for two round trips and raises the window by 2 segments just after halving
 * it: 20 % more throughput at 2 % loss. Linux counts what that ACK delivered: the retransmission.
 *
 * NewReno halves FlightSize (RFC 6675 4.2), and that is all that is not acknowledged cumulatively;
 * ns-3 takes what is still in the network, some segments less. As Linux, ours takes the window.
 */
#pragma once

#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-bbr.h>
#include <ns3/tcp-cubic.h>
#include <ns3/tcp-linux-reno.h>
#include <ns3/tcp-tx-buffer.h>

namespace sim
{

template <typename Base> class AfterRecovery : public Base
{
public:
  void CongestionStateSet (
      ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpSocketState::TcpCongState_t state) override
  {
    m_left = tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY
             && state == ns3::TcpSocketState::CA_OPEN;
    Base::CongestionStateSet (tcb, state);
  }
  void IncreaseWindow (ns3::Ptr<ns3::TcpSocketState> tcb, std::uint32_t segments) override
  {
    Base::IncreaseWindow (tcb, m_left ? 1 : segments);
    m_left = false;
  }

private:
  bool m_left = false; /* just left fast recovery */
};

class TcpReno : public AfterRecovery<ns3::TcpLinuxReno>
{
public:
  static ns3::TypeId GetTypeId ();
  ns3::Ptr<ns3::TcpCongestionOps> Fork () override;
};

class TcpNewReno : public ns3::TcpNewReno
{
public:
  static ns3::TypeId GetTypeId ();
  std::uint32_t GetSsThresh (
      ns3::Ptr<const ns3::TcpSocketState> tcb, std::uint32_t in_flight) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork () override;
};

/* BBR with two faults of ns-3 (3.37) mended; not all: where its start-up ends in time-outs (8 Mb/s,
 * 52 ms, a queue of 50 packets, 1 % loss) it may still stay at a few packets a second.
 *
 * TcpSocketBase takes the difference of two counts of lost bytes without its sign: what a
 * retransmission repairs counts as lost again, and BBR takes that off its window. Here the count is
 * of the sender's buffer.
 *
 * After a time-out, ns-3's rate samples have no length, or one since the simulation's start, each
 * opens a round trip, and after ten the path's rate is forgotten: 0.02 of 10 Mb/s for the rest of a
 * run. Linux ignores a sample shorter than the smallest RTT (tcp_rate_gen, bbr_update_bw). */
class TcpBbr : public ns3::TcpBbr
{
public:
  static ns3::TypeId GetTypeId ();
  /* @buffer: of the socket whose congestion control this is; @stream: of random numbers. */
  void Attach (ns3::Ptr<const ns3::TcpTxBuffer> buffer, std::uint32_t stream);
  void CongControl (ns3::Ptr<ns3::TcpSocketState> tcb,
      const ns3::TcpRateOps::TcpRateConnection &connection,
      const ns3::TcpRateOps::TcpRateSample &sample) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork () override;

private:
  ns3::Ptr<const ns3::TcpTxBuffer> m_buffer;
  std::uint32_t m_lost = 0;
};

class TcpCubic : public AfterRecovery<ns3::TcpCubic>
{
public:
  static ns3::TypeId GetTypeId ();
  ns3::Ptr<ns3::TcpCongestionOps> Fork () override;
};

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tcpalgorithms: ns-3's Reno with two faults of ns-3 (3.37) mended.
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
#include <ns3/tcp-cubic.h>
#include <ns3/tcp-linux-reno.h>

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

} // namespace sim

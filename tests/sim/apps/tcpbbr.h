/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tcpbbr: ns-3's BBR (v1) with faults of ns-3 (3.37) mended, as Linux has it.
 *
 * - TcpRate: ns-3 measures the rate of an ACK from the last one that told anything, may take the
 *   simulation's start for its beginning, drops samples shorter than the least smoothed RTT, and
 *   begins anew whenever all that is in flight counts as lost. After a time-out the path's rate was
 *   forgotten and never found again (0.02 of 10 Mb/s).
 * - TcpSocketBase takes the difference of two counts of lost bytes without its sign: what a
 *   retransmission repairs counts as lost again, and BBR takes that off its window.
 * - The RTT that BBR gets is the smoothed one: a path is never as short as it was.
 * - The window that a time-out took is not given back.
 * - It paces at the path's rate, Linux 1 % below, so that queues end.
 */
#pragma once

#include <ns3/tcp-bbr.h>
#include <ns3/tcp-rate-ops.h>
#include <ns3/tcp-socket-base.h>
#include <ns3/tcp-tx-buffer.h>

namespace sim
{

/* Delivery rates (draft-cheng-iccrg-delivery-rate-estimation; Linux: tcp_rate.c). */
class TcpRate : public ns3::TcpRateLinux
{
public:
  explicit TcpRate (ns3::Ptr<const ns3::TcpTxBuffer> buffer);

  void SkbSent (ns3::TcpTxItem *item, bool start) override;
  void SkbDelivered (ns3::TcpTxItem *item) override;
  void CalculateAppLimited (std::uint32_t window, std::uint32_t in_flight,
      std::uint32_t segment_bytes, const ns3::SequenceNumber32 &tail,
      const ns3::SequenceNumber32 &next, const std::uint32_t lost,
      const std::uint32_t retransmitted) override;
  const TcpRateSample &GenerateSample (std::uint32_t delivered, std::uint32_t lost, bool reneging,
      std::uint32_t in_flight, const ns3::Time &least_rtt) override;
  const TcpRateConnection &GetConnectionRate () override;

  /* Of the last ACK that was for no retransmission; zero: none yet. */
  ns3::Time Rtt () const
  {
    return m_rtt;
  }

private:
  ns3::Ptr<const ns3::TcpTxBuffer> m_buffer;
  TcpRateConnection m_rate;
  TcpRateSample m_next, m_sample;  /* being filled by this ACK; of the last one */
  bool m_any = false;              /* the ACK delivered something */
  std::uint32_t m_outstanding = 0; /* bytes sent and not delivered */
  std::uint32_t m_lost = 0;
  ns3::Time m_rtt, m_least_rtt;
};

class TcpBbr : public ns3::TcpBbr
{
public:
  static ns3::TypeId GetTypeId ();
  /* Makes it the congestion control of @socket; @stream: of random numbers. */
  static void Install (ns3::Ptr<ns3::TcpSocketBase> socket, std::uint32_t stream);

  void CongControl (ns3::Ptr<ns3::TcpSocketState> tcb,
      const ns3::TcpRateOps::TcpRateConnection &connection,
      const ns3::TcpRateOps::TcpRateSample &sample) override;
  void CongestionStateSet (
      ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpSocketState::TcpCongState_t state) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork () override;

private:
  ns3::Ptr<TcpRate> m_rate;
  ns3::DataRate m_unreduced; /* the pacing rate without the margin */
};

} // namespace sim

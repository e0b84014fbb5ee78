/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tcpbbr.h"

#include <algorithm>

#include <ns3/simulator.h>

namespace sim
{

using ns3::Simulator;
using ns3::Time;

static constexpr double PACING = 0.99; /* Linux: bbr_pacing_margin_percent */

TcpRate::TcpRate (ns3::Ptr<const ns3::TcpTxBuffer> buffer) : m_buffer (buffer)
{
}

void
TcpRate::SkbSent (ns3::TcpTxItem *item, bool)
{
  ns3::TcpTxItem::RateInformation &sent = item->GetRateInformation ();
  /* ns-3 asks whether nothing is in flight, which is so too when all counts as lost. */
  if (m_outstanding == 0)
    m_rate.m_firstSentTime = m_rate.m_deliveredTime = Simulator::Now ();
  if (sent.m_deliveredTime == Time::Max ())
    m_outstanding += item->GetSeqSize ();
  sent.m_firstSent = m_rate.m_firstSentTime;
  sent.m_deliveredTime = m_rate.m_deliveredTime;
  sent.m_isAppLimited = m_rate.m_appLimited != 0;
  sent.m_delivered = m_rate.m_delivered;
}

void
TcpRate::SkbDelivered (ns3::TcpTxItem *item)
{
  ns3::TcpTxItem::RateInformation &sent = item->GetRateInformation ();
  if (sent.m_deliveredTime == Time::Max ())
    return; /* by a SACK before */
  m_outstanding -= std::min (m_outstanding, item->GetSeqSize ());
  m_rate.m_delivered += item->GetSeqSize ();
  m_rate.m_deliveredTime = Simulator::Now ();
  /* Of the packet sent last. */
  if (!m_any || sent.m_delivered >= m_next.m_priorDelivered) {
    m_any = true;
    m_next.m_priorDelivered = static_cast<std::uint32_t> (sent.m_delivered);
    m_next.m_priorTime = sent.m_deliveredTime;
    m_next.m_isAppLimited = sent.m_isAppLimited;
    m_next.m_sendElapsed = item->GetLastSent () - sent.m_firstSent;
    m_rate.m_firstSentTime = item->GetLastSent ();
    if (!item->IsRetrans ())
      m_rtt = Simulator::Now () - item->GetLastSent ();
  }
  sent.m_deliveredTime = Time::Max ();
  m_rate.m_txItemDelivered = static_cast<std::uint32_t> (sent.m_delivered);
}

void
TcpRate::CalculateAppLimited (std::uint32_t window, std::uint32_t in_flight,
    std::uint32_t segment_bytes, const ns3::SequenceNumber32 &tail,
    const ns3::SequenceNumber32 &next, const std::uint32_t lost, const std::uint32_t retransmitted)
{
  if (tail - next < static_cast<std::int32_t> (segment_bytes) && in_flight < window
      && lost <= retransmitted)
    m_rate.m_appLimited
        = std::max (static_cast<std::uint32_t> (m_rate.m_delivered) + in_flight, 1u);
}

const TcpRate::TcpRateSample &
TcpRate::GenerateSample (
    std::uint32_t delivered, std::uint32_t, bool reneging, std::uint32_t in_flight, const Time &)
{
  if (m_rate.m_appLimited != 0 && m_rate.m_delivered > m_rate.m_appLimited)
    m_rate.m_appLimited = 0;
  if (m_rtt.IsStrictlyPositive () && (m_least_rtt.IsZero () || m_rtt < m_least_rtt))
    m_least_rtt = m_rtt;
  m_sample = m_next;
  m_sample.m_ackedSacked = delivered;
  m_sample.m_priorInFlight = in_flight;
  const std::uint32_t lost = m_buffer->GetLost ();
  m_sample.m_bytesLoss = lost > m_lost ? lost - m_lost : 0;
  m_lost = lost;
  m_sample.m_ackElapsed = Simulator::Now () - m_sample.m_priorTime;
  m_sample.m_interval = std::max (m_sample.m_sendElapsed, m_sample.m_ackElapsed);
  m_sample.m_delivered = static_cast<std::int32_t> (m_rate.m_delivered - m_next.m_priorDelivered);
  if (!m_any || reneging || m_sample.m_interval < m_least_rtt) {
    m_sample.m_delivered = -1;
    m_sample.m_interval = Time ();
  } else {
    m_sample.m_deliveryRate = ns3::DataRate (static_cast<std::uint64_t> (
        8.0 * m_sample.m_delivered / m_sample.m_interval.GetSeconds ()));
  }
  m_next = TcpRateSample ();
  m_any = false;
  return m_sample;
}

const TcpRate::TcpRateConnection &
TcpRate::GetConnectionRate ()
{
  return m_rate;
}

namespace
{

/* A socket's own parts, which ns-3 keeps for its subclasses. */
struct Parts : public ns3::TcpSocketBase {
  static ns3::Ptr<ns3::TcpRateOps> &RateOps (ns3::TcpSocketBase &socket)
  {
    return socket.*(&Parts::m_rateOps);
  }
};

} // namespace

ns3::TypeId
TcpBbr::GetTypeId ()
{
  static ns3::TypeId id = ns3::TypeId ("sim::TcpBbr")
                              .SetParent<ns3::TcpBbr> ()
                              .SetGroupName ("Sim")
                              .AddConstructor<TcpBbr> ();
  return id;
}

void
TcpBbr::Install (ns3::Ptr<ns3::TcpSocketBase> socket, std::uint32_t stream)
{
  auto bbr = ns3::CreateObject<TcpBbr> ();
  bbr->SetStream (stream);
  bbr->m_rate
      = ns3::CreateObject<TcpRate> (ns3::Ptr<const ns3::TcpTxBuffer> (socket->GetTxBuffer ()));
  Parts::RateOps (*socket) = bbr->m_rate;
  socket->SetCongestionControlAlgorithm (bbr);
}

ns3::Ptr<ns3::TcpCongestionOps>
TcpBbr::Fork ()
{
  return ns3::CopyObject<TcpBbr> (this);
}

void
TcpBbr::CongControl (ns3::Ptr<ns3::TcpSocketState> tcb,
    const ns3::TcpRateOps::TcpRateConnection &connection,
    const ns3::TcpRateOps::TcpRateSample &sample)
{
  const Time smoothed = tcb->m_lastRtt.Get ();
  if (m_rate && m_rate->Rtt ().IsStrictlyPositive ())
    tcb->m_lastRtt = m_rate->Rtt ();
  if (m_unreduced.GetBitRate () > 0)
    tcb->m_pacingRate = m_unreduced;
  ns3::TcpBbr::CongControl (tcb, connection, sample);
  m_unreduced = tcb->m_pacingRate.Get ();
  tcb->m_pacingRate = ns3::DataRate (
      static_cast<std::uint64_t> (PACING * static_cast<double> (m_unreduced.GetBitRate ())));
  tcb->m_lastRtt = smoothed;
}

void
TcpBbr::CongestionStateSet (
    ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpSocketState::TcpCongState_t state)
{
  if (tcb->m_congState == ns3::TcpSocketState::CA_LOSS && state == ns3::TcpSocketState::CA_OPEN)
    CwndEvent (tcb, ns3::TcpSocketState::CA_EVENT_COMPLETE_CWR);
  ns3::TcpBbr::CongestionStateSet (tcb, state);
}

} // namespace sim

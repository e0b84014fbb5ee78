/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tcpcubic.h"

#include <algorithm>
#include <cmath>

#include <ns3/simulator.h>

namespace sim
{

/* RFC 9438, 5.1 and 4.6. */
static constexpr double C = 0.4, BETA = 0.7;
/* 4.3; Linux keeps it when W_est has come back to the old window, where the RFC takes 1. */
static constexpr double ALPHA = 3 * (1 - BETA) / (1 + BETA);
/* Linux: where the target is not above the window; and as long as no loss told a plateau. */
static constexpr double CREEP = 0.01, UNKNOWN = 0.05;
/* At most a segment for two that are acknowledged. */
static constexpr double FASTEST = 0.5;

ns3::TypeId
TcpCubic::GetTypeId ()
{
  static ns3::TypeId id = ns3::TypeId ("sim::TcpCubic")
                              .SetParent<ns3::TcpCubic> ()
                              .SetGroupName ("Sim")
                              .AddConstructor<TcpCubic> ();
  return id;
}

ns3::Ptr<ns3::TcpCongestionOps>
TcpCubic::Fork ()
{
  return ns3::CopyObject<TcpCubic> (this);
}

/* The window in a round trip, of @window now; @acked more segments have arrived. */
double
CubicGrowth::Target (ns3::Ptr<const ns3::TcpSocketState> tcb, double window, double acked)
{
  if (!m_in_epoch) {
    m_in_epoch = true;
    m_epoch = ns3::Simulator::Now ();
    m_origin = std::max (m_max, window);
    m_k = std::cbrt ((m_origin - window) / C);
    m_reno = window;
  }
  m_reno += ALPHA * acked / window;
  const double t = (ns3::Simulator::Now () + tcb->m_minRtt - m_epoch).GetSeconds () - m_k;
  return std::max (m_origin + C * t * t * t, m_reno);
}

void
CubicGrowth::IncreaseWindow (ns3::Ptr<ns3::TcpSocketState> tcb, std::uint32_t segments)
{
  if (tcb->m_cWnd < tcb->m_ssThresh) {
    ns3::TcpCubic::IncreaseWindow (tcb, segments);
    return;
  }
  const double window = tcb->GetCwndInSegments ();
  const double rise = Target (tcb, window, segments) - window;
  double growth = std::max (rise, CREEP) / window; /* segments per segment acknowledged */
  if (m_max == 0)
    growth = std::max (growth, UNKNOWN);
  m_credit += segments * std::min (growth, FASTEST);
  const auto whole = static_cast<std::uint32_t> (m_credit);
  m_credit -= whole;
  tcb->m_cWnd += whole * tcb->m_segmentSize;
}

std::uint32_t
CubicGrowth::GetSsThresh (ns3::Ptr<const ns3::TcpSocketState> tcb, std::uint32_t)
{
  const double window = tcb->GetCwndInSegments ();
  m_max = window < m_max ? window * (1 + BETA) / 2 : window; /* fast convergence, 4.7 */
  m_in_epoch = false;
  return std::max (static_cast<std::uint32_t> (window * BETA), 2u) * tcb->m_segmentSize;
}

void
CubicGrowth::CongestionStateSet (
    ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpSocketState::TcpCongState_t state)
{
  ns3::TcpCubic::CongestionStateSet (tcb, state);
  if (state == ns3::TcpSocketState::CA_LOSS) {
    m_max = 0;
    m_in_epoch = false;
  }
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tcpcubic: CUBIC as in Linux. ns-3's (until 3.41) has no Reno-friendly region (RFC 9438, 4.3): at
 * 1 % loss and 50 ms it takes 0.39 of Reno's rate. Slow start and HyStart are ns-3's.
 */
#pragma once

#include "tcpalgorithms.h"

namespace sim
{

class CubicGrowth : public ns3::TcpCubic
{
public:
  void IncreaseWindow (ns3::Ptr<ns3::TcpSocketState> tcb, std::uint32_t segments) override;
  std::uint32_t GetSsThresh (
      ns3::Ptr<const ns3::TcpSocketState> tcb, std::uint32_t in_flight) override;
  void CongestionStateSet (
      ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpSocketState::TcpCongState_t state) override;

private:
  double Target (ns3::Ptr<const ns3::TcpSocketState> tcb, double window, double acked);

  /* In segments. */
  double m_max = 0;    /* the window before the last loss; 0: not known */
  double m_origin = 0; /* the plateau */
  double m_reno = 0;   /* what Reno's window would be: W_est */
  double m_credit = 0; /* of growth, less than a segment */
  double m_k = 0;      /* s from the epoch's start to the plateau */
  ns3::Time m_epoch;
  bool m_in_epoch = false;
};

class TcpCubic : public AfterRecovery<CubicGrowth>
{
public:
  static ns3::TypeId GetTypeId ();
  ns3::Ptr<ns3::TcpCongestionOps> Fork () override;
};

} // namespace sim

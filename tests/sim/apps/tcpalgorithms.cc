/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tcpalgorithms.h"

#include <algorithm>

namespace sim
{

ns3::TypeId
TcpReno::GetTypeId ()
{
  static ns3::TypeId id = ns3::TypeId ("sim::TcpReno")
                              .SetParent<ns3::TcpLinuxReno> ()
                              .SetGroupName ("Sim")
                              .AddConstructor<TcpReno> ();
  return id;
}

ns3::Ptr<ns3::TcpCongestionOps>
TcpReno::Fork ()
{
  return ns3::CopyObject<TcpReno> (this);
}

ns3::TypeId
TcpNewReno::GetTypeId ()
{
  static ns3::TypeId id = ns3::TypeId ("sim::TcpNewReno")
                              .SetParent<ns3::TcpNewReno> ()
                              .SetGroupName ("Sim")
                              .AddConstructor<TcpNewReno> ();
  return id;
}

std::uint32_t
TcpNewReno::GetSsThresh (ns3::Ptr<const ns3::TcpSocketState> tcb, std::uint32_t)
{
  return std::max (2 * tcb->m_segmentSize, tcb->m_cWnd.Get () / 2);
}

ns3::Ptr<ns3::TcpCongestionOps>
TcpNewReno::Fork ()
{
  return ns3::CopyObject<TcpNewReno> (this);
}

ns3::TypeId
TcpBbr::GetTypeId ()
{
  static ns3::TypeId id = ns3::TypeId ("sim::TcpBbr")
                              .SetParent<ns3::TcpBbr> ()
                              .SetGroupName ("Sim")
                              .AddConstructor<TcpBbr> ();
  return id;
}

ns3::Ptr<ns3::TcpCongestionOps>
TcpBbr::Fork ()
{
  return ns3::CopyObject<TcpBbr> (this);
}

void
TcpBbr::Attach (ns3::Ptr<const ns3::TcpTxBuffer> buffer, std::uint32_t stream)
{
  m_buffer = buffer;
  SetStream (stream);
}

void
TcpBbr::CongControl (ns3::Ptr<ns3::TcpSocketState> tcb,
    const ns3::TcpRateOps::TcpRateConnection &connection,
    const ns3::TcpRateOps::TcpRateSample &sample)
{
  ns3::TcpRateOps::TcpRateSample mended = sample;
  if (m_buffer) {
    const std::uint32_t lost = m_buffer->GetLost ();
    mended.m_bytesLoss = lost > m_lost ? lost - m_lost : 0;
    m_lost = lost;
  }
  const ns3::Time rtt = tcb->m_lastRtt.Get ();
  if (sample.m_interval < tcb->m_minRtt || sample.m_interval > 10 * rtt) {
    mended.m_deliveryRate = ns3::DataRate (0);
    mended.m_priorDelivered = 0;
  }
  ns3::TcpBbr::CongControl (tcb, connection, mended);
}

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

} // namespace sim

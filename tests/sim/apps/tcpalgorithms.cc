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

} // namespace sim

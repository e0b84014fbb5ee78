/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * hostrouting: what ns-3's TCP asks for as it sends: everything goes to the router. What comes does
 * not pass here (hostip.h).
 */
#pragma once

#include <ns3/ipv4-routing-protocol.h>

#include "link.h"

namespace sim
{

/* How RouteInput() takes its callbacks: by value, since ns-3.39 by reference. */
template <typename Method> struct RouteInputCallbacks;

template <typename Result, typename Class, typename Packet, typename Header, typename Device,
    typename U, typename M, typename L, typename E>
struct RouteInputCallbacks<Result (Class::*) (Packet, Header, Device, U, M, L, E)> {
  using Unicast = U;
  using Multicast = M;
  using Local = L;
  using Error = E;
};

class HostRouting : public ns3::Ipv4RoutingProtocol
{
public:
  using Callbacks = RouteInputCallbacks<decltype (&ns3::Ipv4RoutingProtocol::RouteInput)>;

  static ns3::TypeId GetTypeId ();

  void Connect (ns3::Ipv4Address own, ns3::Ptr<Link> link);

  ns3::Ptr<ns3::Ipv4Route> RouteOutput (ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header &header,
      ns3::Ptr<ns3::NetDevice> device, ns3::Socket::SocketErrno &error) override;
  bool RouteInput (ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header &header,
      ns3::Ptr<const ns3::NetDevice> device, Callbacks::Unicast unicast,
      Callbacks::Multicast multicast, Callbacks::Local local, Callbacks::Error failed) override;
  void NotifyInterfaceUp (std::uint32_t interface) override;
  void NotifyInterfaceDown (std::uint32_t interface) override;
  void NotifyAddAddress (std::uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
  void NotifyRemoveAddress (std::uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
  void SetIpv4 (ns3::Ptr<ns3::Ipv4> ipv4) override;
  void PrintRoutingTable (
      ns3::Ptr<ns3::OutputStreamWrapper> stream, ns3::Time::Unit unit) const override;

protected:
  void DoDispose () override;

private:
  ns3::Ptr<ns3::Ipv4Route> m_route;
};

} // namespace sim

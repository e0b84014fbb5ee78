/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * nsport: a Port over an ns-3 UDP socket.
 */
#pragma once

#include <ns3/node.h>
#include <ns3/socket.h>

#include "port.h"
#include "hostrouting.h"

namespace sim
{

/* A host's clock shows epoch + (1 + drift) times the true time. Never zero: 1000 s by default. */
struct Clock {
  double epoch_s = 1000;
  double drift = 0;
};

class NsPort : public Port
{
public:
  NsPort (HostId host, ns3::Ptr<ns3::Node> node, ns3::Ptr<HostRouting> routing, unsigned flow,
      Clock clock);
  ~NsPort () override;

  HostId Host () const override
  {
    return m_host;
  }
  MccTime Now () const override;
  ns3::EventId At (MccTime when, std::function<void ()> callback) override;
  void SendGroup (unsigned group, const void *data, std::size_t size, std::uint32_t ip_bytes,
      bool ect) override;
  void SendTo (
      HostId to, const void *data, std::size_t size, std::uint32_t ip_bytes, bool ect) override;
  void Join (unsigned group) override;
  void Leave (unsigned group) override;

private:
  ns3::Ipv4Address GroupAddress (unsigned group) const;
  void Send (ns3::Ipv4Address to, std::int32_t group, const void *data, std::size_t size,
      std::uint32_t ip_bytes, bool ect);
  void Receive (ns3::Ptr<ns3::Socket> socket);
  void Deliver (ns3::Ptr<ns3::Packet> packet);

  HostId m_host;
  ns3::Ptr<HostRouting> m_routing;
  unsigned m_flow;
  Clock m_clock;
  ns3::Ptr<ns3::Socket> m_socket;
  std::vector<std::uint8_t> m_data;
};

} // namespace sim

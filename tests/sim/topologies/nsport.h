/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * nsport: a Port on a host of the ns-3 network.
 */
#pragma once

#include <vector>

#include "port.h"
#include "tags.h"
#include "hostip.h"

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
  NsPort (HostId id, HostIp &host, unsigned flow, Clock clock);
  ~NsPort () override;

  HostId Host () const override
  {
    return m_id;
  }
  MccTime Now () const override;
  ns3::EventId At (MccTime when, std::function<void ()> callback) override;
  void SendGroup (unsigned group, const void *data, std::size_t size, std::uint32_t ip_bytes,
      bool ect) override;
  void SendTo (
      HostId to, const void *data, std::size_t size, std::uint32_t ip_bytes, bool ect) override;
  void Join (unsigned group) override;
  void Leave (unsigned group) override;

  /* An IP packet for this port. */
  void Deliver (const ns3::Packet &packet, const OriginTag &origin);

private:
  ns3::Ipv4Address GroupAddress (unsigned group) const;
  void Send (ns3::Ipv4Address to, std::int32_t group, const void *data, std::size_t size,
      std::uint32_t ip_bytes, bool ect);

  HostId m_id;
  HostIp &m_host;
  unsigned m_flow;
  Clock m_clock;
  std::vector<std::uint8_t> m_sent, m_received; /* a handler may send */
};

} // namespace sim

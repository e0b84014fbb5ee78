/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * udp: a UDP flow of a constant rate, as long as it is on.
 */
#pragma once

#include <nlohmann/json.hpp>

#include "network.h"
#include "onoff.h"
#include "record.h"

namespace sim
{

class UdpFlow
{
public:
  /* @flow: a scenario's; @number: its port. */
  UdpFlow (Network &network, HostId from, HostId to, const nlohmann::json &flow, unsigned number,
      Random random, FlowRecord &record);

  void Start ();
  void Stop ();

private:
  void Set (bool on);
  void Send ();

  std::unique_ptr<Port> m_sender, m_receiver;
  HostId m_to;
  double m_interval_s;
  std::uint32_t m_packet_bytes;
  OnOff m_onoff;
  ns3::EventId m_next;
};

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "udp.h"

#include <ns3/simulator.h>

#include "tcp.h"

namespace sim
{

UdpFlow::UdpFlow (Network &network, HostId from, HostId to, const nlohmann::json &flow,
    unsigned number, Random random, FlowRecord &record)
    : m_sender (network.NewPort (from, number)), m_receiver (network.NewPort (to, number)),
      m_to (to), m_packet_bytes (flow.at ("packet_size").get<std::uint32_t> ()),
      m_onoff (flow.value ("onoff", nlohmann::json ()), random, [this] (bool on) { Set (on); })
{
  m_interval_s = 8.0 * m_packet_bytes / flow.at ("rate").get<double> ();
  RecordFlow (network, from, to, record);
}

void
UdpFlow::Start ()
{
  m_onoff.Start ();
}

void
UdpFlow::Stop ()
{
  m_onoff.Stop ();
}

void
UdpFlow::Set (bool on)
{
  m_next.Cancel ();
  if (on)
    Send ();
}

void
UdpFlow::Send ()
{
  m_sender->SendTo (m_to, nullptr, 0, m_packet_bytes);
  m_next = ns3::Simulator::Schedule (ns3::Seconds (m_interval_s), &UdpFlow::Send, this);
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layerarrivals.h"

#include <algorithm>

#include <ns3/simulator.h>

namespace sim
{

void
LayerArrivals::BeginAll ()
{
  std::fill (m_layers.begin (), m_layers.end (), Layer{});
  m_frames.Begin ();
  m_top = NO_STREAM;
}

void
LayerArrivals::End (unsigned layer)
{
  if (static_cast<int> (layer) > m_top)
    return;
  m_top = static_cast<int> (layer) - 1;
  if (m_record.trace)
    m_record.trace->Show (m_top);
}

void
LayerArrivals::Trace (const Datagram &datagram, unsigned number, bool taken)
{
  auto layer = static_cast<int> (number);
  bool higher = taken && layer > m_top;
  m_top = higher ? layer : m_top;
  if (!m_record.trace)
    return;
  m_record.trace->Came (datagram.delay, number);
  if (higher)
    m_record.trace->Show (layer, datagram.delay);
}

void
LayerArrivals::Add (const Datagram &datagram, unsigned number, std::uint16_t seq, bool taken)
{
  Trace (datagram, number, taken);
  if (!taken) {
    m_record.other_bytes.Add (datagram.ip_bytes);
    return;
  }
  Layer &layer = m_layers[number];
  auto ahead = static_cast<std::uint16_t> (seq - layer.next);
  bool old = layer.any && ahead >= 0x8000;
  std::uint32_t lost = layer.any && !old ? ahead : 0;
  m_record.bytes.Add (datagram.ip_bytes);
  m_record.packets.Add (1);
  m_record.delay.Add (datagram.delay);
  if (lost > 0)
    m_record.lost.Add (lost);
  if (old)
    return;
  double sent = ns3::Simulator::Now ().GetSeconds () - datagram.delay;
  m_frames.Add (layer.any ? layer.sent : sent, sent, lost);
  layer = { true, static_cast<std::uint16_t> (seq + 1), sent };
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layerarrivals.h"

#include <algorithm>
#include <cmath>

#include <ns3/simulator.h>

namespace sim
{

void
LayerArrivals::BeginAll ()
{
  std::fill (m_layers.begin (), m_layers.end (), Layer{});
  m_frame = m_damaged = -1;
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
  layer.any = true;
  layer.next = static_cast<std::uint16_t> (seq + 1);
  CountFrame (ns3::Simulator::Now ().GetSeconds () - datagram.delay, lost);
}

/* A picture needs all layers that are taken: with a packet lost in any it is damaged. The picture
 * is that of the packet which showed the loss. */
void
LayerArrivals::CountFrame (double sent, std::uint32_t lost)
{
  double frame = std::floor (sent * FRAME_RATE);
  if (m_frame >= 0 && frame > m_frame)
    m_record.frames.Add (frame - m_frame);
  m_frame = std::max (m_frame, frame);
  if (lost == 0)
    return;
  if (frame > m_damaged)
    m_record.frames_damaged.Add (1);
  m_damaged = std::max (m_damaged, frame);
}

} // namespace sim

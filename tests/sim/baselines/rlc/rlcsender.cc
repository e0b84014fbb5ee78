/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rlc.h"

#include <algorithm>
#include <cmath>

namespace sim
{

RlcSender::RlcSender (const Config &config, MccTime now) : m_start (now)
{
  double below = 0, period = config.t0;
  for (double cumulative : config.cumulative_bps) {
    Layer layer{};
    layer.interval = 8.0 * config.packet_bytes / (cumulative - below);
    layer.period = period;
    layer.window = std::min (config.burst / 2.0 * layer.interval, period / 4);
    layer.at = Due (layer, 0);
    m_layers.push_back (layer);
    below = cumulative;
    period *= 2;
  }
}

/* When packet @seq is sent, s since the start. Evenly spaced ones would leave at (seq + 1/2) d;
 * what falls into the w around an SP is sent in the half before it. */
double
RlcSender::Due (const Layer &layer, std::uint32_t seq)
{
  double even = (seq + 0.5) * layer.interval;
  double point = std::round (even / layer.period) * layer.period;
  double since = even - (point - layer.window);
  if (point <= 0 || since < 0 || since >= 2 * layer.window)
    return even;
  return point - layer.window + since / 2;
}

MccTime
RlcSender::NextTimeout () const
{
  double first = m_layers.front ().at;
  for (const Layer &layer : m_layers)
    first = std::min (first, layer.at);
  return m_start + mcc_time_from_seconds (first);
}

bool
RlcSender::Poll (MccTime now, RlcData *out)
{
  for (unsigned i = 0; i < m_layers.size (); i++) {
    Layer &layer = m_layers[i];
    if (m_start + mcc_time_from_seconds (layer.at) > now)
      continue;
    double next = Due (layer, layer.seq + 1);
    double point = std::ceil (layer.at / layer.period) * layer.period; /* the next SP */
    *out = {};
    out->layer = static_cast<std::uint8_t> (i);
    out->seq = layer.seq++;
    if (next >= point)
      out->flags |= RLC_SP;
    if (layer.window > 0 && layer.at >= point - layer.window)
      out->flags |= RLC_BURST;
    layer.at = next;
    return true;
  }
  return false;
}

} // namespace sim

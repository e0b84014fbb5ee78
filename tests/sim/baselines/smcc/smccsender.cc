/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "smcc.h"

#include <algorithm>
#include <cmath>

namespace sim
{
namespace
{

constexpr double IDLE_INTERVAL = 0.5; /* s between packets of a layer without receivers [ours] */
constexpr unsigned FORGET_RTTS = 10;  /* without a report a layer begins anew [ours] */
/* In a layer all receivers of higher ones count as this one: they take it, too, and their rates
 * allow its maximum. Else nobody would report to a layer whose receivers have all gone up [ours].
 */
constexpr std::uint32_t ABOVE = TFMCC_NOBODY - 1;

} // namespace

double
SmccCumulative (double base_bps, unsigned layer)
{
  return std::ldexp (base_bps, static_cast<int> (layer));
}

unsigned
SmccLayers (double base_bps, double max_bps)
{
  unsigned layers = 1;
  while (SmccCumulative (base_bps, layers - 1) < max_bps && layers < 16)
    layers++;
  return layers;
}

SmccSender::SmccSender (const Config &config, MccTime now)
    : m_config (config), m_layers (SmccLayers (config.base_bps, config.max_bps)),
      m_bcls (SmccBcls (Layers ()))
{
  for (unsigned i = 0; i < Layers (); i++)
    Begin (i, 0, now);
  for (Bcl &bcl : m_bcls)
    bcl.next = now;
}

void
SmccSender::Begin (unsigned layer, MccTime max_rtt, MccTime now)
{
  TfmccSender::Config config;
  config.packet_bytes = m_config.packet_bytes;
  config.min_bps = 8.0 * m_config.packet_bytes / IDLE_INTERVAL;
  config.max_bps = SmccCumulative (m_config.base_bps, layer);
  config.max_rtt = max_rtt;
  config.rise_per_report = m_config.rise_per_report;
  if (layer == 0)
    config.start_bps = m_config.start_bps;
  m_layers[layer].tfmcc.emplace (config, now);
  m_layers[layer].report = now;
}

double
SmccSender::RateBps (unsigned layer) const
{
  return m_layers[layer].tfmcc->RateBps ();
}

double
SmccSender::SumBps (unsigned layer) const
{
  double sum = 0;
  for (unsigned i = 0; i <= layer; i++)
    sum += RateBps (i);
  return sum;
}

std::uint32_t
SmccSender::Clr (unsigned layer) const
{
  std::uint32_t clr = m_layers[layer].tfmcc->Clr ();
  return clr == ABOVE ? TFMCC_NOBODY : clr;
}

/* X, up to B_i, less what the layers below send is what this one may. X_supp is of X itself, which
 * receivers compare with theirs. */
void
SmccSender::Tell (unsigned layer, SmccReport report, MccTime now)
{
  std::uint32_t stated = report.rate_bps;
  double below = layer > 0 ? SumBps (layer - 1) : 0;
  double most = std::min (SmccCumulative (m_config.base_bps, layer), m_config.max_bps);
  double rate = std::min<double> (report.rate_bps, most) - below;
  report.rate_bps = static_cast<std::uint32_t> (std::max (rate, 1.0));
  m_layers[layer].tfmcc->HandleReport (report, stated, now);
  m_layers[layer].report = now;
}

void
SmccSender::HandleReport (const SmccReport &report, MccTime now)
{
  unsigned layer = report.reserved;
  if (layer >= Layers ())
    return;
  TfmccSender &own = *m_layers[layer].tfmcc;
  bool leaves = report.flags & TFMCC_LEAVE;
  /* The first one of a layer: its RTT is known. */
  auto rtt_us
      = static_cast<std::int32_t> (static_cast<std::uint32_t> (now / MCC_USECOND) - report.echo_us);
  if (layer > 0 && !leaves && own.Clr () == TFMCC_NOBODY
      && (now - m_layers[layer].report >= FORGET_RTTS * own.MaxRtt () || own.Round () <= 1))
    Begin (layer, static_cast<MccTime> (std::max (rtt_us, 1)) * MCC_USECOND, now);
  Tell (layer, report, now);
  if (leaves && m_layers[layer].tfmcc->Clr () != TFMCC_NOBODY)
    return; /* there are others */
  SmccReport implied = report;
  implied.receiver = ABOVE;
  for (unsigned i = layer; i-- > 0;) {
    if (Clr (i) == report.receiver) { /* it has gone up */
      SmccReport farewell = report;
      farewell.flags |= TFMCC_LEAVE;
      Tell (i, farewell, now);
    }
    Tell (i, implied, now);
  }
}

void
SmccSender::HandleTimeout (MccTime now)
{
  for (Layer &layer : m_layers)
    layer.tfmcc->HandleTimeout (now);
}

MccTime
SmccSender::NextTimeout () const
{
  MccTime next = MCC_TIME_NONE;
  for (const Layer &layer : m_layers)
    next = std::min (next, layer.tfmcc->NextTimeout ());
  for (const Bcl &bcl : m_bcls)
    next = std::min (next, bcl.next);
  return next;
}

/* The BCLs are all layers': R_max of the base layer, which hears of everybody. */
MccTime
SmccSender::BclTime () const
{
  return m_layers[0].tfmcc->MaxRtt ();
}

bool
SmccSender::Poll (MccTime now, SmccData *out)
{
  for (unsigned i = 0; i < Layers (); i++) {
    Layer &layer = m_layers[i];
    *out = {};
    if (!layer.tfmcc->Poll (now, &out->tfmcc))
      continue;
    out->tfmcc.seq = layer.seq++;
    out->tfmcc.reserved = static_cast<std::uint8_t> (i);
    out->next_bps = i + 1 < Layers () ? static_cast<std::uint32_t> (RateBps (i + 1)) : 0;
    out->t_us = static_cast<std::uint32_t> (BclTime () / MCC_USECOND);
    return true;
  }
  for (unsigned j = 0; j < m_bcls.size (); j++) {
    Bcl &bcl = m_bcls[j];
    if (now < bcl.next)
      continue;
    bcl.next = now + (BclTime () >> j);
    *out = {};
    out->tfmcc.seq = bcl.seq++;
    out->tfmcc.timestamp_us = static_cast<std::uint32_t> (now / MCC_USECOND);
    out->tfmcc.echo_receiver = TFMCC_NOBODY;
    out->tfmcc.reserved = static_cast<std::uint8_t> (SMCC_BCL + j);
    return true;
  }
  return false;
}

} // namespace sim

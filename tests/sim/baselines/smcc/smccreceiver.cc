/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "smcc.h"

#include <algorithm>
#include <cmath>

namespace sim
{
namespace
{

constexpr unsigned FAILURES_MAX = 5; /* k; [ours] */
/* Joins and leaves by a momentary RTT would be three times as many (README.md). 0.005: Widmer and
 * Handley, "Extending equation-based congestion control to multicast applications", 2001; from
 * memory. */
constexpr double ONE_WAY_GAIN = 0.005;

} // namespace

SmccReceiver::SmccReceiver (const Config &config, MccTime now)
    : m_config (config),
      m_tfmcc ({ config.id, config.packet_bytes, config.seed, false, 6, ONE_WAY_GAIN }, now),
      m_layers (SmccLayers (config.base_bps, config.max_bps)), m_next (m_layers),
      m_next_bcl (SmccBcls (m_layers))
{
  Push (Action::JOIN_LAYER, 0);
}

void
SmccReceiver::Push (Action action, unsigned number)
{
  m_actions.push_back ({ action, number });
}

/* Packets missing before @seq; the first one joins in anywhere. */
std::uint32_t
SmccReceiver::Gap (
    std::vector<std::optional<std::uint32_t>> &expected, unsigned number, std::uint32_t seq)
{
  std::optional<std::uint32_t> &next = expected[number];
  std::uint32_t gap = 0;
  if (next && static_cast<std::int32_t> (seq - *next) >= 0)
    gap = seq - *next;
  next = seq + 1;
  return gap;
}

/* One loss history over all that is taken: in the order of arrival, gaps of each layer in place. */
void
SmccReceiver::Feed (
    const SmccData &data, std::uint32_t lost, std::uint32_t ip_bytes, bool ce, MccTime now)
{
  TfmccData merged = m_top ? *m_top : data.tfmcc;
  bool top = data.tfmcc.reserved == m_layer;
  if (top) {
    merged = data.tfmcc;
    m_top = merged;
  } else {
    merged.timestamp_us = data.tfmcc.timestamp_us;
    merged.echo_receiver = TFMCC_NOBODY;
    merged.is_clr = 0;
  }
  if (merged.max_rtt_us == 0)
    return; /* a BCL before anything else */
  m_seq += lost;
  merged.seq = m_seq++;
  m_tfmcc.HandleData (merged, ip_bytes, ce, now);
}

void
SmccReceiver::HandleData (const SmccData &data, std::uint32_t ip_bytes, bool ce, MccTime now)
{
  unsigned number = data.tfmcc.reserved;
  std::uint32_t lost;
  if (number >= SMCC_BCL) {
    number -= SMCC_BCL;
    if (!m_attempt || number >= m_attempt->joined)
      return;
    lost = Gap (m_next_bcl, number, data.tfmcc.seq);
  } else {
    if (number > m_layer)
      return;
    lost = Gap (m_next, number, data.tfmcc.seq);
    m_lost += lost;
    if (number == m_layer) {
      m_next_bps = data.next_bps;
      m_t = data.t_us * MCC_USECOND;
    }
  }
  Feed (data, lost, ip_bytes, ce, now);
  if (m_attempt && (lost > 0 || ce))
    EndAttempt (false, now);
  Take (now);
  Decide (now);
}

/* Reports are about the layer they were made in. */
void
SmccReceiver::Take (MccTime)
{
  SmccReport report;
  while (m_tfmcc.Poll (&report)) {
    report.reserved = static_cast<std::uint8_t> (m_layer);
    m_reports.push_back (report);
  }
}

void
SmccReceiver::MoveTo (unsigned layer, MccTime now)
{
  bool down = layer < m_layer;
  if (down) {
    m_tfmcc.Leave (now);
    Take (now);
    Push (Action::LEAVE_LAYER, m_layer);
  } else {
    m_next[layer].reset ();
    Push (Action::JOIN_LAYER, layer);
  }
  m_layer = layer;
  m_top.reset ();
  m_next_bps = 0;
  m_tfmcc.NewSession ();
}

void
SmccReceiver::Decide (MccTime now)
{
  double rate = RateBps (now);
  if (rate <= 0)
    return;
  if (m_layer > 0 && m_tfmcc.IsClr () && rate < SmccCumulative (m_config.base_bps, m_layer - 1)) {
    if (m_attempt)
      EndAttempt (false, now);
    MoveTo (m_layer - 1, now);
    return;
  }
  if (!m_attempt && now >= m_wait && m_top && m_layer + 1 < m_layers
      && rate > SmccCumulative (m_config.base_bps, m_layer))
    BeginAttempt (now);
  Count (now);
}

void
SmccReceiver::BeginAttempt (MccTime now)
{
  m_attempt = Attempt{ now, m_t, 0 };
}

/* BCL_j from 2^j t on; the last one stays as long as it took to come to it. */
void
SmccReceiver::Count (MccTime now)
{
  while (m_attempt) {
    Attempt &attempt = *m_attempt;
    if (now < attempt.begun + (attempt.step << attempt.joined))
      return;
    double packets = static_cast<double> ((1u << attempt.joined) - 1); /* per RTT, so far */
    double seconds = mcc_time_to_seconds (attempt.step);
    bool there = packets * 8 * m_config.packet_bytes / seconds >= m_next_bps;
    if (attempt.joined > 0 && (there || attempt.joined > m_layer)) {
      EndAttempt (true, now);
      return;
    }
    m_next_bcl[attempt.joined].reset ();
    Push (Action::JOIN_BCL, attempt.joined++);
  }
}

void
SmccReceiver::EndAttempt (bool success, MccTime now)
{
  for (unsigned j = 0; j < m_attempt->joined; j++)
    Push (Action::LEAVE_BCL, j);
  m_attempt.reset ();
  if (success) {
    m_failures = 0;
    MoveTo (m_layer + 1, now);
    return;
  }
  m_failures = std::min (m_failures + 1, FAILURES_MAX);
  m_wait = now + (MCC_SECOND << m_failures);
  Push (Action::ATTEMPT_FAILED, m_layer + 1);
}

void
SmccReceiver::HandleTimeout (MccTime now)
{
  m_tfmcc.HandleTimeout (now);
  Take (now);
  Count (now);
}

MccTime
SmccReceiver::NextTimeout () const
{
  MccTime next = m_tfmcc.NextTimeout ();
  if (m_attempt)
    next = std::min (next, m_attempt->begun + (m_attempt->step << m_attempt->joined));
  return next;
}

bool
SmccReceiver::PollReport (SmccReport *out)
{
  if (m_reports.empty ())
    return false;
  *out = m_reports.front ();
  m_reports.erase (m_reports.begin ());
  return true;
}

SmccReceiver::Action
SmccReceiver::PollAction (unsigned *number)
{
  if (m_actions.empty ())
    return Action::NONE;
  Queued first = m_actions.front ();
  m_actions.erase (m_actions.begin ());
  *number = first.number;
  return first.action;
}

void
SmccReceiver::Leave (MccTime now)
{
  m_tfmcc.Leave (now);
  Take (now);
}

} // namespace sim

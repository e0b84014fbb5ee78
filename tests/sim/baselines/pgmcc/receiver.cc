/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "receiver.h"

#include <algorithm>

namespace sim::pgmcc
{

void
Receiver::Count (bool lost)
{
  m_loss_ratio += LOSS_GAIN * ((lost ? 1.0 : 0.0) - m_loss_ratio);
}

void
Receiver::Lose (std::uint64_t seq)
{
  Count (true);
  m_to_nak.push_back (seq);
}

void
Receiver::Restart (const Data &data)
{
  m_newest = data.seq;
  m_map = UINT32_MAX;
  m_missing.clear ();
  m_to_nak.clear ();
}

/* A packet newer than all so far. */
void
Receiver::Advance (std::uint64_t seq)
{
  std::uint64_t step = seq - m_newest;

  m_map = step < MAP_BITS ? m_map << step : 0;
  for (std::uint64_t missing = m_newest + 1; missing < seq; missing++)
    m_missing.push_back ({ missing, 0 });
  m_newest = seq;
}

void
Receiver::HandleData (const Data &data, bool ce, MccTime now)
{
  std::uint64_t age;

  if (m_newest == 0 || data.seq > m_newest + GAP_MAX)
    Restart (data);
  else if (data.seq > m_newest)
    Advance (data.seq);
  else if (age = m_newest - data.seq; age >= MAP_BITS || m_map >> age & 1)
    return; /* too late, or a duplicate */
  age = m_newest - data.seq;
  if (age == 0) {
    m_is_acker = data.acker == m_config.id;
    m_dummy = data.acker == NOBODY;
    m_stamp = data.stamp;
    m_arrival = now;
  }

  /* What comes late was not lost, unless it was given up before. */
  auto late = std::find_if (m_missing.begin (), m_missing.end (),
      [&data] (const Missing &missing) { return missing.seq == data.seq; });
  bool counted = age != 0 && late == m_missing.end ();
  if (late != m_missing.end ())
    m_missing.erase (late);
  for (Missing &missing : m_missing)
    if (missing.seq < data.seq)
      missing.later++;
  while (!m_missing.empty () && m_missing.front ().later >= LATER_ACKS) {
    Lose (m_missing.front ().seq);
    m_lost++;
    m_missing.pop_front ();
  }
  if (ce && !counted) {
    m_map &= ~(UINT32_C (1) << age);
    Lose (data.seq);
  } else {
    m_map |= UINT32_C (1) << age;
    if (!counted)
      Count (false);
  }

  if (m_is_acker)
    m_to_nak.clear ();
  if (data.acker == m_config.id)
    m_out.push_back (Report (Kind::ACK, now));
  ScheduleNak (now);
}

void
Receiver::ScheduleNak (MccTime now)
{
  if (!m_dummy && m_to_nak.empty ())
    m_nak_at = MCC_TIME_NONE;
  else if (m_nak_at == MCC_TIME_NONE)
    m_nak_at = now
               + static_cast<MccTime> (
                   mcc_rng_uniform (&m_rng) * static_cast<double> (m_config.nak_backoff));
}

void
Receiver::HandleNak (const Feedback &nak)
{
  m_dummy = false; /* somebody will be acker */
  m_to_nak.erase (std::remove_if (m_to_nak.begin (), m_to_nak.end (),
                      [&nak] (std::uint64_t seq) {
                        return nak.nak_base > 0 && seq >= nak.nak_base
                               && seq - nak.nak_base < MAP_BITS
                               && nak.map >> (seq - nak.nak_base) & 1;
                      }),
      m_to_nak.end ());
  if (m_to_nak.empty ())
    m_nak_at = MCC_TIME_NONE;
}

Feedback
Receiver::Report (Kind kind, MccTime now) const
{
  Feedback report = {};

  report.kind = kind;
  report.from = m_config.id;
  report.loss_ratio = m_loss_ratio;
  report.echo = m_stamp + (now - m_arrival);
  report.echo_seq = m_newest;
  if (kind == Kind::ACK)
    report.map = m_map;
  return report;
}

void
Receiver::HandleTimeout (MccTime now)
{
  if (now < m_nak_at)
    return;
  Feedback nak = Report (Kind::NAK, now);

  if (!m_to_nak.empty ())
    nak.nak_base = *std::min_element (m_to_nak.begin (), m_to_nak.end ());
  while (!m_to_nak.empty ()) {
    std::uint64_t offset = m_to_nak.front () - nak.nak_base;

    /* What does not fit was lost in the same burst: one NAK tells of it. */
    if (offset < MAP_BITS)
      nak.map |= UINT32_C (1) << offset;
    m_to_nak.pop_front ();
  }
  m_dummy = false;
  m_nak_at = MCC_TIME_NONE;
  m_out.push_back (nak);
}

void
Receiver::HandleLeave (MccTime now)
{
  m_to_nak.clear ();
  m_dummy = false;
  m_nak_at = MCC_TIME_NONE;
  if (!m_is_acker)
    return;
  Feedback goodbye = Report (Kind::ACK, now);

  goodbye.leaving = true;
  m_out.push_back (goodbye);
  m_is_acker = false;
}

bool
Receiver::Poll (Feedback *out)
{
  if (m_out.empty ())
    return false;
  *out = m_out.front ();
  m_out.pop_front ();
  return true;
}

} // namespace sim::pgmcc

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tfmcc.h"

#include <algorithm>
#include <cmath>

namespace sim
{
namespace
{

constexpr MccTime MAX_RTT_START = 500 * MCC_MSECOND; /* 3.2: >= 500 ms */
constexpr MccTime GRANULARITY = 1 * MCC_MSECOND;     /* 3.2: the clock's; [ours] */
constexpr double MAX_RTT_DECAY = 0.9;                /* 3.2 */
constexpr double SUPPRESSION = 0.1;                  /* g, 3.4 */
constexpr unsigned CLR_LATE_RTTS = 4;                /* 3.3: X / 2 */
constexpr unsigned CLR_GONE_RTTS = 10;               /* 3.3 */
constexpr unsigned SILENCE_RTTS = 10;                /* 3.3: X / 2 */
constexpr double FLOOR_INTERVAL = 8;                 /* 3.3: at least one packet in 8 s */
constexpr unsigned ECHO_ROUNDS = 4; /* an echo that waited longer is dropped; [ours] */

std::uint32_t
Microseconds (MccTime time)
{
  return static_cast<std::uint32_t> (time / MCC_USECOND);
}

} // namespace

TfmccSender::TfmccSender (const Config &config, MccTime now)
    : m_config (config), m_ramp_start (now), m_last_rise (now), m_last_report (now),
      m_last_halving (now), m_max_rtt (config.max_rtt > 0 ? config.max_rtt : MAX_RTT_START),
      m_round_start (now), m_now (now)
{
  if (m_config.max_bps <= 0)
    m_config.max_bps = TFMCC_RATE_MAX;
  m_rate = m_config.start_bps;
  if (m_rate <= 0)
    m_rate = PacketBits () / mcc_time_to_seconds (MAX_RTT_START); /* 3.1 */
  m_rate = std::clamp (m_rate, FloorBps (), m_config.max_bps);
  m_ramp_to = m_rate;
  StartRound (now);
}

void
TfmccSender::Restart (MccTime now)
{
  std::uint32_t seq = m_seq;
  std::uint16_t round = m_round;

  *this = TfmccSender (m_config, now);
  m_seq = seq;
  m_round = static_cast<std::uint16_t> (round + 1);
}

double
TfmccSender::PacketBits () const
{
  return 8.0 * m_config.packet_bytes;
}

double
TfmccSender::FloorBps () const
{
  return std::max (PacketBits () / FLOOR_INTERVAL, m_config.min_bps);
}

MccTime
TfmccSender::Interval (double rate) const
{
  return mcc_time_from_seconds (PacketBits () / rate);
}

/* 3.2: never below 8s / X + granularity. */
MccTime
TfmccSender::MaxRtt () const
{
  return std::max (m_max_rtt, Interval (m_rate) + GRANULARITY);
}

void
TfmccSender::SetRate (double rate, MccTime now)
{
  m_rate = std::clamp (rate, FloorBps (), m_config.max_bps);
  m_ramp_to = m_rate;
  m_last_rise = now;
}

/* Slow start: X is on its way to the target (3.6). */
void
TfmccSender::MoveRate (MccTime now)
{
  if (m_rate >= m_ramp_to)
    return;
  double part = static_cast<double> (now - m_ramp_start) / static_cast<double> (m_ramp_length);
  m_rate = part >= 1 ? m_ramp_to : m_ramp_from + (m_ramp_to - m_ramp_from) * part;
}

/* 3.4 */
void
TfmccSender::StartRound (MccTime now)
{
  m_rounds++;
  m_round++;
  m_round_start = now;
  m_round_length = mcc_time_from_seconds (m_config.round_rtts * mcc_time_to_seconds (MaxRtt ()));
  m_round_heard = false;
  m_suppress = TFMCC_RATE_MAX;
  m_peak_rtt = 0;
}

/* 3.4: a round ends after T when non-CLR feedback has come, else with the first, at the latest
 * after 2 T. 3.2: then R_max falls by 10 %, or to the round's highest RTT. */
void
TfmccSender::CheckRound (MccTime now)
{
  MccTime end = m_round_start + m_round_length * (m_round_heard ? 1 : 2);

  if (now < end)
    return;
  if (m_peak_rtt > 0) {
    auto decayed = static_cast<MccTime> (MAX_RTT_DECAY * static_cast<double> (m_max_rtt));
    m_max_rtt = std::max (decayed, m_peak_rtt);
  }
  StartRound (now);
}

/* 3.3: time-outs. */
void
TfmccSender::CheckSilence (MccTime now)
{
  MccTime rtt = MaxRtt ();

  if (m_clr != TFMCC_NOBODY) {
    if (now - m_clr_report >= CLR_GONE_RTTS * rtt)
      LoseClr (now);
    else if (now - m_clr_since >= CLR_GONE_RTTS * rtt
             && now - std::max (m_clr_report, m_last_halving) >= CLR_LATE_RTTS * rtt) {
      m_last_halving = now;
      SetRate (m_rate / 2, now);
    }
  }
  if (now - std::max (m_last_report, m_last_halving) >= SILENCE_RTTS * rtt) {
    m_last_halving = now;
    SetRate (m_rate / 2, now);
  }
}

void
TfmccSender::HandleTimeout (MccTime now)
{
  m_now = now;
  MoveRate (now);
  CheckRound (now);
  CheckSilence (now);
}

MccTime
TfmccSender::NextTimeout () const
{
  MccTime rtt = MaxRtt ();
  MccTime next = m_last_send ? *m_last_send + Interval (m_rate) : m_now;

  /* On a ramp the packet may be due earlier than at today's rate. */
  if (m_last_send && m_ramp_to > m_rate) {
    MccTime early = *m_last_send + Interval (m_ramp_to);
    if (early > m_now)
      next = std::min (next, early);
  }
  next = std::min (next, m_round_start + m_round_length * (m_round_heard ? 1 : 2));
  next = std::min (next, std::max (m_last_report, m_last_halving) + SILENCE_RTTS * rtt);
  if (m_clr != TFMCC_NOBODY) {
    next = std::min (next, m_clr_report + CLR_GONE_RTTS * rtt);
    next = std::min (next, std::max (m_clr_since + CLR_GONE_RTTS * rtt,
                               std::max (m_clr_report, m_last_halving) + CLR_LATE_RTTS * rtt));
  }
  return next;
}

void
TfmccSender::UpdateMaxRtt (MccTime sample)
{
  m_peak_rtt = std::max (m_peak_rtt, sample);
  m_max_rtt = std::max (m_max_rtt, sample); /* 3.2: at once */
}

void
TfmccSender::MakeClr (std::uint32_t receiver, MccTime now)
{
  if (m_clr == receiver)
    return;
  m_clr = receiver;
  m_clr_since = now;
  m_clr_echo.reset ();
}

/* 3.3: the next to report is CLR, without a rise for one round. A round starts at once, so that
 * everybody who was suppressed may speak [ours]. */
void
TfmccSender::LoseClr (MccTime now)
{
  m_clr = TFMCC_NOBODY;
  m_clr_echo.reset ();
  m_ramp_to = m_rate;
  StartRound (now);
  m_no_rise_round = m_rounds;
}

void
TfmccSender::HandleReport (const TfmccReport &report, std::uint32_t stated_bps, MccTime now)
{
  m_now = now;
  MoveRate (now);
  m_last_report = now;
  if (report.flags & TFMCC_LEAVE) {
    m_echoes.remove_if ([&] (const Echo &echo) { return echo.receiver == report.receiver; });
    if (m_clr == report.receiver)
      LoseClr (now);
    return;
  }

  /* 3.3: R_r, the sender's sample. */
  auto us = static_cast<std::int32_t> (Microseconds (now) - report.echo_us);
  MccTime sample = static_cast<MccTime> (std::max (us, 1)) * MCC_USECOND;
  UpdateMaxRtt (sample);

  /* 3.3: it calculated with R_max, having no RTT of its own. */
  double rate = report.rate_bps;
  if ((report.flags & TFMCC_HAVE_LOSS) && !(report.flags & TFMCC_HAVE_RTT))
    rate *= static_cast<double> (MaxRtt ()) / static_cast<double> (sample);

  bool was_clr = report.receiver == m_clr;
  LimitTo (report, rate, sample, now);
  if (report.receiver == m_clr)
    m_clr_report = now;
  Queue (report, rate, !was_clr && report.receiver == m_clr, now);

  /* 3.4; the CLR's neither suppresses nor counts (4.5). X_supp is of this round's X_r as they are,
   * not corrected to the RTT: receivers without one compare theirs as they are, too. */
  if (!was_clr) {
    m_round_heard = true;
    if (report.round == m_round && stated_bps < m_suppress)
      m_suppress = (1 - SUPPRESSION) * stated_bps;
    CheckRound (now);
  }
}

/* 3.3 (1)-(4), 3.6 */
void
TfmccSender::LimitTo (const TfmccReport &report, double rate, MccTime rtt, MccTime now)
{
  if (m_slow_start && (report.flags & TFMCC_HAVE_LOSS)) {
    m_slow_start = false;
    MakeClr (report.receiver, now);
    SetRate (std::min (rate, m_rate), now);
    return;
  }
  /* (2); in slow start against the target, so that it is the lowest of all. */
  bool limits = rate < (m_slow_start ? m_ramp_to : m_rate);

  if (m_clr != TFMCC_NOBODY && m_clr != report.receiver && !limits)
    return;
  MakeClr (report.receiver, now);
  if (rate <= m_rate)
    SetRate (rate, now);
  else if (m_slow_start)
    SlowStartTo (rate, rtt, now);
  else
    RiseTo (rate, now);
}

/* 3.6: to the lowest X_r over one RTT, that to the receiver whose X_r it is. */
void
TfmccSender::SlowStartTo (double rate, MccTime rtt, MccTime now)
{
  if (m_no_rise_round && m_rounds <= *m_no_rise_round)
    return;
  m_ramp_from = m_rate;
  m_ramp_to = std::min (rate, m_config.max_bps);
  m_ramp_start = now;
  m_ramp_length = rtt;
  m_last_rise = now;
}

/* 3.3 (1), (4): by at most one packet per R_max, in each R_max or with each report of the CLR. */
void
TfmccSender::RiseTo (double rate, MccTime now)
{
  MccTime since = now - m_last_rise;

  if (m_no_rise_round && m_rounds <= *m_no_rise_round)
    return;
  double rtt = mcc_time_to_seconds (MaxRtt ());
  double part = m_config.rise_per_report ? 1.0 : std::min (1.0, mcc_time_to_seconds (since) / rtt);
  SetRate (std::min (rate, m_rate + part * PacketBits () / rtt), now);
}

/* 3.5: a new CLR, or the CLR without RTT; receivers without RTT, the oldest round first; others;
 * the CLR. */
void
TfmccSender::Queue (const TfmccReport &report, double rate, bool new_clr, MccTime now)
{
  bool have_rtt = report.flags & TFMCC_HAVE_RTT;
  bool is_clr = report.receiver == m_clr;
  Echo echo = { report.receiver, report.timestamp_us, now, rate, m_rounds, 2 };

  for (auto at = m_echoes.begin (); at != m_echoes.end (); ++at)
    if (at->receiver == report.receiver) {
      if (!have_rtt)
        echo.round = at->round; /* its turn stays */
      m_echoes.erase (at);
      break;
    }
  if (new_clr || (is_clr && !have_rtt))
    echo.priority = 0;
  else if (!have_rtt)
    echo.priority = 1;
  else if (is_clr)
    echo.priority = 3;
  if (is_clr)
    m_clr_echo = echo;
  m_echoes.push_back (echo);
}

void
TfmccSender::FillEcho (TfmccData *out, MccTime now)
{
  m_echoes.remove_if ([&] (const Echo &echo) { return echo.round + ECHO_ROUNDS < m_rounds; });
  auto before = [] (const Echo &a, const Echo &b) {
    if (a.priority != b.priority)
      return a.priority < b.priority;
    if (a.priority == 1 && a.round != b.round)
      return a.round < b.round;
    return a.rate < b.rate; /* ties */
  };
  auto best = std::min_element (m_echoes.begin (), m_echoes.end (), before);
  std::optional<Echo> echo = m_clr_echo;

  if (best != m_echoes.end ()) {
    echo = *best;
    m_echoes.erase (best);
  }
  out->echo_receiver = echo ? echo->receiver : TFMCC_NOBODY;
  out->echo_us = echo ? echo->timestamp_us + Microseconds (now - echo->arrival) : 0;
  out->is_clr = echo && echo->receiver == m_clr;
}

bool
TfmccSender::Poll (MccTime now, TfmccData *out)
{
  m_now = now;
  MoveRate (now);
  if (m_last_send && now < *m_last_send + Interval (m_rate))
    return false;
  /* A caller on time keeps the spacing exact; a late one does not catch up. */
  m_last_send = now;
  *out = {};
  out->seq = m_seq++;
  out->timestamp_us = Microseconds (now);
  out->suppress_bps
      = m_suppress >= TFMCC_RATE_MAX ? TFMCC_RATE_MAX : static_cast<std::uint32_t> (m_suppress);
  out->max_rtt_us = Microseconds (MaxRtt ());
  out->round = m_round;
  FillEcho (out, now);
  return true;
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tfmcc.h"

#include <algorithm>
#include <cmath>

#include "tfrc/equation.h"

namespace sim
{
namespace
{

constexpr double N = 10000;           /* upper bound of the group's size, 4.5 */
constexpr double SMOOTH_CLR = 0.9;    /* q, 4.3 */
constexpr double SMOOTH = 0.5;        /* q of the others, 4.3 */
constexpr double RECEIVE_RTTS = 3;    /* X_recv over 2 to 4 RTT, 4.3.4, 3.6 */
constexpr double SLOW_START_GAIN = 2; /* X_r = 2 X_recv, 3.6 */
constexpr double DISCOUNT_MIN = 0.5;  /* 5.5 */
constexpr double PAUSE_RTTS = 10;     /* have_loss is cleared, 4.3.1 */
constexpr double RTT_MIN = 1e-6;      /* s: the timestamps' resolution */

std::uint32_t
Microseconds (MccTime time)
{
  return static_cast<std::uint32_t> (time / MCC_USECOND);
}

/* Of a difference modulo 2^32 us. */
double
Seconds (std::uint32_t us)
{
  return static_cast<std::int32_t> (us) * 1e-6;
}

} // namespace

TfmccReceiver::TfmccReceiver (const Config &config, MccTime)
    : m_config (config), m_history (config.discounting ? DISCOUNT_MIN : 1)
{
  mcc_rng_init (&m_rng, config.seed);
}

double
TfmccReceiver::Rtt () const
{
  if (!m_have_rtt)
    return m_max_rtt; /* 4.1 */
  return m_adjusted_rtt.value_or (m_rtt);
}

/* 4.3.4, 4.4: 2 X_recv before the first loss, and before the first one after a pause; else the
 * equation's (2.1). */
double
TfmccReceiver::RateBps (MccTime now) const
{
  if (m_have_loss)
    return TfrcRate (m_config.packet_bytes, Rtt (), m_history.LossEventRate ());
  return SLOW_START_GAIN * m_meter.Between (mcc_time_from_seconds (RECEIVE_RTTS * Rtt ()), now);
}

/* 4.3.2, 4.3.3: R' stands for R until the next sample, and leaves no trace in R. */
void
TfmccReceiver::UpdateRtt (const TfmccData &data, MccTime now)
{
  std::uint32_t now_us = Microseconds (now);

  if (data.echo_receiver == m_config.id && (m_sample_due || m_config.sample_each)) {
    double sample = std::max (Seconds (now_us - data.echo_us), RTT_MIN);
    double q = m_is_clr ? SMOOTH_CLR : SMOOTH;

    m_sample_due = false;
    if (!m_have_rtt) {
      /* 5.6: the first interval was calculated with the R_max of then: the report that brought this
       * sample may have raised it since. */
      m_history.ScaleFirstInterval (std::pow (sample / m_first_rtt, 2));
      m_rtt = sample;
    } else {
      m_rtt = q * m_rtt + (1 - q) * sample;
    }
    m_have_rtt = true;
    m_adjusted_rtt.reset ();
    /* The way back, plus the clocks' difference: R' - (now - ts_i). The printed D_r = tr_r' - ts_i
     * has the other sign. */
    m_delay_offset = data.timestamp_us - data.echo_us;
  } else if (m_have_rtt) {
    /* R' = D_r + now - ts_j */
    double adjusted = std::max (Seconds (m_delay_offset + now_us - data.timestamp_us), RTT_MIN);
    if (m_config.one_way_gain < 1)
      m_rtt += m_config.one_way_gain * (adjusted - m_rtt);
    else
      m_adjusted_rtt = adjusted;
  }
}

/* 4.5: t = max (T (1 + ln x / ln N), 0), x uniform in (0, 1]. */
void
TfmccReceiver::StartRound (const TfmccData &data, MccTime now)
{
  m_in_round = true;
  m_round = data.round;
  m_round_rate = RateBps (now);
  m_timer = MCC_TIME_NONE;
  if (m_is_clr)
    return;
  double x = 1 - mcc_rng_uniform (&m_rng);
  double period = m_config.round_rtts * m_max_rtt;
  double wait = std::max (period * (1 + std::log (x) / std::log (N)), 0.0);
  m_timer = m_report_first ? now : now + mcc_time_from_seconds (wait);
  m_report_first = false;
}

/* 4.5: X_supp is below the own rate, now or as the round began, and R_max covers the own RTT. */
bool
TfmccReceiver::Suppressed (MccTime now) const
{
  double rate = std::max (RateBps (now), m_round_rate);

  return m_suppress < rate && m_max_rtt >= Rtt ();
}

/* 4.3.1, after 10 RTT without data. How much is received begins anew, too; the loss intervals stay
 * for when there is a loss again [ours]. */
void
TfmccReceiver::Resume ()
{
  m_have_loss = m_is_clr = m_in_round = false;
  m_clr = TFMCC_NOBODY;
  m_timer = MCC_TIME_NONE;
  m_meter = {};
}

void
TfmccReceiver::HandleData (const TfmccData &data, std::uint32_t ip_bytes, bool ce, MccTime now)
{
  /* In R_max: a packet per R_max is no row of pauses, and by then the sender has no CLR. */
  if (m_any && mcc_time_to_seconds (now - m_last_arrival) > PAUSE_RTTS * m_max_rtt)
    Resume ();
  m_any = true;
  m_max_rtt = std::max (data.max_rtt_us * 1e-6, RTT_MIN);
  m_last_timestamp = data.timestamp_us;
  m_last_arrival = now;
  m_suppress = data.suppress_bps;
  if (data.is_clr) {
    if (!m_is_clr && data.echo_receiver == m_config.id) {
      m_timer = MCC_TIME_NONE;
      m_next_report = now;
    }
    m_clr = data.echo_receiver;
    m_is_clr = m_clr == m_config.id;
  }
  UpdateRtt (data, now);

  MccTime rtt = mcc_time_from_seconds (Rtt ());
  m_meter.Add (ip_bytes, now, mcc_time_from_seconds (2 * RECEIVE_RTTS * Rtt ()));
  bool first = m_history.Events () == 0;
  if (m_history.HandlePacket (data.seq, ce, now, rtt)) {
    m_have_loss = true;
    if (first) { /* a gap may be several events */
      /* 5.6: l_0 = (X_recv R / (sqrt (3/2) 8 s))^2, X_recv of the last RTT */
      double packets
          = m_meter.Between (rtt, now) * Rtt () / (std::sqrt (1.5) * 8 * m_config.packet_bytes);
      m_history.SetFirstInterval (packets * packets);
      m_first_rtt = Rtt ();
    }
  }

  /* With one packet it has no rate to report, nor to compare [ours]. */
  m_fresh = RateBps (now) > 0;
  if (m_fresh && (!m_in_round || data.round != m_round))
    StartRound (data, now);
  if (m_timer != MCC_TIME_NONE && Suppressed (now))
    m_timer = MCC_TIME_NONE;
  HandleTimeout (now);
}

void
TfmccReceiver::HandleOverheard (const TfmccReport &report, MccTime now)
{
  if (report.round == m_round && report.receiver != m_clr && !(report.flags & TFMCC_LEAVE)
      && report.rate_bps < RateBps (now) && m_max_rtt >= Rtt ())
    m_timer = MCC_TIME_NONE;
}

MccTime
TfmccReceiver::NextTimeout () const
{
  if (m_is_clr)
    return m_fresh ? m_next_report : MCC_TIME_NONE;
  return m_timer;
}

void
TfmccReceiver::HandleTimeout (MccTime now)
{
  if (NextTimeout () == MCC_TIME_NONE || now < NextTimeout ())
    return;
  m_timer = MCC_TIME_NONE;
  if (m_is_clr) /* 4.5: once per RTT */
    m_next_report = now + mcc_time_from_seconds (Rtt ());
  Report (0, now);
}

/* 2.2.2 */
void
TfmccReceiver::Report (std::uint8_t flags, MccTime now)
{
  TfmccReport report = {};

  if (m_have_rtt)
    flags |= TFMCC_HAVE_RTT;
  if (m_have_loss)
    flags |= TFMCC_HAVE_LOSS;
  report.receiver = m_config.id;
  report.timestamp_us = Microseconds (now);
  report.echo_us = m_last_timestamp + Microseconds (now - m_last_arrival);
  report.rate_bps = static_cast<std::uint32_t> (std::clamp (RateBps (now), 1.0, 4e9));
  report.round = m_round;
  report.flags = flags;
  m_out.push_back (report);
  m_fresh = false;
  m_sample_due = true;
}

bool
TfmccReceiver::Poll (TfmccReport *out)
{
  if (m_out.empty ())
    return false;
  *out = m_out.front ();
  m_out.pop_front ();
  return true;
}

void
TfmccReceiver::NewSession ()
{
  m_clr = TFMCC_NOBODY;
  m_is_clr = m_fresh = m_in_round = m_sample_due = false;
  m_suppress = TFMCC_RATE_MAX;
  m_timer = MCC_TIME_NONE;
  m_report_first = true;
}

void
TfmccReceiver::Leave (MccTime now)
{
  m_timer = MCC_TIME_NONE;
  m_out.clear ();
  if (m_is_clr && m_any)
    Report (TFMCC_LEAVE, now);
}

} // namespace sim

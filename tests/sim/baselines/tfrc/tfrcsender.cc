/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tfrc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "equation.h"

namespace sim
{
namespace
{

constexpr double RTT_SMOOTH = 0.9;              /* q, 4.3 (2) */
constexpr double SQMEAN_SMOOTH = 0.9;           /* q2, 4.5 */
constexpr double MAX_BACKOFF = 64;              /* t_mbi, s, 4.3 */
constexpr double INITIAL_WINDOW = 4380;         /* bytes, 4.2 */
constexpr double RECEIVE_GAIN = 2;              /* recv_limit / X_recv, 4.3 (4) */
constexpr double LIMITED_LOSS = 0.85;           /* of X_recv, application-limited, 4.3 (4) */
constexpr double RECEIVE_RTTS = 2;              /* X_recv_set remembers, 4.3 */
constexpr MccTime TIMER_START = 2 * MCC_SECOND; /* 4.2 */
constexpr double TIMER_RTTS = 4;                /* RTO = max (4 R, 2 s / X), 4.3 (3) */
constexpr double TIMER_PACKETS = 2;
constexpr double INFINITE = std::numeric_limits<double>::infinity ();

std::uint32_t
Microseconds (MccTime time)
{
  return static_cast<std::uint32_t> (time / MCC_USECOND);
}

} // namespace

TfrcSender::TfrcSender (const Config &config, MccTime now)
    : m_config (config), m_rate (8.0 * config.packet_bytes), /* 4.2: one packet a second */
      m_timer (now + TIMER_START), m_now (now)
{
  if (m_config.max_bps <= 0)
    m_config.max_bps = INFINITE;
  m_received.push_back ({ now, INFINITE }); /* 4.2 */
}

double
TfrcSender::RateBps () const
{
  double rate = m_rate;

  /* 4.5: X_inst = X R_sqmean / sqrt (R_sample) */
  if (m_config.reduce_oscillations && m_rtt_sample > 0)
    rate *= m_rtt_sqmean / std::sqrt (m_rtt_sample);
  return std::clamp (rate, std::max (m_config.min_bps, FloorBps ()), m_config.max_bps);
}

double
TfrcSender::FloorBps () const
{
  return 8.0 * m_config.packet_bytes / MAX_BACKOFF;
}

/* max (X_recv_set) */
double
TfrcSender::MaxReceived () const
{
  double most = 0;

  for (const Received &received : m_received)
    most = std::max (most, received.rate);
  return most;
}

/* 4.3, "Maximize X_recv_set": without the initial infinity, one value. */
void
TfrcSender::MaximizeReceived (double rate, MccTime now)
{
  for (const Received &received : m_received)
    if (received.rate < INFINITE)
      rate = std::max (rate, received.rate);
  m_received.assign (1, { now, rate });
}

/* 4.3, "Update X_recv_set": without what is older than two RTT. */
void
TfrcSender::AddReceived (double rate, MccTime now)
{
  MccTime memory = mcc_time_from_seconds (RECEIVE_RTTS * m_rtt);

  m_received.push_back ({ now, rate });
  while (m_received.front ().time + memory < now)
    m_received.pop_front ();
}

/* 4.3 (2); 4.5 */
void
TfrcSender::UpdateRtt (double sample, MccTime now)
{
  m_rtt_sample = sample;
  if (m_rtt > 0) {
    m_rtt = RTT_SMOOTH * m_rtt + (1 - RTT_SMOOTH) * sample;
    m_rtt_sqmean = SQMEAN_SMOOTH * m_rtt_sqmean + (1 - SQMEAN_SMOOTH) * std::sqrt (sample);
    return;
  }
  m_rtt = sample;
  m_rtt_sqmean = std::sqrt (sample);
  /* 4.2: W_init / R, W_init = min (4 s, max (2 s, 4380)) */
  double s = m_config.packet_bytes;
  m_rate = 8 * std::min (4 * s, std::max (2 * s, INITIAL_WINDOW)) / m_rtt;
  m_last_doubled = now;
}

/* recv_limit, 4.3 (4) */
double
TfrcSender::ReceiveLimit (double rate, double loss, MccTime now)
{
  if (!m_limited) {
    AddReceived (rate, now);
    return RECEIVE_GAIN * MaxReceived ();
  }
  if (loss <= m_loss) {
    MaximizeReceived (rate, now);
    return RECEIVE_GAIN * MaxReceived ();
  }
  for (Received &received : m_received)
    received.rate /= 2;
  MaximizeReceived (LIMITED_LOSS * rate, now);
  return MaxReceived ();
}

/* 4.3 (4) */
void
TfrcSender::UpdateRate (double limit, MccTime now)
{
  if (m_loss > 0) {
    m_equation = TfrcRate (m_config.packet_bytes, m_rtt, m_loss);
    m_rate = std::max (std::min (m_equation, limit), FloorBps ());
  } else if (now - m_last_doubled >= mcc_time_from_seconds (m_rtt)) {
    double s = m_config.packet_bytes;
    double initial = 8 * std::min (4 * s, std::max (2 * s, INITIAL_WINDOW)) / m_rtt;
    m_rate = std::max (std::min (2 * m_rate, limit), initial);
    m_last_doubled = now;
  }
}

void
TfrcSender::RestartTimer (MccTime now)
{
  double packets = TIMER_PACKETS * 8 * m_config.packet_bytes / RateBps ();

  m_timer = now + mcc_time_from_seconds (std::max (TIMER_RTTS * m_rtt, packets));
}

void
TfrcSender::HandleFeedback (const TfrcFeedback &feedback, MccTime now)
{
  /* 4.3 (1): R_sample = (t_now - t_recvdata) - t_delay */
  auto us
      = static_cast<std::int32_t> (Microseconds (now) - feedback.timestamp_us - feedback.delay_us);
  double loss = feedback.loss_event_rate * 0x1p-32;
  bool first = !m_heard;

  m_now = now;
  m_heard = true;
  UpdateRtt (std::max (us, 1) * 1e-6, now);
  /* The first tells nothing of the rate: nothing was measured (6.3). */
  if (!first) {
    double limit = ReceiveLimit (feedback.receive_bps, loss, now);
    m_loss = loss;
    UpdateRate (limit, now);
  }
  m_limited = m_rate > m_config.max_bps;
  RestartTimer (now); /* 4.3 (6) */
}

/* 4.4, Update_Limits () */
void
TfrcSender::UpdateLimits (double limit, MccTime now)
{
  m_received.assign (1, { now, std::max (limit, FloorBps ()) / 2 });
  UpdateRate (RECEIVE_GAIN * MaxReceived (), now);
}

/* 4.4; this application is never idle. */
void
TfrcSender::NoFeedback (MccTime now)
{
  double received = MaxReceived ();

  if (!m_heard || m_loss <= 0)
    m_rate = std::max (m_rate / 2, FloorBps ());
  else if (m_equation > RECEIVE_GAIN * received)
    UpdateLimits (received, now);
  else
    UpdateLimits (m_equation / 2, now);
  RestartTimer (now);
}

void
TfrcSender::HandleTimeout (MccTime now)
{
  m_now = now;
  if (now >= m_timer)
    NoFeedback (now);
}

MccTime
TfrcSender::NextTimeout () const
{
  MccTime next = m_now;

  /* 4.6: t_ipi = s / X_inst */
  if (m_last_send)
    next = *m_last_send + mcc_time_from_seconds (8.0 * m_config.packet_bytes / RateBps ());
  return std::min (next, m_timer);
}

bool
TfrcSender::Poll (MccTime now, TfrcData *out)
{
  MccTime interval = mcc_time_from_seconds (8.0 * m_config.packet_bytes / RateBps ());

  m_now = now;
  if (m_last_send && now < *m_last_send + interval)
    return false;
  m_last_send = now;
  *out = {};
  out->seq = m_seq++;
  out->timestamp_us = Microseconds (now);
  if (m_rtt > 0)
    out->rtt_us = std::max (static_cast<std::uint32_t> (m_rtt * 1e6), 1u);
  return true;
}

} // namespace sim

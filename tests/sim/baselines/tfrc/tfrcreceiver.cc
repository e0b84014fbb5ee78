/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tfrc.h"

#include <algorithm>
#include <cmath>

#include "equation.h"

namespace sim
{
namespace
{

constexpr double DISCOUNT_MIN = 0.25;          /* THRESHOLD, 5.5 (RFC 3448: 0.5); from memory */
constexpr double EVENT_RTT_UNKNOWN = 0.5;      /* s; until the sender tells its R [ours] */
constexpr MccTime MEMORY_MIN = 2 * MCC_SECOND; /* of arrivals [ours] */

std::uint32_t
Microseconds (MccTime time)
{
  return static_cast<std::uint32_t> (time / MCC_USECOND);
}

} // namespace

TfrcReceiver::TfrcReceiver (const Config &config)
    : m_config (config), m_history (config.discounting ? DISCOUNT_MIN : 1)
{
}

/* 6.2: X_recv, over the last R. */
double
TfrcReceiver::Measure (MccTime now) const
{
  return m_rtt > 0 ? m_meter.Over (mcc_time_from_seconds (m_rtt), now) : 0;
}

/* 6.3.1: the p at which the equation gives X_target, the highest X_recv so far; without one,
 * s / (2 R). */
void
TfrcReceiver::Seed (MccTime now)
{
  double rtt = m_rtt > 0 ? m_rtt : EVENT_RTT_UNKNOWN;
  double target = std::max (m_max_receive, Measure (now));

  if (target <= 0)
    target = 8 * m_config.packet_bytes / (2 * rtt);
  m_history.SetFirstInterval (1 / TfrcLossEventRate (m_config.packet_bytes, rtt, target));
}

void
TfrcReceiver::HandleData (const TfrcData &data, std::uint32_t ip_bytes, bool ce, MccTime now)
{
  bool first = !m_any;
  double before = m_history.LossEventRate ();

  m_any = true;
  m_fresh = true;
  m_rtt = data.rtt_us * 1e-6;
  m_last_timestamp = data.timestamp_us;
  m_last_arrival = now;
  double rtt = m_rtt > 0 ? m_rtt : EVENT_RTT_UNKNOWN;
  m_meter.Add (ip_bytes, now, std::max (mcc_time_from_seconds (2 * rtt), MEMORY_MIN));
  m_timer = std::min (m_timer, now + mcc_time_from_seconds (rtt)); /* R may have shrunk */
  bool none = m_history.Events () == 0;
  bool event = m_history.HandlePacket (data.seq, ce, now, mcc_time_from_seconds (rtt));
  if (event && none) /* a gap may be several events */
    Seed (now);
  /* 6.3: at once on the first; 6.1: and when p rises. */
  if (first || m_rtt <= 0 || m_history.LossEventRate () > before)
    Feedback (now);
  else
    HandleTimeout (now);
}

/* 6.2: once per R, when data has come. */
void
TfrcReceiver::HandleTimeout (MccTime now)
{
  if (m_timer == MCC_TIME_NONE || now < m_timer)
    return;
  if (m_fresh)
    Feedback (now);
  else
    m_timer = now + mcc_time_from_seconds (m_rtt > 0 ? m_rtt : EVENT_RTT_UNKNOWN);
}

/* 3.2.2, 6.2 */
void
TfrcReceiver::Feedback (MccTime now)
{
  TfrcFeedback feedback = {};

  m_receive = Measure (now);
  m_max_receive = std::max (m_max_receive, m_receive);
  feedback.timestamp_us = m_last_timestamp;
  feedback.delay_us = Microseconds (now) - Microseconds (m_last_arrival);
  feedback.receive_bps = static_cast<std::uint32_t> (std::min (m_receive, 4e9));
  feedback.loss_event_rate
      = static_cast<std::uint32_t> (std::min (m_history.LossEventRate () * 0x1p32, 4294967295.0));
  m_out = feedback;
  m_fresh = false;
  m_timer = now + mcc_time_from_seconds (m_rtt > 0 ? m_rtt : EVENT_RTT_UNKNOWN);
}

bool
TfrcReceiver::Poll (TfrcFeedback *out)
{
  if (!m_out)
    return false;
  *out = *m_out;
  m_out.reset ();
  return true;
}

} // namespace sim

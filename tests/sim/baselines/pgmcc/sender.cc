/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sender.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace sim::pgmcc
{

void
Sender::Sample (double rtt)
{
  /* RFC 6298 2.2, 2.3 */
  if (m_srtt == 0.0) {
    m_srtt = rtt;
    m_rttvar = rtt / 2.0;
  } else {
    m_rttvar += (std::fabs (m_srtt - rtt) - m_rttvar) / 4.0;
    m_srtt += (rtt - m_srtt) / 8.0;
  }
  m_rto = mcc_time_clamp (mcc_time_from_seconds (m_srtt + 4.0 * m_rttvar), RTO_MIN, RTO_MAX);
}

void
Sender::Elect (std::uint32_t id, double inverse, double rtt, MccTime now)
{
  m_acker = id;
  m_inverse = inverse;
  m_srtt = 0.0;
  Sample (rtt);
  m_deadline = now + m_rto;
}

void
Sender::Depose ()
{
  m_acker = NOBODY;
  m_inverse = 0.0;
  m_srtt = 0.0;
  m_rto = RTO_INITIAL;
  m_deadline = MCC_TIME_NONE;
  m_retry = 0;
}

void
Sender::HandleFeedback (const Feedback &feedback, MccTime now)
{
  /* An echo of what was never sent. */
  if (feedback.echo_seq == 0 || feedback.echo_seq >= m_flight.Next () || feedback.echo > now)
    return;
  double rtt = std::max (mcc_time_to_seconds (now - feedback.echo), 1e-6);
  double packets = static_cast<double> (m_flight.Next () - feedback.echo_seq);
  double inverse = InverseThroughput (
      m_config.model, m_config.packet_numbers ? packets : rtt, feedback.loss_ratio);

  if (feedback.leaving) {
    if (feedback.from == m_acker) {
      Depose ();
      m_window.HandleLeave ();
    }
    return;
  }
  m_retry = 0;
  if (m_acker == NOBODY) {
    Elect (feedback.from, inverse, rtt, now);
    m_window.HandleElection ();
  } else if (feedback.from == m_acker) {
    m_inverse = inverse;
    if (feedback.kind == Kind::ACK)
      Sample (rtt);
  } else if (Replaces (inverse, m_inverse)) {
    Elect (feedback.from, inverse, rtt, now);
  }
  if (feedback.kind == Kind::ACK) {
    News news = m_flight.HandleAck (feedback.echo_seq, feedback.map);

    m_window.HandleAck (news, feedback.echo_seq, m_flight.Next ());
    if (news.acked > 0)
      m_deadline = m_flight.Empty () ? MCC_TIME_NONE : now + m_rto;
  }
}

void
Sender::HandleTimeout (MccTime now)
{
  if (now < m_deadline)
    return;
  m_deadline = MCC_TIME_NONE;
  m_window.HandleTimeout ();
  m_flight.Abandon ();
  if (m_acker == NOBODY)
    return;
  if (m_retry < RETRY_MAX) {
    m_retry++;
    m_rto = std::min (2 * m_rto, RTO_MAX);
  } else {
    Depose ();
  }
}

MccTime
Sender::NextTimeout () const
{
  if (m_window.Tokens () >= 1.0)
    return mcc_time_min (m_gate, m_deadline);
  return m_deadline;
}

bool
Sender::Poll (Data *out, MccTime now)
{
  if (m_window.Tokens () < 1.0 || now < m_gate)
    return false;
  *out = { m_flight.Next (), now, m_acker };
  m_flight.Send ();
  m_window.HandleSend ();
  m_gate = now + m_config.interval;
  if (m_deadline == MCC_TIME_NONE)
    m_deadline = now + m_rto;
  return true;
}

} // namespace sim::pgmcc

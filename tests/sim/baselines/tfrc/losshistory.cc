/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "losshistory.h"

#include <algorithm>

namespace sim
{
namespace
{

constexpr unsigned NDUPACK = 3; /* RFC 5348 5.1, RFC 4654 5.1 */
/* w_0 ... w_7: RFC 5348 5.4, RFC 4654 5.4 */
constexpr double WEIGHTS[LossHistory::INTERVALS] = { 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2 };
constexpr double DISCOUNT_ABOVE = 2; /* times I_mean: RFC 5348 5.5, RFC 4654 5.5 */

} // namespace

bool
LossHistory::HandlePacket (std::uint32_t seq, bool ce, MccTime arrival, MccTime rtt)
{
  std::uint64_t extended;

  if (!m_started) {
    m_started = true;
    extended = (UINT64_C (1) << 32) + seq;
    m_last = { extended - 1, false, arrival };
  } else {
    auto step = static_cast<std::int32_t> (seq - static_cast<std::uint32_t> (m_last.seq));
    extended = m_last.seq + static_cast<std::uint64_t> (static_cast<std::int64_t> (step));
    if (step <= 0)
      return false;
  }
  Insert ({ extended, ce, arrival });
  return Settle (rtt);
}

void
LossHistory::Insert (const Arrival &arrival)
{
  auto at = m_pending.end ();

  while (at != m_pending.begin () && std::prev (at)->seq >= arrival.seq)
    --at;
  if (at == m_pending.end () || at->seq != arrival.seq)
    m_pending.insert (at, arrival);
}

/* Moves m_last on as far as fates are known. */
bool
LossHistory::Settle (MccTime rtt)
{
  bool event = false;

  while (!m_pending.empty ()) {
    const Arrival &next = m_pending.front ();
    std::uint64_t gap = next.seq - m_last.seq;

    if (gap > 1 && m_pending.size () < NDUPACK)
      break;
    /* A repair of the order may arrive later than its successor: time stands then. */
    MccTime span = next.time > m_last.time ? next.time - m_last.time : 0;
    for (std::uint64_t i = 1; i < gap; i++) {
      /* 5.2: T_loss = T_before + (T_after - T_before) (S_loss - S_before) / (S_after - S_before) */
      double share = static_cast<double> (i) / static_cast<double> (gap);
      auto part = static_cast<MccTime> (static_cast<double> (span) * share);
      m_lost++;
      event |= HandleLoss (m_last.seq + i, m_last.time + part, rtt);
    }
    if (next.ce)
      event |= HandleLoss (next.seq, next.time, rtt);
    m_last = { next.seq, next.ce, std::max (m_last.time, next.time) };
    m_pending.pop_front ();
  }
  return event;
}

bool
LossHistory::HandleLoss (std::uint64_t seq, MccTime time, MccTime rtt)
{
  /* 5.2: still the same event when T_old + R >= T_new. */
  if (m_events > 0 && time <= m_event_time + rtt)
    return false;
  if (m_events > 0) {
    double length = static_cast<double> (seq - m_event_seq); /* 5.3 */
    double discount = Discount (length);

    /* 5.5: what this interval discounts stays discounted. */
    for (Interval &interval : m_closed)
      interval.discount *= discount;
    m_closed.push_front ({ length, 1 });
  } else {
    m_closed.push_front ({ 1, 1 });
  }
  if (m_closed.size () > INTERVALS)
    m_closed.pop_back ();
  m_event_seq = seq;
  m_event_time = time;
  m_events++;
  return true;
}

void
LossHistory::SetFirstInterval (double packets)
{
  if (m_events > 0 && m_events == m_closed.size ())
    m_closed.back ().length = std::max (packets, 1.0);
}

void
LossHistory::ScaleFirstInterval (double factor)
{
  if (m_events > 0 && m_events == m_closed.size ())
    SetFirstInterval (m_closed.back ().length * factor);
}

double
LossHistory::OpenInterval () const
{
  return static_cast<double> (m_last.seq + 1 - m_event_seq);
}

/* I_tot1 / W_tot1: without I_0 (5.4, 5.5). */
double
LossHistory::ClosedMean () const
{
  double total = 0, weights = 0;

  for (std::size_t i = 0; i < m_closed.size (); i++) {
    double weight = WEIGHTS[i] * m_closed[i].discount;
    total += weight * m_closed[i].length;
    weights += weight;
  }
  return total / weights;
}

/* DF when the newest interval, not among the closed, is @open packets (5.5). */
double
LossHistory::Discount (double open) const
{
  double above = DISCOUNT_ABOVE * ClosedMean ();

  if (m_discount_min >= 1 || open <= above)
    return 1;
  return std::max (above / open, m_discount_min);
}

double
LossHistory::LossEventRate () const
{
  if (m_events == 0)
    return 0;
  /* I_tot0 / W_tot0: with I_0, k intervals in all. */
  double total = WEIGHTS[0] * OpenInterval (), weights = WEIGHTS[0];
  double discount = Discount (OpenInterval ());
  for (std::size_t i = 1; i < m_closed.size (); i++) {
    double weight = WEIGHTS[i] * m_closed[i - 1].discount * discount;
    total += weight * m_closed[i - 1].length;
    weights += weight;
  }
  return std::min (1.0, 1 / std::max (total / weights, ClosedMean ()));
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * losshistory: the loss event rate of TFRC and TFMCC (RFC 5348 5, RFC 4654 5).
 *
 *   - a packet is lost when NDUPACK = 3 later ones have arrived (5.1); its time is interpolated
 *     between its neighbours' arrivals (5.2); a CE mark counts as a loss (RFC 5348 5.2)
 *   - losses within one RTT of a loss event's first one belong to it (5.2)
 *   - a loss interval runs from an event's first loss to before the next one's (5.3)
 *   - I_mean = max (weighted mean with the open interval I_0, without it), weights
 *     1 1 1 1 .8 .6 .4 .2, newest first; p = 1 / I_mean (5.4)
 *   - discounting (5.5): I_0 > 2 I_mean weighs the older ones by DF = max (2 I_mean / I_0, minimum)
 *
 * What stands before the first event is no interval: the caller puts in its own (RFC 5348 6.3.1,
 * RFC 4654 5.6).
 */
#pragma once

#include <cstdint>
#include <deque>

extern "C" {
#include "mcctime.h"
}

namespace sim
{

class LossHistory
{
public:
  static constexpr unsigned INTERVALS = 8; /* n, 5.4 */

  /* @discount_min: the lower bound of DF; 1 = no discounting. */
  explicit LossHistory (double discount_min) : m_discount_min (discount_min)
  {
  }

  /* True when a new loss event began. Duplicates change nothing. */
  bool HandlePacket (std::uint32_t seq, bool ce, MccTime arrival, MccTime rtt);
  /* Of the interval before the first loss event, as long as it is remembered. */
  void SetFirstInterval (double packets);
  void ScaleFirstInterval (double factor);

  /* p; 0 before the first event. */
  double LossEventRate () const;
  std::uint64_t Events () const
  {
    return m_events;
  }
  std::uint64_t Lost () const
  {
    return m_lost;
  }

private:
  struct Interval {
    double length, discount; /* packets, DF_i */
  };
  struct Arrival {
    std::uint64_t seq;
    bool ce;
    MccTime time;
  };

  void Insert (const Arrival &arrival);
  bool Settle (MccTime rtt);
  bool HandleLoss (std::uint64_t seq, MccTime time, MccTime rtt);
  double OpenInterval () const;
  double ClosedMean () const;
  double Discount (double open) const;

  double m_discount_min;
  std::deque<Arrival> m_pending; /* arrived, behind a gap; in order */
  bool m_started = false;
  Arrival m_last = {};           /* the newest packet of those whose fates are known */
  std::uint64_t m_event_seq = 0; /* the newest event's first loss */
  MccTime m_event_time = 0;
  std::deque<Interval> m_closed; /* newest first */
  std::uint64_t m_events = 0, m_lost = 0;
};

} // namespace sim

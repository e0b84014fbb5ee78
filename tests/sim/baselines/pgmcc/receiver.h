/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * receiver: PGMCC's receiver as a machine without a network (section 4).
 *
 *   p += c (x - p) per packet, x = 1 for a lost one  (2.6; the formula printed there has p_i on
 *   both sides)
 *
 * As acker it answers each packet with an ACK. Otherwise it reports what it lost in a NAK after a
 * random wait, unless it hears another's NAK for it; the same when a packet names no acker.
 *
 * Ours: lost = 3 later ones came, as everywhere here. The acker's ACKs spare it the NAKs. One NAK
 * tells of all packets missing in 32. Before its first packet a receiver has missed nothing. p is
 * not rounded to 16 digits in here (it would stop falling at 0.2 %), only on the wire.
 */
#pragma once

#include <deque>

extern "C" {
#include "mccrng.h"
}
#include "pgmcc.h"

namespace sim::pgmcc
{

struct ReceiverConfig {
  std::uint32_t id;
  std::uint64_t seed;
  MccTime nak_backoff = NAK_BACKOFF; /* waits are uniform in [0, nak_backoff) */
};

class Receiver
{
public:
  explicit Receiver (const ReceiverConfig &config) : m_config (config)
  {
    mcc_rng_init (&m_rng, config.seed);
  }

  /* @ce: marked by a queue; counts as lost (2.9). */
  void HandleData (const Data &data, bool ce, MccTime now);
  /* Another receiver's. */
  void HandleNak (const Feedback &nak);
  void HandleTimeout (MccTime now);
  /* The acker says that it goes (2.3.2). */
  void HandleLeave (MccTime now);
  MccTime NextTimeout () const
  {
    return m_nak_at;
  }
  bool Poll (Feedback *out);

  /* p */
  double LossRatio () const
  {
    return m_loss_ratio;
  }
  /* Packets that did not come; those that came marked are in p alone. */
  std::uint64_t Lost () const
  {
    return m_lost;
  }

private:
  struct Missing {
    std::uint64_t seq;
    unsigned later; /* newer packets that came */
  };

  void Restart (const Data &data);
  void Advance (std::uint64_t seq);
  void Count (bool lost);
  void Lose (std::uint64_t seq);
  void ScheduleNak (MccTime now);
  Feedback Report (Kind kind, MccTime now) const;

  ReceiverConfig m_config;
  MccRng m_rng;
  double m_loss_ratio = 0.0;
  std::uint64_t m_lost = 0;
  std::uint64_t m_newest = 0; /* 0: none yet */
  std::uint32_t m_map = 0;    /* bit k: m_newest - k came */
  MccTime m_stamp = 0, m_arrival = 0;
  bool m_is_acker = false, m_dummy = false;
  std::deque<Missing> m_missing;      /* not yet given up */
  std::deque<std::uint64_t> m_to_nak; /* lost, not yet reported by anyone */
  MccTime m_nak_at = MCC_TIME_NONE;
  std::deque<Feedback> m_out;
};

} // namespace sim::pgmcc

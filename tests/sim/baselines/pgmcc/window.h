/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * window: PGMCC's window-based controller (2.2), and which packets are on their way.
 *
 *   send:                 T -= 1
 *   ACK of n new packets: d = min (n, 4 - W) of them, while W < 4:  T += 2 d,  W += d
 *                         the others:                   T += n (1 + 1/W),  W += n/W;  T <= W
 *   loss:                 T -= W/2, W /= 2, W >= 1; then W stays until a packet sent later is
 *                         acknowledged; ACKs still give a token per packet
 *   time-out:             T = W = 1
 *
 * Ours: a packet found lost gives its token back, once. The draft does not say so, but without it
 * each loss takes a place in the window for good, and after W losses only a time-out goes on. So
 * T + packets on their way = W always.
 */
#pragma once

#include <cstdint>
#include <deque>

#include "pgmcc.h"

namespace sim::pgmcc
{

/* What one ACK tells that no earlier one did. */
struct News {
  unsigned acked = 0;
  unsigned lost = 0;             /* given up included */
  std::uint64_t newest_lost = 0; /* 0: none but given up */
};

class Window
{
public:
  void HandleSend ()
  {
    m_tokens -= 1.0;
  }
  /* @rx_max: the highest number the ACK tells of; @next: the number of the next packet sent. */
  void HandleAck (const News &news, std::uint64_t rx_max, std::uint64_t next);
  void HandleTimeout ();
  /* The new acker's first packet (section 3: T = T + 1). */
  void HandleElection ();
  /* The acker left: lets one packet ask for another (ours). */
  void HandleLeave ();

  double Size () const
  {
    return m_size;
  }
  double Tokens () const
  {
    return m_tokens;
  }

private:
  void Grow (double acked);

  double m_size = 1.0, m_tokens = 1.0;
  std::uint64_t m_resume = 1; /* W moves again from this packet on */
  bool m_suspended = false;
};

/* The packets sent and what became of them. */
class Flight
{
public:
  std::uint64_t Next () const
  {
    return m_first + m_packets.size ();
  }
  bool Empty () const
  {
    return m_unknown == 0;
  }
  unsigned Unknown () const
  {
    return m_unknown;
  }
  void Send ();
  /* A packet in the map is lost when LATER_ACKS later ones came, whoever said so. One that no map
   * reaches any more is given up: whether it was lost nobody will say, but it takes no place. */
  News HandleAck (std::uint64_t rx_max, std::uint32_t map);
  /* Nothing is expected any more of what was sent. */
  void Abandon ();

private:
  enum class Fate : std::uint8_t { UNKNOWN, ACKED, LOST };

  std::uint64_t m_first = 1; /* of m_packets */
  unsigned m_unknown = 0;
  std::deque<Fate> m_packets;
};

} // namespace sim::pgmcc

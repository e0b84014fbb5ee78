/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "window.h"

#include <algorithm>

namespace sim::pgmcc
{

void
Window::Grow (double acked)
{
  if (m_size < SSTHRESH) {
    double d = std::min (acked, SSTHRESH - m_size);

    acked -= d;
    m_tokens += 2.0 * d;
    m_size += d;
  }
  m_tokens += acked * (1.0 + 1.0 / m_size);
  m_size += acked / m_size;
}

void
Window::HandleAck (const News &news, std::uint64_t rx_max, std::uint64_t next)
{
  m_tokens += news.lost;
  if (m_suspended && rx_max >= m_resume)
    m_suspended = false;
  if (news.lost > 0 && news.newest_lost >= m_resume) {
    double half = std::max (m_size / 2.0, 1.0);

    m_tokens += news.acked - (m_size - half);
    m_size = half;
    m_suspended = true;
    m_resume = next;
  } else if (m_suspended) {
    m_tokens += news.acked;
  } else {
    Grow (news.acked);
  }
  m_tokens = std::min (m_tokens, m_size);
}

void
Window::HandleTimeout ()
{
  m_size = m_tokens = 1.0;
  m_suspended = false;
}

void
Window::HandleElection ()
{
  m_tokens = std::min (m_tokens + 1.0, m_size);
}

void
Window::HandleLeave ()
{
  m_tokens = std::max (m_tokens, 1.0);
}

void
Flight::Send ()
{
  m_packets.push_back (Fate::UNKNOWN);
  m_unknown++;
}

News
Flight::HandleAck (std::uint64_t rx_max, std::uint32_t map)
{
  News news;
  unsigned later = 0;

  for (unsigned k = 0; k < MAP_BITS && rx_max >= m_first + k; k++) {
    std::uint64_t at = rx_max - k - m_first;

    if (map >> k & 1 && at < m_packets.size () && m_packets[at] == Fate::UNKNOWN) {
      m_packets[at] = Fate::ACKED;
      news.acked++;
    }
  }
  for (std::size_t at = m_packets.size (); at-- > 0;) {
    if (m_packets[at] == Fate::ACKED) {
      later++;
    } else if (m_packets[at] == Fate::UNKNOWN && later >= LATER_ACKS) {
      std::uint64_t seq = m_first + at;

      if (seq + MAP_BITS > rx_max)
        news.newest_lost = std::max (news.newest_lost, seq);
      else if (seq + GIVEN_UP > rx_max)
        continue;
      m_packets[at] = Fate::LOST;
      news.lost++;
    }
  }
  m_unknown -= news.acked + news.lost;
  /* What is older than every unknown packet has no say in later losses. */
  std::size_t known = 0;
  while (known < m_packets.size () && m_packets[known] != Fate::UNKNOWN)
    known++;
  m_packets.erase (m_packets.begin (), m_packets.begin () + static_cast<std::ptrdiff_t> (known));
  m_first += known;
  return news;
}

void
Flight::Abandon ()
{
  m_first = Next ();
  m_packets.clear ();
  m_unknown = 0;
}

} // namespace sim::pgmcc

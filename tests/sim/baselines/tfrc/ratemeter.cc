/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ratemeter.h"

namespace sim
{

void
RateMeter::Add (std::uint32_t bytes, MccTime now, MccTime memory)
{
  m_arrivals.push_back ({ now, bytes });
  while (m_arrivals.size () > MIN_PACKETS && m_arrivals.front ().time + memory < now)
    m_arrivals.pop_front ();
}

double
RateMeter::Over (MccTime window, MccTime now) const
{
  double bytes = 0;

  for (auto at = m_arrivals.rbegin (); at != m_arrivals.rend () && at->time + window > now; ++at)
    bytes += at->bytes;
  return 8 * bytes / mcc_time_to_seconds (window);
}

double
RateMeter::Between (MccTime window, MccTime now) const
{
  std::size_t count = 0;
  double bytes = 0;
  MccTime first = 0;

  for (auto at = m_arrivals.rbegin (); at != m_arrivals.rend (); ++at) {
    if (count >= MIN_PACKETS && at->time + window < now)
      break;
    if (count > 0)
      bytes += (at - 1)->bytes;
    first = at->time;
    count++;
  }
  if (count < 2)
    return 0;
  /* A silence as long as the window counts. */
  MccTime last = m_arrivals.back ().time;
  MccTime end = now - last > window && now - last > last - first ? now : last;
  return end > first ? 8 * bytes / mcc_time_to_seconds (end - first) : 0;
}

} // namespace sim

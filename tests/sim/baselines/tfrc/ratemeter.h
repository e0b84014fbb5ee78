/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ratemeter: the receive rate X_recv.
 */
#pragma once

#include <cstdint>
#include <deque>

extern "C" {
#include "mcctime.h"
}

namespace sim
{

class RateMeter
{
public:
  /* Remembers @memory, and MIN_PACKETS however old. */
  void Add (std::uint32_t bytes, MccTime now, MccTime memory);

  /* bit/s of what came in (now - window, now] (RFC 5348 6.2). */
  double Over (MccTime window, MccTime now) const;
  /* bit/s from the first to the last packet of the last @window, or of the newest MIN_PACKETS when
   * it has fewer: a window of a few packets does not see multiples of one packet. 0 = unknown. */
  double Between (MccTime window, MccTime now) const;

private:
  static constexpr std::size_t MIN_PACKETS = 4;
  struct Arrival {
    MccTime time;
    std::uint32_t bytes;
  };

  std::deque<Arrival> m_arrivals;
};

} // namespace sim

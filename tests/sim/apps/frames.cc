/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames.h"

#include <algorithm>
#include <cmath>

namespace sim
{
namespace
{

constexpr std::size_t REMEMBERED = 4096; /* damaged pictures: minutes */

double
FrameOf (double sent)
{
  return std::floor (sent * FRAME_RATE);
}

} // namespace

void
Frames::Begin ()
{
  m_newest = -1;
  m_damaged.clear ();
}

void
Frames::Add (double from, double to, std::uint32_t lost)
{
  double since = std::max (FrameOf (from), m_newest);

  if (FrameOf (to) > since) {
    m_record.frames.Add (FrameOf (to) - since);
    m_newest = FrameOf (to);
  }
  for (std::uint32_t i = 1; i <= lost; i++)
    if (m_damaged.insert (FrameOf (from + (to - from) * i / (lost + 1.0))).second)
      m_record.frames_damaged.Add (1);
  while (m_damaged.size () > REMEMBERED)
    m_damaged.erase (m_damaged.begin ());
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * frames: the pictures of a receiver, FRAME_RATE a second by their time of sending, and those of
 * which a packet was lost. The packets of a gap left evenly spaced between its neighbours, so that
 * a long gap damages every picture that it spans; each picture counts once, whatever stream or
 * layer shows it.
 */
#pragma once

#include <cstdint>
#include <set>

#include "record.h"

namespace sim
{

class Frames
{
public:
  explicit Frames (ReceiverRecord &record) : m_record (record)
  {
  }
  /* Forgets what was before. */
  void Begin ();
  /* A packet sent at @to s came; the one before it of its stream or layer had left at @from (at
   * @to, where it is the first), and @lost between them. */
  void Add (double from, double to, std::uint32_t lost);

private:
  ReceiverRecord &m_record;
  double m_newest = -1;
  std::set<double> m_damaged; /* the newest */
};

} // namespace sim

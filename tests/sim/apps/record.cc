/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record.h"

#include <algorithm>
#include <cmath>

#include <ns3/simulator.h>

namespace sim
{

void
Bins::Add (double amount)
{
  auto bin = static_cast<std::size_t> (ns3::Simulator::Now ().GetSeconds () / BIN);
  if (m_values.size () <= bin)
    m_values.resize (bin + 1, 0.0);
  m_values[bin] += amount;
}

void
Losses::Came (std::uint64_t number)
{
  constexpr int AHEAD = 16384, LATE = -256; /* more: a stream that began anew */
  int ahead = static_cast<std::int16_t> (number - m_next);
  if (!m_any || ahead > AHEAD || ahead < LATE)
    ahead = 0;
  else if (ahead != 0)
    m_lost.Add (ahead > 0 ? ahead : -1); /* late: it counted as lost */
  if (ahead >= 0)
    m_next = static_cast<std::uint16_t> (number + 1);
  m_any = true;
}

void
Steps::Set (double value)
{
  if (m_enabled && (m_values.empty () || m_values.back ().second != value))
    m_values.emplace_back (ns3::Simulator::Now ().GetSeconds (), value);
}

void
Means::Add (double value)
{
  m_sum.Add (value);
  m_count.Add (1.0);
}

void
SenderRecord::Sent (unsigned stream)
{
  if (!keep_packets)
    return;
  if (sent.size () <= stream)
    sent.resize (stream + 1);
  sent[stream].push_back (ns3::Simulator::Now ().GetSeconds ());
}

static std::int64_t
Nanoseconds (double seconds)
{
  return std::llround (1e9 * seconds);
}

void
PacketTrace::Came (double delay, unsigned stream)
{
  if (m_delay.size () <= stream)
    m_delay.resize (stream + 1);
  double sent = ns3::Simulator::Now ().GetSeconds () - delay;
  m_delay[stream].emplace (Nanoseconds (sent), static_cast<float> (delay));
}

void
PacketTrace::CameAlone (double delay)
{
  Came (delay, 0);
  if (m_shown.empty ())
    Show (0, delay);
}

void
PacketTrace::Show (int stream, double ago)
{
  double from = ns3::Simulator::Now ().GetSeconds () - ago;
  m_shown.emplace_back (m_shown.empty () ? from : std::max (from, m_shown.back ().first), stream);
}

float
PacketTrace::Take (double sent, unsigned stream)
{
  if (stream >= m_delay.size ())
    return -1;
  auto found = m_delay[stream].find (Nanoseconds (sent));
  if (found == m_delay[stream].end ())
    return -1;
  float delay = found->second;
  m_delay[stream].erase (found);
  return delay;
}

} // namespace sim

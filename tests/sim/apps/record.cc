/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record.h"

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

} // namespace sim

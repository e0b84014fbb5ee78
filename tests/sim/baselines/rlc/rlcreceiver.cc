/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rlc.h"

namespace sim
{

RlcReceiver::RlcReceiver (const Config &config) : m_config (config), m_layers (config.layers)
{
  m_actions.push_back ({ Action::JOIN, 0 });
}

RlcReceiver::Action
RlcReceiver::PollAction (unsigned *layer)
{
  if (m_actions.empty ())
    return Action::NONE;
  Queued first = m_actions.front ();
  m_actions.erase (m_actions.begin ());
  *layer = first.layer;
  return first.action;
}

void
RlcReceiver::Join ()
{
  m_level++;
  m_layers[m_level] = {};
  m_clean = false;
  m_actions.push_back ({ Action::JOIN, m_level });
}

void
RlcReceiver::Leave (MccTime now)
{
  m_deaf_until = now + mcc_time_from_seconds (m_config.deaf);
  m_clean = false;
  if (m_level == 0)
    return;
  m_actions.push_back ({ Action::LEAVE, m_level });
  m_level--;
}

bool
RlcReceiver::HandleData (const RlcData &data, MccTime now)
{
  if (data.layer > m_level)
    return false;
  Layer &layer = m_layers[data.layer];
  std::uint32_t gap = 0;
  if (layer.next && static_cast<std::int32_t> (data.seq - *layer.next) < 0)
    return true; /* late or double */
  if (layer.next)
    gap = data.seq - *layer.next;
  bool top = data.layer == m_level;
  bool probe = top && (layer.in_burst || (data.flags & RLC_BURST) != 0);
  layer.next = data.seq + 1;
  layer.in_burst = (data.flags & RLC_BURST) != 0 && (data.flags & RLC_SP) == 0;
  m_lost += gap;
  if (gap > 0 && now >= m_deaf_until) {
    m_clean = false;
    if (!probe || m_config.probe_leaves)
      Leave (now);
  }
  if (top && data.layer == m_level && (data.flags & RLC_SP) != 0) {
    if (m_clean && m_level + 1 < m_config.layers)
      Join ();
    else
      m_clean = true;
  }
  return true;
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * coretimer: calls a machine of the core when it is due. A time-out that moves back, as it does
 * with every packet, costs nothing: the old event only looks again.
 */
#pragma once

#include <functional>

#include "port.h"

namespace sim
{

class CoreTimer
{
public:
  CoreTimer (Port &port, std::function<void ()> callback)
      : m_port (port), m_callback (std::move (callback))
  {
  }
  ~CoreTimer ()
  {
    Cancel ();
  }
  CoreTimer (const CoreTimer &) = delete;
  CoreTimer &operator= (const CoreTimer &) = delete;

  /* @when may be MCC_TIME_NONE. */
  void Set (MccTime when)
  {
    m_wanted = when;
    if (when < m_armed)
      Arm (when);
  }

  void Cancel ()
  {
    m_event.Cancel ();
    m_armed = m_wanted = MCC_TIME_NONE;
  }

private:
  void Arm (MccTime when)
  {
    m_event.Cancel ();
    m_armed = when;
    m_event = m_port.At (when, [this] { Fire (); });
  }

  void Fire ()
  {
    MccTime now = m_port.Now ();
    m_armed = MCC_TIME_NONE;
    if (m_wanted == MCC_TIME_NONE)
      return;
    if (now < m_wanted) {
      /* A microsecond more where a drifting clock was rounded down. */
      Arm (m_wanted - now < MCC_USECOND ? now + MCC_USECOND : m_wanted);
      return;
    }
    m_wanted = MCC_TIME_NONE;
    m_callback ();
  }

  Port &m_port;
  std::function<void ()> m_callback;
  ns3::EventId m_event;
  MccTime m_armed = MCC_TIME_NONE, m_wanted = MCC_TIME_NONE;
};

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * pacedqueue: packets that wait for the core's pacer, as in asmpsink and its like.
 */
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "coretimer.h"

extern "C" {
#include "mccpacer.h"
}

namespace sim
{

/* @Packet: what the sink wants to know of one that leaves. */
template <typename Packet> class PacedQueue
{
public:
  using Sink = std::function<void (const Packet &)>;

  PacedQueue (Port &port, Sink sink)
      : m_port (port), m_sink (std::move (sink)), m_pacer (mcc_pacer_new (nullptr)),
        m_timer (port, [this] { Release (); })
  {
  }

  void SetPacing (const MccPacing &pacing)
  {
    m_config.pacing = pacing;
    mcc_pacer_set_config (m_pacer.get (), &m_config);
    Plan ();
  }

  /* Of a layer of several, which make @all_bps together. */
  void SetHaste (std::uint64_t all_bps)
  {
    mcc_pacer_set_haste (m_pacer.get (), MCC_PACER_LAYER_DELAY, all_bps);
  }

  void SetTarget (std::uint64_t target_bps)
  {
    mcc_pacer_set_target (m_pacer.get (), target_bps);
    Plan ();
  }

  double Pressure (MccTime now) const
  {
    return mcc_pacer_pressure (m_pacer.get (), now);
  }

  /* Of one picture, @ip_bytes together. */
  void Add (const std::deque<Packet> &packets, std::uint32_t ip_bytes)
  {
    m_queue.insert (m_queue.end (), packets.begin (), packets.end ());
    mcc_pacer_enqueue (
        m_pacer.get (), static_cast<std::uint32_t> (packets.size ()), ip_bytes, m_port.Now ());
    Plan ();
  }

  void Clear ()
  {
    m_timer.Cancel ();
    mcc_pacer_clear (m_pacer.get ());
    m_queue.clear ();
  }

private:
  struct FreePacer {
    void operator() (MccPacer *self) const
    {
      mcc_pacer_free (self);
    }
  };

  void Plan ()
  {
    MccTime next = mcc_pacer_next_timeout (m_pacer.get ());
    MccTime wake = m_released + mcc_pacer_wake_period (&m_config);
    m_timer.Set (next == MCC_TIME_NONE ? next : mcc_time_max (next, wake));
  }

  void Release ()
  {
    MccTime now = m_port.Now ();
    std::uint32_t packets = mcc_pacer_release (m_pacer.get (), now);
    if (packets > 0)
      m_released = now;
    for (; packets > 0 && !m_queue.empty (); packets--) {
      Packet packet = m_queue.front ();
      m_queue.pop_front ();
      m_sink (packet);
    }
    Plan ();
  }

  Port &m_port;
  Sink m_sink;
  MccPacerConfig m_config = mcc_pacer_config_default;
  std::unique_ptr<MccPacer, FreePacer> m_pacer;
  CoreTimer m_timer;
  MccTime m_released = 0;
  std::deque<Packet> m_queue;
};

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mediasource.h"

#include <algorithm>

extern "C" {
#include "mccpairs.h"
}

namespace sim
{
namespace
{

class CbrSource : public MediaSource
{
public:
  CbrSource (Port &port, const MediaSourceConfig &config, Sink sink)
      : m_port (port), m_bytes (config.packet_bytes), m_sink (std::move (sink))
  {
  }
  ~CbrSource () override
  {
    Stop ();
  }

  void Start () override
  {
    m_running = true;
    m_last = m_port.Now ();
    Send ();
  }

  void Stop () override
  {
    m_running = false;
    m_timer.Cancel ();
  }

  /* The packet that waits leaves as if the new rate had held since the last one. */
  void SetTarget (std::uint64_t target_bps) override
  {
    m_target_bps = target_bps;
    if (m_running && !m_sending)
      Plan ();
  }

  void SetPacing (const MccPacing &pacing) override
  {
    m_pairs = pacing.pairs;
  }

  void KeyUnit () override
  {
  }

private:
  MccTime Spacing () const
  {
    return MCC_SECOND * 8 * m_bytes / std::max<std::uint64_t> (m_target_bps, 1);
  }

  void Plan ()
  {
    m_timer.Cancel ();
    m_next = std::max (m_last + Spacing (), m_port.Now ());
    m_timer = m_port.At (m_next, [this] {
      m_last = m_next;
      Send ();
    });
  }

  void Send ()
  {
    m_sending = true;
    m_sink (m_bytes);
    if (m_running && m_pairs > 0
        && mcc_pairs_due (m_paired, m_pairs, m_bytes, m_target_bps, m_last)) {
      m_paired = m_last;
      m_last += Spacing ();
      m_sink (m_bytes);
    }
    m_sending = false;
    if (m_running)
      Plan ();
  }

  Port &m_port;
  std::uint32_t m_bytes;
  Sink m_sink;
  std::uint64_t m_target_bps = 0;
  bool m_running = false, m_sending = false;
  MccTime m_pairs = 0; /* pacing.pairs */
  MccTime m_last = 0, m_next = 0, m_paired = MCC_TIME_NONE;
  ns3::EventId m_timer;
};

} // namespace

std::unique_ptr<MediaSource>
NewCbrSource (Port &port, const MediaSourceConfig &config, MediaSource::Sink sink)
{
  return std::make_unique<CbrSource> (port, config, std::move (sink));
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "videosource.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "coretimer.h"
#include "mediasource.h"

extern "C" {
#include "mccencoding.h"
#include "mccpacer.h"
}

namespace sim
{
namespace
{

std::vector<Trace>
ReadTraces (const std::string &name)
{
  const char *folder = std::getenv ("SIM_TRACES");
  std::string path = std::string (folder != nullptr ? folder : SIM_TRACES) + "/" + name + ".csv";
  std::ifstream file (path);
  if (!file)
    throw std::runtime_error ("source.trace: there is no " + path);
  std::map<double, std::vector<TraceFrame>> by_rate;
  std::string line;
  for (bool header = true; std::getline (file, line);) {
    if (line.empty () || line[0] == '#')
      continue;
    if (header) {
      header = false;
      continue;
    }
    double bps;
    unsigned key;
    std::uint32_t bytes;
    char comma;
    std::istringstream fields (line);
    if (!(fields >> bps >> comma >> key >> comma >> bytes) || bps <= 0 || bytes == 0)
      throw std::runtime_error (path + ": \"" + line + "\" is no bitrate,key,bytes");
    by_rate[bps].push_back ({ key != 0, bytes });
  }
  std::vector<Trace> traces;
  for (auto &[bps, frames] : by_rate)
    traces.push_back ({ bps, std::move (frames) });
  if (traces.empty ())
    throw std::runtime_error (path + ": no frames");
  return traces;
}

} // namespace

const std::vector<Trace> &
LoadTraces (const std::string &name)
{
  static std::map<std::string, std::vector<Trace>> loaded;
  auto found = loaded.find (name);
  if (found == loaded.end ())
    found = loaded.emplace (name, ReadTraces (name)).first;
  return found->second;
}

TracedEncoder::TracedEncoder (const std::vector<Trace> &traces, std::size_t first_frame)
    : m_traces (traces), m_next (first_frame)
{
}

TraceFrame
TracedEncoder::Encode (double bps)
{
  auto farther = [bps] (const Trace &a, const Trace &b) {
    return std::abs (std::log (a.encoder_bps / bps)) < std::abs (std::log (b.encoder_bps / bps));
  };
  const Trace &trace = *std::min_element (m_traces.begin (), m_traces.end (), farther);
  std::size_t count = trace.frames.size ();
  for (std::size_t i = 0; m_key && i < count && !trace.frames[m_next % count].key; i++)
    m_next++;
  m_key = false;
  TraceFrame frame = trace.frames[m_next++ % count];
  double bytes = frame.bytes * bps / trace.encoder_bps;
  frame.bytes = static_cast<std::uint32_t> (std::max (1.0, std::round (bytes)));
  return frame;
}

namespace
{

struct FreePacer {
  void operator() (MccPacer *self) const
  {
    mcc_pacer_free (self);
  }
};

class VideoSource : public MediaSource
{
public:
  VideoSource (Port &port, const MediaSourceConfig &config, Sink sink)
      : m_port (port), m_config (config), m_sink (std::move (sink)),
        m_encoder (LoadTraces (config.source.value ("trace", "news"))),
        m_frame_time (mcc_time_from_seconds (1.0 / config.source.value ("fps", 25.0))),
        m_pacer (mcc_pacer_new (nullptr)), m_timer (port, [this] { Release (); })
  {
    mcc_encoding_init (&m_encoding);
  }
  ~VideoSource () override
  {
    Stop ();
  }

  void Start () override
  {
    m_running = true;
    m_encoded = {};
    m_next_frame = m_port.Now ();
    EncodeFrame ();
  }

  void Stop () override
  {
    m_running = false;
    m_frames.Cancel ();
    m_timer.Cancel ();
    mcc_pacer_clear (m_pacer.get ());
    m_queue.clear ();
  }

  void SetTarget (std::uint64_t target_bps) override
  {
    m_target_bps = target_bps;
    mcc_pacer_set_target (m_pacer.get (), target_bps);
    if (m_asked_bps == 0)
      m_asked_bps = target_bps; /* asmpsink sets the start rate before the first frame */
    Ask ();
    if (m_running)
      PlanRelease ();
  }

  void KeyUnit () override
  {
    m_encoder.RequestKey ();
  }

private:
  void Ask ()
  {
    MccTime now = m_port.Now ();
    std::uint64_t ask;
    if (mcc_encoding_update (
            &m_encoding, m_target_bps, mcc_pacer_pressure (m_pacer.get (), now), now, &ask))
      m_asked_bps = ask;
  }

  /* What was encoded during the last frame leaves the encoder, the next one goes in. */
  void EncodeFrame ()
  {
    if (m_encoded.bytes > 0)
      Queue (m_encoded.bytes);
    Ask ();
    m_encoded = m_encoder.Encode (static_cast<double> (std::max<std::uint64_t> (m_asked_bps, 1)));
    m_next_frame += m_frame_time;
    m_frames = m_port.At (m_next_frame, [this] { EncodeFrame (); });
    PlanRelease ();
  }

  /* Full packets and a rest, as payloaders make them. */
  void Queue (std::uint32_t bytes)
  {
    MccTime now = m_port.Now ();
    std::uint32_t room = m_config.packet_bytes - m_config.header_bytes;
    std::uint32_t packets = 0, wire = 0;
    for (std::uint32_t left = bytes; left > 0;) {
      std::uint32_t part = std::min (left, room);
      m_queue.push_back (part + m_config.header_bytes);
      wire += part + m_config.header_bytes;
      packets++;
      left -= part;
    }
    mcc_pacer_enqueue (m_pacer.get (), packets, wire, now);
    mcc_encoding_handle_packet (&m_encoding, wire, bytes, now);
  }

  void PlanRelease ()
  {
    MccTime next = mcc_pacer_next_timeout (m_pacer.get ());
    m_timer.Set (next == MCC_TIME_NONE ? next : mcc_time_max (next, m_released + PACER_WAKE));
  }

  void Release ()
  {
    MccTime now = m_port.Now ();
    std::uint32_t packets = mcc_pacer_release (m_pacer.get (), now);
    if (packets > 0)
      m_released = now;
    for (; packets > 0 && !m_queue.empty (); packets--) {
      std::uint32_t bytes = m_queue.front ();
      m_queue.pop_front ();
      m_sink (bytes);
    }
    if (m_running)
      PlanRelease ();
  }

  Port &m_port;
  MediaSourceConfig m_config;
  Sink m_sink;
  TracedEncoder m_encoder;
  MccTime m_frame_time;
  std::unique_ptr<MccPacer, FreePacer> m_pacer;
  MccEncoding m_encoding;
  CoreTimer m_timer;
  ns3::EventId m_frames;
  bool m_running = false;
  std::uint64_t m_target_bps = 0, m_asked_bps = 0;
  TraceFrame m_encoded{};
  MccTime m_next_frame = 0, m_released = 0;
  std::deque<std::uint32_t> m_queue; /* IP bytes */
};

} // namespace

std::unique_ptr<MediaSource>
NewVideoSource (Port &port, const MediaSourceConfig &config, MediaSource::Sink sink)
{
  return std::make_unique<VideoSource> (port, config, std::move (sink));
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "videosource.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "mediasource.h"
#include "pacedqueue.h"

extern "C" {
#include "mccencoding.h"
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

class VideoSource : public MediaSource
{
public:
  VideoSource (Port &port, const MediaSourceConfig &config, Sink sink)
      : m_port (port), m_config (config),
        m_encoder (LoadTraces (config.source.value ("trace", "news"))),
        m_frame_time (mcc_time_from_seconds (1.0 / config.source.value ("fps", 25.0))),
        m_paced (port, [sink] (std::uint32_t ip_bytes) { sink (ip_bytes); })
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
    m_paced.Clear ();
  }

  void SetTarget (std::uint64_t target_bps) override
  {
    m_target_bps = target_bps;
    m_paced.SetTarget (target_bps);
    if (m_asked_bps == 0)
      m_asked_bps = target_bps; /* asmpsink sets the start rate before the first frame */
    Ask ();
  }

  void SetPacing (const MccPacing &pacing) override
  {
    m_paced.SetPacing (pacing);
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
    if (mcc_encoding_update (&m_encoding, m_target_bps, m_paced.Pressure (now), now, &ask))
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
  }

  /* Full packets and a rest, as payloaders make them. */
  void Queue (std::uint32_t bytes)
  {
    MccTime now = m_port.Now ();
    std::uint32_t room = m_config.packet_bytes - m_config.header_bytes;
    std::deque<std::uint32_t> packets; /* IP bytes */
    std::uint32_t wire = 0;
    for (std::uint32_t left = bytes; left > 0;) {
      std::uint32_t part = std::min (left, room);
      packets.push_back (part + m_config.header_bytes);
      wire += packets.back ();
      left -= part;
    }
    m_paced.Add (packets, wire);
    mcc_encoding_handle_packet (&m_encoding, wire, bytes, now);
  }

  Port &m_port;
  MediaSourceConfig m_config;
  TracedEncoder m_encoder;
  MccTime m_frame_time;
  PacedQueue<std::uint32_t> m_paced;
  MccEncoding m_encoding;
  ns3::EventId m_frames;
  bool m_running = false;
  std::uint64_t m_target_bps = 0, m_asked_bps = 0;
  TraceFrame m_encoded{};
  MccTime m_next_frame = 0;
};

} // namespace

std::unique_ptr<MediaSource>
NewVideoSource (Port &port, const MediaSourceConfig &config, MediaSource::Sink sink)
{
  return std::make_unique<VideoSource> (port, config, std::move (sink));
}

} // namespace sim

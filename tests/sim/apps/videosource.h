/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * videosource: frames of a real encoder (traces/NAME.csv), encoded at what MccEncoding asks for and
 * sent by MccPacer, as asmpsink does.
 *
 * A frame has the size it had in the trace of the nearest bitrate (as a ratio), times asked /
 * recorded bitrate; all traces run in step. It leaves the encoder one frame after its rate was
 * asked for. A key unit on request: the trace goes on at its next key frame, so that what follows
 * is smaller as it was there.
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim
{

struct TraceFrame {
  bool key;
  std::uint32_t bytes;
};

/* One recording. */
struct Trace {
  double encoder_bps;
  std::vector<TraceFrame> frames;
};

/* traces/@name.csv, by bitrate; throws std::runtime_error. */
const std::vector<Trace> &LoadTraces (const std::string &name);

/* What an encoder makes of a scene. */
class TracedEncoder
{
public:
  explicit TracedEncoder (const std::vector<Trace> &traces, std::size_t first_frame = 0);
  void RequestKey ()
  {
    m_key = true;
  }
  /* The next frame, at @bps; at least a byte. */
  TraceFrame Encode (double bps);

private:
  const std::vector<Trace> &m_traces;
  std::size_t m_next;
  bool m_key = false;
};

} // namespace sim

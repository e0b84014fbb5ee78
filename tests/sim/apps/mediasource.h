/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mediasource: what a sender has to send, and when each packet leaves.
 */
#pragma once

#include <functional>
#include <memory>

#include <nlohmann/json.hpp>

#include "port.h"

extern "C" {
#include "mccpacing.h"
}

namespace sim
{

class MediaSource
{
public:
  /* A packet of so many IP bytes leaves now. */
  using Sink = std::function<void (std::uint32_t ip_bytes)>;

  virtual ~MediaSource () = default;
  /* From now on, at the target set before. */
  virtual void Start () = 0;
  virtual void Stop () = 0;
  virtual void SetTarget (std::uint64_t target_bps) = 0;
  /* How packets leave from now on (mccpacing.h). */
  virtual void SetPacing (const MccPacing &pacing) = 0;
  /* A picture that can be decoded by itself is wanted. */
  virtual void KeyUnit () = 0;
};

struct MediaSourceConfig {
  std::uint32_t packet_bytes; /* IP bytes of a full packet */
  std::uint32_t header_bytes; /* of those, IP to RTP */
  nlohmann::json source;      /* {"type": "cbr"} or {"type": "video", ...} */
};

/* The papers' ideal source: full packets, evenly spaced at the target rate, but for pairs. */
std::unique_ptr<MediaSource> NewCbrSource (
    Port &port, const MediaSourceConfig &config, MediaSource::Sink sink);
/* Frames of a real encoder: videosource.cc. */
std::unique_ptr<MediaSource> NewVideoSource (
    Port &port, const MediaSourceConfig &config, MediaSource::Sink sink);

inline std::unique_ptr<MediaSource>
NewMediaSource (Port &port, const MediaSourceConfig &config, MediaSource::Sink sink)
{
  bool video = config.source.is_object () && config.source.value ("type", "cbr") == "video";
  return (video ? NewVideoSource : NewCbrSource) (port, config, std::move (sink));
}

} // namespace sim

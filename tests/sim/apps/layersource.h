/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * layersource: the layers of one stream, and when each packet leaves.
 */
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "port.h"

extern "C" {
#include "mccrng.h"
}

namespace sim
{

class LayerSource
{
public:
  /* A packet of layer @layer leaves now; @first: of its picture. */
  using Sink = std::function<void (unsigned layer, bool first)>;

  virtual ~LayerSource () = default;
  virtual void Start (MccRng *rng) = 0;
  virtual void Stop () = 0;
};

struct LayerSourceConfig {
  std::uint32_t packet_bytes, header_bytes;
  std::vector<std::uint64_t> rates_bps; /* of each layer alone */
  nlohmann::json source; /* {"type": "cbr"} or {"type": "pictures", "fps": 25, "paced": "stream"} */
};

/* cbr: each layer's full packets, evenly spaced, from somewhere within the first one's time on.
 * pictures: a layer's picture is made of what it would have sent evenly in 1 / fps, the layers'
 * pictures are apart, and all go through one MccPacer, so that each leaves whole, or ("layers", as
 * elmlayersink's) those of each layer through one of its own, so that each layer is smooth. */
std::unique_ptr<LayerSource> NewLayerSource (
    Port &port, const LayerSourceConfig &config, LayerSource::Sink sink);

} // namespace sim

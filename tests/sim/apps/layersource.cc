/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layersource.h"

#include "mediasource.h"
#include "pacedqueue.h"

namespace sim
{
namespace
{

class EvenLayers : public LayerSource
{
public:
  EvenLayers (Port &port, const LayerSourceConfig &config, Sink sink)
      : m_port (port), m_config (config), m_starts (config.rates_bps.size ())
  {
    for (unsigned k = 0; k < config.rates_bps.size (); k++)
      m_layers.push_back (NewCbrSource (port, { config.packet_bytes, config.header_bytes, {} },
          [sink, k] (std::uint32_t) { sink (k, true); }));
  }
  ~EvenLayers () override
  {
    Stop ();
  }

  void Start (MccRng *rng) override
  {
    for (unsigned k = 0; k < m_layers.size (); k++) {
      std::uint64_t rate = m_config.rates_bps[k];
      double spacing = 8.0 * m_config.packet_bytes / static_cast<double> (rate);
      MccTime at = m_port.Now () + mcc_time_from_seconds (mcc_rng_uniform (rng) * spacing);
      MediaSource *layer = m_layers[k].get ();
      layer->SetTarget (rate);
      m_starts[k] = m_port.At (at, [layer] { layer->Start (); });
    }
  }

  void Stop () override
  {
    for (unsigned k = 0; k < m_layers.size (); k++) {
      m_starts[k].Cancel ();
      m_layers[k]->Stop ();
    }
  }

private:
  Port &m_port;
  LayerSourceConfig m_config;
  std::vector<std::unique_ptr<MediaSource>> m_layers;
  std::vector<ns3::EventId> m_starts;
};

struct LayerPacket {
  unsigned layer;
  bool first;
};

class PictureLayers : public LayerSource
{
public:
  PictureLayers (Port &port, const LayerSourceConfig &config, Sink sink)
      : m_port (port), m_bytes (config.packet_bytes),
        m_picture_s (1.0 / config.source.value ("fps", 25.0)),
        m_apart (config.source.value ("paced", "stream") == "layers")
  {
    std::uint64_t all = 0;
    for (std::uint64_t rate : config.rates_bps) {
      m_layers.push_back ({ static_cast<double> (rate) / 8.0 / m_bytes * m_picture_s, 0.0, {} });
      all += rate;
    }
    for (std::uint64_t rate : config.rates_bps) {
      if (!m_apart && !m_paced.empty ())
        break;
      m_paced.push_back (std::make_unique<Paced> (
          port, [sink] (const LayerPacket &packet) { sink (packet.layer, packet.first); }));
      m_paced.back ()->SetTarget (m_apart ? rate : all);
      if (m_apart)
        m_paced.back ()->SetHaste (all);
    }
  }
  ~PictureLayers () override
  {
    Stop ();
  }

  void Start (MccRng *rng) override
  {
    for (unsigned k = 0; k < m_layers.size (); k++) {
      double place = static_cast<double> (k) / static_cast<double> (m_layers.size ());
      m_layers[k].rest = mcc_rng_uniform (rng);
      Plan (k, m_port.Now () + mcc_time_from_seconds (place * m_picture_s));
    }
  }

  void Stop () override
  {
    for (Layer &layer : m_layers)
      layer.timer.Cancel ();
    for (auto &paced : m_paced)
      paced->Clear ();
  }

private:
  using Paced = PacedQueue<LayerPacket>;
  struct Layer {
    double packets; /* of a picture */
    double rest;    /* of a packet, left over */
    ns3::EventId timer;
  };

  void Plan (unsigned k, MccTime at)
  {
    m_layers[k].timer = m_port.At (at, [this, k, at] {
      Picture (k);
      Plan (k, at + mcc_time_from_seconds (m_picture_s));
    });
  }

  void Picture (unsigned k)
  {
    Layer &layer = m_layers[k];
    layer.rest += layer.packets;
    auto packets = static_cast<std::uint32_t> (layer.rest);
    layer.rest -= packets;
    if (packets == 0)
      return;
    std::deque<LayerPacket> picture (packets, { k, false });
    picture.front ().first = true;
    m_paced[m_apart ? k : 0]->Add (picture, packets * m_bytes);
  }

  Port &m_port;
  std::uint32_t m_bytes;
  double m_picture_s;
  bool m_apart;
  std::vector<Layer> m_layers;
  std::vector<std::unique_ptr<Paced>> m_paced;
};

} // namespace

std::unique_ptr<LayerSource>
NewLayerSource (Port &port, const LayerSourceConfig &config, LayerSource::Sink sink)
{
  bool pictures = config.source.is_object () && config.source.value ("type", "cbr") == "pictures";
  if (pictures)
    return std::make_unique<PictureLayers> (port, config, std::move (sink));
  return std::make_unique<EvenLayers> (port, config, std::move (sink));
}

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layersource.h"

#include <deque>

#include "coretimer.h"
#include "mediasource.h"

extern "C" {
#include "mccpacer.h"
}

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

struct FreePacer {
  void operator() (MccPacer *self) const
  {
    mcc_pacer_free (self);
  }
};

/* A MccPacer and what waits behind it. */
class Paced
{
public:
  using Sink = std::function<void (unsigned layer, bool first)>;

  Paced (Port &port, std::uint64_t target_bps, const MccPacerConfig *config, Sink sink)
      : m_port (port), m_sink (std::move (sink)), m_pacer (mcc_pacer_new (config)),
        m_timer (port, [this] { Release (); })
  {
    mcc_pacer_set_target (m_pacer.get (), target_bps);
  }

  /* A picture of layer @layer. */
  void Add (unsigned layer, std::uint32_t packets, std::uint32_t packet_bytes)
  {
    for (std::uint32_t i = 0; i < packets; i++)
      m_queue.push_back ({ layer, i == 0 });
    mcc_pacer_enqueue (m_pacer.get (), packets, packets * packet_bytes, m_port.Now ());
    Plan ();
  }

  void Clear ()
  {
    m_timer.Cancel ();
    mcc_pacer_clear (m_pacer.get ());
    m_queue.clear ();
  }

private:
  struct Packet {
    unsigned layer;
    bool first;
  };

  void Plan ()
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
      Packet packet = m_queue.front ();
      m_queue.pop_front ();
      m_sink (packet.layer, packet.first);
    }
    Plan ();
  }

  Port &m_port;
  Sink m_sink;
  std::unique_ptr<MccPacer, FreePacer> m_pacer;
  CoreTimer m_timer;
  MccTime m_released = 0;
  std::deque<Packet> m_queue;
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
    for (std::uint64_t rate : config.rates_bps)
      if (m_apart || m_paced.empty ())
        m_paced.push_back (std::make_unique<Paced> (port, m_apart ? rate : all, nullptr, sink));
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
    if (packets > 0)
      m_paced[m_apart ? k : 0]->Add (k, packets, m_bytes);
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

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * layerarrivals: what a receiver of layers gets, by the sender's numbers of each layer, whatever
 * the protocol counts.
 */
#pragma once

#include <vector>

#include "frames.h"
#include "port.h"
#include "record.h"

namespace sim
{

class LayerArrivals
{
public:
  LayerArrivals (unsigned layers, ReceiverRecord &record)
      : m_layers (layers), m_record (record), m_frames (record)
  {
  }
  /* What is sent before the next packet of @layer is no loss. */
  void Begin (unsigned layer)
  {
    m_layers[layer] = {};
  }
  void BeginAll ();
  /* It is left. */
  void End (unsigned layer);
  /* Packet number @seq of @layer, which is taken or only on its way after a leave. */
  void Add (const Datagram &datagram, unsigned layer, std::uint16_t seq, bool taken);

private:
  struct Layer {
    bool any = false;
    std::uint16_t next = 0;
    double sent = 0; /* s, when the newest left */
  };
  void Trace (const Datagram &datagram, unsigned number, bool taken);

  std::vector<Layer> m_layers;
  ReceiverRecord &m_record;
  int m_top = NO_STREAM; /* the highest layer that has come */
  Frames m_frames;       /* which need all layers that are taken */
};

} // namespace sim

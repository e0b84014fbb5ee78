/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * rlc: Receiver-driven Layered Congestion control (Vicisano, Crowcroft and Rizzo, INFOCOM 1998),
 * sender and receiver as machines without a network. README.md has the source of each law.
 *
 * Layers 0..n-1, cumulative rates B_i; a receiver at level i takes 0..i. Laws:
 *  - Synchronisation points (SP) of layer i are at k t_i, k = 1, 2, ..., since the sender's start,
 *    t_i = t_0 2^i: an SP of a layer is one of all layers below. The last packet before carries it.
 *  - Before an SP a layer sends twice as fast for w_i = min (burst/2 packet times, t_i / 4), and
 *    then for w_i nothing: the mean rate stays.
 *  - At an SP of its highest layer a receiver that has lost nothing since the SP before joins the
 *    next layer; one that has not seen two SPs at this level does not.
 *  - A loss in a burst of its highest layer forbids the join at the SP behind it. Any other, in any
 *    of its layers: it leaves the highest, and for t_D losses mean nothing. With `probe_leaves` one
 *    in a burst is like any other.
 *  - No feedback, no RTT.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

extern "C" {
#include "mcctime.h"
}

namespace sim
{

constexpr std::uint8_t RLC_SP = 1;    /* an SP of the packet's layer is right behind it */
constexpr std::uint8_t RLC_BURST = 2; /* sent faster than the layer's rate */

/* Behind IP and UDP. */
struct RlcData {
  std::uint32_t seq; /* of the layer */
  std::uint8_t layer;
  std::uint8_t flags;
  std::uint8_t reserved[2];
};
static_assert (sizeof (RlcData) == 8);

constexpr double RLC_T0 = 0.2;           /* s; ours */
constexpr double RLC_DEAF = 0.75;        /* s; ours */
constexpr unsigned RLC_BURST_LENGTH = 8; /* packets; ours */

class RlcSender
{
public:
  struct Config {
    std::uint32_t packet_bytes;         /* IP bytes */
    std::vector<double> cumulative_bps; /* B_i, rising */
    double t0 = RLC_T0;
    unsigned burst = RLC_BURST_LENGTH; /* packets; 0: none */
  };

  RlcSender (const Config &config, MccTime now);
  MccTime NextTimeout () const;
  /* True while a packet is due. */
  bool Poll (MccTime now, RlcData *out);

private:
  struct Layer {
    double interval, period, window; /* s: of packets, t_i, w_i */
    std::uint32_t seq = 0;
    double at; /* s since the start, of the next packet */
  };
  static double Due (const Layer &layer, std::uint32_t seq);

  MccTime m_start;
  std::vector<Layer> m_layers;
};

class RlcReceiver
{
public:
  struct Config {
    unsigned layers;
    double deaf = RLC_DEAF; /* t_D, s */
    bool probe_leaves = false;
  };
  enum class Action { NONE, JOIN, LEAVE };

  explicit RlcReceiver (const Config &config);
  /* Packets of layers that are not joined change nothing. False: it was one. */
  bool HandleData (const RlcData &data, MccTime now);
  /* What to do to the group of @layer. At first: JOIN 0. */
  Action PollAction (unsigned *layer);

  unsigned Level () const
  {
    return m_level;
  }
  std::uint64_t Lost () const
  {
    return m_lost;
  }

private:
  struct Layer {
    std::optional<std::uint32_t> next; /* expected; nothing: no packet yet */
    bool in_burst = false;             /* the newest was in one, and not its last */
  };
  struct Queued {
    Action action;
    unsigned layer;
  };

  void Join ();
  void Leave (MccTime now);

  Config m_config;
  unsigned m_level = 0;
  std::vector<Layer> m_layers;
  bool m_clean = false; /* nothing lost since the last SP; false: none was seen at this level */
  MccTime m_deaf_until = 0;
  std::uint64_t m_lost = 0;
  std::vector<Queued> m_actions;
};

} // namespace sim

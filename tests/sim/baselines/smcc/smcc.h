/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * smcc: Smooth Multirate Multicast Congestion Control (Kwon and Byers, INFOCOM 2003), sender and
 * receiver as machines without a network, over those of TFMCC. README.md has the sources, and what
 * is ours.
 *
 * Cumulative layers 0..n-1, each a TFMCC session with its own CLR. Receivers in layer i take all
 * from 0 to i; the sum of these is at most B_i = 2^i B_0. A receiver's rate X is TFMCC's, over all
 * that it takes; it takes part in the TFMCC of its highest layer, which sends what the lowest X of
 * its receivers leaves over when the layers below have theirs. Laws of a receiver:
 *  - the CLR of layer i leaves it when X < B_(i-1)
 *  - X > B_i: a join attempt. Binary counting layer BCL_j, 2^j packets per RTT, is joined 2^j t
 * after the beginning, t = RTT, j <= i; at the rate of layer i + 1 (or with all of them) that one
 * takes their place. With a loss all of them are left, and the next attempt waits 2^k s, k
 * failures.
 */
#pragma once

#include <optional>
#include <vector>

#include "tfmcc/tfmcc.h"

namespace sim
{

/* The header of a packet of layer `tfmcc.reserved`, or of BCL_j: SMCC_BCL + j. */
struct SmccData {
  TfmccData tfmcc;
  std::uint32_t next_bps; /* what layer + 1 sends */
  std::uint32_t t_us;     /* BCL_j: 2^j packets in each */
};
static_assert (sizeof (SmccData) == 36);
constexpr std::uint8_t SMCC_BCL = 0x80;

/* A TfmccReport whose `reserved` is the layer, and whose rate is X. */
using SmccReport = TfmccReport;

/* How many layers it takes to send @max_bps. */
unsigned SmccLayers (double base_bps, double max_bps);
/* B_i */
double SmccCumulative (double base_bps, unsigned layer);
constexpr unsigned
SmccBcls (unsigned layers)
{
  return layers > 0 ? layers - 1 : 0;
}

class SmccSender
{
public:
  struct Config {
    std::uint32_t packet_bytes;   /* IP bytes */
    double base_bps = 1e6;        /* B_0 */
    double max_bps = 10e6;        /* of all layers together */
    double start_bps = 0;         /* of the base layer; 0: one packet per R_max */
    bool rise_per_report = false; /* RFC 4654 3.3 (4) to the letter: baselines/README.md */
  };

  SmccSender (const Config &config, MccTime now);

  void HandleReport (const SmccReport &report, MccTime now);
  void HandleTimeout (MccTime now);
  MccTime NextTimeout () const;
  /* True while a packet is due; layer or BCL stand in it. */
  bool Poll (MccTime now, SmccData *out);

  unsigned Layers () const
  {
    return static_cast<unsigned> (m_layers.size ());
  }
  double RateBps (unsigned layer) const;
  /* Of layers 0..@layer. */
  double SumBps (unsigned layer) const;
  /* TFMCC_NOBODY: none, or only receivers of higher layers. */
  std::uint32_t Clr (unsigned layer) const;

private:
  struct Layer {
    std::optional<TfmccSender> tfmcc;
    std::uint32_t seq = 0;
    MccTime report = 0; /* the newest */
  };
  struct Bcl {
    std::uint32_t seq = 0;
    MccTime next = 0;
  };

  void Begin (unsigned layer, MccTime max_rtt, MccTime now);
  MccTime BclTime () const;
  void Tell (unsigned layer, SmccReport report, MccTime now);

  Config m_config;
  std::vector<Layer> m_layers;
  std::vector<Bcl> m_bcls;
};

class SmccReceiver
{
public:
  struct Config {
    std::uint32_t id;
    std::uint32_t packet_bytes;
    std::uint64_t seed;
    double base_bps = 1e6;
    double max_bps = 10e6;
  };
  enum class Action { NONE, JOIN_LAYER, LEAVE_LAYER, JOIN_BCL, LEAVE_BCL, ATTEMPT_FAILED };

  SmccReceiver (const Config &config, MccTime now);

  /* Packets of layers that are not joined change nothing. */
  void HandleData (const SmccData &data, std::uint32_t ip_bytes, bool ce, MccTime now);
  void HandleTimeout (MccTime now);
  MccTime NextTimeout () const;
  bool PollReport (SmccReport *out);
  /* What to do to the groups: layer or BCL @number. At first: JOIN_LAYER 0. */
  Action PollAction (unsigned *number);
  void Leave (MccTime now);

  unsigned Layer () const /* the highest */
  {
    return m_layer;
  }
  bool Attempting () const
  {
    return m_attempt.has_value ();
  }
  unsigned Failures () const
  {
    return m_failures;
  }
  double RateBps (MccTime now) const /* X; 0: not known yet */
  {
    return m_tfmcc.RateBps (now);
  }
  const TfmccReceiver &Tfmcc () const
  {
    return m_tfmcc;
  }
  /* Lost of layers, not of BCLs. */
  std::uint64_t Lost () const
  {
    return m_lost;
  }

private:
  struct Queued {
    Action action;
    unsigned number;
  };

  std::uint32_t Gap (
      std::vector<std::optional<std::uint32_t>> &expected, unsigned number, std::uint32_t seq);
  void Feed (
      const SmccData &data, std::uint32_t lost, std::uint32_t ip_bytes, bool ce, MccTime now);
  void Take (MccTime now);
  void Decide (MccTime now);
  void BeginAttempt (MccTime now);
  void Count (MccTime now);
  void EndAttempt (bool success, MccTime now);
  void MoveTo (unsigned layer, MccTime now);
  void Push (Action action, unsigned number);

  Config m_config;
  TfmccReceiver m_tfmcc;
  unsigned m_layers, m_layer = 0;
  std::vector<std::optional<std::uint32_t>> m_next,
      m_next_bcl;          /* expected; nothing: no packet yet */
  std::uint32_t m_seq = 0; /* of all that is taken, merged */
  std::uint64_t m_lost = 0;
  std::optional<TfmccData> m_top; /* newest packet of the highest layer */
  MccTime m_t = 0;                /* of the BCLs, as announced */
  double m_next_bps = 0;
  struct Attempt {
    MccTime begun, step; /* t */
    unsigned joined;     /* BCLs */
  };
  std::optional<Attempt> m_attempt;
  unsigned m_failures = 0;
  MccTime m_wait = 0; /* no attempt before */
  std::vector<SmccReport> m_reports;
  std::vector<Queued> m_actions;
};

} // namespace sim

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * RLC's laws: the sender's packets one by one; a receiver fed by hand; both over a path with
 * Bernoulli loss, against the figures of a model of the same rules.
 */
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include <glib.h>

#include "rlc/rlc.h"

extern "C" {
#include "mccrng.h"
}

using namespace sim;

namespace
{

constexpr std::uint32_t S = 1000;
constexpr MccTime EPOCH = 1000 * MCC_SECOND;
constexpr double B0 = 128e3;

std::vector<double>
Doubling (unsigned layers)
{
  std::vector<double> cumulative;
  for (unsigned i = 0; i < layers; i++)
    cumulative.push_back (std::ldexp (B0, static_cast<int> (i)));
  return cumulative;
}

struct Sent {
  double at;
  RlcData data;
};

std::vector<Sent>
Send (RlcSender &sender, double until)
{
  std::vector<Sent> sent;
  RlcData data;
  MccTime end = EPOCH + mcc_time_from_seconds (until);
  for (MccTime now = sender.NextTimeout (); now < end; now = sender.NextTimeout ())
    while (sender.Poll (now, &data))
      sent.push_back ({ mcc_time_to_seconds (now - EPOCH), data });
  return sent;
}

/* t_i = t_0 2^i, whatever is lost of the others: one SP each, at most a packet time before it. */
void
SyncPoints ()
{
  RlcSender sender ({ S, Doubling (8) }, EPOCH);
  std::map<unsigned, std::vector<double>> points;
  for (const Sent &each : Send (sender, 60))
    if (each.data.flags & RLC_SP)
      points[each.data.layer].push_back (each.at);
  for (unsigned i = 0; i < 8; i++) {
    double period = std::ldexp (RLC_T0, static_cast<int> (i));
    double packet = 8.0 * S / std::ldexp (B0, std::max (0, static_cast<int> (i) - 1));
    g_assert_cmpfloat (std::fabs (static_cast<double> (points[i].size ()) - 60 / period), <=, 1);
    for (std::size_t k = 0; k < points[i].size (); k++) {
      double point = static_cast<double> (k + 1) * period;
      g_assert_cmpfloat (points[i][k], <=, point + 1e-6);
      g_assert_cmpfloat (points[i][k], >=, point - packet);
    }
  }
}

/* Mean rates are the configured ones, with bursts and without; half a burst may be early. */
void
MeanRate ()
{
  for (unsigned burst : { 0u, 8u }) {
    RlcSender sender ({ S, { 128e3, 160e3, 640e3 }, RLC_T0, burst }, EPOCH);
    std::map<unsigned, double> bits;
    std::map<unsigned, std::uint32_t> next;
    for (const Sent &each : Send (sender, 100)) {
      bits[each.data.layer] += 8.0 * S;
      g_assert_cmpuint (each.data.seq, ==, next[each.data.layer]++);
    }
    g_assert_cmpfloat_with_epsilon (bits[0] / 100, 128e3, 5 * 8.0 * S / 100);
    g_assert_cmpfloat_with_epsilon (bits[1] / 100, 32e3, 5 * 8.0 * S / 100);
    g_assert_cmpfloat_with_epsilon (bits[2] / 100, 480e3, 5 * 8.0 * S / 100);
  }
}

/* Twice the rate before an SP, silence of the same length behind it. */
void
DoublingBurst ()
{
  RlcSender sender ({ S, Doubling (6) }, EPOCH);
  double period = RLC_T0 * 32, even = 8.0 * S / (16 * B0);
  std::vector<double> at;
  unsigned flagged = 0;
  for (const Sent &each : Send (sender, 4 * period))
    if (each.data.layer == 5) {
      at.push_back (each.at);
      bool burst = each.at > 2 * period - 4 * even && each.at < 2 * period;
      if (each.at > period * 1.5 && each.at < period * 2.5)
        g_assert_cmpint ((each.data.flags & RLC_BURST) != 0, ==, burst);
      flagged += burst;
    }
  g_assert_cmpuint (flagged, ==, RLC_BURST_LENGTH);
  for (std::size_t k = 1; k < at.size (); k++) {
    double point = std::round (at[k] / period) * period;
    double gap = at[k] - at[k - 1];
    if (at[k - 1] > point - 4 * even && at[k] < point && point > 0)
      g_assert_cmpfloat_with_epsilon (gap, even / 2, 1e-6);
    if (at[k - 1] < point && at[k] > point)
      g_assert_cmpfloat (gap, >=, 4 * even);
  }
}

/* A receiver fed by hand. */
class Fed
{
public:
  explicit Fed (unsigned layers = 4, bool probe_leaves = false)
      : m_receiver ({ layers, 0.5, probe_leaves }), m_seq (layers)
  {
    g_assert_cmpint (Poll (), ==, 0);
  }
  /* Packet of @layer at @at s, @lost before it missing; the level after it. */
  unsigned Packet (double at, unsigned layer, std::uint8_t flags = 0, unsigned lost = 0)
  {
    RlcData data{};
    data.layer = static_cast<std::uint8_t> (layer);
    data.flags = flags;
    m_seq[layer] += lost;
    data.seq = m_seq[layer]++;
    m_receiver.HandleData (data, EPOCH + mcc_time_from_seconds (at));
    return m_receiver.Level ();
  }
  /* The layer joined, -1 - the one left, -100: nothing. */
  int Poll ()
  {
    unsigned layer = 0;
    RlcReceiver::Action action = m_receiver.PollAction (&layer);
    if (action == RlcReceiver::Action::NONE)
      return -100;
    int number = static_cast<int> (layer);
    return action == RlcReceiver::Action::JOIN ? number : -1 - number;
  }
  void Skip (unsigned layer, std::uint32_t packets)
  {
    m_seq[layer] += packets;
  }

private:
  RlcReceiver m_receiver;
  std::vector<std::uint32_t> m_seq;
};

void
JoinsAtTheSecondCleanPoint ()
{
  Fed fed (3);
  g_assert_cmpuint (fed.Packet (0.1, 0), ==, 0);
  g_assert_cmpuint (fed.Packet (0.2, 0, RLC_SP), ==, 0);
  g_assert_cmpuint (fed.Packet (0.3, 0), ==, 0);
  g_assert_cmpuint (fed.Packet (0.4, 0, RLC_SP), ==, 1);
  g_assert_cmpint (fed.Poll (), ==, 1);
  /* Only those of the highest layer count. */
  g_assert_cmpuint (fed.Packet (0.6, 0, RLC_SP), ==, 1);
  g_assert_cmpuint (fed.Packet (0.8, 0, RLC_SP), ==, 1);
  g_assert_cmpuint (fed.Packet (0.8, 1, RLC_SP), ==, 1);
  g_assert_cmpuint (fed.Packet (1.2, 1, RLC_SP), ==, 2);
  /* There is no higher one. */
  g_assert_cmpuint (fed.Packet (1.6, 2, RLC_SP), ==, 2);
  g_assert_cmpuint (fed.Packet (2.4, 2, RLC_SP), ==, 2);
}

void
LossLeavesThenDeaf ()
{
  Fed fed;
  fed.Packet (0.2, 0, RLC_SP);
  fed.Packet (0.4, 0, RLC_SP);
  fed.Packet (0.5, 1, RLC_SP);
  g_assert_cmpuint (fed.Packet (1.0, 1, RLC_SP), ==, 2);
  fed.Packet (1.1, 2);
  /* In any layer. */
  g_assert_cmpuint (fed.Packet (1.2, 0, 0, 1), ==, 1);
  /* Until 1.7 s nothing more, then again. */
  g_assert_cmpuint (fed.Packet (1.6, 1, 0, 3), ==, 1);
  /* What still comes of layers left means nothing. */
  g_assert_cmpuint (fed.Packet (1.705, 2, 0, 5), ==, 1);
  g_assert_cmpuint (fed.Packet (1.71, 1, 0, 1), ==, 0);
  g_assert_cmpuint (fed.Packet (3.0, 2, 0, 5), ==, 0);
  g_assert_cmpuint (fed.Packet (3.1, 1, 0, 5), ==, 0);
  /* The base layer stays. */
  g_assert_cmpuint (fed.Packet (3.2, 0, 0, 5), ==, 0);
}

/* A layer that is joined again begins anew: what was sent meanwhile is no loss. */
void
AgainIsNoLoss ()
{
  Fed fed;
  fed.Packet (0.2, 0, RLC_SP);
  fed.Packet (0.4, 0, RLC_SP);
  fed.Packet (0.5, 1);
  g_assert_cmpuint (fed.Packet (0.6, 0, 0, 1), ==, 0);
  fed.Skip (1, 50);
  fed.Packet (1.2, 0, RLC_SP);
  g_assert_cmpuint (fed.Packet (1.4, 0, RLC_SP), ==, 1);
  g_assert_cmpuint (fed.Packet (1.5, 1), ==, 1);
}

/* That of the highest layer: no join at the SP behind it; nothing is left, nobody is deaf. */
void
LossInABurstForbids ()
{
  Fed fed;
  fed.Packet (0.2, 0, RLC_SP);
  fed.Packet (0.35, 0, RLC_BURST);
  g_assert_cmpuint (fed.Packet (0.4, 0, RLC_BURST | RLC_SP, 1), ==, 0);
  g_assert_cmpuint (fed.Packet (0.6, 0, RLC_SP), ==, 1);
  fed.Packet (0.7, 1, RLC_SP);
  g_assert_cmpuint (fed.Packet (1.1, 1, RLC_BURST, 1), ==, 1);
  g_assert_cmpuint (fed.Packet (1.15, 1, RLC_BURST | RLC_SP), ==, 1);
  /* The SP itself is lost: the packet behind it says so. */
  fed.Packet (1.5, 1, RLC_BURST);
  g_assert_cmpuint (fed.Packet (1.7, 1, 0, 1), ==, 1);
  g_assert_cmpuint (fed.Packet (1.9, 1, RLC_SP), ==, 1);
  g_assert_cmpuint (fed.Packet (2.3, 1, RLC_SP), ==, 2);
  fed.Packet (2.4, 2, RLC_BURST);
  g_assert_cmpuint (fed.Packet (2.5, 2, RLC_BURST, 1), ==, 2);
  /* Behind the burst, at once: leave. */
  fed.Packet (2.6, 2, RLC_BURST | RLC_SP);
  fed.Packet (2.7, 2);
  g_assert_cmpuint (fed.Packet (2.8, 2, 0, 1), ==, 1);
}

/* It is not before an SP at which this receiver may join. */
void
LossInABurstOfALowerLayerLeaves ()
{
  Fed fed;
  fed.Packet (0.2, 0, RLC_SP);
  fed.Packet (0.4, 0, RLC_SP);
  fed.Packet (0.5, 1);
  fed.Packet (0.58, 0, RLC_BURST);
  g_assert_cmpuint (fed.Packet (0.6, 0, RLC_BURST | RLC_SP, 1), ==, 0);
}

void
ProbeLeaves ()
{
  Fed fed (4, true);
  fed.Packet (0.2, 0, RLC_SP);
  fed.Packet (0.4, 0, RLC_SP);
  fed.Packet (0.6, 1, RLC_BURST);
  g_assert_cmpuint (fed.Packet (0.7, 1, RLC_BURST, 1), ==, 0);
}

struct Figures {
  double bps, changes;
};

/* A receiver behind Bernoulli loss for 300 s. */
Figures
Bernoulli (double loss, unsigned burst, double deaf, std::uint64_t seed)
{
  RlcSender sender ({ S, Doubling (8), RLC_T0, burst }, EPOCH);
  RlcReceiver receiver ({ 8, deaf });
  MccRng rng;
  mcc_rng_init (&rng, seed);
  Figures figures{};
  unsigned layer;
  for (const Sent &each : Send (sender, 300)) {
    if (each.data.layer > receiver.Level () || mcc_rng_uniform (&rng) < loss)
      continue;
    receiver.HandleData (each.data, EPOCH + mcc_time_from_seconds (each.at));
    figures.bps += 8.0 * S / 300;
    while (receiver.PollAction (&layer) != RlcReceiver::Action::NONE)
      figures.changes++;
  }
  figures.changes--; /* the base layer */
  return figures;
}

Figures
MeanOf (double loss, unsigned burst, double deaf)
{
  constexpr unsigned SEEDS = 10;
  Figures mean{};
  for (std::uint64_t seed = 1; seed <= SEEDS; seed++) {
    Figures one = Bernoulli (loss, burst, deaf, seed);
    mean.bps += one.bps / SEEDS;
    mean.changes += one.changes / SEEDS;
  }
  return mean;
}

/* The thesis (6.3.2) has 641, 470 and 400 kb/s with more than 300, about 430 and almost 500
 * changes; with a shorter deaf time there are more changes at less rate. */
void
BernoulliFigures ()
{
  static const struct {
    double loss, bps, changes;
  } table[] = { { 0.01, 641e3, 350 }, { 0.02, 470e3, 430 }, { 0.03, 400e3, 500 } };
  for (const auto &row : table) {
    Figures usual = MeanOf (row.loss, 0, RLC_DEAF), bursts = MeanOf (row.loss, 8, RLC_DEAF);
    Figures quick = MeanOf (row.loss, 0, 0.5);
    g_test_message (
        "%g: %.0f b/s, %.0f changes; with bursts %.0f b/s, %.0f; t_D 0.5 s %.0f b/s, %.0f",
        row.loss, usual.bps, usual.changes, bursts.bps, bursts.changes, quick.bps, quick.changes);
    g_assert_cmpfloat_with_epsilon (usual.bps, row.bps, 0.07 * row.bps);
    g_assert_cmpfloat_with_epsilon (bursts.bps, row.bps, 0.07 * row.bps);
    g_assert_cmpfloat_with_epsilon (usual.changes, row.changes, 0.1 * row.changes);
    g_assert_cmpfloat_with_epsilon (bursts.changes, row.changes, 0.1 * row.changes);
    g_assert_cmpfloat (quick.changes, >, usual.changes);
    g_assert_cmpfloat (quick.bps, <, usual.bps);
  }
}

void
WithoutLossToTheTop ()
{
  g_assert_cmpfloat (Bernoulli (0, 8, 0.5, 1).changes, ==, 7);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/rlc/sync-points", SyncPoints);
  g_test_add_func ("/rlc/mean-rate", MeanRate);
  g_test_add_func ("/rlc/doubling-burst", DoublingBurst);
  g_test_add_func ("/rlc/joins-at-the-second-clean-point", JoinsAtTheSecondCleanPoint);
  g_test_add_func ("/rlc/loss-leaves-then-deaf", LossLeavesThenDeaf);
  g_test_add_func ("/rlc/again-is-no-loss", AgainIsNoLoss);
  g_test_add_func ("/rlc/loss-in-a-burst/forbids", LossInABurstForbids);
  g_test_add_func ("/rlc/loss-in-a-burst/of-a-lower-layer", LossInABurstOfALowerLayerLeaves);
  g_test_add_func ("/rlc/loss-in-a-burst/probe-leaves", ProbeLeaves);
  g_test_add_func ("/rlc/bernoulli-figures", BernoulliFigures);
  g_test_add_func ("/rlc/without-loss-to-the-top", WithoutLossToTheTop);
  return g_test_run ();
}

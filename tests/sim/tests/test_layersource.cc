/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the sources of layers send, and in which order.
 */
#include <algorithm>
#include <cmath>
#include <vector>

#include <glib.h>
#include <ns3/simulator.h>

#include "lab.h"
#include "layersource.h"
#include "topology.h"

extern "C" {
#include "mccpacer.h"
}

namespace
{

constexpr double TIME = 20; /* s */
constexpr std::uint32_t BYTES = 1000;
const std::vector<std::uint64_t> RATES = { 128000, 128000, 256000, 512000, 1024000 };

struct Sent {
  double time;
  unsigned layer;
  bool first;
};

std::vector<Sent>
Send (const char *type, const char *paced = "stream")
{
  std::vector<Sent> sent;
  std::unique_ptr<sim::Topology> star
      = sim::NewLightStar ({ { "seed", 1 }, { "flows", nlohmann::json::array () } });
  star->AddHost ("h", "a", { { "delay", 0 } });
  std::unique_ptr<sim::Port> port = star->NewPort (0, 0);
  std::unique_ptr<sim::LayerSource> source
      = sim::NewLayerSource (*port, { BYTES, 48, RATES, { { "type", type }, { "paced", paced } } },
          [&sent] (unsigned layer, bool first) {
            sent.push_back ({ ns3::Simulator::Now ().GetSeconds (), layer, first });
          });
  MccRng rng;
  mcc_rng_init (&rng, 1);
  source->Start (&rng);
  ns3::Simulator::Stop (ns3::Seconds (TIME));
  ns3::Simulator::Run ();
  source.reset ();
  port.reset ();
  ns3::Simulator::Destroy ();
  return sent;
}

void
Rates (gconstpointer type)
{
  std::vector<double> bits (RATES.size ());
  for (const Sent &packet : Send (static_cast<const char *> (type)))
    bits[packet.layer] += 8.0 * BYTES;
  for (unsigned k = 0; k < RATES.size (); k++)
    assert_near (bits[k] / TIME, static_cast<double> (RATES[k]), 0.01);
}

void
EvenlySpaced ()
{
  std::vector<double> last (RATES.size (), -1);
  for (const Sent &packet : Send ("cbr")) {
    double spacing = 8.0 * BYTES / static_cast<double> (RATES[packet.layer]);
    if (last[packet.layer] >= 0)
      assert_near (packet.time - last[packet.layer], spacing, 1e-3);
    last[packet.layer] = packet.time;
  }
}

/* Paced as one stream: nothing of another picture is between the packets of one. */
void
WholePictures ()
{
  std::vector<Sent> sent = Send ("pictures");
  std::vector<unsigned> pictures (RATES.size ());
  unsigned together = 0;
  g_assert_true (sent.front ().first);
  for (std::size_t i = 0; i < sent.size (); i++) {
    pictures[sent[i].layer] += sent[i].first;
    if (!sent[i].first)
      g_assert_cmpuint (sent[i].layer, ==, sent[i - 1].layer);
    together += i > 0 && sent[i].time == sent[i - 1].time;
  }
  for (unsigned k = 2; k < RATES.size (); k++) /* a packet and more each */
    assert_near (pictures[k], 25 * TIME, 0.01);
  g_assert_cmpuint (together, >, sent.size () / 4); /* a pacer that wakes every 5 ms */
}

/* The fastest at which a layer's packets leave: at 1.5 times its own rate, or at what takes its
 * largest picture's within MCC_PACER_LAYER_DELAY. */
double
Fastest (unsigned layer)
{
  auto rate = static_cast<double> (RATES[layer]);
  double packets = std::ceil (rate / 25 / (8.0 * BYTES));
  return std::max (1.5 * rate, 8.0 * BYTES * packets / mcc_time_to_seconds (MCC_PACER_LAYER_DELAY));
}

/* A layer's packets leave no faster than that, half a burst of 5 ms ahead at most (mccpacer.c),
 * between those of others. */
void
PacedApart ()
{
  std::vector<Sent> sent = Send ("pictures", "layers");
  std::vector<double> bits (RATES.size ()), last (RATES.size (), -1);
  unsigned between = 0;
  for (std::size_t i = 0; i < sent.size (); i++) {
    const Sent &packet = sent[i];
    double spacing = 8.0 * BYTES / Fastest (packet.layer);
    bits[packet.layer] += 8.0 * BYTES;
    g_assert_cmpfloat (packet.time - last[packet.layer], >=, 0.999 * spacing - 0.0025);
    last[packet.layer] = packet.time;
    between += !packet.first && packet.layer != sent[i - 1].layer;
  }
  for (unsigned k = 0; k < RATES.size (); k++)
    assert_near (bits[k] / TIME, static_cast<double> (RATES[k]), 0.01);
  g_assert_cmpuint (between, >, sent.size () / 4);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_data_func ("/layersource/rates/cbr", "cbr", Rates);
  g_test_add_data_func ("/layersource/rates/pictures", "pictures", Rates);
  g_test_add_func ("/layersource/evenly-spaced", EvenlySpaced);
  g_test_add_func ("/layersource/whole-pictures", WholePictures);
  g_test_add_func ("/layersource/paced-apart", PacedApart);
  return g_test_run ();
}

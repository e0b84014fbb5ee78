/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The traced encoder, and the source through the core's pacer.
 */
#include <cmath>

#include <glib.h>
#include <ns3/simulator.h>

#include "mediasource.h"
#include "topology.h"
#include "videosource.h"

namespace
{

/* Sizes are of the nearest trace, scaled. */
void
Sizes ()
{
  const auto &traces = sim::LoadTraces ("news");
  g_assert_cmpuint (traces.size (), >=, 5);
  for (const sim::Trace &trace : traces) {
    sim::TracedEncoder same (traces), more (traces);
    double bits = 0;
    for (const sim::TraceFrame &frame : trace.frames) {
      g_assert_cmpuint (same.Encode (trace.encoder_bps).bytes, ==, frame.bytes);
      double scaled = more.Encode (1.1 * trace.encoder_bps).bytes;
      g_assert_cmpfloat (std::fabs (scaled - 1.1 * frame.bytes), <=, 0.5);
      bits += 8.0 * frame.bytes;
    }
    /* What was recorded is what the encoder was asked for (25 frames/s). */
    double mean = bits * 25 / static_cast<double> (trace.frames.size ());
    g_assert_cmpfloat (std::fabs (mean / trace.encoder_bps - 1), <, 0.1);
  }
}

void
KeyUnits ()
{
  sim::TracedEncoder encoder (sim::LoadTraces ("news"));
  g_assert_true (encoder.Encode (800000).key); /* the first of all */
  for (int i = 0; i < 10; i++)
    g_assert_false (encoder.Encode (800000).key);
  encoder.RequestKey ();
  g_assert_true (encoder.Encode (800000).key);
  g_assert_false (encoder.Encode (800000).key);
}

struct Source {
  explicit Source (std::uint64_t target_bps)
  {
    star = sim::NewLightStar ({ { "seed", 1 }, { "flows", nlohmann::json::array () } });
    star->AddHost ("h", "a", { { "delay", 0 } });
    port = star->NewPort (0, 0);
    sim::MediaSourceConfig config = { 1000, 48, { { "type", "video" }, { "trace", "news" } } };
    source = sim::NewMediaSource (*port, config, [this] (std::uint32_t bytes) {
      times.push_back (ns3::Simulator::Now ().GetSeconds ());
      g_assert_cmpuint (bytes, <=, 1000);
      g_assert_cmpuint (bytes, >, 48);
      sum += bytes;
    });
    source->SetTarget (target_bps);
    source->Start ();
  }
  ~Source ()
  {
    source.reset ();
    port.reset ();
    ns3::Simulator::Destroy ();
  }
  double Run (double until)
  {
    double before = sum, from = ns3::Simulator::Now ().GetSeconds ();
    ns3::Simulator::Stop (ns3::Seconds (until - from));
    ns3::Simulator::Run ();
    return 8 * (sum - before) / (until - from);
  }

  std::unique_ptr<sim::Topology> star;
  std::unique_ptr<sim::Port> port;
  std::unique_ptr<sim::MediaSource> source;
  std::vector<double> times;
  double sum = 0;
};

/* The wire rate is the target; another one is taken up at once. */
void
Rate ()
{
  Source source (1000000);
  source.Run (10);
  double first = source.Run (50);
  source.source->SetTarget (300000);
  source.Run (52);
  double second = source.Run (92);
  g_test_message ("%.0f and %.0f bit/s", first, second);
  g_assert_cmpfloat (first, >, 900000);
  g_assert_cmpfloat (first, <, 1050000);
  g_assert_cmpfloat (second, >, 270000);
  g_assert_cmpfloat (second, <, 315000);
}

/* The first frame leaves one frame after it went in, and the pacer spreads what is large. */
void
Pacing ()
{
  Source source (1000000);
  source.Run (1);
  g_assert_cmpfloat (source.times[0], >=, 0.04);
  g_assert_cmpfloat (source.times[0], <, 0.05);
  std::size_t burst = 0, most = 0;
  for (std::size_t i = 0; i < source.times.size (); i++) {
    burst = i > 0 && source.times[i] == source.times[i - 1] ? burst + 1 : 1;
    most = std::max (most, burst);
  }
  /* 5 ms at 1.5 Mb/s are 0.9 packets; the key frame (> 10 kB) raises the rate to what its delay
   * bound of 150 ms asks for. */
  g_assert_cmpuint (most, <=, 3);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/video/sizes", Sizes);
  g_test_add_func ("/video/key-units", KeyUnits);
  g_test_add_func ("/video/rate", Rate);
  g_test_add_func ("/video/pacing", Pacing);
  return g_test_run ();
}

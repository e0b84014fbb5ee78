/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ns-3's TCP as we set it up.
 */
#include <map>
#include <memory>

#include <ns3/ipv4-header.h>
#include <ns3/simulator.h>
#include <ns3/tcp-header.h>

#include "lab.h"
#include "tcp.h"

using lab::json;
using ns3::Simulator;

namespace
{

/* One flow over 8 Mb/s and 40 ms, watched at both ends. */
struct Watched {
  std::unique_ptr<sim::Network> network;
  sim::FlowRecord record;
  std::unique_ptr<sim::TcpFlow> flow;
  std::map<std::uint32_t, unsigned> sizes; /* of what arrives at the receiver */
  std::vector<double> data, acks;          /* arrival times at receiver and sender */

  explicit Watched (json extra = json::object ())
  {
    json scenario = lab::Scenario (
        60, { lab::Link ("l", "a", "b", 8e6, 0.020, lab::DropTail (50)) }, json::array ());
    scenario["access"] = { { "rate", 1e9 }, { "delay", 0 } };
    network = std::make_unique<sim::Network> (scenario);
    network->AddHost ("a", "a", json ());
    network->AddHost ("b", "b", json ());
    json description = lab::Tcp ("t", "reno");
    description.update (extra);
    flow = std::make_unique<sim::TcpFlow> (
        *network, 0, 1, description, 0, sim::Random (1, "onoff"), record);
    network->OnArrival (
        0, [this] (ns3::Ptr<ns3::Packet>) { acks.push_back (Simulator::Now ().GetSeconds ()); });
    network->OnArrival (1, [this] (ns3::Ptr<ns3::Packet> packet) {
      sizes[packet->GetSize ()]++;
      if (packet->GetSize () > 100)
        data.push_back (Simulator::Now ().GetSeconds ());
    });
  }
  ~Watched ()
  {
    flow.reset ();
    network.reset ();
    Simulator::Destroy ();
  }
  void Run (double seconds)
  {
    Simulator::Stop (ns3::Seconds (seconds));
    Simulator::Run ();
  }
};

void
test_segments ()
{
  Watched watched;
  watched.flow->Start ();
  watched.Run (5);
  /* Full segments of 1000 IP bytes, SYN and bare ACK; nothing else. */
  g_assert_cmpuint (watched.sizes.rbegin ()->first, ==, 1000);
  g_assert_cmpuint (watched.sizes[1000], ==, watched.data.size ());
  g_assert_cmpuint (watched.sizes.size (), <=, 3);
}

void
test_initial_window ()
{
  Watched watched;
  watched.flow->Start ();
  watched.Run (0.1);
  /* SYN, SYN-ACK, then ten segments in the third half of a round trip. */
  unsigned first = 0;
  for (double time : watched.data)
    first += time < 0.020 * 3 + 0.015;
  g_assert_cmpuint (first, ==, 10);
}

void
test_delayed_acks ()
{
  Watched watched;
  watched.flow->Start ();
  Simulator::Schedule (ns3::Seconds (1), [&] {
    watched.data.clear ();
    watched.acks.clear ();
  });
  watched.Run (1.5);
  /* No loss yet in this half second, or few: one ACK for two segments. */
  assert_near (double (watched.acks.size ()), watched.data.size () / 2.0, 0.1);
}

/* The application's end is soon TCP's end, and the next on time is a new connection. */
void
test_onoff ()
{
  const json onoff = { { "on", 2 }, { "off", 3 }, { "distribution", "constant" } };
  Watched watched (json{ { "onoff", onoff } });
  watched.flow->Start ();
  Simulator::Schedule (ns3::Seconds (11), [&] { watched.flow->Stop (); });
  watched.Run (20);
  const auto &bytes = watched.data;
  auto count = [&bytes] (double from, double to) {
    return std::count_if (
        bytes.begin (), bytes.end (), [=] (double at) { return at >= from && at < to; });
  };
  g_assert_cmpuint (count (0, 2), >, 1000);
  g_assert_cmpuint (count (2.3, 5), ==, 0);
  g_assert_cmpuint (count (5, 7), >, 1000);
  g_assert_cmpuint (count (7.3, 10), ==, 0);
  g_assert_cmpuint (count (10, 11), >, 400);
  g_assert_cmpuint (count (11.3, 20), ==, 0);
}

void
test_records ()
{
  json scenario = lab::Scenario (20, { lab::Link ("l", "a", "b", 8e6, 0.02, lab::DropTail (30)) },
      { lab::Tcp ("t1", "reno"), lab::Tcp ("t2", "cubic", 1) });
  const json result = sim::RunScenario (scenario);
  const json &flows = result.at ("flows"), &link = result.at ("links").at ("l");
  const json &t1 = flows.at ("t1"), &t2 = flows.at ("t2");
  /* Lost on the link is lost to one of them; on the link or arrived, but for what is on its way. */
  assert_near (
      lab::Sum (t1.at ("lost")) + lab::Sum (t2.at ("lost")), lab::Sum (link.at ("queue_drops")), 0);
  g_assert_cmpfloat (lab::Sum (t1.at ("lost")), >, 0);
  assert_near (
      lab::Sum (t1.at ("bytes")) + lab::Sum (t2.at ("bytes")), lab::Sum (link.at ("bytes")), 0.002);
  /* Propagation, the queue, and the times on the links. */
  const double own = lab::Mean (t1, 5, 20);
  g_assert_cmpfloat (own, >, 0.021 + lab::Mean (link, 5, 20) * 0.9);
  g_assert_cmpfloat (own, <, 0.021 + 0.030 + 0.007);
}

/* At a loss ratio p, as mean of 3 flows: Reno by the square-root law 1.22 s / (R sqrt p), which
 * counts segments (b = 1), and NewReno, which counts ACKs (b = 2), by sqrt 2 below it. CUBIC's
 * window is so small there that it is Reno-friendly (RFC 9438, 4.3). */
void
test_kinds_differ ()
{
  std::map<std::string, double> rate;
  const double p = 0.01;
  for (const char *kind : { "reno", "newreno", "cubic" }) {
    json flows = json::array ();
    for (const char *id : { "t1", "t2", "t3" })
      flows.push_back (lab::Tcp (id, kind, { 0, 1 }));
    json scenario = lab::Scenario (60, { lab::Link ("l", "a", "b", 20e6, 0.05) }, flows);
    scenario["access"]["delay"] = 0.001;
    scenario["links"][0]["loss"] = { { "type", "bernoulli" }, { "ratio", p } };
    const json result = sim::RunScenario (scenario);
    rate[kind] = lab::Rate (result.at ("links").at ("l").at ("bytes"), 5, 60) / 3;
  }
  assert_near (rate["reno"], 8000 * 1.22 / (0.1044 * std::sqrt (p)), 0.3);
  assert_near (rate["newreno"], rate["reno"] / std::sqrt (2), 0.25);
  assert_near (rate["cubic"], rate["reno"], 0.2);
}

/* Seeds whose start-up ends in time-outs, after which ns-3's BBR sent some packets a second. */
void
test_bbr_after_timeouts ()
{
  for (int seed : { 24, 71 }) {
    json scenario = lab::Scenario (12,
        { lab::Link ("l", "a", "b", 8e6, 0.025, lab::DropTail (50)) }, { lab::Tcp ("t", "bbr") });
    scenario["seed"] = seed;
    scenario["access"] = { { "rate", 1e8 }, { "delay", { 0.0005, 0.003 } } };
    scenario["links"][0]["loss"] = { { "type", "bernoulli" }, { "ratio", 0.01 } };
    const json result = sim::RunScenario (scenario);
    assert_near (lab::Rate (result.at ("flows").at ("t").at ("bytes"), 6, 12), 7.8e6, 0.1);
  }
}

void
test_survives_outage ()
{
  json scenario = lab::Scenario (
      60, { lab::Link ("l", "a", "b", 8e6, 0.02, lab::DropTail (50)) }, { lab::Tcp ("t", "reno") });
  scenario["changes"] = {
    { { "at", 5 }, { "link", "l" }, { "loss", { { "type", "bernoulli" }, { "ratio", 1 } } } },
    { { "at", 20 }, { "link", "l" }, { "loss", { { "type", "none" } } } },
  };
  const json result = sim::RunScenario (scenario);
  assert_near (lab::Rate (result.at ("links").at ("l").at ("bytes"), 50, 60), 8e6, 0.02);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/tcp/full-segments", test_segments);
  g_test_add_func ("/tcp/initial-window", test_initial_window);
  g_test_add_func ("/tcp/delayed-acks", test_delayed_acks);
  g_test_add_func ("/tcp/on-off", test_onoff);
  g_test_add_func ("/tcp/records", test_records);
  g_test_add_func ("/tcp/kinds-differ", test_kinds_differ);
  g_test_add_func ("/tcp/bbr/after-time-outs", test_bbr_after_timeouts);
  g_test_add_func ("/tcp/survives-an-outage", test_survives_outage);
  return g_test_run ();
}

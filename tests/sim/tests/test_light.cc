/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The light star against its definition.
 */
#include <cmath>

#include <glib.h>
#include <ns3/simulator.h>

#include "light.h"

namespace
{

using sim::Datagram;
using sim::Port;

using Accesses = std::vector<nlohmann::json>;

/* A sender and hosts with these accesses; all ports of flow 0. */
struct Star {
  explicit Star (const std::vector<nlohmann::json> &accesses)
  {
    nlohmann::json scenario = { { "seed", 3 }, { "clocks", "random" },
      { "flows", { { { "type", "multicast" }, { "max_rate", 1e6 } } } } };
    star = sim::NewLightStar (scenario);
    for (std::size_t i = 0; i < accesses.size (); i++)
      star->AddHost ("h" + std::to_string (i), "a", accesses[i]);
    arrivals.resize (accesses.size ());
    for (std::size_t i = 0; i < accesses.size (); i++) {
      ports.push_back (star->NewPort (static_cast<sim::HostId> (i), 0));
      ports[i]->SetHandler ([this, i] (const Datagram &datagram) {
        arrivals[i].push_back (ns3::Simulator::Now ().GetSeconds ());
        last = datagram;
      });
    }
  }
  ~Star ()
  {
    ports.clear ();
    ns3::Simulator::Destroy ();
  }
  void At (double when, std::function<void ()> callback)
  {
    ns3::Simulator::Schedule (ns3::Seconds (when), std::move (callback));
  }
  void Send (double when, std::uint32_t bytes = 1000)
  {
    At (when, [this, bytes] { ports[0]->SendGroup (0, "x", 1, bytes); });
  }
  void Run (double until = 1e5)
  {
    ns3::Simulator::Stop (ns3::Seconds (until));
    ns3::Simulator::Run ();
  }

  std::unique_ptr<sim::Topology> star;
  std::vector<std::unique_ptr<Port>> ports;
  std::vector<std::vector<double>> arrivals;
  Datagram last;
};

nlohmann::json
Delay (double delay)
{
  return { { "delay", delay } };
}

void
Delays ()
{
  Star star (Accesses{ Delay (0.01), Delay (0.03), Delay (0.25), Delay (0.02) });
  star.ports[1]->Join (0);
  star.ports[2]->Join (0);
  star.ports[0]->Join (0); /* what a host sends does not come back */
  star.Send (1.0);
  star.At (2.0, [&] { star.ports[1]->SendTo (3, "y", 1, 100); });
  star.Run ();
  g_assert_cmpuint (star.arrivals[0].size (), ==, 0);
  g_assert_cmpuint (star.arrivals[1].size (), ==, 1);
  g_assert_cmpuint (star.arrivals[2].size (), ==, 1);
  g_assert_cmpfloat_with_epsilon (star.arrivals[1][0], 1.04, 1e-9);
  g_assert_cmpfloat_with_epsilon (star.arrivals[2][0], 1.26, 1e-9);
  g_assert_cmpuint (star.arrivals[3].size (), ==, 1); /* no member, but addressed */
  g_assert_cmpfloat_with_epsilon (star.arrivals[3][0], 2.05, 1e-9);
  g_assert_cmpuint (star.last.from, ==, 1);
  g_assert_false (star.last.to_group);
  g_assert_cmpfloat_with_epsilon (star.last.delay, 0.05, 1e-9);
}

/* A join takes its way to the core; a leave is at once. */
void
Membership ()
{
  Star star (Accesses{ Delay (0), Delay (0.1) });
  star.At (1.0, [&] { star.ports[1]->Join (0); });
  for (double when : { 1.0, 1.05, 1.099, 1.101, 1.5, 1.95 })
    star.Send (when);
  star.At (2.0, [&] { star.ports[1]->Leave (0); });
  star.Run ();
  g_assert_cmpuint (star.arrivals[1].size (), ==, 2); /* 1.101, 1.5; 1.95 comes too late */
}

void
Loss ()
{
  Star star (Accesses{ Delay (0),
      { { "delay", 0.01 }, { "loss", { { "type", "bernoulli" }, { "ratio", 0.05 } } } },
      { { "delay", 0.01 }, { "loss", { { "type", "bernoulli" }, { "ratio", 0.05 } } } } });
  star.ports[1]->Join (0);
  star.ports[2]->Join (0);
  const int n = 20000;
  for (int i = 0; i < n; i++)
    star.Send (1.0 + i * 0.01);
  star.Run ();
  unsigned both = 0;
  std::size_t other = 0;
  for (double time : star.arrivals[1]) {
    while (other < star.arrivals[2].size () && star.arrivals[2][other] < time)
      other++;
    both += other < star.arrivals[2].size () && star.arrivals[2][other] == time;
  }
  /* 4 standard deviations */
  double deviation = 4 * std::sqrt (n * 0.05 * 0.95);
  g_assert_cmpfloat (
      std::fabs (static_cast<double> (star.arrivals[1].size ()) - 0.95 * n), <, deviation);
  g_assert_cmpfloat (
      std::fabs (static_cast<double> (star.arrivals[2].size ()) - 0.95 * n), <, deviation);
  g_assert_cmpfloat (std::fabs (both - 0.9025 * n), <, 4 * std::sqrt (n * 0.9025 * 0.0975));
}

/* 50 packets wait besides the one being sent; the rest is dropped; they leave at the rate. */
void
Queue ()
{
  Star star (Accesses{ Delay (0), { { "delay", 0.01 }, { "rate", 80000.0 } } });
  star.ports[1]->Join (0);
  for (int i = 0; i < 60; i++)
    star.Send (1.0);
  star.Run ();
  g_assert_cmpuint (star.arrivals[1].size (), ==, 51);
  for (std::size_t i = 0; i < star.arrivals[1].size (); i++)
    g_assert_cmpfloat_with_epsilon (
        star.arrivals[1][i], 1.01 + 0.1 * static_cast<double> (i + 1), 1e-6);
}

/* A host's clock has an epoch and a drift, and keeps its appointments. */
void
Clocks ()
{
  Star star (Accesses{ Delay (0), Delay (0) });
  MccTime start[2], end[2], fired = 0;
  for (int i = 0; i < 2; i++)
    start[i] = star.ports[i]->Now ();
  MccTime when = start[1] + 500 * MCC_SECOND;
  star.ports[1]->At (when, [&] { fired = star.ports[1]->Now (); });
  star.Run (1000);
  for (int i = 0; i < 2; i++)
    end[i] = star.ports[i]->Now ();
  g_assert_cmpuint (start[0], !=, start[1]);
  g_assert_cmpuint (fired, >=, when);
  g_assert_cmpuint (fired, <=, when + 10);
  double drift[2];
  for (int i = 0; i < 2; i++) {
    drift[i] = static_cast<double> (end[i] - start[i]) * 1e-9 / 1000 - 1;
    g_assert_cmpfloat (std::fabs (drift[i]), <=, 20e-6);
    g_assert_cmpfloat (std::fabs (drift[i]), >, 0);
  }
  g_assert_cmpfloat (drift[0], !=, drift[1]);
}

/* More than 1000 hosts: whole milliseconds, never earlier. */
void
Steps ()
{
  std::vector<nlohmann::json> accesses (1002, Delay (0.0204));
  accesses[0] = Delay (0);
  Star star (accesses);
  star.ports[7]->Join (0);
  star.Send (1.0);
  star.Run ();
  g_assert_cmpuint (star.arrivals[7].size (), ==, 1);
  g_assert_cmpfloat_with_epsilon (star.arrivals[7][0], 1.021, 1e-9);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/light/delays", Delays);
  g_test_add_func ("/light/membership", Membership);
  g_test_add_func ("/light/loss-is-independent", Loss);
  g_test_add_func ("/light/queue", Queue);
  g_test_add_func ("/light/clocks", Clocks);
  g_test_add_func ("/light/many-hosts-in-steps", Steps);
  return g_test_run ();
}

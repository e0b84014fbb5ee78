/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a protocol sees through its port: clocks, sizes, ECN.
 */
#include <memory>

#include <ns3/simulator.h>

#include "lab.h"
#include "network.h"

using lab::json;
using ns3::Simulator;

namespace
{

/* Two hosts, 11 ms apart, with ports. */
struct Pair {
  std::unique_ptr<sim::Network> network;
  std::unique_ptr<sim::Port> a, b;

  explicit Pair (const char *clocks, json queue = lab::DropTail (1000), double rate_bps = 8e6)
  {
    json scenario
        = lab::Scenario (10, { lab::Link ("l", "a", "b", rate_bps, 0.010, queue) }, json::array ());
    scenario["access"] = { { "rate", 80e6 }, { "delay", 0.0005 } };
    scenario["clocks"] = clocks;
    network = std::make_unique<sim::Network> (scenario);
    network->AddHost ("a", "a", json ());
    network->AddHost ("b", "b", json ());
    a = network->NewPort (0, 0);
    b = network->NewPort (1, 0);
  }
  ~Pair ()
  {
    a.reset ();
    b.reset ();
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
test_datagram ()
{
  Pair pair ("random");
  unsigned count = 0;
  pair.b->SetHandler ([&] (const sim::Datagram &datagram) {
    count++;
    g_assert_cmpuint (datagram.from, ==, 0);
    g_assert_false (datagram.to_group);
    g_assert_cmpint (datagram.ecn, ==, MCC_ECN_NOT_ECT);
    g_assert_cmpuint (datagram.ip_bytes, ==, 1000);
    g_assert_cmpmem (datagram.data, datagram.size, "hello", 5);
    /* 1 ms on the link, 0.1 ms on each host's, 11 ms of propagation; true, whatever the clocks. */
    assert_near (datagram.delay, 0.0122, 1e-6);
  });
  pair.a->SendTo (1, "hello", 5, 1000);
  pair.Run (1);
  g_assert_cmpuint (count, ==, 1);
  assert_near (lab::Sum (pair.network->Links ().at ("l").at ("bytes")), 1000, 0);
}

void
test_clocks ()
{
  Pair pair ("random");
  const double a = pair.a->Now () * 1e-9, b = pair.b->Now () * 1e-9;
  for (double epoch : { a, b }) {
    g_assert_cmpfloat (epoch, >=, 1000);
    g_assert_cmpfloat (epoch, <=, 100000);
  }
  g_assert_cmpfloat (std::fabs (a - b), >, 1);
  pair.Run (1000);
  const double drift_a = (pair.a->Now () * 1e-9 - a) / 1000 - 1;
  const double drift_b = (pair.b->Now () * 1e-9 - b) / 1000 - 1;
  g_assert_cmpfloat (std::fabs (drift_a), <=, 20e-6);
  g_assert_cmpfloat (std::fabs (drift_b), <=, 20e-6);
  g_assert_cmpfloat (std::fabs (drift_a - drift_b), >, 0.1e-6);
}

void
test_synchronised ()
{
  Pair pair ("synchronised");
  const MccTime a = pair.a->Now ();
  g_assert_cmpuint (a, ==, pair.b->Now ());
  g_assert_cmpuint (a, >, 0);
  pair.Run (1000);
  g_assert_cmpuint (pair.a->Now () - a, ==, 1000 * MCC_SECOND);
  g_assert_cmpuint (pair.a->Now (), ==, pair.b->Now ());
}

/* A timer never fires before its time on the host's clock, and at most 1 us after. */
void
test_timers ()
{
  Pair pair ("random");
  unsigned fired = 0;
  for (sim::Port *port : { pair.a.get (), pair.b.get () }) {
    for (unsigned i = 0; i < 1000; i++) {
      const MccTime when = port->Now () + i * 7919 * MCC_USECOND + i;
      port->At (when, [port, when, &fired] {
        fired++;
        g_assert_cmpuint (port->Now (), >=, when);
        g_assert_cmpuint (port->Now () - when, <, MCC_USECOND);
      });
    }
    port->At (1, [&fired] { fired++; }); /* past */
  }
  pair.Run (10);
  g_assert_cmpuint (fired, ==, 2002);
}

void
test_ecn ()
{
  const json codel = { { "type", "codel" }, { "size", { { "packets", 1000 } } },
    { "target", 0.005 }, { "interval", 0.1 }, { "ecn", true } };
  Pair pair ("random", codel);
  unsigned arrived = 0, marked = 0;
  pair.b->SetHandler ([&] (const sim::Datagram &datagram) {
    arrived++;
    marked += datagram.ecn == MCC_ECN_CE;
  });
  bool ect = true;
  std::function<void ()> send = [&] {
    pair.a->SendTo (1, "x", 1, 1000, ect);
    Simulator::Schedule (ns3::Seconds (0.00095), send);
  };
  send ();
  pair.Run (3);
  const json link = pair.network->Links ().at ("l");
  g_assert_cmpuint (marked, >, 10);
  assert_near (marked, lab::Sum (link.at ("marks")), 0.05);
  g_assert_cmpfloat (lab::Sum (link.at ("queue_drops")), ==, 0);
  /* What is not ECN-capable is dropped there. */
  ect = false;
  pair.Run (3);
  g_assert_cmpfloat (lab::Sum (pair.network->Links ().at ("l").at ("queue_drops")), >, 10);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/port/datagram", test_datagram);
  g_test_add_func ("/port/clocks/random", test_clocks);
  g_test_add_func ("/port/clocks/synchronised", test_synchronised);
  g_test_add_func ("/port/timers", test_timers);
  g_test_add_func ("/port/ecn", test_ecn);
  return g_test_run ();
}

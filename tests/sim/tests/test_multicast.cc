/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Multicast trees: who gets what, from when, until when.
 *
 *   sender - a --10 ms-- b --20 ms-- c - host 2
 *                        |           |
 *                      host 1      host 3       and d --5 ms-- b, with host 4
 *
 * Hosts are 1 ms from their routers. The sender sends every ms.
 */
#include <memory>
#include <vector>

#include <ns3/simulator.h>

#include "lab.h"
#include "network.h"

using lab::json;
using ns3::Simulator;

namespace
{

constexpr double EVERY = 0.001;

struct Tree {
  std::unique_ptr<sim::Network> network;
  std::vector<std::unique_ptr<sim::Port>> ports;
  std::vector<std::vector<double>> heard; /* by the application: s */
  std::vector<std::vector<double>> seen;  /* on the last link */

  explicit Tree (double leave_latency = 0)
  {
    json scenario = lab::Scenario (10,
        { lab::Link ("ab", "a", "b", 100e6, 0.010), lab::Link ("bc", "b", "c", 100e6, 0.020),
            lab::Link ("bd", "b", "d", 100e6, 0.005) },
        json::array ());
    scenario["access"] = { { "rate", 100e6 }, { "delay", 0.001 } };
    scenario["leave_latency"] = leave_latency;
    network = std::make_unique<sim::Network> (scenario);
    const char *routers[] = { "a", "b", "c", "c", "d" };
    heard.resize (5);
    seen.resize (5);
    for (sim::HostId host = 0; host < 5; host++) {
      network->AddHost ("host " + std::to_string (host), routers[host], json ());
      network->OnArrival (host, [this, host] (ns3::Ptr<ns3::Packet>) {
        seen[host].push_back (Simulator::Now ().GetSeconds ());
      });
    }
    for (sim::HostId host = 0; host < 5; host++) {
      ports.push_back (network->NewPort (host, 0));
      ports.back ()->SetHandler ([this, host] (const sim::Datagram &datagram) {
        g_assert_true (datagram.to_group);
        heard[host].push_back (Simulator::Now ().GetSeconds ());
      });
    }
    Send ();
  }
  ~Tree ()
  {
    ports.clear ();
    network.reset ();
    Simulator::Destroy ();
  }

  void Send ()
  {
    ports[0]->SendGroup (0, "x", 1, 100);
    Simulator::Schedule (ns3::Seconds (EVERY), &Tree::Send, this);
  }
  void Join (double at, sim::HostId host, unsigned group = 0)
  {
    Simulator::Schedule (ns3::Seconds (at), [=] { ports[host]->Join (group); });
  }
  void Leave (double at, sim::HostId host, unsigned group = 0)
  {
    Simulator::Schedule (ns3::Seconds (at), [=] { ports[host]->Leave (group); });
  }
  void Run (double seconds)
  {
    Simulator::Stop (ns3::Seconds (seconds));
    Simulator::Run ();
  }
  double Packets (const char *link) const
  {
    return lab::Sum (network->Links ().at (link).at ("packets"));
  }
};

/* @value is @expected, or later by at most the time between two packets and 4 transmissions. */
void
assert_time (double value, double expected)
{
  g_assert_cmpfloat (value, >, expected - 1e-6);
  g_assert_cmpfloat (value, <, expected + EVERY + 50e-6);
}

void
test_join ()
{
  Tree tree;
  tree.Join (1, 2);
  tree.Join (2, 3);
  tree.Join (3, 1);
  tree.Run (4);
  /* The first member's join travels to the sender's router, and the traffic back. */
  assert_time (tree.heard[2].front (), 1 + 2 * (0.001 + 0.020 + 0.010));
  /* The others find it at their own router. */
  assert_time (tree.heard[3].front (), 2 + 2 * 0.001);
  assert_time (tree.heard[1].front (), 3 + 2 * 0.001);
  /* One copy on every link, none where no member is. */
  assert_near (tree.Packets ("ab"), 3000 - 31, 0.005);
  assert_near (tree.Packets ("bc"), 3000 - 41, 0.005);
  g_assert_cmpfloat (tree.Packets ("bd"), ==, 0);
  g_assert_true (tree.seen[4].empty ());
  /* Nothing comes twice. */
  assert_near (double (tree.heard[2].size ()), 3000 - 62, 0.002);
}

void
test_leave ()
{
  for (double latency : { 0.0, 0.5 }) {
    Tree tree (latency);
    tree.Join (0, 2);
    tree.Join (0, 3);
    tree.Leave (1, 2);
    tree.Leave (2, 3);
    tree.Run (4);
    /* The host hears no more, the traffic on its link ends after the latency. */
    g_assert_cmpfloat (tree.heard[2].back (), <=, 1);
    assert_time (tree.seen[2].back () + EVERY, 1 + 0.001 + latency + 0.001);
    assert_time (tree.seen[3].back () + EVERY, 2 + 0.001 + latency + 0.001);
    /* The branch is pruned, hop by hop, after its last member. */
    assert_near (tree.Packets ("bc"), 1000 * (2 + 0.001 + latency + 0.020 - 0.042), 0.005);
    assert_near (tree.Packets ("ab"), 1000 * (2 + 0.001 + latency + 0.020 + 0.010 - 0.032), 0.005);
  }
}

void
test_rejoin ()
{
  Tree tree (0.5);
  tree.Join (0, 2);
  tree.Leave (1, 2);
  tree.Join (1.2, 2);
  tree.Run (3);
  /* The old leave is forgotten: the traffic never stopped, the host missed 0.2 s. */
  double gap = 0, seen_gap = 0;
  for (std::size_t i = 1; i < tree.heard[2].size (); i++)
    gap = std::max (gap, tree.heard[2][i] - tree.heard[2][i - 1]);
  for (std::size_t i = 1; i < tree.seen[2].size (); i++)
    seen_gap = std::max (seen_gap, tree.seen[2][i] - tree.seen[2][i - 1]);
  assert_near (gap, 0.2, 0.02);
  g_assert_cmpfloat (seen_gap, <, 2 * EVERY);
}

void
test_any_source ()
{
  Tree tree;
  for (sim::HostId host : { 0, 1, 2 })
    tree.Join (0, host);
  Simulator::Schedule (ns3::Seconds (1), [&] { tree.ports[4]->SendGroup (0, "y", 1, 100); });
  tree.Run (2);
  /* The sender is a member, too, but does not hear itself; it hears the other one, no member. */
  g_assert_cmpuint (tree.heard[0].size (), ==, 1);
  assert_time (tree.heard[0][0], 1 + 0.001 + 0.005 + 0.010 + 0.001);
  g_assert_true (tree.heard[4].empty ());
}

void
test_groups ()
{
  Tree tree;
  tree.Join (0, 1, 0);
  tree.Join (0, 2, 1);
  auto other = tree.network->NewPort (3, 1); /* another flow's group 0 */
  unsigned wrong = 0;
  other->SetHandler ([&] (const sim::Datagram &) { wrong++; });
  Simulator::Schedule (ns3::Seconds (0), [&] { other->Join (0); });
  Simulator::Schedule (ns3::Seconds (1), [&] { tree.ports[0]->SendGroup (1, "z", 1, 100); });
  tree.Run (2);
  g_assert_cmpuint (tree.heard[1].size (), >, 1900);
  g_assert_cmpuint (tree.heard[2].size (), ==, 1);
  g_assert_cmpuint (wrong, ==, 0);
  other.reset ();
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/multicast/join-reaches-the-nearest-router", test_join);
  g_test_add_func ("/multicast/leave-after-its-latency", test_leave);
  g_test_add_func ("/multicast/join-again-within-the-latency", test_rejoin);
  g_test_add_func ("/multicast/any-source", test_any_source);
  g_test_add_func ("/multicast/groups-are-separate", test_groups);
  return g_test_run ();
}

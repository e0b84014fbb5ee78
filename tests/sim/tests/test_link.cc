/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One direction of a link, packet by packet.
 */
#include <algorithm>
#include <vector>

#include <ns3/ipv4-header.h>
#include <ns3/node.h>
#include <ns3/simulator.h>

#include "lab.h"
#include "link.h"
#include "queue.h"

using ns3::Simulator;
using sim::Link;

namespace
{

/* A link of 80 kb/s and 10 ms: 1000 bytes take 100 ms. */
struct Wire {
  ns3::Ptr<Link> from = ns3::CreateObject<Link> ();
  ns3::Ptr<Link> to = ns3::CreateObject<Link> ();
  sim::LinkRecord record;
  std::vector<double> arrivals; /* s */
  std::vector<std::uint32_t> sizes;
  unsigned drops = 0;

  Wire ()
  {
    from->SetPeer (to);
    from->SetAddress (ns3::Mac48Address::Allocate ());
    from->SetRate (80e3);
    from->SetDelay (ns3::MilliSeconds (10));
    from->SetRecord (&record);
    from->SetDropHandler ([this] (ns3::Ipv4Address) { drops++; });
    to->SetArrivalHandler ([this] (ns3::Ptr<ns3::Packet> packet) {
      arrivals.push_back (Simulator::Now ().GetSeconds ());
      sizes.push_back (packet->GetSize ());
    });
  }
  ~Wire ()
  {
    Simulator::Destroy ();
  }

  /* @count packets of @bytes at @at s. */
  void Send (double at, unsigned count = 1, std::uint32_t bytes = 1000)
  {
    Simulator::Schedule (ns3::Seconds (at), [=] {
      for (unsigned i = 0; i < count; i++) {
        auto packet = ns3::Create<ns3::Packet> (bytes - 20);
        ns3::Ipv4Header header;
        header.SetDestination ("10.0.0.1");
        header.SetPayloadSize (static_cast<std::uint16_t> (bytes - 20));
        packet->AddHeader (header);
        from->Pass (packet);
      }
    });
  }
  void At (double when, std::function<void ()> action)
  {
    Simulator::Schedule (ns3::Seconds (when), std::move (action));
  }
};

} // namespace

static void
test_timing ()
{
  Wire wire;
  wire.Send (1, 2);
  Simulator::Run ();
  g_assert_cmpuint (wire.arrivals.size (), ==, 2);
  assert_near (wire.arrivals[0], 1.110, 1e-9);
  assert_near (wire.arrivals[1], 1.210, 1e-9);
  g_assert_cmpuint (wire.sizes[0], ==, 1000);
  /* The second one waited for the first. */
  assert_near (wire.record.delays[1], 0.1, 1e-6);
}

static void
test_packets ()
{
  Wire wire;
  wire.from->SetLimit ({ false, 7 });
  wire.Send (1, 20);
  Simulator::Run ();
  /* One is being sent, seven wait. */
  g_assert_cmpuint (wire.arrivals.size (), ==, 8);
  g_assert_cmpuint (wire.drops, ==, 12);
}

static void
test_bytes ()
{
  Wire wire;
  wire.from->SetLimit ({ true, 7500 });
  wire.Send (1, 20);
  wire.Send (100, 20, 500);
  wire.Send (200, 8);
  wire.Send (200, 2, 500);
  Simulator::Run ();
  /* 1 + 7, 1 + 15, and 1 + 7 and half a packet's room for one of 500 bytes. */
  g_assert_cmpuint (wire.arrivals.size (), ==, 8 + 16 + 9);
  g_assert_cmpuint (wire.drops, ==, 12 + 4 + 1);
  g_assert_cmpuint (wire.sizes.back (), ==, 500);
}

static void
test_rate_in_flight ()
{
  Wire wire;
  wire.Send (1, 2);
  wire.At (1.05, [&] { wire.from->SetRate (160e3); });
  Simulator::Run ();
  /* Half of the first at the old rate, half at the new one. */
  assert_near (wire.arrivals[0], 1 + 0.050 + 0.025 + 0.010, 1e-9);
  assert_near (wire.arrivals[1], wire.arrivals[0] + 0.050, 1e-9);
}

/* Bursts through a small queue, with jitter and loss: arrivals, and drops with their times. */
static std::vector<double>
Burst (bool steady, sim::QueueLimit limit)
{
  Wire wire;
  std::vector<double> times;
  sim::Random random (3, "bursts");
  sim::LossParameters parameters;
  parameters.good_loss = 0.05;
  wire.from->SetLimit (limit);
  wire.from->SetJitter (ns3::MilliSeconds (40), sim::Random (1, "jitter"));
  wire.from->SetLoss (sim::Loss (parameters, sim::Random (1, "loss")));
  wire.from->SetDropHandler (
      [&times] (ns3::Ipv4Address) { times.push_back (-Simulator::Now ().GetSeconds ()); });
  if (steady)
    wire.from->SetSteady ();
  for (int i = 0; i < 400; i++)
    wire.Send (random.Uniform (1, 60), 1 + random.Next () % 4,
        100 + static_cast<std::uint32_t> (random.Next () % 900));
  Simulator::Run ();
  std::sort (times.begin (), times.end ());
  g_assert_cmpuint (times.size (), >, 100);
  g_assert_cmpuint (wire.arrivals.size (), >, 100);
  times.insert (times.end (), wire.arrivals.begin (), wire.arrivals.end ());
  return times;
}

static void
test_steady ()
{
  for (sim::QueueLimit limit : { sim::QueueLimit{ false, 7 }, sim::QueueLimit{ true, 4000 } })
    g_assert_true (Burst (true, limit) == Burst (false, limit));
}

static void
test_delay_in_flight ()
{
  Wire wire;
  wire.from->SetDelay (ns3::Seconds (1));
  wire.Send (1, 4);
  /* The first has left, the second is being sent. */
  wire.At (1.15, [&] { wire.from->SetDelay (ns3::MilliSeconds (850)); });
  wire.At (1.35, [&] { wire.from->SetDelay (ns3::Seconds (2)); });
  Simulator::Run ();
  assert_near (wire.arrivals[0], 2.1, 1e-9);  /* as it left */
  assert_near (wire.arrivals[1], 2.1, 1e-9);  /* would have been 2.05: together with the first */
  assert_near (wire.arrivals[2], 2.15, 1e-9); /* free again */
  assert_near (wire.arrivals[3], 3.4, 1e-9);  /* it left after the second change */
}

static void
test_random_loss ()
{
  Wire wire;
  wire.from->SetRate (80e6);
  sim::LossParameters parameters;
  parameters.good_loss = 0.1;
  wire.from->SetLoss (sim::Loss (parameters, sim::Random (1, "test")));
  wire.Send (1, 1000);
  Simulator::Run ();
  g_assert_cmpuint (wire.arrivals.size () + wire.drops, ==, 1000);
  g_assert_cmpuint (wire.drops, >=, 100 - 4 * 9.5);
  g_assert_cmpuint (wire.drops, <=, 100 + 4 * 9.5);
  /* A lost packet took its time on the link. */
  assert_near (wire.arrivals.back (), 1.010 + 1000 * 100e-6, 0.001);
  assert_near (lab::Sum (wire.record.random_drops.Values ()), wire.drops, 0);
}

/* Stationary ratio and lengths of bursts, each within 4 standard errors. */
static void
test_gilbert ()
{
  sim::LossParameters p;
  p.good_to_bad = 0.01;
  p.bad_to_good = 0.2;
  p.bad_loss = 1;
  sim::Loss loss (p, sim::Random (7, "gilbert"));
  const unsigned n = 400000;
  unsigned lost = 0, bursts = 0;
  bool before = false;
  for (unsigned i = 0; i < n; i++) {
    const bool now = loss.Lose ();
    lost += now;
    bursts += now && !before;
    before = now;
  }
  const double bad = 0.01 / 0.21;
  /* Correlation stretches the variance by (1 + r) / (1 - r), r = 1 - 0.01 - 0.2. */
  const double error = std::sqrt (bad * (1 - bad) * (1.79 / 0.21) / n);
  assert_near (double (lost) / n, bad, 4 * error / bad);
  const double length_error = std::sqrt (0.8) / 0.2 / std::sqrt (bursts);
  assert_near (double (lost) / bursts, 1 / 0.2, 4 * length_error * 0.2);
}

static void
test_gilbert_states ()
{
  sim::LossParameters p;
  p.good_to_bad = 0.05;
  p.bad_to_good = 0.1;
  p.bad_loss = 0.5;
  p.good_loss = 0.02;
  sim::Loss loss (p, sim::Random (3, "gilbert"));
  unsigned lost = 0;
  for (unsigned i = 0; i < 400000; i++)
    lost += loss.Lose ();
  assert_near (lost / 400000.0, (0.05 * 0.5 + 0.1 * 0.02) / 0.15, 0.03);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/link/timing", test_timing);
  g_test_add_func ("/link/droptail/packets", test_packets);
  g_test_add_func ("/link/droptail/bytes", test_bytes);
  g_test_add_func ("/link/rate-changes-in-flight", test_rate_in_flight);
  g_test_add_func ("/link/steady/as-with-two-events", test_steady);
  g_test_add_func ("/link/delay-changes-in-flight", test_delay_in_flight);
  g_test_add_func ("/link/loss-takes-the-link", test_random_loss);
  g_test_add_func ("/loss/gilbert/ratio-and-bursts", test_gilbert);
  g_test_add_func ("/loss/gilbert/both-states", test_gilbert_states);
  return g_test_run ();
}

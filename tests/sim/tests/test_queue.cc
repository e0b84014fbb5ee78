/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Queues and links under load, in whole scenarios.
 */
#include "lab.h"

using lab::json;

static json
Run (json queue, json flows, double duration)
{
  return sim::RunScenario (
      lab::Scenario (duration, { lab::Link ("l", "a", "b", 8e6, 0.02, queue) }, flows));
}

static void
test_saturated_udp ()
{
  const json result = Run (lab::DropTail (20), { lab::Udp ("u", 9.6e6, 0, 10) }, 11);
  const json &link = result.at ("links").at ("l"), &flow = result.at ("flows").at ("u");
  assert_near (lab::Rate (link.at ("bytes"), 1, 9), 8e6, 0.001);
  assert_near (lab::Rate (flow.at ("bytes"), 1, 9), 8e6, 0.001);
  const double sent = 9.6e6 / 8000 * 10;
  assert_near (lab::Sum (flow.at ("packets")) + lab::Sum (flow.at ("lost")), sent, 0.001);
  assert_near (lab::Sum (flow.at ("lost")), lab::Sum (link.at ("queue_drops")), 0);
  /* A full queue of 20 packets of 1 ms, but for what is left of the one being sent. */
  assert_near (link.at ("delays").at ("max"), 0.020, 0.05);
  g_assert_cmpfloat (link.at ("delays").at ("max").get<double> (), <=, 0.020 + 1e-6);
}

static void
test_saturated_tcp ()
{
  /* A queue of one bandwidth-delay product keeps the link busy through a halving. */
  for (const char *kind : { "reno", "newreno", "cubic" }) {
    const json result = Run (lab::DropTail (45), { lab::Tcp ("t", kind) }, 30);
    assert_near (lab::Rate (result.at ("links").at ("l").at ("bytes"), 5, 30), 8e6, 0.01);
  }
}

static void
test_bernoulli ()
{
  json scenario = lab::Scenario (
      20, { lab::Link ("l", "a", "b", 8e6, 0.02) }, { lab::Udp ("u", 7e6, 0, 19) });
  scenario["links"][0]["loss"] = { { "type", "bernoulli" }, { "ratio", 0.02 } };
  scenario["access"]["loss"] = { { "type", "bernoulli" }, { "ratio", 0.01 } };
  const json result = sim::RunScenario (scenario);
  const json &link = result.at ("links").at ("l"), &flow = result.at ("flows").at ("u");
  const double sent = 7e6 / 8000 * 19;
  const double lost = lab::Sum (link.at ("random_drops"));
  assert_near (lost, 0.02 * sent, 4 * std::sqrt (0.98 / (0.02 * sent)));
  /* Both on the link and on the host's own. */
  const double all = 1 - 0.98 * 0.99;
  assert_near (lab::Sum (flow.at ("lost")), all * sent, 4 * std::sqrt ((1 - all) / (all * sent)));
}

/* RFC 8289: the standing queue of an unresponsive overload is drained to about the target. */
static void
test_codel_overload ()
{
  const json codel = { { "type", "codel" }, { "size", { { "packets", 1000 } } },
    { "target", 0.005 }, { "interval", 0.1 } };
  const json result = Run (codel, { lab::Udp ("u", 8.4e6, 0, 40) }, 40);
  const json &link = result.at ("links").at ("l");
  const double delay = lab::Mean (link, 20, 40);
  g_assert_cmpfloat (delay, >, 0.0025);
  g_assert_cmpfloat (delay, <, 0.0150);
  assert_near (lab::Rate (link.at ("bytes"), 20, 40), 8e6, 0.01);
  assert_near (lab::Sum (link.at ("queue_drops"), 20, 40), 0.4e6 / 8000 * 20, 0.05);
}

static void
test_codel_tcp ()
{
  const json codel = { { "type", "codel" }, { "size", { { "packets", 1000 } } },
    { "target", 0.005 }, { "interval", 0.1 } };
  json flows = json::array ();
  for (const char *id : { "t1", "t2", "t3", "t4" })
    flows.push_back (lab::Tcp (id, "reno", { 0, 2 }));
  const json result = Run (codel, flows, 25);
  const double delay = lab::Mean (result.at ("links").at ("l"), 5, 25);
  g_assert_cmpfloat (delay, >, 0.002);
  g_assert_cmpfloat (delay, <, 0.010);
}

static json
Red (bool ecn)
{
  return { { "type", "red" }, { "size", { { "packets", 200 } } }, { "min", { { "packets", 20 } } },
    { "max", { { "packets", 60 } } }, { "max_p", 0.1 }, { "weight", 0.002 }, { "gentle", true },
    { "ecn", ecn } };
}

/* With a constant overload the mean queue q settles where the drops take the surplus. ns-3's RED
 * (as ns-2's, "wait") drops at p_a = p_b / (2 - count p_b) after 1/p_b packets without a drop, so
 * every 1.5 / p_b packets, with p_b = max_p (q - min) / (max - min) (Floyd and Jacobson 1993). */
static void
test_red_definition ()
{
  for (double overload : { 1.02, 1.05 }) {
    const json result = Run (Red (false), { lab::Udp ("u", overload * 8e6, 0, 60) }, 60);
    const json &link = result.at ("links").at ("l");
    const double drop_ratio = 1 - 1 / overload;
    const double queue = 20 + 40 * (1.5 * drop_ratio) / 0.1;
    assert_near (lab::Mean (link, 20, 60) * 1000, queue, 0.08);
    assert_near (
        lab::Sum (link.at ("queue_drops"), 20, 60)
            / (lab::Sum (link.at ("queue_drops"), 20, 60) + lab::Sum (link.at ("packets"), 20, 60)),
        drop_ratio, 0.05);
  }
}

static void
test_ecn_marks ()
{
  const json codel = { { "type", "codel" }, { "size", { { "packets", 1000 } } },
    { "target", 0.005 }, { "interval", 0.1 }, { "ecn", true } };
  for (const json &queue : { Red (true), codel }) {
    json flow = lab::Tcp ("t", "reno");
    const json without = Run (queue, { flow }, 15);
    flow["ecn"] = true;
    const json with = Run (queue, { flow }, 15);
    /* An ECN-capable flow is marked and not dropped; it slows down all the same. */
    const json &marked = with.at ("links").at ("l"), &dropped = without.at ("links").at ("l");
    g_assert_cmpfloat (lab::Sum (marked.at ("marks"), 3, 15), >, 2);
    g_assert_cmpfloat (lab::Sum (marked.at ("queue_drops"), 3, 15), ==, 0);
    g_assert_cmpfloat (lab::Mean (marked, 3, 15), <, 0.045);
    g_assert_cmpfloat (lab::Sum (dropped.at ("marks")), ==, 0);
    g_assert_cmpfloat (lab::Sum (dropped.at ("queue_drops"), 3, 15), >, 2);
  }
}

static void
test_changes ()
{
  json scenario = lab::Scenario (40, { lab::Link ("l", "a", "b", 8e6, 0.02, lab::DropTail (20)) },
      { lab::Udp ("u", 9e6, 0, 40) });
  scenario["changes"] = {
    { { "at", 10 }, { "link", "l" }, { "rate", 4e6 } },
    { { "at", 20 }, { "link", "l" }, { "rate", 8e6 }, { "ramp", 10 } },
    { { "at", 30 }, { "link", "l" }, { "delay", 0.1 } },
    { { "at", 35 }, { "link", "l" }, { "loss", { { "type", "bernoulli" }, { "ratio", 1 } } } },
  };
  const json result = sim::RunScenario (scenario);
  const json &link = result.at ("links").at ("l"), &flow = result.at ("flows").at ("u");
  assert_near (lab::Rate (link.at ("bytes"), 5, 10), 8e6, 0.002);
  assert_near (lab::Rate (link.at ("bytes"), 11, 20), 4e6, 0.002);
  assert_near (lab::Rate (link.at ("bytes"), 20, 30), 6e6, 0.01);
  assert_near (lab::Rate (link.at ("bytes"), 24.5, 25.5), 6e6, 0.02);
  const double before = lab::Mean (flow, 6, 10) - lab::Mean (link, 6, 10);
  const double after = lab::Mean (flow, 32, 34) - lab::Mean (link, 32, 34);
  assert_near (after - before, 0.08, 0.01);
  g_assert_cmpfloat (lab::Sum (flow.at ("bytes"), 35.2, 40), ==, 0);
}

/* The way back follows the link's rate until it has one of its own, be it the same. */
static void
test_reverse_rate ()
{
  struct {
    json reverse;         /* of the link */
    json changes;         /* of it at 10 s, besides its rate */
    double then, at_last; /* bit/s on the way back, after 10 and 20 s */
  } cases[] = {
    { json::object (), nullptr, 4e6, 2e6 },
    { { { "rate", 8e6 } }, nullptr, 8e6, 8e6 },
    { json::object (), { { "rate", 6e6 } }, 6e6, 6e6 },
  };
  for (const auto &c : cases) {
    json back = lab::Udp ("u", 9e6, 0, 30);
    std::swap (back["from"], back["to"]);
    json scenario = lab::Scenario (
        30, { lab::Link ("l", "a", "b", 8e6, 0.02, lab::DropTail (20)) }, { back });
    json reverse = c.reverse;
    reverse["queue"] = lab::DropTail (20);
    scenario["links"][0]["reverse"] = reverse;
    json first = { { "at", 10 }, { "link", "l" }, { "rate", 4e6 } };
    if (!c.changes.is_null ())
      first["reverse"] = c.changes;
    scenario["changes"] = { first, { { "at", 20 }, { "link", "l" }, { "rate", 2e6 } } };
    const json result = sim::RunScenario (scenario);
    const json &bytes = result.at ("flows").at ("u").at ("bytes");
    assert_near (lab::Rate (bytes, 5, 10), 8e6, 0.005);
    assert_near (lab::Rate (bytes, 11, 20), c.then, 0.005);
    assert_near (lab::Rate (bytes, 21, 30), c.at_last, 0.005);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/link/saturated/udp", test_saturated_udp);
  g_test_add_func ("/link/saturated/tcp", test_saturated_tcp);
  g_test_add_func ("/link/bernoulli-by-link-and-host", test_bernoulli);
  g_test_add_func ("/link/changes-and-ramps", test_changes);
  g_test_add_func ("/link/reverse-rate", test_reverse_rate);
  g_test_add_func ("/codel/drains-a-standing-queue", test_codel_overload);
  g_test_add_func ("/codel/holds-tcp-near-target", test_codel_tcp);
  g_test_add_func ("/red/drops-by-its-definition", test_red_definition);
  g_test_add_func ("/ecn/marks-instead-of-drops", test_ecn_marks);
  return g_test_run ();
}

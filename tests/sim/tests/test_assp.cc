/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASSP's hosts: the wire, streams over a tree, and what is recorded of them.
 */
#include <algorithm>

#include "assp.h"
#include "lab.h"

namespace
{

using nlohmann::json;

/* Two bottlenecks behind a trunk; a receiver at each, and one more with loss of its own. */
json
TwoGroups (const char *variant, double loss = 0, double leave_latency = 0)
{
  json near = { { "rate", 1e9 }, { "delay", 0.001 } }, lossy = near;
  lossy["loss"] = { { "type", "bernoulli" }, { "ratio", loss } };
  json flow = lab::Multicast ("m", 300e3, json::array ());
  flow["max_rate"] = 6e6;
  flow["streams"] = { { 300e3, 2e6 }, { 2e6, 6e6 } };
  flow["receivers"] = { { { "id", "slow" }, { "at", "b" }, { "join", 0 }, { "access", near } },
    { { "id", "fast" }, { "at", "c" }, { "join", 0.5 }, { "access", lossy } } };
  json scenario = lab::Scenario (60,
      { lab::Link ("trunk", "a", "t", 50e6, 0.005),
          lab::Link ("b", "t", "b", 1e6, 0.02, lab::DropTail (50)),
          lab::Link ("c", "t", "c", 4e6, 0.02, lab::DropTail (50)) },
      { flow });
  scenario["variant"] = variant;
  if (scenario["variant"] == "published")
    scenario["clocks"] = "synchronised"; /* ASMP eq. 8 and 10 need them */
  scenario["leave_latency"] = leave_latency;
  scenario["packets"] = { "m/fast", "m/slow" };
  return scenario;
}

const json &
ReceiverOf (const json &result, const char *name)
{
  return result.at ("flows").at ("m").at ("receivers").at (name);
}

double
SumOf (const json &bins, double from = 0)
{
  return lab::Sum (bins, from);
}

void
CompoundWithAssp ()
{
  using Part = sim::AsmpCompoundReader::Part;
  MccAsspApp report{};
  report.ssrc = report.asmp.ssrc = 77;
  report.subtype = report.asmp.subtype = MCC_APP_REPORT;
  report.stream = 2;
  report.asmp.report.rate_bps = 123456;
  sim::AsmpBlock block = { true, 0.5, 3, 1234, 0xabcdef01 };
  sim::AsmpCompound compound (77, false, block);
  g_assert_true (compound.AddApp (report));
  compound.AddPli (0x12345678);
  compound.AddBye ();
  sim::AsmpCompoundReader reader ({ 0, true, 0, compound.IpBytes (), MCC_ECN_NOT_ECT,
      compound.Data (), compound.Size (), 0.0 });
  g_assert_true (reader.Next () == Part::REPORT);
  g_assert_cmpuint (reader.Block ().source, ==, 0xabcdef01);
  g_assert_true (reader.Next () == Part::ASSP);
  g_assert_cmpuint (reader.AsspApp ().stream, ==, 2);
  g_assert_cmpuint (reader.AsspApp ().asmp.report.rate_bps, ==, 123456);
  g_assert_true (reader.Next () == Part::PLI);
  g_assert_cmpuint (reader.MediaSsrc (), ==, 0x12345678);
  g_assert_true (reader.Next () == Part::BYE);
  g_assert_true (reader.Next () == Part::END);
}

/* Who has room for the second stream ends up in it, who has not stays; each link carries the
 * streams of those behind it and no others. */
void
EachFindsItsStream (gconstpointer data)
{
  json result = sim::RunScenario (TwoGroups (static_cast<const char *> (data)));
  const json &slow = ReceiverOf (result, "slow"), &fast = ReceiverOf (result, "fast");
  g_assert_cmpint (slow.at ("stream").back ().at (1), ==, 0);
  g_assert_cmpint (fast.at ("stream").back ().at (1), ==, 1);
  g_assert_cmpfloat (lab::Rate (slow.at ("bytes"), 40, 60), <, 1e6);
  g_assert_cmpfloat (lab::Rate (fast.at ("bytes"), 40, 60), >, 2e6);
  const json &first = fast.at ("switches").at (0), &up = fast.at ("switches").back ();
  g_assert_cmpstr (first.at (3).get<std::string> ().c_str (), ==, "start");
  g_assert_cmpstr (up.at (3).get<std::string> ().c_str (), ==, "up");
  const json &links = result.at ("links");
  double from = up.at (0).get<double> () + 1;
  g_assert_cmpfloat (SumOf (links.at ("b").at ("multicast").at ("0/1")), >, 0);
  g_assert_false (links.at ("b").at ("multicast").contains ("0/2"));
  g_assert_cmpfloat (SumOf (links.at ("c").at ("multicast").at ("0/1"), from), ==, 0);
  g_assert_cmpfloat (SumOf (links.at ("c").at ("multicast").at ("0/2"), from), >, 0);
  const json &streams = result.at ("flows").at ("m").at ("sender").at ("streams");
  g_assert_cmpuint (streams.size (), ==, 2);
  assert_near (SumOf (links.at ("trunk").at ("multicast").at ("0/1"), 30),
      SumOf (streams.at (0).at ("bytes"), 30), 0.01);
}

/* The link carries the old stream for the leave latency. */
void
LeaveLatency ()
{
  json result = sim::RunScenario (TwoGroups ("enhanced", 0, 1.5));
  const json &fast = ReceiverOf (result, "fast"), &streams = fast.at ("stream");
  double cut = streams.back ().at (0).get<double> ();
  g_assert_cmpint (streams.back ().at (1), ==, 1);
  const json &link = result.at ("links").at ("c").at ("multicast").at ("0/1");
  g_assert_cmpfloat (SumOf (link, cut + 0.2), >, 0);
  g_assert_cmpfloat (SumOf (link, cut + 1.8), ==, 0);
}

/* The trace holds each packet sent while its stream was shown; what was lost there is what the
 * receiver counts, and what the link lost. */
void
PacketTraces ()
{
  json result = sim::RunScenario (TwoGroups ("enhanced", 0.02));
  const json &trace = result.at ("packets").at ("m/fast"), &fast = ReceiverOf (result, "fast");
  const json &shown = trace.at ("shown"), &packets = trace.at ("packets");
  double lost = 0, late = 0, last = 0;
  std::size_t part = 0;
  for (const json &packet : packets) {
    double sent = packet.at (0);
    g_assert_cmpfloat (sent, >=, last);
    while (part + 1 < shown.size () && sent >= shown[part + 1][0].get<double> () - 1e-9)
      part++;
    g_assert_cmpint (packet.at (1), ==, shown[part].at (1).get<int> ());
    lost += packet.at (2) == 1;
    late += packet.at (2) == 2;
    last = sent;
  }
  double counted = SumOf (fast.at ("lost"));
  double all = static_cast<double> (packets.size ());
  g_test_message ("%g of %g lost, counted %g, late %g", lost, all, counted, late);
  g_assert_cmpfloat (all, >, 1000);
  g_assert_cmpfloat (
      std::fabs (lost - counted), <=, 0.01 * all); /* those on their way at the end */
  g_assert_cmpfloat (lost / all, >, 0.012);
  g_assert_cmpfloat (lost / all, <, 0.05);
  g_assert_cmpfloat (SumOf (fast.at ("frames_damaged")), >, 0);
  g_assert_cmpfloat (SumOf (fast.at ("frames_damaged")), <=, counted);
  assert_near (SumOf (fast.at ("frames")), 25 * 59, 0.03);
  g_assert_cmpuint (trace.at ("targets").size (), >, 2);
  g_assert_cmpint (result.at ("packets").at ("m/slow").at ("shown").back ().at (1), ==, 0);
}

void
Deterministic ()
{
  g_assert_true (sim::RunScenario (TwoGroups ("published", 0.01))
                 == sim::RunScenario (TwoGroups ("published", 0.01)));
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/assp/wire/compound", CompoundWithAssp);
  g_test_add_data_func ("/assp/each-finds-its-stream/published", "published", EachFindsItsStream);
  g_test_add_data_func ("/assp/each-finds-its-stream/enhanced", "enhanced", EachFindsItsStream);
  g_test_add_func ("/assp/leave-latency", LeaveLatency);
  g_test_add_func ("/assp/packet-traces", PacketTraces);
  g_test_add_func ("/assp/deterministic", Deterministic);
  return g_test_run ();
}

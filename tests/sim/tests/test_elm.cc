/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ELM's and RLC's hosts: the wire, layers over a tree, and what is recorded of them.
 */
#include <algorithm>

#include "elm.h"
#include "lab.h"

namespace
{

using nlohmann::json;

/* Bottlenecks of 300 kb/s and 1.3 Mb/s behind a trunk; layers of 128 kb/s to 1 Mb/s. */
json
TwoGroups (const char *variant, double loss = 0, double leave_latency = 0)
{
  json near = { { "rate", 1e9 }, { "delay", 0.001 } }, lossy = near;
  lossy["loss"] = { { "type", "bernoulli" }, { "ratio", loss } };
  json flow = lab::Multicast ("m", 128e3, json::array ());
  flow["layers"] = { 128e3, 256e3, 512e3, 1024e3 };
  flow["receivers"] = { { { "id", "slow" }, { "at", "b" }, { "join", 0 }, { "access", near } },
    { { "id", "fast" }, { "at", "c" }, { "join", 0.5 }, { "access", lossy } } };
  json scenario = lab::Scenario (90,
      { lab::Link ("trunk", "a", "t", 50e6, 0.005),
          lab::Link ("b", "t", "b", 300e3, 0.02, lab::DropTail (20)),
          lab::Link ("c", "t", "c", 1300e3, 0.02, lab::DropTail (20)) },
      { flow });
  scenario["variant"] = variant;
  scenario["leave_latency"] = leave_latency;
  return scenario;
}

const json &
ReceiverOf (const json &result, const char *name)
{
  return result.at ("flows").at ("m").at ("receivers").at (name);
}

void
Wire ()
{
  MccLayerOrder order{}, read{};
  order.layer = 1;
  order.count = 4;
  order.flags = MCC_LAYER_FIRST | MCC_LAYER_KEY;
  mcc_layer_order_next (&order);
  sim::ElmRtp rtp = sim::MakeElmRtp (0xabcdef01, 77, 0x123456, order);
  g_assert_cmpuint (rtp.size % 4, ==, 0);
  sim::Datagram datagram = { 0, true, 2, 1000, MCC_ECN_NOT_ECT, rtp.data.data (), rtp.size, 0.0 };
  MccRtpPacket packet{};
  g_assert_true (sim::ParseElmRtp (datagram, &packet, &read));
  g_assert_cmpuint (packet.ssrc, ==, 0xabcdef01);
  g_assert_cmpuint (packet.seq, ==, 77);
  g_assert_cmpuint (packet.send_time, ==, 0x123456);
  g_assert_cmpuint (read.layer, ==, 1);
  g_assert_cmpuint (read.count, ==, 4);
  g_assert_cmpuint (read.flags, ==, order.flags);
  g_assert_cmpuint (read.c[1], ==, 1);
  g_assert_cmpuint (read.c[3], ==, 1);
  for (std::size_t size = 0; size < rtp.size; size++) {
    datagram.size = size;
    g_assert_false (sim::ParseElmRtp (datagram, &packet, &read));
  }
}

/* Who has room for more takes more; links carry the layers of those behind them and no others. */
void
EachFindsItsLevel (gconstpointer data)
{
  json result = sim::RunScenario (TwoGroups (static_cast<const char *> (data)));
  const json &slow = ReceiverOf (result, "slow"), &fast = ReceiverOf (result, "fast");
  double low = lab::Rate (slow.at ("bytes"), 40, 90), high = lab::Rate (fast.at ("bytes"), 40, 90);
  g_test_message ("%.0f and %.0f b/s", low, high);
  g_assert_cmpfloat (low, >, 120e3);
  g_assert_cmpfloat (low, <, 310e3);
  g_assert_cmpfloat (high, >, 500e3);
  g_assert_cmpfloat (high, <, 1310e3);
  const json &links = result.at ("links");
  g_assert_false (links.at ("b").at ("multicast").contains ("0/4"));
  assert_near (lab::Rate (links.at ("trunk").at ("multicast").at ("0/1"), 10, 90), 128e3, 0.01);
  const json &first = slow.at ("switches").at (0);
  g_assert_cmpstr (first.at (3).get<std::string> ().c_str (), ==, "start");
  g_assert_cmpint (first.at (2), ==, 0);
  /* Level by level, and as the switches say. */
  int level = -1;
  for (const json &change : fast.at ("switches")) {
    g_assert_cmpint (change.at (1), ==, level);
    g_assert_cmpint (std::abs (change.at (2).get<int> () - level), ==, 1);
    level = change.at (2);
  }
  g_assert_cmpint (fast.at ("stream").back ().at (1), ==, level);
  const json &streams = result.at ("flows").at ("m").at ("sender").at ("streams");
  g_assert_cmpuint (streams.size (), ==, 4);
  assert_near (lab::Rate (streams.at (3).at ("bytes"), 0, 90), 512e3, 0.01);
}

/* Loss by the sender's numbers is the link's, also over joins and leaves. */
void
CountsLosses (gconstpointer data)
{
  json result = sim::RunScenario (TwoGroups (static_cast<const char *> (data), 0.05));
  const json &fast = ReceiverOf (result, "fast");
  double lost = lab::Sum (fast.at ("lost")), came = lab::Sum (fast.at ("packets"));
  double drops = lab::Sum (result.at ("links").at ("c").at ("queue_drops"));
  g_test_message ("lost %g of %g, %g in the queue", lost, lost + came, drops);
  g_assert_cmpfloat (std::fabs (lost - drops - 0.05 * (lost + came)), <=, 0.015 * (lost + came));
  g_assert_cmpfloat (lab::Sum (fast.at ("frames_damaged")), >, 0);
  g_assert_cmpfloat (lab::Sum (fast.at ("frames_damaged")), <=, lost);
}

/* Media that the link carried and @slow did not take, bytes. */
double
Unwanted (const json &result)
{
  double carried = 0;
  for (const auto &[group, bytes] : result.at ("links").at ("b").at ("multicast").items ())
    carried += group == "0/0" ? 0 : lab::Sum (bytes);
  return carried - lab::Sum (ReceiverOf (result, "slow").at ("bytes"));
}

/* Packets of the trace: all, lost, and of those lost the ones after which none of their layer came
 * before it was left, which no gap shows. */
struct Traced {
  double all = 0, lost = 0, unseen = 0;
};

Traced
CountTraced (const json &trace)
{
  const json &shown = trace.at ("shown");
  Traced out;
  std::vector<double> pending (trace.at ("streams").size ());
  std::size_t part = 0;
  auto close = [&] (std::size_t from) {
    for (; from < pending.size (); from++) {
      out.unseen += pending[from];
      pending[from] = 0;
    }
  };
  for (const json &packet : trace.at ("packets")) {
    while (part + 1 < shown.size ()
           && packet.at (0).get<double> () >= shown[part + 1][0].get<double> () - 1e-9) {
      part++;
      close (static_cast<std::size_t> (shown[part].at (1).get<int> () + 1));
    }
    auto layer = packet.at (1).get<std::size_t> ();
    g_assert_cmpint (static_cast<int> (layer), <=, shown[part].at (1).get<int> ());
    out.all++;
    out.lost += packet.at (2) == 1;
    pending[layer] = packet.at (2) == 1 ? pending[layer] + 1 : 0;
  }
  close (0);
  return out;
}

/* The trace holds what was sent in the layers taken; what was lost there is what the receiver
 * counts. What is on its way when a layer is left still comes, but is no longer taken. */
void
PacketTraces (gconstpointer data)
{
  json scenario = TwoGroups (static_cast<const char *> (data), 0.02, 1.5);
  scenario["packets"] = { "m/fast", "m/slow" };
  json result = sim::RunScenario (scenario);
  for (const char *name : { "fast", "slow" }) {
    const json &trace = result.at ("packets").at (std::string ("m/") + name);
    const json &receiver = ReceiverOf (result, name);
    Traced traced = CountTraced (trace);
    double counted = lab::Sum (receiver.at ("lost")), came = lab::Sum (receiver.at ("packets"));
    g_test_message ("%s: %g of %g lost, %g not seen; counted %g of %g", name, traced.lost,
        traced.all, traced.unseen, counted, counted + came);
    g_assert_cmpfloat (traced.all, >, 1000);
    g_assert_cmpfloat (std::fabs (traced.lost - traced.unseen - counted), <=, 0.005 * traced.all);
    g_assert_cmpfloat (
        std::fabs (traced.all - traced.unseen - counted - came), <=, 0.01 * traced.all);
    g_assert_true (trace.at ("layered").get<bool> ());
    g_assert_cmpuint (trace.at ("streams").size (), ==, 4);
    g_assert_cmpint (trace.at ("streams")[3].at ("low_bps"), ==, 512000);
  }
}

/* One stream only: all of it is shown from its first packet on. */
void
PacketTraceOfOneStream (gconstpointer data)
{
  json scenario = TwoGroups (static_cast<const char *> (data), 0.02);
  scenario["flows"][0].erase ("layers");
  scenario["flows"][0]["max_rate"] = 1e6;
  scenario["packets"] = { "m/fast" };
  json result = sim::RunScenario (scenario);
  const json &trace = result.at ("packets").at ("m/fast"), &fast = ReceiverOf (result, "fast");
  g_assert_cmpuint (trace.at ("shown").size (), ==, 1);
  g_assert_false (trace.contains ("layered"));
  g_assert_cmpuint (trace.at ("targets").size (), >, 2);
  double lost = 0, all = static_cast<double> (trace.at ("packets").size ());
  for (const json &packet : trace.at ("packets"))
    lost += packet.at (2) == 1;
  double counted = lab::Sum (fast.at ("lost"));
  g_test_message ("%g of %g lost, counted %g", lost, all, counted);
  g_assert_cmpfloat (all, >, 500);
  g_assert_cmpfloat (lost / all, >, 0.01);
  g_assert_cmpfloat (std::fabs (lost - counted), <=, 0.005 * all + 3);
}

/* The link carries what was left for the leave latency. */
void
LeaveLatency (gconstpointer data)
{
  const char *variant = static_cast<const char *> (data);
  double none = Unwanted (sim::RunScenario (TwoGroups (variant)));
  double long_ = Unwanted (sim::RunScenario (TwoGroups (variant, 0, 1.5)));
  g_test_message ("%g and %g bytes", none, long_);
  g_assert_cmpfloat (long_, >, none + 15e3);
}

void
Deterministic (gconstpointer data)
{
  const char *variant = static_cast<const char *> (data);
  g_assert_true (
      sim::RunScenario (TwoGroups (variant, 0.01)) == sim::RunScenario (TwoGroups (variant, 0.01)));
}

/* Two protocols on one tree: a flow keeps its own, whatever the variant. */
void
ProtocolOfAFlow ()
{
  json scenario = TwoGroups ("published");
  scenario["flows"][0]["protocol"] = "rlc";
  json result = sim::RunScenario (scenario);
  g_assert_cmpfloat (lab::Sum (ReceiverOf (result, "fast").at ("reports")), ==, 0);
  g_assert_cmpfloat (lab::Sum (ReceiverOf (result, "fast").at ("packets")), >, 0);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/elm/wire", Wire);
  for (const char *variant : { "published", "enhanced", "rlc" }) {
    auto add = [variant] (const char *law, void (*test) (gconstpointer)) {
      std::string path = std::string ("/elm/") + law + "/" + variant;
      g_test_add_data_func (path.c_str (), variant, test);
    };
    add ("each-finds-its-level", EachFindsItsLevel);
    add ("counts-losses", CountsLosses);
    add ("leave-latency", LeaveLatency);
    add ("packet-traces", PacketTraces);
    add ("deterministic", Deterministic);
  }
  for (const char *variant : { "published", "enhanced", "tfmcc" })
    g_test_add_data_func ((std::string ("/one-stream/packet-trace/") + variant).c_str (), variant,
        PacketTraceOfOneStream);
  g_test_add_func ("/elm/protocol-of-a-flow", ProtocolOfAFlow);
  return g_test_run ();
}

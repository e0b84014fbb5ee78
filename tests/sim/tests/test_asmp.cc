/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASMP's hosts: the wire, and the core between them over the light star.
 */
#include <cmath>

#include <glib.h>

#include "asmp.h"
#include "lightrun.h"

namespace
{

using sim::LightRun;
using sim::LightRunConfig;

sim::Datagram
Wrap (const std::uint8_t *data, std::size_t size, std::uint32_t ip_bytes)
{
  return { 0, true, 0, ip_bytes, MCC_ECN_CE, data, size, 0.0 };
}

/* docs/wire-format.md, "RTCP". */
void
CompoundSizes ()
{
  MccApp report{};
  report.ssrc = 7;
  report.subtype = MCC_APP_REPORT;
  report.report.rate_bps = 500000;
  sim::AsmpBlock block;
  block.present = true;
  sim::AsmpCompound without (7, false), with (7, false, block), bye (7, true);
  without.AddApp (report);
  with.AddApp (report);
  g_assert_cmpuint (without.IpBytes (), ==, 128);
  g_assert_cmpuint (with.IpBytes (), ==, 152);
  with.AddBye ();
  g_assert_cmpuint (with.IpBytes (), ==, 160);
  bye.AddBye ();
  g_assert_cmpuint (bye.IpBytes (), ==, 92);
}

void
CompoundRoundTrip ()
{
  MccApp report{}, list{};
  report.ssrc = list.ssrc = 0x12345678;
  report.subtype = MCC_APP_REPORT;
  report.report.rate_bps = 123456;
  report.report.loss_ratio = 0.5;
  list.subtype = MCC_APP_RTT;
  list.rtt.count = MCC_APP_RTT_MAX;
  for (unsigned i = 0; i < MCC_APP_RTT_MAX; i++)
    list.rtt.entry[i] = { i + 1, i, (i + 1) * MCC_MSECOND };
  sim::AsmpBlock block = { true, 0.25, -3, 0xfffe1234 };
  sim::AsmpCompound compound (0x12345678, false, block);
  g_assert_true (compound.AddApp (report));
  g_assert_true (compound.AddApp (list));
  g_assert_false (compound.AddApp (list)); /* 1400 bytes at most */
  compound.AddBye ();
  sim::Datagram datagram = Wrap (compound.Data (), compound.Size (), compound.IpBytes ());
  g_assert_true (sim::IsRtcp (datagram));
  sim::AsmpCompoundReader reader (datagram);
  using Part = sim::AsmpCompoundReader::Part;
  g_assert_true (reader.Next () == Part::REPORT);
  g_assert_cmpuint (reader.Ssrc (), ==, 0x12345678);
  g_assert_true (reader.Block ().present);
  g_assert_cmpfloat (reader.Block ().fraction_lost, ==, 0.25);
  g_assert_cmpint (reader.Block ().packets_lost, ==, -3);
  g_assert_cmpuint (reader.Block ().highest_seq, ==, 0xfffe1234);
  g_assert_true (reader.Next () == Part::APP);
  g_assert_cmpuint (reader.App ().report.rate_bps, ==, 123456);
  g_assert_true (reader.Next () == Part::APP);
  g_assert_cmpuint (reader.App ().rtt.count, ==, MCC_APP_RTT_MAX);
  g_assert_true (reader.Next () == Part::BYE);
  g_assert_true (reader.Next () == Part::END);
  /* Cut short: no byte behind the end is read. */
  for (std::size_t size = 0; size < compound.Size (); size++) {
    sim::AsmpCompoundReader cut (Wrap (compound.Data (), size, 2000));
    while (cut.Next () != Part::END)
      continue;
  }
}

void
RtpRoundTrip ()
{
  sim::AsmpRtp rtp = sim::MakeRtp (0xdeadbeef, 65535, 0xabcdef);
  sim::Datagram datagram = Wrap (rtp.data (), rtp.size (), 1000);
  MccRtpPacket packet{};
  g_assert_false (sim::IsRtcp (datagram));
  g_assert_true (sim::ParseRtp (datagram, &packet));
  g_assert_cmpuint (packet.ssrc, ==, 0xdeadbeef);
  g_assert_cmpuint (packet.seq, ==, 65535);
  g_assert_cmpuint (packet.bytes, ==, 1000);
  g_assert_cmpuint (packet.send_time, ==, 0xabcdef);
  g_assert_cmpint (packet.ecn, ==, MCC_ECN_CE);
}

LightRunConfig
OneReceiver (const char *protocol)
{
  LightRunConfig config;
  config.protocol = protocol;
  config.receivers = { { { { "delay", 0.048 } } } };
  return config;
}

/* RTT 100 ms, no loss: up to the maximum, RTT and delay as they are, nothing lost, reports arrive.
 */
void
Reaches (gconstpointer data)
{
  auto protocol = static_cast<const char *> (data);
  LightRun run (OneReceiver (protocol));
  run.Run (60);
  g_assert_cmpfloat (LightRun::Last (run.sender_record.target_bps), ==, 1e6);
  const sim::ReceiverRecord &r = run.records[0];
  g_assert_cmpfloat (std::fabs (LightRun::Last (r.rtt) - 0.1), <, 0.002);
  double delays = LightRun::Sum (r.delay.Sum (), 0, 60),
         count = LightRun::Sum (r.delay.Count (), 0, 60);
  g_assert_cmpfloat (std::fabs (delays / count - 0.05), <, 1e-6);
  g_assert_cmpfloat (LightRun::Sum (r.lost, 0, 60), ==, 0);
  g_assert_cmpfloat (std::fabs (LightRun::Sum (r.packets, 1, 59)
                                - LightRun::Sum (run.sender_record.packets, 1, 59)),
      <=, 20);
  double sent = LightRun::Sum (r.reports, 0, 59),
         came = LightRun::Sum (run.sender_record.reports, 0, 60);
  g_assert_cmpfloat (sent, >=, 50);
  g_assert_cmpfloat (came, >=, sent);
  g_assert_cmpfloat (came, <=, LightRun::Sum (r.reports, 0, 60));
  g_assert_cmpfloat (LightRun::Last (run.sender_record.limiting), ==, -1); /* the maximum does */
}

/* Bernoulli loss of 2 %: what the TCP equation gives for it, within the loss measures' bias (LIP
 * sees fewer events than losses where several packets go in an RTT; here about 5 do). */
void
Equation (gconstpointer data)
{
  auto protocol = static_cast<const char *> (data);
  LightRunConfig config = OneReceiver (protocol);
  config.max_bps = 5000000;
  config.receivers[0].access["loss"] = { { "type", "bernoulli" }, { "ratio", 0.02 } };
  LightRun run (config);
  run.Run (200);
  const sim::ReceiverRecord &r = run.records[0];
  double bps = 8 * LightRun::Sum (r.bytes, 40, 200) / 160, model = 586000;
  double lost = LightRun::Sum (r.lost, 0, 200), packets = LightRun::Sum (r.packets, 0, 200);
  g_assert_cmpfloat (LightRun::Last (run.sender_record.limiting), ==, 1); /* HostId */
  g_test_message ("%s: %.0f bit/s, the equation %.0f", protocol, bps, model);
  g_assert_cmpfloat (std::fabs (lost / (lost + packets) - 0.02), <, 0.005);
  g_assert_cmpfloat (bps, >, 0.75 * model);
  g_assert_cmpfloat (bps, <, 1.35 * model);
}

/* BYE frees the sender at once; a crash when the receiver expires. */
void
LeaveAndCrash ()
{
  double away[2];
  for (bool crash : { false, true }) {
    LightRunConfig config = OneReceiver ("enhanced");
    sim::LightRunReceiver slow = { { { "delay", 0.048 } }, 0.0, 40.0, crash };
    slow.access["loss"] = { { "type", "bernoulli" }, { "ratio", 0.05 } };
    config.receivers.push_back (slow);
    LightRun run (config);
    run.Run (70);
    double until = 70;
    for (const auto &[time, host] : run.sender_record.limiting.Values ())
      if (time >= 40 && host != 2)
        until = std::min (until, time);
    away[crash] = until - 40;
    g_assert_cmpfloat (LightRun::Last (run.records[1].member), ==, 0);
    g_assert_cmpfloat (LightRun::Sum (run.records[1].packets, 40.1, 70), ==, 0);
    g_assert_cmpfloat (LightRun::Last (run.sender_record.target_bps), >, 900000);
  }
  g_assert_cmpfloat (away[0], <, 0.2);
  g_assert_cmpfloat (away[1], >, 1);
  g_assert_cmpfloat (away[1], <, 9);
}

/* published: a report a second, or RFC 3550's 2.05 to 6.16 s. */
void
ReportIntervals ()
{
  for (bool fixed : { true, false }) {
    LightRunConfig config = OneReceiver ("published");
    config.options["report_interval"] = fixed ? nlohmann::json (1.0) : nlohmann::json ("rfc3550");
    LightRun run (config);
    run.Run (410);
    double reports = LightRun::Sum (run.records[0].reports, 0, 410);
    g_assert_cmpfloat (reports, >=, fixed ? 408 : 90);
    g_assert_cmpfloat (reports, <=, fixed ? 411 : 115);
  }
}

/* With unicast feedback reports reach the sender alone. */
void
Unicast ()
{
  double control[2], reports[2];
  for (bool group : { false, true }) {
    LightRunConfig config;
    config.hears_group = group;
    config.receivers.resize (30);
    LightRun run (config);
    run.Run (60);
    reports[group] = LightRun::Sum (run.sender_record.reports, 0, 60);
    control[group] = 0;
    for (const sim::ReceiverRecord &r : run.records)
      control[group] += LightRun::Sum (r.control_bytes, 0, 60);
    g_assert_cmpfloat (LightRun::Last (run.sender_record.target_bps), ==, 1e6);
  }
  for (bool group : { false, true }) {
    g_assert_cmpfloat (reports[group], >, 100);
    g_assert_cmpfloat (8 * control[group] / 60, <, 0.05 * 1e6);
  }
}

/* Same seed, same run; another seed, another one. */
void
Deterministic ()
{
  std::vector<std::pair<double, double>> first, second, other;
  for (auto [seed, out] :
      { std::pair (1, &first), std::pair (1, &second), std::pair (2, &other) }) {
    LightRunConfig config;
    config.seed = static_cast<std::uint64_t> (seed);
    config.access["loss"] = { { "type", "bernoulli" }, { "ratio", 0.01 } };
    config.receivers.resize (5);
    LightRun run (config);
    run.Run (30);
    *out = run.sender_record.target_bps.Values ();
  }
  g_assert_true (first == second);
  g_assert_true (first != other);
}

/* Video through pacer and encoder control keeps to what the group bears. */
void
Video ()
{
  LightRunConfig config = OneReceiver ("enhanced");
  config.source = { { "type", "video" }, { "trace", "news" }, { "fps", 25 } };
  config.receivers[0].access["rate"] = 600000.0;
  LightRun run (config);
  run.Run (90);
  double bps = 8 * LightRun::Sum (run.records[0].bytes, 30, 90) / 60;
  double lost = LightRun::Sum (run.records[0].lost, 30, 90);
  double packets = LightRun::Sum (run.records[0].packets, 30, 90);
  g_test_message ("%.0f bit/s of 600000, %.4f lost", bps, lost / (lost + packets));
  g_assert_cmpfloat (bps, >, 400000);
  g_assert_cmpfloat (lost / (lost + packets), <, 0.01);
}

/* 300 receivers that join within 5 s: the RTCP budget, and one new slow receiver. */
void
Scale ()
{
  LightRunConfig config;
  config.max_bps = 400000;
  config.access = { { "delay", { 0.003, 0.248 } } };
  for (int i = 0; i < 300; i++)
    config.receivers.push_back ({ {}, 5.0 * i / 300 });
  config.receivers.push_back (
      { { { "delay", 0.098 }, { "loss", { { "type", "bernoulli" }, { "ratio", 0.05 } } } }, 40.0 });
  LightRun run (config);
  run.Run (60);
  double media = LightRun::Sum (run.sender_record.bytes, 10, 60);
  double control = LightRun::Sum (run.sender_record.control_bytes, 10, 60);
  for (const sim::ReceiverRecord &r : run.records)
    control += LightRun::Sum (r.control_bytes, 10, 60);
  double before = 0, reaction = 60;
  for (const auto &[time, bps] : run.sender_record.target_bps.Values ()) {
    if (time < 40)
      before = bps;
    else if (bps < 300000)
      reaction = std::min (reaction, time - 40);
  }
  g_test_message ("RTCP %.4f, reaction %.2f s", control / (media + control), reaction);
  g_assert_cmpfloat (control / (media + control), <=, 0.05);
  g_assert_cmpfloat (before, ==, 400000);
  g_assert_cmpfloat (reaction, <=, 8);
}

/* As the elements: before its first report a receiver sends nothing, for a report block alone would
 * be a plain player's. */
void
FirstIsAReport ()
{
  LightRunConfig config;
  config.access["loss"] = { { "type", "bernoulli" }, { "ratio", 0.01 } };
  for (int i = 0; i < 300; i++)
    config.receivers.push_back ({ {}, i / 300.0 });
  LightRun run (config);
  run.Run (20);
  unsigned reported = 0, late = 0;
  for (const sim::ReceiverRecord &r : run.records) {
    double first = 0;
    while (first < 20 && LightRun::Sum (r.reports, 0, first) == 0)
      first += sim::BIN;
    g_assert_cmpfloat (LightRun::Sum (r.control_bytes, 0, first - sim::BIN), ==, 0);
    reported += first < 20;
    late += first > 6;
  }
  g_test_message ("%u reported, %u after more than 6 s", reported, late);
  g_assert_cmpuint (late, >, 50);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/asmp/wire/compound-sizes", CompoundSizes);
  g_test_add_func ("/asmp/wire/compound-round-trip", CompoundRoundTrip);
  g_test_add_func ("/asmp/wire/rtp-round-trip", RtpRoundTrip);
  g_test_add_data_func ("/asmp/reaches-the-maximum/published", "published", Reaches);
  g_test_add_data_func ("/asmp/reaches-the-maximum/enhanced", "enhanced", Reaches);
  g_test_add_data_func ("/asmp/equation/published", "published", Equation);
  g_test_add_data_func ("/asmp/equation/enhanced", "enhanced", Equation);
  g_test_add_func ("/asmp/leave-and-crash", LeaveAndCrash);
  g_test_add_func ("/asmp/report-intervals", ReportIntervals);
  g_test_add_func ("/asmp/unicast-feedback", Unicast);
  g_test_add_func ("/asmp/deterministic", Deterministic);
  g_test_add_func ("/asmp/video", Video);
  g_test_add_func ("/asmp/scale", Scale);
  g_test_add_func ("/asmp/first-is-a-report", FirstIsAReport);
  return g_test_run ();
}

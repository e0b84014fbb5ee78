/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <algorithm>
#include <cmath>
#include <vector>

#include <glib.h>

#include "tfmcc/tfmcc.h"

using namespace sim;

namespace
{

constexpr MccTime START = 3600 * MCC_SECOND;
constexpr std::uint32_t S = 1000; /* 8000 bits */
constexpr std::uint8_t RTT = TFMCC_HAVE_RTT, LOSS = TFMCC_HAVE_LOSS, BOTH = RTT | LOSS;

void
check_near (double value, double expected, double relative = 1e-5)
{
  g_assert_cmpfloat_with_epsilon (value, expected, relative * expected);
}

class Sender
{
public:
  explicit Sender (double start_bps = 0, bool rise_per_report = false)
      : machine (Config (start_bps, rise_per_report), START)
  {
  }
  static TfmccSender::Config Config (double start_bps, bool rise_per_report)
  {
    TfmccSender::Config config;
    config.rise_per_report = rise_per_report;
    config.packet_bytes = S;
    config.start_bps = start_bps;
    return config;
  }
  /* Runs until @at seconds; @packets get what is sent. */
  void Run (double at)
  {
    MccTime end = Time (at), next;
    TfmccData data;
    while ((next = std::max (machine.NextTimeout (), now)) <= end) {
      now = next;
      machine.HandleTimeout (now);
      while (machine.Poll (now, &data)) {
        packets.push_back (data);
        times.push_back (now);
      }
      now++;
    }
    now = end;
    machine.HandleTimeout (now);
  }
  void Report (double at, std::uint32_t receiver, double rate, double rtt, std::uint8_t flags)
  {
    Run (at);
    TfmccReport report = {};
    report.receiver = receiver;
    report.timestamp_us = 123456 + receiver;
    report.echo_us = static_cast<std::uint32_t> (now / 1000 - std::llround (rtt * 1e6));
    report.rate_bps = static_cast<std::uint32_t> (rate);
    report.round = machine.Round ();
    report.flags = flags;
    machine.HandleReport (report, now);
  }
  static MccTime Time (double at)
  {
    return START + static_cast<MccTime> (std::llround (at * 1e6)) * 1000;
  }
  double MaxRtt () const
  {
    return mcc_time_to_seconds (machine.MaxRtt ());
  }

  TfmccSender machine;
  MccTime now = START;
  std::vector<TfmccData> packets;
  std::vector<MccTime> times;
};

/* A CLR, receiver 1, at @rate since START, slow start over. */
class Steady : public Sender
{
public:
  explicit Steady (double rate, bool rise_per_report = false) : Sender (rate, rise_per_report)
  {
    Report (0.001, 1, rate, 0.1, BOTH);
    g_assert_cmpuint (machine.Clr (), ==, 1);
    g_assert_false (machine.SlowStart ());
    check_near (machine.RateBps (), rate);
  }
};

/* 3.1 */
void
starts_at_one_packet_per_max_rtt ()
{
  Sender sender;

  check_near (sender.machine.RateBps (), 8000 / 0.5);
  sender.Run (1.9);
  g_assert_cmpuint (sender.packets.size (), ==, 4); /* 0, .5, 1, 1.5 s */
  g_assert_cmpuint (sender.packets[0].max_rtt_us, >=, 500000);
  g_assert_cmpuint (sender.packets[0].suppress_bps, ==, TFMCC_RATE_MAX);
}

void
paces_at_the_rate ()
{
  Steady sender (800e3);

  sender.Run (1.0005);
  g_assert_cmpuint (sender.packets.size (), >=, 99);
  g_assert_cmpuint (sender.packets.size (), <=, 102);
  for (std::size_t i = 10; i < sender.times.size (); i++)
    check_near (static_cast<double> (sender.times[i] - sender.times[i - 1]), 10e6, 1e-3);
}

/* 3.2: up at once; down by 10 % a round, not below the round's highest, nor below 8s/X. */
void
max_rtt_follows_the_slowest ()
{
  Steady sender (800e3);

  sender.Report (0.1, 2, 2e6, 0.8, BOTH);
  check_near (sender.MaxRtt (), 0.8);
  double before = 0.8;
  bool first = true;
  std::uint16_t round = sender.machine.Round ();
  for (double at = 0.15; at < 250; at += 0.05) {
    sender.Report (at, 1, 800e3, 0.1, BOTH);
    sender.Report (at, 2, 2e6, 0.3, BOTH);
    if (sender.machine.Round () == round)
      continue;
    /* The round of the .8 keeps it. */
    check_near (sender.MaxRtt (), first ? 0.8 : std::max (0.9 * before, 0.3));
    first = false;
    round = sender.machine.Round ();
    before = sender.MaxRtt ();
  }
  check_near (sender.MaxRtt (), 0.3);

  Steady slow (1000);
  g_assert_cmpfloat (slow.MaxRtt (), >, 8); /* 8s / X = 8 s */
  check_near (slow.MaxRtt (), 8, 1e-3);
}

/* 3.3 (2): at once. */
void
lower_receiver_becomes_clr_and_sets_the_rate ()
{
  Steady sender (800e3);

  sender.Report (0.2, 2, 900e3, 0.1, BOTH);
  g_assert_cmpuint (sender.machine.Clr (), ==, 1);
  check_near (sender.machine.RateBps (), 800e3);
  sender.Report (0.3, 3, 500e3, 0.1, BOTH);
  g_assert_cmpuint (sender.machine.Clr (), ==, 3);
  check_near (sender.machine.RateBps (), 500e3);
  /* 1 no longer drives the rate. */
  sender.Report (0.4, 1, 800e3, 0.1, BOTH);
  check_near (sender.machine.RateBps (), 500e3);
}

/* 3.3 (4): by one packet per R_max in each R_max, however often the CLR reports. */
void
rise_is_one_packet_per_max_rtt ()
{
  for (double step : { 0.01, 0.05, 0.1, 0.499 }) {
    Steady sender (800e3);
    double max_rtt = sender.MaxRtt ();
    sender.Report (0.002, 1, 800e3, 0.1, BOTH);
    for (double at = 0.002 + step; at < 2.6; at += step)
      sender.Report (at, 1, 5e6, 0.1, BOTH);
    check_near (max_rtt, 0.5);
    double elapsed = mcc_time_to_seconds (sender.now - Sender::Time (0.002));
    check_near (sender.machine.RateBps (), 800e3 + elapsed / max_rtt * 8000 / max_rtt, 1e-4);
  }
  /* A long silence is no licence. */
  Steady sender (800e3);
  sender.Report (1.9, 1, 5e6, 0.1, BOTH);
  check_near (sender.machine.RateBps (), 800e3 + 8000 / 0.5);
  /* Not above X_r; down at once. */
  sender.Report (2.4, 1, 817e3, 0.1, BOTH);
  check_near (sender.machine.RateBps (), 817e3);
  sender.Report (2.41, 1, 100e3, 0.1, BOTH);
  check_near (sender.machine.RateBps (), 100e3);
}

/* 3.3 (4) to the letter: each report of the CLR, of which there is one in each of its RTT. */
void
rise_may_be_one_packet_a_report ()
{
  Steady sender (800e3, true);
  double rate = 800e3;
  sender.Report (0.002, 1, 800e3, 0.1, BOTH);
  for (double at = 0.102; at < 1; at += 0.1) {
    sender.Report (at, 1, 5e6, 0.1, BOTH);
    rate += 8000 / 0.5;
    check_near (sender.machine.RateBps (), rate, 1e-4);
  }
}

/* 3.3: without an RTT it has calculated with R_max. */
void
report_without_rtt_is_corrected ()
{
  Steady sender (800e3);

  sender.Report (0.2, 2, 200e3, 0.1, LOSS); /* 200 * .5 / .1 */
  g_assert_cmpuint (sender.machine.Clr (), ==, 1);
  sender.Report (0.3, 2, 100e3, 0.1, LOSS);
  g_assert_cmpuint (sender.machine.Clr (), ==, 2);
  check_near (sender.machine.RateBps (), 500e3);
}

/* 3.3: half after 4 RTT without the CLR, not in its first 10 RTT, gone after 10. */
void
silent_clr_halves_then_goes ()
{
  Steady sender (800e3);
  double t = sender.MaxRtt ();

  check_near (t, 0.5);
  for (double at = 0.05; at <= 12 * t; at += 0.05)
    sender.Report (at, 1, 800e3, 0.5, BOTH); /* R_max stays */
  double last = mcc_time_to_seconds (sender.now - START);
  t = sender.MaxRtt ();
  sender.Run (last + 3.99 * t);
  check_near (sender.machine.RateBps (), 800e3);
  sender.Run (last + 4.01 * t);
  check_near (sender.machine.RateBps (), 400e3);
  sender.Run (last + 7.99 * t);
  check_near (sender.machine.RateBps (), 400e3);
  sender.Run (last + 8.01 * t);
  check_near (sender.machine.RateBps (), 200e3);
  g_assert_cmpuint (sender.machine.Clr (), ==, 1);
  sender.Run (last + 10.01 * t);
  g_assert_cmpuint (sender.machine.Clr (), ==, TFMCC_NOBODY);

  Steady young (800e3);
  young.Run (9.9 * 0.45); /* R_max of the second round */
  check_near (young.MaxRtt (), 0.45);
  g_assert_cmpuint (young.machine.Clr (), ==, 1);
  check_near (young.machine.RateBps (), 800e3);
}

/* 3.3: X / 2 per 10 RTT of silence, down to one packet in 8 s. */
void
silence_halves_down_to_the_floor ()
{
  Sender sender;

  sender.Run (10 * 0.501 - 0.01);
  check_near (sender.machine.RateBps (), 16e3);
  sender.Run (10 * 0.501 + 0.01);
  check_near (sender.machine.RateBps (), 8e3);
  sender.Run (1000);
  check_near (sender.machine.RateBps (), 1000);
}

/* 3.3 (3) */
void
leaving_clr_is_replaced_without_a_rise_for_one_round ()
{
  Steady sender (800e3);

  sender.Report (0.1, 1, 800e3, 0.1, BOTH | TFMCC_LEAVE);
  g_assert_cmpuint (sender.machine.Clr (), ==, TFMCC_NOBODY);
  check_near (sender.machine.RateBps (), 800e3);
  std::uint16_t round = sender.machine.Round ();
  double at = 0.2;
  for (; sender.machine.Round () == round; at += 0.05) {
    sender.Report (at, 2, 2e6, 0.1, BOTH);
    g_assert_cmpuint (sender.machine.Clr (), ==, 2);
    if (sender.machine.Round () == round)
      check_near (sender.machine.RateBps (), 800e3);
  }
  /* A round: T, for 2 is non-CLR at its first report. */
  g_assert_cmpfloat (at, >=, 0.1 + 6 * 0.5);
  sender.Report (at, 2, 2e6, 0.1, BOTH);
  g_assert_cmpfloat (sender.machine.RateBps (), >, 801e3);
}

/* 3.4: T with non-CLR feedback, else its arrival, else 2 T; T = 6 R_max. */
void
rounds_end_with_feedback ()
{
  Steady sender (800e3);
  auto begin = [&] {
    std::uint16_t round = sender.machine.Round ();
    double at = mcc_time_to_seconds (sender.now - START);
    while (sender.machine.Round () == round)
      sender.Report (at += 0.01, 1, 800e3, 0.5, BOTH);
    return at;
  };
  double start = begin ();
  std::uint16_t round = sender.machine.Round ();
  check_near (begin () - start, 6.0, 0.01); /* 2 T, nobody but the CLR */

  start = mcc_time_to_seconds (sender.now - START);
  sender.Report (start + 1, 2, 2e6, 0.5, BOTH);
  check_near (begin () - start, 3.0, 0.01); /* T */

  start = mcc_time_to_seconds (sender.now - START);
  for (double at = start; at < start + 4; at += 0.05)
    sender.Report (at, 1, 800e3, 0.5, BOTH);
  g_assert_cmpuint (sender.machine.Round (), ==, round + 2);
  sender.Report (start + 4.01, 2, 2e6, 0.5, BOTH); /* between T and 2 T */
  g_assert_cmpuint (sender.machine.Round (), ==, round + 3);
}

/* 3.4: g = 0.1; the CLR's do not suppress (4.5). */
void
suppression_rate ()
{
  Steady sender (800e3);
  auto next = [&] (double at) {
    sender.Run (at);
    return sender.packets.back ().suppress_bps;
  };

  sender.Run (3.01); /* the first round is the one in which 1 became CLR */
  sender.Report (3.1, 1, 700e3, 0.1, BOTH);
  g_assert_cmpuint (next (3.2), ==, TFMCC_RATE_MAX);
  sender.Report (3.21, 2, 2e6, 0.1, BOTH);
  check_near (next (3.3), 1.8e6);
  sender.Report (3.31, 3, 1.9e6, 0.1, BOTH);
  check_near (next (3.4), 1.8e6);
  sender.Report (3.41, 4, 1e6, 0.1, BOTH);
  check_near (next (3.5), 0.9e6);
  sender.Run (6);
  g_assert_cmpuint (sender.packets.back ().suppress_bps, ==, TFMCC_RATE_MAX); /* a new round */
}

/* 3.4: X_r as it was reported, though it chooses the CLR by the real RTT; and of this round. */
void
suppression_takes_reports_as_they_are ()
{
  Steady sender (800e3);
  auto next = [&] (double at) {
    sender.Run (at);
    return sender.packets.back ().suppress_bps;
  };

  sender.Run (3.01);
  sender.Report (3.1, 2, 1e6, 0.1, LOSS); /* 5 Mb/s with the real RTT */
  check_near (next (3.2), 0.9e6);
  sender.Report (3.3, 3, 100e3, 0.1, LOSS);
  g_assert_cmpuint (sender.machine.Clr (), ==, 3);
  check_near (sender.machine.RateBps (), 450e3); /* R_max is .45 s since the first round */
  check_near (next (3.4), 90e3);

  std::uint16_t round = sender.machine.Round ();
  for (double at = 3.4; sender.machine.Round () == round; at += 0.05)
    sender.Run (at);
  double at = mcc_time_to_seconds (sender.now - START);
  TfmccReport late = {};
  late.receiver = 4;
  late.rate_bps = 2000000;
  late.echo_us = static_cast<std::uint32_t> (sender.now / 1000 - 100000);
  late.round = round;
  late.flags = BOTH;
  sender.machine.HandleReport (late, sender.now);
  g_assert_cmpuint (next (at + 0.1), ==, TFMCC_RATE_MAX);
  sender.Report (at + 0.2, 5, 2.5e6, 0.1, BOTH);
  check_near (next (at + 0.3), 2.25e6);
}

/* 3.5 */
void
echo_priority ()
{
  Steady sender (80e3); /* a packet each 100 ms */
  std::vector<std::uint32_t> expected = { 9, 6, 5, 8, 7, 1, 9 };

  sender.Run (0.5);
  sender.packets.clear ();
  sender.Report (0.501, 1, 70e3, 0.1, BOTH);
  sender.Report (0.502, 7, 3e6, 0.1, BOTH);
  sender.Report (0.503, 8, 2e6, 0.1, BOTH); /* lower than 7 */
  sender.Report (0.504, 5, 2e6, 0.1, 0);
  sender.Report (0.505, 6, 1e6, 0.1, 0); /* no RTT, lower than 5 */
  sender.Report (0.506, 9, 60e3, 0.1, BOTH);
  g_assert_cmpuint (sender.machine.Clr (), ==, 9);
  sender.Run (1.5);
  for (std::size_t i = 0; i < expected.size (); i++)
    g_assert_cmpuint (sender.packets[i].echo_receiver, ==, expected[i]);
  g_assert_true (sender.packets[0].is_clr);
  g_assert_false (sender.packets[1].is_clr);
  /* Then the old CLR's, then the CLR again, with the time that its report was held. */
  const TfmccData &late = sender.packets[6];
  g_assert_true (late.is_clr);
  double held = (late.echo_us - (123456 + 9)) * 1e-6;
  check_near (held,
      mcc_time_to_seconds (
          sender.times[sender.times.size () - sender.packets.size () + 6] - Sender::Time (0.506)),
      1e-3);
}

/* 3.6: X moves to the lowest X_r over one RTT of that receiver, not over R_max. */
void
slow_start_moves_over_one_rtt ()
{
  Sender sender (80e3);

  sender.Report (0.1, 1, 160e3, 0.2, RTT);
  check_near (sender.MaxRtt (), 0.5);
  sender.Run (0.15);
  check_near (sender.machine.RateBps (), 100e3, 1e-3);
  sender.Run (0.3);
  check_near (sender.machine.RateBps (), 160e3, 1e-3);
  sender.Report (1, 2, 300e3, 0.1, RTT); /* not the lowest */
  sender.Run (2);
  check_near (sender.machine.RateBps (), 160e3, 1e-3);
  g_assert_cmpuint (sender.machine.Clr (), ==, 1);
  sender.Report (2.1, 1, 320e3, 0.1, RTT);
  sender.Report (2.15, 2, 200e3, 0.1, RTT); /* below the target */
  g_assert_cmpuint (sender.machine.Clr (), ==, 2);
  sender.Run (3);
  check_near (sender.machine.RateBps (), 200e3, 1e-3);
}

void
slow_start_ends_at_the_first_loss_of_anyone ()
{
  Sender sender (80e3);

  sender.Report (0.1, 1, 160e3, 0.1, RTT);
  sender.Report (0.2, 2, 3e6, 0.1, BOTH);
  g_assert_false (sender.machine.SlowStart ());
  g_assert_cmpuint (sender.machine.Clr (), ==, 2);
  double rate = sender.machine.RateBps ();
  sender.Report (0.7, 2, 3e6, 0.1, BOTH);
  g_assert_cmpfloat (sender.machine.RateBps (), <=, rate + 1.001 * 8000 / 0.5);

  Sender lower (800e3);
  lower.Report (0.1, 2, 100e3, 0.1, BOTH);
  check_near (lower.machine.RateBps (), 100e3);
}

/* After a pause: as at first, but receivers must not take its packets for old ones. */
void
restarts_with_numbers_that_go_on ()
{
  Steady sender (800e3);

  sender.Run (2);
  TfmccData last = sender.packets.back ();
  sender.now = Sender::Time (30);
  sender.machine.Restart (sender.now);
  check_near (sender.machine.RateBps (), 800e3);
  g_assert_true (sender.machine.SlowStart ());
  g_assert_cmpuint (sender.machine.Clr (), ==, TFMCC_NOBODY);
  sender.packets.clear ();
  sender.Run (30.1);
  g_assert_cmpuint (sender.packets[0].seq, ==, last.seq + 1);
  g_assert_cmpuint (sender.packets[0].round, ==, last.round + 1);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func (
      "/tfmcc/sender/starts-at-one-packet-per-max-rtt", starts_at_one_packet_per_max_rtt);
  g_test_add_func ("/tfmcc/sender/paces-at-the-rate", paces_at_the_rate);
  g_test_add_func ("/tfmcc/sender/max-rtt-follows-the-slowest", max_rtt_follows_the_slowest);
  g_test_add_func ("/tfmcc/sender/lower-receiver-becomes-clr-and-sets-the-rate",
      lower_receiver_becomes_clr_and_sets_the_rate);
  g_test_add_func ("/tfmcc/sender/rise-is-one-packet-per-max-rtt", rise_is_one_packet_per_max_rtt);
  g_test_add_func (
      "/tfmcc/sender/rise-may-be-one-packet-a-report", rise_may_be_one_packet_a_report);
  g_test_add_func (
      "/tfmcc/sender/report-without-rtt-is-corrected", report_without_rtt_is_corrected);
  g_test_add_func ("/tfmcc/sender/silent-clr-halves-then-goes", silent_clr_halves_then_goes);
  g_test_add_func (
      "/tfmcc/sender/silence-halves-down-to-the-floor", silence_halves_down_to_the_floor);
  g_test_add_func ("/tfmcc/sender/leaving-clr-is-replaced-without-a-rise-for-one-round",
      leaving_clr_is_replaced_without_a_rise_for_one_round);
  g_test_add_func ("/tfmcc/sender/rounds-end-with-feedback", rounds_end_with_feedback);
  g_test_add_func ("/tfmcc/sender/suppression-rate", suppression_rate);
  g_test_add_func (
      "/tfmcc/sender/suppression-takes-reports-as-they-are", suppression_takes_reports_as_they_are);
  g_test_add_func ("/tfmcc/sender/echo-priority", echo_priority);
  g_test_add_func ("/tfmcc/sender/slow-start-moves-over-one-rtt", slow_start_moves_over_one_rtt);
  g_test_add_func ("/tfmcc/sender/slow-start-ends-at-the-first-loss-of-anyone",
      slow_start_ends_at_the_first_loss_of_anyone);
  g_test_add_func (
      "/tfmcc/sender/restarts-with-numbers-that-go-on", restarts_with_numbers_that_go_on);
  return g_test_run ();
}

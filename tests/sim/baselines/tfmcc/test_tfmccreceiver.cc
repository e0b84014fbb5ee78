/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <algorithm>
#include <cmath>
#include <vector>

#include <glib.h>

#include "tfmcc/tfmcc.h"
#include "tfrc/equation.h"

using namespace sim;

namespace
{

constexpr MccTime START = 3600 * MCC_SECOND;
constexpr std::uint32_t S = 1000;
constexpr std::uint32_t ID = 17;
constexpr double MAX_RTT = 0.5;
/* The sender's clock is ahead of the receiver's, and wraps during the tests. */
constexpr std::uint32_t AHEAD_US = UINT32_MAX - 3600000000u - 1000000u;

void
check_near (double value, double expected, double relative = 1e-5)
{
  g_assert_cmpfloat_with_epsilon (value, expected, relative * expected);
}

class Receiver
{
public:
  explicit Receiver (std::uint64_t seed = 1, bool discounting = false)
      : machine ({ ID, S, seed, discounting, 6 }, START)
  {
  }
  explicit Receiver (const TfmccReceiver::Config &config) : machine (config, START)
  {
  }
  /* A packet that took @delay s to come, at @at s; a report if one goes out. */
  bool Data (double at, double delay, const TfmccData &fields, TfmccReport *out)
  {
    TfmccData data = fields;
    data.seq = seq++;
    data.timestamp_us = Us (at - delay) + AHEAD_US;
    data.max_rtt_us = static_cast<std::uint32_t> (max_rtt * 1e6);
    data.round = round;
    machine.HandleData (data, S, false, Time (at));
    return machine.Poll (out);
  }
  bool Plain (double at)
  {
    TfmccReport report;
    return Data (at, 0.05, Empty (), &report);
  }
  /* Two packets, with which it has a rate; the round begins at 0. */
  void Begin ()
  {
    Plain (-0.02);
    g_assert_cmpuint (machine.NextTimeout (), ==, MCC_TIME_NONE);
    Plain (0);
  }
  /* An echo of the newest report, so that the RTT sample is @rtt. */
  bool Echo (double at, double rtt, bool clr, TfmccReport *out, double delay = 0.05)
  {
    TfmccData data = Empty ();
    data.echo_receiver = ID;
    data.echo_us = Us (at - rtt);
    data.is_clr = clr;
    return Data (at, delay, data, out);
  }
  static TfmccData Empty ()
  {
    TfmccData data = {};
    data.suppress_bps = TFMCC_RATE_MAX;
    data.echo_receiver = TFMCC_NOBODY;
    return data;
  }
  static std::uint32_t Us (double at)
  {
    return static_cast<std::uint32_t> (Time (at) / 1000);
  }
  static MccTime Time (double at)
  {
    return START + static_cast<MccTime> (std::llround (at * 1e6)) * 1000;
  }
  /* Runs the timer out. */
  TfmccReport Expire ()
  {
    TfmccReport report = {};
    g_assert_cmpuint (machine.NextTimeout (), !=, MCC_TIME_NONE);
    machine.HandleTimeout (machine.NextTimeout ());
    g_assert_true (machine.Poll (&report));
    return report;
  }

  TfmccReceiver machine;
  std::uint32_t seq = 1000;
  std::uint16_t round = 1;
  double max_rtt = MAX_RTT;
};

/* 3.6, 4.3.4 */
void
asks_for_twice_what_it_receives_before_loss ()
{
  Receiver receiver;

  for (double at = 0; at < 5; at += 0.02)
    receiver.Plain (at);
  check_near (receiver.machine.RateBps (receiver.Time (5)), 2 * 8000 / 0.02);
  g_assert_cmpfloat (receiver.machine.Rtt (), ==, MAX_RTT);
  /* Half of it arrives: after 4 RTT the other half is forgotten. */
  for (double at = 5; at < 7; at += 0.04)
    receiver.Plain (at);
  check_near (receiver.machine.RateBps (receiver.Time (7)), 2 * 8000 / 0.04, 0.02);
}

/* 2.2.2, 4.3: no common clock; the first sample, then q = 0.5, the CLR's q = 0.9. */
void
measures_rtt_between_two_clocks ()
{
  Receiver receiver;
  TfmccReport report;

  receiver.Begin ();
  report = receiver.Expire ();
  g_assert_cmpuint (report.receiver, ==, ID);
  g_assert_cmpuint (report.flags, ==, 0);
  /* ts_i' = ts_i + the time since its arrival */
  double at = (report.timestamp_us - receiver.Us (0)) * 1e-6;
  check_near (
      static_cast<double> (report.echo_us - (receiver.Us (-0.05) + AHEAD_US)) * 1e-6 + 1, at + 1);

  receiver.Echo (3.0, 0.1, false, &report);
  check_near (receiver.machine.Rtt (), 0.1);
  /* The same report's echo again is no second sample, and the path has not changed. */
  receiver.Echo (3.1, 0.4, false, &report);
  check_near (receiver.machine.Rtt (), 0.1);

  receiver.round++;
  receiver.Plain (3.2);
  report = receiver.Expire ();
  g_assert_cmpuint (report.flags, ==, TFMCC_HAVE_RTT);
  receiver.Echo (7.0, 0.2, false, &report);
  check_near (receiver.machine.Rtt (), 0.15);

  g_assert_true (receiver.Echo (7.1, 0.2, true, &report)); /* CLR: it reports at once */
  receiver.Echo (7.2, 0.25, true, &report);
  check_near (receiver.machine.Rtt (), 0.9 * 0.15 + 0.1 * 0.25);
}

/* 4.3.3: R' = D_r + now - ts_j is used instead of R until the next sample, which discards it. */
void
follows_one_way_delay_between_samples ()
{
  Receiver receiver;
  TfmccReport report;
  double at = 3;

  receiver.Begin ();
  receiver.Expire ();
  receiver.Echo (at, 0.1, false, &report, 0.05);
  check_near (receiver.machine.Rtt (), 0.1);
  receiver.round++;
  receiver.Data (at += 0.01, 0.09, receiver.Empty (), &report); /* 40 ms more on the way */
  check_near (receiver.machine.Rtt (), 0.14);
  receiver.Data (at += 0.1, 0.03, receiver.Empty (), &report);
  check_near (receiver.machine.Rtt (), 0.08);
  /* D_r is of the newest sample, not of R. */
  receiver.Expire ();
  receiver.Echo (at = 8, 0.2, false, &report, 0.05);
  check_near (receiver.machine.Rtt (), 0.5 * 0.1 + 0.5 * 0.2);
  receiver.Data (at += 0.01, 0.06, receiver.Empty (), &report);
  check_near (receiver.machine.Rtt (), 0.21);
}

/* 2 s of packets, and one that is lost. */
void
lose_one (Receiver &receiver, double &at)
{
  for (; at < 2; at += 0.02)
    receiver.Plain (at);
  receiver.seq++;
  at += 0.02;
  for (int i = 0; i < 3; i++, at += 0.02)
    receiver.Plain (at);
}

/* 5.6: l_0 = (X_recv R / (sqrt (3/2) 8 s))^2, with R_max for R; times (R / R_max)^2 later. */
void
seeds_the_first_interval_and_rescales_it ()
{
  Receiver receiver;
  TfmccReport report;
  double at = 0;

  lose_one (receiver, at);
  /* Of the 25 packets of the last R_max one is missing. */
  double l0 = std::pow (24.0 / 25 * 400e3 * MAX_RTT / (std::sqrt (1.5) * 8 * S), 2);
  check_near (1 / receiver.machine.History ().LossEventRate (), l0, 1e-3);
  /* The rate is about what was received: the simple equation has no time-outs. */
  g_assert_cmpfloat (receiver.machine.RateBps (receiver.Time (at)), <, 400e3);
  g_assert_cmpfloat (receiver.machine.RateBps (receiver.Time (at)), >, 300e3);

  l0 = 1 / receiver.machine.History ().LossEventRate ();
  report = receiver.Expire ();
  g_assert_cmpuint (report.flags, ==, TFMCC_HAVE_LOSS);
  receiver.Echo (at = 4, 0.1, false, &report);
  check_near (1 / receiver.machine.History ().LossEventRate (), l0 * 0.04, 0.02);
  check_near (receiver.machine.RateBps (receiver.Time (at)),
      TfrcRate (S, 0.1, receiver.machine.History ().LossEventRate ()));
  /* Only once. */
  receiver.round++;
  receiver.Plain (4.02);
  receiver.Expire ();
  double before = receiver.machine.History ().LossEventRate ();
  receiver.Echo (8, 0.05, false, &report);
  check_near (receiver.machine.History ().LossEventRate (), before);
}

/* 5.6: ... with the R_max of then: the report that brings the sample raises it to the same. */
void
rescales_by_the_max_rtt_of_the_loss ()
{
  Receiver receiver;
  TfmccReport report;
  double at = 0;

  lose_one (receiver, at);
  double l0 = 1 / receiver.machine.History ().LossEventRate ();
  receiver.Expire ();
  receiver.max_rtt = 1;
  receiver.Echo (4, 1, false, &report);
  check_near (1 / receiver.machine.History ().LossEventRate (), l0 * 4, 0.05);
}

/* 5.6: X_recv is the rate of the last RTT. */
void
first_interval_is_of_the_last_rtt ()
{
  Receiver receiver;
  double at = 0;

  for (; at < 2; at += 0.02)
    receiver.Plain (at);
  for (; at < 2 + 1.1 * MAX_RTT; at += 0.01)
    receiver.Plain (at);
  receiver.seq++;
  for (int i = 0; i < 3; i++)
    receiver.Plain (at += 0.01);
  double l0 = std::pow (49.0 / 50 * 800e3 * MAX_RTT / (std::sqrt (1.5) * 8 * S), 2);
  check_near (1 / receiver.machine.History ().LossEventRate (), l0, 1e-3);
}

/* 5.6: ... also where the first gap is so long that it is several events: rescaled by the first RTT
 * it gives a rate. */
void
first_interval_before_a_long_gap ()
{
  Receiver receiver;
  TfmccReport report;
  double at = 0;

  for (; at < 2; at += 0.02)
    receiver.Plain (at);
  receiver.seq += 50;
  at += 1; /* two R_max */
  for (int i = 0; i < 4; i++, at += 0.02)
    receiver.Plain (at);
  g_assert_cmpuint (receiver.machine.History ().Events (), >=, 2);
  receiver.Echo (at, 0.1, false, &report);
  g_assert_cmpfloat (receiver.machine.RateBps (receiver.Time (at)), <, 10e6);
}

/* 4.3.2, read so that each echo is a sample. */
void
samples_each_echo ()
{
  TfmccReceiver::Config config{ ID, S, 1, false, 6 };
  TfmccReport report;
  config.sample_each = true;
  Receiver receiver (config);

  receiver.Begin ();
  receiver.Expire ();
  receiver.Echo (3.0, 0.1, true, &report);
  receiver.Echo (3.1, 0.2, true, &report);
  check_near (receiver.machine.Rtt (), 0.9 * 0.1 + 0.1 * 0.2);
}

/* 4.5: P (wait <= t) = N^(t/T - 1), T = 6 R_max, N = 10 000. */
void
timers_are_exponential ()
{
  constexpr unsigned RUNS = 20000;
  constexpr double T = 6 * MAX_RTT;
  unsigned below[3] = {};
  double points[3] = { 0.5 * T, 0.75 * T, 0.9 * T };
  double sum = 0;

  for (unsigned i = 0; i < RUNS; i++) {
    Receiver receiver (i + 1);
    receiver.Begin ();
    if (receiver.machine.NextTimeout () == MCC_TIME_NONE)
      continue; /* 0: it has reported */
    double wait = mcc_time_to_seconds (receiver.machine.NextTimeout () - START);
    g_assert_cmpfloat (wait, <=, T);
    sum += wait;
    for (int k = 0; k < 3; k++)
      below[k] += wait <= points[k];
  }
  for (int k = 0; k < 3; k++) {
    double expected = std::pow (1e4, points[k] / T - 1);
    double error = 4 * std::sqrt (expected / RUNS);
    g_assert_cmpfloat (std::fabs (below[k] / (double)RUNS - expected), <, error);
  }
  check_near (sum / RUNS, T * (1 - 1 / std::log (1e4)), 0.01); /* E[t] */
}

/* 4.5: by X_supp below the own rate, now or as the round began, if R_max covers the own RTT. */
void
cancel_rule ()
{
  struct {
    double rtt, suppress, round_begin_spacing, spacing;
    bool cancelled;
  } cases[] = {
    /* own rate 2 * 8000 / spacing = 800 kb/s */
    { 0.1, 700e3, 0.02, 0.02, true }, { 0.1, 900e3, 0.02, 0.02, false },
    { 0.1, 700e3, 0.02, 0.08, true }, /* 200 kb/s now */
    { 0.1, 700e3, 0.08, 0.02, true }, /* as the round began */
    { 0.1, 700e3, 0.08, 0.08, false },
    { 0.7, 700e3, 0.02, 0.02, false }, /* R_max must learn of it */
  };

  for (auto &c : cases) {
    for (std::uint64_t seed = 1; seed < 4; seed++) {
      Receiver receiver (seed);
      TfmccReport report;
      double at = 0;
      receiver.Begin ();
      receiver.Expire ();
      receiver.Echo (at = 3, c.rtt, false, &report);
      for (; at < 10; at += c.round_begin_spacing)
        receiver.Plain (at);
      receiver.round++;
      receiver.max_rtt = 1e3; /* a long time to wait, whatever is drawn */
      receiver.Plain (at);
      receiver.max_rtt = MAX_RTT;
      for (double end = at + 10; at < end;)
        receiver.Plain (at += c.spacing);
      g_assert_cmpuint (receiver.machine.NextTimeout (), !=, MCC_TIME_NONE);
      TfmccData data = receiver.Empty ();
      data.suppress_bps = static_cast<std::uint32_t> (c.suppress);
      receiver.Data (at += c.spacing, 0.05, data, &report);
      g_assert_cmpint (receiver.machine.NextTimeout () == MCC_TIME_NONE, ==, c.cancelled);
    }
  }
}

/* 4.5: a new round draws again. */
void
new_round_starts_a_new_timer ()
{
  Receiver receiver;
  TfmccReport report;
  TfmccData data = receiver.Empty ();

  receiver.Begin ();
  receiver.Plain (0.1);
  MccTime first = receiver.machine.NextTimeout ();
  data.suppress_bps = 1;
  receiver.Data (0.2, 0.05, data, &report);
  g_assert_cmpuint (receiver.machine.NextTimeout (), ==, MCC_TIME_NONE);
  receiver.round++;
  receiver.Plain (0.3);
  g_assert_cmpuint (receiver.machine.NextTimeout (), !=, MCC_TIME_NONE);
  g_assert_cmpuint (receiver.machine.NextTimeout (), !=, first);
  report = receiver.Expire ();
  g_assert_cmpuint (report.round, ==, receiver.round);
}

/* 4.5, where all hear all. */
void
overheard_report_cancels ()
{
  struct {
    double rate;
    int round;
    std::uint32_t from;
    bool cancelled;
  } cases[] = {
    { 700e3, 0, 5, true }, { 900e3, 0, 5, false }, { 700e3, -1, 5, false },
    { 700e3, 0, 3, false }, /* the CLR's */
  };

  for (auto &c : cases) {
    Receiver receiver;
    TfmccReport report;
    TfmccData data = receiver.Empty ();
    data.is_clr = 1;
    data.echo_receiver = 3;
    receiver.max_rtt = 1e3;
    receiver.Begin ();
    receiver.Data (0.001, 0.05, data, &report);
    receiver.max_rtt = 0.1;
    for (double at = 0.02; at < 1; at += 0.02)
      receiver.Plain (at);
    TfmccReport heard = {};
    heard.receiver = c.from;
    heard.rate_bps = static_cast<std::uint32_t> (c.rate);
    heard.round = static_cast<std::uint16_t> (receiver.round + c.round);
    g_assert_cmpuint (receiver.machine.NextTimeout (), !=, MCC_TIME_NONE);
    receiver.machine.HandleOverheard (heard, receiver.Time (1));
    g_assert_cmpint (receiver.machine.NextTimeout () == MCC_TIME_NONE, ==, c.cancelled);
  }
}

/* 4.5: once per RTT, whatever X_supp is; no data, no report; goodbye. */
void
clr_reports_once_per_rtt ()
{
  Receiver receiver;
  TfmccReport report;
  unsigned reports = 0;
  double at = 3;

  receiver.Begin ();
  receiver.Expire ();
  receiver.Echo (at, 0.1, true, &report);
  g_assert_true (receiver.machine.IsClr ());
  TfmccData data = receiver.Empty ();
  data.suppress_bps = 1;
  for (int i = 0; i < 1000; i++)
    reports += receiver.Data (at += 0.01, 0.05, data, &report);
  g_assert_cmpuint (reports, >=, 90);
  g_assert_cmpuint (reports, <=, 101);
  if (receiver.machine.NextTimeout () != MCC_TIME_NONE)
    receiver.Expire ();
  g_assert_cmpuint (receiver.machine.NextTimeout (), ==, MCC_TIME_NONE);

  /* Another is CLR. */
  data = receiver.Empty ();
  data.is_clr = 1;
  data.echo_receiver = ID + 1;
  receiver.Data (at += 0.01, 0.05, data, &report);
  g_assert_false (receiver.machine.IsClr ());
  receiver.machine.Leave (receiver.Time (at));
  g_assert_false (receiver.machine.Poll (&report));
  data.echo_receiver = ID;
  receiver.Data (at += 0.01, 0.05, data, &report);
  receiver.machine.Leave (receiver.Time (at));
  g_assert_true (receiver.machine.Poll (&report));
  g_assert_cmpuint (report.flags & TFMCC_LEAVE, ==, TFMCC_LEAVE);
}

/* 4.3.1, 4.4: 10 RTT without data clear have_loss; until the next loss it asks for 2 X_recv. */
void
pause_clears_have_loss ()
{
  for (double pause : { 9.9 * MAX_RTT, 10.1 * MAX_RTT }) {
    Receiver receiver;
    double at = 0;
    bool paused = pause > 10 * MAX_RTT;
    for (; at < 2; at += 0.02)
      receiver.Plain (at);
    receiver.seq++;
    for (int i = 0; i < 3; i++)
      receiver.Plain (at += 0.02);
    g_assert_cmpuint (receiver.Expire ().flags, ==, TFMCC_HAVE_LOSS);

    receiver.round++;
    receiver.Plain (at += pause);
    /* One packet tells no rate. */
    g_assert_cmpint (receiver.machine.NextTimeout () == MCC_TIME_NONE, ==, paused);
    receiver.Plain (at += 0.04);
    double rate = TfrcRate (S, MAX_RTT, receiver.machine.History ().LossEventRate ());
    check_near (receiver.machine.RateBps (receiver.Time (at)), paused ? 2 * 8000 / 0.04 : rate);
    g_assert_cmpuint (receiver.Expire ().flags, ==, paused ? 0 : TFMCC_HAVE_LOSS);

    receiver.seq++;
    for (int i = 0; i < 3; i++)
      receiver.Plain (at += 0.04);
    g_assert_cmpuint (receiver.machine.History ().Events (), ==, 2);
    check_near (receiver.machine.RateBps (receiver.Time (at)),
        TfrcRate (S, MAX_RTT, receiver.machine.History ().LossEventRate ()));
  }
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tfmcc/receiver/asks-for-twice-what-it-receives-before-loss",
      asks_for_twice_what_it_receives_before_loss);
  g_test_add_func (
      "/tfmcc/receiver/measures-rtt-between-two-clocks", measures_rtt_between_two_clocks);
  g_test_add_func ("/tfmcc/receiver/follows-one-way-delay-between-samples",
      follows_one_way_delay_between_samples);
  g_test_add_func ("/tfmcc/receiver/seeds-the-first-interval-and-rescales-it",
      seeds_the_first_interval_and_rescales_it);
  g_test_add_func (
      "/tfmcc/receiver/rescales-by-the-max-rtt-of-the-loss", rescales_by_the_max_rtt_of_the_loss);
  g_test_add_func (
      "/tfmcc/receiver/first-interval-is-of-the-last-rtt", first_interval_is_of_the_last_rtt);
  g_test_add_func (
      "/tfmcc/receiver/first-interval-before-a-long-gap", first_interval_before_a_long_gap);
  g_test_add_func ("/tfmcc/receiver/samples-each-echo", samples_each_echo);
  g_test_add_func ("/tfmcc/receiver/timers-are-exponential", timers_are_exponential);
  g_test_add_func ("/tfmcc/receiver/cancel-rule", cancel_rule);
  g_test_add_func ("/tfmcc/receiver/new-round-starts-a-new-timer", new_round_starts_a_new_timer);
  g_test_add_func ("/tfmcc/receiver/overheard-report-cancels", overheard_report_cancels);
  g_test_add_func ("/tfmcc/receiver/clr-reports-once-per-rtt", clr_reports_once_per_rtt);
  g_test_add_func ("/tfmcc/receiver/pause-clears-have-loss", pause_clears_have_loss);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <algorithm>
#include <cmath>

#include <glib.h>

extern "C" {
#include "mccrng.h"
#include "mcctcp.h"
}

#include "tfrc/equation.h"
#include "tfrc/tfrc.h"

using namespace sim;

namespace
{

constexpr MccTime START = 3600 * MCC_SECOND;
constexpr std::uint32_t S = 1000;

void
check_near (double value, double expected, double relative = 1e-5)
{
  g_assert_cmpfloat_with_epsilon (value, expected, relative * expected);
}

/* RFC 5348 3.1, RFC 4654 2.1, worked by hand for s = 1000 bytes, R = 100 ms. */
void
equation_by_hand ()
{
  /* 8000 / (0.1 (sqrt (.02/3) + 12 sqrt (.00375) .01 1.0032)) */
  check_near (TfrcRate (1000, 0.1, 0.01), 8000 / (0.1 * (0.0816496581 + 0.0073719843)), 1e-7);
  /* 8000 / (0.1 (sqrt (.2/3) + 12 sqrt (.0375) .1 1.32)) */
  check_near (TfrcRate (1000, 0.1, 0.1), 8000 / (0.1 * (0.2581988897 + 0.3067402810)), 1e-7);
  /* No min (1, .): 8000 / (0.1 (sqrt (2/3) + 12 sqrt (3/8) 33)) */
  check_near (TfrcRate (1000, 0.1, 1), 8000 / (0.1 * (0.8164965809 + 242.4994845)), 1e-7);
  check_near (TfrcRate (500, 0.2, 0.01), TfrcRate (1000, 0.1, 0.01) / 4);
}

/* Below p = 8/27, where min (1, .) of PFTK is silent, it is the core's. */
void
equation_is_the_cores_at_small_p ()
{
  for (double p = 1e-6; p < 8.0 / 27; p *= 1.7)
    check_near (TfrcRate (1200, 0.06, p), mcc_tcp_rate_bps (&mcc_tcp_model_default, 1200, 0.06, p));
}

void
equation_round_trips ()
{
  for (double p = 1e-7; p <= 1; p *= 1.9)
    check_near (TfrcLossEventRate (1000, 0.06, TfrcRate (1000, 0.06, p)), p);
  g_assert_cmpfloat (TfrcLossEventRate (1000, 0.06, 1), ==, 1);
}

class Sender
{
public:
  explicit Sender (double max_bps = 0) : machine ({ S, 0, max_bps, false }, START)
  {
  }
  /* Feedback whose RTT sample is @rtt seconds. */
  void Feedback (double at, double rtt, double receive_bps, double loss)
  {
    TfrcFeedback feedback = {};
    MccTime now = Time (at);
    feedback.timestamp_us = static_cast<std::uint32_t> ((now - Time (rtt, 0)) / 1000 - 5000);
    feedback.delay_us = 5000;
    feedback.receive_bps = static_cast<std::uint32_t> (receive_bps);
    feedback.loss_event_rate = static_cast<std::uint32_t> (loss * 0x1p32);
    machine.HandleFeedback (feedback, now);
  }
  static MccTime Time (double at, MccTime base = START)
  {
    return base + static_cast<MccTime> (std::llround (at * 1e6)) * 1000;
  }
  /* Packets sent until @at; the timers run. */
  unsigned Run (double at)
  {
    unsigned packets = 0;
    TfrcData data;
    MccTime now = START;
    while ((now = std::max (now, machine.NextTimeout ())) <= Time (at)) {
      machine.HandleTimeout (now);
      packets += machine.Poll (now, &data);
      now += 1;
    }
    return packets;
  }

  TfrcSender machine;
};

/* 4.2: one packet a second, and half of it after 2 s without feedback. */
void
sender_begins_with_one_packet_a_second ()
{
  Sender sender;

  check_near (sender.machine.AllowedBps (), 8000);
  g_assert_cmpuint (sender.Run (1.5), ==, 2);
  sender.Run (2.1);
  check_near (sender.machine.AllowedBps (), 4000);
  sender.Run (1000);
  check_near (sender.machine.AllowedBps (), 8000.0 / 64); /* s / t_mbi */
}

/* 4.2, 4.3 (4): W_init / R, then doubled once per RTT, at most twice what is received. */
void
sender_slow_start ()
{
  Sender sender;

  sender.Feedback (0.1, 0.1, 0, 0);
  check_near (sender.machine.AllowedBps (), 8 * 4000 / 0.1);
  sender.Feedback (0.15, 0.1, 300e3, 0); /* less than one RTT later */
  check_near (sender.machine.AllowedBps (), 320e3);
  sender.Feedback (0.21, 0.1, 320e3, 0);
  check_near (sender.machine.AllowedBps (), 640e3);
  sender.Feedback (0.32, 0.1, 500e3, 0);
  check_near (sender.machine.AllowedBps (), 1000e3);
}

/* 4.3 (2) */
void
sender_smooths_rtt ()
{
  Sender sender;

  sender.Feedback (1, 0.1, 0, 0);
  check_near (sender.machine.Rtt (), 0.1);
  sender.Feedback (2, 0.2, 0, 0);
  check_near (sender.machine.Rtt (), 0.9 * 0.1 + 0.1 * 0.2);
}

/* 4.3 (4): X = min (X_Bps, 2 max (X_recv_set)). */
void
sender_follows_the_equation_and_the_receive_rate ()
{
  Sender sender;
  double equation = TfrcRate (S, 0.1, 0.01);

  sender.Feedback (0.1, 0.1, 0, 0);
  sender.Feedback (0.4, 0.1, 2 * equation, 0.01);
  check_near (sender.machine.AllowedBps (), equation);
  sender.Feedback (0.9, 0.1, 0.2 * equation, 0.01); /* the older one is more than 2 RTT old */
  check_near (sender.machine.AllowedBps (), 0.4 * equation);
  sender.Feedback (1.0, 0.1, 0.1 * equation, 0.01); /* the set's highest counts */
  check_near (sender.machine.AllowedBps (), 0.4 * equation);
}

/* 4.4: the nofeedback timer is max (4 R, 2 s / X). */
void
sender_halves_without_feedback ()
{
  Sender sender;
  double equation = TfrcRate (S, 0.1, 0.01);

  /* Limited by the equation: half of it. */
  sender.Feedback (0.1, 0.1, 0, 0);
  sender.Feedback (0.4, 0.1, equation, 0.01);
  sender.Run (0.4 + 0.399);
  check_near (sender.machine.AllowedBps (), equation);
  sender.Run (0.4 + 0.401);
  check_near (sender.machine.AllowedBps (), equation / 2);
  /* Then by X_recv: half of what it allowed. */
  sender.Run (0.4 + 0.801);
  check_near (sender.machine.AllowedBps (), equation / 4);
}

/* 4.3 (4): an application's limit does not let X grow beyond twice what is received. */
void
sender_limited_by_the_application ()
{
  Sender sender (100e3);

  sender.Feedback (0.1, 0.1, 0, 0);
  for (double at = 0.4; at < 3; at += 0.11)
    sender.Feedback (at, 0.1, 100e3, 0);
  check_near (sender.machine.RateBps (), 100e3);
  g_assert_cmpfloat (sender.machine.AllowedBps (), <=, 8 * 4000 / 0.1);
}

class Receiver
{
public:
  Receiver () : machine ({ S, true })
  {
  }
  /* A packet; its feedback, if any. */
  bool Data (MccTime now, double rtt, TfrcFeedback *out)
  {
    TfrcData data = { seq++, static_cast<std::uint32_t> (now / 1000) + 77, 0 };
    data.rtt_us = static_cast<std::uint32_t> (rtt * 1e6);
    machine.HandleData (data, S, false, now);
    return machine.Poll (out);
  }

  TfrcReceiver machine;
  std::uint32_t seq = 5;
};

/* 6.1-6.3: on the first packet, then once per RTT while data comes. */
void
receiver_reports_once_per_rtt ()
{
  Receiver receiver;
  TfrcFeedback feedback;
  unsigned reports = 0;

  g_assert_true (receiver.Data (START, 0, &feedback));
  g_assert_cmpuint (feedback.receive_bps, ==, 0);
  for (unsigned i = 1; i <= 1000; i++)
    reports += receiver.Data (START + i * 10 * MCC_MSECOND, 0.1, &feedback);
  g_assert_cmpuint (reports, >=, 98);
  g_assert_cmpuint (reports, <=, 100);
  check_near (feedback.receive_bps, 800e3, 0.01); /* one packet per 10 ms */
  /* What came since, then no data, no feedback. */
  receiver.machine.HandleTimeout (receiver.machine.NextTimeout ());
  receiver.machine.Poll (&feedback);
  for (unsigned i = 0; i < 10; i++) {
    MccTime due = receiver.machine.NextTimeout ();
    receiver.machine.HandleTimeout (due);
    g_assert_cmpuint (receiver.machine.NextTimeout (), >, due);
    g_assert_false (receiver.machine.Poll (&feedback));
  }
}

/* 6.3.1: the first interval is such that the equation gives the rate received. 6.1: at once. */
void
receiver_seeds_the_first_interval ()
{
  Receiver receiver;
  TfrcFeedback feedback;

  for (unsigned i = 0; i < 200; i++)
    receiver.Data (START + i * 10 * MCC_MSECOND, i > 0 ? 0.1 : 0, &feedback);
  receiver.seq++;
  g_assert_cmpfloat (receiver.machine.LossEventRate (), ==, 0);
  for (unsigned i = 201; i < 204; i++) {
    bool told = receiver.Data (START + i * 10 * MCC_MSECOND, 0.1, &feedback);
    if (i == 203)
      g_assert_true (told);
  }
  double p = feedback.loss_event_rate * 0x1p-32;
  check_near (p, receiver.machine.LossEventRate ());
  check_near (TfrcRate (S, 0.1, p), 800e3, 0.02);
}

/* Both, over a path that loses 1 in 100 at random: the rate is the equation's. */
void
loop_reaches_the_equations_rate ()
{
  TfrcSender sender ({ S, 0, 0, false }, START);
  TfrcReceiver receiver ({ S, true });
  MccRng rng;
  std::deque<std::pair<MccTime, TfrcData>> forth;
  std::deque<std::pair<MccTime, TfrcFeedback>> back;
  MccTime now = START;
  unsigned packets = 0;
  double seconds = 400;

  mcc_rng_init (&rng, 1);
  while (now < START + mcc_time_from_seconds (seconds)) {
    TfrcData data;
    TfrcFeedback feedback;
    sender.HandleTimeout (now);
    while (sender.Poll (now, &data)) {
      packets += now > START + 20 * MCC_SECOND;
      if (mcc_rng_uniform (&rng) >= 0.01)
        forth.push_back ({ now + 50 * MCC_MSECOND, data });
    }
    while (!forth.empty () && forth.front ().first <= now) {
      receiver.HandleData (forth.front ().second, S, false, now);
      forth.pop_front ();
    }
    receiver.HandleTimeout (now);
    while (receiver.Poll (&feedback))
      back.push_back ({ now + 50 * MCC_MSECOND, feedback });
    while (!back.empty () && back.front ().first <= now) {
      sender.HandleFeedback (back.front ().second, now);
      back.pop_front ();
    }
    MccTime next = std::min (sender.NextTimeout (), receiver.NextTimeout ());
    if (!forth.empty ())
      next = std::min (next, forth.front ().first);
    if (!back.empty ())
      next = std::min (next, back.front ().first);
    now = std::max (next, now + 1000);
  }
  check_near (packets * 8.0 * S / (seconds - 20), TfrcRate (S, 0.1, 0.01), 0.15);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tfrc/equation/by-hand", equation_by_hand);
  g_test_add_func ("/tfrc/equation/is-the-cores-at-small-p", equation_is_the_cores_at_small_p);
  g_test_add_func ("/tfrc/equation/round-trips", equation_round_trips);
  g_test_add_func (
      "/tfrc/sender/begins-with-one-packet-a-second", sender_begins_with_one_packet_a_second);
  g_test_add_func ("/tfrc/sender/slow-start", sender_slow_start);
  g_test_add_func ("/tfrc/sender/smooths-rtt", sender_smooths_rtt);
  g_test_add_func ("/tfrc/sender/follows-the-equation-and-the-receive-rate",
      sender_follows_the_equation_and_the_receive_rate);
  g_test_add_func ("/tfrc/sender/halves-without-feedback", sender_halves_without_feedback);
  g_test_add_func ("/tfrc/sender/limited-by-the-application", sender_limited_by_the_application);
  g_test_add_func ("/tfrc/receiver/reports-once-per-rtt", receiver_reports_once_per_rtt);
  g_test_add_func ("/tfrc/receiver/seeds-the-first-interval", receiver_seeds_the_first_interval);
  g_test_add_func ("/tfrc/loop/reaches-the-equations-rate", loop_reaches_the_equations_rate);
  return g_test_run ();
}

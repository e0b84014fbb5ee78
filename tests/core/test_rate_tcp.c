/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How slow start ends, and the mode in which the equation rules.
 */
#include "ratefixture.h"

/* In slow start, what was asked for arrives; no queue. */
static void
in_slow_start (RateFixture *f, gboolean unheard)
{
  rate_init (f);
  f->unheard = unheard;
  rate_steps (f, 6);
  rate_follow (f, 6);
  g_assert_cmpint (rate_mode (f), ==, MCC_RATE_SLOW_START);
}

/* A loss at a queue that stands without our overload: others fill it. */
static void
loss_ends_slow_start (void)
{
  static const struct {
    const char *name;
    guint queue_ms[3]; /* the third at the loss */
    guint arriving;    /* percent of what was sent */
    guint percent;     /* received, of what the link carries */
    gboolean unheard;
    MccRateMode mode;
  } table[] = {
    { "stands", { 40, 40, 40 }, 100, 75, FALSE, MCC_RATE_TCP },
    { "stands, nothing announced", { 40, 40, 40 }, 100, 75, TRUE, MCC_RATE_TCP },
    { "falls", { 60, 50, 40 }, 100, 75, FALSE, MCC_RATE_TCP },
    { "grew once", { 20, 20, 90 }, 100, 75, FALSE, MCC_RATE_TCP },
    { "grows slowly", { 22, 31, 40 }, 100, 75, FALSE, MCC_RATE_TCP },
    { "our overload", { 20, 30, 40 }, 100, 75, FALSE, MCC_RATE_DELAY },
    { "nearly all arrives", { 40, 40, 40 }, 87, 75, FALSE, MCC_RATE_TCP },
    { "not all arrives", { 40, 40, 40 }, 83, 75, FALSE, MCC_RATE_DELAY },
    { "not all arrives, nothing announced", { 40, 40, 40 }, 83, 75, TRUE, MCC_RATE_DELAY },
    { "nearly the whole link", { 40, 40, 40 }, 100, 84, FALSE, MCC_RATE_TCP },
    { "the whole link", { 40, 40, 40 }, 100, 86, FALSE, MCC_RATE_DELAY },
    { "no queue", { 9, 9, 9 }, 100, 75, FALSE, MCC_RATE_DELAY },
    { "hardly a queue", { 11, 11, 11 }, 100, 75, FALSE, MCC_RATE_TCP },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    in_slow_start (&f, table[row].unheard);
    rate_queue (&f, table[row].queue_ms[0] + 5);
    rate_follow (&f, 1);
    for (guint i = 0; i < 3; i++) {
      rate_queue (&f, table[row].queue_ms[i]);
      guint64 sent_bps = f.asked[RATE_LAG - 1];
      rate_receive (&f, sent_bps * table[row].arriving / 100);
      f.proven_bps = f.input.received_now_bps * 100 / table[row].percent;
      mcc_capacity_init (&f.capacity); /* else the rates before have the majority */
      g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_SLOW_START);
      if (i < 2)
        rate_step (&f);
      else
        rate_lose (&f, 0.01);
    }
    g_test_message ("%s: mode %d", table[row].name, (int)rate_mode (&f));
    g_assert_cmpint (rate_mode (&f), ==, table[row].mode);
    if (rate_mode (&f) == MCC_RATE_DELAY)
      g_assert_cmpuint (rate_bps (&f), <=, f.input.received_now_bps * 9 / 10);
    rate_clear (&f);
  }
}

/* Nothing of ours has come back yet: nothing is known of others. */
static void
loss_at_the_very_start (void)
{
  RateFixture f;
  rate_init (&f);
  rate_queue (&f, 40);
  f.proven_bps = 2 * MBPS;
  rate_steps (&f, 3);
  g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_SLOW_START);
  rate_lose (&f, 0.01);
  g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
  rate_clear (&f);
}

/* What grew until slow start began others sent. Then the queue must grow twice. */
static void
queue_before_slow_start (void)
{
  RateFixture f;
  rate_init (&f);
  f.input.rtt_measured = false;
  for (guint i = 1; i <= 4; i++) {
    f.input.rtt = 500 * MCC_MSECOND;
    rate_queue (&f, 10 * i);
    rate_step (&f);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_START);
  }
  f.input.rtt_measured = true;
  f.input.rtt = 40 * MCC_MSECOND;
  for (guint i = 5; i <= 6; i++) {
    rate_queue (&f, 10 * i);
    rate_step (&f);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_SLOW_START);
  }
  rate_queue (&f, 70);
  rate_step (&f);
  g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
  rate_clear (&f);
}

/* Competing, with a queue, and what is sent arrives. */
static void
in_tcp_mode (RateFixture *f, MccTime rtt, double loss_ratio)
{
  in_slow_start (f, FALSE);
  f->input.rtt = rtt;
  rate_queue (f, 60);
  for (guint i = 0; i < 20; i++) { /* until what was asked for with the old RTT arrives */
    rate_receive (f, f->asked[RATE_LAG - 1]);
    f->input.max_bps = MBPS;
    rate_step (f);
  }
  f->proven_bps = 2 * MBPS;
  rate_steps (f, 3);
  g_assert_cmpint (rate_mode (f), ==, MCC_RATE_SLOW_START);
  rate_lose (f, loss_ratio);
  g_assert_cmpint (rate_mode (f), ==, MCC_RATE_TCP);
  f->input.max_bps = 100 * MBPS;
}

/* From above and from below. Where a full queue drops TCP meets a quarter more losses than we do,
 * and at marks it waits for no time-out; they count as a fifth more of b. */
static void
the_equation_for_what_tcp_meets (void)
{
  static const struct {
    guint rtt_ms;
    double loss_ratio, overflow_share, meets, marked_share;
  } table[] = {
    { 40, 0.001, 0.0, 0.001, 0.0 },
    { 40, 0.1, 0.0, 0.1, 0.0 },
    { 40, 0.0008, 1.0, 0.001, 0.0 },
    { 40, 0.024, 1.0, 0.03, 0.0 },
    { 200, 0.032, 0.5, 0.036, 0.0 },
    { 200, 0.064, 1.0, 0.08, 0.0 },
    { 40, 0.05, 0.0, 0.05, 1.0 },
    { 40, 0.05, 0.0, 0.05, 0.5 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    in_tcp_mode (&f, table[row].rtt_ms * MCC_MSECOND, table[row].loss_ratio);
    f.input.overflow_share = table[row].overflow_share;
    f.input.marked_share = table[row].marked_share;
    rate_follow (&f, 1500);
    MccTcpModel model = { .packets_per_ack = 1.0 + 0.2 * table[row].marked_share,
      .rto_rtts = 4.0 - 4.0 * table[row].marked_share };
    double allowed_bps = mcc_tcp_rate_bps (
        &model, f.input.packet_bytes, mcc_time_to_seconds (f.input.rtt), table[row].meets);
    g_assert_cmpfloat_with_epsilon ((double)rate_bps (&f), allowed_bps, 1.0);
    rate_clear (&f);
  }
  g_assert_cmpfloat (mcc_rate_tcp_loss_ratio (1.0, 1.0), ==, 1.0);
}

/* One packet per RTT each RTT, or 70 % a second; below the start rate 100 %. */
static void
rises_slowly (void)
{
  static const struct {
    guint rtt_ms;
    guint64 from_bps;
    double per_s, bps_per_s; /* the lower of the two */
  } table[] = {
    { 40, 200000, 0.7, INFINITY },
    { 40, MBPS, 0.7, INFINITY },
    { 40, 120000, 1.0, INFINITY },
    { 200, 120000, 1.0, INFINITY },
    { 200, MBPS, INFINITY, 8.0 * 1200 / 0.2 / 0.2 },
    { 400, MBPS, INFINITY, 8.0 * 1200 / 0.4 / 0.4 },
    { 400, 140000, INFINITY, 8.0 * 1200 / 0.4 / 0.4 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    in_tcp_mode (&f, table[row].rtt_ms * MCC_MSECOND, 0.01);
    f.input.max_bps = table[row].from_bps;
    rate_receive (&f, 10 * MBPS);
    f.input.loss_ratio = 1e-7;
    rate_step (&f);
    g_assert_cmpuint (rate_bps (&f), ==, table[row].from_bps);
    f.input.max_bps = 100 * MBPS;
    rate_step (&f);
    double rise_bps = (double)(rate_bps (&f) - table[row].from_bps);
    double most_bps
        = 0.1 * MIN (table[row].per_s * (double)table[row].from_bps, table[row].bps_per_s);
    g_assert_cmpfloat_with_epsilon (rise_bps, most_bps, 2.0);
    rate_clear (&f);
  }
}

/* At most to 0.6 of what arrives in one step, and no slower than in two RTT. */
static void
falls_quickly (void)
{
  RateFixture f;
  in_tcp_mode (&f, 40 * MCC_MSECOND, 0.001);
  rate_receive (&f, MBPS);
  f.input.loss_ratio = 0.1;
  rate_step (&f);
  g_assert_cmpuint (rate_bps (&f), ==, 600000);
  rate_receive (&f, 400000);
  rate_step (&f);
  g_assert_cmpfloat_with_epsilon ((double)rate_bps (&f), rate_equation_bps (&f), 1.0);
  rate_clear (&f);
}

/* Nothing is dropped of what is too much where queues mark: a long one that grows cuts. */
static void
marking_queue_grows (void)
{
  static const struct {
    gboolean marked;
    guint queue_ms[3];
    gboolean cut;
  } table[] = { { TRUE, { 60, 75, 90 }, TRUE }, { FALSE, { 60, 75, 90 }, FALSE },
    { TRUE, { 20, 35, 49 }, FALSE }, { TRUE, { 60, 60, 75 }, FALSE },
    { TRUE, { 60, 75, 83 }, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    in_tcp_mode (&f, 40 * MCC_MSECOND, 0.001);
    f.input.max_bps = MBPS;
    rate_follow (&f, 100);
    g_assert_cmpuint (rate_bps (&f), ==, MBPS);
    for (guint i = 0; i < 3; i++) {
      rate_queue (&f, table[row].queue_ms[i]);
      f.input.marked_alone = table[row].marked;
      rate_receive (&f, MBPS);
      g_assert_cmpuint (rate_bps (&f), ==, MBPS);
      rate_step (&f);
    }
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_TCP);
    g_assert_cmpuint (rate_bps (&f), ==, table[row].cut ? 850000 : MBPS);
    rate_clear (&f);
  }
}

/* The queue that others fill and drain lengthens and shortens the RTT: the rate follows in 2 s. */
static void
smooth_rtt (void)
{
  RateFixture f;
  in_tcp_mode (&f, 100 * MCC_MSECOND, 0.01);
  rate_follow (&f, 300);
  double before_bps = (double)rate_bps (&f);
  g_assert_cmpfloat_with_epsilon (before_bps, rate_equation_bps (&f), 1.0);
  f.input.rtt = 200 * MCC_MSECOND;
  rate_follow (&f, 2);
  g_assert_cmpfloat ((double)rate_bps (&f), >, 0.93 * before_bps);
  rate_follow (&f, 18);
  g_assert_cmpfloat ((double)rate_bps (&f), >, 0.58 * before_bps);
  g_assert_cmpfloat ((double)rate_bps (&f), <, 0.72 * before_bps);
  rate_follow (&f, 200);
  g_assert_cmpfloat_with_epsilon ((double)rate_bps (&f), 0.5 * before_bps, 0.001 * before_bps);
  rate_clear (&f);
}

/* Among others before the RTT is measured: the first one stands at once for what was assumed, else
 * the rate falls below what the equation allows. */
static void
first_rtt (void)
{
  RateFixture f;
  in_tcp_mode (&f, 500 * MCC_MSECOND, 0.01);
  f.input.rtt_measured = false;
  rate_follow (&f, 3);
  f.input.rtt = 100 * MCC_MSECOND;
  f.input.rtt_measured = true;
  f.input.max_bps = 300000;
  g_assert_cmpfloat (rate_equation_bps (&f), >, 300000.0);
  rate_follow (&f, 1);
  f.least_bps = MBPS;
  rate_follow (&f, 50);
  g_assert_cmpuint (f.least_bps, ==, 300000);
  rate_clear (&f);
}

/* Not before the queue was empty for 2 s and 10 RTT, and no loss was ours not to answer for, 5 s
 * and three mean intervals long: 9.6 ms a packet. */
static void
leaves_when_alone (void)
{
  static const struct {
    guint rtt_ms, queue_ms;
    double loss_ratio;
    gboolean loss;
    guint ms; /* from the last sign on; 0: not at all */
  } table[] = { { 40, 0, 0.02, FALSE, 2000 }, { 150, 0, 0.02, FALSE, 2000 },
    { 400, 0, 0.02, FALSE, 4000 }, { 40, 8, 0.02, FALSE, 2000 }, { 40, 9, 0.02, FALSE, 0 },
    { 40, 0, 0.01, TRUE, 5000 }, { 40, 0, 0.002, TRUE, 14400 }, { 400, 0, 0.001, TRUE, 28800 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    in_tcp_mode (&f, table[row].rtt_ms * MCC_MSECOND, 0.001);
    f.input.max_bps = MBPS;
    rate_receive (&f, MBPS);
    f.input.loss_ratio = table[row].loss_ratio;
    rate_steps (&f, 400); /* the first loss is long ago */
    rate_queue (&f, 0);
    rate_steps (&f, 15);
    rate_queue (&f, 20); /* not empty: from here on */
    rate_step (&f);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_TCP);
    rate_queue (&f, table[row].queue_ms);
    rate_step (&f);
    MccTime begin = f.input.now;
    if (table[row].loss) {
      rate_receive (&f, MAX (MBPS, f.asked[RATE_LAG - 1]));
      rate_lose (&f, table[row].loss_ratio);
      begin = f.input.now;
    }
    guint most = 2 * table[row].ms / 100 + 100;
    while (most-- > 0 && rate_mode (&f) == MCC_RATE_TCP)
      rate_step (&f);
    guint ms = rate_mode (&f) == MCC_RATE_TCP ? 0 : (guint)((f.input.now - begin) / MCC_MSECOND);
    g_test_message ("row %u: left after %u ms", row, ms);
    g_assert_cmpuint (ms, ==, table[row].ms);
    rate_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-tcp/slow-start/others-queue-or-our-overload", loss_ends_slow_start);
  g_test_add_func ("/rate-tcp/slow-start/loss-at-the-very-start", loss_at_the_very_start);
  g_test_add_func ("/rate-tcp/slow-start/queue-before-it-does-not-count", queue_before_slow_start);
  g_test_add_func ("/rate-tcp/the-equation-for-what-tcp-meets", the_equation_for_what_tcp_meets);
  g_test_add_func ("/rate-tcp/rises-slowly", rises_slowly);
  g_test_add_func ("/rate-tcp/falls-quickly", falls_quickly);
  g_test_add_func ("/rate-tcp/a-marking-queue-that-grows", marking_queue_grows);
  g_test_add_func ("/rate-tcp/rtt-over-two-seconds", smooth_rtt);
  g_test_add_func ("/rate-tcp/first-rtt", first_rtt);
  g_test_add_func ("/rate-tcp/leaves-when-alone", leaves_when_alone);
  return g_test_run ();
}

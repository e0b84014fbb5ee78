/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The controller alone; what it does to a network is in test_asmploop.c.
 */
#include <math.h>

#include <glib.h>

#include "mccrate.h"
#include "mccrng.h"
#include "mcctcp.h"

#define STEP (100 * MCC_MSECOND)

static MccRateInput
usual (void)
{
  return (MccRateInput){ .now = 77 * MCC_SECOND,
    .rtt = 40 * MCC_MSECOND,
    .rtt_measured = true,
    .packet_bytes = 1200.0,
    .last_loss_event = MCC_TIME_NONE,
    .received_bps = 1000000,
    .received_now_bps = 1000000,
    .announced_bps = 1000000,
    .start_bps = 150000,
    .min_bps = 100000,
    .max_bps = 10000000 };
}

static void
step (MccRate *rate, MccRateInput *input)
{
  input->now += STEP;
  mcc_rate_decide (rate, input);
}

/* A controller at 1 Mb/s that has left slow start by a queue. */
static MccRate *
in_delay_mode (MccRateInput *input)
{
  MccRate *rate = mcc_rate_new (&mcc_rate_enhanced, 150000);
  *input = usual ();
  for (guint i = 0; i < 4; i++)
    step (rate, input);
  g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_SLOW_START);
  for (guint i = 1; i <= 2; i++) {
    input->queue_delay = i * 15 * MCC_MSECOND;
    step (rate, input);
  }
  g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_DELAY);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 900000);
  input->queue_delay = 0;
  return rate;
}

static void
starts_without_limit (void)
{
  MccRate *rate = mcc_rate_new (&mcc_rate_enhanced, 150000);
  MccRateInput input = usual ();
  input.rtt_measured = false;
  input.rtt = 500 * MCC_MSECOND;
  g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_START);
  MccTime begin = input.now;
  while (mcc_rate_mode (rate) == MCC_RATE_START) {
    step (rate, &input);
    g_assert_cmpuint (input.now - begin, <=, 3 * MCC_SECOND);
  }
  g_assert_cmpuint (input.now - begin, >=, 2 * MCC_SECOND);
  mcc_rate_reset (rate, 150000);
  input = usual ();
  step (rate, &input);
  g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_START);
  step (rate, &input);
  g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_SLOW_START);
  /* From the announced rate, not from the start rate. */
  g_assert_cmpuint (mcc_rate_get_bps (rate), >=, 1000000);
  mcc_rate_free (rate);
}

/* A join onto a path that is too slow: no waiting for an RTT. */
/* An announcement that is seconds old, or none: what arrives without a sign of congestion. */
static void
starts_from_what_arrives (void)
{
  for (guint i = 0; i < 2; i++) {
    MccRate *rate = mcc_rate_new (&mcc_rate_enhanced, 150000);
    MccRateInput input = usual ();
    input.announced_bps = i == 0 ? 0 : 200000;
    input.received_bps = 800000;
    step (rate, &input);
    g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 800000);
    /* ... and from the newer announcement when that comes later. */
    step (rate, &input);
    g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_SLOW_START);
    input.announced_bps = 1200000;
    step (rate, &input);
    g_assert_cmpuint (mcc_rate_get_bps (rate), >=, 1200000);
    mcc_rate_free (rate);
  }
}

static void
loss_ends_start (void)
{
  MccRate *rate = mcc_rate_new (&mcc_rate_enhanced, 150000);
  MccRateInput input = usual ();
  input.rtt_measured = false;
  input.rtt = 500 * MCC_MSECOND;
  step (rate, &input);
  input.last_loss_event = input.now;
  input.loss_ratio = 0.05;
  input.received_now_bps = 500000;
  input.queue_delay = 100 * MCC_MSECOND;
  step (rate, &input);
  g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_DELAY);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 450000);
  mcc_rate_free (rate);
}

static void
slow_start_doubles (void)
{
  MccRate *rate = mcc_rate_new (&mcc_rate_enhanced, 150000);
  MccRateInput input = usual ();
  step (rate, &input);
  step (rate, &input);
  double before = (double)mcc_rate_get_bps (rate);
  input.received_bps = input.received_now_bps = 100000000;
  for (guint i = 0; i < 4; i++)
    step (rate, &input);
  g_assert_cmpfloat ((double)mcc_rate_get_bps (rate) / before, >, 1.99);
  g_assert_cmpfloat ((double)mcc_rate_get_bps (rate) / before, <, 2.01);
  mcc_rate_free (rate);
}

/* Neither encoder nor path has shown more than was received. */
static void
growth_waits_for_what_arrives (void)
{
  MccRateInput input;
  MccRate *rate = in_delay_mode (&input);
  for (guint i = 0; i < 300; i++)
    step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), >=, 1240000);
  g_assert_cmpuint (mcc_rate_get_bps (rate), <=, 1250000);
  input.received_bps = input.received_now_bps = 1200000;
  for (guint i = 0; i < 300; i++)
    step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), >=, 1490000);
  g_assert_cmpuint (mcc_rate_get_bps (rate), <=, 1500000);
  /* that less arrives for a while cuts nothing */
  input.received_bps = input.received_now_bps = 1000000;
  step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), >=, 1490000);
  mcc_rate_free (rate);
}

/* By a tenth of the time, twice running: so much of what is sent does not arrive. */
static void
slow_start_ends_with_a_growing_queue (void)
{
  static const struct {
    guint first_ms, second_ms;
    gboolean ends;
  } cases[] = { { 10, 20, TRUE }, { 12, 23, TRUE }, { 9, 30, FALSE }, { 15, 24, FALSE },
    { 20, 20, FALSE }, { 0, 50, FALSE }, { 50, 0, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    MccRate *rate = mcc_rate_new (&mcc_rate_enhanced, 150000);
    MccRateInput input = usual ();
    for (guint n = 0; n < 4; n++)
      step (rate, &input);
    input.queue_delay = cases[i].first_ms * MCC_MSECOND;
    step (rate, &input);
    g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_SLOW_START);
    input.queue_delay = cases[i].second_ms * MCC_MSECOND;
    step (rate, &input);
    g_assert_cmpint (
        mcc_rate_mode (rate), ==, cases[i].ends ? MCC_RATE_DELAY : MCC_RATE_SLOW_START);
    mcc_rate_free (rate);
  }
}

/* Others hold the rate down, without queue or losses: what this path bore before it still bears,
 * for two minutes; else no more than twice what comes. */
static void
remembers_what_was_carried (void)
{
  for (guint with = 0; with < 2; with++) {
    MccRateInput input;
    MccRate *rate = in_delay_mode (&input);
    MccCarried carried = { 0 };
    if (with)
      input.carried = &carried;
    for (guint i = 0; i < 100; i++) { /* 10 s of 1 Mb/s */
      mcc_carried_add (&carried, 12500, input.now);
      step (rate, &input);
    }
    guint64 before = mcc_rate_get_bps (rate);
    g_assert_cmpuint (before, >=, 900000);
    input.announced_bps = input.received_bps = input.received_now_bps = 200000;
    for (guint i = 0; i < 600; i++)
      step (rate, &input);
    if (with)
      g_assert_cmpuint (mcc_rate_get_bps (rate), >=, 900000);
    else
      g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 400000);
    g_assert_cmpuint (mcc_rate_get_bps (rate), <=, before);
    for (guint i = 0; i < 1000; i++)
      step (rate, &input);
    g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 400000);
    mcc_rate_free (rate);
  }
}

/* Nothing proves more than twice what came, in any mode and after any history. */
static void
bounds (void)
{
  guint64 seed = g_test_rand_int ();
  MccRng rng;
  mcc_rng_init (&rng, seed);
  g_test_message ("seed %" G_GUINT64_FORMAT, seed);
  for (guint run = 0; run < 50; run++) {
    MccRate *rate = mcc_rate_new (&mcc_rate_enhanced, 150000);
    MccRateInput input = usual ();
    for (guint i = 0; i < 400; i++) {
      input.rtt = 1 + mcc_rng_next (&rng) % (3 * MCC_SECOND);
      input.rtt_measured = mcc_rng_uniform (&rng) < 0.9;
      input.queue_delay = mcc_rng_next (&rng) % MCC_SECOND;
      input.queue_peak = input.queue_delay + mcc_rng_next (&rng) % MCC_SECOND;
      input.received_bps = mcc_rng_next (&rng) % 20000000;
      input.received_now_bps = mcc_rng_next (&rng) % 20000000;
      input.announced_bps = mcc_rng_next (&rng) % 20000000;
      input.loss_ratio = mcc_rng_uniform (&rng) < 0.5 ? 0.0 : mcc_rng_uniform (&rng);
      if (mcc_rng_uniform (&rng) < 0.3)
        input.last_loss_event = input.now;
      step (rate, &input);
      if (mcc_rate_mode (rate) == MCC_RATE_START || input.received_bps == 0)
        continue;
      guint64 received = input.received_bps;
      if (mcc_rate_mode (rate) == MCC_RATE_SLOW_START)
        received = MAX (received, input.received_now_bps);
      guint64 cap = MAX (MAX (input.start_bps, 2 * received), input.min_bps);
      g_assert_cmpuint (mcc_rate_get_bps (rate), <=, MIN (cap, input.max_bps));
      g_assert_cmpuint (mcc_rate_get_bps (rate), >=, input.min_bps);
    }
    mcc_rate_free (rate);
  }
}

/* One queue, one cut: only a queue that still grows cuts again before the cut can be seen. */
static void
one_reaction (void)
{
  MccRateInput input;
  MccRate *rate = in_delay_mode (&input);
  for (guint i = 0; i < 20; i++)
    step (rate, &input);
  input.queue_delay = input.queue_peak = 80 * MCC_MSECOND;
  step (rate, &input);
  guint64 first = mcc_rate_get_bps (rate);
  g_assert_cmpuint (first, <, 900000);
  g_assert_cmpuint (first, >=, 700000);
  input.received_now_bps = 600000;
  step (rate, &input); /* as high as before: the cut is on its way */
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, first);
  input.queue_delay = input.queue_peak = 160 * MCC_MSECOND;
  step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), <, 600000);
  g_assert_cmpuint (mcc_rate_get_bps (rate), >=, 420000);
  mcc_rate_free (rate);
}

/* ... and no rate above what the link was seen to carry is believed before it can have shown. */
static void
waits_for_the_round_trip (void)
{
  static const MccTime rtts[] = { 40 * MCC_MSECOND, 600 * MCC_MSECOND };
  guint steps[2] = { 0 };
  for (guint i = 0; i < 2; i++) {
    MccRateInput input;
    MccRate *rate = in_delay_mode (&input);
    input.rtt = rtts[i];
    for (guint n = 0; n < 20; n++)
      step (rate, &input);
    input.queue_delay = input.queue_peak = 200 * MCC_MSECOND;
    step (rate, &input);
    input.queue_delay = input.queue_peak = 0;
    while (mcc_rate_get_bps (rate) < 1050000)
      step (rate, &input);
    for (guint64 before = 1; steps[i] < 20; steps[i]++) { /* until it grows faster again */
      before = mcc_rate_get_bps (rate);
      step (rate, &input);
      if ((double)mcc_rate_get_bps (rate) > 1.01 * (double)before)
        break;
    }
    mcc_rate_free (rate);
  }
  g_assert_cmpuint (steps[0], <=, 1);
  g_assert_cmpuint (steps[1], >=, 5);
  g_assert_cmpuint (steps[1], <, 20);
}

/* Alone on a long path, after an overflow: no less than a TCP that halved then has by now, while
 * the queue is empty. Losses by chance are not over because none came lately. */
static void
grows_as_tcp_would (void)
{
  static const struct {
    double overflow_share;
    guint queue_ms;
    gboolean grows;
  } table[] = { { 1.0, 0, TRUE }, { 0.0, 0, FALSE }, { 1.0, 30, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    MccRateInput input;
    MccRate *rate = in_delay_mode (&input);
    input.rtt = 600 * MCC_MSECOND;
    for (guint i = 0; i < 20; i++)
      step (rate, &input);
    input.queue_delay = 10 * MCC_MSECOND;
    input.queue_peak = 70 * MCC_MSECOND;
    input.last_loss_event = input.now + STEP;
    input.overflow_share = table[row].overflow_share;
    input.loss_ratio = 8e-4;
    double allowed = mcc_tcp_rate_bps (&mcc_tcp_model_default, 1200.0, 0.6, input.loss_ratio);
    g_assert_cmpfloat (allowed, <, 700000.0);
    step (rate, &input);
    input.queue_delay = input.queue_peak = table[row].queue_ms * MCC_MSECOND;
    guint64 early = 0;
    for (guint i = 1; i <= 300; i++) {
      input.received_bps = input.received_now_bps = MIN (mcc_rate_get_bps (rate), 1000000);
      step (rate, &input);
      early = i == 50 ? mcc_rate_get_bps (rate) : early;
    }
    g_test_message ("row %u: %.0f, %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT, row, allowed, early,
        mcc_rate_get_bps (rate));
    g_assert_cmpfloat ((double)early, <=, allowed + 1.0); /* TCP is at 0.63 Mb/s */
    g_assert_cmpint ((double)mcc_rate_get_bps (rate) > 950000.0, ==, table[row].grows);
    g_assert_cmpint ((double)mcc_rate_get_bps (rate) > allowed + 1.0, ==, table[row].grows);
    mcc_rate_free (rate);
  }
}

/* What the link carried while the queue stood is taken again when it has drained. */
static void
restores (void)
{
  MccRateInput input;
  MccRate *rate = in_delay_mode (&input);
  for (guint i = 0; i < 20; i++)
    step (rate, &input);
  input.queue_delay = input.queue_peak = 200 * MCC_MSECOND;
  step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 700000);
  input.queue_delay = input.queue_peak = 0;
  for (guint i = 0; i < 3; i++)
    step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 970000);
  mcc_rate_free (rate);
}

/* Of small packets it is what TCP has of large ones: else a slow video, in which each picture is
 * one, starves. */
static void
equation_rules (gconstpointer data)
{
  double packet_bytes = GPOINTER_TO_UINT (data), tcp_bytes = fmax (packet_bytes, 1000.0);
  double allowed = 8.0 * 100 * 250; /* so many packets a second are no more than TCP may have */
  MccRateInput input;
  MccRate *rate = in_delay_mode (&input);
  input.packet_bytes = packet_bytes;
  input.loss_ratio = mcc_tcp_loss_ratio (&mcc_tcp_model_default, tcp_bytes, 0.04, allowed);
  for (guint i = 0; i < 100; i++) {
    input.received_bps = input.received_now_bps = mcc_rate_get_bps (rate);
    step (rate, &input);
  }
  g_assert_cmpfloat ((double)mcc_rate_get_bps (rate), <=, allowed + 1.0);
  g_assert_cmpfloat ((double)mcc_rate_get_bps (rate), >=, 0.9 * allowed);
  mcc_rate_free (rate);
}

/* An encoder that makes less than it may stops the growth. */
static void
unproven (void)
{
  MccRateInput input;
  MccRate *rate = in_delay_mode (&input);
  for (guint i = 0; i < 10; i++)
    step (rate, &input);
  guint64 before = mcc_rate_get_bps (rate);
  input.received_bps = input.received_now_bps = before * 55 / 100;
  for (guint i = 0; i < 50; i++)
    step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, before);
  mcc_rate_free (rate);
}

/* A packet is lost, or marked, behind a queue of 17 ms: is a queue of @queue_ms cut for then? */
static gboolean
cuts_later (MccRate *rate, MccRateInput *input, gboolean marked, guint queue_ms)
{
  input->queue_delay = 16 * MCC_MSECOND;
  input->queue_peak = 17 * MCC_MSECOND;
  input->loss_ratio = 1e-6;
  input->last_loss_event = input->now;
  input->loss_in_interval = true;
  input->marked_alone = marked;
  step (rate, input);
  input->loss_in_interval = input->marked_alone = false;
  input->queue_delay = input->queue_peak = 0;
  for (guint i = 0; i < 10; i++)
    step (rate, input);
  input->queue_delay = input->queue_peak = queue_ms * MCC_MSECOND;
  guint64 before = mcc_rate_get_bps (rate);
  step (rate, input);
  g_test_message ("%u ms: %.3f", queue_ms, (double)mcc_rate_get_bps (rate) / (double)before);
  return mcc_rate_get_bps (rate) < before;
}

/* A lost packet says how long the buffer is; a marked one only that a queue as it stands is too
 * long. Below half of that, it grows again. */
static void
a_mark_is_no_overflow (void)
{
  static const struct {
    gboolean marked;
    guint queue_ms; /* then */
    gboolean cut;
  } table[] = { { FALSE, 6, TRUE }, { FALSE, 4, FALSE }, { TRUE, 6, FALSE }, { TRUE, 12, TRUE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    MccRateInput input;
    MccRate *rate = in_delay_mode (&input);
    input.packet_bytes = 100.0;
    /* However long the queue was before. */
    input.queue_peak = table[row].marked ? 60 * MCC_MSECOND : 0;
    for (guint i = 0; i < 20; i++)
      step (rate, &input);
    g_assert_cmpint (
        cuts_later (rate, &input, table[row].marked, table[row].queue_ms), ==, table[row].cut);
    mcc_rate_free (rate);
  }
}

/* What is lost behind less of a queue than others came out of lately was lost by chance: the buffer
 * is no shorter for it, and the target no lower. */
static void
a_loss_in_a_short_queue (void)
{
  static const struct {
    guint longest_ms, seconds_ago;
    guint64 then_bps; /* the link carries this much */
    gboolean cut;     /* at a queue of 6 ms */
  } table[] = {
    { 0, 1, 1000000, TRUE }, { 60, 1, 1000000, FALSE }, { 60, 20, 1000000, FALSE },
    { 60, 60, 1000000, TRUE }, { 60, 5, 1500000, TRUE }, /* the buffer is as many bytes */
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    MccRateInput input;
    MccRate *rate = in_delay_mode (&input);
    input.packet_bytes = 100.0;
    input.max_bps = input.received_bps;
    input.queue_peak = table[row].longest_ms * MCC_MSECOND;
    step (rate, &input);
    input.queue_peak = 0;
    for (guint i = 0; i < 10 * table[row].seconds_ago; i++) {
      if (i == 20)
        input.received_bps = input.received_now_bps = input.max_bps = table[row].then_bps;
      step (rate, &input);
    }
    g_assert_cmpint (cuts_later (rate, &input, FALSE, 6), ==, table[row].cut);
    mcc_rate_free (rate);
  }
}

static void
silence (void)
{
  MccRateInput input;
  MccRate *rate = in_delay_mode (&input);
  guint64 before = mcc_rate_get_bps (rate);
  input.received_bps = input.received_now_bps = 0;
  for (guint i = 0; i < 100; i++)
    step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, before);
  /* Nor does a pause that the longer window does not see, whatever the queue was before it. */
  input.received_bps = 600000;
  input.queue_delay = 40 * MCC_MSECOND;
  for (guint i = 0; i < 5; i++)
    step (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, before);
  mcc_rate_free (rate);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-enhanced/no-limit-before-measuring", starts_without_limit);
  g_test_add_func ("/rate-enhanced/starts-from-what-arrives", starts_from_what_arrives);
  g_test_add_func ("/rate-enhanced/a-loss-ends-the-start", loss_ends_start);
  g_test_add_func ("/rate-enhanced/slow-start-doubles-per-400-ms", slow_start_doubles);
  g_test_add_func (
      "/rate-enhanced/slow-start-ends-with-a-growing-queue", slow_start_ends_with_a_growing_queue);
  g_test_add_func ("/rate-enhanced/growth-waits-for-what-arrives", growth_waits_for_what_arrives);
  g_test_add_func ("/rate-enhanced/bounded-whatever-comes", bounds);
  g_test_add_func ("/rate-enhanced/remembers-what-was-carried", remembers_what_was_carried);
  g_test_add_func ("/rate-enhanced/one-episode-one-reaction", one_reaction);
  g_test_add_func ("/rate-enhanced/waits-for-the-round-trip", waits_for_the_round_trip);
  g_test_add_func ("/rate-enhanced/grows-as-tcp-would", grows_as_tcp_would);
  g_test_add_func ("/rate-enhanced/takes-the-capacity-again", restores);
  g_test_add_data_func (
      "/rate-enhanced/the-equation-bounds/packets", GUINT_TO_POINTER (1200), equation_rules);
  g_test_add_data_func (
      "/rate-enhanced/the-equation-bounds/small-packets", GUINT_TO_POINTER (300), equation_rules);
  g_test_add_func ("/rate-enhanced/grows-only-on-proof", unproven);
  g_test_add_func ("/rate-enhanced/a-mark-is-no-overflow", a_mark_is_no_overflow);
  g_test_add_func ("/rate-enhanced/a-loss-in-a-short-queue", a_loss_in_a_short_queue);
  g_test_add_func ("/rate-enhanced/silence-changes-nothing", silence);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a TCP flow would get: by losses one at a time, by bursts, steady, and after a change.
 */
#include <glib.h>
#include <math.h>

#include "mccelmfair.h"
#include "mccrng.h"
#include "mcctcp.h"

#define START (1000 * MCC_SECOND)
#define LOOK (100 * MCC_MSECOND)
#define RTT_S 0.06
#define BYTES 1000.0

typedef struct {
  MccElmFair fair;
  MccElmFairInput input;
  MccRng rng;
  double packets, event_until, burst_until;
} Path;

static void
path_init (Path *path, double sent_bps, guint64 seed)
{
  memset (path, 0, sizeof *path);
  mcc_elm_fair_init (&path->fair);
  mcc_rng_init (&path->rng, seed);
  path->input = (MccElmFairInput){
    .now = START, .measuring = true, .packet_bytes = BYTES, .sent_bps = sent_bps, .rtt_s = RTT_S
  };
}

/* Losses of one RTT are one event. */
static void
lose (Path *path, double time)
{
  path->input.lost++;
  if (time < path->event_until)
    return;
  path->input.events++;
  path->event_until = time + RTT_S;
}

/* @loss: of each packet; in a burst, one RTT long and @bursts of them a second, half are lost. */
static void
run (Path *path, double seconds, double loss, double bursts)
{
  double step = 8.0 * BYTES / path->input.sent_bps;
  MccTime end = path->input.now + mcc_time_from_seconds (seconds);
  while (path->input.now < end) {
    double time = mcc_time_to_seconds (path->input.now - START);
    path->input.now += LOOK;
    for (; path->packets < time + 0.1; path->packets += step) {
      if (mcc_rng_uniform (&path->rng) < bursts * step)
        path->burst_until = path->packets + RTT_S;
      double p = path->packets < path->burst_until ? 0.5 : loss;
      if (mcc_rng_uniform (&path->rng) < p)
        lose (path, path->packets);
      else
        path->input.received++;
    }
    mcc_elm_fair_look (&path->fair, &path->input);
  }
}

static double
model (double loss)
{
  return mcc_tcp_rate_bps (&mcc_tcp_model_default, BYTES, RTT_S, loss);
}

/* The mean of ln X over @seconds, as a rate, and its standard deviation. */
static double
mean_rate (Path *path, double seconds, double loss, double bursts, double *deviation)
{
  double sum = 0.0, squares = 0.0, n = 0.0;
  for (; n < seconds; n += 1.0) {
    run (path, 1.0, loss, bursts);
    double x = log (mcc_elm_fair_get (&path->fair));
    sum += x;
    squares += x * x;
  }
  *deviation = sqrt (fmax (squares / n - sum / n * sum / n, 0.0));
  return exp (sum / n);
}

/* Random losses: X is TCP's whatever the level, and steady. */
static void
test_random (void)
{
  static const double losses[] = { 0.005, 0.01, 0.02, 0.03 };
  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    for (double sent_bps = 256e3; sent_bps < 3e6; sent_bps *= 2.0) {
      Path path;
      double deviation;
      path_init (&path, sent_bps, 7 + i);
      run (&path, 100.0, losses[i], 0.0);
      double x_bps = mean_rate (&path, 500.0, losses[i], 0.0, &deviation);
      g_test_message ("%.3f at %.0f kb/s: %.3f of TCP's, sd %.3f", losses[i], sent_bps / 1e3,
          x_bps / model (losses[i]), deviation);
      g_assert_cmpfloat (x_bps / model (losses[i]), >=, 0.9);
      g_assert_cmpfloat (x_bps / model (losses[i]), <=, 1.2); /* TCP's losses of an RTT are one */
      g_assert_cmpfloat (deviation, <=, 0.25);
    }
}

/* Bursts that hit everybody: one at a rate of 1/T a second is p = 1 / (F T) for a flow at F. */
static void
test_bursts (void)
{
  const double bursts = 0.5;
  double fair_bps = 1e6, deviation;
  for (guint i = 0; i < 60; i++)
    fair_bps = 0.5 * (fair_bps + model (bursts / (fair_bps / 8.0 / BYTES)));
  for (double sent_bps = 512e3; sent_bps < 5e6; sent_bps *= 2.0) {
    Path path;
    path_init (&path, sent_bps, 11);
    run (&path, 100.0, 0.0, bursts);
    double x_bps = mean_rate (&path, 500.0, 0.0, bursts, &deviation);
    g_test_message ("at %.0f kb/s: %.0f of %.0f kb/s, sd %.3f; the equation alone says %.0f",
        sent_bps / 1e3, x_bps / 1e3, fair_bps / 1e3, deviation,
        model (bursts / (sent_bps / 8.0 / BYTES)) / 1e3);
    g_assert_cmpfloat (x_bps / fair_bps, >=, 0.75);
    g_assert_cmpfloat (x_bps / fair_bps, <=, 1.33);
  }
}

/* Seconds until X is on the other side of the geometric mean of both. */
static double
time_to (Path *path, double loss, double from, double to)
{
  double middle = sqrt (model (from) * model (to)), seconds = 0.0;
  while (seconds < 100.0 && (mcc_elm_fair_get (&path->fair) > middle) == (from < to)) {
    run (path, 0.1, loss, 0.0);
    seconds += 0.1;
  }
  return seconds;
}

/* What is far worse is believed within seconds, and so is that it is over. */
static void
test_change (void)
{
  double there = 0.0, back = 0.0;
  for (guint seed = 1; seed <= 8; seed++) {
    Path path;
    path_init (&path, 1e6, seed);
    run (&path, 120.0, 0.01, 0.0);
    there += time_to (&path, 0.1, 0.01, 0.1) / 8.0;
    run (&path, 10.0, 0.1, 0.0);
    back += time_to (&path, 0.01, 0.1, 0.01) / 8.0;
  }
  g_test_message ("there after %.1f s, back after %.1f s", there, back);
  g_assert_cmpfloat (there, <=, 1.5);
  g_assert_cmpfloat (back, <=, 4.0);
}

/* What comes while it is not measured changes nothing, nor what is counted anew. */
static void
test_pause (void)
{
  Path path;
  path_init (&path, 1e6, 3);
  run (&path, 60.0, 0.01, 0.0);
  double before = mcc_elm_fair_get (&path.fair);
  path.input.measuring = false;
  run (&path, 10.0, 0.5, 0.0);
  g_assert_cmpfloat (mcc_elm_fair_get (&path.fair), ==, before);
  path.input.measuring = true;
  path.input.received = path.input.lost = path.input.events = 0;
  path.input.now += LOOK;
  mcc_elm_fair_look (&path.fair, &path.input);
  g_assert_cmpfloat (mcc_elm_fair_get (&path.fair), ==, before);
}

/* What was seen lately can be taken back. */
static void
test_recall (void)
{
  Path path;
  path_init (&path, 1e6, 5);
  run (&path, 200.0, 0.01, 0.0);
  double before = mcc_elm_fair_get (&path.fair);
  run (&path, 3.0, 0.3, 0.0);
  g_assert_cmpfloat (mcc_elm_fair_get (&path.fair), <, 0.3 * before);
  mcc_elm_fair_recall (&path.fair);
  g_assert_cmpfloat_with_epsilon (mcc_elm_fair_get (&path.fair) / before, 1.0, 0.2);
}

static void
test_quantiles (void)
{
  Path path;
  path_init (&path, 1e6, 3);
  g_assert_true (isinf (mcc_elm_fair_get (&path.fair)));
  g_assert_true (isinf (mcc_elm_fair_at_least (&path.fair, 0.5)));
  mcc_elm_fair_cap (&path.fair, 1e6);
  run (&path, 10.0, 0.0, 0.0);
  g_assert_true (isinf (mcc_elm_fair_get (&path.fair))); /* no loss: no rate */
  g_assert_cmpfloat (mcc_elm_fair_at_least (&path.fair, 0.5), >, 1e6);
  run (&path, 60.0, 0.02, 0.0);
  for (double chance = 0.05; chance < 0.95; chance += 0.05)
    g_assert_cmpfloat (mcc_elm_fair_at_least (&path.fair, chance), >,
        mcc_elm_fair_at_least (&path.fair, chance + 0.05));
  double x_bps = mcc_elm_fair_get (&path.fair);
  mcc_elm_fair_cap (&path.fair, x_bps); /* what failed is less likely */
  g_assert_cmpfloat (mcc_elm_fair_get (&path.fair), <, 0.99 * x_bps);
  g_assert_cmpfloat (mcc_elm_fair_get (&path.fair), >, 0.7 * x_bps);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/fair/random-losses", test_random);
  g_test_add_func ("/elm/fair/bursts", test_bursts);
  g_test_add_func ("/elm/fair/change", test_change);
  g_test_add_func ("/elm/fair/pause", test_pause);
  g_test_add_func ("/elm/fair/recall", test_recall);
  g_test_add_func ("/elm/fair/quantiles", test_quantiles);
  return g_test_run ();
}

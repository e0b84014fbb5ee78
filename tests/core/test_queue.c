/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccqueue.h"
#include "mccrng.h"

#define START (987654321 * MCC_USECOND)
#define SPACING (10 * MCC_MSECOND)
#define MS 1e-3

/* A path: what one packet at @t seconds sees, in seconds. */
typedef struct {
  double ppm;
  double jitter;              /* uniform noise */
  double (*base) (double t);  /* NULL = 0 */
  double (*queue) (double t); /* NULL = 0 */
} Path;

typedef struct {
  MccQueue queue;
  MccRng rng;
  double t;
} Run;

static void
run_init (Run *run, MccTime window)
{
  mcc_queue_init (&run->queue, window);
  mcc_rng_init (&run->rng, 7);
  run->t = 0.0;
}

/* Runs to @end; returns the largest |estimate - true queue| after @settled, noise not counted. */
static double
run_to (Run *run, const Path *path, double end, double settled)
{
  double worst = 0.0;

  for (; run->t < end; run->t += mcc_time_to_seconds (SPACING)) {
    double noise = path->jitter * mcc_rng_uniform (&run->rng);
    double queue = (path->queue ? path->queue (run->t) : 0.0) + noise;
    double transit = queue + (path->base ? path->base (run->t) : 0.0) + path->ppm * 1e-6 * run->t;
    MccTime estimate = mcc_queue_handle_packet (
        &run->queue, (MccTimeDelta)(transit * 1e9), START + mcc_time_from_seconds (run->t));

    if (run->t >= settled)
      worst = fmax (worst, fabs (mcc_time_to_seconds (estimate) - queue));
  }
  return worst;
}

static double
busy (double t) /* 50 ms sawtooth, empty now and then */
{
  return 50 * MS * fmod (t, 3.0) / 3.0;
}

static void
test_skew (void)
{
  static const struct {
    double ppm, jitter, error;
    double (*queue) (double t);
  } rows[] = {
    { 0, 0, 0.01 * MS, NULL }, { 50, 0, 2 * MS, NULL }, { 50, 5 * MS, 2 * MS, NULL },
    { 50, 5 * MS, 2 * MS, busy }, { -50, 5 * MS, 2 * MS, busy }, { 500, 0, 2 * MS, NULL },
    { 500, 5 * MS, 2 * MS, busy }, { -500, 5 * MS, 2 * MS, busy },
    { 200, 20 * MS, 3 * MS, busy }, /* the noise itself: 20 ms over a ramp */
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    Path path = { .ppm = rows[i].ppm, .jitter = rows[i].jitter, .queue = rows[i].queue };
    Run run;

    run_init (&run, 0);
    double worst = run_to (&run, &path, 600, 32);
    g_test_message ("%g ppm, %g ms jitter: worst %.3f ms, skew %.1f ppm", rows[i].ppm,
        rows[i].jitter / MS, worst / MS, run.queue.skew * 1e6);
    g_assert_cmpfloat (worst, <, rows[i].error);
    g_assert_cmpfloat_with_epsilon (run.queue.skew * 1e6, rows[i].ppm, 20);
  }
}

/* No skew before 30 s of data. */
static void
test_skew_late (void)
{
  Path path = { .ppm = 100 };
  Run run;

  run_init (&run, 0);
  run_to (&run, &path, 29.9, 0);
  g_assert_true (run.queue.skew == 0.0);
  run_to (&run, &path, 34, 0);
  g_assert_cmpfloat_with_epsilon (run.queue.skew * 1e6, 100, 1);
}

static double
step_up (double t)
{
  return t < 100 ? 0.0 : 80 * MS;
}

static double
step_down (double t)
{
  return t < 100 ? 0.0 : -80 * MS;
}

static void
test_base_up (void)
{
  static const double ppms[] = { 0, 50, -500 };

  for (unsigned i = 0; i < G_N_ELEMENTS (ppms); i++) {
    Path path = { .ppm = ppms[i], .jitter = 2 * MS, .base = step_up };
    Run run;

    run_init (&run, 0);
    run_to (&run, &path, 105, 0);
    /* At first it looks like a queue, and 60 s later it is the base. */
    g_assert_cmpfloat_with_epsilon ((double)run.queue.last * 1e-9, 80 * MS, 5 * MS);
    g_assert_cmpfloat (run_to (&run, &path, 300, 162.5), <, 2 * MS);
  }
}

static void
test_base_down (void)
{
  static const double ppms[] = { 0, 50, 500 };

  for (unsigned i = 0; i < G_N_ELEMENTS (ppms); i++) {
    Path path = { .ppm = ppms[i], .jitter = 10 * MS, .base = step_down };
    Run run;

    run_init (&run, 0);
    run_to (&run, &path, 100, 0);
    g_assert_cmpfloat (run_to (&run, &path, 300, 100.5), <, 2 * MS);
  }
}

static double standing_from, standing_until;

static double
standing (double t)
{
  return t >= standing_from && t < standing_until ? 40 * MS : 0.0;
}

/* Wherever 20 s of a standing queue lie, in the first half minute too, they stay a queue. */
static void
test_standing_queue (void)
{
  static const double ppms[] = { 0, 50, -200 };

  for (unsigned i = 0; i < G_N_ELEMENTS (ppms); i++) {
    for (standing_from = 2.5; standing_from < 140; standing_from += 4.1) {
      Path path = { .ppm = ppms[i], .jitter = 1 * MS, .queue = standing };
      Run run;

      standing_until = standing_from + 20;
      run_init (&run, 0);
      /* Until the skew can be known, it shows: 50 ms at most. */
      double late = fabs (ppms[i]) * 1e-6 * 62;
      double worst = run_to (&run, &path, 200, 0);
      g_assert_cmpfloat (worst, <, 2 * MS + late);
      g_assert_cmpfloat (fabs (run.queue.skew * 1e6 - ppms[i]), <, 20);
    }
  }
}

/* Half a minute and more: until the window has passed the skew stays what it was. */
static void
test_long_standing_queue (void)
{
  Path path = { .ppm = 50, .jitter = 1 * MS, .queue = standing };
  Run run;

  standing_from = 100;
  standing_until = 155;
  run_init (&run, 0);
  g_assert_cmpfloat (run_to (&run, &path, 400, 35), <, 2 * MS);
}

static double
ramp (double t)
{
  return t < 100 ? 0.0 : 2 * MS * (fmin (t, 165) - 100);
}

/* Faster than any clock's skew: a queue. */
static void
test_growing_queue (void)
{
  Path path = { .ppm = 50, .jitter = 1 * MS, .queue = ramp };
  Run run;

  run_init (&run, 0);
  run_to (&run, &path, 165, 0);
  g_assert_cmpfloat_with_epsilon (run.queue.skew * 1e6, 50, 20);
}

/* What lies before a gap says nothing about the path behind it. */
static void
test_gap_and_base (void)
{
  Path path = { .jitter = 1 * MS, .base = step_up };
  Run run;

  run_init (&run, 0);
  run_to (&run, &path, 90, 0);
  run.t = 400;
  g_assert_cmpfloat (run_to (&run, &path, 500, 401), <, 2 * MS);
}

static void
test_gap (void)
{
  Path path = { .ppm = 100, .jitter = 1 * MS };
  Run run;

  run_init (&run, 0);
  run_to (&run, &path, 120, 0);
  run.t = 1000; /* nothing for 15 minutes: all buckets are too old */
  g_assert_cmpfloat (run_to (&run, &path, 1200, 1002), <, 2 * MS);
  run.t = 1225; /* some of them are */
  g_assert_cmpfloat (run_to (&run, &path, 1300, 1225), <, 2 * MS);
}

static void
test_short_window (void)
{
  Path path = { .ppm = 50, .jitter = 2 * MS, .base = step_up };
  Run run;

  run_init (&run, 10 * MCC_SECOND);
  run_to (&run, &path, 101, 0);
  g_assert_cmpfloat ((double)run.queue.last, >, 75e6);
  g_assert_cmpfloat (run_to (&run, &path, 200, 111), <, 2.5 * MS);
}

static void
test_never_negative (void)
{
  MccQueue queue;
  MccRng rng;

  mcc_queue_init (&queue, 0);
  mcc_rng_init (&rng, 99);
  for (unsigned i = 0; i < 20000; i++) {
    MccTimeDelta transit = (MccTimeDelta)(mcc_rng_uniform (&rng) * 64e9) - 32000000000;
    MccTime q = mcc_queue_handle_packet (&queue, transit, START + i * 17 * MCC_MSECOND);

    g_assert_cmpuint (q, <, 65 * MCC_SECOND);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/queue/skew-is-corrected", test_skew);
  g_test_add_func ("/queue/no-skew-before-30-s", test_skew_late);
  g_test_add_func ("/queue/base-up-within-the-window", test_base_up);
  g_test_add_func ("/queue/base-down-at-once", test_base_down);
  g_test_add_func ("/queue/standing-queue-is-not-skew", test_standing_queue);
  g_test_add_func ("/queue/long-standing-queue-is-not-skew", test_long_standing_queue);
  g_test_add_func ("/queue/growing-queue-is-not-skew", test_growing_queue);
  g_test_add_func ("/queue/gap", test_gap);
  g_test_add_func ("/queue/gap-forgets-the-old-base", test_gap_and_base);
  g_test_add_func ("/queue/short-window", test_short_window);
  g_test_add_func ("/queue/never-negative", test_never_negative);
  return g_test_run ();
}

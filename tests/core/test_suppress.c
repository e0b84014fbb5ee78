/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "mccsuppress.h"

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return x < y ? -1 : x > y;
}

/* Kolmogorov-Smirnov against F(z) = (e^(lambda z/T) - 1)/(e^lambda - 1). */
static void
test_distribution (void)
{
  static const unsigned receivers[] = { 1, 3, 100, 10000 };
  enum { N = 20000 };
  double *z = g_new (double, N);
  MccRng rng;

  mcc_rng_init (&rng, 20);
  for (unsigned r = 0; r < G_N_ELEMENTS (receivers); r++) {
    double lambda = log (receivers[r]) + 1.0, d = 0.0;
    double longest = mcc_suppress_factor (receivers[r]) * 0.2;

    for (unsigned i = 0; i < N; i++) {
      MccTime wait = mcc_suppress_wait (&rng, receivers[r], 200 * MCC_MSECOND);

      z[i] = mcc_time_to_seconds (wait) / longest;
      g_assert_cmpfloat (z[i], <=, 1.0);
    }
    qsort (z, N, sizeof *z, compare);
    for (unsigned i = 0; i < N; i++)
      d = MAX (d, fabs (expm1 (lambda * z[i]) / expm1 (lambda) - (i + 0.5) / N));
    g_assert_cmpfloat (d, <, 1.95 / sqrt (N)); /* 0.1 % */
  }
  g_free (z);
}

/* n equal receivers that hear each other half an RTT later: at most 3 reports on average. */
static void
test_few_reports (void)
{
  static const unsigned sizes[] = { 20, 100, 1000, 10000 };
  enum { MOST = 10000, ROUNDS = 200 };
  MccTime rtt = 100 * MCC_MSECOND, *wait = g_new (MccTime, MOST);
  MccRng rng;

  mcc_rng_init (&rng, 1999);
  for (unsigned s = 0; s < G_N_ELEMENTS (sizes); s++) {
    unsigned reports = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
      MccTime first = MCC_TIME_NONE;

      for (unsigned i = 0; i < sizes[s]; i++) {
        wait[i] = mcc_suppress_wait (&rng, sizes[s], rtt);
        first = MIN (first, wait[i]);
      }
      for (unsigned i = 0; i < sizes[s]; i++)
        reports += wait[i] <= first + rtt / 2;
    }
    double mean = (double)reports / ROUNDS;
    g_test_message ("%u receivers: %.2f reports", sizes[s], mean);
    g_assert_cmpfloat (mean, >=, 1.0);
    g_assert_cmpfloat (mean, <=, 3.0);
  }
  g_free (wait);
}

static void
test_nobody (void)
{
  MccRng rng;

  mcc_rng_init (&rng, 3);
  g_assert_cmpuint (mcc_suppress_wait (&rng, 0, MCC_SECOND), <=, 6 * MCC_SECOND);
  g_assert_cmpuint (mcc_suppress_wait (&rng, 100, 0), ==, 0);
}

static void
test_covers (void)
{
  static const struct {
    uint64_t heard, own;
    bool published, enhanced;
  } rows[] = {
    { 1000000, 1000000, true, true },
    { 1020000, 1000000, true, true },
    { 1020001, 1000000, false, false },
    { 980000, 1000000, true, true },
    { 979999, 1000000, false, true },
    { 1, 1000000, false, true },
    { UINT64_MAX, 1000000, false, false },
    { 0, 0, true, true },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_assert_true (mcc_suppress_covers (rows[i].heard, rows[i].own, false) == rows[i].published);
    g_assert_true (mcc_suppress_covers (rows[i].heard, rows[i].own, true) == rows[i].enhanced);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/suppress/distribution", test_distribution);
  g_test_add_func ("/suppress/few-reports-of-many-receivers", test_few_reports);
  g_test_add_func ("/suppress/nobody-and-no-rtt", test_nobody);
  g_test_add_func ("/suppress/covers", test_covers);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccelmrate.h"
#include "mccrng.h"
#include "mcctcp.h"

/* eq. 3, 5, 6: by hand. */
static void
test_equation (void)
{
  MccElmRate rate;
  mcc_elm_rate_init (&rate, MCC_ELM_SMOOTH_NONE);
  mcc_elm_rate_handle_rtt (&rate, 100 * MCC_MSECOND);
  g_assert_cmpfloat_with_epsilon (mcc_elm_rate_calculate (&rate, 1000.0, 0.01),
      mcc_tcp_rate_bps (&mcc_tcp_model_default, 1000.0, 0.1, 0.01), 1e-3);
  mcc_elm_rate_handle_rtt (&rate, 200 * MCC_MSECOND);
  g_assert_cmpfloat_with_epsilon (rate.rtt_s, 0.11, 1e-12);
  double x = 8000.0
             / (0.11 * sqrt (2.0 * 0.01 / 3.0)
                 + 4.0 * 0.2 * 3.0 * sqrt (3.0 * 0.01 / 8.0) * 0.01 * (1.0 + 32.0 * 1e-4));
  g_assert_cmpfloat_with_epsilon (mcc_elm_rate_calculate (&rate, 1000.0, 0.01), x, 1e-3);
  g_assert_true (isinf (mcc_elm_rate_calculate (&rate, 1000.0, 0.0)));
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* eq. 24 against sorting the last 128 values anew each time. */
static void
test_percentiles (void)
{
  MccElmRate rate;
  MccRng rng;
  double all[1000];
  mcc_rng_init (&rng, 5);
  mcc_elm_rate_init (&rate, MCC_ELM_SMOOTH_PERCENTILES);
  g_assert_true (isinf (mcc_elm_rate_get (&rate)));
  for (unsigned i = 0; i < G_N_ELEMENTS (all); i++) {
    all[i] = floor (50.0 * mcc_rng_uniform (&rng)); /* many are equal */
    mcc_elm_rate_add (&rate, all[i]);
    double last[MCC_ELM_RATE_HISTORY];
    unsigned n = MIN (i + 1, MCC_ELM_RATE_HISTORY);
    memcpy (last, &all[i + 1 - n], n * sizeof *last);
    qsort (last, n, sizeof *last, compare);
    unsigned low = (unsigned)(0.2 * (n - 1) + 0.5), high = (unsigned)(0.8 * (n - 1) + 0.5);
    g_assert_cmpfloat (mcc_elm_rate_get (&rate), ==, (last[low] + last[high]) / 2.0);
  }
  mcc_elm_rate_forget (&rate);
  g_assert_true (isinf (mcc_elm_rate_get (&rate)));
}

static void
test_ewma (void)
{
  MccElmRate rate;
  mcc_elm_rate_init (&rate, MCC_ELM_SMOOTH_EWMA);
  mcc_elm_rate_add (&rate, 1000.0);
  mcc_elm_rate_add (&rate, 2000.0);
  g_assert_cmpfloat_with_epsilon (mcc_elm_rate_get (&rate), 1100.0, 1e-9);
  mcc_elm_rate_add (&rate, INFINITY);
  g_assert_true (isinf (mcc_elm_rate_get (&rate)));
  mcc_elm_rate_add (&rate, 500.0); /* comes back from it */
  g_assert_cmpfloat (mcc_elm_rate_get (&rate), ==, 500.0);
  mcc_elm_rate_init (&rate, MCC_ELM_SMOOTH_NONE);
  mcc_elm_rate_add (&rate, 1.0);
  mcc_elm_rate_add (&rate, 7.0);
  g_assert_cmpfloat (mcc_elm_rate_get (&rate), ==, 7.0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/rate/equation", test_equation);
  g_test_add_func ("/elm/rate/percentiles", test_percentiles);
  g_test_add_func ("/elm/rate/ewma", test_ewma);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccdistinct.h"
#include "mccrng.h"

#define SEEDS 50

/* Of random SSRCs, each several times: within four standard errors. */
static void
counts (void)
{
  static const struct {
    guint ssrcs;
    gdouble error;
  } rows[] = { { 1, 0.0 }, { 10, 0.2 }, { 100, 0.1 }, { 1000, 0.11 }, { 5000, 0.29 } };
  for (guint row = 0; row < G_N_ELEMENTS (rows); row++)
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      MccDistinct distinct;
      mcc_distinct_clear (&distinct);
      for (guint time = 0; time < 3; time++) {
        MccRng rng;
        mcc_rng_init (&rng, seed);
        for (guint i = 0; i < rows[row].ssrcs; i++)
          mcc_distinct_add (&distinct, (guint32)(mcc_rng_uniform (&rng) * 4294967296.0));
      }
      g_assert_cmpfloat_with_epsilon (
          distinct.count, rows[row].ssrcs, rows[row].error * rows[row].ssrcs + 1e-9);
    }
}

/* However many a forger invents. */
static void
saturates (void)
{
  MccDistinct distinct;
  mcc_distinct_clear (&distinct);
  g_assert_cmpuint (distinct.count, ==, 0);
  for (guint32 ssrc = 0; ssrc < 1000000; ssrc++)
    mcc_distinct_add (&distinct, ssrc);
  g_assert_cmpuint (distinct.count, ==, 7098);
  mcc_distinct_clear (&distinct);
  g_assert_cmpuint (distinct.count, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/distinct/counts-different-ones", counts);
  g_test_add_func ("/distinct/saturates", saturates);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccrng.h"

/* The first numbers of xoshiro256** from the state 1, 2, 3, 4, worked out by hand from its
 * definition: rotl (5 s1, 7) * 9. */
static void
known_start (void)
{
  MccRng rng = { .state = { 1, 2, 3, 4 } };

  g_assert_cmpuint (mcc_rng_next (&rng), ==, 11520); /* (2 * 5 << 7) * 9 */
  g_assert_cmpuint (mcc_rng_next (&rng), ==, 0);     /* s1 = 2 ^ (3 ^ 1) = 0 */
  g_assert_cmpuint (mcc_rng_next (&rng), ==, 1509978240);
  g_assert_cmpuint (mcc_rng_next (&rng), ==, G_GUINT64_CONSTANT (1215971899390074240));
}

static void
same_seed_same_sequence (void)
{
  MccRng a, b, c;
  unsigned equal = 0;

  mcc_rng_init (&a, 42);
  mcc_rng_init (&b, 42);
  mcc_rng_init (&c, 43);
  for (unsigned i = 0; i < 1000; i++) {
    uint64_t x = mcc_rng_next (&a);
    g_assert_cmpuint (x, ==, mcc_rng_next (&b));
    equal += x == mcc_rng_next (&c);
  }
  g_assert_cmpuint (equal, ==, 0);
}

/* splitmix64 of 0 starts with this number in every implementation. */
static void
seed_zero_is_a_seed (void)
{
  MccRng rng;

  mcc_rng_init (&rng, 0);
  g_assert_cmpuint (rng.state[0], ==, G_GUINT64_CONSTANT (0xe220a8397b1dcdaf));
  g_assert_cmpuint (mcc_rng_next (&rng), !=, mcc_rng_next (&rng));
}

static void
uniform_in_unit_interval (void)
{
  enum { N = 100000 };
  MccRng rng;
  double sum = 0.0, squares = 0.0;

  mcc_rng_init (&rng, 7);
  for (unsigned i = 0; i < N; i++) {
    double u = mcc_rng_uniform (&rng);
    g_assert_true (u >= 0.0 && u < 1.0);
    sum += u;
    squares += u * u;
  }
  /* Five standard errors. */
  g_assert_cmpfloat (fabs (sum / N - 0.5), <, 5.0 * sqrt (1.0 / 12.0 / N));
  g_assert_cmpfloat (fabs (squares / N - 1.0 / 3.0), <, 5.0 * sqrt (4.0 / 45.0 / N));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rng/known-start", known_start);
  g_test_add_func ("/rng/same-seed-same-sequence", same_seed_same_sequence);
  g_test_add_func ("/rng/seed-zero-is-a-seed", seed_zero_is_a_seed);
  g_test_add_func ("/rng/uniform-in-unit-interval", uniform_in_unit_interval);
  return g_test_run ();
}

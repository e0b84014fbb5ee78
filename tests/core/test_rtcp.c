/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccrtcp.h"

static void
test_interval (void)
{
  static const struct {
    uint64_t target_bps, session_bps;
    double share;
    unsigned members;
    double bytes;
    double seconds;
  } rows[] = {
    /* 10 000 receivers, 140 bytes, 1 Mb/s: 37.5 kb/s of RTCP, about 300 s. */
    { 1000000, 10000000, 0.75, 10000, 140.0, 298.6667 },
    { 10000000, 1000000, 0.75, 10000, 140.0, 298.6667 },
    { 150000, 10000000, 0.75, 1, 140.0, 0.199111 },
    { 4000000, 10000000, 0.6, 3, 144.0, 0.1 }, /* 28.8 ms: the floor */
    { 500000, 500000, 0.25, 100, 128.0, 16.384 },
    { 500000, 500000, 0.25, 0, 128.0, 0.16384 }, /* nobody counts as one */
    /* Below 150 kb/s the target counts as that, of a small session as a quarter of it. */
    { 149999, 10000000, 0.75, 1, 140.0, 0.199111 },
    { 16000, 10000000, 0.75, 1, 140.0, 0.199111 },
    { 16000, 10000000, 0.75, 10000, 140.0, 1991.11 },
    { 0, 10000000, 0.75, 1, 140.0, 0.199111 },
    { 16000, 300000, 0.25, 1, 140.0, 1.194667 },
    { 100000, 300000, 0.25, 1, 140.0, 0.896 },
    { 10000000, 100000, 0.25, 1, 140.0, 0.896 }, /* never more than the session's 5 % */
    { 0, 0, 0.25, 1, 128.0, 86400.0 },           /* no bandwidth: finite */
    { 1, 1, 0.1, 4000000000u, 1500.0, 86400.0 },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpfloat_with_epsilon (
        mcc_time_to_seconds (mcc_rtcp_interval (rows[i].target_bps, rows[i].session_bps,
            rows[i].share, rows[i].members, rows[i].bytes)),
        rows[i].seconds, 1e-4 * rows[i].seconds);
}

/* Two members with what they are told report as often as one of all, by RFC 3550 6.3.1. */
static void
test_known (void)
{
  for (unsigned n = 1; n <= 10000; n++) {
    double bps = 1000000, bits = 1120;
    double all = n >= 3 ? n * bits / (0.75 * bps) : (n + 1) * bits / bps;

    g_assert_cmpfloat_with_epsilon (2 * bits / mcc_rtcp_known_bps (1000000, n), all, 1e-9 * all);
  }
  g_assert_cmpfloat (mcc_rtcp_known_bps (1000000, 0), ==, 1000000);
}

/* Uniform in [0.5, 1.5) / 1.21828, so the mean is Td / 1.21828. */
static void
test_randomize (void)
{
  MccRng rng;
  double sum = 0.0, low = 1e9, high = 0.0;

  mcc_rng_init (&rng, 4711);
  for (unsigned i = 0; i < 100000; i++) {
    double s = mcc_time_to_seconds (mcc_rtcp_randomize (&rng, 10 * MCC_SECOND));

    sum += s;
    low = MIN (low, s);
    high = MAX (high, s);
  }
  g_assert_cmpfloat_with_epsilon (sum / 100000, 10 / 1.21828, 0.03);
  g_assert_cmpfloat_with_epsilon (low, 5 / 1.21828, 0.01);
  g_assert_cmpfloat_with_epsilon (high, 15 / 1.21828, 0.01);
}

static void
test_randomize_floor (void)
{
  MccRng rng;

  mcc_rng_init (&rng, 1);
  for (unsigned i = 0; i < 1000; i++) {
    MccTime t = mcc_rtcp_randomize (&rng, MCC_RTCP_MIN_INTERVAL);

    g_assert_cmpuint (t, >=, MCC_RTCP_MIN_INTERVAL);
    g_assert_cmpuint (t, <, 2 * MCC_RTCP_MIN_INTERVAL);
    g_assert_cmpuint (mcc_rtcp_randomize (&rng, MCC_TIME_NONE), <, 200000 * MCC_SECOND);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rtcp/interval", test_interval);
  g_test_add_func ("/rtcp/two-known-for-all", test_known);
  g_test_add_func ("/rtcp/randomize/uniform-and-compensated", test_randomize);
  g_test_add_func ("/rtcp/randomize/never-below-the-minimum", test_randomize_floor);
  return g_test_run ();
}

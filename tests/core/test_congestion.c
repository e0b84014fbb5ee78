/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mcccongestion.h"

static double
interval (MccCongestion *self, unsigned packets, MccTimeDelta ms)
{
  for (unsigned i = 0; i < packets; i++)
    mcc_congestion_handle_packet (self, ms * (MccTimeDelta)MCC_MSECOND);
  return mcc_congestion_handle_interval (self);
}

/* Rows of intervals: a growing queue is CONGESTED, a draining one UNLOADED; CJ may be negative. */
static void
test_verdict (void)
{
  static const struct {
    MccTimeDelta ms;
    double gamma;
  } rows[] = {
    { 10, 0.2 },  /* the first interval: both means are equal */
    { 20, 0.2 },  /* 20 >= 15 */
    { 12, 0.9 },  /* 12 < 14 */
    { 16, 0.2 },  /* 16 >= 14.5 */
    { -40, 0.9 }, /* -40 < 3.6 */
    { 10, 0.2 },
  };
  MccCongestion congestion;

  mcc_congestion_init (&congestion);
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_assert_cmpfloat (interval (&congestion, 100, rows[i].ms), ==, rows[i].gamma);
    g_assert_true (congestion.congested == (rows[i].gamma == 0.2));
  }
}

/* The printed ">=": a path of constant delay is CONGESTED (docs/deviations.md). */
static void
test_idle (void)
{
  MccCongestion congestion;

  mcc_congestion_init (&congestion);
  for (unsigned i = 0; i < 20; i++)
    g_assert_cmpfloat (interval (&congestion, 37, 0), ==, MCC_GAMMA_CONGESTED);
}

static void
test_no_packets (void)
{
  MccCongestion congestion;

  mcc_congestion_init (&congestion);
  g_assert_cmpfloat (mcc_congestion_handle_interval (&congestion), ==, MCC_GAMMA_UNLOADED);
  interval (&congestion, 10, 10);
  g_assert_cmpfloat (interval (&congestion, 10, 30), ==, MCC_GAMMA_CONGESTED);
  g_assert_cmpfloat (mcc_congestion_handle_interval (&congestion), ==, MCC_GAMMA_CONGESTED);
  interval (&congestion, 10, 5);
  g_assert_cmpfloat (mcc_congestion_handle_interval (&congestion), ==, MCC_GAMMA_UNLOADED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/congestion/short-mean-against-long-mean", test_verdict);
  g_test_add_func ("/congestion/constant-delay-is-congested-as-printed", test_idle);
  g_test_add_func ("/congestion/no-packets-keep-the-verdict", test_no_packets);
  return g_test_run ();
}

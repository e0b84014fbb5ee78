/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mcctcp.h"

static const MccTcpModel *const model = &mcc_tcp_model_default;

#define assert_near(value, expected, relative)                                                     \
  g_assert_cmpfloat (fabs ((value) / (expected)-1.0), <, (relative))

/* In bit/s; evaluated outside this code from the equation as RFC 5348 3.1 prints it, which agrees
 * with ours up to p = 8/27; the last two by hand with min () = 1. */
static void
table (void)
{
  static const struct {
    double packet_bytes, rtt_s, loss_ratio, rate_bps;
  } rows[] = {
    { 1000.0, 0.1, 0.0001, 9789148.73 },
    { 1000.0, 0.1, 0.01, 898657.875 },
    { 1000.0, 0.06, 0.05, 491451.375 },
    { 1460.0, 0.2, 0.1, 103373.961 },
    { 1200.0, 0.04, 0.29, 51328.658 },
    { 1000.0, 0.1, 0.3, 8e4 / (0.4472136 + 4.0 * 0.3 * 3.88) },
    { 1000.0, 0.1, 1.0, 8e4 / (0.8164966 + 4.0 * 33.0) },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_near (mcc_tcp_rate_bps (model, rows[i].packet_bytes, rows[i].rtt_s, rows[i].loss_ratio),
        rows[i].rate_bps, 1e-6);
}

static void
no_loss_has_no_rate (void)
{
  g_assert_true (isinf (mcc_tcp_rate_bps (model, 1000.0, 0.1, 0.0)));
  g_assert_true (isinf (mcc_tcp_rate_bps (model, 1000.0, 0.1, -1.0)));
  g_assert_cmpfloat (mcc_tcp_loss_ratio (model, 1000.0, 0.1, INFINITY), ==, 0.0);
}

static void
loss_above_one_counts_as_one (void)
{
  double lowest = mcc_tcp_rate_bps (model, 1000.0, 0.1, 1.0);

  g_assert_cmpfloat (mcc_tcp_rate_bps (model, 1000.0, 0.1, 7.0), ==, lowest);
  g_assert_cmpfloat (mcc_tcp_loss_ratio (model, 1000.0, 0.1, lowest), ==, 1.0);
  g_assert_cmpfloat (mcc_tcp_loss_ratio (model, 1000.0, 0.1, lowest / 2.0), ==, 1.0);
  g_assert_cmpfloat (mcc_tcp_loss_ratio (model, 1000.0, 0.1, 0.0), ==, 1.0);
  g_assert_cmpfloat (mcc_tcp_loss_ratio (model, 1000.0, 0.1, -5.0), ==, 1.0);
  g_assert_cmpfloat (mcc_tcp_loss_ratio (model, 1000.0, 0.1, NAN), ==, 1.0);
}

/* Delayed ACKs (b = 2) cost a factor of sqrt 2 where time-outs do not matter. */
static void
delayed_acks_cost_sqrt_two (void)
{
  MccTcpModel delayed = *model;
  delayed.packets_per_ack = 2.0;

  assert_near (
      mcc_tcp_rate_bps (model, 1000.0, 0.1, 1e-8) / mcc_tcp_rate_bps (&delayed, 1000.0, 0.1, 1e-8),
      sqrt (2.0), 1e-3);
}

static void
inverse_over_the_whole_range (void)
{
  for (double p = 1e-12; p < 1.0; p *= 1.7) {
    double rate_bps = mcc_tcp_rate_bps (model, 1200.0, 0.05, p);
    assert_near (mcc_tcp_loss_ratio (model, 1200.0, 0.05, rate_bps), p, 1e-6);
  }
}

/* Marks make no time-outs: 1.22 / sqrt (p) packets an RTT, and 9 % less. */
static void
marks (void)
{
  MccTcpModel all = mcc_tcp_model_of (1.0), half = mcc_tcp_model_of (0.5);
  MccTcpModel none = mcc_tcp_model_of (0.0);
  for (double p = 1e-6; p < 1.0; p *= 1.7) {
    double lost = mcc_tcp_rate_bps (model, 1000.0, 0.1, p);
    double marked = mcc_tcp_rate_bps (&all, 1000.0, 0.1, p);
    double both = mcc_tcp_rate_bps (&half, 1000.0, 0.1, p);
    assert_near (marked, 8000.0 / 0.1 * sqrt (1.5 / p) / sqrt (1.2), 1e-9);
    g_assert_cmpfloat (mcc_tcp_rate_bps (&none, 1000.0, 0.1, p), ==, lost);
    g_assert_cmpfloat (both, >=, fmin (lost, marked));
    g_assert_cmpfloat (both, <=, fmax (lost, marked));
  }
}

/* What TCP has there, but no more than 100 packets a second for it; and never less than before. */
static void
small_packets (void)
{
  double p = mcc_tcp_loss_ratio (model, 1000.0, 0.1, 100e3);
  assert_near (mcc_tcp_small_rate_bps (model, 400.0, 0.1, p), 100e3, 1e-6);
  assert_near (mcc_tcp_small_rate_bps (model, 50.0, 0.1, p), 100.0 * 8 * 50, 1e-6);
  assert_near (mcc_tcp_small_rate_bps (model, 1000.0, 0.1, p), 100e3, 1e-6);
  for (double loss = 1e-9; loss < 1.0; loss *= 1.7) {
    double own = mcc_tcp_rate_bps (model, 300.0, 0.05, loss);
    double rate = mcc_tcp_small_rate_bps (model, 300.0, 0.05, loss);
    g_assert_cmpfloat (rate, >=, own);
    g_assert_cmpfloat (rate, <=, fmax (own, 100.0 * 8 * 300));
    if (rate != 100.0 * 8 * 300) /* there any p of a range gives it */
      assert_near (mcc_tcp_small_loss_ratio (model, 300.0, 0.05, rate), loss, 1e-6);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tcp/table", table);
  g_test_add_func ("/tcp/no-loss-has-no-rate", no_loss_has_no_rate);
  g_test_add_func ("/tcp/loss-above-one-counts-as-one", loss_above_one_counts_as_one);
  g_test_add_func ("/tcp/delayed-acks-cost-sqrt-two", delayed_acks_cost_sqrt_two);
  g_test_add_func ("/tcp/inverse-over-the-whole-range", inverse_over_the_whole_range);
  g_test_add_func ("/tcp/marks", marks);
  g_test_add_func ("/tcp/small-packets", small_packets);
  return g_test_run ();
}

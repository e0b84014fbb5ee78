/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccrate.h"
#include "mcctcp.h"

static MccRateInput
usual (void)
{
  return (MccRateInput){ .now = 77 * MCC_SECOND,
    .rtt = 60 * MCC_MSECOND,
    .rtt_measured = true,
    .packet_bytes = 1000.0,
    .last_loss_event = MCC_TIME_NONE,
    .gamma = 0.9,
    .received_bps = 150000,
    .received_now_bps = 150000,
    .start_bps = 150000,
    .min_bps = 100000,
    .max_bps = 10000000 };
}

/* Eq. 13 and 14: P/RTT = 8000 bit / 60 ms = 133.3 kb/s a report, times gamma. */
static void
rise (void)
{
  static const struct {
    double gamma;
    guint64 expected[3];
  } table[] = {
    { 0.9, { 270000, 390000, 510000 } },
    { 0.2, { 176667, 203333, 230000 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    MccRate *rate = mcc_rate_new (&mcc_rate_published, 150000);
    MccRateInput input = usual ();
    input.gamma = table[i].gamma;
    g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 150000);
    for (guint k = 0; k < 3; k++) {
      mcc_rate_decide (rate, &input);
      g_assert_cmpuint (mcc_rate_get_bps (rate), ==, table[i].expected[k]);
    }
    mcc_rate_free (rate);
  }
}

/* Eq. 12 with loss in the interval, smoothed by the same gamma, falls included. */
static void
model (void)
{
  MccRate *rate = mcc_rate_new (&mcc_rate_published, 4000000);
  MccRateInput input = usual ();
  input.loss_in_interval = true;
  input.loss_ratio = 0.02;
  input.gamma = 0.2;
  double x = mcc_tcp_rate_bps (&mcc_tcp_model_default, 1000.0, 0.06, 0.02), r = 4e6;
  for (guint k = 0; k < 30; k++) {
    mcc_rate_decide (rate, &input);
    r = 0.2 * x + 0.8 * r;
    g_assert_cmpfloat (ABS ((double)mcc_rate_get_bps (rate) - r), <=, 1.0);
  }
  /* A history of loss without loss in this interval is a rise. */
  input.loss_in_interval = false;
  mcc_rate_decide (rate, &input);
  g_assert_cmpfloat ((double)mcc_rate_get_bps (rate), >, r);
  mcc_rate_free (rate);
}

static void
silence (void)
{
  MccRate *rate = mcc_rate_new (&mcc_rate_published, 150000);
  MccRateInput input = usual ();
  input.packet_bytes = 0.0;
  mcc_rate_decide (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 150000);
  input = usual ();
  input.rtt = 0;
  mcc_rate_decide (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 150000);
  g_assert_cmpint (mcc_rate_mode (rate), ==, MCC_RATE_TCP);
  mcc_rate_free (rate);
}

static void
stays_finite (void)
{
  MccRate *rate = mcc_rate_new (&mcc_rate_published, G_MAXUINT64);
  MccRateInput input = usual ();
  input.rtt = 1;
  for (guint k = 0; k < 100; k++)
    mcc_rate_decide (rate, &input);
  g_assert_cmpuint (mcc_rate_get_bps (rate), <=, G_GUINT64_CONSTANT (1000000000000000));
  mcc_rate_reset (rate, 150000);
  g_assert_cmpuint (mcc_rate_get_bps (rate), ==, 150000);
  mcc_rate_free (rate);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-published/rises-a-packet-per-rtt-each-report", rise);
  g_test_add_func ("/rate-published/follows-the-model-with-loss", model);
  g_test_add_func ("/rate-published/an-interval-without-packets-is-skipped", silence);
  g_test_add_func ("/rate-published/stays-finite", stays_finite);
  return g_test_run ();
}

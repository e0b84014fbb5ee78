/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "prop.h"

#include "mcctcp.h"

typedef struct {
  MccTcpModel model;
  double packet_bytes, rtt_s, loss_ratio;
} Case;

static Case
any_case (MccRng *rng)
{
  return (Case){
    .model
    = { .packets_per_ack = prop_between (rng, 1.0, 2.0), .rto_rtts = prop_between (rng, 1.0, 8.0) },
    .packet_bytes = prop_between (rng, 40.0, 9000.0),
    .rtt_s = prop_log_between (rng, 1e-6, 100.0),
    .loss_ratio = prop_log_between (rng, 1e-15, 1.0),
  };
}

static double
rate (const Case *c)
{
  return mcc_tcp_rate_bps (&c->model, c->packet_bytes, c->rtt_s, c->loss_ratio);
}

static void
falls_with_loss (MccRng *rng)
{
  Case a = any_case (rng), b = a;

  b.loss_ratio = fmin (1.0, a.loss_ratio * (1.0 + prop_log_between (rng, 1e-9, 10.0)));
  if (b.loss_ratio > a.loss_ratio)
    g_assert_cmpfloat (rate (&b), <, rate (&a));
}

static void
falls_with_rtt (MccRng *rng)
{
  Case a = any_case (rng), b = a;

  b.rtt_s *= 1.0 + prop_log_between (rng, 1e-9, 10.0);
  g_assert_cmpfloat (rate (&b), <, rate (&a));
}

static void
round_trips (MccRng *rng)
{
  Case c = any_case (rng);
  double back = mcc_tcp_loss_ratio (&c.model, c.packet_bytes, c.rtt_s, rate (&c));

  g_assert_cmpfloat (fabs (back / c.loss_ratio - 1.0), <, 1e-6);
}

static void
finite_for_any_rate (MccRng *rng)
{
  Case c = any_case (rng);
  double p = mcc_tcp_loss_ratio (
      &c.model, c.packet_bytes, c.rtt_s, prop_log_between (rng, 1e-300, 1e300));

  g_assert_true (p >= 0.0 && p <= 1.0);
}

static void
run_falls_with_loss (void)
{
  prop_run (falls_with_loss, 10000);
}

static void
run_falls_with_rtt (void)
{
  prop_run (falls_with_rtt, 10000);
}

static void
run_round_trips (void)
{
  prop_run (round_trips, 10000);
}

static void
run_finite_for_any_rate (void)
{
  prop_run (finite_for_any_rate, 10000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/props/tcp/falls-with-loss", run_falls_with_loss);
  g_test_add_func ("/props/tcp/falls-with-rtt", run_falls_with_rtt);
  g_test_add_func ("/props/tcp/round-trips", run_round_trips);
  g_test_add_func ("/props/tcp/finite-for-any-rate", run_finite_for_any_rate);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A sender drops reports of 0 and of more than 100 Gb/s, so a receiver must never state them.
 */
#include <glib.h>

#include "mccrate.h"

#define LOWEST_BPS 1
#define HIGHEST_BPS G_GUINT64_CONSTANT (100000000000)
#define START_TIME (5 * MCC_SECOND)

static const MccRateController *const controllers[] = { &mcc_rate_published, &mcc_rate_enhanced };

static void
decide_often (MccRate *rate, MccRateInput input, unsigned times)
{
  for (unsigned i = 0; i < times; i++) {
    input.now += 100 * MCC_MSECOND;
    input.received_bps = input.received_now_bps = mcc_rate_get_bps (rate);
    mcc_rate_decide (rate, &input);
    g_assert_cmpuint (mcc_rate_get_bps (rate), >=, LOWEST_BPS);
    g_assert_cmpuint (mcc_rate_get_bps (rate), <=, HIGHEST_BPS);
  }
}

static void
test_never_zero (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (controllers); i++) {
    MccRate *rate = mcc_rate_new (controllers[i], 150000);
    /* The equation gives 0.24 bit/s. */
    MccRateInput input = { .now = START_TIME,
      .rtt = 10 * MCC_SECOND,
      .rtt_measured = true,
      .loss_ratio = 1.0,
      .loss_in_interval = true,
      .last_loss_event = START_TIME,
      .packet_bytes = 40,
      .gamma = 0.9,
      .start_bps = 150000 };

    decide_often (rate, input, 2000);
    if (controllers[i] == &mcc_rate_published)
      g_assert_cmpuint (mcc_rate_get_bps (rate), ==, LOWEST_BPS);
    mcc_rate_free (rate);
    rate = mcc_rate_new (controllers[i], 0);
    g_assert_cmpuint (mcc_rate_get_bps (rate), >=, LOWEST_BPS);
    mcc_rate_free (rate);
  }
}

static void
test_never_more_than_a_sender_takes (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (controllers); i++) {
    MccRate *rate = mcc_rate_new (controllers[i], 150000);
    MccRateInput input = { .now = START_TIME,
      .rtt = MCC_MSECOND,
      .rtt_measured = true,
      .last_loss_event = MCC_TIME_NONE,
      .packet_bytes = 1500,
      .gamma = 0.9,
      .start_bps = 150000 };

    decide_often (rate, input, 20000);
    g_assert_cmpuint (mcc_rate_get_bps (rate), ==, HIGHEST_BPS);
    mcc_rate_free (rate);
    rate = mcc_rate_new (controllers[i], UINT64_MAX);
    g_assert_cmpuint (mcc_rate_get_bps (rate), <=, HIGHEST_BPS);
    mcc_rate_free (rate);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ratelimits/never-zero", test_never_zero);
  g_test_add_func (
      "/ratelimits/never-more-than-a-sender-takes", test_never_more_than_a_sender_takes);
  return g_test_run ();
}

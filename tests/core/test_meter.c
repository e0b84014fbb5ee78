/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccmeter.h"

#define START (1234567 * MCC_MSECOND + 89)

static void
assert_near (double value, double expected, double ratio)
{
  g_assert_cmpfloat_with_epsilon (value, expected, expected * ratio);
}

/* Whatever the window, spacing and span: the rate within a slot (1/32 of the span). */
static void
test_constant_rate (void)
{
  static const struct {
    MccTime span, window, spacing;
    uint32_t bytes;
  } rows[] = {
    { MCC_SECOND, MCC_SECOND, 10 * MCC_MSECOND, 1250 },
    { MCC_SECOND, 500 * MCC_MSECOND, MCC_MSECOND, 125 },
    { MCC_SECOND, 200 * MCC_MSECOND, 2 * MCC_MSECOND, 250 },
    { 2 * MCC_SECOND, 2 * MCC_SECOND, 7 * MCC_MSECOND, 875 },
    { 10 * MCC_SECOND, 9 * MCC_SECOND, 33 * MCC_MSECOND, 4125 },
  };

  for (unsigned r = 0; r < G_N_ELEMENTS (rows); r++) {
    MccMeter meter;
    MccTime now = START;

    mcc_meter_init (&meter, rows[r].span);
    for (; now < START + 3 * rows[r].span; now += rows[r].spacing) {
      mcc_meter_add (&meter, rows[r].bytes, now);
      if (now > START + rows[r].window + rows[r].spacing) {
        double slot = (double)rows[r].span / 32.0 / (double)rows[r].window;

        assert_near ((double)mcc_meter_rate_bps (&meter, rows[r].window, now), 1e6, slot);
        /* Of the slot that the window cuts, its share. */
        if (rows[r].spacing == MCC_MSECOND)
          assert_near ((double)mcc_meter_rate_bps (&meter, rows[r].window, now), 1e6, 0.005);
      }
    }
  }
}

static void
test_step (void)
{
  MccMeter meter;
  MccTime now = START;

  mcc_meter_init (&meter, MCC_SECOND);
  for (; now < START + 3 * MCC_SECOND; now += MCC_MSECOND)
    mcc_meter_add (&meter, 250, now); /* 2 Mb/s */
  for (; now < START + 3500 * MCC_MSECOND; now += MCC_MSECOND)
    mcc_meter_add (&meter, 75, now); /* 600 kb/s */
  assert_near ((double)mcc_meter_rate_bps (&meter, MCC_SECOND, now), 1.3e6, 1.0 / 32);
  assert_near ((double)mcc_meter_rate_bps (&meter, 400 * MCC_MSECOND, now), 0.6e6, 1.0 / 32);
}

static void
test_silence (void)
{
  MccMeter meter;

  mcc_meter_init (&meter, MCC_SECOND);
  g_assert_cmpuint (mcc_meter_rate_bps (&meter, MCC_SECOND, START), ==, 0);
  for (unsigned i = 0; i < 1000; i++)
    mcc_meter_add (&meter, 1000, START + i * MCC_MSECOND);
  MccTime end = START + MCC_SECOND;
  assert_near ((double)mcc_meter_rate_bps (&meter, MCC_SECOND, end + MCC_SECOND / 2), 4e6, 0.05);
  g_assert_cmpuint (mcc_meter_rate_bps (&meter, MCC_SECOND, end + 1100 * MCC_MSECOND), ==, 0);
  g_assert_cmpuint (mcc_meter_rate_bps (&meter, MCC_SECOND, end + 3600 * MCC_SECOND), ==, 0);
  /* Nothing of the past shows when packets come back. */
  mcc_meter_add (&meter, 1000, end + 3600 * MCC_SECOND);
  g_assert_cmpuint (mcc_meter_rate_bps (&meter, MCC_SECOND, end + 3600 * MCC_SECOND), ==, 8000);
}

/* Just begun: over the time since the first byte, at least a slot. */
static void
test_young (void)
{
  MccMeter meter;

  mcc_meter_init (&meter, MCC_SECOND);
  mcc_meter_add (&meter, 1000, START);
  g_assert_cmpuint (mcc_meter_rate_bps (&meter, MCC_SECOND, START), <=, 64 * 8000);
  for (unsigned i = 1; i < 200; i++)
    mcc_meter_add (&meter, 1000, START + i * MCC_MSECOND);
  assert_near (
      (double)mcc_meter_rate_bps (&meter, MCC_SECOND, START + 200 * MCC_MSECOND), 8e6, 0.01);
}

static void
test_extremes (void)
{
  MccMeter meter;

  mcc_meter_init (&meter, 1);
  mcc_meter_add (&meter, 10, 5);
  g_assert_cmpuint (mcc_meter_rate_bps (&meter, 100, 5), >, 0);
  mcc_meter_init (&meter, MCC_SECOND);
  mcc_meter_add (&meter, UINT32_MAX, 0);
  mcc_meter_add (&meter, UINT32_MAX, 1);
  g_assert_cmpuint (mcc_meter_rate_bps (&meter, MCC_SECOND, MCC_SECOND), >, 34000000000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/meter/constant-rate-within-a-slot", test_constant_rate);
  g_test_add_func ("/meter/step", test_step);
  g_test_add_func ("/meter/silence-is-zero", test_silence);
  g_test_add_func ("/meter/young", test_young);
  g_test_add_func ("/meter/extremes-saturate", test_extremes);
  return g_test_run ();
}

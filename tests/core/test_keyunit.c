/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mcckeyunit.h"

#define EPOCH (98765 * MCC_SECOND + 4321)

static void
test_spacing (void)
{
  static const struct {
    MccTime rtt_max, spacing;
  } table[] = { { 0, MCC_SECOND }, { 100 * MCC_MSECOND, MCC_SECOND },
    { 500 * MCC_MSECOND, MCC_SECOND }, { 800 * MCC_MSECOND, 1600 * MCC_MSECOND },
    { 2 * MCC_SECOND, 4 * MCC_SECOND }, { 10 * MCC_SECOND, 4 * MCC_SECOND } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccKeyUnit key_unit;
    MccTime rtt = table[row].rtt_max, last = 0;
    unsigned taken = 0;
    mcc_key_unit_init (&key_unit);
    g_assert_cmpuint (mcc_key_unit_next_timeout (&key_unit, rtt), ==, MCC_TIME_NONE);
    g_assert_false (mcc_key_unit_take (&key_unit, rtt, EPOCH));
    /* 500 viewers ask at each ms, for 10 s. */
    for (MccTime now = EPOCH; now < EPOCH + 10 * MCC_SECOND; now += MCC_MSECOND) {
      for (unsigned i = 0; i < 500; i++)
        mcc_key_unit_request (&key_unit);
      if (!mcc_key_unit_take (&key_unit, rtt, now))
        continue;
      g_assert_false (mcc_key_unit_take (&key_unit, rtt, now));
      if (taken++ > 0)
        g_assert_cmpuint (now - last, ==, table[row].spacing);
      last = now;
    }
    g_assert_cmpuint (taken, ==, (10 * MCC_SECOND + table[row].spacing - 1) / table[row].spacing);
  }
}

static void
test_request_is_not_lost (void)
{
  MccKeyUnit key_unit;
  mcc_key_unit_init (&key_unit);
  mcc_key_unit_request (&key_unit);
  g_assert_true (mcc_key_unit_take (&key_unit, 0, EPOCH));
  mcc_key_unit_request (&key_unit);
  g_assert_false (mcc_key_unit_take (&key_unit, 0, EPOCH + 1));
  g_assert_cmpuint (mcc_key_unit_next_timeout (&key_unit, 0), ==, EPOCH + MCC_SECOND);
  g_assert_false (mcc_key_unit_take (&key_unit, 0, EPOCH + MCC_SECOND - 1));
  g_assert_true (mcc_key_unit_take (&key_unit, 0, EPOCH + MCC_SECOND));
  /* And not repeated without a request. */
  g_assert_false (mcc_key_unit_take (&key_unit, 0, EPOCH + 9 * MCC_SECOND));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/key-unit/at-most-one-per-max-1s-2-rtt", test_spacing);
  g_test_add_func ("/key-unit/request-is-not-lost", test_request_is_not_lost);
  return g_test_run ();
}

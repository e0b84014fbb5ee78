/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mcckeyunit.h"

#define EPOCH (98765 * MCC_SECOND + 4321)

static void
test_spacing (void)
{
  static const struct {
    MccTime rtt_max, spacing;
  } table[] = { { 0, MCC_KEY_UNIT_INTERVAL }, { 100 * MCC_MSECOND, MCC_KEY_UNIT_INTERVAL },
    { 350 * MCC_MSECOND, MCC_KEY_UNIT_INTERVAL }, { 500 * MCC_MSECOND, MCC_SECOND },
    { 800 * MCC_MSECOND, MCC_SECOND }, { 10 * MCC_SECOND, MCC_SECOND } };
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
        mcc_key_unit_request (&key_unit, rtt, now);
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
  const MccTime rtt = 50 * MCC_MSECOND;
  MccKeyUnit key_unit;
  mcc_key_unit_init (&key_unit);
  mcc_key_unit_request (&key_unit, rtt, EPOCH);
  g_assert_true (mcc_key_unit_take (&key_unit, rtt, EPOCH));
  mcc_key_unit_request (&key_unit, rtt, EPOCH + 200 * MCC_MSECOND);
  g_assert_false (mcc_key_unit_take (&key_unit, rtt, EPOCH + 200 * MCC_MSECOND));
  g_assert_cmpuint (mcc_key_unit_next_timeout (&key_unit, rtt), ==, EPOCH + MCC_KEY_UNIT_INTERVAL);
  g_assert_false (mcc_key_unit_take (&key_unit, rtt, EPOCH + MCC_KEY_UNIT_INTERVAL - 1));
  g_assert_true (mcc_key_unit_take (&key_unit, rtt, EPOCH + MCC_KEY_UNIT_INTERVAL));
  /* And not repeated without a request. */
  g_assert_false (mcc_key_unit_take (&key_unit, rtt, EPOCH + 9 * MCC_SECOND));
}

/* Several receivers ask for one loss: their requests come while the key unit is on its way. */
static void
test_request_on_the_way (void)
{
  static const struct {
    MccTime rtt, answered;
  } table[] = { { 0, 100 }, { 50, 200 }, { 150, 350 }, { 400, 400 }, { 1000, 500 } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccTime rtt = table[row].rtt * MCC_MSECOND, answered = table[row].answered * MCC_MSECOND;
    MccKeyUnit key_unit;
    mcc_key_unit_init (&key_unit);
    mcc_key_unit_request (&key_unit, rtt, EPOCH);
    g_assert_true (mcc_key_unit_take (&key_unit, rtt, EPOCH));
    mcc_key_unit_request (&key_unit, rtt, EPOCH + answered - 1);
    g_assert_cmpuint (mcc_key_unit_next_timeout (&key_unit, rtt), ==, MCC_TIME_NONE);
    mcc_key_unit_request (&key_unit, rtt, EPOCH + answered);
    g_assert_cmpuint (
        mcc_key_unit_next_timeout (&key_unit, rtt), >=, EPOCH + MCC_KEY_UNIT_INTERVAL);
    g_assert_cmpuint (mcc_key_unit_next_timeout (&key_unit, rtt), !=, MCC_TIME_NONE);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/key-unit/at-most-one-per-interval-or-2-rtt", test_spacing);
  g_test_add_func ("/key-unit/request-is-not-lost", test_request_is_not_lost);
  g_test_add_func ("/key-unit/requests-on-the-way-are-answered", test_request_on_the_way);
  return g_test_run ();
}

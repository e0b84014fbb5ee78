/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccidle.h"

#define START (5000 * MCC_SECOND)
#define AFTER (10 * MCC_SECOND)

static void
test_stops (void)
{
  MccIdle idle;

  mcc_idle_init (&idle, AFTER, START);
  g_assert_true (idle.running);
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, START + AFTER);
  g_assert_false (mcc_idle_handle_timeout (&idle, START + AFTER - 1));
  g_assert_true (mcc_idle_handle_timeout (&idle, START + AFTER));
  g_assert_false (idle.running);
  g_assert_false (mcc_idle_handle_timeout (&idle, START + 2 * AFTER)); /* once */
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, MCC_TIME_NONE);
}

static void
test_comes_back (void)
{
  MccIdle idle;
  MccTime now = START + AFTER;

  mcc_idle_init (&idle, AFTER, START);
  mcc_idle_handle_timeout (&idle, now);
  g_assert_true (mcc_idle_set_occupied (&idle, true, now + 1));
  g_assert_false (mcc_idle_set_occupied (&idle, true, now + 2));
  g_assert_true (idle.running);
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, MCC_TIME_NONE);
  g_assert_false (mcc_idle_handle_timeout (&idle, now + 9 * AFTER));
  /* the time counts from when the last one left */
  g_assert_false (mcc_idle_set_occupied (&idle, false, now + 9 * AFTER));
  g_assert_false (mcc_idle_set_occupied (&idle, false, now + 9 * AFTER + 5));
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, now + 10 * AFTER);
  /* one who comes back in time */
  g_assert_false (mcc_idle_set_occupied (&idle, true, now + 10 * AFTER - 1));
  g_assert_false (mcc_idle_handle_timeout (&idle, now + 10 * AFTER));
}

static void
test_never (void)
{
  MccIdle idle;

  mcc_idle_init (&idle, MCC_TIME_NONE, START);
  mcc_idle_set_occupied (&idle, true, START);
  mcc_idle_set_occupied (&idle, false, START);
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, MCC_TIME_NONE);
  g_assert_false (mcc_idle_handle_timeout (&idle, START + 1000 * AFTER));
  g_assert_true (idle.running);
}

/* Another stream becomes the lowest. */
static void
test_other_time (void)
{
  MccIdle idle;

  mcc_idle_init (&idle, AFTER, START);
  mcc_idle_handle_timeout (&idle, START + AFTER);
  g_assert_false (mcc_idle_set_after (&idle, AFTER / 2, START + AFTER));
  g_assert_false (idle.running);
  g_assert_true (mcc_idle_set_after (&idle, MCC_TIME_NONE, START + 2 * AFTER));
  g_assert_true (idle.running);
  g_assert_false (mcc_idle_set_after (&idle, MCC_TIME_NONE, START + 3 * AFTER));
  /* the time counts from when it is the lowest no more */
  g_assert_false (mcc_idle_set_after (&idle, AFTER, START + 9 * AFTER));
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, START + 10 * AFTER);
}

/* Who has gone to another stream shows this one until a picture of that has come. */
static void
test_left (void)
{
  MccIdle idle;

  mcc_idle_init (&idle, MCC_SECOND, START);
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, START + MCC_SECOND); /* nobody was here */
  mcc_idle_set_occupied (&idle, true, START);
  mcc_idle_set_occupied (&idle, false, START + AFTER);
  g_assert_false (mcc_idle_handle_timeout (&idle, START + AFTER + MCC_ASSP_JOIN_TIMEOUT));
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, START + AFTER + MCC_IDLE_LEFT);
  g_assert_true (mcc_idle_handle_timeout (&idle, START + AFTER + MCC_IDLE_LEFT));
  /* ... where so much is asked for, no longer */
  mcc_idle_init (&idle, AFTER, START);
  mcc_idle_set_occupied (&idle, true, START);
  mcc_idle_set_occupied (&idle, false, START);
  g_assert_cmpuint (mcc_idle_next_timeout (&idle), ==, START + AFTER);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/idle/stops-when-nobody-was-there-for-long", test_stops);
  g_test_add_func ("/idle/comes-back-at-once", test_comes_back);
  g_test_add_func ("/idle/never", test_never);
  g_test_add_func ("/idle/other-time", test_other_time);
  g_test_add_func ("/idle/left", test_left);
  return g_test_run ();
}

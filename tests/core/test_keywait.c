/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mcckeywait.h"

#define EPOCH (9000 * MCC_SECOND + 17)
#define RTT (100 * MCC_MSECOND)

static void
test_nothing_wanted (void)
{
  MccKeyWait wait;
  mcc_key_wait_init (&wait);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, MCC_TIME_NONE);
  g_assert_false (mcc_key_wait_take (&wait, RTT, EPOCH));
}

static void
test_spacing (void)
{
  MccKeyWait wait;
  mcc_key_wait_init (&wait);
  mcc_key_wait_want (&wait, false, EPOCH);
  g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH));
  g_assert_false (mcc_key_wait_take (&wait, RTT, EPOCH));
  /* a key unit came, but the next is asked for at most once a second */
  mcc_key_wait_got (&wait);
  mcc_key_wait_want (&wait, false, EPOCH + 1);
  g_assert_false (mcc_key_wait_take (&wait, RTT, EPOCH + MCC_SECOND - 1));
  g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH + MCC_SECOND));
}

static void
test_loss_waits (void)
{
  MccKeyWait wait;
  mcc_key_wait_init (&wait);
  mcc_key_wait_want (&wait, true, EPOCH);
  g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH)); /* the first does not */
  mcc_key_wait_got (&wait);
  mcc_key_wait_want (&wait, true, EPOCH);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, EPOCH + 3 * MCC_SECOND);
  /* a decoder's wish overtakes it, and loss does not put that off */
  mcc_key_wait_want (&wait, false, EPOCH + 2 * MCC_SECOND);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, EPOCH + 2 * MCC_SECOND);
  mcc_key_wait_want (&wait, true, EPOCH + 2 * MCC_SECOND);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, EPOCH + 2 * MCC_SECOND);
}

/* Without an answer: less and less often, then no more. */
static void
test_tries (void)
{
  static const struct {
    MccTime rtt, first; /* between the first request and the second */
  } table[] = { { 0, MCC_SECOND }, { 350 * MCC_MSECOND, MCC_SECOND },
    { 400 * MCC_MSECOND, 1100 * MCC_MSECOND }, { MCC_SECOND, 2300 * MCC_MSECOND },
    { 60 * MCC_SECOND, 2300 * MCC_MSECOND } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccKeyWait wait;
    MccTime expected = EPOCH;
    unsigned asked = 0;
    mcc_key_wait_init (&wait);
    mcc_key_wait_want (&wait, false, EPOCH);
    for (MccTime now = EPOCH; now < EPOCH + 100 * MCC_SECOND; now += 10 * MCC_MSECOND) {
      /* who goes on wanting changes nothing */
      if (asked > 0 && asked < MCC_KEY_WAIT_TRIES)
        mcc_key_wait_want (&wait, asked % 2, now);
      if (!mcc_key_wait_take (&wait, table[row].rtt, now))
        continue;
      g_assert_cmpuint (now, ==, expected);
      expected = now + (table[row].first << asked++);
    }
    g_assert_cmpuint (asked, ==, MCC_KEY_WAIT_TRIES);
    g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, MCC_TIME_NONE);
    /* a new wish begins anew */
    mcc_key_wait_want (&wait, false, EPOCH + 100 * MCC_SECOND);
    g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH + 100 * MCC_SECOND));
  }
}

static void
test_follow (void)
{
  MccKeyWait wait;
  mcc_key_wait_init (&wait);
  g_assert_true (mcc_key_wait_loss_counts (&wait, EPOCH));
  mcc_key_wait_follow (&wait, EPOCH);
  g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH));
  g_assert_false (mcc_key_wait_loss_counts (&wait, EPOCH));
  g_assert_false (mcc_key_wait_loss_counts (&wait, EPOCH + MCC_SECOND - 1));
  g_assert_true (mcc_key_wait_loss_counts (&wait, EPOCH + MCC_SECOND));
  /* another sender takes over: its key unit too is asked for, and the spacing holds */
  mcc_key_wait_got (&wait);
  mcc_key_wait_follow (&wait, EPOCH + 10 * MCC_MSECOND);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, EPOCH + MCC_SECOND);
  g_assert_false (mcc_key_wait_loss_counts (&wait, EPOCH + MCC_SECOND));
}

/* Requests that were in vain because of something that is gone say nothing. */
static void
test_renewed (void)
{
  MccKeyWait wait;
  MccTime last = EPOCH + (1 + 2) * MCC_SECOND;
  mcc_key_wait_init (&wait);
  mcc_key_wait_want (&wait, false, EPOCH);
  g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH));
  g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH + MCC_SECOND));
  g_assert_true (mcc_key_wait_take (&wait, RTT, last));
  mcc_key_wait_renew (&wait, last + 100 * MCC_MSECOND); /* else 4 s after it */
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, last + MCC_SECOND);
  g_assert_true (mcc_key_wait_take (&wait, RTT, last + MCC_SECOND));
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, last + 2 * MCC_SECOND);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/keywait/nothing-wanted", test_nothing_wanted);
  g_test_add_func ("/keywait/at-most-one-a-second", test_spacing);
  g_test_add_func ("/keywait/loss-may-mend-itself", test_loss_waits);
  g_test_add_func ("/keywait/asks-less-and-less", test_tries);
  g_test_add_func ("/keywait/begins-anew", test_renewed);
  g_test_add_func ("/keywait/a-sender-is-followed", test_follow);
  return g_test_run ();
}

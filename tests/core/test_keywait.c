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

/* A stream was left with losses, and who brings the next one asks for its key unit: they ask for
 * none, but what is lost behind it does. */
static void
test_left_to_others (void)
{
  MccKeyWait wait;
  mcc_key_wait_init (&wait);
  mcc_key_wait_want (&wait, true, EPOCH);
  mcc_key_wait_leave_to_others (&wait, EPOCH);
  g_assert_false (mcc_key_wait_take (&wait, RTT, EPOCH));
  mcc_key_wait_want (&wait, true, EPOCH + 200 * MCC_MSECOND);
  g_assert_false (mcc_key_wait_take (&wait, RTT, EPOCH + 600 * MCC_MSECOND));
  mcc_key_wait_got (&wait);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, MCC_TIME_NONE);
  mcc_key_wait_want (&wait, true, EPOCH + 700 * MCC_MSECOND);
  g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH + MCC_SECOND));
}

/* A key unit that came at once was damaged, or what follows it was: as soon as losses count one is
 * asked for, whether or not another loss comes. */
static void
test_loss_while_settling (void)
{
  const MccTime step = 10 * MCC_MSECOND;
  static const struct {
    MccTime key, loss; /* after _follow(); MCC_TIME_NONE: none */
    MccTime asked;     /* the second time */
  } table[] = {
    { 200 * MCC_MSECOND, 300 * MCC_MSECOND, 3 * MCC_SECOND }, /* not within 3 s of the first */
    { 200 * MCC_MSECOND, MCC_SECOND - 1, 3 * MCC_SECOND },
    { 300 * MCC_MSECOND, 200 * MCC_MSECOND, MCC_TIME_NONE }, /* it has come since */
    { MCC_TIME_NONE, 300 * MCC_MSECOND, MCC_SECOND },        /* the first one's repetition */
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccKeyWait wait;
    MccTime asked = MCC_TIME_NONE;
    mcc_key_wait_init (&wait);
    mcc_key_wait_follow (&wait, EPOCH);
    g_assert_true (mcc_key_wait_take (&wait, RTT, EPOCH));
    for (MccTime t = 0; t <= 5 * MCC_SECOND && asked == MCC_TIME_NONE; t += step) {
      if (t / step == table[row].key / step)
        mcc_key_wait_got (&wait);
      if (t / step == table[row].loss / step)
        mcc_key_wait_want (&wait, true, EPOCH + table[row].loss);
      if (mcc_key_wait_take (&wait, RTT, EPOCH + t))
        asked = t;
    }
    g_assert_cmpuint (asked, ==, table[row].asked);
  }
  /* the settling itself is waited for, not a time after the request */
  MccKeyWait wait;
  mcc_key_wait_init (&wait);
  wait.followed = EPOCH;
  mcc_key_wait_want (&wait, true, EPOCH + 10 * MCC_MSECOND);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, EPOCH + MCC_SECOND);
}

/* Where key units are seen when they come, one is asked for until it has come. */
static void
test_persists (void)
{
  MccKeyWait wait;
  MccTime last = EPOCH;
  unsigned asked = 0;
  mcc_key_wait_init (&wait);
  mcc_key_wait_set_recognised (&wait, true);
  mcc_key_wait_want (&wait, true, EPOCH);
  for (MccTime t = 0; t < 300 * MCC_SECOND; t += 100 * MCC_MSECOND)
    if (mcc_key_wait_take (&wait, RTT, EPOCH + t)) {
      g_assert_cmpuint (EPOCH + t - last, <=, MCC_SECOND << (MCC_KEY_WAIT_TRIES - 1));
      last = EPOCH + t;
      asked++;
    }
  g_assert_cmpuint (EPOCH + 300 * MCC_SECOND - last, <=, 17 * MCC_SECOND);
  g_assert_cmpuint (asked, <=, 4 + 300 / 15); /* a path that bears none costs the others little */
  mcc_key_wait_got (&wait);
  g_assert_cmpuint (mcc_key_wait_next_timeout (&wait), ==, MCC_TIME_NONE);
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
  g_test_add_func ("/keywait/left-to-others", test_left_to_others);
  g_test_add_func ("/keywait/asks-less-and-less", test_tries);
  g_test_add_func ("/keywait/begins-anew", test_renewed);
  g_test_add_func ("/keywait/a-sender-is-followed", test_follow);
  g_test_add_func ("/keywait/a-loss-while-settling-is-not-forgotten", test_loss_while_settling);
  g_test_add_func ("/keywait/asks-until-it-comes", test_persists);
  return g_test_run ();
}

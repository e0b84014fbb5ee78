/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccelmpatience.h"

#define START (1000 * MCC_SECOND)
#define LENGTH (4 * MCC_SECOND)
#define LOOK (100 * MCC_MSECOND)

/* Seconds excused of @seconds, with a word each 100 ms; *@ready_s: in which one would be. */
static double
excused (MccElmPatience *self, MccTime from, double seconds, gboolean troubled, double *ready_s)
{
  MccTime end = from + mcc_time_from_seconds (seconds);
  guint looks = 0, ready = 0;
  for (MccTime now = from; now < end; now += LOOK) {
    mcc_elm_patience_hear (self, LENGTH, now);
    looks += mcc_elm_patience_look (self, LOOK, troubled, now + LOOK);
    ready += mcc_elm_patience_is_ready (self, now + LOOK);
  }
  *ready_s = ready * mcc_time_to_seconds (LOOK);
  return looks * mcc_time_to_seconds (LOOK);
}

/* However many words there are, the share of the time is bounded, and does not pile up. */
static void
test_share (void)
{
  MccElmPatience patience;
  double ready;
  mcc_elm_patience_init (&patience, START);
  for (guint i = 0; i < 3; i++) {
    MccTime from = START + i * 10000 * MCC_SECOND;
    double sum = excused (&patience, from, 1000.0, TRUE, &ready);
    g_test_message ("%.0f s of 1000", sum);
    g_assert_cmpfloat (sum, <=, 1000.0 / MCC_ELM_PATIENCE_SHARE + 12.0);
    g_assert_cmpfloat (sum, >, 0.9 * 1000.0 / MCC_ELM_PATIENCE_SHARE);
  }
}

/* A trial's time at once, and a rest: what is lost then counts. */
static void
test_at_once (void)
{
  MccElmPatience patience;
  MccTime time = LENGTH + MCC_ELM_PATIENCE_REST;
  double ready;
  mcc_elm_patience_init (&patience, START);
  double sum = excused (&patience, START, mcc_time_to_seconds (time), TRUE, &ready);
  g_assert_cmpfloat (sum, <=, mcc_time_to_seconds (LENGTH));
  g_assert_cmpfloat (sum, >=, mcc_time_to_seconds (LENGTH - 2 * LOOK));
  g_assert_true (mcc_elm_patience_hear (&patience, LENGTH, START + time));
}

/* Trials behind other links cost nothing: it is all there when one of ours comes. */
static void
test_free (void)
{
  MccElmPatience patience;
  double ready;
  mcc_elm_patience_init (&patience, START);
  for (guint i = 0; i < 100; i++) {
    MccTime now = START + i * 2 * LENGTH;
    g_assert_true (mcc_elm_patience_hear (&patience, LENGTH, now));
    g_assert_false (mcc_elm_patience_look (&patience, LOOK, FALSE, now + LOOK));
    g_assert_true (mcc_elm_patience_is_ready (&patience, now + LOOK));
    g_assert_false (mcc_elm_patience_look (&patience, LENGTH, FALSE, now + LENGTH));
    g_assert_false (mcc_elm_patience_is_ready (&patience, now + LENGTH));
  }
  MccTime now = START + 100 * 2 * LENGTH;
  double sum = excused (&patience, now, mcc_time_to_seconds (LENGTH), TRUE, &ready);
  g_assert_cmpfloat (sum, >=, mcc_time_to_seconds (LENGTH - 2 * LOOK));
}

/* Without a word nothing is excused, nor what begins when its time is over. */
static void
test_over (void)
{
  MccElmPatience patience;
  mcc_elm_patience_init (&patience, START);
  g_assert_false (mcc_elm_patience_look (&patience, LOOK, TRUE, START));
  g_assert_true (mcc_elm_patience_hear (&patience, LENGTH, START));
  g_assert_false (mcc_elm_patience_look (&patience, LOOK, TRUE, START + LENGTH));
  /* Once begun it goes on without more of it: what was left still comes for a while. */
  MccTime now = START + 2 * LENGTH;
  g_assert_true (mcc_elm_patience_hear (&patience, LENGTH, now));
  g_assert_true (mcc_elm_patience_look (&patience, LOOK, TRUE, now + LOOK));
  g_assert_true (mcc_elm_patience_look (&patience, LOOK, FALSE, now + 2 * LOOK));
  /* A word between its end and the next look does not go round the rest. */
  g_assert_false (mcc_elm_patience_hear (&patience, LENGTH, now + LENGTH + LOOK / 2));
}

/* Words alone do not keep it ready for ever: what is measured meanwhile does not count. */
static void
test_ready (void)
{
  MccElmPatience patience;
  double ready, most = (double)MCC_ELM_PATIENCE_MOST;
  double share = most / (most + (double)MCC_ELM_PATIENCE_REST);
  mcc_elm_patience_init (&patience, START);
  g_assert_cmpfloat (excused (&patience, START, 1000.0, FALSE, &ready), ==, 0.0);
  g_assert_cmpfloat (ready, <=, (share + 0.01) * 1000.0);
  g_assert_cmpfloat (ready, >=, 0.9 * share * 1000.0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/patience/a-share-of-the-time", test_share);
  g_test_add_func ("/elm/patience/at-once", test_at_once);
  g_test_add_func ("/elm/patience/nothing-to-excuse-costs-nothing", test_free);
  g_test_add_func ("/elm/patience/over", test_over);
  g_test_add_func ("/elm/patience/not-ready-for-ever", test_ready);
  return g_test_run ();
}

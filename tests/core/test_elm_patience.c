/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccelmmemory.h"
#include "mccelmpatience.h"

#define START (1000 * MCC_SECOND)
#define LENGTH (4 * MCC_SECOND)

/* Seconds excused of @seconds, a word each 100 ms of @names in turn. */
static double
excused (MccElmPatience *self, MccTime from, double seconds, guint32 names)
{
  MccTime end = from + mcc_time_from_seconds (seconds), sum = 0;
  guint32 n = 0;
  for (MccTime now = from; now < end; now += 100 * MCC_MSECOND)
    sum += mcc_elm_patience_take (self, 1 + n++ % names, 2, LENGTH, now) ? LENGTH : 0;
  return mcc_time_to_seconds (sum);
}

/* However many names there are, the share of the time is bounded, and does not pile up. */
static void
test_share (void)
{
  MccElmPatience patience;
  mcc_elm_patience_init (&patience, START);
  for (guint i = 0; i < 3; i++) {
    MccTime from = START + i * 10000 * MCC_SECOND;
    double sum = excused (&patience, from, 1000.0, 1000000);
    g_test_message ("%.0f s of 1000", sum);
    g_assert_cmpfloat (sum, <=, 1000.0 / MCC_ELM_PATIENCE_SHARE + 12.0);
    g_assert_cmpfloat (sum, >, 0.9 * 1000.0 / MCC_ELM_PATIENCE_SHARE);
  }
}

/* One name for itself: as often as it may try, when it keeps to the back-off. */
static void
test_one (void)
{
  MccElmPatience patience;
  MccTime now = START, wait = MCC_ELM_BACK_OFF_MIN;
  mcc_elm_patience_init (&patience, START);
  double sum = excused (&patience, START, 10000.0, 1);
  g_test_message ("%.0f s of 10000", sum);
  g_assert_cmpfloat (sum, <=, LENGTH / MCC_SECOND * (6.0 + 10000.0 / 256.0));
  /* One that backs off as it should is heard each time that the share allows it. */
  now += 20000 * MCC_SECOND;
  for (guint i = 0; i < 8; i++) {
    g_assert_true (mcc_elm_patience_take (&patience, 1, 2, LENGTH, now));
    now += mcc_time_max (wait, 8 * LENGTH);
    wait = mcc_time_min (2 * wait, MCC_ELM_BACK_OFF_MAX);
  }
  /* Another layer, another receiver are others. */
  now += 100 * MCC_SECOND;
  g_assert_true (mcc_elm_patience_take (&patience, 7, 2, LENGTH, now));
  now += LENGTH + MCC_ELM_PATIENCE_REST - 1;
  g_assert_false (mcc_elm_patience_take (&patience, 8, 2, LENGTH, now)); /* rest */
  g_assert_true (mcc_elm_patience_take (&patience, 8, 2, LENGTH, now + 1));
  now += LENGTH + MCC_ELM_PATIENCE_REST + 1;
  g_assert_true (mcc_elm_patience_take (&patience, 7, 3, LENGTH, now));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/patience/a-share-of-the-time", test_share);
  g_test_add_func ("/elm/patience/once-per-back-off", test_one);
  return g_test_run ();
}

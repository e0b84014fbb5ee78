/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccbucket.h"

#define START (42 * MCC_SECOND)

static void
test_burst (void)
{
  MccBucket bucket;
  unsigned taken = 0;

  mcc_bucket_init (&bucket, 10.0, 20.0, START);
  while (mcc_bucket_take (&bucket, START))
    taken++;
  g_assert_cmpuint (taken, ==, 20);
  g_assert_false (mcc_bucket_take (&bucket, START + 99 * MCC_MSECOND));
  g_assert_true (mcc_bucket_take (&bucket, START + 101 * MCC_MSECOND));
  g_assert_false (mcc_bucket_take (&bucket, START + 101 * MCC_MSECOND));
  /* An idle hour saves no more than the burst. */
  for (taken = 0; mcc_bucket_take (&bucket, START + 3600 * MCC_SECOND); taken++)
    ;
  g_assert_cmpuint (taken, ==, 20);
}

/* A flood of any spacing gets through at per_s, no more and no less. */
static void
test_flood (void)
{
  static const MccTime spacings[] = { 50, 997, 10 * MCC_USECOND, 3 * MCC_MSECOND };

  for (unsigned s = 0; s < G_N_ELEMENTS (spacings); s++) {
    MccBucket bucket;
    unsigned taken = 0;
    MccTime length = spacings[s] < 1000 ? MCC_SECOND / 10 : 10 * MCC_SECOND;

    mcc_bucket_init (&bucket, 100.0, 5.0, START);
    for (MccTime t = 0; t <= length; t += spacings[s])
      taken += mcc_bucket_take (&bucket, START + t);
    g_assert_cmpfloat_with_epsilon (taken, 5.0 + 100.0 * mcc_time_to_seconds (length), 2.0);
  }
}

static void
test_time_back (void)
{
  MccBucket bucket;

  mcc_bucket_init (&bucket, 1.0, 1.0, START);
  g_assert_true (mcc_bucket_take (&bucket, START));
  g_assert_false (mcc_bucket_take (&bucket, START - MCC_SECOND));
  g_assert_false (mcc_bucket_take (&bucket, START));
  g_assert_true (mcc_bucket_take (&bucket, START + 1001 * MCC_MSECOND));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bucket/burst", test_burst);
  g_test_add_func ("/bucket/flood-passes-at-the-rate", test_flood);
  g_test_add_func ("/bucket/time-back-adds-nothing", test_time_back);
  return g_test_run ();
}

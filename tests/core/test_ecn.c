/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccecn.h"

#define T0 (4711 * MCC_SECOND)
#define RTT (100 * MCC_MSECOND)

typedef struct {
  MccEcnJudge judge;
  MccTime now, gap;
} Fixture;

static void
init (Fixture *f, gboolean announced)
{
  *f = (Fixture){ .now = T0, .gap = 20 * MCC_MSECOND };
  mcc_ecn_init (&f->judge);
  if (announced)
    mcc_ecn_handle_announced (&f->judge, true);
}

/* How many of @packets count as marked. */
static guint
feed (Fixture *f, MccEcn ecn, guint packets)
{
  guint counted = 0;
  for (; packets > 0; packets--, f->now += f->gap)
    counted += mcc_ecn_handle_packet (&f->judge, ecn, RTT, f->now);
  return counted;
}

static void
marks_count (void)
{
  Fixture f;
  init (&f, TRUE);
  g_assert_cmpuint (feed (&f, MCC_ECN_ECT0, 100), ==, 0);
  g_assert_cmpuint (feed (&f, MCC_ECN_CE, 10), ==, 10);
  g_assert_cmpuint (feed (&f, MCC_ECN_NOT_ECT, 1), ==, 0);
  g_assert_cmpuint (f.judge.marked, ==, 10);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_NONE);
  feed (&f, MCC_ECN_ECT0, 1);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_GOOD);
}

/* Before an announcement a mark is one; after one without ECT it is a mistake. */
static void
marks_need_ect (void)
{
  Fixture f;
  init (&f, FALSE);
  g_assert_cmpuint (feed (&f, MCC_ECN_CE, 3), ==, 3);
  mcc_ecn_handle_announced (&f.judge, false);
  g_assert_cmpuint (feed (&f, MCC_ECN_CE, 3), ==, 0);
  g_assert_cmpuint (f.judge.marked, ==, 6);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_NONE);
  mcc_ecn_handle_announced (&f.judge, true);
  g_assert_cmpuint (feed (&f, MCC_ECN_CE, 3), ==, 3);
}

/* An overload may mark all packets, but not for longer than we take to answer; nor do a few packets
 * prove it. */
static void
all_marked_is_broken (void)
{
  static const struct {
    guint gap_ms, rtt_ms;
    guint packets; /* until it shows */
  } table[] = { { 1, 100, 3001 }, { 20, 100, 151 }, { 20, 1000, 501 }, { 500, 100, 50 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    MccEcnJudge judge;
    MccTime now = T0;
    guint n = 0;
    mcc_ecn_init (&judge);
    mcc_ecn_handle_announced (&judge, true);
    do {
      mcc_ecn_handle_packet (&judge, MCC_ECN_CE, table[row].rtt_ms * MCC_MSECOND, now);
      now += table[row].gap_ms * MCC_MSECOND;
      n++;
    } while (mcc_ecn_path (&judge) != MCC_ECN_PATH_BROKEN && n < 10000);
    g_assert_cmpuint (n, ==, table[row].packets);
  }
}

/* One in twenty unmarked is a queue that is congested, however long. */
static void
nearly_all_marked_is_not (void)
{
  Fixture f;
  init (&f, TRUE);
  for (guint i = 0; i < 100; i++) {
    g_assert_cmpuint (feed (&f, MCC_ECN_CE, 19), ==, 19);
    feed (&f, MCC_ECN_ECT0, 1);
  }
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_GOOD);
}

static void
mangled_is_broken (void)
{
  Fixture f;
  init (&f, TRUE);
  feed (&f, MCC_ECN_ECT0, 100);
  feed (&f, MCC_ECN_ECT1, 2);
  g_assert_cmpuint (feed (&f, MCC_ECN_CE, 1), ==, 1);
  feed (&f, MCC_ECN_ECT1, 1);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_BROKEN);
  g_assert_cmpuint (feed (&f, MCC_ECN_CE, 10), ==, 0);
}

/* Believed again after 30 s, if ECT(0) arrived as it was sent. */
static void
forgiven (void)
{
  Fixture f;
  init (&f, TRUE);
  feed (&f, MCC_ECN_CE, 200);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_BROKEN);
  feed (&f, MCC_ECN_NOT_ECT, 5000); /* proves nothing */
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_BROKEN);
  feed (&f, MCC_ECN_ECT0, MCC_ECN_RUN);
  g_assert_cmpuint (feed (&f, MCC_ECN_CE, 1), ==, 0);
  feed (&f, MCC_ECN_ECT0, 1);
  g_assert_cmpuint (feed (&f, MCC_ECN_CE, 1), ==, 1);
  feed (&f, MCC_ECN_CE, 200);
  feed (&f, MCC_ECN_ECT0, 1000); /* 20 s */
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_BROKEN);
  feed (&f, MCC_ECN_ECT0, 600);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_GOOD);
}

/* The announcement and the packets that it speaks of cross. */
static void
bleached (void)
{
  Fixture f;
  init (&f, FALSE);
  feed (&f, MCC_ECN_NOT_ECT, 1000);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_NONE);
  mcc_ecn_handle_announced (&f.judge, true);
  feed (&f, MCC_ECN_NOT_ECT, 10);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_NONE);
  feed (&f, MCC_ECN_NOT_ECT, 10);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_BLEACHES);
  mcc_ecn_handle_silence (&f.judge, f.now); /* packets do come: a pause of the sender */
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_BLEACHES);
  feed (&f, MCC_ECN_ECT0, 1);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_GOOD);
}

/* What is announced as ECT never comes; where it came once, its sender pauses. */
static void
dropped (void)
{
  for (guint came = 0; came < 2; came++) {
    Fixture f;
    init (&f, FALSE);
    feed (&f, MCC_ECN_NOT_ECT, 100);
    mcc_ecn_handle_silence (&f.judge, f.now);
    g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_NONE);
    mcc_ecn_handle_announced (&f.judge, true);
    feed (&f, MCC_ECN_ECT0, came);
    mcc_ecn_handle_silence (&f.judge, f.now);
    g_assert_true ((mcc_ecn_path (&f.judge) == MCC_ECN_PATH_BROKEN) == (came == 0));
  }
}

/* Behind the silence the numbers tell whether ECT was sent in it. */
static void
back_from_silence (void)
{
  static const struct {
    MccEcn ecn; /* of what comes first, after ECT was given up */
    gboolean follows, broken;
  } table[] = { { MCC_ECN_NOT_ECT, TRUE, FALSE }, { MCC_ECN_NOT_ECT, FALSE, TRUE },
    { MCC_ECN_ECT0, FALSE, FALSE }, { MCC_ECN_CE, FALSE, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    init (&f, FALSE);
    feed (&f, MCC_ECN_NOT_ECT, 100);
    mcc_ecn_handle_announced (&f.judge, true);
    f.now += 3 * MCC_SECOND;
    mcc_ecn_handle_silence (&f.judge, f.now);
    g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_BROKEN);
    mcc_ecn_handle_announced (&f.judge, false);
    mcc_ecn_handle_return (&f.judge, table[row].ecn, table[row].follows);
    feed (&f, table[row].ecn, 1);
    for (guint i = 0; i < MCC_ECN_RETRY / f.gap; i++) { /* what comes later proves nothing */
      mcc_ecn_handle_return (&f.judge, MCC_ECN_NOT_ECT, TRUE);
      feed (&f, MCC_ECN_NOT_ECT, 1);
    }
    g_assert_true ((mcc_ecn_path (&f.judge) == MCC_ECN_PATH_BROKEN) == table[row].broken);
  }
}

/* ... and nothing of marks that were wrong. */
static void
return_heals_no_marks (void)
{
  Fixture f;
  init (&f, TRUE);
  feed (&f, MCC_ECN_CE, 200);
  mcc_ecn_handle_silence (&f.judge, f.now);
  mcc_ecn_handle_return (&f.judge, MCC_ECN_ECT0, TRUE);
  g_assert_cmpint (mcc_ecn_path (&f.judge), ==, MCC_ECN_PATH_BROKEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ecn/marks-count", marks_count);
  g_test_add_func ("/ecn/marks-need-ect", marks_need_ect);
  g_test_add_func ("/ecn/all-marked-is-broken", all_marked_is_broken);
  g_test_add_func ("/ecn/nearly-all-marked-is-not", nearly_all_marked_is_not);
  g_test_add_func ("/ecn/mangled-is-broken", mangled_is_broken);
  g_test_add_func ("/ecn/forgiven-when-ect-arrives", forgiven);
  g_test_add_func ("/ecn/bleached", bleached);
  g_test_add_func ("/ecn/dropped", dropped);
  g_test_add_func ("/ecn/back-from-silence", back_from_silence);
  g_test_add_func ("/ecn/back-with-wrong-marks", return_heals_no_marks);
  return g_test_run ();
}

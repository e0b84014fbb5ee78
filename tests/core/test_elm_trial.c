/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Trials of layers.
 */
#include <glib.h>

#include "mccelmtrial.h"

#define START (1000 * MCC_SECOND)
#define PACKETS_S 250.0 /* 2 Mb/s of 1000 bytes */

typedef struct {
  MccElmTrial trial;
  MccElmTrialInput input;
  double received, lost;
} Path;

static void
path_init (Path *path)
{
  memset (path, 0, sizeof *path);
  mcc_elm_trial_init (&path->trial);
  path->input = (MccElmTrialInput){
    .now = START, .rtt = 50 * MCC_MSECOND, .packet_bytes = 1000.0, .sent_bps = 2e6
  };
}

/* @seconds of loss @fraction and a queue that rises by @queue_s a second: until a verdict. */
static MccElmVerdict
run (Path *path, double seconds, double fraction, double queue_s, double *after)
{
  MccTime begin = path->input.now;
  MccElmVerdict verdict = MCC_ELM_BEARS;
  while (verdict == MCC_ELM_BEARS && mcc_time_to_seconds (path->input.now - begin) < seconds) {
    bool ended;
    path->input.now += 100 * MCC_MSECOND;
    path->lost += 0.1 * PACKETS_S * fraction;
    path->received += 0.1 * PACKETS_S * (1.0 - fraction);
    path->input.lost = (guint64)path->lost;
    path->input.received = (guint64)path->received;
    path->input.queue_least += mcc_time_from_seconds (0.1 * queue_s);
    path->input.queue_top = MAX (path->input.queue_top, path->input.queue_least);
    verdict = mcc_elm_trial_look (&path->trial, &path->input, &ended);
  }
  *after = mcc_time_to_seconds (path->input.now - begin);
  return verdict;
}

static void
test_losses (void)
{
  static const struct {
    double before, during;
    MccElmVerdict verdict;
  } cases[] = {
    { 0.0, 0.5, MCC_ELM_TOO_MUCH },
    { 0.0, 0.1, MCC_ELM_TOO_MUCH },
    { 0.0, 0.02, MCC_ELM_BEARS },
    { 0.05, 0.05, MCC_ELM_BEARS }, /* no more than before */
    { 0.05, 0.4, MCC_ELM_TOO_MUCH },
    { 0.001, 0.4, MCC_ELM_TOO_MUCH },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Path path;
    double after;
    path_init (&path);
    run (&path, 20.0, cases[i].before, 0.0, &after);
    path.input.alone = !(cases[i].before > 0.0);
    mcc_elm_trial_begin (&path.trial, path.input.now);
    g_assert_true (mcc_elm_trial_active (&path.trial, path.input.now));
    MccElmVerdict verdict = run (&path, 2.9, cases[i].during, 0.0, &after);
    g_test_message ("case %u: %d after %.1f s", i, verdict, after);
    g_assert_cmpint (verdict, ==, cases[i].verdict);
    if (verdict == MCC_ELM_TOO_MUCH)
      g_assert_cmpfloat (after, <=, path.input.alone ? 0.6 : 1.0); /* that is what it costs */
  }
}

/* One overflow of TCP's, a window long, in a trial: only alone it counts. */
static void
test_overflow (void)
{
  for (unsigned alone = 0; alone < 2; alone++) {
    Path path;
    double after;
    path_init (&path);
    path.input.alone = alone;
    mcc_elm_trial_begin (&path.trial, START);
    run (&path, 0.7, 0.0, 0.0, &after);
    MccElmVerdict verdict = run (&path, 0.3, 0.2, 0.0, &after);
    if (verdict == MCC_ELM_BEARS)
      verdict = run (&path, 1.5, 0.0, 0.0, &after);
    g_assert_cmpint (verdict, ==, alone ? MCC_ELM_TOO_MUCH : MCC_ELM_BEARS);
  }
}

static void
test_queue (void)
{
  Path path;
  double after;
  path_init (&path);
  path.input.alone = true;
  mcc_elm_trial_begin (&path.trial, START);
  g_assert_cmpint (run (&path, 2.9, 0.0, 0.2, &after), ==, MCC_ELM_TOO_MUCH);
  g_assert_cmpfloat (after, <=, 2.0);
  path_init (&path);
  mcc_elm_trial_begin (&path.trial, START);
  g_assert_cmpint (run (&path, 2.9, 0.0, 0.01, &after), ==, MCC_ELM_BEARS);
  /* Where others make losses the queue is theirs, too. */
  path_init (&path);
  run (&path, 5.0, 0.01, 0.0, &after);
  mcc_elm_trial_begin (&path.trial, path.input.now);
  g_assert_cmpint (run (&path, 2.9, 0.01, 0.2, &after), ==, MCC_ELM_BEARS);
}

/* Much more than the path carries, without a trial: left within 2 s. */
static void
test_overload (void)
{
  Path path;
  double after;
  path_init (&path);
  g_assert_cmpint (run (&path, 10.0, 0.01, 0.0, &after), ==, MCC_ELM_BEARS);
  g_assert_cmpint (run (&path, 10.0, 0.4, 0.0, &after), ==, MCC_ELM_OVERLOAD);
  g_assert_cmpfloat (after, <=, 2.0);
  /* Nor does it become usual where nothing was seen before it. */
  path_init (&path);
  g_assert_cmpint (run (&path, 10.0, 0.4, 0.0, &after), ==, MCC_ELM_OVERLOAD);
  g_assert_cmpfloat (after, <=, 2.0);
  /* Losses far below the queue's top are not an overload. */
  path_init (&path);
  path.input.queue_top = 500 * MCC_MSECOND;
  g_assert_cmpint (run (&path, 10.0, 0.4, 0.0, &after), ==, MCC_ELM_BEARS);
  /* A pause forgets half of one. */
  path_init (&path);
  run (&path, 0.5, 0.4, 0.0, &after);
  mcc_elm_trial_pause (&path.trial);
  g_assert_cmpuint (path.trial.heavy, ==, 0);
}

/* While another one tries, ours is not judged; it is when that is over, for as long as is left. */
static void
test_shift (void)
{
  Path path;
  double after;
  path_init (&path);
  mcc_elm_trial_begin (&path.trial, START);
  g_assert_cmpint (run (&path, 1.0, 0.0, 0.0, &after), ==, MCC_ELM_BEARS);
  for (guint i = 0; i < 40; i++) {
    path.input.now += 100 * MCC_MSECOND;
    path.lost += 5.0;
    path.input.lost = (guint64)path.lost;
    mcc_elm_trial_shift (&path.trial, 100 * MCC_MSECOND, path.input.now);
    g_assert_true (mcc_elm_trial_active (&path.trial, path.input.now));
  }
  g_assert_cmpint (run (&path, 1.9, 0.0, 0.0, &after), ==, MCC_ELM_BEARS);
  g_assert_true (mcc_elm_trial_active (&path.trial, path.input.now));
  g_assert_cmpint (run (&path, 0.2, 0.0, 0.0, &after), ==, MCC_ELM_BEARS);
  g_assert_false (mcc_elm_trial_active (&path.trial, path.input.now));
  /* There is none to go on with. */
  path.input.now += MCC_SECOND;
  mcc_elm_trial_shift (&path.trial, 100 * MCC_MSECOND, path.input.now);
  g_assert_false (mcc_elm_trial_active (&path.trial, path.input.now));
  mcc_elm_trial_begin (&path.trial, path.input.now);
  mcc_elm_trial_shift (&path.trial, 100 * MCC_MSECOND, path.input.now + 100 * MCC_MSECOND);
  g_assert_cmpint (run (&path, 2.9, 0.3, 0.0, &after), ==, MCC_ELM_TOO_MUCH);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/trial/losses", test_losses);
  g_test_add_func ("/elm/trial/overflow-of-others", test_overflow);
  g_test_add_func ("/elm/trial/queue", test_queue);
  g_test_add_func ("/elm/trial/overload", test_overload);
  g_test_add_func ("/elm/trial/another-meanwhile", test_shift);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who fills the queue, where an announcement is old: what the packets' own times say. A decision
 * each 100 ms, so 0.6 s of evidence (which fades) are 7 of them.
 */
#include "ratefixture.h"

#define EVIDENCE 7

/* More arrives than was announced and asked for: a queue of ours that drains. At a start the
 * announcement may be old, and the packets' times tell whether it does, as long as any come. Where
 * less comes than was sent the link is too slow. */
static void
old_announcement (void)
{
  static const struct {
    const char *name;
    guint sent_ms, came_ms; /* between two decisions */
    guint since_s;          /* the beginning, at most, when the queue comes */
    gboolean last;          /* ... after which nothing comes */
    gboolean others;
    guint pause_ms; /* in what was sent, before the queue comes */
  } table[] = {
    { "no times", 0, 0, 0, FALSE, FALSE, 0 },
    { "as much comes as was sent", 100, 100, 0, FALSE, TRUE, 0 },
    { "nearly", 100, 90, 0, FALSE, TRUE, 0 },
    { "more", 120, 100, 0, FALSE, FALSE, 0 },
    { "a little less", 100, 110, 0, FALSE, TRUE, 0 },
    { "less", 100, 120, 0, FALSE, FALSE, 0 },
    { "nothing any more", 100, 100, 0, TRUE, FALSE, 0 },
    { "late", 100, 100, 10, FALSE, FALSE, 0 },
    { "after a pause", 100, 100, 0, FALSE, TRUE, 1100 },
    { "after a little one", 100, 100, 0, FALSE, FALSE, 900 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    rate_init (&f);
    rate_steps (&f, 4);
    for (guint i = 1; i <= 2; i++) {
      rate_queue (&f, i * 15);
      rate_step (&f);
    }
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    f.input.max_bps = MBPS;
    rate_queue (&f, 0);
    rate_lost_lately (&f);
    f.proven_bps = 2 * MBPS;
    f.input.sent_span = table[row].sent_ms * MCC_MSECOND;
    f.input.came_span = table[row].came_ms * MCC_MSECOND;
    f.input.sent_bytes = MBPS / 80;
    rate_queue (&f, 0);
    rate_steps (&f, 20 + 10 * table[row].since_s);
    g_assert_cmpuint (rate_bps (&f), ==, MBPS);
    if (table[row].pause_ms > 0) {
      f.input.sent_span = table[row].pause_ms * MCC_MSECOND;
      rate_step (&f);
      f.input.sent_span = table[row].sent_ms * MCC_MSECOND;
    }
    rate_queue (&f, 80);
    if (table[row].last)
      f.input.sent_span = f.input.came_span = f.input.sent_bytes = 0;
    guint steps = 0;
    for (; steps < 10 && rate_mode (&f) != MCC_RATE_TCP; steps++) {
      f.input.announced_bps = 800000;
      rate_step (&f);
    }
    g_test_message ("%s: %u", table[row].name, steps);
    g_assert_cmpuint (steps, ==, table[row].others ? EVIDENCE : 10);
    rate_clear (&f);
  }
}

/* ... at any time: then the evidence of before is of another link. */
static void
slower_link (void)
{
  guint steps[2];
  for (guint slower = 0; slower < 2; slower++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.proven_bps = 2 * MBPS;
    rate_send (&f, MBPS);
    rate_queue (&f, 80);
    for (guint i = 0; i < RATE_LAG + 2; i++) { /* evidence, until that announcement shows */
      f.input.announced_bps = 800000;
      if (i == RATE_LAG + 1 && slower)
        f.input.came_span = 4 * RATE_STEP;
      rate_step (&f);
    }
    f.input.came_span = RATE_STEP;
    steps[slower] = rate_steps_to_tcp (&f, 30);
    rate_clear (&f);
  }
  g_test_message ("%u, slower %u", steps[0], steps[1]);
  g_assert_cmpuint (steps[0], >, 0);
  g_assert_cmpuint (steps[1], ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-times/old-announcement", old_announcement);
  g_test_add_func ("/rate-times/slower-link", slower_link);
  return g_test_run ();
}

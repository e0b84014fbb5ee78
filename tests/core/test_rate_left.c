/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who competes, falls, and sees that nobody takes what is left: a full queue of many round trips
 * becomes empty, and stays so. A decision each 100 ms.
 */
#include "ratefixture.h"

#define PATIENCE 20 /* 2 s */
#define LONG 100    /* three mean loss intervals are more */

/* Others fill the queue, which is @queue_ms long when packets are lost. */
static void
compete (RateFixture *f, guint queue_ms)
{
  f->proven_bps = 4 * MBPS;
  rate_receive (f, MBPS);
  rate_queue (f, 80);
  f->input.loss_ratio = 0.001;
  rate_lose (f, 0.001);
  if (rate_mode (f) != MCC_RATE_TCP)
    g_assert_cmpuint (rate_steps_to_tcp (f, 20), >, 0);
  rate_queue (f, queue_ms);
  rate_lose (f, 0.001);
}

/* From now on there is no queue. Decisions until it is alone; 0: not within LONG. */
static guint
steps_until_alone (RateFixture *f, guint64 received_bps)
{
  rate_receive (f, received_bps);
  rate_queue (f, 0);
  for (guint i = 1; i <= LONG; i++) {
    rate_step (f);
    if (rate_mode (f) == MCC_RATE_DELAY)
      return i;
  }
  return 0;
}

static void
nobody (void)
{
  static const struct {
    const char *name;
    guint rtt_ms, queue_ms;
    double overflow_share;
    guint64 received_bps;
    gboolean left;
  } table[] = {
    { "a full queue is empty, and we have fallen", 40, 300, 1.0, MBPS / 2, TRUE },
    { "we have not fallen", 40, 300, 1.0, MBPS * 8 / 10, FALSE },
    { "the queue is short, TCP leaves it empty", 80, 100, 1.0, MBPS / 2, FALSE },
    { "lost by chance", 40, 300, 0.2, MBPS / 2, FALSE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    g_test_message ("%s", table[row].name);
    rate_alone (&f, FALSE);
    f.input.overflow_share = table[row].overflow_share;
    f.input.rtt = table[row].rtt_ms * MCC_MSECOND;
    compete (&f, table[row].queue_ms);
    guint steps = steps_until_alone (&f, table[row].received_bps);
    g_assert_cmpuint (steps, ==, table[row].left ? PATIENCE + 1 : 0);
    rate_clear (&f);
  }
}

/* Others like us hold the queue at its target then: no reason to compete again. */
static void
fellows (void)
{
  RateFixture f;
  rate_alone (&f, FALSE);
  f.input.overflow_share = 1.0;
  compete (&f, 300);
  g_assert_cmpuint (steps_until_alone (&f, MBPS / 2), >, 0);
  f.input.max_bps = MBPS / 2;
  rate_follow (&f, 10);
  rate_queue (&f, 26);
  for (guint i = 0; i < LONG; i++) {
    rate_follow (&f, 1);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
  }
  rate_clear (&f);
}

/* Competing again soon: it was a mistake, and the next time twice as much of it is wanted. Not when
 * that is long ago. */
static void
mistakes (void)
{
  RateFixture f;
  rate_alone (&f, FALSE);
  f.input.overflow_share = 1.0;
  for (guint times = 1; times <= 4; times *= 2) {
    compete (&f, 300);
    g_assert_cmpuint (steps_until_alone (&f, MBPS / 2), ==, times * PATIENCE + 1);
  }
  rate_steps (&f, 310);
  compete (&f, 300);
  g_assert_cmpuint (steps_until_alone (&f, MBPS / 2), ==, PATIENCE + 1);
  rate_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-left/nobody", nobody);
  g_test_add_func ("/rate-left/fellows", fellows);
  g_test_add_func ("/rate-left/mistakes", mistakes);
  return g_test_run ();
}

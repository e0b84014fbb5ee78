/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Paced packets through a queue that drops where it is full, early, or at random: which it was.
 */
#include <glib.h>

#include "mccoverflow.h"
#include "mccrng.h"

#define START (4711 * MCC_SECOND)
#define PERIOD (10 * MCC_MSECOND) /* of a packet */
#define FULL (80 * MCC_MSECOND)
#define CYCLE (3 * MCC_SECOND) /* of the queue, from half of FULL to FULL */

typedef enum { WHERE_FULL, EARLY, AT_RANDOM } Kind;

typedef struct {
  MccOverflow overflow;
  MccRng rng;
  MccTime now, full;
  guint events;
} Link;

static void
link_init (Link *link, MccTime full)
{
  link->now = START;
  link->full = full;
  link->events = 0;
  mcc_rng_init (&link->rng, 7);
  mcc_overflow_init (&link->overflow, START);
}

/* What the queue drops of a packet that meets @queue. Near its top where it is full; RED and the
 * like from half on. */
static double
drop_chance (const Link *link, Kind kind, MccTime queue)
{
  double level = (double)queue / (double)MAX (link->full, 1);
  switch (kind) {
    case WHERE_FULL:
      return level > 0.97 ? 0.3 : 0.0;
    case EARLY:
      return level > 0.5 ? 0.02 : 0.0;
    default:
      return 0.01;
  }
}

/* A sawtooth as TCP makes them; a loss is found three packets later. */
static void
run (Link *link, Kind kind, double seconds)
{
  MccTime end = link->now + mcc_time_from_seconds (seconds);
  guint found = 0;
  for (gboolean gap = FALSE; link->now < end; link->now += PERIOD) {
    double phase = (double)((link->now - START) % CYCLE) / (double)CYCLE;
    MccTime queue = (MccTime)((0.5 + 0.5 * phase) * (double)link->full);
    if (mcc_rng_uniform (&link->rng) < drop_chance (link, kind, queue)) {
      gap = TRUE;
      continue;
    }
    mcc_overflow_handle_packet (&link->overflow, queue, gap, link->now);
    found = gap && found == 0 ? 3 : found;
    gap = FALSE;
    if (found > 0 && --found == 0) {
      mcc_overflow_handle_event (&link->overflow);
      link->events++;
    }
  }
}

/* Most queues are drop-tail. */
static void
test_nothing_known (void)
{
  Link link;
  link_init (&link, FULL);
  g_assert_cmpfloat (mcc_overflow_share (&link.overflow), ==, 1.0);
  run (&link, AT_RANDOM, 0.02);
  g_assert_cmpfloat (mcc_overflow_share (&link.overflow), ==, 1.0);
}

static void
test_kinds (void)
{
  static const struct {
    Kind kind;
    MccTime full;
    double least, most;
  } table[] = {
    { WHERE_FULL, FULL, 1.0, 1.0 },
    { WHERE_FULL, 10 * FULL, 1.0, 1.0 },
    { EARLY, FULL, 0.3, 0.9 },
    { AT_RANDOM, FULL, 0.3, 0.9 },
    { AT_RANDOM, 1 * MCC_MSECOND, 0.0, 0.0 }, /* jitter, no queue */
    { AT_RANDOM, 0, 0.0, 0.0 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Link link;
    double sum = 0.0;
    link_init (&link, table[row].full);
    run (&link, table[row].kind, 60.0);
    g_assert_cmpuint (link.events, >, MCC_OVERFLOW_EVENTS);
    for (guint i = 0; i < 20; i++) {
      run (&link, table[row].kind, 6.0);
      sum += mcc_overflow_share (&link.overflow) / 20;
    }
    g_assert_cmpfloat (sum, >=, table[row].least - 1e-9);
    g_assert_cmpfloat (sum, <=, table[row].most + 1e-9);
  }
}

/* A path that moves to another kind of queue is known for it after about twice the events. */
static void
test_change (void)
{
  Link link;
  link_init (&link, FULL);
  run (&link, WHERE_FULL, 120.0);
  g_assert_cmpfloat (mcc_overflow_share (&link.overflow), ==, 1.0);
  link.full = MCC_MSECOND;          /* the queue has gone */
  run (&link, AT_RANDOM, 2 * 15.0); /* what is remembered of it, too */
  for (link.events = 0; link.events < 3 * MCC_OVERFLOW_EVENTS;)
    run (&link, AT_RANDOM, 1.0);
  g_assert_cmpfloat (mcc_overflow_share (&link.overflow), ==, 0.0);
}

/* A buffer that shrank is full at less: after two spans that is what counts. */
static void
test_shorter_buffer (void)
{
  Link link;
  link_init (&link, 10 * FULL);
  run (&link, WHERE_FULL, 60.0);
  link.full = FULL;
  run (&link, WHERE_FULL, 30.0);
  run (&link, WHERE_FULL, 120.0);
  g_assert_cmpfloat (mcc_overflow_share (&link.overflow), ==, 1.0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/overflow/nothing-known", test_nothing_known);
  g_test_add_func ("/overflow/kinds", test_kinds);
  g_test_add_func ("/overflow/change", test_change);
  g_test_add_func ("/overflow/shorter-buffer", test_shorter_buffer);
  return g_test_run ();
}

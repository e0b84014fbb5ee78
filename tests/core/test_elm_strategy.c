/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The three strategies, the published slow start, and the memory of failed joins.
 */
#include <glib.h>
#include <math.h>

#include "mccelmmemory.h"
#include "mccelmslowstart.h"
#include "mccelmstrategy.h"

#define START (1000 * MCC_SECOND)

static const MccElmLayers layers = { .count = 4,
  .layer = { { .cumulative_bps = 100000 }, { .cumulative_bps = 200000 },
      { .cumulative_bps = 400000 }, { .cumulative_bps = 800000 } } };

/* Seconds of X until a step comes; the step in *step; -1: none in 100 s. */
static double
waits (const MccElmStrategy *strategy, double passive_zone, unsigned level, double x_bps, int *step)
{
  MccElmStrategyState state;
  MccElmTimers timers = mcc_elm_timers_default;
  timers.passive_zone = passive_zone;
  mcc_elm_strategy_init (&state, &timers);
  for (MccTime t = 0; t <= 100 * MCC_SECOND; t += 10 * MCC_MSECOND) {
    MccElmStrategyInput input = {
      .now = START + t, .x_bps = x_bps, .layers = &layers, .level = level, .may_join = level < 3
    };
    *step = strategy->decide (&state, &input);
    if (*step != 0)
      return mcc_time_to_seconds (t);
    g_assert_cmpuint (state.next, >, input.now); /* asked again in time */
  }
  return -1.0;
}

static void
test_table (void)
{
  static const struct {
    const char *strategy;
    unsigned level;
    double x_bps, zone;
    int step;
    double wait_s;
  } cases[] = {
    { "naive", 1, 400001.0, 0.0, 1, 0.0 },
    { "naive", 1, 199999.0, 0.0, -1, 0.0 },
    { "naive", 1, 300000.0, 0.0, 0, -1.0 },
    { "naive", 0, 1.0, 0.0, 0, -1.0 },      /* nobody leaves the base */
    { "naive", 3, INFINITY, 0.0, 0, -1.0 }, /* nor joins what is not there */
    { "skeptical", 1, 500000.0, 0.0, 1, 10.0 },
    { "skeptical", 1, 100000.0, 0.0, -1, 5.0 },
    { "skeptical", 1, 400000.0, 0.0, 0, -1.0 },
    { "lazy", 1, 500000.0, 0.0, 1, 12.5 }, /* delta = .5 */
    { "lazy", 1, 600000.0, 0.0, 1, 0.0 },  /* 1 */
    { "lazy", 1, INFINITY, 0.0, 1, 0.0 },
    { "lazy", 1, 400001.0, 0.0, 1, 25.0 },  /* 0 */
    { "lazy", 2, 350000.0, 0.0, -1, 12.5 }, /* delta = .25, its root .5 */
    { "lazy", 2, 200000.0, 0.0, -1, 0.0 },
    { "lazy", 2, 399999.0, 0.0, -1, 24.95 },
    { "lazy", 0, 1.0, 0.0, 0, -1.0 },
    { "lazy", 1, 419000.0, 0.1, 0, -1.0 }, /* within the passive zone */
    { "lazy", 1, 181000.0, 0.1, 0, -1.0 },
    { "lazy", 1, 500000.0, 0.1, 1, 12.5 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    int step;
    const MccElmStrategy *strategy = mcc_elm_strategy_find (cases[i].strategy);
    double wait_s = waits (strategy, cases[i].zone, cases[i].level, cases[i].x_bps, &step);
    g_test_message ("case %u: %d after %.2f s", i, step, wait_s);
    g_assert_cmpint (step, ==, cases[i].step);
    g_assert_cmpfloat_with_epsilon (wait_s, cases[i].wait_s, 0.03);
  }
  g_assert_null (mcc_elm_strategy_find ("bold"));
}

/* Where the levels' own rates are not what X is compared with. */
static void
test_thresholds (void)
{
  static const struct {
    const char *strategy;
    double x_bps;
    int step;
    double wait_s; /* enhanced */
  } cases[] = {
    { "naive", 290000.0, 1, 0.0 },
    { "naive", 135000.0, -1, 0.0 },
    { "naive", 190000.0, 0, -1.0 }, /* below B_1, above where it is left */
    { "naive", 270000.0, 0, -1.0 },
    { "skeptical", 290000.0, 1, 10.0 },
    { "skeptical", 135000.0, -1, 2.0 },
    { "lazy", 380000.0, 1, 12.5 }, /* delta = .5 */
    { "lazy", 480000.0, 1, 0.0 },
    { "lazy", 115000.0, -1, 4.0 }, /* delta = .25 */
    { "lazy", 200000.0, 0, -1.0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    MccElmStrategyState state;
    int step = 0;
    MccTime t = 0;
    mcc_elm_strategy_init (&state, mcc_elm_timers (MCC_VARIANT_ENHANCED));
    for (; t <= 100 * MCC_SECOND && step == 0; t += 10 * MCC_MSECOND) {
      MccElmStrategyInput input = { .now = START + t,
        .x_bps = cases[i].x_bps,
        .layers = &layers,
        .level = 1,
        .may_join = true,
        .join_bps = 280000.0,
        .leave_bps = 140000.0 };
      step = mcc_elm_strategy_find (cases[i].strategy)->decide (&state, &input);
    }
    g_test_message ("case %u: %d after %.2f s", i, step, mcc_time_to_seconds (t));
    g_assert_cmpint (step, ==, cases[i].step);
    if (step != 0)
      g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (t), cases[i].wait_s, 0.03);
  }
}

/* A condition that ends begins anew; while it holds, its delay moves with X. */
static void
test_timers (void)
{
  MccElmStrategyState state;
  mcc_elm_strategy_init (&state, &mcc_elm_timers_default);
  MccElmStrategyInput input
      = { .now = START, .x_bps = 420000.0, .layers = &layers, .level = 1, .may_join = true };
  g_assert_cmpint (mcc_elm_lazy.decide (&state, &input), ==, 0);
  input.now += 15 * MCC_SECOND;
  g_assert_cmpint (mcc_elm_lazy.decide (&state, &input), ==, 0);
  input.x_bps = 500000.0; /* 12.5 s, and it has been so for 15 */
  g_assert_cmpint (mcc_elm_lazy.decide (&state, &input), ==, 1);
  input.x_bps = 400000.0;
  g_assert_cmpint (mcc_elm_lazy.decide (&state, &input), ==, 0);
  input.x_bps = 500000.0;
  g_assert_cmpint (mcc_elm_lazy.decide (&state, &input), ==, 0);
  g_assert_cmpuint (state.next, ==, input.now + 12500 * MCC_MSECOND);
  mcc_elm_strategy_reset (&state);
  g_assert_cmpuint (state.next, ==, MCC_TIME_NONE);
}

/* D_i = I B_0 / B_i; a join each I; X < B_i after the deaf period ends it. */
static void
test_slow_start (void)
{
  MccElmSlowStart slow;
  mcc_elm_slow_start_init (&slow, MCC_VARIANT_PUBLISHED, 4 * MCC_SECOND);
  mcc_elm_slow_start_joined (&slow, &layers, 2, 50 * MCC_MSECOND, 0, START);
  g_assert_cmpuint (slow.deaf_until, ==, START + MCC_SECOND);
  g_assert_cmpuint (mcc_elm_slow_start_next (&slow, START), ==, START + MCC_SECOND);
  mcc_elm_slow_start_look (&slow, &layers, 2, 1.0, 1, 1, START + MCC_SECOND - 1);
  g_assert_true (slow.active);
  g_assert_false (mcc_elm_slow_start_due (&slow, START + 4 * MCC_SECOND - 1));
  g_assert_true (mcc_elm_slow_start_due (&slow, START + 4 * MCC_SECOND));
  mcc_elm_slow_start_look (&slow, &layers, 2, 400000.0, 1, 1, START + 5 * MCC_SECOND);
  g_assert_true (slow.active);
  mcc_elm_slow_start_look (&slow, &layers, 2, 399999.0, 1, 1, START + 5 * MCC_SECOND);
  g_assert_false (slow.active);
  g_assert_cmpuint (mcc_elm_slow_start_next (&slow, START), ==, MCC_TIME_NONE);
}

/* Where the thesis' deaf period is shorter than any measure, enhanced waits for one. */
static void
test_slow_start_enhanced (void)
{
  MccElmSlowStart slow;
  mcc_elm_slow_start_init (&slow, MCC_VARIANT_ENHANCED, 4 * MCC_SECOND);
  mcc_elm_slow_start_joined (&slow, &layers, 3, 2 * MCC_SECOND, 1000, START);
  g_assert_cmpuint (slow.deaf_until, ==, START + 2 * MCC_SECOND);
  MccTime later = START + 3 * MCC_SECOND;
  mcc_elm_slow_start_look (&slow, &layers, 3, 1.0, 100, 1063, later);
  g_assert_true (slow.active); /* too few packets */
  mcc_elm_slow_start_look (&slow, &layers, 3, 1.0, 3, 1064, later);
  g_assert_true (slow.active); /* too few events */
  mcc_elm_slow_start_look (&slow, &layers, 3, 1.0, 4, 1064, later);
  g_assert_false (slow.active);
}

static void
test_memory (void)
{
  MccElmMemory memory;
  MccTime now = START;
  mcc_elm_memory_init (&memory);
  g_assert_true (mcc_elm_memory_allows (&memory, 2, now));
  MccTime wait = MCC_ELM_BACK_OFF_MIN;
  for (unsigned i = 0; i < 8; i++) {
    mcc_elm_memory_joined (&memory, 2, now);
    now += MCC_SECOND;
    g_assert_true (mcc_elm_memory_left (&memory, 2, now));
    g_assert_false (mcc_elm_memory_allows (&memory, 2, now + wait - 1));
    g_assert_true (mcc_elm_memory_allows (&memory, 2, now + wait));
    g_assert_true (mcc_elm_memory_allows (&memory, 1, now));
    now += wait;
    wait = MIN (2 * wait, MCC_ELM_BACK_OFF_MAX);
  }
  g_assert_cmpuint (wait, ==, MCC_ELM_BACK_OFF_MAX);
  /* Kept for long: what ends it is news. */
  mcc_elm_memory_joined (&memory, 2, now);
  now += MCC_ELM_KEPT + MCC_ELM_BACK_OFF_MAX;
  g_assert_false (mcc_elm_memory_left (&memory, 2, now));
  g_assert_true (mcc_elm_memory_allows (&memory, 2, now + MCC_ELM_BACK_OFF_MIN));
}

/* Time that does not count puts off what is near, and begins nothing anew. */
static void
test_shift (void)
{
  MccElmStrategyState state;
  mcc_elm_strategy_init (&state, &mcc_elm_timers_default);
  mcc_elm_strategy_shift (&state, MCC_SECOND);
  g_assert_cmpuint (state.leave_since, ==, MCC_TIME_NONE);
  g_assert_cmpuint (state.join_since, ==, MCC_TIME_NONE);
  mcc_elm_strategy_note (&state, false, true, START);
  mcc_elm_strategy_shift (&state, 4 * MCC_SECOND);
  MccTime due = START + 9 * MCC_SECOND;
  g_assert_cmpint (mcc_elm_strategy_ripe (&state, 0, 5 * MCC_SECOND, due - 1), ==, 0);
  g_assert_cmpint (mcc_elm_strategy_ripe (&state, 0, 5 * MCC_SECOND, due), ==, -1);
  mcc_elm_strategy_note (&state, true, false, START);
  mcc_elm_strategy_shift (&state, 4 * MCC_SECOND);
  g_assert_cmpint (mcc_elm_strategy_ripe (&state, 5 * MCC_SECOND, 0, due), ==, 1);
}

static void
test_memory_of_others (void)
{
  MccElmMemory memory;
  mcc_elm_memory_init (&memory);
  /* The one that was there before has not failed. */
  mcc_elm_memory_joined (&memory, 1, START);
  mcc_elm_memory_joined (&memory, 2, START + MCC_SECOND);
  g_assert_true (mcc_elm_memory_left (&memory, 2, START + 2 * MCC_SECOND));
  g_assert_false (mcc_elm_memory_left (&memory, 1, START + 3 * MCC_SECOND));
  /* What others try in vain doubles ours too. */
  mcc_elm_memory_learn (&memory, 3, START);
  g_assert_cmpuint (memory.retry[3], ==, START + MCC_ELM_BACK_OFF_MIN);
  /* ... not twice in one wait. */
  g_assert_false (mcc_elm_memory_learn (&memory, 3, START + MCC_ELM_BACK_OFF_MIN - 1));
  g_assert_true (mcc_elm_memory_learn (&memory, 3, START + MCC_ELM_BACK_OFF_MIN));
  g_assert_cmpuint (memory.retry[3], ==, START + 3 * MCC_ELM_BACK_OFF_MIN);
}

/* Failures of others, as many as somebody may forge: one in a wait counts, as if each had been ours
 * at the first moment that we may try. */
static void
test_forged_failures (void)
{
  MccElmMemory memory;
  unsigned counted = 0;
  mcc_elm_memory_init (&memory);
  for (unsigned i = 0; i < 600; i++)
    counted += mcc_elm_memory_learn (&memory, 2, 1000 * MCC_SECOND + i * 100 * MCC_MSECOND);
  g_assert_cmpuint (counted, ==, 4); /* at 0, 8, 24 and 56 s */
  g_assert_true (mcc_elm_memory_allows (&memory, 2, 1120 * MCC_SECOND));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/strategy/when", test_table);
  g_test_add_func ("/elm/strategy/thresholds", test_thresholds);
  g_test_add_func ("/elm/strategy/timers", test_timers);
  g_test_add_func ("/elm/strategy/time-that-does-not-count", test_shift);
  g_test_add_func ("/elm/slow-start/published", test_slow_start);
  g_test_add_func ("/elm/slow-start/enhanced", test_slow_start_enhanced);
  g_test_add_func ("/elm/memory/back-off-doubles", test_memory);
  g_test_add_func ("/elm/memory/others", test_memory_of_others);
  g_test_add_func ("/elm/memory/forged-failures", test_forged_failures);
  return g_test_run ();
}

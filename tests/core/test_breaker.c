/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccbreaker.h"

#include <glib.h>
#include <math.h>

#define EPOCH (987 * MCC_SECOND + 3)
#define PER_S 100 /* packets sent */

typedef struct {
  MccBreaker breaker;
  MccTime now;
  uint64_t received, lost;
} Path;

/* Seconds until it trips, 0: not within @seconds. Looks five times a second. */
static double
run (Path *self, double lost, double excess, uint64_t least_bps, unsigned seconds,
    MccBreakerVerdict *verdict)
{
  MccTime begin = self->now;
  for (unsigned i = 0; i < 5 * seconds; i++) {
    self->now += 200 * MCC_MSECOND;
    uint64_t dropped = (uint64_t)(lost * (PER_S / 5) + 0.5);
    self->lost += dropped;
    self->received += PER_S / 5 - dropped;
    MccBreakerInput input = { .now = self->now,
      .received = self->received,
      .lost = self->lost,
      .received_bps = 1000000,
      .allowed_bps = excess > 0.0 ? 1000000 / excess : INFINITY,
      .asked_bps = 1000000,
      .least_bps = least_bps };
    *verdict = mcc_breaker_look (&self->breaker, &input);
    if (*verdict != MCC_BREAKER_CLOSED)
      return mcc_time_to_seconds (self->now - begin);
  }
  return 0.0;
}

static void
init (Path *self)
{
  *self = (Path){ .now = EPOCH };
  mcc_breaker_init (&self->breaker);
}

static void
test_table (void)
{
  static const struct {
    const char *name;
    double lost, excess;
    uint64_t least_bps;
    MccBreakerVerdict verdict;
    double after;
  } table[] = {
    { "nothing lost", 0.0, 0.0, 1000000, MCC_BREAKER_CLOSED, 0 },
    { "nine times the equation", 0.1, 9.0, 1000000, MCC_BREAKER_CLOSED, 0 },
    { "eleven times the equation", 0.1, 11.0, 1000000, MCC_BREAKER_CONGESTION, 15 },
    { "not the lowest", 0.5, 100.0, 0, MCC_BREAKER_CLOSED, 0 },
    { "it could ask for less", 0.5, 100.0, 900000, MCC_BREAKER_CLOSED, 0 },
    { "a fifth lost", 0.2, 5.0, 1000000, MCC_BREAKER_CLOSED, 0 },
    { "a third lost", 0.35, 5.0, 1000000, MCC_BREAKER_UNUSABLE, 30 },
    { "all lost", 1.0, 5.0, 1000000, MCC_BREAKER_UNUSABLE, 30 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    Path path;
    MccBreakerVerdict verdict;
    init (&path);
    double after = run (&path, table[i].lost, table[i].excess, table[i].least_bps, 120, &verdict);
    g_test_message (
        "%s: %s after %.1f s", table[i].name, mcc_breaker_verdict_name (verdict), after);
    g_assert_cmpint (verdict, ==, table[i].verdict);
    g_assert_cmpfloat_with_epsilon (after, table[i].after, 5.3);
  }
}

/* One good window in between, and it begins anew. */
static void
test_in_a_row (void)
{
  Path path;
  MccBreakerVerdict verdict;
  init (&path);
  for (unsigned i = 0; i < 10; i++) {
    g_assert_cmpfloat (run (&path, 0.5, 50.0, 1000000, 9, &verdict), ==, 0.0);
    run (&path, 0.0, 0.0, 1000000, 11, &verdict);
  }
}

/* A host that was away, a source that begins anew: nothing is known of the time between. */
static void
test_absence (void)
{
  Path path;
  MccBreakerVerdict verdict;
  init (&path);
  for (unsigned i = 0; i < 5; i++) {
    g_assert_cmpfloat (run (&path, 0.5, 50.0, 1000000, 9, &verdict), ==, 0.0);
    path.now += 60 * MCC_SECOND;
  }
  run (&path, 0.5, 50.0, 1000000, 9, &verdict);
  path.received = path.lost = 0;
  g_assert_cmpfloat (run (&path, 0.5, 50.0, 1000000, 9, &verdict), ==, 0.0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/breaker/table", test_table);
  g_test_add_func ("/breaker/in-a-row", test_in_a_row);
  g_test_add_func ("/breaker/absence", test_absence);
  g_assert_cmpstr (mcc_breaker_verdict_name ((MccBreakerVerdict)77), ==, "unknown");
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccassplevel.h"

#define START (77 * MCC_SECOND + 5)
#define ROUND (5 * MCC_SECOND)

static const MccAsspStreams streams = { .count = 3,
  .stream = { { 300000, 2000000, 300000, 1, 0, 0, 1 }, { 2000000, 5000000, 3000000, 2, 2, 0, 2 },
      { 5000000, 10000000, 5000000, 3, 4, 0, 3 } } };

static MccAsspLevel
level_of (MccVariant variant)
{
  MccAsspLevel level;
  mcc_assp_level_init (&level, variant, &mcc_assp_factors_default);
  return level;
}

/* @bps for @length from *now on. */
static void
feed (MccAsspLevel *level, double bps, MccTime length, MccTime *now)
{
  for (MccTime t = 0; t <= length; t += 100 * MCC_MSECOND)
    mcc_assp_level_sample (level, (uint64_t)bps, UINT64_MAX, *now + t);
  *now += length;
}

/* Where a rate that was always the same puts a receiver of @stream. */
static unsigned
decide_at (MccVariant variant, double bps, unsigned stream)
{
  MccAsspLevel level = level_of (variant);
  MccTime now = START;
  feed (&level, bps, ROUND, &now);
  return mcc_assp_level_decide (&level, &streams, stream, now);
}

/* ASSP eq. 7, to the bit/s or so: beta 0.7 of 3 Mb/s is 2.1, lambda 1.2 of 2 Mb/s is 2.4. */
static void
test_rule (void)
{
  static const struct {
    double bps;
    unsigned stream, published, enhanced;
  } table[] = {
    { 2.39e6, 0, 0, 0 }, { 2.41e6, 0, 1, 1 }, { 5.99e6, 1, 1, 1 }, { 6.01e6, 1, 2, 2 },
    { 1.61e6, 1, 1, 1 }, { 1.59e6, 1, 0, 1 },                   /* enhanced goes down by watching */
    { 3.99e6, 2, 1, 2 }, { 4.01e6, 2, 2, 2 }, { 1.0, 0, 0, 0 }, /* no down from the lowest */
    { 90e6, 2, 2, 2 },                                          /* no up from the highest */
    { 90e6, 0, 1, 1 },                                          /* by one */
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    g_assert_cmpuint (
        decide_at (MCC_VARIANT_PUBLISHED, table[i].bps, table[i].stream), ==, table[i].published);
    g_assert_cmpuint (
        decide_at (MCC_VARIANT_ENHANCED, table[i].bps, table[i].stream), ==, table[i].enhanced);
  }
}

/* Both conditions of an up count: beta avg_tx rules where the stream is fast. */
static void
test_beta (void)
{
  MccAsspStreams fast = streams;
  fast.stream[1].average_bps = 4000000;
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    for (double bps = 2.79e6; bps < 2.82e6; bps += 0.02e6) {
      MccAsspLevel level = level_of (variant);
      MccTime now = START;
      feed (&level, bps, ROUND, &now);
      g_assert_cmpuint (mcc_assp_level_decide (&level, &fast, 0, now), ==, bps > 0.7 * 4e6 ? 1 : 0);
    }
  }
}

static void
test_factors (void)
{
  static const struct {
    MccAsspFactors factors;
    bool valid;
  } table[] = {
    { { 0.3, 0.7, 0.8, 1.2 }, true },
    { { 0.9, 1.0, 1.0, 2.0 }, true },
    { { 0.01, 0.7, 0.8, 1.0 }, true },
    { { 0.0, 0.7, 0.8, 1.2 }, false },
    { { 1.0, 0.7, 0.8, 1.2 }, false },
    { { 0.3, 0.69, 0.8, 1.2 }, false },
    { { 0.3, 1.01, 0.8, 1.2 }, false },
    { { 0.3, 0.7, 0.79, 1.2 }, false },
    { { 0.3, 0.7, 1.01, 1.2 }, false },
    { { 0.3, 0.7, 0.8, 0.99 }, false },
    { { 0.3, 0.7, 0.8, 2.01 }, false },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++)
    g_assert_cmpint (mcc_assp_factors_valid (&table[i].factors), ==, table[i].valid);
}

/* avg_rx = 0.7 avg_rx + 0.3 mean of the round (eq. 8). */
static void
test_average (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_PUBLISHED);
  MccTime now = START;
  double expected = 1e6;
  feed (&level, 1e6, ROUND, &now);
  mcc_assp_level_decide (&level, &streams, 0, now);
  g_assert_cmpfloat_with_epsilon (level.average_bps, expected, 1.0);
  for (unsigned i = 0; i < 5; i++) {
    feed (&level, 2e6, ROUND / 2, &now);
    feed (&level, 1.5e6, ROUND / 2, &now);
    mcc_assp_level_decide (&level, &streams, 0, now);
    expected = 0.7 * expected + 0.3 * 1.75e6;
    g_assert_cmpfloat_with_epsilon (level.average_bps, expected, 0.02e6);
  }
}

/* A rate that begins low is not remembered for long: the first second weighs as any other of its
 * age. */
static void
test_first_sample (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  mcc_assp_level_correct_bias (&level, true);
  feed (&level, 0.1e6, MCC_SECOND, &now);
  for (unsigned n = 2; n <= 8; n++) {
    feed (&level, 2e6, MCC_SECOND, &now);
    double first = 0.3 * pow (0.7, n - 1) / (1.0 - pow (0.7, n));
    g_assert_cmpfloat_with_epsilon (level.average_bps, 2e6 - first * 1.9e6, 0.06e6);
  }
}

/* The gap of a switch is neither a rate of zero nor a rate at all. */
static void
test_gap (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_PUBLISHED);
  MccTime now = START;
  feed (&level, 3e6, ROUND, &now);
  mcc_assp_level_decide (&level, &streams, 1, now);
  feed (&level, 1e5, 100 * MCC_MSECOND, &now);
  mcc_assp_level_pause (&level);
  now += 20 * MCC_SECOND;
  g_assert_cmpuint (mcc_assp_level_decide (&level, &streams, 1, now), ==, 1);
  feed (&level, 3e6, ROUND, &now);
  g_assert_cmpuint (mcc_assp_level_decide (&level, &streams, 1, now), ==, 1);
  g_assert_cmpfloat_with_epsilon (level.average_bps, 3e6, 1.0);
}

static void
test_rounds (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_PUBLISHED);
  g_assert_false (mcc_assp_level_new_round (&level, UINT32_MAX)); /* its begin was missed */
  g_assert_false (mcc_assp_level_new_round (&level, UINT32_MAX));
  g_assert_true (mcc_assp_level_new_round (&level, 0));
  g_assert_false (mcc_assp_level_new_round (&level, 0));
  g_assert_true (mcc_assp_level_new_round (&level, 7)); /* six were lost */
  g_assert_false (mcc_assp_level_new_round (&level, 7));
}

static unsigned
watch_path (
    MccAsspLevel *level, unsigned stream, const MccAsspPath *path, MccTime length, MccTime *now)
{
  unsigned to = stream;
  for (MccTime t = 0; t <= length && to == stream; t += 100 * MCC_MSECOND)
    to = mcc_assp_level_watch (level, &streams, stream, path, *now + t);
  *now += length;
  return to;
}

static unsigned
watch_for (MccAsspLevel *level, unsigned stream, double bps, MccTime length, MccTime *now)
{
  return watch_path (level, stream, &(MccAsspPath){ .rate_bps = (uint64_t)bps }, length, now);
}

/* enhanced: what a stream asks for too much is left at once, and for where the rate belongs. */
static void
test_trouble (void)
{
  static const struct {
    double bps;
    unsigned stream;
    MccTime time;
    unsigned to;
  } table[] = {
    { 4.9e6, 2, 2900 * MCC_MSECOND, 2 },
    { 4.9e6, 2, 3000 * MCC_MSECOND, 1 },
    { 3.9e6, 2, 900 * MCC_MSECOND, 2 },
    { 3.9e6, 2, 1000 * MCC_MSECOND, 1 },
    { 1.0e6, 2, 1000 * MCC_MSECOND, 0 },
    { 1.9e6, 1, 3000 * MCC_MSECOND, 0 }, /* 0.95 low: never left there */
    { 2.0e6, 1, 60 * MCC_SECOND, 1 },
    { 1.0, 0, 60 * MCC_SECOND, 0 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
    MccTime now = START;
    g_assert_cmpuint (
        watch_for (&level, table[i].stream, table[i].bps, table[i].time, &now), ==, table[i].to);
    level = level_of (MCC_VARIANT_PUBLISHED); /* waits for the round */
    g_assert_cmpuint (watch_for (&level, table[i].stream, table[i].bps, table[i].time, &now), ==,
        table[i].stream);
  }
}

/* While nearly all arrives a rival may yield; but a newcomer takes from those in the stream
 * meanwhile, and a link that has slumped fills its queue first. */
static void
test_arrives (void)
{
  static const struct {
    MccAsspPath path;
    MccTime stays;
  } table[] = {
    { { 4900000, false, false }, 2900 * MCC_MSECOND },
    { { 4900000, true, false }, 9900 * MCC_MSECOND },
    { { 3900000, true, false }, 9900 * MCC_MSECOND },
    { { 2900000, false, false }, 300 * MCC_MSECOND },
    { { 2900000, true, false }, 9900 * MCC_MSECOND },
    { { 2900000, false, true }, 100 * MCC_MSECOND },
    { { 2900000, true, true }, 100 * MCC_MSECOND },
    { { 4900000, true, true }, 2900 * MCC_MSECOND },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
    MccTime now = START;
    g_assert_cmpuint (watch_path (&level, 2, &table[i].path, table[i].stays, &now), ==, 2);
    g_assert_cmpuint (watch_path (&level, 2, &table[i].path, 100 * MCC_MSECOND, &now), <, 2);
  }
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  mcc_assp_level_moved (&level, &streams, 0, 1, now);
  double needed = mcc_assp_level_least_bps (&level, &streams, 1, now);
  g_assert_cmpfloat (needed, >, (double)streams.stream[1].low_bps);
  MccAsspPath path = { .rate_bps = (uint64_t)(0.99 * needed), .arrives = true };
  g_assert_cmpuint (watch_path (&level, 1, &path, 2900 * MCC_MSECOND, &now), ==, 1);
  g_assert_cmpuint (watch_path (&level, 1, &path, 100 * MCC_MSECOND, &now), ==, 0);
}

/* Once it does not, the time that it was too much counts whole. */
static void
test_arrives_no_more (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccAsspPath path = { .rate_bps = 3900000, .arrives = true };
  MccTime now = START;
  g_assert_cmpuint (watch_path (&level, 2, &path, 5 * MCC_SECOND, &now), ==, 2);
  path.arrives = false;
  g_assert_cmpuint (watch_path (&level, 2, &path, 100 * MCC_MSECOND, &now), ==, 1);
}

/* One good rate in between begins the time anew. */
static void
test_trouble_ends (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  for (unsigned i = 0; i < 10; i++) {
    g_assert_cmpuint (watch_for (&level, 1, 1.9e6, 2500 * MCC_MSECOND, &now), ==, 1);
    g_assert_cmpuint (watch_for (&level, 1, 2.1e6, 100 * MCC_MSECOND, &now), ==, 1);
  }
}

static double
next_up_s (MccAsspLevel *level, unsigned stream, MccTime *now)
{
  MccTime begin = *now;
  while (mcc_assp_level_decide (level, &streams, stream, *now) == stream
         && *now - begin < 5000 * MCC_SECOND)
    feed (level, 20e6, MCC_SECOND, now);
  return mcc_time_to_seconds (*now - begin);
}

/* Ups that fail are tried 120, 240, 480, 960, 960 ... s after one another; one that lasted clears
 * that. */
static void
test_backoff (void)
{
  static const double expected[] = { 120.0, 240.0, 480.0, 960.0, 960.0 };
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  next_up_s (&level, 0, &now);
  for (unsigned i = 0; i < G_N_ELEMENTS (expected); i++) {
    MccTime up = now;
    mcc_assp_level_moved (&level, &streams, 0, 1, now);
    now += 10 * MCC_SECOND;
    mcc_assp_level_moved (&level, &streams, 1, 0, now);
    next_up_s (&level, 0, &now);
    g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (now - up), expected[i], 2.0);
  }
  mcc_assp_level_moved (&level, &streams, 0, 1, now);
  now += 300 * MCC_SECOND;
  mcc_assp_level_moved (&level, &streams, 1, 0, now);
  g_assert_cmpfloat_with_epsilon (next_up_s (&level, 0, &now), 10.0, 2.0);
}

/* A stream that does not come counts as an up that failed. */
static void
test_failed (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  mcc_assp_level_failed (&level, &streams, 0, 1, now);
  g_assert_cmpfloat_with_epsilon (next_up_s (&level, 0, &now), 120.0, 2.0);
  mcc_assp_level_failed (&level, &streams, 0, 1, now);
  g_assert_cmpfloat_with_epsilon (next_up_s (&level, 0, &now), 240.0, 2.0);
}

/* Who came up takes beta of what the stream had, or goes again: by one, whatever its rate. */
static void
test_newcomer (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  mcc_assp_level_moved (&level, &streams, 0, 1, now);
  g_assert_true (mcc_assp_level_is_newcomer (&level, 1, now));
  g_assert_cmpuint (watch_for (&level, 1, 2.05e6, 3 * MCC_SECOND, &now), ==, 0);
  level = level_of (MCC_VARIANT_ENHANCED);
  mcc_assp_level_moved (&level, &streams, 1, 2, now);
  g_assert_cmpuint (watch_for (&level, 2, 0.5e6, 3 * MCC_SECOND, &now), ==, 1);
  level = level_of (MCC_VARIANT_ENHANCED);
  mcc_assp_level_moved (&level, &streams, 0, 1, now);
  now += MCC_ASSP_NEWCOMER_TIME;
  g_assert_false (mcc_assp_level_is_newcomer (&level, 1, now));
  g_assert_cmpuint (watch_for (&level, 1, 2.05e6, 60 * MCC_SECOND, &now), ==, 1);
}

/* Few in the next stream need not lose more than the newcomer wins: (n + cur / next) / (n + 1), at
 * most beta. */
static void
test_few (void)
{
  static const struct {
    uint32_t members;
    double needed; /* of 4.5 Mb/s; 0.3 Mb/s now */
  } table[] = { { 0, 0.7 }, { 1, (1.0 + 0.3 / 4.5) / 2.0 }, { 2, (2.0 + 0.3 / 4.5) / 3.0 },
    { 3, 0.7 }, { 50, 0.7 } };
  MccAsspStreams fast = streams;
  fast.stream[1].average_bps = 4500000;
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    for (int side = -1; side <= 1; side += 2) {
      MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
      MccTime now = START;
      mcc_assp_level_members (&level, 1, table[i].members);
      feed (&level, fmin (table[i].needed, 0.7) * 4.5e6 * (1.0 + 0.01 * side), ROUND, &now);
      g_assert_cmpuint (mcc_assp_level_decide (&level, &fast, 0, now), ==, side > 0 ? 1 : 0);
    }
  }
}

/* What failed is tried again soon where it has become easier. */
static void
test_easier (void)
{
  MccAsspStreams fast = streams;
  fast.stream[1].average_bps = 4500000;
  for (unsigned easier = 0; easier < 2; easier++) {
    MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
    MccTime now = START;
    mcc_assp_level_moved (&level, &fast, 0, 1, now);
    now += 5 * MCC_SECOND;
    mcc_assp_level_moved (&level, &fast, 1, 0, now);
    if (easier)
      fast.stream[1].average_bps = 2500000;
    feed (&level, 4e6, 10 * MCC_SECOND, &now);
    g_assert_cmpuint (mcc_assp_level_decide (&level, &fast, 0, now), ==, 0);
    feed (&level, 4e6, 10 * MCC_SECOND, &now);
    g_assert_cmpuint (mcc_assp_level_decide (&level, &fast, 0, now), ==, easier);
    /* That fails, too: now it is not easier than what failed last. */
    mcc_assp_level_failed (&level, &fast, 0, 1, now);
    feed (&level, 4e6, 100 * MCC_SECOND, &now);
    g_assert_cmpuint (mcc_assp_level_decide (&level, &fast, 0, now), ==, 0);
  }
}

/* A rate that swings says less than its mean. */
static void
test_spread (void)
{
  for (unsigned swings = 0; swings < 2; swings++) {
    MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
    MccTime now = START;
    for (unsigned i = 0; i < 30; i++)
      feed (&level, 2.6e6 + (swings ? (i % 2 ? 1.5e6 : -1.5e6) : 0.0), MCC_SECOND, &now);
    g_assert_cmpuint (mcc_assp_level_decide (&level, &streams, 0, now), ==, 1 - swings);
  }
}

/* What made us leave is over: of that stream and of those below, nothing is waited for. */
static void
test_forgiven (void)
{
  for (unsigned forgiven = 0; forgiven < 2; forgiven++) {
    MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
    MccTime now = START;
    mcc_assp_level_failed (&level, &streams, 1, 2, now);
    mcc_assp_level_moved (&level, &streams, 0, 1, now);
    mcc_assp_level_moved (&level, &streams, 1, 0, now);
    feed (&level, 9e6, 3 * ROUND, &now);
    g_assert_cmpuint (mcc_assp_level_decide (&level, &streams, 0, now), ==, 0);
    if (forgiven)
      mcc_assp_level_forgive (&level, &streams, 1, now);
    g_assert_cmpuint (mcc_assp_level_decide (&level, &streams, 0, now), ==, forgiven);
    g_assert_cmpuint (mcc_assp_level_decide (&level, &streams, 1, now), ==, 1);
  }
}

/* A fall far below is not waited with; nor is it made to a stream that is faster than the rate. */
static void
test_fall (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  g_assert_cmpuint (watch_for (&level, 2, 2.9e6, 300 * MCC_MSECOND, &now), ==, 2);
  g_assert_cmpuint (watch_for (&level, 2, 2.9e6, 400 * MCC_MSECOND, &now), ==, 1);
  MccAsspStreams fast = streams;
  fast.stream[1].average_bps = 4800000;
  level = level_of (MCC_VARIANT_ENHANCED);
  static const MccAsspPath path = { .rate_bps = 2500000 };
  mcc_assp_level_watch (&level, &fast, 2, &path, now);
  g_assert_cmpuint (mcc_assp_level_watch (&level, &fast, 2, &path, now + 500 * MCC_MSECOND), ==, 0);
}

/* Streams go by their bounds, not by their places. */
static void
test_places (void)
{
  MccAsspStreams turned
      = { .count = 3, .stream = { streams.stream[2], streams.stream[0], streams.stream[1] } };
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  feed (&level, 2.5e6, ROUND, &now);
  g_assert_cmpuint (mcc_assp_level_decide (&level, &turned, 1, now), ==, 2);
  turned.stream[2].flags = MCC_ASSP_CLOSED;
  g_assert_cmpuint (mcc_assp_level_decide (&level, &turned, 1, now), ==, 1);
  feed (&level, 7e6, 4 * ROUND, &now);
  g_assert_cmpuint (mcc_assp_level_decide (&level, &turned, 1, now), ==, 0);
}

/* Of a stream that has become another one nothing is known. */
static void
test_new_ladder (void)
{
  MccAsspStreams other = streams;
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  mcc_assp_level_failed (&level, &streams, 0, 1, now);
  other.stream[2].high_bps++;
  mcc_assp_level_ladder (&level, &streams, &other);
  g_assert_cmpuint (level.stream[1].failures, ==, 1);
  other.stream[1].low_bps = 2300000;
  mcc_assp_level_ladder (&level, &streams, &other);
  g_assert_cmpuint (level.stream[1].failures, ==, 0);
  /* An up that fails now asks for what it asks for, and is no easier than it was before. */
  mcc_assp_level_failed (&level, &streams, MCC_ASSP_STREAMS_MAX, 1, now);
  g_assert_cmpfloat_with_epsilon (next_up_s (&level, 0, &now), 120.0, 2.0);
}

/* Streams above that were left meanwhile say nothing of what this one asked for. */
static void
test_needs_of_its_own (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START;
  for (unsigned i = 0; i < 4; i++) {
    static const unsigned way[] = { 0, 1, 2, 1, 0 };
    mcc_assp_level_moved (&level, &streams, way[i], way[i + 1], now);
    now += 10 * MCC_SECOND;
  }
  g_assert_cmpfloat (next_up_s (&level, 0, &now), >, 60.0);
}

/* Whoever says that he failed, however often: there is time for a try of our own. */
static void
test_heard_failures (void)
{
  MccAsspLevel level = level_of (MCC_VARIANT_ENHANCED);
  MccTime now = START, begin = now;
  unsigned up = 0;
  while (up == 0 && now < begin + 300 * MCC_SECOND) {
    mcc_assp_level_heard_failure (&level, &streams, 0, 1, now);
    feed (&level, 4e6, ROUND, &now);
    up = mcc_assp_level_decide (&level, &streams, 0, now);
  }
  g_assert_cmpuint (up, ==, 1);
  g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (now - begin), 120.0, 6.0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-level/eq-7", test_rule);
  g_test_add_func ("/assp-level/eq-7-beta", test_beta);
  g_test_add_func ("/assp-level/factors-in-the-papers-ranges", test_factors);
  g_test_add_func ("/assp-level/eq-8", test_average);
  g_test_add_func ("/assp-level/first-sample", test_first_sample);
  g_test_add_func ("/assp-level/a-gap-is-no-rate", test_gap);
  g_test_add_func ("/assp-level/a-round-counts-once", test_rounds);
  g_test_add_func ("/assp-level/trouble-does-not-wait", test_trouble);
  g_test_add_func ("/assp-level/while-all-arrives", test_arrives);
  g_test_add_func ("/assp-level/and-then-does-not", test_arrives_no_more);
  g_test_add_func ("/assp-level/trouble-must-last", test_trouble_ends);
  g_test_add_func ("/assp-level/failed-ups-back-off", test_backoff);
  g_test_add_func ("/assp-level/no-stream-is-a-failed-up", test_failed);
  g_test_add_func ("/assp-level/newcomers-do-not-drag", test_newcomer);
  g_test_add_func ("/assp-level/few-lose-no-more-than-one-wins", test_few);
  g_test_add_func ("/assp-level/what-is-easier-is-tried-again", test_easier);
  g_test_add_func ("/assp-level/a-rate-that-swings", test_spread);
  g_test_add_func ("/assp-level/what-is-over-is-forgiven", test_forgiven);
  g_test_add_func ("/assp-level/falls", test_fall);
  g_test_add_func ("/assp-level/places-say-nothing", test_places);
  g_test_add_func ("/assp-level/a-new-ladder", test_new_ladder);
  g_test_add_func ("/assp-level/each-stream-has-needs-of-its-own", test_needs_of_its_own);
  g_test_add_func ("/assp-level/others-failures-leave-time-for-a-try", test_heard_failures);
  return g_test_run ();
}

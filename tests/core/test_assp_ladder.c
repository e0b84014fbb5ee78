/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccasspladder.h"
#include "mccassplevel.h"
#include "mccrng.h"

#define START (555 * MCC_SECOND + 3)
#define ROUND (5 * MCC_SECOND)
#define LOW 100000u
#define HIGH 20000000u
#define MANY 24

typedef struct {
  MccAsspLadder ladder;
  MccAsspStreams streams;
  MccTime now;
  unsigned count;
  uint64_t bps[MANY];
  unsigned stream[MANY];
  bool guess[MANY];
} Group;

static Group
group_of (unsigned max_streams)
{
  Group group = { .now = START };
  mcc_assp_ladder_init (&group.ladder, LOW, HIGH, max_streams, START);
  mcc_assp_ladder_even (&group.streams, max_streams, LOW, HIGH);
  for (unsigned j = 0; j < max_streams; j++) {
    group.streams.stream[j].address_offset = (uint16_t)(1 + j);
    group.streams.stream[j].average_bps = group.streams.stream[j].low_bps;
  }
  return group;
}

static void
add (Group *group, unsigned stream, uint64_t bps)
{
  g_assert_cmpuint (group->count, <, MANY);
  group->stream[group->count] = stream;
  group->bps[group->count++] = bps;
}

static bool
decide (Group *group)
{
  mcc_assp_ladder_clear (&group->ladder);
  for (unsigned i = 0; i < group->count; i++)
    mcc_assp_ladder_add (&group->ladder, group->stream[i], group->bps[i],
        group->guess[i] ? group->bps[i] / 2 : group->bps[i]);
  bool changed = mcc_assp_ladder_decide (&group->ladder, &group->streams, group->now);
  g_assert_true (mcc_assp_streams_valid (&group->streams));
  return changed;
}

/* Round by round; the seconds until the ladder changed, or more than @most_s. */
static double
changes_after (Group *group, double most_s)
{
  MccTime begin = group->now;
  while (mcc_time_to_seconds (group->now - begin) <= most_s) {
    group->now += ROUND;
    if (decide (group))
      break;
  }
  return mcc_time_to_seconds (group->now - begin);
}

static int
compare (const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The most that @runs runs of the sorted rates from @from on give. */
static double
best (const uint64_t *bps, unsigned from, unsigned n, unsigned runs)
{
  double most = (double)bps[from] * (n - from);
  for (unsigned end = from + 1; end < n && runs > 1; end++)
    if ((double)bps[end] >= MCC_ASSP_LADDER_STEP * (double)bps[from])
      most = fmax (most, (double)bps[from] * (end - from) + best (bps, end, n, runs - 1));
  return most;
}

/* Against all partitions there are, where the rates are far enough apart for the receivers' rules.
 */
static void
test_exact (void)
{
  MccRng rng;
  mcc_rng_init (&rng, 11);
  for (unsigned round = 0; round < 300; round++) {
    unsigned streams = 1 + round % 4;
    Group group = group_of (streams);
    for (unsigned i = 0; i < 9; i++) {
      double step = floor (8.0 * mcc_rng_uniform (&rng));
      add (&group, 0,
          (uint64_t)(150000.0 * pow (1.8, step) * (1.0 + 0.02 * mcc_rng_uniform (&rng))));
    }
    changes_after (&group, 200.0);
    double got = group.ladder.now_bps * group.count;
    if (group.ladder.plan_bps > group.ladder.now_bps)
      got = group.ladder.plan_bps * group.count;
    qsort (group.bps, group.count, sizeof group.bps[0], compare);
    double most = best (group.bps, 0, group.count, streams);
    g_assert_cmpfloat (got, <=, most * 1.0001);
    g_assert_cmpfloat (got, >=, most * (1.0 - 0.02 - MCC_ASSP_LADDER_GAIN));
  }
}

/* Three clusters in a ladder that has its bounds elsewhere: each gets a stream. */
static Group
clusters (void)
{
  Group group = group_of (3);
  for (unsigned i = 0; i < 4; i++) {
    add (&group, 0, 200000 + 1000 * i);
    add (&group, 0, 400000 + 1000 * i);
    add (&group, 1, 3000000 + 10000 * i);
  }
  return group;
}

static void
test_clusters (void)
{
  Group group = clusters ();
  g_assert_cmpfloat (changes_after (&group, 200.0), <=, 200.0);
  for (unsigned i = 0; i < group.count; i++) {
    const MccAsspStream *s
        = &group.streams.stream[mcc_assp_streams_place (&group.streams, (double)group.bps[i])];
    uint64_t least = i % 3 == 0 ? 200000 : i % 3 == 1 ? 400000 : 3000000;
    g_assert_cmpuint (s->low_bps, <=, least);
    g_assert_cmpuint (s->high_bps, >=, least);
  }
  g_assert_cmpuint (mcc_assp_streams_place (&group.streams, 203000.0), !=,
      mcc_assp_streams_place (&group.streams, 400000.0));
  g_assert_cmpuint (group.streams.stream[0].low_bps, ==, LOW);
}

/* What slow receivers gain is little of the mean, and much for them: where it costs nobody anything
 * their bound is moved. */
static void
test_slow_gain (void)
{
  Group group = group_of (3);
  static const uint64_t bound[] = { LOW, 475000, 2275000, HIGH };
  static const uint64_t bps[] = { 575000, 1950000, 5900000 };
  for (unsigned j = 0; j < 3; j++) {
    MccAsspStream *stream = &group.streams.stream[j];
    stream->low_bps = bound[j];
    stream->high_bps = bound[j + 1];
    stream->average_bps = bps[j] < stream->high_bps ? bps[j] : stream->high_bps;
    for (unsigned i = 0; i < 3; i++)
      add (&group, j, bps[j]);
  }
  g_assert_cmpfloat (changes_after (&group, 100.0), <=, 100.0);
  g_assert_cmpuint (group.streams.stream[0].high_bps, >=, bps[0]);
  for (unsigned i = 0; i < group.count; i++)
    g_assert_cmpuint (group.streams.stream[group.stream[i]].low_bps, <=, group.bps[i]);
  g_assert_cmpfloat (changes_after (&group, 300.0), >, 300.0);
}

/* Who is in a stream stays in it, where as many as possible do: its group and number do not change
 * because others come between. */
static void
test_stays (void)
{
  Group group = clusters ();
  changes_after (&group, 200.0);
  g_assert_cmpuint (mcc_assp_streams_place (&group.streams, 3000000.0), ==, 1);
  /* Of the two that were in one stream one has to go: into the one that was empty. */
  unsigned slow = mcc_assp_streams_place (&group.streams, 200000.0);
  unsigned fast = mcc_assp_streams_place (&group.streams, 400000.0);
  g_assert_true ((slow == 0 && fast == 2) || (slow == 2 && fast == 0));
}

static void
test_patience (void)
{
  Group great = group_of (2);
  for (unsigned i = 0; i < 8; i++)
    add (&great, 0, i < 4 ? 150000 : 600000); /* lambda 1.41 Mb/s keeps them together */
  double after = changes_after (&great, 200.0);
  g_assert_cmpfloat (after, >=, mcc_time_to_seconds (MCC_ASSP_LADDER_REST_GREAT));
  g_assert_cmpfloat (after, <=, mcc_time_to_seconds (MCC_ASSP_LADDER_REST_GREAT) + 5.0);
  Group group = clusters ();
  after = changes_after (&group, 200.0);
  g_assert_cmpfloat (after, >=, mcc_time_to_seconds (MCC_ASSP_LADDER_REST));
  g_assert_cmpfloat (after, <=, mcc_time_to_seconds (MCC_ASSP_LADDER_REST) + 5.0);
  for (unsigned i = 0; i < group.count; i++)
    group.stream[i] = mcc_assp_streams_place (&group.streams, (double)group.bps[i]);
  /* What is the best already does not change, */
  g_assert_cmpfloat (changes_after (&group, 600.0), >, 600.0);
  /* nor for a gain that does not last. */
  for (unsigned k = 0; k < 20; k++) {
    for (unsigned i = 0; i < group.count; i++)
      group.bps[i] = i % 3 == 2 && k % 2 == 0 ? 800000 : i % 3 == 2 ? 3000000 : group.bps[i];
    group.now += ROUND;
    g_assert_false (decide (&group));
  }
}

/* Small gains are not worth a switch of anybody. */
static void
test_gain (void)
{
  Group group = group_of (2);
  for (unsigned i = 0; i < 10; i++)
    add (&group, 0, 1000000);
  add (&group, 0, 960000);
  g_assert_cmpfloat (changes_after (&group, 600.0), >, 600.0);
}

/* No more streams than are of use: the others close; never more than allowed. */
static void
test_fewest (void)
{
  Group group = group_of (4);
  for (unsigned i = 0; i < 8; i++)
    add (&group, i % 2, i % 2 ? 5000000 : 500000);
  group.streams.stream[0].high_bps = group.streams.stream[1].low_bps = 4500000;
  group.streams.stream[1].high_bps = group.streams.stream[2].low_bps = 4600000;
  group.streams.stream[2].high_bps = group.streams.stream[3].low_bps = 19000000;
  group.streams.stream[3].average_bps = 19000000;
  g_assert_cmpfloat (changes_after (&group, 200.0), <=, 200.0);
  unsigned open = 0;
  for (unsigned j = 0; j < group.streams.count; j++)
    open += mcc_assp_streams_open (&group.streams, j);
  g_assert_cmpuint (open, ==, 2);
}

/* Many on their way say nothing of what they will need. */
static void
test_unsettled (void)
{
  Group group = clusters ();
  for (unsigned k = 0; k < 8; k++) {
    group.now += ROUND;
    mcc_assp_ladder_clear (&group.ladder);
    for (unsigned i = 0; i < group.count; i++)
      mcc_assp_ladder_add (&group.ladder, group.stream[i], group.bps[i], group.bps[i]);
    for (unsigned i = 0; i < 5; i++)
      mcc_assp_ladder_add_unsettled (&group.ladder);
    g_assert_false (mcc_assp_ladder_decide (&group.ladder, &group.streams, group.now));
  }
  g_assert_cmpfloat (changes_after (&group, 200.0), <=, 20.0);
}

/* Whatever is said, streams are in order, open ones between the overall bounds and next to each
 * other. */
static void
test_any (void)
{
  MccRng rng;
  mcc_rng_init (&rng, 5);
  for (unsigned round = 0; round < 200; round++) {
    unsigned streams = 1 + round % MCC_ASSP_STREAMS_MAX;
    Group group = group_of (streams);
    for (unsigned k = 0; k < 60; k++) {
      group.count = 0;
      unsigned n = (unsigned)(MANY * mcc_rng_uniform (&rng));
      for (unsigned i = 0; i < n; i++) {
        group.guess[i] = mcc_rng_uniform (&rng) < 0.2;
        add (&group, (unsigned)(streams * mcc_rng_uniform (&rng)),
            (uint64_t)pow (10.0, 9.0 * mcc_rng_uniform (&rng)));
      }
      group.now += (MccTime)(30.0 * mcc_rng_uniform (&rng)) * MCC_SECOND;
      decide (&group);
      unsigned at = mcc_assp_streams_lowest (&group.streams);
      g_assert_cmpuint (group.streams.stream[at].low_bps, ==, LOW);
      for (unsigned next; (next = mcc_assp_streams_above (&group.streams, at)) < streams; at = next)
        g_assert_cmpuint (
            group.streams.stream[at].high_bps, <=, group.streams.stream[next].low_bps);
      g_assert_cmpuint (group.streams.stream[at].high_bps, ==, HIGH);
    }
  }
}

/* What has ended is nobody's place, though it is empty; what goes on after all is one. */
static void
test_gone (void)
{
  for (unsigned back = 0; back < 2; back++) {
    Group group = group_of (3);
    mcc_assp_ladder_set_gone (&group.ladder, 1, true);
    group.streams.stream[1].flags |= MCC_ASSP_CLOSED;
    group.streams.stream[0].high_bps = group.streams.stream[1].high_bps;
    if (back)
      mcc_assp_ladder_set_gone (&group.ladder, 1, false);
    for (unsigned i = 0; i < 9; i++)
      add (&group, 0, i % 3 == 0 ? 150000 : i % 3 == 1 ? 600000 : 2400000);
    g_assert_cmpfloat (changes_after (&group, 200.0), <=, 200.0);
    unsigned open = 0;
    for (unsigned j = 0; j < 3; j++)
      open += mcc_assp_streams_open (&group.streams, j);
    g_assert_cmpuint (open, ==, 2 + back);
    g_assert_cmpint (mcc_assp_streams_open (&group.streams, 1), ==, back);
    unsigned highest = mcc_assp_streams_place (&group.streams, 2400000.0);
    g_assert_cmpuint (group.streams.stream[highest].high_bps, ==, HIGH);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-ladder/is-the-best-partition", test_exact);
  g_test_add_func ("/assp-ladder/a-stream-for-each-cluster", test_clusters);
  g_test_add_func ("/assp-ladder/most-stay-where-they-are", test_stays);
  g_test_add_func ("/assp-ladder/waits-for-a-gain-that-lasts", test_patience);
  g_test_add_func ("/assp-ladder/small-gains-change-nothing", test_gain);
  g_test_add_func ("/assp-ladder/gains-of-the-slow-count", test_slow_gain);
  g_test_add_func ("/assp-ladder/no-more-streams-than-of-use", test_fewest);
  g_test_add_func ("/assp-ladder/waits-for-those-on-their-way", test_unsettled);
  g_test_add_func ("/assp-ladder/what-has-ended-is-not-used", test_gone);
  g_test_add_func ("/assp-ladder/bounds-hold-whatever-is-said", test_any);
  return g_test_run ();
}

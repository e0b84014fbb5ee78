/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mcccapacity.h"
#include "mccrng.h"

#define T0 (UINT64_C (8765) * MCC_SECOND)
#define BUCKET (MCC_CAPACITY_SPAN / MCC_CAPACITY_BUCKETS)
#define BYTES 1250 /* 10 kbit */

/* What @packets of BYTES prove that came in @time. */
static guint64
law (guint packets, MccTime time)
{
  return (guint64)(packets * 8.0 * BYTES / mcc_time_to_seconds (time + MCC_CAPACITY_JITTER));
}

/* @packets, @gap apart, the first at @time; returns when the last one came. */
static MccTime
train (MccCapacity *capacity, guint packets, MccTime gap, MccTime time)
{
  for (guint i = 0; i < packets; i++)
    mcc_capacity_handle_packet (capacity, BYTES, time + i * gap);
  return time + (packets - 1) * gap;
}

/* A link that serves packets of any size, sent in bursts and pauses, to a host that looks at them
 * late by less than the jitter allowed for, in order. */
static void
at_most_the_capacity (void)
{
  static const double links_bps[] = { 64e3, 500e3, 2e6, 10e6, 100e6, 1e9 };
  guint64 seed = g_test_rand_int ();
  MccRng rng;
  mcc_rng_init (&rng, seed);
  g_test_message ("seed %" G_GUINT64_FORMAT, seed);
  for (guint run = 0; run < 10 * G_N_ELEMENTS (links_bps); run++) {
    double link_bps = links_bps[run % G_N_ELEMENTS (links_bps)], load = 0.3 + run % 10 * 0.2;
    MccCapacity capacity;
    mcc_capacity_init (&capacity);
    MccTime sent = T0, served = T0, seen = T0;
    for (guint i = 0; i < 2000; i++) {
      guint32 bytes = 40 + (guint32)(mcc_rng_next (&rng) % 1460);
      MccTime service = mcc_time_from_seconds (8.0 * bytes / link_bps);
      if (mcc_rng_next (&rng) % 20 == 0) /* bursts of 20 */
        sent += (MccTime)((double)service * 40.0 / load * mcc_rng_uniform (&rng));
      served = MAX (served, sent) + service + 1;
      MccTime late = served + mcc_rng_next (&rng) % MCC_CAPACITY_JITTER;
      seen = MAX (seen, late);
      mcc_capacity_handle_packet (&capacity, bytes, seen);
      g_assert_cmpuint (
          mcc_capacity_proven_bps (&capacity, T0 - BUCKET, seen), <=, (guint64)link_bps);
    }
  }
}

/* A queue that never runs empty shows the whole of it, but for the jitter. */
static void
a_long_train_shows_the_capacity (void)
{
  static const struct {
    MccTime gap;
    double part;
  } table[] = { { 80 * MCC_MSECOND, 0.99 }, { 10 * MCC_MSECOND, 0.99 }, { MCC_MSECOND, 0.92 },
    { 200 * MCC_USECOND, 0.8 }, { 100 * MCC_USECOND, 0.8 }, { 10 * MCC_USECOND, 0.8 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    MccCapacity capacity;
    mcc_capacity_init (&capacity);
    MccTime end = train (&capacity, 10000, table[row].gap, T0);
    double link_bps = 8.0 * BYTES / mcc_time_to_seconds (table[row].gap);
    double proven_bps = (double)mcc_capacity_proven_bps (&capacity, T0 - BUCKET, end);
    g_assert_cmpfloat (proven_bps, >, table[row].part * link_bps);
    g_assert_cmpfloat (proven_bps, <, link_bps);
  }
}

/* 1 Mb/s in bursts of 17 over a link of 10 Mb/s: the bursts tell, not the mean. */
static void
closer_than_our_rate (void)
{
  MccCapacity capacity;
  mcc_capacity_init (&capacity);
  MccTime end = T0;
  for (guint burst = 0; burst < 40; burst++)
    end = train (&capacity, 17, MCC_MSECOND, T0 + burst * 170 * MCC_MSECOND);
  guint64 proven_bps = mcc_capacity_proven_bps (&capacity, end - MCC_SECOND, end);
  g_assert_cmpuint (proven_bps, ==, law (16, 16 * MCC_MSECOND));
  g_assert_cmpuint (proven_bps, >, 6000000);
  g_assert_cmpuint (proven_bps, <, 10000000);
}

static void
one_packet_proves_nothing (void)
{
  MccCapacity capacity;
  mcc_capacity_init (&capacity);
  g_assert_cmpuint (mcc_capacity_proven_bps (&capacity, T0, T0 + MCC_SECOND), ==, 0);
  mcc_capacity_handle_packet (&capacity, 60000, T0 + BUCKET);
  g_assert_cmpuint (mcc_capacity_proven_bps (&capacity, T0, T0 + MCC_SECOND), ==, 0);
  /* The second: its own bytes, and not those of the first. */
  mcc_capacity_handle_packet (&capacity, BYTES, T0 + BUCKET);
  g_assert_cmpuint (mcc_capacity_proven_bps (&capacity, T0, T0 + MCC_SECOND), ==, law (1, 0));
}

/* Nothing from before @since; all from a bucket later on. */
static void
since_by_a_bucket (void)
{
  guint used = 0, unused = 0;
  for (MccTime offset = 0; offset < 3 * BUCKET; offset += BUCKET / 10) {
    MccCapacity capacity;
    mcc_capacity_init (&capacity);
    MccTime end = train (&capacity, 9, MCC_MSECOND, T0 + BUCKET + offset);
    for (MccTime since = T0; since < T0 + 6 * BUCKET; since += BUCKET / 10) {
      guint64 proven_bps = mcc_capacity_proven_bps (&capacity, since, end + 6 * BUCKET);
      if (since > end) {
        g_assert_cmpuint (proven_bps, ==, 0);
        unused++;
      } else if (since + BUCKET <= T0 + BUCKET + offset) {
        g_assert_cmpuint (proven_bps, ==, law (8, 8 * MCC_MSECOND));
        used++;
      }
    }
  }
  g_assert_cmpuint (used, >, 100);
  g_assert_cmpuint (unused, >, 100);
}

/* ... or sooner, where most of what came after it proves less. */
static void
forgets_after_the_span (void)
{
  for (guint trickle = 0; trickle < 2; trickle++) {
    for (MccTime offset = 0; offset < BUCKET; offset += BUCKET / 10) {
      MccCapacity capacity;
      mcc_capacity_init (&capacity);
      MccTime end = train (&capacity, 9, 0, T0 + offset);
      for (MccTime now = end; now < end + 3 * MCC_CAPACITY_SPAN; now += 50 * MCC_MSECOND) {
        if (trickle && now > end)
          mcc_capacity_handle_packet (&capacity, 40, now);
        guint64 proven_bps = mcc_capacity_proven_bps (&capacity, T0 - MCC_SECOND, now);
        if (!trickle && now <= end + MCC_CAPACITY_SPAN - BUCKET)
          g_assert_cmpuint (proven_bps, ==, law (8, 0));
        else if (now > end + (trickle ? 3 * BUCKET : MCC_CAPACITY_SPAN))
          g_assert_cmpuint (proven_bps, <, law (8, 0) / 4);
      }
    }
  }
}

/* A host that stalls for 60 ms gets what came meanwhile at once: no link is so fast. Once a second
 * it proves nothing; what keeps coming so is believed. */
static void
stalls_now_and_then (void)
{
  for (guint stalls = 1; stalls <= 4; stalls += 3) {
    MccCapacity capacity;
    mcc_capacity_init (&capacity);
    guint64 most = 0;
    for (guint i = 0; i < 1000; i++) {
      MccTime arrival = T0 + i * 10 * MCC_MSECOND, phase = arrival % (MCC_SECOND / stalls);
      if (phase < 60 * MCC_MSECOND)
        arrival += 60 * MCC_MSECOND - phase;
      mcc_capacity_handle_packet (&capacity, 1250, arrival);
      if (i > 200)
        most = MAX (most, mcc_capacity_proven_bps (&capacity, arrival - MCC_SECOND, arrival));
    }
    if (stalls == 1)
      g_assert_cmpuint (most, <=, 1150000);
    else
      g_assert_cmpuint (most, >=, 2000000);
  }
}

/* What comes after a silence is not mixed up with what its bucket held before. */
static void
after_a_long_silence (void)
{
  static const MccTime silences[] = { MCC_CAPACITY_SPAN, 2 * MCC_CAPACITY_SPAN,
    MCC_CAPACITY_SPAN + BUCKET, 1000 * MCC_CAPACITY_SPAN, 3600 * MCC_SECOND };
  for (guint i = 0; i < G_N_ELEMENTS (silences); i++) {
    MccCapacity capacity;
    mcc_capacity_init (&capacity);
    train (&capacity, 65, 0, T0);
    MccTime end = train (&capacity, 2, 90 * MCC_MSECOND, T0 + silences[i]);
    guint64 proven_bps = mcc_capacity_proven_bps (&capacity, T0 - MCC_SECOND, end);
    /* The 65 and one over the silence at most, or the two. */
    guint64 across_bps = law (64, silences[i]);
    g_assert_cmpuint (proven_bps, ==, MAX (across_bps, law (1, 90 * MCC_MSECOND)));
    end = train (&capacity, 9, MCC_MSECOND, end + MCC_SECOND);
    g_assert_cmpuint (mcc_capacity_proven_bps (&capacity, end - BUCKET - 10 * MCC_MSECOND, end), ==,
        law (8, 8 * MCC_MSECOND));
  }
}

/* The ring of packets goes round: what left it is no part of a train, what did not is. */
static void
the_ring_goes_round (void)
{
  for (guint before = 0; before < 3 * MCC_CAPACITY_PACKETS; before += 37) {
    MccCapacity capacity;
    mcc_capacity_init (&capacity);
    train (&capacity, before + 1, 0, T0);
    MccTime begin = T0 + 10 * MCC_SECOND, gap = 20 * MCC_MSECOND;
    for (guint i = 0; i < 3 * MCC_CAPACITY_PACKETS; i++) {
      MccTime now = begin + i * gap;
      mcc_capacity_handle_packet (&capacity, BYTES, now);
      if (i < MCC_CAPACITY_PACKETS)
        continue; /* trains reach back beyond @begin */
      guint64 proven_bps = mcc_capacity_proven_bps (&capacity, begin, now);
      g_assert_cmpuint (proven_bps, <=, law (128, 128 * gap));
      g_assert_cmpuint (proven_bps, >=, law (64, 64 * gap));
    }
  }
}

/* 5 TB in all: no sum overflows, and the millionth train proves what the first did. */
static void
sums_over_long_runs (void)
{
  MccCapacity capacity;
  mcc_capacity_init (&capacity);
  MccTime now = T0;
  guint64 first_bps = 0;
  for (guint i = 0; i < 20000; i++) {
    now += MCC_SECOND;
    for (guint k = 0; k < 5; k++)
      mcc_capacity_handle_packet (&capacity, 50000000, now);
    guint64 proven_bps = mcc_capacity_proven_bps (&capacity, now - BUCKET, now);
    if (i == 0)
      first_bps = proven_bps;
    g_assert_cmpuint (proven_bps, ==, first_bps);
  }
  g_assert_cmpuint (first_bps, ==, UINT64_C (160000000000)); /* 200 MB in 10 ms */
}

/* A clock that has just begun: the first bucket is not told from none, nothing else is lost. */
static void
the_clock_begins (void)
{
  MccCapacity capacity;
  mcc_capacity_init (&capacity);
  MccTime end = train (&capacity, 9, MCC_MSECOND, BUCKET);
  for (MccTime now = end; now < MCC_CAPACITY_SPAN; now += BUCKET / 3)
    g_assert_cmpuint (mcc_capacity_proven_bps (&capacity, 0, now), ==, law (8, 8 * MCC_MSECOND));
  g_assert_cmpuint (mcc_capacity_proven_bps (&capacity, BUCKET, end), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/capacity/stalls-now-and-then", stalls_now_and_then);
  g_test_add_func ("/capacity/at-most-the-capacity", at_most_the_capacity);
  g_test_add_func ("/capacity/a-long-train-shows-the-capacity", a_long_train_shows_the_capacity);
  g_test_add_func ("/capacity/packets-closer-than-our-rate", closer_than_our_rate);
  g_test_add_func ("/capacity/one-packet-proves-nothing", one_packet_proves_nothing);
  g_test_add_func ("/capacity/since-by-a-bucket", since_by_a_bucket);
  g_test_add_func ("/capacity/forgets-after-the-span", forgets_after_the_span);
  g_test_add_func ("/capacity/after-a-long-silence", after_a_long_silence);
  g_test_add_func ("/capacity/the-ring-goes-round", the_ring_goes_round);
  g_test_add_func ("/capacity/sums-over-long-runs", sums_over_long_runs);
  g_test_add_func ("/capacity/the-clock-begins", the_clock_begins);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccpairs.h"
#include "mccrng.h"

#define T0 (UINT64_C (8765) * MCC_SECOND)
#define SPACING (80 * MCC_MSECOND) /* 100 kb/s of full packets */
#define BYTES 1000
#define QUEUE (20 * MCC_MSECOND)

/* A stream of packets SPACING apart, in a queue of QUEUE at the bottleneck. */
typedef struct {
  MccPairs pairs;
  uint64_t number;
  MccTime sent, arrival;
} Stream;

static void
stream_init (Stream *f)
{
  *f = (Stream){ .sent = T0, .arrival = T0 };
  mcc_pairs_init (&f->pairs, MCC_PAIRS_APART);
}

/* The next packet, sent @apart behind the last, comes @later behind it. */
static void
packet (Stream *f, guint32 bytes, MccTime apart, MccTime queue, MccTime later)
{
  f->sent += apart;
  f->arrival += later;
  mcc_pairs_handle_packet (&f->pairs, f->number++, bytes, (MccTimeDelta)apart, queue, f->arrival);
}

static void
alone (Stream *f, guint packets)
{
  while (packets-- > 0)
    packet (f, BYTES, SPACING, QUEUE, SPACING);
}

/* Two together, the second @later behind the first. */
static void
pair (Stream *f, guint32 bytes, MccTime later)
{
  packet (f, BYTES, SPACING, QUEUE, SPACING);
  packet (f, bytes, 0, QUEUE, later);
}

static guint64
proven (const Stream *f)
{
  return mcc_pairs_proven_bps (&f->pairs, 0, f->arrival);
}

/* The second of any size is as far behind the first as the link needs for it, and hosts look at
 * most the jitter later: never more than the capacity, and most of it where that is little beside
 * it. */
static void
at_most_the_capacity (void)
{
  static const double links_bps[] = { 64e3, 500e3, 2e6, 10e6 };
  MccRng rng;
  guint64 seed = g_test_rand_int ();
  mcc_rng_init (&rng, seed);
  g_test_message ("seed %" G_GUINT64_FORMAT, seed);
  for (guint i = 0; i < 40 * G_N_ELEMENTS (links_bps); i++) {
    double link_bps = links_bps[i % G_N_ELEMENTS (links_bps)];
    Stream f;
    stream_init (&f);
    alone (&f, 100);
    for (guint k = 0; k < 20; k++) {
      guint32 bytes = 40 + (guint32)(mcc_rng_next (&rng) % 1460);
      MccTime service = mcc_time_from_seconds (8.0 * bytes / link_bps) + 1;
      MccTime early = MIN (service, mcc_rng_next (&rng) % MCC_PAIRS_JITTER);
      pair (&f, bytes, service - early);
      alone (&f, 3);
      g_assert_cmpfloat ((double)proven (&f), <=, link_bps);
      g_assert_cmpfloat ((double)mcc_pairs_most_bps (&f.pairs, 0, f.arrival), >=, 0.999 * link_bps);
      if (k >= MCC_PAIRS_LEAST && link_bps < 100e3)
        g_assert_cmpfloat ((double)proven (&f), >=, 0.8 * link_bps);
    }
  }
}

/* A host that stands still delivers both at once, now and then. */
static void
stalls (void)
{
  Stream f;
  stream_init (&f);
  alone (&f, 100);
  for (guint k = 0; k < 12; k++) {
    pair (&f, BYTES, k % 3 == 0 ? 0 : 27 * MCC_MSECOND);
    alone (&f, 4);
    g_assert_cmpuint (proven (&f), <=, k < 2 ? 0 : 300000);
  }
  g_assert_cmpuint (proven (&f), >, 280000);
}

/* What is no proof. */
static void
no_proof (void)
{
  static const struct {
    MccTime spacing, apart, queue;
    guint step; /* of the numbers */
    gboolean proves;
  } table[] = {
    { SPACING, 0, QUEUE, 1, TRUE },
    { SPACING, MCC_PAIRS_TOGETHER, QUEUE, 1, FALSE }, /* not together */
    { SPACING, 0, MCC_PAIRS_QUEUE - 1, 1, FALSE },    /* a token bucket may have been full */
    { SPACING, 0, QUEUE, 2, FALSE },                  /* one between them was lost */
    { MCC_PAIRS_APART - 1, 0, QUEUE, 1, FALSE },      /* sent so closely all the time */
  };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    Stream f;
    stream_init (&f);
    alone (&f, 100);
    for (guint k = 0; k < 20; k++) {
      for (guint n = 0; n < 8; n++)
        packet (&f, BYTES, table[i].spacing, table[i].queue, table[i].spacing);
      f.number += table[i].step - 1;
      packet (&f, BYTES, table[i].apart, table[i].queue, 8 * MCC_MSECOND);
    }
    g_test_message ("row %u: %" G_GUINT64_FORMAT, i, proven (&f));
    g_assert_true ((proven (&f) > 0) == table[i].proves);
  }
}

/* Three make a proof; what came before @since, or long ago, is none. */
static void
few_and_old (void)
{
  Stream f;
  stream_init (&f);
  g_assert_cmpuint (proven (&f), ==, 0);
  alone (&f, 100);
  for (guint k = 1; k <= MCC_PAIRS_LEAST; k++) {
    g_assert_cmpuint (proven (&f), ==, 0);
    pair (&f, BYTES, 7 * MCC_MSECOND);
    alone (&f, 5);
  }
  g_assert_cmpuint (proven (&f), ==, 1000000);
  g_assert_cmpuint (mcc_pairs_most_bps (&f.pairs, 0, f.arrival), ==, 8000000 / 6);
  g_assert_cmpuint (mcc_pairs_most_bps (&f.pairs, f.arrival, f.arrival), ==, UINT64_MAX);
  g_assert_cmpuint (mcc_pairs_proven_bps (&f.pairs, f.arrival, f.arrival), ==, 0);
  g_assert_cmpuint (mcc_pairs_proven_bps (&f.pairs, 0, f.arrival + MCC_PAIRS_SPAN), ==, 0);
}

/* Where packets are far apart, once a period. */
static void
due (void)
{
  const MccTime never = MCC_TIME_NONE, now = T0;
  g_assert_true (mcc_pairs_due (never, MCC_PAIRS_APART, BYTES, 100000, now));
  g_assert_true (mcc_pairs_due (never, MCC_PAIRS_APART, 150, 30000, now));
  g_assert_false (mcc_pairs_due (never, MCC_PAIRS_APART, BYTES, 700000, now));
  g_assert_true (mcc_pairs_due (never, MCC_PAIRS_CLOSE, BYTES, 700000, now));
  g_assert_false (mcc_pairs_due (never, MCC_PAIRS_CLOSE, BYTES, 8000000, now));
  g_assert_false (mcc_pairs_due (never, MCC_PAIRS_APART, BYTES, 0, now));
  g_assert_false (mcc_pairs_due (now - MCC_PAIRS_PERIOD + 1, MCC_PAIRS_APART, BYTES, 100000, now));
  g_assert_true (mcc_pairs_due (now - MCC_PAIRS_PERIOD, MCC_PAIRS_APART, BYTES, 100000, now));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pairs/at-most-the-capacity", at_most_the_capacity);
  g_test_add_func ("/pairs/stalls", stalls);
  g_test_add_func ("/pairs/no-proof", no_proof);
  g_test_add_func ("/pairs/few-and-old", few_and_old);
  g_test_add_func ("/pairs/due", due);
  return g_test_run ();
}

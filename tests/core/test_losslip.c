/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lossfeed.h"

/* One event, @interval packets after the one before. */
static void
event_after (Feed *feed, unsigned interval)
{
  feed_received (feed, interval - 1);
  feed_lost (feed, 1);
}

static double
weight (unsigned i, unsigned n)
{
  return i < n / 2.0 ? 1.0 : 2.0 * (n - i) / (n + 2.0);
}

/* ELM eq. 10 straight from the list of all intervals, the open one first. */
static double
expected_ratio (const double *intervals, unsigned num, unsigned history)
{
  unsigned k = MIN (num - 1, history);
  double open = 0.0, closed = 0.0, weights = 0.0;

  for (unsigned i = 0; i < k; i++) {
    open += weight (i, history) * intervals[i];
    closed += weight (i, history) * intervals[i + 1];
    weights += weight (i, history);
  }
  return weights / MAX (open, closed);
}

static void
weighted_mean_of_intervals (void)
{
  static const unsigned lengths[] = { 100, 20, 30, 250, 12, 40, 80, 60, 7, 500, 33 };
  static const unsigned histories[] = { 1, 2, 5, 8, 32, MCC_LOSS_HISTORY_MAX };

  for (unsigned h = 0; h < G_N_ELEMENTS (histories); h++) {
    MccLossConfig config = mcc_loss_config_default;
    double intervals[G_N_ELEMENTS (lengths) + 1];
    config.history = histories[h];
    Feed feed = feed_new (&mcc_loss_lip, &config);

    feed_received (&feed, 1);
    for (unsigned n = 0; n < G_N_ELEMENTS (lengths); n++) {
      event_after (&feed, lengths[n]);
      for (unsigned i = n + 1; i > 1; i--)
        intervals[i] = intervals[i - 1];
      intervals[1] = lengths[n] + (n == 0 ? 0.0 : 3.0);
      feed_received (&feed, 3);
      intervals[0] = 4.0;
      assert_ratio (&feed, expected_ratio (intervals, n + 2, histories[h]));
    }
    feed_free (&feed);
  }
}

/* 1, 1, 1, 1, .8, .6, .4, .2: intervals of 10 with one of 100 among them, by its age. */
static void
weights_of_eight (void)
{
  static const double weights[] = { 1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2 };
  Feed feed = feed_new (&mcc_loss_lip, NULL);

  feed_received (&feed, 1);
  for (unsigned i = 0; i < 10; i++)
    event_after (&feed, 10);
  event_after (&feed, 100);
  feed_received (&feed, 9);
  for (unsigned age = 0; age < 8; age++) {
    assert_ratio (&feed, 6.0 / (60.0 + 90.0 * weights[age]));
    feed_lost (&feed, 1);
    feed_received (&feed, 9);
  }
  assert_ratio (&feed, 0.1);
  feed_free (&feed);
}

static void
open_interval_only_lowers (void)
{
  Feed feed = feed_new (&mcc_loss_lip, NULL);

  feed_received (&feed, 1);
  for (unsigned i = 0; i < 9; i++)
    event_after (&feed, 20);
  feed_received (&feed, 3);
  assert_ratio (&feed, 0.05);
  feed_received (&feed, 16); /* the open interval is 20 */
  assert_ratio (&feed, 0.05);
  feed_received (&feed, 60); /* 80 */
  assert_ratio (&feed, 6.0 / (6.0 * 20.0 + 60.0));
  feed_free (&feed);
}

/* Losses within one RTT (5 packets) of an event's first are the event; the one after is another. */
static void
one_event_per_rtt (void)
{
  static const struct {
    const char *pattern;
    uint64_t events;
  } rows[] = {
    { ".....xxxxx...", 1 },
    { ".....xxxxxx...", 2 },
    { ".....x...x...", 1 },
    { ".....x....x...", 2 },
    { ".....x....x....x...", 3 },
    { ".....x..x..x...", 2 },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    Feed feed = feed_new (&mcc_loss_lip, NULL);
    feed_pattern (&feed, rows[i].pattern);
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, rows[i].events);
    feed_free (&feed);
  }
}

static void
first_interval_starts_with_the_first_packet (void)
{
  Feed feed = feed_new (&mcc_loss_lip, NULL);

  feed_received (&feed, 40);
  feed_pattern (&feed, "x...");
  assert_ratio (&feed, 1.0 / 40.0);
  feed_free (&feed);
}

/* RFC 5348 5.5: eight intervals of 10, an open one of 40: DF = 1/2 on the old ones. */
static void
discounting (void)
{
  MccLossConfig config = mcc_loss_config_default;
  config.discounting = true;
  Feed feed = feed_new (&mcc_loss_lip, &config);

  feed_received (&feed, 1);
  for (unsigned i = 0; i < 9; i++)
    event_after (&feed, 10);
  feed_received (&feed, 19); /* 20 is not more than twice 10 */
  assert_ratio (&feed, 6.0 / (10.0 * 5.0 + 20.0));
  feed_received (&feed, 5); /* 25: DF = 20/25 */
  assert_ratio (&feed, (1.0 + 5.0 * 0.8) / (25.0 + 5.0 * 0.8 * 10.0));
  feed_received (&feed, 75); /* 100: DF = 1/2 */
  assert_ratio (&feed, (1.0 + 5.0 * 0.5) / (100.0 + 5.0 * 0.5 * 10.0));
  /* What was discounted stays so when the interval closes. */
  feed_pattern (&feed, "x...");
  assert_ratio (&feed, (1.0 + 5.0 * 0.5) / (100.0 + 5.0 * 0.5 * 10.0));
  feed_free (&feed);
}

static double
open_ratio (const double *closed, unsigned n, double open, double discount)
{
  double sum = open, weights = 1.0;
  for (unsigned i = 1; i < n; i++) {
    sum += weight (i, 8) * discount * closed[i - 1];
    weights += weight (i, 8) * discount;
  }
  return weights / sum;
}

/* An interval of more than five means, and longer than any before, is no chance: the older ones
 * count by its probability, also after it has closed. */
static void
forgetting (void)
{
  static const struct {
    double closed[7]; /* newest first, one more than counts beside the open one */
    unsigned open;
    double discount;
  } table[] = {
    { { 10, 10, 10, 10, 10, 10, 10 }, 50, 0.5 },
    { { 10, 10, 10, 10, 10, 10, 10 }, 80, 0.5 * exp (-3.0) },
    { { 10, 10, 10, 10, 10, 10, 10 }, 300, 0.5 * exp (-25.0) },
    { { 10, 10, 10, 10, 10, 10, 150 }, 150, 0.5 }, /* mean 24: there was one as long */
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccLossConfig config = mcc_loss_config_default;
    config.discounting = config.forgetting = true;
    Feed feed = feed_new (&mcc_loss_lip, &config);
    const double *closed = table[row].closed;

    feed_received (&feed, 1);
    event_after (&feed, (unsigned)closed[6]);
    for (int i = 6; i >= 0; i--)
      event_after (&feed, (unsigned)closed[i]);
    feed_received (&feed, table[row].open - 1);
    assert_ratio (&feed, open_ratio (closed, 8, table[row].open, table[row].discount));
    g_assert_cmpfloat_with_epsilon (
        mcc_loss_remembered_ratio (feed.loss), open_ratio (closed, 8, table[row].open, 0.5), 1e-9);
    feed_pattern (&feed, "x...");
    assert_ratio (&feed, open_ratio (closed, 8, table[row].open, table[row].discount));
    feed_free (&feed);
  }
}

/* A row: so many old intervals of that length, and the newest; what is found with the last of them,
 * and nothing before. */
static void
change (void)
{
  static const struct {
    unsigned olds, old;
    unsigned newest[4];
    unsigned count, found;
  } table[] = {
    { 1, 5000, { 55, 40 }, 2, 0 },             /* b^2 = 3.5e-4 */
    { 1, 5000, { 25, 20 }, 2, 2 },             /* 7.9e-5 */
    { 1, 5000, { 55, 40, 60 }, 3, 3 },         /* b^3 = 2.7e-5 */
    { 1, 5000, { 100, 100, 150, 100 }, 4, 4 }, /* b^4 = 4.6e-5 */
    { 8, 1000, { 5 }, 1, 0 },                  /* 1 - (1 - b)^8 = 5e-3 */
    { 8, 1000, { 50, 50 }, 2, 0 },             /* 9 intervals, b = 0.012: 5e-3 */
    { 8, 1000, { 20, 10, 20 }, 3, 3 },         /* 10 intervals, b = 0.0062: 2.7e-5 */
    { 8, 1000, { 300, 300, 300, 300 }, 4, 0 },
    { 8, 1000, { 900, 2000, 5000, 9000 }, 4, 0 },
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccLossConfig config = mcc_loss_config_default;
    Feed feed = feed_new (&mcc_loss_lip, &config);

    feed.gap = feed.rtt; /* each loss an event */
    feed_received (&feed, 1);
    for (unsigned i = 0; i < table[row].olds; i++)
      event_after (&feed, table[row].old);
    feed_received (&feed, 3);
    for (unsigned i = 0; i < table[row].count; i++) {
      g_assert_cmpuint (mcc_loss_changed (feed.loss, 1e-4), ==, 0);
      event_after (&feed, table[row].newest[i] - 3);
      feed_received (&feed, 3);
    }
    g_assert_cmpuint (mcc_loss_changed (feed.loss, 1e-4), ==, table[row].found);
    g_assert_cmpuint (mcc_loss_changed (feed.loss, 1e-6), ==, 0); /* none is so rare */
    feed_free (&feed);
  }
}

/* One network's intervals, exponential, seldom seem to be two. */
static void
no_change (void)
{
  MccLossConfig config = mcc_loss_config_default;
  Feed feed = feed_new (&mcc_loss_lip, &config);
  GRand *rand = g_rand_new_with_seed (7);
  unsigned found = 0;

  feed.gap = feed.rtt;
  feed_received (&feed, 1);
  for (unsigned i = 0; i < 5000; i++) {
    event_after (&feed, 4 + (unsigned)(-200.0 * log (1.0 - g_rand_double (rand))));
    feed_received (&feed, 3);
    found += mcc_loss_changed (feed.loss, 1e-4) > 0;
  }
  g_assert_cmpuint (found, <=, 5000 * 4 / 1000); /* four looks each, and they overlap */
  g_rand_free (rand);
  feed_free (&feed);
}

/* The newest stay, the older give way to the one that was given. */
static void
reseed (void)
{
  static const struct {
    unsigned keep;
    double seed;
    double sum, weights; /* of the intervals, then */
  } table[] = {
    { 2, 100, 50 + 60 + 100, 3 }, { 1, 100, 50 + 100, 2 }, { 2, 4000, 50 + 60 + 4000, 3 },
    { 0, 100, 100, 1 }, { 9, 100, 50 + 60 + 1000 + 999, 4 }, /* there is no such interval */
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccLossConfig config = mcc_loss_config_default;
    Feed feed = feed_new (&mcc_loss_lip, &config);

    feed.gap = feed.rtt;
    feed_received (&feed, 1);
    event_after (&feed, 999);
    event_after (&feed, 1000);
    event_after (&feed, 60);
    event_after (&feed, 50);
    feed_received (&feed, 3);
    mcc_loss_reseed (feed.loss, table[row].keep, 1.0 / table[row].seed);
    assert_ratio (&feed, table[row].weights / table[row].sum);
    mcc_loss_reseed (feed.loss, table[row].keep, 0.0);
    assert_ratio (&feed, table[row].weights / table[row].sum);
    feed_free (&feed);
  }
}

/* Two intervals of 1000-byte units from packets of 250. */
static void
virtual_packets (void)
{
  MccLossConfig config = mcc_loss_config_default;
  config.virtual_bytes = 1000;
  Feed feed = feed_new (&mcc_loss_lip, &config);

  feed.bytes = 250;
  feed_received (&feed, 400);
  feed_pattern (&feed, "x...");
  assert_ratio (&feed, 1.0 / 100.0);
  feed_received (&feed, 196);
  feed_pattern (&feed, "x...");
  assert_ratio (&feed, 2.0 / (100.0 + 50.0));
  feed_free (&feed);
}

/* A seed is dropped by the event that finds two measured intervals or more, whose mean it exceeds
 * four times; no sooner, and nothing else is. The ratio is then that of the measured ones. */
static void
seed_gives_way (void)
{
  static const struct {
    double seed;           /* interval; 0: none, the first is measured */
    unsigned intervals[5]; /* then */
    unsigned dropped;      /* by that event, counted from 1; 0: not at all */
  } table[] = {
    { 10000, { 50, 50, 50, 50, 50 }, 3 },
    { 201, { 50, 50, 50, 50, 50 }, 3 },
    { 200, { 50, 50, 50, 50, 50 }, 0 },
    { 20, { 50, 50, 50, 50, 50 }, 0 },
    { 1000, { 100, 500, 100, 60, 60 }, 4 }, /* 1200, then 933 */
    { 1000, { 500, 100, 100, 60, 60 }, 4 },
    { 1000, { 300, 300, 300, 300, 300 }, 0 },
    { 0, { 50, 50, 50, 50, 50 }, 0 },
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Feed feed = feed_new (&mcc_loss_lip, NULL);
    feed_received (&feed, table[row].seed > 0 ? 60 : 3000);
    feed_lost (&feed, 1);
    feed_received (&feed, 3);
    double first = table[row].seed > 0 ? table[row].seed : 3000.0;
    if (table[row].seed > 0)
      mcc_loss_seed (feed.loss, 1.0 / table[row].seed);
    double intervals[7] = { 4.0, first };
    for (unsigned n = 1; n <= 5; n++) {
      /* To the next event's loss from the three that showed the last. */
      feed_received (&feed, table[row].intervals[n - 1] - 4);
      feed_lost (&feed, 1);
      feed_received (&feed, 3);
      for (unsigned i = n + 1; i > 1; i--)
        intervals[i] = intervals[i - 1];
      intervals[1] = table[row].intervals[n - 1];
      bool dropped = table[row].dropped > 0 && n >= table[row].dropped;
      assert_ratio (&feed, expected_ratio (intervals, n + (dropped ? 1 : 2), 8));
    }
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 6);
    feed_free (&feed);
  }
}

/* A loss of its event that comes late after all repairs nothing, and harms nothing. */
static void
repair_after_the_seed_has_gone (void)
{
  Feed feed = feed_new (&mcc_loss_lip, NULL);
  feed_received (&feed, 60);
  uint64_t late = feed.seq;
  event_after (&feed, 1);
  feed_received (&feed, 3);
  mcc_loss_seed (feed.loss, 1e-4);
  for (unsigned n = 0; n < 3; n++) {
    feed_received (&feed, 46);
    feed_lost (&feed, 1);
    feed_received (&feed, 3);
  }
  assert_ratio (&feed, 1.0 / 50);
  feed_packet (&feed, late);
  assert_ratio (&feed, 1.0 / 50);
  g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 3);
  feed_free (&feed);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loss/lip/weighted-mean-of-intervals", weighted_mean_of_intervals);
  g_test_add_func ("/loss/lip/weights-of-eight", weights_of_eight);
  g_test_add_func ("/loss/lip/open-interval-only-lowers", open_interval_only_lowers);
  g_test_add_func ("/loss/lip/one-event-per-rtt", one_event_per_rtt);
  g_test_add_func ("/loss/lip/first-interval-starts-with-the-first-packet",
      first_interval_starts_with_the_first_packet);
  g_test_add_func ("/loss/lip/discounting", discounting);
  g_test_add_func ("/loss/lip/forgetting", forgetting);
  g_test_add_func ("/loss/lip/change", change);
  g_test_add_func ("/loss/lip/no-change", no_change);
  g_test_add_func ("/loss/lip/reseed", reseed);
  g_test_add_func ("/loss/lip/virtual-packets", virtual_packets);
  g_test_add_func ("/loss/lip/seed-gives-way-to-measured-intervals", seed_gives_way);
  g_test_add_func ("/loss/lip/repair-after-the-seed-has-gone", repair_after_the_seed_has_gone);
  return g_test_run ();
}

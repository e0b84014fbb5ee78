/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loss histories that are changed from outside: their length, and what a newcomer expects.
 */
#include "lossfeed.h"

static Feed
lip_feed (unsigned history)
{
  MccLossConfig config = mcc_loss_config_default;
  config.history = history;
  Feed feed = feed_new (&mcc_loss_lip, &config);
  feed.gap = feed.rtt; /* each loss an event */
  feed_received (&feed, 1);
  return feed;
}

/* One loss after @packets that arrive, and what shows it. */
static void
event_after (Feed *feed, unsigned packets)
{
  feed_received (feed, packets - MCC_LOSS_NDUPACK);
  feed->seq++;
  feed->time += feed->gap;
  feed_received (feed, MCC_LOSS_NDUPACK);
}

static double
mean_interval (const Feed *feed)
{
  return 1.0 / mcc_loss_ratio (feed->loss);
}

/* A longer history has its older intervals at once, a shorter one forgets nothing. */
static void
history (void)
{
  Feed feed = lip_feed (8), twin = lip_feed (16);
  for (unsigned i = 0; i < 40; i++) {
    event_after (&feed, i < 32 ? 200 : 50);
    event_after (&twin, i < 32 ? 200 : 50);
  }
  g_assert_cmpfloat_with_epsilon (mean_interval (&feed), 50.0, 2.0);
  mcc_loss_set_history (feed.loss, 16);
  g_assert_cmpfloat_with_epsilon (mean_interval (&feed), mean_interval (&twin), 1e-9);
  g_assert_cmpfloat (mean_interval (&feed), >, 80.0);
  mcc_loss_set_history (feed.loss, 8);
  g_assert_cmpfloat_with_epsilon (mean_interval (&feed), 50.0, 2.0);
  feed_free (&feed);
  feed_free (&twin);
}

/* The mean size is of the packets in the history, however long that becomes. */
static void
mean_size (void)
{
  Feed feed = lip_feed (4), twin = lip_feed (4);
  for (unsigned i = 0; i < 60; i++) {
    feed.bytes = twin.bytes = 500 + 10 * i;
    if (i % 7 == 3)
      mcc_loss_set_history (feed.loss, i % 2 ? 16 : 32);
    if (i % 7 == 5)
      mcc_loss_set_history (feed.loss, 4);
    event_after (&feed, 20);
    event_after (&twin, 20);
    if (i % 7 == 5 || i % 7 == 6 || i % 7 <= 2)
      g_assert_cmpfloat_with_epsilon (
          mcc_loss_mean_packet_bytes (feed.loss), mcc_loss_mean_packet_bytes (twin.loss), 1e-9);
    else if (i > 7) /* older ones, which were smaller, come in */
      g_assert_cmpfloat (mcc_loss_mean_packet_bytes (feed.loss), <=,
          mcc_loss_mean_packet_bytes (twin.loss) + 1e-9);
  }
  feed_free (&feed);
  feed_free (&twin);
}

/* What was measured is one of many. */
static void
expectation (void)
{
  Feed feed = lip_feed (64);
  mcc_loss_expect (feed.loss, 0.01, 16); /* nothing is lost yet */
  g_assert_cmpfloat (mcc_loss_ratio (feed.loss), ==, 0.0);
  event_after (&feed, 20);
  mcc_loss_expect (feed.loss, 0.01, 16);
  g_assert_cmpfloat_with_epsilon (mean_interval (&feed), (16 * 100 + 21) / 17.0, 1.0);
  for (unsigned i = 0; i < 48; i++)
    event_after (&feed, 60 + 80 * (i % 2)); /* 100 in the mean */
  g_assert_cmpfloat_with_epsilon (mean_interval (&feed), 100.0, 3.0);
  for (unsigned i = 0; i < 200; i++)
    event_after (&feed, 150);
  g_assert_cmpfloat_with_epsilon (mean_interval (&feed), 151.0, 0.5);
  feed_free (&feed);
}

/* ... unless that is no chance: five times the losses count alone after some ten of them. */
static void
refuted (void)
{
  Feed feed = lip_feed (64);
  event_after (&feed, 20);
  mcc_loss_expect (feed.loss, 0.01, 16);
  unsigned events = 1;
  while (mean_interval (&feed) > 30.0 && events < 40) {
    event_after (&feed, 20);
    events++;
  }
  g_test_message ("%u losses", events);
  g_assert_cmpuint (events, <=, 12);
  g_assert_cmpuint (events, >, 4); /* four of them are one newcomer's luck in fifty */
  feed_free (&feed);
}

/* Of newcomers who lose what all lose the unluckiest of fifty is not far below them, and whom more
 * strikes than all is nowhere near. */
static void
unluckiest (void)
{
  GRand *rand = g_rand_new_with_seed (11);
  double lowest = 1e9, lowest_alone = 1e9;
  for (unsigned newcomer = 0; newcomer < 50; newcomer++) {
    Feed feed = lip_feed (64), alone = lip_feed (64);
    for (unsigned i = 0; i < 20; i++) {
      unsigned packets
          = MCC_LOSS_NDUPACK + 1 + (unsigned)(-96.0 * log (1.0 - g_rand_double (rand)));
      event_after (&feed, packets);
      event_after (&alone, packets);
      if (i == 0)
        mcc_loss_expect (feed.loss, 0.01, 16);
      lowest = fmin (lowest, mean_interval (&feed));
      if (i > 0)
        lowest_alone = fmin (lowest_alone, mean_interval (&alone));
    }
    feed_free (&feed);
    feed_free (&alone);
  }
  g_test_message ("lowest mean of 100: %.0f, without expecting %.0f", lowest, lowest_alone);
  g_assert_cmpfloat (lowest, >, 60.0);
  g_assert_cmpfloat (lowest_alone, <, 30.0);
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/losschange/history", history);
  g_test_add_func ("/losschange/mean-size", mean_size);
  g_test_add_func ("/losschange/expectation", expectation);
  g_test_add_func ("/losschange/refuted", refuted);
  g_test_add_func ("/losschange/unluckiest", unluckiest);
  return g_test_run ();
}

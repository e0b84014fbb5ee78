/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lossfeed.h"

/* One report interval of 20 packets whose fate is all decided; @lost of them never come. */
static void
interval_of (Feed *feed, unsigned lost)
{
  feed_received (feed, 1);
  feed_lost (feed, lost);
  feed_received (feed, 19 - lost);
  mcc_loss_handle_interval (feed->loss);
}

/* ASMP eq. 2-3 with fewer than eight, eight and more intervals. */
static void
weighted_mean (void)
{
  static const unsigned lost[] = { 2, 0, 4, 1, 0, 0, 8, 3, 0, 5, 6 };
  static const double weights[] = { 1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2 };
  Feed feed = feed_new (&mcc_loss_interval, NULL);

  for (unsigned n = 1; n <= G_N_ELEMENTS (lost); n++) {
    double sum = 0.0, total = 0.0;
    interval_of (&feed, lost[n - 1]);
    for (unsigned i = 0; i < MIN (n, 8); i++) {
      sum += weights[i] * lost[n - 1 - i] / 20.0;
      total += weights[i];
    }
    assert_ratio (&feed, sum / total);
  }
  feed_free (&feed);
}

static void
open_interval_does_not_count (void)
{
  Feed feed = feed_new (&mcc_loss_interval, NULL);

  interval_of (&feed, 2);
  assert_ratio (&feed, 0.1);
  feed_pattern (&feed, "xxxxxxxx....");
  assert_ratio (&feed, 0.1);
  mcc_loss_handle_interval (feed.loss);
  assert_ratio (&feed, (0.1 + 8.0 / 12.0) / 2.0);
  feed_free (&feed);
}

static void
empty_interval_is_skipped (void)
{
  Feed feed = feed_new (&mcc_loss_interval, NULL);

  interval_of (&feed, 4);
  for (unsigned i = 0; i < 100; i++)
    mcc_loss_handle_interval (feed.loss);
  assert_ratio (&feed, 0.2);
  interval_of (&feed, 0);
  assert_ratio (&feed, 0.1);
  feed_free (&feed);
}

/* A gap at the end of an interval belongs to the next, with the packets behind it. */
static void
open_gap_belongs_to_the_next (void)
{
  Feed feed = feed_new (&mcc_loss_interval, NULL);

  feed_pattern (&feed, "........xx..");
  mcc_loss_handle_interval (feed.loss);
  assert_ratio (&feed, 0.0);
  feed_pattern (&feed, "....");
  mcc_loss_handle_interval (feed.loss);
  assert_ratio (&feed, 2.0 / 8.0 / 2.0);
  feed_free (&feed);
}

static void
repair_reaches_closed_intervals (void)
{
  Feed feed = feed_new (&mcc_loss_interval, NULL);

  interval_of (&feed, 2);
  interval_of (&feed, 1);
  interval_of (&feed, 0);
  g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 2);
  feed_packet (&feed, FEED_SEQ + 2);
  assert_ratio (&feed, (1.0 + 1.0) / 20.0 / 3.0);
  feed_packet (&feed, FEED_SEQ + 21);
  assert_ratio (&feed, 1.0 / 20.0 / 3.0);
  g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 1);
  feed_free (&feed);
}

/* One loss per interval of 1000 and of 250 bytes: with virtual packets, by bytes. */
static void
virtual_packets_weigh_bytes (void)
{
  MccLossConfig config = mcc_loss_config_default;
  config.virtual_bytes = 1000;
  Feed feed = feed_new (&mcc_loss_interval, &config);

  feed.bytes = 250;
  feed_received (&feed, 16);
  feed.bytes = 1000;
  feed_received (&feed, 4); /* mean 400 */
  feed_lost (&feed, 10);
  feed_received (&feed, 4);
  mcc_loss_handle_interval (feed.loss);
  assert_ratio (&feed, 4.0 / (4.0 + 4.0 + 4.0 + 4.0));
  feed_free (&feed);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loss/interval/weighted-mean", weighted_mean);
  g_test_add_func ("/loss/interval/open-interval-does-not-count", open_interval_does_not_count);
  g_test_add_func ("/loss/interval/empty-interval-is-skipped", empty_interval_is_skipped);
  g_test_add_func ("/loss/interval/open-gap-belongs-to-the-next", open_gap_belongs_to_the_next);
  g_test_add_func (
      "/loss/interval/repair-reaches-closed-intervals", repair_reaches_closed_intervals);
  g_test_add_func ("/loss/interval/virtual-packets-weigh-bytes", virtual_packets_weigh_bytes);
  return g_test_run ();
}

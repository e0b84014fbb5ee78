/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lossfeed.h"

/* RTT = 5 packets. Interval n ends 5 packets after its event's first loss (ELM eq. 13). */
static void
impact_over_interval (void)
{
  static const struct {
    const char *pattern;
    double ratio;
  } rows[] = {
    { "..........x...", 1.0 / 14.0 },                     /* so far */
    { "..........x....", 1.0 / 15.0 },                    /* the whole period */
    { "..........x..........", 1.0 / 15.0 },              /* the open interval is shorter */
    { "..........x.......................", 1.0 / 19.0 }, /* and lowers when longer */
    { "..........xxx...", 3.0 / 15.0 },
    { "..........xxxxx...", 5.0 / 15.0 },
    { "..........x.x.x....", 3.0 / 15.0 },
    { "..........x....x....", 2.0 / (15.0 + 5.0) }, /* the next event begins at once */
    { "..........xxxxxxxxxx...", 10.0 / (15.0 + 5.0) },
    { "..........xx........x....", (2.0 + 1.0) / (15.0 + 10.0) },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    Feed feed = feed_new (&mcc_loss_lap, NULL);
    feed_pattern (&feed, rows[i].pattern);
    assert_ratio (&feed, rows[i].ratio);
    feed_free (&feed);
  }
}

/* One packet per RTT: the period is the lost packet, as in LIP but for where it counts. */
static void
period_of_one_packet (void)
{
  Feed feed = feed_new (&mcc_loss_lap, NULL);

  feed.rtt = feed.gap;
  feed_pattern (&feed, "..........x...");
  assert_ratio (&feed, 1.0 / 11.0);
  feed_pattern (&feed, "......x...");
  assert_ratio (&feed, 2.0 / (11.0 + 10.0));
  feed_free (&feed);
}

/* @n events of @impact losses, one every 20 packets. */
static void
events (Feed *feed, unsigned n, unsigned impact)
{
  for (unsigned i = 0; i < n; i++) {
    feed_received (feed, 15);
    feed_lost (feed, impact);
    feed_received (feed, 5 - impact);
  }
}

/* Impacts 5, 1, 1, 1, 1, 1, 1, 1, newest first, over equal intervals. */
static void
weighted_and_unweighted_impact (void)
{
  MccLossConfig config = mcc_loss_config_default;

  for (int weighted = 0; weighted < 2; weighted++) {
    config.weighted_impact = weighted;
    Feed feed = feed_new (&mcc_loss_lap, &config);
    events (&feed, 10, 1);
    events (&feed, 1, 2);
    feed_received (&feed, 3);
    double impact = weighted ? (2.0 + 3.0 + 2.0) / 6.0 : (2.0 + 7.0) / 8.0;
    assert_ratio (&feed, impact / 20.0);
    feed_free (&feed);
  }
}

static void
repair_lowers_the_impact (void)
{
  Feed feed = feed_new (&mcc_loss_lap, NULL);

  feed_pattern (&feed, "..........xxx...");
  assert_ratio (&feed, 3.0 / 15.0);
  feed_packet (&feed, FEED_SEQ + 10);
  assert_ratio (&feed, 2.0 / 15.0);
  feed_packet (&feed, FEED_SEQ + 12);
  assert_ratio (&feed, 1.0 / 15.0);
  feed_packet (&feed, FEED_SEQ + 12);
  assert_ratio (&feed, 1.0 / 15.0);
  feed_packet (&feed, FEED_SEQ + 11);
  assert_ratio (&feed, 0.0);
  feed_free (&feed);
}

static void
extension_aggregates (void)
{
  Feed feed = feed_new (&mcc_loss_lap, NULL);

  feed_pattern (&feed, "..........x...");
  mcc_loss_extend_event (feed.loss, feed.time + 8 * feed.gap);
  feed_pattern (&feed, "....x...........");
  assert_ratio (&feed, 2.0 / 22.0);
  feed_free (&feed);
}

/* Losses and packets weigh the same, so the unit cancels. */
static void
virtual_packets_of_equal_size_change_nothing (void)
{
  MccLossConfig config = mcc_loss_config_default;
  Feed a = feed_new (&mcc_loss_lap, &config);
  config.virtual_bytes = 700;
  Feed b = feed_new (&mcc_loss_lap, &config);
  const char *pattern = "..........xx........x..........x..x..x..........";

  feed_pattern (&a, pattern);
  feed_pattern (&b, pattern);
  assert_ratio (&a, mcc_loss_ratio (b.loss));
  feed_free (&a);
  feed_free (&b);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loss/lap/impact-over-interval", impact_over_interval);
  g_test_add_func ("/loss/lap/period-of-one-packet", period_of_one_packet);
  g_test_add_func ("/loss/lap/weighted-and-unweighted-impact", weighted_and_unweighted_impact);
  g_test_add_func ("/loss/lap/repair-lowers-the-impact", repair_lowers_the_impact);
  g_test_add_func ("/loss/lap/extension-aggregates", extension_aggregates);
  g_test_add_func ("/loss/lap/virtual-packets-of-equal-size-change-nothing",
      virtual_packets_of_equal_size_change_nothing);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lossfeed.h"

/* RTT = 16 packets; 20 arrive, then the pattern, then the rest of the period: Theta = 36. */
static double
impact_of (const char *pattern, unsigned window, const unsigned *repaired, unsigned num_repaired)
{
  MccLossConfig config = mcc_loss_config_default;
  config.window = window;
  Feed feed = feed_new (&mcc_loss_window, &config);

  g_assert_cmpuint (strlen (pattern), <=, 16);
  feed.rtt = 16 * feed.gap;
  feed_received (&feed, 20);
  feed_pattern (&feed, pattern);
  feed_received (&feed, 20 - (unsigned)strlen (pattern));
  for (unsigned i = 0; i < num_repaired; i++)
    feed_packet (&feed, FEED_SEQ + 20 + repaired[i]);
  double ratio = mcc_loss_ratio (feed.loss);
  feed_free (&feed);
  return ratio * 36.0;
}

/* A later loss counts only W packets after the last lost one, counted or not (ELM figure 33). */
static void
grouped_losses_count_once (void)
{
  static const struct {
    const char *pattern;
    unsigned window;
    double impact;
  } rows[] = {
    { "x", 3, 1.0 },
    { "xx", 3, 1.0 },
    { "x.x", 3, 1.0 },
    { "x..x", 3, 2.0 },
    { "x.x.x.x.x.x.x", 3, 1.0 }, /* every second lost: one group */
    { "x..x..x..x", 3, 4.0 },
    { "x.x..x", 3, 2.0 }, /* distance from the uncounted one */
    { "x.x.x..x", 3, 2.0 },
    { "xxx...xxx", 3, 2.0 },
    { "x..x", 4, 1.0 },
    { "xxxx", 1, 4.0 }, /* W = 1 is LAP */
    { "xxxx", 0, 4.0 },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpfloat_with_epsilon (
        impact_of (rows[i].pattern, rows[i].window, NULL, 0), rows[i].impact, 1e-9);
}

/* Every loss but the first, repaired alone or with another, leaves what the pattern without them
 * would have given. */
static void
repair_recounts (void)
{
  static const char *const patterns[] = { "x.x.x.x.x", "x..x..x..x", "xxx...xxx", "x.x..x.x...x",
    "xxxxxxxxxxxx", "x....xx.x..xx.x" };

  for (unsigned p = 0; p < G_N_ELEMENTS (patterns); p++) {
    unsigned length = (unsigned)strlen (patterns[p]);
    for (unsigned a = 1; a < length; a++) {
      for (unsigned b = a; b < length; b++) {
        char without[17];
        unsigned repaired[2] = { a, b };
        if (patterns[p][a] != 'x' || patterns[p][b] != 'x')
          continue;
        g_strlcpy (without, patterns[p], sizeof (without));
        without[a] = without[b] = '.';
        for (unsigned window = 0; window < 6; window++)
          g_assert_cmpfloat_with_epsilon (impact_of (patterns[p], window, repaired, a == b ? 1 : 2),
              impact_of (without, window, NULL, 0), 1e-9);
      }
    }
  }
}

/* The first one repaired: the next takes its place. */
static void
repaired_first_hands_over (void)
{
  static const unsigned first[] = { 0, 2 };

  g_assert_cmpfloat_with_epsilon (impact_of ("x.x.x", 3, first, 1), 1.0, 1e-9);
  g_assert_cmpfloat_with_epsilon (impact_of ("x.x.x", 3, first, 2), 1.0, 1e-9);
  g_assert_cmpfloat_with_epsilon (impact_of ("x..x..x", 3, first, 1), 2.0, 1e-9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loss/window/grouped-losses-count-once", grouped_losses_count_once);
  g_test_add_func ("/loss/window/repair-recounts", repair_recounts);
  g_test_add_func ("/loss/window/repaired-first-hands-over", repaired_first_hands_over);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASSP's live ladder end to end over vnet. tests/bench/assp_ladder compares it with the best fixed
 * ladders there are; this one with the even one, in short.
 */
#include "vnetpopulation.h"

static const VnetLadder even = { .count = 3, .bound_bps = { 150000, 513000, 1754000, 6000000 } };

/* Receivers get more on average, by a few changes, and never from more streams. */
static void
test_population (gconstpointer data)
{
  VnetPopulation population;
  VnetPopulationResult fixed, live;
  VnetLadder ladder = even;
  vnet_population_make (&population, GPOINTER_TO_UINT (data));
  vnet_population_run (&population, &ladder, 400, 1, &fixed);
  ladder.live = true;
  vnet_population_run (&population, &ladder, 400, 1, &live);
  g_test_message ("%s: %.0f kb/s live, %.0f even; %.2f and %.2f switches a receiver and minute",
      population.name, live.mean_bps / 1e3, fixed.mean_bps / 1e3, live.switches, fixed.switches);
  g_assert_cmpuint (fixed.ladders, ==, 0);
  g_assert_cmpuint (live.ladders, >, 0);
  g_assert_cmpuint (live.streams, <=, 3);
  g_assert_cmpfloat (live.mean_bps, >, fixed.mean_bps);
  g_assert_cmpfloat (live.switches, <, 1.0);
}

/* Where nothing changes a receiver changes streams less than once a minute, trials included. */
static void
test_calm (gconstpointer data)
{
  VnetPopulation population;
  VnetPopulationResult live;
  VnetLadder ladder = even;
  ladder.live = true;
  vnet_population_make (&population, GPOINTER_TO_UINT (data));
  vnet_population_run (&population, &ladder, 400, 5, &live);
  g_test_message ("%s: %.2f switches a receiver and minute", population.name, live.switches);
  g_assert_cmpfloat (live.switches, <, 1.0);
  g_assert_cmpuint (live.streams, <=, 3);
}

/* What a link was seen to carry is void as soon as it carries that without a queue: a receiver
 * whose stream cannot show more, for its upper bound is there, goes up in half a minute and not in
 * two. */
static void
test_link_grows (void)
{
  VnetAsspSenderConfig sender = vnet_assp_sender_default;
  MccAsspReceiverConfig config = { .asmp = { .variant = MCC_VARIANT_ENHANCED, .hears_group = true },
    .leave_latency = 500 * MCC_MSECOND,
    .lock_stream = -1 };
  VnetLink link = { .rate_bps = 1180000, .delay = 15 * MCC_MSECOND, .queue_bytes = 15000 };
  Vnet *vnet = vnet_new (3);
  sender.count = 2;
  sender.bounds[0].low_bps = 300000;
  sender.bounds[0].high_bps = sender.bounds[1].low_bps = 1250000;
  sender.bounds[1].high_bps = 6000000;
  VnetAsspSender *source = vnet_assp_sender_new (vnet, &sender, 5 * MCC_MSECOND);
  int slow = vnet_add_link (vnet, VNET_CORE, &link);
  VnetAsspReceiver *receiver
      = vnet_assp_receiver_new (vnet, slow, 0, &config, 500 * MCC_MSECOND, 4000 * MCC_SECOND, 10.0);
  vnet_run (vnet, 60 * MCC_SECOND);
  g_assert_cmpuint (vnet_assp_receiver_stream (receiver), ==, 0);
  vnet_set_rate (vnet, slow, 5000000);
  vnet_run (vnet, 90 * MCC_SECOND);
  g_assert_cmpuint (vnet_assp_receiver_stream (receiver), ==, 1);
  vnet_assp_receiver_free (receiver);
  vnet_assp_sender_free (source);
  vnet_free (vnet);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/assppopulation/uniform", GUINT_TO_POINTER (1), test_population);
  g_test_add_data_func ("/assppopulation/comes-and-goes", GUINT_TO_POINTER (4), test_population);
  g_test_add_data_func ("/assppopulation/calm-clustered", GUINT_TO_POINTER (0), test_calm);
  g_test_add_data_func ("/assppopulation/calm-outlier", GUINT_TO_POINTER (2), test_calm);
  g_test_add_func ("/assppopulation/a-link-grows", test_link_grows);
  return g_test_run ();
}

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/assppopulation/uniform", GUINT_TO_POINTER (1), test_population);
  g_test_add_data_func ("/assppopulation/comes-and-goes", GUINT_TO_POINTER (4), test_population);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ELM receiver whose sender has more layers than before, or fewer.
 */
#include "elm_receiver_fixture.h"

static void
resize (World *world, unsigned count)
{
  world->layers.count = count;
  world->layers.set++;
  say (world);
}

/* More layers above the same ones, or fewer: nobody falls further than there are layers, and
 * packets that count another number of them than was described are no losses. */
static void
test_resized (gconstpointer data)
{
  World world;
  world_init (&world, GPOINTER_TO_UINT (data));
  world.layers.count = 2;
  run (&world, 60.0);
  MccElmReceiverStats before = stats_of (&world);
  g_assert_cmpint (before.level, ==, 1);
  for (unsigned i = 0; i < 10; i++)
    g_assert_cmpint (packet (&world, i % 2, 3), ==, MCC_DROP_BAD_VALUE); /* not described yet */
  resize (&world, 3);
  for (unsigned i = 0; i < 10; i++)
    g_assert_cmpint (packet (&world, i % 2, 2), ==, MCC_DROP_BAD_VALUE); /* on their way */
  g_assert_cmpint (stats_of (&world).level, ==, 1);
  run (&world, 40.0);
  g_assert_cmpint (stats_of (&world).level, ==, 2);
  g_assert_cmpuint (stats_of (&world).joins, ==, before.joins + 1);
  g_assert_cmpuint (stats_of (&world).leaves, ==, before.leaves);
  for (unsigned count = 2; count > 0; count--) {
    resize (&world, count);
    g_assert_cmpint (stats_of (&world).level, ==, (int)count - 1);
    g_assert_cmpuint (world.joined, ==, (1u << count) - 1);
    run (&world, 10.0);
    g_assert_cmpint (stats_of (&world).level, ==, (int)count - 1);
  }
  g_assert_cmpuint (stats_of (&world).packets_lost, ==, 0);
  mcc_elm_receiver_free (world.receiver);
}

/* ... and nothing is forgotten. */
static void
test_resized_remembers (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  world.layers.count = 2;
  world.cut = 1u << 1;
  for (guint i = 0; i < 600 && stats_of (&world).absent == 0; i++)
    run (&world, 0.1);
  MccTime retry = stats_of (&world).retry[1];
  g_assert_cmpuint (retry, >, world.now);
  resize (&world, 3);
  g_assert_cmpuint (stats_of (&world).retry[1], ==, retry);
  mcc_elm_receiver_free (world.receiver);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/elm/layers/published/more-or-fewer",
      GUINT_TO_POINTER (MCC_VARIANT_PUBLISHED), test_resized);
  g_test_add_data_func (
      "/elm/layers/enhanced/more-or-fewer", GUINT_TO_POINTER (MCC_VARIANT_ENHANCED), test_resized);
  g_test_add_func ("/elm/layers/nothing-is-forgotten", test_resized_remembers);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccstandstill.h"

#define APART (10 * MCC_MSECOND)

typedef struct {
  MccStandstill machine;
  MccTime now;
} World;

static void
world_init (World *world)
{
  *world = (World){ .now = 100 * MCC_SECOND };
  mcc_standstill_init (&world->machine);
}

/* @n packets, each @apart after the one before, that waited @queue. The longest stop. */
static MccTime
feed (World *world, guint n, MccTime apart, MccTime queue)
{
  MccTime longest = 0;
  for (guint i = 0; i < n; i++) {
    world->now += apart;
    longest
        = mcc_time_max (longest, mcc_standstill_handle_packet (&world->machine, queue, world->now));
  }
  return longest;
}

static void
link_stands_still (void)
{
  World world;
  world_init (&world);
  g_assert_cmpuint (feed (&world, 200, APART, 2 * MCC_MSECOND), ==, 0);
  g_assert_cmpuint (feed (&world, 1, 110 * MCC_MSECOND, 101 * MCC_MSECOND), ==, 110 * MCC_MSECOND);
  /* What had waited comes, and waited for less and less. */
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (feed (&world, 1, 4 * MCC_MSECOND, (95 - 6 * i) * MCC_MSECOND), ==, 0);
  g_assert_cmpuint (feed (&world, 100, APART, 2 * MCC_MSECOND), ==, 0);
}

/* The sender made a pause, or packets were lost: what comes is not late. */
static void
pauses_and_losses_are_none (void)
{
  World world;
  world_init (&world);
  feed (&world, 200, APART, 2 * MCC_MSECOND);
  g_assert_cmpuint (feed (&world, 1, 100 * MCC_MSECOND, 2 * MCC_MSECOND), ==, 0);
  g_assert_cmpuint (feed (&world, 1, 2 * MCC_SECOND, 20 * MCC_MSECOND), ==, 0);
}

/* A queue that grows, by others or by too much of ours, does so over many packets. */
static void
growing_queue_is_none (void)
{
  World world;
  world_init (&world);
  feed (&world, 200, APART, 2 * MCC_MSECOND);
  for (guint i = 0; i < 50; i++)
    g_assert_cmpuint (feed (&world, 1, APART + 5 * MCC_MSECOND, (2 + 5 * i) * MCC_MSECOND), ==, 0);
}

/* On a slow link packets are as far apart as a stop is long. */
static void
slow_packets_are_none (void)
{
  World world;
  world_init (&world);
  feed (&world, 200, 60 * MCC_MSECOND, 0);
  g_assert_cmpuint (feed (&world, 1, 120 * MCC_MSECOND, 100 * MCC_MSECOND), ==, 0);
  g_assert_cmpuint (feed (&world, 50, 60 * MCC_MSECOND, 0), ==, 0);
  g_assert_cmpuint (feed (&world, 1, 400 * MCC_MSECOND, 350 * MCC_MSECOND), ==, 400 * MCC_MSECOND);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/standstill/link-stands-still", link_stands_still);
  g_test_add_func ("/standstill/pauses-and-losses-are-none", pauses_and_losses_are_none);
  g_test_add_func ("/standstill/growing-queue-is-none", growing_queue_is_none);
  g_test_add_func ("/standstill/slow-packets-are-none", slow_packets_are_none);
  return g_test_run ();
}

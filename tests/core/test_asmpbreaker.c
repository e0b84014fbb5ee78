/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Paths that do not bear the lowest rate, over vnet: who leaves, when, and what that does to the
 * others.
 */
#include "vnetasmp.h"

#define RECEIVERS 4
#define STEP MCC_SECOND
#define TOO_LOW 60000 /* the sender's minimum is 100 kb/s */
#define SEEDS 3

typedef struct {
  Vnet *vnet;
  VnetSender *sender;
  VnetReceiver *receiver[RECEIVERS];
  gboolean there[RECEIVERS];
  guint count;
  MccTime time;
} World;

static void
world_init (World *world, guint64 seed, guint count, const guint64 *rates)
{
  VnetSenderConfig sender = vnet_sender_default;
  sender.max_bps = 2000000;
  *world = (World){ .vnet = vnet_new (seed), .count = count };
  world->sender = vnet_sender_new (world->vnet, &sender, 5 * MCC_MSECOND);
  for (guint i = 0; i < count; i++) {
    VnetLink link = { .rate_bps = rates[i], .delay = (15 + i) * MCC_MSECOND, .queue_packets = 30 };
    world->receiver[i] = vnet_receiver_new (world->vnet,
        vnet_add_link (world->vnet, VNET_CORE, &link), 0, NULL, (4000 + i) * MCC_SECOND, 0.0);
    world->there[i] = TRUE;
  }
}

static void
world_clear (World *world)
{
  for (guint i = 0; i < world->count; i++)
    vnet_receiver_free (world->receiver[i]);
  vnet_sender_free (world->sender);
  vnet_free (world->vnet);
}

/* Until receiver 0 leaves, @seconds at most; 0: it does not. Nobody else does. */
static double
until_left (World *world, guint seconds)
{
  for (guint i = 0; i < seconds; i++) {
    world->time += STEP;
    vnet_run (world->vnet, world->time);
    for (guint j = 1; j < world->count; j++)
      g_assert_cmpint (vnet_receiver_ceased (world->receiver[j]), ==, MCC_BREAKER_CLOSED);
    if (world->there[0] && vnet_receiver_ceased (world->receiver[0]) != MCC_BREAKER_CLOSED) {
      vnet_receiver_crash (world->receiver[0]);
      world->there[0] = FALSE;
      return mcc_time_to_seconds (world->time);
    }
  }
  return 0.0;
}

/* It starves three others: asked to leave, or by its own breaker, but it goes within 45 s, and they
 * have what their paths bear. */
static void
test_starves (void)
{
  static const guint64 rates[] = { TOO_LOW, 1500000, 3000000, 10000000 };
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, 4, rates);
    double left = until_left (&world, 90);
    g_test_message ("seed %d: left after %.0f s (%s)", (int)seed, left,
        mcc_breaker_verdict_name (vnet_receiver_ceased (world.receiver[0])));
    g_assert_cmpfloat (left, >=, 15.0);
    g_assert_cmpfloat (left, <=, 45.0);
    until_left (&world, 30);
    g_assert_cmpuint (vnet_sender_target (world.sender), >, 1200000);
    world_clear (&world);
  }
}

/* Alone it is not asked: its own breaker says so. */
static void
test_alone (void)
{
  static const guint64 rates[] = { 40000 };
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, 1, rates);
    double left = until_left (&world, 120);
    g_test_message ("seed %d: left after %.0f s (%s)", (int)seed, left,
        mcc_breaker_verdict_name (vnet_receiver_ceased (world.receiver[0])));
    g_assert_cmpfloat (left, >=, 15.0);
    world_clear (&world);
  }
}

/* A path that bears little more than the minimum: nobody leaves. */
static void
test_bears (void)
{
  static const guint64 rates[] = { 130000, 1500000, 3000000, 10000000 };
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, 4, rates);
    g_assert_cmpfloat (until_left (&world, 180), ==, 0.0);
    world_clear (&world);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpbreaker/starves-others", test_starves);
  g_test_add_func ("/asmpbreaker/alone", test_alone);
  g_test_add_func ("/asmpbreaker/path-that-bears-the-minimum", test_bears);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccelmwhole.h"

#define EPOCH (1000 * MCC_SECOND)
#define HOME 1000000
#define MOST 4000000

typedef struct {
  MccElmWhole whole;
  MccElmLayers layers;
  MccTime now;
  unsigned starved;      /* have less than the base layer */
  unsigned count, below; /* receivers, of them below the highest level */
  guint64 limit_bps;     /* of the first one; 0: none */
  double sent;           /* of T */
  bool plain;            /* the last one is a plain player, limited to */
  guint64 plain_bps;
  unsigned moves;
} World;

static void
world_init (World *world, unsigned count)
{
  memset (world, 0, sizeof *world);
  world->now = EPOCH;
  world->count = count;
  world->sent = 1.0;
  world->layers.count = 3;
  world->layers.feedback_interval = MCC_SECOND;
  mcc_elm_whole_init (&world->whole, &(MccElmWholeBounds){ MOST, HOME }, EPOCH);
}

static void
run (World *world, unsigned seconds)
{
  static const double share[] = { 0.3, 0.55, 1.0 };
  for (; seconds > 0; seconds--) {
    guint64 before = world->whole.target_bps;
    double sent = world->sent * (double)MAX (before, HOME);
    world->now += MCC_SECOND;
    for (unsigned k = 0; k < 3; k++)
      world->layers.layer[k].cumulative_bps = (guint64)(share[k] * sent);
    for (unsigned i = 0; i < world->count; i++) {
      bool plain = world->plain && i + 1 == world->count;
      MccElmWholeReceiver receiver = { .level = i < world->below ? 1 : 2,
        .limited = i == 0 && world->limit_bps > 0,
        .rate_bps = world->limit_bps };
      if (i < world->starved)
        receiver = (MccElmWholeReceiver){ .limited = true, .rate_bps = HOME / 5 };
      if (plain)
        receiver = (MccElmWholeReceiver){
          .plain = true, .limited = world->plain_bps > 0, .rate_bps = world->plain_bps
        };
      mcc_elm_whole_add (&world->whole, &world->layers, &receiver);
    }
    if (mcc_elm_whole_decide (&world->whole, &world->layers, world->now))
      world->moves++;
    else
      g_assert_cmpuint (world->whole.target_bps, ==, before);
    /* A tenth at most, within the bounds. */
    g_assert_cmpfloat ((double)world->whole.target_bps, <=, 1.1 * (double)before + 1.0);
    g_assert_cmpfloat ((double)world->whole.target_bps, >=, (double)before / 1.1 - 1.0);
    g_assert_cmpuint (world->whole.target_bps, >=, HOME);
    g_assert_cmpuint (world->whole.target_bps, <=, MOST);
  }
}

static void
test_rises (void)
{
  World world;
  world_init (&world, 3);
  run (&world, 9);
  g_assert_cmpuint (world.moves, ==, 0);
  run (&world, 3);
  g_assert_cmpuint (world.moves, ==, 1);
  run (&world, 400);
  g_assert_cmpuint (world.whole.target_bps, >=, 39 * MOST / 40);
}

/* One in 20 may differ; of fewer each counts. */
static void
test_not_while_levels_differ (void)
{
  World world;
  world_init (&world, 19);
  world.below = 1;
  run (&world, 100);
  g_assert_cmpuint (world.moves, ==, 0);
  world_init (&world, 20);
  world.below = 1;
  run (&world, 100);
  g_assert_cmpuint (world.moves, >, 3);
}

static void
test_not_near_the_limit (void)
{
  World world;
  world_init (&world, 3);
  world.limit_bps = 6 * HOME / 5;
  run (&world, 100);
  g_assert_cmpuint (world.moves, ==, 0);
  world.limit_bps = 5 * HOME / 4;
  run (&world, 100);
  g_assert_cmpuint (world.moves, ==, 1);
}

static void
test_nobody (void)
{
  World world;
  world_init (&world, 0);
  run (&world, 100);
  g_assert_cmpuint (world.moves, ==, 0);
}

/* What the encoder has nothing to fill with says nothing. */
static void
test_not_filled (void)
{
  World world;
  world_init (&world, 3);
  world.sent = 0.8;
  run (&world, 100);
  g_assert_cmpuint (world.moves, ==, 0);
}

static void
rise_once (World *world)
{
  unsigned moves = world->moves;
  guint64 before = world->whole.target_bps;
  for (unsigned i = 0; i < 2000 && world->moves == moves; i++)
    run (world, 1);
  g_assert_cmpuint (world->whole.target_bps, >, before);
}

/* A trial that fails is undone within a look, and the waits double. */
static void
test_undone (void)
{
  World world;
  MccTime failed = 0;
  world_init (&world, 3);
  for (unsigned i = 0; i < 7; i++) {
    rise_once (&world);
    MccTime waited = world.now - failed;
    MccTime wait = MCC_ELM_WHOLE_WAIT_MIN << (i > 5 ? 4 : i > 0 ? i - 1 : 0);
    if (i > 0)
      g_assert_cmpuint (waited, >=, wait);
    if (i > 0)
      g_assert_cmpuint (waited, <=, wait + 20 * MCC_SECOND);
    run (&world, 3);
    world.below = 2;
    run (&world, 1);
    failed = world.now;
    g_assert_cmpuint (world.whole.target_bps, ==, HOME);
    world.below = 0;
  }
}

/* One of many neither undoes a trial nor sends T home; one of few does where the mean falls. */
static void
test_one_of_several (void)
{
  World world;
  world_init (&world, 19);
  rise_once (&world);
  world.below = 1;
  run (&world, 300);
  g_assert_cmpuint (world.moves, ==, 1);
  world_init (&world, 3);
  rise_once (&world);
  world.limit_bps = HOME;
  run (&world, 8);
  g_assert_cmpuint (world.moves, ==, 1);
  world.below = 1; /* 0.605 + 2 x 1.1 */
  run (&world, 1);
  g_assert_cmpuint (world.whole.target_bps, ==, HOME);
  world_init (&world, 1);
  rise_once (&world);
  world.limit_bps = HOME;
  run (&world, 1);
  g_assert_cmpuint (world.whole.target_bps, ==, HOME);
}

static void
test_returns (void)
{
  World world;
  world_init (&world, 3);
  run (&world, 200);
  g_assert_cmpuint (world.whole.target_bps, >, 2 * HOME);
  world.below = 1;
  run (&world, 300);
  g_assert_cmpuint (world.whole.target_bps, >, 2 * HOME);
  world.below = 2;
  run (&world, 29);
  g_assert_cmpuint (world.whole.target_bps, >, 2 * HOME);
  run (&world, 900);
  g_assert_cmpuint (world.whole.target_bps, ==, HOME);
}

/* Few that cannot have the base layer are reason enough, but not one. */
static void
test_starved (void)
{
  World world;
  world_init (&world, 30);
  run (&world, 200);
  g_assert_cmpuint (world.whole.target_bps, >, 2 * HOME);
  world.starved = 1;
  run (&world, 600);
  g_assert_cmpuint (world.whole.target_bps, >, 2 * HOME);
  world.starved = 2;
  run (&world, 600);
  g_assert_cmpuint (world.whole.target_bps, ==, HOME);
}

/* Who has one layer only cannot leave any. */
static void
test_one_layer (void)
{
  World world;
  world_init (&world, 3);
  world.layers.count = 1;
  run (&world, 100);
  g_assert_cmpuint (world.moves, ==, 0);
}

static void
test_plain (void)
{
  World world;
  world_init (&world, 3);
  world.plain = true;
  world.plain_bps = 35 * HOME / 100; /* less than a fifth above the base layer's */
  run (&world, 100);
  g_assert_cmpuint (world.moves, ==, 0);
  world.plain_bps = 0;
  run (&world, 100);
  g_assert_cmpuint (world.moves, >, 3);
}

static void
test_home_as_measured (void)
{
  World world;
  world_init (&world, 3);
  mcc_elm_whole_init (&world.whole, &(MccElmWholeBounds){ .max_bps = MOST }, EPOCH);
  world.whole.target_bps = 0;
  for (unsigned k = 0; k < 3; k++)
    world.layers.layer[k].cumulative_bps = HOME * (k + 1) / 3;
  g_assert_false (mcc_elm_whole_decide (&world.whole, &world.layers, EPOCH));
  g_assert_cmpuint (world.whole.target_bps, ==, HOME);
  run (&world, 30);
  g_assert_cmpuint (world.moves, >=, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/whole/rises-where-all-have-outgrown-it", test_rises);
  g_test_add_func ("/elm/whole/stays-while-levels-differ", test_not_while_levels_differ);
  g_test_add_func ("/elm/whole/stays-near-the-limit", test_not_near_the_limit);
  g_test_add_func ("/elm/whole/stays-without-receivers", test_nobody);
  g_test_add_func ("/elm/whole/stays-where-it-is-not-filled", test_not_filled);
  g_test_add_func ("/elm/whole/a-trial-that-fails-is-undone", test_undone);
  g_test_add_func ("/elm/whole/one-of-several", test_one_of_several);
  g_test_add_func ("/elm/whole/returns-home", test_returns);
  g_test_add_func ("/elm/whole/few-without-the-base-layer", test_starved);
  g_test_add_func ("/elm/whole/one-layer", test_one_layer);
  g_test_add_func ("/elm/whole/plain-players", test_plain);
  g_test_add_func ("/elm/whole/home-as-measured", test_home_as_measured);
  return g_test_run ();
}

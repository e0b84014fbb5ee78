/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A trial of a layer beside others: a queue that falls while we have left nothing is not ours
 * alone, and one window of losses may be their overflow (mccelmtrial.h, RIVAL_WINDOWS); unless it
 * was a burst of ours that made it.
 */
#include <glib.h>

#include "mccelmreceiver.h"
#include "mccjitter.h"

#define EPOCH (1357 * MCC_SECOND)
#define SENDER 0x100u
#define COUNT 3
#define DELAY (10 * MCC_MSECOND)
#define GAP (10 * MCC_MSECOND) /* 100 packets of 1000 bytes a second, of all layers together */

typedef struct {
  MccElmReceiver *receiver;
  MccTime now, queue;
  MccElmLayers layers;
  guint16 c[MCC_ELM_LAYERS_MAX], seq[MCC_ELM_LAYERS_MAX];
  unsigned joined; /* bits */
  guint n;
  guint lose; /* so many more of the newest layer's */
} World;

static World
world_new (int max_level)
{
  MccElmReceiverConfig config = { .variant = MCC_VARIANT_ENHANCED,
    .ssrc = 7,
    .seed = 1,
    .hears_group = true,
    .leave_latency = 1,
    .max_level = max_level };
  World world = { .now = EPOCH, .receiver = mcc_elm_receiver_new (&config, EPOCH) };
  world.layers = (MccElmLayers){
    .count = COUNT, .round_interval = 2 * MCC_SECOND, .feedback_interval = MCC_SECOND
  };
  for (unsigned k = 0; k < COUNT; k++)
    world.layers.layer[k] = (MccElmLayer){ .cumulative_bps = 200000u << k,
      .address_offset = (uint16_t)k,
      .port_offset = (uint16_t)(2 * k),
      .ssrc = SENDER + k };
  return world;
}

static void
drain (World *world)
{
  MccElmReceiverAction action;
  while (mcc_elm_receiver_poll (world->receiver, &action)) {
    if (action.type == MCC_ELM_RECEIVER_JOIN)
      world->joined |= 1u << action.layer;
    if (action.type == MCC_ELM_RECEIVER_LEAVE)
      world->joined &= ~(1u << action.layer);
  }
}

static void
describe (World *world)
{
  MccTime length = world->layers.round_interval;
  world->layers.number++;
  world->layers.round = (guint32)((world->now - EPOCH) / length);
  world->layers.round_time = mcc_abs_send_time (EPOCH + world->layers.round * length);
  MccElmApp app = { .ssrc = SENDER, .subtype = MCC_ELM_LAYERS, .layers = world->layers };
  mcc_elm_receiver_handle_app (world->receiver, &app, NULL, world->now);
  drain (world);
}

static void
step (World *world)
{
  world->now += GAP;
  while (mcc_elm_receiver_next_timeout (world->receiver) <= world->now)
    mcc_elm_receiver_handle_timeout (world->receiver, world->now);
  drain (world);
  if (world->n % 200 == 0)
    describe (world);
  unsigned layer = world->n % 4 == 0 ? 0 : world->n % 4 == 2 ? 1 : 2;
  world->n++;
  world->seq[layer]++;
  for (unsigned k = layer; k < MCC_ELM_LAYERS_MAX; k++)
    world->c[k]++;
  bool lost = world->lose > 0 && (world->joined >> layer & 1);
  world->lose -= lost;
  if (lost || !(world->joined >> layer & 1))
    return;
  MccRtpPacket rtp = { .ssrc = SENDER + layer,
    .seq = world->seq[layer],
    .bytes = 1000,
    .has_send_time = true,
    .send_time = mcc_abs_send_time (world->now - DELAY - world->queue) };
  mcc_elm_receiver_handle_rtp (world->receiver, layer, &rtp, world->c, COUNT, NULL, world->now);
  drain (world);
}

static void
run (World *world, double seconds, MccTime queue)
{
  world->queue = queue;
  for (MccTime end = world->now + mcc_time_from_seconds (seconds); world->now < end;)
    step (world);
}

/* Pictures of ours come faster than the link carries them: the queue grows as they come. */
static void
burst (World *world)
{
  for (unsigned i = 0; i < 20; i++) {
    world->queue += 3 * MCC_MSECOND;
    step (world);
  }
}

static int
level_of (World *world)
{
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (world->receiver, world->now, &stats);
  return stats.level;
}

typedef enum { NOBODY, OTHERS, BURST } Queue;

/* Level 1 without losses; @who makes a queue, then level 2, and 8 packets of a window of it are
 * lost. Whether level 2 is left. */
static bool
leaves (Queue who)
{
  World world = world_new (1);
  run (&world, 30.0, 0);
  g_assert_cmpint (level_of (&world), ==, 1);
  if (who == OTHERS) {
    run (&world, 3.0, 30 * MCC_MSECOND);
    run (&world, 3.0, 60 * MCC_MSECOND);
  } else if (who == BURST) {
    burst (&world);
    run (&world, 1.5, 60 * MCC_MSECOND);
  }
  run (&world, 10.0, 0);
  mcc_elm_receiver_set_max_level (world.receiver, -1, world.now);
  drain (&world);
  for (guint i = 0; i < 3000 && level_of (&world) < 2; i++)
    step (&world);
  g_assert_cmpint (level_of (&world), ==, 2);
  run (&world, 0.5, 0);
  world.lose = 8;
  run (&world, 2.4, 0); /* the trial is over */
  g_assert_cmpuint (world.lose, ==, 0);
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (world.receiver, world.now, &stats);
  g_assert_cmpuint (stats.packets_lost, >=, stats.level == 2 ? 8 : 0);
  mcc_elm_receiver_free (world.receiver);
  return stats.level < 2;
}

static void
test_one_window (void)
{
  g_assert_true (leaves (NOBODY));
  g_assert_false (leaves (OTHERS));
  g_assert_true (leaves (BURST));
}

/* A layer that is too much is left, and what its trial measured is forgotten; what was counted is
 * not. */
static void
test_counters (void)
{
  World world = world_new (-1);
  MccElmReceiverStats stats = { 0 }, before;
  for (guint i = 0; i < 6000; i++) {
    if (world.joined == 7 && stats.failed == 0)
      world.lose = world.n % 3 == 0; /* a third of what comes */
    step (&world);
    before = stats;
    mcc_elm_receiver_get_stats (world.receiver, world.now, &stats);
    g_assert_cmpuint (stats.packets_received, >=, before.packets_received);
    g_assert_cmpuint (stats.packets_lost, >=, before.packets_lost);
  }
  g_assert_cmpuint (stats.failed, >=, 1);
  mcc_elm_receiver_free (world.receiver);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/beside/one-window-is-not-ours", test_one_window);
  g_test_add_func ("/elm/beside/counters-never-fall", test_counters);
  return g_test_run ();
}

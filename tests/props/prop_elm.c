/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ELM receiver under random events (good and forged descriptions, other layers, losses, silence,
 * BYE, limits, others' reports): the level moves by one layer at a time within those that there
 * are, one join at a time, what is left was joined. The same seed gives the same run; shifting time
 * and the counts' base changes nothing.
 */
#include <string.h>

#include "mccelmreceiver.h"
#include "mccjitter.h"
#include "prop.h"

#define EVENTS 3000
#define SENDER 0x1000u /* SSRC of its base layer; the others follow */

typedef struct {
  MccRng *rng;
  MccElmReceiver *receiver;
  MccTime now;
  MccElmLayers layers; /* that the sender has; it may not have been told yet */
  uint32_t ssrc;
  uint16_t seq[MCC_ELM_LAYERS_MAX], c[MCC_ELM_LAYERS_MAX];
  /* As the host sees it. */
  int level, joined; /* highest */
  uint64_t hash;     /* of all actions and their times since the start */
  MccTime epoch;
  unsigned joins;
} World;

static void
make_layers (World *world)
{
  MccElmLayers *layers = &world->layers;
  uint64_t bps = 0;
  layers->count = 1 + (unsigned)prop_below (world->rng, MCC_ELM_LAYERS_MAX);
  layers->set++;
  layers->round_interval = (250 + prop_below (world->rng, 4000)) * MCC_MSECOND;
  layers->feedback_interval = (500 + prop_below (world->rng, 5000)) * MCC_MSECOND;
  layers->round_time = mcc_abs_send_time (world->now);
  for (unsigned k = 0; k < layers->count; k++) {
    bps += 20000 + prop_below (world->rng, 400000);
    layers->layer[k] = (MccElmLayer){ .cumulative_bps = bps,
      .address_offset = (uint16_t)k,
      .port_offset = (uint16_t)(2 * k),
      .ssrc = world->ssrc + k };
  }
}

static void
note (World *world, uint64_t value)
{
  world->hash = (world->hash ^ value) * UINT64_C (0x100000001b3);
}

static void
drain (World *world)
{
  MccElmReceiverAction action;
  unsigned actions = 0;
  while (mcc_elm_receiver_poll (world->receiver, &action)) {
    g_assert_cmpuint (++actions, <=, 64);
    note (world, (uint64_t)action.type << 8 | action.layer);
    note (world, world->now - world->epoch);
    switch (action.type) {
      case MCC_ELM_RECEIVER_JOIN:
        g_assert_cmpint ((int)action.layer, ==, world->joined + 1);
        g_assert_cmpint (world->joined, ==, world->level); /* one at a time */
        world->joined++;
        world->joins++;
        break;
      case MCC_ELM_RECEIVER_LEAVE:
        g_assert_cmpint ((int)action.layer, ==, world->joined);
        world->joined--;
        break;
      case MCC_ELM_RECEIVER_LEVEL:
        g_assert_cmpint (action.from, ==, world->level);
        g_assert_cmpint (ABS (action.level - action.from), ==, 1);
        world->level = action.level;
        g_assert_cmpint (world->level, >=, -1);
        break;
      case MCC_ELM_RECEIVER_REPORT:
        g_assert_cmpuint (action.app.level, <, MCC_ELM_LAYERS_MAX);
        note (world, action.app.asmp.report.rate_bps);
        break;
      default:
        break;
    }
  }
  const MccElmLayers *told = mcc_elm_receiver_layers (world->receiver);
  g_assert_cmpint (world->joined, <, told != NULL ? (int)told->count : 0);
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (world->receiver, world->now, &stats);
  g_assert_cmpint (stats.level, ==, world->level);
  g_assert_cmpint (stats.wanted, ==, world->joined);
}

static void
describe (World *world, bool forged)
{
  MccElmApp app = { .ssrc = world->ssrc, .subtype = MCC_ELM_LAYERS };
  world->layers.number++;
  app.layers = world->layers;
  if (forged) {
    unsigned k = (unsigned)prop_below (world->rng, MCC_ELM_LAYERS_MAX);
    app.layers.layer[k].cumulative_bps = prop_below (world->rng, 1000);
    app.layers.count = (unsigned)prop_below (world->rng, 12);
    app.ssrc += (uint32_t)prop_below (world->rng, 2);
  }
  mcc_elm_receiver_handle_app (world->receiver, &app, NULL, world->now);
}

static void
other (World *world)
{
  MccElmApp app = { .ssrc = 50 + (uint32_t)prop_below (world->rng, 5), .subtype = MCC_APP_REPORT };
  app.level = (unsigned)prop_below (world->rng, MCC_ELM_LAYERS_MAX);
  app.wanted = (unsigned)prop_below (world->rng, MCC_ELM_LAYERS_MAX);
  app.flags = (uint32_t)prop_below (world->rng, 8);
  app.asmp.report.rate_bps = 1 + prop_below (world->rng, 1000000);
  mcc_elm_receiver_handle_app (world->receiver, &app, NULL, world->now);
}

static void
answer (World *world)
{
  MccElmApp app = { .ssrc = world->ssrc, .subtype = MCC_APP_RTT };
  app.asmp.rtt.count = 1;
  app.asmp.rtt.entry[0] = (MccAppRtt){ 7, (uint32_t)prop_below (world->rng, 40),
    (1 + prop_below (world->rng, 300)) * MCC_MSECOND };
  mcc_elm_receiver_handle_app (world->receiver, &app, NULL, world->now);
}

static void
receive (World *world)
{
  unsigned lossy = prop_below (world->rng, 3) == 0 ? 6 : 200;
  for (uint64_t n = 1 + prop_below (world->rng, 30); n > 0; n--) {
    unsigned j = (unsigned)prop_below (world->rng, world->layers.count);
    MccRtpPacket packet = { .ssrc = world->ssrc + j,
      .seq = ++world->seq[j],
      .bytes = 100 + (uint32_t)prop_below (world->rng, 1300),
      .has_send_time = true,
      .send_time = mcc_abs_send_time (world->now - prop_below (world->rng, 40) * MCC_MSECOND) };
    for (unsigned k = j; k < MCC_ELM_LAYERS_MAX; k++)
      world->c[k]++;
    world->now += prop_below (world->rng, 8) * MCC_MSECOND;
    if (prop_below (world->rng, lossy) == 0 || ((int)j > world->joined && n % 8))
      continue;
    mcc_elm_receiver_handle_rtp (
        world->receiver, j, &packet, world->c, world->layers.count, NULL, world->now);
    drain (world);
  }
}

static void
event (World *world)
{
  switch (prop_below (world->rng, 30)) {
    case 0:
      describe (world, true);
      break;
    case 1:
      if (prop_below (world->rng, 5) == 0)
        make_layers (world);
      break;
    case 2:
      mcc_elm_receiver_set_max_level (
          world->receiver, (int)prop_below (world->rng, 9) - 1, world->now);
      break;
    case 3:
      if (prop_below (world->rng, 10) == 0)
        mcc_elm_receiver_handle_bye (world->receiver, world->ssrc, world->now);
      break;
    case 4:
      if (prop_below (world->rng, 20) == 0) { /* another process */
        world->ssrc += 0x100;
        make_layers (world);
      }
      break;
    case 5:
      world->now += prop_below (world->rng, 4000) * MCC_MSECOND;
      break;
    case 6:
      mcc_elm_receiver_handle_picture (world->receiver, prop_below (world->rng, 2), world->now);
      break;
    case 7:
      mcc_elm_receiver_handle_host_dropped (world->receiver, 3, world->now);
      break;
    case 8:
    case 9:
      other (world);
      break;
    case 10:
    case 11:
      answer (world);
      break;
    case 12:
    case 13:
    case 14:
      describe (world, false);
      break;
    default:
      receive (world);
      break;
  }
}

/* The hash of a run from @seed whose clock begins at @epoch and whose counts begin at @base. */
static uint64_t
run (uint64_t seed, MccTime epoch, uint16_t base)
{
  static const MccElmStrategy *const strategies[]
      = { &mcc_elm_naive, &mcc_elm_skeptical, &mcc_elm_lazy };
  MccRng rng;
  mcc_rng_init (&rng, seed);
  World world
      = { .rng = &rng, .now = epoch, .epoch = epoch, .ssrc = SENDER, .level = -1, .joined = -1 };
  MccElmReceiverConfig config
      = { .variant = prop_below (&rng, 2) ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED,
          .ssrc = 7,
          .seed = mcc_rng_next (&rng),
          .strategy = strategies[prop_below (&rng, 3)],
          .smoothing = (MccElmSmoothing)prop_below (&rng, 3),
          .leave_latency = 500 * MCC_MSECOND,
          .max_level = -1,
          .hears_group = true };
  for (unsigned k = 0; k < MCC_ELM_LAYERS_MAX; k++)
    world.c[k] = world.seq[k] = base;
  world.receiver = mcc_elm_receiver_new (&config, world.now);
  make_layers (&world);
  for (unsigned i = 0; i < EVENTS; i++) {
    event (&world);
    drain (&world);
    world.now += prop_below (&rng, 60) * MCC_MSECOND;
    for (unsigned n = 0; mcc_elm_receiver_next_timeout (world.receiver) <= world.now; n++) {
      g_assert_cmpuint (n, <, 100); /* time-outs come to an end */
      mcc_elm_receiver_handle_timeout (world.receiver, world.now);
      drain (&world);
    }
  }
  g_test_message ("%u joins", world.joins);
  mcc_elm_receiver_free (world.receiver);
  return world.hash;
}

static void
law_levels (MccRng *rng)
{
  run (mcc_rng_next (rng), 1000 * MCC_SECOND, 0);
}

/* By a multiple of 64 s: send times wrap, and their steps of 4 us are the same then. */
static void
law_repeats (MccRng *rng)
{
  uint64_t seed = mcc_rng_next (rng);
  uint64_t hash = run (seed, 640 * MCC_SECOND, 0);
  g_assert_cmpuint (run (seed, 640 * MCC_SECOND, 0), ==, hash);
  g_assert_cmpuint (run (seed, 640 * MCC_SECOND, 65000), ==, hash);
  g_assert_cmpuint (run (seed, 64000 * MCC_SECOND, 0), ==, hash);
}

static void
test_levels (void)
{
  prop_run (law_levels, 40);
}

static void
test_repeats (void)
{
  prop_run (law_repeats, 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/a-layer-a-step", test_levels);
  g_test_add_func ("/elm/same-seed-same-run", test_repeats);
  return g_test_run ();
}

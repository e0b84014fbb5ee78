/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Alone on a link that carries some layers and not the next: what trying that costs.
 */
#include "vnetelm.h"

#define SEED 7
#define QUEUE (200 * MCC_MSECOND)
#define RTT (40 * MCC_MSECOND)

typedef struct {
  double fps, bps;
  int level;                /* the highest that the link carries */
  unsigned tries, tries_50; /* of the next one, at most: in 120 s, in the first 50 s */
  guint64 lost;             /* of the base layer, at most, in 120 s */
} Case;

typedef struct {
  Vnet *vnet;
  int link;
  VnetElmSender *sender;
  VnetElmReceiver *receiver;
} World;

static const MccElmReceiverConfig receiver_config = { .variant = MCC_VARIANT_ENHANCED,
  .hears_group = true,
  .max_level = -1,
  .leave_latency = 2 * MCC_SECOND };

/* Layers of 350, 500 and 700 kb/s behind a queue of 200 ms; a leave takes 0.5 s. */
static void
world_init (World *world, double fps, double bps, guint64 seed)
{
  VnetElmSenderConfig config = vnet_elm_sender_default;
  VnetLink link = { .rate_bps = (guint64)bps,
    .delay = RTT / 2,
    .queue_bytes = (guint32)(bps / 8.0 * mcc_time_to_seconds (QUEUE)) };
  config.fps = fps;
  config.count = 3;
  config.cumulative_bps[0] = 350000;
  config.cumulative_bps[1] = 500000;
  config.cumulative_bps[2] = 700000;
  world->vnet = vnet_new (seed);
  world->sender = vnet_elm_sender_new (world->vnet, &config, MCC_MSECOND);
  world->link = vnet_add_link (world->vnet, VNET_CORE, &link);
  world->receiver = vnet_elm_receiver_new (world->vnet, world->link, MCC_MSECOND, &receiver_config,
      500 * MCC_MSECOND, 500 * MCC_SECOND, 20.0);
}

static void
world_clear (World *world)
{
  vnet_elm_receiver_free (world->receiver);
  vnet_elm_sender_free (world->sender);
  vnet_free (world->vnet);
}

static unsigned
tries (World *world, int level)
{
  const GArray *steps = vnet_elm_receiver_switches (world->receiver);
  unsigned count = 0;
  for (guint n = 0; n < steps->len; n++) {
    const VnetElmSwitch *step = &g_array_index (steps, VnetElmSwitch, n);
    count += step->from < step->level && step->level > level;
  }
  return count;
}

static void
test_vain (gconstpointer data)
{
  const Case *test = data;
  for (guint64 seed = SEED; seed < SEED + 4; seed++) {
    World world;
    world_init (&world, test->fps, test->bps, seed);
    vnet_run (world.vnet, 10 * MCC_SECOND);
    g_assert_cmpint (vnet_elm_receiver_level (world.receiver), ==, test->level);
    vnet_run (world.vnet, 50 * MCC_SECOND);
    unsigned first = tries (&world, test->level);
    vnet_run (world.vnet, 120 * MCC_SECOND);
    guint64 lost = vnet_elm_receiver_base_lost (world.receiver);
    g_test_message ("seed %u: %u tries in 50 s, %u in 120 s, %" G_GUINT64_FORMAT
                    " packets of the base layer lost",
        (guint)seed, first, tries (&world, test->level), lost);
    g_assert_cmpuint (first, <=, test->tries_50);
    g_assert_cmpuint (tries (&world, test->level), <=, test->tries);
    g_assert_cmpuint (lost, <=, test->lost);
    g_assert_cmpfloat (
        mcc_time_to_seconds (vnet_elm_receiver_time_at (world.receiver, test->level)), >=, 110.0);
    world_clear (&world);
  }
}

/* A host that is late gets a picture's packets closer together: one burst of many looks as fast as
 * the next layer, and is no reason to try. */
static void
test_late_host (void)
{
  for (guint64 seed = SEED; seed < SEED + 4; seed++) {
    World world;
    world_init (&world, 25.0, 600e3, seed);
    for (unsigned n = 1; n <= 7; n++) {
      vnet_run (world.vnet, n * 8 * MCC_SECOND);
      vnet_set_rate (world.vnet, world.link, 800e3);
      vnet_run (world.vnet, n * 8 * MCC_SECOND + 60 * MCC_MSECOND);
      vnet_set_rate (world.vnet, world.link, 600e3);
    }
    vnet_run (world.vnet, 60 * MCC_SECOND);
    g_assert_cmpuint (tries (&world, 1), ==, 0);
    g_assert_cmpint (vnet_elm_receiver_level (world.receiver), ==, 1);
    world_clear (&world);
  }
}

/* A peak of what is sent that overflows the queue for once: a loss is no reason to try what the
 * link does not carry, however much the TCP equation makes of it. */
static void
test_peak (void)
{
  for (guint64 seed = SEED; seed < SEED + 4; seed++) {
    World world;
    world_init (&world, 25.0, 600e3, seed);
    vnet_run (world.vnet, 20 * MCC_SECOND);
    guint64 before = vnet_elm_receiver_base_lost (world.receiver);
    vnet_set_rate (world.vnet, world.link, 300e3);
    for (MccTime at = 20 * MCC_SECOND;
         vnet_elm_receiver_base_lost (world.receiver) == before && at < 23 * MCC_SECOND;)
      vnet_run (world.vnet, at += 100 * MCC_MSECOND);
    vnet_set_rate (world.vnet, world.link, 600e3);
    g_assert_cmpuint (vnet_elm_receiver_base_lost (world.receiver), >, before);
    vnet_run (world.vnet, 60 * MCC_SECOND);
    g_test_message ("seed %u: %u tries", (guint)seed, tries (&world, 1));
    g_assert_cmpuint (tries (&world, 1), ==, 0);
    g_assert_cmpint (vnet_elm_receiver_level (world.receiver), ==, 1);
    world_clear (&world);
  }
}

/* Beside a Reno-like flow bursts are carried at our share, and not even that while its packets
 * stand in the queue: no reason not to try. */
static void
test_share (void)
{
  double sum = 0.0;
  for (guint64 seed = SEED; seed < SEED + 4; seed++) {
    World world;
    world_init (&world, 25.0, 1.8e6, seed);
    vnet_add_flow (world.vnet, world.link, RTT, 1000);
    vnet_run (world.vnet, 60 * MCC_SECOND);
    double at_s = mcc_time_to_seconds (vnet_elm_receiver_time_at (world.receiver, 2));
    g_test_message ("seed %u: %.0f of 60 s at the fair level", (guint)seed, at_s);
    sum += at_s;
    world_clear (&world);
  }
  g_assert_cmpfloat (sum, >=, 4 * 36.0);
}

/* A link that carries more again is used within seconds: bursts show it, whatever was tried. */
static void
test_more (void)
{
  for (guint64 seed = SEED; seed < SEED + 4; seed++) {
    World world;
    world_init (&world, 25.0, 600e3, seed);
    vnet_run (world.vnet, 80 * MCC_SECOND);
    g_assert_cmpint (vnet_elm_receiver_level (world.receiver), ==, 1);
    vnet_set_rate (world.vnet, world.link, 2e6);
    vnet_run (world.vnet, 100 * MCC_SECOND);
    g_assert_cmpint (vnet_elm_receiver_level (world.receiver), ==, 2);
    world_clear (&world);
  }
}

/* Of seven layers from 125 kb/s on, each twice the one before, evenly spaced. */
static VnetElmSender *
sender_of_seven (Vnet *vnet)
{
  VnetElmSenderConfig config = vnet_elm_sender_default;
  config.fps = 0.0;
  config.count = 7;
  for (unsigned k = 0; k < config.count; k++)
    config.cumulative_bps[k] = 125000u << k;
  return vnet_elm_sender_new (vnet, &config, MCC_MSECOND);
}

/* Three behind one link, of whom one is ahead: what it tries in vain fails the joins that the
 * others make just then, and what it has costs them nothing. They are not kept below it for that.
 */
static void
test_behind (void)
{
  for (guint64 seed = SEED; seed < SEED + 6; seed++) {
    VnetLink link = { .rate_bps = 6000000, .delay = RTT / 2, .queue_bytes = 90000 };
    VnetElmReceiver *receiver[3];
    Vnet *vnet = vnet_new (seed);
    VnetElmSender *sender = sender_of_seven (vnet);
    int down = vnet_add_link (vnet, VNET_CORE, &link);
    for (unsigned i = 0; i < G_N_ELEMENTS (receiver); i++) {
      vnet_run (vnet, i * (1100 + 100 * seed % 700) * MCC_MSECOND);
      receiver[i] = vnet_elm_receiver_new (
          vnet, down, (i + 1) * MCC_MSECOND, &receiver_config, MCC_SECOND, 500 * MCC_SECOND, 20.0);
    }
    vnet_run (vnet, 100 * MCC_SECOND);
    double at[3];
    for (unsigned i = 0; i < G_N_ELEMENTS (receiver); i++)
      at[i] = mcc_time_to_seconds (vnet_elm_receiver_time_at (receiver[i], 5));
    g_test_message ("seed %u: %.0f, %.0f and %.0f s of 100 at the highest level that fits",
        (guint)seed, at[0], at[1], at[2]);
    for (unsigned i = 0; i < G_N_ELEMENTS (receiver); i++) {
      g_assert_cmpfloat (at[i], >=, 50.0);
      vnet_elm_receiver_free (receiver[i]);
    }
    vnet_elm_sender_free (sender);
    vnet_free (vnet);
  }
}

/* Three behind each of three links, each group with a level that fits: what the one group tries
 * costs the others no patience with their own, whose newcomers are not kept below. */
static void
test_elsewhere (void)
{
  static const struct {
    guint64 bps;
    int level;
  } links[] = { { 600000, 2 }, { 2300000, 4 }, { 6000000, 5 } };
  double mean = 0.0, least = 120.0;
  for (guint64 seed = SEED; seed < SEED + 6; seed++) {
    VnetElmReceiver *receiver[9];
    GRand *rand = g_rand_new_with_seed ((guint32)seed);
    int down[3];
    Vnet *vnet = vnet_new (seed);
    VnetElmSender *sender = sender_of_seven (vnet);
    for (unsigned i = 0; i < 3; i++) {
      VnetLink link = { .rate_bps = links[i].bps,
        .delay = RTT / 2,
        .queue_bytes = (guint32)(links[i].bps / 8 * 120 / 1000) };
      down[i] = vnet_add_link (vnet, VNET_CORE, &link);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS (receiver); i++) {
      vnet_run (vnet, vnet_now (vnet) + g_rand_int_range (rand, 0, 400) * MCC_MSECOND);
      receiver[i] = vnet_elm_receiver_new (vnet, down[i % 3], (i + 1) * MCC_MSECOND,
          &receiver_config, MCC_SECOND, (500 + 7 * i) * MCC_SECOND, 20.0 * i);
    }
    vnet_run (vnet, 120 * MCC_SECOND);
    GString *text = g_string_new (NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS (receiver); i++) {
      double at = mcc_time_to_seconds (vnet_elm_receiver_time_at (receiver[i], links[i % 3].level));
      g_string_append_printf (text, " %.0f", at);
      mean += at / 54.0;
      least = MIN (least, at);
      vnet_elm_receiver_free (receiver[i]);
    }
    g_test_message ("seed %u:%s s of 120 at the highest level that fits", (guint)seed, text->str);
    g_string_free (text, TRUE);
    vnet_elm_sender_free (sender);
    vnet_free (vnet);
    g_rand_free (rand);
  }
  g_test_message ("mean %.1f s, least %.1f s", mean, least);
  g_assert_cmpfloat (mean, >=, 84.0);
  g_assert_cmpfloat (least, >=, 40.0);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    Case test;
  } cases[] = {
    { "/elm/vain/pictures/600-kb", { 25.0, 600e3, 1, 1, 0, 3 } },
    { "/elm/vain/pictures/400-kb", { 25.0, 400e3, 0, 1, 0, 12 } },
    { "/elm/vain/pictures/730-kb", { 25.0, 730e3, 2, 0, 0, 0 } },
    { "/elm/vain/pictures/900-kb", { 25.0, 900e3, 2, 0, 0, 0 } },
    { "/elm/vain/even/600-kb", { 0.0, 600e3, 1, 2, 1, 3 } },
    { "/elm/vain/even/400-kb", { 0.0, 400e3, 0, 2, 1, 12 } },
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_test_add_data_func (cases[i].name, &cases[i].test, test_vain);
  g_test_add_func ("/elm/vain/late-host", test_late_host);
  g_test_add_func ("/elm/vain/a-peak-that-overflows-once", test_peak);
  g_test_add_func ("/elm/vain/our-share-is-no-limit", test_share);
  g_test_add_func ("/elm/vain/a-link-that-carries-more-again", test_more);
  g_test_add_func ("/elm/vain/behind-one-that-is-ahead", test_behind);
  g_test_add_func ("/elm/vain/behind-three-links", test_elsewhere);
  return g_test_run ();
}

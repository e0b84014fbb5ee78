/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ELM senders and receivers in closed loop over vnet: the right level, kept; beside others; leave
 * latency; receivers behind one bottleneck; layers and senders that come and go.
 */
#include <math.h>

#include "mccelmtrial.h"
#include "vnetelm.h"

#define RECEIVERS 8
#define BASE_BPS 250000 /* layers at 1, 2, 4 and 8 times that */
#define SEED 7
#define RTT (40 * MCC_MSECOND)
#define RIVAL_SEEDS 6 /* one run differs from the next by a quarter */

typedef struct {
  Vnet *vnet;
  VnetElmSender *sender;
  int link;
  unsigned count;
  VnetElmReceiver *receiver[RECEIVERS];
  MccTime leave;
  MccVariant variant;
} World;

static void
world_init (
    World *world, MccVariant variant, double bps, MccTime queue, MccTime leave, guint64 seed)
{
  VnetElmSenderConfig config = vnet_elm_sender_default;
  VnetLink link = { .rate_bps = (guint64)bps,
    .delay = RTT / 2,
    .queue_bytes = (guint32)(bps / 8.0 * mcc_time_to_seconds (queue)) };
  memset (world, 0, sizeof *world);
  world->variant = config.variant = variant;
  world->leave = leave;
  config.fps = 0.0; /* the thesis' layers: constant rates */
  world->vnet = vnet_new (seed);
  world->sender = vnet_elm_sender_new (world->vnet, &config, MCC_MSECOND);
  world->link = vnet_add_link (world->vnet, VNET_CORE, &link);
}

static VnetElmReceiver *
add_receiver (World *world, int link)
{
  unsigned i = world->count++;
  MccElmReceiverConfig config = { .variant = world->variant,
    .hears_group = true,
    .max_level = -1,
    .leave_latency = MAX (world->leave, 1) };
  world->receiver[i] = vnet_elm_receiver_new (world->vnet, link, (i + 1) * MCC_MSECOND, &config,
      world->leave, (500 + 7 * i) * MCC_SECOND, 20.0 * i);
  return world->receiver[i];
}

static void
world_clear (World *world)
{
  for (unsigned i = 0; i < world->count; i++)
    vnet_elm_receiver_free (world->receiver[i]);
  vnet_elm_sender_free (world->sender);
  vnet_free (world->vnet);
}

static double
share_at (const VnetElmReceiver *receiver, int level, MccTime since_start)
{
  return mcc_time_to_seconds (vnet_elm_receiver_time_at (receiver, level))
         / mcc_time_to_seconds (since_start);
}

static double
base_loss (const VnetElmReceiver *receiver)
{
  return (double)vnet_elm_receiver_base_lost (receiver)
         / (double)vnet_elm_receiver_base_expected (receiver);
}

static guint
switches (World *world, unsigned i)
{
  return vnet_elm_receiver_switches (world->receiver[i])->len;
}

/* No step is longer than one layer, and no level is outside of the layers. */
static void
check_steps (World *world)
{
  for (unsigned i = 0; i < world->count; i++) {
    const GArray *steps = vnet_elm_receiver_switches (world->receiver[i]);
    for (guint n = 0; n < steps->len; n++) {
      const VnetElmSwitch *step = &g_array_index (steps, VnetElmSwitch, n);
      g_assert_cmpint (ABS (step->from - step->level), ==, 1);
      g_assert_cmpint (step->level, >=, 0);
      g_assert_cmpint (step->level, <, 4);
    }
  }
}

typedef struct {
  double factor; /* of the base rate */
  int level;
  MccTime queue, leave;
} Alone;

/* The highest level that the link carries is found and kept; the published rules swing. */
static void
test_alone (gconstpointer data)
{
  const Alone *test = data;
  const MccTime end = 240 * MCC_SECOND;
  double share[2], loss[2];
  guint steps[2];
  for (unsigned v = 0; v < 2; v++) {
    World world;
    world_init (&world, v == 0 ? MCC_VARIANT_PUBLISHED : MCC_VARIANT_ENHANCED,
        test->factor * BASE_BPS, test->queue, test->leave, SEED);
    add_receiver (&world, world.link);
    vnet_run (world.vnet, end);
    share[v] = share_at (world.receiver[0], test->level, end);
    loss[v] = base_loss (world.receiver[0]);
    steps[v] = switches (&world, 0);
    check_steps (&world);
    world_clear (&world);
  }
  g_test_message ("published: %.2f at level %d, %u switches, loss %.4f; enhanced %.2f, %u, %.4f",
      share[0], test->level, steps[0], loss[0], share[1], steps[1], loss[1]);
  g_assert_cmpfloat (share[1], >=, 0.9);
  g_assert_cmpfloat (share[1], >=, share[0] - 0.01);
  g_assert_cmpuint (steps[1], <=, 14); /* four up, and a join that fails now and then */
  g_assert_cmpuint (steps[1], <=, steps[0] + 1);
  g_assert_cmpfloat (loss[1], <=, 0.06);
}

typedef struct {
  double bps;
  unsigned flows;
  MccTime leave;
} Rival;

/* One run's mean rate; *@rival: of the flow that got least. */
static double
run_rivals (const Rival *test, MccVariant variant, guint64 seed, double *rival)
{
  const MccTime end = 300 * MCC_SECOND;
  int flow[4];
  World world;
  world_init (&world, variant, test->bps, 100 * MCC_MSECOND, test->leave, seed);
  add_receiver (&world, world.link);
  for (unsigned i = 0; i < test->flows; i++)
    flow[i] = vnet_add_flow (world.vnet, world.link, RTT / 2 + (3 + 7 * i) * MCC_MSECOND, 1000);
  vnet_run (world.vnet, end);
  *rival = INFINITY;
  for (unsigned i = 0; i < test->flows; i++)
    *rival = MIN (*rival, (double)vnet_flow_bytes (world.vnet, flow[i]) * 8.0 / 300.0);
  double bps = (double)vnet_elm_receiver_bytes (world.receiver[0]) * 8.0 / 300.0;
  check_steps (&world);
  world_clear (&world);
  return bps;
}

/* Beside Reno-like flows, over seeds: about the level of the fair rate, and they keep theirs. */
static void
test_rivals (gconstpointer data)
{
  const Rival *test = data;
  double fair = test->bps / (test->flows + 1), mean[2] = { 0.0, 0.0 }, rival;
  for (unsigned v = 0; v < 2; v++) {
    for (guint64 seed = 1; seed <= RIVAL_SEEDS; seed++) {
      double bps
          = run_rivals (test, v == 0 ? MCC_VARIANT_PUBLISHED : MCC_VARIANT_ENHANCED, seed, &rival);
      mean[v] += bps / RIVAL_SEEDS;
      g_test_message ("%s, seed %" G_GUINT64_FORMAT ": %.0f kb/s, the least of the rivals %.0f",
          v ? "enhanced" : "published", seed, bps / 1e3, rival / 1e3);
      g_assert_cmpfloat (rival, >=, 0.6 * fair);
    }
  }
  g_test_message (
      "of %.0f kb/s: published %.0f, enhanced %.0f", fair / 1e3, mean[0] / 1e3, mean[1] / 1e3);
  g_assert_cmpfloat (mean[1], >=, 0.55 * fair); /* with layers a factor of 2 apart */
  g_assert_cmpfloat (mean[1], <=, 1.2 * fair);
  g_assert_cmpfloat (mean[1], >=, 1.2 * mean[0]);
}

typedef struct {
  double loss;
  int level; /* the nearest to what TCP would get */
} Random;

/* Random losses: the level that is nearest to TCP's rate, below it or above, and few changes. */
static void
test_random (gconstpointer data)
{
  const Random *test = data;
  const MccTime end = 300 * MCC_SECOND;
  for (guint64 seed = 1; seed <= 4; seed++) {
    World world;
    world_init (&world, MCC_VARIANT_ENHANCED, 100e6, 100 * MCC_MSECOND, 0, seed);
    vnet_link (world.vnet, world.link)->loss_ratio = test->loss;
    add_receiver (&world, world.link);
    vnet_run (world.vnet, end);
    double share = share_at (world.receiver[0], test->level, end);
    g_test_message ("seed %" G_GUINT64_FORMAT ": %.2f at level %d, %u switches", seed, share,
        test->level, switches (&world, 0));
    g_assert_cmpfloat (share, >=, 0.8);
    g_assert_cmpuint (switches (&world, 0), <=, 10);
    world_clear (&world);
  }
}

/* The shortest time between two joins. */
static MccTime
least_gap (double loss, guint64 seed)
{
  World world;
  MccTime least = MCC_TIME_NONE;
  world_init (&world, MCC_VARIANT_ENHANCED, 100e6, 100 * MCC_MSECOND, 0, seed);
  vnet_link (world.vnet, world.link)->loss_ratio = loss;
  add_receiver (&world, world.link);
  vnet_run (world.vnet, 60 * MCC_SECOND);
  const GArray *joins = vnet_elm_receiver_joins (world.receiver[0]);
  for (guint n = 1; n < joins->len; n++)
    least = MIN (least, g_array_index (joins, MccTime, n) - g_array_index (joins, MccTime, n - 1));
  world_clear (&world);
  return least;
}

/* A newcomer that has met losses and may take far more does not try each layer to the end (which
 * losses it meets is chance, so not in each run); one that may not, does. */
static void
test_far_below (void)
{
  unsigned early = 0;
  for (guint64 seed = 1; seed <= 8; seed++) {
    MccTime far = least_gap (0.004, seed), near = least_gap (0.05, seed);
    g_test_message ("seed %" G_GUINT64_FORMAT ": %.2f and %.2f s", seed, mcc_time_to_seconds (far),
        mcc_time_to_seconds (near));
    early += far <= MCC_ELM_TRIAL_TIME;
    g_assert_cmpuint (near, >, MCC_ELM_TRIAL_TIME);
  }
  g_assert_cmpuint (early, >=, 3);
}

/* Four behind one bottleneck join at one time, and what a failure costs each is bounded: half a
 * second of overload and the leave latency. */
static void
test_together (gconstpointer data)
{
  World world;
  MccTime leave = GPOINTER_TO_UINT (data) * MCC_MSECOND;
  world_init (&world, MCC_VARIANT_ENHANCED, 5 * BASE_BPS, 100 * MCC_MSECOND, leave, SEED);
  for (unsigned i = 0; i < 4; i++)
    add_receiver (&world, world.link);
  vnet_run (world.vnet, 120 * MCC_SECOND);
  const GArray *first = vnet_elm_receiver_joins (world.receiver[0]);
  MccElmReceiverStats stats;
  for (unsigned i = 0; i < 4; i++) {
    const GArray *joins = vnet_elm_receiver_joins (world.receiver[i]);
    g_assert_cmpuint (joins->len, ==, first->len);
    for (guint n = 0; n < joins->len; n++) {
      MccTime a = g_array_index (joins, MccTime, n), b = g_array_index (first, MccTime, n);
      g_assert_cmpuint (a > b ? a - b : b - a, <=, 250 * MCC_MSECOND);
    }
    g_assert_cmpint (vnet_elm_receiver_level (world.receiver[i]), ==, 2);
    mcc_elm_receiver_get_stats (
        vnet_elm_receiver_core (world.receiver[i]), vnet_now (world.vnet), &stats);
    double each_s = (double)vnet_elm_receiver_base_lost (world.receiver[i]) * 8000.0 / BASE_BPS
                    / (double)MAX (stats.failed, 1);
    g_test_message ("receiver %u: %u joins, %" G_GUINT64_FORMAT " failed, %.2f s of the base each",
        i, joins->len, stats.failed, each_s);
    g_assert_cmpuint (stats.failed, >=, 1);
    g_assert_cmpfloat (each_s, <=, 0.5 * (1.0 + mcc_time_to_seconds (leave)));
  }
  check_steps (&world);
  world_clear (&world);
}

/* One who comes later goes up beside the others; its trials are not taken for our own losses. */
static void
test_newcomer (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED, 5 * BASE_BPS, 100 * MCC_MSECOND, 2 * MCC_SECOND, SEED);
  for (unsigned i = 0; i < 3; i++) {
    add_receiver (&world, world.link);
    vnet_run (world.vnet, (i + 1) * 15 * MCC_SECOND);
  }
  vnet_run (world.vnet, 240 * MCC_SECOND);
  for (unsigned i = 0; i < 3; i++) {
    MccElmReceiverStats stats;
    mcc_elm_receiver_get_stats (
        vnet_elm_receiver_core (world.receiver[i]), vnet_now (world.vnet), &stats);
    g_test_message ("receiver %u: %.2f at level 2, failed %" G_GUINT64_FORMAT
                    ", learned %" G_GUINT64_FORMAT,
        i, share_at (world.receiver[i], 2, 195 * MCC_SECOND), stats.failed, stats.learned);
    g_assert_cmpint (vnet_elm_receiver_level (world.receiver[i]), ==, 2);
    g_assert_cmpfloat (share_at (world.receiver[i], 2, (240 - 15 * i) * MCC_SECOND), >=, 0.75);
    g_assert_cmpuint (stats.failed, <=, 8);
  }
  world_clear (&world);
}

/* The link becomes a fifth: what is too much is left, each layer within seconds of the last. */
static void
test_slump (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED, 10 * BASE_BPS, 100 * MCC_MSECOND, MCC_SECOND, SEED);
  add_receiver (&world, world.link);
  vnet_run (world.vnet, 60 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 3);
  vnet_set_rate (world.vnet, world.link, 2.5 * BASE_BPS);
  vnet_run (world.vnet, 63 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 2); /* within 2 s or so */
  vnet_run (world.vnet, 68 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 1);
  vnet_run (world.vnet, 100 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 1);
  vnet_set_rate (world.vnet, world.link, 10 * BASE_BPS);
  vnet_run (world.vnet, 240 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 3);
  check_steps (&world);
  world_clear (&world);
}

static guint
leaves_because (World *world, unsigned i, MccElmReason reason)
{
  const GArray *steps = vnet_elm_receiver_switches (world->receiver[i]);
  guint count = 0;
  for (guint n = 0; n < steps->len; n++)
    count += g_array_index (steps, VnetElmSwitch, n).reason == reason;
  return count;
}

/* A layer of which nothing is sent is in no way of the one above it. */
static void
test_empty (gconstpointer data)
{
  World world;
  world_init (&world, GPOINTER_TO_UINT (data), 100 * BASE_BPS, 100 * MCC_MSECOND, MCC_SECOND, SEED);
  vnet_elm_sender_mute (world.sender, 2, true);
  add_receiver (&world, world.link);
  vnet_run (world.vnet, 60 * MCC_SECOND);
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (
      vnet_elm_receiver_core (world.receiver[0]), vnet_now (world.vnet), &stats);
  g_assert_cmpint (stats.level, ==, 3);
  g_assert_cmpuint (stats.absent, ==, 0);
  vnet_elm_sender_mute (world.sender, 2, false);
  vnet_run (world.vnet, 150 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 3);
  world_clear (&world);
}

/* Fewer layers: down to the highest of them, step by step; more: up again from there. */
static void
test_other_layers (void)
{
  World world;
  static const guint64 two[2] = { 200000, 600000 };
  world_init (&world, MCC_VARIANT_ENHANCED, 100 * BASE_BPS, 100 * MCC_MSECOND, MCC_SECOND, SEED);
  add_receiver (&world, world.link);
  vnet_run (world.vnet, 40 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 3);
  vnet_elm_sender_set_layers (world.sender, 2, two);
  vnet_run (world.vnet, 42 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 1);
  g_assert_cmpuint (leaves_because (&world, 0, MCC_ELM_REASON_LAYERS), ==, 2);
  vnet_run (world.vnet, 80 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 1);
  vnet_elm_sender_set_layers (world.sender, 4, vnet_elm_sender_default.cumulative_bps);
  vnet_run (world.vnet, 82 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), >=, 1);
  vnet_run (world.vnet, 120 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (world.receiver[0]), ==, 3);
  g_assert_cmpuint (leaves_because (&world, 0, MCC_ELM_REASON_LAYERS), ==, 2);
  check_steps (&world);
  world_clear (&world);
}

/* Another sender in the group is ignored until ours is gone: at once after a BYE, else after
 * MCC_ELM_SENDER_TIMEOUT. */
static void
test_senders (gconstpointer data)
{
  bool bye = GPOINTER_TO_UINT (data);
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED, 100 * BASE_BPS, 100 * MCC_MSECOND, MCC_SECOND, SEED);
  VnetElmReceiver *receiver = add_receiver (&world, world.link);
  vnet_run (world.vnet, 10 * MCC_SECOND);
  VnetElmSenderConfig config = vnet_elm_sender_default;
  config.epoch = 3000 * MCC_SECOND;
  VnetElmSender *other = vnet_elm_sender_new (world.vnet, &config, MCC_MSECOND);
  guint32 ours = mcc_elm_sender_layers (vnet_elm_sender_core (world.sender))->layer[0].ssrc;
  guint32 theirs = mcc_elm_sender_layers (vnet_elm_sender_core (other))->layer[0].ssrc;
  vnet_run (world.vnet, 30 * MCC_SECOND);
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (vnet_elm_receiver_core (receiver), 0, &stats);
  g_assert_cmpuint (stats.source_ssrc, ==, ours);
  g_assert_cmpuint (stats.dropped[MCC_DROP_OTHER_SENDER], >, 0);
  vnet_elm_sender_stop (world.sender, bye);
  vnet_run (world.vnet, (bye ? 34 : 40) * MCC_SECOND);
  mcc_elm_receiver_get_stats (vnet_elm_receiver_core (receiver), 0, &stats);
  g_assert_cmpuint (stats.source_ssrc, ==, theirs);
  vnet_run (world.vnet, 70 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (receiver), ==, 3);
  vnet_elm_sender_free (other);
  world_clear (&world);
}

/* RTCP of all within 5 % of the base layer, and the sender knows who is where. */
static void
test_rtcp (gconstpointer data)
{
  World world;
  const MccTime end = 260 * MCC_SECOND; /* from 1 s to 8 at a tenth each 5 s takes 110 s */
  world_init (&world, GPOINTER_TO_UINT (data), 100 * BASE_BPS, 100 * MCC_MSECOND, MCC_SECOND, SEED);
  VnetLink slow = { .rate_bps = 1.5 * BASE_BPS, .delay = RTT / 2, .queue_bytes = 8000 };
  int narrow = vnet_add_link (world.vnet, VNET_CORE, &slow);
  for (unsigned i = 0; i < RECEIVERS; i++)
    add_receiver (&world, i < 6 ? world.link : narrow);
  MccElmSenderStats stats, half;
  MccElmSender *core = vnet_elm_sender_core (world.sender);
  const MccTime epoch = vnet_elm_sender_default.epoch;
  vnet_run (world.vnet, end / 2);
  mcc_elm_sender_get_stats (core, epoch + vnet_now (world.vnet), &half);
  vnet_run (world.vnet, end);
  double bytes = (double)vnet_elm_sender_rtcp_bytes (world.sender);
  for (unsigned i = 0; i < RECEIVERS; i++)
    bytes += (double)vnet_elm_receiver_rtcp_bytes (world.receiver[i]);
  double bps = bytes * 8.0 / mcc_time_to_seconds (end);
  mcc_elm_sender_get_stats (core, epoch + vnet_now (world.vnet), &stats);
  double reports_hz = (double)(stats.reports - half.reports) / mcc_time_to_seconds (end - end / 2);
  g_test_message ("%.0f b/s, t_fb %.2f s, %.2f reports/s; levels %u %u %u %u", bps,
      mcc_time_to_seconds (stats.feedback_interval), reports_hz, stats.members[0], stats.members[1],
      stats.members[2], stats.members[3]);
  g_assert_cmpfloat (bps, <=, 0.05 * BASE_BPS);
  g_assert_cmpuint (stats.receivers, ==, RECEIVERS);
  g_assert_cmpuint (stats.members[3], ==, 6);
  g_assert_cmpfloat_with_epsilon (reports_hz, 1.0, 0.2); /* its target */
  for (unsigned k = 0; k < 4; k++)
    g_assert_cmpfloat_with_epsilon (
        (double)stats.cumulative_bps[k] / (BASE_BPS << k), 1.0, 0.06); /* measured */
  world_clear (&world);
}

/* Everybody has an RTT, and max_level holds. */
static void
test_max_level (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED, 100 * BASE_BPS, 100 * MCC_MSECOND, MCC_SECOND, SEED);
  VnetElmReceiver *receiver = add_receiver (&world, world.link);
  MccElmReceiver *core = vnet_elm_receiver_core (receiver);
  mcc_elm_receiver_set_max_level (core, 1, 500 * MCC_SECOND);
  vnet_run (world.vnet, 60 * MCC_SECOND);
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (core, 560 * MCC_SECOND, &stats);
  g_assert_cmpint (stats.level, ==, 1);
  g_assert_true (stats.rtt_measured);
  g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (stats.rtt), 0.042, 0.01);
  mcc_elm_receiver_set_max_level (core, -1, 560 * MCC_SECOND);
  vnet_run (world.vnet, 100 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (receiver), ==, 3);
  mcc_elm_receiver_set_max_level (core, 0, 600 * MCC_SECOND);
  vnet_run (world.vnet, 101 * MCC_SECOND);
  g_assert_cmpint (vnet_elm_receiver_level (receiver), ==, 0);
  check_steps (&world);
  world_clear (&world);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  static const struct {
    const char *name;
    Alone test;
  } alone[] = {
    { "/elmloop/alone/1", { 1.2, 0, 100 * MCC_MSECOND, 0 } },
    { "/elmloop/alone/1/leave-2s", { 1.2, 0, 100 * MCC_MSECOND, 2 * MCC_SECOND } },
    { "/elmloop/alone/2.5", { 2.5, 1, 100 * MCC_MSECOND, 0 } },
    { "/elmloop/alone/2.5/leave-2s", { 2.5, 1, 100 * MCC_MSECOND, 2 * MCC_SECOND } },
    { "/elmloop/alone/5", { 5.0, 2, 100 * MCC_MSECOND, 0 } },
    { "/elmloop/alone/5/leave-2s", { 5.0, 2, 100 * MCC_MSECOND, 2 * MCC_SECOND } },
    { "/elmloop/alone/5/deep-queue", { 5.0, 2, 1000 * MCC_MSECOND, 2 * MCC_SECOND } },
    { "/elmloop/alone/20", { 20.0, 3, 100 * MCC_MSECOND, 0 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (alone); i++)
    g_test_add_data_func (alone[i].name, &alone[i].test, test_alone);
  static const Rival rivals[] = { { 2000000, 1, 0 }, { 2000000, 1, 2 * MCC_SECOND },
    { 4000000, 1, 2 * MCC_SECOND }, { 3000000, 2, 0 } };
  g_test_add_data_func ("/elmloop/rivals/1-of-2-of-2-Mb", &rivals[0], test_rivals);
  g_test_add_data_func ("/elmloop/rivals/1-of-2-of-2-Mb/leave-2s", &rivals[1], test_rivals);
  g_test_add_data_func ("/elmloop/rivals/1-of-2-of-4-Mb/leave-2s", &rivals[2], test_rivals);
  g_test_add_data_func ("/elmloop/rivals/1-of-3-of-3-Mb", &rivals[3], test_rivals);
  /* TCP would get 1050, 1680 and 510 kb/s. */
  static const Random random[] = { { 0.03, 2 }, { 0.015, 3 }, { 0.07, 1 } };
  g_test_add_data_func ("/elmloop/random-loss/just-above", &random[0], test_random);
  g_test_add_data_func ("/elmloop/random-loss/below-the-nearest", &random[1], test_random);
  g_test_add_data_func ("/elmloop/random-loss/heavy", &random[2], test_random);
  g_test_add_func ("/elmloop/random-loss/far-below", test_far_below);
  g_test_add_data_func ("/elmloop/four-join-together", GUINT_TO_POINTER (0), test_together);
  g_test_add_data_func (
      "/elmloop/four-join-together/leave-2s", GUINT_TO_POINTER (2000), test_together);
  g_test_add_func ("/elmloop/newcomers", test_newcomer);
  g_test_add_func ("/elmloop/slump", test_slump);
  g_test_add_data_func (
      "/elmloop/published/empty-layer", GUINT_TO_POINTER (MCC_VARIANT_PUBLISHED), test_empty);
  g_test_add_data_func (
      "/elmloop/enhanced/empty-layer", GUINT_TO_POINTER (MCC_VARIANT_ENHANCED), test_empty);
  g_test_add_func ("/elmloop/other-layers", test_other_layers);
  g_test_add_data_func ("/elmloop/senders/bye", GUINT_TO_POINTER (1), test_senders);
  g_test_add_data_func ("/elmloop/senders/silent", GUINT_TO_POINTER (0), test_senders);
  g_test_add_data_func (
      "/elmloop/published/rtcp", GUINT_TO_POINTER (MCC_VARIANT_PUBLISHED), test_rtcp);
  g_test_add_data_func (
      "/elmloop/enhanced/rtcp", GUINT_TO_POINTER (MCC_VARIANT_ENHANCED), test_rtcp);
  g_test_add_func ("/elmloop/max-level", test_max_level);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASMP end to end over vnet: what issue and protocol promise of the closed loop. Every scenario
 * runs with several seeds; VNET_LOG=1 prints a line each 200 ms.
 */
#include <math.h>
#include <stdlib.h>

#include "mcctcp.h"
#include "vnetasmp.h"

#define SEEDS 5
#define MEAN_SEEDS 24 /* where one number is their mean; its 95 % interval is +-0.05 */
#define STEP (5 * MCC_MSECOND)
#define BUCKET (200 * MCC_MSECOND)
#define BUCKETS 1024

/* One sender, up to 8 receivers, one bottleneck. */
typedef struct {
  Vnet *vnet;
  VnetSender *sender;
  VnetReceiver *receiver[8];
  guint receivers;
  int link;
  bool log;
  /* Per BUCKET, from 0. */
  struct {
    double capacity_bps, target_bps, sent_bps, rtp_bps;
    double queue_s; /* largest */
    guint64 sent, dropped;
  } bucket[BUCKETS];
  guint buckets;
  GArray *queue; /* double, a sample each STEP */
  guint64 sent_before, rtp_before, dropped_before, packets_before;
} World;

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void
world_init (World *world, guint64 seed, const VnetSenderConfig *sender, guint64 rate_bps,
    guint32 queue_bytes, guint32 queue_packets)
{
  memset (world, 0, sizeof *world);
  world->vnet = vnet_new (seed);
  VnetLink link = { .rate_bps = rate_bps,
    .delay = 15 * MCC_MSECOND,
    .queue_bytes = queue_bytes,
    .queue_packets = queue_packets };
  world->link = vnet_add_link (world->vnet, VNET_CORE, &link);
  world->sender = vnet_sender_new (world->vnet, sender, 5 * MCC_MSECOND);
  world->queue = g_array_new (FALSE, FALSE, sizeof (double));
  world->log = g_getenv ("VNET_LOG") != NULL;
}

static VnetReceiver *
world_join (World *world, int link)
{
  double drift = 100.0 * (2.0 * mcc_rng_uniform (vnet_rng (world->vnet)) - 1.0);
  VnetReceiver *receiver = vnet_receiver_new (
      world->vnet, link, 0, NULL, (5000 + 77 * world->receivers) * MCC_SECOND, drift);
  world->receiver[world->receivers++] = receiver;
  return receiver;
}

static void
world_clear (World *world)
{
  for (guint i = 0; i < world->receivers; i++)
    vnet_receiver_free (world->receiver[i]);
  vnet_sender_free (world->sender);
  vnet_free (world->vnet);
  g_array_unref (world->queue);
}

static void
close_bucket (World *world, double queue_s)
{
  const VnetLinkStats *stats = vnet_link_stats (world->vnet, world->link);
  guint64 sent = vnet_sender_sent_bytes (world->sender);
  guint i = world->buckets++;
  double seconds = mcc_time_to_seconds (BUCKET);
  guint64 packets = stats->rtp_packets + stats->rtp_dropped;
  world->bucket[i].capacity_bps = (double)vnet_link (world->vnet, world->link)->rate_bps;
  world->bucket[i].target_bps = (double)vnet_sender_target (world->sender);
  world->bucket[i].sent_bps = (double)(sent - world->sent_before) * 8.0 / seconds;
  world->bucket[i].rtp_bps = (double)(stats->rtp_bytes - world->rtp_before) * 8.0 / seconds;
  world->bucket[i].queue_s = queue_s;
  world->bucket[i].dropped = stats->rtp_dropped - world->dropped_before;
  world->bucket[i].sent = packets - world->packets_before;
  world->sent_before = sent;
  world->rtp_before = stats->rtp_bytes;
  world->dropped_before = stats->rtp_dropped;
  world->packets_before = packets;
  if (world->log) {
    MccAsmpReceiverStats r;
    vnet_receiver_get_stats (world->receiver[0], &r);
    g_print (
        "# %6.1f cap %6.0f target %6.0f sent %6.0f got %6.0f queue %5.0f ms drop %" G_GUINT64_FORMAT
        " | est %6" G_GUINT64_FORMAT " mode %d rtt %3.0f p %.5f q %3.0f rep %" G_GUINT64_FORMAT
        "\n",
        mcc_time_to_seconds (vnet_now (world->vnet)), world->bucket[i].capacity_bps / 1e3,
        world->bucket[i].target_bps / 1e3, world->bucket[i].sent_bps / 1e3,
        world->bucket[i].rtp_bps / 1e3, queue_s * 1e3, world->bucket[i].dropped,
        r.estimated_bps / 1000, r.mode, mcc_time_to_seconds (r.rtt) * 1e3, r.loss_ratio,
        mcc_time_to_seconds (r.queue_delay) * 1e3, r.reports_sent);
  }
}

static void
world_run (World *world, double seconds)
{
  MccTime end = mcc_time_from_seconds (seconds);
  double most = 0.0;
  while (vnet_now (world->vnet) < end) {
    MccTime next = vnet_now (world->vnet) + STEP;
    vnet_run (world->vnet, next);
    double queue_s = mcc_time_to_seconds (vnet_queue_delay (world->vnet, world->link));
    g_array_append_val (world->queue, queue_s);
    most = MAX (most, queue_s);
    if (next % BUCKET == 0) {
      close_bucket (world, most);
      most = 0.0;
    }
  }
}

/* Means over [from, to) seconds. */
static double
mean_rtp (const World *world, double from, double to)
{
  double sum = 0.0;
  guint n = 0;
  for (guint i = 0; i < world->buckets; i++) {
    double t = i * mcc_time_to_seconds (BUCKET);
    if (t >= from - 1e-9 && t < to - 1e-9) {
      sum += world->bucket[i].rtp_bps;
      n++;
    }
  }
  return sum / MAX (n, 1);
}

static double
loss (const World *world, double from, double to)
{
  guint64 sent = 0, dropped = 0;
  for (guint i = 0; i < world->buckets; i++) {
    double t = i * mcc_time_to_seconds (BUCKET);
    if (t >= from - 1e-9 && t < to - 1e-9) {
      sent += world->bucket[i].sent;
      dropped += world->bucket[i].dropped;
    }
  }
  return (double)dropped / (double)MAX (sent, 1);
}

/* Lowest target / capacity. */
static double
lowest_share (const World *world, double from, double to)
{
  double lowest = INFINITY;
  for (guint i = 0; i < world->buckets; i++) {
    double t = i * mcc_time_to_seconds (BUCKET);
    if (t >= from - 1e-9 && t < to - 1e-9)
      lowest = MIN (lowest, world->bucket[i].target_bps / world->bucket[i].capacity_bps);
  }
  return lowest;
}

/* Seconds after @from until a mean over 600 ms is above (below) @share of capacity. */
static double
time_until (const World *world, double from, double share, bool above)
{
  for (guint i = (guint)(from / mcc_time_to_seconds (BUCKET) + 0.5) + 2; i < world->buckets; i++) {
    double sum = 0.0;
    for (guint k = 0; k < 3; k++)
      sum += world->bucket[i - k].sent_bps / 3.0;
    double limit = share * world->bucket[i].capacity_bps;
    if (above ? sum >= limit : sum < limit)
      return (i + 1) * mcc_time_to_seconds (BUCKET) - from;
  }
  return INFINITY;
}

static double
queue_percentile (const World *world, double from, double to, double percentile)
{
  double step = mcc_time_to_seconds (STEP);
  guint first = (guint)(from / step), last = MIN ((guint)(to / step), world->queue->len);
  guint n = last - first;
  double *copy = g_memdup2 (&g_array_index (world->queue, double, first), n * sizeof (double));
  qsort (copy, n, sizeof (double), compare_doubles);
  double value = copy[(guint)(percentile * (n - 1))];
  g_free (copy);
  return value;
}

/* (a) Alone behind 2 Mb/s -> 600 kb/s -> 2 Mb/s. More seeds than elsewhere: what the start dropped
 * must not be taken for others' losses later, as it was in one run of thirteen. */
static void
capacity_steps (guint32 queue_bytes, guint32 queue_packets)
{
  for (guint64 seed = 1; seed <= 3 * SEEDS; seed++) {
    World world;
    world_init (&world, seed, NULL, 2000000, queue_bytes, queue_packets);
    world_join (&world, world.link);
    world_run (&world, 20.0);
    vnet_set_rate (world.vnet, world.link, 600000);
    world_run (&world, 60.0);
    vnet_set_rate (world.vnet, world.link, 2000000);
    world_run (&world, 100.0);

    double down = time_until (&world, 20.0, 1.0, false), up = time_until (&world, 60.0, 0.9, true);
    double loss_start = loss (&world, 0.0, 10.0), loss_5s = loss (&world, 25.0, 60.0);
    double steady = MAX (loss (&world, 10.0, 20.0), loss (&world, 70.0, 100.0));
    double low = MIN (lowest_share (&world, 8.0, 20.0), lowest_share (&world, 23.0, 60.0));
    double use = mean_rtp (&world, 30.0, 60.0) / 600e3, use2 = mean_rtp (&world, 80.0, 100.0) / 2e6;
    g_test_message (
        "seed %d: down %.1f s, step loss %.2f %%, up %.1f s, loss start %.2f %% from 5 s "
        "%.2f %% steady %.2f %%, lowest %.2f, use %.3f %.3f, p95 queue %.0f %.0f ms",
        (int)seed, down, 100 * loss (&world, 20.0, 25.0), up, 100 * loss_start, 100 * loss_5s,
        100 * steady, low, use, use2, 1e3 * queue_percentile (&world, 30.0, 60.0, 0.95),
        1e3 * queue_percentile (&world, 80.0, 100.0, 0.95));
    g_assert_cmpfloat (down, <=, 3.0);
    g_assert_cmpfloat (up, <=, 15.0);
    g_assert_cmpfloat (loss_5s, <, 0.01);
    g_assert_cmpfloat (steady, <, 0.005);
    g_assert_cmpfloat (low, >=, 0.5);
    g_assert_cmpfloat (MIN (use, use2), >=, 0.9);
    world_clear (&world);
  }
}

static void
steps_50_packets (void)
{
  capacity_steps (0, 50);
}

/* 100 ms at 2 Mb/s. */
static void
steps_100_ms (void)
{
  capacity_steps (25000, 0);
}

/* (b) Alone on 10 Mb/s. */
static void
alone_at_10_mbps (double bdps)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    sender.max_bps = 20000000;
    world_init (&world, seed, &sender, 10000000, (guint32)(bdps * 50000), 0);
    world_join (&world, world.link);
    world_run (&world, 60.0);
    double up = time_until (&world, 0.0, 0.9, true);
    double use = mean_rtp (&world, 20.0, 60.0) / 10e6;
    double queue = queue_percentile (&world, 15.0, 60.0, 0.95);
    g_test_message ("seed %d: 90 %% after %.1f s, use %.3f, p95 queue %.0f ms, loss start %.2f %% "
                    "later %.3f %%",
        (int)seed, up, use, 1e3 * queue, 100 * loss (&world, 0.0, 15.0),
        100 * loss (&world, 15.0, 60.0));
    g_assert_cmpfloat (up, <=, 8.0);
    g_assert_cmpfloat (use, >=, 0.95);
    g_assert_cmpfloat (queue, <=, 0.060);
    g_assert_cmpfloat (loss (&world, 15.0, 60.0), <=, 0.0002);
    world_clear (&world);
  }
}

/* 300 kb/s: a packet takes 33 ms. Few packets tell the rate, the buffer holds few. */
static void
slow_link (void)
{
  double lost = 0.0, use = 0.0;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, NULL, 300000, 7500, 0);
    world_join (&world, world.link);
    world_run (&world, 90.0);
    lost += loss (&world, 15.0, 90.0) / SEEDS;
    use += mean_rtp (&world, 20.0, 90.0) / 300e3 / SEEDS;
    world_clear (&world);
  }
  g_test_message ("use %.3f, loss %.3f %%", use, 100 * lost);
  g_assert_cmpfloat (use, >=, 0.93);
  g_assert_cmpfloat (lost, <, 0.001);
}

/* Some packets in a thousand are lost on the way, as radio links do: they are not taken for others'
 * doing, nor for a full buffer. Before, 5 to 10 % were lost of three in a thousand, again and
 * again, and for ever of twenty. */
static void
slow_lossy_link (void)
{
  static const struct {
    guint64 rate_bps;
    double fps, loss, use;
  } table[] = {
    { 300000, 0.0, 0.003, 0.94 },
    { 300000, 30.0, 0.003, 0.9 },
    { 600000, 0.0, 0.003, 0.95 },
    { 300000, 0.0, 0.02, 0.93 },
    { 300000, 30.0, 0.02, 0.78 },
    { 600000, 30.0, 0.02, 0.8 },
  };
  double early_more[G_N_ELEMENTS (table)] = { 0.0 }, more[G_N_ELEMENTS (table)] = { 0.0 };
  double mean_use[G_N_ELEMENTS (table)] = { 0.0 };
  for (guint i = 0; i < SEEDS * G_N_ELEMENTS (table); i++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    guint64 rate_bps = table[i / SEEDS].rate_bps;
    double chance = table[i / SEEDS].loss;
    sender.fps = table[i / SEEDS].fps;
    sender.noise = 0.5;
    world_init (&world, i % SEEDS + 1, &sender, rate_bps, (guint32)(rate_bps / 27), 0);
    vnet_link (world.vnet, world.link)->loss_ratio = chance;
    world_join (&world, world.link);
    world_run (&world, 200.0);
    double early = loss (&world, 10.0, 100.0), lost = loss (&world, 100.0, 200.0);
    double use = mean_rtp (&world, 100.0, 200.0) / (double)rate_bps;
    g_test_message ("%d kb/s, %.0f frames/s, %.1f %%, seed %d: lost %.2f %% and %.2f %%, use %.3f",
        (int)(rate_bps / 1000), sender.fps, 100 * chance, (int)(i % SEEDS + 1), 100 * early,
        100 * lost, use);
    mean_use[i / SEEDS] += use / SEEDS;
    early_more[i / SEEDS] += (early - chance) / SEEDS;
    more[i / SEEDS] += (lost - chance) / SEEDS;
    world_clear (&world);
  }
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    g_test_message ("case %u: %.2f %% and %.2f %% more than by chance, use %.3f", i,
        100 * early_more[i], 100 * more[i], mean_use[i]);
    g_assert_cmpfloat (early_more[i], <, 0.004);
    g_assert_cmpfloat (more[i], <, 0.003);
    g_assert_cmpfloat (mean_use[i], >=, table[i].use);
  }
}

/* ... nor while it becomes slower: what came before says nothing of what it lets out then. */
static void
slower_lossy_link (void)
{
  double lost = 0.0;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    sender.fps = 30.0;
    world_init (&world, seed, &sender, 600000, 37500, 0);
    vnet_link (world.vnet, world.link)->loss_ratio = 0.003;
    world_join (&world, world.link);
    world_run (&world, 60.0);
    vnet_set_rate (world.vnet, world.link, 200000);
    world_run (&world, 90.0);
    lost += loss (&world, 60.0, 90.0) / SEEDS;
    world_clear (&world);
  }
  g_test_message ("lost %.2f %%", 100 * lost);
  g_assert_cmpfloat (lost, <, 0.01);
}

/* Alone on it with a film, whose frames are of all sizes and often less than was asked for: nobody
 * else is seen there, and its queue is never filled. */
static void
film_on_a_slow_link (void)
{
  static const double scenes[] = { 0.9, 0.8, 1.0, 0.7, 0.9, 1.1 }, noises[] = { 0.4, 0.8, 0.95 };
  for (guint64 seed = 0; seed < 3 * SEEDS; seed++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    sender.noise = noises[seed % 3];
    world_init (&world, seed + 1, &sender, 300000, 10000, 0);
    world_join (&world, world.link);
    world_run (&world, 10.0);
    for (guint i = 0; i < 40; i++) {
      MccAsmpReceiverStats stats;
      vnet_sender_set_scene (world.sender, scenes[i % G_N_ELEMENTS (scenes)]);
      world_run (&world, 10.0 + 2.0 * (i + 1));
      vnet_receiver_get_stats (world.receiver[0], &stats);
      g_assert_cmpint (stats.mode, !=, MCC_RATE_TCP);
    }
    double lost = loss (&world, 10.0, 90.0);
    g_test_message ("sizes +- %.0f %%: %.0f kb/s, loss %.2f %%", 100 * sender.noise,
        mean_rtp (&world, 20.0, 90.0) / 1e3, 100 * lost);
    g_assert_cmpfloat (lost, <, 0.002);
    world_clear (&world);
  }
}

static void
alone_1_bdp (void)
{
  alone_at_10_mbps (1.0);
}

static void
alone_10_bdp (void)
{
  alone_at_10_mbps (10.0);
}

/* (c) A late joiner on an equal path; then one behind a slower link. */
static void
late_joiners (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, NULL, 4000000, 0, 100);
    VnetLink leaf = { .rate_bps = 20000000, .delay = 2 * MCC_MSECOND, .queue_packets = 100 };
    VnetLink slow = { .rate_bps = 1000000, .delay = 2 * MCC_MSECOND, .queue_packets = 50 };
    int leaves[3] = { vnet_add_link (world.vnet, world.link, &leaf),
      vnet_add_link (world.vnet, world.link, &leaf),
      vnet_add_link (world.vnet, world.link, &slow) };
    world_join (&world, leaves[0]);
    world_run (&world, 20.0);
    world_join (&world, leaves[1]);
    world_run (&world, 40.0);
    world_join (&world, leaves[2]);
    world_run (&world, 70.0);

    double before = mean_rtp (&world, 10.0, 20.0);
    double dent = INFINITY;
    for (double t = 20.0; t < 38.0; t += 1.0)
      dent = MIN (dent, mean_rtp (&world, t, t + 2.0) / before);
    double followed = INFINITY;
    for (guint i = (guint)(40.0 / 0.2); i < world.buckets && followed == INFINITY; i++)
      if (world.bucket[i].target_bps < 1e6)
        followed = (i + 1) * 0.2 - 40.0;
    double use = mean_rtp (&world, 50.0, 70.0) / 1e6;
    g_test_message ("seed %d: before %.0f kb/s, least after the join %.3f of it, slow one followed "
                    "after %.1f s, use %.3f",
        (int)seed, before / 1e3, dent, followed, use);
    g_assert_cmpfloat (dent, >=, 0.9);
    g_assert_cmpfloat (followed, <=, 2.0);
    g_assert_cmpfloat (use, >=, 0.85);
    world_clear (&world);
  }
}

/* A crashed limiting receiver stops limiting within 10 s; what is left is used again. */
static void
crash (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, NULL, 4000000, 0, 100);
    VnetLink fast = { .rate_bps = 20000000, .delay = 2 * MCC_MSECOND, .queue_packets = 100 };
    VnetLink slow = { .rate_bps = 1000000, .delay = 2 * MCC_MSECOND, .queue_packets = 50 };
    int links[2] = { vnet_add_link (world.vnet, world.link, &fast),
      vnet_add_link (world.vnet, world.link, &slow) };
    world_join (&world, links[0]);
    VnetReceiver *limiting = world_join (&world, links[1]);
    world_run (&world, 20.0);
    double before = mean_rtp (&world, 15.0, 20.0);
    vnet_receiver_crash (limiting);
    world_run (&world, 60.0);
    double released = INFINITY;
    for (guint i = (guint)(20.0 / 0.2); i < world.buckets && released == INFINITY; i++)
      if (world.bucket[i].target_bps > 1.1 * before)
        released = (i + 1) * 0.2 - 20.0;
    g_test_message (
        "seed %d: %.0f kb/s with the slow one, more after %.1f s, at last %.0f, loss %.2f %%",
        (int)seed, before / 1e3, released, mean_rtp (&world, 50.0, 60.0) / 1e3,
        100 * loss (&world, 20.0, 60.0));
    g_assert_cmpfloat (before, >, 850e3);
    g_assert_cmpfloat (before, <, 1000e3);
    g_assert_cmpfloat (released, <=, 10.0);
    g_assert_cmpfloat (mean_rtp (&world, 50.0, 60.0), >, 3.6e6);
    g_assert_cmpfloat (loss (&world, 20.0, 60.0), <, 0.005);
    world_clear (&world);
  }
}

/* 15 minutes, clocks that drift apart: the baseline does not swallow the standing queue. */
static void
long_run (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    sender.drift_ppm = seed % 2 ? 80.0 : -120.0;
    world_init (&world, seed, &sender, 2000000, 0, 200);
    world_join (&world, world.link);
    world_run (&world, 200.0);
    double early = queue_percentile (&world, 20.0, 200.0, 0.95);
    for (guint i = 4; i > 0; i--) { /* forget the buckets, keep the queue samples */
      world.buckets = 0;
      world_run (&world, 900.0 - 170.0 * (i - 1));
    }
    double late = queue_percentile (&world, 700.0, 900.0, 0.95);
    double use = mean_rtp (&world, 0.0, 150.0) / 2e6;
    g_test_message ("seed %d: p95 queue %.0f ms, after 700 s %.0f ms, use %.3f", (int)seed,
        1e3 * early, 1e3 * late, use);
    g_assert_cmpfloat (late, <=, 0.06);
    g_assert_cmpfloat (use, >=, 0.93);
    world_clear (&world);
  }
}

/* Key frames of eight times the mean each 2 s, paced: they are no congestion. */
static void
key_frames (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    sender.key_factor = 8.0;
    sender.key_frames = 60;
    world_init (&world, seed, &sender, 2000000, 0, 60);
    world_join (&world, world.link);
    world_run (&world, 60.0);
    double use = mean_rtp (&world, 20.0, 60.0) / 2e6, lost = loss (&world, 15.0, 60.0);
    g_test_message ("seed %d: use %.3f, loss %.3f %%, p95 queue %.0f ms", (int)seed, use,
        100 * lost, 1e3 * queue_percentile (&world, 15.0, 60.0, 0.95));
    g_assert_cmpfloat (use, >=, 0.8);
    g_assert_cmpfloat (lost, <, 0.005);
    world_clear (&world);
  }
}

/* Key frames of four times the mean on a link that falls from 2 Mb/s to 600 kb/s: what they make of
 * the queue is no rival's, which was believed in 20 of 80 runs and cost a seventh of all packets.
 */
static void
key_frames_and_a_slower_link (void)
{
  for (guint64 seed = 1000; seed < 1080; seed++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    sender.noise = 0.5;
    sender.key_factor = 4.0;
    sender.key_frames = 60;
    sender.max_bps = 4000000;
    world_init (&world, seed, &sender, 2000000, 25000, 0);
    for (guint i = 0; i < (seed % 2 ? 1 : 3); i++)
      world_join (&world, world.link);
    world_run (&world, 14.0);
    vnet_set_rate (world.vnet, world.link, 600000);
    world_run (&world, 25.0);
    double lost = loss (&world, 18.0, 25.0), use = mean_rtp (&world, 18.0, 25.0) / 600e3;
    g_test_message ("seed %d: lost %.2f %%, use %.3f", (int)seed, 100 * lost, use);
    g_assert_cmpfloat (lost, <, 0.01);
    g_assert_cmpfloat (use, >=, 0.8);
    world_clear (&world);
  }
}

/* The published rules, on synchronised clocks: they fill the queue, lose, and hold the link. */
static void
published (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    sender.variant = MCC_VARIANT_PUBLISHED;
    world_init (&world, seed, &sender, 2000000, 0, 50);
    MccAsmpReceiverConfig config
        = { .variant = MCC_VARIANT_PUBLISHED, .hears_group = true, .report_interval = MCC_SECOND };
    world.receiver[world.receivers++]
        = vnet_receiver_new (world.vnet, world.link, 0, &config, sender.epoch, 0.0);
    world_run (&world, 120.0);
    double use = mean_rtp (&world, 40.0, 120.0) / 2e6;
    g_test_message ("seed %d: use %.3f, loss %.2f %%, p95 queue %.0f ms", (int)seed, use,
        100 * loss (&world, 40.0, 120.0), 1e3 * queue_percentile (&world, 40.0, 120.0, 0.95));
    g_assert_cmpfloat (use, >=, 0.5);
    g_assert_cmpfloat (loss (&world, 40.0, 120.0), <, 0.1);
    world_clear (&world);
  }
}

/* (d) 20 s of easy content prove nothing about the bottleneck. */
static void
easy_then_hard (void)
{
  for (guint64 seed = 1; seed <= 2 * SEEDS; seed++) {
    World world;
    world_init (&world, seed, NULL, 1000000, 0, 50);
    world_join (&world, world.link);
    if (seed > SEEDS) { /* after hard content: the rate was there before */
      world_run (&world, 15.0);
      vnet_sender_set_scene (world.sender, 0.2);
      world_run (&world, 18.0);
      vnet_set_rate (world.vnet, world.link, 500000);
      world_run (&world, 35.0);
      double before = mean_rtp (&world, 25.0, 35.0);
      vnet_sender_set_scene (world.sender, 1.0);
      world_run (&world, 55.0);
      double lost = loss (&world, 35.0, 55.0), use = mean_rtp (&world, 45.0, 55.0) / 500e3;
      g_test_message ("seed %d: easy %.0f kb/s, link halved meanwhile, loss %.2f %%, use %.2f",
          (int)seed, before / 1e3, 100 * lost, use);
      g_assert_cmpfloat (lost, <, 0.02);
      g_assert_cmpfloat (use, >, 0.85);
      world_clear (&world);
      continue;
    }
    vnet_sender_set_scene (world.sender, 0.2);
    world_run (&world, 20.0);
    double easy = mean_rtp (&world, 10.0, 20.0);
    vnet_sender_set_scene (world.sender, 1.0);
    world_run (&world, 40.0);
    double hard = loss (&world, 20.0, 40.0);
    g_test_message ("seed %d: easy %.0f kb/s, loss %.2f %%, then %.0f kb/s", (int)seed, easy / 1e3,
        100 * hard, mean_rtp (&world, 30.0, 40.0) / 1e3);
    g_assert_cmpfloat (hard, <, 0.02);
    g_assert_cmpfloat (mean_rtp (&world, 30.0, 40.0), >, 850e3);
    world_clear (&world);
  }
}

/* (e) 1 % of random loss on an empty path: what TCP would get, no collapse. */
static void
random_loss (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    VnetSenderConfig sender = vnet_sender_default;
    sender.max_bps = 20000000;
    world_init (&world, seed, &sender, 50000000, 0, 500);
    vnet_link (world.vnet, world.link)->loss_ratio = 0.01;
    world_join (&world, world.link);
    world_run (&world, 90.0);
    double model = mcc_tcp_rate_bps (&mcc_tcp_model_default, 1200.0, 0.0375, 0.01);
    double share = mean_rtp (&world, 30.0, 90.0) / model;
    double low = INFINITY, high = 0.0;
    for (double t = 30.0; t < 88.0; t += 2.0) {
      low = MIN (low, mean_rtp (&world, t, t + 2.0) / model);
      high = MAX (high, mean_rtp (&world, t, t + 2.0) / model);
    }
    g_test_message ("seed %d: %.2f of the model (%.0f kb/s), 2-s means %.2f .. %.2f", (int)seed,
        share, model / 1e3, low, high);
    g_assert_cmpfloat (share, >=, 0.6);
    g_assert_cmpfloat (share, <=, 1.5);
    g_assert_cmpfloat (low, >=, 0.3);
    world_clear (&world);
  }
}

/* Beside Reno-like flows: not starved, not starving. */
static void
beside_rivals (guint32 queue_bytes)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++)
    for (guint n = 1; n <= 4; n += 3) {
      World world;
      world_init (&world, seed, NULL, 8000000, queue_bytes, 0);
      world_join (&world, world.link);
      world_run (&world, 15.0);
      int flow[4];
      for (guint i = 0; i < n; i++)
        flow[i] = vnet_add_flow (world.vnet, world.link, (20 + 3 * i) * MCC_MSECOND, 1240);
      world_run (&world, 40.0);
      guint64 before = 0, after = 0;
      for (guint i = 0; i < n; i++)
        before += vnet_flow_bytes (world.vnet, flow[i]);
      world_run (&world, 120.0);
      for (guint i = 0; i < n; i++)
        after += vnet_flow_bytes (world.vnet, flow[i]);
      double fair = 8e6 / (n + 1);
      double ours = mean_rtp (&world, 40.0, 120.0) / fair;
      double theirs = (double)(after - before) * 8.0 / 80.0 / n / fair;
      for (guint i = 0; i < n; i++)
        vnet_stop_flow (world.vnet, flow[i]);
      world_run (&world, 150.0);
      double alone = mean_rtp (&world, 140.0, 150.0) / 8e6;
      g_test_message ("seed %d, %u flows: we %.2f, they %.2f of the fair share; alone again %.2f",
          (int)seed, n, ours, theirs, alone);
      g_assert_cmpfloat (ours, >=, 0.6);
      g_assert_cmpfloat (theirs, >=, 0.8);
      g_assert_cmpfloat (alone, >=, 0.9);
      world_clear (&world);
    }
}

/* A flow that was there for 20 s is gone: we do not compete with ourselves for ever, on a link so
 * slow that our own overflows follow each other in seconds. */
static void
rival_goes (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, NULL, 600000, 15000, 0);
    world_join (&world, world.link);
    world_run (&world, 20.0);
    int flow = vnet_add_flow (world.vnet, world.link, 20 * MCC_MSECOND, 1240);
    world_run (&world, 40.0);
    vnet_stop_flow (world.vnet, flow);
    world_run (&world, 80.0);
    guint64 before = vnet_link_stats (world.vnet, world.link)->rtp_dropped;
    world_run (&world, 140.0);
    guint64 dropped = vnet_link_stats (world.vnet, world.link)->rtp_dropped - before;
    double alone = mean_rtp (&world, 80.0, 140.0) / 6e5;
    g_test_message (
        "seed %d: %d packets dropped, %.2f of the link", (int)seed, (int)dropped, alone);
    g_assert_cmpuint (dropped, ==, 0);
    g_assert_cmpfloat (alone, >=, 0.9);
    world_clear (&world);
  }
}

/* The one loss of our own start does not keep a flow from its share that comes soon after it. */
static void
rival_comes (void)
{
  static const double link_bps[] = { 6e5, 2e6, 1e7 };
  for (guint row = 0; row < G_N_ELEMENTS (link_bps); row++) {
    double theirs = 0.0;
    for (guint64 seed = 1; seed <= MEAN_SEEDS; seed++) {
      World world;
      double bps = link_bps[row];
      world_init (&world, seed, NULL, (guint64)bps, (guint32)(0.2 * bps / 8.0), 0);
      world_join (&world, world.link);
      world_run (&world, 20.0);
      int flow = vnet_add_flow (world.vnet, world.link, 40 * MCC_MSECOND, 1240);
      world_run (&world, 25.0);
      guint64 before = vnet_flow_bytes (world.vnet, flow);
      world_run (&world, 45.0);
      double share = (double)(vnet_flow_bytes (world.vnet, flow) - before) * 8.0 / 20.0 / (bps / 2);
      g_test_message ("%.1f Mb/s, seed %d: they have %.2f of the fair share, we %.2f", bps / 1e6,
          (int)seed, share, mean_rtp (&world, 25.0, 45.0) / (bps / 2));
      theirs += share / MEAN_SEEDS;
      world_clear (&world);
    }
    g_assert_cmpfloat (theirs, >=, 0.9);
  }
}

/* Who comes to a link that ten others fill never saw what it carries. */
static void
joins_rivals (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, NULL, 6500000, 50 * 1240, 0);
    int flow[10];
    for (guint i = 0; i < G_N_ELEMENTS (flow); i++)
      flow[i] = vnet_add_flow (world.vnet, world.link, (40 + 2 * i) * MCC_MSECOND, 1240);
    world_run (&world, 10.0);
    world_join (&world, world.link);
    world_run (&world, 40.0);
    guint64 before = 0, after = 0;
    for (guint i = 0; i < G_N_ELEMENTS (flow); i++)
      before += vnet_flow_bytes (world.vnet, flow[i]);
    world_run (&world, 120.0);
    for (guint i = 0; i < G_N_ELEMENTS (flow); i++)
      after += vnet_flow_bytes (world.vnet, flow[i]);
    double fair = 6.5e6 / 11;
    double ours = mean_rtp (&world, 40.0, 120.0) / fair;
    double theirs = (double)(after - before) * 8.0 / 80.0 / 10 / fair;
    g_test_message ("seed %d: we %.2f, they %.2f of the fair share", (int)seed, ours, theirs);
    g_assert_cmpfloat (ours, >=, 0.6);
    g_assert_cmpfloat (theirs, >=, 0.95);
    world_clear (&world);
  }
}

static void
rivals_1_bdp (void)
{
  beside_rivals (40000);
}

static void
rivals_4_bdp (void)
{
  beside_rivals (160000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmploop/capacity-steps/50-packets", steps_50_packets);
  g_test_add_func ("/asmploop/capacity-steps/100-ms", steps_100_ms);
  g_test_add_func ("/asmploop/alone/300-kbps", slow_link);
  g_test_add_func ("/asmploop/alone/slow-and-lossy", slow_lossy_link);
  g_test_add_func ("/asmploop/alone/slower-and-lossy", slower_lossy_link);
  g_test_add_func ("/asmploop/alone/300-kbps-film", film_on_a_slow_link);
  g_test_add_func ("/asmploop/alone/10-mbps-1-bdp", alone_1_bdp);
  g_test_add_func ("/asmploop/alone/10-mbps-10-bdp", alone_10_bdp);
  g_test_add_func ("/asmploop/late-joiners", late_joiners);
  g_test_add_func ("/asmploop/crash-of-the-limiting-receiver", crash);
  g_test_add_func ("/asmploop/long-run-with-drift", long_run);
  g_test_add_func ("/asmploop/key-frames", key_frames);
  g_test_add_func ("/asmploop/key-frames-and-a-slower-link", key_frames_and_a_slower_link);
  g_test_add_func ("/asmploop/published", published);
  g_test_add_func ("/asmploop/easy-then-hard", easy_then_hard);
  g_test_add_func ("/asmploop/random-loss", random_loss);
  g_test_add_func ("/asmploop/rivals/1-bdp", rivals_1_bdp);
  g_test_add_func ("/asmploop/rivals/4-bdp", rivals_4_bdp);
  g_test_add_func ("/asmploop/rivals/comes", rival_comes);
  g_test_add_func ("/asmploop/rivals/goes", rival_goes);
  g_test_add_func ("/asmploop/rivals/joined", joins_rivals);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASMP alone on a link with a deep buffer that carries less than what is sent, where nothing is
 * lost for seconds to tell it: the queue does not stand that long.
 */
#include <math.h>
#include <stdlib.h>

#include "vnetasmp.h"

#define SEEDS 10
#define STEP (5 * MCC_MSECOND)
#define BUFFER_S 2.0

typedef struct {
  double queue_s; /* 90th of a hundred */
  double use;     /* of the link */
  guint64 dropped;
} Figures;

typedef struct {
  Vnet *vnet;
  VnetSender *sender;
  VnetReceiver *receiver;
  int link;
} World;

static World
world_new (guint64 seed, guint64 link_bps, guint64 max_bps)
{
  World world = { .vnet = vnet_new (seed) };
  VnetSenderConfig config = vnet_sender_default;
  VnetLink link = { .rate_bps = link_bps,
    .delay = 15 * MCC_MSECOND,
    .queue_bytes = (guint32)((double)link_bps / 8.0 * BUFFER_S) };
  config.min_bps = 16000;
  config.max_bps = max_bps;
  config.fps = seed % 2 ? 0.0 : 30.0;
  world.link = vnet_add_link (world.vnet, VNET_CORE, &link);
  world.sender = vnet_sender_new (world.vnet, &config, 5 * MCC_MSECOND);
  world.receiver
      = vnet_receiver_new (world.vnet, world.link, 0, NULL, 5000 * MCC_SECOND, 10.0 * (double)seed);
  return world;
}

static void
world_free (World *world)
{
  vnet_receiver_free (world->receiver);
  vnet_sender_free (world->sender);
  vnet_free (world->vnet);
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static Figures
measure (World *world, double from_s, double to_s)
{
  MccTime from = mcc_time_from_seconds (from_s), to = mcc_time_from_seconds (to_s);
  double queue_s[4096];
  gsize n = 0;
  vnet_run (world->vnet, from);
  VnetLinkStats before = *vnet_link_stats (world->vnet, world->link);
  for (MccTime now = from; now < to && n < G_N_ELEMENTS (queue_s); now += STEP) {
    vnet_run (world->vnet, now);
    queue_s[n++] = mcc_time_to_seconds (vnet_queue_delay (world->vnet, world->link));
  }
  const VnetLinkStats *after = vnet_link_stats (world->vnet, world->link);
  double capacity = (double)vnet_link (world->vnet, world->link)->rate_bps * (to_s - from_s) / 8.0;
  qsort (queue_s, n, sizeof queue_s[0], compare_doubles);
  return (Figures){ .queue_s = queue_s[n * 9 / 10],
    .use = (double)(after->rtp_bytes - before.rtp_bytes) / capacity,
    .dropped = after->rtp_dropped - before.rtp_dropped };
}

/* Others were here, so a queue that grows may be theirs again, but it is a link that has become
 * slower. */
static void
after_rivals (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world = world_new (seed, 8000000, 20000000);
    vnet_run (world.vnet, 10 * MCC_SECOND);
    int flow[3];
    for (guint i = 0; i < G_N_ELEMENTS (flow); i++)
      flow[i] = vnet_add_flow (world.vnet, world.link, (20 + 3 * i) * MCC_MSECOND, 1240);
    vnet_run (world.vnet, 60 * MCC_SECOND);
    for (guint i = 0; i < G_N_ELEMENTS (flow); i++)
      vnet_stop_flow (world.vnet, flow[i]);
    /* Before we have found the end of the link ourselves. */
    MccAsmpReceiverStats stats;
    double now_s = 60.0;
    do {
      now_s += 0.5;
      vnet_run (world.vnet, mcc_time_from_seconds (now_s));
      vnet_receiver_get_stats (world.receiver, &stats);
    } while (stats.mode == MCC_RATE_TCP && now_s < 120.0);
    g_assert_cmpint (stats.mode, ==, MCC_RATE_DELAY);
    double carries_bps = 0.5 * (double)vnet_sender_target (world.sender);
    vnet_set_rate (world.vnet, world.link, (guint64)carries_bps);
    Figures f = measure (&world, now_s + 6.0, now_s + 16.0);
    g_test_message ("seed %d: at %.1f s %.0f kb/s: queue %.0f ms, use %.2f, %d dropped", (int)seed,
        now_s, carries_bps / 1e3, f.queue_s * 1e3, f.use, (int)f.dropped);
    g_assert_cmpfloat (f.queue_s, <, 0.1);
    g_assert_cmpfloat (f.use, >, 0.8);
    g_assert_cmpuint (f.dropped, ==, 0);
    world_free (&world);
  }
}

/* The rate doubles up to its bound, which is a little more than the link: the queue grows too
 * slowly for an overload of that. */
static void
bound_above_the_link (void)
{
  static const double above[] = { 1.02, 1.05, 1.09 };
  for (guint row = 0; row < G_N_ELEMENTS (above); row++)
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      World world = world_new (seed, 2000000, (guint64)(above[row] * 2e6));
      Figures f = measure (&world, 15.0, 30.0);
      g_test_message ("%.2f, seed %d: queue %.0f ms, use %.2f, %d dropped", above[row], (int)seed,
          f.queue_s * 1e3, f.use, (int)f.dropped);
      g_assert_cmpfloat (f.queue_s, <, 0.1);
      g_assert_cmpfloat (f.use, >, 0.9);
      g_assert_cmpuint (f.dropped, ==, 0);
      world_free (&world);
    }
}

/* A packet takes 50 to 165 ms of the link, longer than TCP's queues swing: asking for more is no
 * reason to compete with nobody, and costs nothing. */
static void
slow_and_alone (void)
{
  static const guint64 link_bps[] = { 60000, 100000, 200000 };
  for (guint row = 0; row < G_N_ELEMENTS (link_bps); row++)
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      World world = world_new (seed, link_bps[row], 20000000);
      vnet_run (world.vnet, 30 * MCC_SECOND);
      guint64 before = vnet_link_stats (world.vnet, world.link)->rtp_dropped;
      for (guint second = 31; second <= 330; second++) {
        MccAsmpReceiverStats stats;
        vnet_run (world.vnet, second * MCC_SECOND);
        vnet_receiver_get_stats (world.receiver, &stats);
        g_assert_cmpint (stats.mode, ==, MCC_RATE_DELAY);
      }
      guint64 dropped = vnet_link_stats (world.vnet, world.link)->rtp_dropped - before;
      g_assert_cmpuint (dropped, ==, 0);
      world_free (&world);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpslower/after-rivals", after_rivals);
  g_test_add_func ("/asmpslower/bound-above-the-link", bound_above_the_link);
  g_test_add_func ("/asmpslower/slow-and-alone", slow_and_alone);
  return g_test_run ();
}

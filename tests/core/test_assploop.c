/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASSP end to end over vnet: who is in which stream, how often that changes, what it costs.
 * VNET_LOG=1 prints a line each second.
 */
#include "vnetassp.h"

#define SEEDS 3
#define RECEIVERS 3
#define LEAVE (500 * MCC_MSECOND)
#define SLUMP_DROPS 100 /* a tenth of a second at 9 Mb/s */

typedef struct {
  Vnet *vnet;
  VnetAsspSender *sender;
  VnetAsspReceiver *receiver[RECEIVERS];
  int link[RECEIVERS];
  guint receivers;
  bool log;
  guint64 shown_before[RECEIVERS];
} World;

/* A receiver behind a link of @bps each, with a queue of 100 ms or so; 0 ends the list. */
static void
world_init (World *world, guint64 seed, MccVariant variant, bool idle, const guint64 *bps)
{
  VnetAsspSenderConfig sender = vnet_assp_sender_default;
  sender.variant = variant;
  sender.idle = idle;
  memset (world, 0, sizeof *world);
  world->vnet = vnet_new (seed);
  world->sender = vnet_assp_sender_new (world->vnet, &sender, 5 * MCC_MSECOND);
  world->log = g_getenv ("VNET_LOG") != NULL;
  for (guint i = 0; i < RECEIVERS && bps[i] > 0; i++) {
    VnetLink link = { .rate_bps = bps[i],
      .delay = (15 + 5 * i) * MCC_MSECOND,
      .queue_bytes = (guint32)MAX (bps[i] / 80, 12000) };
    MccAsspReceiverConfig config = {
      .asmp = { .variant = variant, .hears_group = true }, .leave_latency = LEAVE, .lock_stream = -1
    };
    world->link[i] = vnet_add_link (world->vnet, VNET_CORE, &link);
    world->receiver[i] = vnet_assp_receiver_new (
        world->vnet, world->link[i], 0, &config, LEAVE, (4000 + 100 * i) * MCC_SECOND, 30.0 * i);
    world->receivers++;
  }
}

static void
world_clear (World *world)
{
  for (guint i = 0; i < world->receivers; i++)
    vnet_assp_receiver_free (world->receiver[i]);
  vnet_assp_sender_free (world->sender);
  vnet_free (world->vnet);
}

static void
log_line (World *world)
{
  GString *line = g_string_new (NULL);
  g_string_append_printf (line, "# %5.1f tx", mcc_time_to_seconds (vnet_now (world->vnet)));
  for (unsigned j = 0; j < 3; j++)
    g_string_append_printf (line, " %5d%s", (int)vnet_assp_sender_target (world->sender, j) / 1000,
        mcc_assp_sender_occupied (vnet_assp_sender_core (world->sender), j) ? "*" : " ");
  for (guint i = 0; i < world->receivers; i++) {
    MccAsspReceiverStats s;
    MccAsmpReceiverStats a;
    MccAsspReceiver *core = vnet_assp_receiver_core (world->receiver[i]);
    mcc_assp_receiver_get_stats (core, &s);
    mcc_asmp_receiver_get_stats (mcc_assp_receiver_asmp (core),
        (4000 + 100 * i) * MCC_SECOND + vnet_now (world->vnet) * 2, &a);
    g_string_append_printf (line, " | %u%s est %5d pot %5d avg %5d m%d p %.4f q %3d", s.stream,
        s.switching ? ">" : " ", (int)(a.estimated_bps / 1000),
        (int)(MIN (mcc_asmp_receiver_potential_bps (mcc_assp_receiver_asmp (core)), 99999999)
              / 1000),
        (int)(s.average_bps / 1e3), a.mode, a.loss_ratio, (int)(a.queue_delay / MCC_MSECOND));
  }
  g_print ("%s\n", line->str);
  g_string_free (line, TRUE);
}

static void
world_run (World *world, double seconds)
{
  MccTime end = mcc_time_from_seconds (seconds);
  while (vnet_now (world->vnet) < end) {
    vnet_run (world->vnet, MIN (end, vnet_now (world->vnet) + MCC_SECOND / 5));
    if (world->log)
      log_line (world);
  }
}

/* Switches of receiver @i in [from, to). */
static guint
switches_between (World *world, guint i, double from, double to)
{
  const GArray *all = vnet_assp_receiver_switches (world->receiver[i]);
  guint n = 0;
  for (guint k = 0; k < all->len; k++) {
    double t = mcc_time_to_seconds (g_array_index (all, VnetAsspSwitch, k).time);
    n += t >= from && t < to;
  }
  return n;
}

static void
log_switches (World *world)
{
  for (guint i = 0; i < world->receivers; i++) {
    const GArray *all = vnet_assp_receiver_switches (world->receiver[i]);
    for (guint k = 0; k < all->len; k++) {
      const VnetAsspSwitch *s = &g_array_index (all, VnetAsspSwitch, k);
      g_test_message ("receiver %u: %.1f s, %u -> %u, %s, took %.2f s", i,
          mcc_time_to_seconds (s->time), s->from, s->stream, mcc_assp_reason_name (s->reason),
          mcc_time_to_seconds (s->duration));
    }
  }
}

typedef struct {
  MccVariant variant;
  guint64 bps[RECEIVERS];
  unsigned stream[RECEIVERS]; /* where each belongs */
  double seconds;             /* ... by then */
} Places;

/* Whoever is behind a link comes to the stream that it bears, and stays there. */
static void
test_places (gconstpointer data)
{
  const Places *test = data;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, test->variant, true, test->bps);
    world_run (&world, test->seconds);
    log_switches (&world);
    for (guint i = 0; i < world.receivers; i++)
      g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[i]), ==, test->stream[i]);
    world_clear (&world);
  }
}

/* The time of the first switch of receiver @i to @stream at or after @from, less @from. */
static double
time_to (World *world, guint i, unsigned stream, double from)
{
  const GArray *all = vnet_assp_receiver_switches (world->receiver[i]);
  for (guint k = 0; k < all->len; k++) {
    const VnetAsspSwitch *s = &g_array_index (all, VnetAsspSwitch, k);
    double t = mcc_time_to_seconds (s->time);
    if (t >= from && s->stream == stream)
      return t - from;
  }
  return 1e9;
}

/* A link that becomes slow: down without waiting for a round; up again when it is fast again. Those
 * in other streams do not notice. */
static void
test_changes (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    static const guint64 bps[] = { 1000000, 3500000, 8000000 };
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    world_run (&world, 62.0);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), ==, 2);
    vnet_set_rate (world.vnet, world.link[2], 1200000);
    world_run (&world, 120.0);
    double down_s = time_to (&world, 2, 0, 62.0);
    vnet_set_rate (world.vnet, world.link[2], 8000000);
    world_run (&world, 240.0);
    log_switches (&world);
    g_test_message ("down after %.1f s", down_s);
    g_assert_cmpfloat (down_s, <, 4.0);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), ==, 2);
    g_assert_cmpuint (switches_between (&world, 0, 30.0, 240.0), ==, 0);
    g_assert_cmpuint (switches_between (&world, 1, 30.0, 240.0), ==, 0);
    world_clear (&world);
  }
}

/* A link that falls to a quarter: the stream that its receiver is in falls with it before it has
 * gone, so that nearly nothing is lost but what was on its way. */
static void
test_slump (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    static const guint64 bps[] = { 1000000, 3500000, 9000000 };
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    world_run (&world, 62.0);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), ==, 2);
    guint64 before = vnet_link_stats (world.vnet, world.link[2])->rtp_dropped;
    vnet_set_rate (world.vnet, world.link[2], 2250000);
    world_run (&world, 70.0);
    guint64 dropped = vnet_link_stats (world.vnet, world.link[2])->rtp_dropped - before;
    log_switches (&world);
    g_test_message ("%" G_GUINT64_FORMAT " packets dropped", dropped);
    g_assert_cmpuint (dropped, <, SLUMP_DROPS);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), <, 2);
    world_clear (&world);
  }
}

/* A link that falls below what the next stream makes just now, soon after an up, so that its
 * receiver goes there: that stream slows down before it is seen, and arrives whole as soon as the
 * queue lets it. What the link had carried says nothing any more. */
static void
test_slump_below_next (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    static const guint64 bps[] = { 1000000, 4900000, 9000000 };
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    world_run (&world, 40.0);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), ==, 2);
    vnet_set_rate (world.vnet, world.link[2], 2250000);
    world_run (&world, 42.0);
    guint64 before = vnet_link_stats (world.vnet, world.link[2])->rtp_dropped;
    world_run (&world, 46.0);
    guint64 dropped = vnet_link_stats (world.vnet, world.link[2])->rtp_dropped - before;
    log_switches (&world);
    g_test_message ("%" G_GUINT64_FORMAT " packets dropped later", dropped);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), ==, 1);
    g_assert_cmpfloat (time_to (&world, 2, 1, 40.0), <, 1.5);
    g_assert_cmpuint (dropped, ==, 0);
    world_clear (&world);
  }
}

/* A link that is slow for a while, soon after its receiver has come to the highest stream: that was
 * no attempt in vain, and it is back there soon after the link is. */
static void
test_slump_passes (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    static const guint64 bps[] = { 1000000, 3500000, 9000000 };
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    world_run (&world, 40.0);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), ==, 2);
    vnet_set_rate (world.vnet, world.link[2], 2250000);
    world_run (&world, 55.0);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), ==, 1);
    vnet_set_rate (world.vnet, world.link[2], 9000000);
    world_run (&world, 75.0);
    log_switches (&world);
    g_test_message ("back after %.1f s", time_to (&world, 2, 2, 55.0));
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[2]), ==, 2);
    world_clear (&world);
  }
}

/* A link at a bound, just above or just below one: at most one switch a minute. */
static void
test_bounds (gconstpointer data)
{
  double factor = *(const double *)data, minutes = 8.0;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    const guint64 bps[]
        = { (guint64)(2e6 * factor), (guint64)(5e6 * factor), (guint64)(3.5e6 * factor) };
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    world_run (&world, 60.0 * minutes);
    log_switches (&world);
    for (guint i = 0; i < RECEIVERS; i++)
      g_assert_cmpuint (switches_between (&world, i, 0.0, 60.0 * minutes), <=, (guint)minutes);
    world_clear (&world);
  }
}

/* Between 0.8 low and low: published stays and is oversent, enhanced goes. */
static void
test_oversent (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    static const guint64 bps[] = { 3500000, 0 };
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    world_run (&world, 60.0);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[0]), ==, 1);
    vnet_set_rate (world.vnet, world.link[0], 1800000);
    world_run (&world, 80.0);
    log_switches (&world);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[0]), ==, 0);
    g_assert_cmpfloat (time_to (&world, 0, 0, 60.0), <, 8.0);
    world_clear (&world);
  }
}

typedef struct {
  guint64 bps;
  guint flows;
  unsigned most; /* the highest stream that is fair */
} Rivals;

static void
test_rivals (gconstpointer data)
{
  const Rivals *test = data;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    const guint64 bps[] = { test->bps, 0 };
    int flow[8];
    guint64 before = 0, after = 0;
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    vnet_run (world.vnet, 3 * MCC_SECOND);
    for (guint k = 0; k < test->flows; k++)
      flow[k] = vnet_add_flow (world.vnet, world.link[0], (30 + 3 * k) * MCC_MSECOND, 1500);
    world_run (&world, 60.0);
    for (guint k = 0; k < test->flows; k++)
      before += vnet_flow_bytes (world.vnet, flow[k]);
    guint64 shown = vnet_assp_receiver_shown_bytes (world.receiver[0]);
    world_run (&world, 300.0);
    for (guint k = 0; k < test->flows; k++)
      after += vnet_flow_bytes (world.vnet, flow[k]);
    double ours
        = (double)(vnet_assp_receiver_shown_bytes (world.receiver[0]) - shown) * 8.0 / 240.0;
    double theirs = (double)(after - before) * 8.0 / 240.0 / test->flows;
    log_switches (&world);
    g_test_message ("ours %.0f kb/s, each rival %.0f kb/s", ours / 1e3, theirs / 1e3);
    g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[0]), <=, test->most);
    g_assert_cmpfloat (theirs, >, 0.5 * (double)test->bps / (test->flows + 1));
    g_assert_cmpuint (switches_between (&world, 0, 60.0, 300.0), <=, 4);
    world_clear (&world);
  }
}

/* RTP dropped at the bottlenecks, of all RTP. */
static double
drop_ratio (World *world)
{
  guint64 dropped = 0, all = 0;
  for (guint i = 0; i < world->receivers; i++) {
    const VnetLinkStats *stats = vnet_link_stats (world->vnet, world->link[i]);
    dropped += stats->rtp_dropped;
    all += stats->rtp_dropped + stats->rtp_packets;
  }
  return (double)dropped / (double)all;
}

/* Three links, a TCP flow on each from 60 to 120 s; at 180 s they change places. */
static double
changing_places (MccVariant variant, guint64 seed, double *shown_bps)
{
  World world;
  static const guint64 before[] = { 1000000, 3500000, 8000000 };
  static const guint64 after[] = { 3500000, 8000000, 1000000 };
  world_init (&world, seed, variant, true, before);
  world_run (&world, 60.0);
  int flow[RECEIVERS];
  for (guint i = 0; i < RECEIVERS; i++)
    flow[i] = vnet_add_flow (world.vnet, world.link[i], (20 + 10 * i) * MCC_MSECOND, 1500);
  world_run (&world, 120.0);
  for (guint i = 0; i < RECEIVERS; i++)
    vnet_stop_flow (world.vnet, flow[i]);
  world_run (&world, 180.0);
  for (guint i = 0; i < RECEIVERS; i++)
    vnet_set_rate (world.vnet, world.link[i], after[i]);
  world_run (&world, 420.0);
  log_switches (&world);
  double ratio = drop_ratio (&world), all = 0.0;
  guint switches = 0;
  for (guint i = 0; i < RECEIVERS; i++) {
    all += (double)vnet_assp_receiver_shown_bytes (world.receiver[i]) * 8.0 / 420.0;
    switches += vnet_assp_receiver_switches (world.receiver[i])->len;
    if (variant == MCC_VARIANT_ENHANCED)
      g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[i]), ==, (i + 1) % 3);
  }
  g_test_message ("%s: %.3f %% dropped, %.0f kb/s shown to all, %u switches",
      variant == MCC_VARIANT_ENHANCED ? "enhanced" : "published", 100.0 * ratio, all / 1e3,
      switches);
  world_clear (&world);
  *shown_bps = all;
  return ratio;
}

/* enhanced follows with less loss than published, and shows more. */
static void
test_changing_places (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    double published_bps, enhanced_bps;
    double published = changing_places (MCC_VARIANT_PUBLISHED, seed, &published_bps);
    double enhanced = changing_places (MCC_VARIANT_ENHANCED, seed, &enhanced_bps);
    g_assert_cmpfloat (enhanced, <, published);
    g_assert_cmpfloat (enhanced_bps, >, published_bps);
    g_assert_cmpfloat (enhanced, <, 0.01);
  }
}

/* Receivers behind one link change together: it carries one stream, not two. */
static void
test_shared_link (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    static const guint64 bps[] = { 3500000, 0 };
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    for (guint i = 1; i < RECEIVERS; i++) {
      MccAsspReceiverConfig config
          = { .asmp = { .variant = MCC_VARIANT_ENHANCED, .hears_group = true },
              .leave_latency = LEAVE,
              .lock_stream = -1 };
      world.link[i] = world.link[0];
      world.receiver[i] = vnet_assp_receiver_new (
          world.vnet, world.link[0], 0, &config, LEAVE, (4000 + 100 * i) * MCC_SECOND, 30.0 * i);
      world.receivers++;
    }
    world_run (&world, 200.0);
    log_switches (&world);
    g_test_message ("%.3f %% dropped", 100.0 * drop_ratio (&world));
    for (guint i = 0; i < RECEIVERS; i++) {
      g_assert_cmpuint (vnet_assp_receiver_stream (world.receiver[i]), ==, 1);
      g_assert_cmpuint (switches_between (&world, i, 0.0, 200.0), <=, 4);
    }
    g_assert_cmpfloat (drop_ratio (&world), <, 0.01);
    world_clear (&world);
  }
}

/* Another one holds the lowest stream down: what the path bears is found out by trying, shortly and
 * seldom. */
static void
test_attempts (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    static const guint64 bps[] = { 500000, 1200000, 0 };
    double up = 0.0, longest = 0.0;
    guint ups = 0;
    world_init (&world, seed, MCC_VARIANT_ENHANCED, true, bps);
    world_run (&world, 480.0);
    log_switches (&world);
    const GArray *all = vnet_assp_receiver_switches (world.receiver[1]);
    for (guint k = 1; k < all->len; k++) {
      const VnetAsspSwitch *s = &g_array_index (all, VnetAsspSwitch, k);
      double at = mcc_time_to_seconds (s->time);
      if (s->stream == 0)
        longest = MAX (longest, at - up);
      ups += s->stream == 1;
      up = at;
    }
    g_test_message ("%u attempts, the longest %.2f s, %.3f %% dropped", ups, longest,
        100.0 * drop_ratio (&world));
    g_assert_cmpuint (ups, <=, 3);
    g_assert_cmpfloat (longest, <, 2.5);
    g_assert_cmpfloat (drop_ratio (&world), <, 0.01);
    world_clear (&world);
  }
}

/* A stream whose encoder has died: back, with something to see; others are not disturbed. */
static void
test_broken_stream (void)
{
  World world;
  static const guint64 bps[] = { 8000000, 1000000, 0 };
  world_init (&world, 1, MCC_VARIANT_ENHANCED, true, bps);
  vnet_assp_sender_break (world.sender, 1);
  world_run (&world, 100.0);
  log_switches (&world);
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (vnet_assp_receiver_core (world.receiver[0]), &stats);
  g_assert_cmpuint (stats.stream, ==, 0);
  g_assert_cmpuint (stats.failed, ==, 1); /* and not tried again soon */
  double shown_bps = (double)vnet_assp_receiver_shown_bytes (world.receiver[0]) * 8.0 / 100.0;
  g_assert_cmpfloat (shown_bps, >, 600e3);
  g_assert_false (mcc_assp_sender_occupied (vnet_assp_sender_core (world.sender), 1));
  world_clear (&world);
}

/* RTCP of all streams, both ways: 5 % of what the lowest carries (the first second apart). */
static void
test_rtcp (gconstpointer data)
{
  MccVariant variant = (MccVariant)GPOINTER_TO_UINT (data);
  World world;
  static const guint64 bps[] = { 1000000, 3500000, 8000000 };
  double budget = 0.0;
  world_init (&world, 1, variant, true, bps);
  for (unsigned t = 1; t <= 180; t++) {
    world_run (&world, t);
    budget += 0.05 * (double)vnet_assp_sender_target (world.sender, 0) / 8.0;
  }
  double bytes = (double)vnet_assp_sender_rtcp_bytes (world.sender);
  for (guint i = 0; i < RECEIVERS; i++)
    bytes += (double)vnet_assp_receiver_rtcp_bytes (world.receiver[i]);
  g_test_message ("RTCP: %.1f %% of the lowest stream", 5.0 * bytes / budget);
  g_assert_cmpfloat (bytes, <=, budget);
  world_clear (&world);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  static const struct {
    const char *name;
    Places test;
  } places[] = {
    { "/assploop/published/each-in-its-stream",
        { MCC_VARIANT_PUBLISHED, { 1000000, 3500000, 8000000 }, { 0, 1, 2 }, 300.0 } },
    { "/assploop/enhanced/each-in-its-stream",
        { MCC_VARIANT_ENHANCED, { 1000000, 3500000, 8000000 }, { 0, 1, 2 }, 120.0 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    g_test_add_data_func (places[i].name, &places[i].test, test_places);
  g_test_add_func ("/assploop/enhanced/goes-down-at-once-and-up-again", test_changes);
  g_test_add_func ("/assploop/enhanced/slump-costs-little", test_slump);
  g_test_add_func ("/assploop/enhanced/slump-below-the-next-stream", test_slump_below_next);
  g_test_add_func ("/assploop/enhanced/a-link-that-is-slow-for-a-while", test_slump_passes);
  static const double factor[] = { 0.97, 1.0, 1.03, 1.2 };
  g_test_add_data_func ("/assploop/enhanced/below-a-bound", &factor[0], test_bounds);
  g_test_add_data_func ("/assploop/enhanced/at-a-bound", &factor[1], test_bounds);
  g_test_add_data_func ("/assploop/enhanced/above-a-bound", &factor[2], test_bounds);
  g_test_add_data_func ("/assploop/enhanced/at-lambda", &factor[3], test_bounds);
  g_test_add_func ("/assploop/enhanced/is-not-left-oversent", test_oversent);
  static const Rivals rivals[] = { { 8000000, 1, 1 }, { 6000000, 3, 1 }, { 3000000, 1, 0 } };
  g_test_add_data_func ("/assploop/enhanced/rivals/1-of-2-of-8-Mb", &rivals[0], test_rivals);
  g_test_add_data_func ("/assploop/enhanced/rivals/1-of-4-of-6-Mb", &rivals[1], test_rivals);
  g_test_add_data_func ("/assploop/enhanced/rivals/1-of-2-of-3-Mb", &rivals[2], test_rivals);
  g_test_add_func ("/assploop/enhanced/changing-places-with-rivals", test_changing_places);
  g_test_add_func ("/assploop/enhanced/those-behind-one-link-move-together", test_shared_link);
  g_test_add_func ("/assploop/enhanced/attempts-are-short-and-few", test_attempts);
  g_test_add_func ("/assploop/enhanced/comes-back-from-a-dead-stream", test_broken_stream);
  g_test_add_data_func ("/assploop/published/rtcp-is-5-percent-of-the-lowest",
      GUINT_TO_POINTER (MCC_VARIANT_PUBLISHED), test_rtcp);
  g_test_add_data_func ("/assploop/enhanced/rtcp-is-5-percent-of-the-lowest",
      GUINT_TO_POINTER (MCC_VARIANT_ENHANCED), test_rtcp);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vnetpopulation.h"

#define LEAVE (500 * MCC_MSECOND)
#define RIVAL_RTT (40 * MCC_MSECOND)
#define SETTLE_S 60.0 /* after the begin and the half nobody is expected to be calm */

typedef struct {
  Vnet *vnet;
  VnetAsspSender *sender;
  VnetAsspReceiver *receiver[VNET_POPULATION_MAX];
  int link[VNET_POPULATION_MAX];
  guint64 shown[VNET_POPULATION_MAX]; /* of those that have gone */
  double present_s[VNET_POPULATION_MAX];
  guint switches, most;
  unsigned streams;
  guint rivals;
  bool log;
  VnetPopulationLoss begin, rest; /* sums of kb/s and receivers' seconds, not means */
  guint64 total;                  /* bytes shown, as of the last look */
} World;

static void
cluster (VnetPopulation *out, guint from, guint to, double before, double after)
{
  for (guint i = from; i < to; i++) {
    double place = to - from > 1 ? (double)(i - from) / (to - from - 1) : 0.5;
    double factor = 0.9 + 0.2 * place;
    out->member[i].before_bps = (guint64)(before * factor);
    out->member[i].after_bps = (guint64)(after * factor);
  }
}

void
vnet_population_make (VnetPopulation *out, guint which)
{
  static const char *const name[] = { "clustered", "uniform", "outlier", "clustered, moves",
    "uniform, comes and goes", "outlier, becomes another" };
  bool moves = which >= 3;
  g_assert_cmpuint (which, <, VNET_POPULATIONS);
  *out = (VnetPopulation){ .name = name[which], .count = 12 };
  switch (which % 3) {
    case 0:
      cluster (out, 0, 4, 0.4e6, moves ? 0.7e6 : 0.4e6);
      cluster (out, 4, 8, 1.2e6, moves ? 3.0e6 : 1.2e6);
      cluster (out, 8, 12, 3.0e6, moves ? 1.5e6 : 3.0e6);
      break;
    case 1:
      for (guint i = 0; i < 12; i++) {
        double bps = 0.4e6 + 0.3e6 * i;
        out->member[i].before_bps = moves && i % 4 == 3 ? 0 : (guint64)bps;
        out->member[i].after_bps
            = moves && i < 6 ? (i < 3 ? 0 : (guint64)(2.0 * bps)) : (guint64)bps;
      }
      break;
    default:
      cluster (out, 0, 6, 1.4e6, 1.4e6);
      cluster (out, 6, 11, 2.2e6, moves ? 2.6e6 : 2.2e6);
      cluster (out, 11, 12, 0.2e6, moves ? 4.5e6 : 0.2e6);
  }
}

static void
come (World *world, guint i, guint64 bps)
{
  MccAsspReceiverConfig config = { .asmp = { .variant = MCC_VARIANT_ENHANCED, .hears_group = true },
    .leave_latency = LEAVE,
    .lock_stream = -1 };
  if (world->link[i] < 0) {
    VnetLink link = { .rate_bps = bps,
      .delay = (10 + 3 * (i % 7)) * MCC_MSECOND,
      .queue_bytes = (guint32)MAX (bps / 80, 12000) };
    world->link[i] = vnet_add_link (world->vnet, VNET_CORE, &link);
    if (world->rivals > 0 && i % world->rivals == 0)
      vnet_add_flow (world->vnet, world->link[i], RIVAL_RTT, 1000);
  }
  vnet_set_rate (world->vnet, world->link[i], bps);
  vnet_link (world->vnet, world->link[i])->queue_bytes = (guint32)MAX (bps / 80, 12000);
  if (world->receiver[i] == NULL)
    world->receiver[i] = vnet_assp_receiver_new (
        world->vnet, world->link[i], 0, &config, LEAVE, (4000 + 100 * i) * MCC_SECOND, 5.0 * i);
}

static guint
most_in_a_minute (const GArray *all, double half_s)
{
  guint most = 0;
  for (guint i = 0; i < all->len; i++) {
    double from = mcc_time_to_seconds (g_array_index (all, VnetAsspSwitch, i).time);
    guint n = 0;
    if (from < SETTLE_S || (from >= half_s && from < half_s + SETTLE_S))
      continue;
    for (guint k = i; k < all->len; k++) {
      double at = mcc_time_to_seconds (g_array_index (all, VnetAsspSwitch, k).time);
      n += at < from + 60.0 && (from >= half_s || at < half_s);
    }
    most = MAX (most, n);
  }
  return most;
}

static void
count (World *world, guint i, double half_s)
{
  if (world->receiver[i] == NULL)
    return;
  const GArray *all = vnet_assp_receiver_switches (world->receiver[i]);
  world->switches += all->len > 0 ? all->len - 1 : 0; /* but for the start */
  world->most = MAX (world->most, most_in_a_minute (all, half_s));
  world->shown[i] += vnet_assp_receiver_shown_bytes (world->receiver[i]);
  if (world->log)
    for (guint k = 0; k < all->len; k++) {
      const VnetAsspSwitch *s = &g_array_index (all, VnetAsspSwitch, k);
      g_print ("# receiver %u: %.1f s, %u -> %u, %s\n", i, mcc_time_to_seconds (s->time), s->from,
          s->stream, mcc_assp_reason_name (s->reason));
    }
}

static void
go (World *world, guint i, double half_s)
{
  count (world, i, half_s);
  vnet_assp_receiver_free (world->receiver[i]);
  world->receiver[i] = NULL;
}

static void
log_line (World *world, guint receivers)
{
  const MccAsspStreams *streams = mcc_assp_sender_streams (vnet_assp_sender_core (world->sender));
  const MccAsspLadder *ladder = mcc_assp_sender_ladder (vnet_assp_sender_core (world->sender));
  g_print ("# %5.1f", mcc_time_to_seconds (vnet_now (world->vnet)));
  for (unsigned j = 0; j < streams->count; j++)
    g_print (" | %4d-%4d%s %4d", (int)(streams->stream[j].low_bps / 1000),
        (int)(streams->stream[j].high_bps / 1000), mcc_assp_streams_open (streams, j) ? "" : "x",
        (int)(vnet_assp_sender_target (world->sender, j) / 1000));
  if (ladder != NULL)
    g_print (" | now %4.0f plan %4.0f n %u+%u", ladder->now_bps / 1e3, ladder->plan_bps / 1e3,
        ladder->count, ladder->unsettled);
  g_print (" |");
  for (guint i = 0; i < receivers; i++)
    if (world->receiver[i] != NULL) {
      MccAsspReceiver *core = vnet_assp_receiver_core (world->receiver[i]);
      MccAsspReceiverStats stats;
      mcc_assp_receiver_get_stats (core, &stats);
      uint64_t p = mcc_asmp_receiver_known_bps (mcc_assp_receiver_asmp (core));
      g_print (" %u:%d/%d%s", stats.stream,
          (int)(mcc_asmp_receiver_rate_bps (mcc_assp_receiver_asmp (core)) / 1000),
          (int)(p == UINT64_MAX ? 99999 : p / 1000), stats.switching ? ">" : "");
    }
  g_print ("\n");
}

/* What n receivers get together, at most, from @streams streams; @bps rises. */
static double
best_partition (const double *bps, guint n, guint streams)
{
  double best[MCC_ASSP_STREAMS_MAX + 1][VNET_POPULATION_MAX + 1] = { { 0.0 } };
  for (guint end = 1; end <= n; end++)
    best[0][end] = -1.0; /* everybody is in one of them */
  for (guint k = 1; k <= streams; k++)
    for (guint end = 1; end <= n; end++) {
      best[k][end] = best[k - 1][end];
      for (guint a = 0; a < end; a++)
        if (best[k - 1][a] >= 0.0)
          best[k][end] = MAX (best[k][end], best[k - 1][a] + bps[a] * (end - a));
    }
  return best[streams][n];
}

static int
by_rate (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static guint64
total_shown (const World *world, guint receivers)
{
  guint64 all = 0;
  for (guint i = 0; i < receivers; i++)
    all += world->receiver[i] != NULL ? vnet_assp_receiver_shown_bytes (world->receiver[i]) : 0;
  return all;
}

/* Of the last second; adds up. */
static void
account (World *world, guint receivers, guint streams, bool begin)
{
  VnetPopulationLoss *loss = begin ? &world->begin : &world->rest;
  double bps[VNET_POPULATION_MAX], least[MCC_ASSP_STREAMS_MAX], ideal, partition = 0.0, sent = 0.0;
  guint n = 0, in[MCC_ASSP_STREAMS_MAX] = { 0 };
  guint64 total = total_shown (world, receivers);
  for (guint i = 0; i < receivers; i++) {
    if (world->receiver[i] == NULL)
      continue;
    double link_bps = (double)vnet_link (world->vnet, world->link[i])->rate_bps;
    unsigned j = vnet_assp_receiver_stream (world->receiver[i]);
    bps[n++] = link_bps;
    if (j >= streams)
      continue;
    least[j] = in[j]++ > 0 ? MIN (least[j], link_bps) : link_bps;
  }
  qsort (bps, n, sizeof bps[0], by_rate);
  ideal = best_partition (bps, n, streams);
  for (unsigned j = 0; j < streams; j++) {
    partition += in[j] > 0 ? in[j] * least[j] : 0.0;
    sent += in[j] * (double)vnet_assp_sender_target (world->sender, j);
  }
  loss->ideal_bps += ideal;
  loss->partition_bps += ideal - partition;
  loss->rate_bps += partition - sent;
  loss->shown_bps += sent - 8.0 * (double)(total - world->total);
  world->total = total;
}

static void
run_until (World *world, const VnetPopulation *population, guint seconds)
{
  double from_s = mcc_time_to_seconds (vnet_now (world->vnet));
  world->total = total_shown (world, population->count);
  while (vnet_now (world->vnet) < seconds * MCC_SECOND) {
    vnet_run (world->vnet, vnet_now (world->vnet) + MCC_SECOND);
    unsigned running = 0;
    const MccAsspSender *core = vnet_assp_sender_core (world->sender);
    for (unsigned j = 0; j < mcc_assp_sender_count (core); j++)
      running += mcc_assp_sender_occupied (core, j);
    world->streams = MAX (world->streams, running);
    account (world, population->count, mcc_assp_sender_count (core),
        mcc_time_to_seconds (vnet_now (world->vnet)) <= from_s + SETTLE_S);
    for (guint i = 0; i < population->count; i++)
      world->present_s[i] += world->receiver[i] != NULL;
    if (world->log && vnet_now (world->vnet) % (5 * MCC_SECOND) == 0)
      log_line (world, population->count);
  }
}

static VnetPopulationLoss
per_receiver (const VnetPopulationLoss *sum, double present_s)
{
  return (VnetPopulationLoss){ sum->ideal_bps / present_s, sum->partition_bps / present_s,
    sum->rate_bps / present_s, sum->shown_bps / present_s };
}

void
vnet_population_run (const VnetPopulation *population, const VnetLadder *ladder, guint seconds,
    guint64 seed, VnetPopulationResult *out)
{
  VnetAsspSenderConfig config = vnet_assp_sender_default;
  World world = { .vnet = vnet_new (seed), .log = g_getenv ("VNET_LOG") != NULL };
  double bits = 0.0, present_s = 0.0, half_s = seconds / 2, early_bits = 0.0, early_s = 0.0;
  guint64 dropped = 0, all = 0;
  world.rivals = population->rivals;
  config.count = ladder->count;
  config.max_streams = ladder->live ? ladder->count : 0;
  for (unsigned j = 0; j < ladder->count; j++) {
    config.bounds[j].low_bps = ladder->bound_bps[j];
    config.bounds[j].high_bps = ladder->bound_bps[j + 1];
  }
  world.sender = vnet_assp_sender_new (world.vnet, &config, 5 * MCC_MSECOND);
  for (guint i = 0; i < population->count; i++) {
    world.link[i] = -1;
    if (population->member[i].before_bps > 0)
      come (&world, i, population->member[i].before_bps);
  }
  run_until (&world, population, seconds / 2);
  for (guint i = 0; i < population->count; i++) {
    early_bits += world.receiver[i] != NULL
                      ? 8.0 * (double)vnet_assp_receiver_shown_bytes (world.receiver[i])
                      : 0.0;
    early_s += world.present_s[i];
  }
  for (guint i = 0; i < population->count; i++) {
    if (population->member[i].after_bps > 0)
      come (&world, i, population->member[i].after_bps);
    else if (world.receiver[i] != NULL)
      go (&world, i, half_s);
  }
  run_until (&world, population, seconds);
  out->ladders = (guint)(mcc_assp_sender_streams (vnet_assp_sender_core (world.sender))->ladder);
  for (guint i = 0; i < population->count; i++) {
    if (world.receiver[i] != NULL)
      go (&world, i, half_s);
    bits += 8.0 * (double)world.shown[i];
    present_s += world.present_s[i];
    const VnetLinkStats *stats = vnet_link_stats (world.vnet, world.link[i]);
    dropped += stats->rtp_dropped;
    all += stats->rtp_dropped + stats->rtp_packets;
  }
  out->mean_bps = bits / present_s;
  out->late_bps = (bits - early_bits) / (present_s - early_s);
  out->begin = per_receiver (&world.begin, present_s);
  out->rest = per_receiver (&world.rest, present_s);
  out->drop_ratio = (double)dropped / (double)all;
  out->switches = 60.0 * world.switches / present_s;
  out->most = world.most;
  out->streams = world.streams;
  vnet_assp_sender_free (world.sender);
  vnet_free (world.vnet);
}

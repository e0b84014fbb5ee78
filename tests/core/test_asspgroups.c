/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASSP over vnet with many receivers behind each bottleneck: they act as one. VNET_LOG=1 prints a
 * line each second.
 */
#include "vnetassp.h"

#define LINKS 3
#define MEMBERS 45
#define LEAVE (100 * MCC_MSECOND)
#define STEP (100 * MCC_MSECOND)

typedef struct {
  const char *name;
  guint64 bps[LINKS];
  guint members, flows;
  guint64 seeds;
  double downs; /* ups that were taken back, a receiver and minute, at most */
} Setup;

typedef struct {
  Vnet *vnet;
  VnetAsspSender *sender;
  int link[LINKS], flow[LINKS];
  VnetAsspReceiver *receiver[LINKS][MEMBERS];
  const Setup *setup;
} World;

typedef struct {
  double share_bps[LINKS], flow_bps[LINKS], streams[LINKS], drop_ratio[LINKS], level[LINKS];
  double switches, downs; /* a receiver and minute */
  guint rtts;             /* receivers that knew one when the measurement began */
} Outcome;

static void
world_init (World *world, const Setup *setup, guint64 seed)
{
  VnetAsspSenderConfig sender = vnet_assp_sender_default;
  static const guint64 bounds[] = { 100000, 550000, 1100000, 3000000 };
  memset (world, 0, sizeof *world);
  world->setup = setup;
  world->vnet = vnet_new (seed);
  for (guint j = 0; j < 3; j++) {
    sender.bounds[j].low_bps = bounds[j];
    sender.bounds[j].high_bps = bounds[j + 1];
  }
  sender.packet_bytes = 1000;
  sender.pacing = 1.2;
  sender.idle = true;
  world->sender = vnet_assp_sender_new (world->vnet, &sender, 5 * MCC_MSECOND);
  MccAsspReceiverConfig config = { .asmp = { .variant = MCC_VARIANT_ENHANCED, .hears_group = true },
    .leave_latency = LEAVE,
    .lock_stream = -1 };
  for (guint i = 0; i < LINKS && setup->bps[i] > 0; i++) {
    VnetLink link
        = { .rate_bps = setup->bps[i], .delay = (15 + 15 * i) * MCC_MSECOND, .queue_packets = 50 };
    world->link[i] = vnet_add_link (world->vnet, VNET_CORE, &link);
    if (setup->flows > 0)
      world->flow[i] = vnet_add_flow (world->vnet, world->link[i], (10 + i) * MCC_MSECOND, 1000);
  }
  for (guint k = 0; k < setup->members; k++)
    for (guint i = 0; i < LINKS && setup->bps[i] > 0; i++) {
      VnetLink access = { .delay = (500 + 2500 * k / setup->members) * MCC_USECOND };
      int own = vnet_add_link (world->vnet, world->link[i], &access);
      world->receiver[i][k] = vnet_assp_receiver_new (world->vnet, own, 0, &config, LEAVE,
          (4000 + 100 * i + k) * MCC_SECOND, (double)(k % 40) - 20.0);
      if (setup->bps[i] > 0 && k % 3 == 2)
        vnet_run (world->vnet, vnet_now (world->vnet) + 2 * MCC_SECOND / (setup->members));
    }
}

static void
world_clear (World *world)
{
  for (guint i = 0; i < LINKS && world->setup->bps[i] > 0; i++)
    for (guint k = 0; k < world->setup->members; k++)
      vnet_assp_receiver_free (world->receiver[i][k]);
  vnet_assp_sender_free (world->sender);
  vnet_free (world->vnet);
}

static void
count_places (World *world, guint i, guint *out, guint *rtts)
{
  memset (out, 0, 4 * sizeof *out);
  *rtts = 0;
  for (guint k = 0; k < world->setup->members; k++) {
    MccAsmpReceiverStats a;
    MccAsspReceiver *core = vnet_assp_receiver_core (world->receiver[i][k]);
    unsigned stream = vnet_assp_receiver_stream (world->receiver[i][k]);
    mcc_asmp_receiver_get_stats (
        mcc_assp_receiver_asmp (core), (5000 * MCC_SECOND) + vnet_now (world->vnet) * 2, &a);
    out[stream < 3 ? stream : 3]++;
    *rtts += a.rtt_measured;
  }
}

static void
log_line (World *world)
{
  GString *line = g_string_new (NULL);
  g_string_append_printf (line, "# %5.1f", mcc_time_to_seconds (vnet_now (world->vnet)));
  const MccAsspStreams *streams = mcc_assp_sender_streams (vnet_assp_sender_core (world->sender));
  for (unsigned j = 0; j < 3; j++)
    g_string_append_printf (line, " %4d[%d-%d]%s",
        (int)vnet_assp_sender_target (world->sender, j) / 1000,
        (int)(streams->stream[j].low_bps / 1000), (int)(streams->stream[j].high_bps / 1000),
        mcc_assp_streams_open (streams, j) ? "" : "x");
  for (guint i = 0; i < LINKS && world->setup->bps[i] > 0; i++) {
    guint n[4], rtts;
    double most = 0, least = 1e12, loss = 0;
    count_places (world, i, n, &rtts);
    guint tcp = 0;
    for (guint k = 0; k < world->setup->members; k++) {
      MccAsmpReceiverStats a;
      MccAsmpReceiver *asmp
          = mcc_assp_receiver_asmp (vnet_assp_receiver_core (world->receiver[i][k]));
      double p = (double)mcc_asmp_receiver_potential_bps (asmp);
      most = MAX (most, p);
      least = MIN (least, p);
      mcc_asmp_receiver_get_stats (asmp, (5000 * MCC_SECOND) + vnet_now (world->vnet) * 2, &a);
      loss += a.loss_ratio / world->setup->members;
      tcp += a.mode == MCC_RATE_TCP;
    }
    g_string_append_printf (line, " | %2u %2u %2u %2u rtt %2u tcp %2u pot %4d-%5d p %.4f q %3d",
        n[0], n[1], n[2], n[3], rtts, tcp, (int)(least / 1e3), (int)(MIN (most, 99e6) / 1e3), loss,
        (int)(vnet_queue_delay (world->vnet, world->link[i]) / MCC_MSECOND));
  }
  g_print ("%s\n", line->str);
  g_string_free (line, TRUE);
}

static void
run (const Setup *setup, guint64 seed, double from, double to, Outcome *out)
{
  World world;
  guint steps = 0;
  guint64 shown[LINKS] = { 0 }, flow[LINKS] = { 0 }, lost[LINKS] = { 0 }, all[LINKS] = { 0 };
  bool log = g_getenv ("VNET_LOG") != NULL;
  memset (out, 0, sizeof *out);
  world_init (&world, setup, seed);
  for (guint at = 0; vnet_now (world.vnet) < mcc_time_from_seconds (to); at++) {
    bool begins = steps == 0 && vnet_now (world.vnet) >= mcc_time_from_seconds (from);
    bool measures = vnet_now (world.vnet) >= mcc_time_from_seconds (from);
    for (guint i = 0; i < LINKS && setup->bps[i] > 0; i++) {
      guint n[4], rtts;
      const VnetLinkStats *stats = vnet_link_stats (world.vnet, world.link[i]);
      if (begins) {
        for (guint k = 0; k < setup->members; k++)
          shown[i] += vnet_assp_receiver_shown_bytes (world.receiver[i][k]);
        flow[i] = setup->flows > 0 ? vnet_flow_bytes (world.vnet, world.flow[i]) : 0;
        lost[i] = stats->rtp_dropped;
        all[i] = stats->rtp_dropped + stats->rtp_packets;
      }
      if (!measures)
        continue;
      count_places (&world, i, n, &rtts);
      out->rtts += begins ? rtts : 0;
      for (guint j = 0; j < 3; j++) {
        out->streams[i] += n[j] > 0;
        out->level[i] += (double)(j * n[j]) / setup->members;
      }
    }
    steps += measures;
    if (log && at % 10 == 0)
      log_line (&world);
    vnet_run (world.vnet, vnet_now (world.vnet) + STEP);
  }
  double duration = to - from;
  guint receivers = 0;
  for (guint i = 0; i < LINKS && setup->bps[i] > 0; i++) {
    const VnetLinkStats *stats = vnet_link_stats (world.vnet, world.link[i]);
    guint64 now = 0;
    for (guint k = 0; k < setup->members; k++) {
      const GArray *switches = vnet_assp_receiver_switches (world.receiver[i][k]);
      now += vnet_assp_receiver_shown_bytes (world.receiver[i][k]);
      receivers++;
      for (guint s = 0; s < switches->len; s++) {
        const VnetAsspSwitch *change = &g_array_index (switches, VnetAsspSwitch, s);
        bool counts = change->time >= mcc_time_from_seconds (from);
        out->switches += counts;
        out->downs += counts && change->stream < change->from;
      }
    }
    out->share_bps[i] = (double)(now - shown[i]) * 8.0 / duration / setup->members;
    out->flow_bps[i]
        = setup->flows > 0
              ? (double)(vnet_flow_bytes (world.vnet, world.flow[i]) - flow[i]) * 8.0 / duration
              : 0.0;
    out->streams[i] /= steps;
    out->level[i] /= steps;
    out->drop_ratio[i] = (double)(stats->rtp_dropped - lost[i])
                         / (double)(stats->rtp_dropped + stats->rtp_packets - all[i]);
    g_test_message ("%s/%u: shown %.0f kb/s, flow %.0f, of %.0f; streams %.2f, level %.2f; "
                    "lost %.2f %%",
        setup->name, i + 1, out->share_bps[i] / 1e3, out->flow_bps[i] / 1e3,
        (double)setup->bps[i] / 1e3, out->streams[i], out->level[i], 100.0 * out->drop_ratio[i]);
  }
  out->switches *= 60.0 / duration / receivers;
  out->downs *= 60.0 / duration / receivers;
  g_test_message ("%u RTTs at first; %.2f switches a receiver and minute, %.2f of them down",
      out->rtts, out->switches, out->downs);
  world_clear (&world);
}

/* All know an RTT soon, although the lowest stream's RTCP bears a report of all in a minute; those
 * behind one link are in one stream, but for the while of a switch; and where they go they stay. */
static void
test_act_as_one (gconstpointer data)
{
  const Setup *setup = data;
  double downs = 0.0;
  for (guint64 seed = 1; seed <= setup->seeds; seed++) {
    Outcome outcome;
    run (setup, seed, 20.0, 60.0, &outcome);
    g_assert_cmpuint (outcome.rtts, >=, LINKS * setup->members * 9 / 10);
    double streams = 0.0;
    for (guint i = 0; i < LINKS; i++)
      streams += outcome.streams[i] / LINKS;
    g_assert_cmpfloat (streams, <, 1.2);
    downs += outcome.downs / (double)setup->seeds;
  }
  /* Whether one group tries in vain within the minute is chance. */
  g_assert_cmpfloat (downs, <=, setup->downs);
}

int
main (int argc, char **argv)
{
  static const Setup rivals = { "rivals", { 3200000, 1600000, 800000 }, MEMBERS, 1, 16, 0.1 };
  static const Setup alone = { "alone", { 3200000, 1600000, 800000 }, MEMBERS, 0, 4, 0.3 };
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/asspgroups/act-as-one/beside-rivals", &rivals, test_act_as_one);
  g_test_add_data_func ("/asspgroups/act-as-one/alone", &alone, test_act_as_one);
  return g_test_run ();
}

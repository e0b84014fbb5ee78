/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ECN end to end over vnet: one sender, one receiver, one link that marks, or does worse.
 */
#include "vnetasmp.h"

typedef struct {
  Vnet *vnet;
  VnetSender *sender;
  VnetReceiver *receiver;
  int link;
} World;

static void
init (World *world, guint64 seed, bool ecn, const VnetLink *link)
{
  VnetSenderConfig config = vnet_sender_default;
  config.ecn = ecn;
  world->vnet = vnet_new (seed);
  world->link = vnet_add_link (world->vnet, VNET_CORE, link);
  world->sender = vnet_sender_new (world->vnet, &config, 5 * MCC_MSECOND);
  world->receiver = vnet_receiver_new (world->vnet, world->link, 0, NULL, 5000 * MCC_SECOND, 40.0);
}

static void
clear (World *world)
{
  vnet_receiver_free (world->receiver);
  vnet_sender_free (world->sender);
  vnet_free (world->vnet);
}

typedef struct {
  double use, lost; /* ratios */
  guint64 marked;
  MccAsmpReceiverStats stats;
} Outcome;

/* From @from to @to seconds. */
static Outcome
run (World *world, double from, double to)
{
  vnet_run (world->vnet, mcc_time_from_seconds (from));
  VnetLinkStats before = *vnet_link_stats (world->vnet, world->link);
  vnet_run (world->vnet, mcc_time_from_seconds (to));
  const VnetLinkStats *after = vnet_link_stats (world->vnet, world->link);
  double packets = (double)(after->rtp_packets - before.rtp_packets);
  double dropped = (double)(after->rtp_dropped - before.rtp_dropped);
  Outcome outcome = { .use = (double)(after->rtp_bytes - before.rtp_bytes) * 8.0 / (to - from)
                             / (double)vnet_link (world->vnet, world->link)->rate_bps,
    .lost = dropped / (packets + dropped),
    .marked = after->marked - before.marked };
  vnet_receiver_get_stats (world->receiver, &outcome.stats);
  g_test_message ("use %.3f, lost %.4f %%, marked %d, mode %d, p %.5f, queue %.1f ms", outcome.use,
      100 * outcome.lost, (int)outcome.marked, outcome.stats.mode, outcome.stats.loss_ratio,
      1e3 * mcc_time_to_seconds (outcome.stats.queue_delay));
  return outcome;
}

/* A queue that marks early is kept without a loss, and the link used. */
static void
alone (void)
{
  static const struct {
    guint64 rate_bps;
    guint mark_ms;
    double use;
  } table[]
      = { { 300000, 40, 0.9 }, { 500000, 40, 0.9 }, { 4000000, 8, 0.8 }, { 4000000, 20, 0.9 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    guint64 dropped = 0, dropped_without = 0; /* with their starts */
    for (guint64 seed = 1; seed <= 3; seed++) {
      World world;
      VnetLink link = { .rate_bps = table[row].rate_bps,
        .delay = 15 * MCC_MSECOND,
        .queue_packets = 100,
        .mark_delay = table[row].mark_ms * MCC_MSECOND };
      init (&world, seed, true, &link);
      Outcome outcome = run (&world, 10.0, 70.0);
      dropped += vnet_link_stats (world.vnet, world.link)->rtp_dropped;
      g_assert_cmpfloat (outcome.lost, ==, 0.0);
      g_assert_cmpfloat (outcome.use, >=, table[row].use);
      g_assert_cmpint (outcome.stats.ecn, ==, MCC_ECN_PATH_GOOD);
      g_assert_cmpfloat (outcome.stats.loss_ratio, ==, 0.0);
      g_assert_cmpint (outcome.stats.mode, ==, MCC_RATE_DELAY);
      clear (&world);
      init (&world, seed, false, &link);
      Outcome without = run (&world, 10.0, 70.0);
      dropped_without += vnet_link_stats (world.vnet, world.link)->rtp_dropped;
      g_assert_cmpfloat (outcome.use, >=, 0.95 * without.use);
      clear (&world);
    }
    g_assert_cmpuint (dropped, <, dropped_without);
  }
}

/* Where ECT gets lost it is as without ECN. */
static void
bleached (void)
{
  World world;
  VnetLink link = { .rate_bps = 4000000,
    .delay = 15 * MCC_MSECOND,
    .queue_packets = 50,
    .mark_delay = 10 * MCC_MSECOND,
    .ecn = VNET_ECN_BLEACHES };
  init (&world, 1, true, &link);
  Outcome outcome = run (&world, 10.0, 60.0);
  g_assert_cmpint (outcome.stats.ecn, ==, MCC_ECN_PATH_BLEACHES);
  g_assert_true (mcc_asmp_sender_ect (vnet_sender_core (world.sender)));
  g_assert_cmpfloat (outcome.use, >=, 0.8);
  clear (&world);
}

/* A path that marks every packet is found out, and ECT given up. */
static void
marks_all (void)
{
  World world;
  VnetLink link = {
    .rate_bps = 4000000, .delay = 15 * MCC_MSECOND, .queue_packets = 50, .ecn = VNET_ECN_MARKS_ALL
  };
  init (&world, 1, true, &link);
  Outcome outcome = run (&world, 20.0, 60.0);
  g_assert_cmpint (outcome.stats.ecn, ==, MCC_ECN_PATH_BROKEN);
  g_assert_false (mcc_asmp_sender_ect (vnet_sender_core (world.sender)));
  g_assert_cmpfloat (outcome.use, >=, 0.85);
  clear (&world);
}

/* One that drops what is ECT, too. */
static void
drops (void)
{
  World world;
  VnetLink link = {
    .rate_bps = 4000000, .delay = 15 * MCC_MSECOND, .queue_packets = 50, .ecn = VNET_ECN_DROPS
  };
  init (&world, 1, true, &link);
  Outcome outcome = run (&world, 20.0, 60.0);
  g_assert_cmpint (outcome.stats.ecn, ==, MCC_ECN_PATH_BROKEN);
  g_assert_false (mcc_asmp_sender_ect (vnet_sender_core (world.sender)));
  g_assert_cmpfloat (outcome.use, >=, 0.85);
  g_assert_cmpfloat (outcome.lost, <, 0.002);
  clear (&world);
}

/* A source that pauses as soon as ECT was announced drops nothing. */
static void
pauses (void)
{
  World world;
  VnetLink link = { .rate_bps = 4000000,
    .delay = 15 * MCC_MSECOND,
    .queue_packets = 50,
    .mark_delay = 10 * MCC_MSECOND };
  init (&world, 1, true, &link);
  MccTime now = 0;
  while (!mcc_asmp_sender_ect (vnet_sender_core (world.sender)))
    vnet_run (world.vnet, now += MCC_MSECOND);
  vnet_sender_set_playing (world.sender, false);
  vnet_run (world.vnet, now += 10 * MCC_SECOND);
  g_assert_false (mcc_asmp_sender_ect (vnet_sender_core (world.sender)));
  vnet_sender_set_playing (world.sender, true);
  double played = mcc_time_to_seconds (now);
  Outcome outcome = run (&world, played + 10.0, played + 40.0);
  g_assert_cmpint (outcome.stats.ecn, ==, MCC_ECN_PATH_GOOD);
  g_assert_true (mcc_asmp_sender_ect (vnet_sender_core (world.sender)));
  g_assert_cmpfloat (outcome.lost, ==, 0.0);
  clear (&world);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpecn/alone-on-a-queue-that-marks", alone);
  g_test_add_func ("/asmpecn/bleached", bleached);
  g_test_add_func ("/asmpecn/marks-every-packet", marks_all);
  g_test_add_func ("/asmpecn/drops-ect", drops);
  g_test_add_func ("/asmpecn/source-pauses", pauses);
  return g_test_run ();
}

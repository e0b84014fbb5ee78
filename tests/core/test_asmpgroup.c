/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Large ASMP groups over vnet: suppression and the RTCP budget.
 */
#include "vnetasmp.h"

typedef struct {
  Vnet *vnet;
  VnetSender *sender;
  VnetReceiver **receiver;
  guint receivers;
  int bottleneck;
} Group;

static void
group_init (Group *group, guint64 seed, guint receivers, MccVariant variant, bool hears_group,
    guint32 srtcp_bytes)
{
  VnetSenderConfig sender = vnet_sender_default;
  sender.variant = variant;
  sender.srtcp_bytes = srtcp_bytes;
  sender.max_bps = sender.start_bps = 500000;
  VnetLink wide = { .rate_bps = 1500000, .delay = 10 * MCC_MSECOND, .queue_packets = 60 };
  VnetLink leaf = { .delay = 5 * MCC_MSECOND };
  group->vnet = vnet_new (seed);
  group->sender = vnet_sender_new (group->vnet, &sender, 5 * MCC_MSECOND);
  group->bottleneck = vnet_add_link (group->vnet, VNET_CORE, &wide);
  group->receivers = receivers;
  group->receiver = g_new0 (VnetReceiver *, receivers);
  MccAsmpReceiverConfig config
      = { .variant = variant, .hears_group = hears_group, .srtcp_bytes = srtcp_bytes };
  for (guint i = 0; i < receivers; i++) {
    int link = vnet_add_link (group->vnet, group->bottleneck, &leaf);
    MccTime up = 20 * (i % 7) / 7 * MCC_MSECOND;
    group->receiver[i] = vnet_receiver_new (
        group->vnet, link, up, &config, (3000 + i) * MCC_SECOND, (double)(i % 41) - 20.0);
  }
}

static void
group_clear (Group *group)
{
  for (guint i = 0; i < group->receivers; i++)
    vnet_receiver_free (group->receiver[i]);
  vnet_sender_free (group->sender);
  vnet_free (group->vnet);
  g_free (group->receiver);
}

static guint64
receivers_rtcp_bytes (const Group *group)
{
  guint64 bytes = 0;
  for (guint i = 0; i < group->receivers; i++)
    bytes += vnet_receiver_rtcp_bytes (group->receiver[i]);
  return bytes;
}

static guint
known (const Group *group)
{
  MccAsmpSenderStats stats;
  mcc_asmp_sender_get_stats (
      vnet_sender_core (group->sender), 1000 * MCC_SECOND + vnet_now (group->vnet), &stats);
  return stats.receivers;
}

typedef struct {
  guint receivers;
  bool hears_group;
  guint32 srtcp_bytes;             /* of a key, in each compound */
  MccTime steady;                  /* from when on the budget is kept */
  double join_share, steady_share; /* RTCP in the first 10 s and from @steady on, of 5 % */
  guint64 event_reports;           /* more than usual in the second after the bottleneck narrows */
  guint64 seeds;
} GroupCase;

static void
event (gconstpointer data)
{
  const GroupCase *test = data;
  for (guint64 seed = 1; seed <= test->seeds; seed++) {
    Group group;
    group_init (
        &group, seed, test->receivers, MCC_VARIANT_ENHANCED, test->hears_group, test->srtcp_bytes);
    vnet_run (group.vnet, 10 * MCC_SECOND);
    double join = (double)(receivers_rtcp_bytes (&group) * 8) / 10.0 / (0.05 * 500e3);
    vnet_run (group.vnet, test->steady);
    guint64 bytes = receivers_rtcp_bytes (&group) + vnet_sender_rtcp_bytes (group.sender);
    guint64 reports = vnet_sender_reports (group.sender);
    vnet_run (group.vnet, test->steady + 10 * MCC_SECOND);
    double share
        = (double)((receivers_rtcp_bytes (&group) + vnet_sender_rtcp_bytes (group.sender) - bytes)
                   * 8)
          / 10.0 / (0.05 * (double)vnet_sender_target (group.sender));
    double usual = (double)(vnet_sender_reports (group.sender) - reports) / 10.0;

    vnet_set_rate (group.vnet, group.bottleneck, 250000);
    reports = vnet_sender_reports (group.sender);
    vnet_run (group.vnet, test->steady + 11 * MCC_SECOND);
    guint64 first = vnet_sender_reports (group.sender) - reports;
    guint64 target = vnet_sender_target (group.sender);
    vnet_run (group.vnet, test->steady + 13 * MCC_SECOND);
    guint64 later = vnet_sender_target (group.sender);
    g_test_message (
        "seed %d: join %.2f, steady %.2f of the RTCP budget, %u known, usually %.1f reports/s; "
        "%d in the second of the event, target then %d kb/s, 2 s later %d",
        (int)seed, join, share, known (&group), usual, (int)first, (int)target / 1000,
        (int)later / 1000);
    g_assert_cmpfloat (join, <=, test->join_share);
    g_assert_cmpfloat (share, <=, test->steady_share);
    g_assert_cmpuint (first, <=, test->event_reports + (guint64)usual);
    g_assert_cmpuint (later, <, 250000);
    group_clear (&group);
  }
}

typedef struct {
  guint receivers;
  double loss_ratio; /* random, of the newcomer alone */
  guint64 below_bps; /* TCP's rate at that and 200 ms is less */
  double mean_s;     /* until the target is */
  guint64 seeds;
} NewcomerCase;

#define NEWCOMER_WAIT 30 /* s */

static double
newcomer_s (const NewcomerCase *test, guint64 seed)
{
  VnetLink path = { .delay = 90 * MCC_MSECOND, .loss_ratio = test->loss_ratio };
  VnetSenderConfig sender = vnet_sender_default;
  Vnet *vnet = vnet_new (seed);
  Group group = { .vnet = vnet, .receivers = test->receivers + 1 };
  guint tenths = 0;

  sender.max_bps = sender.start_bps = 300000;
  sender.packet_bytes = 1000;
  sender.fps = 0;
  group.sender = vnet_sender_new (vnet, &sender, 5 * MCC_MSECOND);
  group.receiver = g_new0 (VnetReceiver *, group.receivers);
  for (guint i = 0; i < group.receivers; i++) {
    /* RTT 10 to 490 ms, as the newcomer's 200. */
    VnetLink leaf = { .delay = (5 + 240 * (i % 7) / 6) * MCC_MSECOND };
    bool last = i == test->receivers;
    vnet_run (vnet, last ? 20 * MCC_SECOND : 100 * i * MCC_MSECOND);
    int link = vnet_add_link (vnet, VNET_CORE, last ? &path : &leaf);
    group.receiver[i]
        = vnet_receiver_new (vnet, link, 5 * MCC_MSECOND, NULL, (3000 + i) * MCC_SECOND, 10.0);
  }
  while (vnet_sender_target (group.sender) >= test->below_bps && tenths++ < 10 * NEWCOMER_WAIT)
    vnet_run (vnet, 20 * MCC_SECOND + 100 * tenths * MCC_MSECOND);
  group_clear (&group);
  return tenths / 10.0;
}

/* A large group learns in seconds of one who came later with random loss. */
static void
newcomer (gconstpointer data)
{
  const NewcomerCase *test = data;
  double sum = 0.0;
  for (guint64 seed = 1; seed <= test->seeds; seed++) {
    double took = newcomer_s (test, seed);
    g_test_message ("seed %d: %.1f s", (int)seed, took);
    sum += took;
  }
  g_test_message ("mean %.2f s", sum / (double)test->seeds);
  g_assert_cmpfloat (sum / (double)test->seeds, <=, test->mean_s);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* 1000 first reports alone take 77 s of the budget at 500 kb/s: the join is not over at 20 s. */
  static const GroupCase hundred = { 100, true, 0, 40 * MCC_SECOND, 1.0, 1.0, 15, 2 },
                         thousand = { 1000, true, 0, 20 * MCC_SECOND, 1.1, 1.0, 15, 1 },
                         deaf = { 100, false, 0, 40 * MCC_SECOND, 1.0, 1.0, 20, 2 },
                         keyed = { 1000, true, 18, 20 * MCC_SECOND, 1.1, 1.0, 15, 1 };
  g_test_add_data_func ("/asmpgroup/event/100", &hundred, event);
  g_test_add_data_func ("/asmpgroup/event/1000", &thousand, event);
  g_test_add_data_func ("/asmpgroup/event/1000-with-a-key", &keyed, event);
  g_test_add_data_func ("/asmpgroup/event/100-that-hear-nobody", &deaf, event);
  static const NewcomerCase behind_loss = { 60, 0.05, 210000, 5.0, 100 };
  g_test_add_data_func ("/asmpgroup/newcomer/behind-random-loss", &behind_loss, newcomer);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Alone, over vnet, on a link whose rate changes all the time, with a sender that stops now and
 * then: that is taken for rivals now and then, but not for long.
 */
#include <math.h>

#include "vnetasmp.h"

#define SEEDS 60
#define STEP (200 * MCC_MSECOND)
#define BUFFER_BYTES 50000
#define START_S 3.0
#define PLAYS_S 10.0 /* then it stops ... */
#define STOPS_S 1.0  /* ... for so long ... */
#define EACH_S 6.0   /* ... so often */
#define END_S 60.0

/* 2 Mb/s to 700 kb/s and back in 20 s. */
static double
ramp (double seconds)
{
  return 2e6 * (0.35 + 0.65 * fabs (fmod (seconds / 10.0, 2.0) - 1.0));
}

/* The part of its time that it competes. */
static double
competes (guint64 seed)
{
  VnetSenderConfig config = vnet_sender_default;
  Vnet *vnet = vnet_new (seed);
  VnetLink link = { .rate_bps = 2000000, .delay = 15 * MCC_MSECOND, .queue_bytes = BUFFER_BYTES };
  int bottleneck = vnet_add_link (vnet, VNET_CORE, &link);
  guint competing = 0, looks = 0;
  config.noise = 0.5;
  VnetSender *sender = vnet_sender_new (vnet, &config, 5 * MCC_MSECOND);
  VnetReceiver *receiver
      = vnet_receiver_new (vnet, bottleneck, 0, NULL, 5000 * MCC_SECOND, seed % 100 * 2.0 - 100.0);
  for (MccTime now = STEP; now < mcc_time_from_seconds (END_S); now += STEP) {
    double seconds = mcc_time_to_seconds (now);
    vnet_set_rate (vnet, bottleneck, (guint64)ramp (seconds));
    vnet_sender_set_playing (sender, seconds < PLAYS_S || fmod (seconds, EACH_S) >= STOPS_S);
    vnet_run (vnet, now);
    if (seconds < START_S)
      continue;
    MccAsmpReceiverStats stats;
    vnet_receiver_get_stats (receiver, &stats);
    competing += stats.mode == MCC_RATE_TCP;
    looks++;
  }
  vnet_receiver_free (receiver);
  vnet_sender_free (sender);
  vnet_free (vnet);
  return (double)competing / looks;
}

static void
alone (void)
{
  double part = 0.0;
  for (guint64 seed = 1; seed <= SEEDS; seed++)
    part += competes (seed) / SEEDS;
  g_test_message ("competes for %.1f %% of its time", 100.0 * part);
  g_assert_cmpfloat (part, <, 0.05);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpchanges/alone", alone);
  return g_test_run ();
}

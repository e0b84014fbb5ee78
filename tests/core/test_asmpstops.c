/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASMP alone on a link that stands still for 100 ms now and then, as radio links and virtual
 * machines do: the queue of it comes and goes as a rival's would, and is not taken for one.
 */
#include "vnetasmp.h"

#define SEEDS 6
#define STOP (100 * MCC_MSECOND)
#define STEP (50 * MCC_MSECOND)
#define BEGIN (30 * MCC_SECOND)
#define END (330 * MCC_SECOND)
#define PACKET_BITS 8000

typedef struct {
  double competing, use, loss; /* part of the time, of the link's rate, of the packets */
} Figures;

/* From BEGIN to END; a stop each @every seconds, more or less. @fps 0: CBR. */
static Figures
run (guint64 seed, guint64 rate_bps, double every, double fps)
{
  Vnet *vnet = vnet_new (seed);
  VnetSenderConfig config = vnet_sender_default;
  VnetLink link = { .rate_bps = rate_bps,
    .delay = 20 * MCC_MSECOND,
    .queue_bytes = (guint32)((double)rate_bps / 8.0 * 0.3) };
  int below = vnet_add_link (vnet, VNET_CORE, &link);
  config.max_bps = 20000000;
  config.fps = fps;
  VnetSender *sender = vnet_sender_new (vnet, &config, 5 * MCC_MSECOND);
  VnetReceiver *receiver = vnet_receiver_new (vnet, below, 0, NULL, 5000 * MCC_SECOND, 40.0);
  MccTime stop = BEGIN;
  guint competing = 0;

  vnet_run (vnet, BEGIN);
  VnetLinkStats before = *vnet_link_stats (vnet, below);
  for (MccTime now = BEGIN; now < END; now += STEP) {
    if (now >= stop) {
      vnet_set_rate (vnet, below, PACKET_BITS * MCC_SECOND / STOP); /* for the next packet */
      vnet_run (vnet, now + STEP / 2);
      vnet_set_rate (vnet, below, rate_bps);
      stop += mcc_time_from_seconds (every * (0.5 + mcc_rng_uniform (vnet_rng (vnet))));
    }
    vnet_run (vnet, now + STEP);
    MccAsmpReceiverStats stats;
    vnet_receiver_get_stats (receiver, &stats);
    competing += stats.mode == MCC_RATE_TCP;
  }
  const VnetLinkStats *after = vnet_link_stats (vnet, below);
  double packets = (double)(after->rtp_packets - before.rtp_packets);
  double dropped = (double)(after->rtp_dropped - before.rtp_dropped);
  double bits = 8.0 * (double)(after->rtp_bytes - before.rtp_bytes);
  Figures figures = { .competing = competing / ((double)(END - BEGIN) / STEP),
    .use = bits / mcc_time_to_seconds (END - BEGIN) / (double)rate_bps,
    .loss = dropped / (packets + dropped) };
  vnet_receiver_free (receiver);
  vnet_sender_free (sender);
  vnet_free (vnet);
  return figures;
}

static void
stops (double every, double least_use)
{
  static const guint64 rates[] = { 600000, 2000000, 10000000 };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (rates); i++) {
    guint64 rate_bps = rates[i / 2];
    double use = 0.0;
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      Figures f = run (seed, rate_bps, every, i % 2 ? 30.0 : 0.0);
      g_test_message ("%" G_GUINT64_FORMAT
                      " kb/s, %s, seed %d: competing %.3f, use %.3f, loss %.3f %%",
          rate_bps / 1000, i % 2 ? "frames" : "CBR", (int)seed, f.competing, f.use, 100 * f.loss);
      g_assert_cmpfloat (f.competing, <, 0.01);
      g_assert_cmpfloat (f.loss, <, 0.0005);
      use += f.use / SEEDS;
    }
    g_assert_cmpfloat (use, >=, least_use);
  }
}

/* Five a minute; before, it competed for up to 59 % of the time and lost 0.3 to 2 %. */
static void
now_and_then (void)
{
  stops (12.0, 0.92);
}

static void
often (void)
{
  stops (5.0, 0.85);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-stops/now-and-then", now_and_then);
  g_test_add_func ("/asmp-stops/often", often);
  return g_test_run ();
}

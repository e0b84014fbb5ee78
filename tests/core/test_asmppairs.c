/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASMP alone on a slow link: packets leave together for as long as it takes to see that the queue
 * is its own.
 */
#include "vnetasmp.h"

#define SEEDS 5

typedef struct {
  guint64 early, late; /* pairs, from 0 to 60 s and from there to 180 s */
  guint competes;      /* seconds */
} Figures;

static Figures
run (guint64 seed, MccVariant variant, double fps)
{
  Vnet *vnet = vnet_new (seed);
  VnetSenderConfig sender = vnet_sender_default;
  MccAsmpReceiverConfig receiver = { .hears_group = true };
  VnetLink link = { .rate_bps = 300000, .delay = 15 * MCC_MSECOND, .queue_bytes = 20000 };
  sender.variant = receiver.variant = variant;
  sender.fps = fps;
  int below = vnet_add_link (vnet, VNET_CORE, &link);
  VnetSender *s = vnet_sender_new (vnet, &sender, 5 * MCC_MSECOND);
  VnetReceiver *r
      = vnet_receiver_new (vnet, below, 0, &receiver, 5000 * MCC_SECOND, 10.0 * (double)seed);
  Figures figures = { 0 };
  for (guint t = 1; t <= 180; t++) {
    MccAsmpReceiverStats stats;
    vnet_run (vnet, t * MCC_SECOND);
    vnet_receiver_get_stats (r, &stats);
    figures.competes += stats.mode == MCC_RATE_TCP;
    if (t == 60)
      figures.early = vnet_sender_pairs (s);
  }
  figures.late = vnet_sender_pairs (s) - figures.early;
  vnet_receiver_free (r);
  vnet_sender_free (s);
  vnet_free (vnet);
  return figures;
}

static void
asked_for_a_while (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Figures f = run (seed, MCC_VARIANT_ENHANCED, 25.0);
    g_test_message ("seed %d: %d pairs, %d later; competes %u s", (int)seed, (int)f.early,
        (int)f.late, f.competes);
    g_assert_cmpuint (f.early, >=, 3); /* else nothing is known */
    g_assert_cmpuint (f.early + f.late, <=, 60);
    g_assert_cmpuint (f.competes, ==, 0);
  }
}

static void
published_sends_none (void)
{
  Figures f = run (1, MCC_VARIANT_PUBLISHED, 25.0);
  g_assert_cmpuint (f.early + f.late, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-pairs/asked-for-a-while", asked_for_a_while);
  g_test_add_func ("/asmp-pairs/published-sends-none", published_sends_none);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One who joins two others behind a queue that rivals fill does not hold them down; and who comes
 * behind a link of its own still does.
 */
#include "vnetasmp.h"

#define FAIR_BPS 667e3
#define JOIN_S 30
#define SEEDS 20

typedef struct {
  guint64 own_bps;    /* link of who joins; 0: none */
  double own_loss;    /* ... and what is lost there */
  bool hears;         /* the others' reports */
  double least, most; /* mean target of the 1st to 6th second after, of that before */
} CompanyCase;

static VnetReceiver *
add_receiver (Vnet *vnet, int link, const CompanyCase *test, guint number)
{
  VnetLink access = { .delay = (1 + number) * MCC_MSECOND };
  VnetLink own = { .rate_bps = test->own_bps,
    .delay = 5 * MCC_MSECOND,
    .queue_packets = 15,
    .loss_ratio = test->own_loss };
  MccAsmpReceiverConfig config
      = { .variant = MCC_VARIANT_ENHANCED, .hears_group = number < 2 || test->hears };
  if (number == 2 && (test->own_bps > 0 || test->own_loss > 0.0))
    link = vnet_add_link (vnet, link, &own);
  return vnet_receiver_new (vnet, vnet_add_link (vnet, link, &access), 5 * MCC_MSECOND, &config,
      (3000 + number) * MCC_SECOND, (double)number - 1.0);
}

static void
join (gconstpointer data)
{
  const CompanyCase *test = data;
  double before_sum = 0.0, after_sum = 0.0;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    VnetSenderConfig config = vnet_sender_default;
    VnetReceiver *receiver[3];
    VnetLink bottleneck = { .rate_bps = 2000000, .delay = 20 * MCC_MSECOND, .queue_packets = 30 };
    config.start_bps = 300000;
    config.min_bps = 32000;
    config.max_bps = 4000000;
    config.packet_bytes = 1000;
    config.fps = 0;
    Vnet *vnet = vnet_new (seed);
    int link = vnet_add_link (vnet, VNET_CORE, &bottleneck);
    VnetSender *sender = vnet_sender_new (vnet, &config, MCC_MSECOND);
    vnet_add_flow (vnet, link, 50 * MCC_MSECOND, 1000);
    vnet_run (vnet, seed * 50 * MCC_MSECOND);
    vnet_add_flow (vnet, link, 50 * MCC_MSECOND, 1000);
    for (guint i = 0; i < 2; i++)
      receiver[i] = add_receiver (vnet, link, test, i);
    before_sum += vnet_sender_mean_target (sender, vnet, JOIN_S - 10, JOIN_S, NULL);
    receiver[2] = add_receiver (vnet, link, test, 2);
    vnet_run (vnet, (JOIN_S + 1) * MCC_SECOND);
    after_sum += vnet_sender_mean_target (sender, vnet, JOIN_S + 1, JOIN_S + 6, NULL);
    for (guint i = 0; i < 3; i++)
      vnet_receiver_free (receiver[i]);
    vnet_sender_free (sender);
    vnet_free (vnet);
  }
  double after = after_sum / before_sum;
  g_test_message ("%.2f of the fair rate, then %.2f of that", before_sum / SEEDS / FAIR_BPS, after);
  g_assert_cmpfloat (after, >=, test->least);
  g_assert_cmpfloat (after, <=, test->most);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  static const CompanyCase same = { 0, 0.0, true, 1.0, 1.2 }, deaf = { 0, 0.0, false, 0.7, 1.0 },
                           own = { 300000, 0.0, true, 0.35, 0.55 },
                           loss = { 0, 0.05, true, 0.4, 0.8 };
  g_test_add_data_func ("/asmpcompany/same-queue", &same, join);
  g_test_add_data_func ("/asmpcompany/same-queue-unheard", &deaf, join);
  g_test_add_data_func ("/asmpcompany/a-slow-link-of-its-own", &own, join);
  g_test_add_data_func ("/asmpcompany/loss-of-its-own", &loss, join);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One encoder of all layers, whose rate moves, in closed loop over vnet: what receivers get, beside
 * a rate that stays.
 */
#include "vnetelm.h"

#define RECEIVERS 8
#define HOME_BPS 2000000
#define MAX_BPS 10000000
#define RTT (40 * MCC_MSECOND)
#define LENGTH_S 600u
#define SEEDS 4 /* half of them with frames */

typedef struct {
  const char *name;
  unsigned count;
  double bps[RECEIVERS]; /* of each one's link */
  double later_bps;      /* of all from half the time on; 0: as before */
  double random_loss;
  unsigned flows;    /* Reno-like, on each link */
  bool shared;       /* one link, the first's, for all */
  double gain, loss; /* of the mean rate at least; of the base layer at most more than fixed */
  unsigned moves;    /* at most */
} Test;

static const Test tests[] = {
  { .name = "receivers/outgrown",
      .count = 3,
      .bps = { 5e6, 5e6, 5e6 },
      .gain = 1.7,
      .loss = 0.005,
      .moves = 20 },
  { .name = "receivers/outgrown-by-most",
      .count = 4,
      .bps = { 5e6, 4e6, 4e6, 1.3e6 },
      .gain = 1.0,
      .moves = 0 },
  { .name = "receivers/just-enough",
      .count = 3,
      .bps = { 2.2e6, 2.3e6, 2.4e6 },
      .gain = 1.0,
      .loss = 0.005,
      .moves = 14 },
  { .name = "receivers/alone",
      .count = 1,
      .bps = { 3e6 },
      .gain = 1.2,
      .loss = 0.005,
      .moves = 16 },
  { .name = "receivers/mixed",
      .count = 5,
      .bps = { 0.35e6, 0.7e6, 1.3e6, 2.6e6, 5e6 },
      .gain = 1.0,
      .moves = 0 },
  { .name = "receivers/one-link",
      .count = 8,
      .bps = { 4e6 },
      .shared = true,
      .gain = 1.3,
      .loss = 0.005,
      .moves = 20 },
  { .name = "path/beside-flows",
      .count = 2,
      .bps = { 8e6, 8e6 },
      .flows = 1,
      .gain = 1.1,
      .loss = 0.01,
      .moves = 20 },
  { .name = "path/beside-flows-tight",
      .count = 2,
      .bps = { 5e6, 5e6 },
      .flows = 1,
      .gain = 0.97,
      .loss = 0.01,
      .moves = 20 },
  { .name = "path/random-loss",
      .count = 3,
      .bps = { 20e6, 20e6, 20e6 },
      .random_loss = 0.003,
      .gain = 1.2,
      .loss = 0.01,
      .moves = 20 },
  { .name = "path/slump",
      .count = 3,
      .bps = { 5e6, 5e6, 5e6 },
      .later_bps = 1.2e6,
      .gain = 1.1,
      .loss = 0.02,
      .moves = 30 },
};

typedef struct {
  double mean_bps, loss, flow_bps;
  unsigned moves;
  guint64 last_bps;
} Result;

static Result
run (const Test *test, bool moves, double fps, guint64 seed)
{
  VnetElmSenderConfig config = vnet_elm_sender_default;
  VnetElmReceiver *receiver[RECEIVERS];
  int link[RECEIVERS], flow[RECEIVERS];
  unsigned flows = 0;
  Result result = { .last_bps = HOME_BPS };
  Vnet *vnet = vnet_new (seed);
  config.fps = fps;
  if (moves)
    config.whole = (MccElmWholeBounds){ MAX_BPS, HOME_BPS };
  VnetElmSender *sender = vnet_elm_sender_new (vnet, &config, MCC_MSECOND);
  for (unsigned i = 0; i < test->count; i++) {
    double bps = test->bps[i];
    VnetLink edge = { .rate_bps = (guint64)bps,
      .delay = RTT / 2,
      .queue_bytes = (guint32)(bps / 8.0 * 0.2),
      .loss_ratio = test->random_loss };
    link[i] = test->shared && i > 0 ? link[0] : vnet_add_link (vnet, VNET_CORE, &edge);
    for (unsigned j = 0; j < test->flows && (i == 0 || !test->shared); j++)
      flow[flows++] = vnet_add_flow (vnet, link[i], RTT / 2 + (3 + 7 * j) * MCC_MSECOND, 1000);
    receiver[i] = vnet_elm_receiver_new (vnet, link[i], (i + 1) * MCC_MSECOND, NULL, MCC_SECOND,
        (500 + 7 * i) * MCC_SECOND, 20.0 * i);
  }
  for (unsigned second = 1; second <= LENGTH_S; second++) {
    MccElmSenderStats stats;
    for (unsigned i = 0; i < test->count && test->later_bps > 0.0 && second == LENGTH_S / 2; i++)
      vnet_set_rate (vnet, link[i], (guint64)test->later_bps);
    vnet_run (vnet, second * MCC_SECOND);
    mcc_elm_sender_get_stats (vnet_elm_sender_core (sender), vnet_elm_sender_now (sender), &stats);
    result.moves += moves && stats.whole_bps != result.last_bps;
    if (moves)
      result.last_bps = stats.whole_bps;
    g_assert_cmpuint (result.last_bps, >=, HOME_BPS);
    g_assert_cmpuint (result.last_bps, <=, MAX_BPS);
  }
  for (unsigned i = 0; i < test->count; i++) {
    result.mean_bps += (double)vnet_elm_receiver_bytes (receiver[i]) * 8.0 / LENGTH_S / test->count;
    result.loss += (double)vnet_elm_receiver_base_lost (receiver[i])
                   / (double)vnet_elm_receiver_base_expected (receiver[i]) / test->count;
    vnet_elm_receiver_free (receiver[i]);
  }
  for (unsigned i = 0; i < flows; i++)
    result.flow_bps += (double)vnet_flow_bytes (vnet, flow[i]) * 8.0 / LENGTH_S / flows;
  vnet_elm_sender_free (sender);
  vnet_free (vnet);
  return result;
}

/* Never less than with a rate that stays, more where all have outgrown it, and it comes to rest. */
static void
test_population (gconstpointer data)
{
  const Test *test = data;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    bool frames = seed % 2 == 0;
    Result fixed = run (test, false, frames ? 30.0 : 0.0, seed);
    Result moving = run (test, true, frames ? 30.0 : 0.0, seed);
    g_test_message ("seed %u, %s: %.3f -> %.3f Mb/s, loss %.4f -> %.4f, %u moves, at last %.2f; "
                    "flows %.2f -> %.2f",
        (unsigned)seed, frames ? "frames" : "packets", fixed.mean_bps / 1e6, moving.mean_bps / 1e6,
        fixed.loss, moving.loss, moving.moves, (double)moving.last_bps / 1e6, fixed.flow_bps / 1e6,
        moving.flow_bps / 1e6);
    g_assert_cmpfloat (moving.mean_bps, >=, test->gain * fixed.mean_bps);
    g_assert_cmpfloat (moving.loss, <=, fixed.loss + test->loss);
    g_assert_cmpuint (moving.moves, <=, test->moves);
    if (test->flows > 0) /* they keep theirs */
      g_assert_cmpfloat (moving.flow_bps, >=, 0.8 * test->bps[0] / (test->flows + 1));
    if (test->later_bps > 0.0)
      g_assert_cmpuint (moving.last_bps, ==, HOME_BPS);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (unsigned i = 0; i < G_N_ELEMENTS (tests); i++) {
    gchar *path = g_strdup_printf ("/elm/wholeloop/%s", tests[i].name);
    g_test_add_data_func (path, &tests[i], test_population);
    g_free (path);
  }
  return g_test_run ();
}

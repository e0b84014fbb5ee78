/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ASSP end to end over vnet: who is in which stream, how often that changes, what it costs.
 * VNET_LOG=1 prints a line each second.
 */
#include "vnetassp.h"

#define SEEDS 3
#define RECEIVERS 3
#define LEAVE (500 * MCC_MSECOND)

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
    vnet_run (world->vnet, MIN (end, vnet_now (world->vnet) + MCC_SECOND));
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
  return g_test_run ();
}

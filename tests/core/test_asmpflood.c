/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Floods of forged reports, over vnet: 1000 a second from addresses that are no receiver's, beside
 * ten true receivers. The same runs without them are the control.
 */
#include "vnetasmp.h"

#include <math.h>

#define RECEIVERS 10
#define WARM_UP 20
#define FLOOD 60 /* s */
#define SEEDS 4
#define PER_S 1000
#define CAPACITY 1500000

typedef enum { NONE, THEIR_NAMES, NEW_NAMES, NEW_NAMES_ONE_HOST, REPLAY, BYES } Kind;

typedef struct {
  Vnet *vnet;
  VnetSender *sender;
  VnetReceiver *receiver[RECEIVERS];
} World;

static void
world_init (World *world, guint64 seed)
{
  VnetSenderConfig sender = vnet_sender_default;
  sender.max_bps = 10000000;
  world->vnet = vnet_new (seed);
  world->sender = vnet_sender_new (world->vnet, &sender, 5 * MCC_MSECOND);
  for (guint i = 0; i < RECEIVERS; i++) {
    VnetLink link = {
      .rate_bps = CAPACITY + i * 700000, .delay = (10 + 3 * i) * MCC_MSECOND, .queue_packets = 40
    };
    world->receiver[i] = vnet_receiver_new (world->vnet,
        vnet_add_link (world->vnet, VNET_CORE, &link), 0, NULL, (4000 + i) * MCC_SECOND, 5.0 * i);
  }
}

static void
world_clear (World *world)
{
  for (guint i = 0; i < RECEIVERS; i++)
    vnet_receiver_free (world->receiver[i]);
  vnet_sender_free (world->sender);
  vnet_free (world->vnet);
}

static MccAddress
forged_address (guint host)
{
  MccAddress address = { .family = 4, .port = 5005, .bytes = { 172, 16 } };
  address.bytes[1] = (uint8_t)(host >> 16);
  address.bytes[2] = (uint8_t)(host >> 8);
  address.bytes[3] = (uint8_t)host;
  return address;
}

static void
forge (World *world, Kind kind, guint i)
{
  MccAsmpSender *core = vnet_sender_core (world->sender);
  MccTime now = vnet_sender_default.epoch + vnet_now (world->vnet);
  MccReceiverInfo known[RECEIVERS];
  guint count = mcc_asmp_sender_get_receivers (core, now, known, RECEIVERS);
  bool fresh = kind == NEW_NAMES || kind == NEW_NAMES_ONE_HOST;
  guint32 ssrc = fresh || count == 0 ? 0x70000000u + i : known[i % count].ssrc;
  MccAddress from = forged_address (kind == NEW_NAMES ? i : 1 + i % 3);
  MccAppReport report = { .number = i,
    .rate_bps = kind == REPLAY ? 300000 : 1000,
    .received_bps = 1000,
    .loss_ratio = 0.5,
    .rtt = 300 * MCC_MSECOND,
    .flags = MCC_REPORT_RTT_MEASURED };
  if (kind == BYES)
    mcc_asmp_sender_handle_bye (core, ssrc, &from, now);
  else
    mcc_asmp_sender_handle_report (core, ssrc, &report, &from, now);
}

/* Mean target of the FLOOD seconds. */
static double
run (Kind kind, guint64 seed)
{
  World world;
  double sum = 0.0;
  guint steps = 0;
  world_init (&world, seed);
  vnet_run (world.vnet, WARM_UP * MCC_SECOND);
  for (guint i = 0; i < FLOOD * PER_S; i++) {
    vnet_run (world.vnet, WARM_UP * MCC_SECOND + (i + 1) * (MCC_SECOND / PER_S));
    if (kind != NONE)
      forge (&world, kind, i);
    sum += (double)vnet_sender_target (world.sender);
    steps++;
  }
  world_clear (&world);
  return sum / steps;
}

static double
mean (Kind kind)
{
  double sum = 0.0;
  for (guint64 seed = 1; seed <= SEEDS; seed++)
    sum += run (kind, seed);
  return sum / SEEDS;
}

static void
test_flood (gconstpointer data)
{
  Kind kind = (Kind)GPOINTER_TO_INT (data);
  static double control = 0.0;
  if (control <= 0.0)
    control = mean (NONE);
  double flooded = mean (kind);
  g_test_message ("target %.1f kb/s, control %.1f kb/s: %+.2f %%", flooded / 1e3, control / 1e3,
      100.0 * (flooded / control - 1.0));
  g_assert_cmpfloat (control, >, 0.8 * CAPACITY);
  g_assert_cmpfloat (fabs (flooded / control - 1.0), <, 0.01);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    Kind kind;
  } table[] = {
    { "/asmpflood/in-the-receivers-names", THEIR_NAMES },
    { "/asmpflood/new-names", NEW_NAMES },
    { "/asmpflood/new-names-of-three-hosts", NEW_NAMES_ONE_HOST },
    { "/asmpflood/replay", REPLAY },
    { "/asmpflood/byes", BYES },
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    g_test_add_data_func (table[i].name, GINT_TO_POINTER (table[i].kind), test_flood);
  return g_test_run ();
}

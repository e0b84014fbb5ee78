/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who limits changes, over vnet: the next one takes over before the sender has risen blindly.
 */
#include "vnetasmp.h"

#define STEP (20 * MCC_MSECOND)
#define LOW 200000
#define NEXT 230000
#define SEEDS 4
#define WARM_UP (25 * MCC_SECOND)
#define WATCHED (5 * MCC_SECOND)

/* Receivers behind links of their own: the first is the slowest, the second a little faster, the
 * others have plenty. */
typedef struct {
  Vnet *vnet;
  VnetSender *sender;
  VnetReceiver *receiver[32];
  int link[32];
  guint receivers;
} World;

static void
world_init (World *world, guint64 seed, guint receivers)
{
  VnetSenderConfig sender = vnet_sender_default;
  sender.max_bps = 2000000;
  sender.start_bps = 150000;
  memset (world, 0, sizeof *world);
  world->vnet = vnet_new (seed);
  world->sender = vnet_sender_new (world->vnet, &sender, 5 * MCC_MSECOND);
  world->receivers = receivers;
  for (guint i = 0; i < receivers; i++) {
    VnetLink link = { .rate_bps = i == 0   ? LOW
                                  : i == 1 ? NEXT
                                           : 10000000,
      .delay = (15 + i) * MCC_MSECOND,
      .queue_packets = 30 };
    world->link[i] = vnet_add_link (world->vnet, VNET_CORE, &link);
    world->receiver[i] = vnet_receiver_new (
        world->vnet, world->link[i], 0, NULL, (4000 + i) * MCC_SECOND, 10.0 * i);
  }
}

static void
world_clear (World *world)
{
  for (guint i = 0; i < world->receivers; i++)
    vnet_receiver_free (world->receiver[i]);
  vnet_sender_free (world->sender);
  vnet_free (world->vnet);
}

typedef enum { CRASH, WIDENS, NARROWS } Event;

typedef struct {
  guint receivers;
  Event event;
  double takes_s; /* NARROWS: until the target is at the second one's rate */
  double above_s; /* else: the target exceeds that by a quarter for so long at most */
} Case;

static void
hand_over (gconstpointer data)
{
  const Case *test = data;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    World world;
    world_init (&world, seed, test->receivers);
    vnet_run (world.vnet, WARM_UP);
    double capacity = NEXT;
    guint64 before = vnet_sender_target (world.sender);
    if (test->event == CRASH)
      vnet_receiver_crash (world.receiver[0]);
    else if (test->event == WIDENS)
      vnet_set_rate (world.vnet, world.link[0], 10000000);
    else
      vnet_set_rate (world.vnet, world.link[1], (guint64)(capacity = LOW * 0.6));
    double takes_s = 0.0, above_s = 0.0, longest_s = 0.0;
    bool taken = false;
    for (MccTime t = 0; t < WATCHED; t += STEP) {
      vnet_run (world.vnet, WARM_UP + t + STEP);
      bool above = (double)vnet_sender_target (world.sender) > 1.25 * capacity;
      taken = taken || !above;
      takes_s += taken ? 0.0 : mcc_time_to_seconds (STEP);
      above_s = above ? above_s + mcc_time_to_seconds (STEP) : 0.0;
      longest_s = MAX (longest_s, above_s);
    }
    g_test_message (
        "seed %d: before %d kb/s, taken over after %.2f s, above for %.2f s, then %d kb/s",
        (int)seed, (int)before / 1000, takes_s, longest_s,
        (int)vnet_sender_target (world.sender) / 1000);
    if (test->event == NARROWS)
      g_assert_cmpfloat (takes_s, <=, test->takes_s);
    else
      g_assert_cmpfloat (longest_s, <=, test->above_s);
    world_clear (&world);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  static const struct {
    const char *name;
    Case test;
  } table[] = {
    { "/asmphandover/crash/6", { 6, CRASH, 0.0, 0.5 } },
    { "/asmphandover/widens/6", { 6, WIDENS, 0.0, 0.5 } },
    { "/asmphandover/widens/30", { 30, WIDENS, 0.0, 1.5 } },
    { "/asmphandover/narrows/6", { 6, NARROWS, 1.0, 0.0 } },
    { "/asmphandover/narrows/30", { 30, NARROWS, 1.0, 0.0 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    g_test_add_data_func (table[i].name, &table[i].test, hand_over);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ASSP receiver under random events (good and forged descriptions, ladders that change, packets,
 * cuts, silence, BYE, locks): it is never outside the streams that it was told of, makes one switch
 * at a time, leaves what it has joined, and nothing else.
 */
#include <string.h>

#include "mccasspreceiver.h"
#include "mccjitter.h"
#include "prop.h"

#define EVENTS 3000
#define SENDER 0x1000u /* SSRC of its stream 0; the others follow */
#define LEAVE (800 * MCC_MSECOND)

typedef struct {
  MccRng *rng;
  MccAsspReceiver *receiver;
  MccTime now;
  MccAsspStreams streams; /* that the sender has; it may not have been told yet */
  uint32_t ssrc;
  uint16_t seq[MCC_ASSP_STREAMS_MAX];
  uint32_t session_number;
  /* As the host sees it. */
  uint16_t joined[2]; /* address offsets; 0: none */
  unsigned to;        /* newest stream that was joined: it may have been given up */
  bool switching;
  MccTime last_leave;
  unsigned joins, switched;
} World;

static void
make_ladder (World *world)
{
  MccAsspStreams *streams = &world->streams;
  uint64_t low = 1 + prop_below (world->rng, 1000000);
  streams->count = 1 + (unsigned)prop_below (world->rng, MCC_ASSP_STREAMS_MAX);
  streams->ladder++;
  uint16_t base = prop_below (world->rng, 4) == 0 ? 20 : 1; /* sometimes other groups */
  for (unsigned j = 0; j < streams->count; j++) {
    uint64_t high = low + prop_below (world->rng, 4000000);
    streams->stream[j] = (MccAsspStream){ .low_bps = low,
      .high_bps = high,
      .average_bps = low,
      .address_offset = (uint16_t)(base + j),
      .port_offset = (uint16_t)(2 * j),
      .ssrc = world->ssrc + j };
    low = high;
  }
}

static void
note_join (World *world, const MccAsspReceiverAction *action)
{
  unsigned i = world->joined[0] == 0 ? 0 : 1;
  g_assert_cmpuint (world->joined[i], ==, 0); /* never three */
  g_assert_false (world->switching);          /* one at a time */
  const MccAsspStreams *told = mcc_assp_receiver_streams (world->receiver);
  g_assert_cmpuint (action->stream, <, told->count);
  g_assert_cmpuint (action->group.address_offset, ==, told->stream[action->stream].address_offset);
  g_assert_cmpuint (world->joined[0], !=, action->group.address_offset);
  g_assert_cmpint (action->overlap, ==, i == 1);
  if (action->reason == MCC_ASSP_REASON_UP || action->reason == MCC_ASSP_REASON_DOWN
      || action->reason == MCC_ASSP_REASON_TROUBLE || action->reason == MCC_ASSP_REASON_LOCK)
    g_assert_true (world->last_leave == world->now || world->last_leave == 0
                   || world->now - world->last_leave >= LEAVE);
  world->joined[i] = action->group.address_offset;
  world->to = action->stream;
  world->switching = true;
  world->joins++;
}

static void
note_leave (World *world, const MccAsspReceiverAction *action)
{
  unsigned i = world->joined[0] == action->group.address_offset ? 0 : 1;
  g_assert_cmpuint (world->joined[i], ==, action->group.address_offset);
  world->joined[i] = i == 0 ? world->joined[1] : 0;
  world->joined[1] = 0;
  world->last_leave = world->now;
}

static void
drain (World *world)
{
  MccAsspReceiverAction action;
  unsigned actions = 0;
  while (mcc_assp_receiver_poll (world->receiver, &action)) {
    g_assert_cmpuint (++actions, <=, 64);
    switch (action.type) {
      case MCC_ASSP_RECEIVER_JOIN:
        note_join (world, &action);
        break;
      case MCC_ASSP_RECEIVER_LEAVE:
        note_leave (world, &action);
        /* What was joined is given up before it was shown. */
        if (world->joined[0] == 0)
          world->switching = false;
        break;
      case MCC_ASSP_RECEIVER_FAILED:
        g_assert_true (world->switching);
        world->switching = false;
        break;
      case MCC_ASSP_RECEIVER_SWITCHED:
        g_assert_true (world->switching);
        world->switching = false;
        world->switched++;
        break;
      case MCC_ASSP_RECEIVER_ASMP:
        if (action.asmp.type == MCC_RECEIVER_SEND_REPORT)
          g_assert_cmpuint (action.stream, <, MCC_ASSP_STREAMS_MAX);
        break;
      default:
        break;
    }
  }
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (world->receiver, &stats);
  g_assert_cmpint (stats.switching, ==, world->switching);
}

static void
describe (World *world)
{
  MccAsspApp app = { .ssrc = world->ssrc, .subtype = MCC_ASSP_STREAMS };
  if (prop_below (world->rng, 60) == 0)
    make_ladder (world);
  world->streams.number++;
  world->streams.flags = prop_below (world->rng, 4) > 0 ? MCC_ASSP_DECIDE : 0;
  world->streams.round += prop_below (world->rng, 3) == 0;
  app.streams = world->streams;
  mcc_assp_receiver_handle_app (world->receiver, &app, world->now);
}

static void
forge (World *world)
{
  MccAsspApp app = { .ssrc = 0xbad, .subtype = MCC_ASSP_STREAMS };
  app.streams = world->streams;
  app.streams.number += (uint32_t)prop_below (world->rng, 10);
  unsigned j = (unsigned)prop_below (world->rng, MCC_ASSP_STREAMS_MAX);
  switch (prop_below (world->rng, 4)) {
    case 0: /* of a sender that it does not name */
      break;
    case 1: /* of ours, but not to be had */
      app.ssrc = world->ssrc;
      app.streams.stream[0].low_bps = app.streams.stream[0].high_bps + 1;
      break;
    case 2:
      app.ssrc = world->ssrc;
      app.streams.count = MCC_ASSP_STREAMS_MAX + j;
      app.streams.stream[j].address_offset = 0;
      break;
    default: /* old */
      app.ssrc = world->ssrc;
      app.streams.number -= 20;
      break;
  }
  if (app.streams.count <= MCC_ASSP_STREAMS_MAX && app.streams.number != world->streams.number)
    app.streams.number = world->streams.number; /* not newer */
  MccDrop drop = mcc_assp_receiver_handle_app (world->receiver, &app, world->now);
  g_assert_true (drop == MCC_DROP_BAD_VALUE || drop == MCC_DROP_OTHER_SENDER
                 || drop == MCC_DROP_STALE || drop == MCC_DROP_NONE);
}

static void
announce (World *world)
{
  unsigned j = (unsigned)prop_below (world->rng, MCC_ASSP_STREAMS_MAX);
  uint32_t ssrc = world->ssrc + j;
  MccAsspApp app = { .ssrc = ssrc, .subtype = MCC_APP_SESSION, .stream = j };
  app.asmp = (MccApp){ .ssrc = ssrc, .subtype = MCC_APP_SESSION };
  app.asmp.session = (MccAppSession){ .number = ++world->session_number,
    .flags = MCC_SESSION_ENHANCED,
    .send_time = mcc_abs_send_time (world->now),
    .target_bps = 100000 + prop_below (world->rng, 5000000),
    .min_bps = 1,
    .max_bps = 10000000,
    .start_bps = 150000,
    .session_bandwidth_bps = 1000000,
    .receivers = (uint32_t)prop_below (world->rng, 40),
    .suppress_bps = UINT64_MAX,
    .media_ssrc = ssrc,
    .payload_type = 96,
    .clock_rate = 90000 };
  mcc_assp_receiver_handle_app (world->receiver, &app, world->now);
}

static void
receive (World *world)
{
  unsigned j = (unsigned)prop_below (world->rng, MCC_ASSP_STREAMS_MAX);
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (world->receiver, &stats);
  if (stats.stream < MCC_ASSP_STREAMS_MAX && prop_below (world->rng, 2) == 0)
    j = stats.stream;
  for (uint64_t n = 1 + prop_below (world->rng, 6); n > 0; n--) {
    world->seq[j] += prop_below (world->rng, 8) == 0 ? 2 : 1;
    MccRtpPacket packet = { .ssrc = prop_below (world->rng, 30) ? world->ssrc + j : 0xbad,
      .seq = world->seq[j],
      .bytes = 100 + (uint32_t)prop_below (world->rng, 1300),
      .has_send_time = true,
      .send_time = mcc_abs_send_time (world->now - prop_below (world->rng, 40) * MCC_MSECOND) };
    mcc_assp_receiver_handle_rtp (world->receiver, j, &packet, NULL, world->now);
    drain (world);
    world->now += prop_below (world->rng, 5) * MCC_MSECOND;
  }
}

static void
event (World *world)
{
  switch (prop_below (world->rng, 40)) {
    case 0:
      forge (world);
      break;
    case 1:
      mcc_assp_receiver_handle_host_dropped (world->receiver, 3, world->now);
      break;
    case 2:
      mcc_assp_receiver_set_lock (
          world->receiver, (int)prop_below (world->rng, 12) - 4, world->now);
      break;
    case 3:
      if (prop_below (world->rng, 10) == 0)
        mcc_assp_receiver_handle_bye (world->receiver, world->ssrc, world->now);
      break;
    case 4:
      if (prop_below (world->rng, 20) == 0) { /* another process */
        world->ssrc += 0x100;
        make_ladder (world);
      }
      break;
    case 5:
      world->now += prop_below (world->rng, 4000) * MCC_MSECOND;
      break;
    case 6:
    case 7:
    case 8:
    case 9:
      describe (world);
      break;
    case 10:
    case 11:
    case 12:
      announce (world);
      break;
    case 13:
    case 14:
    case 15:
      mcc_assp_receiver_handle_cut (world->receiver, world->to, world->now);
      break;
    default:
      receive (world);
      break;
  }
}

static void
law_switches (MccRng *rng)
{
  World world = { .rng = rng, .now = 1000 * MCC_SECOND, .ssrc = SENDER };
  MccAsspReceiverConfig config = {
    .asmp = { .variant = prop_below (rng, 2) ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED,
        .ssrc = 7,
        .seed = mcc_rng_next (rng),
        .hears_group = true },
    .leave_latency = LEAVE,
    .lock_stream = -1,
  };
  world.receiver = mcc_assp_receiver_new (&config, world.now);
  make_ladder (&world);
  for (unsigned i = 0; i < EVENTS; i++) {
    event (&world);
    drain (&world);
    world.now += prop_below (rng, 60) * MCC_MSECOND;
    for (unsigned n = 0; mcc_assp_receiver_next_timeout (world.receiver) <= world.now; n++) {
      g_assert_cmpuint (n, <, 100); /* time-outs come to an end */
      mcc_assp_receiver_handle_timeout (world.receiver, world.now);
      drain (&world);
    }
  }
  g_test_message ("%u joins, %u switches", world.joins, world.switched);
  mcc_assp_receiver_free (world.receiver);
}

static void
test_switches (void)
{
  prop_run (law_switches, 60);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp/one-switch-at-a-time-within-the-streams", test_switches);
  return g_test_run ();
}

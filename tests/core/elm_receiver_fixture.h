/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * elm_receiver_fixture: an ELM receiver in virtual time, and a sender of three layers.
 */
#pragma once

#include <glib.h>

#include "mccelmreceiver.h"
#include "mccjitter.h"

#define EPOCH (1000 * MCC_SECOND)
#define SENDER 0x100u
#define COUNT 3

typedef struct {
  MccElmReceiver *receiver;
  MccTime now;
  MccElmLayers layers;
  guint16 c[MCC_ELM_LAYERS_MAX], seq[MCC_ELM_LAYERS_MAX];
  guint32 renamed[MCC_ELM_LAYERS_MAX]; /* how far its SSRC moved */
  bool silent;                         /* nobody describes the layers */
  unsigned joined;                     /* bits */
  unsigned reports, key_units, relieved, described, sources, lost, others, sessions, ceased;
  MccElmApp report;
  unsigned lose, sent; /* each how manieth is lost; 0: none */
  unsigned cut;        /* bits: layers of which no packet arrives */
  unsigned mute;       /* bits: layers of which none is sent */
  guint32 round_base;
  MccTime queue;
} World;

static MccElmReceiverConfig
config_of (MccVariant variant)
{
  return (MccElmReceiverConfig){ .variant = variant,
    .ssrc = 7,
    .seed = 1,
    .hears_group = true,
    .leave_latency = 1,
    .max_level = -1 };
}

static void
world_init_with (World *world, const MccElmReceiverConfig *config)
{
  memset (world, 0, sizeof *world);
  world->now = EPOCH;
  world->receiver = mcc_elm_receiver_new (config, EPOCH);
  world->layers = (MccElmLayers){ .number = 1,
    .count = COUNT,
    .round_time = mcc_abs_send_time (EPOCH),
    .round_interval = 2 * MCC_SECOND,
    .feedback_interval = MCC_SECOND };
  for (unsigned k = 0; k < COUNT; k++)
    world->layers.layer[k] = (MccElmLayer){ .cumulative_bps = 100000u << k,
      .address_offset = (uint16_t)k,
      .port_offset = (uint16_t)(2 * k),
      .ssrc = SENDER + k };
}

static void
world_init (World *world, MccVariant variant)
{
  MccElmReceiverConfig config = config_of (variant);
  world_init_with (world, &config);
}

static void
drain (World *world)
{
  MccElmReceiverAction action;
  while (mcc_elm_receiver_poll (world->receiver, &action)) {
    switch (action.type) {
      case MCC_ELM_RECEIVER_JOIN:
        g_assert_false (world->joined >> action.layer & 1);
        world->joined |= 1u << action.layer;
        break;
      case MCC_ELM_RECEIVER_LEAVE:
        g_assert_true (world->joined >> action.layer & 1);
        world->joined &= ~(1u << action.layer);
        break;
      case MCC_ELM_RECEIVER_REPORT:
        world->reports++;
        world->report = action.app;
        break;
      case MCC_ELM_RECEIVER_KEY_UNIT:
        world->key_units++;
        g_assert_true (
            action.group.ssrc == SENDER || action.group.ssrc == SENDER + world->renamed[0]);
        break;
      case MCC_ELM_RECEIVER_LEFT:
        world->relieved++;
        break;
      case MCC_ELM_RECEIVER_LAYERS:
        world->described++;
        break;
      case MCC_ELM_RECEIVER_SOURCE:
        world->sources++;
        break;
      case MCC_ELM_RECEIVER_LOST:
        world->lost++;
        break;
      case MCC_ELM_RECEIVER_OTHER:
        world->others++;
        break;
      case MCC_ELM_RECEIVER_CEASE:
        world->ceased++;
        break;
      case MCC_ELM_RECEIVER_SESSION:
        world->sessions++;
        break;
      default:
        break;
    }
  }
}

static MccDrop
describe_from (World *world, const MccElmLayers *layers, const MccAddress *from)
{
  MccElmApp app = { .ssrc = layers->layer[0].ssrc, .subtype = MCC_ELM_LAYERS, .layers = *layers };
  MccDrop drop = mcc_elm_receiver_handle_app (world->receiver, &app, from, world->now);
  drain (world);
  return drop;
}

static MccDrop
describe (World *world, const MccElmLayers *layers)
{
  return describe_from (world, layers, NULL);
}

static MccDrop
announce (World *world)
{
  MccElmApp app = { .ssrc = SENDER, .subtype = MCC_APP_SESSION };
  app.asmp = (MccApp){ .ssrc = SENDER, .subtype = MCC_APP_SESSION };
  app.asmp.session = (MccAppSession){ .send_time = mcc_abs_send_time (world->now),
    .payload_type = 96,
    .clock_rate = 90000,
    .media = "video",
    .encoding_name = "H264" };
  MccDrop drop = mcc_elm_receiver_handle_app (world->receiver, &app, NULL, world->now);
  drain (world);
  return drop;
}

static MccDrop
packet_from (World *world, unsigned layer, unsigned count, const MccAddress *from)
{
  MccRtpPacket rtp = { .ssrc = SENDER + layer + world->renamed[layer],
    .seq = ++world->seq[layer],
    .bytes = 1000,
    .has_send_time = true,
    .send_time = mcc_abs_send_time (world->now - 10 * MCC_MSECOND - world->queue) };
  for (unsigned k = layer; k < MCC_ELM_LAYERS_MAX; k++)
    world->c[k]++;
  MccDrop drop = mcc_elm_receiver_handle_rtp (
      world->receiver, layer, &rtp, world->c, count, from, world->now);
  drain (world);
  return drop;
}

static MccDrop
packet (World *world, unsigned layer, unsigned count)
{
  return packet_from (world, layer, count, NULL);
}

/* 20 ms, and what falls due in them. */
static void
step (World *world)
{
  world->now += 20 * MCC_MSECOND;
  while (mcc_elm_receiver_next_timeout (world->receiver) <= world->now)
    mcc_elm_receiver_handle_timeout (world->receiver, world->now);
  drain (world);
}

/* The sender says what its layers are, in the round of this moment. */
static void
say (World *world)
{
  MccTime length = world->layers.round_interval;
  guint32 round = (guint32)((world->now - EPOCH) / length);
  world->layers.number++;
  world->layers.round = world->round_base + round;
  world->layers.round_time = mcc_abs_send_time (EPOCH + round * length);
  describe (world, &world->layers);
  announce (world);
}

/* @seconds of 50 packets a second; those of layers that are not joined do not arrive. */
static void
run (World *world, double seconds)
{
  MccTime end = world->now + mcc_time_from_seconds (seconds);
  for (unsigned n = 0; world->now < end; n++) {
    step (world);
    unsigned layer = n % 4 == 0 ? 0 : n % 4 == 2 ? 1 : 2;
    bool sent = layer < world->layers.count && !(world->mute >> layer & 1);
    bool lost = sent && world->lose > 0 && ++world->sent % world->lose == 0;
    if (sent && (world->joined >> layer & 1) && !(world->cut >> layer & 1) && !lost) {
      packet (world, layer, world->layers.count);
    } else if (sent) {
      world->seq[layer]++;
      for (unsigned k = layer; k < MCC_ELM_LAYERS_MAX; k++)
        world->c[k]++;
    }
    if (n % 100 == 0 && !world->silent)
      say (world);
  }
}

static MccElmReceiverStats
stats_of (World *world)
{
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (world->receiver, world->now, &stats);
  return stats;
}

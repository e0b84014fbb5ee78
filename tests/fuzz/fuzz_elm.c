/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ELM sender and receiver under anything: packets of bytes through the codec, descriptions,
 * lists and reports with values of the input's choice, RTP, BYE, limits, time. Nothing asserts;
 * what decodes encodes and means the same again; the receiver joins layer after layer; figures,
 * tables, counters and time-outs obey laws.h.
 */
#include <string.h>

#include "laws.h"
#include "mccelmreceiver.h"
#include "mccelmsender.h"

#define EPOCH (100000 * MCC_SECOND)
#define EVENTS_MAX 4000
#define TIMEOUTS_MAX 1000
#define COUNT 3
#define RECEIVERS_MAX 8
#define STEPS_MAX 100 /* time-outs that one event plays through */

typedef struct {
  FuzzInput in;
  MccTime now;
  MccElmSender *sender;
  MccElmReceiver *receiver;
  uint16_t c[MCC_ELM_LAYERS_MAX];
  int joined; /* highest */
  uint64_t counted[6], dropped[MCC_DROP_COUNT], sender_dropped[MCC_DROP_COUNT];
} Machine;

static void
check_sender (Machine *self)
{
  MccElmSenderStats stats;
  law_sender (mcc_elm_sender_asmp (self->sender), RECEIVERS_MAX, self->now);
  mcc_elm_sender_get_stats (self->sender, self->now, &stats);
  CHECK (stats.count == COUNT && stats.receivers <= RECEIVERS_MAX);
  CHECK (stats.rtt_max <= MCC_RTT_MAX && stats.whole_bps <= MCC_APP_RATE_MAX);
  CHECK (isfinite (stats.feedback_hz) && stats.feedback_hz >= 0.0);
  uint32_t members = 0;
  for (unsigned k = 0; k < COUNT; k++) {
    members += stats.members[k];
    CHECK (stats.cumulative_bps[k] <= MCC_APP_RATE_MAX);
  }
  CHECK (members <= stats.receivers);
  law_monotone (stats.dropped, self->sender_dropped, MCC_DROP_COUNT);
}

static void
check_receiver (Machine *self)
{
  MccElmReceiverStats stats;
  mcc_elm_receiver_get_stats (self->receiver, self->now, &stats);
  CHECK (stats.loss_ratio >= 0.0 && stats.loss_ratio <= 1.0);
  CHECK (!isnan (stats.calculated_bps) && stats.calculated_bps >= 0.0);
  CHECK (!isnan (stats.smoothed_bps) && stats.smoothed_bps >= 0.0);
  CHECK (stats.rtt >= MCC_RTT_FLOOR && stats.rtt <= MCC_RTT_MAX);
  CHECK (stats.wanted == stats.level || stats.wanted == stats.level + 1);
  CHECK (stats.wanted == self->joined && stats.wanted < (int)MCC_ELM_LAYERS_MAX);
  uint64_t counts[] = { stats.joins, stats.leaves, stats.switches, stats.failed, stats.absent,
    stats.reports_sent };
  law_monotone (counts, self->counted, 6);
  law_monotone (stats.dropped, self->dropped, MCC_DROP_COUNT);
}

static void
check_laws (Machine *self)
{
  MccTraceEvent event;
  check_sender (self);
  check_receiver (self);
  for (unsigned n = 0; mcc_elm_receiver_poll_trace (self->receiver, &event); n++) {
    CHECK (n < MCC_TRACE_RING);
    law_trace (&event, self->now);
  }
  for (unsigned n = 0; mcc_elm_sender_poll_trace (self->sender, &event); n++) {
    CHECK (n < MCC_TRACE_RING);
    law_trace (&event, self->now);
  }
}

static void
drain (Machine *self)
{
  MccElmSenderAction sent;
  while (mcc_elm_sender_poll (self->sender, &sent))
    if (sent.type == MCC_ELM_SENDER_ANNOUNCE)
      CHECK (mcc_elm_layers_valid (sent.layers) && sent.rtt->count <= MCC_APP_RTT_MAX);
  MccElmReceiverAction action;
  while (mcc_elm_receiver_poll (self->receiver, &action)) {
    if (action.type == MCC_ELM_RECEIVER_JOIN)
      CHECK ((int)action.layer == ++self->joined);
    else if (action.type == MCC_ELM_RECEIVER_LEAVE)
      CHECK ((int)action.layer == self->joined--);
  }
}

static MccElmLayers
any_layers (FuzzInput *in)
{
  MccElmLayers layers = { .number = (uint32_t)fuzz_scale (in, 32),
    .round = fuzz_u8 (in),
    .round_time = fuzz_u32 (in) & 0xffffff,
    .round_interval = fuzz_scale (in, 35),
    .feedback_interval = fuzz_scale (in, 37),
    .set = fuzz_u8 (in) & 3,
    .count = fuzz_u8 (in) % (MCC_ELM_LAYERS_MAX + 2) };
  uint64_t bps = 1 + fuzz_scale (in, 40);
  uint32_t ssrc = 0x100 + 0x10u * (fuzz_u8 (in) >> 6);
  for (unsigned k = 0; k < layers.count && k < MCC_ELM_LAYERS_MAX; k++) {
    layers.layer[k] = (MccElmLayer){ .cumulative_bps = bps,
      .address_offset = (uint16_t)k,
      .port_offset = (uint16_t)(2 * k + (fuzz_u8 (in) == 0)),
      .ssrc = ssrc + k };
    bps += fuzz_scale (in, 30);
  }
  return layers;
}

static void
handle_app (Machine *self)
{
  FuzzInput *in = &self->in;
  MccElmApp app = { .subtype = 1 + fuzz_u8 (in) % 4 };
  app.ssrc = app.subtype == MCC_APP_REPORT ? fuzz_u8 (in) & 7 : 0x100u + fuzz_u8 (in) % 0x40;
  app.asmp = (MccApp){ .ssrc = app.ssrc, .subtype = app.subtype };
  if (app.subtype == MCC_ELM_LAYERS) {
    app.layers = any_layers (in);
    if (fuzz_u8 (in) & 3)
      app.ssrc = app.layers.layer[0].ssrc;
  } else if (app.subtype == MCC_APP_REPORT) {
    app.level = fuzz_u8 (in) & 7;
    app.wanted = fuzz_u8 (in) & 7;
    app.flags = fuzz_u8 (in);
    app.asmp.report = (MccAppReport){ .number = (uint32_t)fuzz_scale (in, 32),
      .flags = fuzz_u8 (in),
      .rate_bps = fuzz_scale (in, 50),
      .loss_ratio = fuzz_u8 (in) / 255.0,
      .rtt = fuzz_scale (in, 33),
      .hold = fuzz_scale (in, 38),
      .echo = fuzz_u32 (in) & 0xffffff };
  } else if (app.subtype == MCC_APP_RTT) {
    app.asmp.rtt.count = 1;
    app.asmp.rtt.entry[0] = (MccAppRtt){ 7, fuzz_u8 (in), 1 + fuzz_scale (in, 33) };
  } else {
    app.asmp.session.send_time = fuzz_u32 (in) & 0xffffff;
    app.asmp.session.payload_type = 96;
  }
  mcc_elm_receiver_handle_app (self->receiver, &app, NULL, self->now);
  MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, fuzz_u8 (in) & 1 } };
  if (app.subtype == MCC_APP_REPORT)
    mcc_elm_sender_handle_report (self->sender, &app, &from, self->now);
  if (fuzz_u8 (in) == 0)
    mcc_elm_sender_handle_bye (self->sender, app.ssrc, &from, self->now);
}

/* Bytes as they are, header mended. */
static void
handle_bytes (Machine *self)
{
  uint8_t data[256], again[512];
  size_t size = 16 + 4 * (size_t)(fuzz_u8 (&self->in) % 50);
  for (size_t i = 0; i < size; i++)
    data[i] = fuzz_u8 (&self->in);
  data[0] = (uint8_t)(0x80 | (data[0] & 7));
  data[1] = 204;
  data[2] = 0;
  data[3] = (uint8_t)(size / 4 - 1);
  memcpy (data + 8, MCC_ELM_NAME, 4);
  data[12] = MCC_APP_VERSION;
  MccElmApp app, copy;
  if (mcc_elm_app_decode (data, size, &app) != MCC_DROP_NONE)
    return;
  size_t bytes = mcc_elm_app_encode (&app, again, sizeof again);
  CHECK (bytes > 0 && bytes <= size);
  CHECK (mcc_elm_app_decode (again, bytes, &copy) == MCC_DROP_NONE);
  CHECK (copy.ssrc == app.ssrc && copy.level == app.level && copy.flags == app.flags);
  mcc_elm_receiver_handle_app (self->receiver, &app, NULL, self->now);
  drain (self);
}

static void
handle_packets (Machine *self)
{
  FuzzInput *in = &self->in;
  unsigned layer = fuzz_u8 (in) % (MCC_ELM_LAYERS_MAX + 1), count = fuzz_u8 (in) % 10;
  MccRtpPacket packet = { .ssrc = 0x100 + layer + 0x10u * (fuzz_u8 (in) >> 6),
    .seq = (uint16_t)fuzz_take (in, 2),
    .bytes = 40 + (uint32_t)fuzz_scale (in, 10),
    .has_send_time = fuzz_u8 (in) != 0,
    .send_time = fuzz_u32 (in) & 0xffffff };
  if (count > MCC_ELM_LAYERS_MAX)
    count = COUNT;
  for (unsigned n = fuzz_u8 (in) % 20; n > 0; n--, packet.seq++) {
    for (unsigned k = layer; k < MCC_ELM_LAYERS_MAX; k++)
      self->c[k] = (uint16_t)(self->c[k] + 1 + (fuzz_u8 (in) == 1));
    mcc_elm_receiver_handle_rtp (self->receiver, layer, &packet, self->c, count, NULL, self->now);
    drain (self);
  }
  if (layer < COUNT)
    mcc_elm_sender_handle_sent (self->sender, layer, 1, packet.bytes, packet.seq, self->now);
}

static void
run_timeouts (Machine *self)
{
  unsigned n = 0;
  for (; mcc_elm_sender_next_timeout (self->sender) <= self->now; n++) {
    mcc_elm_sender_handle_timeout (self->sender, self->now);
    drain (self);
    CHECK (n < TIMEOUTS_MAX);
  }
  for (; mcc_elm_receiver_next_timeout (self->receiver) <= self->now; n++) {
    mcc_elm_receiver_handle_timeout (self->receiver, self->now);
    drain (self);
    CHECK (n < TIMEOUTS_MAX);
  }
}

/* At once, as after a stop of the host, or time-out by time-out. */
static void
pass_time (Machine *self)
{
  bool at_once = self->in.left > 0 && (*self->in.data & 1);
  MccTime until = self->now + fuzz_scale (&self->in, 35);
  for (unsigned n = 0; !at_once && n < STEPS_MAX; n++) {
    MccTime next = mcc_time_min (
        mcc_elm_sender_next_timeout (self->sender), mcc_elm_receiver_next_timeout (self->receiver));
    if (next > until)
      break;
    self->now = mcc_time_max (self->now, next);
    run_timeouts (self);
  }
  self->now = until;
}

static void
step (Machine *self)
{
  FuzzInput *in = &self->in;
  switch (fuzz_u8 (in) % 8) {
    case 0:
    case 1:
      handle_app (self);
      break;
    case 2:
      handle_bytes (self);
      break;
    case 3:
    case 4:
      handle_packets (self);
      break;
    case 5:
      pass_time (self);
      break;
    case 6:
      mcc_elm_receiver_handle_picture (self->receiver, fuzz_u8 (in) & 1, self->now);
      mcc_elm_sender_handle_key_unit_request (self->sender, self->now);
      break;
    default:
      if (fuzz_u8 (in) & 1)
        mcc_elm_receiver_set_max_level (self->receiver, (int)fuzz_u8 (in) - 240, self->now);
      else
        mcc_elm_receiver_handle_bye (self->receiver, 0x100 + fuzz_u8 (in) % 0x40, self->now);
      break;
  }
  drain (self);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  Machine self = { .in = { data, size }, .now = EPOCH, .joined = -1 };
  unsigned kind = fuzz_u8 (&self.in);
  MccVariant variant = kind & 1 ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED;
  static const MccElmStrategy *const strategies[]
      = { &mcc_elm_lazy, &mcc_elm_naive, &mcc_elm_skeptical, &mcc_elm_lazy };
  MccElmSenderConfig sender
      = { .variant = variant, .seed = 1, .max_receivers = RECEIVERS_MAX, .layers.count = COUNT };
  for (unsigned k = 0; k < COUNT; k++) {
    sender.layers.layer[k] = (MccElmLayer){ .cumulative_bps = 100000u << k,
      .address_offset = (uint16_t)k,
      .port_offset = (uint16_t)(2 * k),
      .ssrc = 0x100 + k };
  }
  if (kind & 16)
    sender.whole = (MccElmWholeBounds){ 400000u, kind & 32 ? 150000u : 0 };
  MccElmReceiverConfig receiver = { .variant = variant,
    .ssrc = 7,
    .seed = 2,
    .strategy = strategies[kind >> 1 & 3],
    .max_level = -1,
    .hears_group = true };
  self.sender = mcc_elm_sender_new (&sender, self.now);
  self.receiver = mcc_elm_receiver_new (&receiver, self.now);
  CHECK (self.sender != NULL && self.receiver != NULL);
  drain (&self);
  for (unsigned i = 0; i < EVENTS_MAX && self.in.left > 0; i++) {
    step (&self);
    run_timeouts (&self);
    check_laws (&self);
  }
  mcc_elm_sender_free (self.sender);
  mcc_elm_receiver_free (self.receiver);
  return 0;
}

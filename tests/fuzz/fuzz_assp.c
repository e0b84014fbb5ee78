/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ASSP sender and receiver under anything: descriptions, announcements, lists and reports with
 * values of the input's choice, packets, cuts, BYE, locks, ladders, time. Nothing asserts; the
 * receiver joins what was described, one switch at a time; targets keep to their bounds (enhanced:
 * the lower one is the lowest stream's, see mccasspsenderfloor.c); figures, tables, counters and
 * time-outs obey laws.h.
 */
#include <string.h>

#include "laws.h"
#include "mccapp.h"
#include "mccasspreceiver.h"
#include "mccasspsender.h"

#define EPOCH (100000 * MCC_SECOND)
#define EVENTS_MAX 4000
#define TIMEOUTS_MAX 1000
#define RECEIVERS_MAX 8
#define STEPS_MAX 100 /* time-outs that one event plays through */

typedef struct {
  FuzzInput in;
  MccTime now;
  MccAsspSender *sender;
  MccAsspReceiver *receiver;
  uint64_t low[MCC_ASSP_STREAMS_MAX], high[MCC_ASSP_STREAMS_MAX];
  uint64_t counted[4], dropped[MCC_DROP_COUNT];
  bool enhanced;
  bool bounds_moved; /* a target of before may still be in the queue */
  bool live;         /* the ladder moves them */
  bool switching;
  uint16_t joined; /* address offset, while switching */
  unsigned to;     /* newest stream that was joined: it may have been given up */
} Machine;

static void
check_laws (Machine *self)
{
  MccAsspReceiverStats stats;
  for (unsigned j = 0; j < mcc_assp_sender_count (self->sender); j++) {
    law_sender (mcc_assp_sender_stream (self->sender, j), RECEIVERS_MAX, self->now);
    CHECK (mcc_assp_sender_average_bps (self->sender, j) <= MCC_APP_RATE_MAX);
  }
  law_receiver (mcc_assp_receiver_asmp (self->receiver), self->now);
  mcc_assp_receiver_get_stats (self->receiver, &stats);
  CHECK (isfinite (stats.average_bps) && stats.average_bps >= 0.0);
  CHECK (stats.stream <= MCC_ASSP_NO_STREAM);
  uint64_t counts[] = { stats.switches, stats.failed, stats.joins, stats.leaves };
  law_monotone (counts, self->counted, 4);
  law_monotone (stats.dropped, self->dropped, MCC_DROP_COUNT);
  MccTraceEvent event;
  for (unsigned n = 0;
       mcc_asmp_receiver_poll_trace (mcc_assp_receiver_asmp (self->receiver), &event); n++) {
    CHECK (n < MCC_TRACE_RING);
    law_trace (&event, self->now);
  }
}

static uint64_t
least_bps (const Machine *self, unsigned stream)
{
  uint64_t least = self->low[stream];
  for (unsigned j = 0; self->enhanced && j < mcc_assp_sender_count (self->sender); j++)
    if (self->low[j] < least)
      least = self->low[j];
  return least;
}

static void
drain (Machine *self)
{
  MccAsspSenderAction sent;
  while (mcc_assp_sender_poll (self->sender, &sent)) {
    CHECK (sent.stream < mcc_assp_sender_count (self->sender));
    if (sent.type != MCC_ASSP_SENDER_ASMP)
      continue;
    if (sent.asmp.type == MCC_SENDER_TARGET && !self->bounds_moved && !self->live)
      CHECK (sent.asmp.target_bps >= least_bps (self, sent.stream)
             && sent.asmp.target_bps <= self->high[sent.stream]);
    if (sent.asmp.type == MCC_SENDER_SEND_SESSION)
      CHECK (sent.streams != NULL && mcc_assp_streams_valid (sent.streams));
    for (unsigned j = 0; j < MCC_ASSP_STREAMS_MAX; j++)
      CHECK (sent.also[j] == NULL
             || (sent.asmp.type == MCC_SENDER_SEND_SESSION && j != sent.stream
                 && j < mcc_assp_sender_count (self->sender)));
  }
  self->bounds_moved = false;
  MccAsspReceiverAction action;
  while (mcc_assp_receiver_poll (self->receiver, &action)) {
    if (action.type == MCC_ASSP_RECEIVER_JOIN) {
      CHECK (!self->switching && action.stream < MCC_ASSP_STREAMS_MAX);
      CHECK (action.group.address_offset > 0);
      self->switching = true;
      self->joined = action.group.address_offset;
      self->to = action.stream;
    } else if (action.type == MCC_ASSP_RECEIVER_LEAVE) {
      /* A new sender ends a switch without another word. */
      if (action.group.address_offset == self->joined)
        self->switching = false;
    } else if (action.type == MCC_ASSP_RECEIVER_SWITCHED
               || action.type == MCC_ASSP_RECEIVER_FAILED) {
      CHECK (self->switching);
      self->switching = false;
    }
  }
}

static MccAsspStreams
any_streams (FuzzInput *in)
{
  MccAsspStreams streams = { .number = (uint32_t)fuzz_scale (in, 32),
    .flags = fuzz_u8 (in),
    .round = fuzz_u8 (in),
    .ladder = fuzz_u8 (in),
    .count = fuzz_u8 (in) % (MCC_ASSP_STREAMS_MAX + 2) };
  uint64_t low = 1 + fuzz_scale (in, 40);
  for (unsigned j = 0; j < streams.count && j < MCC_ASSP_STREAMS_MAX; j++) {
    uint64_t high = low + fuzz_scale (in, 40);
    streams.stream[j] = (MccAsspStream){ .low_bps = low,
      .high_bps = high,
      .average_bps = low,
      .address_offset = (uint16_t)(1 + j + (fuzz_u8 (in) == 0)),
      .port_offset = (uint16_t)(2 * j),
      .ssrc = 0x100 + j + 0x10 * (streams.flags >> 6) };
    low = high;
  }
  return streams;
}

static MccApp
any_asmp (FuzzInput *in, unsigned subtype, uint32_t ssrc)
{
  MccApp app = { .ssrc = ssrc, .subtype = subtype };
  if (subtype == MCC_APP_REPORT) {
    app.report = (MccAppReport){ .number = (uint32_t)fuzz_scale (in, 32),
      .flags = fuzz_u8 (in),
      .rate_bps = fuzz_scale (in, 50),
      .received_bps = fuzz_scale (in, 50),
      .loss_ratio = fuzz_u8 (in) / 255.0,
      .rtt = fuzz_scale (in, 33),
      .potential_bps = fuzz_scale (in, 50),
      .hold = fuzz_scale (in, 38),
      .echo = fuzz_u32 (in) & 0xffffff,
      .highest_seq = (uint32_t)fuzz_scale (in, 32) };
  } else if (subtype == MCC_APP_RTT) {
    app.rtt.count = 1;
    app.rtt.entry[0] = (MccAppRtt){ 7, fuzz_u8 (in), 1 + fuzz_scale (in, 33) };
  } else {
    app.session = (MccAppSession){ .number = (uint32_t)fuzz_scale (in, 32),
      .target_bps = fuzz_scale (in, 45),
      .min_bps = 1,
      .max_bps = MCC_APP_RATE_MAX,
      .start_bps = fuzz_scale (in, 40),
      .session_bandwidth_bps = fuzz_scale (in, 45),
      .receivers = (uint32_t)fuzz_scale (in, 32),
      .limiting_ssrc = fuzz_u8 (in) & 7,
      .rtt_max = fuzz_scale (in, 33),
      .suppress_bps = fuzz_scale (in, 45),
      .media_ssrc = ssrc,
      .payload_type = 96,
      .clock_rate = 90000 };
  }
  return app;
}

static void
handle_app (Machine *self)
{
  FuzzInput *in = &self->in;
  MccAsspApp app = { .subtype = 1 + fuzz_u8 (in) % 4 };
  app.stream = fuzz_u8 (in) % (MCC_ASSP_STREAMS_MAX + 1);
  app.ssrc = app.subtype == MCC_APP_REPORT ? fuzz_u8 (in) & 7 : 0x100u + fuzz_u8 (in) % 0x40;
  if (app.subtype == MCC_ASSP_STREAMS)
    app.streams = any_streams (in);
  else
    app.asmp = any_asmp (in, app.subtype, app.ssrc);
  mcc_assp_receiver_handle_app (self->receiver, &app, self->now);
  if (app.subtype == MCC_APP_REPORT) {
    MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, fuzz_u8 (in) & 1 } };
    mcc_assp_sender_handle_report (
        self->sender, app.stream, app.ssrc, &app.asmp.report, &from, self->now);
    if (fuzz_u8 (in) == 0)
      mcc_assp_sender_handle_bye (self->sender, app.ssrc, &from, self->now);
  }
}

static void
handle_packets (Machine *self)
{
  FuzzInput *in = &self->in;
  unsigned stream = fuzz_u8 (in) % (MCC_ASSP_STREAMS_MAX + 1);
  MccRtpPacket packet = { .ssrc = 0x100 + stream + 0x10 * (fuzz_u8 (in) >> 6),
    .seq = (uint16_t)fuzz_take (in, 2),
    .bytes = 40 + (uint32_t)fuzz_scale (in, 10),
    .has_send_time = fuzz_u8 (in) != 0,
    .send_time = fuzz_u32 (in) & 0xffffff };
  for (unsigned n = fuzz_u8 (in) % 20; n > 0; n--, packet.seq++) {
    mcc_assp_receiver_handle_rtp (self->receiver, stream, &packet, NULL, self->now);
    drain (self);
  }
  if (stream < mcc_assp_sender_count (self->sender))
    mcc_assp_sender_handle_sent (self->sender, stream, 1, packet.bytes, packet.seq, self->now);
}

static void
set_bounds (Machine *self)
{
  FuzzInput *in = &self->in;
  unsigned stream = fuzz_u8 (in) % (MCC_ASSP_STREAMS_MAX + 1);
  uint64_t low = fuzz_scale (in, 50), high = fuzz_scale (in, 50);
  if (!mcc_assp_sender_set_bounds (self->sender, stream, low, high, self->now))
    return;
  self->low[stream] = low;
  self->high[stream] = high;
  self->bounds_moved = true;
}

/* Of a stream, or of the sender that the receiver hears. */
static void
say_end (Machine *self, uint8_t what)
{
  unsigned stream = what & 3;
  if (what < 0xc0)
    mcc_assp_receiver_handle_bye (self->receiver, 0x100 + what % 0x40, self->now);
  else if (stream < mcc_assp_sender_count (self->sender))
    mcc_assp_sender_set_ended (self->sender, stream, what & 4, self->now);
}

static void
run_timeouts (Machine *self)
{
  unsigned n = 0;
  for (; mcc_assp_sender_next_timeout (self->sender) <= self->now; n++) {
    mcc_assp_sender_handle_timeout (self->sender, self->now);
    drain (self);
    CHECK (n < TIMEOUTS_MAX);
  }
  for (; mcc_assp_receiver_next_timeout (self->receiver) <= self->now; n++) {
    mcc_assp_receiver_handle_timeout (self->receiver, self->now);
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
    MccTime next = mcc_time_min (mcc_assp_sender_next_timeout (self->sender),
        mcc_assp_receiver_next_timeout (self->receiver));
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
    case 2:
      handle_app (self);
      break;
    case 3:
    case 4:
      handle_packets (self);
      break;
    case 5:
      pass_time (self);
      break;
    case 6:
      mcc_assp_receiver_handle_cut (self->receiver, self->to, self->now);
      break;
    default:
      if (fuzz_u8 (in) & 1)
        set_bounds (self);
      else if (fuzz_u8 (in) & 1)
        mcc_assp_receiver_set_lock (self->receiver, (int)fuzz_u8 (in) - 240, self->now);
      else
        say_end (self, fuzz_u8 (in));
      break;
  }
  drain (self);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  Machine self = { .in = { data, size }, .now = EPOCH };
  unsigned kind = fuzz_u8 (&self.in);
  MccVariant variant = kind & 1 ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED;
  self.live = kind & 2;
  self.enhanced = kind & 1;
  MccAsspSenderConfig sender = { .variant = variant,
    .seed = 1,
    .max_receivers = RECEIVERS_MAX,
    .streams.count = 3,
    .max_streams = self.live ? 3 : 0 };
  for (unsigned j = 0; j < 3; j++) {
    self.low[j] = 1000000 * (j + 1);
    self.high[j] = 1000000 * (j + 2);
    sender.streams.stream[j] = (MccAsspStream){ .low_bps = self.low[j],
      .high_bps = self.high[j],
      .address_offset = (uint16_t)(1 + j),
      .port_offset = (uint16_t)(2 * j),
      .ssrc = 0x100 + j };
  }
  MccAsspReceiverConfig receiver
      = { .asmp = { .variant = variant, .ssrc = 7, .seed = 2, .hears_group = true },
          .lock_stream = -1 };
  self.sender = mcc_assp_sender_new (&sender, self.now);
  self.receiver = mcc_assp_receiver_new (&receiver, self.now);
  CHECK (self.sender != NULL && self.receiver != NULL);
  drain (&self);
  for (unsigned i = 0; i < EVENTS_MAX && self.in.left > 0; i++) {
    step (&self);
    run_timeouts (&self);
    check_laws (&self);
  }
  mcc_assp_sender_free (self.sender);
  mcc_assp_receiver_free (self.receiver);
  return 0;
}

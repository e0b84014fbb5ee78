/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * assp_receiver_fixture: an ASSP receiver in virtual time, with a sender of every stream that it
 * joins, and fellows whose reports it hears.
 */
#pragma once

#include <glib.h>

#include "mccasspreceiverprivate.h"
#include "mccjitter.h"

#define START (4321 * MCC_SECOND + 7)
#define STEP (10 * MCC_MSECOND)
#define WIRE (15 * MCC_MSECOND)
#define LEAVE MCC_SECOND
#define SENDER 0x1000u
#define OURS 77u

/* A receiver, and a sender that sends every stream that is joined. */
typedef struct {
  MccAsspReceiver *receiver;
  MccTime now, announced, next_send;
  MccTime epoch; /* of the sender's clock */
  MccAsspStreams streams;
  uint32_t ssrc, session_number;
  uint16_t seq[MCC_ASSP_STREAMS_MAX];
  bool joined[MCC_ASSP_STREAMS_MAX];
  bool dead[MCC_ASSP_STREAMS_MAX]; /* sends nothing */
  bool silent;                     /* no announcement either */
  bool lossy;                      /* every second packet is lost */
  unsigned lost_each;              /* ... one of so many; 0: none */
  unsigned less;                   /* bytes of each packet than the target has */
  enum { NO_PAIRS, PAIRS_COME_TOGETHER, PAIRS_COME_APART } pairs;
  unsigned sent;                    /* steps */
  bool unasked;                     /* another receiver asks for pairs */
  bool early[MCC_ASSP_STREAMS_MAX]; /* this step's packet was sent with the one before */
  bool cuts;                        /* at the first packet of what is joined */
  unsigned to;                      /* joined last */
  uint32_t members;                 /* of each stream, as announced; 0: 3 */
  bool floor;                       /* what is sent is announced as the least */
  MccTime queue;                    /* of whole STEPs */
  unsigned joins, leaves, switched, failed, key_units, ladders;
  MccAsspReceiverAction join, leave, change, failure; /* newest of each */
  bool left_before_join;
  MccTime left;
  unsigned reports, limits; /* ... and those with a limit */
  unsigned report_stream, leaving_stream;
  MccAppReport report, leaving, first; /* first: in the stream that was joined last */
  bool has_first;
} Fixture;

static void
note_report (Fixture *self, const MccAsspReceiverAction *action)
{
  const MccAppReport *report = &action->asmp.report;
  if (self->reports > 0)
    g_assert_cmpuint (report->number, ==, self->report.number + 1);
  self->report = *report;
  self->reports++;
  if (report->flags & MCC_REPORT_LEAVING) {
    self->leaving = *report;
    self->leaving_stream = action->stream;
    return;
  }
  self->report_stream = action->stream;
  self->limits += !(report->flags & MCC_REPORT_NO_LIMIT);
  if (!self->has_first)
    self->first = *report;
  self->has_first = true;
}

static void
drain (Fixture *self)
{
  MccAsspReceiverAction action;
  while (mcc_assp_receiver_poll (self->receiver, &action)) {
    switch (action.type) {
      case MCC_ASSP_RECEIVER_JOIN:
        self->join = action;
        self->joins++;
        self->joined[action.stream] = true;
        self->to = action.stream;
        self->has_first = false;
        break;
      case MCC_ASSP_RECEIVER_LEAVE:
        self->leave = action;
        self->leaves++;
        self->joined[action.stream] = false;
        self->left = self->now;
        break;
      case MCC_ASSP_RECEIVER_SWITCHED:
        self->change = action;
        self->switched++;
        break;
      case MCC_ASSP_RECEIVER_FAILED:
        self->failure = action;
        self->failed++;
        break;
      case MCC_ASSP_RECEIVER_KEY_UNIT:
        self->key_units++;
        break;
      case MCC_ASSP_RECEIVER_STREAMS:
        self->ladders++;
        break;
      case MCC_ASSP_RECEIVER_ASMP:
        if (action.asmp.type == MCC_RECEIVER_SEND_REPORT)
          note_report (self, &action);
        break;
    }
  }
}

static void
set_streams (Fixture *self, unsigned count)
{
  self->streams.count = count;
  self->streams.ladder++;
  for (unsigned j = 0; j < count; j++)
    self->streams.stream[j] = (MccAsspStream){ .low_bps = 1000000 * (j + 1),
      .high_bps = 1000000 * (j + 2),
      .average_bps = 1000000 * (j + 1),
      .address_offset = (uint16_t)(1 + j),
      .port_offset = (uint16_t)(2 * j),
      .ssrc = self->ssrc + j };
}

static Fixture
fixture_new (MccVariant variant, int lock)
{
  MccAsspReceiverConfig config
      = { .asmp = { .variant = variant, .ssrc = OURS, .seed = 3, .hears_group = true },
          .leave_latency = LEAVE,
          .lock_stream = lock };
  Fixture self = {
    .now = START, .announced = START, .next_send = START + STEP - WIRE, .ssrc = SENDER, .cuts = true
  };
  self.receiver = mcc_assp_receiver_new (&config, START);
  g_assert_nonnull (self.receiver);
  set_streams (&self, 3);
  return self;
}

static MccDrop
describe (Fixture *self)
{
  MccAsspApp app = { .ssrc = self->ssrc, .subtype = MCC_ASSP_STREAMS };
  self->streams.number++;
  app.streams = self->streams;
  MccDrop drop = mcc_assp_receiver_handle_app (self->receiver, &app, self->now);
  drain (self);
  return drop;
}

static void
announce (Fixture *self)
{
  describe (self);
  self->session_number++;
  for (unsigned j = 0; j < self->streams.count; j++) {
    uint32_t ssrc = self->ssrc + j;
    MccAsspApp app = { .ssrc = ssrc, .subtype = MCC_APP_SESSION, .stream = j };
    app.asmp = (MccApp){ .ssrc = ssrc, .subtype = MCC_APP_SESSION };
    app.asmp.session = (MccAppSession){ .number = self->session_number,
      .send_time = mcc_abs_send_time (self->now + self->epoch),
      .target_bps = 1000000 * (j + 1),
      .min_bps = self->floor ? 1000000 * (j + 1) : 1,
      .max_bps = 10000000,
      .start_bps = 150000,
      .session_bandwidth_bps = 1000000,
      .receivers = self->members > 0 ? self->members : 3,
      .suppress_bps = UINT64_MAX,
      .media_ssrc = ssrc,
      .payload_type = 96,
      .clock_rate = 90000 };
    mcc_assp_receiver_handle_app (self->receiver, &app, self->now);
    drain (self);
  }
}

/* All get other SSRCs (RFC 3550 8.2); the description names one that it comes from still. */
G_GNUC_UNUSED static void
rename_streams (Fixture *self)
{
  self->ssrc += 0x100;
  for (unsigned j = 0; j < 3; j++)
    self->streams.stream[j].ssrc = self->ssrc + j;
  MccAsspApp app = { .ssrc = self->ssrc - 0x100 + 1, .subtype = MCC_ASSP_STREAMS };
  self->streams.stream[1].ssrc = app.ssrc;
  self->streams.number++;
  app.streams = self->streams;
  g_assert_cmpint (
      mcc_assp_receiver_handle_app (self->receiver, &app, self->now), ==, MCC_DROP_NONE);
  self->streams.stream[1].ssrc = self->ssrc + 1;
}

/* What the sender measured from our newest report. */
static void
tell_rtt (Fixture *self)
{
  if (self->reports == 0)
    return;
  uint32_t ssrc = self->ssrc + self->report_stream;
  MccAsspApp app = { .ssrc = ssrc, .subtype = MCC_APP_RTT, .stream = self->report_stream };
  app.asmp = (MccApp){ .ssrc = ssrc, .subtype = MCC_APP_RTT };
  app.asmp.rtt
      = (MccAppRttList){ .count = 1, .entry = { { OURS, self->report.number, 30 * MCC_MSECOND } } };
  mcc_assp_receiver_handle_app (self->receiver, &app, self->now);
  drain (self);
}

static void
send_packet (Fixture *self, unsigned j, MccTime sent)
{
  MccRtpPacket packet = { .ssrc = self->ssrc + j,
    .seq = ++self->seq[j],
    .bytes = 1250 * (j + 1) - self->less,
    .has_send_time = true,
    .send_time = mcc_abs_send_time (sent + self->epoch) };
  bool lost = self->lost_each > 0 && self->seq[j] % self->lost_each == 0;
  if (lost || (self->lossy && self->seq[j] % 2 == 0))
    return;
  MccDrop drop = mcc_assp_receiver_handle_rtp (self->receiver, j, &packet, NULL, self->now);
  drain (self);
  if (drop == MCC_DROP_NONE && j == self->to && self->joined[j] && self->cuts)
    mcc_assp_receiver_handle_cut (self->receiver, j, self->now);
  drain (self);
}

/* While they are asked for, each second one leaves with the one before it: a fast link has both
 * come so, one of the stream's rate as it has all. */
static void
send_step (Fixture *self, unsigned j, bool pair)
{
  bool asked
      = self->unasked || (self->reports > 0 && (self->report.more_flags & MCC_REPORT_PAIRS) != 0);
  bool second = self->early[j];
  self->early[j] = self->pairs != NO_PAIRS && asked && pair;
  if (second && self->pairs == PAIRS_COME_TOGETHER)
    return;
  send_packet (self, j, second ? self->next_send - STEP : self->next_send);
  if (self->early[j] && self->pairs == PAIRS_COME_TOGETHER)
    send_packet (self, j, self->next_send);
}

static void
run (Fixture *self, MccTime length)
{
  for (MccTime end = self->now + length; self->now < end;) {
    self->now += STEP;
    if (self->now >= self->announced && !self->silent) {
      self->announced = self->now + 500 * MCC_MSECOND;
      announce (self);
      tell_rtt (self);
    }
    for (; self->next_send + WIRE + self->queue <= self->now; self->next_send += STEP) {
      bool pair = ++self->sent % (MCC_SECOND / STEP) == 0;
      for (unsigned j = 0; j < self->streams.count; j++)
        if (self->joined[j] && !self->dead[j])
          send_step (self, j, pair);
    }
    if (mcc_assp_receiver_next_timeout (self->receiver) <= self->now)
      mcc_assp_receiver_handle_timeout (self->receiver, self->now);
    drain (self);
  }
}

/* In steps of 10 ms, each after @each. */
G_GNUC_UNUSED static void
queue_to (Fixture *self, MccTime queue, MccTime each)
{
  while (self->queue != queue) {
    self->queue = self->queue < queue ? self->queue + STEP : self->queue - STEP;
    run (self, each);
  }
}

G_GNUC_UNUSED static void
lock (Fixture *self, int stream)
{
  mcc_assp_receiver_set_lock (self->receiver, stream, self->now);
  drain (self);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccasspreceiverprivate.h"
#include "mccjitter.h"

#define START (4321 * MCC_SECOND + 7)
#define STEP (10 * MCC_MSECOND)
#define LEAVE MCC_SECOND
#define SENDER 0x1000u
#define OURS 77u

/* A receiver, and a sender that sends every stream that is joined. */
typedef struct {
  MccAsspReceiver *receiver;
  MccTime now, announced;
  MccAsspStreams streams;
  uint32_t ssrc, session_number;
  uint16_t seq[MCC_ASSP_STREAMS_MAX];
  bool joined[MCC_ASSP_STREAMS_MAX];
  bool dead[MCC_ASSP_STREAMS_MAX]; /* sends nothing */
  bool silent;                     /* no announcement either */
  bool lossy;                      /* every second packet is lost */
  bool cuts;                       /* at the first packet of what is joined */
  unsigned to;                     /* joined last */
  uint32_t members;                /* of each stream, as announced; 0: 3 */
  MccTime queue;
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
  Fixture self = { .now = START, .announced = START, .ssrc = SENDER, .cuts = true };
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
      .send_time = mcc_abs_send_time (self->now),
      .target_bps = 1000000 * (j + 1),
      .min_bps = 1,
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
send_packet (Fixture *self, unsigned j)
{
  MccRtpPacket packet = { .ssrc = self->ssrc + j,
    .seq = ++self->seq[j],
    .bytes = 1250 * (j + 1),
    .has_send_time = true,
    .send_time = mcc_abs_send_time (self->now - 15 * MCC_MSECOND - self->queue) };
  if (self->lossy && self->seq[j] % 2 == 0)
    return;
  MccDrop drop = mcc_assp_receiver_handle_rtp (self->receiver, j, &packet, NULL, self->now);
  drain (self);
  if (drop == MCC_DROP_NONE && j == self->to && self->cuts)
    mcc_assp_receiver_handle_cut (self->receiver, self->now);
  drain (self);
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
    for (unsigned j = 0; j < self->streams.count; j++)
      if (self->joined[j] && !self->dead[j])
        send_packet (self, j);
    if (mcc_assp_receiver_next_timeout (self->receiver) <= self->now)
      mcc_assp_receiver_handle_timeout (self->receiver, self->now);
    drain (self);
  }
}

static unsigned
stream_of (const Fixture *self)
{
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (self->receiver, &stats);
  return stats.stream;
}

static void
lock (Fixture *self, int stream)
{
  mcc_assp_receiver_set_lock (self->receiver, stream, self->now);
  drain (self);
}

/* It knows nothing but the RTCP group, and learns the rest there. */
static void
test_start (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  self.silent = true;
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 0);
  self.silent = false;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  g_assert_cmpuint (self.join.stream, ==, 0);
  g_assert_cmpuint (self.join.group.address_offset, ==, 1);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  g_assert_cmpint (self.change.reason, ==, MCC_ASSP_REASON_START);
  g_assert_cmpuint (self.ladders, ==, 1);
  mcc_assp_receiver_free (self.receiver);
}

static void
test_lock (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  g_assert_cmpuint (stream_of (&self), ==, 1);
  lock (&self, 99); /* the highest there is */
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  g_assert_cmpuint (self.joins, ==, 2);
  mcc_assp_receiver_free (self.receiver);
}

/* The old stream hears that we go, the new one that we are there, before any packet of it: its
 * encoder may idle. */
static void
test_reports (void)
{
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    Fixture self = fixture_new (variant, 0);
    run (&self, 10 * MCC_SECOND);
    g_assert_cmpuint (self.limits, >, 0);
    self.dead[1] = true;
    lock (&self, 1);
    g_assert_cmpuint (self.leaving_stream, ==, 0);
    g_assert_true (self.leaving.flags & MCC_REPORT_LEAVING);
    run (&self, 300 * MCC_MSECOND);
    g_assert_true (self.has_first);
    g_assert_cmpuint (self.report_stream, ==, 1);
    g_assert_true (self.first.flags & MCC_REPORT_NO_LIMIT);
    g_assert_true (self.first.flags & MCC_REPORT_KEY_UNIT);
    g_assert_cmpuint (self.first.highest_seq, ==, 0); /* of another stream it would be forged */
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Half of the packets are lost from the begin of the switch until the old stream is gone: neither
 * losses nor a limit. */
static void
test_gap (void)
{
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    Fixture self = fixture_new (variant, 0);
    run (&self, 10 * MCC_SECOND);
    uint64_t rate_bps = mcc_asmp_receiver_rate_bps (mcc_assp_receiver_asmp (self.receiver));
    unsigned limits = self.limits;
    self.seq[1] = (uint16_t)(self.seq[0] - 50); /* of a space of its own: not late */
    lock (&self, 1);
    self.lossy = true;
    run (&self, LEAVE);
    self.lossy = false;
    run (&self, 450 * MCC_MSECOND);
    g_assert_cmpuint (stream_of (&self), ==, 1);
    g_assert_cmpuint (self.limits, ==, limits);
    MccAsmpReceiverStats stats;
    mcc_asmp_receiver_get_stats (mcc_assp_receiver_asmp (self.receiver), self.now, &stats);
    g_assert_cmpuint (stats.packets_lost, ==, 0);
    g_assert_cmpuint (stats.duplicates + stats.reordered, ==, 0);
    g_assert_cmpfloat (stats.loss_ratio, ==, 0.0);
    if (variant == MCC_VARIANT_PUBLISHED)
      g_assert_cmpuint (stats.estimated_bps, ==, rate_bps);
    run (&self, 5 * MCC_SECOND);
    g_assert_cmpuint (self.limits, >, limits);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* The next switch waits until the last one's leave has had its effect. */
static void
test_leave_latency (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 5 * MCC_SECOND);
  for (unsigned i = 1; i <= 20; i++) {
    unsigned joins = self.joins;
    lock (&self, (int)(i % 3));
    while (self.joins == joins) {
      MccTime left = self.left;
      run (&self, STEP);
      if (self.joins > joins && i > 1) {
        g_assert_cmpuint (self.now - left, >=, LEAVE);
        g_assert_cmpuint (self.now - left, <=, LEAVE + 2 * MCC_SECOND);
      }
    }
    while (self.switched <= i)
      run (&self, STEP);
  }
  g_assert_cmpuint (self.failed, ==, 0);
  g_assert_cmpuint (self.leaves, ==, 20);
  mcc_assp_receiver_free (self.receiver);
}

/* No room for both: the old one is left first. */
static void
test_no_room (void)
{
  Fixture self = fixture_new (MCC_VARIANT_PUBLISHED, 0);
  run (&self, MCC_SECOND);
  unsigned leaves = self.leaves;
  lock (&self, 2);
  g_assert_cmpuint (self.leaves, ==, leaves + 1);
  g_assert_false (self.join.overlap);
  g_assert_cmpuint (self.leave.stream, ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* Room: both are received until the host has cut over. */
static void
test_overlap (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 20 * MCC_SECOND);
  g_assert_cmpuint (
      mcc_asmp_receiver_potential_bps (mcc_assp_receiver_asmp (self.receiver)), ==, UINT64_MAX);
  self.cuts = false;
  lock (&self, 1);
  g_assert_true (self.join.overlap);
  run (&self, 2 * MCC_SECOND);
  g_assert_cmpuint (self.leaves, ==, 0);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  g_assert_cmpuint (self.key_units, >=, 2); /* no picture comes: asked for again */
  mcc_assp_receiver_handle_cut (self.receiver, self.now);
  drain (&self);
  g_assert_cmpuint (self.leaves, ==, 1);
  g_assert_cmpuint (self.leave.stream, ==, 0);
  g_assert_cmpuint (stream_of (&self), ==, 1);
  g_assert_cmpuint (self.change.duration, ==, 2 * MCC_SECOND);
  unsigned key_units = self.key_units;
  run (&self, 3 * MCC_SECOND);
  g_assert_cmpuint (self.key_units, ==, key_units);
  mcc_assp_receiver_free (self.receiver);
}

/* A stream that does not come: back to the old one, which an overlap has never left. */
static void
test_dead (void)
{
  for (unsigned room = 0; room < 2; room++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    run (&self, room ? 20 * MCC_SECOND : MCC_SECOND);
    self.dead[1] = true;
    unsigned switched = self.switched;
    lock (&self, 1);
    g_assert_cmpint (self.join.overlap, ==, room);
    lock (&self, -1);
    run (&self, MCC_ASSP_JOIN_TIMEOUT + MCC_SECOND);
    g_assert_cmpuint (self.failed, ==, 1);
    g_assert_cmpuint (self.failure.from, ==, 1);
    g_assert_cmpuint (self.failure.stream, ==, 0);
    g_assert_cmpuint (stream_of (&self), ==, 0);
    g_assert_cmpuint (self.switched, ==, switched + 1 - room);
    g_assert_true (self.joined[0] && !self.joined[1]);
    g_assert_cmpuint (self.report_stream, ==, 0);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* What is shown falls silent: another stream while the sender lives, none when it is gone too. */
static void
test_dies (void)
{
  static const struct {
    unsigned stream;
    int lock;
    bool silent, leaves;
  } table[] = { { 1, -1, false, true }, { 2, -1, false, true }, { 0, -1, false, true },
    { 1, 1, false, false }, { 0, -1, true, false } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, (int)table[row].stream);
    run (&self, 5 * MCC_SECOND);
    g_assert_cmpuint (stream_of (&self), ==, table[row].stream);
    lock (&self, table[row].lock);
    self.dead[table[row].stream] = true;
    self.silent = table[row].silent;
    run (&self, 4 * MCC_SECOND);
    g_assert_cmpint (stream_of (&self) != table[row].stream, ==, table[row].leaves);
    if (table[row].stream == 0 && table[row].leaves)
      g_assert_cmpint (self.change.reason, ==, MCC_ASSP_REASON_LADDER);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Neither where it went nor where it was: the lowest, for as long as it takes. */
static void
test_all_dead (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  run (&self, MCC_SECOND);
  self.dead[0] = self.dead[1] = self.dead[2] = true;
  lock (&self, 2);
  lock (&self, -1);
  run (&self, 30 * MCC_SECOND);
  g_assert_cmpuint (self.failed, ==, 2);
  g_assert_true (self.joined[0] && !self.joined[1] && !self.joined[2]);
  self.dead[0] = false;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* Another sender's description does nothing while ours is there; after it has gone, all begins anew
 * with that one's ladder. */
static void
test_other_sender (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 2);
  run (&self, 5 * MCC_SECOND);
  uint32_t ours = self.ssrc;
  self.ssrc = 0xbad0;
  set_streams (&self, 1);
  g_assert_cmpint (describe (&self), ==, MCC_DROP_OTHER_SENDER);
  self.streams.stream[0].ssrc = 0xbeef; /* it does not even name itself */
  g_assert_cmpint (describe (&self), ==, MCC_DROP_BAD_VALUE);
  g_assert_cmpuint (self.joins, ==, 1);
  self.ssrc = ours;
  set_streams (&self, 3);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  g_assert_cmpuint (self.joins, ==, 1);
  self.silent = self.dead[2] = true;
  run (&self, 3 * MCC_SECOND);
  self.silent = self.dead[2] = false;
  self.ssrc = 0x5000;
  set_streams (&self, 2);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.ladders, >=, 2);
  g_assert_cmpuint (stream_of (&self), ==, 1); /* as locked, as far as there is */
  g_assert_false (self.joined[2]);
  mcc_assp_receiver_free (self.receiver);
}

/* The stream is no more: the highest that is left. Other changes of the ladder disturb nobody. */
static void
test_ladder (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 2);
  run (&self, 5 * MCC_SECOND);
  lock (&self, -1);
  set_streams (&self, 4);
  run (&self, 3 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  set_streams (&self, 2);
  announce (&self);
  g_assert_cmpuint (self.join.stream, ==, 1);
  g_assert_cmpint (self.join.reason, ==, MCC_ASSP_REASON_LADDER);
  run (&self, 3 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 1);
  g_assert_false (self.joined[2]);
  mcc_assp_receiver_free (self.receiver);
}

/* A round that bids to decide in the middle of a switch is let go. */
static void
test_round_in_gap (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 20 * MCC_SECOND); /* nothing limits: it would go up at once */
  self.cuts = false;
  lock (&self, 1);
  lock (&self, -1);
  self.streams.flags = MCC_ASSP_DECIDE;
  for (unsigned i = 0; i < 5; i++) {
    self.streams.round++;
    run (&self, MCC_SECOND);
    g_assert_cmpuint (self.joins, ==, 2);
  }
  mcc_assp_receiver_handle_cut (self.receiver, self.now);
  drain (&self);
  run (&self, 10 * MCC_SECOND); /* the number is an old one by now */
  g_assert_cmpuint (self.joins, ==, 2);
  self.streams.round++;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 3);
  g_assert_cmpuint (self.join.stream, ==, 2);
  g_assert_cmpint (self.join.reason, ==, MCC_ASSP_REASON_UP);
  mcc_assp_receiver_free (self.receiver);
}

/* The sender's SSRC of our stream changes (RFC 3550 8.2): no switch, the same stream goes on. */
static void
test_renamed (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 5 * MCC_SECOND);
  unsigned limits = self.limits;
  self.ssrc += 0x100; /* of stream 0; the description names an SSRC that it comes from */
  for (unsigned j = 0; j < 3; j++)
    self.streams.stream[j].ssrc = self.ssrc + j;
  MccAsspApp app = { .ssrc = self.ssrc - 0x100 + 1, .subtype = MCC_ASSP_STREAMS };
  self.streams.stream[1].ssrc = app.ssrc;
  self.streams.number++;
  app.streams = self.streams;
  g_assert_cmpint (mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_NONE);
  self.streams.stream[1].ssrc = self.ssrc + 1;
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  g_assert_cmpuint (self.switched, ==, 1);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  g_assert_cmpuint (self.limits, >, limits);
  MccAsmpReceiverStats stats;
  mcc_asmp_receiver_get_stats (mcc_assp_receiver_asmp (self.receiver), self.now, &stats);
  g_assert_cmpuint (stats.source_ssrc, ==, self.ssrc);
  g_assert_cmpuint (stats.received_bps, >, 900000);
  mcc_assp_receiver_free (self.receiver);
}

/* Our own SSRC: packets with it are ours, come back from the network. */
static void
test_own (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, MCC_SECOND);
  MccAsspApp app = { .ssrc = OURS, .subtype = MCC_APP_REPORT };
  g_assert_cmpint (mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_OWN);
  mcc_assp_receiver_set_ssrc (self.receiver, OURS + 1);
  app.ssrc = OURS + 1;
  g_assert_cmpint (mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_OWN);
  mcc_assp_receiver_free (self.receiver);
}

/* A report of a fellow in @stream. */
static void
hear (Fixture *self, unsigned stream, const MccAppReport *report)
{
  MccAsspApp app = { .ssrc = 4711, .subtype = MCC_APP_REPORT, .stream = stream };
  app.asmp = (MccApp){ .ssrc = app.ssrc, .subtype = MCC_APP_REPORT, .report = *report };
  mcc_assp_receiver_handle_app (self->receiver, &app, self->now);
}

/* What a fellow's up does to us is waited for, till it is back or settled; not again and again. */
static void
test_trial (void)
{
  static const struct {
    const char *name;
    struct {
      MccTime at; /* from the begin */
      unsigned stream;
    } other[4];
    MccTime patient_until; /* 0: not at all */
  } table[] = {
    { "goes up", { { 0, 1 }, { MCC_SECOND, 2 } }, 5 * MCC_SECOND },
    { "and comes back", { { 0, 1 }, { MCC_SECOND, 2 }, { 3 * MCC_SECOND, 1 } }, 7 * MCC_SECOND },
    { "and back late", { { 0, 1 }, { MCC_SECOND, 2 }, { 6 * MCC_SECOND, 1 } }, 5 * MCC_SECOND },
    { "goes down", { { 0, 1 }, { MCC_SECOND, 0 } }, 0 },
    { "comes from below", { { 0, 0 }, { MCC_SECOND, 1 } }, 0 },
    { "was up before we knew", { { MCC_SECOND, 2 } }, 0 },
    { "again at once",
        { { 0, 1 }, { MCC_SECOND, 2 }, { 6 * MCC_SECOND, 1 }, { 7 * MCC_SECOND, 2 } },
        5 * MCC_SECOND },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    MccTime last = 0;
    g_test_message ("%s", table[row].name);
    run (&self, 5 * MCC_SECOND);
    MccTime begin = self.now;
    guint next = 0;
    while (self.now < begin + 12 * MCC_SECOND) {
      while (next < 4 && (next == 0 || table[row].other[next].at > 0)
             && self.now >= begin + table[row].other[next].at) {
        hear (&self, table[row].other[next].stream, &(MccAppReport){ .number = next + 1 });
        next++;
      }
      if (mcc_assp_receiver_is_patient (self.receiver))
        last = self.now - begin;
      run (&self, 100 * MCC_MSECOND);
    }
    if (table[row].patient_until == 0)
      g_assert_cmpuint (last, ==, 0);
    else
      g_assert_cmpfloat_with_epsilon (
          mcc_time_to_seconds (last), mcc_time_to_seconds (table[row].patient_until), 0.25);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* One who goes down takes along who suffers with it, not who suffers for itself later. */
static void
test_led (void)
{
  static const struct {
    MccTime losses; /* from the begin, for 300 ms; the fellow goes after 2 s */
    bool led;
  } table[] = { { MCC_SECOND, true }, { 2200 * MCC_MSECOND, true }, { 4 * MCC_SECOND, false } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    bool led = false, gone = false;
    run (&self, 5 * MCC_SECOND);
    MccTime begin = self.now;
    hear (&self, 1, &(MccAppReport){ .number = 1 });
    while (self.now < begin + 8 * MCC_SECOND) {
      MccTime t = self.now - begin;
      self.lossy = t >= table[row].losses && t < table[row].losses + 300 * MCC_MSECOND;
      if (t >= 2 * MCC_SECOND && !gone) {
        hear (&self, 0, &(MccAppReport){ .number = 2 });
        gone = true;
      }
      led = led || mcc_assp_receiver_is_led (self.receiver);
      run (&self, 100 * MCC_MSECOND);
    }
    g_test_message ("losses after %.1f s", mcc_time_to_seconds (table[row].losses));
    g_assert_cmpint (led, ==, table[row].led);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Many behind one link move together: no report of each in its queue. */
static void
test_crowd (void)
{
  for (unsigned crowd = 0; crowd < 2; crowd++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    self.members = crowd ? 100 : 10;
    run (&self, 15 * MCC_SECOND);
    unsigned before = self.reports;
    lock (&self, 1);
    run (&self, 200 * MCC_MSECOND);
    g_assert_cmpuint (self.leaves, ==, 1);
    g_assert_cmpuint (self.reports - before, ==, crowd ? 0 : 1); /* that it leaves */
    run (&self, 20 * MCC_SECOND);
    g_assert_true (self.has_first);
    g_assert_cmpuint (self.report_stream, ==, 1);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* One says that it is in @stream, behind a queue of @queue, @away from where our paths part. */
static void
hear_company (
    Fixture *self, unsigned stream, uint32_t flags, uint64_t bps, MccTime queue, MccTime away)
{
  hear (self, stream,
      &(MccAppReport){ .number = 1,
          .flags = MCC_REPORT_RTT_MEASURED | MCC_REPORT_ECHO | flags,
          .rate_bps = bps,
          .queue_delay = queue,
          .rtt = 120 * MCC_MSECOND,
          .echo = mcc_abs_send_time (self->now - 15 * MCC_MSECOND - self->queue - away) });
}

/* A stream that one behind the same queue is in costs our link nothing. */
static void
test_company (void)
{
  static const struct {
    const char *name;
    unsigned stream, more_flags;
    uint64_t bps;
    MccTime queue, away;
    bool joins;
  } table[] = {
    { "near", 1, 0, 2500000, 60 * MCC_MSECOND, 0, true },
    { "and two streams up", 2, 0, 3500000, 60 * MCC_MSECOND, 0, true },
    { "far away", 1, 0, 2500000, 60 * MCC_MSECOND, 80 * MCC_MSECOND, false },
    { "behind another queue", 1, 0, 2500000, 120 * MCC_MSECOND, 0, false },
    { "has just come", 1, MCC_REPORT_NO_LIMIT, 2500000, 60 * MCC_MSECOND, 0, false },
    { "leaves", 1, MCC_REPORT_LEAVING, 2500000, 60 * MCC_MSECOND, 0, false },
    { "has trouble there", 1, 0, 1500000, 60 * MCC_MSECOND, 0, false },
    { "no queue stands", 1, 0, 2500000, 0, 0, false },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
    run (&self, 5 * MCC_SECOND);
    self.queue = table[row].queue > 0 ? 60 * MCC_MSECOND : 0;
    run (&self, 2 * MCC_SECOND);
    g_assert_cmpuint (self.joins, ==, 1);
    g_test_message ("%s", table[row].name);
    hear_company (&self, table[row].stream, table[row].more_flags, table[row].bps, table[row].queue,
        table[row].away);
    run (&self, MCC_SECOND);
    g_assert_cmpuint (self.joins, ==, table[row].joins ? 2 : 1);
    g_assert_cmpuint (self.join.stream, ==, table[row].joins ? table[row].stream : 0);
    g_assert_cmpint (self.join.overlap, ==, table[row].joins);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Once in 20 s, where it was in vain: company may have another bottleneck after all. */
static void
test_company_again (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  MccTime first = 0, second = 0;
  run (&self, 5 * MCC_SECOND);
  self.queue = 60 * MCC_MSECOND;
  run (&self, 2 * MCC_SECOND);
  for (unsigned i = 0; i < 400 && second == 0; i++) {
    hear_company (&self, 1, 0, 2500000, self.queue, 0);
    run (&self, 100 * MCC_MSECOND);
    if (self.joins == 2 && first == 0) {
      first = self.now;
      lock (&self, 0);
    }
    if (first > 0 && self.joins == 3)
      lock (&self, -1);
    second = self.joins == 4 ? self.now : 0;
  }
  g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (second - first), 22.0, 3.0);
  mcc_assp_receiver_free (self.receiver);
}

static void
test_leave (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  MccAppReport report;
  unsigned stream;
  run (&self, 5 * MCC_SECOND);
  mcc_assp_receiver_leave (self.receiver, &stream, &report, self.now);
  g_assert_cmpuint (stream, ==, 1);
  g_assert_true (report.flags & MCC_REPORT_LEAVING);
  g_assert_cmpuint (report.number, ==, self.report.number + 1);
  mcc_assp_receiver_free (self.receiver);
}

static void
test_bad_factors (void)
{
  MccAsspReceiverConfig config = { .factors = { 0.3, 0.5, 0.8, 1.2 }, .lock_stream = -1 };
  g_assert_null (mcc_assp_receiver_new (&config, START));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-receiver/learns-all-from-the-rtcp-group", test_start);
  g_test_add_func ("/assp-receiver/lock", test_lock);
  g_test_add_func ("/assp-receiver/reports-say-where-it-is", test_reports);
  g_test_add_func ("/assp-receiver/nothing-is-measured-in-the-gap", test_gap);
  g_test_add_func ("/assp-receiver/respects-the-leave-latency", test_leave_latency);
  g_test_add_func ("/assp-receiver/no-room-no-overlap", test_no_room);
  g_test_add_func ("/assp-receiver/overlap-until-the-cut", test_overlap);
  g_test_add_func ("/assp-receiver/comes-back-from-a-dead-stream", test_dead);
  g_test_add_func ("/assp-receiver/leaves-a-stream-that-died", test_dies);
  g_test_add_func ("/assp-receiver/falls-back-to-the-lowest", test_all_dead);
  g_test_add_func ("/assp-receiver/one-sender-at-a-time", test_other_sender);
  g_test_add_func ("/assp-receiver/ladder-without-its-stream", test_ladder);
  g_test_add_func ("/assp-receiver/no-decision-in-the-gap", test_round_in_gap);
  g_test_add_func ("/assp-receiver/another-ssrc-is-no-other-stream", test_renamed);
  g_test_add_func ("/assp-receiver/own-packets", test_own);
  g_test_add_func ("/assp-receiver/waits-for-a-fellows-trial", test_trial);
  g_test_add_func ("/assp-receiver/led-by-who-suffers-with-it", test_led);
  g_test_add_func ("/assp-receiver/a-crowd-does-not-report-at-once", test_crowd);
  g_test_add_func ("/assp-receiver/goes-where-its-link-goes-anyway", test_company);
  g_test_add_func ("/assp-receiver/goes-there-again-later", test_company_again);
  g_test_add_func ("/assp-receiver/last-report", test_leave);
  g_test_add_func ("/assp-receiver/factors-out-of-range", test_bad_factors);
  return g_test_run ();
}

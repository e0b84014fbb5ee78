/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ASMP receiver: the input is a sequence of events. A host drives it as an element would, with
 * streams that lose, jump and restart, senders that lie, and rivals that report anything; the laws
 * of mccasmpreceiver.h are checked after each event. The whole sequence runs twice: the same events
 * make the same receiver.
 */
#include <math.h>

#include "fuzz.h"
#include "mccasmpreceiver.h"
#include "mccjitter.h"
#include "mccrtcp.h"
#include "mccrtt.h"

#define EVENTS_MAX 400
#define SSRCS 8
#define OWN_SSRC 0x9999
#define RATE_MAX_BPS UINT64_C (100000000000)
#define ACTIONS_MAX 64          /* in one drain */
#define TIMEOUTS_PER_SECOND 100 /* of virtual time; the finest timer has 100 ms */

typedef struct {
  FuzzInput in;
  MccAsmpReceiver *receiver;
  MccAsmpReceiverConfig config;
  MccTime now, last_report;
  uint32_t report_number;
  uint32_t following; /* by NEW_SOURCE */
  uint16_t seq[SSRCS];
  uint32_t session_number[SSRCS];
  uint64_t reports, passed;
  uint64_t dropped[MCC_DROP_COUNT];
  uint64_t hash;
} Host;

static void
note (Host *self, uint64_t value)
{
  self->hash = fuzz_hash (self->hash, value);
}

static void
check_report (Host *self, const MccAppReport *report)
{
  MccApp app = { .ssrc = self->config.ssrc, .subtype = MCC_APP_REPORT, .report = *report };
  static MccApp again;
  uint8_t data[MCC_APP_REPORT_BYTES];

  CHECK (report->number == self->report_number + 1);
  self->report_number = report->number;
  CHECK (report->loss_ratio >= 0.0 && report->loss_ratio <= 1.0);
  CHECK (report->rtt >= MCC_RTT_FLOOR && report->rtt <= MCC_RTT_MAX);
  CHECK (report->rate_bps <= RATE_MAX_BPS);
  CHECK (report->rate_bps > 0 || (report->flags & MCC_REPORT_NO_LIMIT));
  CHECK (!(report->flags & MCC_REPORT_ECHO) || report->hold < 60 * MCC_SECOND);
  CHECK (mcc_app_encode (&app, data, sizeof data) == sizeof data);
  CHECK (mcc_app_decode (data, sizeof data, &again) == MCC_DROP_NONE);
  for (size_t i = 0; i < sizeof data; i++)
    note (self, data[i]);
}

static void
check_action (Host *self, const MccReceiverAction *action)
{
  note (self, action->type);
  switch (action->type) {
    case MCC_RECEIVER_SEND_REPORT:
      CHECK (self->last_report == MCC_TIME_NONE
             || self->now - self->last_report >= MCC_RTCP_MIN_INTERVAL);
      self->last_report = self->now;
      self->reports++;
      check_report (self, &action->report);
      break;
    case MCC_RECEIVER_NEW_SOURCE:
      CHECK (self->config.source_ssrc == 0 || action->ssrc == self->config.source_ssrc);
      self->following = action->ssrc;
      note (self, action->ssrc);
      break;
    case MCC_RECEIVER_SOURCE_LOST:
    case MCC_RECEIVER_OTHER_SENDER:
      note (self, action->ssrc);
      break;
    case MCC_RECEIVER_SESSION:
      CHECK (action->session != NULL);
      note (self, action->session->number);
      break;
    case MCC_RECEIVER_CEASE:
      CHECK (action->breaker != MCC_BREAKER_CLOSED);
      note (self, action->breaker);
      break;
    case MCC_RECEIVER_RATE:
      CHECK (action->rate_bps <= RATE_MAX_BPS);
      note (self, action->rate_bps);
      break;
    default:
      CHECK (false);
  }
}

static void
drain (Host *self)
{
  MccReceiverAction action;
  MccTraceEvent event;
  unsigned count = 0;

  while (mcc_asmp_receiver_poll (self->receiver, &action)) {
    CHECK (++count <= ACTIONS_MAX);
    check_action (self, &action);
  }
  for (count = 0; mcc_asmp_receiver_poll_trace (self->receiver, &event);) {
    CHECK (++count <= MCC_TRACE_RING);
    CHECK (event.time <= self->now);
    CHECK (!isnan (event.x) && !isnan (event.y) && !isnan (event.z));
  }
}

static void
check_laws (Host *self)
{
  MccAsmpReceiverStats stats;

  mcc_asmp_receiver_get_stats (self->receiver, self->now, &stats);
  CHECK (stats.loss_ratio >= 0.0 && stats.loss_ratio <= 1.0);
  CHECK (stats.rtt >= MCC_RTT_FLOOR && stats.rtt <= MCC_RTT_MAX);
  CHECK (stats.estimated_bps <= RATE_MAX_BPS);
  CHECK (stats.reports_sent == self->reports);
  CHECK (stats.packets_received <= self->passed);
  for (unsigned i = 0; i < MCC_DROP_COUNT; i++)
    CHECK (stats.dropped[i] >= self->dropped[i]);
  /* Repeats inside an RTT list are counted as stale too; nothing else is counted twice. */
  for (unsigned i = 0; i < MCC_DROP_COUNT; i++)
    CHECK (i == MCC_DROP_STALE || stats.dropped[i] == self->dropped[i]);
  note (self, stats.estimated_bps);
  note (self, stats.packets_lost);
}

/* Until nothing is due: one time-out may be due for several reasons. */
static void
handle_timeout (Host *self)
{
  unsigned calls = 0;

  do {
    mcc_asmp_receiver_handle_timeout (self->receiver, self->now);
    drain (self);
    CHECK (++calls <= 4);
  } while (mcc_asmp_receiver_next_timeout (self->receiver) <= self->now);
}

/* As a host does: what is due before @until is handled at its time. */
static void
advance (Host *self, MccTime by)
{
  MccTime until = self->now + by, next;
  uint64_t timeouts = 0;

  while ((next = mcc_asmp_receiver_next_timeout (self->receiver)) <= until) {
    if (next > self->now)
      self->now = next;
    handle_timeout (self);
    CHECK (++timeouts <= 64 + by / (MCC_SECOND / TIMEOUTS_PER_SECOND));
  }
  self->now = until;
}

static MccDrop
count_drop (Host *self, MccDrop drop)
{
  CHECK ((unsigned)drop < MCC_DROP_COUNT);
  note (self, drop);
  if (drop != MCC_DROP_NONE)
    self->dropped[drop]++;
  return drop;
}

static void
send_packet (Host *self, const MccRtpPacket *packet, uint8_t where)
{
  MccAddress from = { .family = 4, .port = (uint16_t)(5004 + (where & 1)), .bytes = { 10 } };
  MccDrop drop
      = mcc_asmp_receiver_handle_rtp (self->receiver, packet, where < 16 ? NULL : &from, self->now);

  count_drop (self, drop);
  drain (self);
  if (drop == MCC_DROP_NONE) {
    self->passed++;
    CHECK (packet->ssrc == self->following);
  }
}

/* A run of packets: as from a path with delay, jitter and some losses. */
static void
do_stream (Host *self)
{
  FuzzInput *in = &self->in;
  uint8_t who = fuzz_u8 (in) % SSRCS, where = fuzz_u8 (in);
  unsigned count = 1 + fuzz_u8 (in) % 64;
  MccTime gap = fuzz_scale (in, 26), delay = fuzz_scale (in, 30), queue = fuzz_scale (in, 24);
  uint8_t losses = fuzz_u8 (in), bytes = fuzz_u8 (in);

  for (unsigned i = 0; i < count; i++) {
    MccRtpPacket packet = { .ssrc = 0x1000u + who,
      .seq = self->seq[who]++,
      .bytes = 40 + 6u * bytes,
      .has_send_time = bytes % 8 != 0 };

    delay += queue;
    packet.send_time = mcc_abs_send_time (self->now + (64 * MCC_SECOND) - delay % MCC_SECOND);
    if (losses >= 32 && (i * 7 + 3) % losses == 0)
      continue;
    send_packet (self, &packet, where | 16);
    advance (self, gap);
  }
}

static void
do_packet (Host *self)
{
  FuzzInput *in = &self->in;
  uint8_t who = fuzz_u8 (in) % SSRCS, where = fuzz_u8 (in), how = fuzz_u8 (in);
  MccRtpPacket packet = { .ssrc = how == 255 ? fuzz_u32 (in) : 0x1000u + who };

  if (how < 64) /* duplicate, reordered */
    packet.seq = (uint16_t)(self->seq[who] - how % 8);
  else if (how < 128) /* gap */
    packet.seq = self->seq[who] = (uint16_t)(self->seq[who] + fuzz_scale (in, 14));
  else
    packet.seq = (uint16_t)fuzz_take (in, 2);
  packet.bytes = 1 + (uint32_t)fuzz_scale (in, 17) % 65535;
  packet.has_send_time = how & 1;
  packet.send_time = fuzz_u32 (in) & MCC_ABS_SEND_TIME_MASK;
  send_packet (self, &packet, where);
}

static void
do_session (Host *self)
{
  FuzzInput *in = &self->in;
  static MccApp app;
  MccAppSession *session = &app.session;
  uint8_t who = fuzz_u8 (in) % SSRCS, mode = fuzz_u8 (in);
  uint64_t a = fuzz_scale (in, 36), b = fuzz_scale (in, 36);

  memset (&app, 0, sizeof app);
  app.ssrc = mode == 255 ? self->config.ssrc : 0x1000u + who;
  app.subtype = MCC_APP_SESSION;
  session->number = mode < 224 ? ++self->session_number[who] : fuzz_u32 (in);
  session->flags = mode & 3;
  session->send_time = mcc_abs_send_time (self->now + fuzz_scale (in, 30));
  session->min_bps = a < b ? a : b;
  session->max_bps = a < b ? b : a;
  session->target_bps = fuzz_scale (in, 37);
  session->start_bps = fuzz_scale (in, 34);
  session->session_bandwidth_bps = fuzz_scale (in, 40);
  session->suppress_bps = mode & 8 ? fuzz_scale (in, 34) : UINT64_MAX;
  session->receivers = (uint32_t)fuzz_scale (in, 33);
  session->limiting_ssrc = mode & 16 ? self->config.ssrc : 0x2222;
  session->rtt_max = mcc_time_min (fuzz_scale (in, 34), MCC_RTT_MAX);
  session->round = fuzz_u8 (in);
  session->media_ssrc = mode & 4 ? 0x1000u + fuzz_u8 (in) % SSRCS : 0x1000u + who;
  session->payload_type = 255;
  count_drop (self, mcc_asmp_receiver_handle_app (self->receiver, &app, self->now));
}

static void
do_rtt (Host *self)
{
  FuzzInput *in = &self->in;
  static MccApp app;

  memset (&app, 0, sizeof app);
  app.ssrc = 0x1000u + fuzz_u8 (in) % SSRCS;
  app.subtype = MCC_APP_RTT;
  app.rtt.count = 1 + fuzz_u8 (in) % 4;
  for (unsigned i = 0; i < app.rtt.count; i++) {
    uint8_t back = fuzz_u8 (in);
    app.rtt.entry[i].ssrc = back < 224 ? self->config.ssrc : 0x3333;
    app.rtt.entry[i].number = self->report_number - back % 12;
    app.rtt.entry[i].rtt = fuzz_scale (in, 35);
  }
  count_drop (self, mcc_asmp_receiver_handle_app (self->receiver, &app, self->now));
}

static void
do_rival (Host *self)
{
  FuzzInput *in = &self->in;
  static MccApp app;

  memset (&app, 0, sizeof app);
  app.ssrc = 0x4000u + fuzz_u8 (in) % 32;
  app.subtype = MCC_APP_REPORT;
  app.report.flags = fuzz_u8 (in);
  app.report.rate_bps = fuzz_scale (in, 48);
  app.report.rtt = 1 + fuzz_scale (in, 33);
  MccDrop drop = count_drop (self, mcc_asmp_receiver_handle_app (self->receiver, &app, self->now));
  CHECK (drop == (mcc_app_report_plausible (&app.report) ? MCC_DROP_NONE : MCC_DROP_BAD_VALUE));
}

/* Whatever decodes. */
static void
do_raw (Host *self)
{
  FuzzInput *in = &self->in;
  static MccApp app;
  size_t size = fuzz_u8 (in) * 4u;

  size = size < in->left ? size : in->left & ~(size_t)3;
  if (mcc_app_decode (in->data, size, &app) == MCC_DROP_NONE)
    count_drop (self, mcc_asmp_receiver_handle_app (self->receiver, &app, self->now));
  in->data += size;
  in->left -= size;
}

static void
do_event (Host *self)
{
  FuzzInput *in = &self->in;

  switch (fuzz_u8 (in) % 16) {
    case 0:
      advance (self, fuzz_scale (in, 34)); /* up to 32 s */
      break;
    case 1:
      advance (self, fuzz_scale (in, 29));
      break;
    case 2: /* the host was stopped: the timers come late */
      self->now += fuzz_scale (in, 42);
      handle_timeout (self);
      break;
    case 3:
    case 4:
      do_packet (self);
      break;
    case 5:
    case 6:
      do_session (self);
      break;
    case 7:
    case 8:
      do_rtt (self);
      break;
    case 9:
      do_rival (self);
      break;
    case 10:
      mcc_asmp_receiver_handle_bye (self->receiver, 0x1000u + fuzz_u8 (in) % SSRCS, self->now);
      break;
    case 11:
      mcc_asmp_receiver_handle_host_dropped (self->receiver, fuzz_scale (in, 63), self->now);
      break;
    case 12:
      do_raw (self);
      break;
    case 13:
      self->config.ssrc = OWN_SSRC + fuzz_u8 (in) % 2;
      mcc_asmp_receiver_set_ssrc (self->receiver, self->config.ssrc);
      break;
    default:
      do_stream (self);
  }
  drain (self);
  check_laws (self);
}

static void
configure (Host *self)
{
  static const MccLossMeasure *const measures[]
      = { NULL, &mcc_loss_interval, &mcc_loss_lip, &mcc_loss_lap, &mcc_loss_window };
  FuzzInput *in = &self->in;
  uint8_t mode = fuzz_u8 (in);

  self->config.variant = mode & 1 ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED;
  self->config.ssrc = OWN_SSRC;
  self->config.source_ssrc = (mode & 6) == 6 ? 0x1003 : 0;
  self->config.hears_group = mode & 8;
  self->config.report_interval = mode & 16 ? fuzz_scale (in, 33) : 0;
  self->config.compound_bytes = mode & 32 ? (uint32_t)fuzz_scale (in, 11) : 0;
  self->config.seed = fuzz_u8 (in);
  self->config.loss = measures[fuzz_u8 (in) % 5];
  self->config.start_bps = fuzz_scale (in, 34);
  self->now = fuzz_scale (in, 62);
}

static uint64_t
run (const uint8_t *data, size_t size)
{
  Host self = { .in = { data, size }, .last_report = MCC_TIME_NONE, .hash = 14695981039346656037u };
  MccAppReport report;

  configure (&self);
  self.receiver = mcc_asmp_receiver_new (&self.config, self.now);
  CHECK (self.receiver != NULL);
  drain (&self);
  check_laws (&self);
  for (unsigned i = 0; i < EVENTS_MAX && self.in.left > 0; i++)
    do_event (&self);
  if (self.config.seed & 1) /* leaves a silent group, or in the midst of things */
    advance (&self, 30 * MCC_SECOND);
  check_laws (&self);
  mcc_asmp_receiver_leave (self.receiver, &report, self.now);
  check_report (&self, &report);
  CHECK (report.flags & MCC_REPORT_LEAVING);
  /* Nothing is reported any more. */
  self.last_report = MCC_TIME_NONE;
  self.reports = 0;
  advance (&self, 30 * MCC_SECOND);
  CHECK (self.reports == 0);
  mcc_asmp_receiver_free (self.receiver);
  return self.hash;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  uint64_t hash = run (data, size);

  CHECK (run (data, size) == hash);
  return 0;
}

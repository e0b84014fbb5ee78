/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ASMP sender: the input is a sequence of events. A host drives it as an element would, with
 * receivers that lie, move, flood and vanish; the laws of mccasmpsender.h are checked after each
 * event. The whole sequence runs twice: the same events make the same sender.
 */
#include <math.h>

#include "laws.h"
#include "mccjitter.h"
#include "mcckeyunit.h"

#define EVENTS_MAX 400
#define SSRCS 24
#define ADDRESSES 4
#define LISTED 64
#define ACTIONS_MAX 256         /* in one drain */
#define TIMEOUTS_PER_SECOND 250 /* of virtual time; the finest timer has 10 ms */

typedef struct {
  FuzzInput in;
  MccAsmpSender *sender;
  MccAsmpSenderConfig config;
  MccTime now;
  uint64_t min_bps, max_bps, told_bps;
  MccTime key_unit; /* last */
  uint32_t session_number;
  bool has_session, feedback_lost, told_feedback, stopped;
  MccPacing pacing;
  uint32_t number[SSRCS];
  uint32_t sent_seq;
  uint64_t accepted;
  uint64_t dropped[MCC_DROP_COUNT];
  uint64_t hash;
} Host;

static void
note (Host *self, uint64_t value)
{
  self->hash = fuzz_hash (self->hash, value);
}

static uint32_t
ssrc_of (uint8_t byte)
{
  return 0x1000u + byte % SSRCS;
}

static MccAddress
address_of (uint8_t byte)
{
  MccAddress address = { .family = 4, .port = (uint16_t)(5005 + byte % ADDRESSES) };

  address.bytes[0] = 10;
  address.bytes[3] = (uint8_t)(byte % SSRCS);
  return address;
}

static void
check_session (Host *self, const MccSenderAction *action)
{
  static MccApp app, again;
  uint8_t data[2048];
  size_t bytes;

  CHECK (self->config.ssrc != 0);
  CHECK (action->session != NULL && action->rtt != NULL);
  CHECK (!self->has_session || action->session->number == self->session_number + 1);
  self->has_session = true;
  self->session_number = action->session->number;
  CHECK (action->session->target_bps >= self->min_bps);
  CHECK (action->session->target_bps <= self->max_bps);
  CHECK (action->session->min_bps == self->min_bps && action->session->max_bps == self->max_bps);

  /* What the host fills in, and then it can be sent. */
  memset (&app, 0, sizeof app);
  app.ssrc = self->config.ssrc;
  app.subtype = MCC_APP_SESSION;
  app.session = *action->session;
  app.session.payload_type = 96;
  app.session.clock_rate = 90000;
  app.session.send_time = mcc_abs_send_time (self->now);
  bytes = mcc_app_encode (&app, data, sizeof data);
  CHECK (bytes > 0 && mcc_app_decode (data, bytes, &again) == MCC_DROP_NONE);
  for (size_t i = 0; i < bytes; i++)
    note (self, data[i]);
  app.subtype = MCC_APP_RTT;
  app.rtt = *action->rtt;
  bytes = mcc_app_encode (&app, data, sizeof data);
  CHECK (bytes > 0 && mcc_app_decode (data, bytes, &again) == MCC_DROP_NONE);
  for (size_t i = 0; i < bytes; i++)
    note (self, data[i]);
}

static void
check_action (Host *self, const MccSenderAction *action)
{
  note (self, action->type);
  switch (action->type) {
    case MCC_SENDER_TARGET:
      CHECK (action->previous_bps == self->told_bps);
      CHECK (action->target_bps != action->previous_bps);
      self->told_bps = action->target_bps;
      note (self, action->target_bps);
      break;
    case MCC_SENDER_SEND_SESSION:
      check_session (self, action);
      break;
    case MCC_SENDER_RECEIVER:
      CHECK ((unsigned)action->state <= MCC_RECEIVER_QUARANTINED);
      note (self, action->ssrc);
      break;
    case MCC_SENDER_FEEDBACK_LOST:
      CHECK (!self->told_feedback || !self->feedback_lost);
      self->told_feedback = self->feedback_lost = true;
      break;
    case MCC_SENDER_FEEDBACK_FOUND:
      CHECK (!self->told_feedback || self->feedback_lost);
      self->told_feedback = true;
      self->feedback_lost = false;
      break;
    case MCC_SENDER_STOP:
      CHECK (!self->stopped);
      self->stopped = true;
      break;
    case MCC_SENDER_RESUME:
      CHECK (self->stopped);
      self->stopped = false;
      break;
    case MCC_SENDER_KEY_UNIT:
      CHECK (
          self->key_unit == MCC_TIME_NONE || self->now - self->key_unit >= MCC_KEY_UNIT_INTERVAL);
      self->key_unit = self->now;
      break;
    case MCC_SENDER_PACING:
      CHECK (!action->pacing.even || action->pacing.burst > 0);
      CHECK (!mcc_pacing_equal (&action->pacing, &self->pacing));
      self->pacing = action->pacing;
      break;
    default:
      CHECK (false);
  }
}

static void
drain (Host *self)
{
  MccSenderAction action;
  MccTraceEvent event;
  unsigned count = 0;

  while (mcc_asmp_sender_poll (self->sender, &action)) {
    CHECK (++count <= ACTIONS_MAX);
    check_action (self, &action);
  }
  for (count = 0; mcc_asmp_sender_poll_trace (self->sender, &event);) {
    CHECK (++count <= MCC_TRACE_RING);
    CHECK (event.time <= self->now);
    CHECK (!isnan (event.x) && !isnan (event.y) && !isnan (event.z));
  }
}

static void
check_laws (Host *self)
{
  MccAsmpSenderStats stats;
  MccReceiverInfo info[LISTED];
  unsigned count, active = 0;

  mcc_asmp_sender_get_stats (self->sender, self->now, &stats);
  CHECK (stats.target_bps >= self->min_bps && stats.target_bps <= self->max_bps);
  CHECK (stats.target_bps == self->told_bps);
  CHECK (stats.reports >= self->accepted);
  for (unsigned i = 0; i < MCC_DROP_COUNT; i++)
    CHECK (stats.dropped[i] == self->dropped[i]);

  count = mcc_asmp_sender_get_receivers (self->sender, self->now, info, LISTED);
  CHECK (count <= self->config.max_receivers);
  for (unsigned i = 0; i < count; i++) {
    active += info[i].state == MCC_RECEIVER_ACTIVE || info[i].state == MCC_RECEIVER_QUARANTINED;
    CHECK (info[i].loss_ratio >= 0.0 && info[i].loss_ratio <= 1.0);
  }
  CHECK (active == stats.receivers);
  law_sender (self->sender, self->config.max_receivers, self->now);
  /* Nobody who limits is oversent. A rate that is the equation's for an assumed RTT is read as that
   * for the RTT which the sender has measured. */
  bool assumed = count > 0 && !info[0].rtt_measured && info[0].loss_ratio > 0.0;
  if (count > 0 && info[0].state == MCC_RECEIVER_ACTIVE && !info[0].no_limit && !assumed)
    CHECK (stats.target_bps <= info[0].rate_bps || stats.target_bps == self->min_bps);
  note (self, stats.target_bps);
  note (self, stats.receivers);
}

/* Until nothing is due: one expiry may bring another. */
static void
handle_timeout (Host *self)
{
  unsigned calls = 0;

  do {
    mcc_asmp_sender_handle_timeout (self->sender, self->now);
    drain (self);
    CHECK (++calls <= 4);
  } while (mcc_asmp_sender_next_timeout (self->sender) <= self->now);
}

static void
advance (Host *self, MccTime by)
{
  MccTime until = self->now + by, next;
  uint64_t timeouts = 0;

  while ((next = mcc_asmp_sender_next_timeout (self->sender)) <= until) {
    if (next > self->now)
      self->now = next;
    handle_timeout (self);
    CHECK (++timeouts <= 64 + by / (MCC_SECOND / TIMEOUTS_PER_SECOND));
  }
  self->now = until;
}

static void
count_drop (Host *self, MccDrop drop, uint64_t before_bps)
{
  MccAsmpSenderStats stats;

  CHECK ((unsigned)drop < MCC_DROP_COUNT);
  note (self, drop);
  if (drop == MCC_DROP_NONE)
    return;
  self->dropped[drop]++;
  /* What was not used does not raise the rate. */
  mcc_asmp_sender_get_stats (self->sender, self->now, &stats);
  CHECK (stats.target_bps <= before_bps);
}

/* What is due is done, so that a change is the event's. */
static uint64_t
settle (Host *self)
{
  MccAsmpSenderStats stats;

  handle_timeout (self);
  mcc_asmp_sender_get_stats (self->sender, self->now, &stats);
  return stats.target_bps;
}

static double
take_ratio (FuzzInput *in)
{
  uint8_t byte = fuzz_u8 (in);

  if (byte < 4) {
    static const double odd[] = { -1.0, 1.5, (double)NAN, (double)INFINITY };
    return odd[byte];
  }
  return byte < 100 ? 0.0 : ldexp (1.0, -(byte % 20));
}

static void
do_report (Host *self)
{
  FuzzInput *in = &self->in;
  uint8_t who = fuzz_u8 (in), where = fuzz_u8 (in), mode = fuzz_u8 (in);
  MccAddress from = address_of ((uint8_t)(who + (where < 224 ? 0 : where)));
  MccAppReport report;
  uint64_t before_bps;
  MccDrop drop;

  memset (&report, 0, sizeof report);
  report.number = mode < 200   ? ++self->number[who % SSRCS]
                  : mode < 230 ? self->number[who % SSRCS]
                               : (uint32_t)fuzz_scale (in, 33);
  if (mode >= 250)
    self->number[who % SSRCS] = report.number;
  report.flags = fuzz_u8 (in);
  report.rate_bps = fuzz_scale (in, 50);
  report.received_bps = fuzz_scale (in, 50);
  report.loss_ratio = mode % 16 == 0 ? take_ratio (in) : (fuzz_u8 (in) & 15) / 100.0;
  report.rtt = fuzz_scale (in, 36);
  report.jitter = fuzz_scale (in, 40);
  report.queue_delay = report.jitter / 2;
  report.highest_seq = self->sent_seq;
  report.hold = fuzz_scale (in, 38);
  report.echo = (mcc_abs_send_time (self->now - mcc_time_min (self->now, report.hold + report.rtt))
                    + (mode & 1 ? fuzz_u32 (in) : 0))
                & MCC_ABS_SEND_TIME_MASK;

  before_bps = settle (self);
  drop = mcc_asmp_sender_handle_report (
      self->sender, ssrc_of (who), &report, mode % 32 == 1 ? NULL : &from, self->now);
  count_drop (self, drop, before_bps);
  self->accepted += drop == MCC_DROP_NONE;
  if (self->config.ssrc == ssrc_of (who))
    CHECK (drop == MCC_DROP_OWN);
}

static void
do_plain_report (Host *self)
{
  FuzzInput *in = &self->in;
  uint8_t who = fuzz_u8 (in), where = fuzz_u8 (in);
  MccAddress from = address_of ((uint8_t)(who + (where < 224 ? 0 : where)));
  double fraction = take_ratio (in);
  MccTime rtt = fuzz_scale (in, 35);
  uint64_t before_bps = settle (self);

  count_drop (self,
      mcc_asmp_sender_handle_plain_report (self->sender, ssrc_of (who),
          &(MccPlainReport){ .fraction_lost = fraction,
              .packets_lost = 20 * (who % 5) - 20,
              .highest_seq = self->sent_seq,
              .rtt = rtt },
          &from, self->now),
      before_bps);
}

static void
do_bye (Host *self)
{
  uint8_t who = fuzz_u8 (&self->in), where = fuzz_u8 (&self->in);
  MccAddress from = address_of ((uint8_t)(who + (where < 224 ? 0 : where)));
  uint64_t before_bps = settle (self);
  MccDrop drop = mcc_asmp_sender_handle_bye (self->sender, ssrc_of (who), &from, self->now);
  MccAsmpSenderStats stats;

  count_drop (self, drop, before_bps);
  /* Whoever leaves, the rate does not leap. */
  mcc_asmp_sender_get_stats (self->sender, self->now, &stats);
  if (self->config.variant == MCC_VARIANT_ENHANCED)
    CHECK (stats.target_bps <= before_bps);
}

static void
do_sent (Host *self)
{
  uint32_t packets = (uint32_t)fuzz_scale (&self->in, 12);
  uint64_t bytes = (40 + fuzz_scale (&self->in, 16)) * packets; /* IP and RTP headers at least */

  self->sent_seq += packets;
  mcc_asmp_sender_handle_sent (self->sender, packets, bytes, self->sent_seq, self->now);
}

static void
do_bounds (Host *self)
{
  uint64_t a = fuzz_scale (&self->in, 36) + 1, b = fuzz_scale (&self->in, 36) + 1;

  self->min_bps = a < b ? a : b;
  self->max_bps = a < b ? b : a;
  mcc_asmp_sender_set_bounds (self->sender, self->min_bps, self->max_bps, self->now);
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
    case 2:
      advance (self, fuzz_scale (in, 30));
      break;
    case 3: /* the host was stopped: the timers come late */
      self->now += fuzz_scale (in, 42);
      handle_timeout (self);
      break;
    case 4:
      do_plain_report (self);
      break;
    case 5:
      do_bye (self);
      break;
    case 6:
      mcc_asmp_sender_handle_key_unit_request (self->sender, self->now);
      break;
    case 7:
    case 8:
      do_sent (self);
      break;
    case 9: {
      MccDrop drop = (MccDrop)(1 + fuzz_u8 (in) % (MCC_DROP_COUNT - 1));
      mcc_asmp_sender_handle_dropped (self->sender, drop, fuzz_u32 (in), self->now);
      self->dropped[drop]++;
      break;
    }
    case 10:
      do_bounds (self);
      break;
    case 11:
      mcc_asmp_sender_set_no_feedback (self->sender, (MccNoFeedback)(fuzz_u8 (in) % 3), self->now);
      break;
    case 12: {
      uint8_t byte = fuzz_u8 (in);
      self->config.ssrc = byte == UINT8_MAX ? 0 : ssrc_of (byte); /* 0: not known any more */
      mcc_asmp_sender_set_ssrc (self->sender, self->config.ssrc, self->now);
      break;
    }
    default:
      do_report (self);
  }
  drain (self);
  check_laws (self);
}

static uint64_t
run (const uint8_t *data, size_t size)
{
  Host self = { .in = { data, size },
    .key_unit = MCC_TIME_NONE,
    .pacing = mcc_pacing_default,
    .hash = 14695981039346656037u };
  FuzzInput *in = &self.in;
  uint8_t mode = fuzz_u8 (in);
  uint64_t a = fuzz_scale (in, 32) + 1, b = fuzz_scale (in, 36) + 1;

  self.config.variant = mode & 1 ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED;
  self.config.no_feedback = (MccNoFeedback)((mode >> 1) % 3);
  self.config.max_receivers = 1 + mode % LISTED;
  self.config.seed = fuzz_u8 (in);
  self.config.ssrc = 0x9999;
  self.config.min_bps = self.min_bps = a < b ? a : b;
  self.config.max_bps = self.max_bps = a < b ? b : a;
  self.config.start_bps = fuzz_scale (in, 36);
  self.config.session_bandwidth_bps = mode & 0x40 ? fuzz_scale (in, 40) : 0;
  self.now = fuzz_scale (in, 62);
  self.sender = mcc_asmp_sender_new (&self.config, self.now);
  CHECK (self.sender != NULL);
  drain (&self);
  check_laws (&self);
  for (unsigned i = 0; i < EVENTS_MAX && in->left > 0; i++)
    do_event (&self);
  advance (&self, 30 * MCC_SECOND);
  check_laws (&self);
  mcc_asmp_sender_free (self.sender);
  return self.hash;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  uint64_t hash = run (data, size);

  CHECK (run (data, size) == hash);
  return 0;
}

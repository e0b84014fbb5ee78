/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * sender_fixture: an ASMP sender in virtual time, which sends a share of its target, and receivers
 * that answer by rule.
 */
#pragma once

#include <glib.h>

#include "mccasmpsender.h"
#include "mccjitter.h"

#define EPOCH (1234567 * MCC_SECOND + 89)
#define PACKET_BYTES 1000
#define STEP (10 * MCC_MSECOND)

typedef struct {
  MccAsmpSender *sender;
  MccTime now;
  double sends;  /* share of the target that is sent; < 0 = -bit/s */
  double queued; /* bytes that the encoder made since the last packet */
  uint32_t seq;
  uint64_t max_step; /* largest single rise of the target seen */
  uint64_t target;   /* of the last action */
  uint32_t target_ssrc;
  uint64_t sum_change;
  unsigned targets, sessions, lost, found, stops, resumes, key_units;
  MccPacing pacing;
  unsigned active, left, timed_out, quarantined;
  MccTime last_session, session_gap_min, session_gap_max;
  double session_bytes; /* IP bytes of all announcements, RTT lists included */
  unsigned whole;       /* announcements with the caps' strings */
  MccTime last_whole, whole_gap_max;
  MccTime last_rise, rise_gap_min, last_key_unit, key_unit_gap_min;
  MccTargetReason reason;
  MccAppSession session;
  MccAppRttList rtt;
  unsigned *answers; /* RTTs returned, by SSRC; may be NULL */
} Fixture;

static inline MccAddress
address_of (unsigned host)
{
  MccAddress address = { .family = 4, .port = 5005 };
  address.bytes[0] = 10;
  address.bytes[1] = (uint8_t)(host >> 16);
  address.bytes[2] = (uint8_t)(host >> 8);
  address.bytes[3] = (uint8_t)host;
  return address;
}

static inline void
note_target (Fixture *self, const MccSenderAction *action)
{
  g_assert_cmpuint (action->target_bps, !=, action->previous_bps);
  g_assert_cmpuint (action->previous_bps, ==, self->target);
  if (action->target_bps > self->target && self->target > 0) {
    self->max_step = MAX (self->max_step, action->target_bps - self->target);
    self->rise_gap_min = MIN (self->rise_gap_min, self->now - self->last_rise);
    self->last_rise = self->now;
  }
  self->target_ssrc = action->ssrc;
  self->target = action->target_bps;
  self->reason = action->reason;
  self->targets++;
}

static inline void
note_strings (Fixture *self)
{
  MccApp app = { .subtype = MCC_APP_SESSION, .session = self->session };
  /* IPv4, UDP, SR and SDES with a CNAME of 16 to 24 bytes */
  self->session_bytes += 28 + 28 + 40 + (double)mcc_app_size (&app);
  if (self->rtt.count > 0)
    self->session_bytes += 16 + 12 * self->rtt.count;
  if (self->session.encoding_name[0] == '\0')
    return;
  if (self->last_whole > 0)
    self->whole_gap_max = MAX (self->whole_gap_max, self->now - self->last_whole);
  self->last_whole = self->now;
  self->whole++;
}

static inline void
note_session (Fixture *self, const MccSenderAction *action)
{
  if (self->last_session > 0) {
    MccTime gap = self->now - self->last_session;
    self->session_gap_min = MIN (self->session_gap_min, gap);
    self->session_gap_max = MAX (self->session_gap_max, gap);
  }
  self->session = *action->session;
  self->rtt = *action->rtt;
  g_assert_cmpuint (self->rtt.count, <=, MCC_APP_RTT_MAX);
  for (unsigned i = 0; i < self->rtt.count && self->answers != NULL; i++)
    self->answers[self->rtt.entry[i].ssrc]++;
  note_strings (self);
  self->last_session = self->now;
  self->sessions++;
}

static inline void
drain (Fixture *self)
{
  MccSenderAction action;
  while (mcc_asmp_sender_poll (self->sender, &action)) {
    switch (action.type) {
      case MCC_SENDER_TARGET:
        note_target (self, &action);
        break;
      case MCC_SENDER_SEND_SESSION:
        note_session (self, &action);
        break;
      case MCC_SENDER_RECEIVER:
        self->active += action.state == MCC_RECEIVER_ACTIVE;
        self->left += action.state == MCC_RECEIVER_LEFT;
        self->timed_out += action.state == MCC_RECEIVER_TIMED_OUT;
        self->quarantined += action.state == MCC_RECEIVER_QUARANTINED;
        break;
      case MCC_SENDER_FEEDBACK_LOST:
        self->lost++;
        break;
      case MCC_SENDER_FEEDBACK_FOUND:
        self->found++;
        break;
      case MCC_SENDER_STOP:
        self->stops++;
        break;
      case MCC_SENDER_RESUME:
        self->resumes++;
        break;
      case MCC_SENDER_KEY_UNIT:
        if (self->last_key_unit > 0)
          self->key_unit_gap_min = MIN (self->key_unit_gap_min, self->now - self->last_key_unit);
        self->last_key_unit = self->now;
        self->key_units++;
        break;
      case MCC_SENDER_PACING:
        self->pacing = action.pacing;
        break;
    }
  }
}

static inline MccAsmpSenderConfig
default_config (MccVariant variant)
{
  return (MccAsmpSenderConfig){ .variant = variant,
    .ssrc = 0x5e4de4,
    .seed = 7,
    .min_bps = 100000,
    .max_bps = 10000000,
    .start_bps = 150000,
    .max_receivers = 4096,
    .ttl = 64 };
}

static inline void
fixture_init (Fixture *self, const MccAsmpSenderConfig *config)
{
  *self = (Fixture){ .now = EPOCH,
    .pacing = mcc_pacing_default,
    .sends = 1.0,
    .rise_gap_min = MCC_TIME_NONE,
    .session_gap_min = MCC_TIME_NONE,
    .key_unit_gap_min = MCC_TIME_NONE };
  self->sender = mcc_asmp_sender_new (config, self->now);
  drain (self);
}

static inline void
fixture_clear (Fixture *self)
{
  mcc_asmp_sender_free (self->sender);
}

/* Time-outs until @until, exactly when they are due, and sending every 10 ms. The machine must not
 * ask for a time-out that has passed again and again. */
static inline void
run_until (Fixture *self, MccTime until)
{
  unsigned spins = 0;
  while (self->now < until) {
    MccTime next = mcc_asmp_sender_next_timeout (self->sender);
    MccTime tick = self->now - self->now % STEP + STEP;
    MccTime at = MIN (MIN (tick, until), MAX (next, self->now));
    spins = at == self->now ? spins + 1 : 0;
    g_assert_cmpuint (spins, <, 4);
    self->now = at;
    if (next <= at)
      mcc_asmp_sender_handle_timeout (self->sender, at);
    if (at == tick) {
      double bps = self->sends < 0.0 ? -self->sends : self->sends * (double)self->target;
      self->queued += bps * 0.01 / 8.0;
      uint32_t packets = (uint32_t)(self->queued / PACKET_BYTES);
      self->queued -= packets * PACKET_BYTES;
      self->seq += packets;
      if (packets > 0)
        mcc_asmp_sender_handle_sent (self->sender, packets, packets * PACKET_BYTES, self->seq, at);
    }
    drain (self);
  }
}

static inline void
run_for (Fixture *self, MccTime time)
{
  run_until (self, self->now + time);
}

/* A receiver with its own report numbers; the address is its number. */
typedef struct {
  uint32_t ssrc;
  unsigned host;
  uint32_t number;
  uint32_t flags, more_flags;
  uint64_t rate_bps;
  MccTime rtt;
  double loss_ratio;
  unsigned ecn; /* MccReportEcn */
  double marked_share;
  uint32_t highest_seq; /* 0: does not say */
  bool queueless;       /* else what limits it is the queue that it holds */
} Peer;

static inline MccDrop
peer_report (Fixture *self, Peer *peer)
{
  MccAddress from = address_of (peer->host);
  MccAppReport report = { .number = peer->number++,
    .flags = peer->flags | (peer->rtt > 0 ? MCC_REPORT_RTT_MEASURED | MCC_REPORT_ECHO : 0),
    .more_flags = peer->more_flags,
    .rate_bps = peer->rate_bps,
    .highest_seq = peer->highest_seq,
    .received_bps = self->target,
    .loss_ratio = peer->loss_ratio,
    .ecn = peer->ecn,
    .marked_share = peer->marked_share,
    .rtt = peer->rtt,
    .queue_delay = peer->queueless ? 0 : 20 * MCC_MSECOND,
    .echo = mcc_abs_send_time (self->now - peer->rtt - 5 * MCC_MSECOND),
    .hold = 5 * MCC_MSECOND };
  MccDrop drop
      = mcc_asmp_sender_handle_report (self->sender, peer->ssrc, &report, &from, self->now);
  drain (self);
  return drop;
}

/* Each of @peers reports every @interval until @until. */
static inline void
run_peers (Fixture *self, Peer *peers, unsigned count, MccTime interval, MccTime time)
{
  MccTime end = self->now + time;
  while (self->now < end) {
    for (unsigned i = 0; i < count; i++) {
      if (peers[i].rate_bps > 0)
        peer_report (self, &peers[i]);
    }
    run_until (self, MIN (end, self->now + interval));
  }
}

static inline uint64_t
dropped (const Fixture *f, MccDrop drop)
{
  MccAsmpSenderStats stats;
  mcc_asmp_sender_get_stats (f->sender, f->now, &stats);
  return stats.dropped[drop];
}

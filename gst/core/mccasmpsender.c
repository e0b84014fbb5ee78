/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsender: life, time and actions; the laws are in mccasmpsender{admit,members,report,
 * target,session,trust}.c.
 */
#include "mccasmpsender.h"

#include <assert.h>
#include <stdlib.h>

#include "mccasmpsenderprivate.h"
#include "mccpairs.h"

const char *
mcc_target_reason_name (MccTargetReason reason)
{
  static const char *const names[]
      = { "start", "receiver", "no-feedback", "max", "min", "app-limited", "pacer" };
  return (unsigned)reason < sizeof names / sizeof names[0] ? names[reason] : "unknown";
}

const char *
mcc_receiver_state_name (MccReceiverState state)
{
  static const char *const names[]
      = { "probation", "active", "left", "timed-out", "quarantined", "moved" };
  return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

const char *
mcc_quarantine_name (MccQuarantine quarantine)
{
  static const char *const names[] = { "none", "contradicted", "below-minimum" };
  return (unsigned)quarantine < sizeof names / sizeof names[0] ? names[quarantine] : "unknown";
}

static void
apply_bounds (MccAsmpSender *self, uint64_t min_bps, uint64_t max_bps)
{
  assert (min_bps > 0 && min_bps <= max_bps && max_bps <= MCC_APP_RATE_MAX);
  self->config.min_bps = min_bps;
  self->config.max_bps = max_bps;
}

static uint64_t
within_bounds (const MccAsmpSender *self, uint64_t rate_bps)
{
  if (rate_bps < self->config.min_bps)
    return self->config.min_bps;
  return rate_bps > self->config.max_bps ? self->config.max_bps : rate_bps;
}

MccAsmpSender *
mcc_asmp_sender_new (const MccAsmpSenderConfig *config, MccTime now)
{
  MccAsmpSender *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  self->config = *config;
  self->now = now;
  self->pacing = mcc_pacing_default;
  self->limited = self->asked = MCC_TIME_NONE;
  apply_bounds (self, config->min_bps, config->max_bps);
  self->session_is_max = config->session_bandwidth_bps == 0;
  if (self->session_is_max)
    self->config.session_bandwidth_bps = config->max_bps;
  if (self->config.session_bandwidth_bps > MCC_APP_RATE_MAX)
    self->config.session_bandwidth_bps = MCC_APP_RATE_MAX;
  if (self->config.max_receivers == 0)
    self->config.max_receivers = MCC_SENDER_MAX_RECEIVERS;
  mcc_rng_init (&self->rng, config->seed);
  mcc_receivers_init (&self->receivers, self->config.max_receivers, mcc_rng_next (&self->rng));
  /* of its own, so that the other random numbers stay what they are */
  MccRng hosts;
  mcc_rng_init (&hosts, ~config->seed);
  self->host_seed = mcc_rng_next (&hosts);
  for (unsigned i = 0; i < MCC_SENDER_HOSTS; i++) {
    mcc_bucket_init (&self->host[i], MCC_SENDER_HOST_PER_S, MCC_SENDER_HOST_BURST, now);
    mcc_bucket_init (&self->site[i].newcomers, MCC_SENDER_SITE_PER_S, MCC_SENDER_SITE_BURST, now);
  }
  mcc_meter_init (&self->sent, MCC_SENDER_APP_WINDOW);
  mcc_key_unit_init (&self->key_unit);
  self->packet_bytes = MCC_SENDER_PACKET_BYTES;
  self->start_bps = within_bounds (self, config->start_bps);
  self->target_bps = self->start_bps;
  self->reason = MCC_TARGET_START;
  self->limiting = MCC_RECEIVERS_NONE;
  self->last_feedback = now;
  self->feedback_interval = mcc_asmp_sender_group_interval (self);
  self->halve_next = MCC_TIME_NONE;
  mcc_asmp_sender_session_init (self);
  mcc_asmp_sender_push_target (self, 0);
  return self;
}

void
mcc_asmp_sender_free (MccAsmpSender *self)
{
  if (self == NULL)
    return;
  mcc_receivers_clear (&self->receivers);
  free (self);
}

void
mcc_asmp_sender_advance (MccAsmpSender *self, MccTime now)
{
  assert (now >= self->now && now != MCC_TIME_NONE);
  if (now - self->now >= MCC_TIME_ABSENCE
      && mcc_time_absent (self->now, mcc_asmp_sender_next_timeout (self), now)) {
    self->absent_until = now + MCC_SENDER_ABSENCE_GRACE;
    self->last_feedback = now;
  }
  mcc_asmp_sender_session_advance (self, now);
  self->now = now;
}

void
mcc_asmp_sender_set_bounds (MccAsmpSender *self, uint64_t min_bps, uint64_t max_bps, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  apply_bounds (self, min_bps, max_bps);
  if (self->session_is_max)
    self->config.session_bandwidth_bps = max_bps;
  self->start_bps = within_bounds (self, self->config.start_bps);
  uint64_t previous_bps = self->target_bps;
  self->target_bps = within_bounds (self, previous_bps);
  if (self->target_bps != previous_bps) {
    self->reason = self->target_bps == min_bps ? MCC_TARGET_MIN : MCC_TARGET_MAX;
    mcc_asmp_sender_push_target (self, previous_bps);
  }
  mcc_asmp_sender_update_target (self);
}

void
mcc_asmp_sender_set_session_bandwidth (
    MccAsmpSender *self, uint64_t session_bandwidth_bps, MccTime now)
{
  assert (session_bandwidth_bps > 0 && session_bandwidth_bps <= MCC_APP_RATE_MAX);
  mcc_asmp_sender_advance (self, now);
  self->session_is_max = false;
  self->config.session_bandwidth_bps = session_bandwidth_bps;
}

void
mcc_asmp_sender_set_report_interval (MccAsmpSender *self, MccTime report_interval, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  self->report_interval = report_interval;
}

void
mcc_asmp_sender_set_no_feedback (MccAsmpSender *self, MccNoFeedback policy, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  self->config.no_feedback = policy;
  if (policy != MCC_NO_FEEDBACK_STOP)
    self->stopped = false;
  if (self->lost && self->halve_next == MCC_TIME_NONE)
    self->halve_next = now + MCC_SENDER_NO_FEEDBACK_MIN;
}

void
mcc_asmp_sender_set_ssrc (MccAsmpSender *self, uint32_t ssrc, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  if (ssrc == self->config.ssrc)
    return;
  self->config.ssrc = ssrc;
  self->session_urgent = true;
}

void
mcc_asmp_sender_handle_key_unit_request (MccAsmpSender *self, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  mcc_key_unit_request (&self->key_unit, mcc_asmp_sender_rtt_max (self), self->now);
}

void
mcc_asmp_sender_set_ended (MccAsmpSender *self, bool ended, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  if (self->ended == ended)
    return;
  self->ended = ended;
  if (ended)
    return;
  self->last_feedback = now;
  self->session_urgent = true;
  if (self->lost && self->halve_next != MCC_TIME_NONE)
    self->halve_next = now + MCC_SENDER_NO_FEEDBACK_MIN;
}

bool
mcc_asmp_sender_has_sent (const MccAsmpSender *self)
{
  return self->meter_started;
}

void
mcc_asmp_sender_handle_sent (
    MccAsmpSender *self, uint32_t packets, uint64_t bytes, uint32_t highest_seq, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  if (packets == 0)
    return;
  double mean = (double)bytes / packets;
  if (self->meter_started) {
    self->packet_bytes += (mean - self->packet_bytes) * (packets < 64 ? packets / 64.0 : 1.0);
  } else {
    self->packet_bytes = mean;
    /* Nobody could answer before. */
    if (!self->heard && !self->lost)
      self->last_feedback = now;
  }
  self->meter_started = true;
  mcc_seq_extend32 (&self->sent_seq, highest_seq);
  mcc_carried_add (&self->carried, bytes, now);
  mcc_meter_add (&self->sent, bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes, now);
}

MccDrop
mcc_asmp_sender_drop (MccAsmpSender *self, MccDrop drop, uint32_t ssrc)
{
  MccTraceEvent event
      = { .type = MCC_TRACE_DROP, .time = self->now, .ssrc = ssrc, .i = (uint32_t)drop };
  self->dropped[drop]++;
  mcc_trace_add (&self->trace, &event);
  return drop;
}

void
mcc_asmp_sender_handle_dropped (MccAsmpSender *self, MccDrop drop, uint32_t ssrc, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  assert ((unsigned)drop < MCC_DROP_COUNT);
  mcc_asmp_sender_drop (self, drop, ssrc);
  if (drop == MCC_DROP_TABLE_FULL)
    mcc_asmp_sender_handle_unheard (self, now);
}

void
mcc_asmp_sender_handle_timeout (MccAsmpSender *self, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  mcc_asmp_sender_expire (self);
  mcc_asmp_sender_target_timeout (self);
}

MccTime
mcc_asmp_sender_next_timeout (const MccAsmpSender *self)
{
  MccTime next
      = mcc_time_min (mcc_asmp_sender_next_expiry (self), mcc_asmp_sender_target_next (self));
  next = mcc_time_min (next, mcc_asmp_sender_session_next (self));
  return mcc_time_min (
      next, mcc_key_unit_next_timeout (&self->key_unit, mcc_asmp_sender_rtt_max (self)));
}

/* Actions. What is a state (feedback, stopped, due) is compared with what was told, so that it
 * cannot overflow; changes of target and receivers are queued. */

void
mcc_asmp_sender_push_target (MccAsmpSender *self, uint64_t previous_bps)
{
  const MccReceiver *limiting = mcc_asmp_sender_named (self);
  MccTargetChange change
      = { .target_bps = self->target_bps, .previous_bps = previous_bps, .reason = self->reason };
  if (limiting != NULL) {
    change.ssrc = limiting->ssrc;
    change.address = limiting->address;
  }
  MccTraceEvent event = { .type = MCC_TRACE_TARGET,
    .time = self->now,
    .ssrc = change.ssrc,
    .i = (uint32_t)change.reason,
    .a = change.target_bps,
    .b = previous_bps };
  mcc_trace_add (&self->trace, &event);
  if (self->targets == MCC_SENDER_TARGETS) {
    /* Nobody polls: the newest takes the place of the last one and starts where that did. */
    self->targets--;
    change.previous_bps = self->target_change[self->targets].previous_bps;
  }
  self->target_change[self->targets++] = change;
}

void
mcc_asmp_sender_push_receiver (MccAsmpSender *self, const MccReceiver *receiver)
{
  MccQuarantine quarantine = (MccQuarantine)receiver->quarantine;
  MccReceiverState state
      = receiver->state == MCC_RECEIVER_ACTIVE && quarantine != MCC_QUARANTINE_NONE
            ? MCC_RECEIVER_QUARANTINED
            : (MccReceiverState)receiver->state;
  MccTraceEvent event
      = { .type = MCC_TRACE_RECEIVER, .time = self->now, .ssrc = receiver->ssrc, .i = state };
  mcc_trace_add (&self->trace, &event);
  if (self->receiver_changes == MCC_SENDER_RECEIVERS) {
    self->receiver_first = (self->receiver_first + 1) % MCC_SENDER_RECEIVERS;
    self->receiver_changes--;
  }
  unsigned last = (self->receiver_first + self->receiver_changes++) % MCC_SENDER_RECEIVERS;
  self->receiver_change[last] = (MccReceiverChange){
    .ssrc = receiver->ssrc, .address = receiver->address, .state = state, .quarantine = quarantine
  };
}

/* As the path of whoever limits wants it, or did. */
static MccPacing
choose_pacing (MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  const MccReceiver *named = mcc_asmp_sender_named (self);
  if (!mcc_asmp_sender_enhanced (self))
    return mcc_pacing_default;
  if (named != NULL) {
    self->beside = mcc_pacing_beside (mcc_asmp_sender_receiver_rtt (named));
    self->limited = self->now;
  }
  bool beside = self->limited != MCC_TIME_NONE && self->now < self->limited + MCC_PACING_HOLD;
  MccPacing pacing = beside ? self->beside : mcc_pacing_default;
  /* Of several streams who does not limit this one has to know what it could take of another. */
  bool asked = self->asked != MCC_TIME_NONE && self->now < self->asked + MCC_PAIRS_ASKED;
  if (self->config.one_of_many)
    pacing.pairs = asked ? MCC_PAIRS_CLOSE : 0;
  else
    pacing.pairs = limiting != NULL && limiting->pairs ? MCC_PAIRS_APART : 0;
  return pacing;
}

static bool
poll_state (MccAsmpSender *self, MccSenderAction *out)
{
  MccPacing pacing = choose_pacing (self);
  if (!mcc_pacing_equal (&pacing, &self->pacing)) {
    out->pacing = self->pacing = pacing;
    out->type = MCC_SENDER_PACING;
    return true;
  }
  if (self->lost != self->told_lost || (self->heard && !self->lost && !self->told_heard)) {
    self->told_lost = self->lost;
    self->told_heard = true;
    out->type = self->lost ? MCC_SENDER_FEEDBACK_LOST : MCC_SENDER_FEEDBACK_FOUND;
    return true;
  }
  if (self->stopped != self->told_stopped) {
    self->told_stopped = self->stopped;
    out->type = self->stopped ? MCC_SENDER_STOP : MCC_SENDER_RESUME;
    return true;
  }
  if (mcc_key_unit_take (&self->key_unit, mcc_asmp_sender_rtt_max (self), self->now)) {
    out->type = MCC_SENDER_KEY_UNIT;
    return true;
  }
  return false;
}

bool
mcc_asmp_sender_poll (MccAsmpSender *self, MccSenderAction *out)
{
  memset (out, 0, sizeof *out);
  if (self->targets > 0) {
    const MccTargetChange *change = &self->target_change[0];
    out->type = MCC_SENDER_TARGET;
    out->target_bps = change->target_bps;
    out->previous_bps = change->previous_bps;
    out->reason = change->reason;
    out->ssrc = change->ssrc;
    out->address = change->address;
    self->targets--;
    memmove (self->target_change, self->target_change + 1,
        self->targets * sizeof self->target_change[0]);
    return true;
  }
  if (poll_state (self, out))
    return true;
  if (self->receiver_changes > 0) {
    const MccReceiverChange *change = &self->receiver_change[self->receiver_first];
    out->type = MCC_SENDER_RECEIVER;
    out->ssrc = change->ssrc;
    out->address = change->address;
    out->state = change->state;
    out->quarantine = change->quarantine;
    self->receiver_first = (self->receiver_first + 1) % MCC_SENDER_RECEIVERS;
    self->receiver_changes--;
    return true;
  }
  if (mcc_asmp_sender_session_next (self) <= self->now) {
    mcc_asmp_sender_session_build (self);
    out->type = MCC_SENDER_SEND_SESSION;
    out->session = &self->session;
    out->rtt = &self->rtt_list;
    return true;
  }
  return false;
}

bool
mcc_asmp_sender_poll_trace (MccAsmpSender *self, MccTraceEvent *out)
{
  return mcc_trace_poll (&self->trace, out);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpreceiverprivate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "mcctcp.h"

#define ARRIVES 0.02       /* of the last packets lost: nearly all of them came; ours */
#define AT_FLOOR 1.05      /* times the stream's lower bound: nobody could ask for less */
#define START_BPS 150000   /* ASMP: start rate */
#define COMPOUND_BYTES 152 /* RR + SDES + report + IP + UDP */
#define DECISION_MIN (100 * MCC_MSECOND) /* ours, as all below */
#define DECISION_MAX (500 * MCC_MSECOND)
#define EVENT_QUEUE (7 * MCC_MSECOND) /* a loss with less queue is no overflow */
#define HISTORY_PUBLISHED 8           /* ASMP eq. 3 */
#define HISTORY_ENHANCED 32           /* docs/design/receiver.md */

void
mcc_asmp_receiver_push (MccAsmpReceiver *self, const MccReceiverAction *action)
{
  for (unsigned i = 0; action->type == MCC_RECEIVER_RATE && i < self->action_count; i++) {
    MccReceiverAction *old = &self->action[(self->action_head + i) % MCC_ASMP_ACTIONS];
    if (old->type == MCC_RECEIVER_RATE) { /* only the newest rate matters */
      *old = *action;
      return;
    }
  }
  if (self->action_count == MCC_ASMP_ACTIONS) { /* a host that does not poll loses the oldest */
    self->action_head = (self->action_head + 1) % MCC_ASMP_ACTIONS;
    self->action_count--;
  }
  self->action[(self->action_head + self->action_count++) % MCC_ASMP_ACTIONS] = *action;
}

void
mcc_asmp_receiver_push_simple (MccAsmpReceiver *self, MccReceiverActionType type, uint32_t ssrc)
{
  mcc_asmp_receiver_push (self, &(MccReceiverAction){ .type = type, .ssrc = ssrc });
}

MccDrop
mcc_asmp_receiver_drop (MccAsmpReceiver *self, MccDrop reason, uint32_t ssrc)
{
  self->dropped[reason]++;
  mcc_trace_add (&self->trace,
      &(MccTraceEvent){ .type = MCC_TRACE_DROP, .time = self->now, .ssrc = ssrc, .i = reason });
  return reason;
}

void
mcc_asmp_receiver_advance (MccAsmpReceiver *self, MccTime now)
{
  assert (now >= self->now && now != MCC_TIME_NONE);
  if (now - self->now >= MCC_TIME_ABSENCE
      && mcc_time_absent (self->now, mcc_asmp_receiver_next_timeout (self), now)) {
    mcc_asmp_source_excuse (&self->source, now);
    self->session_time = mcc_time_max (self->session_time, now);
    mcc_asmp_path_excuse (&self->path, now);
    if (self->next_decision != MCC_TIME_NONE)
      self->next_decision = now + DECISION_MAX;
  }
  self->now = now;
}

void
mcc_asmp_receiver_note_verdict (MccAsmpReceiver *self, MccScheduleVerdict verdict)
{
  if (verdict != MCC_SCHEDULE_SUPPRESSED)
    return;
  self->reports_suppressed++;
  mcc_trace_add (&self->trace, &(MccTraceEvent){ .type = MCC_TRACE_SUPPRESSED,
                                   .time = self->now,
                                   .ssrc = self->schedule.heard_ssrc,
                                   .a = mcc_rate_get_bps (self->rate),
                                   .b = self->schedule.heard_bps });
}

void
mcc_asmp_receiver_activate (MccAsmpReceiver *self)
{
  if (!self->schedule.active && !self->ceased) {
    MccAsmpScheduleInput input = mcc_asmp_receiver_schedule_input (self);
    mcc_asmp_schedule_start (&self->schedule, &input);
  }
}

/* What the link carries all of a sudden; 0: it carries what it did. Of several streams (ASSP): the
 * lower ones are safe, so that too low a guess costs little. */
static uint64_t
slump_bps (const MccAsmpReceiver *self)
{
  bool asked = self->config.unbounded && mcc_asmp_receiver_is_enhanced (self)
               && mcc_rate_mode (self->rate) == MCC_RATE_DELAY;
  return asked ? mcc_slump_bps (&self->path.slump) : 0;
}

/* The means that a decision takes still tell of before. */
static void
notice_slump (MccAsmpReceiver *self, MccRateInput *input)
{
  uint64_t bps = slump_bps (self);
  if (bps == 0)
    return;
  mcc_slump_clear (&self->path.slump); /* once, taken or not: it calls for a decision */
  if (bps >= input->received_now_bps)
    return;
  input->received_now_bps = bps;
  input->queue_delay = mcc_time_max (input->queue_delay, self->path.queue_newest);
  self->slumped = self->now;
  self->slump_bps = bps;
}

bool
mcc_asmp_receiver_arrives (const MccAsmpReceiver *self)
{
  return mcc_recent_loss_ratio (&self->recent) <= ARRIVES;
}

void
mcc_asmp_receiver_cease (MccAsmpReceiver *self, MccBreakerVerdict verdict)
{
  self->ceased = true;
  mcc_asmp_receiver_stop (self);
  mcc_asmp_receiver_push (
      self, &(MccReceiverAction){
                .type = MCC_RECEIVER_CEASE, .ssrc = self->source.ssrc, .breaker = verdict });
}

void
mcc_asmp_receiver_set_lowest (MccAsmpReceiver *self, bool lowest)
{
  self->not_lowest = !lowest;
}

/* RFC 8083, where nothing lower can be asked for. */
static void
look_at_breaker (MccAsmpReceiver *self, const MccRateInput *input)
{
  const MccAppSession *session = &self->session;
  bool known = input->rtt_measured && input->loss_ratio > 0.0 && input->packet_bytes > 0.0;
  MccBreakerInput seen = { .now = self->now,
    .received = mcc_loss_packets_received (self->path.loss),
    .lost = mcc_loss_packets_lost (self->path.loss),
    .received_bps = input->received_bps,
    .allowed_bps = known ? mcc_tcp_rate_bps (&mcc_tcp_model_default, input->packet_bytes,
                       mcc_time_to_seconds (input->rtt), input->loss_ratio)
                         : INFINITY,
    .asked_bps = mcc_asmp_receiver_stated_bps (self),
    .least_bps = mcc_asmp_receiver_is_enhanced (self) && self->has_session && !self->not_lowest
                     ? session->min_bps
                     : 0 };
  self->allowed_bps = seen.allowed_bps;
  MccBreakerVerdict verdict = mcc_breaker_look (&self->breaker, &seen);
  if (verdict != MCC_BREAKER_CLOSED && !self->ceased)
    mcc_asmp_receiver_cease (self, verdict);
}

static bool
another_limits (const MccAsmpReceiver *self)
{
  const MccAppSession *session = &self->session;
  return self->has_session && session->limiting_ssrc != 0
         && session->limiting_ssrc != self->config.ssrc;
}

/* Of a sender's streams: what it sends in this one is not what we asked for. */
static bool
held_down (const MccAsmpReceiver *self)
{
  const MccAppSession *session = &self->session;
  if (!self->has_session)
    return false;
  bool others = session->receivers > MCC_ASMP_FEW_RECEIVERS && another_limits (self);
  return others || (double)session->target_bps < AT_FLOOR * (double)session->min_bps;
}

/* What is announced of the group. */
static void
tell_group (MccAsmpReceiver *self)
{
  const MccAppSession *session = &self->session;
  if (!mcc_asmp_receiver_is_enhanced (self))
    return;
  if (self->has_session)
    mcc_asmp_path_handle_group (&self->path, session->receivers,
        another_limits (self) && session->target_bps < session->max_bps);
  /* A measure or a history that was asked for stays as it is. */
  if (self->config.loss == NULL && self->config.loss_config.history == 0)
    mcc_asmp_path_fit_history (&self->path, HISTORY_ENHANCED);
}

static void
decide (MccAsmpReceiver *self)
{
  MccRateInput input = {
    .announced_bps = self->has_session ? self->session.target_bps : 0,
    .start_bps = mcc_asmp_receiver_start_bps (self),
    .min_bps = self->has_session ? self->session.min_bps : 0,
    .max_bps = self->has_session ? self->session.max_bps : 0,
  };
  if (self->config.unbounded) {
    input.floor_bps = input.min_bps;
    /* Of many, some are behind the same link in another of the streams: it is theirs. */
    input.others_queue = self->session.receivers <= MCC_ASMP_FEW_RECEIVERS
                         && mcc_asmp_receiver_others_queue (self);
    input.held_down = input.others_queue || held_down (self);
    input.crowd_holds = input.held_down && self->session.receivers > MCC_ASMP_FEW_RECEIVERS;
    input.min_bps = input.max_bps = 0;
  }
  if (input.max_bps > 0 && input.min_bps > input.max_bps)
    input.min_bps = input.max_bps;
  if (!mcc_asmp_receiver_is_enhanced (self)) {
    mcc_loss_handle_interval (self->path.loss);
    input.gamma = mcc_congestion_handle_interval (&self->path.congestion);
    if (self->config.unsmoothed)
      input.gamma = 1.0;
  }
  tell_group (self);
  mcc_asmp_path_decide (&self->path, &input, self->now);
  look_at_breaker (self, &input);
  notice_slump (self, &input);
  self->loss_ratio = input.loss_ratio;
  mcc_rate_decide (self->rate, &input);
  if (mcc_rate_share_bps (self->rate) > 0)
    mcc_asmp_path_meet_rivals (&self->path, &input, mcc_rate_share_bps (self->rate));
  mcc_recent_loss_look (&self->recent, mcc_loss_packets_received (self->path.loss),
      mcc_loss_packets_lost (self->path.loss), self->now);
  mcc_asmp_receiver_note_freedom (self, &input);
  mcc_asmp_receiver_measure_fair (self);

  uint64_t own_bps = mcc_rate_get_bps (self->rate);
  uint64_t rate_bps = mcc_company_rate_bps (
      &self->company, &(MccCompanyInput){ .now = self->now,
                          .rate_bps = own_bps,
                          .received_bps = input.received_bps,
                          .target_bps = input.announced_bps,
                          .queue = input.queue_delay,
                          .packets = mcc_loss_packets_received (self->path.loss),
                          .packets_lost = mcc_loss_packets_lost (self->path.loss) });
  self->company_bps = rate_bps > own_bps ? rate_bps : 0;
  mcc_trace_add (&self->trace, &(MccTraceEvent){ .type = MCC_TRACE_RATE,
                                   .time = self->now,
                                   .ssrc = self->source.ssrc,
                                   .i = (uint32_t)mcc_rate_mode (self->rate),
                                   .a = own_bps,
                                   .b = input.received_now_bps,
                                   .x = input.loss_ratio,
                                   .y = mcc_time_to_seconds (input.rtt),
                                   .z = mcc_time_to_seconds (input.queue_delay) });
  if (rate_bps != self->told_bps) {
    self->told_bps = rate_bps;
    mcc_asmp_receiver_push (
        self, &(MccReceiverAction){ .type = MCC_RECEIVER_RATE, .rate_bps = rate_bps });
  }
}

void
mcc_asmp_receiver_update_schedule (MccAsmpReceiver *self)
{
  MccAsmpScheduleInput input = mcc_asmp_receiver_schedule_input (self);
  mcc_asmp_receiver_note_verdict (self, mcc_asmp_schedule_update (&self->schedule, &input));
}

MccAsmpReceiver *
mcc_asmp_receiver_new (const MccAsmpReceiverConfig *config, MccTime now)
{
  MccAsmpReceiver *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  self->config = *config;
  bool enhanced = mcc_asmp_receiver_is_enhanced (self);
  if (self->config.start_bps == 0)
    self->config.start_bps = START_BPS;
  if (self->config.compound_bytes == 0)
    self->config.compound_bytes = COMPOUND_BYTES;
  self->config.compound_bytes += config->srtcp_bytes;
  MccLossConfig loss = self->config.loss_config;
  if (loss.history == 0) {
    loss = mcc_loss_config_default;
    loss.history = enhanced ? HISTORY_ENHANCED : HISTORY_PUBLISHED;
    /* A rival that has left is soon forgotten (RFC 5348 5.5); so is a crowd that has settled. */
    loss.discounting = loss.forgetting = enhanced;
  }
  const MccLossMeasure *measure = self->config.loss;
  if (measure == NULL)
    measure = enhanced ? &mcc_loss_lip : &mcc_loss_interval;
  self->rate
      = mcc_rate_new (enhanced ? &mcc_rate_enhanced : &mcc_rate_published, self->config.start_bps);
  if (!mcc_asmp_path_init (&self->path, config->variant, mcc_loss_new (measure, &loss))
      || self->rate == NULL) {
    mcc_asmp_receiver_free (self);
    return NULL;
  }
  if (enhanced)
    mcc_asmp_path_expect_pairs (&self->path, config->unbounded ? MCC_PAIRS_CLOSE : MCC_PAIRS_APART);
  mcc_asmp_source_init (&self->source, config->source_ssrc, MCC_ASMP_SOURCE_TIMEOUT);
  mcc_asmp_schedule_init (&self->schedule, config->variant, config->hears_group,
      config->report_interval, self->config.compound_bytes, config->seed);
  mcc_elm_fair_init (&self->fair);
  self->schedule.wary = config->unbounded;
  if (config->least_interval > 0)
    self->schedule.least = config->least_interval;
  self->now = now;
  self->next_decision = self->event = self->free_since = self->others_since = MCC_TIME_NONE;
  self->far_since = self->doubted = self->beyond_since = MCC_TIME_NONE;
  self->short_since = self->full_since = self->idle_since = MCC_TIME_NONE;
  mcc_swing_init (&self->swing);
  mcc_recent_loss_init (&self->recent);
  mcc_company_init (&self->company);
  self->allowed_bps = INFINITY;
  return self;
}

void
mcc_asmp_receiver_free (MccAsmpReceiver *self)
{
  if (self == NULL)
    return;
  mcc_asmp_path_clear (&self->path);
  mcc_rate_free (self->rate);
  free (self);
}

void
mcc_asmp_receiver_resume (MccAsmpReceiver *self)
{
  mcc_asmp_receiver_activate (self);
  if (mcc_asmp_receiver_is_enhanced (self) && !self->ceased && self->next_decision == MCC_TIME_NONE)
    self->next_decision = mcc_time_max (self->now + DECISION_MIN, self->hold_until);
}

static void
begin_loss_event (MccAsmpReceiver *self)
{
  mcc_trace_add (&self->trace, &(MccTraceEvent){ .type = MCC_TRACE_LOSS_EVENT,
                                   .time = self->now,
                                   .ssrc = self->source.ssrc,
                                   .a = mcc_loss_events (self->path.loss),
                                   .x = mcc_loss_ratio (self->path.loss) });
  /* Our overflow goes on until the sender has heard of it: that is one event, not ten. A queue that
   * marks may be short, and ours. */
  bool marked = mcc_loss_packets_marked (self->path.loss) > self->path.marked_before;
  bool ours = mcc_rate_owns_queue (self->rate)
              || (marked && mcc_rate_mode (self->rate) == MCC_RATE_DELAY);
  if (ours && self->path.queue_newest > EVENT_QUEUE) {
    self->event = self->now;
    mcc_loss_extend_event (self->path.loss, self->now + MCC_ASMP_EVENT_MAX);
  }
}

MccDrop
mcc_asmp_receiver_handle_rtp (
    MccAsmpReceiver *self, const MccRtpPacket *packet, const MccAddress *from, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  bool was_lost = self->source.lost;
  switch (mcc_asmp_source_handle_packet (&self->source, packet, from, now)) {
    case MCC_SOURCE_OURS:
      if (was_lost && !self->source.lost) /* what a BYE overtook brings nobody back */
        mcc_asmp_receiver_resume (self);
      break;
    case MCC_SOURCE_NEW:
      mcc_asmp_receiver_follow_source (self, packet->ssrc);
      break;
    case MCC_SOURCE_WAIT:
      return mcc_asmp_receiver_drop (self, MCC_DROP_PROBATION, packet->ssrc);
    case MCC_SOURCE_OTHER_NEW:
      mcc_asmp_receiver_push_simple (self, MCC_RECEIVER_OTHER_SENDER, packet->ssrc);
      return mcc_asmp_receiver_drop (self, MCC_DROP_OTHER_SENDER, packet->ssrc);
    case MCC_SOURCE_OTHER:
      return mcc_asmp_receiver_drop (self, MCC_DROP_OTHER_SENDER, packet->ssrc);
  }
  if (self->has_session)
    mcc_asmp_path_handle_ect (&self->path, (self->session.flags & MCC_SESSION_ECT) != 0);
  if (mcc_asmp_path_handle_packet (&self->path, packet, now)
      && mcc_asmp_path_poll_loss_event (&self->path))
    begin_loss_event (self);
  if (self->next_decision != MCC_TIME_NONE && self->next_decision > now && now >= self->hold_until
      && slump_bps (self) > 0)
    self->next_decision = now; /* each decision's time of it is lost */
  return MCC_DROP_NONE;
}

void
mcc_asmp_receiver_handle_host_dropped (MccAsmpReceiver *self, uint64_t packets, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  mcc_asmp_path_handle_host_dropped (&self->path, packets, now);
}

void
mcc_asmp_receiver_stop (MccAsmpReceiver *self)
{
  self->next_decision = MCC_TIME_NONE;
  self->company_bps = 0;
  mcc_asmp_schedule_stop (&self->schedule);
  mcc_asmp_schedule_forget (&self->schedule);
}

void
mcc_asmp_receiver_set_ssrc (MccAsmpReceiver *self, uint32_t ssrc)
{
  self->config.ssrc = ssrc;
}

void
mcc_asmp_receiver_handle_timeout (MccAsmpReceiver *self, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  if (mcc_asmp_source_handle_timeout (&self->source, now)) {
    self->next_decision = MCC_TIME_NONE;
    if (self->has_session && now - self->session_time < MCC_ASMP_SOURCE_TIMEOUT)
      mcc_ecn_handle_silence (&self->path.ecn, now);
    mcc_asmp_receiver_push_simple (self, MCC_RECEIVER_SOURCE_LOST, self->source.ssrc);
    if (!self->has_session)
      mcc_asmp_receiver_stop (self);
  }
  bool streams = mcc_asmp_receiver_has_stream (self);
  if (self->has_session && !streams && now - self->session_time >= MCC_ASMP_SESSION_TIMEOUT) {
    self->has_session = false;
    mcc_asmp_receiver_stop (self);
  }
  if (now >= self->next_decision) {
    decide (self);
    MccTime rtt = mcc_asmp_path_base_rtt (&self->path);
    self->next_decision
        = self->ceased ? MCC_TIME_NONE : now + mcc_time_clamp (rtt, DECISION_MIN, DECISION_MAX);
    mcc_asmp_receiver_update_schedule (self);
  }
  MccAsmpScheduleInput input = mcc_asmp_receiver_schedule_input (self);
  MccScheduleVerdict verdict = mcc_asmp_schedule_handle_timeout (&self->schedule, &input);
  mcc_asmp_receiver_note_verdict (self, verdict);
  if (verdict == MCC_SCHEDULE_SEND) {
    if (!mcc_asmp_receiver_is_enhanced (self) && streams && now >= self->hold_until)
      decide (self);
    mcc_asmp_receiver_send_report (self);
  }
}

void
mcc_asmp_receiver_set_host (MccAsmpReceiver *self, const MccAddress *host, MccTime now)
{
  mcc_asmp_source_set_host (&self->source, host, now);
}

bool
mcc_asmp_receiver_is_elsewhere (const MccAsmpReceiver *self, const MccAddress *from, MccTime now)
{
  return mcc_asmp_source_is_elsewhere (&self->source, from, now);
}

bool
mcc_asmp_receiver_is_lost (const MccAsmpReceiver *self)
{
  return self->source.lost;
}

MccTime
mcc_asmp_receiver_next_timeout (const MccAsmpReceiver *self)
{
  MccTime next
      = mcc_time_min (self->next_decision, mcc_asmp_schedule_next_timeout (&self->schedule));
  next = mcc_time_min (next, mcc_asmp_source_next_timeout (&self->source));
  bool streams = mcc_asmp_receiver_has_stream (self);
  if (self->has_session && !streams)
    next = mcc_time_min (next, self->session_time + MCC_ASMP_SESSION_TIMEOUT);
  return next;
}

bool
mcc_asmp_receiver_poll (MccAsmpReceiver *self, MccReceiverAction *out)
{
  if (self->action_count == 0)
    return false;
  *out = self->action[self->action_head];
  self->action_head = (self->action_head + 1) % MCC_ASMP_ACTIONS;
  self->action_count--;
  return true;
}

bool
mcc_asmp_receiver_poll_trace (MccAsmpReceiver *self, MccTraceEvent *out)
{
  return mcc_trace_poll (&self->trace, out);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmreceiverprivate.h"

#include <math.h>

/* Enhanced; ours. */
#define TICK (100 * MCC_MSECOND)
#define DRAIN (300 * MCC_MSECOND) /* what was left still stands in the queue */
#define DRAIN_RTT_MAX (3 * MCC_SECOND)
#define DRAIN_MAX (15 * MCC_SECOND)
#define UP_SETTLE (1 * MCC_SECOND)  /* after a layer has arrived, at least */
#define BURST_OVER (3 * MCC_SECOND) /* what our own burst has put into the queue is gone */
#define RISE (5 * MCC_MSECOND)
#define SURE 0.6
#define FAR_BELOW 3.0 /* times what the next level needs: the one above it is in reach, too */
#define OTHERS_TIME (60 * MCC_SECOND)
#define RATE_STEP 0.1                                     /* of RATE actions */
#define ROUNDS_LATE (64 * MCC_SECOND / MCC_ELM_ROUND_MIN) /* of a packet, at most */

static bool
may_join (const MccElmReceiver *self)
{
  int next = self->level + 1;
  return self->level >= 0 && self->wanted == self->level && next < (int)self->layers.count
         && (self->config.max_level < 0 || next <= self->config.max_level) && !self->lost
         && mcc_elm_memory_allows (&self->memory, (unsigned)next, self->now);
}

static void
push_level (MccElmReceiver *self, int from, MccElmReason reason, MccTime duration)
{
  self->stats.switches += reason != MCC_ELM_REASON_START;
  mcc_elm_receiver_push (self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_LEVEL,
                                   .from = from,
                                   .level = self->level,
                                   .reason = reason,
                                   .duration = duration });
}

/* What is sent to us is another sequence. */
static void
splice (MccElmReceiver *self)
{
  mcc_asmp_path_splice (&self->path);
  mcc_elm_strategy_reset (&self->strategy);
  mcc_elm_trial_pause (&self->trial);
  mcc_elm_link_clear (&self->full);
  mcc_elm_link_clear (&self->burst);
  self->queue_least = MCC_TIME_NONE;
  self->wants_join = self->new_round = false;
}

void
mcc_elm_receiver_restart (MccElmReceiver *self)
{
  mcc_asmp_path_reset (&self->path);
  mcc_elm_rate_init (&self->rate, self->config.smoothing);
  mcc_elm_fair_init (&self->fair);
  mcc_elm_slow_start_init (
      &self->slow_start, self->config.variant, self->config.slow_start_interval);
  mcc_elm_strategy_init (&self->strategy, &self->config.timers);
  mcc_elm_memory_init (&self->memory);
  mcc_elm_trial_init (&self->trial);
  self->base_seq = (MccSeq){ 0 };
  mcc_elm_sequence_init (&self->sequence);
  self->has_rtt = self->has_round = self->new_round = self->wants_join = false;
  self->calculated_bps = INFINITY;
  self->told_bps = self->lost_reported = 0;
  self->queue_least = MCC_TIME_NONE;
  mcc_elm_receiver_forget_link (self);
  self->queue_before = MCC_TIME_NONE;
  self->others_until = 0;
  self->draining = false;
  self->clear_since = self->join_time = self->join_deadline = MCC_TIME_NONE;
  self->left = self->left_ends = MCC_TIME_NONE;
  self->settled = 0;
  mcc_elm_patience_init (&self->patience, self->now);
  self->tick = MCC_TIME_NONE;
  self->reporting = self->report_waits = self->picture = self->crowded = false;
  self->reports = 0;
  self->report_owed = 0;
  self->report_last = self->report_next = self->report_early = self->key_next = MCC_TIME_NONE;
}

void
mcc_elm_receiver_join (MccElmReceiver *self, MccElmReason reason)
{
  unsigned layer = (unsigned)(self->wanted + 1);
  self->wanted++;
  self->group[layer] = self->layers.layer[layer];
  self->reason = reason;
  self->join_time = self->now;
  /* There is nowhere to go back to from the base layer. */
  self->join_deadline = layer > 0 ? self->now + MCC_ELM_JOIN_TIMEOUT : MCC_TIME_NONE;
  self->stats.joins++;
  mcc_elm_sequence_join (&self->sequence, layer);
  self->join_sent = 0;
  self->join_received = mcc_loss_packets_received (self->path.loss);
  self->wants_join = self->new_round = false;
  mcc_elm_memory_joined (&self->memory, layer, self->now);
  self->calm_loss = mcc_loss_ratio (self->path.loss);
  self->fair_before = self->fair;
  mcc_elm_strategy_reset (&self->strategy);
  mcc_elm_slow_start_joined (&self->slow_start, &self->layers, layer, mcc_elm_receiver_rtt (self),
      mcc_loss_packets_received (self->path.loss), self->now);
  mcc_elm_receiver_push (self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_JOIN,
                                   .layer = layer,
                                   .from = self->level,
                                   .level = self->level,
                                   .group = self->group[layer],
                                   .reason = reason });
  if (layer > 0)
    mcc_elm_receiver_note (self, layer, MCC_ELM_JOINING);
}

void
mcc_elm_receiver_arrive (MccElmReceiver *self)
{
  int from = self->level;
  self->level = self->wanted;
  self->join_deadline = MCC_TIME_NONE;
  if (from >= 0)
    splice (self);
  mcc_elm_trial_begin (&self->trial, self->now);
  self->settled = self->now + UP_SETTLE + mcc_time_min (mcc_elm_receiver_rtt (self), DRAIN_RTT_MAX);
  push_level (self, from, self->reason, self->now - self->join_time);
  if (from < 0) {
    mcc_elm_receiver_plan_first (self);
    mcc_elm_receiver_plan_key_unit (self);
    self->tick = self->ticked = self->now;
  }
}

/* Losses of a join that failed say nothing about the level that we go back to. */
static void
forget_trial (MccElmReceiver *self, unsigned layer)
{
  if (self->calm_loss > 0.0)
    mcc_loss_seed (self->path.loss, self->calm_loss);
  else
    mcc_asmp_path_forget_losses (&self->path);
  self->lost_reported = mcc_loss_packets_lost (self->path.loss);
  mcc_elm_rate_forget (&self->rate);
  self->fair = self->fair_before;
  self->fair.started = false; /* what was counted since is not its */
  mcc_elm_fair_cap (&self->fair, (double)self->group[layer].cumulative_bps);
}

static void
push_failed (MccElmReceiver *self, unsigned layer, MccElmReason reason)
{
  if (reason == MCC_ELM_REASON_ABSENT)
    self->stats.absent++;
  else
    self->stats.failed++;
  mcc_elm_receiver_push (self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_FAILED,
                                   .layer = layer,
                                   .from = self->wanted,
                                   .level = self->level,
                                   .reason = reason });
}

/* What becomes of measures and memory when @layer is left because of @reason. */
static void
judge (MccElmReceiver *self, unsigned layer, MccElmReason reason)
{
  bool enhanced = mcc_elm_receiver_is_enhanced (self);
  if (reason == MCC_ELM_REASON_MAX_LEVEL || reason == MCC_ELM_REASON_LAYERS)
    return;
  if (reason != MCC_ELM_REASON_ABSENT)
    self->slow_start.active = false;
  if (!enhanced && reason != MCC_ELM_REASON_ABSENT)
    return;
  bool failed = mcc_elm_memory_left (&self->memory, layer, self->now);
  if (reason == MCC_ELM_REASON_OVERLOAD || self->trial.heavy > 0)
    mcc_elm_fair_recall (&self->fair);
  if (reason == MCC_ELM_REASON_ABSENT) {
    push_failed (self, layer, reason);
    return;
  }
  if (failed) {
    if (reason != MCC_ELM_REASON_RATE && mcc_elm_receiver_was_alone (self))
      mcc_elm_memory_hold (&self->memory, layer, self->now);
    push_failed (self, layer, reason);
    if (reason != MCC_ELM_REASON_RATE)
      forget_trial (self, layer);
  }
  mcc_elm_receiver_note (self, layer, MCC_ELM_DROPPED | (failed ? MCC_ELM_FAILED : 0));
}

/* The network goes on sending what was left, and the queue that it passes delays the news: losses
 * of that time are not of this level. */
static void
settle_down (MccElmReceiver *self)
{
  MccTime until = self->left + self->config.leave_latency + DRAIN
                  + mcc_time_min (mcc_elm_receiver_rtt (self), DRAIN_RTT_MAX);
  self->settled = mcc_time_max (self->settled, until);
  self->left_ends = until;
  if (mcc_elm_receiver_is_enhanced (self))
    mcc_asmp_path_excuse_losses (
        &self->path, mcc_time_max (self->settled, self->path.excuse_until));
}

void
mcc_elm_receiver_drop_layer (MccElmReceiver *self, MccElmReason reason)
{
  unsigned layer = (unsigned)self->wanted;
  int from = self->level;
  bool arrived = self->level == self->wanted;
  self->join_deadline = MCC_TIME_NONE;
  judge (self, layer, reason);
  self->wanted--;
  if (arrived)
    self->level--;
  self->stats.leaves++;
  self->left = self->now;
  mcc_elm_receiver_push (self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_LEAVE,
                                   .layer = layer,
                                   .from = from,
                                   .level = self->level,
                                   .group = self->group[layer],
                                   .reason = reason });
  settle_down (self); /* of one that has not come yet, too: it may be on its way */
  if (!arrived)
    return;
  splice (self);
  self->clear_since = MCC_TIME_NONE;
  self->draining = true;
  self->queue_rose = false;
  self->queue_before = MCC_TIME_NONE;
  push_level (self, from, reason, 0);
}

void
mcc_elm_receiver_drop_to (MccElmReceiver *self, int level, MccElmReason reason)
{
  while (self->wanted > level)
    mcc_elm_receiver_drop_layer (self, reason);
}

void
mcc_elm_receiver_note_round (MccElmReceiver *self, uint32_t send_time)
{
  uint32_t round = mcc_elm_layers_round (&self->layers, send_time);
  /* Further back than send times reach it is a sender that has begun anew, unheard. */
  if (self->has_round && self->round - round < ROUNDS_LATE)
    return;
  self->new_round = self->has_round;
  self->has_round = true;
  self->round = round;
}

static MccElmStrategyInput
strategy_input (const MccElmReceiver *self)
{
  return (MccElmStrategyInput){ .now = self->now,
    .x_bps = mcc_elm_receiver_x_bps (self),
    .layers = &self->layers,
    .level = (unsigned)self->level,
    .may_join = may_join (self) };
}

/* Jain's index of B and X depends on |ln (B / X)| alone: the level that is nearest to X is so by
 * that measure. */
static MccElmStrategyInput
nearest_input (const MccElmReceiver *self)
{
  MccElmStrategyInput input = strategy_input (self);
  const MccElmLayer *layer = &self->layers.layer[self->level];
  double own = (double)layer->cumulative_bps;
  if (input.may_join)
    input.join_bps = sqrt (own * (double)layer[1].cumulative_bps);
  if (self->level > 0)
    input.leave_bps = sqrt (own * (double)layer[-1].cumulative_bps);
  if (isinf (input.x_bps) && self->now >= self->others_until)
    return input;
  if (self->slow_start.active) {
    input.x_bps = mcc_elm_fair_at_least (&self->fair, 0.5);
    return input;
  }
  double most = mcc_elm_fair_at_least (&self->fair, 1.0 - SURE);
  double least = mcc_elm_fair_at_least (&self->fair, SURE);
  input.x_bps = most < input.leave_bps ? most : fmax (least, input.leave_bps);
  return input;
}

static void
decide_published (MccElmReceiver *self)
{
  MccElmSlowStart *slow = &self->slow_start;
  if (self->wanted != self->level)
    return;
  mcc_elm_slow_start_look (slow, &self->layers, (unsigned)self->level, self->calculated_bps,
      mcc_loss_events (self->path.loss), mcc_loss_packets_received (self->path.loss), self->now);
  if (slow->active) {
    if (may_join (self) && mcc_elm_slow_start_due (slow, self->now))
      mcc_elm_receiver_join (self, MCC_ELM_REASON_SLOW_START);
    return;
  }
  MccElmStrategyInput input = strategy_input (self);
  int step = self->config.strategy->decide (&self->strategy, &input);
  if (step > 0)
    mcc_elm_receiver_join (self, MCC_ELM_REASON_RATE);
  else if (step < 0)
    mcc_elm_receiver_drop_layer (self, MCC_ELM_REASON_RATE);
}

/* A queue that falls without a leave, or after a burst, of ours is not ours alone. */
static void
look_for_others (MccElmReceiver *self, MccTime least)
{
  if (self->queue_before == MCC_TIME_NONE)
    return;
  self->queue_rose |= least > self->queue_before + RISE;
  bool burst = self->burst_last != MCC_TIME_NONE && self->now - self->burst_last <= BURST_OVER;
  if (self->queue_rose && !burst && self->queue_before > 2 * MCC_ELM_CLEAR_QUEUE
      && least < self->queue_before / 2)
    self->others_until = self->now + OTHERS_TIME;
}

static MccElmVerdict
look_at_trial (MccElmReceiver *self)
{
  bool ended;
  MccElmTrialInput input = { .now = self->now,
    .rtt = mcc_asmp_path_base_rtt (&self->path),
    .received = mcc_loss_packets_received (self->path.loss),
    .lost = mcc_loss_packets_lost (self->path.loss),
    .queue_least = self->queue_least == MCC_TIME_NONE ? 0 : self->queue_least,
    .queue_top = mcc_overflow_longest (&self->path.overflow),
    .packet_bytes = mcc_loss_mean_packet_bytes (self->path.loss),
    .alone = mcc_elm_receiver_was_alone (self),
    .sent_bps = (double)self->layers.layer[self->level].cumulative_bps };
  MccElmVerdict verdict = mcc_elm_trial_look (&self->trial, &input, &ended);
  if (!ended)
    return verdict;
  bool clear = !(self->trial.fraction > 0.0) && input.queue_least < MCC_ELM_CLEAR_QUEUE;
  self->clear_since = clear ? mcc_time_min (self->clear_since, self->now) : MCC_TIME_NONE;
  /* What a layer that was left has put into the queue drains: its effect is not over. */
  self->draining = self->left != MCC_TIME_NONE && self->now - self->left < DRAIN_MAX
                   && input.queue_least > MCC_ELM_CLEAR_QUEUE
                   && input.queue_least < self->queue_before;
  look_for_others (self, input.queue_least);
  mcc_elm_receiver_note_queue (self, input.queue_least < MCC_ELM_CLEAR_QUEUE);
  self->queue_before = input.queue_least;
  self->queue_least = MCC_TIME_NONE;
  return verdict;
}

/* A newcomer beside others that may take far more need not try each layer to the end. */
static bool
is_far_below (const MccElmReceiver *self)
{
  double x_bps = mcc_elm_fair_at_least (&self->fair, SURE);
  return self->slow_start.active && self->trial.unusual == 0 && isfinite (x_bps)
         && x_bps >= FAR_BELOW * nearest_input (self).join_bps;
}

static void
join_at_round (MccElmReceiver *self)
{
  bool begins = self->new_round, unlimited = mcc_elm_receiver_is_alone (self);
  self->new_round = false;
  if (!begins || !may_join (self) || self->now < self->settled
      || (mcc_elm_trial_active (&self->trial, self->now) && (unlimited || !is_far_below (self)))
      || ((unlimited || mcc_elm_receiver_queue_is_ours (self))
          && mcc_elm_receiver_link_refuses (self)))
    return;
  if (self->slow_start.active && (self->clear_since != MCC_TIME_NONE || !unlimited)
      && mcc_elm_fair_at_least (&self->fair, 0.5) >= nearest_input (self).join_bps)
    mcc_elm_receiver_join (self, MCC_ELM_REASON_SLOW_START);
  else if (unlimited && mcc_elm_receiver_looks_free (self))
    mcc_elm_receiver_join (self, MCC_ELM_REASON_PROBE);
  else if (!unlimited && self->wants_join)
    mcc_elm_receiver_join (self, MCC_ELM_REASON_RATE);
}

static void
measure_fair (MccElmReceiver *self)
{
  const MccAsmpPath *path = &self->path;
  mcc_elm_fair_look (
      &self->fair, &(MccElmFairInput){ .now = self->now,
                       .measuring = self->wanted == self->level
                                    && !mcc_elm_patience_is_ready (&self->patience, self->now)
                                    && self->now >= path->excuse_until && path->rtt.measured,
                       .received = mcc_loss_packets_received (path->loss),
                       .lost = mcc_loss_packets_lost (path->loss),
                       .events = mcc_loss_events (path->loss),
                       .packet_bytes = mcc_loss_mean_packet_bytes (path->loss),
                       .sent_bps = (double)self->layers.layer[self->level].cumulative_bps,
                       .rtt_s = mcc_time_to_seconds (mcc_elm_receiver_rtt (self)) });
}

/* What was lost at the level above says little of this one. */
static bool
is_fresh (MccElmReceiver *self)
{
  uint64_t received = mcc_loss_packets_received (self->path.loss);
  self->fresh = received < self->fresh ? received : self->fresh;
  return received - self->fresh >= MCC_ELM_TRIAL_PACKETS;
}

static void
decide_enhanced (MccElmReceiver *self)
{
  if (self->now < self->tick)
    return;
  MccTime passed = self->now - self->ticked;
  self->tick = self->now + TICK;
  self->ticked = self->now;
  if (self->path.rtt.measured)
    mcc_elm_rate_handle_rtt (&self->rate, mcc_elm_receiver_rtt (self));
  if (self->now - self->heard >= MCC_TIME_ABSENCE || self->lost)
    return; /* silence is no rate */
  bool patient = mcc_elm_receiver_be_patient (self, passed);
  measure_fair (self);
  if (self->now < self->settled && self->draining)
    settle_down (self);
  bool calm = self->now >= self->settled || mcc_elm_trial_active (&self->trial, self->now);
  if (self->wanted != self->level || !calm || patient) {
    if (self->wanted == self->level && !calm)
      mcc_elm_trial_pause (&self->trial);
    /* While another one tries a layer time stands still; a level of our own begins anew. */
    if (self->wanted == self->level && calm) {
      mcc_elm_trial_shift (&self->trial, passed, self->now);
      mcc_elm_strategy_shift (&self->strategy, passed);
    } else {
      mcc_elm_strategy_reset (&self->strategy);
    }
    self->new_round = false;
    self->fresh = mcc_loss_packets_received (self->path.loss);
    return;
  }
  MccElmVerdict verdict = look_at_trial (self);
  if (mcc_elm_trial_active (&self->trial, self->now) && mcc_elm_receiver_was_alone (self)
      && mcc_elm_receiver_link_is_full (self))
    verdict = MCC_ELM_TOO_MUCH;
  if (verdict != MCC_ELM_BEARS && self->level > 0) {
    mcc_elm_receiver_drop_layer (
        self, verdict == MCC_ELM_OVERLOAD ? MCC_ELM_REASON_OVERLOAD : MCC_ELM_REASON_LOSS);
    return;
  }
  mcc_elm_slow_start_look (&self->slow_start, &self->layers, (unsigned)self->level,
      mcc_elm_receiver_x_bps (self), mcc_loss_events (self->path.loss),
      mcc_loss_packets_received (self->path.loss), self->now);
  MccElmStrategyInput input = nearest_input (self);
  int step = self->config.strategy->decide (&self->strategy, &input);
  self->wants_join = step > 0;
  if (self->draining) {
    mcc_elm_strategy_reset (&self->strategy);
    self->new_round = false;
    return;
  }
  if (step < 0 && !self->slow_start.active && is_fresh (self)
      && !mcc_elm_trial_active (&self->trial, self->now))
    mcc_elm_receiver_drop_layer (self, MCC_ELM_REASON_RATE);
  else
    join_at_round (self);
}

static void
tell_rate (MccElmReceiver *self)
{
  double x_bps = mcc_elm_receiver_x_bps (self);
  uint64_t bps = x_bps < (double)MCC_APP_REPORT_RATE_MAX ? (uint64_t)x_bps : UINT64_MAX;
  double told = (double)self->told_bps;
  if (self->told_bps == bps || fabs ((double)bps - told) <= RATE_STEP * told)
    return;
  self->told_bps = bps;
  mcc_elm_receiver_push (
      self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_RATE, .rate_bps = bps });
}

void
mcc_elm_receiver_decide (MccElmReceiver *self)
{
  if (self->level < 0)
    return;
  if (mcc_elm_receiver_is_enhanced (self))
    decide_enhanced (self);
  else
    decide_published (self);
  tell_rate (self);
}

MccTime
mcc_elm_receiver_level_next (const MccElmReceiver *self)
{
  if (self->level < 0 || self->lost)
    return MCC_TIME_NONE;
  if (mcc_elm_receiver_is_enhanced (self))
    return self->tick;
  if (self->wanted != self->level)
    return MCC_TIME_NONE;
  MccTime next = self->slow_start.active ? mcc_elm_slow_start_next (&self->slow_start, self->now)
                                         : self->strategy.next;
  return next > self->now ? next : MCC_TIME_NONE;
}

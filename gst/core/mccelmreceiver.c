/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmreceiverprivate.h"
#include "mcctcp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* RFC 5104 3.5.1 leaves it open: while no picture comes. */
#define KEY_UNIT_INTERVAL MCC_SECOND
#define KEY_UNIT_INTERVAL_MAX (16 * MCC_SECOND)
#define HISTORY_ENHANCED 32 /* as ASMP's; docs/design/elm.md */
#define HISTORY 8           /* thesis 6.2 */
/* Of a layer that does not come; ours. */
#define ABSENT_PACKETS 3                   /* sent of it since its join */
#define GONE_PACKETS 8                     /* ... since the newest that came */
#define RESTS_PACKETS 16                   /* that came since its join: the source does not rest */
#define JOIN_TIMEOUT_MAX (60 * MCC_SECOND) /* ... while it does */
#define EMPTY_HEARD (2 * MCC_SECOND)       /* ago at most, for their word to be of now */

const char *
mcc_elm_reason_name (MccElmReason reason)
{
  static const char *const names[] = { "start", "slow-start", "rate", "probe", "loss", "overload",
    "absent", "max-level", "layers" };
  return (unsigned)reason < sizeof names / sizeof names[0] ? names[reason] : "unknown";
}

void
mcc_elm_receiver_push (MccElmReceiver *self, const MccElmReceiverAction *action)
{
  bool own = action->type == MCC_ELM_RECEIVER_JOIN || action->type == MCC_ELM_RECEIVER_LEAVE
             || action->type == MCC_ELM_RECEIVER_LEVEL;
  unsigned room = MCC_ELM_ACTIONS - self->action_count;
  if (!own && room <= MCC_ELM_ACTIONS_OWN)
    return; /* a host that does not poll */
  if (room == 0) {
    self->action_head = (self->action_head + 1) % MCC_ELM_ACTIONS;
    self->action_count--;
  }
  self->action[(self->action_head + self->action_count++) % MCC_ELM_ACTIONS] = *action;
}

MccDrop
mcc_elm_receiver_drop (MccElmReceiver *self, MccDrop reason)
{
  self->stats.dropped[reason]++;
  return reason;
}

void
mcc_elm_receiver_restart_sequence (MccElmReceiver *self, int but)
{
  mcc_elm_sequence_restart (&self->sequence, but);
  self->join_sent = 0;
  self->join_received = mcc_loss_packets_received (self->path.loss);
}

void
mcc_elm_receiver_advance (MccElmReceiver *self, MccTime now)
{
  assert (now >= self->now && now != MCC_TIME_NONE);
  MccTime away = now - self->now;
  if (away >= MCC_TIME_ABSENCE
      && mcc_time_absent (self->now, mcc_elm_receiver_next_timeout (self), now)) {
    mcc_asmp_path_excuse (&self->path, now);
    mcc_elm_trial_pause (&self->trial);
    mcc_elm_strategy_reset (&self->strategy);
    self->heard += away;
    self->base_heard += away;
    self->layers_time += away;
    if (self->join_deadline != MCC_TIME_NONE)
      self->join_deadline += away;
    mcc_elm_receiver_restart_sequence (self, -1);
  }
  self->now = now;
}

MccElmReceiver *
mcc_elm_receiver_new (const MccElmReceiverConfig *config, MccTime now)
{
  MccElmReceiver *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  self->config = *config;
  if (config->strategy == NULL)
    self->config.strategy = &mcc_elm_lazy;
  if (config->timers.join_delay_max == 0)
    self->config.timers = *mcc_elm_timers (config->variant);
  if (config->slow_start_interval == 0)
    self->config.slow_start_interval = MCC_ELM_SLOW_START_INTERVAL;
  if (config->leave_latency == 0)
    self->config.leave_latency = MCC_ELM_LEAVE_LATENCY;
  bool enhanced = config->variant == MCC_VARIANT_ENHANCED;
  const MccLossMeasure *measure = enhanced ? &mcc_loss_lip : &mcc_loss_window;
  MccLossConfig loss = config->loss_config;
  if (loss.history == 0) {
    loss = mcc_loss_config_default;
    loss.history = enhanced ? HISTORY_ENHANCED : HISTORY;
    loss.virtual_bytes = config->loss_config.virtual_bytes;
  }
  self->now = now;
  mcc_rng_init (&self->rng, config->seed);
  /* The clock-free form of the RTT, whatever the variant: see mccelmreceiverapp.c. */
  if (!mcc_asmp_path_init (&self->path, MCC_VARIANT_ENHANCED,
          mcc_loss_new (config->loss != NULL ? config->loss : measure, &loss))) {
    free (self);
    return NULL;
  }
  self->level = self->wanted = MCC_ELM_NO_LEVEL;
  mcc_elm_receiver_restart (self);
  return self;
}

void
mcc_elm_receiver_free (MccElmReceiver *self)
{
  if (self == NULL)
    return;
  mcc_asmp_path_clear (&self->path);
  free (self);
}

double
mcc_elm_receiver_x_bps (const MccElmReceiver *self)
{
  return mcc_elm_receiver_is_enhanced (self) ? mcc_elm_fair_get (&self->fair)
                                             : mcc_elm_rate_get (&self->rate);
}

static void
note_queue (MccElmReceiver *self)
{
  self->queue_least = mcc_time_min (self->queue_least, self->path.queue_newest);
}

/* X of this moment; published: once a packet. */
static void
calculate (MccElmReceiver *self)
{
  double loss = mcc_loss_ratio (self->path.loss);
  double packet_bytes = mcc_loss_mean_packet_bytes (self->path.loss);
  if (!(loss > 0.0) || !(packet_bytes > 0.0)) {
    self->calculated_bps = INFINITY;
    mcc_elm_rate_forget (&self->rate);
    return;
  }
  self->calculated_bps = mcc_elm_rate_calculate (&self->rate, packet_bytes, loss);
  if (!mcc_elm_receiver_is_enhanced (self))
    mcc_elm_rate_add (&self->rate, self->calculated_bps);
}

void
mcc_elm_receiver_plan_key_unit (MccElmReceiver *self)
{
  self->key_next = self->picture ? MCC_TIME_NONE : self->now;
  self->key_wait = KEY_UNIT_INTERVAL;
}

static void
begin_base (MccElmReceiver *self)
{
  self->lost = false;
  mcc_elm_receiver_plan_first (self);
  mcc_elm_receiver_plan_key_unit (self);
}

/* Of the layer as it is described, or, until that comes, as it was when we joined it. */
static bool
is_of_layer (MccElmReceiver *self, unsigned layer, uint32_t ssrc)
{
  bool joined = (int)layer <= self->wanted;
  if (ssrc != self->layers.layer[layer].ssrc)
    return joined && layer > 0 && ssrc == self->group[layer].ssrc;
  if (joined)
    self->group[layer].ssrc = ssrc;
  return true;
}

/* What a packet of @layer says that was sent of those above. */
static void
look_above (MccElmReceiver *self, unsigned layer, const uint16_t *c)
{
  for (int k = (int)layer + 1; k <= self->wanted; k++) {
    MccTime since;
    unsigned sent = mcc_elm_sequence_missing (&self->sequence, (unsigned)k, c, self->now, &since);
    if (k > self->level) {
      self->join_sent = sent;
    } else if (sent >= GONE_PACKETS && self->now - since >= MCC_ELM_JOIN_TIMEOUT) {
      mcc_elm_receiver_drop_to (self, k - 1, MCC_ELM_REASON_ABSENT);
      return;
    }
  }
}

/* The layer that is joined has not come in time: a source that rests, or an outage, says nothing of
 * it. Of one that is empty, which costs nothing, others' packets say that nothing is sent; those
 * above it can be had. */
static void
join_is_due (MccElmReceiver *self)
{
  uint64_t came = mcc_loss_packets_received (self->path.loss) - self->join_received;
  bool rests = came < RESTS_PACKETS;
  if (self->join_sent == 0 && !rests && self->now - self->heard < EMPTY_HEARD)
    mcc_elm_receiver_arrive (self);
  else if (self->join_sent < ABSENT_PACKETS && rests
           && self->now - self->join_time < JOIN_TIMEOUT_MAX)
    self->join_deadline = self->now + MCC_SECOND;
  else
    mcc_elm_receiver_drop_layer (self, MCC_ELM_REASON_ABSENT);
}

MccDrop
mcc_elm_receiver_handle_rtp (MccElmReceiver *self, unsigned layer, const MccRtpPacket *packet,
    const uint16_t *c, unsigned count, const MccAddress *from, MccTime now)
{
  mcc_elm_receiver_advance (self, now);
  if (!self->has_layers || layer >= self->layers.count || !is_of_layer (self, layer, packet->ssrc))
    return mcc_elm_receiver_drop (self, MCC_DROP_OTHER_SENDER);
  if (mcc_elm_receiver_is_elsewhere (self, from))
    return mcc_elm_receiver_drop (self, MCC_DROP_ADDRESS);
  if ((int)layer > self->wanted) /* read after the leave */
    return mcc_elm_receiver_drop (self, MCC_DROP_STALE);
  if (count != self->layers.count) /* not the layers that were described */
    return mcc_elm_receiver_drop (self, MCC_DROP_BAD_VALUE);
  self->heard = now;
  if (layer == 0) {
    self->base_heard = now;
    if (self->lost && !self->bye)
      begin_base (self);
  }
  if ((int)layer > self->level)
    mcc_elm_receiver_arrive (self);
  if (layer == 0)
    mcc_seq_extend16 (&self->base_seq, packet->seq);
  MccRtpPacket merged = *packet;
  merged.ecn = MCC_ECN_NOT_ECT; /* layers are not sent as ECN-capable */
  if (!mcc_elm_sequence_number (&self->sequence, layer, c, packet, now, &merged.seq))
    return MCC_DROP_NONE;
  if (!mcc_asmp_path_handle_packet (&self->path, &merged, now))
    return MCC_DROP_NONE;
  if (self->path.numbering.outage == now) /* it shows this layer's gap, and no other's */
    mcc_elm_receiver_restart_sequence (self, (int)layer);
  look_above (self, layer, c);
  note_queue (self);
  mcc_elm_receiver_note_link (self, packet->bytes);
  calculate (self);
  if (packet->has_send_time)
    mcc_elm_receiver_note_round (self, packet->send_time);
  mcc_elm_receiver_decide (self);
  return MCC_DROP_NONE;
}

void
mcc_elm_receiver_handle_picture (MccElmReceiver *self, bool shown, MccTime now)
{
  mcc_elm_receiver_advance (self, now);
  self->picture = shown;
  if (shown || (self->level != MCC_ELM_NO_LEVEL && self->key_next == MCC_TIME_NONE))
    mcc_elm_receiver_plan_key_unit (self);
}

void
mcc_elm_receiver_handle_host_dropped (MccElmReceiver *self, uint64_t packets, MccTime now)
{
  mcc_elm_receiver_advance (self, now);
  mcc_asmp_path_handle_host_dropped (&self->path, packets, now);
}

void
mcc_elm_receiver_set_ssrc (MccElmReceiver *self, uint32_t ssrc)
{
  self->config.ssrc = ssrc;
}

void
mcc_elm_receiver_set_max_level (MccElmReceiver *self, int max_level, MccTime now)
{
  mcc_elm_receiver_advance (self, now);
  self->config.max_level = max_level;
  if (max_level >= 0 && self->wanted > max_level)
    mcc_elm_receiver_drop_to (self, max_level, MCC_ELM_REASON_MAX_LEVEL);
  mcc_elm_strategy_reset (&self->strategy);
}

static void
look_for_sender (MccElmReceiver *self)
{
  if (self->has_layers && !self->lost && mcc_elm_receiver_sender_gone (self)) {
    self->lost = true;
    mcc_elm_receiver_push (self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_LOST,
                                     .ssrc = self->layers.layer[0].ssrc });
  }
}

/* RFC 8083, at the base layer: there is nothing lower. */
static void
look_at_breaker (MccElmReceiver *self)
{
  double loss = mcc_loss_ratio (self->path.loss);
  double packet_bytes = mcc_loss_mean_packet_bytes (self->path.loss);
  bool known = self->path.rtt.measured && loss > 0.0 && packet_bytes > 0.0;
  MccBreakerInput seen = { .now = self->now,
    .received = mcc_loss_packets_received (self->path.loss),
    .lost = mcc_loss_packets_lost (self->path.loss),
    .received_bps = mcc_asmp_path_received_bps (&self->path, self->now),
    .allowed_bps = known ? mcc_tcp_rate_bps (&mcc_tcp_model_default, packet_bytes,
                       mcc_time_to_seconds (mcc_elm_receiver_rtt (self)), loss)
                         : INFINITY,
    .least_bps
    = mcc_elm_receiver_is_enhanced (self) && self->level == 0 && self->wanted == 0 && !self->lost };
  MccBreakerVerdict verdict = mcc_breaker_look (&self->breaker, &seen);
  if (verdict == MCC_BREAKER_CLOSED || self->ceased)
    return;
  self->ceased = true;
  self->reporting = false;
  mcc_elm_receiver_push (self,
      &(MccElmReceiverAction){
          .type = MCC_ELM_RECEIVER_CEASE, .ssrc = self->layers.layer[0].ssrc, .breaker = verdict });
}

void
mcc_elm_receiver_handle_timeout (MccElmReceiver *self, MccTime now)
{
  mcc_elm_receiver_advance (self, now);
  if (!self->has_layers)
    return;
  look_for_sender (self);
  if (now >= self->join_deadline)
    join_is_due (self);
  mcc_elm_receiver_decide (self);
  look_at_breaker (self);
  mcc_elm_receiver_report_timeout (self);
  if (now >= self->left_ends) {
    self->left_ends = MCC_TIME_NONE;
    if (mcc_elm_receiver_is_enhanced (self) && self->level != MCC_ELM_NO_LEVEL) {
      mcc_elm_receiver_push (self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_LEFT });
      mcc_elm_receiver_plan_key_unit (self);
    }
  }
  if (now >= self->key_next) {
    self->key_next = now + self->key_wait;
    self->key_wait = mcc_time_min (2 * self->key_wait, KEY_UNIT_INTERVAL_MAX);
    mcc_elm_receiver_push (self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_KEY_UNIT,
                                     .group = self->layers.layer[0] });
  }
}

MccTime
mcc_elm_receiver_next_timeout (const MccElmReceiver *self)
{
  if (!self->has_layers)
    return MCC_TIME_NONE;
  MccTime next = mcc_time_min (self->join_deadline, self->key_next);
  next = mcc_time_min (next, self->left_ends);
  next = mcc_time_min (next, mcc_elm_receiver_report_next (self));
  next = mcc_time_min (next, mcc_elm_receiver_level_next (self));
  if (!self->lost) {
    MccTime newest = mcc_time_max (self->base_heard, self->layers_time);
    next = mcc_time_min (next, newest + MCC_ELM_SENDER_TIMEOUT);
  }
  return next;
}

bool
mcc_elm_receiver_poll (MccElmReceiver *self, MccElmReceiverAction *out)
{
  if (self->action_count == 0)
    return false;
  *out = self->action[self->action_head];
  self->action_head = (self->action_head + 1) % MCC_ELM_ACTIONS;
  self->action_count--;
  return true;
}

bool
mcc_elm_receiver_poll_trace (MccElmReceiver *self, MccTraceEvent *out)
{
  return mcc_trace_poll (&self->trace, out);
}

const MccElmLayers *
mcc_elm_receiver_layers (const MccElmReceiver *self)
{
  return self->has_layers ? &self->layers : NULL;
}

const MccAppSession *
mcc_elm_receiver_session (const MccElmReceiver *self)
{
  return self->has_session ? &self->session : NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsendertarget: the laws of the ASMP sender's target.
 */
#include "mccasmpsenderprivate.h"
#include "mccrtcp.h"

static uint64_t
clamp_bps (const MccAsmpSender *self, uint64_t rate_bps)
{
  if (rate_bps < self->config.min_bps)
    return self->config.min_bps;
  return rate_bps > self->config.max_bps ? self->config.max_bps : rate_bps;
}

static void
set_target (MccAsmpSender *self, uint64_t target_bps, MccTargetReason reason)
{
  uint64_t previous_bps = self->target_bps;
  self->reason = reason;
  if (target_bps == previous_bps)
    return;
  self->target_bps = target_bps;
  mcc_asmp_sender_push_target (self, previous_bps);
}

/* The RTT that paces a rise. */
static MccTime
pacing_rtt (const MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  MccTime rtt = limiting != NULL ? mcc_asmp_sender_receiver_rtt (limiting) : 0;
  if (rtt == 0)
    rtt = mcc_asmp_sender_rtt_max (self);
  if (rtt == 0)
    rtt = MCC_SENDER_RTT_FALLBACK;
  return mcc_time_clamp (rtt, MCC_SENDER_RISE_PERIOD, MCC_SENDER_RTT_COUNTED);
}

/* One packet per @rtt, in bit/s. */
static uint64_t
packet_step_bps (const MccAsmpSender *self, MccTime rtt)
{
  return (uint64_t)(8.0 * self->packet_bytes / mcc_time_to_seconds (rtt));
}

static MccTime
round_length (MccTime rtt_max)
{
  MccTime rtt = rtt_max > 0 ? rtt_max : MCC_SENDER_RTT_FALLBACK;
  return mcc_time_max (MCC_SENDER_ROUND_RTTS * rtt, 500 * MCC_MSECOND);
}

MccTime
mcc_asmp_sender_round_length (const MccAsmpSender *self)
{
  return round_length (mcc_asmp_sender_rtt_max (self));
}

/* The largest RTT of those who stay when the limiting receiver goes. In a large group its own
 * counts as well: not all who share its path are known. */
static MccTime
rtt_max_of_others (const MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  MccTime rtt = 0;
  if (mcc_asmp_sender_group (self) > MCC_SENDER_LARGE || self->receivers.count < 2)
    return mcc_asmp_sender_rtt_max (self);
  for (unsigned i = 0; i < self->receivers.count; i++) {
    const MccReceiver *receiver = mcc_receivers_get (&self->receivers, MCC_ORDER_RTT, i);
    if (receiver != limiting)
      rtt = mcc_time_max (rtt, UINT64_MAX - receiver->key[MCC_ORDER_RTT]);
  }
  return mcc_time_min (rtt, MCC_SENDER_RTT_COUNTED);
}

/* What was carried lately by all who are there since @since. In a large group not all are known. */
static uint64_t
carried_bps (const MccAsmpSender *self, MccTime since)
{
  if (self->config.one_of_many || mcc_asmp_sender_group (self) > MCC_SENDER_LARGE)
    return 0;
  return mcc_carried_bps (&self->carried, since, self->now);
}

/* Since when all have been there but the limiting receiver. */
static MccTime
others_since (const MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  bool came_last = limiting != NULL && self->joined[0].ssrc == limiting->ssrc;
  return self->joined[came_last ? 1 : 0].time;
}

void
mcc_asmp_sender_limit_gone (MccAsmpSender *self, bool left)
{
  /* A feedback round passes before anything rises, so that those behind the same bottleneck are
   * heard first. */
  self->rise = MCC_RISE_PACKET;
  self->rise_since = self->now;
  /* RFC 4585 8: to disbelieve must not raise the rate; nor must silence, behind which the path may
   * be as slow as before. */
  self->back_bps = left ? carried_bps (self, others_since (self)) : 0;
  self->rise_next = self->now + round_length (rtt_max_of_others (self));
  self->limiting = MCC_RECEIVERS_NONE;
}

/* In a large group a receiver reports once in minutes: what it said then is no limit now. One whom
 * the target exceeds reports early. */
static void
forget_old_limits (MccAsmpSender *self)
{
  MccTime life = mcc_time_max (MCC_SENDER_LIMIT_LIFE, 2 * mcc_asmp_sender_round_length (self));
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  MccReceiver *first = mcc_receivers_first (&self->receivers, MCC_ORDER_RATE);
  while (first != NULL && first != limiting && !first->plain
         && first->key[MCC_ORDER_RATE] != MCC_RECEIVERS_NO_KEY
         && self->now - first->last_report > life) {
    mcc_receivers_set_key (&self->receivers, first, MCC_ORDER_RATE, MCC_RECEIVERS_NO_KEY);
    first = mcc_receivers_first (&self->receivers, MCC_ORDER_RATE);
  }
}

/* Who limits now. Of equals the present one stays, so that the limit does not flap. */
static void
update_limiting (MccAsmpSender *self)
{
  if (mcc_asmp_sender_enhanced (self) && mcc_asmp_sender_group (self) > MCC_SENDER_LARGE)
    forget_old_limits (self);
  MccReceiver *first = mcc_receivers_first (&self->receivers, MCC_ORDER_RATE);
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  uint64_t limit_bps = first != NULL ? first->key[MCC_ORDER_RATE] : MCC_RECEIVERS_NO_KEY;

  if (limiting != NULL && limit_bps == limiting->key[MCC_ORDER_RATE]
      && limit_bps != MCC_RECEIVERS_NO_KEY)
    return;
  bool limited = limiting != NULL;
  self->limiting = limit_bps != MCC_RECEIVERS_NO_KEY ? mcc_receivers_slot (&self->receivers, first)
                                                     : MCC_RECEIVERS_NONE;
  self->limiting_told = MCC_TIME_NONE;
  if (limited && limit_bps > self->target_bps && self->rise == MCC_RISE_FREE) {
    self->rise = MCC_RISE_PACKET;
    self->rise_since = 0; /* it was heard just now */
    self->back_bps = 0;
    self->rise_next = self->now + pacing_rtt (self);
  }
}

/* The rate sent lately: over MCC_SENDER_APP_WINDOW, or over its last part where that is more, for a
 * mean over all of it would hold back a doubling rate. At the start over MCC_SENDER_APP_MIN at
 * least, since one key unit sent at once is no rate. */
uint64_t
mcc_asmp_sender_sent_lately_bps (const MccAsmpSender *self)
{
  uint64_t all_bps = mcc_meter_rate_bps (&self->sent, MCC_SENDER_APP_WINDOW, self->now);
  uint64_t last_bps = mcc_meter_rate_bps (&self->sent, MCC_SENDER_APP_LAST, self->now);
  uint64_t sent_bps = all_bps > last_bps ? all_bps : last_bps;
  if (self->sent.first == MCC_TIME_NONE || self->now - self->sent.first >= MCC_SENDER_APP_MIN)
    return sent_bps;
  MccTime measured = mcc_time_max (self->now - self->sent.first, self->sent.slot_length);
  return (uint64_t)((double)sent_bps * (double)measured / (double)MCC_SENDER_APP_MIN);
}

/* What the receivers and the application allow. */
static uint64_t
allowed_bps (MccAsmpSender *self, MccTargetReason *reason)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  /* Nobody limits: nothing proves more than there is. */
  uint64_t limit_bps = limiting != NULL ? limiting->key[MCC_ORDER_RATE] : self->target_bps;
  uint64_t allowed = clamp_bps (self, limit_bps);

  if (limit_bps < self->config.min_bps)
    *reason = MCC_TARGET_MIN;
  else if (limit_bps >= self->config.max_bps) /* receivers clamp theirs to it */
    *reason = MCC_TARGET_MAX;
  else if (limiting != NULL)
    *reason = MCC_TARGET_RECEIVER;
  else /* of none who left */
    *reason = self->reason == MCC_TARGET_RECEIVER ? MCC_TARGET_START : self->reason;

  if (mcc_asmp_sender_enhanced (self)) {
    uint64_t sent_bps = mcc_asmp_sender_sent_lately_bps (self);
    uint64_t cap_bps = 2 * sent_bps > self->start_bps ? 2 * sent_bps : self->start_bps;
    /* It was not the application that sent so little until then. */
    if (self->rise != MCC_RISE_FREE)
      self->back_until = self->now + MCC_SENDER_APP_WINDOW;
    if (self->now < self->back_until && self->back_bps > cap_bps)
      cap_bps = self->back_bps;
    self->app_next = self->now + MCC_SENDER_APP_PERIOD;
    if (cap_bps < allowed) {
      allowed = cap_bps;
      *reason = MCC_TARGET_APP_LIMITED;
    }
  }
  return allowed;
}

/* One step of a rise that is not free. */
static void
rise_step (MccAsmpSender *self, uint64_t allowed, MccTargetReason reason)
{
  MccTime rtt = pacing_rtt (self);
  uint64_t target_bps = self->target_bps;

  if (self->now < self->rise_next)
    return;
  if (self->rise == MCC_RISE_DOUBLE) {
    self->rise_next = self->now + mcc_time_max (rtt, MCC_SENDER_RETURN_PERIOD);
    target_bps *= 2;
  } else {
    self->rise_next = self->now + rtt;
    /* Silence since the limit went away proves nothing. */
    if (self->rise_since != 0 && self->last_feedback <= self->rise_since)
      return;
    target_bps += packet_step_bps (self, rtt);
    target_bps = self->back_bps > target_bps ? self->back_bps : target_bps;
  }
  if (target_bps >= allowed) {
    target_bps = allowed;
    /* The cap by what was sent moves with it: the limit itself is not reached yet. */
    if (reason != MCC_TARGET_APP_LIMITED)
      self->rise = MCC_RISE_FREE;
  }
  set_target (self, target_bps, reason);
}

/* Without feedback nothing raises the target, but what is known of a receiver still binds: of one
 * that succeeds another with its SSRC, for example. */
static void
keep_limit (MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  if (limiting == NULL)
    return;
  uint64_t limit_bps = clamp_bps (self, limiting->key[MCC_ORDER_RATE]);
  if (limit_bps < self->target_bps)
    set_target (
        self, limit_bps, limit_bps == self->config.min_bps ? MCC_TARGET_MIN : MCC_TARGET_RECEIVER);
}

void
mcc_asmp_sender_update_target (MccAsmpSender *self)
{
  MccTargetReason reason;
  update_limiting (self);
  self->rising = false;
  if (self->lost || !self->heard) {
    keep_limit (self);
    return;
  }
  uint64_t allowed = allowed_bps (self, &reason);

  if (allowed <= self->target_bps) {
    /* With a limiting receiver the limit is there again; a rise it reports is free. */
    if (self->limiting != MCC_RECEIVERS_NONE && reason != MCC_TARGET_APP_LIMITED)
      self->rise = MCC_RISE_FREE;
    set_target (self, allowed, reason);
  } else if (self->now < self->full_until) {
    /* Somebody may be unheard: no rise. */
  } else if (!mcc_asmp_sender_enhanced (self) || self->rise == MCC_RISE_FREE) {
    set_target (self, allowed, reason);
  } else {
    rise_step (self, allowed, reason);
  }
  self->rising = self->target_bps < allowed;
}

/* A plain player's interval without loss, while nobody limits, and all that are believed are plain:
 * one packet per RTT more (ASMP eq. 13), by an eighth and once a second at most, since players
 * report seldom. */
void
mcc_asmp_sender_plain_rise (MccAsmpSender *self, const MccReceiver *receiver)
{
  bool others = self->active_plain + self->quarantined < self->active;
  if (self->lost || self->limiting != MCC_RECEIVERS_NONE || others
      || self->now < self->plain_rise_next || self->now < self->full_until)
    return;
  MccTime rtt = mcc_asmp_sender_receiver_rtt (receiver);
  uint64_t step_bps = packet_step_bps (self, rtt > 0 ? rtt : MCC_SENDER_RTT_FALLBACK);
  if (step_bps > self->target_bps / 8)
    step_bps = self->target_bps / 8;
  self->plain_rise_next = self->now + mcc_time_max (rtt, MCC_SENDER_PLAIN_RISE_PERIOD);
  uint64_t target_bps = clamp_bps (self, self->target_bps + step_bps);
  uint64_t sent_bps = mcc_asmp_sender_sent_lately_bps (self);
  if (target_bps <= self->start_bps || target_bps <= 2 * sent_bps)
    set_target (
        self, target_bps, target_bps == self->config.max_bps ? MCC_TARGET_MAX : MCC_TARGET_START);
}

/* Feedback. */

static MccTime
no_feedback_period (const MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  MccTime interval
      = limiting != NULL ? mcc_asmp_sender_interval (self, limiting) : self->feedback_interval;
  /* A receiver's own spacing is bounded; what all are asked for (ELM) is not its fault. */
  interval = mcc_time_min (
      interval, mcc_time_max (MCC_SENDER_NO_FEEDBACK_INTERVAL_MAX, self->report_interval));
  return mcc_time_max (MCC_SENDER_NO_FEEDBACK_INTERVALS * interval, MCC_SENDER_NO_FEEDBACK_MIN);
}

void
mcc_asmp_sender_feedback (MccAsmpSender *self, const MccReceiver *receiver)
{
  self->last_feedback = self->now;
  self->feedback_interval = mcc_asmp_sender_interval (self, receiver);
  self->heard = true;
  if (!self->lost)
    return;
  self->lost = false;
  self->stopped = false;
  self->rise = MCC_RISE_DOUBLE;
  self->back_bps = carried_bps (self, 0);
  self->rise_next = self->now + mcc_time_max (pacing_rtt (self), MCC_SENDER_RETURN_PERIOD);
}

static void
halve (MccAsmpSender *self, bool first)
{
  bool at_min = self->target_bps == self->config.min_bps && !first;
  self->halve_next = self->now + no_feedback_period (self);
  if (self->config.no_feedback == MCC_NO_FEEDBACK_HOLD)
    return;
  if (at_min) {
    self->stopped = self->config.no_feedback == MCC_NO_FEEDBACK_STOP;
    self->halve_next = self->stopped ? MCC_TIME_NONE : self->halve_next;
  }
  set_target (self, clamp_bps (self, self->target_bps / 2), MCC_TARGET_NO_FEEDBACK);
}

/* Without any until then there is none. Before the first packet, and behind the last one, nobody
 * could give it. */
static MccTime
feedback_due (const MccAsmpSender *self)
{
  if (self->ended)
    return MCC_TIME_NONE;
  return self->meter_started || self->heard ? self->last_feedback + no_feedback_period (self)
                                            : MCC_TIME_NONE;
}

void
mcc_asmp_sender_target_timeout (MccAsmpSender *self)
{
  update_limiting (self); /* its interval makes the period */
  if (!self->lost && self->now >= feedback_due (self)) {
    self->lost = true;
    self->rising = false;
    halve (self, true);
    return;
  }
  if (self->lost && !self->ended && self->now >= self->halve_next)
    halve (self, false);
  mcc_asmp_sender_update_target (self);
}

MccTime
mcc_asmp_sender_target_next (const MccAsmpSender *self)
{
  if (self->lost) {
    bool done = self->config.no_feedback == MCC_NO_FEEDBACK_HOLD || self->stopped || self->ended
                || (self->config.no_feedback == MCC_NO_FEEDBACK_MINIMUM
                    && self->target_bps == self->config.min_bps);
    return done ? MCC_TIME_NONE : self->halve_next;
  }
  MccTime next = feedback_due (self);
  if (!self->heard)
    return next;
  if (mcc_asmp_sender_enhanced (self))
    next = mcc_time_min (next, self->app_next);
  if (self->rising) {
    bool steps = self->rise != MCC_RISE_FREE && mcc_asmp_sender_enhanced (self);
    next = mcc_time_min (next, mcc_time_max (steps ? self->rise_next : 0, self->full_until));
  }
  return next;
}

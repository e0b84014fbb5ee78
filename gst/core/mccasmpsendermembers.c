/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsendermembers: who is a receiver of the ASMP sender, and for how long.
 */
#include "mccasmpsenderprivate.h"
#include "mccrtcp.h"

MccTime
mcc_asmp_sender_receiver_rtt (const MccReceiver *receiver)
{
  if (receiver->rtt_measured || receiver->effective_us == 0)
    return receiver->rtt_measured ? receiver->rtt_us * MCC_USECOND : 0;
  return receiver->effective_us * MCC_USECOND;
}

MccTime
mcc_asmp_sender_rtt_max (const MccAsmpSender *self)
{
  const MccReceiver *first = mcc_receivers_first (&self->receivers, MCC_ORDER_RTT);
  MccTime rtt = first != NULL ? UINT64_MAX - first->key[MCC_ORDER_RTT] : 0;
  return mcc_time_min (rtt, MCC_SENDER_RTT_COUNTED);
}

static MccTime
own_interval (const MccReceiver *receiver)
{
  return receiver->interval_us * MCC_USECOND;
}

static double
report_bytes (const MccAsmpSender *self)
{
  return MCC_SENDER_REPORT_BYTES + self->config.srtcp_bytes;
}

/* What the RTCP budget gives each of the receivers that do not limit. */
MccTime
mcc_asmp_sender_group_interval (const MccAsmpSender *self)
{
  const double ours = MCC_RTCP_RECEIVER_SHARE * (1.0 - MCC_RTCP_REGULAR_SHARE);
  bool enhanced = mcc_asmp_sender_enhanced (self);
  MccTime interval = mcc_rtcp_interval (self->target_bps, self->config.session_bandwidth_bps,
      enhanced ? ours - MCC_RTCP_LIMITING_SHARE : ours, mcc_asmp_sender_group (self) + 1,
      report_bytes (self));
  interval = mcc_time_max (interval, self->report_interval);
  return enhanced ? interval : mcc_time_max (interval, MCC_SENDER_RTCP_INTERVAL);
}

/* ... and the one that does. */
static MccTime
limiting_budget (const MccAsmpSender *self)
{
  return mcc_rtcp_interval (self->target_bps, self->config.session_bandwidth_bps,
      MCC_RTCP_LIMITING_SHARE, 1, report_bytes (self));
}

MccTime
mcc_asmp_sender_interval (const MccAsmpSender *self, const MccReceiver *receiver)
{
  MccTime own = own_interval (receiver);
  MccTime budget;
  if (receiver->plain)
    return mcc_time_max (own, MCC_SENDER_RTCP_INTERVAL);
  /* published: a fixed interval may be set there (1 s in the papers' runs): its spacing says. */
  if (own > 0 && !mcc_asmp_sender_enhanced (self))
    return mcc_time_max (own, self->report_interval);
  if (receiver == mcc_asmp_sender_limiting (self) && mcc_asmp_sender_enhanced (self))
    budget = mcc_time_max (limiting_budget (self), self->report_interval);
  else
    budget = mcc_asmp_sender_group_interval (self);
  return mcc_time_max (own, budget);
}

static MccTime
expiry (const MccReceiver *receiver, MccTime intervals)
{
  MccTime rtts = MCC_SENDER_EXPIRY_RTTS * mcc_asmp_sender_receiver_rtt (receiver);
  return mcc_time_max (mcc_time_max (intervals, rtts), MCC_SENDER_EXPIRY_MIN);
}

static MccTime
life (const MccAsmpSender *self, const MccReceiver *receiver)
{
  MccTime interval = mcc_asmp_sender_interval (self, receiver);
  if (receiver->plain)
    return MCC_SENDER_PLAIN_EXPIRY;
  if (receiver->leaving)
    return MCC_SENDER_EXPIRY_LEAVING;
  if (!mcc_asmp_sender_enhanced (self))
    return expiry (receiver, MCC_SENDER_PUBLISHED_EXPIRY_INTERVALS * interval);
  /* A wait is random, may be suppressed once, and pays for early reports: up to twice Td is
   * expected. */
  MccTime expected
      = mcc_time_max (own_interval (receiver), 2 * mcc_asmp_sender_group_interval (self));
  /* How a newcomer spaces its reports is not known yet. */
  if (receiver->state == MCC_RECEIVER_PROBATION)
    expected = mcc_time_max (expected, MCC_SENDER_PROBATION_INTERVAL);
  return expiry (
      receiver, MCC_SENDER_EXPIRY_INTERVALS * mcc_time_min (expected, MCC_SENDER_INTERVAL_MAX));
}

/* A plain report is about the media's SSRC, ours comes with a block about it. Where the media is
 * stopped, or waits for a receiver, nobody can hear it. */
bool
mcc_asmp_sender_hears (const MccAsmpSender *self, const MccReceiver *receiver)
{
  bool silent
      = self->stopped || (self->config.idles && mcc_asmp_sender_sent_lately_bps (self) == 0);
  return receiver->hears || receiver->plain || silent || !self->config.wants_block
         || !mcc_asmp_sender_enhanced (self);
}

void
mcc_asmp_sender_touch (MccAsmpSender *self, MccReceiver *receiver)
{
  if (receiver->reports > 0) {
    MccTime spacing
        = mcc_time_min (self->now - receiver->last_report, MCC_SENDER_INTERVAL_MAX) / MCC_USECOND;
    /* Quickly up, slowly down: a burst of early reports must not let the next regular one come
     * too late. */
    if (receiver->interval_us == 0)
      receiver->interval_us = (uint32_t)spacing;
    else if (spacing > receiver->interval_us)
      receiver->interval_us += (uint32_t)(spacing - receiver->interval_us) / 2;
    else
      receiver->interval_us -= (receiver->interval_us - (uint32_t)spacing) / 8;
  }
  if (receiver->reports < UINT8_MAX)
    receiver->reports++;
  receiver->last_report = self->now;
  mcc_receivers_set_key (
      &self->receivers, receiver, MCC_ORDER_EXPIRY, self->now + life (self, receiver));
  /* Who is not believed slows nobody either, nor who hears nothing. */
  bool believed
      = receiver->quarantine == MCC_QUARANTINE_NONE
        && (receiver->state == MCC_RECEIVER_ACTIVE || mcc_asmp_sender_hears (self, receiver));
  MccTime rtt = believed ? mcc_asmp_sender_receiver_rtt (receiver) : 0;
  mcc_receivers_set_key (&self->receivers, receiver, MCC_ORDER_RTT, UINT64_MAX - rtt);
}

void
mcc_asmp_sender_keep (MccAsmpSender *self, MccReceiver *receiver)
{
  MccTime expires = self->now + life (self, receiver);
  if (expires > receiver->key[MCC_ORDER_EXPIRY] && !receiver->leaving)
    mcc_receivers_set_key (&self->receivers, receiver, MCC_ORDER_EXPIRY, expires);
}

void
mcc_asmp_sender_prove (MccAsmpSender *self, MccReceiver *receiver)
{
  if (receiver->proven || !mcc_asmp_sender_hears (self, receiver))
    return;
  receiver->proven = true;
  self->unproven--;
  mcc_asmp_sender_no_stranger (self, receiver);
  mcc_receivers_unlink (&self->receivers, receiver, MCC_LIST_UNPROVEN);
  self->joined[1] = self->joined[0];
  self->joined[0].ssrc = receiver->ssrc;
  self->joined[0].time = self->now;
}

static void
activate (MccAsmpSender *self, MccReceiver *receiver)
{
  mcc_asmp_sender_prove (self, receiver);
  receiver->state = MCC_RECEIVER_ACTIVE;
  mcc_asmp_sender_inherit (self, receiver);
  mcc_asmp_sender_apply_limit (self, receiver);
  mcc_receivers_set_key (
      &self->receivers, receiver, MCC_ORDER_EXPIRY, receiver->last_report + life (self, receiver));
  self->active++;
  self->active_plain += receiver->plain;
  self->active_deaf += receiver->deaf;
  mcc_asmp_sender_push_receiver (self, receiver);
}

MccDrop
mcc_asmp_sender_settle (MccAsmpSender *self, MccReceiver *receiver)
{
  if (receiver->state == MCC_RECEIVER_ACTIVE)
    return MCC_DROP_NONE;
  if (mcc_asmp_sender_waits_for_name (self, receiver))
    return MCC_DROP_ADDRESS;
  if (receiver->reports < MCC_SENDER_PROBATION_REPORTS || !mcc_asmp_sender_hears (self, receiver))
    return MCC_DROP_PROBATION;
  activate (self, receiver);
  return MCC_DROP_NONE;
}

/* The address that held @ssrc is gone: one that contended with it may follow. */
static void
succeed (MccAsmpSender *self, uint32_t ssrc)
{
  MccReceiver *same[MCC_RECEIVERS_PER_SSRC];
  unsigned count = mcc_receivers_find_ssrc (&self->receivers, ssrc, same);
  for (unsigned i = 0; i < count; i++) {
    if (same[i]->state == MCC_RECEIVER_ACTIVE)
      continue;
    if (mcc_asmp_sender_settle (self, same[i]) == MCC_DROP_NONE) {
      if (self->limiting == MCC_RECEIVERS_NONE) /* its rate is one of before, as others' then */
        mcc_asmp_sender_limit_gone (self, false);
      self->last_feedback = mcc_time_max (self->last_feedback, same[i]->last_report);
      return;
    }
  }
}

void
mcc_asmp_sender_remove (MccAsmpSender *self, MccReceiver *receiver, MccReceiverState state)
{
  bool active = receiver->state == MCC_RECEIVER_ACTIVE;
  bool left = state == MCC_RECEIVER_LEFT || state == MCC_RECEIVER_MOVED;
  uint32_t ssrc = receiver->ssrc;

  if (active)
    mcc_asmp_sender_remember (self, receiver);
  if (receiver == mcc_asmp_sender_limiting (self))
    mcc_asmp_sender_limit_gone (self, left);
  if (receiver->proven && ssrc == self->joined[0].ssrc)
    self->joined[0] = self->joined[1];
  self->unproven -= !receiver->proven;
  mcc_asmp_sender_no_stranger (self, receiver);
  receiver->state = (uint8_t)state;
  if (active) {
    self->active--;
    self->active_plain -= receiver->plain;
    self->active_deaf -= receiver->deaf;
    self->quarantined -= receiver->quarantine != MCC_QUARANTINE_NONE;
    mcc_asmp_sender_push_receiver (self, receiver);
  }
  mcc_asmp_sender_give_back (self, receiver);
  mcc_receivers_remove (&self->receivers, receiver);
  if (active)
    succeed (self, ssrc);
}

/* The limiting receiver is asked to report often (its SSRC is announced): it may be silent for
 * less than others, from its last report or from when it was first named. */
static MccTime
limiting_expiry (const MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  if (limiting == NULL || limiting->plain || !mcc_asmp_sender_enhanced (self)
      || self->limiting_told == MCC_TIME_NONE)
    return MCC_TIME_NONE;
  MccTime life_time
      = expiry (limiting, MCC_SENDER_EXPIRY_INTERVALS * mcc_asmp_sender_interval (self, limiting));
  /* The rules that it reports by must not be its end: what little the slowest sessions give it, or
   * the interval that all are asked for (ELM). */
  MccTime asked = mcc_time_max (2 * limiting_budget (self), 3 * self->report_interval);
  MccTime most = mcc_time_max (MCC_SENDER_EXPIRY_LIMITING, asked);
  return mcc_time_max (limiting->last_report, self->limiting_told) + mcc_time_min (life_time, most);
}

MccTime
mcc_asmp_sender_next_expiry (const MccAsmpSender *self)
{
  const MccReceiver *first = mcc_receivers_first (&self->receivers, MCC_ORDER_EXPIRY);
  MccTime next = first != NULL ? first->key[MCC_ORDER_EXPIRY] : MCC_TIME_NONE;
  return mcc_time_max (mcc_time_min (next, limiting_expiry (self)), self->absent_until);
}

void
mcc_asmp_sender_expire (MccAsmpSender *self)
{
  if (self->now < self->absent_until)
    return;
  if (limiting_expiry (self) <= self->now)
    mcc_asmp_sender_remove (self, mcc_asmp_sender_limiting (self), MCC_RECEIVER_TIMED_OUT);
  MccReceiver *first;
  while ((first = mcc_receivers_first (&self->receivers, MCC_ORDER_EXPIRY)) != NULL
         && first->key[MCC_ORDER_EXPIRY] <= self->now) {
    /* Since it reported all may have to wait for longer. */
    MccTime expires = first->last_report + life (self, first);
    if (expires > self->now && !first->leaving)
      mcc_receivers_set_key (&self->receivers, first, MCC_ORDER_EXPIRY, expires);
    else
      mcc_asmp_sender_remove (
          self, first, first->leaving ? MCC_RECEIVER_LEFT : MCC_RECEIVER_TIMED_OUT);
  }
}

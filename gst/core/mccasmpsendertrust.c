/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsendertrust: what the ASMP sender believes of a receiver (enhanced). The slowest rules, so
 * what one may claim is bounded, whatever it says and whatever keys it has:
 *
 *  - Too high: never more than 10 x what the TCP equation gives for its own loss and RTT.
 *  - Contradicted: a claim of which MCC_SENDER_CONTRADICTION times as much is sent, while the
 *    receiver's own loss and RTT allow as much; or one that limits and does not rise although the
 *    receiver reports neither loss nor queue, not once. After MCC_SENDER_CONTRADICTED_S of that it
 * counts as what the equation gives; without losses it does not limit. Time without contradiction
 * makes up for a quarter of itself.
 *  - Below the minimum: a limiting receiver that reports less than min_bps, or
 *    that and loss and RTT which allow half of it at most, for MCC_SENDER_LEAVE_S,
 *    while others could have more, is asked to leave (RFC 8085 4.1, RFC 8084 3.2.1), and after
 *    MCC_SENDER_LEFT_S it does not limit. Plain players, who cannot be asked, go on limiting.
 *  - That a claim counts no more is no reason to rise (RFC 4585 8): as when a receiver leaves, a
 *    silent round and then one packet per RTT each RTT, and only while others report.
 *  - Its host (IPv6: its /64) is remembered: under a new SSRC it begins where it was. So is that of
 *    one that goes while it limits or is contradicted, and each of its stays counts
 *    MCC_SENDER_LEFT_AGAIN at least.
 *  - A receiver whose highest sequence number stands still over five reports while media is sent,
 *    who has never named that media (wants_block), or who is in quarantine, gives no feedback (RFC
 *    8083 4.2): if nobody else does, there is none.
 */
#include <math.h>

#include "mccasmpsenderprivate.h"
#include "mcctcp.h"

static double
equation_bps (const MccAsmpSender *self, const MccReceiver *receiver, uint32_t rtt_us)
{
  return (mcc_asmp_sender_enhanced (self) ? mcc_tcp_small_rate_bps : mcc_tcp_rate_bps) (
      &mcc_tcp_model_default, self->packet_bytes, rtt_us * 1e-6, (double)receiver->loss_ratio);
}

/* A receiver without an RTT has losses and reports what the equation gives for the initial one: the
 * same for the RTT that we measured (RFC 4654 3.3). */
static bool
assumes_rtt (const MccAsmpSender *self, const MccReceiver *receiver)
{
  return !receiver->rtt_measured && receiver->effective_us > 0
         && receiver->rtt_us > receiver->effective_us
         && (double)receiver->rate_bps
                > MCC_SENDER_ASSUMED * equation_bps (self, receiver, receiver->rtt_us);
}

/* What its loss and RTT allow; INFINITY: they say nothing. */
static double
allowed_bps (const MccAsmpSender *self, const MccReceiver *receiver)
{
  uint32_t rtt_us = receiver->effective_us; /* ours, rather than its own */
  if (rtt_us == 0 && receiver->rtt_measured)
    rtt_us = receiver->rtt_us;
  return rtt_us > 0 && receiver->loss_ratio > 0.0f ? equation_bps (self, receiver, rtt_us)
                                                   : INFINITY;
}

/* What its own loss and RTT make credible of a rate that a receiver claims. */
static uint64_t
credible_bps (const MccAsmpSender *self, const MccReceiver *receiver)
{
  if (!mcc_asmp_sender_enhanced (self) || receiver->plain)
    return receiver->rate_bps;
  double allowed = allowed_bps (self, receiver);
  if (receiver->quarantine != MCC_QUARANTINE_NONE)
    return allowed < (double)MCC_APP_REPORT_RATE_MAX ? (uint64_t)fmax (allowed, 1.0)
                                                     : MCC_RECEIVERS_NO_KEY;
  if (isinf (allowed))
    return receiver->rate_bps;
  if (assumes_rtt (self, receiver))
    return (uint64_t)fmax (1.0, allowed);
  double bound = MCC_SENDER_BREAKER * allowed;
  return (double)receiver->rate_bps > bound ? (uint64_t)fmax (bound, 1.0) : receiver->rate_bps;
}

/* It reports, and no media reaches it (RFC 8083 4.2). */
static bool
is_stuck (const MccAsmpSender *self, const MccReceiver *receiver)
{
  return mcc_asmp_sender_enhanced (self) && receiver->stuck >= MCC_SENDER_STUCK_REPORTS
         && self->now - receiver->progress >= MCC_SENDER_STUCK_TIME;
}

void
mcc_asmp_sender_apply_limit (MccAsmpSender *self, MccReceiver *receiver)
{
  /* What it says is of a path that carries nothing now; alone it is no feedback, either. */
  bool stuck = is_stuck (self, receiver) && mcc_asmp_sender_members (self) > 1;
  bool limits = receiver->state == MCC_RECEIVER_ACTIVE && !receiver->no_limit && !stuck
                && receiver->quarantine != MCC_QUARANTINE_BELOW_MINIMUM;
  mcc_receivers_set_key (&self->receivers, receiver, MCC_ORDER_RATE,
      limits ? credible_bps (self, receiver) : MCC_RECEIVERS_NO_KEY);
}

/* Suspects. */

static MccSuspect *
find_suspect (MccAsmpSender *self, const MccAddress *address)
{
  for (unsigned i = 0; i < MCC_SENDER_SUSPECTS; i++)
    if (self->now < self->suspect[i].until
        && mcc_address_same_site (&self->suspect[i].host, address))
      return &self->suspect[i];
  return NULL;
}

static bool
is_known_liar (MccAsmpSender *self, const MccReceiver *receiver)
{
  const MccSuspect *known = find_suspect (self, &receiver->address);
  return known != NULL && known->quarantine != MCC_QUARANTINE_NONE;
}

static void
suspect (MccAsmpSender *self, const MccReceiver *receiver, MccQuarantine reason)
{
  MccSuspect *known = find_suspect (self, &receiver->address);
  if (known == NULL)
    known = &self->suspect[self->suspect_next++ % MCC_SENDER_SUSPECTS];
  *known = (MccSuspect){ .host = receiver->address,
    .quarantine = reason,
    .until = self->now + MCC_SENDER_SUSPECT_TIME,
    .contradicted_s = receiver->contradicted_s,
    .pinned_s = receiver->pinned_s,
    .below_s = receiver->below_s,
    .pinned_bps = receiver->pinned_bps };
}

static void
quarantine (MccAsmpSender *self, MccReceiver *receiver, MccQuarantine reason)
{
  bool limited = receiver == mcc_asmp_sender_limiting (self);
  self->quarantined += receiver->quarantine == MCC_QUARANTINE_NONE;
  receiver->quarantine = (uint8_t)reason;
  suspect (self, receiver, reason);
  if (limited)
    mcc_asmp_sender_limit_gone (self, false);
  mcc_receivers_set_key (&self->receivers, receiver, MCC_ORDER_RTT, UINT64_MAX);
  mcc_asmp_sender_push_receiver (self, receiver);
}

static void
release (MccAsmpSender *self, MccReceiver *receiver)
{
  receiver->quarantine = MCC_QUARANTINE_NONE;
  self->quarantined--;
  mcc_asmp_sender_push_receiver (self, receiver);
}

void
mcc_asmp_sender_inherit (MccAsmpSender *self, MccReceiver *receiver)
{
  const MccSuspect *known = find_suspect (self, &receiver->address);
  if (known == NULL || receiver->plain)
    return;
  if (known->quarantine == MCC_QUARANTINE_NONE) {
    receiver->contradicted_s = known->contradicted_s;
    receiver->pinned_s = known->pinned_s;
    receiver->pinned_bps = known->pinned_bps;
    receiver->below_s = (float)fmin (known->below_s, MCC_SENDER_LEAVE_S);
    return;
  }
  if (known->quarantine == MCC_QUARANTINE_BELOW_MINIMUM) {
    receiver->below_s = MCC_SENDER_LEAVE_S; /* it may have become better */
    return;
  }
  receiver->contradicted_s = MCC_SENDER_CONTRADICTED_S;
  receiver->quarantine = MCC_QUARANTINE_CONTRADICTED;
  self->quarantined++;
}

/* Judgement. */

static void
count (float *seconds, bool guilty, double dt, double most)
{
  double sum = *seconds + (guilty ? dt : -MCC_SENDER_REPENT * dt);
  *seconds = (float)fmin (fmax (sum, 0.0), most);
}

/* Its loss and RTT allow far more than it claims. */
static bool
could_have_more (const MccAsmpSender *self, const MccReceiver *receiver)
{
  return !receiver->no_limit && receiver->rate_bps < self->config.max_bps
         && allowed_bps (self, receiver) > MCC_SENDER_CONTRADICTION * (double)receiver->rate_bps;
}

static bool
contradicted (const MccAsmpSender *self, const MccReceiver *receiver)
{
  double factor = receiver->quarantine == MCC_QUARANTINE_CONTRADICTED
                      ? MCC_SENDER_CONTRADICTION_KEPT
                      : MCC_SENDER_CONTRADICTION;
  double sent_bps = (double)mcc_asmp_sender_sent_lately_bps (self);
  return sent_bps > factor * (double)receiver->rate_bps && could_have_more (self, receiver);
}

/* It limits, all that is sent arrives without a queue, and it does not ask for more: no controller
 * of ours, published or enhanced, does that. */
static bool
pins (const MccAsmpSender *self, const MccReceiver *receiver)
{
  return receiver->queueless && receiver == mcc_asmp_sender_limiting (self)
         && (double)receiver->rate_bps <= MCC_SENDER_PINNED_RISE * (double)receiver->pinned_bps
         && (double)mcc_asmp_sender_sent_lately_bps (self) > 0.8 * (double)self->target_bps
         && could_have_more (self, receiver);
}

/* One sign of a limit, and it begins anew. */
static bool
has_pinned (MccAsmpSender *self, MccReceiver *receiver, double dt)
{
  if (!pins (self, receiver)) {
    receiver->pinned_bps = (float)receiver->rate_bps;
    receiver->pinned_s = 0.0f;
    return false;
  }
  receiver->pinned_s += (float)dt;
  double most = is_known_liar (self, receiver) ? MCC_SENDER_PINNED_AGAIN_S : MCC_SENDER_PINNED_S;
  return (double)receiver->pinned_s >= most;
}

static void
judge_claim (MccAsmpSender *self, MccReceiver *receiver, double dt)
{
  count (&receiver->contradicted_s, contradicted (self, receiver), dt, MCC_SENDER_CONTRADICTED_S);
  if (has_pinned (self, receiver, dt))
    receiver->contradicted_s = (float)MCC_SENDER_CONTRADICTED_S;
  bool guilty = receiver->contradicted_s >= (float)MCC_SENDER_CONTRADICTED_S;
  if (receiver->quarantine == MCC_QUARANTINE_NONE && guilty)
    quarantine (self, receiver, MCC_QUARANTINE_CONTRADICTED);
  else if (receiver->quarantine == MCC_QUARANTINE_CONTRADICTED && receiver->contradicted_s <= 0.0f)
    release (self, receiver);
}

void
mcc_asmp_sender_remember (MccAsmpSender *self, MccReceiver *receiver)
{
  if (!mcc_asmp_sender_enhanced (self) || receiver->plain
      || receiver->quarantine != MCC_QUARANTINE_NONE || is_known_liar (self, receiver))
    return;
  MccTime since = mcc_time_clamp (
      self->now - receiver->last_report, MCC_SENDER_LEFT_AGAIN, MCC_SENDER_JUDGED_MAX);
  double dt = mcc_time_to_seconds (since);
  count (&receiver->contradicted_s, contradicted (self, receiver), dt, MCC_SENDER_CONTRADICTED_S);
  bool guilty = has_pinned (self, receiver, dt)
                || receiver->contradicted_s >= (float)MCC_SENDER_CONTRADICTED_S;
  if (guilty)
    suspect (self, receiver, MCC_QUARANTINE_CONTRADICTED);
  else if (receiver == mcc_asmp_sender_limiting (self) || receiver->contradicted_s > 0.0f)
    suspect (self, receiver, MCC_QUARANTINE_NONE);
}

/* Somebody else could have more than the minimum. */
static bool
starves_others (const MccAsmpSender *self, const MccReceiver *receiver)
{
  for (unsigned i = 0; i < self->receivers.count; i++) {
    const MccReceiver *other = mcc_receivers_get (&self->receivers, MCC_ORDER_RATE, i);
    if (other != receiver && other->state == MCC_RECEIVER_ACTIVE
        && other->quarantine == MCC_QUARANTINE_NONE
        && (other->no_limit
            || (double)other->rate_bps > MCC_SENDER_LEAVE_OTHERS * (double)self->config.min_bps))
      return true;
  }
  return false;
}

static void
judge_minimum (MccAsmpSender *self, MccReceiver *receiver, double dt)
{
  /* Receivers clamp what they report to the minimum: then their loss and RTT say it. */
  double least_bps = (double)self->config.min_bps;
  bool below = !receiver->no_limit
               && ((double)credible_bps (self, receiver) < least_bps
                   || (receiver->rate_bps <= self->config.min_bps
                       && allowed_bps (self, receiver) < MCC_SENDER_LEAVE_ALLOWED * least_bps));
  bool was_asked = receiver->below_s >= (float)MCC_SENDER_LEAVE_S;
  count (&receiver->below_s, below, dt, MCC_SENDER_LEFT_S);
  bool asked = receiver->below_s >= (float)MCC_SENDER_LEAVE_S;
  if (receiver->quarantine == MCC_QUARANTINE_BELOW_MINIMUM) {
    if (!asked)
      release (self, receiver);
    return;
  }
  if (!asked)
    return;
  if (receiver != mcc_asmp_sender_limiting (self) || !starves_others (self, receiver)) {
    receiver->below_s = (float)(MCC_SENDER_LEAVE_S - 1.0); /* looked at again in a second */
    return;
  }
  if (!was_asked)
    self->session_urgent = true;
  if (receiver->below_s >= (float)MCC_SENDER_LEFT_S)
    quarantine (self, receiver, MCC_QUARANTINE_BELOW_MINIMUM);
}

void
mcc_asmp_sender_judge (MccAsmpSender *self, MccReceiver *receiver)
{
  if (receiver->state != MCC_RECEIVER_ACTIVE || receiver->plain || !mcc_asmp_sender_enhanced (self))
    return;
  MccTime since = self->now - receiver->last_report;
  double dt = mcc_time_to_seconds (mcc_time_min (since, MCC_SENDER_JUDGED_MAX));
  /* What is sent while none of it reaches one contradicts nothing that it says. */
  if (receiver->quarantine != MCC_QUARANTINE_BELOW_MINIMUM && !is_stuck (self, receiver))
    judge_claim (self, receiver, dt);
  if (!self->config.keeps_slow)
    judge_minimum (self, receiver, dt);
}

bool
mcc_asmp_sender_asks_to_leave (const MccAsmpSender *self)
{
  const MccReceiver *limiting = mcc_asmp_sender_limiting (self);
  return limiting != NULL && limiting->below_s >= (float)MCC_SENDER_LEAVE_S;
}

/* Feedback. */

void
mcc_asmp_sender_note_progress (MccAsmpSender *self, MccReceiver *receiver, uint32_t highest_seq)
{
  bool goes_on = highest_seq == 0 || highest_seq != receiver->highest_seq
                 || mcc_asmp_sender_sent_lately_bps (self) == 0;
  receiver->highest_seq = highest_seq;
  if (goes_on) {
    receiver->progress = self->now;
    receiver->stuck = 0;
  } else if (receiver->stuck < UINT8_MAX) {
    receiver->stuck++;
  }
}

bool
mcc_asmp_sender_is_feedback (const MccAsmpSender *self, const MccReceiver *receiver)
{
  return receiver->quarantine == MCC_QUARANTINE_NONE && mcc_asmp_sender_hears (self, receiver)
         && !is_stuck (self, receiver);
}

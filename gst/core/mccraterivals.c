/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccraterivals: whether somebody else fills the queue at the bottleneck.
 */
#include "mccrateenhanced.h"

/* All ours; found in tests/lib/vnet and tests/sim (docs/design/receiver.md). */
#define DECISION_LAG (100 * MCC_MSECOND)
#define RIVAL_EVIDENCE_S 0.6 /* of a queue that is not ours */
#define RIVAL_MEMORY_S 5.0
#define RIVAL_SHARE 0.9           /* received, of the capacity: somebody else has the rest */
#define RIVAL_BAND 0.15           /* received is what we sent, within this or a packet */
#define CAPACITY_FADE 0.01        /* a second: links change */
#define CAPACITY_FADE_UNUSED 0.05 /* ... unseen while we send less than we may */
#define UNUSED 0.6
#define FLOOR_TIME (5 * MCC_SECOND)
#define FLOOR_BAND (5 * MCC_MSECOND)
#define RIVAL_RETURN 1.5 /* times the received rate: what the cuts gave away */
#define ALONE_TIME (2 * MCC_SECOND)
#define ALONE_RTTS 10
#define RECEIVED_TIME_S 0.4
#define RECEIVED_PACKETS 5
#define RTT_TIME_S 2.0
#define TIMES_SPAN_MAX MCC_SECOND
#define START_TIME (6 * MCC_SECOND) /* since the first decision */
#define PROOF_TIME (1 * MCC_SECOND) /* of what the link carries */
#define PROOF_PACKETS 16            /* ... or so many packets */
#define OTHERS_RULE 0.65            /* received, of that: less is not the whole */
#define WHOLE_LINK 0.85             /* received, of that */
#define OWN_QUEUE (7 * MCC_MSECOND) /* stands all the time between two decisions */
#define SLOWER 0.7                  /* received, of what was sent */
#define ALL_ARRIVES 0.8             /* what arrives now was sent a while ago */
#define OTHERS_LEAST_S 0.01         /* more of a queue than we can have left, or a packet */
#define OTHERS_MEMORY (MCC_CARRIED_SLOTS * MCC_CARRIED_SLOT) /* who was here may come back */
#define RETURN_TIME (600 * MCC_MSECOND) /* less arrives than was sent: no longer theirs alone */
#define LOSS_RECENT (5 * MCC_SECOND)
#define RECENT_INTERVALS 3.0 /* ... or so many mean loss intervals */

/* What will be sent when we ask for @rate_bps: others may limit, and the stream has a floor. */
static double
is_sent (const MccRateInput *input, double rate_bps)
{
  double bps = fmax (rate_bps, (double)input->floor_bps);
  return input->announced_bps > 0 ? fmin (bps, (double)input->announced_bps) : bps;
}

/* What the link was lately seen to carry, at least; 0: not known. */
static double
proven_capacity_bps (const MccRateEnhanced *self, const MccRateInput *input)
{
  if (input->capacity == NULL)
    return 0.0;
  MccTime window = mcc_time_max (
      PROOF_TIME, mcc_time_from_seconds (PROOF_PACKETS * mcc_rate_packet_s (input)));
  MccTime since = mcc_time_max (self->slower_at, input->now > window ? input->now - window : 0);
  return fmax ((double)mcc_capacity_proven_bps (input->capacity, since, input->now),
      mcc_rate_enhanced_pairs_bps (self, input));
}

/* With fewer than a packet in the queue nothing is proven. */
static bool
shows_link (const MccRateInput *input)
{
  return mcc_rate_packet_delay_s (input) < mcc_time_to_seconds (input->queue_delay);
}

double
mcc_rate_enhanced_link_bps (const MccRateEnhanced *self, const MccRateInput *input)
{
  return shows_link (input) ? proven_capacity_bps (self, input) : 0.0;
}

/* We are seen to receive a part of what the link carries. */
static bool
part_of_link (const MccRateEnhanced *self, const MccRateInput *input)
{
  return shows_link (input)
         && (double)input->received_now_bps <= WHOLE_LINK * proven_capacity_bps (self, input);
}

bool
mcc_rate_enhanced_whole_link (const MccRateEnhanced *self, const MccRateInput *input)
{
  return shows_link (input) && !part_of_link (self, input);
}

bool
mcc_rate_enhanced_owns_queue (const MccRateEnhanced *self, const MccRateInput *input)
{
  if (self->base.mode != MCC_RATE_DELAY)
    return self->base.mode != MCC_RATE_TCP;
  /* One that TCP fills at a small RTT comes and goes within a decision's time, and packets that do
   * not wait show our own rate as the link's. */
  return input->queue_delay > OWN_QUEUE && mcc_rate_enhanced_whole_link (self, input);
}

MccTime
mcc_rate_enhanced_loss_intervals (const MccRateInput *input, double intervals)
{
  return mcc_time_from_seconds (intervals / input->loss_ratio * mcc_rate_packet_s (input));
}

bool
mcc_rate_enhanced_is_recent (const MccRateInput *input, MccTime loss, MccTime least)
{
  if (loss == MCC_TIME_NONE || !(input->loss_ratio > 0.0))
    return false;
  return input->now - loss
         < mcc_time_max (least, mcc_rate_enhanced_loss_intervals (input, RECENT_INTERVALS));
}

bool
mcc_rate_enhanced_foreign_losses (const MccRateEnhanced *self, const MccRateInput *input)
{
  if (input->loss_ratio < input->remembered_ratio)
    return false; /* what is forgotten is over */
  return mcc_rate_enhanced_is_recent (input, self->loss_foreign, LOSS_RECENT);
}

/* What we alone can have left in the queue, were the link no faster than what it carried of ours:
 * what was sent since the last decision is all that adds to what stood then. */
static void
note_own_queue (MccRateEnhanced *self, const MccRateInput *input)
{
  double link_bps = (double)input->received_bps;
  if (input->carried != NULL)
    link_bps = fmax (link_bps, (double)mcc_carried_bps (input->carried, 0, input->now));
  double sent_s = 8.0 * (double)input->sent_bytes / link_bps;
  double own_s = self->own_queue_s + sent_s - mcc_time_to_seconds (input->sent_span);
  self->own_queue_s = fmin (fmax (own_s, 0.0), mcc_time_to_seconds (input->queue_delay));
}

/* Others were here lately, we have not filled the link since, and now there is more of a queue than
 * we can have left: likelier than a link that became slower than what we send are others. */
bool
mcc_rate_enhanced_others_return (const MccRateEnhanced *self, const MccRateInput *input)
{
  if (self->filled || self->competed == MCC_TIME_NONE
      || input->now - self->competed > OTHERS_MEMORY)
    return false;
  double least_s = fmax (OTHERS_LEAST_S, mcc_rate_packet_s (input));
  return mcc_time_to_seconds (input->queue_delay) > self->own_queue_s + least_s;
}

/* A link that became slower looks like that at first; it goes on so. */
static bool
is_slower (MccRateEnhanced *self, const MccRateInput *input, double visible)
{
  double received = (double)(input->received_now_bps + input->grain_bps);
  if (received >= ALL_ARRIVES * visible)
    self->less_since = MCC_TIME_NONE;
  else if (self->less_since == MCC_TIME_NONE)
    self->less_since = input->now;
  return self->less_since != MCC_TIME_NONE && input->now - self->less_since >= RETURN_TIME;
}

static void
watch_queue (MccRateEnhanced *self, const MccRateInput *input, double visible)
{
  note_own_queue (self, input);
  bool slower = is_slower (self, input, visible);
  if (self->base.mode == MCC_RATE_TCP)
    self->competed = input->now;
  else if (input->queue_delay > mcc_rate_enhanced_target_queue (self, input)
           && (slower || !mcc_rate_enhanced_others_return (self, input)))
    self->filled = true;
}

/* Others have come back; or all that is sent arrives, and is less than OTHERS_RULE of what the link
 * carries, or far below what the equation allows after foreign losses and not the whole of what the
 * link carries. */
bool
mcc_rate_enhanced_others_fill (const MccRateEnhanced *self, const MccRateInput *input)
{
  double received = (double)input->received_now_bps, sent = is_sent (input, self->base.rate_bps);
  if (mcc_rate_enhanced_others_return (self, input))
    return true;
  if (received + (double)input->grain_bps < ALL_ARRIVES * sent)
    return false;
  if (received < OTHERS_RULE * proven_capacity_bps (self, input))
    return true;
  if (!mcc_rate_enhanced_foreign_losses (self, input)
      || received >= BELOW * mcc_rate_enhanced_equation_bps (input))
    return false;
  return self->mistaken ? part_of_link (self, input) : !mcc_rate_enhanced_whole_link (self, input);
}

static void
note_floor (MccRateEnhanced *self, const MccRateInput *input)
{
  if (input->now - self->floor_since >= FLOOR_TIME) {
    self->floor_since = input->now;
    self->floor[1] = self->floor[0];
    self->floor[0] = MCC_TIME_NONE;
  }
  self->floor[0] = mcc_time_min (self->floor[0], input->queue_delay);
}

MccTime
mcc_rate_enhanced_sure_queue (const MccRateEnhanced *self, MccTime target)
{
  MccTime floor = mcc_time_min (self->floor[0], self->floor[1]);
  if (floor >= target)
    return target;
  return mcc_time_min (target, floor + mcc_time_max (FLOOR_BAND, (target - floor) / 4));
}

/* What was asked for when that was sent which arrives now. 0: not known. */
static double
visible_rate (const MccRateEnhanced *self, const MccRateInput *input)
{
  MccTime lag = input->rtt + SENDER_LAG + DECISION_LAG;
  for (unsigned age = 0; age < ASKED && age < self->asked_count; age++) {
    unsigned slot = (self->asked_count - 1 - age) % ASKED;
    if (input->now - self->asked[slot].time >= lag)
      return self->asked[slot].rate_bps;
  }
  return 0.0;
}

bool
mcc_rate_enhanced_arrives (const MccRateEnhanced *self, const MccRateInput *input)
{
  double visible = visible_rate (self, input);
  return visible > 0.0 && (double)input->received_now_bps >= (1.0 - RIVAL_BAND) * visible;
}

/* How long what arrives lately took to be sent, and to come. */
static void
watch_times (MccRateEnhanced *self, const MccRateInput *input, double gain)
{
  if (input->sent_span == 0 || input->came_span == 0)
    return;
  if (mcc_time_max (input->sent_span, input->came_span) > TIMES_SPAN_MAX) {
    self->sent_s = self->came_s = 0.0; /* a pause, or another clock */
    return;
  }
  self->sent_s += mcc_time_to_seconds (input->sent_span) - gain * self->sent_s;
  self->came_s += mcc_time_to_seconds (input->came_span) - gain * self->came_s;
}

static void
note_asked (MccRateEnhanced *self, const MccRateInput *input)
{
  unsigned newest = self->asked_count++ % ASKED;
  self->asked[newest].time = input->now;
  self->asked[newest].rate_bps = is_sent (input, self->base.rate_bps);
}

/* Before a decision: what the link carried before it became slower proves nothing, and losses of
 * our own overload say nothing about others. */
void
mcc_rate_enhanced_watch_link (MccRateEnhanced *self, const MccRateInput *input, bool new_loss)
{
  double received = (double)input->received_now_bps, visible = visible_rate (self, input);
  if (input->rtt_measured && !self->rtt_measured) /* no more what was assumed until now */
    self->rtt_s = mcc_time_to_seconds (input->rtt);
  self->rtt_measured = input->rtt_measured;
  mcc_rate_enhanced_watch_stop (self, input);
  if (received + (double)input->grain_bps < SLOWER * visible)
    self->slower_at = input->now;
  watch_queue (self, input, visible);
  mcc_rate_enhanced_watch_served (self, input);
  if (input->queue_delay <= mcc_rate_enhanced_slow_start_queue (input))
    self->built = false;
  /* A queue that marks may be short and our own; among rivals they are as losses. What a doubling
   * rate drops at a queue was sent since: what arrives is of before. */
  bool ours = input->marked_alone && self->base.mode != MCC_RATE_TCP;
  bool doubled = self->base.mode < MCC_RATE_DELAY || self->built;
  if (doubled && input->queue_peak > mcc_rate_enhanced_slow_start_queue (input)
      && mcc_rate_enhanced_whole_link (self, input))
    ours = true;
  mcc_rate_enhanced_watch_fellows (self, input, new_loss && !(doubled && ours));
  if (new_loss && !ours && received >= ALL_ARRIVES * visible && input->now >= self->hold_until)
    self->loss_foreign = input->now;
}

static void
enter_mode (MccRateEnhanced *self, const MccRateInput *input, MccRateMode mode)
{
  /* What was lost beside rivals a while ago says more than their number. */
  bool new_to_us = self->competed == MCC_TIME_NONE || input->now - self->competed > OTHERS_MEMORY;
  bool alone = self->base.mode == MCC_RATE_DELAY && new_to_us;
  self->base.mode = mode;
  self->rival_s = 0.0;
  mcc_rate_enhanced_forget_cycles (self);
  mcc_rate_enhanced_forget_alone (self, input->now);
  self->probe = (MccRateProbe){ 0 };
  self->rtt_s = mcc_time_to_seconds (input->rtt);
  self->capacity_bps = 0.0;
  self->restore = self->filled = false;
  self->calm_since = input->now;
  self->empty_since = self->lowest_since = self->try_since = MCC_TIME_NONE;
  if (mode == MCC_RATE_TCP) { /* what the cuts gave away */
    if (alone)
      self->base.share_bps = (uint64_t)(proven_capacity_bps (self, input) / 2.0);
    double safe_bps
        = fmax (RIVAL_RETURN * (double)input->received_now_bps, (double)input->start_bps);
    double before_bps = fmin (self->peak_bps, safe_bps);
    self->base.rate_bps = fmax (self->base.rate_bps, LOSS_CUT * before_bps);
  }
}

bool
mcc_rate_enhanced_compete (MccRateEnhanced *self, const MccRateInput *input)
{
  if (mcc_rate_enhanced_serves_us_alone (self)) {
    self->mistaken = true;
    return false;
  }
  self->served.competing = (MccRateServedSums){ 0 };
  mcc_rate_enhanced_watch_left (self, input);
  enter_mode (self, input, MCC_RATE_TCP);
  return true;
}

/* A queue of ours drains where more arrives than was sent; @more: than was asked for and announced,
 * as far as we know. At a start an announcement is seconds old, and rivals are likelier than a link
 * that changes: there the packets' times rule. */
static bool
drains (const MccRateEnhanced *self, const MccRateInput *input, bool more)
{
  bool told = input->sent_span > 0 && input->came_span > 0 && self->came_s > 0.0;
  if (told && input->now - self->first < START_TIME)
    return self->sent_s > (1.0 + RIVAL_BAND) * self->came_s;
  return more;
}

/* Where what arrives follows what we send, below the capacity seen before, and the queue stands all
 * the same, somebody else fills it. */
static void
seek_rivals (
    MccRateEnhanced *self, const MccRateInput *input, MccTime target, double visible, double dt_s)
{
  double received = self->received_bps;
  bool falling = input->queue_delay + MCC_MSECOND < self->queue_last;
  double sent = 8.0 * (double)input->sent_bytes; /* a burst of ours is no rival */
  sent = input->sent_span > 0 ? sent / mcc_time_to_seconds (input->sent_span) : 0.0;
  self->rival_s *= 1.0 - dt_s / RIVAL_MEMORY_S;
  double band = fmax (RIVAL_BAND * visible, (double)input->grain_bps);
  bool more = received > visible + band;
  bool old = more && self->came_s > (1.0 + RIVAL_BAND) * self->sent_s; /* what was announced */
  if (received < visible - band || old) {
    /* The link became slower, as far as anybody can tell. */
    self->peak_bps = self->received_bps = received = (double)input->received_now_bps;
    self->floor[0] = self->floor[1] = MCC_TIME_NONE;
    self->rival_s = 0.0;
    self->slower_at = input->now;
  } else if (drains (self, input, more)) {
    self->rival_s = fmax (0.0, self->rival_s - dt_s);
  } else if (input->queue_delay > mcc_rate_enhanced_sure_queue (self, target)
             && !mcc_rate_enhanced_fellows_may_fill (self, input)
             && (mcc_rate_enhanced_others_fill (self, input)
                 || (!falling && input->queue_delay >= target / 2
                     && fmax (received, sent) < RIVAL_SHARE * self->peak_bps))) {
    self->rival_s += dt_s;
  }
  self->peak_bps = fmax (self->peak_bps, received);
  if (self->rival_s >= RIVAL_EVIDENCE_S)
    mcc_rate_enhanced_compete (self, input);
}

/* A queue that we alone fill is served at the capacity, whatever we send: what arrives stays the
 * same when we send less, and is less than we send when the link became slower. */
void
mcc_rate_enhanced_judge_rivals (
    MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt)
{
  MccTime queue = input->queue_delay, target = mcc_rate_enhanced_target_queue (self, input);
  double dt_s = mcc_time_to_seconds (dt);
  double gain
      = fmin (1.0, dt_s / fmax (RECEIVED_TIME_S, RECEIVED_PACKETS * mcc_rate_packet_s (input)));
  double visible = visible_rate (self, input);
  note_asked (self, input);
  self->rtt_s += fmin (1.0, dt_s / RTT_TIME_S) * (mcc_time_to_seconds (input->rtt) - self->rtt_s);
  bool tcp = self->base.mode == MCC_RATE_TCP;
  self->received_bps += gain * ((double)input->received_now_bps - self->received_bps);
  watch_times (self, input, gain);
  bool unused = (double)input->received_bps < UNUSED * self->base.rate_bps;
  self->peak_bps *= 1.0 - (unused ? CAPACITY_FADE_UNUSED : CAPACITY_FADE) * dt_s;
  note_floor (self, input);
  mcc_rate_enhanced_watch_empty (self, input);
  mcc_rate_enhanced_watch_cycles (self, input, dt_s);
  if (self->base.mode == MCC_RATE_DELAY && mcc_rate_enhanced_others_come_and_go (self)
      && mcc_rate_enhanced_compete (self, input))
    return;
  if (tcp)
    mcc_rate_enhanced_watch_alone (self, input, new_loss, dt_s);
  MccTime patience = mcc_time_max (ALONE_TIME, ALONE_RTTS * input->rtt);
  bool empty = self->empty_since != MCC_TIME_NONE;
  bool long_empty = empty && input->now - self->empty_since >= patience;
  bool alone = tcp
               && (mcc_rate_enhanced_serves_us_alone (self)
                   || (empty && mcc_rate_enhanced_is_alone (self, input)));
  bool left = tcp && mcc_rate_enhanced_nobody_takes (self, input, patience);
  self->mistaken |= alone;
  if (alone || left || (tcp && long_empty && !mcc_rate_enhanced_foreign_losses (self, input)))
    enter_mode (self, input, MCC_RATE_DELAY);
  if (left)
    mcc_rate_enhanced_note_left (self, input);
  if (queue < mcc_rate_enhanced_empty_queue (self, input))
    return;
  if (!(visible > 0.0))
    return;
  if (self->base.mode == MCC_RATE_DELAY)
    seek_rivals (self, input, target, visible, dt_s);
}

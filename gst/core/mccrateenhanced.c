/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The enhanced rate controller. Decides every max (RTT, 100 ms) <= 500 ms. Alone on its bottleneck
 * it holds the standing queue at a small target and fills the link without loss; where somebody
 * else fills the queue it takes what the TCP equation allows. Laws:
 *  - rate <= max (start, 2 x received); min_bps <= rate <= max_bps.
 *  - One congestion episode, one reaction: after a cut nothing but a queue that still grows, or a
 *    new loss event, cuts again before the sender's reaction can be seen (RTT + lag).
 *  - The TCP equation bounds every mode once there was a loss and the RTT is measured.
 *
 * While the queue stands, the received rate is the capacity (alone) or our share of it, so cuts
 * start from the received rate and not from the rate that was asked for.
 */
#include "mccrateprivate.h"

#include <math.h>

#include "mcctcp.h"

/* All ours; found in tests/lib/vnet (docs/deviations.md, rate controller). */
#define START_DECISIONS 2                  /* with data, before anything is said */
#define START_PATIENCE (2 * MCC_SECOND)    /* without a measured RTT */
#define SLOW_START_RTTS 4                  /* doubling time */
#define SLOW_START_MIN (400 * MCC_MSECOND) /* shorter than the sender's lag nothing is seen */
#define SLOW_START_QUEUE (10 * MCC_MSECOND)
#define SLOW_START_QUEUE_MAX (50 * MCC_MSECOND)
#define SLOW_START_EXIT 0.9
#define TARGET_QUEUE (15 * MCC_MSECOND)
#define TARGET_QUEUE_RTT_MAX (15 * MCC_MSECOND) /* + RTT/16, at most this */
#define TARGET_QUEUE_MIN (4 * MCC_MSECOND)
#define TARGET_OF_LOSS 0.35  /* of the standing queue at which the buffer overflowed */
#define TARGET_RECOVERY 0.01 /* that limit rises so much a second */
#define GROWTH_PER_S 0.25
#define GROWTH_PER_S_MAX 0.5 /* after seconds without any sign of a queue */
#define GROWTH_NEAR 0.03     /* about the capacity seen last */
#define NEAR 1.05            /* ... up to this, which disproves it when no queue comes of it */
#define NEAR_TIME (1 * MCC_SECOND)
#define GROWTH_PROVEN 0.6 /* received / rate that allows growth */
#define DRAIN_S 0.3       /* a queue above its target is to be gone in this time */
#define DRAIN_MIN 0.97
#define DRAIN_MAX 0.7                  /* ... but the rate falls no further than this at once */
#define LOSS_CUT 0.85                  /* alone: the received rate is the capacity */
#define RESTORE 0.97                   /* of the capacity seen, once the queue has drained */
#define SENDER_LAG (200 * MCC_MSECOND) /* report, encoder, pacer */
#define RECEIVED_CAP 2.0
#define RIVAL_TIME (2 * MCC_SECOND) /* the queue stood this long, or ... */
#define RIVAL_RTTS 10               /* ... this many RTT */
#define RIVAL_LAG_S 0.5             /* + the queue itself: until a cut is seen in it */
#define RIVAL_RETURN 1.5            /* times the received rate: what the cuts gave away */
#define ALONE_TIME (500 * MCC_MSECOND)
#define ALONE_RTTS 5
#define TCP_FALL 0.6 /* of the received rate, at once */

typedef struct {
  MccRate base;
  MccTime first, last; /* decisions with data */
  unsigned decisions;
  MccTime hold_until; /* the last cut cannot be seen before */
  MccTime queue_last;
  double target_limit_s; /* a shallow buffer overflows above; INFINITY: none known */
  MccTime calm_since;    /* no sign of congestion since */
  MccTime loss_seen;     /* the newest loss event that was acted upon */
  double capacity_bps;   /* received while the queue stood; 0 = none seen */
  bool restore;          /* ... and the rate was cut below it since */
  /* Who fills the queue? */
  MccTime busy_since; /* the queue has stood since; MCC_TIME_NONE: it does not */
  MccTime busy_max;
  double busy_drain_s;   /* queue that our cuts would have drained, were we alone */
  double busy_start_bps; /* received as it began */
  MccTime busy_cut;      /* from when on a cut in it can be seen; MCC_TIME_NONE: no cut yet */
  MccTime empty_since;
} MccRateEnhanced;

static MccTime
target_queue (const MccRateEnhanced *self, const MccRateInput *input)
{
  MccTime target = TARGET_QUEUE + mcc_time_min (input->rtt / 16, TARGET_QUEUE_RTT_MAX);
  return mcc_time_min (target, mcc_time_from_seconds (self->target_limit_s));
}

/* What the equation allows; INFINITY when it says nothing yet. */
static double
equation_bps (const MccRateInput *input)
{
  if (!input->rtt_measured || !(input->loss_ratio > 0.0))
    return INFINITY;
  return mcc_tcp_rate_bps (&mcc_tcp_model_default, input->packet_bytes,
      mcc_time_to_seconds (input->rtt), input->loss_ratio);
}

static void
cut (MccRateEnhanced *self, const MccRateInput *input, double rate_bps)
{
  self->base.rate_bps = fmin (self->base.rate_bps, rate_bps);
  self->hold_until = input->now + input->rtt + SENDER_LAG;
  self->calm_since = input->now;
  if (self->busy_cut == MCC_TIME_NONE)
    self->busy_cut = self->hold_until;
}

static void
note_capacity (MccRateEnhanced *self, const MccRateInput *input)
{
  self->capacity_bps = (double)input->received_now_bps;
  self->restore = true;
}

static void
decide_start (MccRateEnhanced *self, const MccRateInput *input, bool new_loss)
{
  MccTime limit = mcc_time_clamp (input->rtt / 8, SLOW_START_QUEUE, SLOW_START_QUEUE_MAX);
  /* The announced rate is what everybody else bears: no reason to say less before measuring. */
  if (input->announced_bps > 0)
    self->base.rate_bps = (double)input->announced_bps;
  if (self->decisions < START_DECISIONS)
    return;
  if (new_loss || input->queue_delay > limit || input->rtt_measured
      || input->now - self->first >= START_PATIENCE)
    self->base.mode = MCC_RATE_SLOW_START;
}

static void
decide_slow_start (MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt)
{
  MccTime limit = mcc_time_clamp (input->rtt / 8, SLOW_START_QUEUE, SLOW_START_QUEUE_MAX);
  if (new_loss || input->queue_delay > limit) {
    if (input->queue_delay > limit)
      note_capacity (self, input);
    cut (self, input, SLOW_START_EXIT * (double)input->received_now_bps);
    self->base.mode = MCC_RATE_DELAY;
    return;
  }
  MccTime doubling = mcc_time_max (SLOW_START_RTTS * input->rtt, SLOW_START_MIN);
  self->base.rate_bps *= exp2 ((double)dt / (double)doubling);
}

static void
grow (MccRateEnhanced *self, const MccRateInput *input, MccTime target, MccTime dt)
{
  double *rate = &self->base.rate_bps;
  if (input->now < self->hold_until)
    return;
  if (self->restore) {
    /* The queue that we cut for has drained: back to what the link was seen to carry. */
    self->restore = false;
    *rate = fmax (*rate, RESTORE * self->capacity_bps);
    return;
  }
  if ((double)input->received_bps < GROWTH_PROVEN * *rate)
    return;
  MccTime calm = input->now - self->calm_since;
  double growth
      = fmin (GROWTH_PER_S * fmax (1.0, mcc_time_to_seconds (calm) / 2.0), GROWTH_PER_S_MAX);
  if (self->capacity_bps > 0.0 && *rate > RESTORE * self->capacity_bps) {
    if (*rate < NEAR * self->capacity_bps || calm < NEAR_TIME)
      growth = GROWTH_NEAR;
    else
      self->capacity_bps = 0.0;
  }
  double room = 1.0 - (double)input->queue_delay / (double)target;
  *rate *= 1.0 + growth * room * mcc_time_to_seconds (dt);
}

static void
decide_delay (MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt)
{
  MccTime target = target_queue (self, input), queue = input->queue_delay;
  double received = (double)input->received_now_bps;
  self->target_limit_s *= 1.0 + TARGET_RECOVERY * mcc_time_to_seconds (dt);
  if (new_loss) {
    if (queue > target / 2) {
      note_capacity (self, input);
      self->target_limit_s = fmax (mcc_time_to_seconds (TARGET_QUEUE_MIN),
          fmin (self->target_limit_s, TARGET_OF_LOSS * mcc_time_to_seconds (queue)));
    }
    cut (self, input, fmax (fmin (equation_bps (input), self->base.rate_bps), LOSS_CUT * received));
  } else if (queue > target) {
    if (input->now < self->hold_until && queue <= self->queue_last + MCC_MSECOND)
      return;
    note_capacity (self, input);
    double excess_s = mcc_time_to_seconds (queue - target);
    cut (self, input, received * fmax (DRAIN_MAX, DRAIN_MIN - excess_s / DRAIN_S));
  } else {
    if (queue > target / 2)
      self->calm_since = input->now;
    grow (self, input, target, dt);
  }
}

static void
decide_tcp (MccRateEnhanced *self, const MccRateInput *input, MccTime dt)
{
  double *rate = &self->base.rate_bps;
  double rtt_s = mcc_time_to_seconds (input->rtt), dt_s = mcc_time_to_seconds (dt);
  double allowed = equation_bps (input);
  if (allowed >= *rate) {
    *rate = fmin (allowed, *rate + 8.0 * input->packet_bytes / rtt_s * dt_s / rtt_s);
  } else {
    double step = fmin (1.0, dt_s / (2.0 * rtt_s));
    double floor_bps = TCP_FALL * (double)input->received_now_bps;
    *rate = fmax (*rate + (allowed - *rate) * step, fmin (*rate, floor_bps));
  }
}

/* Alone, a cut drains the queue at the rate that we cut. Somebody else fills it when our cuts, from
 * when on they can be seen, should have drained clearly more than the queue has fallen; we are
 * alone again when it stays empty for some RTT. */
static void
judge_rivals (MccRateEnhanced *self, const MccRateInput *input, MccTime dt)
{
  MccTime queue = input->queue_delay, target = target_queue (self, input);
  MccTime threshold = mcc_time_max (target / 2, self->busy_max / 10);
  if (queue < threshold) {
    self->busy_since = MCC_TIME_NONE;
    self->busy_cut = MCC_TIME_NONE;
    self->busy_max = 0;
    self->busy_drain_s = 0.0;
    if (self->empty_since == MCC_TIME_NONE)
      self->empty_since = input->now;
  } else {
    if (self->busy_since == MCC_TIME_NONE) {
      self->busy_since = input->now;
      self->busy_start_bps = (double)input->received_bps;
    }
    self->busy_max = mcc_time_max (self->busy_max, queue);
    self->empty_since = MCC_TIME_NONE;
    double received = (double)input->received_now_bps;
    if (received > 0.0 && self->busy_cut != MCC_TIME_NONE && input->now >= self->busy_cut)
      self->busy_drain_s = fmax (0.0,
          self->busy_drain_s + (1.0 - self->base.rate_bps / received) * mcc_time_to_seconds (dt));
  }

  /* What the cuts ask for before they can be seen. */
  double unseen_s = (1.0 - DRAIN_MAX) * (mcc_time_to_seconds (self->busy_max) + RIVAL_LAG_S);
  double drained_s = mcc_time_to_seconds (self->busy_max - mcc_time_min (queue, self->busy_max));
  if (self->base.mode == MCC_RATE_DELAY && self->busy_since != MCC_TIME_NONE
      && input->now - self->busy_since >= mcc_time_max (RIVAL_TIME, RIVAL_RTTS * input->rtt)
      && self->busy_drain_s > drained_s + unseen_s) {
    self->base.mode = MCC_RATE_TCP;
    double before_bps = fmin (self->busy_start_bps, RIVAL_RETURN * (double)input->received_now_bps);
    self->base.rate_bps = fmax (self->base.rate_bps, before_bps);
    self->capacity_bps = 0.0;
    self->restore = false;
  } else if (self->base.mode == MCC_RATE_TCP && self->empty_since != MCC_TIME_NONE
             && input->now - self->empty_since
                    >= mcc_time_max (ALONE_TIME, ALONE_RTTS * input->rtt)) {
    self->base.mode = MCC_RATE_DELAY;
    self->calm_since = input->now;
  }
}

/* The bounds that hold in every mode. */
static void
bound (MccRateEnhanced *self, const MccRateInput *input)
{
  double *rate = &self->base.rate_bps;
  double received_now = (double)input->received_now_bps;
  double allowed = equation_bps (input);
  if (*rate > allowed)
    *rate = fmax (allowed, fmin (*rate, DRAIN_MAX * received_now));
  /* A doubling rate outruns its mean over a second. */
  double proven = (double)input->received_bps;
  if (self->base.mode == MCC_RATE_SLOW_START)
    proven = fmax (proven, received_now);
  *rate = fmin (*rate, fmax ((double)input->start_bps, RECEIVED_CAP * proven));
  if (input->max_bps > 0)
    *rate = fmin (*rate, (double)input->max_bps);
  *rate = fmax (*rate, (double)input->min_bps);
}

static void
enhanced_init (MccRate *base, uint64_t start_bps)
{
  MccRateEnhanced *self = (MccRateEnhanced *)base;
  base->mode = MCC_RATE_START;
  self->target_limit_s = INFINITY;
  self->first = self->last = self->loss_seen = MCC_TIME_NONE;
  self->busy_since = self->busy_cut = self->empty_since = MCC_TIME_NONE;
}

static void
enhanced_decide (MccRate *base, const MccRateInput *input)
{
  MccRateEnhanced *self = (MccRateEnhanced *)base;
  if (!(input->packet_bytes > 0.0) || input->received_bps == 0 || input->rtt == 0)
    return; /* silence proves nothing */
  if (self->first == MCC_TIME_NONE)
    self->first = self->last = self->calm_since = input->now;
  MccTime dt = mcc_time_min (input->now - self->last, MCC_SECOND);
  self->last = input->now;
  if (self->decisions < START_DECISIONS)
    self->decisions++;
  bool new_loss = input->last_loss_event != MCC_TIME_NONE
                  && (self->loss_seen == MCC_TIME_NONE || input->last_loss_event > self->loss_seen);
  if (new_loss && self->decisions >= START_DECISIONS)
    self->loss_seen = input->last_loss_event;

  if (base->mode == MCC_RATE_START)
    decide_start (self, input, new_loss);
  switch (base->mode) {
    case MCC_RATE_START:
      break;
    case MCC_RATE_SLOW_START:
      decide_slow_start (self, input, new_loss, dt);
      break;
    case MCC_RATE_DELAY:
      decide_delay (self, input, new_loss, dt);
      break;
    case MCC_RATE_TCP:
      decide_tcp (self, input, dt);
      break;
  }
  if (base->mode != MCC_RATE_START) {
    judge_rivals (self, input, dt);
    bound (self, input);
  }
  self->queue_last = input->queue_delay;
}

const MccRateController mcc_rate_enhanced = {
  .name = "enhanced",
  .size = sizeof (MccRateEnhanced),
  .init = enhanced_init,
  .decide = enhanced_decide,
};

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
#define SLOW_START_GROWTH (3 * MCC_MSECOND) /* of the standing queue, twice running: the end */
#define SLOW_START_EXIT 0.9
#define TARGET_QUEUE (15 * MCC_MSECOND)
#define TARGET_QUEUE_RTT_MAX (15 * MCC_MSECOND) /* + RTT/16, at most this */
#define TARGET_QUEUE_MIN (4 * MCC_MSECOND)
#define TARGET_PACKET_MAX_S 0.05
#define TARGET_OF_LOSS 0.25   /* of the queue at which the buffer overflowed */
#define BUFFER_NEAR 0.75      /* ... of it: cut whatever the standing queue */
#define TARGET_RECOVERY 0.002 /* that limit rises so much a second */
#define GROWTH_PER_S 0.25
#define GROWTH_PER_S_MAX 0.5 /* after seconds without any sign of a queue */
#define GROWTH_NEAR 0.03     /* about the capacity seen last */
#define NEAR 1.05            /* ... up to this, which disproves it when no queue comes of it */
#define NEAR_TIME (1 * MCC_SECOND)
#define GROWTH_PROVEN 0.6 /* received / rate that allows growth */
#define GROWTH_CAP 1.25   /* ... no further than this times the received rate */
#define DRAIN_S 0.3       /* a queue above its target is to be gone in this time */
#define DRAIN_MIN 0.97
#define DRAIN_MAX 0.7                  /* ... but the rate falls no further than this at once */
#define LOSS_CUT 0.85                  /* alone: the received rate is the capacity */
#define RESTORE 0.97                   /* of the capacity seen, once the queue has drained */
#define SENDER_LAG (200 * MCC_MSECOND) /* encoder, pacer */
#define DECISION_LAG (100 * MCC_MSECOND)
#define RECEIVED_CAP 2.0
#define RIVAL_EVIDENCE_S 0.6 /* of a queue that is not ours */
#define RIVAL_MEMORY_S 5.0
#define RIVAL_SHARE 0.9    /* received, of the capacity: somebody else has the rest */
#define RIVAL_BAND 0.15    /* received is what we sent, within this */
#define CAPACITY_FADE 0.03 /* a second: links change */
#define SHALLOW_S 0.2      /* a buffer below this */
#define RESTORE_SHALLOW 0.03
#define ASKED 32       /* decisions until a rate shows: up to 3 s */
#define LOSSES_BELOW 3 /* at a standing queue, while ... */
#define BELOW 0.5      /* ... of what the equation allows is taken: the queue is not ours */
#define BELOW_EMPTY (1 * MCC_SECOND) /* without a queue: forgotten */
#define FLOOR_TIME (5 * MCC_SECOND)
#define FLOOR_BAND (5 * MCC_MSECOND)
#define RIVAL_RETURN 1.5 /* times the received rate: what the cuts gave away */
#define ALONE_TIME (2 * MCC_SECOND)
#define ALONE_RTTS 10
#define TCP_FALL 0.6       /* of the received rate, at once */
#define TCP_RISE_PER_S 1.0 /* with the sender's lag it would overshoot */
#define DIP 0.7            /* of the received rate: are we alone? */
#define DIP_PERIOD (8 * MCC_SECOND)
#define DIP_EVIDENCE_S 0.25 /* in its dips, that the received rate does not follow */
#define RECEIVED_TIME_S 0.4
#define RTT_TIME_S 2.0

typedef struct {
  MccRate base;
  MccTime first, last; /* decisions with data */
  unsigned decisions;
  MccTime hold_until; /* the last cut cannot be seen before */
  MccTime queue_last, queue_before;
  double buffer_s;       /* queue at which packets were lost; INFINITY: none yet */
  double target_limit_s; /* a shallow buffer overflows above; INFINITY: none known */
  MccTime calm_since;    /* no sign of congestion since */
  MccTime loss_seen;     /* the newest loss event that was acted upon */
  double capacity_bps;   /* received while the queue stood; 0 = none seen */
  bool restore;          /* ... and the rate was cut below it since */
  /* Who fills the queue? */
  struct {
    MccTime time;
    double rate_bps;
  } asked[ASKED];
  unsigned asked_count; /* ever */
  double received_bps;  /* smoothed */
  double rtt_s;         /* TCP mode: slower than the sender's lag, else rate and queue swing */
  double peak_bps;      /* capacity: received while the queue stood, at most, fading */
  MccTime dip_next, dip_seen; /* TCP mode */
  double dip_from_bps;
  MccTime floor[2], floor_since; /* smallest standing queue of this and the last FLOOR_TIME */
  unsigned losses_below;
  double rival_s; /* evidence that it is not ours; in TCP mode: that it is */
  MccTime empty_since;
} MccRateEnhanced;

static MccTime
target_queue (const MccRateEnhanced *self, const MccRateInput *input)
{
  MccTime target = TARGET_QUEUE + mcc_time_min (input->rtt / 16, TARGET_QUEUE_RTT_MAX);
  target = mcc_time_min (target, mcc_time_from_seconds (self->target_limit_s));
  /* A link that became slower delays every packet by its transmission. */
  double packet_s = 8.0 * input->packet_bytes / fmax ((double)input->received_bps, 1.0);
  return target + mcc_time_from_seconds (fmin (packet_s, TARGET_PACKET_MAX_S));
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
}

static void
note_capacity (MccRateEnhanced *self, const MccRateInput *input)
{
  self->capacity_bps = (double)input->received_now_bps;
  self->restore = true;
}

/* Packets were lost while the queue stood: the buffer is full. */
static void
note_overflow (MccRateEnhanced *self, const MccRateInput *input)
{
  note_capacity (self, input);
  self->buffer_s = mcc_time_to_seconds (input->queue_peak);
  self->target_limit_s = fmax (mcc_time_to_seconds (TARGET_QUEUE_MIN),
      fmin (self->target_limit_s, TARGET_OF_LOSS * self->buffer_s));
}

/* What this path and all others bear without a sign of congestion: the announced rate, and what
 * arrives, for announcements may be seconds apart. Our start rate while nothing is announced. */
static double
proven_bps (const MccRateInput *input)
{
  double arrives = fmin ((double)input->received_bps, (double)input->received_now_bps);
  double told = (double)(input->announced_bps > 0 ? input->announced_bps : input->start_bps);
  return fmax (told, arrives);
}

static void
decide_start (MccRateEnhanced *self, const MccRateInput *input, bool new_loss)
{
  MccTime limit = mcc_time_clamp (input->rtt / 8, SLOW_START_QUEUE, SLOW_START_QUEUE_MAX);
  /* No reason to say less before measuring. */
  self->base.rate_bps = proven_bps (input);
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
  bool grows = input->queue_delay >= self->queue_last + SLOW_START_GROWTH
               && self->queue_last >= self->queue_before + SLOW_START_GROWTH;
  if (new_loss || grows || input->queue_delay > limit) {
    if (new_loss && input->queue_peak > limit)
      note_overflow (self, input);
    else if (grows || input->queue_delay > limit)
      note_capacity (self, input);
    cut (self, input, SLOW_START_EXIT * (double)input->received_now_bps);
    self->base.mode = MCC_RATE_DELAY;
    return;
  }
  /* What others bear may be announced only now. */
  self->base.rate_bps = fmax (self->base.rate_bps, (double)input->announced_bps);
  MccTime doubling = mcc_time_max (SLOW_START_RTTS * input->rtt, SLOW_START_MIN);
  self->base.rate_bps *= exp2 ((double)dt / (double)doubling);
}

static void
grow (MccRateEnhanced *self, const MccRateInput *input, MccTime target, MccTime dt)
{
  double *rate = &self->base.rate_bps;
  if (input->now < self->hold_until)
    return;
  /* A shallow buffer forgives no overshoot: stay lower and come nearer more slowly. */
  double depth = fmin (1.0, self->buffer_s / SHALLOW_S);
  double restore_bps = (RESTORE - (1.0 - depth) * RESTORE_SHALLOW) * self->capacity_bps;
  if (self->restore) {
    /* The queue that we cut for has drained: back to what the link was seen to carry. */
    self->restore = false;
    *rate = fmax (*rate, restore_bps);
    return;
  }
  if ((double)input->received_bps < GROWTH_PROVEN * *rate)
    return;
  MccTime calm = input->now - self->calm_since;
  double growth
      = fmin (GROWTH_PER_S * fmax (1.0, mcc_time_to_seconds (calm) / 2.0), GROWTH_PER_S_MAX);
  if (self->capacity_bps > 0.0 && *rate >= restore_bps) {
    bool disproved = (double)input->received_bps > NEAR * self->capacity_bps;
    if (!disproved && (*rate < NEAR * self->capacity_bps || calm < NEAR_TIME))
      growth = GROWTH_NEAR * fmin (1.0, depth * fmax (1.0, mcc_time_to_seconds (calm) / 2.0));
    else
      self->capacity_bps = 0.0;
  }
  double room = 1.0 - (double)input->queue_delay / (double)target;
  double next = *rate * (1.0 + growth * room * mcc_time_to_seconds (dt));
  /* What encoder and path have not shown yet shall not grow on. */
  *rate = fmax (*rate, fmin (next, GROWTH_CAP * (double)input->received_bps));
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

/* A queue above this is one, even if what is taken for propagation is out of date. */
static MccTime
empty_queue (const MccRateEnhanced *self, MccTime target)
{
  MccTime floor = mcc_time_min (self->floor[0], self->floor[1]);
  if (floor >= target)
    return target;
  return mcc_time_min (target, floor + mcc_time_max (FLOOR_BAND, (target - floor) / 4));
}

static void
decide_delay (MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt)
{
  MccTime target = target_queue (self, input), queue = input->queue_delay;
  double received = (double)input->received_now_bps;
  self->target_limit_s *= 1.0 + TARGET_RECOVERY * mcc_time_to_seconds (dt);
  self->buffer_s *= 1.0 + TARGET_RECOVERY * mcc_time_to_seconds (dt);
  bool nearly_full = mcc_time_to_seconds (input->queue_peak) > BUFFER_NEAR * self->buffer_s;
  if (new_loss) {
    if (queue > target / 2)
      note_overflow (self, input);
    cut (self, input, fmax (fmin (equation_bps (input), self->base.rate_bps), LOSS_CUT * received));
  } else if (queue > target || (nearly_full && queue > target / 2)) {
    if (input->now < self->hold_until && queue <= self->queue_last + MCC_MSECOND)
      return;
    note_capacity (self, input);
    double excess_s = queue > target ? mcc_time_to_seconds (queue - target) : 0.0;
    cut (self, input, received * fmax (DRAIN_MAX, DRAIN_MIN - excess_s / DRAIN_S));
  } else {
    if (queue > target / 2)
      self->calm_since = input->now;
    grow (self, input, target, dt);
  }
}

/* Follows the equation. A dip now and then shows whether we are still not alone: alone, the
 * received rate does not follow it. Only who limits dips: dips of many would add up. */
static void
decide_tcp (MccRateEnhanced *self, const MccRateInput *input, MccTime dt)
{
  double *rate = &self->base.rate_bps;
  double rtt_s = mcc_time_to_seconds (input->rtt), dt_s = mcc_time_to_seconds (dt);
  double received = (double)input->received_now_bps;
  double allowed = equation_bps (input) * mcc_time_to_seconds (input->rtt) / self->rtt_s;
  if (input->now >= self->dip_next && !input->others_limit) {
    self->dip_next = input->now + DIP_PERIOD;
    self->dip_from_bps = *rate;
    self->dip_seen = input->now + input->rtt + SENDER_LAG;
    cut (self, input, DIP * received);
  } else if (input->now < self->hold_until) {
    return;
  } else if (self->dip_from_bps > 0.0) {
    *rate = fmin (allowed, self->dip_from_bps);
    self->dip_from_bps = 0.0;
  } else if (allowed < *rate) {
    double step = fmin (1.0, dt_s / (2.0 * rtt_s));
    *rate = fmax (*rate + (allowed - *rate) * step, fmin (*rate, TCP_FALL * received));
  } else {
    double rise = 8.0 * input->packet_bytes / rtt_s * dt_s / rtt_s;
    *rate = fmin (allowed, *rate + fmin (rise, TCP_RISE_PER_S * *rate * dt_s));
  }
}

/* Notes what was asked for; returns what was asked when that was sent which arrives now. 0: not
 * known. */
static double
visible_rate (MccRateEnhanced *self, const MccRateInput *input)
{
  unsigned newest = self->asked_count++ % ASKED;
  double rate = self->base.rate_bps;
  if (input->announced_bps > 0) /* others may limit */
    rate = fmin (rate, (double)input->announced_bps);
  self->asked[newest].time = input->now;
  self->asked[newest].rate_bps = rate;
  MccTime lag = input->rtt + SENDER_LAG + DECISION_LAG;
  for (unsigned age = 0; age < ASKED && age < self->asked_count; age++) {
    unsigned slot = (self->asked_count - 1 - age) % ASKED;
    if (input->now - self->asked[slot].time >= lag)
      return self->asked[slot].rate_bps;
  }
  return 0.0;
}

static void
enter_mode (MccRateEnhanced *self, const MccRateInput *input, MccRateMode mode)
{
  self->base.mode = mode;
  self->rival_s = 0.0;
  self->losses_below = 0;
  self->rtt_s = mcc_time_to_seconds (input->rtt);
  self->capacity_bps = 0.0;
  self->restore = false;
  self->calm_since = input->now;
  self->empty_since = MCC_TIME_NONE;
  self->dip_next = input->now + DIP_PERIOD;
  self->dip_from_bps = 0.0;
  if (mode == MCC_RATE_TCP) { /* what the cuts gave away */
    double before_bps = fmin (self->peak_bps, RIVAL_RETURN * (double)input->received_now_bps);
    self->base.rate_bps = fmax (self->base.rate_bps, LOSS_CUT * before_bps);
  }
}

/* Where what arrives follows what we send, below the capacity seen before, and the queue stands all
 * the same, somebody else fills it. */
static void
seek_rivals (
    MccRateEnhanced *self, const MccRateInput *input, MccTime target, double visible, double dt_s)
{
  double received = self->received_bps;
  bool falling = input->queue_delay + MCC_MSECOND < self->queue_last;
  self->rival_s *= 1.0 - dt_s / RIVAL_MEMORY_S;
  if (received < (1.0 - RIVAL_BAND) * visible) {
    /* The link became slower, as far as anybody can tell. */
    self->peak_bps = self->received_bps = received = (double)input->received_now_bps;
    self->floor[0] = self->floor[1] = MCC_TIME_NONE;
    self->rival_s = 0.0;
  } else if (received > (1.0 + RIVAL_BAND) * visible) {
    self->rival_s = fmax (0.0, self->rival_s - dt_s);
  } else if (!falling && input->queue_delay > empty_queue (self, target)
             && received < RIVAL_SHARE * self->peak_bps) {
    self->rival_s += dt_s;
  }
  self->peak_bps = fmax (self->peak_bps, received);
  if (self->rival_s >= RIVAL_EVIDENCE_S || self->losses_below >= LOSSES_BELOW)
    enter_mode (self, input, MCC_RATE_TCP);
}

/* A queue that we alone fill is served at the capacity, whatever we send: what arrives stays the
 * same when we send less, and is less than we send when the link became slower. */
static void
judge_rivals (MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt)
{
  MccTime queue = input->queue_delay, target = target_queue (self, input);
  double dt_s = mcc_time_to_seconds (dt), gain = fmin (1.0, dt_s / RECEIVED_TIME_S);
  double visible = visible_rate (self, input);
  self->rtt_s += fmin (1.0, dt_s / RTT_TIME_S) * (mcc_time_to_seconds (input->rtt) - self->rtt_s);
  bool tcp = self->base.mode == MCC_RATE_TCP;
  self->received_bps += gain * ((double)input->received_now_bps - self->received_bps);
  self->peak_bps *= 1.0 - CAPACITY_FADE * dt_s;
  note_floor (self, input);
  if (queue < target / 2) {
    if (self->empty_since == MCC_TIME_NONE)
      self->empty_since = input->now;
    MccTime patience = mcc_time_max (ALONE_TIME, ALONE_RTTS * input->rtt);
    if (input->now - self->empty_since >= BELOW_EMPTY)
      self->losses_below = 0;
    if (tcp && input->now - self->empty_since >= patience)
      enter_mode (self, input, MCC_RATE_DELAY);
    return;
  }
  self->empty_since = MCC_TIME_NONE;
  if (!(visible > 0.0))
    return;
  if (tcp && input->now >= self->dip_seen && self->dip_from_bps > 0.0) {
    double ratio = (double)input->received_now_bps / visible;
    self->rival_s = fmax (0.0, self->rival_s + (ratio > 1.0 + RIVAL_BAND ? dt_s : -dt_s));
    if (self->rival_s >= DIP_EVIDENCE_S)
      enter_mode (self, input, MCC_RATE_DELAY);
  } else if (self->base.mode == MCC_RATE_DELAY) {
    if (new_loss && self->base.rate_bps < BELOW * equation_bps (input))
      self->losses_below++;
    seek_rivals (self, input, target, visible, dt_s);
  }
}

/* The bounds that hold in every mode. */
static void
bound (MccRateEnhanced *self, const MccRateInput *input, double previous_bps)
{
  double *rate = &self->base.rate_bps;
  double received_now = (double)input->received_now_bps;
  double allowed = self->base.mode == MCC_RATE_TCP ? INFINITY : equation_bps (input);
  /* The received rate is what the path bears, however long a queue makes the RTT just now. */
  if (*rate > allowed)
    *rate = fmax (allowed, fmin (fmin (*rate, previous_bps), DRAIN_MAX * received_now));
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
  self->target_limit_s = self->buffer_s = INFINITY;
  self->first = self->last = self->loss_seen = MCC_TIME_NONE;
  self->empty_since = MCC_TIME_NONE;
  self->floor[0] = self->floor[1] = MCC_TIME_NONE;
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

  double previous_bps = base->rate_bps;
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
    judge_rivals (self, input, new_loss, dt);
    bound (self, input, previous_bps);
  }
  self->queue_before = self->queue_last;
  self->queue_last = input->queue_delay;
}

const MccRateController mcc_rate_enhanced = {
  .name = "enhanced",
  .size = sizeof (MccRateEnhanced),
  .init = enhanced_init,
  .decide = enhanced_decide,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The enhanced rate controller. Decides every max (RTT, 100 ms) <= 500 ms. Alone on its bottleneck
 * it holds the standing queue at a small target and fills the link without loss; where somebody
 * else fills the queue it takes what the TCP equation allows. Laws:
 *  - rate <= max (start, 2 x received, carried lately); min_bps <= rate <= max_bps.
 *  - One congestion episode, one reaction: after a cut nothing but a queue that still grows, or a
 *    new loss event, cuts again before the sender's reaction can be seen (RTT + lag).
 *  - The TCP equation bounds every mode once there was a loss and the RTT is measured; TCP mode
 *    nears its bound with an RTT smoothed over 2 s. Alone, where a full queue lost and now is
 *    empty, the bound is no lower than a TCP that halved then has regrown.
 *
 * While the queue stands, the received rate is the capacity (alone) or our share of it, so cuts
 * start from the received rate and not from the rate that was asked for.
 */
#include "mccrateenhanced.h"

#include "mcctcp.h"

/* All ours; found in tests/lib/vnet and tests/sim (docs/design/receiver.md). */
#define START_DECISIONS 2                  /* with data, before anything is said */
#define START_PATIENCE (2 * MCC_SECOND)    /* without a measured RTT */
#define SLOW_START_RTTS 4                  /* doubling time */
#define SLOW_START_MIN (400 * MCC_MSECOND) /* shorter than the sender's lag nothing is seen */
#define SLOW_START_QUEUE (10 * MCC_MSECOND)
#define SLOW_START_QUEUE_MAX (50 * MCC_MSECOND)
#define SLOW_START_GROWTH (3 * MCC_MSECOND) /* of the standing queue, twice running: the end */
#define SLOW_START_OVERLOAD 10 /* that part of what is sent does not arrive: the queue is ours */
#define SLOW_START_EXIT 0.9
#define SLOW_START_STANDS (2 * MCC_SECOND) /* a queue, while the rate can double no more ... */
#define SLOW_START_STAYS 1.1               /* ... but for this */
#define TARGET_QUEUE (15 * MCC_MSECOND)
#define TARGET_QUEUE_RTT_MAX (15 * MCC_MSECOND) /* + RTT/16, at most this */
#define TARGET_QUEUE_MIN (4 * MCC_MSECOND)
#define TARGET_PACKET_MAX_S 0.2
#define FULL 0.75             /* of the longest queue, at least, when a buffer overflows ... */
#define LONGEST_FADE 0.03     /* ... which fades so much a second: links change */
#define TARGET_OF_LOSS 0.25   /* of the queue at which the buffer overflowed */
#define TARGET_OF_MARK 0.5    /* ... at which it marked: that is a standing one, no burst */
#define BUFFER_NEAR 0.75      /* ... of it: cut whatever the standing queue */
#define BUFFER_PACKETS 2.0    /* ... if so many of ours are in it */
#define TARGET_RECOVERY 0.002 /* that limit rises so much a second */
#define GROWTH_PER_S 0.25
#define GROWTH_PER_S_MAX 0.5 /* after seconds without any sign of a queue */
#define GROWTH_NEAR 0.03     /* about the capacity seen last */
#define NEAR 1.05            /* ... up to this, which disproves it when no queue comes of it */
#define NEAR_TIME (1 * MCC_SECOND)
#define BEYOND_S 0.03 /* ... as does a queue that is missing: longer than this and the buffer's */
#define GROWTH_PROVEN 0.6 /* received / rate that allows growth */
#define GROWTH_CAP 1.25   /* ... no further than this times the received rate */
#define DRAIN_S 0.3       /* a queue above its target is to be gone in this time */
#define DRAIN_MIN 0.97
#define DRAIN_MAX 0.7 /* ... but the rate falls no further than this at once */
#define RESTORE 0.97  /* of the capacity seen, once the queue has drained */
#define RECEIVED_CAP 2.0
#define REGROW_SHARE 0.5 /* of the losses, a full queue's */
#define SHALLOW_S 0.2    /* a buffer below this */
#define RESTORE_SHALLOW 0.03
#define TCP_FALL 0.6         /* of the received rate, at once */
#define TCP_RISE_PER_S 0.7   /* a few losses say little about a rate far from where they were met */
#define TCP_RETURN_PER_S 1.0 /* ... below the start rate */

MccTime
mcc_rate_enhanced_slow_start_queue (const MccRateInput *input)
{
  return mcc_time_clamp (input->rtt / 8, SLOW_START_QUEUE, SLOW_START_QUEUE_MAX);
}

/* Without what a packet takes. */
static MccTime
target_queue (const MccRateEnhanced *self, const MccRateInput *input)
{
  MccTime target = TARGET_QUEUE + mcc_time_min (input->rtt / 16, TARGET_QUEUE_RTT_MAX);
  return mcc_time_min (target, mcc_time_from_seconds (self->target_limit_s));
}

MccTime
mcc_rate_enhanced_empty_queue (const MccRateEnhanced *self, const MccRateInput *input)
{
  return target_queue (self, input) / 2;
}

MccTime
mcc_rate_enhanced_target_of (
    const MccRateEnhanced *self, const MccRateInput *input, double packet_s)
{
  return target_queue (self, input) + mcc_time_from_seconds (fmin (packet_s, TARGET_PACKET_MAX_S));
}

MccTime
mcc_rate_enhanced_target_queue (const MccRateEnhanced *self, const MccRateInput *input)
{
  /* A link that became slower delays every packet by its transmission. */
  return mcc_rate_enhanced_target_of (self, input, mcc_rate_packet_delay_s (input));
}

static double
equation_bps (const MccTcpModel *model, const MccRateInput *input, double rtt_s, double loss_ratio)
{
  if (!input->rtt_measured || !(loss_ratio > 0.0))
    return INFINITY;
  return mcc_tcp_small_rate_bps (model, input->packet_bytes, rtt_s, loss_ratio);
}

double
mcc_rate_enhanced_equation_bps (const MccRateInput *input)
{
  return equation_bps (
      &mcc_tcp_model_default, input, mcc_time_to_seconds (input->rtt), input->loss_ratio);
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
  mcc_rate_enhanced_watch_capacity (self, input);
  self->capacity_bps = (double)input->received_now_bps;
  self->beyond_s = 0.0;
  self->restore = true;
}

/* Packets were lost while the queue stood: the buffer is full, unless something came out of a much
 * longer queue. If they were marked it is not, but a queue as long as this is. */
static void
note_overflow (MccRateEnhanced *self, const MccRateInput *input)
{
  if (!input->marked_alone && mcc_time_to_seconds (input->queue_peak) < FULL * self->longest_s)
    return;
  note_capacity (self, input);
  if (input->marked_alone) {
    self->target_limit_s = fmax (mcc_time_to_seconds (TARGET_QUEUE_MIN),
        fmin (self->target_limit_s, TARGET_OF_MARK * mcc_time_to_seconds (input->queue_delay)));
    return;
  }
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
  MccTime limit = mcc_rate_enhanced_slow_start_queue (input);
  /* No reason to say less before measuring. */
  self->base.rate_bps = proven_bps (input);
  if (self->decisions < START_DECISIONS)
    return;
  if (new_loss || input->queue_delay > limit || input->rtt_measured
      || input->now - self->first >= START_PATIENCE) {
    self->base.mode = MCC_RATE_SLOW_START;
    self->queue_last = self->queue_before = MCC_SECOND * 3600; /* what grew so far was not ours */
  }
}

/* In two decisions running, by a part of the time: so much of what is sent does not arrive. */
static bool
grows (const MccRateEnhanced *self, const MccRateInput *input, MccTime dt)
{
  MccTime overload = mcc_time_max (dt / SLOW_START_OVERLOAD, SLOW_START_GROWTH);
  return input->queue_delay >= self->queue_last + overload
         && self->queue_last >= self->queue_before + overload;
}

/* The queue that dropped was others': a cut would leave them the link. */
static bool
others_overflow (const MccRateEnhanced *self, const MccRateInput *input)
{
  return input->others_queue && !mcc_rate_enhanced_whole_link (self, input);
}

/* What is sent is not what we asked for, and arrives: a queue above @limit that drops is not of our
 * making, though the link was never seen to carry more. */
static bool
not_asked_for (const MccRateEnhanced *self, const MccRateInput *input, MccTime limit)
{
  return input->crowd_holds && !input->marked_alone && input->queue_delay > limit
         && mcc_rate_enhanced_arrives (self, input);
}

/* Source or settings keep the rate where it is, and a queue stands: what is sent may be more than
 * the link by so little that the queue never grows by a tenth. Where others or a stream's bounds
 * decide what is sent our rate says nothing. */
static bool
stands_and_stays (MccRateEnhanced *self, const MccRateInput *input)
{
  if (input->queue_delay <= mcc_rate_enhanced_target_queue (self, input)
      || !mcc_rate_enhanced_whole_link (self, input) || input->others_limit || input->held_down
      || input->floor_bps > 0) {
    self->stands_since = MCC_TIME_NONE;
  } else if (self->stands_since == MCC_TIME_NONE
             || self->base.rate_bps > SLOW_START_STAYS * self->stands_bps) {
    self->stands_since = input->now;
    self->stands_bps = self->base.rate_bps;
  }
  return self->stands_since != MCC_TIME_NONE
         && input->now - self->stands_since >= SLOW_START_STANDS;
}

static void
decide_slow_start (MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt)
{
  MccTime limit = mcc_rate_enhanced_slow_start_queue (input);
  bool overload = grows (self, input, dt);
  if (new_loss && (others_overflow (self, input) || not_asked_for (self, input, limit))
      && mcc_rate_enhanced_compete (self, input))
    return;
  if (new_loss && !overload && input->queue_delay > limit && mcc_rate_enhanced_arrives (self, input)
      && !mcc_rate_enhanced_whole_link (self, input) && mcc_rate_enhanced_compete (self, input))
    return; /* our last doubling did not fill it */
  if (new_loss || overload) {
    if (new_loss && input->queue_peak > limit)
      note_overflow (self, input);
    else if (overload)
      note_capacity (self, input);
    /* A group that others limit shows by its rate that it is no overload. */
    bool chance = !overload && input->others_limit && input->queue_peak <= limit;
    cut (self, input, (chance ? 1.0 : SLOW_START_EXIT) * (double)input->received_now_bps);
    self->base.mode = MCC_RATE_DELAY;
    self->built = true;
    return;
  }
  if (stands_and_stays (self, input)) {
    self->base.mode = MCC_RATE_DELAY;
    self->built = true;
    return;
  }
  /* What others bear may be announced only now. */
  self->base.rate_bps = fmax (self->base.rate_bps, (double)input->announced_bps);
  MccTime doubling = mcc_time_max (SLOW_START_RTTS * input->rtt, SLOW_START_MIN);
  self->base.rate_bps *= exp2 ((double)dt / (double)doubling);
}

/* What arrives beyond the capacity noted would stand in the queue, were that the link's. */
static void
watch_beyond (MccRateEnhanced *self, const MccRateInput *input, MccTime target, MccTime dt)
{
  double least_bps = (double)input->received_now_bps - (double)input->grain_bps;
  self->beyond_s += (least_bps / fmax (self->capacity_bps, 1.0) - 1.0) * mcc_time_to_seconds (dt);
  if (self->beyond_s < 0.0 || input->queue_delay > target / 2 || !(self->capacity_bps > 0.0))
    self->beyond_s = 0.0;
}

static void
grow (MccRateEnhanced *self, const MccRateInput *input, MccTime target, MccTime dt)
{
  double *rate = &self->base.rate_bps;
  if (input->now < self->hold_until || mcc_rate_enhanced_is_probing (self))
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
    bool disproved = (double)input->received_bps > NEAR * self->capacity_bps
                     || self->beyond_s > fmax (BEYOND_S, self->buffer_s) + self->cycles.spread_s;
    bool near = *rate < NEAR * self->capacity_bps;
    if (near)
      self->near_until = input->now;
    /* What comes of a rate shows a round trip later. */
    bool shown = calm >= NEAR_TIME && input->now - self->near_until >= input->rtt;
    if (!disproved && (near || !shown))
      growth = GROWTH_NEAR * fmin (1.0, depth * fmax (1.0, mcc_time_to_seconds (calm) / 2.0));
    else
      self->capacity_bps = self->longest_s = 0.0;
  }
  double room = 1.0 - (double)input->queue_delay / (double)target;
  double next = *rate * (1.0 + growth * room * mcc_time_to_seconds (dt));
  /* What encoder and path have not shown yet shall not grow on. */
  *rate = fmax (*rate, fmin (next, GROWTH_CAP * (double)input->received_bps));
}

static void
decide_delay (MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt)
{
  MccTime target = mcc_rate_enhanced_target_queue (self, input), queue = input->queue_delay;
  double received = (double)input->received_now_bps;
  watch_beyond (self, input, target, dt);
  if (mcc_rate_enhanced_probe (self, input) && mcc_rate_enhanced_compete (self, input)) {
    self->base.share_bps = 0; /* what the link carries is not known */
    return;
  }
  if (mcc_rate_enhanced_try_more (self, input, new_loss))
    return;
  self->target_limit_s *= 1.0 + TARGET_RECOVERY * mcc_time_to_seconds (dt);
  self->buffer_s *= 1.0 + TARGET_RECOVERY * mcc_time_to_seconds (dt);
  double packet_s = 8.0 * input->packet_bytes / received, queue_s = mcc_time_to_seconds (queue);
  bool nearly_full = mcc_time_to_seconds (input->queue_peak) > BUFFER_NEAR * self->buffer_s
                     && queue_s > BUFFER_PACKETS * packet_s;
  if (new_loss && (others_overflow (self, input) || not_asked_for (self, input, target))
      && mcc_rate_enhanced_compete (self, input))
    return;
  if (new_loss) {
    if (queue > target / 2)
      note_overflow (self, input);
    cut (self, input,
        fmax (fmin (mcc_rate_enhanced_equation_bps (input), self->base.rate_bps),
            LOSS_CUT * received));
  } else if (queue > target || (nearly_full && queue > target / 2)) {
    if (input->now < self->hold_until && queue <= self->queue_last + MCC_MSECOND)
      return;
    if (mcc_rate_enhanced_others_fill (self, input)
        && !mcc_rate_enhanced_fellows_may_fill (self, input))
      return;
    note_capacity (self, input);
    double excess_s = queue > target ? mcc_time_to_seconds (queue - target) : 0.0;
    cut (self, input, received * fmax (DRAIN_MAX, DRAIN_MIN - excess_s / DRAIN_S));
  } else if (mcc_rate_enhanced_wants_probe (self, input, target, dt)) {
    mcc_rate_enhanced_begin_probe (self, input);
    cut (self, input, LOSS_CUT * received);
  } else {
    if (queue > target / 2)
      self->calm_since = input->now;
    grow (self, input, target, dt);
  }
}

/* Follows the equation. */
static void
decide_tcp (MccRateEnhanced *self, const MccRateInput *input, MccTime dt)
{
  double *rate = &self->base.rate_bps;
  double rtt_s = mcc_time_to_seconds (input->rtt), dt_s = mcc_time_to_seconds (dt);
  double received = (double)input->received_now_bps;
  double loss_ratio = mcc_rate_tcp_loss_ratio (input->loss_ratio, input->overflow_share);
  /* Whose queue it is, is judged without: there a mark may be our own. */
  MccTcpModel model = mcc_tcp_model_of (input->marked_share);
  double allowed = equation_bps (&model, input, self->rtt_s, loss_ratio);
  if (input->now < self->hold_until)
    return;
  /* A full queue drops what is too much, one that marks lets it in. */
  if (input->marked_alone && input->queue_delay > SLOW_START_QUEUE_MAX && grows (self, input, dt)) {
    cut (self, input, LOSS_CUT * received);
    return;
  }
  if (allowed < *rate) {
    double step = fmin (1.0, dt_s / (2.0 * rtt_s));
    *rate = fmax (*rate + (allowed - *rate) * step, fmin (*rate, TCP_FALL * received));
  } else {
    double rise = 8.0 * input->packet_bytes / rtt_s * dt_s / rtt_s;
    double most = *rate < (double)input->start_bps ? TCP_RETURN_PER_S : TCP_RISE_PER_S;
    *rate = fmin (allowed, *rate + fmin (rise, most * *rate * dt_s));
  }
}

/* What the equation gives is a mean over many losses. TCP that has halved at the newest one would
 * by now be here; where losses are a full queue's, and the queue is empty, none is due before. */
static double
regrown_bps (const MccRateEnhanced *self, const MccRateInput *input)
{
  if (self->base.mode != MCC_RATE_DELAY || self->loss_seen == MCC_TIME_NONE
      || input->overflow_share < REGROW_SHARE
      || input->queue_delay > mcc_rate_enhanced_empty_queue (self, input))
    return 0.0;
  double rtt_s = mcc_time_to_seconds (input->rtt);
  double since_s = mcc_time_to_seconds (input->now - self->loss_seen);
  return self->loss_bps / 2.0 + 8.0 * input->packet_bytes * since_s / (rtt_s * rtt_s);
}

/* The bounds that hold in every mode. */
static void
bound (MccRateEnhanced *self, const MccRateInput *input, double previous_bps)
{
  double *rate = &self->base.rate_bps;
  double received_now = (double)input->received_now_bps;
  double allowed
      = self->base.mode == MCC_RATE_TCP ? INFINITY : mcc_rate_enhanced_equation_bps (input);
  allowed = fmax (allowed, regrown_bps (self, input));
  /* The received rate is what the path bears, however long a queue makes the RTT just now. */
  if (*rate > allowed)
    *rate = fmax (allowed, fmin (fmin (*rate, previous_bps), DRAIN_MAX * received_now));
  /* A doubling rate outruns its mean over a second. */
  double proven = (double)input->received_bps;
  if (self->base.mode == MCC_RATE_SLOW_START)
    proven = fmax (proven, received_now);
  double cap = fmax ((double)input->start_bps, RECEIVED_CAP * proven);
  /* What the path bore a while ago it bears, while no queue and no equation says otherwise. */
  if (input->carried != NULL && input->floor_bps == 0)
    cap = fmax (cap, (double)mcc_carried_bps (input->carried, 0, input->now));
  *rate = fmin (*rate, cap);
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
  self->first = self->last = self->loss_seen = self->loss_foreign = MCC_TIME_NONE;
  self->competed = self->less_since = self->stands_since = MCC_TIME_NONE;
  self->doubted = self->known_ours = MCC_TIME_NONE;
  self->empty_since = self->left_at = MCC_TIME_NONE;
  self->left_times = 1;
  self->cycles.spread_s = INFINITY;
  mcc_rate_enhanced_forget_cycles (self);
  self->floor[0] = self->floor[1] = MCC_TIME_NONE;
  self->fellows = (MccRateFellows){ .loss = MCC_TIME_NONE, .above_since = MCC_TIME_NONE };
  self->lowest_since = self->try_since = MCC_TIME_NONE;
}

static void
enhanced_decide (MccRate *base, const MccRateInput *input)
{
  MccRateEnhanced *self = (MccRateEnhanced *)base;
  base->share_bps = base->link_bps = 0;
  base->asks_pairs = base->fills_link = false;
  if (!(input->packet_bytes > 0.0) || input->received_bps == 0 || input->received_now_bps == 0
      || input->rtt == 0)
    return; /* silence proves nothing */
  if (self->first == MCC_TIME_NONE)
    self->first = self->last = self->calm_since = input->now;
  MccTime dt = mcc_time_min (input->now - self->last, MCC_SECOND);
  self->last = input->now;
  if (self->decisions < START_DECISIONS)
    self->decisions++;
  bool new_loss = input->last_loss_event != MCC_TIME_NONE
                  && (self->loss_seen == MCC_TIME_NONE || input->last_loss_event > self->loss_seen);
  if (new_loss && self->decisions >= START_DECISIONS) {
    self->loss_seen = input->last_loss_event;
    self->loss_bps = (double)input->received_now_bps;
  }

  self->longest_s *= 1.0 - LONGEST_FADE * mcc_time_to_seconds (dt);
  self->longest_s = fmax (self->longest_s, mcc_time_to_seconds (input->queue_peak));
  double previous_bps = base->rate_bps;
  mcc_rate_enhanced_watch_link (self, input, new_loss);
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
    mcc_rate_enhanced_judge_rivals (self, input, new_loss, dt);
    bound (self, input, previous_bps);
  }
  base->link_bps = (uint64_t)mcc_rate_enhanced_link_bps (self, input);
  base->owns_queue = mcc_rate_enhanced_owns_queue (self, input);
  mcc_rate_enhanced_ask_pairs (self, input);
  self->queue_before = self->queue_last;
  self->queue_last = input->queue_delay;
}

const MccRateController mcc_rate_enhanced = {
  .name = "enhanced",
  .size = sizeof (MccRateEnhanced),
  .init = enhanced_init,
  .decide = enhanced_decide,
};

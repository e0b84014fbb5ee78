/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccratecycles: queues that come and go though we send the same. What we send is all that a queue
 * of ours is made of: on a link of what arrived while it stood, it falls by the time that we pause
 * and grows only while we send more than the link carries. TCP's sawtooth does neither. A link
 * whose rate swings looks the same, so a cycle counts once the queue has returned, and one that is
 * short or small is not enough. A fall that is over by the next decision is none: a program paused,
 * and caught up. Of the queue that a link leaves which stood still (mccstandstill.h) nothing is
 * told.
 *
 * Laws: a queue that one sender alone fills on a link of constant rate counts for nothing, however
 * its rate varies; one change of the link is not enough.
 */
#include "mccrateenhanced.h"

/* All ours; found in tests/sim, asmp-grid (docs/design/receiver.md, queues that come and go). */
#define MEMORY_S 30.0      /* of cycles */
#define ENOUGH 1.0         /* cycles, faded */
#define CYCLE_LEAST 0.4    /* what the least one counts for: three within 11 s, four within 33 */
#define PROVES_S 0.015     /* a fall beyond ours by this counts for a whole one */
#define PROVES_FALLS 1.5   /* ... and by so much of what the least fall is */
#define FALL_LEAST_S 0.003 /* hosts jitter; or a packet and RTCP, or bursts */
#define SLOPE 0.02         /* s a second: what arrived is known no better */
#define STANDS (150 * MCC_MSECOND)    /* before its fall says anything ... */
#define STANDS_DECISIONS 2            /* ... and seen so often: no host that stood still */
#define FALL_DECISIONS 2              /* running: nor one that pauses, and catches up */
#define STANDS_LONG MCC_SECOND        /* ... or says all */
#define SETTLED MCC_SECOND            /* after the link became slower */
#define RETURN_TIME (30 * MCC_SECOND) /* after its fall */
#define STOP_OVER (2 * MCC_SECOND)    /* the queue of a stop is gone by then, or was none */
#define STOP_DOUBT (10 * MCC_SECOND)
#define SAME 0.15 /* received before and after, within this */
#define STOOD_TIME_S 0.4
#define SPREAD_GAIN 0.1  /* a decision */
#define SLOWER 0.98      /* of the capacity noted before */
#define RTCP_BYTES 500.0 /* a compound of the session stands before a packet of ours */

/* What can stand in the queue without being a rival's: a packet, and RTCP of the session. */
static double
least_queue_s (const MccRateInput *input)
{
  return mcc_rate_packet_s (input) * (1.0 + RTCP_BYTES / fmax (input->packet_bytes, 1.0));
}

static void
watch_spread (MccRateCycles *self, const MccRateInput *input)
{
  if (input->queue_peak < input->queue_delay)
    return; /* a slump's */
  double spread_s = mcc_time_to_seconds (input->queue_peak - input->queue_delay);
  if (spread_s < self->spread_s)
    self->spread_s = spread_s;
  else
    self->spread_s += SPREAD_GAIN * (spread_s - self->spread_s);
}

static void
note_fall (MccRateEnhanced *rate, double fallen_s, double least_s, bool stood_long)
{
  MccRateCycles *self = &rate->cycles;
  /* What fell before and came back a little is over. */
  if (!self->fell || self->ridge_s > self->to_s + least_s) {
    self->fell = true;
    self->from_s = self->ridge_s;
    self->received_bps = self->before_bps;
    self->proof = 0.0;
  }
  if (stood_long)
    self->proof += fallen_s / fmax (PROVES_S, PROVES_FALLS * least_s);
}

/* What came while the queue stands; 0: not known. Where bursts of ours come and go, less comes on
 * the mean than the link carries. */
static double
stood_bps (const MccRateCycles *self)
{
  return self->came_s > 0.0 ? 8.0 * self->came_bytes / self->came_s : 0.0;
}

static void
watch_fall (MccRateEnhanced *rate, const MccRateInput *input, double least_s, double dt_s)
{
  MccRateCycles *self = &rate->cycles;
  double queue_s = mcc_time_to_seconds (input->queue_delay);
  if (self->falls == 0) {
    self->before_bps = rate->received_bps;
    self->link_bps = fmax (rate->received_bps, stood_bps (self));
  }
  double sent_s = 8.0 * (double)input->sent_bytes / fmax (self->link_bps, 1.0);
  double pause_s = fmax (mcc_time_to_seconds (input->sent_span) - sent_s, 0.0);
  double ours_s = self->ridge_s - pause_s - SLOPE * dt_s;
  bool stood = self->stood >= STANDS_DECISIONS || self->falls > 0;
  if (stood && ours_s - queue_s > least_s) {
    MccTime since = self->stands_since;
    if (rate->slower_at > 0)
      since = mcc_time_max (since, rate->slower_at + SETTLED);
    if (input->now < since + STANDS) {
      self->falls = 0;
    } else if (++self->falls >= FALL_DECISIONS) {
      note_fall (rate, ours_s - queue_s, least_s, input->now >= since + STANDS_LONG);
      self->to_s = ours_s = queue_s;
      self->fell_at = input->now;
      self->falls = 0;
    }
  } else {
    self->falls = 0;
  }
  self->ridge_s = fmax (queue_s, ours_s);
}

static void
watch_return (MccRateEnhanced *rate, const MccRateInput *input)
{
  MccRateCycles *self = &rate->cycles;
  double queue_s = mcc_time_to_seconds (input->queue_delay);
  if (!self->fell)
    return;
  if (input->now - self->fell_at > RETURN_TIME
      || (double)input->received_now_bps < (1.0 - SAME) * self->received_bps) {
    self->fell = false; /* we sent less */
    return;
  }
  if (self->falls == 0)
    self->to_s = fmin (self->to_s, queue_s);
  if (self->stood == 0 || queue_s < (self->from_s + self->to_s) / 2.0
      || rate->received_bps >= (1.0 + SAME) * self->received_bps)
    return;
  self->fell = false;
  self->seen += self->proof < 1.0 ? CYCLE_LEAST : self->proof;
}

static void
watch_stand (MccRateEnhanced *rate, const MccRateInput *input, double dt_s)
{
  MccRateCycles *self = &rate->cycles;
  if (input->queue_delay < mcc_rate_enhanced_empty_queue (rate, input)) {
    self->stood = 0;
    self->emptied = true;
    self->came_bytes = self->came_s = 0.0;
    return;
  }
  if (self->stood++ == 0)
    self->stands_since = input->now;
  double keeps = 1.0 - fmin (1.0, dt_s / STOOD_TIME_S);
  self->came_bytes = self->came_bytes * keeps + (double)input->sent_bytes;
  self->came_s = self->came_s * keeps + mcc_time_to_seconds (input->came_span);
}

void
mcc_rate_enhanced_watch_stop (MccRateEnhanced *rate, const MccRateInput *input)
{
  MccRateCycles *self = &rate->cycles;
  if (!self->stopped) {
    self->stopped = input->stood_still > 0 && input->now >= self->stops_from;
    self->stopped_at = input->now;
  } else if (input->stood_still == 0
             && input->queue_delay < mcc_rate_enhanced_empty_queue (rate, input)) {
    self->stopped = false;
  } else if (input->now - self->stopped_at >= STOP_OVER) {
    self->stopped = false; /* others' burst, likelier */
    self->stops_from = input->now + STOP_DOUBT;
  }
}

void
mcc_rate_enhanced_watch_cycles (MccRateEnhanced *rate, const MccRateInput *input, double dt_s)
{
  MccRateCycles *self = &rate->cycles;
  self->seen *= 1.0 - dt_s / MEMORY_S;
  self->less *= 1.0 - dt_s / MEMORY_S;
  if (input->sent_bytes == 0)
    return; /* nothing came: the queue is the last one */
  double least_s = fmax (fmax (FALL_LEAST_S, least_queue_s (input)), self->spread_s);
  watch_spread (self, input);
  if (rate->base.mode != MCC_RATE_DELAY) {
    mcc_rate_enhanced_forget_cycles (rate); /* a doubling rate outruns what arrived */
    return;
  }
  if (self->stopped) {
    self->ridge_s = mcc_time_to_seconds (input->queue_delay);
    self->fell = false;
    self->stood = 0;
    self->came_bytes = self->came_s = 0.0;
    return;
  }
  watch_fall (rate, input, least_s, dt_s);
  watch_stand (rate, input, dt_s);
  watch_return (rate, input);
}

void
mcc_rate_enhanced_watch_capacity (MccRateEnhanced *rate, const MccRateInput *input)
{
  MccRateCycles *self = &rate->cycles;
  if (self->stopped || (!self->emptied && self->noted_bps > 0.0))
    return;
  self->emptied = false;
  double ours_s = rate->own_queue_s + fmax (least_queue_s (input), self->spread_s);
  double most_bps = (double)(input->received_now_bps + input->grain_bps);
  if (most_bps < SLOWER * self->noted_bps && mcc_time_to_seconds (input->queue_delay) > ours_s
      && !mcc_rate_enhanced_fellows_lose_nothing (rate, input))
    self->less += CYCLE_LEAST;
  else if (SLOWER * (double)input->received_now_bps > self->noted_bps)
    self->less = fmax (0.0, self->less - CYCLE_LEAST);
  self->noted_bps = (double)input->received_now_bps;
  if (rate->slower_at > 0 && input->now < rate->slower_at + SETTLED)
    self->noted_bps = self->less = 0.0; /* another link; part of that came when it carried more */
}

bool
mcc_rate_enhanced_others_come_and_go (const MccRateEnhanced *rate)
{
  return rate->cycles.seen + rate->cycles.less >= ENOUGH;
}

void
mcc_rate_enhanced_forget_cycles (MccRateEnhanced *rate)
{
  rate->cycles = (MccRateCycles){ .spread_s = rate->cycles.spread_s,
    .stopped = rate->cycles.stopped,
    .stopped_at = rate->cycles.stopped_at,
    .stops_from = rate->cycles.stops_from };
}

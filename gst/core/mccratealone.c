/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccratealone: whether who competes has nobody to compete with. Its own rate overflows the queue
 * then as TCP's would, again and again, and each of those losses looks like others'.
 *
 * Laws:
 *  - While we send clearly less than what arrived when the queue overflowed last, a queue of ours
 *    falls or is none. One that stands or grows is others', as is a loss without a queue, or where
 *    less arrived than at the overflow before. No sign of others for long, over several overflows
 *    and while we sent less for a while: there are none.
 *  - TCP takes what we leave, and keeps a queue of more than a round trip from becoming empty.
 * Where such a queue overflowed, we have fallen, and it stays empty, nobody is there, or others
 * like us who have fallen, too (mccratefellows.c): what was lost then is no reason to go on
 * competing.
 */
#include "mccrateenhanced.h"

/* All ours (docs/design/receiver.md, alone, and competing). */
#define LEAST_TIME (10 * MCC_SECOND) /* without a sign ... */
#define LEAST_INTERVALS 3.0          /* ... and so many mean loss intervals */
#define OVERFLOWS 2
#define LESS 0.9        /* sent, of what arrived at the overflow ... */
#define LESS_TIME_S 2.0 /* ... for so long */
#define AS_MUCH 0.85    /* arrives at each overflow */
#define SPIKE MCC_MSECOND
/* Nobody takes what we left: */
#define FULL_QUEUE 0.5         /* of the losses, a full queue's at least ... */
#define DEEP 1.5               /* ... that was so many round trips (without it) long lately */
#define FELL 0.7               /* arrives, of what did at the newest loss */
#define SOON (30 * MCC_SECOND) /* competing again: it was a mistake, look twice as long */
#define TIMES_MAX 8

void
mcc_rate_enhanced_forget_alone (MccRateEnhanced *rate, MccTime now)
{
  rate->alone = (MccRateAlone){ .since = now };
}

void
mcc_rate_enhanced_watch_empty (MccRateEnhanced *rate, const MccRateInput *input)
{
  if (input->queue_delay >= mcc_rate_enhanced_empty_queue (rate, input)) {
    rate->empty_since = MCC_TIME_NONE;
    return;
  }
  double received = (double)input->received_now_bps;
  if (rate->empty_since == MCC_TIME_NONE) {
    rate->empty_since = input->now;
    rate->empty_bps = received;
  }
  rate->empty_bps = fmin (rate->empty_bps, received);
}

bool
mcc_rate_enhanced_nobody_takes (
    const MccRateEnhanced *rate, const MccRateInput *input, MccTime patience)
{
  return rate->empty_since != MCC_TIME_NONE
         && input->now - rate->empty_since >= rate->left_times * patience
         && rate->empty_bps <= FELL * rate->loss_bps && input->overflow_share >= FULL_QUEUE
         && rate->longest_s >= DEEP * mcc_time_to_seconds (input->rtt);
}

void
mcc_rate_enhanced_note_left (MccRateEnhanced *rate, const MccRateInput *input)
{
  rate->left_at = input->now;
  rate->competed = rate->loss_foreign = MCC_TIME_NONE;
  rate->fellows = (MccRateFellows){ .loss = MCC_TIME_NONE, .above_since = MCC_TIME_NONE };
}

void
mcc_rate_enhanced_watch_left (MccRateEnhanced *rate, const MccRateInput *input)
{
  bool soon = rate->left_at != MCC_TIME_NONE && input->now - rate->left_at < SOON;
  rate->left_times = !soon ? 1 : rate->left_times < TIMES_MAX ? 2 * rate->left_times : TIMES_MAX;
}

static void
note_others (MccRateAlone *self, MccTime now)
{
  self->since = now;
  self->overflows = 0;
  self->less_s = 0.0;
}

void
mcc_rate_enhanced_watch_alone (
    MccRateEnhanced *rate, const MccRateInput *input, bool new_loss, double dt_s)
{
  MccRateAlone *self = &rate->alone;
  MccTime empty = mcc_rate_enhanced_empty_queue (rate, input)
                  + mcc_time_from_seconds (mcc_rate_packet_delay_s (input));
  double received = (double)input->received_now_bps;
  if (new_loss) {
    bool ours = input->queue_delay > empty && received >= AS_MUCH * self->carried_bps
                && mcc_rate_enhanced_whole_link (rate, input) && !input->marked_alone;
    self->carried_bps = received;
    if (ours)
      self->overflows++;
    else
      note_others (self, input->now);
    return;
  }
  if (!(self->carried_bps > 0.0) || input->sent_span == 0)
    return;
  double sent = 8.0 * (double)input->sent_bytes / mcc_time_to_seconds (input->sent_span);
  if (fmax (sent, rate->received_bps) >= LESS * self->carried_bps)
    return;
  self->less_s += dt_s;
  if (input->queue_delay > empty && input->queue_delay + SPIKE >= rate->queue_last)
    note_others (self, input->now);
}

bool
mcc_rate_enhanced_is_alone (const MccRateEnhanced *rate, const MccRateInput *input)
{
  const MccRateAlone *self = &rate->alone;
  if (self->overflows < OVERFLOWS || self->less_s < LESS_TIME_S || !(input->loss_ratio > 0.0))
    return false;
  MccTime least
      = mcc_time_max (LEAST_TIME, mcc_rate_enhanced_loss_intervals (input, LEAST_INTERVALS));
  return input->now - self->since >= least;
}

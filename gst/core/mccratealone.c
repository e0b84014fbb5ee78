/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccratealone: whether who competes has nobody to compete with. Its own rate overflows the queue
 * then as TCP's would, again and again, and each of those losses looks like others'.
 *
 * Law: while we send clearly less than what arrived when the queue overflowed last, a queue of ours
 * falls or is none. One that stands or grows is others', as is a loss without a queue, or where
 * less arrived than at the overflow before. No sign of others for long, over several overflows and
 * while we sent less for a while: there are none.
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

void
mcc_rate_enhanced_forget_alone (MccRateEnhanced *rate, MccTime now)
{
  rate->alone = (MccRateAlone){ .since = now };
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

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrateprobe: whose queue it is that stands below its target, where TCP would get far more than
 * we do. At a low rate packets are too far apart to show what the link carries, and so our own rate
 * looks like all of it. A cut shows it: a queue of ours has gone when so much less was sent than
 * had arrived. One that comes again and again then is others'.
 *
 * Law: of a queue that we alone fill, on a link that carries at least what arrived, nothing is left
 * then but what is always there (a clock's drift; each packet's own time on a link that became
 * slower), whatever our bursts do.
 */
#include "mccrateenhanced.h"

/* All ours (docs/design/receiver.md, whose queue it is). */
#define TIME_MAX (5 * MCC_SECOND)
#define UNKNOWN 0.02                       /* of the time: what arrived is known no better */
#define MARGIN_S 0.01                      /* beyond the queue at the cut */
#define STANDS 0.5                         /* of that queue, at least */
#define DECISIONS 5                        /* with nothing of ours left ... */
#define OTHERS 3                           /* ... and a queue in so many of them */
#define EMPTY 2                            /* decisions running: ours, or none ... */
#define EMPTY_S 0.015                      /* ... with less than this: clocks drift */
#define WAIT (5 * MCC_SECOND)              /* below the target ... */
#define WAIT_FOREIGN (6 * MCC_SECOND / 10) /* ... after losses that we had not to answer for */
#define LONGER 2                           /* ... and so much longer each time ... */
#define LONGER_TIMES 5                     /* ... up to so often */

/* TCP would get far more than we do. */
static bool
is_worth (const MccRateEnhanced *rate, const MccRateInput *input)
{
  return input->loss_ratio > 0.0
         && rate->base.rate_bps < BELOW * mcc_rate_enhanced_equation_bps (input);
}

/* TCP's sawtooth, whose fall would look as if the queue were ours. */
static bool
is_about_to_fall (const MccRateEnhanced *rate, const MccRateInput *input)
{
  double queue_s = mcc_time_to_seconds (input->queue_delay);
  MccTime floor = mcc_time_min (rate->floor[0], rate->floor[1]);
  double low_s = mcc_time_to_seconds (mcc_time_min (floor, input->queue_delay));
  return queue_s - low_s > (fmax (rate->longest_s, queue_s) - low_s) / 2.0;
}

void
mcc_rate_enhanced_begin_probe (MccRateEnhanced *rate, const MccRateInput *input)
{
  MccRateProbe *self = &rate->probe;
  self->begun = input->now;
  self->carried_bps = fmax ((double)input->received_now_bps, (double)input->received_bps);
  self->queue_s = mcc_time_to_seconds (input->queue_delay);
  self->left_s = self->queue_s + MARGIN_S;
  self->decisions = self->others = self->empty = 0;
}

bool
mcc_rate_enhanced_wants_probe (
    MccRateEnhanced *rate, const MccRateInput *input, MccTime target, MccTime dt)
{
  MccRateProbe *self = &rate->probe;
  MccTime wait = mcc_rate_enhanced_foreign_losses (rate, input) ? WAIT_FOREIGN : WAIT;
  for (unsigned i = 0; i < self->vain; i++)
    wait *= LONGER;
  if (self->begun != 0) {
    self->stood = 0;
    return false;
  }
  /* TCP's sawtooth is above the target and below its half each few seconds. */
  if (input->queue_delay <= target / 2) {
    self->stood -= mcc_time_min (self->stood, dt);
    return false;
  }
  self->stood += dt;
  /* In one queue who limits asks for all. */
  if (self->stood < wait || input->others_limit || !is_worth (rate, input)
      || is_about_to_fall (rate, input) || mcc_rate_enhanced_knows_ours (rate, input))
    return false;
  self->vain = self->vain < LONGER_TIMES ? self->vain + 1 : LONGER_TIMES;
  self->stood = 0;
  return true;
}

bool
mcc_rate_enhanced_is_probing (const MccRateEnhanced *rate)
{
  return rate->probe.begun != 0;
}

bool
mcc_rate_enhanced_probe (MccRateEnhanced *rate, const MccRateInput *input)
{
  MccRateProbe *self = &rate->probe;
  if (self->begun == 0)
    return false;
  /* Of another link what arrived at the cut proves nothing. */
  if (input->now >= self->begun + TIME_MAX || rate->slower_at > self->begun
      || rate->cycles.stopped) {
    self->begun = 0;
    return false;
  }
  if (input->sent_bytes == 0)
    return false;
  double queue_s = mcc_time_to_seconds (input->queue_delay);
  double sent_s = 8.0 * (double)input->sent_bytes / self->carried_bps;
  double span_s = mcc_time_to_seconds (input->sent_span);
  self->left_s = fmax (self->left_s, 0.0) + sent_s - (1.0 - UNKNOWN) * span_s;
  if (self->left_s <= 0.0) {
    self->decisions++;
    MccTime target = mcc_rate_enhanced_target_queue (rate, input);
    double sure_s = mcc_time_to_seconds (mcc_rate_enhanced_sure_queue (rate, target));
    self->others += queue_s >= fmax (STANDS * self->queue_s, sure_s);
  }
  self->empty = queue_s < EMPTY_S ? self->empty + 1 : 0;
  if (self->decisions < DECISIONS && self->empty < EMPTY)
    return false;
  self->begun = 0;
  return self->others >= OTHERS;
}

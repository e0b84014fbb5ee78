/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccratefellows: whether it may be others like us who share the queue. They hold it at the target
 * of their rate, and their parts of the link change as they come, go and draw level: less arrives
 * than did, and a queue stands, as where TCP takes its share. But they lose nothing, and what is
 * above the target goes once the cuts of all of them show.
 *
 * Law: who shares a link with others like him only does not begin to compete with them. TCP loses,
 * and is found as without this; or, where it has not yet, when our cuts have shown nothing.
 */
#include "mccrateenhanced.h"

/* All ours (docs/design/receiver.md, others like us). */
#define LOST_LATELY (10 * MCC_SECOND)
#define TCP_LOSES 1.5 /* one packet in window^2 / this (Mathis et al. 1997) */
#define WOULD_SHOW 3.0
#define DRAIN_TIME (2 * MCC_SECOND) /* a doubling rate's queue, from when a cut of ours shows */

/* The queue that others like us hold: whoever has the rest of a link of which we have little has a
 * shorter one than we, of whose packets fewer come. */
static MccTime
their_target (const MccRateEnhanced *rate, const MccRateInput *input)
{
  MccTime ours = mcc_rate_enhanced_target_queue (rate, input);
  double rest_bps = mcc_rate_enhanced_pairs_bps (rate, input) - (double)input->received_bps;
  if (rest_bps < (double)input->received_bps)
    return ours;
  double packet_s = 8.0 * input->packet_bytes / rest_bps;
  return mcc_time_min (ours, mcc_rate_enhanced_target_of (rate, input, packet_s));
}

void
mcc_rate_enhanced_watch_fellows (MccRateEnhanced *rate, const MccRateInput *input, bool lost)
{
  MccRateFellows *self = &rate->fellows;
  if (lost)
    self->loss = input->now;
  if (input->queue_delay <= their_target (rate, input))
    self->above_since = MCC_TIME_NONE;
  else if (self->above_since == MCC_TIME_NONE)
    self->above_since = input->now;
}

/* Of few packets none may be lost where TCP loses, unless a flow that has the rest of the link, as
 * far as that is known, would have dropped several. */
static bool
losses_would_show (const MccRateEnhanced *rate, const MccRateInput *input)
{
  double packet_s = mcc_rate_packet_s (input);
  if (packet_s < APART_S)
    return true;
  double rest_bps = mcc_rate_enhanced_pairs_bps (rate, input) - (double)input->received_bps;
  double rtt_s = mcc_time_to_seconds (input->rtt);
  double window = rest_bps * rtt_s / (8.0 * input->packet_bytes);
  double packets = mcc_time_to_seconds (LOST_LATELY) / packet_s;
  return rest_bps > 0.0 && packets * TCP_LOSES / (window * window) >= WOULD_SHOW;
}

bool
mcc_rate_enhanced_fellows_lose_nothing (const MccRateEnhanced *rate, const MccRateInput *input)
{
  return losses_would_show (rate, input)
         && !mcc_rate_enhanced_is_recent (input, rate->fellows.loss, LOST_LATELY);
}

bool
mcc_rate_enhanced_fellows_may_fill (const MccRateEnhanced *rate, const MccRateInput *input)
{
  MccTime since = rate->fellows.above_since;
  return !mcc_rate_enhanced_others_return (rate, input)
         && mcc_rate_enhanced_fellows_lose_nothing (rate, input)
         && (since == MCC_TIME_NONE || input->now - since < input->rtt + SENDER_LAG + DRAIN_TIME);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmreceiverprivate.h"

#include <math.h>

/* Ours. Bursts: pictures, sent faster than the mean, that queue behind each other. */
#define BURST_FLOOR (5 * MCC_MSECOND)
#define BURST_PACKETS 5
#define BURST_TIME (40 * MCC_MSECOND)
#define BURST_SLOPE 0.2
#define BURST_RATE 1.2 /* of the level's: faster than it is sent on average */
#define BURSTS 3       /* to be believed */
#define BURST_SPAN (15 * MCC_SECOND)
#define OURS_CLEAR 0.75 /* of the looks at a queue that is ours */
/* A trial: the queue stands, and grows. */
#define FULL_FLOOR (30 * MCC_MSECOND)
#define FULL_FLOOR_PACKETS 2.5 /* so many of our level's take as long */
#define FULL_PACKETS 8
#define FULL_TIME (200 * MCC_MSECOND)
#define FULL_SLOPE 0.05
#define PROOF_SPAN (3 * MCC_SECOND)
#define ABOVE_TIME (30 * MCC_SECOND)
#define TOO_LITTLE 0.96               /* of what is sent: not within the error */
#define CLEAR_TIME (6 * MCC_SECOND)   /* so long without a sign of a limit: try */
#define CLEAR_PROVEN (2 * MCC_SECOND) /* ... when the path was seen to carry the next level */

static MccElmBursts *
newer_bursts (MccElmReceiver *self)
{
  MccElmBursts *newer = &self->bursts[0];
  if (self->now - newer->since >= BURST_SPAN) {
    self->bursts[1] = *newer;
    *newer = (MccElmBursts){ .since = self->now };
  }
  return newer;
}

static void
note_burst (MccElmReceiver *self)
{
  double level_bps = (double)self->layers.layer[self->level].cumulative_bps;
  const MccElmLink *burst = &self->burst;
  MccElmBursts *newer = newer_bursts (self);
  if (mcc_elm_link_bps (burst, BURST_PACKETS, BURST_TIME, BURST_SLOPE) == 0.0
      || mcc_elm_link_sent_bps (burst) < BURST_RATE * level_bps)
    return;
  self->burst_last = self->now;
  /* Packet by packet: long bursts, which say more, weigh more. */
  newer->count += newer->last != burst->first;
  newer->last = burst->first;
  newer->bytes += burst->bytes;
  newer->time += burst->last - burst->first;
}

/* Whether what bursts were carried at, taken together (a host that was late makes one of them look
 * fast), is less than the level above @level needs. */
static bool
bursts_refuse (const MccElmReceiver *self, int level)
{
  const MccElmBursts *seen = self->bursts;
  double time_s = mcc_time_to_seconds (seen[0].time + seen[1].time);
  double bps = 8.0 * (double)(seen[0].bytes + seen[1].bytes) / time_s;
  return seen[0].count + seen[1].count >= BURSTS && self->now - seen[1].since < 3 * BURST_SPAN
         && bps < TOO_LITTLE * (double)self->layers.layer[level + 1].cumulative_bps;
}

bool
mcc_elm_receiver_is_alone (const MccElmReceiver *self)
{
  return isinf (mcc_elm_receiver_x_bps (self)) && self->now >= self->others_until;
}

void
mcc_elm_receiver_note_queue (MccElmReceiver *self, bool clear)
{
  MccElmBursts *newer = newer_bursts (self);
  newer->looks++;
  newer->clear += clear;
}

bool
mcc_elm_receiver_queue_is_ours (const MccElmReceiver *self)
{
  const MccElmBursts *seen = self->bursts;
  unsigned looks = seen[0].looks + seen[1].looks;
  return looks > 0 && (double)(seen[0].clear + seen[1].clear) >= OURS_CLEAR * looks
         && self->now >= self->others_until;
}

bool
mcc_elm_receiver_was_alone (const MccElmReceiver *self)
{
  /* What the first pictures lost while nothing was known yet was their own doing, and so is what
   * a peak of ours loses now and then. */
  bool ours
      = (isinf (mcc_elm_fair_get (&self->fair_before)) || mcc_elm_receiver_queue_is_ours (self))
        && self->level > 0 && bursts_refuse (self, self->level - 1);
  return (!(self->calm_loss > 0.0) || ours) && self->now >= self->others_until;
}

void
mcc_elm_receiver_forget_link (MccElmReceiver *self)
{
  mcc_elm_link_clear (&self->full);
  mcc_elm_link_clear (&self->burst);
  self->bursts[0] = self->bursts[1] = (MccElmBursts){ .since = self->now };
  self->burst_last = MCC_TIME_NONE;
  self->above = MCC_TIME_NONE;
}

void
mcc_elm_receiver_note_link (MccElmReceiver *self, uint32_t bytes)
{
  MccTime queue = self->path.queue_newest, arrival = self->path.arrival;
  double level_bps = (double)self->layers.layer[self->level].cumulative_bps;
  MccTime packets = mcc_time_from_seconds (
      FULL_FLOOR_PACKETS * 8.0 * mcc_loss_mean_packet_bytes (self->path.loss) / level_bps);
  mcc_elm_link_handle_packet (
      &self->full, bytes, queue, mcc_time_max (FULL_FLOOR, packets), arrival);
  mcc_elm_link_handle_packet (&self->burst, bytes, queue, BURST_FLOOR, arrival);
  note_burst (self);
}

bool
mcc_elm_receiver_link_is_full (const MccElmReceiver *self)
{
  double level_bps = (double)self->layers.layer[self->level].cumulative_bps;
  double bps = mcc_elm_link_bps (&self->full, FULL_PACKETS, FULL_TIME, FULL_SLOPE);
  return bps > 0.0 && bps < TOO_LITTLE * level_bps;
}

bool
mcc_elm_receiver_link_bears (const MccElmReceiver *self)
{
  MccTime since = self->now > PROOF_SPAN ? self->now - PROOF_SPAN : 0;
  return mcc_capacity_proven_bps (&self->path.capacity, since, self->now)
         >= self->layers.layer[self->level + 1].cumulative_bps;
}

bool
mcc_elm_receiver_looks_free (const MccElmReceiver *self)
{
  return self->clear_since != MCC_TIME_NONE
         && self->now - self->clear_since
                >= (mcc_elm_receiver_link_bears (self) ? CLEAR_PROVEN : CLEAR_TIME);
}

bool
mcc_elm_receiver_link_refuses (const MccElmReceiver *self)
{
  MccTime since = self->join_time;
  if (self->left != MCC_TIME_NONE)
    since = mcc_time_max (since, self->left);
  if (mcc_elm_receiver_link_bears (self))
    return false;
  /* Behind our link the one above has what we would try; what failed may have been its doing. */
  bool above = self->above != MCC_TIME_NONE && self->now - self->above < ABOVE_TIME;
  if (!above && mcc_elm_memory_holds (&self->memory, (unsigned)self->level + 1, self->now))
    return true;
  return bursts_refuse (self, self->level) && self->now - since < MCC_ELM_HOLD;
}

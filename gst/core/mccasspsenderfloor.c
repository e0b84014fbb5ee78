/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasspsenderfloor: how low a stream may go (enhanced; published: low_j, whatever they say).
 *
 * The lower bound is for those who bear it. Laws:
 *  - Where all in a stream (few, or they do not all speak) say that they bear less than
 *    MCC_ASSP_FALL low_j, so that they are about to leave, it follows the least of them, down to
 * the low bound of the lowest stream: nobody has anything of what their path drops. With one who
 *    bears more it is low_j: near the bound a rival must not get what we give up. Nor while one of
 *    it tries a higher stream: that must show what the link carries beside this one.
 *  - When they have all said that they leave, it stays down for QUIET_TIME: the network
 *    goes on sending it to them for its leave latency, beside the stream that they are in now.
 *  - Else a stream without receivers is held at low_j (ASSP 3.2), and one whose bound has risen at
 *    the old one while it is spared (mccasspsenderladder.c).
 */
#include "mccasmpschedule.h"
#include "mccassplevel.h"
#include "mccasspsenderprivate.h"

#define TRIAL_TIME                                                                                 \
  (8 * MCC_SECOND) /* so long its fellows wait: mccasspreceiverothers.c, twice 4 s */
#define SAID_TIME (1500 * MCC_MSECOND) /* without a BYE it counts as there for a second */
#define QUIET_TIME (4 * MCC_SECOND)    /* twice the last member query time (RFC 3376 8.8) */

static uint64_t
lowest_bps (const MccAsspSender *self)
{
  return self->streams.stream[mcc_assp_streams_lowest (&self->streams)].low_bps;
}

static void
apply_bounds (MccAsspSender *self, unsigned j)
{
  const MccAsspStream *bounds = &self->streams.stream[j];
  MccAsspSenderStream *stream = &self->stream[j];
  uint64_t low_bps = bounds->low_bps, least_bps = lowest_bps (self);
  bool spared = stream->occupied && self->now < stream->spared_until;
  if (spared && stream->spared_bps < low_bps)
    low_bps = stream->spared_bps;
  stream->spared = low_bps < bounds->low_bps;
  bool quiet = !stream->occupied && stream->quiet_until != MCC_TIME_NONE;
  if ((stream->sinks || quiet) && least_bps < low_bps)
    low_bps = least_bps;
  uint64_t high_bps = stream->occupied ? bounds->high_bps : low_bps;
  mcc_asmp_sender_set_bounds (stream->asmp, low_bps, high_bps, self->now);
}

void
mcc_assp_sender_apply_bounds (MccAsspSender *self, unsigned j)
{
  apply_bounds (self, j);
  for (unsigned k = 0; k < self->streams.count; k++) /* whose floor was that of stream j */
    if (k != j && (self->stream[k].sinks || self->stream[k].quiet_until != MCC_TIME_NONE))
      apply_bounds (self, k);
}

/* Whether nobody in stream @j bears nearly its lower bound. */
static bool
is_too_much (const MccAsspSender *self, unsigned j)
{
  const MccAsmpSender *asmp = self->stream[j].asmp;
  uint32_t members = mcc_asmp_sender_members (asmp);
  double low_bps = (double)self->streams.stream[j].low_bps;
  if (self->config.variant != MCC_VARIANT_ENHANCED
      || mcc_asmp_sender_group (asmp) > MCC_ASMP_FEW_RECEIVERS)
    return false;
  MccTime tried = self->stream[j].tried;
  if (tried != MCC_TIME_NONE && self->now - tried < TRIAL_TIME)
    return false;
  bool known = false;
  for (uint32_t i = 0; i < members; i++) {
    MccReceiverInfo info;
    mcc_asmp_sender_get_receiver (asmp, i, self->now, &info);
    if (info.state != MCC_RECEIVER_ACTIVE) /* on probation, or not believed */
      continue;
    if (info.plain || info.no_limit || (double)info.rate_bps >= MCC_ASSP_FALL * low_bps)
      return false;
    known = true;
  }
  return known;
}

void
mcc_assp_sender_look_at (MccAsspSender *self, unsigned j)
{
  MccAsspSenderStream *stream = &self->stream[j];
  bool occupied = mcc_asmp_sender_members (stream->asmp) > 0, sinks = is_too_much (self, j);
  bool spared_ends = stream->spared && self->now >= stream->spared_until;
  bool quiet_ends = self->now >= stream->quiet_until;
  if (quiet_ends || occupied)
    stream->quiet_until = MCC_TIME_NONE;
  bool said = stream->left != MCC_TIME_NONE && self->now - stream->left <= SAID_TIME;
  if (stream->occupied && !occupied && stream->sinks && said)
    stream->quiet_until = self->now + QUIET_TIME;
  bool changed = occupied != stream->occupied || sinks != stream->sinks;
  stream->occupied = occupied;
  stream->sinks = sinks;
  if (changed || spared_ends || quiet_ends)
    apply_bounds (self, j);
}

MccTime
mcc_assp_sender_floor_next (const MccAsspSender *self, unsigned j)
{
  const MccAsspSenderStream *stream = &self->stream[j];
  return mcc_time_min (stream->quiet_until, stream->spared ? stream->spared_until : MCC_TIME_NONE);
}

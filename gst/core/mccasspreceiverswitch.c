/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasspreceiverprivate.h"

#include <math.h>

/* What was left still stands in the queue, and in what was measured. Ours. */
#define DRAIN_TIME (500 * MCC_MSECOND)
#define DRAIN_RTT_MAX MCC_SECOND
/* A link that has slumped. Its full queue is to be emptied, by what is claimed of it, in a few
 * seconds, and would tear a key unit before those who send have heard of it. Ours. */
#define DRAIN_SHARE 0.75
#define KEY_UNIT_TIME (400 * MCC_MSECOND)
/* Of a stream that we go up to. Ours. */
#define PROBE_TIME (400 * MCC_MSECOND)
#define PROBE_PACKETS 16
#define PROBE_SHARE 0.85 /* of what is needed: less is too little */

static void
push_group (MccAsspReceiver *self, MccAsspReceiverActionType type, unsigned stream,
    const MccAsspStream *group)
{
  mcc_assp_receiver_push (self, &(MccAsspReceiverAction){ .type = type,
                                    .stream = stream,
                                    .from = self->stream,
                                    .group = *group,
                                    .overlap = self->overlap,
                                    .reason = self->reason });
}

static void
join (MccAsspReceiver *self, unsigned stream)
{
  self->to = stream;
  self->to_group = self->streams.stream[stream];
  push_group (self, MCC_ASSP_RECEIVER_JOIN, stream, &self->to_group);
  self->stats.joins++;
}

static void
leave (MccAsspReceiver *self, unsigned stream, const MccAsspStream *group)
{
  push_group (self, MCC_ASSP_RECEIVER_LEAVE, stream, group);
  self->left = self->now;
  self->stats.leaves++;
}

/* The sender must not wait for our reports in the stream that we go from. */
static void
take_leave (MccAsspReceiver *self, unsigned stream)
{
  MccAsspReceiverAction action
      = { .type = MCC_ASSP_RECEIVER_ASMP, .stream = stream, .from = stream };
  action.asmp.type = MCC_RECEIVER_SEND_REPORT;
  if (!mcc_asmp_receiver_is_awaited (self->asmp))
    return;
  mcc_asmp_receiver_leave (self->asmp, &action.asmp.report, self->now);
  uint64_t told_bps = mcc_assp_receiver_told_bps (self), up_bps = (uint64_t)self->level.average_bps;
  if (self->config.asmp.variant == MCC_VARIANT_ENHANCED && self->reason == MCC_ASSP_REASON_UP
      && self->level.has_average && told_bps < up_bps)
    told_bps = up_bps; /* our fellows know where we go */
  action.asmp.report.potential_bps = told_bps;
  mcc_assp_receiver_push (self, &action);
}

static void
follow (MccAsspReceiver *self, unsigned stream, bool fresh)
{
  const MccAppSession *session = self->has_session[stream] ? &self->session[stream] : NULL;
  mcc_asmp_receiver_follow (
      self->asmp, self->streams.stream[stream].ssrc, session, fresh, self->now);
  mcc_assp_receiver_drain (self);
}

/* What is sent in @stream. */
static uint64_t
sent_bps (const MccAsspReceiver *self, unsigned stream)
{
  return self->has_session[stream] ? self->session[stream].target_bps
                                   : self->streams.stream[stream].average_bps;
}

static bool
has_room (const MccAsspReceiver *self, unsigned from, unsigned to)
{
  /* A stream that nobody is in may be quiet. */
  uint64_t next = sent_bps (self, to), low = self->streams.stream[to].low_bps;
  uint64_t sum = sent_bps (self, from) + (next > low ? next : low);
  return mcc_asmp_receiver_potential_bps (self->asmp) >= sum;
}

/* What we know to bear less than the stream that we go down to makes now: it must not wait for our
 * first measurement to slow down, or nothing of it would arrive whole. */
static uint64_t
enhanced_claim (const MccAsspReceiver *self, unsigned to)
{
  uint64_t slump_bps = mcc_asmp_receiver_slump_bps (self->asmp);
  uint64_t bps = mcc_asmp_receiver_known_bps (self->asmp);
  if (slump_bps > 0) /* what was known before, or not, was of another link */
    bps = (uint64_t)(DRAIN_SHARE * (double)slump_bps);
  if (self->config.asmp.variant != MCC_VARIANT_ENHANCED
      || (self->reason != MCC_ASSP_REASON_TROUBLE && self->reason != MCC_ASSP_REASON_LADDER))
    return 0;
  return bps < sent_bps (self, to) ? bps : 0;
}

static void
begin_probe (MccAsspReceiver *self, unsigned from, unsigned to)
{
  memset (&self->probe, 0, sizeof self->probe);
  if (self->config.asmp.variant != MCC_VARIANT_ENHANCED || self->reason != MCC_ASSP_REASON_UP)
    return;
  self->probe.needed_bps = mcc_assp_level_needed_bps (&self->level, &self->streams, from, to);
  self->probe.sent_bps = (double)sent_bps (self, from);
  self->probe.rivals = mcc_asmp_receiver_has_rivals (self->asmp);
}

void
mcc_assp_receiver_probe (MccAsspReceiver *self, const MccRtpPacket *packet)
{
  if (!(self->probe.needed_bps > 0.0))
    return;
  bool begins = !self->probe.seq.started;
  mcc_seq_extend16 (&self->probe.seq, packet->seq);
  uint64_t next = self->probe.seq.highest + 1;
  if (begins) {
    self->probe.first = next;
    self->probe.since = self->now;
    return;
  }
  self->probe.received++;
  self->probe.bytes += packet->bytes;
  uint64_t expected = next - self->probe.first;
  if (self->now - self->probe.since < PROBE_TIME || expected < PROBE_PACKETS)
    return;
  unsigned stream = mcc_assp_receiver_current (self);
  double part = (double)self->probe.received / (double)expected;
  /* Numbers tell what is sent; announcements of a stream that grows fast are late. */
  double mean_bits = 8.0 * (double)self->probe.bytes / (double)self->probe.received;
  double sum = fmax ((double)sent_bps (self, stream),
      mean_bits * (double)expected / mcc_time_to_seconds (self->now - self->probe.since));
  self->probe.alone = true;
  if (self->to != MCC_ASSP_NO_STREAM || self->left == MCC_TIME_NONE
      || self->probe.since < self->left + self->config.leave_latency) {
    /* The old stream gets its part of the link. */
    self->probe.alone = false;
    sum += self->probe.sent_bps;
  }
  /* What others may have taken for a moment the level finds out, if it lasts. */
  bool ours = part < 1.0 && !(self->probe.alone && self->probe.rivals);
  self->probe.carried_bps = ours ? part * sum : INFINITY;
  self->probe.first = next;
  self->probe.received = self->probe.bytes = 0;
  self->probe.since = self->now;
}

void
mcc_assp_receiver_restart_probe (MccAsspReceiver *self)
{
  self->probe.seq = (MccSeq){ 0 };
  self->probe.received = self->probe.bytes = 0;
}

bool
mcc_assp_receiver_is_too_much (const MccAsspReceiver *self)
{
  return self->probe.needed_bps > 0.0 && self->probe.carried_bps > 0.0
         && self->probe.carried_bps < PROBE_SHARE * self->probe.needed_bps;
}

/* When what was left last arrives no more, and its queue is gone; 0: nothing was. */
static MccTime
left_ends (const MccAsspReceiver *self)
{
  if (self->left == MCC_TIME_NONE)
    return 0;
  return self->left + self->config.leave_latency + DRAIN_TIME
         + mcc_time_min (mcc_asmp_receiver_rtt (self->asmp), DRAIN_RTT_MAX);
}

/* There is nowhere to go back to from @to. */
static bool
nowhere_else (const MccAsspReceiver *self, bool alone, unsigned to)
{
  bool lowest = to == mcc_assp_streams_lowest (&self->streams);
  if (!alone)
    return lowest && self->reason == MCC_ASSP_REASON_TROUBLE;
  return lowest || (self->reason != MCC_ASSP_REASON_BACK && self->reason != MCC_ASSP_REASON_LADDER);
}

void
mcc_assp_receiver_begin (MccAsspReceiver *self, unsigned to, MccAsspReason reason)
{
  unsigned from = self->stream;
  bool alone = from == MCC_ASSP_NO_STREAM;
  self->overlap = !alone && reason != MCC_ASSP_REASON_TROUBLE && from != to
                  && from < self->streams.count
                  && (self->joins_company || self->searches || has_room (self, from, to));
  self->reason = reason;
  self->home = alone ? self->home : from;
  self->begun = self->now;
  self->arrived = self->asked = false;
  uint64_t slump_bps
      = reason == MCC_ASSP_REASON_TROUBLE ? mcc_asmp_receiver_slump_bps (self->asmp) : 0;
  self->key_next = slump_bps > 0 ? self->now + KEY_UNIT_TIME : MCC_TIME_NONE;
  bool failed = reason == MCC_ASSP_REASON_BACK
                || (reason == MCC_ASSP_REASON_TROUBLE && slump_bps == 0
                    && mcc_assp_level_is_newcomer (&self->level, from, self->now));
  if (slump_bps > 0 && slump_bps != self->slump_bps) {
    /* another slump than the one that has sent us down already */
    self->slump_stream = from;
    self->slump_bps = slump_bps;
  }
  begin_probe (self, from, to);
  mcc_assp_level_pause (&self->level);
  if (!alone)
    take_leave (self, from);
  if (!alone && !self->overlap) {
    leave (self, from, &self->group);
    self->stream = MCC_ASSP_NO_STREAM;
  }
  join (self, to);
  self->looks = false;
  self->waits = nowhere_else (self, alone, to);
  self->deadline = self->now
                   + (self->waits      ? MCC_ASSP_JOIN_TIMEOUT_LAST
                       : self->overlap ? MCC_ASSP_JOIN_TIMEOUT
                                       : MCC_ASSP_JOIN_TIMEOUT_ALONE);
  uint64_t claim_bps = enhanced_claim (self, to);
  follow (self, to, failed);
  mcc_asmp_receiver_claim (self->asmp, claim_bps);
  /* What it waits for is all that comes: if no picture of it is whole, its rate must fall. */
  mcc_asmp_receiver_hold (self->asmp, self->waits ? left_ends (self) : MCC_TIME_NONE, self->now);
}

static void
settle (MccAsspReceiver *self)
{
  self->to = MCC_ASSP_NO_STREAM;
  self->searches = false;
  self->deadline = self->key_next = MCC_TIME_NONE;
  self->settled = mcc_time_max (self->now, left_ends (self));
  mcc_asmp_receiver_hold (self->asmp, self->settled, self->now);
}

void
mcc_assp_receiver_complete (MccAsspReceiver *self)
{
  unsigned from = self->home, to = self->to;
  bool searched = self->searches;
  if (self->overlap)
    leave (self, self->stream, &self->group);
  self->overlap = false;
  self->stream = to;
  self->group = self->to_group;
  settle (self);
  if (searched && mcc_assp_streams_lower (&self->streams, to, from))
    mcc_assp_level_deserted (&self->level, from, self->now);
  else if (from < MCC_ASSP_NO_STREAM && from != to)
    mcc_assp_level_moved (&self->level, &self->streams, from, to, self->now);
  if (self->reason == MCC_ASSP_REASON_LADDER)
    mcc_assp_level_settle_in (&self->level);
  self->home = to;
  self->stats.switches += self->reason != MCC_ASSP_REASON_START;
  mcc_assp_receiver_push (self, &(MccAsspReceiverAction){ .type = MCC_ASSP_RECEIVER_SWITCHED,
                                    .stream = to,
                                    .from = from,
                                    .group = self->group,
                                    .reason = self->reason,
                                    .duration = self->now - self->begun });
}

/* What was joined is what the user wants, as far as the ladder has it. */
static bool
is_wanted (const MccAsspReceiver *self)
{
  return mcc_assp_receiver_locked (self) && self->to == mcc_assp_receiver_locked_stream (self)
         && mcc_assp_same_group (&self->streams.stream[self->to], &self->to_group);
}

/* What was joined is left: on to @next. */
static void
fail (MccAsspReceiver *self, unsigned next)
{
  self->stats.failed++;
  mcc_assp_receiver_push (self, &(MccAsspReceiverAction){ .type = MCC_ASSP_RECEIVER_FAILED,
                                    .stream = next,
                                    .from = self->to,
                                    .reason = self->reason });
  leave (self, self->to, &self->to_group);
}

void
mcc_assp_receiver_go_back (MccAsspReceiver *self)
{
  unsigned home = self->home;
  bool still_there = self->overlap && home < self->streams.count, searched = self->searches;
  /* There may be a new ladder by now. */
  unsigned lowest = mcc_assp_streams_lowest (&self->streams);
  if (home >= self->streams.count || self->reason == MCC_ASSP_REASON_TROUBLE
      || (!still_there && !mcc_assp_streams_open (&self->streams, home))
      || self->reason == MCC_ASSP_REASON_BACK || self->looks)
    home = lowest;
  if (mcc_assp_receiver_is_too_much (self))
    mcc_asmp_receiver_note_carried (self->asmp, (uint64_t)self->probe.carried_bps, self->now);
  self->probe.needed_bps = 0.0;
  if (is_wanted (self))
    self->lock_again = self->now + MCC_ASSP_SEARCH_AGAIN;
  if (!searched && !self->looks) /* a source that rests says nothing of the path */
    mcc_assp_level_failed (&self->level, &self->streams, self->home, self->to, self->now);
  fail (self, home);
  if (still_there) {
    self->overlap = false;
    follow (self, home, !searched);
    self->lost = self->lost || searched; /* still, until a packet says that it is not */
    settle (self);
    return;
  }
  self->searches = false;
  if (self->stream != MCC_ASSP_NO_STREAM) /* it is no more in the ladder */
    leave (self, self->stream, &self->group);
  self->stream = MCC_ASSP_NO_STREAM;
  mcc_assp_receiver_begin (self, home, MCC_ASSP_REASON_BACK);
}

void
mcc_assp_receiver_show_again (MccAsspReceiver *self)
{
  unsigned home = self->stream;
  leave (self, home, &self->group);
  self->stream = MCC_ASSP_NO_STREAM;
  if (!mcc_assp_streams_open (&self->streams, home))
    home = mcc_assp_streams_lowest (&self->streams);
  mcc_assp_receiver_begin (self, home, MCC_ASSP_REASON_BACK);
}

void
mcc_assp_receiver_give_up (MccAsspReceiver *self)
{
  const MccAsspStreams *streams = &self->streams;
  unsigned silent = self->to, at = self->looked != MCC_ASSP_NO_STREAM ? self->looked : silent;
  if (!self->waits) {
    mcc_assp_receiver_go_back (self);
    return;
  }
  unsigned next = mcc_assp_streams_above (streams, at);
  next = next != MCC_ASSP_NO_STREAM ? next : mcc_assp_streams_above (streams, silent);
  bool described = self->now - self->streams_time < MCC_ASMP_SOURCE_TIMEOUT;
  bool comes = self->arrived && self->now - self->heard < MCC_ASSP_JOIN_TIMEOUT_LAST;
  bool locked = mcc_assp_receiver_locked (self);
  if (locked && !comes && described && self->now >= self->lock_again
      && mcc_assp_receiver_wait_anew (self))
    return;
  if (comes || !described || next == MCC_ASSP_NO_STREAM || locked) {
    self->deadline = self->now + MCC_ASSP_JOIN_TIMEOUT_LAST;
    return;
  }
  fail (self, next);
  mcc_assp_receiver_begin (self, next, MCC_ASSP_REASON_LADDER);
  self->looked = next;
  self->looks = true;
}

bool
mcc_assp_receiver_wait_anew (MccAsspReceiver *self)
{
  bool locked = mcc_assp_receiver_locked (self), waits = self->waits || self->looks;
  if (!waits || self->to == MCC_ASSP_NO_STREAM || self->stream != MCC_ASSP_NO_STREAM)
    return false;
  unsigned wanted
      = locked ? mcc_assp_receiver_locked_stream (self) : mcc_assp_streams_lowest (&self->streams);
  bool comes = self->arrived && self->now - self->heard < MCC_ASMP_SOURCE_TIMEOUT;
  if (self->to == wanted || (comes && !locked))
    return false;
  fail (self, wanted);
  mcc_assp_receiver_end_search (self);
  mcc_assp_receiver_begin (self, wanted, locked ? MCC_ASSP_REASON_LOCK : MCC_ASSP_REASON_LADDER);
  return true;
}

/* The next one to look into: those below, then those above; MCC_ASSP_NO_STREAM: that was all. */
static unsigned
next_to_search (const MccAsspReceiver *self)
{
  const MccAsspStreams *streams = &self->streams;
  unsigned at = self->looked == MCC_ASSP_NO_STREAM ? self->stream : self->looked;
  bool up = mcc_assp_streams_lower (streams, self->stream, at);
  unsigned to = up ? MCC_ASSP_NO_STREAM : mcc_assp_streams_below (streams, at);
  return to != MCC_ASSP_NO_STREAM ? to : mcc_assp_streams_above (streams, up ? at : self->stream);
}

void
mcc_assp_receiver_end_search (MccAsspReceiver *self)
{
  self->looked = MCC_ASSP_NO_STREAM;
  self->look = 0;
}

/* An encoder that died, or a source that rests: all streams that are silent take no room, and the
 * first frame of ours shall be seen. One that is followed anew, and of which nothing has come
 * since, is never lost. */
void
mcc_assp_receiver_search (MccAsspReceiver *self)
{
  bool silent = self->lost || self->now - self->heard >= MCC_ASMP_SOURCE_TIMEOUT;
  if (!silent || !mcc_assp_receiver_steady (self) || mcc_assp_receiver_locked (self)
      || self->now < self->look)
    return;
  self->looked = next_to_search (self);
  self->searches = self->looked != MCC_ASSP_NO_STREAM;
  if (self->searches)
    mcc_assp_receiver_begin (self, self->looked, MCC_ASSP_REASON_LADDER);
  else
    self->look = self->now + MCC_ASSP_SEARCH_AGAIN;
}

void
mcc_assp_receiver_abandon (MccAsspReceiver *self)
{
  if (self->to != MCC_ASSP_NO_STREAM)
    leave (self, self->to, &self->to_group);
  if (self->stream != MCC_ASSP_NO_STREAM)
    leave (self, self->stream, &self->group);
  self->stream = self->to = self->home = MCC_ASSP_NO_STREAM;
  self->deadline = self->key_next = self->left = MCC_TIME_NONE;
  self->settled = self->slump_bps = self->lock_again = 0;
  self->overlap = self->arrived = self->searches = false;
  mcc_assp_receiver_end_search (self);
  self->unlimited = false;
  self->known_bps = 0.0;
  memset (self->other, 0, sizeof self->other);
  self->led_to = self->company = self->drawn_to = MCC_ASSP_NO_STREAM;
  memset (self->has_session, 0, sizeof self->has_session);
  mcc_assp_level_init (&self->level, self->config.asmp.variant, &self->config.factors);
}

unsigned
mcc_assp_receiver_locked_stream (const MccAsspReceiver *self)
{
  unsigned stream = (unsigned)self->config.lock_stream;
  if (stream == 0)
    return mcc_assp_streams_lowest (&self->streams);
  if (stream >= self->streams.count)
    return mcc_assp_streams_place (&self->streams, INFINITY);
  if (mcc_assp_streams_open (&self->streams, stream))
    return stream;
  stream = mcc_assp_streams_below (&self->streams, stream);
  return stream != MCC_ASSP_NO_STREAM ? stream : mcc_assp_streams_lowest (&self->streams);
}

/* Where a ladder that is new has the rate that is known of us. */
static unsigned
new_place (const MccAsspReceiver *self)
{
  double bps = self->level.has_average ? self->level.average_bps
                                       : (double)mcc_asmp_receiver_rate_bps (self->asmp);
  bps = fmax (bps, self->known_bps); /* the sender made the ladder of it */
  bool open = mcc_assp_streams_open (&self->streams, self->stream);
  if (open
      && (!self->level.has_average || bps >= (double)self->streams.stream[self->stream].low_bps))
    return self->stream;
  return mcc_assp_streams_place (&self->streams, bps);
}

void
mcc_assp_receiver_reconcile (MccAsspReceiver *self)
{
  if (self->to != MCC_ASSP_NO_STREAM
      && (!mcc_assp_streams_open (&self->streams, self->to)
          || !mcc_assp_same_group (&self->streams.stream[self->to], &self->to_group))) {
    mcc_assp_receiver_go_back (self);
    return;
  }
  if (!mcc_assp_receiver_steady (self))
    return;
  bool moved = self->ladder_moved;
  self->ladder_moved = false;
  if (self->stream >= self->streams.count)
    mcc_assp_receiver_begin (self, self->streams.count - 1, MCC_ASSP_REASON_LADDER);
  else if (!mcc_assp_same_group (&self->streams.stream[self->stream], &self->group))
    mcc_assp_receiver_begin (self, self->stream, MCC_ASSP_REASON_LADDER);
  else if (mcc_assp_receiver_locked (self) && self->now >= self->lock_again
           && self->stream != mcc_assp_receiver_locked_stream (self))
    mcc_assp_receiver_begin (self, mcc_assp_receiver_locked_stream (self), MCC_ASSP_REASON_LOCK);
  else if (!mcc_assp_receiver_locked (self)
           && (moved || !mcc_assp_streams_open (&self->streams, self->stream))
           && new_place (self) != self->stream)
    mcc_assp_receiver_begin (self, new_place (self), MCC_ASSP_REASON_LADDER);
}

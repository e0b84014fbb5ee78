/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccsplice.h"

#include <assert.h>
#include <stdlib.h>

#include "mccspliceprivate.h"

/* Frame intervals that are believed, and the one where none is known; frames a second. */
#define FPS_MAX 120
#define FPS_MIN 5
#define FPS_DEFAULT 30
#define CLOCK_RATE_DEFAULT 90000 /* RFC 3551: video */

void
mcc_splice_push (MccSplice *self, const MccSpliceAction *action)
{
  assert (self->action_count < MCC_SPLICE_ACTIONS); /* the host polls */
  self->action[(self->action_head + self->action_count++) % MCC_SPLICE_ACTIONS] = *action;
}

void
mcc_splice_free_packet (MccSplice *self, const MccSplicePacket *packet)
{
  mcc_splice_push (self, &(MccSpliceAction){ .type = MCC_SPLICE_FREE, .data = packet->data });
}

static int32_t
behind (uint32_t a, uint32_t b)
{
  return (int32_t)(a - b);
}

/* Of the stream as it came. */
static uint32_t
frame_interval (const MccSplice *self, const MccSpliceLine *line)
{
  unsigned n = line->frames < MCC_SPLICE_FRAMES ? line->frames : MCC_SPLICE_FRAMES;
  uint32_t least = n > 1 ? UINT32_MAX : self->clock_rate / FPS_DEFAULT;
  uint32_t low = self->clock_rate / FPS_MAX, high = self->clock_rate / FPS_MIN;
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < i; j++) {
      int32_t d = behind (line->frame[i], line->frame[j]);
      uint32_t apart = d < 0 ? (uint32_t)-d : (uint32_t)d;
      least = apart < least ? apart : least;
    }
  return least < low ? low : least > high ? high : least;
}

/* False: frames before the latest one are still to come (B frames). */
static bool
nothing_missing (const MccSplice *self, const MccSpliceLine *line)
{
  unsigned n = line->frames < MCC_SPLICE_FRAMES ? line->frames : MCC_SPLICE_FRAMES;
  uint32_t interval = frame_interval (self, line), latest = line->newest;
  int32_t nearest = INT32_MAX;
  if (!line->reorders || n < 2)
    return true;
  for (unsigned i = 0; i < n; i++)
    if (behind (line->frame[i], latest) > 0)
      latest = line->frame[i];
  for (unsigned i = 0; i < n; i++) {
    int32_t d = behind (latest, line->frame[i]);
    nearest = d > 0 && d < nearest ? d : nearest;
  }
  return nearest <= (int32_t)(interval + interval / 2);
}

/* ---- what leaves ---- */

/* The timestamp that leaves; false: before the key unit, whose stream cannot show it. */
static bool
map_time (MccSpliceLine *line, uint32_t rtp_time, uint32_t *out)
{
  uint32_t time = rtp_time + line->time_offset;
  *out = time;
  if (!line->fresh)
    return true;
  if (behind (time, line->key) < 0)
    return false;
  if (line->mapped && behind (time, line->shown + line->gap) < 0) {
    uint64_t span = (uint64_t)(line->shown - line->key) + 2 * (uint64_t)line->gap;
    uint64_t past = (uint64_t)(time - line->key) + line->gap;
    *out = line->shown + (uint32_t)(past * line->gap / span);
  }
  return true;
}

static void
note_came (MccSpliceLine *line, uint64_t seq, const MccSplicePacket *packet)
{
  uint64_t lost = line->frames > 0 && seq > line->came ? seq - line->came - 1 : 0;
  if (seq < line->came)
    line->missing -= line->missing > 0;
  else if (packet->rtp_time == line->newest)
    line->missing += lost;
  else
    line->missing = lost; /* or of the frame before, which has ended */
  line->came = seq > line->came ? seq : line->came;
}

static void
note_frame (MccSplice *self, MccSpliceLine *line, const MccSplicePacket *packet, uint32_t time,
    MccTime arrival)
{
  if (line->frames == 0 || packet->rtp_time != line->newest) {
    line->reorders |= line->frames > 0 && behind (packet->rtp_time, line->newest) < 0;
    line->frame[line->frames++ % MCC_SPLICE_FRAMES] = packet->rtp_time;
  }
  line->newest = packet->rtp_time;
  line->marks |= packet->marker;
  line->open = line->marks && !packet->marker;
  /* Half a turn of the timestamps later what is ahead looks as if it were behind. */
  bool long_after = arrival > self->out_arrival && arrival - self->out_arrival > MCC_SPLICE_BASE;
  if (!self->has_out || long_after || behind (time, self->out_time) > 0) {
    self->out_time = time;
    self->out_arrival = arrival;
  }
  if (line->fresh && behind (time, line->key) > (int32_t)self->clock_rate
      && !(line->mapped && behind (time, line->shown + line->gap) < 0))
    line->fresh = false;
}

static void
emit (MccSplice *self, MccSpliceLine *line, uint64_t seq, const MccSplicePacket *packet,
    MccTime arrival, bool held)
{
  uint64_t out = seq + line->offset;
  bool newest = !self->has_out || out > self->out;
  uint32_t time;
  note_came (line, seq, packet);
  if (!map_time (line, packet->rtp_time, &time)) {
    if (newest)
      line->offset--; /* no gap: nothing was lost */
    mcc_splice_free_packet (self, packet);
    return;
  }
  if (newest) {
    note_frame (self, line, packet, time, arrival);
    self->out = out;
    self->has_out = true;
    line->sent = seq;
  }
  mcc_splice_push (self, &(MccSpliceAction){ .type = MCC_SPLICE_EMIT,
                             .stream = line->stream,
                             .data = packet->data,
                             .seq = (uint16_t)out,
                             .rtp_time = time,
                             .held = held });
}

/* ---- from one to the other ---- */

/* The key unit's timestamp, as it would leave by the base that all streams share. */
static uint32_t
key_time (const MccSplice *self)
{
  return self->held[0].packet.rtp_time + self->time_offset;
}

static void
set_times (MccSplice *self, MccSpliceLine *line, uint32_t interval)
{
  MccTime arrival = self->held[0].arrival;
  bool later = arrival >= self->out_arrival;
  MccTime apart = later ? arrival - self->out_arrival : self->out_arrival - arrival;
  uint64_t ticks
      = apart / MCC_SECOND * self->clock_rate + apart % MCC_SECOND * self->clock_rate / MCC_SECOND;
  uint32_t expected = self->out_time + (later ? (uint32_t)ticks : -(uint32_t)ticks);
  int32_t off = behind (key_time (self), expected);
  int32_t limit = (int32_t)(MCC_SPLICE_BASE / MCC_SECOND * self->clock_rate);
  line->time_offset = self->time_offset;
  if (off > limit || off < -limit)
    line->time_offset = expected - self->held[0].packet.rtp_time;
  line->key = self->held[0].packet.rtp_time + line->time_offset;
  line->shown = self->out_time;
  line->gap = interval;
  /* Behind a silence there is nothing to catch up with. */
  line->mapped = (!later || apart < MCC_SPLICE_BASE) && behind (line->key, line->shown) <= 0;
}

static void
stop_shown (MccSplice *self)
{
  self->torn = self->shown.open;
  self->holed = self->shown.open || self->shown.missing > 0;
  self->last = self->shown;
  self->shown.used = false;
  self->leave_at = MCC_TIME_NONE;
}

/* Of the key unit that is held, behind what is not whole. */
static void
delimit (MccSplice *self, uint16_t seq)
{
  const MccSplicePacket *next = &self->held[0].packet;
  MccSpliceAction action = {
    .type = MCC_SPLICE_DELIMIT, .stream = self->shown.stream, .data = next->data, .seq = seq
  };
  if (map_time (&self->shown, next->rtp_time, &action.rtp_time))
    mcc_splice_push (self, &action);
}

static void
cut (MccSplice *self)
{
  MccSpliceLine line = self->to;
  uint32_t interval = frame_interval (self, self->shown.used ? &self->shown : &self->last);
  unsigned left = self->shown.stream;
  bool leaving = self->leave_at != MCC_TIME_NONE, parts;
  uint64_t next;
  if (self->shown.used)
    stop_shown (self);
  parts = self->has_out && self->holed && self->kind == MCC_SPLICE_DELIMITED;
  next = self->out + 1 + self->torn;
  self->torn = self->holed = false;
  line.fresh = true;
  line.key = self->held[0].packet.rtp_time;
  if (self->has_out) {
    line.offset = next + parts - self->held[0].seq;
    set_times (self, &line, interval);
  }
  self->time_offset = line.time_offset;
  self->to.used = self->ready = false;
  self->shown = line;
  mcc_splice_push (self, &(MccSpliceAction){ .type = MCC_SPLICE_CUT, .stream = line.stream });
  if (parts)
    delimit (self, (uint16_t)next);
  for (unsigned i = 0; i < self->held_count; i++)
    emit (
        self, &self->shown, self->held[i].seq, &self->held[i].packet, self->held[i].arrival, true);
  self->held_count = 0;
  self->held_bytes = 0;
  self->has_before = false;
  if (leaving)
    mcc_splice_push (self, &(MccSpliceAction){ .type = MCC_SPLICE_LEFT, .stream = left });
}

static void
finish_leave (MccSplice *self)
{
  unsigned stream = self->shown.stream;
  stop_shown (self);
  mcc_splice_push (self, &(MccSpliceAction){ .type = MCC_SPLICE_LEFT, .stream = stream });
  if (self->ready)
    cut (self);
}

/* Whether what is shown goes up to the key unit, so that nothing is skipped. Where bases differ
 * that cannot be told. */
static bool
reached (const MccSplice *self)
{
  int32_t base = (int32_t)(MCC_SPLICE_BASE / MCC_SECOND * self->clock_rate);
  int32_t off = behind (key_time (self), self->out_time);
  if (off > base || off < -base)
    return true;
  int32_t interval = (int32_t)frame_interval (self, &self->shown);
  return off <= interval + interval / 2 && nothing_missing (self, &self->shown);
}

/* At the end of a frame of what is shown. */
static void
at_frame_end (MccSplice *self)
{
  if (self->leave_at != MCC_TIME_NONE)
    finish_leave (self);
  else if (self->ready && reached (self))
    cut (self);
}

/* A new frame of what is shown begins, with or without a marker before; true: too late. */
static bool
ends_before (MccSplice *self, const MccSplicePacket *packet, bool gap)
{
  const MccSpliceLine *line = &self->shown;
  if (self->leave_at != MCC_TIME_NONE) {
    finish_leave (self);
    return true;
  }
  /* with B frames what precedes the key unit may be still to come */
  bool meets = self->ready && !line->reorders
               && behind (packet->rtp_time + line->time_offset, key_time (self)) >= 0;
  if (!meets && !(self->ready && reached (self)))
    return false;
  self->shown.open &= gap; /* by the last packets of its last frame */
  cut (self);
  return true;
}

static void
handle_shown (MccSplice *self, const MccSplicePacket *packet)
{
  MccSpliceLine *line = &self->shown;
  uint64_t before = line->seq.highest, seq = mcc_seq_extend16 (&line->seq, packet->seq);
  self->shown_at = self->now;
  if (seq > before && packet->rtp_time != line->newest
      && ends_before (self, packet, seq != line->sent + 1)) {
    mcc_splice_free_packet (self, packet);
    return;
  }
  emit (self, line, seq, packet, self->now, false);
  if (seq > before && packet->marker)
    at_frame_end (self);
}

static void
handle_to (MccSplice *self, const MccSplicePacket *packet)
{
  bool full = self->held_count == MCC_SPLICE_PACKETS
              || self->held_bytes + packet->bytes > MCC_SPLICE_BYTES;
  if (self->ready && full) {
    cut (self);
    handle_shown (self, packet);
    return;
  }
  mcc_splice_hold (self, packet);
  if (self->ready && (!self->shown.used || (!self->shown.open && reached (self))))
    cut (self);
}

bool
mcc_splice_is_of (const MccSpliceLine *line, unsigned stream, uint32_t ssrc)
{
  return line->used && line->stream == stream && line->ssrc == ssrc;
}

void
mcc_splice_place (MccSplice *self, unsigned stream, const MccSplicePacket *packet)
{
  MccSeq seq = self->last.seq;
  if (mcc_splice_is_of (&self->to, stream, packet->ssrc)) {
    handle_to (self, packet);
  } else if (mcc_splice_is_of (&self->shown, stream, packet->ssrc)) {
    handle_shown (self, packet);
  } else if (mcc_splice_is_of (&self->last, stream, packet->ssrc)
             && mcc_seq_extend16 (&seq, packet->seq) <= self->last.sent) {
    emit (self, &self->last, mcc_seq_extend16 (&seq, packet->seq), packet, self->now, false);
  } else {
    mcc_splice_free_packet (self, packet);
  }
}

void
mcc_splice_handle (MccSplice *self, unsigned stream, const MccSplicePacket *packet, MccTime now)
{
  MccSpliceLine *line = &self->to;
  self->now = now;
  if (!mcc_splice_is_of (line, stream, packet->ssrc))
    line = &self->shown;
  if (!mcc_splice_is_of (line, stream, packet->ssrc) || !mcc_splice_watch (self, line, packet))
    mcc_splice_place (self, stream, packet);
}

bool
mcc_splice_wants (const MccSplice *self, unsigned stream, uint32_t ssrc)
{
  return mcc_splice_is_of (&self->to, stream, ssrc) || mcc_splice_is_of (&self->shown, stream, ssrc)
         || mcc_splice_is_of (&self->last, stream, ssrc);
}

bool
mcc_splice_shows (const MccSplice *self, unsigned stream)
{
  return self->shown.used && self->shown.stream == stream;
}

bool
mcc_splice_map_report (const MccSplice *self, uint32_t ssrc, uint32_t rtp_time, uint32_t *out)
{
  const MccSpliceLine *line = &self->shown;
  if (!line->used || line->ssrc != ssrc || (line->fresh && line->mapped))
    return false;
  *out = rtp_time + line->time_offset;
  return true;
}

/* ---- what the host wants ---- */

MccSplice *
mcc_splice_new (void)
{
  MccSplice *self = calloc (1, sizeof *self);
  if (self)
    self->leave_at = MCC_TIME_NONE;
  return self;
}

void
mcc_splice_free (MccSplice *self)
{
  free (self);
}

void
mcc_splice_join (MccSplice *self, unsigned stream, uint32_t ssrc, uint32_t clock_rate,
    MccSpliceKind kind, MccTime now)
{
  self->now = now;
  mcc_splice_hold_clear (self);
  if (self->leave_at != MCC_TIME_NONE && self->shown.stream == stream)
    finish_leave (self); /* or it would be told of later as if it were this one */
  self->to = (MccSpliceLine){ .used = true, .stream = stream, .ssrc = ssrc };
  self->clock_rate = clock_rate ? clock_rate : CLOCK_RATE_DEFAULT;
  self->kind = kind;
}

static void
forget_odd (MccSplice *self)
{
  self->has_odd = false;
  mcc_splice_free_packet (self, &self->odd);
}

void
mcc_splice_leave (MccSplice *self, unsigned stream, MccTime now)
{
  self->now = now;
  if (self->has_odd && self->odd_stream == stream)
    forget_odd (self);
  if (self->to.used && self->to.stream == stream) {
    mcc_splice_hold_clear (self);
    self->to.used = false;
  } else if (self->shown.used && self->shown.stream == stream) {
    self->leave_at = now + MCC_SPLICE_LEAVE;
    if (!self->shown.open)
      finish_leave (self);
    return;
  }
  mcc_splice_push (self, &(MccSpliceAction){ .type = MCC_SPLICE_LEFT, .stream = stream });
}

/* When the old stream is not waited for any more. */
static MccTime
cut_at (const MccSplice *self)
{
  if (!self->ready)
    return MCC_TIME_NONE;
  return mcc_time_min (self->ready_since + MCC_SPLICE_WAIT_MAX,
      mcc_time_max (self->ready_since, self->shown_at) + MCC_SPLICE_WAIT);
}

void
mcc_splice_handle_timeout (MccSplice *self, MccTime now)
{
  self->now = now;
  if (now >= self->leave_at)
    finish_leave (self);
  if (now >= cut_at (self))
    cut (self);
}

MccTime
mcc_splice_next_timeout (const MccSplice *self)
{
  return mcc_time_min (cut_at (self), self->leave_at);
}

bool
mcc_splice_poll (MccSplice *self, MccSpliceAction *out)
{
  if (self->action_count == 0)
    return false;
  *out = self->action[self->action_head];
  self->action_head = (self->action_head + 1) % MCC_SPLICE_ACTIONS;
  self->action_count--;
  return true;
}

void
mcc_splice_reset (MccSplice *self, MccTime now)
{
  self->now = now;
  if (self->has_odd)
    forget_odd (self);
  mcc_splice_hold_clear (self);
  self->to.used = false;
  if (self->leave_at != MCC_TIME_NONE)
    finish_leave (self);
  if (self->shown.used)
    stop_shown (self);
  self->last.used = false;
}

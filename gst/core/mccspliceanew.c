/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccspliceprivate.h"

#define MISORDER 100 /* RFC 3550 A.1 */
/* Without a newer packet for so long what is far behind is not late: mccnumbering.h. */
#define RESTART (250 * MCC_MSECOND)

/* Does not follow from what came before it. */
static bool
is_odd (const MccSplice *self, const MccSpliceLine *line, const MccSplicePacket *packet)
{
  if (!line->seen)
    return false;
  int32_t base = (int32_t)(MCC_SPLICE_BASE / MCC_SECOND * self->clock_rate);
  MccTime apart = self->now - line->seen_at;
  uint64_t ticks
      = apart / MCC_SECOND * self->clock_rate + apart % MCC_SECOND * self->clock_rate / MCC_SECOND;
  int16_t step = (int16_t)(uint16_t)(packet->seq - line->seen_seq);
  int32_t time = (int32_t)(packet->rtp_time - line->seen_time);
  int32_t off = (int32_t)(packet->rtp_time - line->seen_time - (uint32_t)ticks);
  bool behind = step < -MISORDER && (time > 0 || apart >= RESTART);
  bool back = time < -base && (off < -base || off > base);
  return behind || back || (step != 1 && off > base);
}

static void
note (MccSplice *self, MccSpliceLine *line, const MccSplicePacket *packet)
{
  if (line->seen && (int16_t)(uint16_t)(packet->seq - line->seen_seq) <= 0)
    return;
  line->seen = true;
  line->seen_seq = packet->seq;
  line->seen_time = packet->rtp_time;
  line->seen_at = self->now;
}

/* False: another stream is about to take its place, or it is being left. */
static bool
begin_anew (MccSplice *self, const MccSpliceLine *line)
{
  MccSpliceLine anew = { .used = true, .stream = line->stream, .ssrc = line->ssrc };
  bool shown = line == &self->shown;
  if (shown && (self->to.used || self->leave_at != MCC_TIME_NONE))
    return false;
  if (!shown)
    mcc_splice_hold_clear (self);
  self->to = anew;
  mcc_splice_push (self, &(MccSpliceAction){ .type = MCC_SPLICE_KEY_UNIT, .stream = anew.stream });
  return true;
}

/* What was kept is no beginning. */
static void
place_odd (MccSplice *self)
{
  if (!self->has_odd)
    return;
  self->has_odd = false;
  mcc_splice_place (self, self->odd_stream, &self->odd);
}

bool
mcc_splice_watch (MccSplice *self, MccSpliceLine *line, const MccSplicePacket *packet)
{
  bool odd = is_odd (self, line, packet);
  bool ours = self->has_odd && mcc_splice_is_of (line, self->odd_stream, self->odd.ssrc);
  if (odd && ours && packet->seq == (uint16_t)(self->odd.seq + 1)) {
    bool begins = begin_anew (self, line);
    self->has_odd = false;
    if (!begins) {
      mcc_splice_free_packet (self, &self->odd);
      mcc_splice_free_packet (self, packet);
      return true;
    }
    mcc_splice_place (self, self->odd_stream, &self->odd);
    note (self, &self->to, packet);
    return false;
  }
  if (odd || ours)
    place_odd (self);
  if (odd) {
    self->has_odd = true;
    self->odd_stream = line->stream;
    self->odd = *packet;
    return true;
  }
  note (self, line, packet);
  return false;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "mccspliceprivate.h"

/* Kept while there is no key unit: what comes late, and what precedes the slices of one. */
#define BEHIND 32

static void
give_up (MccSplice *self, const MccSpliceHeld *held)
{
  mcc_splice_free_packet (self, &held->packet);
  self->held_bytes -= held->packet.bytes;
}

/* Frees the first @count. */
static void
forget (MccSplice *self, unsigned count)
{
  if (count == 0)
    return;
  for (unsigned i = 0; i < count; i++)
    give_up (self, &self->held[i]);
  self->has_before = true;
  self->before = self->held[count - 1].seq;
  self->before_time = self->held[count - 1].packet.rtp_time;
  self->before_torn = false;
  self->held_count -= count;
  memmove (self->held, self->held + count, self->held_count * sizeof self->held[0]);
}

void
mcc_splice_hold_clear (MccSplice *self)
{
  for (unsigned i = 0; i < self->held_count; i++)
    give_up (self, &self->held[i]);
  self->held_count = 0;
  self->ready = self->has_before = false;
}

/* False: it is there already, or too late. */
static bool
insert (MccSplice *self, const MccSplicePacket *packet)
{
  uint64_t seq = mcc_seq_extend16 (&self->to.seq, packet->seq);
  unsigned at = self->held_count;
  if (self->has_before
      && (seq <= self->before || (self->before_torn && packet->rtp_time == self->before_time)))
    return false;
  while (at > 0 && self->held[at - 1].seq > seq)
    at--;
  if (at > 0 && self->held[at - 1].seq == seq)
    return false;
  if (at == 0 && self->ready)
    return false; /* of a frame before */
  memmove (self->held + at + 1, self->held + at, (self->held_count - at) * sizeof self->held[0]);
  self->held[at] = (MccSpliceHeld){ .seq = seq, .arrival = self->now, .packet = *packet };
  self->held_count++;
  self->held_bytes += packet->bytes;
  return true;
}

/* Whether held[@b] follows held[@a] at once, in the same frame. */
static bool
joined (const MccSplice *self, unsigned a, unsigned b)
{
  return self->held[b].seq == self->held[a].seq + 1
         && self->held[b].packet.rtp_time == self->held[a].packet.rtp_time;
}

/* Whether the frame of held[@at] is known to begin there. */
static bool
begins_at (const MccSplice *self, unsigned at)
{
  const MccSpliceHeld *held = &self->held[at];
  if (at > 0)
    return self->held[at - 1].seq + 1 == held->seq;
  return self->has_before && self->before + 1 == held->seq
         && self->before_time != held->packet.rtp_time;
}

typedef enum { WAIT, TORN, WHOLE } Verdict;

/* How it stands with the frame around held[@key]; *first is where it begins. */
static Verdict
judge (const MccSplice *self, unsigned key, unsigned *first)
{
  unsigned begin = key, end = key, last = self->held_count - 1;
  while (begin > 0 && joined (self, begin - 1, begin))
    begin--;
  if (!begins_at (self, begin)) {
    unsigned at = begin;
    while (at < key && !self->held[at].packet.begins)
      at++;
    if (!self->held[at].packet.begins)
      return last - begin >= MCC_SPLICE_GAP ? TORN : WAIT;
    begin = at;
  }
  *first = begin;
  if (self->kind == MCC_SPLICE_OPAQUE)
    return WHOLE;
  while (end < last && joined (self, end, end + 1))
    end++;
  if (self->held[end].packet.marker
      || (end < last && self->held[end + 1].seq == self->held[end].seq + 1))
    return WHOLE;
  return last - end >= MCC_SPLICE_GAP ? TORN : WAIT;
}

/* The newest packet that may be of the frame to begin with; held_count: none. */
static unsigned
find_key (const MccSplice *self)
{
  for (unsigned i = self->held_count; i-- > 0;) {
    bool begins = begins_at (self, i) && (i == 0 || !joined (self, i - 1, i));
    if (self->kind != MCC_SPLICE_OPAQUE ? self->held[i].packet.key : begins)
      return i;
  }
  return self->held_count;
}

/* Frees the frame of held[@key] and what is before. */
static void
drop_key (MccSplice *self, unsigned key)
{
  uint32_t rtp_time = self->held[key].packet.rtp_time;
  while (key + 1 < self->held_count && self->held[key + 1].packet.rtp_time == rtp_time)
    key++;
  forget (self, key + 1);
  self->before_torn = true;
  mcc_splice_push (
      self, &(MccSpliceAction){ .type = MCC_SPLICE_KEY_UNIT, .stream = self->to.stream });
}

void
mcc_splice_hold (MccSplice *self, const MccSplicePacket *packet)
{
  unsigned key, first = 0;
  if (self->held_count == MCC_SPLICE_PACKETS
      || self->held_bytes + packet->bytes > MCC_SPLICE_BYTES) {
    mcc_splice_hold_clear (self); /* no key unit is that large */
    mcc_splice_push (
        self, &(MccSpliceAction){ .type = MCC_SPLICE_KEY_UNIT, .stream = self->to.stream });
  }
  if (!insert (self, packet)) {
    mcc_splice_free_packet (self, packet);
    return;
  }
  if (self->ready)
    return;
  key = find_key (self);
  if (key == self->held_count) {
    if (self->held_count > BEHIND)
      forget (self, self->held_count - BEHIND);
    return;
  }
  switch (judge (self, key, &first)) {
    case TORN:
      drop_key (self, key);
      break;
    case WHOLE:
      forget (self, first);
      self->ready = true;
      self->ready_since = self->now;
      break;
    case WAIT:
      break;
  }
}

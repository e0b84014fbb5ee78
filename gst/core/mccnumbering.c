/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccnumbering.h"

#include <string.h>

#define MAX_DROPOUT 3000             /* RFC 3550 A.1 */
#define MAX_MISORDER 100             /* RFC 3550 A.1 */
#define ABSORB_TIME (1 * MCC_SECOND) /* a host drop shows as a gap by then, or never */

void
mcc_numbering_init (MccNumbering *self)
{
  memset (self, 0, sizeof *self);
  self->last = self->absorb_until = MCC_TIME_NONE;
}

static bool
number_packet (
    MccNumbering *self, const MccRtpPacket *packet, bool excused, MccTime now, uint64_t *out)
{
  uint64_t highest = self->seq.highest;
  if (!self->seq.started) {
    *out = mcc_seq_extend16 (&self->seq, packet->seq);
    return true;
  }
  MccSeq peek = self->seq;
  uint64_t number = mcc_seq_extend16 (&peek, packet->seq);
  bool far = number > highest ? number - highest > MAX_DROPOUT : highest - number > MAX_MISORDER;
  bool outage = now - self->last >= MCC_NUMBERING_OUTAGE || excused;
  if (far || self->splice) {
    if (!outage && !self->splice && (!self->jumping || packet->seq != self->jump_seq)) {
      self->jumping = true;
      self->jump_seq = (uint16_t)(packet->seq + 1);
      return false;
    }
    /* The space goes on at the next number. */
    uint64_t mapped = highest - self->skipped + 1;
    peek = (MccSeq){ 0 };
    number = mcc_seq_extend16 (&peek, packet->seq);
    self->skipped = number - mapped; /* modulo 2^64 */
  } else if (number > highest + 1) {
    uint64_t gap = number - highest - 1, explained = 0;
    if (outage)
      explained = gap;
    else if (self->absorb > 0 && now <= self->absorb_until)
      explained = gap < self->absorb ? gap : self->absorb;
    self->absorb -= explained < self->absorb ? explained : self->absorb;
    self->skipped += explained;
  }
  self->jumping = self->splice = false;
  self->seq = peek;
  *out = number - self->skipped;
  return true;
}

bool
mcc_numbering_handle_packet (
    MccNumbering *self, const MccRtpPacket *packet, bool excused, MccTime now, uint64_t *out)
{
  if (!number_packet (self, packet, excused, now, out))
    return false;
  self->last = now;
  return true;
}

void
mcc_numbering_handle_host_dropped (MccNumbering *self, uint64_t packets, MccTime now)
{
  self->absorb = packets < MAX_DROPOUT ? self->absorb + packets : MAX_DROPOUT;
  if (self->absorb > MAX_DROPOUT)
    self->absorb = MAX_DROPOUT;
  self->absorb_until = now + ABSORB_TIME;
}

void
mcc_numbering_splice (MccNumbering *self)
{
  self->splice = self->seq.started;
}

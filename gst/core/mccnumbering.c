/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccnumbering.h"

#include <string.h>

#include "mccjitter.h"

#define MAX_DROPOUT 3000             /* RFC 3550 A.1 */
#define MAX_MISORDER 100             /* RFC 3550 A.1 */
#define ABSORB_TIME (1 * MCC_SECOND) /* a host drop shows as a gap by then, or never */
#define STOOD_AGAIN (10 * MCC_SECOND)
#define WRAP (64 * (MccTimeDelta)MCC_SECOND)   /* of send times */
#define SWAPPED (1 * (MccTimeDelta)MCC_SECOND) /* no newer packet was sent so much earlier */

void
mcc_numbering_init (MccNumbering *self)
{
  memset (self, 0, sizeof *self);
  self->last = self->absorb_until = self->stood = MCC_TIME_NONE;
}

/* How much longer it is since the newest packet by the sender's clock than by ours. */
static MccTimeDelta
sent_ahead (const MccNumbering *self, const MccNumberingInput *input)
{
  MccTimeDelta sent = mcc_abs_send_time_diff (input->packet->send_time, self->send_time);
  if (sent < -SWAPPED)
    sent += WRAP;
  return sent - (MccTimeDelta)(input->arrival - self->arrival);
}

/* Of a newer packet: our clock stood still before it. Each time it seems so counts, with a gap or
 * without one. */
static bool
stood_still (MccNumbering *self, const MccNumberingInput *input)
{
  if (!self->stamped || !input->packet->has_send_time
      || sent_ahead (self, input) < (MccTimeDelta)(MCC_NUMBERING_OUTAGE + input->queue))
    return false;
  bool again = self->stood != MCC_TIME_NONE && input->now - self->stood < STOOD_AGAIN;
  self->stood = input->now;
  return !again;
}

static void
note_newest (MccNumbering *self, const MccNumberingInput *input)
{
  self->stamped = input->packet->has_send_time;
  self->send_time = input->packet->send_time;
  self->arrival = input->arrival;
}

static bool
number_packet (MccNumbering *self, const MccNumberingInput *input, uint64_t *out)
{
  const MccRtpPacket *packet = input->packet;
  uint64_t highest = self->seq.highest;
  if (!self->seq.started) {
    *out = mcc_seq_extend16 (&self->seq, packet->seq);
    note_newest (self, input);
    return true;
  }
  MccSeq peek = self->seq;
  uint64_t number = mcc_seq_extend16 (&peek, packet->seq);
  bool far = number > highest ? number - highest > MAX_DROPOUT : highest - number > MAX_MISORDER;
  bool stood = !far && number > highest && stood_still (self, input);
  bool outage = input->now - self->last >= MCC_NUMBERING_OUTAGE || stood || input->excused;
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
    else if (self->absorb > 0 && input->now <= self->absorb_until)
      explained = gap < self->absorb ? gap : self->absorb;
    self->absorb -= explained < self->absorb ? explained : self->absorb;
    self->skipped += explained;
  }
  if (peek.highest != highest || self->splice)
    note_newest (self, input);
  self->jumping = self->splice = false;
  self->seq = peek;
  *out = number - self->skipped;
  return true;
}

bool
mcc_numbering_handle_packet (MccNumbering *self, const MccNumberingInput *input, uint64_t *out)
{
  if (!number_packet (self, input, out))
    return false;
  self->last = input->now;
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

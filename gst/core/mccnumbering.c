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
  self->last = self->absorb_until = self->stood = self->outage = MCC_TIME_NONE;
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
note_newest (MccNumbering *self, const MccNumberingInput *input, bool follows)
{
  self->follows = follows;
  self->stamped = input->packet->has_send_time;
  self->send_time = input->packet->send_time;
  self->arrival = input->arrival;
}

/* Of a packet that is far off. */
static bool
is_restart (MccNumbering *self, const MccNumberingInput *input, bool behind)
{
  const MccRtpPacket *packet = input->packet;
  bool agrees = self->jumping && packet->seq == self->jump_seq;
  self->jumping = true;
  self->jump_seq = (uint16_t)(packet->seq + 1);
  if (!agrees || !behind)
    return agrees;
  bool sent_after = self->stamped && packet->has_send_time
                    && mcc_abs_send_time_diff (packet->send_time, self->send_time) > 0;
  return sent_after || input->arrival - self->arrival >= MCC_NUMBERING_RESTART;
}

/* The space goes on with @packet at the next number. */
static void
restart (MccNumbering *self, const MccNumberingInput *input)
{
  uint64_t next = self->seq.highest - self->skipped + 1;
  self->seq = (MccSeq){ 0 };
  self->first = mcc_seq_extend16 (&self->seq, input->packet->seq);
  self->skipped = self->first - next; /* modulo 2^64 */
  self->splice = self->jumping = false;
  self->absorb = 0;
  note_newest (self, input, false);
}

/* How many of the @gap packets that are missing before this one the network did not lose. */
static uint64_t
explain (MccNumbering *self, const MccNumberingInput *input, uint64_t gap, bool outage)
{
  uint64_t explained = 0;
  if (outage)
    explained = gap;
  else if (self->absorb > 0 && input->now <= self->absorb_until)
    explained = gap < self->absorb ? gap : self->absorb;
  self->absorb -= explained < self->absorb ? explained : self->absorb;
  return explained;
}

static bool
number_packet (MccNumbering *self, const MccNumberingInput *input, uint64_t *out)
{
  uint64_t highest = self->seq.highest;
  MccSeq peek = self->seq;
  uint64_t number = mcc_seq_extend16 (&peek, input->packet->seq);
  bool behind = number <= highest;
  bool far = behind ? highest - number > MAX_MISORDER : number - highest > MAX_DROPOUT;
  bool stood = !behind && !far && stood_still (self, input);
  bool outage = input->now - self->last >= MCC_NUMBERING_OUTAGE || stood;
  self->outage = outage ? input->now : self->outage;
  outage = outage || input->excused;
  if (self->splice || (far && (outage || is_restart (self, input, behind)))) {
    restart (self, input);
    number = self->first;
  } else if (far) {
    if (!behind || number < self->first)
      return false;
  } else {
    self->jumping = false;
    self->seq = peek;
    if (!behind)
      note_newest (self, input, number == highest + 1);
    uint64_t explained = behind ? 0 : explain (self, input, number - highest - 1, outage);
    self->skipped += explained;
    self->explained += explained;
    self->first = explained > 0 ? number : self->first;
  }
  *out = number - self->skipped;
  return true;
}

bool
mcc_numbering_handle_packet (MccNumbering *self, const MccNumberingInput *input, uint64_t *out)
{
  if (!self->seq.started) {
    *out = self->first = mcc_seq_extend16 (&self->seq, input->packet->seq);
    note_newest (self, input, false);
  } else if (!number_packet (self, input, out)) {
    return false;
  }
  self->last = input->now;
  return true;
}

void
mcc_numbering_handle_host_dropped (MccNumbering *self, uint64_t packets, MccTime now)
{
  if (now > self->absorb_until) /* no gap showed those */
    self->absorb = 0;
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

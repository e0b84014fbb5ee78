/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A splice under anything: packets of any stream, number and time, joins and leaves in any order.
 * Nothing asserts; each packet leaves or is freed, once; a stream that is left says so; only what
 * was joined leaves.
 */
#include "fuzz.h"
#include "mccsplice.h"

#define EPOCH (100000 * MCC_SECOND)
#define PACKETS 6000
#define STREAMS 4

typedef struct {
  FuzzInput in;
  MccTime now;
  MccSplice *splice;
  uint8_t fate[PACKETS]; /* 1: given, 2: gone */
  unsigned stream[PACKETS];
  unsigned packets;
  bool joined[STREAMS];
  unsigned leaving; /* LEFT that are due */
  uint16_t seq[STREAMS];
  uint32_t time[STREAMS];
} Machine;

static void
drain (Machine *self)
{
  MccSpliceAction action;
  while (mcc_splice_poll (self->splice, &action)) {
    if (action.type == MCC_SPLICE_EMIT || action.type == MCC_SPLICE_FREE) {
      size_t i = (size_t)((uint8_t *)action.data - self->fate);
      CHECK (i < self->packets && self->fate[i] == 1);
      self->fate[i] = 2;
      if (action.type == MCC_SPLICE_EMIT)
        CHECK (self->joined[self->stream[i]] && action.stream == self->stream[i]);
    } else if (action.type == MCC_SPLICE_DELIMIT) {
      CHECK (self->fate[(uint8_t *)action.data - self->fate] == 1);
    } else if (action.type == MCC_SPLICE_LEFT) {
      CHECK (action.stream < STREAMS);
      if (self->leaving > 0)
        self->leaving--;
    } else {
      CHECK (action.stream < STREAMS && self->joined[action.stream]);
    }
  }
}

static void
packet (Machine *self, uint8_t kind)
{
  unsigned stream = kind % STREAMS, i = self->packets;
  uint8_t how = fuzz_u8 (&self->in);
  if (i == PACKETS)
    return;
  self->packets++;
  self->seq[stream]++;
  if (how & 0x40)
    self->time[stream] += 3000;
  if ((how & 0x30) == 0x30) {
    self->seq[stream] = (uint16_t)(self->seq[stream] + fuzz_scale (&self->in, 16));
    self->time[stream] += (uint32_t)fuzz_take (&self->in, 3) << 4;
  }
  MccSplicePacket p = { .ssrc = 100 + stream + (how % 32 == 31 ? 1 : 0),
    .seq = (uint16_t)(self->seq[stream] - ((how & 0x30) == 0x20 ? how & 7 : 0)),
    .rtp_time = self->time[stream],
    .bytes = 40 + 160 * (uint32_t)how, /* more than may be held, in all */
    .marker = how & 1,
    .key = (how & 6) == 6,
    .begins = (how & 12) == 12,
    .data = &self->fate[i] };
  self->fate[i] = 1;
  self->stream[i] = stream;
  mcc_splice_handle (self->splice, stream, &p, self->now);
}

static void
event (Machine *self)
{
  uint8_t kind = fuzz_u8 (&self->in);
  unsigned stream = kind % STREAMS;
  uint32_t mapped;
  switch (kind >> 4) {
    case 0:
      mcc_splice_join (self->splice, stream, 100 + stream, kind & 8 ? 90000 : 0,
          kind & 4 ? MCC_SPLICE_DELIMITED : MCC_SPLICE_OPAQUE, self->now);
      self->joined[stream] = true;
      break;
    case 1:
      self->leaving++;
      mcc_splice_leave (self->splice, stream, self->now);
      break;
    case 2:
      self->now += fuzz_scale (&self->in, 40);
      break;
    case 3:
      if (kind == 0x3f)
        mcc_splice_reset (self->splice, self->now);
      (void)mcc_splice_map_report (self->splice, 100 + stream, fuzz_u32 (&self->in), &mapped);
      break;
    default:
      self->now += kind >> 6 << 20;
      packet (self, kind);
      break;
  }
  drain (self);
  if (mcc_splice_next_timeout (self->splice) <= self->now) {
    mcc_splice_handle_timeout (self->splice, self->now);
    drain (self);
    CHECK (mcc_splice_next_timeout (self->splice) > self->now);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static Machine self;
  self = (Machine){ .in = { data, size }, .now = EPOCH, .splice = mcc_splice_new () };
  CHECK (self.splice != NULL);
  while (self.in.left > 0)
    event (&self);
  mcc_splice_reset (self.splice, self.now);
  drain (&self);
  for (unsigned i = 0; i < self.packets; i++)
    CHECK (self.fate[i] == 2);
  mcc_splice_free (self.splice);
  return 0;
}

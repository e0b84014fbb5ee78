/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What layers read out of the network, and the merge under anything. The first byte says what: RTP
 * payloads of an encoding (chunks of a length each), an RTP packet with the extension, or packets,
 * joins and leaves in any order. Nothing asserts, nothing is read behind the end; each packet
 * leaves or is freed, once, and numbers go on by one.
 */
#include <string.h>

#include "fuzz.h"
#include "mcclayerclass.h"
#include "mcclayermerge.h"
#include "mccrtpextension.h"

#define EPOCH (100000 * MCC_SECOND)
#define PACKETS 4000
#define LAYERS 3

static void
classify (FuzzInput *in, unsigned kind)
{
  MccLayerClass class;
  MccLayerCodec codec = kind < 28 ? (MccLayerCodec)(kind % 4) : MCC_LAYER_CODEC_VP9;
  mcc_layer_class_init (&class, codec, 1 + kind / 4 % 7);
  while (in->left > 0) {
    size_t size = fuzz_u8 (in);
    uint8_t *exact;
    if (size == 255) {
      MccLayerUnit unit = mcc_layer_class_end (&class);
      CHECK (unit.layer < class.count);
      CHECK (unit.error == MCC_LAYER_GOOD || (unit.layer == 0 && unit.flags == 0));
      continue;
    }
    size = size < in->left ? size : in->left;
    exact = malloc (size); /* so that a sanitizer sees its end */
    CHECK (exact != NULL || size == 0);
    if (size > 0)
      memcpy (exact, in->data, size);
    in->data += size;
    in->left -= size;
    mcc_layer_class_add (&class, exact, size);
    free (exact);
  }
}

static void
find (FuzzInput *in)
{
  uint8_t id = fuzz_u8 (in) % 16;
  size_t size = in->left, bytes = 0;
  uint8_t *exact = malloc (size + 1), again[MCC_LAYER_ORDER_BYTES_MAX];
  const uint8_t *element;
  MccLayerOrder order;
  CHECK (exact != NULL);
  exact = realloc (exact, size ? size : 1);
  if (size > 0)
    memcpy (exact, in->data, size);
  element = mcc_rtp_packet_element (exact, size, id, &bytes);
  if (element != NULL) {
    CHECK (element >= exact && element + bytes <= exact + size);
    if (mcc_layer_order_read (element, bytes, &order)) {
      CHECK (mcc_layer_order_write (&order, again) == bytes);
      CHECK (memcmp (again, element, bytes) == 0);
    }
  }
  in->left = 0;
  free (exact);
}

typedef struct {
  FuzzInput in;
  MccTime now;
  MccLayerMerge *merge;
  MccLayerOrder order;
  uint32_t time;
  uint8_t fate[PACKETS]; /* 1: given, 2: gone */
  unsigned packets;
  bool any;
  uint16_t seq;
} Machine;

static void
drain (Machine *self)
{
  MccLayerMergeAction action;
  while (mcc_layer_merge_poll (self->merge, &action)) {
    size_t i = (size_t)((uint8_t *)action.data - self->fate);
    if (action.type == MCC_LAYER_MERGE_EMIT) {
      CHECK (!self->any || action.seq == (uint16_t)(self->seq + 1));
      self->any = true;
      self->seq = action.seq;
    }
    if (action.type == MCC_LAYER_MERGE_EMIT || action.type == MCC_LAYER_MERGE_FREE) {
      CHECK (i < self->packets && self->fate[i] == 1);
      self->fate[i] = 2;
    }
    CHECK (action.layer < LAYERS);
  }
}

static void
packet (Machine *self, uint8_t kind)
{
  uint8_t how = fuzz_u8 (&self->in);
  MccLayerPacket p = { .bytes = 40 + 8 * (uint32_t)how, .marker = how & 1 };
  if (self->packets == PACKETS)
    return;
  self->order.layer = kind % LAYERS;
  self->order.flags = (uint8_t)(how & 0xf8);
  mcc_layer_order_next (&self->order);
  if (how & MCC_LAYER_FIRST)
    self->time += 3000;
  if (how & 2) /* lost */
    return;
  p.order = self->order;
  p.rtp_time = self->time;
  if ((how & 6) == 4) { /* late, twice, or forged */
    uint16_t off = fuzz_u8 (&self->in);
    for (unsigned k = 0; k < LAYERS; k++)
      p.order.c[k] = (uint16_t)(p.order.c[k] - off * (kind & 8 ? k : 1));
    if (off == 255)
      p.order.count = (uint8_t)(1 + kind % 7);
    if (off == 254)
      p.order.c[LAYERS - 1] = (uint16_t)(fuzz_u32 (&self->in));
  }
  self->fate[self->packets] = 1;
  p.data = &self->fate[self->packets++];
  mcc_layer_merge_handle (self->merge, &p, self->now);
}

static void
event (Machine *self)
{
  uint8_t kind = fuzz_u8 (&self->in);
  uint32_t mapped;
  switch (kind >> 4) {
    case 0:
      mcc_layer_merge_join (self->merge, kind % LAYERS, self->now);
      break;
    case 1:
      mcc_layer_merge_leave (self->merge, kind % LAYERS, self->now);
      break;
    case 2:
      self->now += fuzz_scale (&self->in, 32);
      break;
    case 3:
      if (kind == 0x3f)
        mcc_layer_merge_start (self->merge, LAYERS, 90000, kind & 1, self->now);
      (void)mcc_layer_merge_map_time (self->merge, fuzz_u32 (&self->in), &mapped);
      break;
    default:
      self->now += kind >> 6 << 20;
      packet (self, kind);
      break;
  }
  drain (self);
  if (mcc_layer_merge_next_timeout (self->merge) <= self->now) {
    mcc_layer_merge_handle_timeout (self->merge, self->now);
    drain (self);
    CHECK (mcc_layer_merge_next_timeout (self->merge) > self->now);
  }
}

static void
merge (FuzzInput *in)
{
  static Machine self;
  self = (Machine){ .in = *in,
    .now = EPOCH,
    .merge = mcc_layer_merge_new (100 * MCC_MSECOND, 65000),
    .order = { .count = LAYERS } };
  CHECK (self.merge != NULL);
  mcc_layer_merge_start (self.merge, LAYERS, 90000, true, self.now);
  mcc_layer_merge_join (self.merge, 0, self.now);
  while (self.in.left > 0)
    event (&self);
  mcc_layer_merge_reset (self.merge, self.now);
  drain (&self);
  for (unsigned i = 0; i < self.packets; i++)
    CHECK (self.fate[i] == 2);
  mcc_layer_merge_free (self.merge);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput in = { data, size };
  uint8_t kind = fuzz_u8 (&in);
  if (kind < 32)
    classify (&in, kind);
  else if (kind < 64)
    find (&in);
  else
    merge (&in);
  return 0;
}

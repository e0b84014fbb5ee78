/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcclayerclass.h"

#include <assert.h>
#include <string.h>

void
mcc_layer_class_init (MccLayerClass *self, MccLayerCodec codec, unsigned count)
{
  assert (count > 0 && count <= MCC_LAYER_ORDER_LAYERS_MAX);
  *self = (MccLayerClass){ .codec = codec, .count = count };
}

static MccLayerError
read_payload (const MccLayerClass *self, const uint8_t *payload, size_t size, MccLayerSlice *out)
{
  switch (self->codec) {
    case MCC_LAYER_CODEC_H264:
      return mcc_layer_h264 (payload, size, out);
    case MCC_LAYER_CODEC_VP8:
      return mcc_layer_vp8 (payload, size, out);
    case MCC_LAYER_CODEC_H265:
      return mcc_layer_h265 (payload, size, out);
    case MCC_LAYER_CODEC_VP9:
      return mcc_layer_vp9 (payload, size, out);
    case MCC_LAYER_CODEC_OTHER:
      break;
  }
  *out = (MccLayerSlice){ .slice = true, .key = true, .sync = true };
  return MCC_LAYER_GOOD;
}

void
mcc_layer_class_add (MccLayerClass *self, const uint8_t *payload, size_t size)
{
  MccLayerSlice slice = { 0 }, *unit = &self->unit;
  MccLayerError error = read_payload (self, payload, size, &slice);
  if (error != MCC_LAYER_GOOD) {
    self->error = error;
    return;
  }
  if (!slice.slice)
    return;
  if (!unit->slice) {
    *unit = slice;
    return;
  }
  /* H.264: slices of a picture may differ in type, and the lowest layer counts. */
  if (slice.layer != unit->layer && self->codec != MCC_LAYER_CODEC_H264)
    self->error = MCC_LAYER_MIXED;
  if (slice.layer < unit->layer)
    unit->layer = slice.layer;
  unit->key = unit->key || slice.key;
  unit->sync = unit->sync && slice.sync;
  unit->needed = unit->needed || slice.needed;
  unit->leading = unit->leading || slice.leading;
}

MccLayerUnit
mcc_layer_class_end (MccLayerClass *self)
{
  MccLayerSlice unit = self->unit;
  MccLayerUnit out = { .error = self->error };
  bool clean, by_itself;
  self->unit = (MccLayerSlice){ 0 };
  self->error = MCC_LAYER_GOOD;
  if (!unit.slice || out.error != MCC_LAYER_GOOD)
    return out;
  if (unit.key)
    unit.layer = 0; /* everything needs it */
  out.encoding = unit.layer;
  out.layer = unit.layer < self->count ? unit.layer : (uint8_t)(self->count - 1);
  self->folded = self->folded || out.layer != unit.layer;
  clean = unit.key || (self->codec == MCC_LAYER_CODEC_H264 && unit.layer == 0);
  if (clean)
    memset (self->needed, 0, sizeof self->needed);
  /* What Y says holds for the layers between too. */
  by_itself = unit.sync && (out.layer == unit.layer || self->codec == MCC_LAYER_CODEC_VP8);
  if (unit.key)
    out.flags |= MCC_LAYER_KEY;
  if (clean)
    out.flags |= MCC_LAYER_CLEAN;
  if (unit.leading)
    out.flags |= MCC_LAYER_LEADING;
  /* In layer 0 only a key unit needs nothing of its layer. */
  if (unit.key || (out.layer > 0 && (by_itself || !self->needed[out.layer])))
    out.flags |= MCC_LAYER_SYNC;
  /* H.265: sub-layer non-reference pictures serve higher sub-layers. */
  if (unit.needed || (self->codec == MCC_LAYER_CODEC_H265 && self->folded))
    self->needed[out.layer] = true;
  return out;
}

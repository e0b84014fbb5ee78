/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * H.264: RFC 6184 payloads, the first bits of ITU-T H.264 7.3.3 slice headers.
 */
#include "mcclayerclass.h"

enum { SLICE = 1, PARTITION_A = 2, IDR = 5, SINGLE_LAST = 23, STAP_A = 24, FU_A = 28, FU_B = 29 };
enum { P, B, I, SP, SI, SLICE_TYPES = 10 };
enum { TOP = 0, REFERENCE_B = 1, OTHER_B = 2 };

/* Exp-Golomb codes of a NAL unit, without its emulation prevention bytes. */
typedef struct {
  const uint8_t *data;
  size_t left;
  unsigned zeros, bits;
  uint8_t byte;
} Reader;

static int
read_bit (Reader *self)
{
  if (self->bits == 0) {
    if (self->zeros >= 2 && self->left > 0 && *self->data == 3) {
      self->data++;
      self->left--;
      self->zeros = 0;
    }
    if (self->left == 0)
      return -1;
    self->byte = *self->data++;
    self->left--;
    self->zeros = self->byte == 0 ? self->zeros + 1 : 0;
    self->bits = 8;
  }
  return self->byte >> --self->bits & 1;
}

/* ue(v); false: it does not end. */
static bool
read_ue (Reader *self, uint32_t *out)
{
  unsigned zeros = 0;
  uint32_t value = 1;
  int bit;
  while ((bit = read_bit (self)) == 0)
    if (++zeros > 31)
      return false;
  if (bit < 0)
    return false;
  for (; zeros > 0; zeros--) {
    bit = read_bit (self);
    if (bit < 0)
      return false;
    value = value << 1 | (uint32_t)bit;
  }
  *out = value - 1;
  return true;
}

/* @data is behind the NAL unit's header. */
static MccLayerError
read_slice (uint8_t type, uint8_t ref_idc, const uint8_t *data, size_t size, MccLayerSlice *slice)
{
  Reader reader = { .data = data, .left = size };
  uint32_t first, kind;
  uint8_t layer;
  if (!read_ue (&reader, &first) || !read_ue (&reader, &kind) || kind >= SLICE_TYPES)
    return MCC_LAYER_MALFORMED;
  layer = kind % 5 != B ? TOP : ref_idc > 0 ? REFERENCE_B : OTHER_B;
  if (!slice->slice || layer < slice->layer)
    slice->layer = layer;
  slice->slice = true;
  slice->key = slice->key || type == IDR;
  slice->needed = slice->needed || ref_idc > 0;
  return MCC_LAYER_GOOD;
}

/* A whole NAL unit, or the beginning of one. */
static MccLayerError
read_nal (const uint8_t *data, size_t size, MccLayerSlice *slice)
{
  uint8_t type;
  if (size == 0 || data[0] & 0x80)
    return MCC_LAYER_MALFORMED;
  type = data[0] & 0x1f;
  if (type == 0 || type > SINGLE_LAST)
    return MCC_LAYER_MALFORMED;
  if (type != SLICE && type != PARTITION_A && type != IDR)
    return MCC_LAYER_GOOD;
  return read_slice (type, data[0] >> 5 & 3, data + 1, size - 1, slice);
}

/* RFC 6184 5.7.1 */
static MccLayerError
read_stap_a (const uint8_t *data, size_t size, MccLayerSlice *slice)
{
  size_t at = 1;
  if (size == 1)
    return MCC_LAYER_MALFORMED;
  while (at < size) {
    size_t bytes;
    MccLayerError error;
    if (size - at < 2)
      return MCC_LAYER_MALFORMED;
    bytes = (size_t)data[at] << 8 | data[at + 1];
    at += 2;
    if (bytes > size - at)
      return MCC_LAYER_MALFORMED;
    error = read_nal (data + at, bytes, slice);
    if (error != MCC_LAYER_GOOD)
      return error;
    at += bytes;
  }
  return MCC_LAYER_GOOD;
}

/* RFC 6184 5.8: the first fragment has the slice's header. */
static MccLayerError
read_fu_a (const uint8_t *data, size_t size, MccLayerSlice *slice)
{
  bool start, end;
  uint8_t type;
  if (size < 3)
    return MCC_LAYER_MALFORMED;
  start = data[1] & 0x80;
  end = data[1] & 0x40;
  type = data[1] & 0x1f;
  if ((start && end) || type == 0 || type > SINGLE_LAST)
    return MCC_LAYER_MALFORMED;
  if (!start || (type != SLICE && type != PARTITION_A && type != IDR))
    return MCC_LAYER_GOOD;
  return read_slice (type, data[0] >> 5 & 3, data + 2, size - 2, slice);
}

MccLayerError
mcc_layer_h264 (const uint8_t *payload, size_t size, MccLayerSlice *out)
{
  MccLayerSlice slice = { 0 };
  MccLayerError error;
  uint8_t type;
  if (size == 0 || payload[0] & 0x80) /* forbidden_zero_bit */
    return MCC_LAYER_MALFORMED;
  type = payload[0] & 0x1f;
  if (type == STAP_A)
    error = read_stap_a (payload, size, &slice);
  else if (type == FU_A)
    error = read_fu_a (payload, size, &slice);
  else if (type > STAP_A && type <= FU_B)
    error = MCC_LAYER_UNSUPPORTED; /* STAP-B, MTAP, FU-B: interleaved */
  else
    error = read_nal (payload, size, &slice);
  if (error == MCC_LAYER_GOOD)
    *out = slice;
  return error;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * H.265: RFC 7798 payloads without DONL (sprop-max-don-diff = 0, as all that stream live).
 */
#include "mcclayerclass.h"

enum {
  SUB_LAYER_NON_REFERENCE_LAST = 14, /* even ones (ITU-T H.265 table 7-1) */
  TSA_N = 2,
  STSA_R = 5,
  RASL_N = 8,
  RASL_R = 9,
  IRAP_FIRST = 16,
  IRAP_LAST = 23,
  SLICE_LAST = 31,
  SINGLE_LAST = 47,
  AGGREGATE = 48,
  FRAGMENT = 49,
  PACI = 50
};

static MccLayerError
read_header (const uint8_t *data, size_t size, uint8_t *type, uint8_t *layer)
{
  unsigned layer_id;
  if (size < 2 || data[0] & 0x80 || (data[1] & 7) == 0) /* TemporalId plus 1 is never 0 */
    return MCC_LAYER_MALFORMED;
  layer_id = (data[0] & 1u) << 5 | data[1] >> 3;
  if (layer_id != 0) /* scalable in another way */
    return MCC_LAYER_UNSUPPORTED;
  *type = data[0] >> 1;
  *layer = (uint8_t)((data[1] & 7) - 1);
  return MCC_LAYER_GOOD;
}

static MccLayerError
note_slice (uint8_t type, uint8_t layer, MccLayerSlice *slice)
{
  bool irap = type >= IRAP_FIRST && type <= IRAP_LAST;
  if (type > SLICE_LAST)
    return MCC_LAYER_GOOD;
  if (irap && layer != 0)
    return MCC_LAYER_MALFORMED; /* 7.4.2.2 */
  if (slice->slice && slice->layer != layer)
    return MCC_LAYER_MIXED;
  slice->slice = true;
  slice->layer = layer;
  slice->key = irap;
  slice->sync = type >= TSA_N && type <= STSA_R;
  slice->leading = type == RASL_N || type == RASL_R;
  slice->needed = type > SUB_LAYER_NON_REFERENCE_LAST || type % 2 == 1;
  return MCC_LAYER_GOOD;
}

static MccLayerError
read_nal (const uint8_t *data, size_t size, MccLayerSlice *slice)
{
  uint8_t type, layer;
  MccLayerError error = read_header (data, size, &type, &layer);
  if (error != MCC_LAYER_GOOD)
    return error;
  return type > SINGLE_LAST ? MCC_LAYER_MALFORMED : note_slice (type, layer, slice);
}

/* RFC 7798 4.4.2 */
static MccLayerError
read_aggregate (const uint8_t *data, size_t size, MccLayerSlice *slice)
{
  size_t at = 2;
  if (size == at)
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

/* RFC 7798 4.4.3: each fragment says the type. */
static MccLayerError
read_fragment (const uint8_t *data, size_t size, uint8_t layer, MccLayerSlice *slice)
{
  uint8_t type;
  if (size < 4)
    return MCC_LAYER_MALFORMED;
  type = data[2] & 0x3f;
  if ((data[2] & 0xc0) == 0xc0 || type > SINGLE_LAST)
    return MCC_LAYER_MALFORMED;
  return note_slice (type, layer, slice);
}

MccLayerError
mcc_layer_h265 (const uint8_t *payload, size_t size, MccLayerSlice *out)
{
  MccLayerSlice slice = { 0 };
  uint8_t type = 0, layer = 0;
  MccLayerError error = read_header (payload, size, &type, &layer);
  if (error != MCC_LAYER_GOOD)
    return error;
  if (type == AGGREGATE)
    error = read_aggregate (payload, size, &slice);
  else if (type == FRAGMENT)
    error = read_fragment (payload, size, layer, &slice);
  else if (type == PACI)
    error = MCC_LAYER_UNSUPPORTED;
  else
    error = read_nal (payload, size, &slice);
  if (error == MCC_LAYER_GOOD)
    *out = slice;
  return error;
}

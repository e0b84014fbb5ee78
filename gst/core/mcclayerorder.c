/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcclayerorder.h"

#include <assert.h>

#define RTP_HEADER_BYTES 12
#define RTP_EXTENSION 0x10
#define ONE_BYTE_PROFILE 0xbede /* RFC 8285 4.2 */
#define TWO_BYTE_PROFILE 0x1000 /* RFC 8285 4.3; its low 4 bits are the application's */
#define LAYER_MASK 0x07

static uint16_t
get16 (const uint8_t *data)
{
  return (uint16_t)((unsigned)data[0] << 8 | data[1]);
}

void
mcc_layer_order_next (MccLayerOrder *order)
{
  assert (order->count <= MCC_LAYER_ORDER_LAYERS_MAX && order->layer < order->count);
  for (unsigned k = order->layer; k < order->count; k++)
    order->c[k]++;
}

size_t
mcc_layer_order_write (const MccLayerOrder *order, uint8_t *out)
{
  assert (order->count <= MCC_LAYER_ORDER_LAYERS_MAX && order->layer < order->count);
  out[0] = (uint8_t)((order->flags & ~LAYER_MASK) | order->layer);
  for (unsigned k = 0; k < order->count; k++) {
    out[1 + 2 * k] = (uint8_t)(order->c[k] >> 8);
    out[2 + 2 * k] = (uint8_t)order->c[k];
  }
  return 1 + 2 * (size_t)order->count;
}

bool
mcc_layer_order_read (const uint8_t *data, size_t bytes, MccLayerOrder *out)
{
  MccLayerOrder order = { 0 };
  if (bytes < 3 || bytes > MCC_LAYER_ORDER_BYTES_MAX || bytes % 2 == 0)
    return false;
  order.count = (uint8_t)(bytes / 2);
  order.layer = data[0] & LAYER_MASK;
  order.flags = (uint8_t)(data[0] & ~LAYER_MASK);
  if (order.layer >= order.count)
    return false;
  for (unsigned k = 0; k < order.count; k++)
    order.c[k] = get16 (data + 1 + 2 * k);
  *out = order;
  return true;
}

/* Both forms: an element's header is @header bytes long. The last one counts: ours is put behind
 * what a packet brings along, of an id that its caps do not name. */
static const uint8_t *
find_element (const uint8_t *data, size_t size, unsigned header, uint8_t id, size_t *bytes)
{
  const uint8_t *found = NULL;
  for (size_t at = 0; at < size;) {
    uint8_t this_id = header == 1 ? data[at] >> 4 : data[at];
    size_t length;
    if (data[at] == 0) { /* padding */
      at++;
      continue;
    }
    if (header == 1 && this_id == 15)
      return found;
    if (size - at < header)
      return NULL;
    length = header == 1 ? (size_t)(data[at] & 0x0f) + 1 : data[at + 1];
    at += header;
    if (size - at < length)
      return NULL;
    if (this_id == id) {
      *bytes = length;
      found = data + at;
    }
    at += length;
  }
  return found;
}

const uint8_t *
mcc_layer_order_find (const uint8_t *data, size_t size, uint8_t id, size_t *bytes)
{
  size_t at, length;
  uint16_t profile;
  if (id == 0 || id > 14 || size < RTP_HEADER_BYTES || data[0] >> 6 != 2
      || !(data[0] & RTP_EXTENSION))
    return NULL;
  at = RTP_HEADER_BYTES + 4 * (size_t)(data[0] & 0x0f);
  if (size < at + 4)
    return NULL;
  profile = get16 (data + at);
  length = 4 * (size_t)get16 (data + at + 2);
  at += 4;
  if (size - at < length)
    return NULL;
  if (profile == ONE_BYTE_PROFILE)
    return find_element (data + at, length, 1, id, bytes);
  if ((profile & 0xfff0) == TWO_BYTE_PROFILE)
    return find_element (data + at, length, 2, id, bytes);
  return NULL;
}

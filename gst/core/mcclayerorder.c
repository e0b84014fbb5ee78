/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcclayerorder.h"

#include <assert.h>

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

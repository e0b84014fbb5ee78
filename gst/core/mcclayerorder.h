/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcclayerorder: the RTP header extension by which a receiver of several layers puts their packets
 * into decoding order, and knows what it has not got (docs/wire-format.md).
 *
 * Each packet carries, of each k < count, c[k]: the packets of layers 0..k so far in decoding
 * order, itself included, modulo 2^16. So c[count - 1] is the place of a packet among all, c[L] the
 * place among what a receiver at level L gets (contiguous there), and the difference of two
 * packets' c says how many of each layer lie between them, whether they came or not. Packets of a
 * layer are sent in that order, those of different layers side by side.
 *
 * Flags say what the access unit needs, so that no receiver has to know the encoding:
 *   FIRST   the packet is the first one of its access unit
 *   KEY     needs nothing before it
 *   SYNC    needs nothing of its own layer before it, only of lower ones
 *   CLEAN   no unit of a higher layer behind it needs one of a higher layer before it
 *   LEADING needs what is before the newest KEY unit (HEVC: RASL, ITU-T H.265 3.130)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCC_LAYER_ORDER_URI "urn:x-adaptivemulticast:layer-order"
/* 1 + 2 * 7 bytes fit into an element with a one-byte header (RFC 8285 4.2: up to 16). */
#define MCC_LAYER_ORDER_LAYERS_MAX 7
#define MCC_LAYER_ORDER_BYTES_MAX (1 + 2 * MCC_LAYER_ORDER_LAYERS_MAX)

typedef enum {
  MCC_LAYER_FIRST = 0x80,
  MCC_LAYER_KEY = 0x40,
  MCC_LAYER_SYNC = 0x20,
  MCC_LAYER_CLEAN = 0x10,
  MCC_LAYER_LEADING = 0x08
} MccLayerFlags;

typedef struct {
  uint8_t layer; /* < count */
  uint8_t count; /* 1 to MCC_LAYER_ORDER_LAYERS_MAX */
  uint8_t flags; /* MccLayerFlags */
  uint16_t c[MCC_LAYER_ORDER_LAYERS_MAX];
} MccLayerOrder;

/* The sender's: what @order says of the next packet, of its .layer, of .count layers; .c of the
 * packet before (zero: of the first one) becomes this one's. */
void mcc_layer_order_next (MccLayerOrder *order);
/* Writes 1 + 2 count bytes, and returns that. */
size_t mcc_layer_order_write (const MccLayerOrder *order, uint8_t *out);
/* False: @bytes is no such length, or the layer is not among the layers. */
bool mcc_layer_order_read (const uint8_t *data, size_t bytes, MccLayerOrder *out);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccindexapp: codec of the APP packet "SIDX", by which a sender that encrypts says how far its
 * streams are: a receiver that comes late cannot see the roll-over counter of SRTP in a packet (RFC
 * 3711 3.3.1) and must be told. It is authentic because SRTCP carries it.
 *
 *   index = 2^16 * ROC + SEQ of the newest packet (RFC 3711 3.3.1)
 *
 * As mccapp.h: decoding checks every length, leaves *out untouched on error, never asserts.
 */
#pragma once

#include <stddef.h>

#include "mcctypes.h"

#define MCC_INDEX_NAME "SIDX"
#define MCC_INDEX_MAX 31 /* entries a packet: their number is the subtype */
#define MCC_INDEX_BYTES(count) (12 + 12 * (size_t)(count))

typedef struct {
  uint32_t ssrc;
  uint64_t index; /* 48 bits */
} MccIndex;

typedef struct {
  uint32_t ssrc; /* of the APP packet */
  unsigned count;
  MccIndex entry[MCC_INDEX_MAX];
} MccIndexApp;

/* Decodes one whole APP packet with that name: MCC_DROP_NONE, MALFORMED or UNKNOWN_NAME. */
MccDrop mcc_index_app_decode (const uint8_t *data, size_t size, MccIndexApp *out);
/* Writes the packet; returns its bytes, 0 when @size is too small or a field is out of range. */
size_t mcc_index_app_encode (const MccIndexApp *app, uint8_t *data, size_t size);

/* The roll-over counter of the packet with number @seq, which is within 2^15 of the packet of
 * @index: RFC 3711 3.3.1. */
uint32_t mcc_index_roc (uint64_t index, uint16_t seq);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccappprivate: what the codecs of our APP packets share; for mccapp.c and mccasspapp.c only.
 */
#pragma once

#include "mccapp.h"

/* Offsets from the start of the packet, in all of ours. */
#define MCC_APP_OFFSET_VERSION 12
#define MCC_APP_OFFSET_FLAGS 13

static inline uint64_t
mcc_app_get (const uint8_t *data, unsigned bytes)
{
  uint64_t value = 0;

  for (unsigned i = 0; i < bytes; i++)
    value = value << 8 | data[i];
  return value;
}

static inline uint32_t
mcc_app_get32 (const uint8_t *data)
{
  return (uint32_t)mcc_app_get (data, 4);
}

static inline void
mcc_app_put (uint8_t *data, unsigned bytes, uint64_t value)
{
  for (unsigned i = bytes; i > 0; i--, value >>= 8)
    data[i - 1] = (uint8_t)(value & 0xff);
}

/* Lengths, name and version of one whole packet; MCC_DROP_NONE: the first 16 bytes are there. */
MccDrop mcc_app_check_header (const uint8_t *data, size_t size, const char *name);
/* What is behind them, of the subtypes 1 to 3. */
MccDrop mcc_app_decode_body (const uint8_t *data, size_t size, MccApp *out);
/* Writes RTCP header, SSRC, name and version into @bytes zeroed bytes. */
void mcc_app_put_header (
    uint8_t *data, size_t bytes, unsigned subtype, uint32_t ssrc, const char *name);
/* Writes what is behind them; false: a field is out of range. */
bool mcc_app_encode_body (const MccApp *app, uint8_t *data);

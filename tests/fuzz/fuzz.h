/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the fuzz targets share: bytes become values, and a check that holds in every build.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mcctypes.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* A broken law ends the process, so that libFuzzer and the replay both notice. */
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf (stderr, "%s:%d: law broken: %s\n", __FILE__, __LINE__, #condition);                 \
      abort ();                                                                                    \
    }                                                                                              \
  } while (0)

typedef struct {
  const uint8_t *data;
  size_t left;
} FuzzInput;

/* Big-endian; zero behind the end. */
static inline uint64_t
fuzz_take (FuzzInput *in, unsigned bytes)
{
  uint64_t value = 0;

  for (unsigned i = 0; i < bytes; i++) {
    value <<= 8;
    if (in->left > 0) {
      value |= *in->data++;
      in->left--;
    }
  }
  return value;
}

static inline uint8_t
fuzz_u8 (FuzzInput *in)
{
  return (uint8_t)fuzz_take (in, 1);
}

static inline uint32_t
fuzz_u32 (FuzzInput *in)
{
  return (uint32_t)fuzz_take (in, 4);
}

/* One byte becomes a value spread over magnitudes: 0, 1, ..., about 2^@bits; 8 steps an octave. */
static inline uint64_t
fuzz_scale (FuzzInput *in, unsigned bits)
{
  unsigned byte = fuzz_u8 (in);
  unsigned exponent = byte * bits / 255;
  uint64_t value = UINT64_C (1) << (exponent < 63 ? exponent : 63);

  if (byte == 0)
    return 0;
  return value + (value >> 3) * (byte & 7);
}

/* Folds @value into a hash of everything that a machine did. */
static inline uint64_t
fuzz_hash (uint64_t hash, uint64_t value)
{
  for (unsigned i = 0; i < 8; i++, value >>= 8)
    hash = (hash ^ (value & 0xff)) * UINT64_C (0x100000001b3);
  return hash;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrng: randomness is a seeded value.
 *
 * xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018),
 * seeded by splitmix64. The same seed gives the same sequence on every machine. Not for keys.
 */
#pragma once

#include <stdint.h>

typedef struct {
  uint64_t state[4];
} MccRng;

void mcc_rng_init (MccRng *self, uint64_t seed);
uint64_t mcc_rng_next (MccRng *self);
/* Uniform in [0, 1), 53 bits. */
double mcc_rng_uniform (MccRng *self);

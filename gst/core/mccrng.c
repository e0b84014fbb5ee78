/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccrng.h"

static inline uint64_t
rotate_left (uint64_t x, unsigned bits)
{
  return (x << bits) | (x >> (64 - bits));
}

/* splitmix64: spreads one word over the state, which is then never all zero. */
static uint64_t
split_mix (uint64_t *x)
{
  *x += UINT64_C (0x9e3779b97f4a7c15);
  uint64_t z = *x;
  z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

void
mcc_rng_init (MccRng *self, uint64_t seed)
{
  for (unsigned i = 0; i < 4; i++)
    self->state[i] = split_mix (&seed);
}

uint64_t
mcc_rng_next (MccRng *self)
{
  uint64_t *s = self->state;
  uint64_t result = rotate_left (s[1] * 5, 7) * 9;
  uint64_t t = s[1] << 17;

  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left (s[3], 45);
  return result;
}

double
mcc_rng_uniform (MccRng *self)
{
  return (double)(mcc_rng_next (self) >> 11) * 0x1p-53;
}

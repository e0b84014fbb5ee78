/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Laws over random input: each law runs on many cases, each from a seed of its own. MCC_SEED=n
 * repeats the cases from seed n on; without it they come from GLib's --seed.
 */
#pragma once

#include <glib.h>
#include <math.h>

#include "mccrng.h"

typedef void (*PropLaw) (MccRng *rng);

static inline uint64_t
prop_below (MccRng *rng, uint64_t n)
{
  return mcc_rng_next (rng) % n;
}

static inline double
prop_between (MccRng *rng, double low, double high)
{
  return low + (high - low) * mcc_rng_uniform (rng);
}

/* Every order of magnitude as likely as the others. */
static inline double
prop_log_between (MccRng *rng, double low, double high)
{
  return exp (prop_between (rng, log (low), log (high)));
}

static inline void
prop_run (PropLaw law, unsigned cases)
{
  const char *fixed = g_getenv ("MCC_SEED");
  uint64_t seed
      = fixed != NULL ? g_ascii_strtoull (fixed, NULL, 10) : (uint64_t)(uint32_t)g_test_rand_int ();

  g_test_message ("MCC_SEED=%" G_GUINT64_FORMAT, seed);
  for (unsigned i = 0; i < cases; i++) {
    MccRng rng;
    mcc_rng_init (&rng, seed + i);
    law (&rng);
  }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccsuppress: feedback suppression by exponentially distributed timers (ASMP eq. 20 corrected;
 * Nonnenmacher and Biersack 1999; RFC 5401).
 *
 *   z = T/lambda ln(1 + u (e^lambda - 1)),  lambda = ln(n) + 1,  T = K x max RTT
 *
 * Density f(z) = 1/(e^lambda - 1) lambda/T e^(lambda z/T) on [0, T]; expected reports of n
 * receivers about exp(1.2 lambda/(2K)), so K = 1.2 lambda/(2 ln 2.6), at least 3: 6.4 for 10 000.
 */
#pragma once

#include <stdbool.h>

#include "mccrng.h"
#include "mcctime.h"

#define MCC_SUPPRESS_REPORTS 2.6               /* docs/deviations.md: at most 3 */
#define MCC_SUPPRESS_K_MIN 3.0                 /* the law is one of many receivers */
#define MCC_SUPPRESS_SIMILAR 0.02              /* ASMP: "within 2 %" */
#define MCC_SUPPRESS_INTERVAL (5 * MCC_SECOND) /* T_suspend */

/* K of the law for @receivers. */
double mcc_suppress_factor (unsigned receivers);
/* The wait in [0, @longest] of one of @receivers >= 1. */
MccTime mcc_suppress_wait_within (MccRng *rng, unsigned receivers, MccTime longest);
/* The wait in [0, T] for a group of @receivers >= 1 with the largest RTT @rtt_max. */
MccTime mcc_suppress_wait (MccRng *rng, unsigned receivers, MccTime rtt_max);
/* Whether hearing @heard_bps suspends an own report of @own_bps. published: within 2 %; enhanced:
 * that, or lower. */
bool mcc_suppress_covers (uint64_t heard_bps, uint64_t own_bps, bool enhanced);

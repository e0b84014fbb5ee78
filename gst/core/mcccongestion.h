/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcccongestion: ASMP's congestion indicator (ASMP eq. 16-19).
 *
 * CONGESTED (gamma 0.2) when the mean of the cumulative jitter since the last report >= its mean
 * since the start, else UNLOADED (gamma 0.9). Known defects are listed in docs/deviations.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_GAMMA_CONGESTED 0.2 /* ASMP eq. 18 */
#define MCC_GAMMA_UNLOADED 0.9  /* ASMP eq. 19 */

typedef struct {
  double long_sum, short_sum; /* seconds */
  uint64_t long_count, short_count;
  bool congested;
} MccCongestion;

void mcc_congestion_init (MccCongestion *self);
void mcc_congestion_handle_packet (MccCongestion *self, MccTimeDelta cumulative_jitter);
/* The report interval ends: decides, returns gamma, starts the next interval. */
double mcc_congestion_handle_interval (MccCongestion *self);

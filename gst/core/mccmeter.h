/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccmeter: rate over a sliding window, in slots. Error at most one slot of the window (1/32).
 */
#pragma once

#include <stdint.h>

#include "mcctime.h"

#define MCC_METER_SLOTS 64

typedef struct {
  MccTime slot_length;
  MccTime first;       /* time of the first byte; MCC_TIME_NONE before */
  uint64_t slot_index; /* newest slot, time / slot_length */
  uint32_t bytes[MCC_METER_SLOTS];
} MccMeter;

/* Rates over any window up to @span can be asked. */
void mcc_meter_init (MccMeter *self, MccTime span);
void mcc_meter_add (MccMeter *self, uint32_t bytes, MccTime now);
/* Mean rate in bit/s over the last @window (or since the first byte, if that is later, but never
 * over less than one slot); 0 before. Does not change the meter. */
uint64_t mcc_meter_rate_bps (const MccMeter *self, MccTime window, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccpacer: when a packet may leave.
 *
 * Release rate = max (factor x target, required), less where evenly (below), where required is the
 * smallest rate at which no packet waits longer than max_delay: the maximum over the queued packets
 * k of the bits up to k / (max_delay - age of k). That is never more than queued bits / (max_delay
 * - age of the oldest). Bursts are at most burst x that rate, or one packet; a host that comes
 * later than next_timeout() gets what it missed meanwhile, at most 20 ms of it, so that being late
 * costs no rate. Packets are never dropped or reordered. Where the delay bound raises the rate
 * above factor x target, `overruns` counts, once a frame (what is queued within 5 ms): the encoder
 * should be asked for less. The host keeps the packets in a FIFO of its own; the pacer keeps sizes
 * and times, and allocates only when its ring grows; where it cannot grow, packets count as queued
 * with the ones before them. It plans 1 ms early, so that a timer that is late by less keeps the
 * bound.
 *
 * pacing.even: not at factor x target at once, but at the rate, the target at least, at which what
 * is queued has left when the next frame is expected, one mean time between frames later (50 ms at
 * most): frames of the mean size take all of it, larger ones up to factor times the target. Bursts
 * are of pacing.burst. Not where packets, of the mean size of what is queued, are 12 ms
 * (MCC_PAIRS_APART) and more apart, nor for a factor above MCC_PACER_EVEN_FACTOR: who asks for that
 * wants frames to leave soon; nor with haste.
 *
 * pacing.pairs: where packets are far apart two leave together now and then (mccpairs.h), of what
 * is queued; a single one waits for the next, which is expected by then, for MCC_PACER_HOLD and two
 * thirds of max_delay at most.
 *
 * Each of several layers has a pacer of its own, at its own rate, so that its packets leave between
 * those of others. With haste: who waits for all layers shall not wait for the slowest one, so what
 * is queued leaves within MCC_PACER_LAYER_DELAY where factor x the rate of all is enough for that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mccpacing.h"
#include "mcctime.h"

typedef struct {
  double factor;     /* pacing-factor, >= 1 */
  MccTime max_delay; /* pacing-max-delay, > 0 */
  MccTime burst;     /* 5 ms */
  MccPacing pacing;
} MccPacerConfig;

extern const MccPacerConfig mcc_pacer_config_default; /* 1.5, 150 ms, 5 ms, mcc_pacing_default */

#define MCC_PACER_EVEN_FACTOR 2.0
#define MCC_PACER_HOLD (100 * MCC_MSECOND)       /* ours: two pictures are hardly further apart */
#define MCC_PACER_LAYER_DELAY (40 * MCC_MSECOND) /* ours */

typedef struct MccPacer MccPacer;

/* How long a host may wait, > 0, after it let packets leave, before it looks at next_timeout(). */
static inline MccTime
mcc_pacer_wake_period (const MccPacerConfig *config)
{
  return config->pacing.even ? config->pacing.burst : config->burst;
}

/* NULL: no memory. */
MccPacer *mcc_pacer_new (const MccPacerConfig *config);
void mcc_pacer_free (MccPacer *self);
void mcc_pacer_set_config (MccPacer *self, const MccPacerConfig *config);
void mcc_pacer_set_target (MccPacer *self, uint64_t target_bps);
/* At most @delay, as long as factor x @most_bps allows it; 0: at the target's rate. */
void mcc_pacer_set_haste (MccPacer *self, MccTime delay, uint64_t most_bps);

/* @packets packets of together @bytes (wire bytes) are queued at @now. */
void mcc_pacer_enqueue (MccPacer *self, uint32_t packets, uint32_t bytes, MccTime now);
/* How many of the oldest packets may leave now; they count as sent. */
uint32_t mcc_pacer_release (MccPacer *self, MccTime now);
/* When the next burst, as many packets as one holds, may leave; <= now: at once; MCC_TIME_NONE:
 * nothing is queued. Never later than the delay bound of the oldest. */
MccTime mcc_pacer_next_timeout (const MccPacer *self);
/* Drops what is queued (flush). */
void mcc_pacer_clear (MccPacer *self);

uint32_t mcc_pacer_queued_packets (const MccPacer *self);
uint64_t mcc_pacer_queued_bytes (const MccPacer *self);
uint64_t mcc_pacer_overruns (const MccPacer *self);
/* Mean added delay of the packets released (EWMA over about 1 s of packets), ns. */
MccTime mcc_pacer_delay (const MccPacer *self);
/* Fraction (0..1] of the target that the encoder should get so that the delay bound no longer
 * wins: 1 normally, less for about a second after an overrun. */
double mcc_pacer_pressure (const MccPacer *self, MccTime now);

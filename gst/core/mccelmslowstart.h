/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmslowstart: a newcomer's way up (ELM 6.2.4).
 *
 * published: one more layer each interval I since the last join; after a join the deaf period
 * D_i = I B_0 / B_i; once that is over, X < B_i ends the slow start.
 *
 * enhanced: at high rates that period is too short for any measure. It ends a slow start only when
 * MCC_ELM_SLOW_START_EVENTS loss events are known, after an RTT and MCC_ELM_SLOW_START_PACKETS
 * packets; when the next layer is joined is decided by rounds and trials (mccelmtrial.h).
 */
#pragma once

#include "mccelmlayers.h"

#define MCC_ELM_SLOW_START_INTERVAL (4 * MCC_SECOND) /* I; ours, the thesis gives none */
#define MCC_ELM_SLOW_START_EVENTS 4                  /* ours */
#define MCC_ELM_SLOW_START_PACKETS 64                /* ours */

typedef struct {
  MccVariant variant;
  MccTime interval; /* I */
  bool active;
  MccTime joined; /* the newest layer */
  MccTime deaf_until;
  uint64_t deaf_packets; /* packets received by then at least */
} MccElmSlowStart;

void mcc_elm_slow_start_init (MccElmSlowStart *self, MccVariant variant, MccTime interval);
/* Layer @level was joined; @packets were received so far. */
void mcc_elm_slow_start_joined (MccElmSlowStart *self, const MccElmLayers *layers, unsigned level,
    MccTime rtt, uint64_t packets, MccTime now);
/* Ends it when X, and what that is made of, say so. */
void mcc_elm_slow_start_look (MccElmSlowStart *self, const MccElmLayers *layers, unsigned level,
    double x_bps, uint64_t events, uint64_t packets, MccTime now);
/* Whether the interval since the last join is over. */
bool mcc_elm_slow_start_due (const MccElmSlowStart *self, MccTime now);
/* When something is to be looked at again; MCC_TIME_NONE: never. */
MccTime mcc_elm_slow_start_next (const MccElmSlowStart *self, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcckeyunit: when the encoder is asked for a key unit.
 *
 * Between two key units lie at least max (0.7 s, 2 x the largest RTT), however many ask (RFC 5104
 * 3.5.1 leaves the rate to the sender). Requests within 2 RTT + 100 ms of a key unit (at most
 * half that time) are answered by it: who asks has not seen it yet. A later one is not lost: one
 * key unit follows when the time has passed. An RTT above MCC_KEY_UNIT_RTT_MAX counts as that: one
 * receiver's claim cannot keep key units from everybody, and whose key unit was torn by a queue
 * that is full, and makes the RTT, waits a second at most.
 */
#pragma once

#include <stdbool.h>

#include "mcctime.h"

/* Ours: who changes streams without room for both is to wait less than a second. */
#define MCC_KEY_UNIT_INTERVAL (700 * MCC_MSECOND)
#define MCC_KEY_UNIT_RTTS 2
#define MCC_KEY_UNIT_ANSWERED (100 * MCC_MSECOND) /* encoder, pacer, decoder */
#define MCC_KEY_UNIT_RTT_MAX (500 * MCC_MSECOND)  /* ours */

typedef struct {
  MccTime last; /* MCC_TIME_NONE: none yet */
  bool wanted;
} MccKeyUnit;

void mcc_key_unit_init (MccKeyUnit *self);
void mcc_key_unit_request (MccKeyUnit *self, MccTime rtt_max, MccTime now);
/* When a wanted key unit may be made; MCC_TIME_NONE: none is wanted. */
MccTime mcc_key_unit_next_timeout (const MccKeyUnit *self, MccTime rtt_max);
/* True, once, when the encoder should be asked now. */
bool mcc_key_unit_take (MccKeyUnit *self, MccTime rtt_max, MccTime now);

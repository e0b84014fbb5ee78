/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcccarried: what was lately carried (RFC 7661 4.2: a rate that was validated stays so for
 * minutes): the highest mean rate in bit/s over a whole MCC_CARRIED_SLOT of the last
 * MCC_CARRIED_SLOTS of them. Slots begin with the first byte.
 */
#pragma once

#include <stdint.h>

#include "mcctime.h"

#define MCC_CARRIED_SLOT (5 * MCC_SECOND)
#define MCC_CARRIED_SLOTS 24 /* 2 minutes; RFC 7661: 5 */

typedef struct {
  MccTime first;                         /* time of the first byte, if there is any */
  uint64_t count;                        /* slots begun; 0: no byte yet */
  uint64_t bytes[MCC_CARRIED_SLOTS + 1]; /* and the open one */
} MccCarried;

/* All 0 is a valid start. */
void mcc_carried_add (MccCarried *self, uint64_t bytes, MccTime now);
/* In slots that began at @since or later and have ended; 0: not known. */
uint64_t mcc_carried_bps (const MccCarried *self, MccTime since, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccidle: whether a stream's encoder runs.
 *
 * Runs from the start; stops when nobody was there for `after`; runs again as soon as somebody is.
 * Where somebody was there it runs for MCC_IDLE_LEFT at least: who reports in another stream shows
 * this one until a picture of that has come, and goes back to it where none does.
 * With after = MCC_TIME_NONE it always runs: the lowest stream, where newcomers begin.
 */
#pragma once

#include <stdbool.h>

#include "mccasspreceiver.h"
#include "mcctime.h"

#define MCC_IDLE_LEFT (MCC_ASSP_JOIN_TIMEOUT + MCC_SECOND)

typedef struct {
  MccTime after;
  MccTime since; /* nobody is there; MCC_TIME_NONE: somebody is */
  bool left;     /* somebody was */
  bool running;
} MccIdle;

void mcc_idle_init (MccIdle *self, MccTime after, MccTime now);
/* True: it runs again. */
bool mcc_idle_set_occupied (MccIdle *self, bool occupied, MccTime now);
/* Another time from now on. True: it runs again. */
bool mcc_idle_set_after (MccIdle *self, MccTime after, MccTime now);
/* True: it has stopped. */
bool mcc_idle_handle_timeout (MccIdle *self, MccTime now);
MccTime mcc_idle_next_timeout (const MccIdle *self);

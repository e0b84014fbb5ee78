/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrejoin: when a session in which nothing is heard leaves its groups and joins them again. Ours.
 *
 * A membership can be gone without a word: the interface was made anew, the route leads to another
 * one, or a switch has forgotten us and nobody asks. Laws:
 *  - Never while the other side is heard, by RTP or RTCP: a leave would take a stream that comes
 *    from us, and from others behind the same port.
 *  - First MCC_REJOIN_FIRST after that was heard last (or the start), then after twice as long each
 *    time, MCC_REJOIN_MOST at most: who waits for a sender loads no network by it.
 *  - One that could not be done, since there is no interface or route, has cost the network
 *    nothing: it is tried again every MCC_REJOIN_FIRST.
 *  - Time in which the host did not call although it was due (MCC_TIME_ABSENCE) is nobody's
 *    silence.
 */
#pragma once

#include <stdbool.h>

#include "mcctime.h"

#define MCC_REJOIN_FIRST (5 * MCC_SECOND)
#define MCC_REJOIN_MOST (60 * MCC_SECOND)

typedef struct {
  MccTime due;  /* MCC_TIME_NONE: stopped */
  MccTime wait; /* until the one after that */
} MccRejoin;

/* It begins: nothing was heard yet. */
void mcc_rejoin_init (MccRejoin *self, MccTime now);
/* No more: the groups are left for good. */
void mcc_rejoin_stop (MccRejoin *self);
/* A packet of the other side has come. */
void mcc_rejoin_handle_heard (MccRejoin *self, MccTime now);
/* True: leave and join now. */
bool mcc_rejoin_handle_timeout (MccRejoin *self, MccTime now);
/* ... but a group could not be joined. */
void mcc_rejoin_handle_failed (MccRejoin *self, MccTime now);
MccTime mcc_rejoin_next_timeout (const MccRejoin *self);

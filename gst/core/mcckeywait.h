/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcckeywait: when a receiver asks for a key unit (PLI). Ours; RFC 5104 3.5.1 leaves it open.
 *
 * A request leaves at once, but not within MCC_KEY_WAIT_MIN of the one before (loss:
 * MCC_KEY_WAIT_LOSS, it may mend itself). It is repeated until a key unit arrives: the first time
 * after max (MCC_KEY_WAIT_MIN, 2 RTT + MCC_KEY_WAIT_ENCODER), each further time after twice as
 * long, up to MCC_KEY_WAIT_TRIES requests; then as often as at last, but no more where key units
 * are not recognised, for it may have come. All that begins anew with _renew(). An RTT above
 * MCC_KEY_WAIT_RTT_MAX counts as that.
 *
 * Loss within MCC_KEY_WAIT_SETTLE of _follow() or _leave_to_others() may be of what was never sent
 * to us, or was sent while we were paused; it is asked for when that time is over, unless a key
 * unit has come since.
 */
#pragma once

#include <stdbool.h>

#include "mcctime.h"

#define MCC_KEY_WAIT_MIN (1 * MCC_SECOND)
#define MCC_KEY_WAIT_LOSS (3 * MCC_SECOND)
#define MCC_KEY_WAIT_ENCODER (300 * MCC_MSECOND) /* until it has been encoded and paced */
#define MCC_KEY_WAIT_RTTS 2                      /* request and key unit, and as much again */
#define MCC_KEY_WAIT_RTT_MAX (1 * MCC_SECOND)
#define MCC_KEY_WAIT_TRIES 5
#define MCC_KEY_WAIT_SETTLE (1 * MCC_SECOND)

typedef struct {
  bool wanted;
  bool recognised; /* a key unit is seen when it comes */
  unsigned tries;
  MccTime followed; /* since then the sender; MCC_TIME_NONE: none yet */
  MccTime last;     /* request; MCC_TIME_NONE: none yet */
  MccTime due;
} MccKeyWait;

void mcc_key_wait_init (MccKeyWait *self);
/* Whether _got() is told of key units; at first not. */
void mcc_key_wait_set_recognised (MccKeyWait *self, bool recognised);
/* A sender is followed from now on; a key unit is needed. */
void mcc_key_wait_follow (MccKeyWait *self, MccTime now);
/* Another stream of the same content is on its way, and who brings it asks for its key unit: what
 * is lost meanwhile is of the one that was left. */
void mcc_key_wait_leave_to_others (MccKeyWait *self, MccTime now);
/* False within MCC_KEY_WAIT_SETTLE of _follow(): it is not known that the network has lost it. */
bool mcc_key_wait_loss_counts (const MccKeyWait *self, MccTime now);
/* A key unit is needed; @loss: because of packet loss. */
void mcc_key_wait_want (MccKeyWait *self, bool loss, MccTime now);
/* A key unit is still needed, and what was in its way is gone: less is sent to us now. */
void mcc_key_wait_renew (MccKeyWait *self, MccTime now);
/* A key unit has come. */
void mcc_key_wait_got (MccKeyWait *self);
/* When _take() may say true; MCC_TIME_NONE: never. */
MccTime mcc_key_wait_next_timeout (const MccKeyWait *self);
/* True: send a PLI now. */
bool mcc_key_wait_take (MccKeyWait *self, MccTime rtt, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccbreaker: when a receiver must leave (RFC 8083, which is for unicast, as RFC 8084 3.2.1 has it
 * for multicast: one receiver's path must not end the stream of all, so who trips is the receiver,
 * and what it does is to leave the group). docs/deviations.md says what that changes.
 *
 * Looks at windows of MCC_BREAKER_WINDOW, and only at those in which nothing lower can be asked
 * for: it asks for the sender's minimum, and of several streams or layers this is the lowest. What
 * is announced does not matter: announcements get lost where packets do, and a sender that was
 * asked for long enough goes on without us.
 *  - congestion (RFC 8083 4.3): more than MCC_BREAKER_FACTOR x what the TCP equation gives for its
 *    loss and measured RTT arrives, MCC_BREAKER_CONGESTED windows in a row;
 *  - unusable (4.4): MCC_BREAKER_LOST or more of the packets are lost, MCC_BREAKER_UNUSED
 *    windows in a row.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_BREAKER_FACTOR 10.0             /* RFC 8083 4.3 */
#define MCC_BREAKER_WINDOW (5 * MCC_SECOND) /* Td */
#define MCC_BREAKER_CONGESTED 3             /* max (15 s, 3 Td): RFC 8083 4.3 */
#define MCC_BREAKER_LEAST 1.05              /* times the least, asked for: as good as it; ours */
#define MCC_BREAKER_LOST 0.25               /* ours: of which no picture survives */
#define MCC_BREAKER_UNUSED 6                /* 30 s; ours */

typedef enum {
  MCC_BREAKER_CLOSED, /* as an electrician has it: all is well */
  MCC_BREAKER_CONGESTION,
  MCC_BREAKER_UNUSABLE,
  MCC_BREAKER_ASKED /* the sender asked it to leave */
} MccBreakerVerdict;

const char *mcc_breaker_verdict_name (MccBreakerVerdict verdict);

typedef struct {
  MccTime now;
  uint64_t received, lost; /* packets, ever; not less than the last time, else it begins anew */
  uint64_t received_bps;
  double allowed_bps; /* INFINITY: no losses, or no RTT */
  uint64_t asked_bps; /* by our reports */
  uint64_t
      least_bps; /* what the sender sends at least; 0: of several streams there is a lower one */
} MccBreakerInput;

typedef struct {
  bool begun;
  MccTime since; /* of this window */
  uint64_t received, lost;
  unsigned congested, unusable; /* windows in a row */
} MccBreaker;

void mcc_breaker_init (MccBreaker *self);
MccBreakerVerdict mcc_breaker_look (MccBreaker *self, const MccBreakerInput *input);

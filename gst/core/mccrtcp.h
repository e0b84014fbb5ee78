/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrtcp: when RTCP may leave (RFC 3550 6.2-6.3, RFC 4585 3.5) as far as our reports need it.
 *
 * 5 % of the announced current target is RTCP's, never above 5 % of session-bandwidth: 1/4 for
 * senders, 3/4 for receivers. Of each, 20 % stays with rtpsession's slow regular reports. No
 * member reports more often than every 100 ms (MCC_RTCP_MIN_INTERVAL).
 *
 * The target counts as MCC_RTCP_FLOOR_BPS at least (of a small session: a quarter of its
 * bandwidth): the lower the rate, the more hangs on the feedback that raises it again. That is
 * 7.5 kb/s of RTCP for the whole group, however many receivers it has.
 */
#pragma once

#include "mccrng.h"
#include "mcctime.h"

#define MCC_RTCP_FRACTION 0.05       /* RFC 3550 6.2 */
#define MCC_RTCP_RECEIVER_SHARE 0.75 /* RFC 3550 6.2 */
#define MCC_RTCP_REGULAR_SHARE 0.2   /* ours: rtpsession's part */
#define MCC_RTCP_LIMITING_SHARE 0.25 /* ours, enhanced: the limiting receiver's part */
#define MCC_RTCP_FLOOR_BPS 150000    /* ours: the papers' start rate */
#define MCC_RTCP_FLOOR_SHARE 4       /* ... and at most this part of the session bandwidth */
/* The smallest session bandwidth that has the whole of that. */
#define MCC_RTCP_FLOOR_SESSION_BPS (MCC_RTCP_FLOOR_SHARE * MCC_RTCP_FLOOR_BPS)
#define MCC_RTCP_MIN_INTERVAL (100 * MCC_MSECOND)
#define MCC_RTCP_COMPENSATION 1.21828 /* e - 3/2, RFC 3550 6.3.1 */

/* What 5 % of is RTCP's. */
uint64_t mcc_rtcp_base_bps (uint64_t target_bps, uint64_t session_bps);
/* Deterministic interval Td for @members sending compounds of @compound_bytes (IP bytes) within
 * @share (0..1) of the RTCP bandwidth; >= MCC_RTCP_MIN_INTERVAL. */
MccTime mcc_rtcp_interval (uint64_t target_bps, uint64_t session_bps, double share,
    unsigned members, double compound_bytes);
/* As which an RTP stack that knows of two members, itself and the sender, is to take @base_bps: so
 * that its interval is that of one of @receivers beside a sender.
 *
 *   base x min (2 / (receivers + 1), 2 MCC_RTCP_RECEIVER_SHARE / receivers)
 *
 * (RFC 3550 6.2.1: as long as a quarter of all are senders, all share alike.) */
double mcc_rtcp_known_bps (uint64_t base_bps, unsigned receivers);
/* Td x U(0.5, 1.5) / compensation, never below MCC_RTCP_MIN_INTERVAL. */
MccTime mcc_rtcp_randomize (MccRng *rng, MccTime interval);

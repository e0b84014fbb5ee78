/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrtt: the receiver's round-trip time, in both forms.
 *
 * published (ASMP eq. 6-11, synchronised clocks): a = RTT_eff / T_oneway - 1 at each RTT_eff, then
 *   per packet RTT_inst = (1 + a) T_oneway; RTT = beta RTT_inst + (1 - beta) RTT, beta 0.5.
 * enhanced (clock-free): RTT_inst = RTT_eff + (transit now - transit of the packet or report that
 *   the sender's measurement echoed), modulo 64 s, never below the floor. Below -0.1 s it
 *   is no path's: a clock has jumped (that of a suspended host stands still), and the RTT goes on
 *   from where it was. The last 8 references are kept. An RTT_eff older than 60 s is stale:
 *   `measured` stays, `stale` turns true, and no sample is below the least one until then and what
 * clocks may be apart. Behind a stop after which transits began anew (mccjitter.h) they may be of a
 * queue that drains: until the next RTT_eff a transit below all since then makes the RTT no
 * shorter.
 *
 * Before the first RTT_eff: 500 ms (RFC 4654), measured = false; or a neighbour's
 * (mccneighbours.h), which counts as measured.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_RTT_INITIAL (500 * MCC_MSECOND)
#define MCC_RTT_FLOOR (1 * MCC_MSECOND)
#define MCC_RTT_MAX (10 * MCC_SECOND) /* larger samples are errors, not paths */
#define MCC_RTT_STALE (60 * MCC_SECOND)
#define MCC_RTT_REFERENCES 8

typedef enum { MCC_RTT_PUBLISHED, MCC_RTT_ENHANCED } MccRttForm;

typedef struct {
  MccRttForm form;
  bool measured;
  bool borrowed;                  /* enhanced: ... of another receiver's report */
  double rtt_s;                   /* smoothed */
  double ratio;                   /* published: 1 + a */
  MccTimeDelta transit;           /* of the newest packet */
  MccTime effective;              /* newest RTT_eff */
  uint32_t effective_id;          /* the report it was measured from */
  MccTime effective_time;         /* when it came */
  MccTimeDelta effective_transit; /* enhanced: transit of the reference it echoed */
  double least_s;  /* enhanced: the least sample since then, while it was not stale */
  bool unanchored; /* enhanced: transits began anew since then */
  struct {
    uint32_t id; /* report number this transit belongs to */
    MccTimeDelta transit;
  } reference[MCC_RTT_REFERENCES];
  unsigned references; /* ever added */
} MccRtt;

void mcc_rtt_init (MccRtt *self, MccRttForm form);
/* Our report @id left now, echoing a packet whose transit (mccjitter.h) was @transit. */
void mcc_rtt_add_reference (MccRtt *self, uint32_t id, MccTimeDelta transit);
/* The sender measured @rtt_eff from our report @id. Returns false, and changes nothing, when the
 * value is out of (0, MCC_RTT_MAX], the id is not among the last references or not newer than the
 * one in use (lists are repeated), or (published) the newest one-way delay is not positive. */
bool mcc_rtt_handle_effective (MccRtt *self, MccTime rtt_eff, uint32_t id, MccTime now);
/* enhanced: until the sender measures ours, @rtt_eff is about what it would: it belongs to the
 * transit @transit. False: ours is known, or the value is out of (0, MCC_RTT_MAX]. */
bool mcc_rtt_borrow (MccRtt *self, MccTime rtt_eff, MccTimeDelta transit, MccTime now);
/* Transits begin anew, with @transit. */
void mcc_rtt_lose_anchor (MccRtt *self, MccTimeDelta transit);
/* A packet arrived: @transit relative (enhanced) or the absolute one-way delay (published). */
void mcc_rtt_handle_packet (MccRtt *self, MccTimeDelta transit, MccTime now);
bool mcc_rtt_stale (const MccRtt *self, MccTime now);
static inline MccTime
mcc_rtt_get (const MccRtt *self)
{
  return mcc_time_from_seconds (self->rtt_s);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmppath: what an ASMP receiver measures on the path from its sender: loss, RTT, jitter,
 * standing queue, received rate.
 *
 * Laws: packets that our own socket dropped, gaps of an outage and jumps of the sequence space are
 * no network loss (mccnumbering.h). Marks (mccecn.h) count as losses do, with `enhanced` alone;
 * where the path turns out to be broken the loss history begins anew. Constant cost a packet.
 */
#pragma once

#include "mccapp.h"
#include "mcccapacity.h"
#include "mcccarried.h"
#include "mcccongestion.h"
#include "mccecn.h"
#include "mccjitter.h"
#include "mccloss.h"
#include "mccmeter.h"
#include "mccneighbours.h"
#include "mccnumbering.h"
#include "mccoverflow.h"
#include "mccpairs.h"
#include "mccqueue.h"
#include "mccrate.h"
#include "mccrtt.h"
#include "mccslump.h"
#include "mccstandstill.h"
#include "mcctransmission.h"

typedef struct {
  MccVariant variant;
  MccTime paired; /* packets so far apart the sender pairs (mccpairs.h); 0: none */
  MccLoss *loss;
  MccNumbering numbering;
  MccTime event_before; /* last loss event of the stream before; MCC_TIME_NONE: none */
  MccTime excuse_until; /* gaps are no network loss before */
  MccJitter jitter;
  MccQueue queue;
  MccTransmission transmission;
  MccRtt rtt;
  MccEcnJudge ecn;
  MccCongestion congestion;
  MccNeighbours neighbours;
  MccMeter fast, slow;
  MccCapacity capacity;
  MccPairs pairs;
  MccCarried carried;
  MccSlump slump;
  MccOverflow overflow;
  uint64_t newest; /* number in the loss measure's space */
  MccTime queue_newest;
  MccTime queue_max;
  MccStandstill standstill;
  MccTime stood_still;     /* since the last decision that knew a rate, at most */
  MccTime queue_min;       /* since the last decision; MCC_TIME_NONE without a packet */
  MccTime standing;        /* queue of the last decision interval */
  uint32_t decided_send;   /* of the newest packet at the last decision */
  MccTime decided_arrival; /* ... and when it came */
  uint64_t decided_bytes;  /* that came since */
  uint64_t lost_before;    /* packets lost at the last decision */
  uint64_t marked_before;
  struct {
    uint64_t arrived, lost, marked;
  } forgotten;     /* packets, as of mcc_asmp_path_forget_losses() */
  uint64_t events; /* loss events known */
  bool seeded;
  bool met_queue;
  /* What is announced. */
  unsigned receivers;
  bool limited;           /* another one limits */
  uint64_t seed_after;    /* loss events that were none */
  uint64_t judged_events; /* looked at for a change */
  MccTime arrival;        /* of the newest packet, in the socket */
  /* What a report echoes. */
  bool has_echo;
  uint32_t echo;
  MccTime echo_time;
  MccTime absent_until;
  MccTimeDelta echo_transit;
} MccAsmpPath;

/* Takes @loss (may be NULL: init then reports false). */
bool mcc_asmp_path_init (MccAsmpPath *self, MccVariant variant, MccLoss *loss);
void mcc_asmp_path_clear (MccAsmpPath *self);
/* Packets so far apart, and more, may come in pairs (mccpairs.h); 0: as before, none do. */
void mcc_asmp_path_expect_pairs (MccAsmpPath *self, MccTime apart);
/* Another sender: everything from the start; *self keeps its loss measure, emptied. */
void mcc_asmp_path_reset (MccAsmpPath *self);
/* Another stream of the same sender follows, over the same path: its numbers go on where the old
 * ones ended, what arrived before is no rate of it; RTT, queue and losses stay. */
void mcc_asmp_path_splice (MccAsmpPath *self);
/* Of what the next decision is made: from that packet on. */
void mcc_asmp_path_begin_interval (MccAsmpPath *self, uint32_t send_time, MccTime arrival);
/* No loss is known any more. */
void mcc_asmp_path_forget_losses (MccAsmpPath *self);
/* Packets that arrived since then. */
static inline uint64_t
mcc_asmp_path_arrived (const MccAsmpPath *self)
{
  return mcc_loss_packets_received (self->loss) - self->forgotten.arrived;
}
/* Gaps before @until are not the network's. */
void mcc_asmp_path_excuse_losses (MccAsmpPath *self, MccTime until);
/* False: not in the sequence (a jump not yet confirmed), nothing was measured. What a packet waited
 * in the socket is our host's, no queue of the path's. */
bool mcc_asmp_path_handle_packet (MccAsmpPath *self, const MccRtpPacket *packet, MccTime now);
void mcc_asmp_path_handle_host_dropped (MccAsmpPath *self, uint64_t packets, MccTime now);
/* The sender says whether it sends ECT. */
void mcc_asmp_path_handle_ect (MccAsmpPath *self, bool ect);
/* The part of the loss ratio that is losses, without marks. */
double mcc_asmp_path_lost_ratio (const MccAsmpPath *self);
/* ... that a full queue dropped (mccoverflow.h), 0..1. */
double mcc_asmp_path_overflow_share (const MccAsmpPath *self);
/* A stamped announcement came. */
void mcc_asmp_path_handle_announcement (MccAsmpPath *self, uint32_t send_time, MccTime now);
/* We were absent until @now: the received rate is measured anew, and for a while no announcement is
 * echoed, since it may have waited in our socket. */
void mcc_asmp_path_excuse (MccAsmpPath *self, MccTime now);
/* Our report @number leaves, echoing. */
void mcc_asmp_path_handle_report (MccAsmpPath *self, uint32_t number);
/* Another receiver's report; and what the sender measured from one. */
void mcc_asmp_path_hear_report (
    MccAsmpPath *self, uint32_t ssrc, const MccAppReport *report, MccTime now);
void mcc_asmp_path_hear_rtt (MccAsmpPath *self, const MccAppRtt *entry, MccTime now);
/* So many receivers are announced, and whether another one limits. Where one does a newcomer's
 * losses count as if it had met before what the rate that arrives allows (enhanced; ours). */
void mcc_asmp_path_handle_group (MccAsmpPath *self, unsigned receivers, bool limited);
/* @history: loss intervals of one alone. The lowest of many estimates is lower than any receiver's
 * rate, the more the shorter their history: where losses are each receiver's own, and no queue's
 * that all share, many remember up to MCC_LOSS_HISTORY_MAX, once so many were met (enhanced;
 * ours). */
void mcc_asmp_path_fit_history (MccAsmpPath *self, unsigned history);
/* Before the RTT is measured: what a newcomer to others has lost is no more than chance. */
bool mcc_asmp_path_is_expecting (const MccAsmpPath *self);
/* Others have come to a link that was ours alone, where no fair share is above @share_bps: where
 * that raises the loss ratio, one interval gives @share_bps, or what arrives, if more, at 3/4 of
 * the RTT of the longest queue lately (TCP's sawtooth), in place of all before (enhanced; ours). */
void mcc_asmp_path_meet_rivals (MccAsmpPath *self, const MccRateInput *input, uint64_t share_bps);
/* Fills in what the path knows; ends the decision interval. */
void mcc_asmp_path_decide (MccAsmpPath *self, MccRateInput *input, MccTime now);
/* Whether a loss event has begun since the last call. */
bool mcc_asmp_path_poll_loss_event (MccAsmpPath *self);
uint64_t mcc_asmp_path_received_bps (const MccAsmpPath *self, MccTime now);
/* RTT without the standing queue: what a reaction takes once the queue is gone. */
MccTime mcc_asmp_path_base_rtt (const MccAsmpPath *self);

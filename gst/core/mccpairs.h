/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccpairs: two packets that leave together now and then, and what they prove (`enhanced`).
 *
 * Where packets are so far apart that none waits for another nothing shows what the link carries:
 * one of our rate looks like a faster one that others fill. Two that come to the bottleneck
 * together leave it as far apart as it takes to send the second, whoever else is there (packet
 * pairs: Keshav, SIGCOMM 1991; Dovrolis et al., INFOCOM 2001). They are packets of the stream:
 * nothing more is sent.
 *
 * Laws: at most the bottleneck's capacity, but for host jitter beyond MCC_PAIRS_JITTER, and of that
 * the median counts; only where the first one waited in a queue, for a token bucket that is not
 * empty lets two through at once; forgets after MCC_PAIRS_SPAN; constant memory and cost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

/* All ours. */
#define MCC_PAIRS_PERIOD MCC_SECOND
#define MCC_PAIRS_ASKED (8 * MCC_SECOND)   /* a report's asking lasts so long */
#define MCC_PAIRS_APART (12 * MCC_MSECOND) /* packets that are closer show more by themselves */
/* ... of a sender of several streams (ASSP): which one to take hangs on what the link carries. */
#define MCC_PAIRS_CLOSE (3 * MCC_MSECOND)
#define MCC_PAIRS_TOGETHER MCC_MSECOND /* sent within that */
#define MCC_PAIRS_QUEUE (3 * MCC_MSECOND)
#define MCC_PAIRS_JITTER MCC_MSECOND
#define MCC_PAIRS_LEAST 3 /* of MCC_PAIRS_SPAN */
#define MCC_PAIRS_KEPT 8
#define MCC_PAIRS_SPAN (8 * MCC_SECOND)

/* At the sender, of packets of @bytes at @bps, bit/s: whether the next one shall leave with the one
 * behind it. Those that are @apart and more do. @last: when two did; MCC_TIME_NONE: never. */
bool mcc_pairs_due (MccTime last, MccTime apart, uint32_t bytes, uint64_t bps, MccTime now);

/* At a receiver. */
typedef struct {
  MccTime apart; /* of the sender's */
  bool started;
  uint64_t number;   /* of the newest packet */
  double mean_apart; /* ns, smoothed */
  MccTime first;     /* the newest packet came, and may be a pair's first; MCC_TIME_NONE: is none */
  struct {
    MccTime time;
    uint64_t bps, most_bps; /* with the jitter on either side */
  } proof[MCC_PAIRS_KEPT];
  uint64_t proofs; /* ever */
} MccPairs;

/* @apart: as the sender has it. */
void mcc_pairs_init (MccPairs *self, MccTime apart);
/* Packet @number of @bytes came at @arrival, sent @apart behind the one that came before it, which
 * waited @queue. */
void mcc_pairs_handle_packet (MccPairs *self, uint64_t number, uint32_t bytes, MccTimeDelta apart,
    MccTime queue, MccTime arrival);
/* Bit/s, of pairs that came after @since: what the link carries at least; 0: too few. */
uint64_t mcc_pairs_proven_bps (const MccPairs *self, MccTime since, MccTime now);
/* ... and at most, but for others' packets between the two; UINT64_MAX: too few. */
uint64_t mcc_pairs_most_bps (const MccPairs *self, MccTime since, MccTime now);

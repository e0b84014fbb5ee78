/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasspladder: how many streams, and with which bounds, so that receivers get the most (ASSP
 * leaves that open: all of this is ours).
 *
 * A stream runs at the least rate of those in it, so with the receivers' rates r_1 <= r_2 <= ... a
 * ladder is a partition into runs, and what all get together is the sum over the runs of (receivers
 * in it) x (least rate in it). Laws:
 *  - The plan is the best partition into at most max_streams runs, exactly, of
 * MCC_ASSP_LADDER_BUCKETS geometric buckets from low to high, each standing at its least rate;
 * least rates of neighbours are at least MCC_ASSP_LADDER_STEP apart. Of plans nearly as good the
 * one with fewest streams.
 *  - The ladder changes when the plan gives MCC_ASSP_LADDER_GAIN more than the present ladder would
 *    with the same receivers, at each decision of MCC_ASSP_LADDER_PATIENCE, and not within
 *    MCC_ASSP_LADDER_REST of a change (a great gain: .._REST_GREAT). Not while many receivers are
 * on their way. Where the gain hangs on a guess it must be MCC_ASSP_LADDER_GAIN_GUESS; where nobody
 * has to leave its stream, MCC_ASSP_LADDER_GAIN_EASY of the mean rate or of the receivers' own (the
 * geometric mean: what slow ones gain is hardly seen in the mean).
 *  - A run gets the stream that most of its receivers are in (all together: as many as possible
 * stay where they are), else one that is empty. Streams without a run are closed.
 *  - A stream that is gone gets no run.
 *  - The overall bounds stay: the lowest open one begins at low, the highest ends at high.
 *  - Between neighbours the bound stands so that who belongs above goes up (lambda, eq. 10) and who
 *    does not stays.
 */
#pragma once

#include "mccasspapp.h"

#define MCC_ASSP_LADDER_BUCKETS 128
#define MCC_ASSP_LADDER_STEP 1.26
#define MCC_ASSP_LADDER_GAIN 0.05
#define MCC_ASSP_LADDER_GAIN_EASY 0.015               /* where nobody has to leave its stream */
#define MCC_ASSP_LADDER_GAIN_GUESS 0.2                /* where the highest rate is a guess */
#define MCC_ASSP_LADDER_GUESS_REST (300 * MCC_SECOND) /* after such a change; doubles, to ... */
#define MCC_ASSP_LADDER_GUESS_REST_MAX (1200 * MCC_SECOND)
#define MCC_ASSP_LADDER_GREAT 0.1
#define MCC_ASSP_LADDER_PATIENCE (9 * MCC_SECOND) /* three decisions at one a round of 5 s */
#define MCC_ASSP_LADDER_REST (60 * MCC_SECOND)
#define MCC_ASSP_LADDER_REST_GREAT (20 * MCC_SECOND)

typedef struct {
  uint32_t count;
  uint32_t sure; /* of them: by measurement */
  uint32_t in[MCC_ASSP_STREAMS_MAX];
  uint64_t least_bps, most_bps;
} MccAsspLadderBucket;

typedef struct {
  uint64_t low_bps, high_bps;
  unsigned max_streams;
  uint32_t gone; /* bits: streams that must not be used */
  double lambda, beta;
  /* What receivers could take now. */
  MccAsspLadderBucket bucket[2][MCC_ASSP_LADDER_BUCKETS]; /* guesses as such; as what is sure */
  uint32_t count, unsettled;
  /* What was decided. */
  MccTime changed;                      /* or begun */
  MccTime guess_not_before, guess_rest; /* no change for a guess before */
  MccTime better_since;                 /* the plan has been better; MCC_TIME_NONE: it is not */
  double now_bps, plan_bps;             /* of the last decision: means over receivers */
} MccAsspLadder;

void mcc_assp_ladder_init (
    MccAsspLadder *self, uint64_t low_bps, uint64_t high_bps, unsigned max_streams, MccTime now);
/* @stream has ended, or goes on after all. One must be left. */
void mcc_assp_ladder_set_gone (MccAsspLadder *self, unsigned stream, bool gone);
/* Forgets what receivers could take. */
void mcc_assp_ladder_clear (MccAsspLadder *self);
/* A receiver in @stream could take @bps; where that is a guess, @sure_bps at least. */
void mcc_assp_ladder_add (MccAsspLadder *self, unsigned stream, uint64_t bps, uint64_t sure_bps);
/* A receiver that is on its way, or says nothing yet. */
void mcc_assp_ladder_add_unsettled (MccAsspLadder *self);
/* True: *streams has got other bounds or other open streams (not yet another `ladder`). */
bool mcc_assp_ladder_decide (MccAsspLadder *self, MccAsspStreams *streams, MccTime now);
/* @count streams in equal ratios from @low_bps to @high_bps: bounds only. */
void mcc_assp_ladder_even (
    MccAsspStreams *streams, unsigned count, uint64_t low_bps, uint64_t high_bps);

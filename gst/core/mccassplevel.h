/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccassplevel: which stream an ASSP receiver should be in (ASSP eq. 7-10).
 *
 *   published, once a round:  up    avg_rx > beta avg_tx_{j+1}  and  avg_rx > lambda low_{j+1}
 *                             down  avg_rx < kappa low_j
 *     avg_rx = (1 - alpha) avg_rx + alpha (mean rate of the round)            (eq. 8)
 *   enhanced, up: the same once a round, with what the path may carry (potential) in place of the
 *     rate, sampled each second, of up to 16 receivers without the weight that eq. 8 gives the
 *     first value, and these laws:
 *      - Two ups into one stream are MCC_ASSP_UP_SPACING apart, so that a rate at a bound changes
 *        streams at most once a minute. From the second up in a row that failed on (down again, or
 *        not arrived, within MCC_ASSP_UP_PROOF) that doubles, to MCC_ASSP_UP_SPACING_MAX.
 *      - Not within MCC_ASSP_UP_REST after a change; less the mean deviation: a rate that swings
 * says little.
 *      - Where few are in the next stream it need not lose more than we win: beta' = min (beta, (n
 * + avg_tx_j / avg_tx_{j+1}) / (n + 1)) with n receivers there.
 *      - What failed is tried again at once where it asks for MCC_ASSP_UP_EASIER of that.
 *      - In a large group not for 30 s after a queue that stood and is gone (mccasspreceiver.c).
 *   enhanced, down: nothing is asked of the rate for MCC_ASSP_ARRIVES_TIME while nearly all
 * arrives: a rival may yield, and no picture suffers. Else at once, to the highest stream whose
 * lower bound the rate reaches, when the rate was below low_j for MCC_ASSP_BELOW_TIME, or below
 * kappa low_j for MCC_ASSP_DEEP_TIME, or below MCC_ASSP_FALL low_j for MCC_ASSP_FALL_TIME (after a
 * slump of the link, which has been seen to fill its queue: MCC_ASSP_SLUMP_TIME). Who came up needs
 * beta avg_tx_j for a while, else it would take the stream from those in it. Never below the
 * lowest, never above the highest; up by one. A round number counts once, and the first one heard
 * not at all: its beginning was missed. No average over a pause.
 */
#pragma once

#include "mccasspapp.h"

#define MCC_ASSP_UP_SPACING (120 * MCC_SECOND) /* ours, as all here */
#define MCC_ASSP_UP_SPACING_MAX (960 * MCC_SECOND)
#define MCC_ASSP_UP_PROOF (60 * MCC_SECOND)
#define MCC_ASSP_UP_REST (4 * MCC_SECOND)
#define MCC_ASSP_UP_EASIER 0.8
#define MCC_ASSP_BELOW_TIME (3 * MCC_SECOND)
#define MCC_ASSP_DEEP_TIME MCC_SECOND
#define MCC_ASSP_FALL 0.6 /* of low_j: the path has changed */
#define MCC_ASSP_FALL_TIME (400 * MCC_MSECOND)
#define MCC_ASSP_SLUMP_TIME (150 * MCC_MSECOND)
#define MCC_ASSP_ARRIVES_TIME (10 * MCC_SECOND)
#define MCC_ASSP_NEWCOMER_TIME (20 * MCC_SECOND)
#define MCC_ASSP_SAMPLE_TIME MCC_SECOND

/* The papers' factors, with their ranges. */
typedef struct {
  double alpha;  /* of avg_rx: 0..1, both excluded */
  double beta;   /* of avg_tx of the next stream: 0.7..1 */
  double kappa;  /* of the lower bound of this stream: 0.8..1 */
  double lambda; /* of the lower bound of the next stream: 1..2 */
} MccAsspFactors;

extern const MccAsspFactors mcc_assp_factors_default; /* 0.3, 0.7, 0.8, 1.2 */
bool mcc_assp_factors_valid (const MccAsspFactors *factors);

typedef struct {
  MccVariant variant;
  MccAsspFactors factors;
  bool has_round;
  uint32_t round;
  /* avg_rx. */
  bool has_average;
  double average_bps, spread_bps; /* mean deviation from it */
  unsigned samples;               /* that it is of */
  bool unbiased;                  /* it is the second of: */
  struct {
    double average_bps, spread_bps;
  } mean[2];             /* by eq. 8; with a first value that weighs no more than others */
  double bits;           /* of the sample in work */
  MccTime since, sample; /* ... begun; newest value; MCC_TIME_NONE: paused */
  double value_bps;
  /* enhanced. */
  MccTime changed; /* newest change of stream; MCC_TIME_NONE: none */
  MccTime below_since, deep_since, fall_since;
  unsigned newcomer;   /* the stream that it has come up to; MCC_ASSP_STREAMS_MAX: none */
  double newcomer_bps; /* ... and what it needs there */
  struct {
    MccTime up, not_before; /* newest up into it; MCC_TIME_NONE, 0: none */
    MccTime heard_until;    /* others' failures do not count again before */
    unsigned failures;      /* in a row */
    double failed_bps;      /* what the newest of them needed */
    uint32_t members;       /* in it, as announced; 0: not known */
  } stream[MCC_ASSP_STREAMS_MAX];
} MccAsspLevel;

/* What is seen of the path just now. */
typedef struct {
  uint64_t rate_bps;
  bool arrives; /* nearly all that is sent */
  bool slumped; /* the link has become slow all of a sudden */
} MccAsspPath;

void mcc_assp_level_init (MccAsspLevel *self, MccVariant variant, const MccAsspFactors *factors);
/* The rate (published) or potential (enhanced) from now on; more than @most counts as that. */
void mcc_assp_level_sample (MccAsspLevel *self, uint64_t bps, uint64_t most, MccTime now);
/* enhanced: whether the first value weighs no more than its age has it. */
void mcc_assp_level_correct_bias (MccAsspLevel *self, bool correct);
/* So many are in @stream. */
void mcc_assp_level_members (MccAsspLevel *self, unsigned stream, uint32_t members);
/* A switch begins: what is measured now is no rate. */
void mcc_assp_level_pause (MccAsspLevel *self);
/* The number of a round that bids to decide: true once each. */
bool mcc_assp_level_new_round (MccAsspLevel *self, uint32_t round);
/* What a receiver of @from needs in @to to stay there (enhanced). */
double mcc_assp_level_needed_bps (
    const MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to);
/* Where to be after this round; @stream: where we are. */
unsigned mcc_assp_level_decide (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned stream, MccTime now);
/* enhanced, at any time: where to be with such a path; never above @stream. */
unsigned mcc_assp_level_watch (MccAsspLevel *self, const MccAsspStreams *streams, unsigned stream,
    const MccAsspPath *path, MccTime now);
/* What @stream needs of who is in it: its lower bound, or more of who came up just now. */
double mcc_assp_level_least_bps (
    const MccAsspLevel *self, const MccAsspStreams *streams, unsigned stream, MccTime now);
/* enhanced: how long the rate has been below is forgotten: it was not the path's. */
void mcc_assp_level_excuse (MccAsspLevel *self);
/* Whether the stream was come up to just now: it may be too much, and the one below was not. */
bool mcc_assp_level_is_newcomer (const MccAsspLevel *self, unsigned stream, MccTime now);
/* The change has been made. */
void mcc_assp_level_moved (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to, MccTime now);
/* Down from @from, of which nothing came any more: that says nothing of the path. */
void mcc_assp_level_deserted (MccAsspLevel *self, unsigned from, MccTime now);
/* The ladder has become another one: what was learned of streams that are others now is void. */
void mcc_assp_level_ladder (
    MccAsspLevel *self, const MccAsspStreams *before, const MccAsspStreams *streams);
/* The change was not an own wish: what the stream had does not bind. */
void mcc_assp_level_settle_in (MccAsspLevel *self);
/* What made us leave @stream is over: neither it nor what is below is waited for any more. */
void mcc_assp_level_forgive (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned stream, MccTime now);
/* Another one's up from our stream @from to @to, over our link, has failed: as one of ours, once
 * before there was time for one. */
void mcc_assp_level_heard_failure (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to, MccTime now);
/* The stream @to, which was joined from @from (MCC_ASSP_STREAMS_MAX: from none), did not come. */
void mcc_assp_level_failed (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to, MccTime now);

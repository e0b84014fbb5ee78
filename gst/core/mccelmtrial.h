/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmtrial: whether the path bears the layers that are joined (enhanced; ours).
 *
 * Looks at windows of at least 1.5 RTT, 300 ms and MCC_ELM_TRIAL_PACKETS packets sent: the fraction
 * lost, the rate that the TCP equation gives for that, the least queue.
 *
 *   too much   a window of a trial (a layer joined less than the trial time ago) that lost at
 *              least 5 %, three standard deviations more than what was lost before (as counts), and
 *              more than X (lost) = B bears; beside others, who made losses before it, two such
 *              windows in a row. Or, alone, a queue that rose in each of three windows, together by
 *              60 ms
 *   overload   two windows in a row that lost at least 10 % each and more than X (lost) = half of
 *              B bears, behind a queue at its top (half of the highest seen, or none that can be
 *              seen)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_ELM_TRIAL_PACKETS 24
#define MCC_ELM_TRIAL_TIME (3 * MCC_SECOND)

typedef enum { MCC_ELM_BEARS, MCC_ELM_TOO_MUCH, MCC_ELM_OVERLOAD } MccElmVerdict;

/* All totals since whenever. */
typedef struct {
  MccTime now, rtt;
  uint64_t received, lost;
  MccTime queue_least; /* since the last call of _look() that ended a window */
  MccTime queue_top;   /* highest of the last 15 to 30 s */
  double packet_bytes;
  double sent_bps; /* B of the level */
  bool alone;      /* no losses were known before the layer was joined */
} MccElmTrialInput;

typedef struct {
  MccTime start;           /* of the window; MCC_TIME_NONE: none yet */
  uint64_t received, lost; /* at its start */
  MccTime trial_until;     /* 0: no trial */
  double before;           /* fraction lost, smoothed, while there was no trial */
  unsigned windows;        /* of that */
  double fraction;         /* of the last window */
  unsigned heavy;          /* windows in a row that were far too much */
  unsigned rising, unusual;
  MccTime queue, queue_first;
} MccElmTrial;

void mcc_elm_trial_init (MccElmTrial *self);
/* A layer has just arrived. */
void mcc_elm_trial_begin (MccElmTrial *self, MccTime now);
/* What is lost now is not the path's: begin anew. */
void mcc_elm_trial_pause (MccElmTrial *self);
/* The same, but a trial is not over for it: it goes on @passed later. */
void mcc_elm_trial_shift (MccElmTrial *self, MccTime passed, MccTime now);
bool mcc_elm_trial_active (const MccElmTrial *self, MccTime now);
/* Whether @lost of @sent packets are three standard deviations more than what was lost before. */
bool mcc_elm_trial_is_unusual (const MccElmTrial *self, uint64_t lost, uint64_t sent);
/* *@ended: a window ended. */
MccElmVerdict mcc_elm_trial_look (MccElmTrial *self, const MccElmTrialInput *input, bool *ended);

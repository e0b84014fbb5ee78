/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcccompany: what a receiver that joins states, beside those who have long been behind the same
 * queue (ours; no paper).
 *
 * Who joins a stream that others limit knows nothing of the queue that it finds: whose it is takes
 * seconds to tell, and a loss event or two are no loss ratio. Careful meanwhile, it would hold all
 * others at what is sent when it comes. Those behind the same queue (mccneighbours) know better.
 * Laws:
 *  - While it is new, and about all that is sent arrives, it states the lowest rate of those behind
 *    its queue if its own is lower, but no more than twice what it receives.
 *  - Not while its own queue is longer than theirs; and never again once that is far longer, or
 *    more is lost than they lose: then another link limits it.
 *  - Only who was there long before us is heard (the caller sees to that, by the reports' numbers).
 *  - Who was there before anybody limited does not join: two that begin together know equally
 *    little, and would raise each other.
 * Its own rate, and all that is concluded from it, stay as they are. Constant memory and cost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mccapp.h"
#include "mcctime.h"

#define MCC_COMPANY_VOICES 4
#define MCC_COMPANY_TIME (6 * MCC_SECOND) /* from the first decision on it is new; ours */

typedef struct {
  bool joins;
  MccTime since;                  /* first decision; MCC_TIME_NONE: not yet */
  uint64_t packets, packets_lost; /* at the last one, ever */
  double lost, expected;          /* packets since there is company; had we lost what it loses */
  struct {
    bool any;
    uint32_t ssrc;
    uint64_t rate_bps;
    double loss_ratio;
    MccTime queue, time;
  } voice[MCC_COMPANY_VOICES];
} MccCompany;

/* A decision. */
typedef struct {
  MccTime now;
  uint64_t rate_bps;     /* own */
  uint64_t received_bps; /* lately */
  uint64_t target_bps;   /* announced */
  MccTime queue;         /* own standing queue */
  uint64_t packets;      /* received, ever */
  uint64_t packets_lost; /* ... a late one is taken back */
} MccCompanyInput;

/* No company. */
void mcc_company_init (MccCompany *self);
/* Joins a stream that somebody else limits. */
void mcc_company_join (MccCompany *self);
/* @report of @ssrc, who is behind the same queue. The MCC_COMPANY_VOICES of the lowest rates are
 * kept. */
void mcc_company_hear (MccCompany *self, uint32_t ssrc, const MccAppReport *report, MccTime now);
/* What to state, at each decision: rate_bps or more. */
uint64_t mcc_company_rate_bps (MccCompany *self, const MccCompanyInput *input);

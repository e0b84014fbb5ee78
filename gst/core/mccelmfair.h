/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmfair: what a TCP flow would get on this path (enhanced; ours).
 *
 * X of the thesis takes the losses that a flow at level B meets for those that TCP meets. They are
 * not: a burst of drops in a full queue hits a fast flow surely and a slow one now and then. And a
 * mean over the last events is either too short to be steady or too long to be quick. So:
 *
 *   state      p, the loss event ratio that a flow at its own fair rate F = TCP (p, RTT) meets
 *   seen       at rate B a loss event a packet with the ratio
 *                q (p) = p G,  G = h (n) / h (n F / B),  h (y) = (1 - exp (-y)) / y
 *              n: the losses that a burst holds for us, from the mean number of losses of an event,
 *              m = n / (1 - exp (-n)). Losses one at a time (m = 1, random ones): q = p, whatever
 *              the rate; bursts that hit everybody: q = p F / B.
 *   memory     probabilities of 96 values of p; each look multiplies them by the likelihood of
 *              what was seen since (Poisson; losses / m for events, since bursts are larger where
 *              more flows overflow a queue, to the power of mean (losses) / mean (losses^2) of an
 *              event, since losses of one burst are one observation), and mixes in what else the
 *              path may have become, at a rate of 1 / MCC_ELM_FAIR_CHANGE: half what it was for
 *              long, half what is near to what it is
 *   X          the median of F; other quantiles say how sure that is
 *
 * So a steady path is averaged over a long time, a change is believed as soon as the evidence is
 * strong, and a path that is again as it was is soon known again. What is seen while not
 * `measuring` (another's trial, a leave not over) does not count.
 */
#pragma once

#include "mcctime.h"

#include <stdbool.h>

#define MCC_ELM_FAIR_VALUES 96
#define MCC_ELM_FAIR_CHANGE (30 * MCC_SECOND)

typedef struct {
  MccTime now;
  bool measuring;
  uint64_t received, lost, events; /* so far */
  double packet_bytes;             /* 0: not known */
  double sent_bps;                 /* B of our level */
  double rtt_s;
} MccElmFairInput;

typedef struct {
  bool started;
  MccTime looked;
  uint64_t received, lost, events;          /* at the last look */
  double losses, squares, bursts, rate_sum; /* of the last events, older ones count less */
  double burst;                             /* losses of the newest event */
  double rtt_s, packet_bytes;               /* smoothed; of the last look */
  double chance[MCC_ELM_FAIR_VALUES];       /* of each p; sum 1 */
  double habit[MCC_ELM_FAIR_VALUES];        /* the mean of `chance` over long */
  double ratio[MCC_ELM_FAIR_VALUES];        /* p */
  uint64_t events_used;
} MccElmFair;

void mcc_elm_fair_init (MccElmFair *self);
void mcc_elm_fair_look (MccElmFair *self, const MccElmFairInput *input);
/* F is at least that much, bit/s, with this probability (0..1); INFINITY when nothing was seen. */
double mcc_elm_fair_at_least (const MccElmFair *self, double probability);
/* What was seen lately is our own doing: as it was for long. */
void mcc_elm_fair_recall (MccElmFair *self);
/* A join of level @bps has failed: F is hardly as high. */
void mcc_elm_fair_cap (MccElmFair *self, double bps);
/* X in bit/s; INFINITY before the first loss. */
double mcc_elm_fair_get (const MccElmFair *self);

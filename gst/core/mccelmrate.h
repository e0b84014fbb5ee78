/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmrate: ELM's calculated rate and its smoothing.
 *
 *   X = TCP model (mcctcp.h) with t_RTT = q t_RTT + (1 - q) sample, q = 0.9 (eq. 5), and
 *   t_RTO = 4 x the newest sample (eq. 6); no loss: INFINITY
 *
 * smoothed over the last k = 128 values, one a packet: mean of the 20th and the 80th percentile
 * (eq. 24), or EWMA with alpha = 0.1 (eq. 22). INFINITY counts as the highest value.
 */
#pragma once

#include "mcctime.h"

#include <stdbool.h>

#define MCC_ELM_RATE_HISTORY 128 /* k */

typedef enum {
  MCC_ELM_SMOOTH_PERCENTILES,
  MCC_ELM_SMOOTH_EWMA,
  MCC_ELM_SMOOTH_NONE
} MccElmSmoothing;

typedef struct {
  MccElmSmoothing smoothing;
  bool measured; /* an RTT sample came */
  double rtt_s, sample_s;
  double average_bps;
  unsigned count, newest;
  double value[MCC_ELM_RATE_HISTORY];  /* ring, in order of time */
  double sorted[MCC_ELM_RATE_HISTORY]; /* the same, rising */
} MccElmRate;

void mcc_elm_rate_init (MccElmRate *self, MccElmSmoothing smoothing);
void mcc_elm_rate_handle_rtt (MccElmRate *self, MccTime sample);
/* X in bit/s; @packet_bytes > 0. */
double mcc_elm_rate_calculate (const MccElmRate *self, double packet_bytes, double loss_ratio);
void mcc_elm_rate_add (MccElmRate *self, double bps);
/* What was added so far no longer counts. */
void mcc_elm_rate_forget (MccElmRate *self);
/* Smoothed; INFINITY before the first value. */
double mcc_elm_rate_get (const MccElmRate *self);

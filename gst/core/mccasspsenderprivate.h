/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasspsenderprivate: the sender's state, for mccasspsender*.c only.
 *
 *   mccasspsender.c        what comes, when: handle, next_timeout, poll
 *   mccasspsenderladder.c  which streams there are
 */
#pragma once

#include "mccasspladder.h"
#include "mccasspsender.h"

typedef struct {
  MccAsmpSender *asmp;
  double bits;   /* tx over this round so far */
  bool occupied; /* as of the last look */
  bool told_occupied;
  bool lost; /* has no feedback */
  bool told_bounds;
  /* Its lower bound has risen: those who do not bear it are leaving. */
  bool spared;
  uint64_t spared_bps;
  MccTime spared_until;
} MccAsspSenderStream;

struct MccAsspSender {
  MccAsspSenderConfig config;
  MccTime now;
  MccAsspSenderStream stream[MCC_ASSP_STREAMS_MAX];
  MccAsspStreams streams; /* as announced */
  MccTime round_start;
  uint64_t rtcp_bps;    /* what all streams share, as last distributed */
  bool lost, told_lost; /* no stream has feedback */
  bool live;            /* the ladder changes */
  MccAsspLadder ladder;
};

/* mccasspsender.c */
void mcc_assp_sender_apply_bounds (MccAsspSender *self, unsigned j);

/* mccasspsenderladder.c */
void mcc_assp_sender_init_ladder (MccAsspSender *self);
/* Averages and round number are new: is it time for other streams? */
void mcc_assp_sender_end_round (MccAsspSender *self);
/* The user has set bounds. */
void mcc_assp_sender_bounds_set (MccAsspSender *self);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasspsenderprivate: the sender's state, for mccasspsender*.c only.
 *
 *   mccasspsender.c        what comes, when: handle, next_timeout, poll
 *   mccasspsenderrtcp.c    what RTCP each stream has, what announcements tell, and since when
 *   mccasspsenderladder.c  which streams there are, and when one ends
 *   mccasspsenderfloor.c   how low a stream may go
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
  bool ended, closed; /* closed: for that reason */
  bool rests;         /* the host has said that it does not run */
  MccTime close_at;   /* of one that has ended */
  /* Its lower bound has risen: those who do not bear it are leaving. */
  bool spared;
  uint64_t spared_bps;
  MccTime spared_until;
  bool sinks;          /* nobody in it bears nearly its lower bound */
  MccTime tried;       /* when somebody of it went up, newest; MCC_TIME_NONE: never */
  MccTime moved;       /* when somebody of it was heard in another, newest; MCC_TIME_NONE: never */
  MccTime left;        /* when somebody of it said so, newest; MCC_TIME_NONE: never */
  MccTime quiet_until; /* they have left, the network may not know yet; MCC_TIME_NONE: no */
} MccAsspSenderStream;

/* What receivers said they could take, for when they say nothing of use: as many as this, the
 * newest of those that fall on a place. */
#define MCC_ASSP_SENDER_SAID 1024

typedef struct {
  uint32_t ssrc;
  uint64_t bps; /* 0: nothing yet */
  MccTime time;
  unsigned stream;   /* where it last said "any rate" ... */
  MccTime any_since; /* ... since; MCC_TIME_NONE: it says something else */
} MccAsspSenderSaid;

struct MccAsspSender {
  MccAsspSenderConfig config;
  MccTime now;
  MccAsspSenderStream stream[MCC_ASSP_STREAMS_MAX];
  MccAsspStreams streams; /* as announced */
  MccTime round_start;
  uint64_t rtcp_bps;    /* what all streams share, as last distributed */
  bool lost, told_lost; /* no stream has feedback */
  bool announces;       /* all SSRCs are known, or were waited for */
  MccTime ssrcs_until;  /* so long they are; MCC_TIME_NONE: none is known yet, or it announces */
  bool live;            /* the ladder changes */
  MccAsspLadder ladder;
  MccAsspSenderSaid said[MCC_ASSP_SENDER_SAID];
};

static inline uint64_t
mcc_assp_sender_limit_rate (uint64_t bps)
{
  return bps > MCC_APP_RATE_MAX ? MCC_APP_RATE_MAX : bps;
}

/* Has begun and has not ended. */
static inline bool
mcc_assp_sender_speaks (const MccAsspSender *self, unsigned j)
{
  return self->streams.stream[j].ssrc != 0 && !self->stream[j].ended;
}

/* mccasspsenderrtcp.c */
/* The lowest stream that is heard tells what concerns all. */
void mcc_assp_sender_announce (MccAsspSender *self);
/* Targets may be others now; @force: who is where, too. */
void mcc_assp_sender_share_rtcp (MccAsspSender *self, bool force);
/* Receivers believe an SSRC that a stream they know has listed. So none is announced, when streams
 * begin together, before all have one, or for 100 ms; and one that comes later another tells of. */
void mcc_assp_sender_init_ssrcs (MccAsspSender *self);
void mcc_assp_sender_note_ssrc (MccAsspSender *self, unsigned j, uint32_t ssrc);
void mcc_assp_sender_await_ssrcs (MccAsspSender *self);
/* Stream @j announces itself by @out: what else that is to tell. */
void mcc_assp_sender_carry_others (MccAsspSender *self, unsigned j, MccAsspSenderAction *out);

/* mccasspsenderfloor.c */
/* What the stream's bounds are now. */
void mcc_assp_sender_apply_bounds (MccAsspSender *self, unsigned j);
/* Who is in it, or what they say, may have changed. */
void mcc_assp_sender_look_at (MccAsspSender *self, unsigned j);
MccTime mcc_assp_sender_floor_next (const MccAsspSender *self, unsigned j);

/* mccasspsenderladder.c */
void mcc_assp_sender_init_ladder (MccAsspSender *self);
/* Averages and round number are new: is it time for other streams? */
void mcc_assp_sender_end_round (MccAsspSender *self);
void mcc_assp_sender_note_ended (MccAsspSender *self, unsigned j, bool ended);
/* Those that have ended, when it is time. */
void mcc_assp_sender_close_ended (MccAsspSender *self);
MccTime mcc_assp_sender_close_next (const MccAsspSender *self, unsigned j);
/* The user has set bounds. */
void mcc_assp_sender_bounds_set (MccAsspSender *self);

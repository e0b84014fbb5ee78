/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccspliceprivate: for mccsplice*.c only.
 *
 *   mccsplice.c      which packet leaves, under which number and timestamp
 *   mccsplicehold.c  what is held of the stream that was joined, and whether its key unit is whole
 *   mccspliceanew.c  whether a stream begins anew
 */
#pragma once

#include "mccseq.h"
#include "mccsplice.h"

#define MCC_SPLICE_FRAMES 8
#define MCC_SPLICE_ACTIONS (MCC_SPLICE_PACKETS + 64)

/* A stream on its way out. */
typedef struct {
  bool used;
  unsigned stream;
  uint32_t ssrc;
  MccSeq seq;
  /* Newest packet that came. */
  bool seen;
  uint16_t seen_seq;
  uint32_t seen_time;
  MccTime seen_at;
  uint64_t sent;        /* newest that has left */
  uint64_t offset;      /* to what leaves */
  uint32_t time_offset; /* ... */
  /* Timestamps near the cut, as they leave. */
  bool fresh, mapped;
  uint32_t key, shown, gap; /* K, M, g */
  /* Of its frames. */
  bool reorders;    /* B frames */
  bool marks;       /* it sets markers at all */
  bool open;        /* the newest frame's end has not come */
  uint64_t came;    /* newest number */
  uint64_t missing; /* of those since the frame before; late ones count off */
  uint32_t newest;
  uint32_t frame[MCC_SPLICE_FRAMES]; /* timestamps as they come */
  unsigned frames;                   /* counts on */
} MccSpliceLine;

typedef struct {
  uint64_t seq;
  MccTime arrival;
  MccSplicePacket packet;
} MccSpliceHeld;

struct MccSplice {
  MccTime now;
  uint32_t clock_rate;
  MccSpliceLine shown, to, last; /* last: what was shown before */
  /* What has left. */
  bool has_out;
  uint64_t out;         /* newest number */
  uint32_t out_time;    /* latest timestamp */
  MccTime out_arrival;  /* of that frame */
  uint32_t time_offset; /* of the stream shown last */
  /* Of the last frame, when its stream was left. */
  bool torn;        /* its end has not come */
  bool holed;       /* nor has that, or another of its packets */
  MccTime leave_at; /* MCC_TIME_NONE: `shown` is not being left */
  /* What is held of `to`, by number. */
  MccSpliceKind kind;
  bool ready;
  MccTime ready_since;
  MccTime shown_at; /* newest packet of what is shown */
  bool has_before;  /* number `before` is freed, of a frame that is not wanted */
  bool before_torn; /* nothing of that frame is */
  uint64_t before;
  uint32_t before_time;
  /* What may be the first packet of a stream that begins anew; one more tells. */
  bool has_odd;
  unsigned odd_stream;
  MccSplicePacket odd;
  uint32_t held_bytes;
  unsigned held_count;
  MccSpliceHeld held[MCC_SPLICE_PACKETS];
  MccSpliceAction action[MCC_SPLICE_ACTIONS];
  unsigned action_head, action_count;
};

void mcc_splice_push (MccSplice *self, const MccSpliceAction *action);
/* Its data: the packet does not leave. */
void mcc_splice_free_packet (MccSplice *self, const MccSplicePacket *packet);

bool mcc_splice_is_of (const MccSpliceLine *line, unsigned stream, uint32_t ssrc);
/* To where it belongs now. */
void mcc_splice_place (MccSplice *self, unsigned stream, const MccSplicePacket *packet);

/* mccspliceanew.c */
/* A packet of @line, which is `to` or `shown`. True: it is kept, or freed. */
bool mcc_splice_watch (MccSplice *self, MccSpliceLine *line, const MccSplicePacket *packet);

/* mccsplicehold.c */
/* Takes a packet of `to`; sets `ready` when a whole key unit begins at held[0]. */
void mcc_splice_hold (MccSplice *self, const MccSplicePacket *packet);
/* Frees all that is held. */
void mcc_splice_hold_clear (MccSplice *self);

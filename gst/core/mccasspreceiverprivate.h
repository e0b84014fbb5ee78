/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasspreceiverprivate: the receiver's state, for mccasspreceiver*.c only.
 *
 *   mccasspreceiver.c        what comes, when: handle, next_timeout, poll
 *   mccasspreceiverswitch.c  from one stream to another
 *   mccasspreceiverothers.c  what others do
 */
#pragma once

#include "mccasspreceiver.h"
#include "mccseq.h"

#define MCC_ASSP_OTHERS 256
#define MCC_ASSP_TRIAL_CREDIT (20 * MCC_SECOND)
#define MCC_ASSP_ACTIONS 64
#define MCC_ASSP_ACTIONS_OWN 16 /* kept free for joins and leaves */

struct MccAsspReceiver {
  MccAsspReceiverConfig config;
  MccTime now;
  MccAsmpReceiver *asmp; /* of the stream that is joined last */
  MccAsspLevel level;
  /* Where others are: the newest of those that fall on a place. */
  struct {
    uint32_t ssrc;
    unsigned stream;
    MccTime near; /* in our stream, behind our queue, then; 0: never */
    MccTime up;   /* from our stream to a higher one, newest; 0: never */
  } other[MCC_ASSP_OTHERS];
  unsigned slump_stream; /* we left it because our link had become slow ... */
  uint64_t slump_bps;    /* ... and carried so much; 0: we did not, or it carries more again */
  unsigned led_to; /* one of our stream has gone down to that; MCC_ASSP_NO_STREAM: none lately */
  MccTime led_until;
  bool led_onset; /* we were not pressed when that one went */
  MccTime trial_began;
  MccTime trial_until;                      /* what another one's up does to us is waited for ... */
  MccTime trial_rest[MCC_ASSP_STREAMS_MAX]; /* ... not again before; of each stream above */
  MccTime trial_credit, trial_credited;     /* ... for so long at most, as of then */
  /* One behind our queue is in a higher stream, which our link carries anyway. */
  unsigned company;     /* that stream; MCC_ASSP_NO_STREAM: none lately */
  MccTime company_seen; /* first */
  MccTime company_until, joined_company, company_not_before, company_wait; /* 0: never, none */
  bool joins_company;
  uint64_t company_bps; /* what it says that it can take there, and meets */
  double company_loss;
  unsigned drawn_to; /* one of our stream has just gone up to that; MCC_ASSP_NO_STREAM: none */
  MccTime drawn_at;
  bool drawn_near; /* that one was seen behind our queue before */
  /* What we could take, as far as known. */
  bool unlimited;
  double known_bps; /* 0: nothing */
  MccTime known_time;
  /* What the sender says. */
  bool has_streams, bye, lost;
  bool ladder_moved;   /* we have not looked where the new one has us */
  MccTime ladder_time; /* it came; 0: the first is still there */
  MccTime streams_time;
  MccAsspStreams streams;
  bool has_session[MCC_ASSP_STREAMS_MAX];
  MccAppSession session[MCC_ASSP_STREAMS_MAX];
  /* Where we are. */
  unsigned stream;     /* shown; MCC_ASSP_NO_STREAM: none */
  unsigned to;         /* joined, not yet shown; MCC_ASSP_NO_STREAM: no switch */
  unsigned home;       /* shown before the switch: where to go back to */
  MccAsspStream group; /* of `stream` */
  MccAsspStream to_group;
  MccAsspReason reason;
  bool overlap; /* `stream` is not left yet */
  bool arrived; /* a packet of `to` */
  bool waits;   /* there is nowhere else to go from `to` */
  bool looks;   /* into `to`, because the lowest does not come */
  bool asked;   /* for a key unit of it */
  /* `stream` is silent, and its sender is not. */
  bool searches;   /* the switch: does `to` come? */
  unsigned looked; /* newest that was switched to for that; MCC_ASSP_NO_STREAM: none */
  MccTime look;    /* not before; 0: at once */
  /* What arrives of a stream that we go up to, in windows. */
  struct {
    double needed_bps, sent_bps; /* in it; of the old stream; needed 0: not looked at */
    MccSeq seq;
    MccTime since;
    uint64_t first, received; /* first expected number of the window; packets */
    uint64_t bytes;           /* ... of them */
    double carried_bps;       /* at most, by the last window; 0: none yet */
    bool rivals;              /* others were on the path before */
    bool alone;               /* the old stream was gone by then */
  } probe;
  MccTime heard; /* newest packet, of `stream` while it is kept, or of `to` */
  MccTime begun, deadline, key_next;
  MccTime left;       /* newest leave; MCC_TIME_NONE: none */
  MccTime settled;    /* no switch before */
  MccTime lock_again; /* the stream that the user wants did not come: not before; 0: at once */
  MccAsspReceiverAction action[MCC_ASSP_ACTIONS];
  unsigned action_head, action_count;
  MccAsspReceiverStats stats;
};

/* The stream that is measured and reported on. */
static inline unsigned
mcc_assp_receiver_current (const MccAsspReceiver *self)
{
  return self->to != MCC_ASSP_NO_STREAM ? self->to : self->stream;
}

/* Neither in a switch nor in the wake of one. */
static inline bool
mcc_assp_receiver_steady (const MccAsspReceiver *self)
{
  return self->to == MCC_ASSP_NO_STREAM && self->stream != MCC_ASSP_NO_STREAM
         && self->now >= self->settled;
}

static inline bool
mcc_assp_receiver_locked (const MccAsspReceiver *self)
{
  return self->config.lock_stream >= 0;
}

static inline bool
mcc_assp_same_group (const MccAsspStream *a, const MccAsspStream *b)
{
  return a->address_offset == b->address_offset && a->port_offset == b->port_offset;
}

/* mccasspreceiver.c */
void mcc_assp_receiver_push (MccAsspReceiver *self, const MccAsspReceiverAction *action);
/* Queues what the ASMP receiver asks for, as of the present stream. */
void mcc_assp_receiver_drain (MccAsspReceiver *self);

/* mccasspreceiverknown.c */
/* What we could take, as the sender is told: bit/s; 0: not known; MCC_APP_RATE_MAX: any. */
uint64_t mcc_assp_receiver_told_bps (const MccAsspReceiver *self);
/* Few are in all streams together, as announced: those behind our link may be in any of them. */
bool mcc_assp_receiver_is_among_few (const MccAsspReceiver *self);
/* Looks at what the path could carry, for that and for the level. */
void mcc_assp_receiver_sample (MccAsspReceiver *self);

/* mccasspreceiverswitch.c */
void mcc_assp_receiver_begin (MccAsspReceiver *self, unsigned to, MccAsspReason reason);
/* A packet of the stream that we go up to, or have just come up to. */
void mcc_assp_receiver_probe (MccAsspReceiver *self, const MccRtpPacket *packet);
/* What did not come lately did not come for want of us: it looks anew. */
void mcc_assp_receiver_restart_probe (MccAsspReceiver *self);
/* Whether what it shows is that the path does not carry it. */
bool mcc_assp_receiver_is_too_much (const MccAsspReceiver *self);
/* Its time is over. */
void mcc_assp_receiver_give_up (MccAsspReceiver *self);
/* The user, or the ladder, may want another stream than the one that is waited for: whether it is
 * that now. */
bool mcc_assp_receiver_wait_anew (MccAsspReceiver *self);
/* The stream that was joined does not come. */
void mcc_assp_receiver_go_back (MccAsspReceiver *self);
/* The host has turned from ours to one that was left meanwhile, and cannot turn back without a key
 * unit. */
void mcc_assp_receiver_show_again (MccAsspReceiver *self);
/* Ours is silent: another one is better than none. */
void mcc_assp_receiver_search (MccAsspReceiver *self);
void mcc_assp_receiver_end_search (MccAsspReceiver *self);
/* Out of everything, as before the first description. */
void mcc_assp_receiver_abandon (MccAsspReceiver *self);
void mcc_assp_receiver_complete (MccAsspReceiver *self);
/* The stream that the user wants; a closed one's next below. */
unsigned mcc_assp_receiver_locked_stream (const MccAsspReceiver *self);
/* The description may no longer have the stream that we are in; the user may want another one. */
void mcc_assp_receiver_reconcile (MccAsspReceiver *self);

/* mccasspreceiverothers.c */
/* Another receiver's report. */
void mcc_assp_receiver_note_other (
    MccAsspReceiver *self, unsigned stream, uint32_t ssrc, const MccAppReport *report);
/* Whether a trouble may be another one's trial, which will soon be over. */
bool mcc_assp_receiver_is_patient (const MccAsspReceiver *self);
/* Whether to go up to `company` or `drawn_to`. */
bool mcc_assp_receiver_has_company (const MccAsspReceiver *self);
void mcc_assp_receiver_join_company (MccAsspReceiver *self);
/* Whether to go down to `led_to` because others did. */
bool mcc_assp_receiver_is_led (MccAsspReceiver *self);

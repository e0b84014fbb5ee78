/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmreceiverprivate: the receiver's state, for mccelmreceiver*.c only.
 *
 *   mccelmreceiver.c        what comes, when: handle, next_timeout, poll
 *   mccelmreceiverlevel.c   which layers: joins, leaves, decisions
 *   mccelmreceiverlink.c    what the link carries, while we are alone on it
 *   mccelmreceiverapp.c     what the sender and other receivers say
 *   mccelmreceiverreport.c  what we say
 */
#pragma once

#include "mccasmppath.h"
#include "mccelmfair.h"
#include "mccelmlink.h"
#include "mccelmmemory.h"
#include "mccelmpatience.h"
#include "mccelmreceiver.h"
#include "mccelmsequence.h"
#include "mccelmslowstart.h"
#include "mccelmtrial.h"
#include "mccrng.h"

#define MCC_ELM_ACTIONS 64
#define MCC_ELM_ACTIONS_OWN 40 /* kept free for joins and leaves */
#define MCC_ELM_OTHERS_TOLD 8
#define MCC_ELM_REPORT_BYTES 152               /* IP bytes of a compound */
#define MCC_ELM_CLEAR_QUEUE (15 * MCC_MSECOND) /* less is none */

/* Of a time from @since on: bytes, and the time that they took to arrive. */
typedef struct {
  MccTime since, time;
  MccTime last; /* begin of the newest one */
  uint64_t bytes;
  unsigned count;
  unsigned looks, clear; /* at the queue; at none */
} MccElmBursts;

struct MccElmReceiver {
  MccElmReceiverConfig config;
  MccTime now;
  MccRng rng;
  /* What the sender says. */
  bool has_layers, has_session, bye, lost;
  MccElmLayers layers;
  MccTime layers_time;
  bool has_host; /* where its description came from */
  MccAddress host;
  MccAppSession session;
  uint32_t told[MCC_ELM_OTHERS_TOLD]; /* other senders */
  unsigned told_count;
  /* Where we are. */
  int level;                             /* arriving */
  int wanted;                            /* level, or one more */
  MccElmLayer group[MCC_ELM_LAYERS_MAX]; /* of layers 0..wanted, as joined */
  MccElmReason reason;                   /* of the join */
  MccTime join_time, join_deadline;      /* MCC_TIME_NONE */
  unsigned join_sent;     /* of the layer that has not arrived, since: so others' packets say */
  uint64_t join_received; /* packets until then */
  MccTime heard;          /* newest packet of ours */
  MccTime base_heard;     /* ... of the base layer */
  MccTime left;           /* newest leave; MCC_TIME_NONE */
  MccTime left_ends;      /* what was left arrives no more; MCC_TIME_NONE: by now */
  MccTime settled;        /* no change before */
  /* What is measured. */
  MccAsmpPath path;
  MccSeq base_seq; /* of the base layer's own numbers */
  MccElmSequence sequence;
  MccElmRate rate;
  MccElmFair fair, fair_before; /* enhanced: X; of before the join */
  MccBreaker breaker;
  bool ceased; /* has left for good */
  bool has_rtt;
  uint32_t rtt_number; /* newest report whose RTT came */
  double calculated_bps;
  uint64_t told_bps;
  MccTime queue_least;    /* since the last window */
  MccTime queue_before;   /* of the last window */
  MccTime others_until;   /* the queue was seen to fall by itself: it is not ours alone */
  bool queue_rose;        /* since a layer was left */
  uint64_t fresh;         /* packets received before what is measured now */
  bool draining;          /* it falls since a layer was left */
  MccElmLink full, burst; /* rows of packets that wait long; that wait at all */
  MccTime burst_last;     /* MCC_TIME_NONE: none */
  MccElmBursts bursts[2]; /* of now, and of before */
  MccTime above;          /* one with a higher level was heard; MCC_TIME_NONE */
  MccTime clear_since;    /* no loss and no queue since; MCC_TIME_NONE */
  /* How it decides. */
  MccElmSlowStart slow_start;
  MccElmStrategyState strategy;
  MccElmMemory memory;
  MccElmTrial trial;
  MccTime tick, ticked;      /* the next, the last one */
  bool wants_join;           /* the strategy wants it; it waits for a round */
  bool has_round, new_round; /* a round has begun that was not used yet */
  uint32_t round;
  double calm_loss; /* loss ratio before our newest join, or another's */
  MccElmPatience patience;
  uint64_t trial_explained, trial_received; /* packets when another's trial began */
  unsigned trial_layer;
  uint32_t trial_ssrc; /* who it is */
  /* Reports. */
  bool reporting;
  bool report_waits; /* for media; its first packet plans anew */
  uint32_t number;
  unsigned reports;     /* since the start, at most 2 */
  MccTime report_last;  /* MCC_TIME_NONE */
  MccTime report_next;  /* MCC_TIME_NONE: none planned */
  MccTime report_early; /* MCC_TIME_NONE: none */
  MccTime report_owed;  /* what early reports moved the next one by */
  unsigned note_layer;  /* what the next report says, and */
  uint32_t note_flags;
  bool crowded;           /* we wait for those whom we heard; nothing early */
  unsigned crowd_waits;   /* since our last report */
  unsigned heard_reports; /* of others since our last */
  uint64_t lost_reported;
  bool picture;
  MccTime key_next; /* MCC_TIME_NONE: none is missing */
  MccTime key_wait; /* until the one after that */
  MccElmReceiverAction action[MCC_ELM_ACTIONS];
  unsigned action_head, action_count;
  MccTrace trace;
  MccElmReceiverStats stats; /* its counters */
};

static inline bool
mcc_elm_receiver_is_enhanced (const MccElmReceiver *self)
{
  return self->config.variant == MCC_VARIANT_ENHANCED;
}

static inline MccTime
mcc_elm_receiver_rtt (const MccElmReceiver *self)
{
  return mcc_rtt_get (&self->path.rtt);
}

/* mccelmreceiver.c */
/* X, smoothed; INFINITY: nothing limits. */
double mcc_elm_receiver_x_bps (const MccElmReceiver *self);
void mcc_elm_receiver_push (MccElmReceiver *self, const MccElmReceiverAction *action);
MccDrop mcc_elm_receiver_drop (MccElmReceiver *self, MccDrop reason);
void mcc_elm_receiver_advance (MccElmReceiver *self, MccTime now);
/* All layers but  (-1: all) begin anew: what lies between is no loss, and what others' packets
 * said of a layer that is joined was of before. */
void mcc_elm_receiver_restart_sequence (MccElmReceiver *self, int but);

/* mccelmreceiverlevel.c */
void mcc_elm_receiver_join (MccElmReceiver *self, MccElmReason reason);
/* The layer that is joined has arrived. */
void mcc_elm_receiver_arrive (MccElmReceiver *self);
/* Leaves the highest layer that is wanted. */
void mcc_elm_receiver_drop_layer (MccElmReceiver *self, MccElmReason reason);
/* Down to @level, layer by layer. */
void mcc_elm_receiver_drop_to (MccElmReceiver *self, int level, MccElmReason reason);
/* A packet was measured, or time has passed. */
void mcc_elm_receiver_decide (MccElmReceiver *self);
MccTime mcc_elm_receiver_level_next (const MccElmReceiver *self);
/* A packet of the base layer was sent at @send_time. */
void mcc_elm_receiver_note_round (MccElmReceiver *self, uint32_t send_time);
/* A key unit is asked for now, and then less and less often; not while there is a picture. */
void mcc_elm_receiver_plan_key_unit (MccElmReceiver *self);
/* All measures anew: another sender. */
void mcc_elm_receiver_restart (MccElmReceiver *self);

/* mccelmreceiverlink.c */
/* Nothing is known of others: no losses, and no queue that fell by itself. */
bool mcc_elm_receiver_is_alone (const MccElmReceiver *self);
/* ... nor was before the newest join. */
bool mcc_elm_receiver_was_alone (const MccElmReceiver *self);
/* A packet of our layers was measured. */
void mcc_elm_receiver_note_link (MccElmReceiver *self, uint32_t bytes);
/* If we are alone on it: it carries less than our level. */
bool mcc_elm_receiver_link_is_full (const MccElmReceiver *self);
/* It was seen to carry the next level; or not, and that was not tried lately. */
bool mcc_elm_receiver_link_bears (const MccElmReceiver *self);
bool mcc_elm_receiver_link_refuses (const MccElmReceiver *self);
/* A look at the queue: whether there was none. */
void mcc_elm_receiver_note_queue (MccElmReceiver *self, bool clear);
/* Whether the queue in which our bursts wait is ours alone: it empties between them. */
bool mcc_elm_receiver_queue_is_ours (const MccElmReceiver *self);
/* What can be seen without losses speaks for the next level. */
bool mcc_elm_receiver_looks_free (const MccElmReceiver *self);
void mcc_elm_receiver_forget_link (MccElmReceiver *self);

/* mccelmreceiverapp.c */
/* A look, @passed after the last one: whether another one's trial explains what there is now. */
bool mcc_elm_receiver_be_patient (MccElmReceiver *self, MccTime passed);
bool mcc_elm_receiver_sender_gone (const MccElmReceiver *self);

/* mccelmreceiverreport.c */
void mcc_elm_receiver_plan_first (MccElmReceiver *self);
/* The same where no media comes: later. */
void mcc_elm_receiver_plan_without_media (MccElmReceiver *self);
/* Something happened with @layer: enhanced says so early. */
void mcc_elm_receiver_note (MccElmReceiver *self, unsigned layer, uint32_t flags);
/* ... which is not worth a report any more, and is too old for the next one. */
void mcc_elm_receiver_take_back (MccElmReceiver *self);
/* t_fb may be another one. */
void mcc_elm_receiver_replan (MccElmReceiver *self);
void mcc_elm_receiver_report_timeout (MccElmReceiver *self);
MccTime mcc_elm_receiver_report_next (const MccElmReceiver *self);

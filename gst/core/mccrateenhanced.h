/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrateenhanced: what the controller (mccrateenhanced.c), its search for rivals (mccraterivals.c,
 * mccratecycles.c, mccratefellows.c, mccratealone.c, mccrateserved.c, mccrateprobe.c) and its tries
 * at the lowest rate (mccratefloor.c) share. For these only.
 */
#pragma once

#include "mccrateprivate.h"

#include <math.h>

#define LOSS_CUT 0.85                  /* alone: the received rate is the capacity */
#define SENDER_LAG (200 * MCC_MSECOND) /* encoder, pacer */
#define APART_S 0.035                  /* between packets: few */
#define ASKED 32                       /* decisions until a rate shows: up to 3 s */
#define BELOW 0.5 /* of what the equation allows, after losses: the queue is not ours */

/* Queues that come and go (mccratecycles.c). */
typedef struct {
  double seen;          /* cycles that were not ours, fading ... */
  double less;          /* ... and queues at less than the last but for those at more */
  double spread_s;      /* of the queue within a decision, at least: bursts; INFINITY: not known */
  unsigned stood;       /* decisions in which the queue stands; 0: none */
  MccTime stands_since; /* ... the first of them ... */
  double came_bytes, came_s; /* ... and what came in them, fading */
  bool emptied;              /* since the last capacity was noted ... */
  double noted_bps;          /* ... at the first note since it had emptied; 0: none */
  double ridge_s;            /* the queue, or what is left of it when only we send less */
  unsigned falls;            /* decisions in which it is below that ... */
  double before_bps;         /* ... what arrived of ours before them ... */
  double link_bps;           /* ... and what the link carried */
  bool fell;                 /* so for long enough, and is not back ... */
  MccTime fell_at;           /* ... at last ... */
  double from_s, to_s;       /* ... from where, to where ... */
  double received_bps;       /* ... what arrived of ours before ... */
  double proof;              /* ... and from 1 on how many cycles its return counts for */
  bool stopped;              /* the link stood still, and the queue of that has not gone yet ... */
  MccTime stopped_at;        /* ... since then */
  MccTime stops_from;        /* no stop is believed before */
} MccRateCycles;

/* Others like us (mccratefellows.c). */
typedef struct {
  MccTime loss;        /* the newest that no doubling rate of ours made; MCC_TIME_NONE: none */
  MccTime above_since; /* the queue is above its target; MCC_TIME_NONE: is not */
} MccRateFellows;

/* Among rivals that may be gone (mccratealone.c). */
typedef struct {
  MccTime since;      /* no sign of others */
  unsigned overflows; /* of our own, since then */
  double less_s;      /* so long we have sent less than ... */
  double carried_bps; /* ... what arrived at the last overflow; 0: none yet */
} MccRateAlone;

/* What a queue lets out (mccrateserved.c). Of the decisions in which it stood and nothing was
 * lost, fading: how many, and the sums of the rates at which their packets were sent and came, in
 * bytes/s, and of the squares. */
typedef struct {
  double stood, sent, sent2, came, came2;
} MccRateServedSums;

typedef struct {
  MccRateServedSums all;
  MccRateServedSums competing; /* since that began last: the link may have changed before */
} MccRateServed;

/* A cut that shows whose queue it is (mccrateprobe.c). */
typedef struct {
  MccTime begun;      /* 0: none */
  double carried_bps; /* arrived at the cut ... */
  double queue_s;     /* ... at which the queue was that ... */
  double left_s;      /* ... of which we can have left so much, and a margin */
  unsigned decisions; /* with nothing of ours left ... */
  unsigned others;    /* ... and those in which a queue stood */
  unsigned empty;     /* since then there is no queue */
  MccTime stood;      /* the queue, about its target, more than it did not */
  unsigned vain;      /* probes begun, since the mode began */
} MccRateProbe;

typedef struct {
  MccRate base;
  MccTime first, last; /* decisions with data */
  unsigned decisions;
  MccTime hold_until; /* the last cut cannot be seen before */
  MccTime queue_last, queue_before;
  double buffer_s;       /* queue at which packets were lost; INFINITY: none yet */
  double target_limit_s; /* a shallow buffer overflows above; INFINITY: none known */
  double longest_s;      /* queue that something came out of, fading */
  MccTime calm_since;    /* no sign of congestion since */
  MccTime loss_seen;     /* the newest loss event that was acted upon ... */
  double loss_bps;       /* ... and what arrived then */
  double capacity_bps;   /* received while the queue stood; 0 = none seen */
  bool restore;          /* ... and the rate was cut below it since */
  MccTime near_until;    /* the rate was below what would disprove it, newest */
  double beyond_s;       /* what arrived beyond that capacity and left no queue: in its time */
  bool built;            /* the queue that slow start left has not gone yet */
  MccTime stands_since; /* in slow start the queue is above its target; MCC_TIME_NONE: is not ... */
  double stands_bps;    /* ... and this was the rate then */
  /* Who fills the queue? */
  struct {
    MccTime time;
    double rate_bps;
  } asked[ASKED];
  unsigned asked_count; /* ever */
  double received_bps;  /* smoothed */
  double sent_s;        /* how long what arrived lately took to be sent; 0: not known ... */
  double came_s;        /* ... and to come */
  bool rtt_measured;    /* at the last decision */
  double rtt_s;         /* TCP mode: slower than the sender's lag, else rate and queue swing */
  double peak_bps;      /* capacity: received while the queue stood, at most, fading */
  MccTime floor[2], floor_since; /* smallest standing queue of this and the last FLOOR_TIME */
  double rival_s;                /* evidence that it is not ours */
  bool mistaken;                 /* there were none any more, once: now they have to be proven */
  MccRateFellows fellows;
  MccRateCycles cycles;
  MccRateAlone alone;
  MccRateServed served;
  MccRateProbe probe;
  MccTime empty_since;         /* the queue; MCC_TIME_NONE: is not ... */
  double empty_bps;            /* ... and what arrived since then, at least */
  MccTime left_at;             /* nobody took what we left, newest; MCC_TIME_NONE: never ... */
  unsigned left_times;         /* ... and how many times as long the next one must be seen */
  double own_queue_s;          /* what we alone can have left in the queue */
  MccTime competed;            /* newest decision in TCP mode; MCC_TIME_NONE: none */
  MccTime doubted, known_ours; /* mccratepairs.c; MCC_TIME_NONE: not yet */
  double known_bps;            /* what arrived then */
  bool filled;                 /* a queue of our own stood above its target since the mode began */
  MccTime less_since;          /* clearly less arrives than was sent; MCC_TIME_NONE: it does not */
  /* At the lowest rate (mccratefloor.c). */
  MccTime lowest_since, try_since; /* MCC_TIME_NONE: is not there, does not try */
  MccTime try_not_before, try_wait;
  double try_bps;        /* the rate that more than is tried of */
  double lowest_queue_s; /* highest queue there, before it tries */
  MccTime loss_foreign;  /* newest loss while all that we sent arrived; MCC_TIME_NONE: none */
  MccTime slower_at; /* the link seemed to become slower: what it carried before proves nothing */
} MccRateEnhanced;

/* A queue above this is one, in slow start. */
MccTime mcc_rate_enhanced_slow_start_queue (const MccRateInput *input);
/* The standing queue that it holds when alone. */
MccTime mcc_rate_enhanced_target_queue (const MccRateEnhanced *self, const MccRateInput *input);
/* ... and where a packet delays the next by @packet_s. */
MccTime mcc_rate_enhanced_target_of (
    const MccRateEnhanced *self, const MccRateInput *input, double packet_s);
/* Below this, nobody fills the queue. */
MccTime mcc_rate_enhanced_empty_queue (const MccRateEnhanced *self, const MccRateInput *input);
/* A queue above this is one, even if what is taken for propagation is out of date. */
MccTime mcc_rate_enhanced_sure_queue (const MccRateEnhanced *self, MccTime target);
/* Whether what was asked for arrives. */
bool mcc_rate_enhanced_arrives (const MccRateEnhanced *self, const MccRateInput *input);
/* Bit/s, what the link was lately seen to carry, at least; 0: not known, or no queue stands. */
double mcc_rate_enhanced_link_bps (const MccRateEnhanced *self, const MccRateInput *input);
/* Whether we receive about all that the link was lately seen to carry; also when nothing of it is
 * known. */
bool mcc_rate_enhanced_whole_link (const MccRateEnhanced *self, const MccRateInput *input);
/* Whether an overflow is of our making: the rate doubles, or the queue stands while we receive
 * about all that the link was lately seen to carry. */
bool mcc_rate_enhanced_owns_queue (const MccRateEnhanced *self, const MccRateInput *input);
/* Whether the loss event @loss was less than @least, or three mean loss intervals, ago. */
bool mcc_rate_enhanced_is_recent (const MccRateInput *input, MccTime loss, MccTime least);
/* How long so many mean loss intervals are, with a loss ratio above 0. */
MccTime mcc_rate_enhanced_loss_intervals (const MccRateInput *input, double intervals);
/* Whether the queue cannot be of our making, even if it stands. */
bool mcc_rate_enhanced_others_fill (const MccRateEnhanced *self, const MccRateInput *input);
/* Others were here lately, we have not filled the link since, and there is more of a queue than we
 * can have left. */
bool mcc_rate_enhanced_others_return (const MccRateEnhanced *self, const MccRateInput *input);
/* Before a decision; @lost: a new loss that no doubling rate of ours made. */
void mcc_rate_enhanced_watch_fellows (MccRateEnhanced *self, const MccRateInput *input, bool lost);
/* If others are there, they may be like us: nothing was lost lately ... */
bool mcc_rate_enhanced_fellows_lose_nothing (
    const MccRateEnhanced *self, const MccRateInput *input);
/* ... nor has the queue been above its target for longer than their cuts take, nor do those come
 * back who were here before. */
bool mcc_rate_enhanced_fellows_may_fill (const MccRateEnhanced *self, const MccRateInput *input);
/* Before a decision: whether the link stood still. */
void mcc_rate_enhanced_watch_stop (MccRateEnhanced *self, const MccRateInput *input);
/* After a decision: queues that came and went otherwise than ours would; @dt_s since the last. */
void mcc_rate_enhanced_watch_cycles (MccRateEnhanced *self, const MccRateInput *input, double dt_s);
/* Before another capacity is noted: is it the same link? */
void mcc_rate_enhanced_watch_capacity (MccRateEnhanced *self, const MccRateInput *input);
/* Queues came and went so as ours cannot. */
bool mcc_rate_enhanced_others_come_and_go (const MccRateEnhanced *self);
void mcc_rate_enhanced_forget_cycles (MccRateEnhanced *self);
/* Competing, after a decision: any sign that there are others? */
void mcc_rate_enhanced_watch_alone (
    MccRateEnhanced *self, const MccRateInput *input, bool new_loss, double dt_s);
/* There has been none for long. */
bool mcc_rate_enhanced_is_alone (const MccRateEnhanced *self, const MccRateInput *input);
void mcc_rate_enhanced_forget_alone (MccRateEnhanced *self, MccTime now);
/* After a decision: since when the queue is empty. */
void mcc_rate_enhanced_watch_empty (MccRateEnhanced *self, const MccRateInput *input);
/* We have fallen behind a full queue, and it has been empty for @patience, or more where that was a
 * mistake before: no TCP is there. */
bool mcc_rate_enhanced_nobody_takes (
    const MccRateEnhanced *self, const MccRateInput *input, MccTime patience);
/* ... and the mode has ended for that. */
void mcc_rate_enhanced_note_left (MccRateEnhanced *self, const MccRateInput *input);
/* The mode begins: was that a mistake? */
void mcc_rate_enhanced_watch_left (MccRateEnhanced *self, const MccRateInput *input);
/* Before a decision: what comes of what we send into a queue that stands. */
void mcc_rate_enhanced_watch_served (MccRateEnhanced *rate, const MccRateInput *input);
/* It was the same lately, whatever we sent: nobody else to speak of is in that queue. */
bool mcc_rate_enhanced_serves_us_alone (const MccRateEnhanced *rate);
/* Below its target a queue stands for long, and TCP would get far more: worth a cut? @dt since the
 * last decision. */
bool mcc_rate_enhanced_wants_probe (
    MccRateEnhanced *self, const MccRateInput *input, MccTime target, MccTime dt);
/* The rate is cut, and stays so ... */
void mcc_rate_enhanced_begin_probe (MccRateEnhanced *self, const MccRateInput *input);
bool mcc_rate_enhanced_is_probing (const MccRateEnhanced *self);
/* ... each decision: true where the queue was seen to be others'. */
bool mcc_rate_enhanced_probe (MccRateEnhanced *self, const MccRateInput *input);
/* Bit/s, what pairs show of the link as it is now; 0: not known. */
double mcc_rate_enhanced_pairs_bps (const MccRateEnhanced *self, const MccRateInput *input);
/* They showed lately that the link carries no more than what arrives of ours. */
bool mcc_rate_enhanced_knows_ours (const MccRateEnhanced *self, const MccRateInput *input);
/* After a decision: are they asked for? */
void mcc_rate_enhanced_ask_pairs (MccRateEnhanced *self, const MccRateInput *input);
/* Before a decision: is the link still the one it was? */
void mcc_rate_enhanced_watch_link (MccRateEnhanced *self, const MccRateInput *input, bool new_loss);
/* Something was lost that we had not to answer for, not much longer ago than such losses come. */
bool mcc_rate_enhanced_foreign_losses (const MccRateEnhanced *self, const MccRateInput *input);
/* From now on the equation rules. FALSE: no, the queue is seen to serve us alone, and from now on
 * rivals have to be proven. */
bool mcc_rate_enhanced_compete (MccRateEnhanced *self, const MccRateInput *input);
/* At a very low rate, in a queue that stands: true where trying more has decided the rate. */
bool mcc_rate_enhanced_try_more (MccRateEnhanced *self, const MccRateInput *input, bool new_loss);
/* What the equation allows; INFINITY when it says nothing yet. */
double mcc_rate_enhanced_equation_bps (const MccRateInput *input);
/* Who fills the queue; may change the mode. */
void mcc_rate_enhanced_judge_rivals (
    MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpreceiverprivate: the receiver's state, for mccasmpreceiver*.c only.
 *
 *   mccasmpreceiver.c        which packets, when: handle, next_timeout, poll
 *   mccasmpreceiverapp.c     which sender; what it and other receivers say
 *   mccasmpreceiverreport.c  what we say
 *   mccasmpreceiverfollow.c  other streams of the same sender
 *   mccasmpreceiverceiling.c what the path was seen to carry and no more
 */
#pragma once

#include "mccasmppath.h"
#include "mccasmpreceiver.h"
#include "mccasmpschedule.h"
#include "mccasmpsource.h"
#include "mcccompany.h"
#include "mccelmfair.h"
#include "mccrecentloss.h"
#include "mccswing.h"

#define MCC_ASMP_ACTIONS 16
#define MCC_ASMP_SESSION_TIMEOUT (15 * MCC_SECOND) /* without announcement and stream; ours */
#define MCC_ASMP_EVENT_MAX                                                                         \
  (1 * MCC_SECOND) /* one episode, one loss event, at most so long; ours                           \
                    */

struct MccAsmpReceiver {
  MccAsmpReceiverConfig config;
  MccTime now;
  MccAsmpSource source;
  MccAsmpPath path;
  MccAsmpSchedule schedule;
  MccRate *rate;
  MccElmFair fair; /* of several streams: what TCP would get */
  MccTime next_decision;
  MccTime hold_until;   /* no decision before */
  MccTime full_since;   /* a queue stands that is ours; MCC_TIME_NONE: it does not */
  MccTime free_since;   /* no sign that the path limits; MCC_TIME_NONE: there is one */
  MccTime idle_since;   /* ... but losses */
  MccTime short_since;  /* less arrives than is sent, with losses; MCC_TIME_NONE: it does not */
  MccTime slumped;      /* the link became slow all of a sudden, newest; 0: never */
  uint64_t slump_bps;   /* ... what it carried then */
  MccTime others_since; /* the queue that stands is others'; MCC_TIME_NONE: not, as far as seen */
  MccSwing swing;       /* ... it comes and goes */
  MccTime pressed;      /* losses or a queue, newest; 0: never */
  MccTime queued;       /* ... a queue */
  MccTime press_began;  /* ... first of those that followed each other */
  MccRecentLoss recent; /* of the last seconds */
  uint64_t claim_bps;   /* our limit while we hold; 0: none is known */
  uint64_t ceiling_bps; /* what the path was seen to carry and no more; 0: nothing */
  MccTime ceiling_time, ceiling_life;
  MccTime shared_until;  /* ... beside a stream that another of ours tries */
  MccTime beyond_since;  /* more than the ceiling arrives, and free; MCC_TIME_NONE: not */
  MccTime far_since;     /* it competes far below what its losses allow; MCC_TIME_NONE: not */
  uint64_t shown_bps;    /* the link carries so much, of which others have a part; 0: not known */
  MccTime shown_time;    /* ... newest */
  MccTime doubted;       /* a queue stood where others limit, newest; MCC_TIME_NONE: none */
  bool ceiling_of_queue; /* no loss said so, only a queue that stood */
  bool spliced_once;     /* this stream is not the first */
  bool crowd;            /* ... and many were in the one before */
  bool spliced;          /* another stream of the same sender comes: the path stays */
  MccCompany company;    /* of one stream: who is behind the same queue */
  bool found_company;    /* ... or looked for, of the stream ... */
  uint32_t company_ssrc; /* ... of this SSRC */
  uint64_t company_bps;  /* ... and has us state so much; 0: our own rate */
  uint64_t told_bps;     /* last MCC_RECEIVER_RATE */
  double loss_ratio;
  /* The sender's announcements. */
  bool has_session, has_other;
  uint32_t sender_ssrc; /* of its RTCP */
  uint32_t other_ssrc;
  MccTime session_time;
  MccTime announce_interval; /* smoothed */
  MccAppSession session;
  MccAppSession other; /* of a sender that may take over */
  /* Reports. */
  uint32_t number;
  uint64_t lost_reported;
  uint64_t reported_bps;
  bool key_unit;
  MccBreaker breaker;
  double allowed_bps; /* by the equation, as of the last decision; INFINITY: no losses, no RTT */
  bool not_lowest;    /* of several streams there is a lower one */
  bool ceased;        /* has left for good, until another sender comes */
  MccTime event;      /* loss event whose end waits for the sender's reaction; MCC_TIME_NONE */
  MccReceiverAction action[MCC_ASMP_ACTIONS];
  unsigned action_head, action_count;
  MccTrace trace;
  uint64_t reports_sent, reports_suppressed;
  uint64_t dropped[MCC_DROP_COUNT];
};

static inline bool
mcc_asmp_receiver_is_enhanced (const MccAsmpReceiver *self)
{
  return self->config.variant == MCC_VARIANT_ENHANCED;
}

static inline bool
mcc_asmp_receiver_has_stream (const MccAsmpReceiver *self)
{
  return self->source.following && !self->source.lost;
}

static inline void
mcc_asmp_note_since (MccTime *since, bool lasts, MccTime now)
{
  if (!lasts)
    *since = MCC_TIME_NONE;
  else if (*since == MCC_TIME_NONE)
    *since = now;
}

/* mccasmpreceiver.c */
void mcc_asmp_receiver_push (MccAsmpReceiver *self, const MccReceiverAction *action);
void mcc_asmp_receiver_push_simple (
    MccAsmpReceiver *self, MccReceiverActionType type, uint32_t ssrc);
MccDrop mcc_asmp_receiver_drop (MccAsmpReceiver *self, MccDrop reason, uint32_t ssrc);
void mcc_asmp_receiver_advance (MccAsmpReceiver *self, MccTime now);
/* There is a sender to report to. */
void mcc_asmp_receiver_activate (MccAsmpReceiver *self);
/* ... and a stream of it: decide, too. */
void mcc_asmp_receiver_resume (MccAsmpReceiver *self);
void mcc_asmp_receiver_update_schedule (MccAsmpReceiver *self);
void mcc_asmp_receiver_note_verdict (MccAsmpReceiver *self, MccScheduleVerdict verdict);
/* The path does not bear the least: no more reports, and the host leaves. */
void mcc_asmp_receiver_cease (MccAsmpReceiver *self, MccBreakerVerdict verdict);
/* No more decisions and reports. */
void mcc_asmp_receiver_stop (MccAsmpReceiver *self);

/* mccasmpreceiverfollow.c */
bool mcc_asmp_receiver_claims (const MccAsmpReceiver *self);
/* Of several streams: a queue that stands, or did, is not ours, as far as seen. */
bool mcc_asmp_receiver_others_queue (const MccAsmpReceiver *self);
/* Of several streams, at each decision: what did a flow of this rate meet? */
void mcc_asmp_receiver_measure_fair (MccAsmpReceiver *self);
/* A rate was decided from @input. */
void mcc_asmp_receiver_note_freedom (MccAsmpReceiver *self, const MccRateInput *input);
/* Neither a queue nor losses say for a while that the path limits. */
bool mcc_asmp_receiver_is_free (const MccAsmpReceiver *self);
/* One above this may be ours: a slow link's stands by a packet. */
MccTime mcc_asmp_receiver_queue_of_ours (const MccAsmpReceiver *self, const MccRateInput *input);

/* Packets that leave together would show whether a queue is ours: where others limit. */
bool mcc_asmp_receiver_doubts_queue (const MccAsmpReceiver *self);

/* mccasmpreceiverceiling.c */
/* Lately a queue of the link that we have a part of was met. */
bool mcc_asmp_receiver_has_part (const MccAsmpReceiver *self);
void mcc_asmp_receiver_note_ceiling (MccAsmpReceiver *self, const MccRateInput *input);
/* The ceiling, less a margin; UINT64_MAX: none is known. */
uint64_t mcc_asmp_receiver_ceiling_bps (const MccAsmpReceiver *self);

/* mccasmpreceiverapp.c */
void mcc_asmp_receiver_adopt_session (
    MccAsmpReceiver *self, uint32_t ssrc, const MccAppSession *session);
uint64_t mcc_asmp_receiver_start_bps (const MccAsmpReceiver *self);
/* The stream @ssrc has begun: another sender's, or the one that we wait for. */
void mcc_asmp_receiver_follow_source (MccAsmpReceiver *self, uint32_t ssrc);

/* mccasmpreceiverreport.c */
MccAsmpScheduleInput mcc_asmp_receiver_schedule_input (const MccAsmpReceiver *self);
void mcc_asmp_receiver_send_report (MccAsmpReceiver *self);

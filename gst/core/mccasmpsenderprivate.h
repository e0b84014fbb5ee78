/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsenderprivate: what the files of the ASMP sender share; for mccasmpsender*.c only.
 */
#pragma once

#include "mccasmpschedule.h"
#include "mccasmpsender.h"
#include "mccbucket.h"
#include "mcccarried.h"
#include "mcckeyunit.h"
#include "mccmeter.h"
#include "mccreceivers.h"
#include "mccrng.h"
#include "mccseq.h"

/* The papers' and standards' constants. */
#define MCC_SENDER_RTT_FALLBACK (500 * MCC_MSECOND) /* RFC 4654 3.1, before any RTT is known */
#define MCC_SENDER_ROUND_RTTS 6                     /* RFC 4654 3.4: a feedback round */
#define MCC_SENDER_NO_FEEDBACK_INTERVALS 4          /* RFC 5348 4.3 halves after 4 R */
#define MCC_SENDER_BREAKER 10.0                     /* RFC 8083 4.3 */
#define MCC_SENDER_RTCP_INTERVAL (5 * MCC_SECOND)   /* RFC 3550 6.2 minimum */
#define MCC_SENDER_PUBLISHED_EXPIRY_INTERVALS 5     /* RFC 3550 6.3.5 */
#define MCC_SENDER_PLAIN_EXPIRY (25 * MCC_SECOND)   /* 5 x 5 s, the same */

/* Ours; docs/deviations.md. */
#define MCC_SENDER_PACKET_BYTES 1200.0 /* before one was sent */
#define MCC_SENDER_RTT_COUNTED                                                                     \
  (2 * MCC_SECOND) /* more of one receiver does not slow the others                                \
                    */
#define MCC_SENDER_MAX_RECEIVERS 4096
#define MCC_SENDER_LARGE MCC_ASMP_FEW_RECEIVERS
#define MCC_SENDER_LIMIT_LIFE (5 * MCC_SECOND) /* of what one of so many reported */
#define MCC_SENDER_ASSUMED 0.8                 /* of the equation: packet sizes differ */
#define MCC_SENDER_EXPIRY_INTERVALS 3
#define MCC_SENDER_EXPIRY_RTTS 10
#define MCC_SENDER_EXPIRY_MIN (2 * MCC_SECOND)
#define MCC_SENDER_EXPIRY_LIMITING (8 * MCC_SECOND)
#define MCC_SENDER_EXPIRY_LEAVING MCC_SECOND         /* said LEAVING, but no BYE came */
#define MCC_SENDER_INTERVAL_MAX (300 * MCC_SECOND)   /* expected interval of one receiver */
#define MCC_SENDER_ABSENCE_GRACE (500 * MCC_MSECOND) /* to read the reports that waited */
#define MCC_SENDER_NO_FEEDBACK_MIN (2 * MCC_SECOND)
#define MCC_SENDER_NO_FEEDBACK_INTERVAL_MAX (5 * MCC_SECOND)
#define MCC_SENDER_PROBATION_REPORTS 2
#define MCC_SENDER_PROBATION_INTERVAL (5 * MCC_SECOND)
#define MCC_SENDER_SEQ_AHEAD 1000                 /* a report may overtake handle_sent() */
#define MCC_SENDER_RESTART_BACK 16                /* fewer reports back is reordering */
#define MCC_SENDER_RISE_PERIOD (10 * MCC_MSECOND) /* a step of the rise is no finer */
#define MCC_SENDER_RETURN_PERIOD (250 * MCC_MSECOND)
#define MCC_SENDER_PLAIN_RISE_PERIOD MCC_SECOND
/* An interval of a plain player's loss: with fewer packets one lost reads as more than 3 %. RFC
 * 3550's least regular interval, however few they are. */
#define MCC_SENDER_PLAIN_PACKETS 32
#define MCC_SENDER_PLAIN_INTERVAL (5 * MCC_SECOND)
#define MCC_SENDER_FULL_HOLD (8 * MCC_SECOND) /* no rise after a newcomer was refused */
#define MCC_SENDER_APP_WINDOW (2 * MCC_SECOND)
#define MCC_SENDER_APP_LAST (1 * MCC_SECOND)
#define MCC_SENDER_APP_MIN (500 * MCC_MSECOND)
#define MCC_SENDER_APP_PERIOD (100 * MCC_MSECOND)
#define MCC_SENDER_SESSION_INTERVAL (500 * MCC_MSECOND)
#define MCC_SENDER_SESSION_BURST 5
#define MCC_SENDER_SESSION_FIRST 3
#define MCC_SENDER_SESSION_BORROW 2
#define MCC_SENDER_CAPS_INTERVAL (2 * MCC_SECOND) /* strings at least so often, if affordable */
#define MCC_SENDER_CAPS_REPEAT 2                  /* changed ones: one packet may be lost */
#define MCC_SENDER_COMPOUND_BYTES 96.0            /* SR and SDES, IP and UDP */
#define MCC_SENDER_REPORT_BYTES 152.0             /* a receiver's compound */
#define MCC_SENDER_RTT_LIST_BYTES 16.0
#define MCC_SENDER_RTT_ENTRY_BYTES 12.0
#define MCC_SENDER_RTT_LIST_TIME MCC_SECOND /* of the budget, with its announcement ... */
#define MCC_SENDER_RTT_LEAST 4              /* ... but so many RTTs at least */
#define MCC_SENDER_RTT_LEAST_NEW 16         /* ... while some of a large group never got one */

/* Trust; docs/deviations.md. */
#define MCC_SENDER_CONTRADICTION 2.0       /* times its claim arrive, and its loss and RTT allow */
#define MCC_SENDER_CONTRADICTION_KEPT 1.25 /* ... of one in quarantine */
#define MCC_SENDER_CONTRADICTED_S 20.0     /* so long */
#define MCC_SENDER_PINNED_S 20.0      /* or so long without a rise, with neither loss nor queue */
#define MCC_SENDER_PINNED_AGAIN_S 5.0 /* ... of a suspect's host */
#define MCC_SENDER_PINNED_RISE 1.02
#define MCC_SENDER_QUEUELESS (2 * MCC_MSECOND)
#define MCC_SENDER_REPENT 0.25       /* of the time without contradiction makes up for it */
#define MCC_SENDER_LEAVE_S 20.0      /* below the minimum: asked to leave */
#define MCC_SENDER_LEAVE_ALLOWED 0.5 /* of the minimum, by loss and RTT */
#define MCC_SENDER_LEFT_S 25.0       /* ... and counted no more */
#define MCC_SENDER_LEAVE_OTHERS 1.25 /* times the minimum: what another one could have */
#define MCC_SENDER_JUDGED_MAX (8 * MCC_SECOND) /* that one report stands for */
#define MCC_SENDER_HOSTS 1024
#define MCC_SENDER_HOST_PER_S 4.0 /* newcomers of one host */
#define MCC_SENDER_HOST_BURST 64.0
#define MCC_SENDER_SITE_PER_S 16.0 /* ... of an IPv6 /64 */
#define MCC_SENDER_SITE_BURST 256.0
#define MCC_SENDER_SHARE 4        /* of a table that is half full: that part for one host ... */
#define MCC_SENDER_STRANGERS 4    /* a quarter of the table for all of them ... */
#define MCC_SENDER_SHARE_LEAST 64 /* ... but so many in any case */
#define MCC_SENDER_PROBATION_TIME (2 * MCC_SECOND)  /* enough for a second report */
#define MCC_SENDER_CONTENDED_TIME (60 * MCC_SECOND) /* for a name that another one holds */
#define MCC_SENDER_LEFT_AGAIN                                                                      \
  (2 * MCC_SECOND) /* what a stay counts at least: a leave is no pardon */
#define MCC_SENDER_SUSPECTS 32
#define MCC_SENDER_SUSPECT_TIME (300 * MCC_SECOND)
#define MCC_SENDER_STUCK_REPORTS 5 /* RFC 8083 4.2 */
#define MCC_SENDER_STUCK_TIME (5 * MCC_SECOND)

#define MCC_SENDER_TARGETS 16 /* queued actions of each kind */
#define MCC_SENDER_RECEIVERS 64

/* How the target may rise towards what the receivers allow. */
typedef enum {
  MCC_RISE_FREE,   /* at once: the limiting receiver raised its own rate */
  MCC_RISE_PACKET, /* one packet per RTT each RTT: the limit went away */
  MCC_RISE_DOUBLE  /* doubling: feedback came back */
} MccRise;

typedef struct {
  uint64_t target_bps, previous_bps;
  MccTargetReason reason;
  uint32_t ssrc;
  MccAddress address;
} MccTargetChange;

typedef struct {
  uint32_t ssrc;
  MccAddress address;
  MccReceiverState state;
  MccQuarantine quarantine;
} MccReceiverChange;

/* A host whose receiver was quarantined, or left while it limited: neither a new name helps it nor
 * that it goes and comes back. */
typedef struct {
  MccAddress host;          /* port 0 */
  MccQuarantine quarantine; /* NONE: it was not, what counts against it goes on */
  MccTime until;
  float contradicted_s, pinned_s, below_s, pinned_bps; /* as MccReceiver's */
} MccSuspect;

/* Those whose addresses, of IPv6 their /64, fall on one place. */
typedef struct {
  MccBucket newcomers;
  uint32_t held; /* places in the table */
} MccSite;

struct MccAsmpSender {
  MccAsmpSenderConfig config;
  MccTime now; /* of the newest call */
  MccRng rng;
  MccReceivers receivers;
  uint32_t active, active_plain, quarantined;
  MccTime admitted; /* the newest one's `since` */
  struct {
    uint32_t ssrc;
    MccTime time;
  } joined[2]; /* who came last, and before, of those who are members */
  struct {
    uint32_t ssrc;
    MccAddress address;
  } named;              /* by a block about our media, and not known: its report is beside it */
  uint32_t strangers;   /* ... of the unproven */
  uint32_t unproven;    /* nobody has seen that they hear us: no members yet */
  uint32_t active_deaf; /* ... that do not heed ECN marks */

  /* Target. */
  uint64_t start_bps; /* config.start_bps within the bounds */
  uint64_t target_bps;
  MccTargetReason reason;
  uint32_t limiting;     /* slot */
  MccTime limiting_told; /* named in an announcement; MCC_TIME_NONE: not yet */
  MccRise rise;
  MccTime rise_since; /* the limit went away */
  MccTime rise_next;
  uint64_t back_bps;  /* at once to this: carried before by all who stay; 0: nothing known */
  MccTime back_until; /* ... and that is no less because little was sent before */
  bool rising;        /* the receivers allow more than the target */
  MccTime plain_rise_next;
  MccTime full_until; /* no rise before */
  MccTime app_next;   /* look at the rate sent again */

  /* Feedback. */
  MccTime last_feedback; /* newest report of an active receiver, or the start */
  MccTime feedback_interval;
  MccTime report_interval; /* all are asked for; 0: not */
  MccTime halve_next;      /* while lost */
  MccTime absent_until;    /* nobody expires, no RTT is measured before */
  bool heard, lost, stopped, ended;
  bool awaited; /* a first report has put off the end of waiting for feedback */
  bool told_heard, told_lost, told_stopped;

  MccBucket host[MCC_SENDER_HOSTS]; /* newcomers, by a hash of their address ... */
  MccSite site[MCC_SENDER_HOSTS];   /* ... and of what one host may have many of */
  uint64_t host_seed;
  MccSuspect suspect[MCC_SENDER_SUSPECTS];
  unsigned suspect_next;

  /* Sent. */
  MccMeter sent;
  MccCarried carried; /* of what was sent; what receivers could not take was not sent for long */
  bool meter_started;
  double packet_bytes;
  MccSeq sent_seq; /* of the newest packet */

  /* Announcement. */
  bool session_is_max;     /* the session's bandwidth is max_bps: nobody said otherwise */
  MccTime session_last;    /* MCC_TIME_NONE: none yet */
  MccTime session_told;    /* the newest one, or another stream's that carried it */
  double session_bytes;    /* size of the newest one */
  double session_owed;     /* bytes sent ahead of the budget */
  uint64_t session_target; /* as last announced */
  bool session_urgent;
  MccAppSession caps;        /* its caps fields are what is announced of the stream */
  double bytes, short_bytes; /* of a compound with the strings, without */
  MccTime caps_last;         /* the strings were announced; MCC_TIME_NONE: not these */
  unsigned caps_wanted;      /* in the next so many announcements */
  uint32_t round;
  MccTime round_start;
  uint64_t suppress_bps;
  MccAppSession session;
  MccAppRttList rtt_list;
  uint64_t answers; /* RTTs sent: who was answered in one list keeps its turn */

  MccKeyUnit key_unit;

  MccTargetChange target_change[MCC_SENDER_TARGETS];
  unsigned targets;
  MccPacing pacing; /* told */
  MccPacing beside; /* of who limited last, at ... */
  MccTime limited;  /* MCC_TIME_NONE: nobody did */
  MccTime asked;    /* somebody for pairs, newest; MCC_TIME_NONE: nobody */
  MccReceiverChange receiver_change[MCC_SENDER_RECEIVERS];
  unsigned receiver_first, receiver_changes;
  MccTrace trace;
  uint64_t reports;
  uint64_t dropped[MCC_DROP_COUNT];
};

static inline bool
mcc_asmp_sender_enhanced (const MccAsmpSender *self)
{
  return self->config.variant == MCC_VARIANT_ENHANCED;
}

static inline MccReceiver *
mcc_asmp_sender_limiting (const MccAsmpSender *self)
{
  return self->limiting != MCC_RECEIVERS_NONE ? &self->receivers.slot[self->limiting] : NULL;
}

/* Whose rate the target is (or would be, were it not below min): who is told of as limiting. */
static inline const MccReceiver *
mcc_asmp_sender_named (const MccAsmpSender *self)
{
  bool limits = self->reason == MCC_TARGET_RECEIVER || self->reason == MCC_TARGET_MIN;
  return limits ? mcc_asmp_sender_limiting (self) : NULL;
}

/* mccasmpsender.c */
/* Whether media packets should be ECT from the next announcement on. */
bool mcc_asmp_sender_wants_ect (const MccAsmpSender *self);
void mcc_asmp_sender_advance (MccAsmpSender *self, MccTime now);
MccDrop mcc_asmp_sender_drop (MccAsmpSender *self, MccDrop drop, uint32_t ssrc);
void mcc_asmp_sender_push_target (MccAsmpSender *self, uint64_t previous_bps);
void mcc_asmp_sender_push_receiver (MccAsmpSender *self, const MccReceiver *receiver);

/* mccasmpsenderadmit.c: who may become one. */
/* Room for a newcomer, by a @plain player's report or one of ours; NULL: *drop says why. */
MccReceiver *mcc_asmp_sender_admit (
    MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, bool plain, MccDrop *drop);
/* @receiver has shown that it hears us, or goes. */
void mcc_asmp_sender_no_stranger (MccAsmpSender *self, MccReceiver *receiver);
/* @receiver goes. */
void mcc_asmp_sender_give_back (MccAsmpSender *self, const MccReceiver *receiver);
/* Whether @receiver is the one that its SSRC means: the active one, of those who came first. */
bool mcc_asmp_sender_holds_name (const MccAsmpSender *self, const MccReceiver *receiver);
/* ... or it has to wait until that one is gone. */
bool mcc_asmp_sender_waits_for_name (const MccAsmpSender *self, const MccReceiver *receiver);

/* mccasmpsendermembers.c: who is a receiver, and for how long. */
MccTime mcc_asmp_sender_receiver_rtt (const MccReceiver *receiver); /* 0 = unknown */
MccTime mcc_asmp_sender_rtt_max (const MccAsmpSender *self);        /* 0 = none known */
MccTime mcc_asmp_sender_group_interval (const MccAsmpSender *self);
/* How often @receiver reports, about: its own spacing, and what the budget gives it, or all are
 * asked for. */
MccTime mcc_asmp_sender_interval (const MccAsmpSender *self, const MccReceiver *receiver);
/* Whether @receiver may hear the media: who does not cannot know its SSRC (wants_block). */
bool mcc_asmp_sender_hears (const MccAsmpSender *self, const MccReceiver *receiver);
/* @receiver is one. */
void mcc_asmp_sender_prove (MccAsmpSender *self, MccReceiver *receiver);
/* A valid report of @receiver came: spacing, expiry, probation. */
void mcc_asmp_sender_touch (MccAsmpSender *self, MccReceiver *receiver);
/* Its RR without a report came: it lives. */
void mcc_asmp_sender_keep (MccAsmpSender *self, MccReceiver *receiver);
/* MCC_DROP_NONE when @receiver counts (it is made active when its probation has passed). */
MccDrop mcc_asmp_sender_settle (MccAsmpSender *self, MccReceiver *receiver);
void mcc_asmp_sender_remove (MccAsmpSender *self, MccReceiver *receiver, MccReceiverState state);
void mcc_asmp_sender_expire (MccAsmpSender *self);
MccTime mcc_asmp_sender_next_expiry (const MccAsmpSender *self);

/* mccasmpsendertrust.c: what is believed of a receiver. */
/* Enters what it reported into the order of rates, if it counts. */
void mcc_asmp_sender_apply_limit (MccAsmpSender *self, MccReceiver *receiver);
/* Its report of what it has received: is that more than the last time? */
void mcc_asmp_sender_note_progress (
    MccAsmpSender *self, MccReceiver *receiver, uint32_t highest_seq);
/* @receiver reports again: was what it said until now credible? Before the new report is taken. */
void mcc_asmp_sender_judge (MccAsmpSender *self, MccReceiver *receiver);
/* @receiver becomes active, or is no plain player any more. */
void mcc_asmp_sender_inherit (MccAsmpSender *self, MccReceiver *receiver);
/* ... and goes: what counts against it is kept. */
void mcc_asmp_sender_remember (MccAsmpSender *self, MccReceiver *receiver);
/* Whether what it says is feedback (RFC 8083 4.1, 4.2). */
bool mcc_asmp_sender_is_feedback (const MccAsmpSender *self, const MccReceiver *receiver);
/* Whether the limiting receiver is asked to leave. */
bool mcc_asmp_sender_asks_to_leave (const MccAsmpSender *self);

/* mccasmpsendertarget.c: the target's laws. */
/* The rate sent over the last 2 s. */
uint64_t mcc_asmp_sender_sent_lately_bps (const MccAsmpSender *self);
void mcc_asmp_sender_update_target (MccAsmpSender *self);
void mcc_asmp_sender_feedback (MccAsmpSender *self, const MccReceiver *receiver);
void mcc_asmp_sender_plain_rise (MccAsmpSender *self, const MccReceiver *receiver);
void mcc_asmp_sender_target_timeout (MccAsmpSender *self);
MccTime mcc_asmp_sender_target_next (const MccAsmpSender *self);
/* The limiting receiver has @left, was not heard for too long, or is no longer believed. */
void mcc_asmp_sender_limit_gone (MccAsmpSender *self, bool left);
MccTime mcc_asmp_sender_round_length (const MccAsmpSender *self);

/* mccasmpsendersession.c: announcements and the RTT list. */
void mcc_asmp_sender_session_init (MccAsmpSender *self);
void mcc_asmp_sender_round_report (MccAsmpSender *self, const MccReceiver *receiver);
void mcc_asmp_sender_measure (
    MccAsmpSender *self, MccReceiver *receiver, const MccAppReport *report);
/* @receiver has no caps yet. */
void mcc_asmp_sender_want_caps (MccAsmpSender *self);
/* The budget has paid until @now. */
void mcc_asmp_sender_session_advance (MccAsmpSender *self, MccTime now);
MccTime mcc_asmp_sender_session_next (const MccAsmpSender *self);
/* Fills in session and rtt_list; they count as sent. */
void mcc_asmp_sender_session_build (MccAsmpSender *self);

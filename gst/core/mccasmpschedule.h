/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpschedule: when an ASMP receiver reports (RFC 3550 6.3, RFC 4585 3.5, ASMP eq. 20).
 *
 * Of the RTCP bandwidth (mccrtcp.h) 3/4 are the receivers', of which rtpsession's slow reports keep
 * 20 %; `enhanced` gives MCC_RTCP_LIMITING_SHARE to the limiting receiver, the rest to all others.
 * Laws:
 *  - Two reports are never closer than MCC_RTCP_MIN_INTERVAL.
 *  - A regular interval is Td x U(0.5, 1.5)/1.21828 (the limiting receiver's: max (RTT, its share),
 *    not randomised). An early report is paid for: the next regular one moves by the interval that
 *    it saved. With two intervals of debt there is one early report an interval, at least every
 *    5 s: debt delays bad news, but does not silence it.
 *  - Who has reported less than the announced target reports as the limiting receiver does until
 *    the sender has had the time to answer, or somebody reports less: the announcement that would
 *    ask for it may be lost in the very queue that overflows.
 *  - First: at once in a small group; else nearly a second after the start, and while more others
 *    report for the first time than the budget bears, later by what these take (timer
 *    reconsideration, RFC 3550 6.3.3). So do many who move from one stream to another together, and
 *    all who begin anew with another sender, or with one that was gone: all of the group do.
 *  - Early (enhanced): the rate fell below the announced target. At once in a small group and in
 *    the first seconds of one who came alone, else after mcc_suppress_wait(), and not at all when a
 *    heard report, or the round's suppressing rate that the sender announces, covers it. Heard
 *    reports that the sender, heard since, does not follow cover nothing any more.
 *  - Regular reports with an interval above MCC_SUPPRESS_INTERVAL wait likewise and may be covered,
 *    but never two in a row.
 */
#pragma once

#include "mccdistinct.h"
#include "mccrtcp.h"
#include "mccsuppress.h"
#include "mcctypes.h"

#define MCC_ASMP_FEW_RECEIVERS 16            /* early reports of so few need no suppression */
#define MCC_ASMP_MANY_TIME (30 * MCC_SECOND) /* in which each of more has reported; ours */

/* What the schedule must know each time. */
typedef struct {
  MccTime now;
  uint64_t target_bps;  /* announced (else the start rate) */
  uint64_t session_bps; /* session-bandwidth */
  unsigned members;     /* announced receivers */
  bool limiting;        /* the sender names us as the limiting one */
  bool nobody_limits;   /* ... or nobody */
  bool moves;           /* from another stream of this sender, and many may do so with us */
  MccTime announced;    /* when that was heard; 0 = never */
  MccTime rtt, rtt_max;
  MccTime announce_interval; /* smoothed */
  uint64_t rate_bps;
  bool no_limit;
  uint32_t round;
  uint64_t suppress_bps; /* UINT64_MAX = none */
} MccAsmpScheduleInput;

typedef struct {
  MccVariant variant;
  bool hears_group;
  MccTime fixed; /* 0 = RTCP rules */
  MccTime least; /* published, RTCP rules: of Td */
  double compound_bytes;
  MccRng rng;
  bool active;
  MccTime joined;
  MccTime last;            /* last report, to whomever; MCC_TIME_NONE before the first */
  bool spoke;              /* ... to this sender */
  MccTime next;            /* regular; MCC_TIME_NONE while inactive */
  MccTime early;           /* MCC_TIME_NONE = none planned */
  MccTime interval;        /* that the regular report was planned with */
  MccTime debt;            /* intervals that early reports saved */
  bool waiting;            /* a regular report is in its suppression wait */
  bool skipped;            /* the previous regular one was covered */
  unsigned sent;           /* reports since the start, at most 2 */
  bool unconfirmed;        /* the first report said less than the target: the next need not wait */
  bool postponed;          /* the first report had to make room for others' */
  bool alone;              /* ... it had not to, and was the only one so far */
  MccTime claimed;         /* reported less than the target then; MCC_TIME_NONE: no, or answered */
  bool limiting;           /* the regular report is planned as the limiting receiver's */
  MccDistinct joiners;     /* who reported before we did */
  MccTime counted;         /* ... since then */
  unsigned members_before; /* announced then, or by the first announcement */
  bool counts_members;     /* ... which was heard */
  bool wary;               /* several streams: whoever joins does so with everybody */
  bool uncounted;          /* ... or begins anew, and before a sender counted anybody */
  bool crowd;              /* the first report waits as if many joined */
  bool moves;              /* ... from another stream */
  uint64_t reported_bps;   /* UINT64_MAX: no limit */
  uint64_t heard_bps;      /* lowest lately heard; UINT64_MAX none */
  uint32_t heard_ssrc;
  MccTime heard_time;
  MccTime withheld;   /* heard reports keep an early one back since; MCC_TIME_NONE: no */
  MccTime deaf_until; /* the sender does not heed what is heard: nor do we */
  uint32_t round;
} MccAsmpSchedule;

typedef enum { MCC_SCHEDULE_WAIT, MCC_SCHEDULE_SEND, MCC_SCHEDULE_SUPPRESSED } MccScheduleVerdict;

void mcc_asmp_schedule_init (MccAsmpSchedule *self, MccVariant variant, bool hears_group,
    MccTime fixed, double compound_bytes, uint64_t seed);
/* There is something to report about: plans the first report. */
void mcc_asmp_schedule_start (MccAsmpSchedule *self, const MccAsmpScheduleInput *input);
/* The next report, if any, as soon as it may leave. */
void mcc_asmp_schedule_hurry (MccAsmpSchedule *self, MccTime now);
void mcc_asmp_schedule_stop (MccAsmpSchedule *self);
/* Another sender, or this one was gone: the next start is with everybody, as a newcomer's is. */
void mcc_asmp_schedule_forget (MccAsmpSchedule *self);
/* A decision was made or an announcement came. SUPPRESSED: a planned one has become needless. */
MccScheduleVerdict mcc_asmp_schedule_update (
    MccAsmpSchedule *self, const MccAsmpScheduleInput *input);
/* Somebody's report was heard. */
MccScheduleVerdict mcc_asmp_schedule_handle_heard (MccAsmpSchedule *self, uint32_t ssrc,
    uint64_t rate_bps, bool no_limit, const MccAsmpScheduleInput *input);
/* SEND: report now, then call _sent(). */
MccScheduleVerdict mcc_asmp_schedule_handle_timeout (
    MccAsmpSchedule *self, const MccAsmpScheduleInput *input);
void mcc_asmp_schedule_sent (MccAsmpSchedule *self, const MccAsmpScheduleInput *input);
MccTime mcc_asmp_schedule_next_timeout (const MccAsmpSchedule *self);

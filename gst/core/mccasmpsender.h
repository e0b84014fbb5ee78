/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsender: an ASMP sender.
 *
 * Keeps the last rate of every receiver; target = min over receivers, clamped to [min, max] (ASMP
 * eq. 1). Laws:
 *  - The minimum is found in O(log n); a receiver costs <= 256 bytes; never more than
 *    max_receivers.
 *  - A receiver is the pair (SSRC, address). A known SSRC from another address is a new receiver on
 *    probation (2 valid reports) and replaces the old one, be that on probation itself, only once
 *    that is silent for its expiry; its BYE counts for itself alone.
 *    After 60 s of it one from another host is a member beside it, whom no RTT list answers.
 *  - enhanced, with wants_block: and it has named our media's SSRC in a report block, which who
 *    does not hear the media cannot guess (32 bits; an echo of any of 10 s would fit).
 *  - A report's number is newer than the last (RFC 1982), or it is the second in sequence of a
 *    restart: more than 16 back, when the old numbers have been silent for twice their spacing.
 *  - A report of packets that were not sent yet is BAD_VALUE.
 *  - enhanced, more than 16 receivers: what one that does not limit reported counts for max (5 s,
 *    2 rounds). One without an RTT limits by the RTT that we measured.
 *  - enhanced: a receiver's rate counts as at most 10 x what the TCP equation gives for its loss
 * and RTT (RFC 8083 4.3).
 *  - Expiry = max (3 expected report intervals, 10 RTT, 2 s); expected: its own smoothed spacing,
 *    at least what the RTCP budget gives it (twice that where suppression may skip one), as it is
 *    when the time is over: the target may have fallen since. The limiting receiver: <= 8 s from
 *    its last report or from when it was first named. published: 5 intervals (RFC 3550 6.3.5).
 *    Plain players: 25 s.
 *  - Time in which the host did not call although it was due (MCC_TIME_ABSENCE) makes nobody
 * expire, is no lack of feedback, and reports that waited meanwhile measure no RTT.
 *  - A full table never drops a receiver that is known to hear us for a newcomer, and stops rises
 *    for 8 s, if that hears us. All who may not have a quarter of it, or 64 places: the oldest of
 *    them makes room.
 *  - Of a table that is more than half full no host (of IPv6 no /64) gets more than a quarter, or
 *    64 places: who would be one too many is refused, and stops no rise.
 *  - published: the target follows the minimum at once. enhanced: falls at once; a rise that the
 *    limiting receiver itself reports at once; when the limit goes away (expiry, BYE, another
 *    receiver limits) at most one packet per RTT each RTT (RFC 4654 3.3), after one feedback round
 *    (max (6 RTT, 500 ms)) when it left, and only while somebody reports. Nobody limits: no rise.
 *  - enhanced: target <= max (start, 2 x the rate really sent over the last 2 s, or over the last
 *    second where that is more: a target that is filled may double every 0.44 s).
 *  - No feedback (from the first packet on), or none any more: halve per max (4 report intervals,
 *    2 s) down to min; a message; or hold, or stop after one more period at min. Feedback that
 *    returns doubles the rate per max (RTT, 250 ms) at most, up to what is reported.
 *  - The largest RTT, which rounds, announcements and key units wait for, and the limiting
 *    receiver's, which paces a rise, count up to 2 s: one receiver's claim must not slow all.
 *  - Key-unit requests: at most one per max (0.7 s, 2 x the largest RTT); see mcckeyunit.h.
 *  - ECN (enhanced, config.ecn): ECT(0) while there are receivers, and all of them say that they
 *    heed marks (RFC 6679 7.2: not before all are known to). One that does not, be it a plain
 *    player or behind a path whose marks say nothing, ends it for all.
 *  - Announcements: mccasmpsendersession.c.
 * Allocates only when the receiver table grows.
 */
#pragma once

#include "mccapp.h"
#include "mccpacing.h"
#include "mccplain.h"
#include "mcctrace.h"

typedef struct MccAsmpSender MccAsmpSender;

typedef enum { MCC_NO_FEEDBACK_MINIMUM, MCC_NO_FEEDBACK_HOLD, MCC_NO_FEEDBACK_STOP } MccNoFeedback;

typedef struct {
  MccVariant variant;
  uint32_t ssrc; /* of our RTP and RTCP, 0 = not known yet: nothing is announced before */
  uint64_t seed;
  uint64_t min_bps, max_bps, start_bps;
  uint64_t session_bandwidth_bps; /* 0 = max_bps */
  uint32_t max_receivers;         /* 4096 */
  MccNoFeedback no_feedback;
  bool ecn;            /* enhanced: media may be sent as ECT(0); mcc_asmp_sender_ect() */
  MccAddress feedback; /* announced; family 0 = none */
  uint8_t ttl;
  bool keeps_slow;  /* who is below min_bps slows nobody (ELM): it is not asked to leave */
  bool one_of_many; /* streams (ASSP): who leaves this one is not gone, and comes back */
  bool wants_block; /* enhanced: the host tells of report blocks: mcc_asmp_sender_handle_block() */
  bool idles; /* media may stop for want of receivers: while none was sent lately nobody names it */
  uint32_t more_bytes;  /* of what the host adds to each announcement: the budget pays for it */
  uint32_t srtcp_bytes; /* what SRTCP adds to each compound, ours and receivers'; 0 = no key */
} MccAsmpSenderConfig;

/* docs/asmpsink.md has their names and meaning (reason). */
typedef enum {
  MCC_TARGET_START, /* no receiver limits (yet) */
  MCC_TARGET_RECEIVER,
  MCC_TARGET_NO_FEEDBACK,
  MCC_TARGET_MAX,
  MCC_TARGET_MIN,
  MCC_TARGET_APP_LIMITED,
  MCC_TARGET_PACER /* the host's: for its pacer the encoder gets less than the target */
} MccTargetReason;

const char *mcc_target_reason_name (MccTargetReason reason);

typedef enum {
  MCC_RECEIVER_PROBATION,
  MCC_RECEIVER_ACTIVE,
  MCC_RECEIVER_LEFT,
  MCC_RECEIVER_TIMED_OUT,
  MCC_RECEIVER_QUARANTINED, /* a member, but its claims do not count: MccQuarantine says why */
  MCC_RECEIVER_MOVED        /* left, for another stream of ours */
} MccReceiverState;

/* Why a receiver's claims do not count (enhanced); mccasmpsendertrust.c. */
typedef enum {
  MCC_QUARANTINE_NONE,
  MCC_QUARANTINE_CONTRADICTED, /* its own loss, RTT and queue contradict what it claims */
  MCC_QUARANTINE_BELOW_MINIMUM /* its path does not bear min_bps; it was asked to leave */
} MccQuarantine;

const char *mcc_quarantine_name (MccQuarantine quarantine);

const char *mcc_receiver_state_name (MccReceiverState state);

typedef enum {
  MCC_SENDER_TARGET,         /* target_bps, previous_bps, reason, ssrc = limiting */
  MCC_SENDER_SEND_SESSION,   /* session (and rtt when rtt->count > 0): send SR + SDES + APP now; the
                                host fills in send_time and media_ssrc */
  MCC_SENDER_RECEIVER,       /* ssrc, address, state, quarantine */
  MCC_SENDER_FEEDBACK_LOST,  /* no feedback (any more) */
  MCC_SENDER_FEEDBACK_FOUND, /* first or again */
  MCC_SENDER_STOP,           /* no-feedback=stop: stop media, keep announcing */
  MCC_SENDER_RESUME,
  MCC_SENDER_KEY_UNIT, /* ask the encoder for a key unit now */
  MCC_SENDER_PACING    /* pacing: how packets leave from now on; mcc_pacing_default before */
} MccSenderActionType;

typedef struct {
  MccSenderActionType type;
  uint32_t ssrc;
  MccAddress address;
  MccReceiverState state;
  MccQuarantine quarantine;
  uint64_t target_bps, previous_bps;
  MccTargetReason reason;
  MccPacing pacing;
  const MccAppSession *session; /* valid until the next call */
  const MccAppRttList *rtt;
} MccSenderAction;

/* One receiver, for stats. */
typedef struct {
  uint32_t ssrc;
  MccAddress address;
  MccReceiverState state;
  MccQuarantine quarantine;
  bool no_limit;
  uint64_t rate_bps, received_bps;
  uint64_t potential_bps; /* ASSP: what it could take; 0 = not known; MCC_APP_RATE_MAX = any rate */
  unsigned level;         /* ELM */
  double loss_ratio;      /* without ECN marks */
  MccTime rtt;
  bool rtt_measured;
  MccTime jitter;
  MccTime age; /* since its last report */
  bool plain;  /* only plain RTCP receiver reports: a player that does not know us */
} MccReceiverInfo;

typedef struct {
  uint64_t target_bps, sent_bps;
  MccTargetReason reason;
  uint32_t limiting_ssrc; /* 0 = nobody */
  MccAddress limiting_address;
  uint32_t receivers;
  uint32_t quarantined; /* ... of them */
  MccTime rtt_max;
  uint64_t reports; /* accepted */
  bool ect;         /* mcc_asmp_sender_ect() */
  uint64_t dropped[MCC_DROP_COUNT];
} MccAsmpSenderStats;

MccAsmpSender *mcc_asmp_sender_new (const MccAsmpSenderConfig *config, MccTime now);
void mcc_asmp_sender_free (MccAsmpSender *self);
/* Bounds may change while running (0 < min <= max <= MCC_APP_RATE_MAX is the caller's duty). */
void mcc_asmp_sender_set_bounds (
    MccAsmpSender *self, uint64_t min_bps, uint64_t max_bps, MccTime now);
/* What RTCP is a part of (0 < bps <= MCC_APP_RATE_MAX is the caller's duty). */
void mcc_asmp_sender_set_session_bandwidth (
    MccAsmpSender *self, uint64_t session_bandwidth_bps, MccTime now);
void mcc_asmp_sender_set_no_feedback (MccAsmpSender *self, MccNoFeedback policy, MccTime now);
/* What the announcements say of the stream: payload_type, send_time_id, clock_rate and the strings
 * of @caps. False when they cannot be encoded; then no caps are announced. */
bool mcc_asmp_sender_set_caps (MccAsmpSender *self, const MccAppSession *caps, MccTime now);

/* A report that passed the host's screen. MCC_DROP_NONE: used. */
MccDrop mcc_asmp_sender_handle_report (MccAsmpSender *self, uint32_t ssrc,
    const MccAppReport *report, const MccAddress *from, MccTime now);
/* The same of one who counts in another stream of ours: needs no probation. */
MccDrop mcc_asmp_sender_handle_known_report (MccAsmpSender *self, uint32_t ssrc,
    const MccAppReport *report, const MccAddress *from, MccTime now);
/* A report block about our stream in a compound with APP, before that. */
void mcc_asmp_sender_handle_block (
    MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, MccTime now);
/* A report block about our stream in a compound without APP: a plain player. */
MccDrop mcc_asmp_sender_handle_plain_report (MccAsmpSender *self, uint32_t ssrc,
    const MccPlainReport *report, const MccAddress *from, MccTime now);
MccDrop mcc_asmp_sender_handle_bye (
    MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, MccTime now);
/* The same of one who reports in another stream of ours by now. */
MccDrop mcc_asmp_sender_handle_moved (
    MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, MccTime now);
/* All are asked to report so often (ELM's t_fb), whatever the budget would give them; 0: not. */
void mcc_asmp_sender_set_report_interval (
    MccAsmpSender *self, MccTime report_interval, MccTime now);
/* The level of its newest report (ELM); false: no such receiver. */
bool mcc_asmp_sender_get_level (
    const MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, unsigned *level);
/* Whether it is past its probation, and not only because no media was sent (wants_block). */
bool mcc_asmp_sender_counts (const MccAsmpSender *self, uint32_t ssrc, const MccAddress *from);
/* The number of its newest report; false: no such receiver. */
bool mcc_asmp_sender_get_number (
    const MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, uint32_t *number);
/* PLI or FIR from anyone, or the application. */
void mcc_asmp_sender_handle_key_unit_request (MccAsmpSender *self, MccTime now);
/* Whether any have. */
bool mcc_asmp_sender_has_sent (const MccAsmpSender *self);
/* The media has ended, and BYE was said: receivers have no reason to report until it begins again,
 * so that silence says nothing and halves nothing. */
void mcc_asmp_sender_set_ended (MccAsmpSender *self, bool ended, MccTime now);
/* Packets left: wire bytes; @highest_seq is the extended RTP number of the newest. */
void mcc_asmp_sender_handle_sent (
    MccAsmpSender *self, uint32_t packets, uint64_t bytes, uint32_t highest_seq, MccTime now);
/* The host drops something by its screen: counted with the core's own. For want of room
 * (TABLE_FULL): as _handle_unheard(). */
void mcc_asmp_sender_handle_dropped (MccAsmpSender *self, MccDrop drop, uint32_t ssrc, MccTime now);
/* Somebody, who may be the slowest, has found no room: no rise for 8 s. */
void mcc_asmp_sender_handle_unheard (MccAsmpSender *self, MccTime now);
/* It is announced at once; 0 = not known. */
void mcc_asmp_sender_set_ssrc (MccAsmpSender *self, uint32_t ssrc, MccTime now);
void mcc_asmp_sender_handle_timeout (MccAsmpSender *self, MccTime now);
MccTime mcc_asmp_sender_next_timeout (const MccAsmpSender *self);
bool mcc_asmp_sender_poll (MccAsmpSender *self, MccSenderAction *out);
bool mcc_asmp_sender_poll_trace (MccAsmpSender *self, MccTraceEvent *out);
/* Something outside the announcement that goes with it has changed: the next one does not wait. */
void mcc_asmp_sender_announce (MccAsmpSender *self, MccTime now);
/* enhanced: what another stream's announcement is to carry of this one (ASSP), without the caps'
 * strings; it counts as announced. NULL: it would say nothing new, own ones come as often, or
 * nobody is there. Valid until the next call. */
const MccAppSession *mcc_asmp_sender_piggyback (MccAsmpSender *self, MccTime now);
/* The newest announcement carries @bytes more, of other streams. */
void mcc_asmp_sender_carry (MccAsmpSender *self, size_t bytes);
/* ... its size, IP and UDP included. */
size_t mcc_asmp_sender_announced_bytes (const MccAsmpSender *self);
uint64_t mcc_asmp_sender_target_bps (const MccAsmpSender *self);
/* Whether media packets leave as ECT(0) now; to be asked after each call, for it is what the newest
 * announcement says, or less. */
bool mcc_asmp_sender_ect (const MccAsmpSender *self);
/* Receivers, those on probation included. */
uint32_t mcc_asmp_sender_members (const MccAsmpSender *self);
/* ... that count in intervals and laws of large groups: whoever forges reports without hearing us
 * must not make a group large. */
uint32_t mcc_asmp_sender_group (const MccAsmpSender *self);
void mcc_asmp_sender_get_stats (const MccAsmpSender *self, MccTime now, MccAsmpSenderStats *out);
/* The receiver number @i < members, each once, in no useful sequence, as long as nothing else is
 * called. O(1). */
void mcc_asmp_sender_get_receiver (
    const MccAsmpSender *self, uint32_t i, MccTime now, MccReceiverInfo *out);
/* Whether @a comes before @b where the slowest stand first: who does not limit, or is on probation,
 * stands last. */
bool mcc_receiver_info_slower (const MccReceiverInfo *a, const MccReceiverInfo *b);
/* The slowest @max receivers, slowest first, into @out; returns how many. O(n log n). */
unsigned mcc_asmp_sender_get_receivers (
    const MccAsmpSender *self, MccTime now, MccReceiverInfo *out, unsigned max);

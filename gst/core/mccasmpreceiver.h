/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpreceiver: an ASMP receiver (ASMP 2009, shared section "ASMP (single rate)").
 *
 * Follows one sender; computes a smooth TCP-friendly rate; reports it. Laws:
 *  - Not more than one report in MCC_RTCP_MIN_INTERVAL; all receivers together stay within the RTCP
 *    budget (mccrtcp.h); a receiver whose rate fell below the announced rate reports early.
 *  - Hearing a report that covers its own suspends it (mccsuppress.h), but at least one report
 *    leaves per participant time-out.
 *  - enhanced: rate <= max (start rate, 2 x the rate received lately); the first reports say
 *    NO_LIMIT until a rate was measured.
 *  - Time in which the host did not call although it was due is nobody's silence, and no rate is
 *    decided from it (MCC_TIME_ABSENCE).
 *  - Locks to the first sender that sends two packets in sequence (or to `source_ssrc`); another
 *    one is taken over only after the old one has been silent for MCC_ASMP_SOURCE_TIMEOUT, said
 *    BYE, or restarted on the same host (new SSRC, old one silent for 3 packet intervals).
 * No allocation after _new().
 */
#pragma once

#include "mccbreaker.h"
#include "mccapp.h"
#include "mccecn.h"
#include "mccloss.h"
#include "mccrate.h"
#include "mcctrace.h"

#define MCC_ASMP_SOURCE_TIMEOUT (2 * MCC_SECOND)

typedef struct MccAsmpReceiver MccAsmpReceiver;

typedef struct {
  MccVariant variant;
  uint32_t ssrc;        /* ours */
  uint32_t source_ssrc; /* follow this sender; 0 = the first */
  uint64_t seed;
  const MccLossMeasure *loss; /* NULL = the variant's: interval / lip */
  MccLossConfig loss_config;  /* history 0 = the variant's */
  MccTime report_interval;    /* published: fixed interval; 0 = RTCP rules (mccrtcp.h) */
  MccTime least_interval;  /* published, RTCP rules: Td is at least this; 0 = 1 s; RFC 3550: 5 s */
  bool unsmoothed;         /* published, experiments: gamma = 1 in ASMP eq. 14 */
  uint32_t compound_bytes; /* IP bytes of one of our compounds; 0 = 152 */
  uint32_t srtcp_bytes;    /* what SRTCP adds to each; 0 = no key */
  uint64_t start_bps;      /* until the sender announces one; 0 = 150000 */
  bool ecn;                /* the host reads the ECN bits of what comes */
  bool hears_group;        /* false with SSM or unicast feedback: nobody's reports are heard */
  bool unbounded;          /* the rate is not held within the announced bounds: of the sender's
                              streams this is one (ASSP) */
} MccAsmpReceiverConfig;

typedef enum {
  MCC_RECEIVER_SEND_REPORT,  /* report: encode as APP and send with RR + SDES now */
  MCC_RECEIVER_NEW_SOURCE,   /* ssrc: forward this sender's RTP from now on (reset downstream) */
  MCC_RECEIVER_SOURCE_LOST,  /* ssrc: BYE or silence */
  MCC_RECEIVER_OTHER_SENDER, /* ssrc: a second sender on the group is ignored (said once each) */
  MCC_RECEIVER_SESSION,      /* session: announcement that changed something beyond the rate */
  MCC_RECEIVER_RATE,         /* rate_bps: the estimate changed */
  MCC_RECEIVER_CEASE         /* breaker: leave the group, say BYE, and do not come back by yourself;
                                there are no more reports */
} MccReceiverActionType;

typedef struct {
  MccReceiverActionType type;
  uint32_t ssrc;
  uint64_t rate_bps;
  MccBreakerVerdict breaker;
  MccAppReport report;
  const MccAppSession *session; /* valid until the next call */
} MccReceiverAction;

typedef struct {
  uint32_t source_ssrc; /* 0 = none yet */
  uint64_t received_bps, estimated_bps, announced_bps;
  unsigned receivers; /* announced; 0: not known */
  double loss_ratio;  /* without marks */
  uint64_t packets_received, packets_lost, duplicates, reordered;
  uint64_t packets_marked; /* by queues (ECN); received, not lost */
  MccEcnPath ecn;
  MccTime rtt;
  bool rtt_measured;
  MccTime jitter, queue_delay;
  bool congested;
  MccRateMode mode;
  uint64_t reports_sent, reports_suppressed;
  uint64_t dropped[MCC_DROP_COUNT];
} MccAsmpReceiverStats;

MccAsmpReceiver *mcc_asmp_receiver_new (const MccAsmpReceiverConfig *config, MccTime now);
void mcc_asmp_receiver_free (MccAsmpReceiver *self);

/* An RTP packet arrived from @from (may be NULL when unknown). MCC_DROP_NONE: it belongs to the
 * sender we follow, pass it on. */
MccDrop mcc_asmp_receiver_handle_rtp (
    MccAsmpReceiver *self, const MccRtpPacket *packet, const MccAddress *from, MccTime now);
/* From now on the stream @media_ssrc of the same sender, over the same path; @session is its newest
 * announcement (NULL: none yet). RTT, queue and losses stay known; `published` keeps its rate,
 * `enhanced` measures it anew unless it competes. The first report leaves at once in a small group.
 */
void mcc_asmp_receiver_follow (MccAsmpReceiver *self, uint32_t media_ssrc,
    const MccAppSession *session, bool fresh, MccTime now);
/* Another sender: nothing that was measured from the old one holds. */
void mcc_asmp_receiver_forget (MccAsmpReceiver *self);
/* The stream that we followed has ended, and has not come back. */
bool mcc_asmp_receiver_is_lost (const MccAsmpReceiver *self);
/* Whether the sender may wait for our next report: in a large group who does not limit may leave
 * the stream for another one without a word, and is heard there. */
bool mcc_asmp_receiver_is_awaited (const MccAsmpReceiver *self);
/* Until @until (MCC_TIME_NONE: until told) no rate is decided, losses are not the network's, and
 * reports say NO_LIMIT. */
void mcc_asmp_receiver_hold (MccAsmpReceiver *self, MccTime until, MccTime now);
/* ... but while it holds, that @bps is our limit: known from before. 0: nothing. */
void mcc_asmp_receiver_claim (MccAsmpReceiver *self, uint64_t bps);
MccTime mcc_asmp_receiver_rtt (const MccAsmpReceiver *self);
uint64_t mcc_asmp_receiver_rate_bps (const MccAsmpReceiver *self);
/* The rate that reports say: with losses but before the RTT is measured, what the equation gives
 * for the initial one. */
uint64_t mcc_asmp_receiver_stated_bps (const MccAsmpReceiver *self);
/* What the path may carry if more were sent: the rate, but where no queue and no loss says that the
 * path limits it, what the TCP equation allows; UINT64_MAX: nothing speaks against any rate. 0: not
 * known yet. `published`: the rate. */
uint64_t mcc_asmp_receiver_potential_bps (const MccAsmpReceiver *self);
/* Others are on the path, as far as seen: it competes, or the queue is not ours. */
bool mcc_asmp_receiver_has_rivals (const MccAsmpReceiver *self);
/* The same as far as measured: without what only the present stream keeps us from. UINT64_MAX:
 * nothing speaks against any rate; 0: not known yet (`published`: never). */
uint64_t mcc_asmp_receiver_known_bps (const MccAsmpReceiver *self);
/* What is sent is far below what our losses allow, of which few say little. */
bool mcc_asmp_receiver_is_far_below (const MccAsmpReceiver *self);
/* The path was seen to carry so much and no more. */
void mcc_asmp_receiver_note_carried (MccAsmpReceiver *self, uint64_t bps, MccTime now);
#define MCC_ASMP_CEILING_SHARE 0.93 /* of what a path carries, a rate keeps to; ours */
/* What the link carried when it became slow all of a sudden; 0: it did not, in the last seconds. */
uint64_t mcc_asmp_receiver_slump_bps (const MccAsmpReceiver *self);
/* Until @until it may carry for another receiver what that one tries: what arrives says nothing of
 * what it could carry for us. */
void mcc_asmp_receiver_note_shared (MccAsmpReceiver *self, MccTime until, MccTime now);
/* Another receiver's report, of any stream, and what the sender measured from one: who is near has
 * about our RTT, until that is known (mccneighbours.h). `enhanced` only, and in groups of more than
 * MCC_ASMP_FEW_RECEIVERS: in a small one all have their own within seconds. */
void mcc_asmp_receiver_hear_report (
    MccAsmpReceiver *self, uint32_t ssrc, const MccAppReport *report, MccTime now);
void mcc_asmp_receiver_hear_rtts (MccAsmpReceiver *self, const MccAppRttList *list, MccTime now);
/* Whether the sender of this report, just heard, is behind the queue that stands before us: near,
 * and with about the same queue. */
bool mcc_asmp_receiver_shares_queue (
    const MccAsmpReceiver *self, uint32_t ssrc, const MccAppReport *report);
/* One who shares it says what a faster stream meets there, which we move to: the same is ours. */
void mcc_asmp_receiver_adopt (
    MccAsmpReceiver *self, uint64_t rate_bps, double loss_ratio, MccTime now);
/* Whether packets were lost, or a queue stood, within the last seconds. */
bool mcc_asmp_receiver_is_pressed (const MccAsmpReceiver *self);
/* ... and not before @since. */
bool mcc_asmp_receiver_pressed_only_since (const MccAsmpReceiver *self, MccTime since);
/* Whether nearly all that was sent lately has arrived. */
bool mcc_asmp_receiver_arrives (const MccAsmpReceiver *self);
/* `enhanced`, in a large group: whether a queue stood lately that is gone. */
bool mcc_asmp_receiver_is_relieved (const MccAsmpReceiver *self);
/* Packets that our own socket dropped (SO_RXQ_OVFL) since the last call: not network loss. */
void mcc_asmp_receiver_handle_host_dropped (MccAsmpReceiver *self, uint64_t packets, MccTime now);
/* A decoded APP packet: the sender's lists and announcements, other receivers' reports. */
MccDrop mcc_asmp_receiver_handle_app (MccAsmpReceiver *self, const MccApp *app, MccTime now);
/* Of several streams: whether this is the lowest, so that nothing lower can be asked for. */
void mcc_asmp_receiver_set_lowest (MccAsmpReceiver *self, bool lowest);
/* What describes the sender's streams comes from there (mccasmpsource.h). */
void mcc_asmp_receiver_set_host (MccAsmpReceiver *self, const MccAddress *host, MccTime now);
bool mcc_asmp_receiver_is_elsewhere (
    const MccAsmpReceiver *self, const MccAddress *from, MccTime now);
/* BYE of @ssrc. */
void mcc_asmp_receiver_handle_bye (MccAsmpReceiver *self, uint32_t ssrc, MccTime now);
/* Our SSRC changed (collision). */
void mcc_asmp_receiver_set_ssrc (MccAsmpReceiver *self, uint32_t ssrc);
void mcc_asmp_receiver_handle_timeout (MccAsmpReceiver *self, MccTime now);
MccTime mcc_asmp_receiver_next_timeout (const MccAsmpReceiver *self);
bool mcc_asmp_receiver_poll (MccAsmpReceiver *self, MccReceiverAction *out);
bool mcc_asmp_receiver_poll_trace (MccAsmpReceiver *self, MccTraceEvent *out);
void mcc_asmp_receiver_get_stats (
    const MccAsmpReceiver *self, MccTime now, MccAsmpReceiverStats *out);
/* The last report of a clean leave (sent with BYE). */
void mcc_asmp_receiver_leave (MccAsmpReceiver *self, MccAppReport *out, MccTime now);

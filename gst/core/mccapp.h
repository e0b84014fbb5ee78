/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccapp: codec of our RTCP APP packets (RFC 3550 6.7); the only place with byte offsets. The
 * layout, byte by byte, is docs/wire-format.md, with these names.
 *
 * decode (encode (x)) = x for every x whose fields are in range. Decoding checks every length
 * before it reads, leaves *out untouched on error, and never asserts on what it reads. Bytes
 * behind the known fields are ignored, so that later versions can append.
 */
#pragma once

#include <stddef.h>

#include "mcctypes.h"

#define MCC_APP_VERSION 1
#define MCC_APP_NAME "ASMP"
#define MCC_APP_HEADER_BYTES 12                     /* RTCP header, SSRC, name */
#define MCC_APP_REPORT_BYTES 64                     /* a whole report packet */
#define MCC_APP_RATE_MAX ((UINT64_C (1) << 48) - 1) /* bit/s; encoding a report saturates there */
#define MCC_APP_REPORT_RATE_MAX UINT64_C (100000000000) /* bit/s; nobody can have measured more */

/* Subtypes. */
#define MCC_APP_REPORT 1  /* receiver -> group or sender */
#define MCC_APP_RTT 2     /* sender -> group */
#define MCC_APP_SESSION 3 /* sender -> group */

/* MccAppReport.flags */
#define MCC_REPORT_RTT_MEASURED 0x01u /* rtt is measured, not the initial one */
#define MCC_REPORT_NO_LIMIT 0x02u     /* no limit known yet: rate says nothing */
#define MCC_REPORT_CONGESTED 0x04u    /* the congestion indicator says CONGESTED */
#define MCC_REPORT_ECHO 0x08u         /* echo and hold are valid (hold < 60 s: echo wraps at 64) */
#define MCC_REPORT_LOSS 0x10u         /* loss since the last report */
#define MCC_REPORT_LEAVING 0x20u      /* last report before BYE */
#define MCC_REPORT_KEY_UNIT 0x40u     /* first report: has no decodable picture yet */
#define MCC_REPORT_NO_CAPS 0x80u      /* has not heard the strings of an announcement yet */
/* MccAppReport.more_flags */
#define MCC_REPORT_PAIRS 0x01u /* asks for packets that leave together (mccpairs.h) */

/* MccAppReport.ecn: what the receiver makes of ECN marks. */
typedef enum {
  MCC_REPORT_ECN_NONE,     /* it does not see or heed them */
  MCC_REPORT_ECN_HEEDED,   /* it answers them as losses */
  MCC_REPORT_ECN_BLEACHED, /* it would, but its path takes ECT away */
  MCC_REPORT_ECN_BROKEN    /* it does not: its path's marks say nothing */
} MccReportEcn;

/* Receiver's report (subtype 1). */
typedef struct {
  uint32_t number;        /* report number, +1 each report, wraps */
  uint32_t flags;         /* 8 bits on the wire */
  uint32_t more_flags;    /* 8 bits on the wire; not ELM's */
  uint64_t rate_bps;      /* TCP-friendly rate */
  uint64_t received_bps;  /* rate received lately */
  double loss_ratio;      /* 0..1, in steps of 1 / (2^32 - 1); marks (ECN) included */
  double marked_share;    /* 0..1, in steps of 1/63: of loss_ratio, what marks alone made */
  unsigned ecn;           /* MccReportEcn */
  MccTime rtt;            /* us on the wire, saturated at 1 us and MCC_RTT_MAX */
  MccTime jitter;         /* us */
  MccTime queue_delay;    /* us */
  uint32_t packets_lost;  /* cumulative, wraps */
  uint32_t highest_seq;   /* extended highest sequence number received, low 32 bits */
  uint32_t echo;          /* abs-send-time (24 bits) of the newest stamped packet */
  MccTime hold;           /* us from its arrival to this report */
  uint64_t potential_bps; /* ASSP only: what the path may carry if more were sent, as far as known;
                             0 = not known, MCC_APP_RATE_MAX = nothing speaks against any rate */
  uint8_t level;          /* ELM only (mccelmapp.h) */
} MccAppReport;

/* Sender's RTT list (subtype 2). */
typedef struct {
  uint32_t ssrc;
  uint32_t number; /* report that was measured */
  MccTime rtt;     /* RTT_eff, us on the wire, saturated at 1 us and MCC_RTT_MAX */
} MccAppRtt;

#define MCC_APP_RTT_MAX 100 /* entries a packet */

typedef struct {
  unsigned count;
  MccAppRtt entry[MCC_APP_RTT_MAX];
} MccAppRttList;

/* MccAppSession.flags */
#define MCC_SESSION_STOPPED 0x01u  /* no-feedback=stop has stopped the media */
#define MCC_SESSION_ENHANCED 0x02u /* the sender's variant */
#define MCC_SESSION_ECT 0x04u      /* media packets are sent as ECT(0) */
#define MCC_SESSION_LEAVE 0x08u    /* limiting_ssrc, whose path does not bear min, is to leave */

#define MCC_APP_ENCODING_MAX 32
#define MCC_APP_MEDIA_MAX 16
#define MCC_APP_PARAMETERS_MAX 768
#define MCC_APP_NO_PAYLOAD_TYPE 255

/* Sender's session announcement (subtype 3). With a payload type but without the three strings:
 * they are as announced before (mcc_app_session_complete()). */
typedef struct {
  uint32_t number;    /* +1 each, wraps */
  uint32_t flags;     /* 8 bits */
  uint32_t send_time; /* abs-send-time (24 bits) of this packet; may be echoed */
  uint64_t target_bps, min_bps, max_bps, start_bps;
  uint64_t session_bandwidth_bps;
  uint32_t receivers;     /* in the sender's table */
  uint32_t limiting_ssrc; /* 0 = nobody */
  MccTime rtt_max;        /* us, saturated at MCC_RTT_MAX */
  uint32_t round;         /* feedback round */
  uint64_t suppress_bps;  /* lowest rate heard in the round; UINT64_MAX = none */
  uint32_t media_ssrc;    /* SSRC of the RTP stream */
  MccAddress feedback;    /* where reports go by unicast; family 0 = to the group */
  uint8_t ttl;
  uint8_t payload_type; /* 0..127; MCC_APP_NO_PAYLOAD_TYPE = no caps yet */
  uint8_t send_time_id; /* RTP header extension id of abs-send-time, 1..14; 0 = none */
  uint32_t clock_rate;
  char media[MCC_APP_MEDIA_MAX];            /* "video"; NUL-terminated */
  char encoding_name[MCC_APP_ENCODING_MAX]; /* "H264" */
  char parameters[MCC_APP_PARAMETERS_MAX];  /* further caps fields, "key=value;key=value" */
} MccAppSession;

typedef struct {
  uint32_t ssrc; /* of the APP packet */
  unsigned subtype;
  union {
    MccAppReport report;
    MccAppRttList rtt;
    MccAppSession session;
  };
} MccApp;

/* Decodes one whole APP packet of @size bytes with name "ASMP". *out is written only on
 * MCC_DROP_NONE; else MALFORMED, UNKNOWN_NAME, UNKNOWN_VERSION, UNKNOWN_SUBTYPE or BAD_VALUE. */
MccDrop mcc_app_decode (const uint8_t *data, size_t size, MccApp *out);

/* Whether the figures of a decoded report can be true: a rate (unless NO_LIMIT) within 1 ..
 * MCC_APP_REPORT_RATE_MAX, a loss ratio within 0..1, an RTT of at most MCC_RTT_MAX. */
bool mcc_app_report_plausible (const MccAppReport *report);

/* Where a receiver's reports go as @session, which came from @announcer, has it: *out, family 0 for
 * the group. An announced address must be the announcer's own host, else one forged packet could
 * turn the reports of a whole group on anybody: false and the group. */
bool mcc_app_session_feedback (
    const MccAppSession *session, const MccAddress *announcer, MccAddress *out);

/* The strings that @session leaves out, from @known, an earlier announcement of the same sender
 * (NULL: none); without them it has no caps yet. */
void mcc_app_session_complete (MccAppSession *session, const MccAppSession *known);

/* Bytes that encoding needs, a multiple of 4; 0 when it cannot be encoded. */
size_t mcc_app_size (const MccApp *app);
/* Writes the packet; returns its bytes, 0 when @size is too small or a field is out of range. */
size_t mcc_app_encode (const MccApp *app, uint8_t *data, size_t size);

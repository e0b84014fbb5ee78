/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasspsender: an ASSP sender: an ASMP sender for each of n streams of one content.
 *
 * Laws:
 *  - tx_j, the target of stream j, is its ASMP sender's, within [low_j, high_j] (ASSP eq. 4). A
 *    stream without receivers is at low_j at once. enhanced: below low_j where that is far too much
 *    for all who are in it, or were until just now (mccasspsenderfloor.c).
 *  - avg_tx_j is the mean of tx_j over the last round of MCC_ASSP_ROUND (eq. 5); low_j when the
 *    stream has no receiver at its end.
 *  - Every announcement carries the description of all streams with the number of the round. From
 *    the second round on it bids receivers to decide (the papers' J_flag), the first one of a round
 *    as soon as it may leave.
 *  - A receiver is in one stream: its report there takes it out of all others, unless that report
 *    is older than one of theirs.
 *  - With `max_streams` (enhanced) number and bounds of the streams follow from what receivers say
 *    they could take (mccasspladder.h), looked at each round, within the overall bounds given. A
 *    stream whose lower bound rises goes on at its rate until those whom that is too much for have
 *    had time to leave. Closed streams keep their bounds until somebody needs them.
 *  - A stream that has ended while another goes on is closed MCC_ASSP_END_TIME later, whatever
 *    ladder there is: nobody joins it, who is in it goes elsewhere, and it says nothing any more. A
 *    live ladder puts one that it did without in its place or, where there is none, its neighbour
 *    below (else the one above) gets its bounds, too.
 *  - What concerns all is announced by the lowest stream that has begun and has not ended.
 *  - All streams together get the RTCP budget of the lowest (5 % of its target): nine tenths of it
 *    those that have receivers, in equal parts.
 * Allocates only when a receiver table grows.
 */
#pragma once

#include "mccasmpsender.h"
#include "mccasspladder.h"

#define MCC_ASSP_ROUND (5 * MCC_SECOND) /* ASSP 3.3 */
#define MCC_ASSP_END_TIME                                                                          \
  (500 * MCC_MSECOND) /* ours: streams that end together need not close one after the other */

typedef struct MccAsspSender MccAsspSender;

typedef struct {
  MccVariant variant;
  uint64_t seed;
  MccAsspStreams streams;         /* count and of each stream bounds, offsets, SSRC (0 = not known
                                     yet: the stream does not announce itself before) */
  unsigned max_streams;           /* 0: the ladder stays as given; else live, at most so many (and
                                     as many as given) */
  uint64_t session_bandwidth_bps; /* 0 = the highest bound */
  uint32_t max_receivers;         /* of each stream; 0 = 4096 */
  bool wants_block;               /* as MccAsmpSenderConfig's; not of a stream that is silent */
  bool ecn;                       /* as MccAsmpSenderConfig's, for each stream by itself */
  MccAddress feedback;
  uint8_t ttl;
  uint32_t srtcp_bytes; /* as MccAsmpSenderConfig's */
} MccAsspSenderConfig;

typedef enum {
  MCC_ASSP_SENDER_ASMP,     /* asmp: what the stream's ASMP sender asks for: target, receiver, key
                               unit; SEND_SESSION with streams in the same compound */
  MCC_ASSP_SENDER_OCCUPIED, /* the stream has a receiver: its encoder must run */
  MCC_ASSP_SENDER_EMPTY,    /* ... none any more */
  MCC_ASSP_SENDER_FEEDBACK_LOST, /* of no stream */
  MCC_ASSP_SENDER_FEEDBACK_FOUND,
  MCC_ASSP_SENDER_BOUNDS /* bounds: the ladder has changed the stream's, or closed or opened it */
} MccAsspSenderActionType;

typedef struct {
  MccAsspSenderActionType type;
  unsigned stream;
  MccSenderAction asmp;
  const MccAsspStreams *streams;                   /* valid until the next call */
  const MccAppSession *also[MCC_ASSP_STREAMS_MAX]; /* ... other streams' in the same compound */
  MccAsspStream bounds;
} MccAsspSenderAction;

/* NULL: the streams are not valid (mcc_assp_streams_valid()), or no memory. */
MccAsspSender *mcc_assp_sender_new (const MccAsspSenderConfig *config, MccTime now);
void mcc_assp_sender_free (MccAsspSender *self);

/* False: the streams would not be valid; nothing has changed. */
bool mcc_assp_sender_set_bounds (
    MccAsspSender *self, unsigned stream, uint64_t low_bps, uint64_t high_bps, MccTime now);
bool mcc_assp_sender_set_caps (
    MccAsspSender *self, unsigned stream, const MccAppSession *caps, MccTime now);
/* Whether the stream's media is sent, or its encoder idles. */
void mcc_assp_sender_set_running (MccAsspSender *self, unsigned stream, bool running, MccTime now);
/* No media of the stream will come: its encoder has failed, or its input has ended. False: it goes
 * on after all. */
void mcc_assp_sender_set_ended (MccAsspSender *self, unsigned stream, bool ended, MccTime now);
void mcc_assp_sender_set_ssrc (MccAsspSender *self, unsigned stream, uint32_t ssrc, MccTime now);

MccDrop mcc_assp_sender_handle_report (MccAsspSender *self, unsigned stream, uint32_t ssrc,
    const MccAppReport *report, const MccAddress *from, MccTime now);
/* A report block about any stream in a compound with APP, before that. */
void mcc_assp_sender_handle_block (
    MccAsspSender *self, uint32_t ssrc, const MccAddress *from, MccTime now);
/* A plain player's report block about @stream, ignored of who is known in another stream; see
 * mcc_asmp_sender_handle_plain_report(). */
MccDrop mcc_assp_sender_handle_plain_report (MccAsspSender *self, unsigned stream, uint32_t ssrc,
    const MccPlainReport *report, const MccAddress *from, MccTime now);
/* Of a receiver in whatever stream. */
MccDrop mcc_assp_sender_handle_bye (
    MccAsspSender *self, uint32_t ssrc, const MccAddress *from, MccTime now);
void mcc_assp_sender_handle_key_unit_request (MccAsspSender *self, unsigned stream, MccTime now);
void mcc_assp_sender_handle_sent (MccAsspSender *self, unsigned stream, uint32_t packets,
    uint64_t bytes, uint32_t highest_seq, MccTime now);
/* See mcc_asmp_sender_handle_dropped(): counted with the lowest stream's; TABLE_FULL holds all. */
void mcc_assp_sender_handle_dropped (MccAsspSender *self, MccDrop drop, uint32_t ssrc, MccTime now);
void mcc_assp_sender_handle_timeout (MccAsspSender *self, MccTime now);
MccTime mcc_assp_sender_next_timeout (const MccAsspSender *self);
bool mcc_assp_sender_poll (MccAsspSender *self, MccAsspSenderAction *out);

unsigned mcc_assp_sender_count (const MccAsspSender *self);
/* The stream's ASMP sender, for its stats. */
const MccAsmpSender *mcc_assp_sender_stream (const MccAsspSender *self, unsigned stream);
/* Where one socket sends all streams: each that has receivers may leave as ECT(0), and there is
 * one. (Each by itself: mcc_asmp_sender_ect().) */
bool mcc_assp_sender_ect (const MccAsspSender *self);
/* avg_tx of the last round. */
uint64_t mcc_assp_sender_average_bps (const MccAsspSender *self, unsigned stream);
bool mcc_assp_sender_occupied (const MccAsspSender *self, unsigned stream);
/* The streams as announced now; the ladder, for its figures (NULL: not live). */
const MccAsspStreams *mcc_assp_sender_streams (const MccAsspSender *self);
const MccAsspLadder *mcc_assp_sender_ladder (const MccAsspSender *self);

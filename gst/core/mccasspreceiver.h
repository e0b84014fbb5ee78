/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasspreceiver: an ASSP receiver: an ASMP receiver that is in one of n streams, and moves.
 *
 * Knows the RTCP group only; the first description of the streams that it hears tells the rest.
 * Laws:
 *  - It begins in the lowest stream (or in `lock_stream`), and is never outside the streams.
 *  - One switch at a time, and none before the leave latency of the last one is over and the queue
 *    has drained (one RTT and 500 ms): what the network still sends of the old stream is no sign of
 *    what the new one needs.
 *  - From the begin of a switch until then nothing is measured, no average moves, and reports say
 *    NO_LIMIT; but where there is nowhere to go back to, and what was left is gone, all that comes
 *    is measured. The first report in the new stream leaves at once (small groups) and asks for
 *    a key unit; the last one in the old stream says LEAVING.
 *  - Where there is room for both streams (overlap) the old one is left when the host has cut over
 *    (mcc_assp_receiver_handle_cut()), else at once. When the host cuts over to what has just been
 *    given up, nothing is shown once that is left: the old one is joined anew.
 *  - A stream that has not come, or was not cut over to, by MCC_ASSP_JOIN_TIMEOUT (..._ALONE when
 *    nothing else is received; then also MCC_ASSP_PICTURE_TIMEOUT after its first packet): back
 *    to where it was, and then to the lowest; to that at once when it was trouble that it came
 *    from. What the user wanted is tried again after MCC_ASSP_SEARCH_AGAIN. There is nowhere to go
 *    back to from the lowest that is gone down to in trouble.
 *  - While a stream is silent that its sender goes on describing, and is not locked, the next one
 *    below, then those above, are joined beside it, and all again after MCC_ASSP_SEARCH_AGAIN.
 *    It is left for the first that is shown; its own first packet ends that, and nothing is
 *    learned of those that did not come.
 *  - Where nothing is shown and the stream that was joined does not come, though the sender goes on
 *    describing it (and it is not locked), those above are looked into one after the other, and it
 *    is joined again between them, each time for MCC_ASSP_JOIN_TIMEOUT_LAST. Another lock, or
 *    another ladder, counts at once.
 *  - One sender: another one's description counts only once ours is gone.
 *  - Which stream: mccassplevel.h.
 * No allocation after _new().
 */
#pragma once

#include "mccasmpreceiver.h"
#include "mccassplevel.h"

#define MCC_ASSP_JOIN_TIMEOUT (6 * MCC_SECOND) /* an encoder may have to start: within a round */
#define MCC_ASSP_JOIN_TIMEOUT_ALONE (4 * MCC_SECOND)
#define MCC_ASSP_JOIN_TIMEOUT_LAST (15 * MCC_SECOND) /* of the lowest, where nothing is shown */
#define MCC_ASSP_SEARCH_AGAIN (60 * MCC_SECOND)
#define MCC_ASSP_PICTURE_TIMEOUT (2500 * MCC_MSECOND) /* ... and from its first packet on */
#define MCC_ASSP_LEAVE_LATENCY (2 * MCC_SECOND)       /* RFC 3376 8.8: last member query time */
#define MCC_ASSP_NO_STREAM MCC_ASSP_STREAMS_MAX

typedef struct MccAsspReceiver MccAsspReceiver;

typedef struct {
  MccAsmpReceiverConfig asmp; /* variant, ssrc, seed, ...; `unbounded` is set here */
  MccAsspFactors factors;     /* alpha 0 = mcc_assp_factors_default */
  MccTime leave_latency;      /* 0 = MCC_ASSP_LEAVE_LATENCY */
  int lock_stream;            /* see _set_lock() */
} MccAsspReceiverConfig;

typedef enum {
  MCC_ASSP_RECEIVER_JOIN,  /* stream, group: overlap says whether its old one goes on meanwhile */
  MCC_ASSP_RECEIVER_LEAVE, /* stream, group */
  MCC_ASSP_RECEIVER_SWITCHED, /* from, stream, reason, duration */
  MCC_ASSP_RECEIVER_FAILED,   /* from = the stream that did not come, stream = where it goes back to
                               */
  MCC_ASSP_RECEIVER_KEY_UNIT, /* stream: ask for a key unit */
  MCC_ASSP_RECEIVER_STREAMS,  /* the ladder is another one, or known for the first time */
  MCC_ASSP_RECEIVER_ASMP /* stream, asmp: what its ASMP receiver asks for: reports, caps, rate */
} MccAsspReceiverActionType;

typedef enum {
  MCC_ASSP_REASON_START,
  MCC_ASSP_REASON_UP,
  MCC_ASSP_REASON_DOWN,    /* at a round */
  MCC_ASSP_REASON_TROUBLE, /* at once */
  MCC_ASSP_REASON_BACK,    /* the stream did not come */
  MCC_ASSP_REASON_LOCK,
  MCC_ASSP_REASON_LADDER /* the stream is no more, or elsewhere */
} MccAsspReason;

const char *mcc_assp_reason_name (MccAsspReason reason);

typedef struct {
  MccAsspReceiverActionType type;
  unsigned stream, from; /* MCC_ASSP_NO_STREAM: none */
  MccAsspStream group;   /* of `stream`; where it was when it was joined */
  bool overlap;
  MccAsspReason reason;
  MccTime duration;
  MccReceiverAction asmp;
} MccAsspReceiverAction;

typedef struct {
  unsigned stream; /* that is shown; MCC_ASSP_NO_STREAM before the first */
  bool switching;
  double average_bps;        /* avg_rx; 0: none yet */
  uint64_t switches, failed; /* done; gone back */
  uint64_t joins, leaves;
  uint64_t dropped[MCC_DROP_COUNT]; /* by this machine; the ASMP receiver's are in its stats */
} MccAsspReceiverStats;

/* NULL: a factor is out of its range, or no memory. */
MccAsspReceiver *mcc_assp_receiver_new (const MccAsspReceiverConfig *config, MccTime now);
void mcc_assp_receiver_free (MccAsspReceiver *self);
MccDrop mcc_assp_receiver_handle_app (MccAsspReceiver *self, const MccAsspApp *app, MccTime now);
/* A packet of the group of @stream. MCC_DROP_NONE: of the sender, and of a stream that is shown or
 * switched to. */
MccDrop mcc_assp_receiver_handle_rtp (MccAsspReceiver *self, unsigned stream,
    const MccRtpPacket *packet, const MccAddress *from, MccTime now);
/* The host shows @stream, which was joined: a picture of it that can be decoded has come. It may
 * have been given up meanwhile. */
void mcc_assp_receiver_handle_cut (MccAsspReceiver *self, unsigned stream, MccTime now);
void mcc_assp_receiver_handle_host_dropped (MccAsspReceiver *self, uint64_t packets, MccTime now);
void mcc_assp_receiver_handle_bye (MccAsspReceiver *self, uint32_t ssrc, MccTime now);
void mcc_assp_receiver_set_ssrc (MccAsspReceiver *self, uint32_t ssrc);
/* -1: none; 0: the lowest; beyond the last: the highest, both whatever bounds become; else a place
 * in the description, whichever rank it has. */
void mcc_assp_receiver_set_lock (MccAsspReceiver *self, int stream, MccTime now);
void mcc_assp_receiver_handle_timeout (MccAsspReceiver *self, MccTime now);
MccTime mcc_assp_receiver_next_timeout (const MccAsspReceiver *self);
bool mcc_assp_receiver_poll (MccAsspReceiver *self, MccAsspReceiverAction *out);
void mcc_assp_receiver_get_stats (const MccAsspReceiver *self, MccAsspReceiverStats *out);
/* NULL: no description yet. */
const MccAsspStreams *mcc_assp_receiver_streams (const MccAsspReceiver *self);
/* The ASMP receiver, for its stats and trace. */
MccAsmpReceiver *mcc_assp_receiver_asmp (MccAsspReceiver *self);
/* The last report of a clean leave (sent with BYE): in @stream. */
void mcc_assp_receiver_leave (
    MccAsspReceiver *self, unsigned *stream, MccAppReport *out, MccTime now);

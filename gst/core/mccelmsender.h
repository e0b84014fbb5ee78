/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmsender: an ELM sender: n cumulative layers, described to receivers that choose themselves.
 *
 * Receivers, their RTTs, caps, announcements, expiry and key units are an ASMP sender's whose
 * target is the base layer's rate; RTCP is 5 % of it, with mccrtcp's floor. Laws:
 *  - B_k is the rate at which layers 0..k were really sent over the last MCC_ELM_RATE_WINDOW, as
 *    configured before the first window is over. Announced rates move when one is MCC_ELM_RATE_MOVE
 *    off, at the next announcement, and always rise strictly. A layer that comes to others adds
 *    what it is described with until it has sent for a window; those that were there go on.
 *  - t_fb (thesis 6.2.3, ratio inverted): every MCC_ELM_FEEDBACK_PERIOD the arrival rate of reports
 *    is compared with `feedback_target_hz`; above it t_fb grows by the ratio, 10 % at most; below
 *    it shrinks by 10 %, as long as there are receivers; within MCC_ELM_FEEDBACK_MIN..MAX.
 *    enhanced: never less than what all receivers together may send within the RTCP budget.
 *  - Round r begins at its time (mccelmlayers.h), whether or not it is announced.
 *  - A report of a level that does not exist is BAD_VALUE.
 *  - With `whole` (enhanced; the host says that its encoder can move it) the rate of the encoder
 * that makes all layers follows what receivers say they could take (mccelmwhole.h). Allocates only
 * when the receiver table grows.
 */
#pragma once

#include "mccasmpsender.h"
#include "mccelmapp.h"
#include "mccelmwhole.h"

#define MCC_ELM_RATE_WINDOW (2 * MCC_SECOND)     /* ours */
#define MCC_ELM_RATE_MOVE 0.05                   /* ours */
#define MCC_ELM_FEEDBACK_PERIOD (5 * MCC_SECOND) /* thesis 6.2.3 */
#define MCC_ELM_FEEDBACK_TARGET_HZ 1.0           /* ours */
#define MCC_ELM_FEEDBACK_START (1 * MCC_SECOND)  /* ours */
#define MCC_ELM_ROUND (2 * MCC_SECOND)           /* ours */

typedef struct MccElmSender MccElmSender;

typedef struct {
  MccVariant variant;
  uint64_t seed;
  MccElmLayers layers;       /* count and of each layer: expected rate, offsets, SSRC, frame rate,
                                dependencies; the rest is the sender's */
  MccElmWholeBounds whole;   /* one encoder makes all layers */
  double feedback_target_hz; /* 0 = MCC_ELM_FEEDBACK_TARGET_HZ */
  MccTime feedback_interval; /* to begin with; 0 = MCC_ELM_FEEDBACK_START */
  MccTime round_interval;    /* 0 = MCC_ELM_ROUND */
  uint64_t session_bandwidth_bps; /* RTCP: never above 5 % of it; 0 = the layers' */
  uint32_t max_receivers;         /* 0 = 4096 */
  MccAddress feedback;
  uint8_t ttl;
  uint32_t srtcp_bytes; /* as MccAsmpSenderConfig's */
  bool wants_block;     /* as MccAsmpSenderConfig's */
} MccElmSenderConfig;

typedef enum {
  MCC_ELM_SENDER_ANNOUNCE, /* layers, session (and rtt when rtt->count > 0), all three as APP of the
                              base layer's SSRC with SR + SDES now; the host fills in the session's
                              send_time */
  MCC_ELM_SENDER_RECEIVER, /* ssrc, address, state, level */
  MCC_ELM_SENDER_LEVELS,   /* how many receivers are at which level has changed */
  MCC_ELM_SENDER_WHOLE,    /* target_bps: what the encoder is asked to make of all together */
  MCC_ELM_SENDER_KEY_UNIT, /* ask the encoder for a key unit now */
  MCC_ELM_SENDER_FEEDBACK_LOST,
  MCC_ELM_SENDER_FEEDBACK_FOUND
} MccElmSenderActionType;

typedef struct {
  MccElmSenderActionType type;
  const MccElmLayers *layers; /* these three: valid until the next call */
  const MccAppSession *session;
  const MccAppRttList *rtt;
  uint32_t ssrc;
  MccAddress address;
  MccReceiverState state;
  MccQuarantine quarantine;
  unsigned level;
  uint64_t target_bps;
} MccElmSenderAction;

typedef struct {
  unsigned count;                              /* layers */
  uint64_t cumulative_bps[MCC_ELM_LAYERS_MAX]; /* measured; 0 = not known yet */
  uint64_t whole_bps;                          /* 0: not moved, or not known yet */
  uint32_t receivers;                          /* that count: not those on probation */
  uint32_t members[MCC_ELM_LAYERS_MAX];        /* receivers at that level */
  MccTime feedback_interval;
  double feedback_hz; /* of the last period */
  uint32_t round;
  MccTime rtt_max;
  uint64_t reports; /* accepted */
  uint64_t dropped[MCC_DROP_COUNT];
} MccElmSenderStats;

/* NULL: the layers are not valid (mcc_elm_layers_valid()), or no memory. */
MccElmSender *mcc_elm_sender_new (const MccElmSenderConfig *config, MccTime now);
void mcc_elm_sender_free (MccElmSender *self);
/* Other layers from now on. Of those that were there before what is known stays: their rates and
 * frame rates in @layers do not count. False: not valid, nothing has changed. */
bool mcc_elm_sender_set_layers (MccElmSender *self, const MccElmLayers *layers, MccTime now);
/* Another encoder, or none, makes all layers: its rate begins anew. */
void mcc_elm_sender_set_whole (MccElmSender *self, const MccElmWholeBounds *whole, MccTime now);
/* See mcc_asmp_sender_set_caps(). */
bool mcc_elm_sender_set_caps (MccElmSender *self, const MccAppSession *caps, MccTime now);
void mcc_elm_sender_set_ssrc (MccElmSender *self, unsigned layer, uint32_t ssrc, MccTime now);
void mcc_elm_sender_set_frame_rate (
    MccElmSender *self, unsigned layer, uint32_t frame_rate, MccTime now);
MccDrop mcc_elm_sender_handle_report (
    MccElmSender *self, const MccElmApp *app, const MccAddress *from, MccTime now);
/* A report block about a layer in a compound with APP, before that. */
void mcc_elm_sender_handle_block (
    MccElmSender *self, uint32_t ssrc, const MccAddress *from, MccTime now);
/* A plain player's report block about the base layer; see mcc_asmp_sender_handle_plain_report(). */
MccDrop mcc_elm_sender_handle_plain_report (MccElmSender *self, uint32_t ssrc,
    const MccPlainReport *report, const MccAddress *from, MccTime now);
MccDrop mcc_elm_sender_handle_bye (
    MccElmSender *self, uint32_t ssrc, const MccAddress *from, MccTime now);
void mcc_elm_sender_handle_key_unit_request (MccElmSender *self, MccTime now);
/* See mcc_asmp_sender_set_ended(): of the base layer. */
void mcc_elm_sender_set_ended (MccElmSender *self, bool ended, MccTime now);
/* Packets of @layer left: wire bytes; @highest_seq is the extended RTP number of the newest. */
void mcc_elm_sender_handle_sent (MccElmSender *self, unsigned layer, uint32_t packets,
    uint64_t bytes, uint32_t highest_seq, MccTime now);
/* See mcc_asmp_sender_handle_dropped(). */
void mcc_elm_sender_handle_dropped (MccElmSender *self, MccDrop drop, uint32_t ssrc, MccTime now);
void mcc_elm_sender_handle_timeout (MccElmSender *self, MccTime now);
MccTime mcc_elm_sender_next_timeout (const MccElmSender *self);
bool mcc_elm_sender_poll (MccElmSender *self, MccElmSenderAction *out);
bool mcc_elm_sender_poll_trace (MccElmSender *self, MccTraceEvent *out);
const MccElmLayers *mcc_elm_sender_layers (const MccElmSender *self);
void mcc_elm_sender_get_stats (const MccElmSender *self, MccTime now, MccElmSenderStats *out);
/* The receiver number @i < receivers of the table, see mcc_asmp_sender_get_receiver(); `level` is
 * in @out. */
uint32_t mcc_elm_sender_members (const MccElmSender *self);
void mcc_elm_sender_get_receiver (
    const MccElmSender *self, uint32_t i, MccTime now, MccReceiverInfo *out);
unsigned mcc_elm_sender_get_receivers (
    const MccElmSender *self, MccTime now, MccReceiverInfo *out, unsigned max);
/* The ASMP sender within, for what it knows. */
const MccAsmpSender *mcc_elm_sender_asmp (const MccElmSender *self);

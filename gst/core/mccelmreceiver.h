/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmreceiver: an ELM receiver: subscribes layers 0..level of one sender.
 *
 * Loss, RTT and rate are measured on one merged sequence (mccelmsequence.h). Laws:
 *  - The level moves by one layer at a time, within 0..count-1 and <= max_level; one join at a
 *    time. A layer is JOINed, and the level is higher when its first packet has come; a layer that
 *    has not come by MCC_ELM_JOIN_TIMEOUT, or comes no more for as long, though lower ones' packets
 *    say that it is sent, is left and counted. One of which they say by then that nothing is sent
 *    is there: it costs nothing, and is in no way of those above it.
 *  - The base layer is joined with the first description of the layers, and left only when the
 *    sender is another one.
 *  - published: the thesis (slow start, strategy, feedback interval), decisions of
 *    docs/design/elm.md.
 *  - enhanced: the level nearest to what TCP would get (mccelmfair.h); joins at the begin of a
 * round, and none before the effect of the last change is over (leave latency, RTT); a join that
 * fails is undone at once and remembered per layer, with a back-off that doubles; losses while
 * another one tries a layer are not ours, its failure counts for all who had losses of it; clear
 * overload (mccelmtrial.h) is left within 2 s.
 *  - More layers above those that there were, or fewer: the level stays as far as there are layers
 *    (else reason LAYERS), and so does what was learnt. Other ones in their place: all above the
 *    base are left, then as from the start; so of the sender back with other SSRCs (LAYERS).
 *  - One sender: another one's description counts only once ours has been silent for
 *    MCC_ELM_SENDER_TIMEOUT or has said BYE.
 *  - One host: until then, what speaks in its name from another host than the description's, RTP or
 *    RTCP, has no effect (MCC_DROP_ADDRESS); then a description has, which makes its host the one.
 *  - A key unit is asked for while no picture can be decoded: at once, after 1 s, then after twice
 *    as long each time, 16 s at most: a path that no key unit passes must not cost all others.
 *    enhanced: anew once a layer that was left arrives no more (LEFT), since what was asked for
 *    until then came to a path that was too full for it.
 *  - Reports: the first at once, the second after MCC_ELM_SECOND_REPORT (it has the first RTT),
 *    then at the announced interval t_fb x U(0.75, 1.25); enhanced: one more, before its time, when
 *    a layer is tried or was too much, while t_fb is short or nobody else has said the same.
 * No allocation after _new().
 */
#pragma once

#include "mccbreaker.h"
#include "mccelmapp.h"
#include "mccelmrate.h"
#include "mccelmstrategy.h"
#include "mccloss.h"
#include "mcctrace.h"

#define MCC_ELM_JOIN_TIMEOUT (4 * MCC_SECOND)  /* ours */
#define MCC_ELM_LEAVE_LATENCY (2 * MCC_SECOND) /* RFC 3376 8.8: last member query time */
#define MCC_ELM_SENDER_TIMEOUT (5 * MCC_SECOND)
#define MCC_ELM_SECOND_REPORT (1 * MCC_SECOND)
#define MCC_ELM_NO_LEVEL (-1)

typedef struct MccElmReceiver MccElmReceiver;

typedef struct {
  MccVariant variant;
  uint32_t ssrc;        /* ours */
  uint32_t source_ssrc; /* follow the sender whose base layer has this; 0 = the first */
  uint64_t seed;
  const MccElmStrategy *strategy; /* NULL = lazy */
  const MccLossMeasure *loss;     /* NULL = the variant's: window / lip */
  MccLossConfig loss_config;      /* history 0 = the variant's: 8 / 32; W = 3 */
  MccElmSmoothing smoothing;      /* published */
  MccElmTimers timers;            /* join_delay_max 0 = the variant's */
  MccTime slow_start_interval;    /* I; 0 = 4 s */
  MccTime leave_latency;          /* 0 = MCC_ELM_LEAVE_LATENCY; 1 ns = none */
  int max_level;                  /* -1 = all */
  uint32_t srtcp_bytes;           /* what SRTCP adds to each of our compounds; 0 = no key */
  bool hears_group;               /* false with SSM or unicast feedback */
} MccElmReceiverConfig;

typedef enum {
  MCC_ELM_RECEIVER_JOIN,   /* layer, group */
  MCC_ELM_RECEIVER_LEAVE,  /* layer, group */
  MCC_ELM_RECEIVER_LEVEL,  /* from, level, reason, duration: the level is another one; up: when the
                              layer's first packet has come, or it is empty; down: with the LEAVE */
  MCC_ELM_RECEIVER_LEFT,   /* enhanced: what was left arrives no more (leave latency): a missed key
                              unit could not pass before, and can now */
  MCC_ELM_RECEIVER_FAILED, /* layer, reason ABSENT: it did not come; OVERLOAD, LOSS: too much */
  MCC_ELM_RECEIVER_REPORT, /* app: send it with RR + SDES now */
  MCC_ELM_RECEIVER_KEY_UNIT, /* group: ask for a key unit (PLI of the base layer's SSRC) */
  MCC_ELM_RECEIVER_LAYERS,   /* layers: known for the first time, or others than before */
  MCC_ELM_RECEIVER_SESSION,  /* session: announcement that changed something (caps) */
  MCC_ELM_RECEIVER_SOURCE,   /* ssrc: base layer of the sender that is followed from now on; or that
                                was, said BYE and is back */
  MCC_ELM_RECEIVER_LOST,     /* ssrc: its sender said BYE, or fell silent */
  MCC_ELM_RECEIVER_OTHER,    /* ssrc: another sender on the group is ignored (said once each) */
  MCC_ELM_RECEIVER_RATE,     /* rate_bps: the smoothed X changed by more than a tenth */
  MCC_ELM_RECEIVER_CEASE     /* breaker: the path does not bear the base layer: leave, say BYE, and
                                do not come back by yourself; there are no more reports */
} MccElmReceiverActionType;

typedef enum {
  MCC_ELM_REASON_START,      /* base layer */
  MCC_ELM_REASON_SLOW_START, /* up */
  MCC_ELM_REASON_RATE,       /* up or down: the strategy on X */
  MCC_ELM_REASON_PROBE,      /* up, enhanced: nothing speaks against it */
  MCC_ELM_REASON_LOSS,       /* down: what was joined lately costs losses */
  MCC_ELM_REASON_OVERLOAD,   /* down, enhanced: much less arrives than is sent */
  MCC_ELM_REASON_ABSENT,     /* the layer did not come, or comes no more */
  MCC_ELM_REASON_MAX_LEVEL,  /* max_level is lower now */
  MCC_ELM_REASON_LAYERS      /* there are other layers now, or fewer */
} MccElmReason;

const char *mcc_elm_reason_name (MccElmReason reason);

typedef struct {
  MccElmReceiverActionType type;
  unsigned layer;
  int from, level; /* MCC_ELM_NO_LEVEL: none */
  MccElmLayer group;
  MccElmReason reason;
  MccTime duration; /* from JOIN to LEVEL */
  uint32_t ssrc;
  MccBreakerVerdict breaker;
  uint64_t rate_bps;
  MccElmApp app;
  const MccElmLayers *layers;   /* valid until the next call */
  const MccAppSession *session; /* valid until the next call */
} MccElmReceiverAction;

typedef struct {
  uint32_t source_ssrc; /* base layer's; 0 = none yet */
  int level;            /* subscribed and arriving; MCC_ELM_NO_LEVEL */
  int wanted;           /* level, or one more while that is joined */
  bool slow_start;
  uint64_t received_bps;
  double calculated_bps, smoothed_bps; /* X; INFINITY without losses */
  double loss_ratio;
  uint64_t packets_received, packets_lost, duplicates, reordered;
  MccTime rtt;
  bool rtt_measured;
  MccTime jitter, queue_delay;
  MccTime feedback_interval;
  uint64_t joins, leaves, switches;  /* switches: LEVEL changes after the first */
  uint64_t failed;                   /* joins undone: too much */
  uint64_t absent;                   /* ... did not come */
  uint64_t learned;                  /* failures of others that counted for us */
  MccTime retry[MCC_ELM_LAYERS_MAX]; /* not joined before; 0: at once */
  uint64_t reports_sent;
  uint64_t dropped[MCC_DROP_COUNT];
} MccElmReceiverStats;

MccElmReceiver *mcc_elm_receiver_new (const MccElmReceiverConfig *config, MccTime now);
void mcc_elm_receiver_free (MccElmReceiver *self);
/* A packet of the group of @layer with the counts @c[layer..count-1] that it carries (@c is indexed
 * by layer). MCC_DROP_NONE: of our sender and of a layer that is joined, pass it on. */
MccDrop mcc_elm_receiver_handle_rtp (MccElmReceiver *self, unsigned layer,
    const MccRtpPacket *packet, const uint16_t *c, unsigned count, const MccAddress *from,
    MccTime now);
/* @from: NULL, not known. */
MccDrop mcc_elm_receiver_handle_app (
    MccElmReceiver *self, const MccElmApp *app, const MccAddress *from, MccTime now);
/* Whether @from, NULL = not known, is another host than the one that described the layers. A BYE
 * from there is not to be believed. */
bool mcc_elm_receiver_is_elsewhere (const MccElmReceiver *self, const MccAddress *from);
void mcc_elm_receiver_handle_bye (MccElmReceiver *self, uint32_t ssrc, MccTime now);
/* A picture can be decoded: no more KEY_UNIT; false: no longer, ask for one. */
void mcc_elm_receiver_handle_picture (MccElmReceiver *self, bool shown, MccTime now);
void mcc_elm_receiver_handle_host_dropped (MccElmReceiver *self, uint64_t packets, MccTime now);
void mcc_elm_receiver_set_ssrc (MccElmReceiver *self, uint32_t ssrc);
/* -1: all. Layers above are left at once. */
void mcc_elm_receiver_set_max_level (MccElmReceiver *self, int max_level, MccTime now);
void mcc_elm_receiver_handle_timeout (MccElmReceiver *self, MccTime now);
MccTime mcc_elm_receiver_next_timeout (const MccElmReceiver *self);
bool mcc_elm_receiver_poll (MccElmReceiver *self, MccElmReceiverAction *out);
bool mcc_elm_receiver_poll_trace (MccElmReceiver *self, MccTraceEvent *out);
void mcc_elm_receiver_get_stats (const MccElmReceiver *self, MccTime now, MccElmReceiverStats *out);
/* NULL: none yet. */
const MccElmLayers *mcc_elm_receiver_layers (const MccElmReceiver *self);
const MccAppSession *mcc_elm_receiver_session (const MccElmReceiver *self);
/* The last report of a clean leave (sent with BYE). */
void mcc_elm_receiver_leave (MccElmReceiver *self, MccElmApp *out, MccTime now);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccsplice: from one RTP stream to another of the same content, so that what leaves is one stream.
 *
 * Packets of the shown stream leave at once. Those of the stream that was joined are held until a
 * key unit of it is whole; then, at the end of a frame of the shown one, it is cut over. Laws, of
 * what leaves:
 *  - Numbers go on: a lost packet is a gap, a duplicate a duplicate, and late packets keep their
 *    place, those of the old stream too. A cut in the middle of a frame (of an old stream that
 *    was silent for MCC_SPLICE_WAIT, or did not reach the key unit in MCC_SPLICE_WAIT_MAX) leaves
 *    a gap of one, so that what is torn is dropped downstream. Behind a frame that lost packets,
 *    its end or others, comes where the new stream has such a thing a number for a packet of the
 *    host's that parts the frames (DELIMIT).
 *  - Every timestamp of the new stream is behind all of the old one. Streams share their base, so
 *    timestamps are as they came, but for what the old stream has shown already (up to M, while
 *    the key unit K came): there t in [K, M + g) becomes M + (t - K + g) g / (M - K + 2 g), g the
 *    old stream's frame interval. It increases strictly, nothing freezes, and after one frame
 *    interval all is in time. Where bases differ (by MCC_SPLICE_BASE more than the arrivals
 *    tell), arrivals give the offset.
 *  - A stream that begins anew under its SSRC (a sender that was stopped and started) is joined in
 *    its own place: two packets in sequence that are more than 100 behind (RFC 3550 A.1) and have
 *    later timestamps, or come when none newer did for 250 ms; or whose timestamps are
 *    MCC_SPLICE_BASE behind what was, or that much ahead of what the arrivals tell and not next.
 *  - No frame is torn unless packets were lost or the old stream stood still.
 *  - The stream joined begins with the first packet of an access unit that carries a key unit, or,
 *    where key units cannot be told, with the first one of any access unit.
 * A key unit with a gap that MCC_SPLICE_GAP later packets have not closed is forgotten, and another
 * asked for. Without an old stream nothing is waited for but the key unit.
 * No allocation after _new(), of whose 650 kB the system gives what is touched. After every call
 * poll until false.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

/* Ours, as all here. */
#define MCC_SPLICE_PACKETS 8192 /* held at most: a key unit of a stream of 100 Mb/s */
#define MCC_SPLICE_BYTES (16u << 20)
#define MCC_SPLICE_GAP 3
#define MCC_SPLICE_WAIT (100 * MCC_MSECOND)     /* for a packet of the old stream */
#define MCC_SPLICE_WAIT_MAX (400 * MCC_MSECOND) /* for it to reach the key unit */
#define MCC_SPLICE_LEAVE (150 * MCC_MSECOND)    /* ... before a stream is left */
#define MCC_SPLICE_BASE (2 * MCC_SECOND)

typedef struct MccSplice MccSplice;

typedef struct {
  uint32_t ssrc;
  uint16_t seq;
  uint32_t rtp_time;
  uint32_t bytes;
  bool marker; /* the last one of its frame */
  bool key;    /* the first one of a key unit's slices */
  bool begins; /* an access unit that begins here can be decoded: parameter sets */
  void *data;  /* the host's */
} MccSplicePacket;

typedef enum {
  MCC_SPLICE_OPAQUE,   /* its key units cannot be told */
  MCC_SPLICE_KEYED,    /* they can */
  MCC_SPLICE_DELIMITED /* they can, and the host has a packet that parts frames */
} MccSpliceKind;

typedef enum {
  MCC_SPLICE_EMIT,    /* data, seq, rtp_time; held: it came before */
  MCC_SPLICE_FREE,    /* data: not wanted */
  MCC_SPLICE_CUT,     /* stream: shown from here on */
  MCC_SPLICE_DELIMIT, /* data, not to be freed: what leaves next begins a frame, and the one before
                         it is not whole; seq, rtp_time: for a packet that says so */
  MCC_SPLICE_LEFT,    /* stream: nothing of it is wanted any more */
  MCC_SPLICE_KEY_UNIT /* stream: its key unit was torn, or it began anew: ask for another */
} MccSpliceActionType;

typedef struct {
  MccSpliceActionType type;
  unsigned stream;
  void *data;
  uint16_t seq;
  uint32_t rtp_time;
  bool held;
} MccSpliceAction;

/* NULL: no memory. */
MccSplice *mcc_splice_new (void);
/* After _reset() and its actions. */
void mcc_splice_free (MccSplice *self);
/* Show the stream @stream, whose packets bear @ssrc, as soon as that can be; in place of one that
 * was joined and is not shown yet. */
void mcc_splice_join (MccSplice *self, unsigned stream, uint32_t ssrc, uint32_t clock_rate,
    MccSpliceKind kind, MccTime now);
/* LEFT follows: at once for a stream that is not shown, else at the end of a frame. */
void mcc_splice_leave (MccSplice *self, unsigned stream, MccTime now);
/* Whether packets of it are of use. */
bool mcc_splice_wants (const MccSplice *self, unsigned stream, uint32_t ssrc);
/* Whether what leaves is @stream. */
bool mcc_splice_shows (const MccSplice *self, unsigned stream);
/* The timestamp under which a sender report of @ssrc, about @rtp_time, is one of what leaves;
 * false: it is not of what is shown, or near a cut. */
bool mcc_splice_map_report (const MccSplice *self, uint32_t ssrc, uint32_t rtp_time, uint32_t *out);
void mcc_splice_handle (
    MccSplice *self, unsigned stream, const MccSplicePacket *packet, MccTime now);
void mcc_splice_handle_timeout (MccSplice *self, MccTime now);
MccTime mcc_splice_next_timeout (const MccSplice *self);
bool mcc_splice_poll (MccSplice *self, MccSpliceAction *out);
/* Out of all streams; numbers and timestamps will go on. */
void mcc_splice_reset (MccSplice *self, MccTime now);

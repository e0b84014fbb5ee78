/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcclayermerge: the packets of several layers in, one RTP stream that can be decoded out.
 *
 * Packets bear the extension of mcclayerorder.h. Laws, of what leaves, whatever is lost, late,
 * twice there, joined or left:
 *  - Access units leave in decoding order, whole or not at all.
 *  - None leaves whose references have not left. Of the layers 0..count-1 the first `depth` are
 *    intact: none of their units that may still be needed is missing. A unit of layer j leaves if
 * it is KEY, or j < depth, or it is SYNC and j <= depth. It makes depth at least j + 1, CLEAN makes
 * it count; a unit of layer j that is missing, torn or held back makes it at most j. LEADING ones
 *    leave only if depth > 0 held before the newest KEY unit. So it begins with a key unit, a layer
 *    that is joined shows from its first SYNC unit on, and a unit that is missing takes with it
 * what needs it, no more.
 *  - Numbers go on by one: a unit that did not leave is no gap. Timestamps are as they came, or,
 * after another sender's _start(), shifted so that they go on by the clock.
 *  - A gap is waited for while the layer it is in has been heard since it was joined, and at most
 *    `wait` from when what is behind it came, or, while nothing behind it has come of that layer,
 *    from when that layer was heard: layers come side by side, and a key unit takes its time. All
 * of that, and the end of a unit, at most MCC_LAYER_MERGE_STALL. A layer that has fallen silent for
 *    twice `wait` is not waited for. Without gaps a unit leaves with its last packet. When layer 0
 *    has a gap or its key unit is torn the host is told to ask for a key unit.
 *  - Numbers that are more than MCC_LAYER_MERGE_JUMP off are a jump once a second packet agrees:
 *    what is held goes, and a key unit is asked for. After MCC_LAYER_MERGE_SILENCE without a packet
 *    one is enough, and one that lies behind is none that is late.
 * No allocation after _new(). After every call poll until false.
 */
#pragma once

#include "mcclayerorder.h"
#include "mcctime.h"

/* Ours, as all here. */
#define MCC_LAYER_MERGE_PACKETS 8192 /* held at most: the largest unit that can leave */
#define MCC_LAYER_MERGE_BYTES (16u << 20)
#define MCC_LAYER_MERGE_STALL MCC_SECOND
#define MCC_LAYER_MERGE_JUMP 3000                /* packets (RFC 3550 A.1: MAX_DROPOUT) */
#define MCC_LAYER_MERGE_SILENCE (2 * MCC_SECOND) /* after it nothing is late */

typedef struct MccLayerMerge MccLayerMerge;

typedef struct {
  MccLayerOrder order;
  uint32_t rtp_time;
  uint32_t bytes;
  bool marker; /* the last one of its access unit */
  void *data;  /* the host's */
} MccLayerPacket;

typedef enum {
  MCC_LAYER_MERGE_EMIT,    /* data, seq, rtp_time; held: it came before */
  MCC_LAYER_MERGE_FREE,    /* data: not wanted */
  MCC_LAYER_MERGE_SHOWN,   /* layer: its first unit since it was joined follows */
  MCC_LAYER_MERGE_KEY_UNIT /* ask for one */
} MccLayerMergeActionType;

typedef struct {
  MccLayerMergeActionType type;
  unsigned layer;
  void *data;
  uint16_t seq;
  uint32_t rtp_time;
  bool held;
} MccLayerMergeAction;

typedef struct {
  uint64_t units[MCC_LAYER_ORDER_LAYERS_MAX]; /* that left */
  uint64_t torn;                              /* units that were not whole */
  uint64_t undecodable;                       /* whole, but what they need was not there */
  uint64_t late, duplicates, unwanted;        /* packets; unwanted: of a layer that is not joined */
  uint64_t gaps;                              /* waited for in vain */
} MccLayerMergeStats;

/* NULL: no memory. @first_seq: the first number that leaves. */
MccLayerMerge *mcc_layer_merge_new (MccTime wait, uint16_t first_seq);
/* After _reset() and its actions. */
void mcc_layer_merge_free (MccLayerMerge *self);
void mcc_layer_merge_set_wait (MccLayerMerge *self, MccTime wait);
/* What comes is of @count layers (1 to MCC_LAYER_ORDER_LAYERS_MAX) from now on; what is held goes.
 * @other: of another sender, with a clock of its own. Layers stay joined. */
void mcc_layer_merge_start (
    MccLayerMerge *self, unsigned count, uint32_t clock_rate, bool other, MccTime now);
/* Any order; packets of layers that are not joined are freed. */
void mcc_layer_merge_join (MccLayerMerge *self, unsigned layer, MccTime now);
/* What came of it before may still leave. */
void mcc_layer_merge_leave (MccLayerMerge *self, unsigned layer, MccTime now);
void mcc_layer_merge_handle (MccLayerMerge *self, const MccLayerPacket *packet, MccTime now);
void mcc_layer_merge_handle_timeout (MccLayerMerge *self, MccTime now);
MccTime mcc_layer_merge_next_timeout (const MccLayerMerge *self);
bool mcc_layer_merge_poll (MccLayerMerge *self, MccLayerMergeAction *out);
/* The timestamp under which one of the sender's leaves; false: nothing has left since _start(). */
bool mcc_layer_merge_map_time (const MccLayerMerge *self, uint32_t rtp_time, uint32_t *out);
void mcc_layer_merge_get_stats (const MccLayerMerge *self, MccLayerMergeStats *out);
/* Counts anew. */
void mcc_layer_merge_clear_stats (MccLayerMerge *self);
/* All that is held is freed and no layer is joined; numbers will go on. */
void mcc_layer_merge_reset (MccLayerMerge *self, MccTime now);

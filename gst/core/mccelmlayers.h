/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmlayers: what an ELM sender says of its layers.
 *
 * Layers 0..count-1; a receiver at level i has layers 0..i. B_i, the cumulative rate of level i, is
 * measured by the sender and rises strictly with i. Layer 0 is the base layer: its group is that of
 * RTCP, and nobody leaves it.
 *
 * Rounds: receivers join at the begin of a round, so that those behind one bottleneck do it
 * together. Round r begins where send times (abs-send-time of RTP packets) reach
 * round_time + (r - round) x round_interval: one announcement tells all that follow, a lost one
 * costs nothing.
 */
#pragma once

#include "mcclayerorder.h"
#include "mcctypes.h"

#define MCC_ELM_LAYERS_MAX MCC_LAYER_ORDER_LAYERS_MAX /* what each packet can count */
#define MCC_ELM_FEEDBACK_MIN (500 * MCC_MSECOND)      /* of feedback_interval; ours */
#define MCC_ELM_FEEDBACK_MAX (60 * MCC_SECOND)        /* ours */
#define MCC_ELM_ROUND_MIN (250 * MCC_MSECOND)
#define MCC_ELM_ROUND_MAX (16 * MCC_SECOND) /* a part of the 64 s of abs-send-time */

typedef struct {
  uint64_t cumulative_bps;              /* B_k of layers 0..k, measured; > 0 */
  uint32_t ssrc;                        /* of its RTP; the base layer's also of RTCP */
  uint16_t address_offset, port_offset; /* to the base layer's; offset 0 is the base layer's own;
                                           port even */
  uint32_t frame_rate;                  /* of level k, 1/1000 Hz; 0 = not known */
  uint8_t depends_on; /* bit j: units of layer j are references of this one's; only bits < k */
} MccElmLayer;

typedef struct {
  uint32_t number;           /* +1 each description sent, wraps */
  uint32_t flags;            /* 8 bits; none yet */
  uint32_t round;            /* the one that began at round_time */
  uint32_t round_time;       /* abs-send-time, 24 bits */
  MccTime round_interval;    /* ms on the wire; MCC_ELM_ROUND_MIN..MCC_ELM_ROUND_MAX */
  MccTime feedback_interval; /* t_fb, ms on the wire; MCC_ELM_FEEDBACK_MIN..MCC_ELM_FEEDBACK_MAX */
  uint16_t set;              /* +1 when there are other layers */
  unsigned count;            /* 1..MCC_ELM_LAYERS_MAX */
  MccElmLayer layer[MCC_ELM_LAYERS_MAX];
} MccElmLayers;

/* Whether rates rise strictly, groups, ports and SSRCs differ, and intervals are within their
 * bounds. */
bool mcc_elm_layers_valid (const MccElmLayers *layers);
/* Whether both are one: group, SSRC, dependencies; rates aside. */
bool mcc_elm_layer_same (const MccElmLayer *a, const MccElmLayer *b);
/* Whether those that both have are the same: one may have more, above them. */
bool mcc_elm_layers_agree (const MccElmLayers *a, const MccElmLayers *b);
/* Whether both are the same layers: number, groups, SSRCs, dependencies; rates aside. */
bool mcc_elm_layers_same (const MccElmLayers *a, const MccElmLayers *b);
/* What layer @k adds to those below. */
uint64_t mcc_elm_layers_added_bps (const MccElmLayers *layers, unsigned k);
/* Whether one of them has @ssrc. */
bool mcc_elm_layers_have (const MccElmLayers *layers, uint32_t ssrc);
/* The highest level whose rate is at most @bps, else 0. */
unsigned mcc_elm_layers_place (const MccElmLayers *layers, double bps);
/* The session bandwidth, as in mccrtcp.h, where none is set: the base layer's rate, which is the
 * target, but enough for the whole of RTCP's floor. A base layer of a picture that stands still has
 * no rate, and whoever comes must hear of the layers all the same. */
uint64_t mcc_elm_layers_session_bps (const MccElmLayers *layers);
/* The round that a packet with @send_time falls into, for one announced less than 32 s ago. */
uint32_t mcc_elm_layers_round (const MccElmLayers *layers, uint32_t send_time);

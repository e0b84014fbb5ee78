/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcclayermergeprivate: for mcclayermerge*.c only.
 *
 *   mcclayermerge.c      what is held, and when a unit is taken out of it
 *   mcclayermergeunit.c  which unit leaves, and what is intact then
 */
#pragma once

#include "mcclayermerge.h"
#include "mccseq.h"

#define LAYERS MCC_LAYER_ORDER_LAYERS_MAX
#define PACKETS MCC_LAYER_MERGE_PACKETS
#define ACTIONS (PACKETS + LAYERS + 8)

typedef struct {
  uint64_t place; /* c[count - 1], extended */
  MccTime arrival;
  MccLayerPacket packet;
} MccLayerHeld;

struct MccLayerMerge {
  MccTime now, wait;
  unsigned count; /* 0: not started */
  uint32_t clock_rate;
  struct {
    bool joined;
    bool active; /* heard since it was joined, and not silent */
    bool shown;
    MccTime heard;
    uint64_t place;   /* of what was heard, the newest; 0: nothing */
    MccTime advanced; /* when that came */
  } layer[LAYERS];
  /* What has been taken. */
  MccSeq seq;
  bool placed;
  uint64_t place;
  uint16_t c[LAYERS];
  unsigned depth; /* layers that are intact */
  bool leading;   /* what leads the newest key unit can be decoded */
  /* A jump of the numbers, once seen. */
  bool jumped;
  uint16_t jumped_to;
  /* What has left. */
  uint16_t out;
  bool has_out, rebase, mapped;
  uint32_t out_time, time_offset;
  MccTime out_at;
  MccTime due; /* when held[0] is not waited for any longer */
  bool key_wanted;
  MccLayerMergeStats stats;
  /* By place; held goes on in the store, so that the rest need not move when a unit is taken. */
  unsigned held_count;
  uint32_t held_bytes;
  unsigned last; /* held[0..last] are of one unit: they need not be looked at again */
  MccLayerHeld *held;
  MccLayerHeld store[2 * PACKETS];
  MccLayerMergeAction action[ACTIONS];
  unsigned action_head, action_count;
};

/* mcclayermergeunit.c */
void mcc_layer_merge_free_data (MccLayerMerge *self, void *data);
/* A packet is missing before held[0] that may still come. */
bool mcc_layer_merge_gap_may_close (const MccLayerMerge *self);
/* Until when packets may come that are missing between the counts @c and @next. */
MccTime mcc_layer_merge_gap_closes (
    const MccLayerMerge *self, const uint16_t *c, const MccLayerHeld *next);
/* The first @n packets of what is held leave or go: a unit, @whole or torn. */
void mcc_layer_merge_take (MccLayerMerge *self, unsigned n, bool whole);

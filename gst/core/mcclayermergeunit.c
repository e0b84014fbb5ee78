/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <string.h>

#include "mcclayermergeprivate.h"

#define SILENT 2       /* x wait */
#define FPS_DEFAULT 30 /* between the last frame of one sender and the first of the next */

static void
push (MccLayerMerge *self, const MccLayerMergeAction *action)
{
  assert (self->action_count < ACTIONS); /* the host polls */
  self->action[(self->action_head + self->action_count++) % ACTIONS] = *action;
}

void
mcc_layer_merge_free_data (MccLayerMerge *self, void *data)
{
  push (self, &(MccLayerMergeAction){ .type = MCC_LAYER_MERGE_FREE, .data = data });
}

/* ---- what is intact ---- */

static void
miss (MccLayerMerge *self, unsigned layer)
{
  if (layer >= self->depth)
    return;
  self->depth = layer;
  if (layer == 0)
    self->key_wanted = true;
}

/* The packets of layers 0..k between what was taken and held[0]. */
static uint16_t
between (const MccLayerMerge *self, unsigned k)
{
  const MccLayerOrder *order = &self->held[0].packet.order;
  uint16_t apart = (uint16_t)(order->c[k] - self->c[k]);
  return (uint16_t)(apart - (order->layer <= k ? 1 : 0));
}

/* The counts are not what one sender writes: nothing can be told from them. */
static bool
contradictory (const MccLayerMerge *self)
{
  uint64_t all = self->held[0].place - self->place - 1;
  for (unsigned k = 0; k < self->count; k++)
    if (between (self, k) > all || (k > 0 && between (self, k) < between (self, k - 1)))
      return true;
  return between (self, self->count - 1) != (uint16_t)all;
}

static bool
lacks (const MccLayerMerge *self, unsigned layer)
{
  return between (self, layer) != (layer > 0 ? between (self, layer - 1) : 0);
}

bool
mcc_layer_merge_gap_may_close (const MccLayerMerge *self)
{
  if (!self->placed || contradictory (self))
    return false;
  for (unsigned k = 0; k < self->count; k++)
    if (self->layer[k].active && lacks (self, k))
      return true;
  return false;
}

MccTime
mcc_layer_merge_gap_closes (const MccLayerMerge *self, const uint16_t *c, const MccLayerHeld *next)
{
  const MccLayerOrder *order = &next->packet.order;
  MccTime since = next->arrival, last = next->arrival + MCC_LAYER_MERGE_STALL;
  uint16_t below = 0;
  for (unsigned k = 0; k < self->count; k++) {
    uint16_t up_to = (uint16_t)(order->c[k] - c[k] - (order->layer <= k ? 1 : 0));
    /* It comes in its own time: what follows in it has not come either. */
    if (up_to != below && self->layer[k].joined && self->layer[k].place > 0
        && self->layer[k].place < next->place)
      since = mcc_time_max (since, self->layer[k].advanced);
    below = up_to;
  }
  return mcc_time_min (since + self->wait, last);
}

static void
note_missing (MccLayerMerge *self)
{
  bool waited = false;
  if (!self->placed)
    return;
  if (contradictory (self)) {
    miss (self, 0);
    return;
  }
  for (unsigned k = 0; k < self->count; k++) {
    if (!lacks (self, k))
      continue;
    miss (self, k);
    waited = waited || self->layer[k].active;
    if (self->now - self->layer[k].heard >= SILENT * self->wait)
      self->layer[k].active = false;
  }
  self->stats.gaps += waited;
}

/* ---- what leaves ---- */

static uint32_t
ticks (const MccLayerMerge *self, MccTime time)
{
  return (uint32_t)(time / MCC_SECOND * self->clock_rate
                    + time % MCC_SECOND * self->clock_rate / MCC_SECOND);
}

static void
set_time_offset (MccLayerMerge *self, uint32_t rtp_time)
{
  if (self->rebase && self->has_out) {
    uint32_t passed = ticks (self, self->now - self->out_at),
             least = self->clock_rate / FPS_DEFAULT;
    self->time_offset = self->out_time + (passed > least ? passed : least) - rtp_time;
  }
  self->rebase = false;
  self->mapped = true;
}

static void
emit (MccLayerMerge *self, const MccLayerHeld *held)
{
  uint32_t time = held->packet.rtp_time + self->time_offset;
  if (!self->has_out || (int32_t)(time - self->out_time) > 0) {
    self->out_time = time;
    self->out_at = self->now;
  }
  self->has_out = true;
  push (self, &(MccLayerMergeAction){ .type = MCC_LAYER_MERGE_EMIT,
                  .layer = held->packet.order.layer,
                  .data = held->packet.data,
                  .seq = self->out++,
                  .rtp_time = time,
                  .held = held->arrival != self->now });
}

static bool
decodable (const MccLayerMerge *self, const MccLayerOrder *order)
{
  if (order->flags & MCC_LAYER_KEY)
    return true;
  if (order->flags & MCC_LAYER_LEADING && !self->leading)
    return false;
  return order->layer < self->depth
         || (order->layer > 0 && order->flags & MCC_LAYER_SYNC && order->layer == self->depth);
}

static void
note_unit (MccLayerMerge *self, const MccLayerOrder *order)
{
  if (order->flags & MCC_LAYER_KEY) {
    self->leading = self->depth > 0;
    self->key_wanted = false;
  }
  if (order->layer >= self->depth)
    self->depth = order->layer + 1u;
  if (order->flags & MCC_LAYER_CLEAN)
    self->depth = self->count;
  self->stats.units[order->layer]++;
  if (!self->layer[order->layer].shown && self->layer[order->layer].joined) {
    self->layer[order->layer].shown = true;
    push (self, &(MccLayerMergeAction){ .type = MCC_LAYER_MERGE_SHOWN, .layer = order->layer });
  }
}

static void
drop_unit (MccLayerMerge *self, const MccLayerOrder *order, bool whole)
{
  bool skipped = whole && order->flags & MCC_LAYER_LEADING && !self->leading;
  self->stats.undecodable += whole;
  self->stats.torn += !whole;
  if (skipped) /* needed by nothing but others that are skipped */
    return;
  if (!whole && order->flags & MCC_LAYER_KEY)
    self->key_wanted = true;
  miss (self, order->layer);
}

void
mcc_layer_merge_take (MccLayerMerge *self, unsigned n, bool whole)
{
  const MccLayerHeld *last = &self->held[n - 1];
  MccLayerOrder order = self->held[0].packet.order;
  bool leaves;
  note_missing (self);
  leaves = whole && decodable (self, &order);
  if (leaves) {
    if (!self->mapped)
      set_time_offset (self, self->held[0].packet.rtp_time);
    note_unit (self, &order);
  } else {
    drop_unit (self, &order, whole);
  }
  self->placed = true;
  self->place = last->place;
  memcpy (self->c, last->packet.order.c, sizeof self->c);
  self->layer[order.layer].active = self->layer[order.layer].joined;
  for (unsigned i = 0; i < n; i++) {
    self->held_bytes -= self->held[i].packet.bytes;
    if (leaves)
      emit (self, &self->held[i]);
    else
      mcc_layer_merge_free_data (self, self->held[i].packet.data);
  }
  self->held_count -= n;
  self->held = self->held_count > 0 ? self->held + n : self->store;
  self->last = 0;
}

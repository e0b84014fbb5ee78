/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcclayermerge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "mcclayermergeprivate.h"

#define JUMP_NEAR 64             /* two packets that have jumped are of one stream */
#define CLOCK_RATE_DEFAULT 90000 /* RFC 3551: video */

/* What is to be done with the unit at held[0]. */
typedef enum { WAIT, WHOLE, TORN } Verdict;

/* How held[@i + 1] goes on after held[@i]. */
typedef enum { SAME_UNIT, NEXT_UNIT, OTHER_UNIT, GAP } Step;

/* Whether @a's unit has ended though packets are missing behind it: they are of higher layers. */
static bool
ended (const MccLayerOrder *a, const MccLayerOrder *b)
{
  bool goes_on = b->layer == a->layer && !(b->flags & MCC_LAYER_FIRST);
  unsigned own = b->layer <= a->layer ? 1 : 0;
  return !goes_on && (uint16_t)(b->c[a->layer] - a->c[a->layer]) == own;
}

static Step
step_after (const MccLayerMerge *self, unsigned i)
{
  const MccLayerHeld *a = &self->held[i], *b = &self->held[i + 1];
  if (b->place != a->place + 1)
    return ended (&a->packet.order, &b->packet.order) ? NEXT_UNIT : GAP;
  if (b->packet.order.flags & MCC_LAYER_FIRST)
    return NEXT_UNIT;
  return b->packet.order.layer == a->packet.order.layer && b->packet.rtp_time == a->packet.rtp_time
                 && !a->packet.marker
             ? SAME_UNIT
             : OTHER_UNIT;
}

/* Of the unit at held[0]: how many of its packets are there, in *n, and for WAIT until when. */
static Verdict
judge (MccLayerMerge *self, unsigned *n, MccTime *until)
{
  const MccLayerHeld *first = &self->held[0];
  bool begins = first->packet.order.flags & MCC_LAYER_FIRST;
  bool comes = self->layer[first->packet.order.layer].joined;
  unsigned i = self->last;
  *until = self->placed ? mcc_layer_merge_gap_closes (self, self->c, first)
                        : first->arrival + self->wait;
  *n = 1;
  if (self->now < *until && (self->placed ? mcc_layer_merge_gap_may_close (self) : !begins))
    return WAIT;
  while (i + 1 < self->held_count && step_after (self, i) == SAME_UNIT)
    i++;
  self->last = i;
  *n = i + 1;
  if (!begins)
    return TORN;
  if (self->held[i].packet.marker)
    return WHOLE;
  if (i + 1 == self->held_count) {
    *until = self->held[i].arrival + MCC_LAYER_MERGE_STALL;
    return comes && self->now < *until ? WAIT : TORN;
  }
  switch (step_after (self, i)) {
    case NEXT_UNIT:
      return WHOLE; /* a sender that sets no markers */
    case GAP:
      *until = mcc_layer_merge_gap_closes (self, self->held[i].packet.order.c, &self->held[i + 1]);
      return comes && self->now < *until ? WAIT : TORN;
    default:
      return TORN;
  }
}

static void
run (MccLayerMerge *self)
{
  self->due = MCC_TIME_NONE;
  while (self->held_count > 0) {
    unsigned n;
    MccTime until;
    Verdict verdict = judge (self, &n, &until);
    if (verdict == WAIT) {
      self->due = until;
      return;
    }
    mcc_layer_merge_take (self, n, verdict == WHOLE);
  }
}

static void
clear (MccLayerMerge *self)
{
  for (unsigned i = 0; i < self->held_count; i++)
    mcc_layer_merge_free_data (self, self->held[i].packet.data);
  self->held = self->store;
  self->held_count = self->last = 0;
  self->held_bytes = 0;
  self->seq = (MccSeq){ 0 };
  self->placed = self->jumped = false;
  self->depth = 0;
  self->leading = false;
  self->due = MCC_TIME_NONE;
  for (unsigned i = 0; i < LAYERS; i++)
    self->layer[i].place = 0;
}

static void
set_now (MccLayerMerge *self, MccTime now)
{
  assert (now >= self->now);
  self->now = now;
}

static bool
is_silent (const MccLayerMerge *self)
{
  MccTime newest = 0;
  for (unsigned i = 0; i < LAYERS; i++)
    newest = mcc_time_max (newest, self->layer[i].heard);
  return self->now - newest >= MCC_LAYER_MERGE_SILENCE;
}

static void
jump (MccLayerMerge *self)
{
  clear (self);
  self->key_wanted = true;
}

/* Shortly ahead, or there is room for what lies between: layers come side by side, and a unit of
 * one of them may be large. */
static bool
goes_on (const MccLayerMerge *self, uint16_t number)
{
  uint16_t ahead = (uint16_t)(number - (uint16_t)self->seq.highest);
  if (ahead > 0 && ahead <= MCC_LAYER_MERGE_JUMP)
    return true;
  if (!self->placed && self->held_count == 0)
    return false;
  uint64_t taken = self->placed ? self->place : self->held[0].place - 1;
  ahead = (uint16_t)(number - (uint16_t)taken);
  return ahead > 0 && ahead <= PACKETS;
}

/* Numbers that are far off are believed when a second packet agrees, or after a silence: nothing is
 * so late, and they may have gone round in it, to behind where they were; false: not yet. */
static bool
near (MccLayerMerge *self, uint16_t number)
{
  uint16_t behind = (uint16_t)((uint16_t)self->seq.highest - number);
  if (!self->seq.started || goes_on (self, number)) {
    self->jumped = false;
    return true;
  }
  if (is_silent (self)) {
    jump (self);
    return true;
  }
  if (behind <= MCC_LAYER_MERGE_JUMP) {
    self->jumped = false;
    return true;
  }
  if (self->jumped && (uint16_t)(number - self->jumped_to) <= JUMP_NEAR) {
    jump (self);
    return true;
  }
  self->jumped = true;
  self->jumped_to = number;
  return false;
}

static bool
insert (MccLayerMerge *self, const MccLayerPacket *packet, uint64_t place)
{
  unsigned i = self->held_count;
  while (i > 0 && self->held[i - 1].place > place)
    i--;
  if (i > 0 && self->held[i - 1].place == place)
    return false;
  if (self->held + self->held_count == self->store + 2 * PACKETS) {
    memmove (self->store, self->held, self->held_count * sizeof *self->held);
    self->held = self->store;
  }
  if (i <= self->last)
    self->last = i > 0 ? i - 1 : 0;
  memmove (self->held + i + 1, self->held + i, (self->held_count - i) * sizeof *self->held);
  self->held[i] = (MccLayerHeld){ .place = place, .arrival = self->now, .packet = *packet };
  self->held_count++;
  self->held_bytes += packet->bytes;
  return true;
}

/* Makes room: the unit at the head goes, complete or not. */
static void
make_room (MccLayerMerge *self, uint32_t bytes)
{
  while (self->held_count > 0
         && (self->held_count == PACKETS || self->held_bytes > MCC_LAYER_MERGE_BYTES - bytes)) {
    unsigned n;
    MccTime until;
    Verdict verdict = judge (self, &n, &until);
    mcc_layer_merge_take (self, n, verdict == WHOLE);
  }
}

void
mcc_layer_merge_handle (MccLayerMerge *self, const MccLayerPacket *packet, MccTime now)
{
  const MccLayerOrder *order = &packet->order;
  uint64_t place;
  set_now (self, now);
  if (order->count != self->count || order->layer >= self->count
      || !self->layer[order->layer].joined || packet->bytes > MCC_LAYER_MERGE_BYTES) {
    self->stats.unwanted++;
    mcc_layer_merge_free_data (self, packet->data);
    return;
  }
  if (!near (self, order->c[self->count - 1])) {
    self->stats.late++;
    mcc_layer_merge_free_data (self, packet->data);
    return;
  }
  place = mcc_seq_extend16 (&self->seq, order->c[self->count - 1]);
  self->layer[order->layer].heard = now;
  if (place > self->layer[order->layer].place) {
    self->layer[order->layer].place = place;
    self->layer[order->layer].advanced = now;
  }
  if (self->placed && place <= self->place) {
    self->stats.late++;
    self->layer[order->layer].active = true; /* from now on it is waited for */
    mcc_layer_merge_free_data (self, packet->data);
    return;
  }
  make_room (self, packet->bytes);
  if (self->placed && place <= self->place) {
    self->stats.late++;
    mcc_layer_merge_free_data (self, packet->data);
  } else if (!insert (self, packet, place)) {
    self->stats.duplicates++;
    mcc_layer_merge_free_data (self, packet->data);
  }
  run (self);
}

void
mcc_layer_merge_handle_timeout (MccLayerMerge *self, MccTime now)
{
  set_now (self, now);
  run (self);
}

MccTime
mcc_layer_merge_next_timeout (const MccLayerMerge *self)
{
  return self->due;
}

bool
mcc_layer_merge_poll (MccLayerMerge *self, MccLayerMergeAction *out)
{
  if (self->action_count > 0) {
    *out = self->action[self->action_head];
    self->action_head = (self->action_head + 1) % ACTIONS;
    self->action_count--;
    return true;
  }
  if (!self->key_wanted)
    return false;
  self->key_wanted = false;
  *out = (MccLayerMergeAction){ .type = MCC_LAYER_MERGE_KEY_UNIT };
  return true;
}

/* ---- set-up ---- */

MccLayerMerge *
mcc_layer_merge_new (MccTime wait, uint16_t first_seq)
{
  MccLayerMerge *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  self->wait = wait;
  self->held = self->store;
  self->out = first_seq;
  self->due = MCC_TIME_NONE;
  self->clock_rate = CLOCK_RATE_DEFAULT;
  return self;
}

void
mcc_layer_merge_free (MccLayerMerge *self)
{
  assert (self == NULL || (self->held_count == 0 && self->action_count == 0));
  free (self);
}

void
mcc_layer_merge_set_wait (MccLayerMerge *self, MccTime wait)
{
  self->wait = wait;
}

void
mcc_layer_merge_start (
    MccLayerMerge *self, unsigned count, uint32_t clock_rate, bool other, MccTime now)
{
  assert (count > 0 && count <= LAYERS);
  set_now (self, now);
  clear (self);
  self->count = count;
  self->clock_rate = clock_rate ? clock_rate : CLOCK_RATE_DEFAULT;
  self->key_wanted = self->has_out;
  if (other) {
    self->rebase = true;
    self->mapped = false;
  }
  for (unsigned i = 0; i < LAYERS; i++)
    self->layer[i].active = self->layer[i].shown = false;
}

void
mcc_layer_merge_join (MccLayerMerge *self, unsigned layer, MccTime now)
{
  assert (layer < LAYERS);
  set_now (self, now);
  if (self->layer[layer].joined)
    return;
  self->layer[layer].joined = true;
  self->layer[layer].active = self->layer[layer].shown = false;
  self->layer[layer].place = 0;
}

void
mcc_layer_merge_leave (MccLayerMerge *self, unsigned layer, MccTime now)
{
  assert (layer < LAYERS);
  set_now (self, now);
  self->layer[layer].joined = self->layer[layer].active = false;
  run (self);
}

bool
mcc_layer_merge_map_time (const MccLayerMerge *self, uint32_t rtp_time, uint32_t *out)
{
  if (!self->mapped)
    return false;
  *out = rtp_time + self->time_offset;
  return true;
}

void
mcc_layer_merge_get_stats (const MccLayerMerge *self, MccLayerMergeStats *out)
{
  *out = self->stats;
}

void
mcc_layer_merge_clear_stats (MccLayerMerge *self)
{
  self->stats = (MccLayerMergeStats){ 0 };
}

void
mcc_layer_merge_reset (MccLayerMerge *self, MccTime now)
{
  set_now (self, now);
  clear (self);
  for (unsigned i = 0; i < LAYERS; i++)
    self->layer[i].joined = self->layer[i].active = false;
  self->key_wanted = false;
}

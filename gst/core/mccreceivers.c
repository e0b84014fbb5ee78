/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccreceivers.h"

#include <assert.h>
#include <stdlib.h>

#define INITIAL_CAPACITY 16

void
mcc_receivers_init (MccReceivers *self, uint32_t max, uint64_t seed)
{
  assert (max > 0 && max < MCC_RECEIVERS_NONE / 4);
  memset (self, 0, sizeof *self);
  self->max = max;
  self->seed = seed;
  /* Odd, so that it permutes; the spread constant covers poor seeds. */
  self->multiplier = (seed ^ UINT64_C (0x9e3779b97f4a7c15)) | 1;
  self->free = MCC_RECEIVERS_NONE;
  for (unsigned i = 0; i < MCC_LIST_COUNT; i++)
    self->head[i] = self->tail[i] = MCC_RECEIVERS_NONE;
}

void
mcc_receivers_clear (MccReceivers *self)
{
  free (self->slot);
  free (self->hash);
  for (unsigned i = 0; i < MCC_ORDER_COUNT; i++)
    free (self->heap[i]);
  mcc_receivers_init (self, self->max, self->seed);
}

/* Hash: open addressing with linear probing, by SSRC alone, so that entries with one SSRC lie in
 * one run. */

static uint32_t
home (const MccReceivers *self, uint32_t ssrc)
{
  uint64_t x = ((uint64_t)ssrc + self->seed) * self->multiplier;
  x ^= x >> 32;
  x *= self->multiplier;
  return (uint32_t)(x >> 32) & self->hash_mask;
}

static void
hash_insert (MccReceivers *self, uint32_t slot)
{
  uint32_t i = home (self, self->slot[slot].ssrc);
  while (self->hash[i] != MCC_RECEIVERS_NONE)
    i = (i + 1) & self->hash_mask;
  self->hash[i] = slot;
}

/* Moves later members of the run into the gap: no tombstones, so a flood leaves nothing behind. */
static void
hash_remove (MccReceivers *self, uint32_t slot)
{
  uint32_t gap = home (self, self->slot[slot].ssrc);
  while (self->hash[gap] != slot)
    gap = (gap + 1) & self->hash_mask;
  for (uint32_t i = (gap + 1) & self->hash_mask; self->hash[i] != MCC_RECEIVERS_NONE;
       i = (i + 1) & self->hash_mask) {
    uint32_t wanted = home (self, self->slot[self->hash[i]].ssrc);
    if (((i - wanted) & self->hash_mask) >= ((i - gap) & self->hash_mask)) {
      self->hash[gap] = self->hash[i];
      gap = i;
    }
  }
  self->hash[gap] = MCC_RECEIVERS_NONE;
}

MccReceiver *
mcc_receivers_find (const MccReceivers *self, uint32_t ssrc, const MccAddress *address)
{
  if (self->capacity == 0)
    return NULL;
  for (uint32_t i = home (self, ssrc); self->hash[i] != MCC_RECEIVERS_NONE;
       i = (i + 1) & self->hash_mask) {
    MccReceiver *receiver = &self->slot[self->hash[i]];
    if (receiver->ssrc == ssrc && mcc_address_equal (&receiver->address, address))
      return receiver;
  }
  return NULL;
}

unsigned
mcc_receivers_find_ssrc (
    const MccReceivers *self, uint32_t ssrc, MccReceiver *out[MCC_RECEIVERS_PER_SSRC])
{
  unsigned found = 0;
  if (self->capacity == 0)
    return 0;
  for (uint32_t i = home (self, ssrc);
       self->hash[i] != MCC_RECEIVERS_NONE && found < MCC_RECEIVERS_PER_SSRC;
       i = (i + 1) & self->hash_mask) {
    if (self->slot[self->hash[i]].ssrc == ssrc)
      out[found++] = &self->slot[self->hash[i]];
  }
  return found;
}

/* Heaps. */

static void
place (MccReceivers *self, MccReceiversOrder order, uint32_t position, uint32_t slot)
{
  self->heap[order][position] = slot;
  self->slot[slot].position[order] = position;
}

static uint64_t
key_at (const MccReceivers *self, MccReceiversOrder order, uint32_t position)
{
  return self->slot[self->heap[order][position]].key[order];
}

static void
sift (MccReceivers *self, MccReceiversOrder order, uint32_t slot, uint32_t position)
{
  uint64_t key = self->slot[slot].key[order];
  while (position > 0 && key < key_at (self, order, (position - 1) / 2)) {
    place (self, order, position, self->heap[order][(position - 1) / 2]);
    position = (position - 1) / 2;
  }
  for (;;) {
    uint32_t child = 2 * position + 1;
    if (child >= self->count)
      break;
    if (child + 1 < self->count && key_at (self, order, child + 1) < key_at (self, order, child))
      child++;
    if (key_at (self, order, child) >= key)
      break;
    place (self, order, position, self->heap[order][child]);
    position = child;
  }
  place (self, order, position, slot);
}

void
mcc_receivers_set_key (
    MccReceivers *self, MccReceiver *receiver, MccReceiversOrder order, uint64_t key)
{
  if (receiver->key[order] == key)
    return;
  receiver->key[order] = key;
  sift (self, order, mcc_receivers_slot (self, receiver), receiver->position[order]);
}

MccReceiver *
mcc_receivers_first (const MccReceivers *self, MccReceiversOrder order)
{
  return self->count > 0 ? &self->slot[self->heap[order][0]] : NULL;
}

MccReceiver *
mcc_receivers_get (const MccReceivers *self, MccReceiversOrder order, uint32_t i)
{
  assert (i < self->count);
  return &self->slot[self->heap[order][i]];
}

/* Lists. */

void
mcc_receivers_unlink (MccReceivers *self, MccReceiver *receiver, MccReceiversList list)
{
  if (!receiver->in_list[list])
    return;
  uint32_t next = receiver->next[list], previous = receiver->previous[list];
  if (previous != MCC_RECEIVERS_NONE)
    self->slot[previous].next[list] = next;
  else
    self->head[list] = next;
  if (next != MCC_RECEIVERS_NONE)
    self->slot[next].previous[list] = previous;
  else
    self->tail[list] = previous;
  receiver->in_list[list] = false;
}

void
mcc_receivers_append (MccReceivers *self, MccReceiver *receiver, MccReceiversList list)
{
  uint32_t slot = mcc_receivers_slot (self, receiver);
  mcc_receivers_unlink (self, receiver, list);
  receiver->in_list[list] = true;
  receiver->next[list] = MCC_RECEIVERS_NONE;
  receiver->previous[list] = self->tail[list];
  if (self->tail[list] != MCC_RECEIVERS_NONE)
    self->slot[self->tail[list]].next[list] = slot;
  else
    self->head[list] = slot;
  self->tail[list] = slot;
}

MccReceiver *
mcc_receivers_head (const MccReceivers *self, MccReceiversList list)
{
  return self->head[list] != MCC_RECEIVERS_NONE ? &self->slot[self->head[list]] : NULL;
}

/* Entries. */

static bool
grow_array (uint32_t **array, uint32_t count)
{
  uint32_t *grown = realloc (*array, count * sizeof **array);
  if (grown == NULL)
    return false;
  *array = grown;
  return true;
}

static bool
grow (MccReceivers *self)
{
  uint32_t capacity = self->capacity ? 2 * self->capacity : INITIAL_CAPACITY;
  uint32_t hashes = 1;
  if (capacity > self->max)
    capacity = self->max;
  if (capacity == self->capacity)
    return false;
  /* At most half full, so that a probe always ends; below 4 words an entry. */
  while (hashes < 2 * capacity)
    hashes *= 2;

  MccReceiver *slots = realloc (self->slot, capacity * sizeof *slots);
  if (slots == NULL)
    return false;
  self->slot = slots;
  for (unsigned i = 0; i < MCC_ORDER_COUNT; i++) {
    if (!grow_array (&self->heap[i], capacity))
      return false;
  }
  if (!grow_array (&self->hash, hashes))
    return false;

  for (uint32_t i = capacity; i-- > self->capacity;) {
    self->slot[i].next[0] = self->free;
    self->free = i;
  }
  self->capacity = capacity;
  self->hash_mask = hashes - 1;
  for (uint32_t i = 0; i < hashes; i++)
    self->hash[i] = MCC_RECEIVERS_NONE;
  for (uint32_t i = 0; i < self->count; i++)
    hash_insert (self, self->heap[MCC_ORDER_RATE][i]);
  return true;
}

MccReceiver *
mcc_receivers_add (MccReceivers *self, uint32_t ssrc, const MccAddress *address)
{
  MccReceiver *same[MCC_RECEIVERS_PER_SSRC];
  if (mcc_receivers_find_ssrc (self, ssrc, same) == MCC_RECEIVERS_PER_SSRC)
    return NULL;
  if (self->free == MCC_RECEIVERS_NONE && !grow (self))
    return NULL;
  uint32_t slot = self->free;
  MccReceiver *receiver = &self->slot[slot];
  self->free = receiver->next[0];
  memset (receiver, 0, sizeof *receiver);
  receiver->ssrc = ssrc;
  receiver->address = *address;
  hash_insert (self, slot);
  self->count++;
  for (unsigned i = 0; i < MCC_ORDER_COUNT; i++) {
    receiver->key[i] = MCC_RECEIVERS_NO_KEY;
    sift (self, (MccReceiversOrder)i, slot, self->count - 1);
  }
  return receiver;
}

void
mcc_receivers_remove (MccReceivers *self, MccReceiver *receiver)
{
  uint32_t slot = mcc_receivers_slot (self, receiver);
  for (unsigned i = 0; i < MCC_LIST_COUNT; i++)
    mcc_receivers_unlink (self, receiver, (MccReceiversList)i);
  hash_remove (self, slot);
  self->count--;
  for (unsigned i = 0; i < MCC_ORDER_COUNT; i++) {
    MccReceiversOrder order = (MccReceiversOrder)i;
    uint32_t last = self->heap[order][self->count];
    if (last != slot)
      sift (self, order, last, receiver->position[order]);
  }
  receiver->next[0] = self->free;
  self->free = slot;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcclossprivate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* RFC 3550 A.1: a jump of the sequence numbers beyond these is a restart or a stray, and two
 * numbers in a row make it a restart. */
#define MAX_DROPOUT 3000
#define MAX_MISORDER 100
#define MIN_SEQUENTIAL 2

const MccLossConfig mcc_loss_config_default = {
  .history = 8,            /* ASMP 3.1 (m), ELM 4.2.5, RFC 5348 5.4 */
  .weighted_impact = true, /* ELM eq. 16, what ELM itself uses */
  .window = 3,             /* ELM figure 33 */
  .virtual_bytes = 0,
  .discounting = false,
};

static const MccLossMeasure *const measures[] = {
  &mcc_loss_interval,
  &mcc_loss_lip,
  &mcc_loss_lap,
  &mcc_loss_window,
};

const MccLossMeasure *
mcc_loss_find (const char *name)
{
  for (size_t i = 0; name != NULL && i < sizeof (measures) / sizeof (measures[0]); i++)
    if (strcmp (measures[i]->name, name) == 0)
      return measures[i];
  return NULL;
}

/* RFC 5348 5.4 for any length: the newer half 1, then falling linearly; 8 gives the papers' 1, 1,
 * 1, 1, .8, .6, .4, .2. */
static void
fill_weights (double *weights, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    weights[i] = 2 * i < n ? 1.0 : 2.0 * (n - i) / (n + 2.0);
}

MccLoss *
mcc_loss_new (const MccLossMeasure *measure, const MccLossConfig *config)
{
  MccLoss *self = calloc (1, measure->size);

  if (self == NULL)
    return NULL;
  self->measure = measure;
  self->config = config != NULL ? *config : mcc_loss_config_default;
  mcc_loss_reset (self);
  return self;
}

void
mcc_loss_reset (MccLoss *self)
{
  const MccLossMeasure *measure = self->measure;
  MccLossConfig config = self->config;

  assert (config.history >= 1 && config.history <= MCC_LOSS_HISTORY_MAX);
  memset (self, 0, measure->size);
  self->measure = measure;
  self->config = config;
  fill_weights (self->weights, self->config.history);
  self->extend_until = MCC_TIME_NONE;
  self->last_event = MCC_TIME_NONE;
  measure->init (self);
}

void
mcc_loss_forget (MccLoss *self)
{
  MccLossCounts counts = self->counts;
  mcc_loss_reset (self);
  self->counts = counts;
}

void
mcc_loss_free (MccLoss *self)
{
  free (self);
}

double
mcc_loss_units (const MccLoss *self, uint32_t bytes)
{
  return self->config.virtual_bytes > 0 ? (double)bytes / self->config.virtual_bytes : 1.0;
}

double
mcc_loss_lost_units (const MccLoss *self)
{
  if (self->config.virtual_bytes == 0)
    return 1.0;
  return mcc_loss_mean_packet_bytes (self) / self->config.virtual_bytes;
}

static unsigned
next_size_slot (const MccLoss *self)
{
  return self->size_slot < self->config.history ? self->size_slot + 1 : 0;
}

void
mcc_loss_shift_sizes (MccLoss *self)
{
  unsigned oldest = next_size_slot (self);
  MccLossSize *size = &self->sizes[oldest];

  /* A history of nothing but losses would leave no size at all. */
  if (self->size_total.packets > size->packets) {
    self->size_total.packets -= size->packets;
    self->size_total.bytes -= size->bytes;
    *size = (MccLossSize){ 0 };
  }
  self->size_slot = oldest;
}

void
mcc_loss_set_history (MccLoss *self, unsigned history)
{
  MccLossSize sizes[MCC_LOSS_HISTORY_MAX + 1];
  unsigned slot = self->size_slot, had = self->config.history;

  assert (history >= 1 && history <= MCC_LOSS_HISTORY_MAX);
  if (history == had)
    return;
  /* The newest keep their order, up to the open interval's in the last slot. */
  memcpy (sizes, self->sizes, sizeof sizes);
  memset (self->sizes, 0, sizeof self->sizes);
  self->size_total = (MccLossSize){ 0 };
  for (unsigned i = 0; i <= history && i <= had; i++) {
    MccLossSize *size = &self->sizes[history - i];
    *size = sizes[(slot + had + 1 - i) % (had + 1)];
    self->size_total.packets += size->packets;
    self->size_total.bytes += size->bytes;
  }
  self->size_slot = history;
  self->config.history = history;
  fill_weights (self->weights, history);
}

static void
set_lost (MccLoss *self, uint64_t index, bool lost)
{
  uint64_t *word = &self->lost_bits[index % MCC_LOSS_REPAIR_WINDOW / 64];
  uint64_t bit = UINT64_C (1) << (index % 64);

  *word = lost ? *word | bit : *word & ~bit;
}

bool
mcc_loss_is_lost (const MccLoss *self, uint64_t index)
{
  if (index >= self->next || self->next - index > MCC_LOSS_REPAIR_WINDOW)
    return false;
  return (self->lost_bits[index % MCC_LOSS_REPAIR_WINDOW / 64] >> (index % 64) & 1) != 0;
}

/* All packets from @next to before the first waiting one are lost. Their times lie on the line
 * between their neighbours' arrivals (RFC 5348 5.2). */
static void
lose_hole (MccLoss *self)
{
  uint64_t end = self->waiting[0].index;
  MccTime from = self->stream_time;
  MccTime span = self->waiting[0].arrival > from ? self->waiting[0].arrival - from : 0;
  double step = (double)span / (double)(end - self->next + 1);

  for (uint64_t k = 1; self->next < end; k++) {
    MccTime time = from + mcc_time_min (span, (MccTime)(step * (double)k));
    uint64_t index = self->next++;
    set_lost (self, index, true);
    self->counts.lost++;
    self->measure->handle_lost (self, index, time);
  }
}

static void
deliver_first_waiting (MccLoss *self)
{
  MccLossPacket packet = self->waiting[0];

  self->num_waiting--;
  memmove (&self->waiting[0], &self->waiting[1], self->num_waiting * sizeof (packet));
  self->stream_time = mcc_time_max (self->stream_time, packet.arrival);
  self->next++;
  set_lost (self, packet.index, false);

  self->sizes[self->size_slot].packets++;
  self->sizes[self->size_slot].bytes += packet.bytes;
  self->size_total.packets++;
  self->size_total.bytes += packet.bytes;
  if (packet.marked)
    self->measure->handle_marked (self, packet.index, packet.bytes, self->stream_time);
  else
    self->measure->handle_received (self, packet.index, packet.bytes, self->stream_time);
}

/* False for a duplicate. */
static bool
insert_waiting (MccLoss *self, const MccLossPacket *packet)
{
  unsigned i = self->num_waiting;

  while (i > 0 && self->waiting[i - 1].index > packet->index)
    i--;
  if (i > 0 && self->waiting[i - 1].index == packet->index)
    return false;
  memmove (&self->waiting[i + 1], &self->waiting[i], (self->num_waiting - i) * sizeof (*packet));
  self->waiting[i] = *packet;
  self->num_waiting++;
  return true;
}

static void
handle_new (MccLoss *self, const MccLossPacket *packet)
{
  if (!insert_waiting (self, packet)) {
    self->counts.duplicates++;
    return;
  }
  self->stray_run = 0;
  self->counts.received++;
  self->counts.marked += packet->marked;
  if (packet->index < self->highest)
    self->counts.reordered++;
  else
    self->highest = packet->index;

  while (self->num_waiting > 0) {
    if (self->waiting[0].index == self->next)
      deliver_first_waiting (self);
    else if (self->num_waiting >= MCC_LOSS_NDUPACK)
      lose_hole (self);
    else
      break;
  }
}

/* A packet whose number does not fit. True when it and those before it, each at most @gap behind
 * the next, make a stream. */
static bool
is_restart (MccLoss *self, uint64_t seq, uint64_t gap, unsigned needed)
{
  bool follows = self->stray_run > 0 && seq - self->stray_last - 1 < gap;

  self->stray_run = follows ? self->stray_run + 1 : 1;
  self->stray_last = seq;
  return self->stray_run >= needed;
}

/* The stream goes on with @seq right behind what it has; nothing in between counts as lost. */
static void
resync (MccLoss *self, uint64_t seq)
{
  self->segment_first = self->highest + 1;
  self->seq_base = seq - self->segment_first;
  self->counts.resyncs++;
}

/* A packet of the past: repaired, a duplicate, or from before the stream. */
static void
handle_past (MccLoss *self, uint64_t index, bool marked)
{
  if (!mcc_loss_is_lost (self, index)) {
    self->counts.duplicates++;
    return;
  }
  if (!marked)
    self->measure->handle_repaired (self, index);
  self->counts.marked += marked;
  set_lost (self, index, false);
  self->counts.lost--;
  self->counts.received++;
  self->counts.reordered++;
}

static void
handle_packet (MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival, MccTime rtt,
    bool marked, bool late)
{
  if (late && !self->started)
    return; /* it would begin with a gap */
  if (arrival != MCC_TIME_NONE && arrival > self->now)
    self->now = arrival;
  self->rtt = mcc_time_min (rtt, MCC_TIME_NONE - 1);
  if (!self->started) {
    self->started = true;
    self->seq_base = seq;
    self->stream_time = self->now;
  }

  uint64_t index = seq - self->seq_base;
  /* How far ahead of the highest, or (as a large number) behind it. */
  uint64_t ahead = index - self->highest;
  uint64_t behind = self->highest - index;
  /* All that may be known of the past: the segment, but no further than losses are remembered. */
  uint64_t past = self->highest - self->segment_first;
  if (past >= MCC_LOSS_REPAIR_WINDOW)
    past = MCC_LOSS_REPAIR_WINDOW - 1;

  if (late) {
    if (behind > past) { /* from before the first */
      self->counts.reordered++;
      return;
    }
  } else if (ahead > MAX_DROPOUT && behind > past) {
    if (behind - past <= MAX_MISORDER && past < MCC_LOSS_REPAIR_WINDOW - 1) {
      self->counts.reordered++; /* from just before the first */
      return;
    }
    if (!is_restart (self, seq, 1, MIN_SEQUENTIAL))
      return;
    resync (self, seq);
    index = self->segment_first;
  } else if (ahead > MAX_DROPOUT && behind > MAX_MISORDER && index < self->next
             && is_restart (self, seq, MAX_MISORDER, MAX_MISORDER)) {
    /* It has restarted within its past, where most numbers look like duplicates. */
    resync (self, seq);
    index = self->segment_first;
  }

  if (index < self->next)
    handle_past (self, index, marked);
  else
    handle_new (self,
        &(MccLossPacket){ .index = index, .bytes = bytes, .arrival = self->now, .marked = marked });
}

void
mcc_loss_handle_packet (MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival, MccTime rtt)
{
  handle_packet (self, seq, bytes, arrival, rtt, false, false);
}

void
mcc_loss_handle_marked_packet (
    MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival, MccTime rtt)
{
  handle_packet (self, seq, bytes, arrival, rtt, true, false);
}

void
mcc_loss_handle_late_packet (
    MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival, MccTime rtt, bool marked)
{
  handle_packet (self, seq, bytes, arrival, rtt, marked, true);
}

void
mcc_loss_handle_interval (MccLoss *self)
{
  if (self->measure->handle_interval != NULL)
    self->measure->handle_interval (self);
}

void
mcc_loss_extend_event (MccLoss *self, MccTime until)
{
  self->extend_until = until;
}

double
mcc_loss_ratio (const MccLoss *self)
{
  return self->measure->ratio (self);
}

double
mcc_loss_remembered_ratio (const MccLoss *self)
{
  const MccLossMeasure *measure = self->measure;
  return measure->remembered_ratio != NULL ? measure->remembered_ratio (self)
                                           : measure->ratio (self);
}

double
mcc_loss_marked_share (const MccLoss *self)
{
  return self->counts.marked > 0 ? self->measure->marked_share (self) : 0.0;
}

void
mcc_loss_seed (MccLoss *self, double loss_ratio)
{
  if (self->measure->seed != NULL)
    self->measure->seed (self, loss_ratio);
}

bool
mcc_loss_expect (MccLoss *self, double loss_ratio, unsigned intervals)
{
  return self->measure->expect != NULL && self->measure->expect (self, loss_ratio, intervals);
}

unsigned
mcc_loss_changed (const MccLoss *self, double chance)
{
  return self->measure->changed != NULL ? self->measure->changed (self, chance) : 0;
}

void
mcc_loss_reseed (MccLoss *self, unsigned keep, double loss_ratio)
{
  if (self->measure->reseed != NULL)
    self->measure->reseed (self, keep, loss_ratio);
}

uint64_t
mcc_loss_packets_received (const MccLoss *self)
{
  return self->counts.received;
}

uint64_t
mcc_loss_packets_expected (const MccLoss *self)
{
  return self->started ? self->highest + 1 : 0;
}

uint64_t
mcc_loss_packets_lost (const MccLoss *self)
{
  return self->counts.lost;
}

uint64_t
mcc_loss_packets_marked (const MccLoss *self)
{
  return self->counts.marked;
}

uint64_t
mcc_loss_duplicates (const MccLoss *self)
{
  return self->counts.duplicates;
}

uint64_t
mcc_loss_reordered (const MccLoss *self)
{
  return self->counts.reordered;
}

uint64_t
mcc_loss_resyncs (const MccLoss *self)
{
  return self->counts.resyncs;
}

uint64_t
mcc_loss_events (const MccLoss *self)
{
  return self->events;
}

MccTime
mcc_loss_last_event (const MccLoss *self)
{
  return self->last_event;
}

double
mcc_loss_mean_packet_bytes (const MccLoss *self)
{
  const MccLossSize *total = &self->size_total;
  return total->packets > 0 ? (double)total->bytes / (double)total->packets : 0.0;
}

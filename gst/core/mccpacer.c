/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccpacer.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "mccpairs.h"

const MccPacerConfig mcc_pacer_config_default
    = { .factor = 1.5, .max_delay = 150 * MCC_MSECOND, .burst = 5 * MCC_MSECOND };

#define RING_FIRST 64            /* entries, a power of two */
#define PLAN_EARLY MCC_MSECOND   /* for late timers */
#define DELAY_MEMORY 1.0         /* s, of the mean delay */
#define PRESSURE_MIN 0.25        /* one huge frame must not stop the encoder */
#define PRESSURE_TIME MCC_SECOND /* back to 1 */
#define LATE (20 * MCC_MSECOND)  /* what a late host may make up for */
#define CREDIT_EPSILON 1e-3      /* bits; rounding of times to ns */

/* Packets queued together. */
typedef struct {
  MccTime time;
  uint32_t packets, bytes;
} Entry;

struct MccPacer {
  MccPacerConfig config;
  double target_bps;
  MccTime haste; /* 0: none */
  double haste_most_bps;
  double haste_bps; /* for what is queued; 0: the target's is enough */
  Entry *ring;
  uint32_t size;       /* of the ring, a power of two */
  uint64_t head, tail; /* oldest entry, one behind the newest */
  uint32_t packets;
  uint64_t bytes;

  MccTime time;        /* of credit; MCC_TIME_NONE: never used */
  double credit;       /* bits that may leave; negative behind a large packet */
  double required_bps; /* 0 when nothing is queued */
  MccPacingFrames frames;
  double frame_bps; /* what is queued has left when the next frame comes; 0: as it comes */
  uint64_t bound;   /* the entry that requires it */
  bool rescan;      /* required_bps may be more than is needed, or less */

  uint64_t overruns;
  MccTime overrun_time; /* of the last one counted; MCC_TIME_NONE: never */
  double pressure;      /* at pressure_time */
  MccTime pressure_time;

  MccTime paired; /* when two left together, or one waited in vain; MCC_TIME_NONE: never */

  double delay_sum, delay_count; /* decaying, s */
  MccTime delay_time;
};

MccPacer *
mcc_pacer_new (const MccPacerConfig *config)
{
  MccPacer *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;
  self->size = RING_FIRST;
  self->ring = malloc (self->size * sizeof *self->ring);
  if (self->ring == NULL) {
    free (self);
    return NULL;
  }
  self->time = self->overrun_time = MCC_TIME_NONE;
  mcc_pacing_frames_init (&self->frames);
  self->paired = MCC_TIME_NONE;
  self->pressure = 1.0;
  mcc_pacer_set_config (self, config ? config : &mcc_pacer_config_default);
  return self;
}

void
mcc_pacer_free (MccPacer *self)
{
  if (!self)
    return;
  free (self->ring);
  free (self);
}

void
mcc_pacer_set_config (MccPacer *self, const MccPacerConfig *config)
{
  assert (config->factor >= 1.0 && config->max_delay > 0);
  self->config = *config;
  self->rescan = true;
}

void
mcc_pacer_set_target (MccPacer *self, uint64_t target_bps)
{
  self->target_bps = (double)target_bps;
  self->rescan = true;
}

void
mcc_pacer_set_haste (MccPacer *self, MccTime delay, uint64_t most_bps)
{
  self->haste = delay;
  self->haste_most_bps = (double)most_bps;
  self->haste_bps = fmin (self->haste_bps, self->config.factor * self->haste_most_bps);
  self->rescan = true;
}

static Entry *
entry_at (const MccPacer *self, uint64_t i)
{
  return &self->ring[i & (self->size - 1)];
}

static double
base_bps (const MccPacer *self)
{
  return fmax (self->config.factor * self->target_bps, self->haste_bps);
}

/* Whether what is queued leaves evenly. */
static bool
is_even (const MccPacer *self)
{
  return self->config.pacing.even && self->config.factor <= MCC_PACER_EVEN_FACTOR
         && self->haste == 0 && self->frame_bps > 0.0;
}

static double
release_bps (const MccPacer *self)
{
  double bps = base_bps (self);

  if (is_even (self))
    bps = fmin (bps, fmax (self->frame_bps, self->target_bps));
  return fmax (bps, self->required_bps);
}

static double
burst_bits (const MccPacer *self)
{
  MccTime burst = is_even (self) ? self->config.pacing.burst : self->config.burst;
  return release_bps (self) * mcc_time_to_seconds (burst);
}

/* How long a packet may be planned to wait. */
static MccTime
planned_delay (const MccPacer *self)
{
  return self->config.max_delay - mcc_time_min (PLAN_EARLY, self->config.max_delay / 10);
}

static MccTime
deadline (const MccPacer *self, const Entry *entry)
{
  return entry->time + planned_delay (self);
}

/* IP bits of the next packet: the host queues whole frames, so it is the mean of what is left. */
static double
packet_bits (const Entry *entry)
{
  return 8.0 * ceil ((double)entry->bytes / entry->packets);
}

/* Whether a packet of @bits that may leave now shall leave with the next one. */
static bool
pair_due (const MccPacer *self, double bits, MccTime now)
{
  MccTime apart = self->config.pacing.pairs;
  return apart > 0
         && mcc_pairs_due (
             self->paired, apart, (uint32_t)(bits / 8.0), (uint64_t)self->target_bps, now);
}

/* Until then the only packet, of @entry, waits for the one that shall leave with it: not where that
 * is not expected by then, and so that what comes then need not hurry. */
static MccTime
hold_end (const MccPacer *self, const Entry *entry)
{
  MccTime hold = mcc_time_min (MCC_PACER_HOLD, planned_delay (self) * 2 / 3);
  bool comes = packet_bits (entry) < self->target_bps * mcc_time_to_seconds (hold);
  return entry->time + (comes ? hold : 0);
}

/* What must be in the bucket for it to leave; what it lacks is a debt afterwards. Half a burst at
 * most, so that a late timer finds room to save the other half, and still never two packets that
 * are more than a burst together, but for pairs. */
static double
needed_credit (const MccPacer *self, double bits)
{
  return fmin (bits, 0.5 * burst_bits (self));
}

static void
scan_required (MccPacer *self, MccTime now)
{
  double bits = fmax (-self->credit, 0.0);

  self->required_bps = 0.0;
  for (uint64_t i = self->head; i != self->tail; i++) {
    const Entry *entry = entry_at (self, i);
    MccTime end = deadline (self, entry);

    bits += 8.0 * entry->bytes;
    /* What is overdue leaves at once: it requires nothing of the rate. */
    if (end <= now)
      continue;
    double bps = bits / mcc_time_to_seconds (end - now);
    if (bps > self->required_bps) {
      self->required_bps = bps;
      self->bound = i;
    }
  }
  self->rescan = false;
}

/* Returns whether the bucket is full. While packets wait for a late host it holds more than a
 * burst, so that being late costs no rate; a host that keeps to next_timeout() never has more than
 * one. */
static bool
refill (MccPacer *self, MccTime now)
{
  bool full = false;
  double late = release_bps (self) * mcc_time_to_seconds (LATE);

  if (self->time == MCC_TIME_NONE) {
    self->time = now;
    full = true;
  }
  if (now > self->time) {
    self->credit += release_bps (self) * mcc_time_to_seconds (now - self->time);
    self->time = now;
  }
  double most = burst_bits (self);
  if (self->head != self->tail)
    most = fmax (most, late);
  full |= self->credit >= most;
  /* A late host loses credit that the deadlines counted on. */
  if (self->rescan || (full && self->head != self->tail))
    scan_required (self, now);
  if (full)
    self->credit = most;
  return full;
}

static bool
grow (MccPacer *self)
{
  Entry *ring = malloc (2 * (size_t)self->size * sizeof *ring);

  if (ring == NULL)
    return false;
  for (uint64_t i = self->head; i != self->tail; i++)
    ring[i & (2 * self->size - 1)] = *entry_at (self, i);
  free (self->ring);
  self->ring = ring;
  self->size *= 2;
  return true;
}

/* Without memory for an entry of their own they are taken for part of the newest one: that is
 * older, so that they leave no later than their own bound. */
static void
append (MccPacer *self, uint32_t packets, uint32_t bytes, MccTime now)
{
  if (self->tail - self->head < self->size || grow (self)) {
    *entry_at (self, self->tail++) = (Entry){ .time = now, .packets = packets, .bytes = bytes };
  } else {
    Entry *newest = entry_at (self, self->tail - 1);
    if (bytes > UINT32_MAX - newest->bytes)
      bytes = UINT32_MAX - newest->bytes;
    newest->packets += packets;
    newest->bytes += bytes;
    self->rescan = true;
  }
  self->packets += packets;
  self->bytes += bytes;
}

static void
hurry (MccPacer *self)
{
  if (self->haste == 0)
    return;
  double bps = 8.0 * (double)self->bytes / mcc_time_to_seconds (self->haste);
  self->haste_bps = fmin (fmax (self->haste_bps, bps), self->config.factor * self->haste_most_bps);
}

static void
count_overrun (MccPacer *self, double bps, MccTime now)
{
  double pressure = fmax (base_bps (self) / bps, PRESSURE_MIN);

  if (self->overrun_time == MCC_TIME_NONE || now > self->overrun_time + MCC_PACING_FRAME_GAP) {
    self->overruns++;
    self->overrun_time = now;
  }
  self->pressure = fmin (mcc_pacer_pressure (self, now), pressure);
  self->pressure_time = now;
}

/* Of a packet that could have left, and leaves now that its fellow has come. */
static double
held_bits (const MccPacer *self, MccTime now)
{
  if (self->packets != 1)
    return 0.0;
  double bits = packet_bits (entry_at (self, self->head));
  bool may_leave = self->credit >= needed_credit (self, bits) - CREDIT_EPSILON;
  return may_leave && pair_due (self, bits, now) ? bits : 0.0;
}

/* Of what is queued, the newest frame included, at @now. */
static void
plan_frame (MccPacer *self, MccTime now)
{
  double time = mcc_pacing_frames_handle (&self->frames, now), bits = 8.0 * (double)self->bytes;
  bool close = bits < self->packets * self->target_bps * mcc_time_to_seconds (MCC_PAIRS_APART);
  self->frame_bps = close && time > 0.0 ? bits / time : 0.0;
}

void
mcc_pacer_enqueue (MccPacer *self, uint32_t packets, uint32_t bytes, MccTime now)
{
  if (packets == 0)
    return;
  bool full = refill (self, now);
  double held = held_bits (self, now);

  append (self, packets, bytes, now);
  hurry (self);
  plan_frame (self, now);

  /* As long as packets leave at the old rate the older ones require no more than before. */
  double bits = 8.0 * (double)self->bytes + fmax (-self->credit, 0.0) - held;
  double bps = bits / mcc_time_to_seconds (planned_delay (self));
  if (bps > self->required_bps) {
    self->required_bps = bps;
    self->bound = self->tail - 1;
  }
  /* A full bucket stays full at a higher rate. */
  if (full && self->packets == packets)
    self->credit = burst_bits (self);
  if (bps > base_bps (self))
    count_overrun (self, bps, now);
}

static void
count_delay (MccPacer *self, uint32_t packets, MccTime entry_time, MccTime now)
{
  if (now > self->delay_time) {
    double keep = exp (-mcc_time_to_seconds (now - self->delay_time) / DELAY_MEMORY);

    self->delay_sum *= keep;
    self->delay_count *= keep;
    self->delay_time = now;
  }
  self->delay_sum += packets * mcc_time_to_seconds (now > entry_time ? now - entry_time : 0);
  self->delay_count += packets;
}

/* Packets of the oldest entry that may leave; takes them. @others: that wait behind it. @along: the
 * next one leaves with the one before it. */
static uint32_t
release_entry (MccPacer *self, Entry *entry, uint32_t others, bool *along, MccTime now)
{
  bool overdue = deadline (self, entry) <= now;
  uint32_t packets = 0;

  while (entry->packets > 0) {
    double bits = packet_bits (entry);

    if (*along) {
      *along = false;
      self->credit -= bits;
    } else if (self->credit >= needed_credit (self, bits) - CREDIT_EPSILON) {
      if (pair_due (self, bits, now)) {
        *along = entry->packets + others > 1;
        if (!*along && now < hold_end (self, entry))
          break;
        self->paired = now;
      }
      self->credit -= bits;
    } else if (overdue)
      /* A debt would make the next ones late as well. */
      self->credit = fmin (self->credit, 0.0);
    else
      break;
    entry->bytes -= (uint32_t)(bits / 8.0) < entry->bytes ? (uint32_t)(bits / 8.0) : entry->bytes;
    entry->packets--;
    packets++;
  }
  return packets;
}

uint32_t
mcc_pacer_release (MccPacer *self, MccTime now)
{
  uint32_t released = 0;
  bool along = false;

  refill (self, now);
  while (self->head != self->tail) {
    Entry *entry = entry_at (self, self->head);
    uint32_t bytes = entry->bytes;
    uint32_t packets = release_entry (self, entry, self->packets - entry->packets, &along, now);

    if (packets > 0)
      count_delay (self, packets, entry->time, now);
    released += packets;
    self->packets -= packets;
    self->bytes -= bytes - entry->bytes;
    if (entry->packets > 0)
      break;
    /* The rate falls again when the entry that required it has left. */
    if (self->head++ == self->bound)
      scan_required (self, now);
  }
  if (self->head == self->tail)
    self->haste_bps = 0.0;
  return released;
}

/* What must be in the bucket for the next burst: as many packets as one holds, so that the host
 * wakes up no more often than it must. */
static double
burst_credit (const MccPacer *self, const Entry *entry)
{
  double bits = packet_bits (entry);
  double packets = fmin (floor (burst_bits (self) / bits), self->packets);

  return packets < 2.0 ? needed_credit (self, bits) : packets * bits;
}

MccTime
mcc_pacer_next_timeout (const MccPacer *self)
{
  if (self->head == self->tail)
    return MCC_TIME_NONE;
  const Entry *entry = entry_at (self, self->head);
  double missing = burst_credit (self, entry) - self->credit;
  MccTime latest = deadline (self, entry), at = self->time;

  if (missing > 0.0 && release_bps (self) <= 0.0)
    return latest;
  if (missing > 0.0)
    at += mcc_time_from_seconds (missing / release_bps (self)) + 1;
  if (self->packets == 1 && pair_due (self, packet_bits (entry), at))
    at = mcc_time_max (at, hold_end (self, entry));
  return mcc_time_min (at, latest);
}

void
mcc_pacer_clear (MccPacer *self)
{
  self->head = self->tail;
  self->packets = 0;
  self->bytes = 0;
  self->required_bps = self->haste_bps = 0.0;
}

uint32_t
mcc_pacer_queued_packets (const MccPacer *self)
{
  return self->packets;
}

uint64_t
mcc_pacer_queued_bytes (const MccPacer *self)
{
  return self->bytes;
}

uint64_t
mcc_pacer_overruns (const MccPacer *self)
{
  return self->overruns;
}

MccTime
mcc_pacer_delay (const MccPacer *self)
{
  return self->delay_count > 0.0 ? mcc_time_from_seconds (self->delay_sum / self->delay_count) : 0;
}

double
mcc_pacer_pressure (const MccPacer *self, MccTime now)
{
  if (self->pressure >= 1.0 || now <= self->pressure_time)
    return self->pressure;
  double past = (double)(now - self->pressure_time) / (double)PRESSURE_TIME;

  return past >= 1.0 ? 1.0 : self->pressure + (1.0 - self->pressure) * past;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccswing.h"

#include <string.h>

#define EMPTY (3 * MCC_MSECOND)        /* less is none: the link was not busy all the while */
#define LONG_STOOD (500 * MCC_MSECOND) /* shorter says little */
#define LONG_EMPTY (500 * MCC_MSECOND)
#define PACKETS 24    /* fewer say little */
#define EXPLAINED 0.5 /* of the queue, by what we sent less: it was ours */

void
mcc_swing_init (MccSwing *self)
{
  memset (self, 0, sizeof *self);
  self->now = MCC_TIME_NONE;
}

static void
begin (MccSwing *self)
{
  self->stood = self->empty = 0;
  self->stood_packets = self->empty_packets = 0;
  self->was_empty = false;
  self->peak = 0;
  self->late_ns = 0.0;
}

void
mcc_swing_splice (MccSwing *self)
{
  begin (self);
  self->now = MCC_TIME_NONE;
}

static double
stood_per_ns (const MccSwing *self)
{
  return self->stood > 0 ? (double)self->stood_packets / (double)self->stood : 0.0;
}

/* From its highest on, what was sent while it went. */
static void
watch_fall (MccSwing *self, MccTime queue, uint64_t came, MccTime sent_span)
{
  double per_ns = stood_per_ns (self);
  if (queue >= self->peak) {
    self->peak = queue;
    self->late_ns = 0.0;
  } else if (per_ns > 0.0) {
    self->late_ns += (double)sent_span - (double)came / per_ns;
  }
}

/* As much without the queue as with it, but for a packet that came before or after. */
static void
judge (MccSwing *self, MccTime now)
{
  bool as_much = (double)self->empty_packets + 1.0 >= stood_per_ns (self) * (double)self->empty
                 && self->late_ns < EXPLAINED * (double)self->peak;
  bool in_time = self->swings == 0 || now - self->swung < MCC_SWING_SPAN;
  self->swings = !as_much ? 0 : in_time ? self->swings + 1 : 1;
  if (as_much)
    self->swung = now;
  begin (self);
}

void
mcc_swing_look (MccSwing *self, MccTime queue, MccTime floor, uint64_t packets, MccTime sent_span,
    bool losses, MccTime now)
{
  MccTime passed = self->now == MCC_TIME_NONE ? 0 : now - self->now;
  bool first = self->now == MCC_TIME_NONE || packets < self->packets;
  uint64_t came = first ? 0 : packets - self->packets;
  self->now = now;
  self->packets = packets;
  if (losses)
    self->swings = 0;
  if (first || losses) {
    begin (self);
    return;
  }
  if (queue >= floor) {
    if (self->empty > 0) /* it came back too soon to tell */
      begin (self);
    self->was_empty = false;
    self->stood += passed;
    self->stood_packets += came;
    watch_fall (self, queue, came, sent_span);
    return;
  }
  if (!self->was_empty)
    watch_fall (self, queue, came, sent_span);
  bool is_empty = queue < EMPTY && self->stood >= LONG_STOOD && self->stood_packets >= PACKETS;
  if (is_empty && self->was_empty) { /* what came before was still the queue's */
    self->empty += passed;
    self->empty_packets += came;
  } else if (!is_empty) {
    self->empty = 0;
    self->empty_packets = 0;
  }
  self->was_empty = is_empty;
  if (self->empty >= LONG_EMPTY && self->empty_packets >= PACKETS)
    judge (self, now);
}

bool
mcc_swing_is_others (const MccSwing *self, MccTime now)
{
  return self->swings >= MCC_SWINGS && now - self->swung < MCC_SWING_SPAN;
}

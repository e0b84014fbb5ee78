/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pacer and what is asked of the encoder: the input is a sequence of frames, targets, settings,
 * pauses and late timers. A host keeps the packets' times. What is queued leaves once; on time it
 * leaves within the delay bound; the pacer always says when, and that brings it forward.
 */
#include <math.h>

#include "fuzz.h"
#include "mccencoding.h"
#include "mccpacer.h"
#include "mccpairs.h"

#define EPOCH (100000 * MCC_SECOND)
#define EVENTS_MAX 300
#define PACKETS 16384      /* that wait; a power of two */
#define RELEASES_MAX 20000 /* in one stretch of time; a burst has a packet at least */
#define IDLE_MAX 4         /* releases of nothing in a row */

typedef struct {
  FuzzInput in;
  MccTime now;
  MccPacer *pacer;
  MccPacerConfig config;
  MccTime bound; /* of what waits: the longest since the queue was empty */
  bool late;     /* ... or the host was late meanwhile */
  MccEncoding encoding;
  uint64_t target_bps, overruns;
  MccTime queued[PACKETS];
  uint64_t head, tail;
} Host;

static void
release (Host *self, bool on_time)
{
  uint32_t released = mcc_pacer_release (self->pacer, self->now);

  CHECK (released <= self->tail - self->head);
  for (uint32_t i = 0; i < released; i++, self->head++)
    CHECK (!on_time || self->late
           || self->now - self->queued[self->head & (PACKETS - 1)] <= self->bound);
  if (self->head == self->tail) {
    self->bound = self->config.max_delay;
    self->late = false;
  }
}

static void
check_laws (Host *self)
{
  double pressure = mcc_pacer_pressure (self->pacer, self->now);
  uint64_t overruns = mcc_pacer_overruns (self->pacer), asked;

  CHECK (mcc_pacer_queued_packets (self->pacer) == self->tail - self->head);
  CHECK (self->tail != self->head || mcc_pacer_queued_bytes (self->pacer) == 0);
  CHECK ((mcc_pacer_next_timeout (self->pacer) == MCC_TIME_NONE) == (self->tail == self->head));
  CHECK (pressure > 0.0 && pressure <= 1.0);
  CHECK (overruns >= self->overruns);
  self->overruns = overruns;
  CHECK (mcc_pacer_delay (self->pacer) <= self->now);
  if (mcc_encoding_update (&self->encoding, self->target_bps, pressure, self->now, &asked))
    CHECK (asked > 0 && (double)asked <= 1.1 * (double)self->target_bps + 1.0);
  CHECK (
      self->encoding.headers_bps >= 0.0 && self->encoding.headers_bps <= self->encoding.wire_bps);
  CHECK (self->encoding.full_headers <= self->encoding.full_bytes);
  CHECK (self->encoding.correction >= 0.5 - 1e-9 && self->encoding.correction <= 1.1 + 1e-9);
}

/* As a host that keeps to next_timeout(). */
static void
advance (Host *self, MccTime by)
{
  MccTime until = self->now + by, next;
  unsigned idle = 0;

  for (unsigned n = 0; (next = mcc_pacer_next_timeout (self->pacer)) <= until; n++) {
    uint64_t head = self->head;

    CHECK (n < RELEASES_MAX);
    self->now = mcc_time_max (self->now, next);
    release (self, true);
    idle = self->head == head ? idle + 1 : 0;
    CHECK (idle <= IDLE_MAX);
  }
  self->now = until;
}

static void
do_frame (Host *self)
{
  uint32_t packets = 1 + fuzz_u8 (&self->in) % 64;
  uint32_t bytes = packets * (28 + (uint32_t)fuzz_scale (&self->in, 15));

  if (self->tail - self->head + packets > PACKETS)
    return;
  for (uint32_t i = 0; i < packets; i++) {
    self->queued[self->tail++ & (PACKETS - 1)] = self->now;
    mcc_encoding_handle_packet (&self->encoding, bytes / packets, bytes / packets - 28, self->now);
  }
  mcc_pacer_enqueue (self->pacer, packets, bytes, self->now);
}

static void
do_config (Host *self)
{
  self->config.factor = 1.0 + fuzz_u8 (&self->in) / 32.0;
  self->config.max_delay = MCC_MSECOND + fuzz_scale (&self->in, 32);
  self->config.burst = self->config.pacing.burst = MCC_MSECOND + fuzz_scale (&self->in, 25);
  /* As any other bits. */
  static const MccTime pairs[] = { MCC_PAIRS_CLOSE, 0, MCC_PAIRS_APART, 0 };
  self->config.pacing.pairs = pairs[self->config.max_delay % 4];
  self->config.pacing.even = self->config.max_delay / 2 % 2 == 0;
  /* What waits was planned for another bound. */
  self->bound = mcc_time_max (self->bound, self->config.max_delay);
  self->late = self->late || self->head != self->tail;
  mcc_pacer_set_config (self->pacer, &self->config);
}

static void
do_event (Host *self)
{
  FuzzInput *in = &self->in;

  switch (fuzz_u8 (in) % 8) {
    case 0:
      self->target_bps = fuzz_scale (in, 37);
      mcc_pacer_set_target (self->pacer, self->target_bps);
      break;
    case 1:
      do_config (self);
      break;
    case 2: /* the host's timer is late */
      self->now += fuzz_scale (in, 36);
      self->late = true;
      release (self, false);
      break;
    case 3:
      if (fuzz_u8 (in) < 32) {
        mcc_pacer_clear (self->pacer);
        self->head = self->tail;
        self->bound = self->config.max_delay;
        self->late = false;
      }
      break;
    case 4:
      advance (self, fuzz_scale (in, 34));
      break;
    case 5:
      advance (self, fuzz_scale (in, 25));
      break;
    default:
      do_frame (self);
  }
  check_laws (self);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static Host self;

  self = (Host){ .in = { data, size },
    .now = EPOCH,
    .config = mcc_pacer_config_default,
    .bound = mcc_pacer_config_default.max_delay };
  self.pacer = mcc_pacer_new (NULL);
  CHECK (self.pacer != NULL);
  mcc_encoding_init (&self.encoding);
  for (unsigned i = 0; i < EVENTS_MAX && self.in.left > 0; i++)
    do_event (&self);
  /* Whatever the target is, nothing waits for ever. */
  advance (&self, self.bound + MCC_SECOND);
  CHECK (self.head == self.tail);
  mcc_pacer_free (self.pacer);
  return 0;
}

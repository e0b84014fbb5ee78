/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcctransmission.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define PACKETS 8       /* of a class, before its smallest delay says anything */
#define APART_BYTES 256 /* small and large */

void
mcc_transmission_init (MccTransmission *self, MccTime now)
{
  memset (self, 0, sizeof *self);
  self->half_since = now;
}

static void
turn (MccTransmission *self, MccTime now)
{
  MccTime half = MCC_TRANSMISSION_SPAN / 2;
  if (now - self->half_since < half)
    return;
  if (now - self->half_since < 2 * half)
    memcpy (self->sized[1], self->sized[0], sizeof self->sized[1]);
  else
    memset (self->sized[1], 0, sizeof self->sized[1]);
  memset (self->sized[0], 0, sizeof self->sized[0]);
  self->half_since = now;
}

MccTime
mcc_transmission_own (const MccTransmission *self, uint32_t bytes)
{
  if (bytes <= self->small_bytes)
    return 0;
  return mcc_time_from_seconds (self->s_per_byte * (double)(bytes - self->small_bytes));
}

MccTime
mcc_transmission_handle_packet (MccTransmission *self, uint32_t bytes, MccTime queue, MccTime now)
{
  uint32_t c = bytes / MCC_TRANSMISSION_BYTES;
  c = c < MCC_TRANSMISSION_CLASSES ? c : MCC_TRANSMISSION_CLASSES - 1;
  turn (self, now);
  if (self->sized[0][c].packets++ == 0 || queue < self->sized[0][c].least) {
    self->sized[0][c].bytes = bytes;
    self->sized[0][c].least = queue;
  }
  MccTime own = mcc_transmission_own (self, bytes);
  return queue > own ? queue - own : 0;
}

/* The smallest delay of class @c, and which size had it; false: too few packets. */
static bool
least_of (const MccTransmission *self, unsigned c, MccTime *least, uint32_t *bytes)
{
  if (self->sized[0][c].packets + self->sized[1][c].packets < PACKETS)
    return false;
  unsigned half
      = self->sized[0][c].packets == 0
        || (self->sized[1][c].packets > 0 && self->sized[1][c].least < self->sized[0][c].least);
  *least = self->sized[half][c].least;
  *bytes = self->sized[half][c].bytes;
  return true;
}

void
mcc_transmission_update (MccTransmission *self, uint64_t received_bps)
{
  MccTime small = 0, large = 0, least;
  uint32_t small_bytes = 0, large_bytes = 0, bytes;
  for (unsigned c = 0; c < MCC_TRANSMISSION_CLASSES; c++) {
    if (!least_of (self, c, &least, &bytes))
      continue;
    if (small_bytes == 0) {
      small = least;
      small_bytes = bytes;
    }
    large = least;
    large_bytes = bytes;
  }
  self->s_per_byte = 0.0;
  self->small_bytes = small_bytes;
  if (large_bytes < small_bytes + APART_BYTES || large <= small || received_bps == 0)
    return;
  double apart_s = mcc_time_to_seconds (large - small);
  self->s_per_byte = fmin (apart_s / (large_bytes - small_bytes), 8.0 / (double)received_bps);
}

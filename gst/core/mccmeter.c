/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccmeter.h"

#include <assert.h>
#include <string.h>

/* Besides the whole slots of a window the ring holds the open slot and the one the window cuts. */
#define WHOLE_SLOTS (MCC_METER_SLOTS - 2)

void
mcc_meter_init (MccMeter *self, MccTime span)
{
  assert (span > 0 && span != MCC_TIME_NONE);
  memset (self, 0, sizeof *self);
  self->slot_length = (span + WHOLE_SLOTS - 1) / WHOLE_SLOTS;
  self->first = MCC_TIME_NONE;
}

void
mcc_meter_add (MccMeter *self, uint32_t bytes, MccTime now)
{
  uint64_t index = now / self->slot_length;

  if (self->first == MCC_TIME_NONE) {
    self->first = now;
    self->slot_index = index;
  }
  if (index > self->slot_index + MCC_METER_SLOTS) {
    memset (self->bytes, 0, sizeof self->bytes);
    self->slot_index = index;
  }
  while (self->slot_index < index)
    self->bytes[++self->slot_index % MCC_METER_SLOTS] = 0;

  uint32_t *slot = &self->bytes[self->slot_index % MCC_METER_SLOTS];
  *slot = bytes > UINT32_MAX - *slot ? UINT32_MAX : *slot + bytes;
}

uint64_t
mcc_meter_rate_bps (const MccMeter *self, MccTime window, MccTime now)
{
  if (self->first == MCC_TIME_NONE)
    return 0;
  window = mcc_time_clamp (window, self->slot_length, self->slot_length * WHOLE_SLOTS);
  if (now < self->first + window)
    window = mcc_time_max (now > self->first ? now - self->first : 0, self->slot_length);

  MccTime start = now > window ? now - window : 0;
  uint64_t oldest = start / self->slot_length;
  uint64_t low = self->slot_index >= MCC_METER_SLOTS ? self->slot_index - MCC_METER_SLOTS + 1 : 0;
  uint64_t newest = now / self->slot_length;
  double sum = 0.0;

  if (newest > self->slot_index)
    newest = self->slot_index;
  for (uint64_t i = oldest > low ? oldest : low; i <= newest; i++) {
    double part = 1.0;

    /* The window cuts its oldest slot; but what came before the first byte is no part of it. */
    if (i == oldest && start > self->first)
      part = (double)((i + 1) * self->slot_length - start) / (double)self->slot_length;
    sum += part * self->bytes[i % MCC_METER_SLOTS];
  }
  return (uint64_t)(sum * 8e9 / (double)window + 0.5);
}

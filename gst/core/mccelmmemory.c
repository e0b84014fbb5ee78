/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmmemory.h"

void
mcc_elm_memory_init (MccElmMemory *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_elm_memory_joined (MccElmMemory *self, unsigned layer, MccTime now)
{
  self->newest = layer;
  self->joined = now;
}

static void
wait (MccElmMemory *self, unsigned layer, bool failure, MccTime now)
{
  MccTime time = MCC_ELM_BACK_OFF_MIN;
  if (failure && self->wait[layer] > 0)
    time = mcc_time_min (2 * self->wait[layer], MCC_ELM_BACK_OFF_MAX);
  self->wait[layer] = time;
  self->retry[layer] = mcc_time_max (self->retry[layer], now + time);
}

bool
mcc_elm_memory_left (MccElmMemory *self, unsigned layer, MccTime now)
{
  self->learned[layer] = false;
  bool failure = self->newest == layer && now - self->joined < MCC_ELM_KEPT + self->wait[layer];
  self->newest = 0;
  wait (self, layer, failure, now);
  return failure;
}

bool
mcc_elm_memory_learn (MccElmMemory *self, unsigned layer, MccTime now)
{
  if (self->learned[layer] && now < self->retry[layer])
    return false;
  self->learned[layer] = true;
  wait (self, layer, true, now);
  return true;
}

bool
mcc_elm_memory_allows (const MccElmMemory *self, unsigned layer, MccTime now)
{
  return now >= self->retry[layer];
}

void
mcc_elm_memory_hold (MccElmMemory *self, unsigned layer, MccTime now)
{
  self->hold[layer] = now + mcc_time_max (MCC_ELM_HOLD, self->wait[layer]);
}

bool
mcc_elm_memory_holds (const MccElmMemory *self, unsigned layer, MccTime now)
{
  return now < self->hold[layer];
}

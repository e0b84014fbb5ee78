/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emured.h"

#include <math.h>

static double
base_probability (const EmuRedConfig *config, double average)
{
  double p;

  if (average >= config->max)
    p = config->max_p + (1.0 - config->max_p) * (average - config->max) / config->max;
  else
    p = config->max_p * (average - config->min) / (config->max - config->min);
  return p > 1.0 ? 1.0 : p;
}

static double
spread_probability (const EmuRed *self, const EmuRedConfig *config, double p, uint32_t bytes)
{
  double since
      = config->in_bytes ? (double)self->count_bytes / EMU_RED_MEAN_BYTES : (double)self->count;

  if (since * p < 1.0)
    p = 0.0;
  else if (since * p < 2.0)
    p /= 2.0 - since * p;
  else
    p = 1.0;
  if (config->in_bytes)
    p *= (double)bytes / EMU_RED_MEAN_BYTES;
  return p > 1.0 ? 1.0 : p;
}

EmuRedVerdict
emu_red_arrive (EmuRed *self, const EmuRedConfig *config, double queued, uint32_t waiting,
    uint32_t bytes, double idle_s, double rate_bps, EmuRng *rng)
{
  double limit = config->gentle ? 2.0 * config->max : config->max;

  if (idle_s > 0.0)
    self->average *= pow (1.0 - config->weight, idle_s * rate_bps / (8.0 * EMU_RED_MEAN_BYTES));
  self->average += config->weight * (queued - self->average);
  self->count++;
  self->count_bytes += bytes;
  if (self->average < config->min || waiting <= 1) {
    self->above = false;
    return EMU_RED_PASS;
  }
  if (self->average >= limit) {
    self->count = 0;
    self->count_bytes = 0;
    return EMU_RED_DROP;
  }
  if (!self->above) {
    self->above = true;
    self->count = 1;
    self->count_bytes = bytes;
    return EMU_RED_PASS;
  }
  if (emu_rng_uniform (rng)
      >= spread_probability (self, config, base_probability (config, self->average), bytes))
    return EMU_RED_PASS;
  self->count = 0;
  self->count_bytes = 0;
  return EMU_RED_PICK;
}

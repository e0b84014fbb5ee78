/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccbucket.h"

#include <assert.h>

void
mcc_bucket_init (MccBucket *self, double per_s, double burst, MccTime now)
{
  assert (per_s >= 0.0 && burst >= 1.0);
  self->per_s = (float)per_s;
  self->burst = self->tokens = (float)burst;
  self->time = now;
}

bool
mcc_bucket_take (MccBucket *self, MccTime now)
{
  if (now > self->time) {
    double tokens = self->tokens + self->per_s * mcc_time_to_seconds (now - self->time);
    float filled = tokens > self->burst ? self->burst : (float)tokens;

    /* A refill too small for a float keeps its time, so that a flood cannot starve the bucket. */
    if (filled != self->tokens || filled >= self->burst) {
      self->tokens = filled;
      self->time = now;
    }
  }
  if (self->tokens < 1.0f)
    return false;
  self->tokens -= 1.0f;
  return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whether the newest loss intervals are too short to come from the network that the older ones came
 * from: the exact test that two spans of Poisson processes have one rate. Ours; the other way,
 * losses that became rare, is mccloss.h's forgetting. And whether what was measured refutes what
 * was expected.
 */
#include "mcclossprivate.h"

#include <math.h>

#define DOUBTED 3e-3        /* chance of what was measured, were it what was expected */
#define NEWEST_MAX 4        /* more of them show in the mean anyway */
#define DISCOUNT_LEAST 0.25 /* what is forgotten is nothing to compare with */

/* The chance that of k + n intervals of one process the newest k take no more than @part of all:
 * Beta (k, n) <= part, by the binomial tail. */
static double
chance_of_part (unsigned k, unsigned n, double part)
{
  unsigned m = n + k - 1;
  double term = pow (1.0 - part, m), below = 0.0;

  for (unsigned j = 0; j < k; j++) {
    below += term;
    term *= part / (1.0 - part) * (double)(m - j) / (double)(j + 1);
  }
  return 1.0 - below;
}

unsigned
mcc_loss_events_changed (const MccLoss *loss, double chance)
{
  const MccLossEvents *self = (const MccLossEvents *)loss;
  unsigned in_use = mcc_loss_events_in_use (self);
  double newer = 0.0;

  for (unsigned k = 1; k <= NEWEST_MAX && k < in_use; k++) {
    double older = 0.0, discount = 1.0;
    unsigned n = 0;

    newer += mcc_loss_events_get (self, k - 1)->interval;
    for (unsigned i = k; i < in_use && discount >= DISCOUNT_LEAST; i++, n++) {
      older += mcc_loss_events_get (self, i)->interval;
      discount *= mcc_loss_events_get (self, i)->discount;
    }
    if (older > 0.0 && chance_of_part (k, n, newer / (newer + older)) < chance)
      return k;
  }
  return 0;
}

void
mcc_loss_events_reseed (MccLoss *loss, unsigned keep, double loss_ratio)
{
  MccLossEvents *self = (MccLossEvents *)loss;
  double interval = loss_ratio < 1.0 ? 1.0 / loss_ratio : 1.0;

  if (keep >= mcc_loss_events_in_use (self) || !(loss_ratio > 0.0))
    return;
  MccLossEvent *oldest = mcc_loss_events_get (self, keep);
  oldest->interval = interval;
  oldest->seeded = true;
  self->count = keep + 1;
  self->expected = 0;
  for (unsigned age = 0; age <= keep; age++)
    mcc_loss_events_get (self, age)->discount = 1.0;
}

/* The chance of @k events or more where @mean are expected (Poisson). */
static double
chance_of_events (unsigned k, double mean)
{
  double term = exp (-mean), below = 0.0;

  for (unsigned j = 0; j < k; j++) {
    below += term;
    term *= mean / (j + 1);
  }
  return 1.0 - below;
}

void
mcc_loss_events_judge_expected (MccLossEvents *self)
{
  unsigned measured = 0, left;
  double units = 0.0, chance;

  if (self->expected == 0)
    return;
  for (; measured < self->count && !mcc_loss_events_get (self, measured)->seeded; measured++)
    units += mcc_loss_events_get (self, measured)->interval;
  if (measured == self->count) /* they have left the ring */
    self->expected = 0;
  if (measured == 0 || measured == self->count)
    return;
  chance = chance_of_events (measured, units / mcc_loss_events_get (self, measured)->interval);
  left = (unsigned)ceil (self->expected * fmin (1.0, chance / DOUBTED) - 0.5);
  if (left < self->count - measured)
    self->count = measured + left;
}

bool
mcc_loss_events_expect (MccLoss *loss, double loss_ratio, unsigned intervals)
{
  MccLossEvents *self = (MccLossEvents *)loss;
  MccLossEvent event = { .first = loss->segment_first,
    .last = loss->segment_first,
    .time = MCC_TIME_NONE,
    .interval = loss_ratio < 1.0 ? 1.0 / loss_ratio : 1.0,
    .impact = 1.0,
    .discount = 1.0,
    .losses = 1,
    .counted = 1,
    .seeded = true };

  if (!(loss_ratio > 0.0) || self->count == 0)
    return false;
  for (unsigned i = 0; i < intervals && self->count < MCC_LOSS_EVENTS_MAX; i++) {
    self->count++;
    *mcc_loss_events_get (self, self->count - 1) = event;
    self->expected++;
  }
  mcc_loss_events_judge_expected (self);
  return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcclossprivate.h"

#include <assert.h>
#include <math.h>

/* RFC 5348 5.5, RFC 4654 5.5: discount when the open interval exceeds twice the mean, by a half at
 * most. */
#define DISCOUNT_ABOVE 2.0
#define DISCOUNT_MIN 0.5

/* Ours: in a Poisson process one interval in 150 is longer than this times the mean. */
#define FORGET_ABOVE 5.0

/* Ours: so many measured intervals replace a seed so many times as long. */
#define SEED_UNTIL 2
#define SEED_TIMES 4.0

/* Below this a seed is no loss at all; keeps its interval finite. */
#define SEED_RATIO_MIN 1e-12

static unsigned
slot (const MccLossEvents *self, unsigned age)
{
  return (self->newest + MCC_LOSS_EVENTS_MAX - age) % MCC_LOSS_EVENTS_MAX;
}

MccLossEvent *
mcc_loss_events_get (const MccLossEvents *self, unsigned age)
{
  assert (age < self->count);
  return (MccLossEvent *)&self->ring[slot (self, age)];
}

unsigned
mcc_loss_events_in_use (const MccLossEvents *self)
{
  unsigned history = self->base.config.history;
  return self->count < history ? self->count : history;
}

bool
mcc_loss_events_joins (const MccLossEvents *self, MccTime time)
{
  MccTime until = self->base.extend_until;

  if (self->count == 0)
    return false;
  return time < mcc_loss_events_get (self, 0)->end || (until != MCC_TIME_NONE && time < until);
}

/* Weighted mean of the closed intervals, each older one discounted by what it has met so far. */
static double
closed_mean (const MccLossEvents *self, bool discounting)
{
  unsigned n = mcc_loss_events_in_use (self);
  double sum = 0.0, weights = 0.0, discount = 1.0;

  for (unsigned i = 0; i < n; i++) {
    const MccLossEvent *event = mcc_loss_events_get (self, i);
    double w = self->base.weights[i] * discount;
    sum += w * event->interval;
    weights += w;
    if (discounting)
      discount *= event->discount;
  }
  return sum / weights;
}

/* The same with the open interval as the newest and without the oldest. */
static double
open_mean (const MccLossEvents *self, bool discounting, double discount)
{
  unsigned n = mcc_loss_events_in_use (self);
  double sum = self->base.weights[0] * self->open;
  double weights = self->base.weights[0];

  for (unsigned i = 1; i < n; i++) {
    const MccLossEvent *event = mcc_loss_events_get (self, i - 1);
    double w = self->base.weights[i] * discount;
    sum += w * event->interval;
    weights += w;
    if (discounting)
      discount *= event->discount;
  }
  return sum / weights;
}

static double
longest (const MccLossEvents *self)
{
  double out = 0.0;
  for (unsigned i = 0; i < mcc_loss_events_in_use (self); i++) {
    const MccLossEvent *event = mcc_loss_events_get (self, i);
    if (!event->seeded)
      out = fmax (out, event->interval);
  }
  return out;
}

/* The probability of the rest of the open interval, were losses what they were. Intervals that vary
 * more than a Poisson process's are their own measure. */
static double
forgotten (const MccLossEvents *self, double mean)
{
  double likely = FORGET_ABOVE * mean;
  if (self->open <= likely)
    return 1.0;
  likely = fmax (likely, longest (self));
  return self->open > likely ? exp (-(self->open - likely) / mean) : 1.0;
}

static double
present_discount (const MccLossEvents *self, double mean, bool forgetting)
{
  if (self->open <= DISCOUNT_ABOVE * mean)
    return 1.0;

  double discount = fmax (DISCOUNT_ABOVE * mean / self->open, DISCOUNT_MIN);
  return forgetting ? discount * forgotten (self, mean) : discount;
}

double
mcc_loss_events_mean_interval (const MccLossEvents *self, bool discounting, bool forgetting)
{
  double closed = closed_mean (self, discounting);
  double discount = discounting ? present_discount (self, closed, forgetting) : 1.0;
  double open = open_mean (self, discounting, discount);

  return open > closed ? open : closed;
}

static MccTime
add_times (MccTime a, MccTime b)
{
  return a > MCC_TIME_NONE - 1 - b ? MCC_TIME_NONE - 1 : a + b;
}

/* A rate that was met without loss for a moment makes a seed of hours; what was measured since
 * says more. */
static void
drop_seed (MccLossEvents *self)
{
  unsigned oldest = self->count - 1;
  double sum = 0.0;

  if (self->count <= SEED_UNTIL || self->expected > 0
      || !mcc_loss_events_get (self, oldest)->seeded)
    return;
  for (unsigned i = 0; i < oldest; i++)
    sum += mcc_loss_events_get (self, i)->interval;
  if (mcc_loss_events_get (self, oldest)->interval > SEED_TIMES * sum / oldest)
    self->count--;
}

MccLossEvent *
mcc_loss_events_begin (MccLossEvents *self, uint64_t index, MccTime time, double interval)
{
  double discount = 1.0;

  if (self->base.config.discounting && self->count > 0)
    discount = present_discount (self, closed_mean (self, true), self->base.config.forgetting);
  drop_seed (self);
  self->newest = (self->newest + 1) % MCC_LOSS_EVENTS_MAX;
  if (self->count < MCC_LOSS_EVENTS_MAX)
    self->count++;

  MccLossEvent *event = mcc_loss_events_get (self, 0);
  *event = (MccLossEvent){
    .first = index,
    .last = index,
    .time = time,
    .end = add_times (time, self->base.rtt),
    .interval = interval,
    .discount = discount,
    .losses = 1,
  };
  self->base.events++;
  self->base.last_event = time;
  mcc_loss_shift_sizes (&self->base);
  mcc_loss_events_judge_expected (self);
  return event;
}

MccLossEvent *
mcc_loss_events_find (const MccLossEvents *self, uint64_t index)
{
  for (unsigned age = 0; age < self->count; age++) {
    MccLossEvent *event = mcc_loss_events_get (self, age);
    if (index >= event->first)
      return index <= event->last && event->losses > 0 ? event : NULL;
  }
  return NULL;
}

/* Its interval continues in the next one. */
static void
remove_event (MccLossEvents *self, MccLossEvent *event)
{
  unsigned age = 0;

  while (mcc_loss_events_get (self, age) != event)
    age++;
  if (age == 0)
    self->open += event->interval;
  else
    mcc_loss_events_get (self, age - 1)->interval += event->interval;

  for (; age + 1 < self->count; age++)
    *mcc_loss_events_get (self, age) = *mcc_loss_events_get (self, age + 1);
  self->count--;
  self->base.events--;
  self->base.last_event = self->count > 0 ? mcc_loss_events_get (self, 0)->time : MCC_TIME_NONE;
}

void
mcc_loss_events_take_loss (MccLossEvents *self, MccLossEvent *event)
{
  assert (event->losses > 0);
  if (--event->losses == 0)
    remove_event (self, event);
}

double
mcc_loss_events_marked_share (const MccLoss *loss)
{
  const MccLossEvents *self = (const MccLossEvents *)loss;
  unsigned n = mcc_loss_events_in_use (self);
  double marked = 0.0, weights = 0.0;

  for (unsigned i = 0; i < n; i++) {
    const MccLossEvent *event = mcc_loss_events_get (self, i);
    weights += loss->weights[i];
    if (event->marks == event->losses)
      marked += loss->weights[i];
  }
  return weights > 0.0 ? marked / weights : 0.0;
}

void
mcc_loss_events_seed (MccLoss *loss, double loss_ratio)
{
  MccLossEvents *self = (MccLossEvents *)loss;
  /* Without an event: one that is over, with a loss that nothing repairs. */
  MccLossEvent event = { .first = loss->next, .time = MCC_TIME_NONE, .losses = 1 };

  if (self->count > 0)
    event = *mcc_loss_events_get (self, 0);
  self->count = 0;
  self->expected = 0;
  self->newest = 0;
  if (!(loss_ratio >= SEED_RATIO_MIN)) {
    self->open = 0.0;
    return;
  }

  event.impact = 1.0;
  event.counted = 1;
  event.interval = loss_ratio < 1.0 ? 1.0 / loss_ratio : 1.0;
  event.discount = 1.0;
  event.seeded = true;
  self->ring[0] = event;
  self->count = 1;
  /* More would lower the ratio at once. */
  if (self->open > event.interval)
    self->open = event.interval;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Interval loss (ASMP eq. 2-3): the fraction of packets lost in each report interval, smoothed by a
 * weighted mean over the last intervals. An interval in which no packet's fate was decided is
 * skipped.
 */
#include <math.h>

#include "mcclossprivate.h"

typedef struct {
  uint64_t first; /* indices first..end - 1 */
  uint64_t end;
  double packets; /* units, received and lost */
  double lost;    /* units, lost or marked */
  double marked;  /* units */
  uint32_t losses;
  MccTime first_loss;
} Interval;

/* The open interval and the closed ones of the history. */
#define NUM_INTERVALS (MCC_LOSS_HISTORY_MAX + 1)

typedef struct {
  MccLoss base;
  Interval ring[NUM_INTERVALS];
  unsigned open;
  unsigned closed;
} IntervalLoss;

/* Age 0 is the open one. */
static Interval *
get (const IntervalLoss *self, unsigned age)
{
  return (Interval *)&self->ring[(self->open + NUM_INTERVALS - age) % NUM_INTERVALS];
}

static void
open_interval (IntervalLoss *self, uint64_t first)
{
  *get (self, 0) = (Interval){ .first = first, .end = first, .first_loss = MCC_TIME_NONE };
}

static void
init (MccLoss *loss)
{
  open_interval ((IntervalLoss *)loss, 0);
}

static void
handle_received (MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival)
{
  Interval *open = get ((IntervalLoss *)loss, 0);

  open->packets += mcc_loss_units (loss, bytes);
  open->end = index + 1;
}

static void
count (MccLoss *loss, uint64_t index, MccTime time, double units)
{
  Interval *open = get ((IntervalLoss *)loss, 0);

  if (open->losses == 0) {
    open->first_loss = time;
    loss->events++;
    loss->last_event = time;
  }
  open->losses++;
  open->lost += units;
  open->packets += units;
  open->end = index + 1;
}

static void
handle_lost (MccLoss *loss, uint64_t index, MccTime time)
{
  count (loss, index, time, mcc_loss_lost_units (loss));
}

static void
handle_marked (MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival)
{
  count (loss, index, arrival, mcc_loss_units (loss, bytes));
  get ((IntervalLoss *)loss, 0)->marked += mcc_loss_units (loss, bytes);
}

static MccTime
newest_loss (const IntervalLoss *self)
{
  for (unsigned age = 0; age <= self->closed; age++)
    if (get (self, age)->losses > 0)
      return get (self, age)->first_loss;
  return MCC_TIME_NONE;
}

static void
handle_repaired (MccLoss *loss, uint64_t index)
{
  IntervalLoss *self = (IntervalLoss *)loss;

  for (unsigned age = 0; age <= self->closed; age++) {
    Interval *interval = get (self, age);
    if (index < interval->first || index >= interval->end || interval->losses == 0)
      continue;
    interval->lost -= interval->lost / interval->losses;
    if (--interval->losses == 0) {
      loss->events--;
      loss->last_event = newest_loss (self);
    }
    return;
  }
}

static void
handle_interval (MccLoss *loss)
{
  IntervalLoss *self = (IntervalLoss *)loss;
  const Interval *open = get (self, 0);
  uint64_t next = open->end;

  if (open->packets <= 0.0)
    return;
  self->open = (self->open + 1) % NUM_INTERVALS;
  if (self->closed < loss->config.history)
    self->closed++;
  open_interval (self, next);
  mcc_loss_shift_sizes (loss);
}

static double
ratio (const MccLoss *loss)
{
  const IntervalLoss *self = (const IntervalLoss *)loss;
  double sum = 0.0, weights = 0.0;

  for (unsigned i = 0; i < self->closed; i++) {
    const Interval *interval = get (self, i + 1);
    sum += loss->weights[i] * (interval->lost / interval->packets);
    weights += loss->weights[i];
  }
  return weights > 0.0 ? sum / weights : 0.0;
}

static double
marked_share (const MccLoss *loss)
{
  const IntervalLoss *self = (const IntervalLoss *)loss;
  double marked = 0.0, lost = 0.0;

  for (unsigned i = 0; i < self->closed; i++) {
    const Interval *interval = get (self, i + 1);
    marked += loss->weights[i] * (interval->marked / interval->packets);
    lost += loss->weights[i] * (interval->lost / interval->packets);
  }
  return lost > 0.0 ? fmin (marked / lost, 1.0) : 0.0; /* a repair takes the mean off */
}

static void
seed (MccLoss *loss, double loss_ratio)
{
  IntervalLoss *self = (IntervalLoss *)loss;
  uint64_t next = get (self, 0)->end;

  self->closed = 0;
  if (loss_ratio > 0.0) {
    *get (self, 0) = (Interval){
      .first = next,
      .end = next,
      .packets = 1.0,
      .lost = loss_ratio < 1.0 ? loss_ratio : 1.0,
      .first_loss = MCC_TIME_NONE,
    };
    self->open = (self->open + 1) % NUM_INTERVALS;
    self->closed = 1;
  }
  open_interval (self, next);
}

const MccLossMeasure mcc_loss_interval = {
  .name = "interval",
  .size = sizeof (IntervalLoss),
  .init = init,
  .handle_received = handle_received,
  .handle_marked = handle_marked,
  .handle_lost = handle_lost,
  .handle_repaired = handle_repaired,
  .handle_interval = handle_interval,
  .ratio = ratio,
  .marked_share = marked_share,
  .seed = seed,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LAP, the loss aggregation period (ELM 5.1.3, eq. 13-17): as LIP, each event with its impact. The
 * packets of the period belong to the interval that its event ends; the next starts behind them.
 */
#include "mcclossprivate.h"

static void
init (MccLoss *loss)
{
}

/* A packet within the newest event's period; so are those before it, should the period have been
 * extended after it was over. */
static void
aggregate (MccLossEvents *self, double units)
{
  mcc_loss_events_get (self, 0)->interval += self->open + units;
  self->open = 0.0;
}

void
mcc_loss_lap_handle_received (MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival)
{
  MccLossEvents *self = (MccLossEvents *)loss;
  double units = mcc_loss_units (loss, bytes);

  if (mcc_loss_events_joins (self, arrival) && !mcc_loss_events_get (self, 0)->seeded)
    aggregate (self, units);
  else
    self->open += units;
}

static MccLossEvent *
count (MccLoss *loss, uint64_t index, MccTime time, unsigned window, double units)
{
  MccLossEvents *self = (MccLossEvents *)loss;
  MccLossEvent *event;
  bool counts = true;

  if (mcc_loss_events_joins (self, time)) {
    event = mcc_loss_events_get (self, 0);
    counts = index - event->last >= window;
    event->losses++;
    event->last = index;
    if (event->seeded) {
      self->open += units;
      return event;
    }
    aggregate (self, units);
  } else {
    event = mcc_loss_events_begin (self, index, time, self->open + units);
    self->open = 0.0;
  }
  if (counts) {
    event->impact += units;
    event->counted++;
  }
  return event;
}

void
mcc_loss_lap_count (MccLoss *loss, uint64_t index, MccTime time, unsigned window)
{
  count (loss, index, time, window, mcc_loss_lost_units (loss));
}

void
mcc_loss_lap_count_marked (
    MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival, unsigned window)
{
  count (loss, index, arrival, window, mcc_loss_units (loss, bytes))->marks++;
}

/* Whether a loss of @event lies within @from..@to - 1. */
static bool
any_lost (const MccLoss *loss, const MccLossEvent *event, uint64_t from, uint64_t to)
{
  if (from < event->first)
    from = event->first;
  for (uint64_t i = from; i < to; i++)
    if (mcc_loss_is_lost (loss, i))
      return true;
  return false;
}

static uint64_t
back (uint64_t index, uint64_t distance)
{
  return index > distance ? index - distance : 0;
}

/* How the number of counted losses changes when @index is none: it may have counted itself, and it
 * may have kept the next one from counting. */
static int
recount (const MccLoss *loss, const MccLossEvent *event, uint64_t index, unsigned window)
{
  uint64_t reach = window > 0 ? window - 1 : 0;
  int change = any_lost (loss, event, back (index, reach), index) ? 0 : -1;

  for (uint64_t next = index + 1; next <= event->last && next - index <= reach; next++)
    if (mcc_loss_is_lost (loss, next))
      return change + (any_lost (loss, event, back (next, reach), index) ? 0 : 1);
  return change;
}

void
mcc_loss_lap_uncount (MccLoss *loss, uint64_t index, unsigned window)
{
  MccLossEvents *self = (MccLossEvents *)loss;
  MccLossEvent *event = mcc_loss_events_find (self, index);

  if (event == NULL)
    return;
  if (!event->seeded && event->losses > 1) {
    int change = recount (loss, event, index, window);
    /* The first loss counts whatever can still be told of the others. */
    if (event->counted > 1 || change > 0) {
      event->impact += change * (event->impact / event->counted);
      event->counted = (uint32_t)((int64_t)event->counted + change);
    }
  }
  mcc_loss_events_take_loss (self, event);
}

/* Eq. 16, or eq. 15. */
static double
mean_impact (const MccLossEvents *self)
{
  unsigned n = mcc_loss_events_in_use (self);
  double sum = 0.0, weights = 0.0;

  for (unsigned i = 0; i < n; i++) {
    double w = self->base.config.weighted_impact ? self->base.weights[i] : 1.0;
    sum += w * mcc_loss_events_get (self, i)->impact;
    weights += w;
  }
  return sum / weights;
}

double
mcc_loss_lap_ratio (const MccLoss *loss)
{
  const MccLossEvents *self = (const MccLossEvents *)loss;

  if (self->count == 0)
    return 0.0;
  double impact = mean_impact (self);
  double interval = mcc_loss_events_mean_interval (self, false, false);
  return impact < interval ? impact / interval : 1.0;
}

static void
handle_marked (MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival)
{
  mcc_loss_lap_count_marked (loss, index, bytes, arrival, 1);
}

static void
handle_lost (MccLoss *loss, uint64_t index, MccTime time)
{
  mcc_loss_lap_count (loss, index, time, 1);
}

static void
handle_repaired (MccLoss *loss, uint64_t index)
{
  mcc_loss_lap_uncount (loss, index, 1);
}

const MccLossMeasure mcc_loss_lap = {
  .name = "lap",
  .size = sizeof (MccLossEvents),
  .init = init,
  .handle_received = mcc_loss_lap_handle_received,
  .handle_marked = handle_marked,
  .handle_lost = handle_lost,
  .handle_repaired = handle_repaired,
  .ratio = mcc_loss_lap_ratio,
  .marked_share = mcc_loss_events_marked_share,
  .seed = mcc_loss_events_seed,
};

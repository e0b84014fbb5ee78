/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LIP, the loss insensitive period of TFRC (ELM 4.2, eq. 10-11): the losses within one RTT of an
 * event's first are that event. A loss interval runs from the first loss of one event to the first
 * of the next, that one excluded; the first interval starts with the first packet.
 */
#include "mcclossprivate.h"

static void
init (MccLoss *loss)
{
}

static void
handle_received (MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival)
{
  ((MccLossEvents *)loss)->open += mcc_loss_units (loss, bytes);
}

static MccLossEvent *
count (MccLoss *loss, uint64_t index, MccTime time, double units)
{
  MccLossEvents *self = (MccLossEvents *)loss;
  MccLossEvent *event;

  if (mcc_loss_events_joins (self, time)) {
    event = mcc_loss_events_get (self, 0);
    event->losses++;
    event->last = index;
  } else {
    event = mcc_loss_events_begin (self, index, time, self->open);
    self->open = 0.0;
  }
  self->open += units;
  return event;
}

static void
handle_lost (MccLoss *loss, uint64_t index, MccTime time)
{
  count (loss, index, time, mcc_loss_lost_units (loss));
}

static void
handle_marked (MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival)
{
  count (loss, index, arrival, mcc_loss_units (loss, bytes))->marks++;
}

static void
handle_repaired (MccLoss *loss, uint64_t index)
{
  MccLossEvents *self = (MccLossEvents *)loss;
  MccLossEvent *event = mcc_loss_events_find (self, index);

  if (event != NULL)
    mcc_loss_events_take_loss (self, event);
}

static double
ratio_of (const MccLoss *loss, bool forgetting)
{
  const MccLossEvents *self = (const MccLossEvents *)loss;

  if (self->count == 0)
    return 0.0;
  double interval = mcc_loss_events_mean_interval (self, loss->config.discounting, forgetting);
  return interval > 1.0 ? 1.0 / interval : 1.0;
}

static double
ratio (const MccLoss *loss)
{
  return ratio_of (loss, loss->config.forgetting);
}

static double
remembered_ratio (const MccLoss *loss)
{
  return ratio_of (loss, false);
}

const MccLossMeasure mcc_loss_lip = {
  .name = "lip",
  .size = sizeof (MccLossEvents),
  .init = init,
  .handle_received = handle_received,
  .handle_marked = handle_marked,
  .handle_lost = handle_lost,
  .handle_repaired = handle_repaired,
  .ratio = ratio,
  .remembered_ratio = remembered_ratio,
  .marked_share = mcc_loss_events_marked_share,
  .seed = mcc_loss_events_seed,
  .expect = mcc_loss_events_expect,
  .changed = mcc_loss_events_changed,
  .reseed = mcc_loss_events_reseed,
};

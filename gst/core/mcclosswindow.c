/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * LIP/LAP window (ELM 6.2.2): LAP, but a later loss of an event counts only W packets after the
 * event's last lost one, counted or not. Grouped losses (a full drop-tail queue) count as in LIP,
 * scattered ones as in LAP.
 */
#include "mcclossprivate.h"

static void
init (MccLoss *loss)
{
}

static void
handle_marked (MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival)
{
  mcc_loss_lap_count_marked (loss, index, bytes, arrival, loss->config.window);
}

static void
handle_lost (MccLoss *loss, uint64_t index, MccTime time)
{
  mcc_loss_lap_count (loss, index, time, loss->config.window);
}

static void
handle_repaired (MccLoss *loss, uint64_t index)
{
  mcc_loss_lap_uncount (loss, index, loss->config.window);
}

const MccLossMeasure mcc_loss_window = {
  .name = "window",
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

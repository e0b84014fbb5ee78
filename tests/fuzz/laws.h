/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * laws: what holds of every machine after every event: figures are finite and in their ranges,
 * tables keep to their sizes, counters never run back.
 */
#pragma once

#include <math.h>

#include "fuzz.h"
#include "mccasmpreceiver.h"
#include "mccasmpsender.h"
#include "mccrtt.h"

/* What has been counted may only grow. @before is brought up to date. */
static inline void
law_monotone (const uint64_t *now, uint64_t *before, unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    CHECK (now[i] >= before[i]);
    before[i] = now[i];
  }
}

static inline void
law_sender (const MccAsmpSender *sender, uint32_t max_receivers, MccTime now)
{
  MccAsmpSenderStats stats;
  MccReceiverInfo info;
  uint32_t members = mcc_asmp_sender_members (sender), active = 0, quarantined = 0;

  mcc_asmp_sender_get_stats (sender, now, &stats);
  CHECK (stats.target_bps > 0 && stats.target_bps <= MCC_APP_RATE_MAX);
  CHECK (stats.rtt_max <= MCC_RTT_MAX);
  CHECK (members <= max_receivers);
  for (uint32_t i = 0; i < members; i++) {
    mcc_asmp_sender_get_receiver (sender, i, now, &info);
    active += info.state == MCC_RECEIVER_ACTIVE;
    quarantined += info.state == MCC_RECEIVER_QUARANTINED;
    CHECK (info.loss_ratio >= 0.0 && info.loss_ratio <= 1.0);
    CHECK (info.rtt <= MCC_RTT_MAX);
  }
  CHECK (quarantined == stats.quarantined && active + quarantined == stats.receivers);
}

static inline void
law_receiver (const MccAsmpReceiver *receiver, MccTime now)
{
  MccAsmpReceiverStats stats;

  mcc_asmp_receiver_get_stats (receiver, now, &stats);
  CHECK (stats.loss_ratio >= 0.0 && stats.loss_ratio <= 1.0);
  CHECK (stats.rtt >= MCC_RTT_FLOOR && stats.rtt <= MCC_RTT_MAX);
  CHECK (stats.estimated_bps <= MCC_APP_RATE_MAX);
}

/* A trace speaks of the past, in numbers. */
static inline void
law_trace (const MccTraceEvent *event, MccTime now)
{
  CHECK (event->time <= now);
  CHECK (!isnan (event->x) && !isnan (event->y) && !isnan (event->z));
}

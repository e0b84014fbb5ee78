/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcctrace.h"

static const char *const names[] = {
  [MCC_TRACE_RATE] = "rate",
  [MCC_TRACE_LOSS_EVENT] = "loss-event",
  [MCC_TRACE_RTT] = "rtt",
  [MCC_TRACE_REPORT] = "report",
  [MCC_TRACE_SUPPRESSED] = "suppressed",
  [MCC_TRACE_TARGET] = "target",
  [MCC_TRACE_RECEIVER] = "receiver",
  [MCC_TRACE_DROP] = "drop",
  [MCC_TRACE_SOURCE] = "source",
};

const char *
mcc_trace_name (MccTraceType type)
{
  return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}

void
mcc_trace_add (MccTrace *self, const MccTraceEvent *event)
{
  if (self->written - self->read == MCC_TRACE_RING) {
    self->read++;
    self->overwritten++;
  }
  self->event[self->written++ % MCC_TRACE_RING] = *event;
}

bool
mcc_trace_poll (MccTrace *self, MccTraceEvent *out)
{
  if (self->read == self->written)
    return false;
  *out = self->event[self->read++ % MCC_TRACE_RING];
  return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcctrace: typed trace events. One event becomes a log line, a test's assertion, a row of a
 * simulation, a point on a plot. Machines keep the newest MCC_TRACE_RING events until polled.
 */
#pragma once

#include "mcctypes.h"

#define MCC_TRACE_RING 128

typedef enum {
  MCC_TRACE_RATE, /* receiver decided: a = rate bit/s, b = received bit/s, x = loss, y = RTT s,
                     z = standing queue s, i = MccRateMode */
  MCC_TRACE_LOSS_EVENT, /* a new loss event: a = events so far, x = loss ratio */
  MCC_TRACE_RTT,        /* RTT_eff came: x = RTT_eff s, y = smoothed s, i = report number */
  MCC_TRACE_REPORT, /* a report left (receiver) or was accepted (sender): ssrc, a = rate, x = loss,
                       y = RTT s, i = number */
  MCC_TRACE_SUPPRESSED, /* a report was suspended: a = own rate, b = heard rate, ssrc = whose */
  MCC_TRACE_TARGET, /* sender's target: a = new, b = old bit/s, i = MccTargetReason, ssrc = limiting
                     */
  MCC_TRACE_RECEIVER, /* receiver table: ssrc, i = MccReceiverState */
  MCC_TRACE_DROP,     /* i = MccDrop, ssrc */
  MCC_TRACE_SOURCE    /* receiver follows another sender: ssrc */
} MccTraceType;

typedef struct {
  MccTraceType type;
  MccTime time;
  uint32_t ssrc;
  uint32_t i;
  uint64_t a, b;
  double x, y, z;
} MccTraceEvent;

typedef struct {
  MccTraceEvent event[MCC_TRACE_RING];
  uint64_t written, read, overwritten;
} MccTrace;

const char *mcc_trace_name (MccTraceType type);
void mcc_trace_add (MccTrace *self, const MccTraceEvent *event);
bool mcc_trace_poll (MccTrace *self, MccTraceEvent *out);

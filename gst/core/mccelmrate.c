/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmrate.h"

#include <math.h>
#include <string.h>

#include "mccrtt.h"
#include "mcctcp.h"

#define Q 0.9      /* eq. 5; RFC 5348 4.3 */
#define RTO_RTTS 4 /* eq. 6 */
#define LOW 0.2    /* eq. 24 */
#define HIGH 0.8   /* eq. 24 */
#define ALPHA 0.1  /* eq. 22 */

void
mcc_elm_rate_init (MccElmRate *self, MccElmSmoothing smoothing)
{
  memset (self, 0, sizeof *self);
  self->smoothing = smoothing;
  self->rtt_s = self->sample_s = mcc_time_to_seconds (MCC_RTT_INITIAL);
}

void
mcc_elm_rate_handle_rtt (MccElmRate *self, MccTime sample)
{
  self->sample_s = mcc_time_to_seconds (mcc_time_clamp (sample, MCC_RTT_FLOOR, MCC_RTT_MAX));
  self->rtt_s = self->measured ? Q * self->rtt_s + (1.0 - Q) * self->sample_s : self->sample_s;
  self->measured = true;
}

double
mcc_elm_rate_calculate (const MccElmRate *self, double packet_bytes, double loss_ratio)
{
  const MccTcpModel model = { .packets_per_ack = mcc_tcp_model_default.packets_per_ack,
    .rto_rtts = RTO_RTTS * self->sample_s / self->rtt_s };
  return mcc_tcp_rate_bps (&model, packet_bytes, self->rtt_s, loss_ratio);
}

/* Where @bps is, or belongs, among the sorted values. */
static unsigned
find (const MccElmRate *self, unsigned count, double bps)
{
  unsigned low = 0, high = count;
  while (low < high) {
    unsigned middle = (low + high) / 2;
    if (self->sorted[middle] < bps)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void
mcc_elm_rate_add (MccElmRate *self, double bps)
{
  unsigned count = self->count, at;
  /* Nothing to average with: what was unlimited counts as the new value. */
  self->average_bps = count > 0 && isfinite (self->average_bps) && isfinite (bps)
                          ? (1.0 - ALPHA) * self->average_bps + ALPHA * bps
                          : bps;
  self->newest = count > 0 ? (self->newest + 1) % MCC_ELM_RATE_HISTORY : 0;
  if (count == MCC_ELM_RATE_HISTORY) {
    at = find (self, count, self->value[self->newest]);
    count--;
    memmove (&self->sorted[at], &self->sorted[at + 1], (count - at) * sizeof self->sorted[0]);
  }
  at = find (self, count, bps);
  memmove (&self->sorted[at + 1], &self->sorted[at], (count - at) * sizeof self->sorted[0]);
  self->sorted[at] = bps;
  self->value[self->newest] = bps;
  self->count = count + 1;
}

void
mcc_elm_rate_forget (MccElmRate *self)
{
  self->count = 0;
}

double
mcc_elm_rate_get (const MccElmRate *self)
{
  if (self->count == 0)
    return INFINITY;
  if (self->smoothing == MCC_ELM_SMOOTH_NONE)
    return self->value[self->newest];
  if (self->smoothing == MCC_ELM_SMOOTH_EWMA)
    return self->average_bps;
  double last = (double)(self->count - 1);
  return (self->sorted[(unsigned)(LOW * last + 0.5)] + self->sorted[(unsigned)(HIGH * last + 0.5)])
         / 2.0;
}

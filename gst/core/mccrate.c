/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccrateprivate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "mccapp.h"

/* A report of another rate would not count (mcc_app_report_plausible()). */
#define RATE_MIN_BPS 1.0
#define RATE_MAX_BPS ((double)MCC_APP_REPORT_RATE_MAX)
#define OVERFLOW_PAIRS 0.25 /* ours: docs/design/receiver.md, losses that pairs meet */

MccRate *
mcc_rate_new (const MccRateController *controller, uint64_t start_bps)
{
  assert (controller->size >= sizeof (MccRate));
  MccRate *self = calloc (1, controller->size);
  if (self == NULL)
    return NULL;
  self->controller = controller;
  mcc_rate_reset (self, start_bps);
  return self;
}

void
mcc_rate_free (MccRate *self)
{
  free (self);
}

void
mcc_rate_reset (MccRate *self, uint64_t start_bps)
{
  const MccRateController *controller = self->controller;
  memset (self, 0, controller->size);
  self->controller = controller;
  self->rate_bps = fmin (fmax ((double)start_bps, RATE_MIN_BPS), RATE_MAX_BPS);
  controller->init (self, start_bps);
}

void
mcc_rate_raise (MccRate *self, uint64_t bps)
{
  if ((double)bps > self->rate_bps)
    self->rate_bps = (double)bps;
}

void
mcc_rate_decide (MccRate *self, const MccRateInput *input)
{
  self->controller->decide (self, input);
  assert (!isnan (self->rate_bps));
  self->rate_bps = fmin (fmax (self->rate_bps, RATE_MIN_BPS), RATE_MAX_BPS);
}

uint64_t
mcc_rate_get_bps (const MccRate *self)
{
  return (uint64_t)(self->rate_bps + 0.5);
}

MccRateMode
mcc_rate_mode (const MccRate *self)
{
  return self->mode;
}

bool
mcc_rate_owns_queue (const MccRate *self)
{
  return self->owns_queue;
}

bool
mcc_rate_asks_pairs (const MccRate *self)
{
  return self->asks_pairs;
}

bool
mcc_rate_fills_link (const MccRate *self)
{
  return self->fills_link;
}

uint64_t
mcc_rate_link_bps (const MccRate *self)
{
  return self->link_bps;
}

uint64_t
mcc_rate_share_bps (const MccRate *self)
{
  return self->share_bps;
}

double
mcc_rate_tcp_loss_ratio (double loss_ratio, double overflow_share)
{
  return fmin (1.0, loss_ratio * (1.0 + OVERFLOW_PAIRS * overflow_share));
}

double
mcc_rate_packet_s (const MccRateInput *input)
{
  return 8.0 * input->packet_bytes / fmax ((double)input->received_bps, 1.0);
}

double
mcc_rate_packet_delay_s (const MccRateInput *input)
{
  return fmax (0.0, mcc_rate_packet_s (input) - mcc_time_to_seconds (input->transmission));
}

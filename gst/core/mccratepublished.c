/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The published rate controller (ASMP 2009, eq. 12-14); decides once a report:
 *
 *   loss in the interval:  r_inst = TCP model (P, RTT, smoothed interval loss)     (eq. 12)
 *   else:                  r_inst = r + P/RTT                                      (eq. 13)
 *   r = gamma r_inst + (1 - gamma) r                                               (eq. 14)
 */
#include "mccrateprivate.h"

#include "mcctcp.h"

static void
published_init (MccRate *self, uint64_t start_bps)
{
  /* No NO_LIMIT phase: "a receiver starts with r = the start rate". */
  self->mode = MCC_RATE_TCP;
}

static void
published_decide (MccRate *self, const MccRateInput *input)
{
  double rtt_s = mcc_time_to_seconds (input->rtt);
  if (!(input->packet_bytes > 0.0) || !(rtt_s > 0.0))
    return; /* nothing received yet: an interval without packets is skipped */

  double instant;
  if (input->loss_in_interval && input->loss_ratio > 0.0)
    instant
        = mcc_tcp_rate_bps (&mcc_tcp_model_default, input->packet_bytes, rtt_s, input->loss_ratio);
  else
    instant = self->rate_bps + 8.0 * input->packet_bytes / rtt_s;
  self->rate_bps = input->gamma * instant + (1.0 - input->gamma) * self->rate_bps;
}

const MccRateController mcc_rate_published = {
  .name = "published",
  .size = sizeof (MccRate),
  .init = published_init,
  .decide = published_decide,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcccompany.h"

#include <math.h>
#include <string.h>

/* All ours. */
#define FRESH (4 * MCC_SECOND)
#define ALL 0.8                   /* of what is sent, at least, arrives */
#define MOST 2.0                  /* times what arrives */
#define LONGER (20 * MCC_MSECOND) /* than the queue of others: by this ... */
#define LONGER_PART 1.25          /* ... and that part */
#define MORE_EVENTS 3.0           /* loss events, more than so many ... */
#define MORE_TIMES 2.0            /* ... and so many times theirs */
#define FAR_LONGER 2.0            /* ... or a link of its own */

void
mcc_company_init (MccCompany *self)
{
  memset (self, 0, sizeof *self);
  self->since = MCC_TIME_NONE;
}

void
mcc_company_join (MccCompany *self)
{
  mcc_company_init (self);
  self->joins = true;
}

static bool
is_fresh (const MccCompany *self, unsigned i, MccTime now)
{
  return self->voice[i].any && now - self->voice[i].time < FRESH;
}

/* What @ssrc says goes where this is highest: its own place, an unused one, the highest rate's. */
static double
preferred (const MccCompany *self, unsigned i, uint32_t ssrc, MccTime now)
{
  if (self->voice[i].any && self->voice[i].ssrc == ssrc)
    return INFINITY;
  return is_fresh (self, i, now) ? (double)self->voice[i].rate_bps : (double)MCC_APP_RATE_MAX + 1.0;
}

void
mcc_company_hear (MccCompany *self, uint32_t ssrc, const MccAppReport *report, MccTime now)
{
  unsigned place = 0;
  if (!self->joins)
    return;
  for (unsigned i = 1; i < MCC_COMPANY_VOICES; i++)
    if (preferred (self, i, ssrc, now) > preferred (self, place, ssrc, now))
      place = i;
  if (preferred (self, place, ssrc, now) <= (double)report->rate_bps)
    return;
  self->voice[place].any = true;
  self->voice[place].ssrc = ssrc;
  self->voice[place].rate_bps = report->rate_bps;
  self->voice[place].loss_ratio = report->loss_ratio;
  self->voice[place].queue = report->queue_delay;
  self->voice[place].time = now;
}

/* Whoever loses so much more than they do loses it elsewhere. */
static bool
loses_more (MccCompany *self, const MccCompanyInput *input, double loss_ratio)
{
  self->expected += loss_ratio * (double)(input->packets - self->packets);
  self->packets = input->packets;
  return (double)(input->loss_events - self->events) > MORE_EVENTS + MORE_TIMES * self->expected;
}

uint64_t
mcc_company_rate_bps (MccCompany *self, const MccCompanyInput *input)
{
  double lowest_bps = MOST * (double)input->received_bps, loss_ratio = 0.0;
  MccTime queue = 0;
  bool any = false;
  if (!self->joins)
    return input->rate_bps;
  if (self->since == MCC_TIME_NONE) {
    self->since = input->now;
    self->packets = input->packets;
    self->events = input->loss_events;
  }
  for (unsigned i = 0; i < MCC_COMPANY_VOICES; i++) {
    if (!is_fresh (self, i, input->now))
      continue;
    any = true;
    lowest_bps = fmin (lowest_bps, (double)self->voice[i].rate_bps);
    loss_ratio = fmax (loss_ratio, self->voice[i].loss_ratio);
    queue = mcc_time_max (queue, self->voice[i].queue);
  }
  double own_s = mcc_time_to_seconds (input->queue), theirs_s = mcc_time_to_seconds (queue);
  double margin_s = mcc_time_to_seconds (LONGER);
  bool elsewhere
      = loses_more (self, input, loss_ratio) || (any && own_s > FAR_LONGER * theirs_s + margin_s);
  self->joins = !elsewhere && input->now - self->since < MCC_COMPANY_TIME;
  bool longer = own_s > fmax (LONGER_PART * theirs_s, theirs_s + margin_s);
  bool arrives = (double)input->received_bps >= ALL * (double)input->target_bps;
  if (!self->joins || !any || longer || !arrives || lowest_bps <= (double)input->rate_bps)
    return input->rate_bps;
  return (uint64_t)lowest_bps;
}

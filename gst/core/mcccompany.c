/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcccompany.h"

#include <math.h>
#include <string.h>

/* All ours. */
#define FRESH (4 * MCC_SECOND)
#define ALL 0.8                       /* of what is sent, at least, arrives */
#define MOST 2.0                      /* times what arrives */
#define LONGER (20 * MCC_MSECOND)     /* than the queue of others: by this ... */
#define LONGER_PART 4                 /* ... and one such part */
#define FAR_LONGER (40 * MCC_MSECOND) /* ... more than ... */
#define FAR_LONGER_TIMES 2            /* ... so many times theirs: a link of its own */
#define MORE_SIGMAS 2.0
#define MORE 2.0

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

/* The lowest of those heard lately; MCC_COMPANY_VOICES: nobody. */
static unsigned
find_lowest (const MccCompany *self, MccTime now)
{
  unsigned lowest = MCC_COMPANY_VOICES;
  for (unsigned i = 0; i < MCC_COMPANY_VOICES; i++)
    if (is_fresh (self, i, now)
        && (lowest == MCC_COMPANY_VOICES || self->voice[i].rate_bps < self->voice[lowest].rate_bps))
      lowest = i;
  return lowest;
}

/* What was met since the last decision; without company nothing says how much is usual. A loss that
 * was none, as a late packet shows, is taken back. */
static void
count_losses (MccCompany *self, const MccCompanyInput *input, bool any, double loss_ratio)
{
  double packets = (double)input->packets - (double)self->packets;
  double lost = (double)input->packets_lost - (double)self->packets_lost;
  self->packets = input->packets;
  self->packets_lost = input->packets_lost;
  if (!any)
    return;
  self->expected += fmax (0.0, loss_ratio * packets);
  self->lost = fmax (0.0, self->lost + lost);
}

/* By more than chance: two standard deviations, and two packets. */
static bool
loses_more (const MccCompany *self)
{
  return self->lost > self->expected + MORE_SIGMAS * sqrt (self->expected) + MORE;
}

uint64_t
mcc_company_rate_bps (MccCompany *self, const MccCompanyInput *input)
{
  if (!self->joins)
    return input->rate_bps;
  if (self->since == MCC_TIME_NONE) {
    self->since = input->now;
    self->packets = input->packets;
    self->packets_lost = input->packets_lost;
  }
  unsigned lowest = find_lowest (self, input->now);
  bool any = lowest < MCC_COMPANY_VOICES;
  count_losses (self, input, any, any ? self->voice[lowest].loss_ratio : 0.0);
  if (input->now - self->since >= MCC_COMPANY_TIME)
    self->joins = false;
  if (!any)
    return input->rate_bps;
  MccTime theirs = self->voice[lowest].queue;
  if (loses_more (self) || input->queue > FAR_LONGER_TIMES * theirs + FAR_LONGER)
    self->joins = false;
  bool longer = input->queue > theirs + mcc_time_max (LONGER, theirs / LONGER_PART);
  bool arrives = (double)input->received_bps >= ALL * (double)input->target_bps;
  double bps = fmin ((double)self->voice[lowest].rate_bps, MOST * (double)input->received_bps);
  if (!self->joins || longer || !arrives || bps <= (double)input->rate_bps)
    return input->rate_bps;
  return (uint64_t)bps;
}

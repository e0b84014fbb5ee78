/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccrtt.h"

#include <math.h>
#include <string.h>

#include "mccseq.h"

#define BETA 0.5 /* ASMP eq. 11 */
/* s: an RTT below is no path's. Clocks 1000 ppm apart are 60 ms apart when it is stale; ours. */
#define CLOCK_JUMP (-0.1)
#define SKEW_S 0.006                                /* 100 ppm of MCC_RTT_STALE */
#define HALF_WRAP ((MccTimeDelta)(32 * MCC_SECOND)) /* abs-send-time wraps every 64 s */

void
mcc_rtt_init (MccRtt *self, MccRttForm form)
{
  memset (self, 0, sizeof *self);
  self->form = form;
  self->rtt_s = mcc_time_to_seconds (MCC_RTT_INITIAL);
  self->effective_time = MCC_TIME_NONE;
}

void
mcc_rtt_add_reference (MccRtt *self, uint32_t id, MccTimeDelta transit)
{
  unsigned i = self->references++ % MCC_RTT_REFERENCES;

  self->reference[i].id = id;
  self->reference[i].transit = transit;
  /* Only how many there are and where the ring stands matters; keep both over the wrap. */
  if (self->references == 0)
    self->references = MCC_RTT_REFERENCES;
}

static bool
find_reference (const MccRtt *self, uint32_t id, MccTimeDelta *out)
{
  unsigned count = self->references < MCC_RTT_REFERENCES ? self->references : MCC_RTT_REFERENCES;

  for (unsigned i = 0; i < count; i++) {
    if (self->reference[i].id == id) {
      *out = self->reference[i].transit;
      return true;
    }
  }
  return false;
}

bool
mcc_rtt_handle_effective (MccRtt *self, MccTime rtt_eff, uint32_t id, MccTime now)
{
  MccTimeDelta transit;

  if (rtt_eff == 0 || rtt_eff > MCC_RTT_MAX || !find_reference (self, id, &transit))
    return false;
  /* A list that is repeated or late tells nothing new. */
  if (self->effective_time != MCC_TIME_NONE && !self->borrowed
      && !mcc_seq_newer32 (id, self->effective_id))
    return false;
  if (self->form == MCC_RTT_PUBLISHED) {
    /* a means nothing without a positive one-way delay. */
    if (self->transit <= 0)
      return false;
    self->ratio = (double)rtt_eff / (double)self->transit;
  }
  if (!self->measured || self->borrowed)
    self->rtt_s = mcc_time_to_seconds (mcc_time_max (rtt_eff, MCC_RTT_FLOOR));
  self->measured = true;
  self->borrowed = self->unanchored = false;
  self->least_s = mcc_time_to_seconds (rtt_eff);
  self->effective = rtt_eff;
  self->effective_id = id;
  self->effective_time = now;
  self->effective_transit = transit;
  return true;
}

bool
mcc_rtt_borrow (MccRtt *self, MccTime rtt_eff, MccTimeDelta transit, MccTime now)
{
  if (self->form != MCC_RTT_ENHANCED || (self->measured && !self->borrowed) || rtt_eff == 0
      || rtt_eff > MCC_RTT_MAX)
    return false;
  self->rtt_s = mcc_time_to_seconds (mcc_time_max (rtt_eff, MCC_RTT_FLOOR));
  self->measured = self->borrowed = true;
  self->unanchored = false;
  self->least_s = mcc_time_to_seconds (rtt_eff);
  self->effective = rtt_eff;
  self->effective_time = now;
  self->effective_transit = transit;
  return true;
}

/* later - earlier modulo 64 s, in [-32 s, 32 s). */
static MccTimeDelta
wrapped_difference (MccTimeDelta later, MccTimeDelta earlier)
{
  MccTimeDelta d = (MccTimeDelta)((uint64_t)later - (uint64_t)earlier) % (2 * HALF_WRAP);

  return d >= HALF_WRAP ? d - 2 * HALF_WRAP : d < -HALF_WRAP ? d + 2 * HALF_WRAP : d;
}

/* A clock jumped, and transits with it, by @by. What was echoed since has one of now already. */
static void
follow_clocks (MccRtt *self, MccTimeDelta transit, MccTimeDelta by)
{
  self->effective_transit += by;
  for (unsigned i = 0; i < MCC_RTT_REFERENCES; i++)
    if (wrapped_difference (transit, self->reference[i].transit) < by / 2)
      self->reference[i].transit += by;
}

void
mcc_rtt_lose_anchor (MccRtt *self, MccTimeDelta transit)
{
  if (self->form != MCC_RTT_ENHANCED || !self->measured)
    return;
  self->unanchored = true;
  self->effective = mcc_time_from_seconds (self->rtt_s);
  self->effective_transit = transit;
}

void
mcc_rtt_handle_packet (MccRtt *self, MccTimeDelta transit, MccTime now)
{
  double sample;

  self->transit = transit;
  if (!self->measured)
    return;
  if (self->form == MCC_RTT_PUBLISHED) {
    if (transit <= 0)
      return;
    sample = self->ratio * (double)transit * 1e-9;
  } else {
    if (self->unanchored && wrapped_difference (transit, self->effective_transit) < 0)
      self->effective_transit = transit;
    sample = (double)((MccTimeDelta)self->effective
                      + wrapped_difference (transit, self->effective_transit))
             * 1e-9;
    if (sample < CLOCK_JUMP) {
      follow_clocks (self, transit, (MccTimeDelta)((sample - self->rtt_s) * 1e9));
      return;
    }
    /* By then the clocks' skew is in the difference: it may lengthen the RTT, not shorten it. */
    if (mcc_rtt_stale (self, now))
      sample = fmax (sample, fmin (self->least_s + SKEW_S, mcc_time_to_seconds (self->effective)));
    else
      self->least_s = fmin (self->least_s, sample);
  }
  if (sample > mcc_time_to_seconds (MCC_RTT_MAX))
    return;
  if (sample < mcc_time_to_seconds (MCC_RTT_FLOOR))
    sample = mcc_time_to_seconds (MCC_RTT_FLOOR);
  self->rtt_s = BETA * sample + (1.0 - BETA) * self->rtt_s;
}

bool
mcc_rtt_stale (const MccRtt *self, MccTime now)
{
  return self->measured && now > self->effective_time && now - self->effective_time > MCC_RTT_STALE;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmfair.h"

#include <math.h>
#include <string.h>

#include "mcctcp.h"

#define VALUES MCC_ELM_FAIR_VALUES
#define RATIO_MIN 1e-6
#define RATIO_MAX 0.5
#define HABIT_TIME 60.0 /* s */
#define HABIT_SHARE 0.5 /* of what the path may have become, as it was */
#define NEAR 12.0       /* values of p; a factor of 5 */
#define FAILED_CHANCE 0.1
#define RTT_TIME 5.0    /* s */
#define BURST_EVENTS 32 /* that n is the mean of */
#define CHANCE_MIN 1e-12
#define SEEN_ONCE 4.0 /* as if so many events of a single loss had been seen */

void
mcc_elm_fair_init (MccElmFair *self)
{
  memset (self, 0, sizeof *self);
  for (unsigned i = 0; i < VALUES; i++) {
    self->chance[i] = self->habit[i] = 1.0 / VALUES;
    self->ratio[i] = RATIO_MIN * pow (RATIO_MAX / RATIO_MIN, (double)i / (VALUES - 1));
  }
}

/* (1 - exp (-y)) / y */
static double
hit (double y)
{
  return y > 1e-6 ? -expm1 (-y) / y : 1.0;
}

/* n of m = n / (1 - exp (-n)). */
static double
burst_size (double mean)
{
  double n = fmax (2.0 * (mean - 1.0), 0.0);
  for (unsigned i = 0; i < 8; i++)
    n = mean * n * hit (n);
  return n;
}

/* m: losses of an event. */
static double
mean_losses (const MccElmFair *self)
{
  return (self->losses + SEEN_ONCE) / (self->bursts + SEEN_ONCE);
}

/* The losses that a burst holds for a flow of @bps. */
static double
losses_of_burst (const MccElmFair *self, double bps)
{
  if (!(self->bursts > 0.0))
    return 0.0;
  return burst_size (mean_losses (self)) * bps * self->bursts / self->rate_sum;
}

static void
note_burst (MccElmFair *self, double events, double losses, double bps)
{
  double keep = pow (1.0 - 1.0 / BURST_EVENTS, events);
  self->burst = events > 0.0 ? 0.0 : self->burst;
  double before = self->burst;
  self->burst += losses;
  self->losses = keep * self->losses + losses;
  self->squares = keep * self->squares + self->burst * self->burst - before * before;
  self->bursts = keep * self->bursts + events;
  self->rate_sum = keep * self->rate_sum + events * bps;
}

/* The path may have become another one. */
static void
forget (MccElmFair *self, double passed_s)
{
  double change = -expm1 (-passed_s / mcc_time_to_seconds (MCC_ELM_FAIR_CHANGE));
  double habit = -expm1 (-passed_s / HABIT_TIME);
  double near[VALUES], sum = 0.0, total = 0.0;
  for (unsigned i = 0; i < VALUES; i++)
    near[i] = sum = self->chance[i] + sum * exp (-1.0 / NEAR);
  sum = 0.0;
  for (unsigned i = VALUES; i-- > 0;) {
    near[i] += sum;
    sum = (sum + self->chance[i]) * exp (-1.0 / NEAR);
    total += near[i];
  }
  for (unsigned i = 0; i < VALUES; i++) {
    double other = HABIT_SHARE * self->habit[i] + (1.0 - HABIT_SHARE) * near[i] / total;
    self->habit[i] += habit * (self->chance[i] - self->habit[i]);
    self->chance[i] += change * (other - self->chance[i]);
  }
}

static double
fair_bps (const MccElmFair *self, double ratio)
{
  return mcc_tcp_rate_bps (&mcc_tcp_model_default, self->packet_bytes, self->rtt_s, ratio);
}

static void
normalise (MccElmFair *self)
{
  double sum = 0.0;
  for (unsigned i = 0; i < VALUES; i++)
    sum += self->chance[i];
  for (unsigned i = 0; i < VALUES; i++)
    self->chance[i] = fmax (self->chance[i] / sum, CHANCE_MIN);
}

/* Bayes: @losses among @packets. */
static void
weigh (MccElmFair *self, const MccElmFairInput *input, double packets, double losses)
{
  double events = losses / mean_losses (self);
  double power = (self->losses + SEEN_ONCE) / (self->squares + SEEN_ONCE) * mean_losses (self);
  double n = losses_of_burst (self, input->sent_bps), hit_n = hit (n);
  double log_chance[VALUES], top = -INFINITY;
  for (unsigned i = 0; i < VALUES; i++) {
    double times = fair_bps (self, self->ratio[i]) / input->sent_bps;
    double q = fmin (self->ratio[i] * hit_n / hit (n * times), 1.0);
    double met = events > 0.0 ? events * log (q) : 0.0;
    log_chance[i] = log (self->chance[i]) + fmin (power, 1.0) * (met - packets * q);
    top = fmax (top, log_chance[i]);
  }
  for (unsigned i = 0; i < VALUES; i++)
    self->chance[i] = exp (log_chance[i] - top);
  normalise (self);
}

void
mcc_elm_fair_recall (MccElmFair *self)
{
  memcpy (self->chance, self->habit, sizeof self->chance);
}

void
mcc_elm_fair_cap (MccElmFair *self, double bps)
{
  if (!(self->rtt_s > 0.0))
    return;
  for (unsigned i = 0; i < VALUES; i++)
    if (fair_bps (self, self->ratio[i]) > bps)
      self->chance[i] *= FAILED_CHANCE;
  normalise (self);
}

void
mcc_elm_fair_look (MccElmFair *self, const MccElmFairInput *input)
{
  double passed_s = self->started ? mcc_time_to_seconds (input->now - self->looked) : 0.0;
  bool known = self->started && input->received >= self->received && input->lost >= self->lost
               && input->events >= self->events;
  double events = known ? (double)(input->events - self->events) : 0.0;
  double losses = known ? (double)(input->lost - self->lost) : 0.0;
  double packets = known ? (double)(input->received - self->received) + losses : 0.0;
  self->started = true;
  self->looked = input->now;
  self->received = input->received;
  self->lost = input->lost;
  self->events = input->events;
  if (!known || !input->measuring || !(input->packet_bytes > 0.0) || !(input->rtt_s > 0.0))
    return;
  self->rtt_s = self->rtt_s > 0.0
                    ? self->rtt_s + (input->rtt_s - self->rtt_s) * fmin (passed_s / RTT_TIME, 1.0)
                    : input->rtt_s;
  if (losses > 0.0)
    note_burst (self, events, losses, input->sent_bps);
  self->packet_bytes = input->packet_bytes;
  forget (self, passed_s);
  weigh (self, input, packets, losses);
  self->events_used += (uint64_t)events;
}

double
mcc_elm_fair_at_least (const MccElmFair *self, double probability)
{
  if (!(self->rtt_s > 0.0))
    return INFINITY;
  double sum = 0.0;
  unsigned i = 0;
  while (i < VALUES - 1 && sum + self->chance[i] < probability)
    sum += self->chance[i++];
  double part = fmin (fmax ((probability - sum) / self->chance[i], 0.0), 1.0) - 0.5;
  return fair_bps (self, self->ratio[i] * pow (RATIO_MAX / RATIO_MIN, part / (VALUES - 1)));
}

double
mcc_elm_fair_get (const MccElmFair *self)
{
  return self->events_used > 0 ? mcc_elm_fair_at_least (self, 0.5) : INFINITY;
}

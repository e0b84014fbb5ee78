/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccassplevel.h"

#include <math.h>

#define REST_AFTER_DOWN (10 * MCC_SECOND)
#define REST_FAILED (15 * MCC_SECOND) /* three rounds: what we did to the stream is over */
#define REST_PASSED (60 * MCC_SECOND)
#define HEARD_REST (30 * MCC_SECOND) /* to try it ourselves before others' words count again */
#define SAME_BOUND 0.1               /* a stream whose lower bound moved by less is the same one */
#define DOWN_SHARE 0.95              /* of the rate: what the stream that we go down to may need */

const MccAsspFactors mcc_assp_factors_default = { 0.3, 0.7, 0.8, 1.2 };

bool
mcc_assp_factors_valid (const MccAsspFactors *factors)
{
  return factors->alpha > 0.0 && factors->alpha < 1.0        /* ASSP eq. 6 */
         && factors->beta >= 0.7 && factors->beta <= 1.0     /* eq. 9 */
         && factors->lambda >= 1.0 && factors->lambda <= 2.0 /* eq. 10 */
         && factors->kappa >= 0.8 && factors->kappa <= 1.0;  /* 3.4 */
}

static bool
enhanced (const MccAsspLevel *self)
{
  return self->variant == MCC_VARIANT_ENHANCED;
}

void
mcc_assp_level_init (MccAsspLevel *self, MccVariant variant, const MccAsspFactors *factors)
{
  memset (self, 0, sizeof *self);
  self->variant = variant;
  self->factors = *factors;
  self->sample = self->changed = MCC_TIME_NONE;
  self->below_since = self->deep_since = self->fall_since = MCC_TIME_NONE;
  self->newcomer = MCC_ASSP_STREAMS_MAX;
  for (unsigned j = 0; j < MCC_ASSP_STREAMS_MAX; j++)
    self->stream[j].up = MCC_TIME_NONE;
}

/* Adds the value up to @now. */
static void
integrate (MccAsspLevel *self, MccTime now)
{
  if (self->sample == MCC_TIME_NONE)
    return;
  self->bits += self->value_bps * mcc_time_to_seconds (now - self->sample);
  self->sample = now;
}

/* What a value weighs that follows @samples others. Without bias the first ones weigh as later ones
 * do, where eq. 8 gives the first 1 / alpha of that, which a rate that begins low is long behind.
 */
static double
gain_after (const MccAsspLevel *self, bool unbiased, unsigned samples)
{
  double alpha = self->factors.alpha;
  return unbiased ? alpha / (1.0 - pow (1.0 - alpha, samples + 1.0)) : alpha;
}

static void
choose (MccAsspLevel *self)
{
  self->average_bps = self->mean[self->unbiased].average_bps;
  self->spread_bps = self->mean[self->unbiased].spread_bps;
}

/* How many there are may be known only later. */
static void
average (MccAsspLevel *self, double bps)
{
  for (unsigned i = 0; i < 2; i++) {
    double away = bps - self->mean[i].average_bps;
    if (!self->has_average) {
      self->mean[i].average_bps = bps;
      self->mean[i].spread_bps = 0.0;
      continue;
    }
    self->mean[i].average_bps += gain_after (self, i == 1, self->samples) * away;
    self->mean[i].spread_bps
        += gain_after (self, i == 1, self->samples - 1) * (fabs (away) - self->mean[i].spread_bps);
  }
  self->samples = self->has_average ? self->samples + 1 : 1;
  self->has_average = true;
  choose (self);
}

/* The sample is complete (eq. 8). */
static void
fold (MccAsspLevel *self)
{
  if (self->sample == MCC_TIME_NONE || self->sample <= self->since)
    return;
  double mean = self->bits / mcc_time_to_seconds (self->sample - self->since);
  average (self, mean);
  self->bits = 0.0;
  self->since = self->sample;
}

void
mcc_assp_level_sample (MccAsspLevel *self, uint64_t bps, uint64_t most, MccTime now)
{
  integrate (self, now);
  if (self->sample == MCC_TIME_NONE) {
    self->since = self->sample = now;
    self->bits = 0.0;
  }
  self->value_bps = (double)(bps < most ? bps : most);
  if (enhanced (self) && now - self->since >= MCC_ASSP_SAMPLE_TIME)
    fold (self);
}

void
mcc_assp_level_excuse (MccAsspLevel *self)
{
  self->below_since = self->deep_since = self->fall_since = MCC_TIME_NONE;
}

void
mcc_assp_level_pause (MccAsspLevel *self)
{
  self->sample = MCC_TIME_NONE;
  mcc_assp_level_excuse (self);
}

bool
mcc_assp_level_new_round (MccAsspLevel *self, uint32_t round)
{
  bool fresh = self->has_round && round != self->round;
  self->has_round = true;
  self->round = round;
  return fresh;
}

void
mcc_assp_level_correct_bias (MccAsspLevel *self, bool correct)
{
  self->unbiased = correct && enhanced (self);
  if (self->has_average)
    choose (self);
}

void
mcc_assp_level_members (MccAsspLevel *self, unsigned stream, uint32_t members)
{
  self->stream[stream].members = members;
}

/* What must be exceeded to go from @from to @to (eq. 7). */
static double
needed_bps (
    const MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to, bool begin)
{
  const MccAsspStream *next = &streams->stream[to];
  double beta = self->factors.beta, members = self->stream[to].members;
  if (enhanced (self) && members > 0.0 && next->average_bps > 0)
    beta = fmin (
        beta, (members + (double)streams->stream[from].average_bps / (double)next->average_bps)
                  / (members + 1.0));
  return fmax (beta * (double)next->average_bps,
      (begin ? self->factors.lambda : 1.0) * (double)next->low_bps);
}

double
mcc_assp_level_needed_bps (
    const MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to)
{
  return needed_bps (self, streams, from, to, false);
}

static bool
may_go_up (const MccAsspLevel *self, unsigned to, double needed, MccTime now)
{
  if (!enhanced (self))
    return true;
  bool rested = self->changed == MCC_TIME_NONE || now - self->changed >= MCC_ASSP_UP_REST;
  bool easier = self->stream[to].failures > 0
                && needed < MCC_ASSP_UP_EASIER * self->stream[to].failed_bps
                && now - self->changed >= REST_FAILED;
  return rested && (now >= self->stream[to].not_before || easier);
}

unsigned
mcc_assp_level_decide (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned stream, MccTime now)
{
  integrate (self, now);
  if (!enhanced (self))
    fold (self);
  if (!self->has_average)
    return stream;
  unsigned above = mcc_assp_streams_above (streams, stream);
  unsigned below = mcc_assp_streams_below (streams, stream);
  if (above != MCC_ASSP_STREAMS_MAX) {
    double needed = needed_bps (self, streams, stream, above, true);
    double sure = self->average_bps - (enhanced (self) ? self->spread_bps : 0.0);
    if (sure > needed && may_go_up (self, above, needed, now))
      return above;
  }
  if (!enhanced (self) && below != MCC_ASSP_STREAMS_MAX
      && self->average_bps < self->factors.kappa * (double)streams->stream[stream].low_bps)
    return below;
  return stream;
}

/* Whether the rate has been below @least_bps for @time. */
static bool
stays_below (MccTime *since, double rate_bps, double least_bps, MccTime time, MccTime now)
{
  if (rate_bps >= least_bps)
    *since = MCC_TIME_NONE;
  else if (*since == MCC_TIME_NONE)
    *since = now;
  return *since != MCC_TIME_NONE && now - *since >= time;
}

bool
mcc_assp_level_is_newcomer (const MccAsspLevel *self, unsigned stream, MccTime now)
{
  return stream == self->newcomer && now - self->stream[stream].up < MCC_ASSP_NEWCOMER_TIME;
}

double
mcc_assp_level_least_bps (
    const MccAsspLevel *self, const MccAsspStreams *streams, unsigned stream, MccTime now)
{
  double low = (double)streams->stream[stream].low_bps;
  return mcc_assp_level_is_newcomer (self, stream, now) ? fmax (low, self->newcomer_bps) : low;
}

unsigned
mcc_assp_level_watch (MccAsspLevel *self, const MccAsspStreams *streams, unsigned stream,
    const MccAsspPath *path, MccTime now)
{
  unsigned to = mcc_assp_streams_below (streams, stream), next;
  if (!enhanced (self) || to == MCC_ASSP_STREAMS_MAX)
    return stream;
  double rate = (double)path->rate_bps, low = (double)streams->stream[stream].low_bps;
  double needed = mcc_assp_level_least_bps (self, streams, stream, now);
  bool newcomer = mcc_assp_level_is_newcomer (self, stream, now);
  MccTime least = path->arrives && !path->slumped ? MCC_ASSP_ARRIVES_TIME : 0;
  /* A newcomer takes from those in the stream meanwhile. */
  MccTime below_time = mcc_time_max (MCC_ASSP_BELOW_TIME, needed > low ? 0 : least);
  MccTime deep_time = mcc_time_max (MCC_ASSP_DEEP_TIME, least);
  MccTime fall_time
      = mcc_time_max (path->slumped ? MCC_ASSP_SLUMP_TIME : MCC_ASSP_FALL_TIME, least);
  bool below = stays_below (&self->below_since, rate, needed, below_time, now);
  bool deep = stays_below (&self->deep_since, rate, self->factors.kappa * low, deep_time, now);
  bool fall = stays_below (&self->fall_since, rate, MCC_ASSP_FALL * low, fall_time, now);
  if (!below && !deep && !fall)
    return stream;
  while (!newcomer && (next = mcc_assp_streams_below (streams, to)) != MCC_ASSP_STREAMS_MAX
         && (DOWN_SHARE * rate < (double)streams->stream[to].low_bps
             || rate < needed_bps (self, streams, next, to, false)))
    to = next;
  return to;
}

static void
delay_next_up (MccAsspLevel *self, unsigned to, bool failure, MccTime now)
{
  MccTime spacing = MCC_ASSP_UP_SPACING;
  self->stream[to].failures = failure ? self->stream[to].failures + 1 : 0;
  for (unsigned i = 1; i < self->stream[to].failures && spacing < MCC_ASSP_UP_SPACING_MAX; i++)
    spacing *= 2;
  MccTime from = self->stream[to].up != MCC_TIME_NONE ? self->stream[to].up : now;
  self->stream[to].not_before = mcc_time_max (
      from + mcc_time_min (spacing, MCC_ASSP_UP_SPACING_MAX), now + REST_AFTER_DOWN);
}

static void
note_change (MccAsspLevel *self, MccTime now)
{
  self->changed = now;
  mcc_assp_level_pause (self);
  if (enhanced (self))
    self->has_average = false;
}

void
mcc_assp_level_moved (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to, MccTime now)
{
  double newcomer_bps = self->newcomer == from ? self->newcomer_bps : 0.0;
  note_change (self, now);
  self->newcomer = MCC_ASSP_STREAMS_MAX;
  if (mcc_assp_streams_lower (streams, from, to)) {
    self->stream[to].up = now;
    self->stream[to].heard_until = 0;
    self->newcomer = to;
    self->newcomer_bps = needed_bps (self, streams, from, to, false);
    return;
  }
  self->stream[from].failed_bps
      = fmax (self->factors.lambda * (double)streams->stream[from].low_bps, newcomer_bps);
  MccTime up = self->stream[from].up;
  delay_next_up (self, from, up != MCC_TIME_NONE && now - up < MCC_ASSP_UP_PROOF, now);
  /* The rate that made us pass these by is still the best that is known. */
  for (unsigned j = 0; j < streams->count; j++)
    if (mcc_assp_streams_lower (streams, to, j) && mcc_assp_streams_lower (streams, j, from))
      self->stream[j].not_before = mcc_time_max (self->stream[j].not_before, now + REST_PASSED);
}

void
mcc_assp_level_deserted (MccAsspLevel *self, unsigned from, MccTime now)
{
  note_change (self, now);
  self->newcomer = MCC_ASSP_STREAMS_MAX;
  self->stream[from].not_before
      = mcc_time_max (self->stream[from].not_before, now + REST_AFTER_DOWN);
}

void
mcc_assp_level_ladder (
    MccAsspLevel *self, const MccAsspStreams *before, const MccAsspStreams *streams)
{
  for (unsigned j = 0; j < MCC_ASSP_STREAMS_MAX; j++) {
    bool same = mcc_assp_streams_open (before, j) && mcc_assp_streams_open (streams, j)
                && fabs ((double)streams->stream[j].low_bps - (double)before->stream[j].low_bps)
                       <= SAME_BOUND * (double)before->stream[j].low_bps;
    if (same)
      continue;
    self->stream[j].up = MCC_TIME_NONE;
    self->stream[j].not_before = 0;
    self->stream[j].failures = 0;
    self->stream[j].failed_bps = 0.0;
    self->stream[j].heard_until = 0;
    if (self->newcomer == j)
      self->newcomer = MCC_ASSP_STREAMS_MAX;
  }
}

void
mcc_assp_level_settle_in (MccAsspLevel *self)
{
  self->newcomer = MCC_ASSP_STREAMS_MAX;
}

void
mcc_assp_level_forgive (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned stream, MccTime now)
{
  for (unsigned j = 0; j < streams->count; j++) {
    if (j != stream && !mcc_assp_streams_lower (streams, j, stream))
      continue;
    self->stream[j].failures = 0;
    self->stream[j].not_before = now;
  }
}

void
mcc_assp_level_heard_failure (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to, MccTime now)
{
  if (now < self->stream[to].heard_until)
    return;
  self->stream[to].heard_until = now + MCC_ASSP_UP_SPACING + HEARD_REST;
  if (self->stream[to].failures == 0) {
    self->stream[to].failures = 1;
    self->stream[to].failed_bps = needed_bps (self, streams, from, to, true);
  }
  self->stream[to].not_before
      = mcc_time_max (self->stream[to].not_before, now + MCC_ASSP_UP_SPACING);
}

void
mcc_assp_level_failed (
    MccAsspLevel *self, const MccAsspStreams *streams, unsigned from, unsigned to, MccTime now)
{
  bool up = from < streams->count && mcc_assp_streams_lower (streams, from, to);
  note_change (self, now);
  self->stream[to].up = now;
  self->stream[to].failed_bps = up ? needed_bps (self, streams, from, to, true) : 0.0;
  delay_next_up (self, to, true, now);
}

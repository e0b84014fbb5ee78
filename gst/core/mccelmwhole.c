/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmwhole.h"

#include <math.h>

#define OUTLIERS 20     /* one in so many may differ */
#define MOST 2          /* more than one in so many */
#define FILLED 0.85     /* of T */
#define WATCH_REPORTS 3 /* t_fb */

void
mcc_elm_whole_init (MccElmWhole *self, const MccElmWholeBounds *bounds, MccTime now)
{
  memset (self, 0, sizeof *self);
  self->bounds = *bounds;
  self->target_bps = bounds->home_bps;
  self->next = now + MCC_ELM_WHOLE_PERIOD;
  self->ready_since = self->home_since = MCC_TIME_NONE;
}

/* The most that who can take less than @below_bps gets at home. */
static double
at_home (const MccElmWhole *self, const MccElmLayers *layers, double below_bps)
{
  double part = (double)self->bounds.home_bps / fmax ((double)self->target_bps, 1.0);
  double bps = 0.0;
  for (unsigned k = 0; k < layers->count; k++) {
    double level_bps = part * (double)layers->layer[k].cumulative_bps;
    if (k == 0 || level_bps < below_bps)
      bps = level_bps;
  }
  return bps;
}

void
mcc_elm_whole_add (
    MccElmWhole *self, const MccElmLayers *layers, const MccElmWholeReceiver *receiver)
{
  unsigned top = receiver->plain ? 0 : layers->count - 1;
  double bps = (double)layers->layer[top].cumulative_bps;
  double could_bps = receiver->limited ? (double)receiver->rate_bps : INFINITY;
  bool below = !receiver->plain && receiver->level < top;
  self->receivers++;
  self->below += below;
  self->ready += !below && could_bps >= MCC_ELM_WHOLE_ROOM * bps;
  self->troubled += below || could_bps < bps;
  self->starved += (receiver->plain || receiver->level == 0)
                   && could_bps < (double)layers->layer[0].cumulative_bps;
  unsigned level = below ? receiver->level : top;
  self->has_bps += (double)layers->layer[level].cumulative_bps;
  self->home_bps
      += at_home (self, layers, below ? (double)layers->layer[level + 1].cumulative_bps : INFINITY);
}

/* More than one in @one_in; one of several never counts. */
static bool
are_more (const MccElmWhole *self, unsigned some, unsigned one_in)
{
  return some * one_in > self->receivers && (some > 1 || self->receivers == 1);
}

static void
back_off (MccElmWhole *self, MccTime now)
{
  self->wait = self->wait == 0 ? MCC_ELM_WHOLE_WAIT_MIN
                               : mcc_time_min (2 * self->wait, MCC_ELM_WHOLE_WAIT_MAX);
  self->not_before = now + self->wait;
}

static bool
move (MccElmWhole *self, double bps, MccTime now)
{
  uint64_t before = self->target_bps;
  self->target_bps = (uint64_t)bps;
  self->next = now + MCC_ELM_WHOLE_PERIOD;
  self->ready_since = self->home_since = MCC_TIME_NONE;
  return self->target_bps != before;
}

static void
note (MccTime *since, bool so, MccTime now)
{
  if (!so)
    *since = MCC_TIME_NONE;
  else if (*since == MCC_TIME_NONE)
    *since = now;
}

static bool
held (MccTime since, MccTime time, MccTime now)
{
  return since != MCC_TIME_NONE && now - since >= time;
}

/* Whether a trial goes on, or was ended by its failure. */
static bool
look_at_trial (MccElmWhole *self, MccTime now, bool *moved)
{
  if (self->watch_until == 0)
    return false;
  double mean_bps = self->has_bps / (double)self->receivers;
  if (are_more (self, self->troubled, OUTLIERS) || mean_bps < self->mean_before_bps) {
    self->watch_until = 0;
    back_off (self, now);
    *moved = move (self, (double)self->before_bps, now);
    return true;
  }
  if (now < self->watch_until)
    return true;
  self->watch_until = self->wait = 0;
  return false;
}

static bool
go_home (MccElmWhole *self, MccTime now)
{
  double home = (double)self->bounds.home_bps, present = (double)self->target_bps;
  if (!(present > home) || !held (self->home_since, MCC_ELM_WHOLE_RETURN, now))
    return false;
  MccTime since = self->home_since;
  back_off (self, now);
  bool moved = move (self, fmax (present / MCC_ELM_WHOLE_STEP, home), now);
  self->home_since = since; /* the next step needs no more proof, if it stays so */
  return moved;
}

static bool
rise (MccElmWhole *self, const MccElmLayers *layers, MccTime now)
{
  double present = (double)self->target_bps;
  double sent = (double)layers->layer[layers->count - 1].cumulative_bps;
  /* What is sent is more than the encoder makes, by headers. */
  double room = (double)self->bounds.max_bps / fmax (sent, present);
  if (now < self->not_before || !held (self->ready_since, MCC_ELM_WHOLE_PERIOD, now)
      || sent < FILLED * present || room < 1.01 || layers->count < 2)
    return false;
  self->before_bps = self->target_bps;
  self->mean_before_bps = self->has_bps / (double)self->receivers;
  self->watch_until
      = now + mcc_time_max (MCC_ELM_WHOLE_PERIOD, WATCH_REPORTS * layers->feedback_interval);
  return move (self, fmin (MCC_ELM_WHOLE_STEP, room) * present, now);
}

bool
mcc_elm_whole_decide (MccElmWhole *self, const MccElmLayers *layers, MccTime now)
{
  bool moved = false;
  if (self->bounds.home_bps == 0)
    self->bounds.home_bps = self->target_bps = layers->layer[layers->count - 1].cumulative_bps;
  bool ready = self->ready + self->receivers / OUTLIERS >= self->receivers;
  note (&self->ready_since, self->receivers > 0 && ready, now);
  bool better = are_more (self, self->below, MOST) || self->home_bps > self->has_bps
                || are_more (self, self->starved, OUTLIERS);
  note (&self->home_since, better, now);
  if (self->receivers > 0 && !look_at_trial (self, now, &moved) && now >= self->next)
    moved = go_home (self, now) || rise (self, layers, now);
  self->receivers = self->ready = self->troubled = self->below = 0;
  self->starved = 0;
  self->has_bps = self->home_bps = 0.0;
  return moved;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpschedule.h"
#include "mccasspreceiverprivate.h"

#define LED_TIME (4 * MCC_SECOND) /* a switch of another one counts so long; ours */
#define LED_NEAR 1.15             /* times what the stream needs */
#define LED_ONSET MCC_SECOND      /* one queue is seen by all behind it */
/* One who went up, left the old stream and sees what the new one does knows after that and a leave
 * latency; and what it did to us is over. */
#define TRIAL_TIME (4 * MCC_SECOND)
#define LEARNED_TIME (20 * MCC_SECOND)   /* an up that is taken back so soon has failed */
#define COMPANY_TIME (4 * MCC_SECOND)    /* one who is in a higher stream counts so long */
#define COMPANY_SURE (500 * MCC_MSECOND) /* ... if another report says so, so much later ... */
#define COMPANY_SEEN (10 * MCC_SECOND)   /* ... or up to this */
#define COMPANY_WAIT                                                                               \
  (20 * MCC_SECOND) /* between two ups to company; twice as long after a failure */
#define COMPANY_WAIT_MAX (320 * MCC_SECOND)
#define DRAWN_TIME (3 * MCC_SECOND)  /* one who has gone up counts so long */
#define NEAR_TIME (30 * MCC_SECOND)  /* ... who was seen behind our queue so lately */
#define LADDER_TIME (8 * MCC_SECOND) /* until all are where a new ladder has them; ours */
#define DRAIN_WAIT (8 * MCC_SECOND)  /* until the queue of a faster link is gone; ours */
#define ALL_OF_IT 0.9                /* of the target: packets are no fluid */
#define TRIAL_REST (30 * MCC_SECOND) /* trials follow each other: of each stream, not before */
/* ... and one part in so many of all time, of which MCC_ASSP_TRIAL_CREDIT is saved up: whoever says
 * that he tries is believed. */
#define TRIAL_SHARE 4

/* What others' trials may still excuse. */
static MccTime
trial_credit (MccAsspReceiver *self)
{
  MccTime more = (self->now - self->trial_credited) / TRIAL_SHARE;
  self->trial_credit = mcc_time_min (MCC_ASSP_TRIAL_CREDIT, self->trial_credit + more);
  self->trial_credited = self->now;
  return self->trial_credit;
}

/* @until, or as long as there is credit for. */
static void
grant (MccAsspReceiver *self, MccTime until)
{
  MccTime from = mcc_time_max (self->trial_until, self->now);
  MccTime more = until > from ? mcc_time_min (until - from, trial_credit (self)) : 0;
  self->trial_credit -= more;
  self->trial_until = until > from ? from + more : until;
}

/* One of ours has gone up, or come back: what we suffer now may be its trial, on our link. */
static void
note_trial (MccAsspReceiver *self, unsigned from, unsigned to, unsigned own)
{
  bool up = from == own && mcc_assp_streams_lower (&self->streams, own, to);
  bool back = to == own && mcc_assp_streams_lower (&self->streams, own, from);
  MccTime time = self->config.leave_latency + TRIAL_TIME;
  if (up && self->now >= self->trial_rest[to]
      && trial_credit (self) >= mcc_time_min (time, MCC_ASSP_TRIAL_CREDIT)) {
    self->trial_began = self->now;
    grant (self, self->now + time);
    self->trial_rest[to] = self->now + TRIAL_REST;
  } else if (back && self->now < self->trial_until) { /* its end, however often it is told */
    grant (self, mcc_time_min (self->now + TRIAL_TIME, self->trial_began + time + TRIAL_TIME));
  }
  if (up || back) /* what it leaves us of our link is not what the link carries */
    mcc_asmp_receiver_note_shared (self->asmp, self->trial_until, self->now);
}

/* Who leaves and bears the next stream, goes there. */
static void
note_leaving (MccAsspReceiver *self, unsigned from, const MccAppReport *report, unsigned own)
{
  unsigned to = from < self->streams.count ? mcc_assp_streams_above (&self->streams, from)
                                           : MCC_ASSP_NO_STREAM;
  if (to != MCC_ASSP_NO_STREAM && report->potential_bps >= self->streams.stream[to].low_bps)
    note_trial (self, from, to, own);
}

/* A new ladder moves whom it does not suit. */
static bool
is_being_placed (const MccAsspReceiver *self)
{
  return self->ladder_time > 0 && self->now - self->ladder_time < LADDER_TIME;
}

/* Until those have gone whom the stream's new bound is too much for, less is sent. */
static bool
is_spared (const MccAsspReceiver *self)
{
  if (!mcc_assp_receiver_steady (self) || !is_being_placed (self))
    return false;
  const MccAppSession *session = &self->session[self->stream];
  return self->has_session[self->stream]
         && session->target_bps < self->streams.stream[self->stream].low_bps
         && (double)mcc_asmp_receiver_stated_bps (self->asmp)
                >= ALL_OF_IT * (double)session->target_bps;
}

/* Our link has become slow, and carries this stream: what we ask for meanwhile is to empty the
 * queue that the faster one has left. */
static bool
is_draining (const MccAsspReceiver *self)
{
  return self->slump_bps > 0 && mcc_assp_receiver_steady (self)
         && self->now - self->settled < DRAIN_WAIT
         && MCC_ASMP_CEILING_SHARE * (double)self->slump_bps
                >= (double)self->streams.stream[self->stream].low_bps;
}

bool
mcc_assp_receiver_is_patient (const MccAsspReceiver *self)
{
  return self->now < self->trial_until || is_spared (self) || is_draining (self);
}

/* @stream comes over the queue that we have, too: where we are in it our link has less to carry,
 * not more. It has been measured: whoever says so is not trying any more. A queue that falls
 * meanwhile makes others look near: once is chance, unless many are behind our link, some of whom
 * stay away the longer the more it suffers. */
static void
note_company (MccAsspReceiver *self, unsigned stream, uint32_t ssrc, const MccAppReport *report)
{
  unsigned own = mcc_assp_receiver_current (self);
  if (own >= self->streams.count || !mcc_assp_streams_open (&self->streams, stream)
      || !mcc_assp_streams_lower (&self->streams, own, stream)
      || (report->flags & MCC_REPORT_NO_LIMIT)
      || report->rate_bps < self->streams.stream[stream].low_bps
      || !mcc_asmp_receiver_shares_queue (self->asmp, ssrc, report))
    return;
  if (stream != self->company || self->now - self->company_seen > COMPANY_SEEN) {
    self->company = stream;
    self->company_seen = self->now;
    self->company_until = 0;
  }
  bool few = self->session[own].receivers <= MCC_ASMP_FEW_RECEIVERS;
  if (few && self->now - self->company_seen < COMPANY_SURE)
    return;
  self->company_bps = report->rate_bps;
  self->company_loss = report->loss_ratio;
  self->company_until = self->now + COMPANY_TIME;
}

/* One behind our queue goes up: the link has both streams to carry until we are there, too, or that
 * one is back, and neither of us learns what it bears. Enough for that one is about enough for us:
 * our own waits are not kept, our own rate is. In a large group all go up at the same round. Where
 * no queue stood before, it shows whose link is ours. */
static void
note_up (MccAsspReceiver *self, unsigned place, unsigned to)
{
  self->other[place].up = self->now;
  if (self->session[mcc_assp_receiver_current (self)].receivers > MCC_ASMP_FEW_RECEIVERS)
    return;
  bool near = self->other[place].near > 0 && self->now - self->other[place].near < NEAR_TIME;
  bool again = to == self->drawn_to && self->now - self->drawn_at < DRAWN_TIME;
  self->drawn_near = near || (again && self->drawn_near);
  self->drawn_at = again ? self->drawn_at : self->now;
  self->drawn_to = to;
}

/* What presses us began when that one went up. */
static bool
began_with (const MccAsspReceiver *self, MccTime up)
{
  return mcc_asmp_receiver_pressed_only_since (self->asmp, up > LED_ONSET ? up - LED_ONSET : 0);
}

/* Whose up pressed us, and who then comes back, has tried for us, too: the shared learning of RLM
 * (McCanne, Jacobson and Vetterli 1996). */
static void
learn (MccAsspReceiver *self, unsigned place, unsigned from, unsigned to, unsigned own)
{
  MccTime up = self->other[place].up;
  if (up == 0 || !mcc_assp_streams_lower (&self->streams, to, from))
    return;
  self->other[place].up = 0;
  if (self->now - up < LEARNED_TIME && began_with (self, up)
      && mcc_assp_streams_lower (&self->streams, own, from))
    mcc_assp_level_heard_failure (&self->level, &self->streams, own, from, self->now);
}

static bool
is_drawn (const MccAsspReceiver *self)
{
  return self->drawn_to != MCC_ASSP_NO_STREAM && self->now - self->drawn_at < DRAWN_TIME
         && (self->drawn_near || began_with (self, self->drawn_at)) && self->level.has_average
         && mcc_assp_streams_above (&self->streams, self->stream) == self->drawn_to
         && self->level.average_bps > mcc_assp_level_needed_bps (
                &self->level, &self->streams, self->stream, self->drawn_to);
}

static bool
has_company (const MccAsspReceiver *self)
{
  return self->company != MCC_ASSP_NO_STREAM && self->now < self->company_until
         && self->now >= self->company_not_before
         && mcc_assp_streams_open (&self->streams, self->company)
         && mcc_assp_streams_lower (&self->streams, self->stream, self->company);
}

bool
mcc_assp_receiver_has_company (const MccAsspReceiver *self)
{
  return has_company (self) || is_drawn (self);
}

void
mcc_assp_receiver_join_company (MccAsspReceiver *self)
{
  if (!has_company (self)) {
    self->joins_company = true;
    mcc_assp_receiver_begin (self, self->drawn_to, MCC_ASSP_REASON_UP);
    self->joins_company = false;
    self->drawn_to = MCC_ASSP_NO_STREAM;
    return;
  }
  bool again = self->joined_company > 0
               && self->now - self->joined_company < MCC_ASSP_UP_PROOF + self->company_wait;
  self->company_wait
      = again ? mcc_time_min (2 * self->company_wait, COMPANY_WAIT_MAX) : COMPANY_WAIT;
  self->company_not_before = self->now + self->company_wait;
  self->joined_company = self->now;
  self->joins_company = true;
  mcc_assp_receiver_begin (self, self->company, MCC_ASSP_REASON_UP);
  self->joins_company = false;
  mcc_asmp_receiver_adopt (self->asmp, self->company_bps, self->company_loss, self->now);
  self->company = MCC_ASSP_NO_STREAM;
}

static bool
is_pressed (const MccAsspReceiver *self)
{
  return mcc_asmp_receiver_is_pressed (self->asmp);
}

void
mcc_assp_receiver_note_other (
    MccAsspReceiver *self, unsigned stream, uint32_t ssrc, const MccAppReport *report)
{
  unsigned place = ssrc % MCC_ASSP_OTHERS, own = mcc_assp_receiver_current (self);
  bool known = self->other[place].ssrc == ssrc, leaving = report->flags & MCC_REPORT_LEAVING;
  unsigned from = self->other[place].stream;
  if (leaving) { /* it will say where it is, when it has measured; which may be too late */
    note_leaving (self, stream, report, own);
    return;
  }
  if (!known)
    self->other[place].near = self->other[place].up = 0;
  self->other[place].ssrc = ssrc;
  self->other[place].stream = stream;
  if (stream == own && mcc_asmp_receiver_shares_queue (self->asmp, ssrc, report))
    self->other[place].near = self->now;
  note_company (self, stream, ssrc, report);
  if (known && from != stream && own < self->streams.count && from < self->streams.count
      && mcc_assp_streams_open (&self->streams, stream)) {
    note_trial (self, from, stream, own);
    learn (self, place, from, stream, own);
  }
  if (known && from == own && own < self->streams.count && stream < self->streams.count
      && mcc_assp_streams_lower (&self->streams, own, stream))
    note_up (self, place, stream);
  /* It says nothing of the link then. */
  if (!known || is_being_placed (self) || from != own || own >= self->streams.count
      || !mcc_assp_streams_open (&self->streams, stream)
      || !mcc_assp_streams_lower (&self->streams, stream, own))
    return;
  self->led_to = stream;
  self->led_until = self->now + (is_pressed (self) ? LED_TIME : LED_ONSET);
  self->led_onset = !is_pressed (self);
}

/* Where one goes down soon after an up, or near the bound, while we have losses too, its bottleneck
 * is ours: a link that carries both streams serves nobody. Down together. Losses that we have only
 * later are of our own making. */
bool
mcc_assp_receiver_is_led (MccAsspReceiver *self)
{
  if (self->led_onset && self->now < self->led_until && is_pressed (self)) {
    self->led_until += LED_TIME - LED_ONSET;
    self->led_onset = false;
  }
  if (self->led_to == MCC_ASSP_NO_STREAM || self->now >= self->led_until
      || !mcc_assp_streams_open (&self->streams, self->led_to)
      || !mcc_assp_streams_lower (&self->streams, self->led_to, self->stream) || !is_pressed (self))
    return false;
  double needed = mcc_assp_level_least_bps (&self->level, &self->streams, self->stream, self->now);
  return (double)mcc_asmp_receiver_stated_bps (self->asmp) < LED_NEAR * needed;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpschedule.h"

#include <string.h>

#define OUR_SHARE (MCC_RTCP_RECEIVER_SHARE * (1.0 - MCC_RTCP_REGULAR_SHARE))
#define OTHERS_SHARE (OUR_SHARE - MCC_RTCP_LIMITING_SHARE)
#define ANNOUNCE_MAX (1 * MCC_SECOND)
#define JOIN_UNKNOWN (700 * MCC_MSECOND) /* nobody is known: a whole group may join with us */
#define JOIN_CROWD 10000                 /* so many, spread as for suppression */
#define GROWTH 4                         /* by more than 1/4 between reports */
#define JOIN_ALLOWANCE 3                 /* first reports beyond the budget that are no crowd */
#define NEWCOMER_TIME (5 * MCC_SECOND)   /* few are new for so long after their first report */
#define JOIN_TIME (60 * MCC_SECOND)
#define PUBLISHED_INTERVAL MCC_SECOND /* eq. 13 adds P/RTT a report: more often is not fair */
#define JOIN_MAX (1 * MCC_SECOND)     /* the first report is not later, if the budget allows */
#define HEARD_AGE (1 * MCC_SECOND)    /* a heard report covers so long, or 4 RTT */
#define ANSWER_AGES 2                 /* ... and so often: by then the sender has answered it */
#define DEAF_TIME (300 * MCC_SECOND)  /* to others, after reports that the sender did not heed */
#define FALL 0.95                     /* of the reported rate: worth an early report */
#define DEBT_INTERVALS 2              /* of debt, then early reports are rare */
#define DEBT_SPACING (5 * MCC_SECOND) /* ... but come so often */
#define CLAIM_MAX (5 * MCC_SECOND)    /* no announcement at all: the sender is gone */
#define COVER 0.1                     /* RFC 4654 3.4, g */
#define BELOW (1.0 - MCC_SUPPRESS_SIMILAR) /* of the target: what differs less is the same */

void
mcc_asmp_schedule_init (MccAsmpSchedule *self, MccVariant variant, bool hears_group, MccTime fixed,
    double compound_bytes, uint64_t seed)
{
  memset (self, 0, sizeof *self);
  self->variant = variant;
  self->hears_group = hears_group;
  self->fixed = fixed;
  self->least = PUBLISHED_INTERVAL;
  self->compound_bytes = compound_bytes;
  mcc_rng_init (&self->rng, seed);
  self->last = self->next = self->early = self->claimed = self->withheld = MCC_TIME_NONE;
  self->heard_bps = self->reported_bps = UINT64_MAX;
}

/* Others' reports, and believes them. */
static bool
hears (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  return self->hears_group && input->now >= self->deaf_until;
}

static unsigned
members (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  unsigned n = input->members > 0 ? input->members : 1;
  /* Many join at once: the sender cannot know them all yet. */
  if ((!self->spoke || input->now - self->joined < JOIN_TIME) && self->joiners.count >= n)
    n = self->joiners.count + 1;
  return n;
}

/* Named as the limiting receiver; or we have just reported less than the target, and what the
 * sender says to that was not heard yet (it may be lost, in the very queue that we complain of). */
static bool
limits (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  return input->limiting
         || (self->claimed != MCC_TIME_NONE && input->announced < self->claimed + input->rtt
             && input->now - self->claimed < CLAIM_MAX);
}

/* Td of the regular reports of one of @n. */
static MccTime
interval_of (
    const MccAsmpSchedule *self, const MccAsmpScheduleInput *input, unsigned n, bool limiting)
{
  if (self->fixed > 0)
    return mcc_time_max (self->fixed, MCC_RTCP_MIN_INTERVAL);
  MccTime all = mcc_rtcp_interval (
      input->target_bps, input->session_bps, OUR_SHARE, n, self->compound_bytes);
  if (self->variant == MCC_VARIANT_PUBLISHED)
    return mcc_time_max (all, self->least);
  if (limiting) {
    MccTime own = mcc_rtcp_interval (
        input->target_bps, input->session_bps, MCC_RTCP_LIMITING_SHARE, 1, self->compound_bytes);
    return mcc_time_max (input->rtt, mcc_time_min (own, all));
  }
  return mcc_rtcp_interval (
      input->target_bps, input->session_bps, OTHERS_SHARE, n, self->compound_bytes);
}

static MccTime
regular_interval (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  return interval_of (self, input, members (self, input), limits (self, input));
}

/* ... of one that does not limit. */
static MccTime
group_interval (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  return interval_of (self, input, members (self, input), false);
}

/* Who hears nobody learns of others' reports by announcements only. */
static MccTime
suppression_wait (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  MccTime delay = input->rtt_max;
  if (!hears (self, input))
    delay = mcc_time_max (delay, mcc_time_min (input->announce_interval, ANNOUNCE_MAX));
  return mcc_suppress_wait (&self->rng, members (self, input), delay);
}

static MccTime
spaced (const MccAsmpSchedule *self, MccTime time)
{
  return self->last == MCC_TIME_NONE ? time
                                     : mcc_time_max (time, self->last + MCC_RTCP_MIN_INTERVAL);
}

static void
plan_regular (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  bool enhanced = self->variant == MCC_VARIANT_ENHANCED;
  self->limiting = limits (self, input);
  self->interval = regular_interval (self, input);
  self->waiting = false;
  if (input->limiting) /* has a share of its own: owes the others nothing */
    self->debt = 0;
  MccTime wait = self->interval;
  if (self->fixed == 0 && !(self->limiting && enhanced))
    wait = mcc_rtcp_randomize (&self->rng, wait);
  if (!self->limiting)
    wait += self->debt;
  MccTime from = self->last == MCC_TIME_NONE ? input->now : mcc_time_max (self->last, self->joined);
  self->next = mcc_time_max (spaced (self, from + wait), input->now);
}

/* RFC 3550 6.2: half the interval before the first; ours is bounded. Unless a small group is known
 * many may join with us: then most wait until they would hear the first of them. */
static void
plan_first (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  MccTime wait = mcc_time_clamp (self->interval / 2, MCC_RTCP_MIN_INTERVAL, JOIN_MAX);
  self->moves = input->moves;
  self->crowd = input->moves || input->members == 0 || input->members > MCC_ASMP_FEW_RECEIVERS;
  bool together = self->wary || self->last != MCC_TIME_NONE;
  self->uncounted = self->uncounted || (together && input->members == 0);
  if (self->crowd) {
    wait = input->moves || input->members == 0 ? JOIN_UNKNOWN : JOIN_MAX;
    wait = mcc_suppress_wait_within (&self->rng, JOIN_CROWD, wait);
  } else {
    double u = mcc_rng_uniform (&self->rng);
    wait = mcc_time_from_seconds (u * mcc_time_to_seconds (wait));
  }
  MccTime next = spaced (self, input->now + wait);
  self->next = self->next == MCC_TIME_NONE ? next : mcc_time_min (self->next, next);
}

/* To this sender or of this stream, and others' first ones come with it. */
static bool
is_first (const MccAsmpSchedule *self)
{
  return !self->spoke || (self->moves && self->sent == 0);
}

/* The first report is due, but more others than the budget bears report for the first time, too
 * (timer reconsideration, RFC 3550 6.3.3): as many as were heard meanwhile will have the time that
 * this many take. */
static bool
postpone_first (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  unsigned grown
      = input->members > self->members_before ? input->members - self->members_before : 0;
  unsigned joiners = self->joiners.count > grown ? self->joiners.count : grown;
  MccTime one = interval_of (self, input, 1, limits (self, input));
  double affordable = (double)(input->now - self->counted) / (double)one + JOIN_ALLOWANCE;
  if (self->fixed > 0 || (double)joiners <= affordable)
    return false;
  self->interval = interval_of (self, input, joiners, limits (self, input));
  self->next = input->now + mcc_rtcp_randomize (&self->rng, self->interval);
  self->postponed = true;
  self->counted = input->now;
  self->members_before = input->members;
  mcc_distinct_clear (&self->joiners);
  return true;
}

/* A regular report is due, but the group has grown since it was planned (RFC 3550 6.3.6). */
static bool
postpone_regular (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  MccTime interval = regular_interval (self, input);
  if (self->waiting || limits (self, input) || interval <= self->interval + self->interval / GROWTH)
    return false;
  self->interval = interval;
  MccTime at = self->last + mcc_rtcp_randomize (&self->rng, interval) + self->debt;
  if (at <= input->now)
    return false;
  self->next = at;
  return true;
}

void
mcc_asmp_schedule_start (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  self->active = true;
  self->next = MCC_TIME_NONE;
  self->joined = self->counted = input->now;
  self->members_before = input->members;
  self->counts_members = input->announced != 0;
  self->sent = 0;
  self->early = self->claimed = self->withheld = MCC_TIME_NONE;
  self->waiting = self->skipped = self->unconfirmed = self->alone = self->postponed = false;
  self->debt = 0;
  mcc_distinct_clear (&self->joiners);
  self->heard_bps = self->reported_bps = UINT64_MAX;
  self->limiting = limits (self, input);
  self->interval = regular_interval (self, input);
  plan_first (self, input);
}

void
mcc_asmp_schedule_hurry (MccAsmpSchedule *self, MccTime now)
{
  if (self->active)
    self->next = mcc_time_min (self->next, spaced (self, now));
}

void
mcc_asmp_schedule_stop (MccAsmpSchedule *self)
{
  self->active = false;
  self->next = self->early = MCC_TIME_NONE;
}

void
mcc_asmp_schedule_forget (MccAsmpSchedule *self)
{
  self->spoke = false;
}

/* enhanced: receivers behind one bottleneck measure about the same; the lowest of them need not be
 * known exactly (RFC 4654 3.4, g). */
static bool
covers (const MccAsmpSchedule *self, uint64_t heard_bps, const MccAsmpScheduleInput *input)
{
  bool enhanced = self->variant == MCC_VARIANT_ENHANCED;
  if (heard_bps == UINT64_MAX)
    return false;
  if (enhanced)
    heard_bps = (uint64_t)((1.0 - COVER) * (double)heard_bps);
  return mcc_suppress_covers (heard_bps, input->rate_bps, enhanced);
}

static MccTime
heard_age (const MccAsmpScheduleInput *input)
{
  return mcc_time_max (HEARD_AGE, 4 * input->rtt_max);
}

static bool
covered_by_sender (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  return self->variant == MCC_VARIANT_ENHANCED && covers (self, input->suppress_bps, input);
}

static bool
covered (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  bool heard = hears (self, input) && input->now - self->heard_time <= heard_age (input);
  return (heard && covers (self, self->heard_bps, input)) || covered_by_sender (self, input);
}

/* Others' reports keep an early one of ours back, but the sender, heard since, does not follow them
 * (forged, or lost on their way): from then on only what it announces counts, as for one who hears
 * nobody. */
static void
doubt_heard (MccAsmpSchedule *self, const MccAsmpScheduleInput *input, bool wants, bool is_covered)
{
  if (!wants || self->variant != MCC_VARIANT_ENHANCED || covered_by_sender (self, input)
      || covers (self, input->target_bps, input)) {
    self->withheld = MCC_TIME_NONE;
    return;
  }
  if (!is_covered) /* for a moment: a new round has begun */
    return;
  if (self->withheld == MCC_TIME_NONE) {
    self->withheld = input->now;
  } else if (input->announced >= self->withheld + ANSWER_AGES * heard_age (input)) {
    self->withheld = MCC_TIME_NONE;
    self->deaf_until = input->now + DEAF_TIME;
    self->heard_bps = UINT64_MAX;
    mcc_distinct_clear (&self->joiners);
  }
}

/* Two reports make a receiver (the sender's probation): as long as the sender has nobody who limits
 * it, the second one is worth an early report in a large group, too. */
static bool
wants_confirmation (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  return self->variant == MCC_VARIANT_ENHANCED && self->fixed == 0 && self->sent == 1
         && input->nobody_limits && !self->moves;
}

/* enhanced, RTCP rules: our rate is below the announced one. */
static bool
is_below (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  return self->variant == MCC_VARIANT_ENHANCED && !input->no_limit && self->fixed == 0
         && (double)input->rate_bps < BELOW * (double)input->target_bps;
}

/* Whether an early report is due at all, suppression aside. */
static bool
wants_early (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  if (wants_confirmation (self, input))
    return true;
  if (self->variant != MCC_VARIANT_ENHANCED || input->no_limit || self->fixed > 0)
    return false;
  /* The first rate of all is news, too: until then the sender may not rise. */
  if (self->spoke && self->reported_bps == UINT64_MAX
      && members (self, input) <= MCC_ASMP_FEW_RECEIVERS && !self->moves)
    return true;
  if (input->limiting && self->reported_bps != UINT64_MAX)
    return (double)input->rate_bps < FALL * (double)self->reported_bps;
  return is_below (self, input);
}

/* Until the sender has answered to what we claimed, or somebody else claims less. Who limits no
 * more goes back to the slow interval. */
static void
update_claim (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  bool lower = self->heard_bps < self->reported_bps && self->heard_time >= self->claimed;
  if (self->claimed != MCC_TIME_NONE && (input->limiting || lower || !limits (self, input)))
    self->claimed = MCC_TIME_NONE;
  if (self->limiting && !limits (self, input) && self->last != MCC_TIME_NONE)
    plan_regular (self, input);
}

/* A large group was there and has its limit, our first report told of nothing met yet, and few
 * others came with us: what is met since then few can have to say, and the sender must hear it
 * twice before it counts. */
static bool
came_alone (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  return self->alone && !input->nobody_limits && input->now - self->last < NEWCOMER_TIME;
}

/* When an early report may leave, suppression aside. */
static MccTime
early_after (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  if (self->last == MCC_TIME_NONE)
    return input->now;
  /* The previous one must have had its chance. */
  MccTime spacing = mcc_time_max (input->rtt, MCC_RTCP_MIN_INTERVAL);
  MccTime regular = group_interval (self, input);
  if (self->debt >= DEBT_INTERVALS * regular)
    spacing = mcc_time_max (spacing, mcc_time_min (regular, DEBT_SPACING));
  return self->last + spacing;
}

MccScheduleVerdict
mcc_asmp_schedule_update (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  if (!self->active)
    return MCC_SCHEDULE_WAIT;
  if (input->round != self->round) {
    self->round = input->round;
    self->heard_bps = UINT64_MAX;
  }
  if (self->crowd && !self->spoke && input->members > 0 && input->members <= MCC_ASMP_FEW_RECEIVERS)
    plan_first (self, input); /* a small group, as we hear now */
  if (!self->counts_members && input->announced != 0) {
    self->counts_members = true;
    self->members_before = input->members;
  }
  update_claim (self, input);
  /* Once limiting, the slow interval no longer holds; a grown group's is taken at its expiry. */
  if (limits (self, input) && !self->limiting && self->last != MCC_TIME_NONE) {
    MccTime next = self->next;
    plan_regular (self, input);
    self->next = mcc_time_min (next, self->next);
  }
  bool wants = wants_early (self, input);
  bool must = input->limiting || wants_confirmation (self, input);
  doubt_heard (self, input, wants && !must, covered (self, input));
  if (!wants) {
    self->early = MCC_TIME_NONE;
    return MCC_SCHEDULE_WAIT;
  }
  if (!must && covered (self, input)) {
    bool planned = self->early != MCC_TIME_NONE;
    self->early = MCC_TIME_NONE;
    return planned ? MCC_SCHEDULE_SUPPRESSED : MCC_SCHEDULE_WAIT;
  }
  if (self->early != MCC_TIME_NONE)
    return MCC_SCHEDULE_WAIT;
  MccTime wait = 0;
  unsigned n = members (self, input);
  /* Who makes room for many knows of more than are counted. */
  bool crowd = self->moves || (is_first (self) && self->postponed);
  if (!input->limiting && !self->unconfirmed && !came_alone (self, input)
      && (n > MCC_ASMP_FEW_RECEIVERS || crowd))
    wait = suppression_wait (self, input);
  else if (!self->spoke && self->uncounted) /* as for plan_first() */
    wait = mcc_suppress_wait_within (&self->rng, JOIN_CROWD, JOIN_UNKNOWN);
  self->early = mcc_time_max (input->now + wait, early_after (self, input));
  return MCC_SCHEDULE_WAIT;
}

MccScheduleVerdict
mcc_asmp_schedule_handle_heard (MccAsmpSchedule *self, uint32_t ssrc, uint64_t rate_bps,
    bool no_limit, const MccAsmpScheduleInput *input)
{
  if (!hears (self, input))
    return MCC_SCHEDULE_WAIT;
  if (is_first (self))
    mcc_distinct_add (&self->joiners, ssrc);
  if (no_limit)
    return MCC_SCHEDULE_WAIT;
  if (self->heard_bps == UINT64_MAX || rate_bps <= self->heard_bps || ssrc == self->heard_ssrc
      || input->now - self->heard_time > heard_age (input)) {
    self->heard_bps = rate_bps;
    self->heard_ssrc = ssrc;
    self->heard_time = input->now;
  }
  update_claim (self, input);
  if (!covered (self, input) || input->limiting || wants_confirmation (self, input))
    return MCC_SCHEDULE_WAIT;
  bool planned = self->early != MCC_TIME_NONE;
  self->early = MCC_TIME_NONE;
  if (self->waiting && !self->skipped) {
    self->skipped = true;
    self->waiting = false;
    self->interval = regular_interval (self, input);
    self->next = input->now + mcc_rtcp_randomize (&self->rng, self->interval);
    planned = true;
  }
  return planned ? MCC_SCHEDULE_SUPPRESSED : MCC_SCHEDULE_WAIT;
}

MccScheduleVerdict
mcc_asmp_schedule_handle_timeout (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  if (!self->active)
    return MCC_SCHEDULE_WAIT;
  if (input->now >= self->early)
    return MCC_SCHEDULE_SEND;
  if (input->now < self->next)
    return MCC_SCHEDULE_WAIT;

  if (is_first (self) ? postpone_first (self, input) : postpone_regular (self, input))
    return MCC_SCHEDULE_WAIT;
  if (!is_first (self) && !self->waiting && !self->skipped && !limits (self, input)
      && self->interval > MCC_SUPPRESS_INTERVAL) {
    self->waiting = true;
    self->heard_bps = UINT64_MAX;
    self->next = input->now + suppression_wait (self, input);
    if (self->next > input->now)
      return MCC_SCHEDULE_WAIT;
  }
  return MCC_SCHEDULE_SEND;
}

void
mcc_asmp_schedule_sent (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  bool early = input->now < self->next;
  bool claims = limits (self, input) && !input->limiting;
  if ((early || claims) && self->last != MCC_TIME_NONE) {
    MccTime regular = group_interval (self, input), since = input->now - self->last;
    self->debt += since < regular ? regular - since : 0;
    self->debt = mcc_time_min (self->debt, DEBT_INTERVALS * regular);
  } else {
    self->debt = 0;
  }
  if (!claims && is_below (self, input))
    self->claimed = input->now;
  self->sent += self->sent < 2;
  self->unconfirmed = self->sent == 1 && (early || is_below (self, input));
  self->alone = self->sent == 1 && !self->postponed && !self->moves && hears (self, input)
                && input->members > MCC_ASMP_FEW_RECEIVERS;
  self->last = input->now;
  self->early = self->withheld = MCC_TIME_NONE;
  self->skipped = self->uncounted = false;
  self->spoke = true;
  self->reported_bps = input->no_limit ? UINT64_MAX : input->rate_bps;
  plan_regular (self, input);
}

MccTime
mcc_asmp_schedule_next_timeout (const MccAsmpSchedule *self)
{
  return self->active ? mcc_time_min (self->next, self->early) : MCC_TIME_NONE;
}

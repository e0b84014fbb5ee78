/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpschedule.h"

#include <math.h>

#define OUR_SHARE (MCC_RTCP_RECEIVER_SHARE * (1.0 - MCC_RTCP_REGULAR_SHARE))
#define OTHERS_SHARE (OUR_SHARE - MCC_RTCP_LIMITING_SHARE)
#define ANNOUNCE_MAX (1 * MCC_SECOND)
#define JOIN_UNKNOWN (500 * MCC_MSECOND)
#define JOIN_SPREAD 3 /* of a growing group most are not known yet */
#define JOIN_TIME (60 * MCC_SECOND)
#define PUBLISHED_INTERVAL MCC_SECOND      /* eq. 13 adds P/RTT a report: more often is not fair */
#define JOIN_MAX (1 * MCC_SECOND)          /* the first report is not later, if the budget allows */
#define HEARD_AGE (1 * MCC_SECOND)         /* a heard report covers so long, or 4 RTT */
#define FALL 0.97                          /* of the reported rate: worth an early report */
#define COVER 0.1                          /* RFC 4654 3.4, g */
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
  self->last = self->next = self->early = MCC_TIME_NONE;
  self->heard_bps = self->reported_bps = UINT64_MAX;
}

static unsigned
members (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  unsigned n = input->members > 0 ? input->members : 1;
  /* Many join at once: the sender cannot know them all yet. */
  if ((self->last == MCC_TIME_NONE || input->now - self->joined < JOIN_TIME) && self->joiners >= n)
    n = self->joiners + 1;
  return n;
}

/* Td of our regular reports. */
static MccTime
regular_interval (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  if (self->fixed > 0)
    return mcc_time_max (self->fixed, MCC_RTCP_MIN_INTERVAL);
  unsigned n = members (self, input);
  MccTime all = mcc_rtcp_interval (
      input->target_bps, input->session_bps, OUR_SHARE, n, self->compound_bytes);
  if (self->variant == MCC_VARIANT_PUBLISHED)
    return mcc_time_max (all, self->least);
  if (input->limiting) {
    MccTime own = mcc_rtcp_interval (
        input->target_bps, input->session_bps, MCC_RTCP_LIMITING_SHARE, 1, self->compound_bytes);
    return mcc_time_max (input->rtt, mcc_time_min (own, all));
  }
  return mcc_rtcp_interval (
      input->target_bps, input->session_bps, OTHERS_SHARE, n, self->compound_bytes);
}

/* Who hears nobody learns of others' reports by announcements only. */
static MccTime
suppression_wait (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  MccTime delay = input->rtt_max;
  if (!self->hears_group)
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
  self->limiting = input->limiting;
  self->interval = regular_interval (self, input);
  self->waiting = false;
  MccTime wait = self->interval;
  if (self->fixed == 0 && !(input->limiting && self->variant == MCC_VARIANT_ENHANCED))
    wait = mcc_rtcp_randomize (&self->rng, wait);
  MccTime from = self->last == MCC_TIME_NONE ? input->now : mcc_time_max (self->last, self->joined);
  self->next = mcc_time_max (spaced (self, from + wait + self->debt), input->now);
}

void
mcc_asmp_schedule_start (MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  self->active = true;
  self->joined = input->now;
  self->early = MCC_TIME_NONE;
  self->waiting = self->skipped = false;
  self->debt = 0;
  memset (self->heard, 0, sizeof self->heard);
  self->heard_bits = self->joiners = 0;
  self->heard_bps = self->reported_bps = UINT64_MAX;
  self->interval = regular_interval (self, input);
  /* RFC 3550 6.2: half the interval before the first; ours is bounded, for nobody knows us yet. */
  /* With nobody known, a whole group may join with us. */
  MccTime least = input->members > 0 ? MCC_RTCP_MIN_INTERVAL : JOIN_UNKNOWN;
  MccTime wait = mcc_time_clamp (self->interval / 2, least, JOIN_MAX);
  double u = mcc_rng_uniform (&self->rng);
  self->next = spaced (self, input->now + mcc_time_from_seconds (u * mcc_time_to_seconds (wait)));
}

void
mcc_asmp_schedule_stop (MccAsmpSchedule *self)
{
  self->active = false;
  self->next = self->early = MCC_TIME_NONE;
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

static bool
covered (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  MccTime age = mcc_time_max (HEARD_AGE, 4 * input->rtt_max);
  if (input->now - self->heard_time <= age && covers (self, self->heard_bps, input))
    return true;
  return self->variant == MCC_VARIANT_ENHANCED && covers (self, input->suppress_bps, input);
}

/* Whether an early report is due at all, suppression aside. */
static bool
wants_early (const MccAsmpSchedule *self, const MccAsmpScheduleInput *input)
{
  if (self->variant != MCC_VARIANT_ENHANCED || input->no_limit || self->fixed > 0)
    return false;
  double rate = (double)input->rate_bps;
  /* The first rate of all is news, too: until then the sender may not rise. */
  if (self->last != MCC_TIME_NONE && self->reported_bps == UINT64_MAX
      && members (self, input) <= MCC_ASMP_FEW_RECEIVERS)
    return true;
  if (input->limiting && self->reported_bps != UINT64_MAX)
    return rate < FALL * (double)self->reported_bps;
  return rate < BELOW * (double)input->target_bps;
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
  /* Once limiting, the slow interval no longer holds; a grown group's is taken at its expiry. */
  if (input->limiting && !self->limiting && self->last != MCC_TIME_NONE) {
    MccTime next = self->next;
    plan_regular (self, input);
    self->next = mcc_time_min (next, self->next);
  }
  if (!wants_early (self, input)) {
    self->early = MCC_TIME_NONE;
    return MCC_SCHEDULE_WAIT;
  }
  bool is_covered = !input->limiting && covered (self, input);
  if (is_covered) {
    bool planned = self->early != MCC_TIME_NONE;
    self->early = MCC_TIME_NONE;
    return planned ? MCC_SCHEDULE_SUPPRESSED : MCC_SCHEDULE_WAIT;
  }
  if (self->early != MCC_TIME_NONE || self->debt >= 2 * self->interval)
    return MCC_SCHEDULE_WAIT;
  MccTime wait = 0;
  unsigned n = members (self, input);
  if (!input->limiting && (n > MCC_ASMP_FEW_RECEIVERS || self->interval >= MCC_SUPPRESS_INTERVAL))
    wait = suppression_wait (self, input);
  MccTime at = input->now + wait;
  if (self->last != MCC_TIME_NONE) /* the previous one must have had its chance */
    at = mcc_time_max (at, self->last + mcc_time_max (input->rtt, MCC_RTCP_MIN_INTERVAL));
  self->early = spaced (self, at);
  return MCC_SCHEDULE_WAIT;
}

/* Linear counting (Whang et al. 1990): distinct reporters from the share of bits still clear. */
static void
count_joiner (MccAsmpSchedule *self, uint32_t ssrc)
{
  uint32_t bit = (ssrc * UINT32_C (2654435761)) >> (32 - 10);
  uint64_t mask = UINT64_C (1) << (bit % 64);
  if ((self->heard[bit / 64] & mask) != 0)
    return;
  self->heard[bit / 64] |= mask;
  self->heard_bits++;
  double share = fmax (MCC_ASMP_HEARD_BITS - self->heard_bits, 1.0) / MCC_ASMP_HEARD_BITS;
  self->joiners = (unsigned)(-MCC_ASMP_HEARD_BITS * log (share) + 0.5);
}

MccScheduleVerdict
mcc_asmp_schedule_handle_heard (MccAsmpSchedule *self, uint32_t ssrc, uint64_t rate_bps,
    bool no_limit, const MccAsmpScheduleInput *input)
{
  if (self->last == MCC_TIME_NONE)
    count_joiner (self, ssrc);
  if (no_limit)
    return MCC_SCHEDULE_WAIT;
  MccTime age = mcc_time_max (HEARD_AGE, 4 * input->rtt_max);
  if (self->heard_bps == UINT64_MAX || rate_bps <= self->heard_bps || ssrc == self->heard_ssrc
      || input->now - self->heard_time > age) {
    self->heard_bps = rate_bps;
    self->heard_ssrc = ssrc;
    self->heard_time = input->now;
  }
  if (!covered (self, input) || input->limiting)
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

  if (self->last == MCC_TIME_NONE) {
    /* Timer reconsideration (RFC 3550 6.3.3, 6.3.6): many join with us. */
    MccTime interval = regular_interval (self, input);
    MccTime at = self->joined + mcc_rtcp_randomize (&self->rng, JOIN_SPREAD * interval);
    if (interval > self->interval && at > input->now) {
      self->interval = interval;
      self->next = at;
      return MCC_SCHEDULE_WAIT;
    }
  }
  if (self->last != MCC_TIME_NONE && !self->waiting && !self->skipped && !input->limiting
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
  if (early && self->last != MCC_TIME_NONE) {
    MccTime regular = self->interval, since = input->now - self->last;
    self->debt += since < regular ? regular - since : 0;
  } else {
    self->debt = 0;
  }
  self->last = input->now;
  self->early = MCC_TIME_NONE;
  self->skipped = false;
  self->reported_bps = input->no_limit ? UINT64_MAX : input->rate_bps;
  plan_regular (self, input);
}

MccTime
mcc_asmp_schedule_next_timeout (const MccAsmpSchedule *self)
{
  return self->active ? mcc_time_min (self->next, self->early) : MCC_TIME_NONE;
}

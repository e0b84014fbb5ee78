/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "mccelmsenderprivate.h"
#include "mccrtcp.h"

#define SILENT (500 * MCC_MSECOND) /* between packets of a layer that sends; ours */
#define FEEDBACK_STEP 0.1          /* thesis 6.2.3 */
#define REPORT_SOONEST 0.75 /* of t_fb, between a receiver's reports (mccelmreceiverreport.c) */
#define REPORT_BYTES 152.0  /* IP bytes of a receiver's compound */
#define RECEIVERS_SHARE (MCC_RTCP_RECEIVER_SHARE * (1.0 - MCC_RTCP_REGULAR_SHARE))

static uint64_t
session_bps (const MccElmSender *self)
{
  uint64_t bps = mcc_elm_layers_session_bps (&self->layers);
  uint64_t set_bps = self->config.session_bandwidth_bps;
  return set_bps > 0 && set_bps < bps ? set_bps : bps;
}

/* RTCP is a part of what everybody receives. */
void
mcc_elm_sender_share_rtcp (MccElmSender *self)
{
  uint64_t bps = mcc_elm_sender_base_bps (self);
  mcc_asmp_sender_set_bounds (self->asmp, bps, bps, self->now);
  mcc_asmp_sender_set_session_bandwidth (self->asmp, session_bps (self), self->now);
}

void
mcc_elm_sender_apply_interval (MccElmSender *self)
{
  MccTime interval = self->interval;
  if (self->config.variant == MCC_VARIANT_ENHANCED)
    interval = mcc_time_max (interval,
        mcc_rtcp_interval (mcc_elm_sender_base_bps (self), session_bps (self), RECEIVERS_SHARE,
            mcc_asmp_sender_group (self->asmp), REPORT_BYTES + self->config.srtcp_bytes));
  interval = mcc_time_clamp (interval, MCC_ELM_FEEDBACK_MIN, MCC_ELM_FEEDBACK_MAX);
  MccTime before = self->layers.feedback_interval;
  self->layers.feedback_interval = interval;
  mcc_asmp_sender_set_report_interval (self->asmp, interval, self->now);
  if (interval > before + before / 2) /* many have come */
    mcc_asmp_sender_announce (self->asmp, self->now);
}

static uint32_t
all_members (const MccElmSender *self)
{
  uint32_t members = 0;
  for (unsigned k = 0; k < MCC_ELM_LAYERS_MAX; k++)
    members += self->members[k];
  return members;
}

/* Reports of the period that so many receivers have reason for (enhanced): who reports without end
 * must not make all others wait. */
static double
counted_reports (const MccElmSender *self, double length_s)
{
  double members = all_members (self), reports = (double)self->period_reports;
  if (self->config.variant != MCC_VARIANT_ENHANCED)
    return reports;
  double each = fmax (
      1.0, length_s / (REPORT_SOONEST * mcc_time_to_seconds (self->layers.feedback_interval)));
  return fmin (reports, ceil (members * each));
}

/* Thesis 6.2.3: above the target the interval grows by the ratio, 10 % at most, else it shrinks. */
static void
control_feedback (MccElmSender *self)
{
  double length_s = mcc_time_to_seconds (self->now - self->period_start);
  self->feedback_hz = counted_reports (self, length_s) / length_s;
  double ratio = self->feedback_hz / self->config.feedback_target_hz;
  double factor = ratio > 1.0 ? fmin (ratio, 1.0 + FEEDBACK_STEP) : 1.0 - FEEDBACK_STEP;
  if (all_members (self) > 0) /* nobody: nothing to hear sooner */
    self->interval
        = mcc_time_clamp (mcc_time_from_seconds (factor * mcc_time_to_seconds (self->interval)),
            MCC_ELM_FEEDBACK_MIN, MCC_ELM_FEEDBACK_MAX);
  self->period_start = self->now;
  self->period_reports = 0;
}

/* A layer that sends nothing now keeps what it added. */
static uint64_t
measured_bps (const MccElmSender *self, unsigned layer)
{
  MccTime last = self->last_sent[layer];
  bool silent = self->now - last > SILENT;
  return mcc_meter_rate_bps (&self->meter[layer], MCC_ELM_RATE_WINDOW, silent ? last : self->now);
}

static void
measure (MccElmSender *self)
{
  uint64_t bps[MCC_ELM_LAYERS_MAX], sum = 0;
  bool moved = false;
  if (self->begun[0] == MCC_TIME_NONE || self->now - self->begun[0] < MCC_ELM_RATE_WINDOW
      || measured_bps (self, 0) == 0)
    return;
  for (unsigned k = 0; k < mcc_elm_sender_count (self); k++) {
    uint64_t announced = self->layers.layer[k].cumulative_bps;
    uint64_t own = mcc_elm_sender_is_new (self, k, self->now) ? 0 : measured_bps (self, k);
    if (own == 0)
      own = mcc_elm_layers_added_bps (&self->layers, k);
    sum += own;
    bps[k] = sum < MCC_APP_RATE_MAX ? sum : MCC_APP_RATE_MAX - MCC_ELM_LAYERS_MAX + k;
    moved = moved
            || fabs ((double)bps[k] - (double)announced) > MCC_ELM_RATE_MOVE * (double)announced;
  }
  if (!moved)
    return;
  for (unsigned k = 0; k < mcc_elm_sender_count (self); k++)
    self->layers.layer[k].cumulative_bps = bps[k];
  mcc_elm_sender_share_rtcp (self);
  mcc_elm_sender_apply_interval (self);
}

static void
count_members (MccElmSender *self)
{
  uint32_t members[MCC_ELM_LAYERS_MAX] = { 0 };
  for (uint32_t i = mcc_asmp_sender_members (self->asmp); i-- > 0;) {
    MccReceiverInfo info;
    mcc_asmp_sender_get_receiver (self->asmp, i, self->now, &info);
    bool member = info.state == MCC_RECEIVER_ACTIVE || info.state == MCC_RECEIVER_QUARANTINED;
    if (member && info.level < MCC_ELM_LAYERS_MAX)
      members[info.level]++;
  }
  self->tell_members
      = self->tell_members || memcmp (members, self->told_members, sizeof members) != 0;
  memcpy (self->members, members, sizeof members);
}

static void
move_whole (MccElmSender *self)
{
  if (self->begun[0] == MCC_TIME_NONE || self->now - self->begun[0] < MCC_ELM_RATE_WINDOW)
    return; /* rates are not measured yet */
  for (uint32_t i = mcc_asmp_sender_members (self->asmp); i-- > 0;) {
    MccReceiverInfo info;
    mcc_asmp_sender_get_receiver (self->asmp, i, self->now, &info);
    if (info.state == MCC_RECEIVER_ACTIVE)
      mcc_elm_whole_add (&self->whole, &self->layers,
          &(MccElmWholeReceiver){ .level = info.level,
              .plain = info.plain,
              .limited = !info.no_limit,
              .rate_bps = info.rate_bps });
  }
  if (mcc_elm_whole_decide (&self->whole, &self->layers, self->now))
    self->tell_whole = true;
}

void
mcc_elm_sender_look (MccElmSender *self)
{
  measure (self);
  count_members (self);
  if (self->now - self->period_start >= MCC_ELM_FEEDBACK_PERIOD)
    control_feedback (self);
  mcc_elm_sender_apply_interval (self);
  if (self->moves_whole)
    move_whole (self);
}

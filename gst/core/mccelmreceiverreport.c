/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmreceiverprivate.h"

#include <math.h>

#include "mccrtcp.h"

#define ECHO_MAX (20 * MCC_SECOND) /* older: the 64 s of abs-send-time are near */
#define SHORT_FEEDBACK (2 * MCC_SECOND)
#define EARLY_DITHER (50 * MCC_MSECOND)
#define CROWD 16      /* reports heard before ours: more are as many as they seem */
#define CROWD_WAITS 3 /* for the crowd, before one report */

static MccTime
feedback_interval (const MccElmReceiver *self)
{
  return mcc_time_clamp (
      self->layers.feedback_interval, MCC_ELM_FEEDBACK_MIN, MCC_ELM_FEEDBACK_MAX);
}

static MccTime
within (MccElmReceiver *self, MccTime low, MccTime high)
{
  return low
         + mcc_time_from_seconds (mcc_rng_uniform (&self->rng) * mcc_time_to_seconds (high - low));
}

static void
plan (MccElmReceiver *self)
{
  MccTime interval = feedback_interval (self);
  if (self->reports < 2)
    interval = mcc_time_min (interval, MCC_ELM_SECOND_REPORT);
  self->report_next = self->now + within (self, interval - interval / 4, interval + interval / 4)
                      + self->report_owed;
  self->report_owed = 0;
}

void
mcc_elm_receiver_plan_first (MccElmReceiver *self)
{
  if (self->reporting && !self->report_waits)
    return;
  self->reporting = true;
  self->report_waits = false;
  self->heard_reports = 0;
  self->report_next = self->now + within (self, 0, feedback_interval (self) / 4);
}

void
mcc_elm_receiver_plan_without_media (MccElmReceiver *self)
{
  self->reporting = self->report_waits = true;
  self->report_next = self->now + MCC_ELM_SECOND_REPORT;
}

void
mcc_elm_receiver_replan (MccElmReceiver *self)
{
  if (!self->reporting || self->reports < 2 || self->report_last == MCC_TIME_NONE)
    return;
  MccTime interval = feedback_interval (self);
  MccTime next = self->report_last + within (self, interval - interval / 4, interval + interval / 4)
                 + self->report_owed;
  self->report_next = mcc_time_max (next, self->now);
}

void
mcc_elm_receiver_note (MccElmReceiver *self, unsigned layer, uint32_t flags)
{
  if (!mcc_elm_receiver_is_enhanced (self) || !self->reporting || self->report_waits
      || self->crowded)
    return;
  MccTime interval = feedback_interval (self);
  self->note_layer = layer;
  self->note_flags = flags;
  MccTime most = interval <= SHORT_FEEDBACK ? EARLY_DITHER : interval / 8;
  self->report_early = self->now + within (self, 0, most);
}

void
mcc_elm_receiver_take_back (MccElmReceiver *self)
{
  self->report_early = MCC_TIME_NONE;
  self->note_flags = 0;
}

static bool
is_limited (const MccElmReceiver *self)
{
  return isfinite (mcc_elm_receiver_x_bps (self));
}

static void
fill_asmp (MccElmReceiver *self, MccAppReport *out)
{
  MccAsmpPath *path = &self->path;
  uint64_t lost = mcc_loss_packets_lost (path->loss);
  double x_bps = mcc_elm_receiver_x_bps (self);
  out->number = ++self->number;
  out->received_bps = mcc_asmp_path_received_bps (path, self->now);
  out->rate_bps = 0;
  if (is_limited (self))
    out->rate_bps = x_bps < 1.0                               ? 1
                    : x_bps < (double)MCC_APP_REPORT_RATE_MAX ? (uint64_t)x_bps
                                                              : MCC_APP_REPORT_RATE_MAX;
  else
    out->flags |= MCC_REPORT_NO_LIMIT;
  out->loss_ratio = mcc_loss_ratio (path->loss);
  out->rtt = mcc_elm_receiver_rtt (self);
  out->jitter = mcc_time_from_seconds (path->jitter.jitter_s);
  out->queue_delay = path->queue_newest;
  out->packets_lost = (uint32_t)lost;
  if (self->base_seq.started)
    out->highest_seq = mcc_seq_highest32 (&self->base_seq);
  if (path->rtt.measured || self->rate.measured)
    out->flags |= MCC_REPORT_RTT_MEASURED;
  if (lost > self->lost_reported)
    out->flags |= MCC_REPORT_LOSS;
  if (self->reports == 0 && !self->picture)
    out->flags |= MCC_REPORT_KEY_UNIT;
  if (!self->has_session || self->session.payload_type == MCC_APP_NO_PAYLOAD_TYPE)
    out->flags |= MCC_REPORT_NO_CAPS;
  if (path->has_echo && self->now - path->echo_time <= ECHO_MAX) {
    out->flags |= MCC_REPORT_ECHO;
    out->echo = path->echo;
    out->hold = self->now - path->echo_time;
    mcc_asmp_path_handle_report (path, out->number);
  }
  self->lost_reported = lost;
}

static void
fill (MccElmReceiver *self, MccElmApp *out)
{
  memset (out, 0, sizeof *out);
  out->ssrc = out->asmp.ssrc = self->config.ssrc;
  out->subtype = out->asmp.subtype = MCC_APP_REPORT;
  out->level = out->wanted = self->level > 0 ? (unsigned)self->level : 0;
  if (self->note_flags != 0) {
    out->wanted = self->note_layer;
    out->flags = self->note_flags;
    self->note_flags = 0;
  }
  fill_asmp (self, &out->asmp.report);
  out->asmp.report.level = (uint8_t)out->level;
}

static void
send (MccElmReceiver *self)
{
  MccElmReceiverAction action = { .type = MCC_ELM_RECEIVER_REPORT, .ssrc = self->config.ssrc };
  fill (self, &action.app);
  mcc_elm_receiver_push (self, &action);
  self->report_last = self->now;
  self->crowded = self->report_waits = false;
  self->crowd_waits = 0;
  self->heard_reports = 0;
  if (self->reports < 2)
    self->reports++;
  self->stats.reports_sent++;
  const MccAppReport *report = &action.app.asmp.report;
  mcc_trace_add (&self->trace, &(MccTraceEvent){ .type = MCC_TRACE_REPORT,
                                   .time = self->now,
                                   .ssrc = self->config.ssrc,
                                   .i = report->number,
                                   .a = report->rate_bps,
                                   .x = report->loss_ratio,
                                   .y = mcc_time_to_seconds (report->rtt) });
}

/* As timer reconsideration (RFC 3550 6.3.3): so many have reported before us that the announced
 * interval cannot be right yet. */
static bool
waits_for_crowd (MccElmReceiver *self)
{
  uint64_t base_bps = self->layers.layer[0].cumulative_bps;
  uint64_t session_bps = self->has_session && self->session.session_bandwidth_bps > 0
                             ? self->session.session_bandwidth_bps
                             : mcc_elm_layers_session_bps (&self->layers);
  unsigned members = self->heard_reports + 1;
  if (!mcc_elm_receiver_is_enhanced (self) || self->heard_reports < CROWD
      || self->crowd_waits >= CROWD_WAITS)
    return false;
  /* Others' reports, which anybody can send, must not silence us for good. */
  MccTime interval
      = mcc_time_min (mcc_rtcp_interval (base_bps, session_bps, MCC_RTCP_RECEIVER_SHARE, members,
                          MCC_ELM_REPORT_BYTES + self->config.srtcp_bytes),
          MCC_ELM_FEEDBACK_MAX);
  self->crowd_waits++;
  self->heard_reports = 0;
  self->crowded = true;
  self->report_early = MCC_TIME_NONE;
  if (self->report_last != MCC_TIME_NONE && self->now - self->report_last >= interval)
    return false;
  mcc_elm_receiver_take_back (self);
  self->report_next = self->now + within (self, interval / 2, interval + interval / 2);
  return true;
}

void
mcc_elm_receiver_report_timeout (MccElmReceiver *self)
{
  if (!self->reporting || self->lost)
    return;
  MccTime least
      = self->report_last == MCC_TIME_NONE ? 0 : self->report_last + MCC_RTCP_MIN_INTERVAL;
  if (self->now >= self->report_early && self->now >= least) {
    self->report_early = MCC_TIME_NONE;
    send (self);
    /* Paid for by the next one. */
    self->report_owed = mcc_time_min (feedback_interval (self), MCC_ELM_FEEDBACK_MAX) / 2;
    plan (self);
    return;
  }
  if (self->now < self->report_next || self->now < least || waits_for_crowd (self))
    return;
  send (self);
  plan (self);
}

MccTime
mcc_elm_receiver_report_next (const MccElmReceiver *self)
{
  if (!self->reporting || self->lost)
    return MCC_TIME_NONE;
  MccTime next = mcc_time_min (self->report_early, self->report_next);
  if (self->report_last != MCC_TIME_NONE && next != MCC_TIME_NONE)
    next = mcc_time_max (next, self->report_last + MCC_RTCP_MIN_INTERVAL);
  return next;
}

void
mcc_elm_receiver_leave (MccElmReceiver *self, MccElmApp *out, MccTime now)
{
  mcc_elm_receiver_advance (self, now);
  fill (self, out);
  out->asmp.report.flags |= MCC_REPORT_LEAVING;
  self->reporting = false;
}

void
mcc_elm_receiver_get_stats (const MccElmReceiver *self, MccTime now, MccElmReceiverStats *out)
{
  const MccAsmpPath *path = &self->path;
  *out = self->stats;
  out->source_ssrc = self->has_layers ? self->layers.layer[0].ssrc : 0;
  out->level = self->level;
  out->wanted = self->wanted;
  out->slow_start = self->slow_start.active;
  out->received_bps = mcc_asmp_path_received_bps (path, now);
  out->calculated_bps = self->calculated_bps;
  out->smoothed_bps = mcc_elm_receiver_x_bps (self);
  out->loss_ratio = mcc_loss_ratio (path->loss);
  out->packets_received = mcc_loss_packets_received (path->loss);
  out->packets_lost = mcc_loss_packets_lost (path->loss);
  out->duplicates = mcc_loss_duplicates (path->loss);
  out->reordered = mcc_loss_reordered (path->loss);
  out->rtt = mcc_elm_receiver_rtt (self);
  out->rtt_measured = path->rtt.measured || self->rate.measured;
  out->jitter = mcc_time_from_seconds (path->jitter.jitter_s);
  out->queue_delay = path->queue_newest;
  out->feedback_interval = self->has_layers ? self->layers.feedback_interval : 0;
  memcpy (out->retry, self->memory.retry, sizeof out->retry);
}

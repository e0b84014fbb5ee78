/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpreceiverprivate.h"

#include "mcctcp.h"

#define CONGESTED_QUEUE (15 * MCC_MSECOND)
#define FAR 1.1                    /* times the target: ours */
#define ECHO_MAX (20 * MCC_SECOND) /* older: the 64 s of abs-send-time are near */

/* Somebody else limits a large group, and not nearly we: in the minutes until our next report what
 * we would say now is no limit any more. Should the target exceed our rate we report early. */
static bool
far_from_limiting (const MccAsmpReceiver *self)
{
  const MccAppSession *session = &self->session;
  return self->has_session && session->receivers > MCC_ASMP_FEW_RECEIVERS
         && session->limiting_ssrc != 0 && session->limiting_ssrc != self->config.ssrc
         && (double)mcc_rate_get_bps (self->rate) > FAR * (double)session->target_bps
         && !(self->loss_ratio > 0.0 && !self->path.rtt.measured);
}

static bool
no_limit (const MccAsmpReceiver *self)
{
  if (mcc_asmp_receiver_claims (self))
    return false;
  if (self->now < self->hold_until)
    return true;
  return mcc_asmp_receiver_is_enhanced (self)
         && (mcc_rate_mode (self->rate) == MCC_RATE_START || far_from_limiting (self));
}

/* Without company. With losses but no RTT yet it is what the equation gives for the initial RTT,
 * which the sender corrects by the RTT that it measures (RFC 4654 3.3): who waits for its RTT
 * before it complains waits for minutes in a large group. */
static uint64_t
own_bps (const MccAsmpReceiver *self)
{
  const MccAsmpPath *path = &self->path;
  uint64_t rate_bps = mcc_rate_get_bps (self->rate);
  double packet_bytes = mcc_loss_mean_packet_bytes (path->loss);
  if (!mcc_asmp_receiver_is_enhanced (self) || path->rtt.measured || !(self->loss_ratio > 0.0)
      || !(packet_bytes > 0.0) || mcc_asmp_path_is_expecting (path))
    return rate_bps;
  double allowed = mcc_tcp_small_rate_bps (&mcc_tcp_model_default, packet_bytes,
      mcc_time_to_seconds (mcc_rtt_get (&path->rtt)), self->loss_ratio);
  return allowed < (double)rate_bps && allowed >= 1.0 ? (uint64_t)allowed : rate_bps;
}

/* The rate that we report. */
uint64_t
mcc_asmp_receiver_stated_bps (const MccAsmpReceiver *self)
{
  if (mcc_asmp_receiver_claims (self))
    return self->claim_bps;
  uint64_t own = own_bps (self);
  return self->company_bps > own ? self->company_bps : own;
}

/* Announcements get lost where a link is overloaded: what arrives is sent. */
static uint64_t
unannounced_target (const MccAsmpReceiver *self)
{
  uint64_t received = mcc_asmp_path_received_bps (&self->path, self->now);
  return received > self->config.start_bps ? received : self->config.start_bps;
}

MccAsmpScheduleInput
mcc_asmp_receiver_schedule_input (const MccAsmpReceiver *self)
{
  const MccAppSession *session = self->has_session ? &self->session : NULL;
  /* Without the queue: what we send does not pass it, and bad news of it must not wait for it. */
  MccTime rtt = mcc_asmp_path_base_rtt (&self->path);
  return (MccAsmpScheduleInput){
    .now = self->now,
    .target_bps
    = session != NULL && session->target_bps > 0 ? session->target_bps : unannounced_target (self),
    .session_bps = session != NULL && session->session_bandwidth_bps > 0
                       ? session->session_bandwidth_bps
                       : UINT64_MAX,
    .members = session != NULL ? session->receivers : 0,
    .limiting = session != NULL && session->limiting_ssrc == self->config.ssrc,
    .nobody_limits = session != NULL && session->limiting_ssrc == 0,
    .moves = self->crowd,
    .announced = session != NULL ? self->session_time : 0,
    .rtt = rtt,
    .rtt_max = mcc_time_clamp (session != NULL ? session->rtt_max : 0, rtt, MCC_RTT_MAX),
    .announce_interval = self->announce_interval,
    .rate_bps = mcc_asmp_receiver_stated_bps (self),
    .no_limit = no_limit (self),
    .round = session != NULL ? session->round : 0,
    .suppress_bps = session != NULL ? session->suppress_bps : UINT64_MAX,
  };
}

static bool
is_congested (const MccAsmpReceiver *self)
{
  return mcc_asmp_receiver_is_enhanced (self) ? self->path.standing > CONGESTED_QUEUE
                                              : self->path.congestion.congested;
}

static MccReportEcn
report_ecn (const MccAsmpReceiver *self)
{
  if (!mcc_asmp_receiver_is_enhanced (self) || !self->config.ecn)
    return MCC_REPORT_ECN_NONE;
  switch (mcc_ecn_path (&self->path.ecn)) {
    case MCC_ECN_PATH_BROKEN:
      return MCC_REPORT_ECN_BROKEN;
    case MCC_ECN_PATH_BLEACHES:
      return MCC_REPORT_ECN_BLEACHED;
    default:
      return MCC_REPORT_ECN_HEEDED;
  }
}

static void
fill_report (MccAsmpReceiver *self, MccAppReport *out)
{
  MccAsmpPath *path = &self->path;
  uint64_t lost = mcc_loss_packets_lost (path->loss);
  memset (out, 0, sizeof *out);
  out->number = ++self->number;
  out->rate_bps = mcc_asmp_receiver_stated_bps (self);
  out->received_bps = mcc_asmp_path_received_bps (path, self->now);
  out->loss_ratio = self->loss_ratio;
  out->marked_share = mcc_loss_marked_share (path->loss);
  out->ecn = report_ecn (self);
  out->rtt = mcc_rtt_get (&path->rtt);
  out->jitter = mcc_time_from_seconds (path->jitter.jitter_s);
  out->queue_delay = path->standing;
  out->packets_lost = (uint32_t)lost;
  const MccNumbering *numbering = &path->numbering;
  if (numbering->seq.started && !numbering->splice) /* of another stream it would mislead */
    out->highest_seq = mcc_seq_highest32 (&numbering->seq);
  if (path->rtt.measured)
    out->flags |= MCC_REPORT_RTT_MEASURED;
  if (no_limit (self))
    out->flags |= MCC_REPORT_NO_LIMIT;
  if (is_congested (self))
    out->flags |= MCC_REPORT_CONGESTED;
  if (mcc_rate_asks_pairs (self->rate) || mcc_asmp_receiver_doubts_queue (self))
    out->more_flags |= MCC_REPORT_PAIRS;
  if (lost > self->lost_reported)
    out->flags |= MCC_REPORT_LOSS;
  if (self->key_unit)
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
  self->key_unit = false;
  self->reported_bps = out->rate_bps;
}

void
mcc_asmp_receiver_send_report (MccAsmpReceiver *self)
{
  MccReceiverAction action = { .type = MCC_RECEIVER_SEND_REPORT, .ssrc = self->config.ssrc };
  fill_report (self, &action.report);
  mcc_asmp_receiver_push (self, &action);
  MccAsmpScheduleInput input = mcc_asmp_receiver_schedule_input (self);
  mcc_asmp_schedule_sent (&self->schedule, &input);
  self->reports_sent++;
  mcc_trace_add (&self->trace, &(MccTraceEvent){ .type = MCC_TRACE_REPORT,
                                   .time = self->now,
                                   .ssrc = self->config.ssrc,
                                   .i = action.report.number,
                                   .a = action.report.rate_bps,
                                   .x = action.report.loss_ratio,
                                   .y = mcc_time_to_seconds (action.report.rtt) });
}

void
mcc_asmp_receiver_get_stats (const MccAsmpReceiver *self, MccTime now, MccAsmpReceiverStats *out)
{
  const MccAsmpPath *path = &self->path;
  memset (out, 0, sizeof *out);
  out->source_ssrc = self->source.following ? self->source.ssrc : 0;
  out->received_bps = mcc_asmp_path_received_bps (path, now);
  uint64_t rate_bps = mcc_rate_get_bps (self->rate);
  rate_bps = self->company_bps > rate_bps ? self->company_bps : rate_bps;
  /* Until there is a new one it is the last. */
  bool pending = now < self->hold_until || mcc_rate_mode (self->rate) == MCC_RATE_START;
  out->estimated_bps
      = pending && self->spliced_once && self->told_bps > 0 ? self->told_bps : rate_bps;
  out->announced_bps = self->has_session ? self->session.target_bps : 0;
  out->receivers = self->has_session ? self->session.receivers : 0;
  out->loss_ratio = mcc_asmp_path_lost_ratio (path);
  out->packets_received = mcc_loss_packets_received (path->loss);
  out->packets_lost = mcc_loss_packets_lost (path->loss);
  out->packets_marked = path->ecn.marked;
  out->ecn = mcc_ecn_path (&path->ecn);
  out->duplicates = mcc_loss_duplicates (path->loss);
  out->reordered = mcc_loss_reordered (path->loss);
  out->rtt = mcc_rtt_get (&path->rtt);
  out->rtt_measured = path->rtt.measured;
  out->jitter = mcc_time_from_seconds (path->jitter.jitter_s);
  out->queue_delay = path->standing;
  out->congested = is_congested (self);
  out->mode = mcc_rate_mode (self->rate);
  out->reports_sent = self->reports_sent;
  out->reports_suppressed = self->reports_suppressed;
  memcpy (out->dropped, self->dropped, sizeof out->dropped);
}

void
mcc_asmp_receiver_leave (MccAsmpReceiver *self, MccAppReport *out, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  fill_report (self, out);
  out->flags |= MCC_REPORT_LEAVING;
  mcc_asmp_receiver_stop (self);
}

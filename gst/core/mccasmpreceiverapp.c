/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpreceiverprivate.h"

#include <math.h>

#define EVENT_LAG (200 * MCC_MSECOND) /* encoder and pacer, after the announced rate fell */
#define TOO_MUCH 2.0 /* times what the equation gives arrives: the sender asks for as much */
/* Reports more than ours: others who have just come know no more than we. */
#define COMPANY_OLDER 4

uint64_t
mcc_asmp_receiver_start_bps (const MccAsmpReceiver *self)
{
  return self->has_session && self->session.start_bps > 0 ? self->session.start_bps
                                                          : self->config.start_bps;
}

/* Only who joins a stream that others limit looks for some. */
static void
find_company (MccAsmpReceiver *self, const MccAppSession *session)
{
  if (self->found_company && self->company_ssrc == session->media_ssrc)
    return; /* who comes back has seen the queue before */
  self->company_bps = 0;
  self->found_company = true;
  self->company_ssrc = session->media_ssrc;
  if (mcc_asmp_receiver_is_enhanced (self) && !self->config.unbounded && session->limiting_ssrc != 0
      && session->limiting_ssrc != self->config.ssrc)
    mcc_company_join (&self->company);
  else
    mcc_company_init (&self->company);
}

void
mcc_asmp_receiver_adopt_session (MccAsmpReceiver *self, uint32_t ssrc, const MccAppSession *session)
{
  find_company (self, session);
  self->sender_ssrc = ssrc;
  self->session = *session;
  self->session_time = self->now;
  self->has_session = true;
  mcc_asmp_receiver_push (
      self, &(MccReceiverAction){
                .type = MCC_RECEIVER_SESSION, .ssrc = ssrc, .session = &self->session });
}

/* What was concluded from what the path of the old sender showed. */
static void
forget_conclusions (MccAsmpReceiver *self)
{
  mcc_rate_reset (self->rate, mcc_asmp_receiver_start_bps (self));
  mcc_elm_fair_init (&self->fair);
  mcc_swing_init (&self->swing);
  mcc_recent_loss_init (&self->recent);
  if (!self->has_session)
    mcc_company_init (&self->company);
  else if (self->company.joins) /* its counts were the old path's */
    mcc_company_join (&self->company);
  self->company_bps = 0;
  self->loss_ratio = 0.0;
  self->allowed_bps = INFINITY;
  self->lost_reported = self->ceiling_bps = self->slump_bps = 0;
  self->slumped = self->pressed = self->queued = self->press_began = self->shared_until = 0;
  self->shown_bps = 0;
  self->far_since = self->doubted = self->beyond_since = MCC_TIME_NONE;
}

void
mcc_asmp_receiver_forget (MccAsmpReceiver *self)
{
  mcc_asmp_path_reset (&self->path);
  forget_conclusions (self);
  mcc_asmp_schedule_forget (&self->schedule);
  self->claim_bps = 0;
  self->spliced_once = self->crowd = false;
}

void
mcc_asmp_receiver_follow_source (MccAsmpReceiver *self, uint32_t ssrc)
{
  bool announced = self->has_session && self->session.media_ssrc == ssrc;
  if (!announced) {
    self->has_session = false;
    if (self->has_other && self->other.media_ssrc == ssrc)
      mcc_asmp_receiver_adopt_session (self, self->other_ssrc, &self->other);
  }
  self->has_other = self->ceased = false;
  mcc_breaker_init (&self->breaker);
  if (!self->spliced) {
    /* What the announcements of this very sender measured (RTT) stays. */
    if (!announced || self->path.numbering.last != MCC_TIME_NONE)
      mcc_asmp_path_reset (&self->path);
    if (!announced)
      mcc_asmp_schedule_forget (&self->schedule);
    forget_conclusions (self);
    self->key_unit = true; /* else whoever spliced asks when it is time */
  }
  self->spliced = false;
  self->event = self->next_decision = MCC_TIME_NONE;
  mcc_asmp_schedule_stop (&self->schedule);
  mcc_asmp_receiver_resume (self);
  mcc_asmp_receiver_push_simple (self, MCC_RECEIVER_NEW_SOURCE, ssrc);
  mcc_trace_add (
      &self->trace, &(MccTraceEvent){ .type = MCC_TRACE_SOURCE, .time = self->now, .ssrc = ssrc });
}

void
mcc_asmp_receiver_handle_bye (MccAsmpReceiver *self, uint32_t ssrc, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  bool announcer = self->has_session && ssrc == self->sender_ssrc;
  uint32_t media_ssrc = announcer ? self->session.media_ssrc : ssrc;
  bool was_ours = mcc_asmp_source_handle_bye (&self->source, media_ssrc, now);
  if (!was_ours && !announcer)
    return;
  self->has_session = false;
  mcc_asmp_receiver_stop (self);
  mcc_asmp_receiver_push_simple (self, MCC_RECEIVER_SOURCE_LOST, media_ssrc);
}

/* Whether anything but the rate and what moves with it differs. */
static bool
session_differs (const MccAppSession *a, const MccAppSession *b)
{
  return a->flags != b->flags || a->min_bps != b->min_bps || a->max_bps != b->max_bps
         || a->start_bps != b->start_bps || a->session_bandwidth_bps != b->session_bandwidth_bps
         || a->media_ssrc != b->media_ssrc || !mcc_address_equal (&a->feedback, &b->feedback)
         || a->ttl != b->ttl || a->payload_type != b->payload_type
         || a->send_time_id != b->send_time_id || a->clock_rate != b->clock_rate
         || strncmp (a->media, b->media, sizeof a->media) != 0
         || strncmp (a->encoding_name, b->encoding_name, sizeof a->encoding_name) != 0
         || strncmp (a->parameters, b->parameters, sizeof a->parameters) != 0;
}

/* Whether an announcement is of the sender that we follow, or may follow. Its name is the stream's,
 * which the host binds to the stream's address, or the one it had before two names met. */
static bool
session_is_ours (const MccAsmpReceiver *self, uint32_t ssrc, const MccAppSession *session)
{
  if (mcc_asmp_receiver_has_stream (self))
    return session->media_ssrc == self->source.ssrc
           && (ssrc == self->source.ssrc || (self->has_session && ssrc == self->sender_ssrc));
  if (self->source.wanted != 0 && session->media_ssrc != self->source.wanted)
    return false;
  return !self->has_session || ssrc == self->sender_ssrc
         || self->now - self->session_time >= MCC_ASMP_SOURCE_TIMEOUT;
}

/* The sender asks whose path does not bear the least to leave. Only who finds so itself obeys, and
 * gets far more than it would ask for (a little more gets whoever its losses limit): a forger, who
 * may name any least, shall not send anybody away. */
static bool
asked_to_leave (const MccAsmpReceiver *self, const MccAppSession *session)
{
  return (session->flags & MCC_SESSION_LEAVE) && session->limiting_ssrc == self->config.ssrc
         && mcc_asmp_receiver_is_enhanced (self) && !self->ceased && !self->not_lowest
         && self->allowed_bps < (double)session->min_bps
         && TOO_MUCH * self->allowed_bps
                < (double)mcc_asmp_path_received_bps (&self->path, self->now);
}

/* Announced before its RTP came, after another one: what was measured is the other one's. */
static void
begin_another (MccAsmpReceiver *self)
{
  bool measured = self->path.numbering.last != MCC_TIME_NONE && !self->spliced;
  if (!measured || mcc_asmp_receiver_has_stream (self)
      || self->session.media_ssrc == self->source.ssrc)
    return;
  mcc_asmp_path_reset (&self->path);
  forget_conclusions (self);
  self->event = MCC_TIME_NONE;
  mcc_asmp_schedule_stop (&self->schedule);
  mcc_asmp_schedule_forget (&self->schedule);
}

static MccDrop
handle_session (MccAsmpReceiver *self, uint32_t ssrc, const MccAppSession *announced)
{
  bool known = self->has_session && ssrc == self->sender_ssrc;
  bool known_other = self->has_other && ssrc == self->other_ssrc;
  MccAppSession complete = *announced, *session = &complete;
  mcc_app_session_complete (session, known ? &self->session : known_other ? &self->other : NULL);
  mcc_asmp_source_handle_announced (&self->source, session->media_ssrc, self->now);
  if (!session_is_ours (self, ssrc, session)) {
    if (mcc_asmp_receiver_has_stream (self) && session->media_ssrc == self->source.ssrc)
      return mcc_asmp_receiver_drop (self, MCC_DROP_OTHER_SENDER, ssrc);
    self->other = *session;
    self->other_ssrc = ssrc;
    self->has_other = true;
    /* Its RTP will tell: an announcement alone may be of ours after a restart. */
    return mcc_asmp_receiver_drop (self, MCC_DROP_OTHER_SENDER, ssrc);
  }
  /* Numbers that go back after a silence are of a sender that has restarted with its SSRC. */
  MccTime silence = mcc_time_max (MCC_ASMP_SOURCE_TIMEOUT, 2 * self->announce_interval);
  if (known && !mcc_seq_newer32 (session->number, self->session.number)
      && self->now - self->session_time < silence)
    return mcc_asmp_receiver_drop (self, MCC_DROP_STALE, ssrc);
  if (known) {
    MccTime since = mcc_time_min (self->now - self->session_time, MCC_ASMP_SESSION_TIMEOUT);
    self->announce_interval = (3 * self->announce_interval + since) / 4;
  }
  if (known && !session_differs (session, &self->session)) {
    self->session = *session;
    self->session_time = self->now;
  } else {
    mcc_asmp_receiver_adopt_session (self, ssrc, session);
    begin_another (self);
  }
  mcc_asmp_path_handle_ect (&self->path, (session->flags & MCC_SESSION_ECT) != 0);
  mcc_asmp_path_handle_announcement (
      &self->path, session->send_time & MCC_ABS_SEND_TIME_MASK, self->now);
  if (self->event != MCC_TIME_NONE && session->target_bps <= self->reported_bps
      && self->schedule.last != MCC_TIME_NONE && self->schedule.last >= self->event) {
    MccTime until = self->now + mcc_rtt_get (&self->path.rtt) + EVENT_LAG;
    mcc_loss_extend_event (self->path.loss, mcc_time_min (until, self->event + MCC_ASMP_EVENT_MAX));
    self->event = MCC_TIME_NONE;
  }
  mcc_asmp_receiver_activate (self);
  mcc_asmp_receiver_update_schedule (self);
  if (asked_to_leave (self, session))
    mcc_asmp_receiver_cease (self, MCC_BREAKER_ASKED);
  return MCC_DROP_NONE;
}

static MccDrop
handle_rtt_list (MccAsmpReceiver *self, uint32_t ssrc, const MccAppRttList *list)
{
  bool ours = (self->source.following && ssrc == self->source.ssrc)
              || (self->has_session && ssrc == self->sender_ssrc);
  if (!ours)
    return mcc_asmp_receiver_drop (self, MCC_DROP_OTHER_SENDER, ssrc);
  for (unsigned i = 0; i < list->count && i < MCC_APP_RTT_MAX; i++) {
    const MccAppRtt *entry = &list->entry[i];
    if (entry->ssrc != self->config.ssrc)
      continue;
    if (!mcc_rtt_handle_effective (&self->path.rtt, entry->rtt, entry->number, self->now)) {
      self->dropped[MCC_DROP_STALE]++; /* lists repeat what they said */
      continue;
    }
    mcc_trace_add (&self->trace, &(MccTraceEvent){ .type = MCC_TRACE_RTT,
                                     .time = self->now,
                                     .ssrc = ssrc,
                                     .i = entry->number,
                                     .x = mcc_time_to_seconds (entry->rtt),
                                     .y = self->path.rtt.rtt_s });
  }
  return MCC_DROP_NONE;
}

void
mcc_asmp_receiver_hear_report (
    MccAsmpReceiver *self, uint32_t ssrc, const MccAppReport *report, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  if (mcc_asmp_receiver_is_enhanced (self) && ssrc != self->config.ssrc)
    mcc_asmp_path_hear_report (&self->path, ssrc, report, now);
}

void
mcc_asmp_receiver_hear_rtts (MccAsmpReceiver *self, const MccAppRttList *list, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  /* In a small group all have their own within seconds. */
  if (!mcc_asmp_receiver_is_enhanced (self) || !self->has_session
      || self->session.receivers <= MCC_ASMP_FEW_RECEIVERS)
    return;
  for (unsigned i = 0; i < list->count && i < MCC_APP_RTT_MAX; i++)
    if (list->entry[i].ssrc != self->config.ssrc)
      mcc_asmp_path_hear_rtt (&self->path, &list->entry[i], now);
}

static void
hear_company (MccAsmpReceiver *self, uint32_t ssrc, const MccAppReport *report)
{
  if (!self->company.joins)
    return;
  mcc_asmp_path_hear_report (&self->path, ssrc, report, self->now);
  if (mcc_seq_newer32 (report->number, self->number + COMPANY_OLDER)
      && (report->flags & MCC_REPORT_RTT_MEASURED)
      && !(report->flags & (MCC_REPORT_NO_LIMIT | MCC_REPORT_LEAVING))
      && mcc_neighbours_is_behind (&self->path.neighbours, ssrc, report->number, report->rtt))
    mcc_company_hear (&self->company, ssrc, report, self->now);
}

MccDrop
mcc_asmp_receiver_handle_app (MccAsmpReceiver *self, const MccApp *app, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  if (app->ssrc == self->config.ssrc)
    return mcc_asmp_receiver_drop (self, MCC_DROP_OWN, app->ssrc);
  switch (app->subtype) {
    case MCC_APP_SESSION:
      return handle_session (self, app->ssrc, &app->session);
    case MCC_APP_RTT:
      return handle_rtt_list (self, app->ssrc, &app->rtt);
    case MCC_APP_REPORT:
      /* What the sender will refuse must not silence those that it would take. */
      if (!mcc_app_report_plausible (&app->report))
        return mcc_asmp_receiver_drop (self, MCC_DROP_BAD_VALUE, app->ssrc);
      if (self->config.hears_group) {
        hear_company (self, app->ssrc, &app->report);
        MccAsmpScheduleInput input = mcc_asmp_receiver_schedule_input (self);
        mcc_asmp_receiver_note_verdict (self,
            mcc_asmp_schedule_handle_heard (&self->schedule, app->ssrc, app->report.rate_bps,
                (app->report.flags & (MCC_REPORT_NO_LIMIT | MCC_REPORT_LEAVING)) != 0, &input));
      }
      return MCC_DROP_NONE;
    default:
      return mcc_asmp_receiver_drop (self, MCC_DROP_UNKNOWN_SUBTYPE, app->ssrc);
  }
}

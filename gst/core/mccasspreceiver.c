/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasspreceiver.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "mccasspreceiverprivate.h"
#include "mccseq.h"

#define KEY_UNIT_INTERVAL MCC_SECOND /* RFC 5104 3.5.1 leaves it open: while no picture comes */
#define SILENCE (300 * MCC_MSECOND)
#define COMPOUND_BYTES 160 /* ASMP's 152, and the potential */
#define SENDER_SILENCE (15 * MCC_SECOND)

const char *
mcc_assp_reason_name (MccAsspReason reason)
{
  static const char *const names[] = { "start", "up", "down", "trouble", "back", "lock", "ladder" };
  return (unsigned)reason < sizeof names / sizeof names[0] ? names[reason] : "unknown";
}

void
mcc_assp_receiver_push (MccAsspReceiver *self, const MccAsspReceiverAction *action)
{
  unsigned room = MCC_ASSP_ACTIONS - self->action_count;
  if (action->type == MCC_ASSP_RECEIVER_ASMP && room <= MCC_ASSP_ACTIONS_OWN)
    return; /* a host that does not poll */
  if (room == 0) {
    self->action_head = (self->action_head + 1) % MCC_ASSP_ACTIONS;
    self->action_count--;
  }
  self->action[(self->action_head + self->action_count++) % MCC_ASSP_ACTIONS] = *action;
}

void
mcc_assp_receiver_drain (MccAsspReceiver *self)
{
  MccAsspReceiverAction action = { .type = MCC_ASSP_RECEIVER_ASMP,
    .stream = mcc_assp_receiver_current (self),
    .from = MCC_ASSP_NO_STREAM };
  while (mcc_asmp_receiver_poll (self->asmp, &action.asmp)) {
    if (action.asmp.type == MCC_RECEIVER_SOURCE_LOST)
      self->lost = true;
    else if (action.asmp.type == MCC_RECEIVER_NEW_SOURCE)
      self->lost = false;
    else if (action.asmp.type == MCC_RECEIVER_SEND_REPORT)
      action.asmp.report.potential_bps = mcc_assp_receiver_told_bps (self);
    mcc_assp_receiver_push (self, &action);
  }
}

static MccDrop
drop (MccAsspReceiver *self, MccDrop reason)
{
  self->stats.dropped[reason]++;
  return reason;
}

static void
advance (MccAsspReceiver *self, MccTime now)
{
  assert (now >= self->now && now != MCC_TIME_NONE);
  MccTime away = now - self->now;
  if (away >= MCC_TIME_ABSENCE
      && mcc_time_absent (self->now, mcc_assp_receiver_next_timeout (self), now)) {
    self->streams_time += away; /* what did not come could not come */
    self->heard += away;
    if (self->deadline != MCC_TIME_NONE)
      self->deadline += away;
    mcc_assp_receiver_restart_probe (self);
  }
  self->now = now;
  if (self->has_streams) /* else it would be asked for a lower stream first */
    mcc_asmp_receiver_set_lowest (
        self->asmp, mcc_assp_receiver_current (self) == mcc_assp_streams_lowest (&self->streams));
}

MccAsspReceiver *
mcc_assp_receiver_new (const MccAsspReceiverConfig *config, MccTime now)
{
  MccAsspReceiver *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  self->config = *config;
  if (!(config->factors.alpha > 0.0))
    self->config.factors = mcc_assp_factors_default;
  if (config->leave_latency == 0)
    self->config.leave_latency = MCC_ASSP_LEAVE_LATENCY;
  self->config.asmp.unbounded = true;
  if (config->asmp.compound_bytes == 0)
    self->config.asmp.compound_bytes = COMPOUND_BYTES;
  self->now = now;
  self->stream = self->to = self->home = self->led_to = self->company = self->drawn_to
      = self->looked = MCC_ASSP_NO_STREAM;
  self->deadline = self->key_next = self->left = MCC_TIME_NONE;
  self->trial_credit = MCC_ASSP_TRIAL_CREDIT;
  self->trial_credited = now;
  mcc_assp_level_init (&self->level, config->asmp.variant, &self->config.factors);
  if (mcc_assp_factors_valid (&self->config.factors))
    self->asmp = mcc_asmp_receiver_new (&self->config.asmp, now);
  if (self->asmp == NULL) {
    free (self);
    return NULL;
  }
  return self;
}

void
mcc_assp_receiver_free (MccAsspReceiver *self)
{
  if (self == NULL)
    return;
  mcc_asmp_receiver_free (self->asmp);
  free (self);
}

static bool
may_decide (const MccAsspReceiver *self)
{
  return mcc_assp_receiver_steady (self) && !mcc_assp_receiver_locked (self) && !self->lost
         && mcc_assp_streams_open (&self->streams, self->stream);
}

static void
handle_round (MccAsspReceiver *self)
{
  if (!mcc_assp_level_new_round (&self->level, self->streams.round) || !may_decide (self))
    return;
  mcc_assp_receiver_sample (self);
  unsigned to = mcc_assp_level_decide (&self->level, &self->streams, self->stream, self->now);
  if (to == self->stream)
    return;
  bool up = mcc_assp_streams_lower (&self->streams, self->stream, to);
  /* Some of many may have tried it, and few have heard of them. */
  if (!up || !mcc_asmp_receiver_is_relieved (self->asmp))
    mcc_assp_receiver_begin (self, to, up ? MCC_ASSP_REASON_UP : MCC_ASSP_REASON_DOWN);
}

/* Nearly all of what the stream is to be. Of a large group those who wait drag many. */
static bool
arrives (const MccAsspReceiver *self)
{
  return mcc_asmp_receiver_arrives (self->asmp) && self->has_session[self->stream]
         && mcc_assp_receiver_is_among_few (self)
         && self->session[self->stream].target_bps >= self->streams.stream[self->stream].low_bps;
}

/* enhanced: no round is waited for where the stream is too much. */
static void
watch (MccAsspReceiver *self)
{
  if (!may_decide (self))
    return;
  if (mcc_assp_receiver_is_too_much (self)) { /* seen while nothing else could be measured */
    unsigned below = mcc_assp_streams_below (&self->streams, self->stream);
    mcc_asmp_receiver_note_carried (self->asmp, (uint64_t)self->probe.carried_bps, self->now);
    if (below != MCC_ASSP_NO_STREAM) {
      mcc_assp_receiver_begin (self, below, MCC_ASSP_REASON_TROUBLE);
      return;
    }
  }
  if (self->probe.alone)
    self->probe.needed_bps = 0.0;
  if (mcc_assp_receiver_is_led (self)) {
    mcc_assp_receiver_begin (self, self->led_to, MCC_ASSP_REASON_TROUBLE);
    self->led_to = MCC_ASSP_NO_STREAM;
    return;
  }
  if (mcc_assp_receiver_has_company (self)) {
    mcc_assp_receiver_join_company (self);
    return;
  }
  if (self->now - self->heard >= SILENCE) { /* is no rate */
    mcc_assp_level_pause (&self->level);
    return;
  }
  mcc_assp_receiver_sample (self);
  if (mcc_assp_receiver_is_patient (self)) {
    mcc_assp_level_excuse (&self->level);
    return;
  }
  MccAsspPath path = { .rate_bps = mcc_asmp_receiver_stated_bps (self->asmp),
    .arrives = arrives (self),
    .slumped = mcc_asmp_receiver_slump_bps (self->asmp) > 0 };
  unsigned to = mcc_assp_level_watch (&self->level, &self->streams, self->stream, &path, self->now);
  if (to != self->stream)
    mcc_assp_receiver_begin (self, to, MCC_ASSP_REASON_TROUBLE);
}

/* Of a stream that is followed anew no loss is told before its first packet. */
static bool
sender_gone (const MccAsspReceiver *self)
{
  MccTime silence = self->now - self->streams_time;
  return self->bye || (self->lost && silence >= MCC_ASMP_SOURCE_TIMEOUT)
         || mcc_time_min (silence, self->now - self->heard) >= SENDER_SILENCE;
}

static bool
ladder_differs (const MccAsspStreams *a, const MccAsspStreams *b)
{
  if (a->count != b->count || a->ladder != b->ladder)
    return true;
  for (unsigned j = 0; j < a->count; j++)
    if (a->stream[j].low_bps != b->stream[j].low_bps
        || a->stream[j].high_bps != b->stream[j].high_bps
        || mcc_assp_streams_open (a, j) != mcc_assp_streams_open (b, j)
        || !mcc_assp_same_group (&a->stream[j], &b->stream[j]))
      return true;
  return false;
}

/* A stream that has another SSRC by now, in its place. */
static void
rename_group (const MccAsspReceiver *self, unsigned stream, MccAsspStream *group)
{
  if (stream < self->streams.count && mcc_assp_same_group (&self->streams.stream[stream], group))
    group->ssrc = self->streams.stream[stream].ssrc;
}

/* Whether anything is different. */
static bool
adopt (MccAsspReceiver *self, const MccAsspStreams *streams)
{
  bool changed = !self->has_streams || ladder_differs (&self->streams, streams);
  if (changed && self->has_streams) {
    mcc_assp_level_ladder (&self->level, &self->streams, streams);
    self->ladder_moved = self->config.asmp.variant == MCC_VARIANT_ENHANCED;
    self->ladder_time = self->now;
    self->lock_again = 0;
    mcc_assp_receiver_end_search (self);
  }
  unsigned current = mcc_assp_receiver_current (self);
  bool renamed = self->has_streams && current < self->streams.count && current < streams->count
                 && self->streams.stream[current].ssrc != streams->stream[current].ssrc;
  self->streams = *streams;
  self->streams_time = self->now;
  self->has_streams = true;
  self->bye = false;
  rename_group (self, self->stream, &self->group);
  rename_group (self, self->to, &self->to_group);
  if (renamed) { /* the sender's SSRC met another one's (RFC 3550 8.2) */
    self->has_session[current] = false;
    mcc_asmp_receiver_follow (self->asmp, streams->stream[current].ssrc, NULL, false, self->now);
    mcc_assp_receiver_drain (self);
  }
  if (changed)
    mcc_assp_receiver_push (self,
        &(MccAsspReceiverAction){
            .type = MCC_ASSP_RECEIVER_STREAMS, .stream = self->stream, .from = self->stream });
  return changed;
}

static MccDrop
handle_streams (MccAsspReceiver *self, uint32_t ssrc, const MccAsspStreams *streams)
{
  bool ours = self->has_streams && mcc_assp_streams_list (&self->streams, ssrc);
  if (!mcc_assp_streams_valid (streams) || !mcc_assp_streams_list (streams, ssrc))
    return drop (self, MCC_DROP_BAD_VALUE);
  if (self->has_streams && !ours) {
    if (!sender_gone (self))
      return drop (self, MCC_DROP_OTHER_SENDER);
    mcc_assp_receiver_abandon (self);
    mcc_asmp_receiver_forget (self->asmp);
    self->has_streams = self->lost = false;
  } else if (ours && !self->bye && !mcc_seq_newer32 (streams->number, self->streams.number)
             && self->now - self->streams_time < MCC_ASMP_SOURCE_TIMEOUT) {
    return drop (self, MCC_DROP_STALE);
  }
  bool first = !self->has_streams;
  if (adopt (self, streams) && !first)
    mcc_assp_receiver_wait_anew (self);
  if (first)
    mcc_assp_receiver_begin (self,
        mcc_assp_receiver_locked (self) ? mcc_assp_receiver_locked_stream (self)
                                        : mcc_assp_streams_lowest (&self->streams),
        MCC_ASSP_REASON_START);
  mcc_assp_receiver_reconcile (self);
  mcc_assp_receiver_search (self);
  if (streams->flags & MCC_ASSP_DECIDE)
    handle_round (self);
  return MCC_DROP_NONE;
}

static MccDrop
handle_session (MccAsspReceiver *self, unsigned j, const MccApp *app)
{
  if (app->ssrc == 0 || app->ssrc != self->streams.stream[j].ssrc)
    return drop (self, MCC_DROP_OTHER_SENDER);
  MccAppSession session = app->session;
  mcc_app_session_complete (&session, self->has_session[j] ? &self->session[j] : NULL);
  self->session[j] = session;
  self->has_session[j] = true;
  mcc_assp_level_members (&self->level, j, session.receivers);
  if (j != mcc_assp_receiver_current (self))
    return MCC_DROP_NONE;
  return mcc_asmp_receiver_handle_app (self->asmp, app, self->now);
}

MccDrop
mcc_assp_receiver_handle_app (MccAsspReceiver *self, const MccAsspApp *app, MccTime now)
{
  MccDrop verdict = MCC_DROP_NONE;
  advance (self, now);
  if (app->ssrc == self->config.asmp.ssrc)
    return drop (self, MCC_DROP_OWN);
  if (app->subtype == MCC_ASSP_STREAMS)
    return handle_streams (self, app->ssrc, &app->streams);
  if (!self->has_streams) /* nobody knows yet whom a report is for */
    return app->subtype == MCC_APP_REPORT ? MCC_DROP_OTHER_SENDER
                                          : drop (self, MCC_DROP_OTHER_SENDER);
  if (app->stream >= self->streams.count)
    return drop (self, MCC_DROP_BAD_VALUE);
  if (app->subtype == MCC_APP_REPORT && self->config.asmp.variant == MCC_VARIANT_ENHANCED) {
    mcc_asmp_receiver_hear_report (self->asmp, app->ssrc, &app->asmp.report, now);
    mcc_assp_receiver_note_other (self, app->stream, app->ssrc, &app->asmp.report);
  } else if (app->subtype == MCC_APP_RTT && mcc_assp_streams_list (&self->streams, app->ssrc)) {
    mcc_asmp_receiver_hear_rtts (self->asmp, &app->asmp.rtt, now);
  }
  if (app->subtype == MCC_APP_SESSION)
    verdict = handle_session (self, app->stream, &app->asmp);
  else if (app->stream == mcc_assp_receiver_current (self))
    verdict = mcc_asmp_receiver_handle_app (self->asmp, &app->asmp, now);
  mcc_assp_receiver_drain (self);
  return verdict;
}

MccDrop
mcc_assp_receiver_handle_rtp (MccAsspReceiver *self, unsigned stream, const MccRtpPacket *packet,
    const MccAddress *from, MccTime now)
{
  advance (self, now);
  bool elsewhere = mcc_asmp_receiver_is_elsewhere (self->asmp, from, now);
  if (self->searches && !elsewhere && stream == self->stream && stream < self->streams.count
      && packet->ssrc == self->streams.stream[stream].ssrc)
    mcc_assp_receiver_go_back (self); /* it lives */
  if (self->overlap && stream == self->stream) {
    if (packet->ssrc != self->group.ssrc || elsewhere)
      return drop (self, MCC_DROP_OTHER_SENDER);
    self->heard = now;
    return MCC_DROP_NONE;
  }
  if (stream == MCC_ASSP_NO_STREAM || stream != mcc_assp_receiver_current (self))
    return !elsewhere && mcc_assp_streams_list (&self->streams, packet->ssrc)
               ? MCC_DROP_OTHER_SENDER /* ours: it comes until the network has heard of a leave */
               : drop (self, MCC_DROP_OTHER_SENDER);
  MccDrop verdict = mcc_asmp_receiver_handle_rtp (self->asmp, packet, from, now);
  mcc_assp_receiver_drain (self);
  if (verdict != MCC_DROP_NONE)
    return verdict;
  self->lost = mcc_asmp_receiver_is_lost (self->asmp);
  self->heard = now;
  if (!self->searches)
    mcc_assp_receiver_end_search (self);
  if (self->to != MCC_ASSP_NO_STREAM && !self->arrived) {
    self->arrived = true;
    if (!self->asked && self->key_next == MCC_TIME_NONE) /* else the flood is not over yet */
      self->key_next = now;
    if (!self->overlap && !self->waits)
      self->deadline = mcc_time_min (self->deadline, now + MCC_ASSP_PICTURE_TIMEOUT);
  }
  mcc_assp_receiver_probe (self, packet);
  if (self->overlap && mcc_assp_receiver_is_too_much (self))
    mcc_assp_receiver_go_back (self);
  return MCC_DROP_NONE;
}

void
mcc_assp_receiver_handle_cut (MccAsspReceiver *self, unsigned stream, MccTime now)
{
  advance (self, now);
  if (self->to == MCC_ASSP_NO_STREAM && self->stream != MCC_ASSP_NO_STREAM
      && stream != self->stream)
    mcc_assp_receiver_show_again (self);
  if (self->to == MCC_ASSP_NO_STREAM || stream != self->to || !self->arrived)
    return;
  mcc_assp_receiver_complete (self);
  mcc_assp_receiver_reconcile (self);
}

void
mcc_assp_receiver_handle_host_dropped (MccAsspReceiver *self, uint64_t packets, MccTime now)
{
  advance (self, now);
  mcc_asmp_receiver_handle_host_dropped (self->asmp, packets, now);
  if (packets > 0)
    mcc_assp_receiver_restart_probe (self);
}

void
mcc_assp_receiver_handle_bye (MccAsspReceiver *self, uint32_t ssrc, MccTime now)
{
  advance (self, now);
  if (!self->has_streams || !mcc_assp_streams_list (&self->streams, ssrc))
    return;
  /* The host binds the name of the stream that comes to its address, and no other one; a sender
   * that ends says it for all. */
  unsigned current = mcc_assp_receiver_current (self);
  if (current >= self->streams.count || ssrc != self->streams.stream[current].ssrc)
    return;
  self->bye = true;
  mcc_asmp_receiver_handle_bye (self->asmp, ssrc, now);
  mcc_assp_receiver_drain (self);
}

void
mcc_assp_receiver_set_ssrc (MccAsspReceiver *self, uint32_t ssrc)
{
  self->config.asmp.ssrc = ssrc;
  mcc_asmp_receiver_set_ssrc (self->asmp, ssrc);
}

void
mcc_assp_receiver_set_lock (MccAsspReceiver *self, int stream, MccTime now)
{
  advance (self, now);
  self->config.lock_stream = stream;
  self->lock_again = 0;
  if (!self->has_streams)
    return;
  mcc_assp_receiver_wait_anew (self);
  mcc_assp_receiver_reconcile (self);
}

void
mcc_assp_receiver_handle_timeout (MccAsspReceiver *self, MccTime now)
{
  advance (self, now);
  if (mcc_asmp_receiver_next_timeout (self->asmp) <= now) {
    mcc_asmp_receiver_handle_timeout (self->asmp, now);
    mcc_assp_receiver_drain (self);
  }
  if (!self->has_streams)
    return;
  if (now >= self->deadline)
    mcc_assp_receiver_give_up (self);
  if (now >= self->key_next) {
    self->key_next = now + KEY_UNIT_INTERVAL;
    self->asked = true;
    mcc_assp_receiver_push (self, &(MccAsspReceiverAction){ .type = MCC_ASSP_RECEIVER_KEY_UNIT,
                                      .stream = self->to,
                                      .from = self->stream,
                                      .group = self->to_group });
  }
  mcc_assp_receiver_reconcile (self);
  watch (self);
}

MccTime
mcc_assp_receiver_next_timeout (const MccAsspReceiver *self)
{
  MccTime next = mcc_time_min (self->deadline, self->key_next);
  if (self->settled > self->now)
    next = mcc_time_min (next, self->settled);
  return mcc_time_min (next, mcc_asmp_receiver_next_timeout (self->asmp));
}

bool
mcc_assp_receiver_poll (MccAsspReceiver *self, MccAsspReceiverAction *out)
{
  if (self->action_count == 0)
    return false;
  *out = self->action[self->action_head];
  self->action_head = (self->action_head + 1) % MCC_ASSP_ACTIONS;
  self->action_count--;
  return true;
}

void
mcc_assp_receiver_get_stats (const MccAsspReceiver *self, MccAsspReceiverStats *out)
{
  *out = self->stats;
  out->stream = self->stream;
  out->switching = self->to != MCC_ASSP_NO_STREAM;
  out->average_bps = self->level.has_average ? self->level.average_bps : 0.0;
}

const MccAsspStreams *
mcc_assp_receiver_streams (const MccAsspReceiver *self)
{
  return self->has_streams ? &self->streams : NULL;
}

MccAsmpReceiver *
mcc_assp_receiver_asmp (MccAsspReceiver *self)
{
  return self->asmp;
}

void
mcc_assp_receiver_leave (MccAsspReceiver *self, unsigned *stream, MccAppReport *out, MccTime now)
{
  advance (self, now);
  *stream = mcc_assp_receiver_current (self);
  mcc_asmp_receiver_leave (self->asmp, out, now);
}

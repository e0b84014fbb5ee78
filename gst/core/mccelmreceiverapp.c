/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmreceiverprivate.h"

/* Enhanced; ours. */
#define PATIENCE (2 * MCC_SECOND) /* of another one's trial, and the leave latency */

/* The layers above are nothing without the base: where its name is another one now, it is gone. */
bool
mcc_elm_receiver_sender_gone (const MccElmReceiver *self)
{
  MccTime newest = mcc_time_max (self->base_heard, self->layers_time);
  return self->bye || self->now - newest >= MCC_ELM_SENDER_TIMEOUT;
}

bool
mcc_elm_receiver_is_elsewhere (const MccElmReceiver *self, const MccAddress *from)
{
  return self->has_host && from != NULL && !mcc_address_same_host (from, &self->host);
}

static void
tell_other (MccElmReceiver *self, uint32_t ssrc)
{
  for (unsigned i = 0; i < self->told_count; i++)
    if (self->told[i] == ssrc)
      return;
  if (self->told_count == MCC_ELM_OTHERS_TOLD)
    return;
  self->told[self->told_count++] = ssrc;
  mcc_elm_receiver_push (
      self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_OTHER, .ssrc = ssrc });
}

static void
follow (MccElmReceiver *self, const MccElmLayers *layers)
{
  mcc_elm_receiver_drop_to (self, MCC_ELM_NO_LEVEL, MCC_ELM_REASON_LAYERS);
  mcc_elm_receiver_restart (self);
  self->has_session = self->bye = self->lost = false;
  self->has_layers = true;
  self->layers = *layers;
  self->layers_time = self->heard = self->base_heard = self->now;
  mcc_elm_receiver_push (self,
      &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_SOURCE, .ssrc = layers->layer[0].ssrc });
  mcc_elm_receiver_push (
      self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_LAYERS, .layers = &self->layers });
  mcc_elm_receiver_join (self, MCC_ELM_REASON_START);
  mcc_elm_receiver_plan_without_media (self); /* a sender may wait for somebody */
  mcc_trace_add (&self->trace,
      &(MccTraceEvent){
          .type = MCC_TRACE_SOURCE, .time = self->now, .ssrc = layers->layer[0].ssrc });
}

/* More layers above those that there were, or fewer: the level stays, as far as there are layers,
 * and so does what was learnt. Packets that count another number of layers than was described are
 * dropped until then, and those on their way behind it: none of them is a loss. */
static void
resize_layers (MccElmReceiver *self, const MccElmLayers *layers)
{
  mcc_elm_receiver_drop_to (self, (int)layers->count - 1, MCC_ELM_REASON_LAYERS);
  self->layers = *layers;
  mcc_elm_receiver_restart_sequence (self, -1);
  mcc_elm_receiver_push (
      self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_LAYERS, .layers = &self->layers });
}

/* The same sender has other layers above the same base. */
static void
change_layers (MccElmReceiver *self, const MccElmLayers *layers)
{
  bool same_base = layers->layer[0].port_offset == self->group[0].port_offset;
  mcc_elm_receiver_drop_to (self, same_base ? 0 : MCC_ELM_NO_LEVEL, MCC_ELM_REASON_LAYERS);
  self->layers = *layers;
  if (self->level >= 0)
    mcc_asmp_path_splice (&self->path);
  mcc_elm_memory_init (&self->memory);
  mcc_elm_slow_start_init (
      &self->slow_start, self->config.variant, self->config.slow_start_interval);
  mcc_elm_slow_start_joined (&self->slow_start, layers, 0, mcc_elm_receiver_rtt (self),
      mcc_loss_packets_received (self->path.loss), self->now);
  self->has_round = self->new_round = false;
  mcc_elm_receiver_push (
      self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_LAYERS, .layers = &self->layers });
}

/* The same layers, some of them above the base under another SSRC: a collision (RFC 3550 8.2), or
 * somebody who makes believe that there is one. What was measured and learnt stays; packets of the
 * old SSRC are taken until one of the new comes. */
static bool
only_renamed (const MccElmLayers *now, const MccElmLayers *before)
{
  MccElmLayers as_before = *now;
  bool renamed = false;
  as_before.set = before->set;
  for (unsigned k = 1; k < as_before.count; k++) {
    renamed |= now->layer[k].ssrc != before->layer[k].ssrc;
    as_before.layer[k].ssrc = before->layer[k].ssrc;
  }
  return renamed && mcc_elm_layers_same (&as_before, before);
}

static MccDrop
handle_layers (MccElmReceiver *self, uint32_t ssrc, const MccElmLayers *layers)
{
  if (!mcc_elm_layers_valid (layers) || layers->layer[0].ssrc != ssrc)
    return mcc_elm_receiver_drop (self, MCC_DROP_BAD_VALUE);
  bool wanted = self->config.source_ssrc == 0 || ssrc == self->config.source_ssrc;
  bool ours = self->has_layers && self->layers.layer[0].ssrc == ssrc;
  if (!wanted || (self->has_layers && !ours && !mcc_elm_receiver_sender_gone (self))) {
    tell_other (self, ssrc);
    return mcc_elm_receiver_drop (self, MCC_DROP_OTHER_SENDER);
  }
  if (!ours) {
    follow (self, layers);
    return MCC_DROP_NONE;
  }
  /* After a silence, or BYE, it may be a sender that has restarted with its SSRC: its numbers begin
   * anywhere, and so do its rounds. */
  bool back = self->bye || self->now - self->layers_time >= MCC_ELM_SENDER_TIMEOUT;
  if (!mcc_seq_newer32 (layers->number, self->layers.number) && !back)
    return mcc_elm_receiver_drop (self, MCC_DROP_STALE);
  if (back)
    self->has_round = self->new_round = false;
  if (self->bye) /* its pictures and their times begin anew, too */
    mcc_elm_receiver_push (
        self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_SOURCE, .ssrc = ssrc });
  bool same = mcc_elm_layers_same (layers, &self->layers);
  MccTime feedback = self->layers.feedback_interval;
  self->layers_time = self->now;
  self->bye = self->lost = false;
  if (same || only_renamed (layers, &self->layers))
    self->layers = *layers;
  else if (mcc_elm_layers_agree (layers, &self->layers))
    resize_layers (self, layers);
  else
    change_layers (self, layers);
  if (feedback != layers->feedback_interval)
    mcc_elm_receiver_replan (self);
  return MCC_DROP_NONE;
}

/* Whether anything but what moves all the time differs. */
static bool
session_differs (const MccAppSession *a, const MccAppSession *b)
{
  return a->flags != b->flags || a->payload_type != b->payload_type
         || a->send_time_id != b->send_time_id || a->clock_rate != b->clock_rate || a->ttl != b->ttl
         || a->media_ssrc != b->media_ssrc || !mcc_address_equal (&a->feedback, &b->feedback)
         || strncmp (a->media, b->media, sizeof a->media) != 0
         || strncmp (a->encoding_name, b->encoding_name, sizeof a->encoding_name) != 0
         || strncmp (a->parameters, b->parameters, sizeof a->parameters) != 0;
}

static MccDrop
handle_session (MccElmReceiver *self, const MccAppSession *announced)
{
  MccAppSession session = *announced;
  mcc_app_session_complete (&session, self->has_session ? &self->session : NULL);
  bool changed = !self->has_session || session_differs (&session, &self->session);
  self->session = session;
  self->has_session = true;
  mcc_asmp_path_handle_announcement (
      &self->path, session.send_time & MCC_ABS_SEND_TIME_MASK, self->now);
  if (changed)
    mcc_elm_receiver_push (self,
        &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_SESSION, .session = &self->session });
  return MCC_DROP_NONE;
}

/* published: the EWMA of what the sender measured (eq. 5); enhanced: between those, too, by the
 * packets' transit times (mccrtt.h). */
static void
take_rtt (MccElmReceiver *self, const MccAppRtt *entry)
{
  if (mcc_elm_receiver_is_enhanced (self)) {
    if (!mcc_rtt_handle_effective (&self->path.rtt, entry->rtt, entry->number, self->now))
      self->stats.dropped[MCC_DROP_STALE]++; /* lists repeat what they said */
    return;
  }
  bool known = self->has_rtt && !mcc_seq_newer32 (entry->number, self->rtt_number);
  if (known || mcc_seq_newer32 (entry->number, self->number)) {
    self->stats.dropped[MCC_DROP_STALE]++;
    return;
  }
  self->has_rtt = true;
  self->rtt_number = entry->number;
  mcc_elm_rate_handle_rtt (&self->rate, entry->rtt);
  self->path.rtt.rtt_s = self->rate.rtt_s;
}

static MccDrop
handle_rtt_list (MccElmReceiver *self, const MccAppRttList *list)
{
  for (unsigned i = 0; i < list->count && i < MCC_APP_RTT_MAX; i++) {
    const MccAppRtt *entry = &list->entry[i];
    if (entry->ssrc != self->config.ssrc)
      continue;
    take_rtt (self, entry);
    mcc_trace_add (&self->trace, &(MccTraceEvent){ .type = MCC_TRACE_RTT,
                                     .time = self->now,
                                     .ssrc = self->layers.layer[0].ssrc,
                                     .i = entry->number,
                                     .x = mcc_time_to_seconds (entry->rtt),
                                     .y = mcc_time_to_seconds (mcc_elm_receiver_rtt (self)) });
  }
  return MCC_DROP_NONE;
}

/* Another one tries a layer that we do not have: what we lose now may be its doing. */
static void
note_trial (MccElmReceiver *self, uint32_t ssrc, unsigned layer)
{
  MccElmPatience *patience = &self->patience;
  bool ready = mcc_elm_patience_is_ready (patience, self->now);
  if ((int)layer <= self->wanted || layer >= self->layers.count
      || !mcc_elm_patience_hear (patience, PATIENCE + self->config.leave_latency, self->now))
    return;
  if (!ready) {
    self->trial_explained = self->path.numbering.explained;
    self->trial_received = mcc_loss_packets_received (self->path.loss);
  }
  /* Of several the one whose failure would be ours. */
  if (!ready || (int)layer == self->wanted + 1) {
    self->trial_layer = layer;
    self->trial_ssrc = ssrc;
  }
  mcc_asmp_path_excuse_losses (
      &self->path, mcc_time_max (patience->until, self->path.excuse_until));
}

bool
mcc_elm_receiver_be_patient (MccElmReceiver *self, MccTime passed)
{
  MccTime until = self->patience.until;
  bool troubled
      = self->path.numbering.explained > self->trial_explained
        || (self->queue_least != MCC_TIME_NONE && self->queue_least >= MCC_ELM_CLEAR_QUEUE);
  bool patient = mcc_elm_patience_look (&self->patience, passed, troubled, self->now);
  if (self->patience.until == 0 && self->path.excuse_until == until)
    mcc_asmp_path_excuse_losses (&self->path, mcc_time_min (until, self->now));
  return patient;
}

/* More was lost since the trial of another began than is usual here: who loses packets anyway must
 * not take them for its doing, for anybody may say that he has tried. */
static bool
has_suffered (const MccElmReceiver *self)
{
  uint64_t lost = self->path.numbering.explained - self->trial_explained;
  uint64_t received = mcc_loss_packets_received (self->path.loss);
  return received >= self->trial_received
         && mcc_elm_trial_is_unusual (&self->trial, lost, received - self->trial_received + lost);
}

/* Its failure is ours where we have suffered from it, and would be the next to try that layer. */
static void
note_failure (MccElmReceiver *self, uint32_t ssrc, unsigned layer)
{
  bool same = mcc_elm_patience_is_ready (&self->patience, self->now) && layer == self->trial_layer
              && ssrc == self->trial_ssrc;
  if (!same || (int)layer != self->level + 1 || !has_suffered (self))
    return;
  self->stats.learned += mcc_elm_memory_learn (&self->memory, layer, self->now);
}

static MccDrop
handle_other (MccElmReceiver *self, const MccElmApp *app)
{
  if (!mcc_app_report_plausible (&app->asmp.report))
    return mcc_elm_receiver_drop (self, MCC_DROP_BAD_VALUE);
  if (!self->config.hears_group)
    return MCC_DROP_NONE;
  self->heard_reports++;
  if (!mcc_elm_receiver_is_enhanced (self) || self->level < 0)
    return MCC_DROP_NONE;
  if ((int)app->level > self->level)
    self->above = self->now;
  if (app->flags & MCC_ELM_JOINING)
    note_trial (self, app->ssrc, app->wanted);
  if (app->flags & MCC_ELM_FAILED)
    note_failure (self, app->ssrc, app->wanted);
  /* In a large group one that says it is enough. */
  if (self->report_early != MCC_TIME_NONE && app->wanted == self->note_layer
      && (app->flags & self->note_flags) == self->note_flags
      && self->layers.feedback_interval > 2 * MCC_SECOND)
    mcc_elm_receiver_take_back (self);
  return MCC_DROP_NONE;
}

MccDrop
mcc_elm_receiver_handle_app (
    MccElmReceiver *self, const MccElmApp *app, const MccAddress *from, MccTime now)
{
  mcc_elm_receiver_advance (self, now);
  if (app->ssrc == self->config.ssrc)
    return mcc_elm_receiver_drop (self, MCC_DROP_OWN);
  if (app->subtype == MCC_APP_REPORT)
    return handle_other (self, app);
  bool ours = self->has_layers && self->layers.layer[0].ssrc == app->ssrc;
  /* One that is gone may be back elsewhere: its description says where. */
  bool describes = app->subtype == MCC_ELM_LAYERS && mcc_elm_receiver_sender_gone (self);
  if (ours && !describes && mcc_elm_receiver_is_elsewhere (self, from))
    return mcc_elm_receiver_drop (self, MCC_DROP_ADDRESS);
  if (app->subtype == MCC_ELM_LAYERS) {
    MccDrop verdict = handle_layers (self, app->ssrc, &app->layers);
    if (verdict == MCC_DROP_NONE) {
      self->has_host = from != NULL;
      self->host = from != NULL ? *from : self->host;
    }
    return verdict;
  }
  if (!ours)
    return mcc_elm_receiver_drop (self, MCC_DROP_OTHER_SENDER);
  if (app->subtype == MCC_APP_SESSION)
    return handle_session (self, &app->asmp.session);
  if (app->subtype == MCC_APP_RTT)
    return handle_rtt_list (self, &app->asmp.rtt);
  return mcc_elm_receiver_drop (self, MCC_DROP_UNKNOWN_SUBTYPE);
}

void
mcc_elm_receiver_handle_bye (MccElmReceiver *self, uint32_t ssrc, MccTime now)
{
  mcc_elm_receiver_advance (self, now);
  if (!self->has_layers || ssrc != self->layers.layer[0].ssrc || self->bye)
    return;
  self->bye = true;
  if (self->lost)
    return;
  self->lost = true;
  mcc_elm_receiver_push (
      self, &(MccElmReceiverAction){ .type = MCC_ELM_RECEIVER_LOST, .ssrc = ssrc });
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stdlib.h>

#include "mccelmsenderprivate.h"
#include "mccindexapp.h"
#include "mccjitter.h"
#include "mccrng.h"

#define LOOK_PERIOD (1 * MCC_SECOND)
#define RATE_SPAN (2 * MCC_ELM_RATE_WINDOW) /* of a meter */

static void
advance (MccElmSender *self, MccTime now)
{
  assert (now >= self->now && now != MCC_TIME_NONE);
  self->now = now;
  if (now - self->round_start >= self->layers.round_interval) {
    MccTime rounds = (now - self->round_start) / self->layers.round_interval;
    self->round_start += rounds * self->layers.round_interval;
    self->layers.round += (uint32_t)rounds;
  }
  if (now < self->look_next)
    return;
  self->look_next = now + LOOK_PERIOD;
  mcc_elm_sender_look (self);
}

/* What the host may leave out, or to us. */
static void
complete_layers (MccElmSender *self, MccElmLayers *layers)
{
  layers->flags = 0;
  layers->number = self->layers.number;
  layers->round = self->layers.round;
  layers->round_interval
      = self->config.round_interval > 0 ? self->config.round_interval : MCC_ELM_ROUND;
  layers->feedback_interval
      = mcc_time_clamp (self->interval, MCC_ELM_FEEDBACK_MIN, MCC_ELM_FEEDBACK_MAX);
}

static size_t
description_bytes (unsigned layers)
{
  return mcc_elm_app_size (&(MccElmApp){ .subtype = MCC_ELM_LAYERS, .layers.count = layers });
}

static bool
is_known (const MccElmSender *self, const MccElmLayers *layers, unsigned k)
{
  return k < mcc_elm_sender_count (self)
         && mcc_elm_layer_same (&layers->layer[k], &self->layers.layer[k]);
}

/* Layers that are there already go on adding what they did, whatever they are described with. */
static void
keep_rates (const MccElmSender *self, MccElmLayers *layers)
{
  MccElmLayers described = *layers;
  uint64_t sum = 0, most = MCC_APP_RATE_MAX - MCC_ELM_LAYERS_MAX;
  for (unsigned k = 0; k < layers->count; k++) {
    bool known = is_known (self, layers, k);
    sum += mcc_elm_layers_added_bps (known ? &self->layers : &described, k);
    layers->layer[k].cumulative_bps = sum < most + k ? sum : most + k;
    if (known)
      layers->layer[k].frame_rate = self->layers.layer[k].frame_rate;
  }
}

static void
take_layers (MccElmSender *self, const MccElmLayers *layers)
{
  for (unsigned k = 0; k < layers->count; k++) {
    if (is_known (self, layers, k))
      continue;
    self->begun[k] = MCC_TIME_NONE;
    mcc_meter_init (&self->meter[k], RATE_SPAN);
  }
  self->layers = *layers;
}

static MccAsmpSender *
new_asmp (const MccElmSender *self, uint64_t seed)
{
  unsigned layers = mcc_elm_sender_count (self);
  size_t others = self->config.srtcp_bytes > 0 ? MCC_INDEX_BYTES (layers) - MCC_INDEX_BYTES (1) : 0;
  MccAsmpSenderConfig asmp = { .variant = self->config.variant,
    .keeps_slow = true,
    .one_of_many = true,
    .wants_block = self->config.wants_block,
    .idles = true, /* the host stops the media while nobody reports (no-feedback=stop) */
    .ssrc = self->layers.layer[0].ssrc,
    .seed = seed,
    .min_bps = mcc_elm_sender_base_bps (self),
    .max_bps = mcc_elm_sender_base_bps (self),
    .start_bps = mcc_elm_sender_base_bps (self),
    .session_bandwidth_bps = mcc_elm_sender_base_bps (self),
    .max_receivers = self->config.max_receivers,
    .no_feedback = MCC_NO_FEEDBACK_HOLD,
    .feedback = self->config.feedback,
    .ttl = self->config.ttl,
    .srtcp_bytes = self->config.srtcp_bytes,
    .more_bytes = (uint32_t)(description_bytes (layers) + others) };
  return mcc_asmp_sender_new (&asmp, self->now);
}

static void
take_whole (MccElmSender *self, const MccElmWholeBounds *whole)
{
  mcc_elm_whole_init (&self->whole, whole, self->now);
  self->moves_whole = whole->max_bps > 0 && self->config.variant == MCC_VARIANT_ENHANCED;
  self->tell_whole = false;
}

static bool
take_config (MccElmSender *self, const MccElmSenderConfig *config)
{
  self->config = *config;
  if (!(config->feedback_target_hz > 0.0))
    self->config.feedback_target_hz = MCC_ELM_FEEDBACK_TARGET_HZ;
  if (config->max_receivers == 0)
    self->config.max_receivers = 4096;
  self->interval
      = config->feedback_interval > 0 ? config->feedback_interval : MCC_ELM_FEEDBACK_START;
  MccElmLayers layers = config->layers;
  complete_layers (self, &layers);
  if (!mcc_elm_layers_valid (&layers))
    return false;
  take_whole (self, &config->whole);
  take_layers (self, &layers);
  return true;
}

MccElmSender *
mcc_elm_sender_new (const MccElmSenderConfig *config, MccTime now)
{
  MccElmSender *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  MccRng rng;
  mcc_rng_init (&rng, config->seed);
  self->now = self->round_start = self->period_start = now;
  self->look_next = now + LOOK_PERIOD;
  /* Random, so that a restarted sender's are not taken for old ones. */
  self->layers.number = (uint32_t)mcc_rng_next (&rng);
  self->layers.round = (uint32_t)mcc_rng_next (&rng);
  if (take_config (self, config))
    self->asmp = new_asmp (self, mcc_rng_next (&rng));
  if (self->asmp == NULL) {
    mcc_elm_sender_free (self);
    return NULL;
  }
  mcc_elm_sender_share_rtcp (self);
  mcc_elm_sender_apply_interval (self);
  return self;
}

void
mcc_elm_sender_free (MccElmSender *self)
{
  if (self == NULL)
    return;
  mcc_asmp_sender_free (self->asmp);
  free (self);
}

bool
mcc_elm_sender_set_layers (MccElmSender *self, const MccElmLayers *layers, MccTime now)
{
  advance (self, now);
  MccElmLayers changed = *layers;
  complete_layers (self, &changed);
  changed.set = (uint16_t)(self->layers.set + 1);
  if (!mcc_elm_layers_valid (&changed))
    return false;
  keep_rates (self, &changed);
  bool renamed = changed.layer[0].ssrc != self->layers.layer[0].ssrc;
  take_layers (self, &changed);
  if (renamed)
    mcc_asmp_sender_set_ssrc (self->asmp, changed.layer[0].ssrc, now);
  mcc_elm_sender_share_rtcp (self);
  mcc_elm_sender_apply_interval (self);
  mcc_asmp_sender_announce (self->asmp, now);
  return true;
}

void
mcc_elm_sender_set_whole (MccElmSender *self, const MccElmWholeBounds *whole, MccTime now)
{
  advance (self, now);
  take_whole (self, whole);
}

bool
mcc_elm_sender_set_caps (MccElmSender *self, const MccAppSession *caps, MccTime now)
{
  advance (self, now);
  return mcc_asmp_sender_set_caps (self->asmp, caps, now);
}

void
mcc_elm_sender_set_ssrc (MccElmSender *self, unsigned layer, uint32_t ssrc, MccTime now)
{
  assert (layer < mcc_elm_sender_count (self));
  advance (self, now);
  if (self->layers.layer[layer].ssrc == ssrc)
    return;
  self->layers.layer[layer].ssrc = ssrc;
  self->layers.set++;
  if (layer == 0)
    mcc_asmp_sender_set_ssrc (self->asmp, ssrc, now);
  mcc_asmp_sender_announce (self->asmp, now);
}

void
mcc_elm_sender_set_frame_rate (MccElmSender *self, unsigned layer, uint32_t frame_rate, MccTime now)
{
  assert (layer < mcc_elm_sender_count (self));
  advance (self, now);
  self->layers.layer[layer].frame_rate = frame_rate;
}

static MccDrop
drop (MccElmSender *self, MccDrop reason, uint32_t ssrc)
{
  mcc_asmp_sender_handle_dropped (self->asmp, reason, ssrc, self->now);
  return reason;
}

MccDrop
mcc_elm_sender_handle_report (
    MccElmSender *self, const MccElmApp *app, const MccAddress *from, MccTime now)
{
  advance (self, now);
  if (app->subtype != MCC_APP_REPORT)
    return drop (self, MCC_DROP_UNKNOWN_SUBTYPE, app->ssrc);
  if (app->level >= mcc_elm_sender_count (self))
    return drop (self, MCC_DROP_BAD_VALUE, app->ssrc);
  MccAppReport report = app->asmp.report;
  report.level = (uint8_t)app->level;
  MccDrop verdict = mcc_asmp_sender_handle_report (self->asmp, app->ssrc, &report, from, now);
  /* What nobody has vouched for must not make all others wait (enhanced). */
  bool counts = verdict == MCC_DROP_NONE
                || (verdict == MCC_DROP_PROBATION && self->config.variant == MCC_VARIANT_PUBLISHED);
  self->period_reports += counts;
  return verdict;
}

void
mcc_elm_sender_handle_block (MccElmSender *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  advance (self, now);
  mcc_asmp_sender_handle_block (self->asmp, ssrc, from, now);
}

MccDrop
mcc_elm_sender_handle_plain_report (MccElmSender *self, uint32_t ssrc, const MccPlainReport *report,
    const MccAddress *from, MccTime now)
{
  advance (self, now);
  return mcc_asmp_sender_handle_plain_report (self->asmp, ssrc, report, from, now);
}

MccDrop
mcc_elm_sender_handle_bye (MccElmSender *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  advance (self, now);
  return mcc_asmp_sender_handle_bye (self->asmp, ssrc, from, now);
}

void
mcc_elm_sender_handle_key_unit_request (MccElmSender *self, MccTime now)
{
  advance (self, now);
  mcc_asmp_sender_handle_key_unit_request (self->asmp, now);
}

/* Layers that were described together begin together: with the first packet of any of them. */
static void
note_begun (MccElmSender *self, unsigned layer)
{
  bool first = true;
  if (self->begun[layer] != MCC_TIME_NONE)
    return;
  for (unsigned k = 0; k < mcc_elm_sender_count (self); k++)
    first = first && self->begun[k] == MCC_TIME_NONE;
  for (unsigned k = 0; k < mcc_elm_sender_count (self); k++)
    if (first || k == layer)
      self->begun[k] = self->now;
}

void
mcc_elm_sender_set_ended (MccElmSender *self, bool ended, MccTime now)
{
  advance (self, now);
  mcc_asmp_sender_set_ended (self->asmp, ended, now);
}

void
mcc_elm_sender_handle_sent (MccElmSender *self, unsigned layer, uint32_t packets, uint64_t bytes,
    uint32_t highest_seq, MccTime now)
{
  assert (layer < mcc_elm_sender_count (self));
  advance (self, now);
  note_begun (self, layer);
  mcc_meter_add (&self->meter[layer], (uint32_t)bytes, now);
  self->last_sent[layer] = now;
  if (layer == 0)
    mcc_asmp_sender_handle_sent (self->asmp, packets, bytes, highest_seq, now);
}

void
mcc_elm_sender_handle_dropped (MccElmSender *self, MccDrop reason, uint32_t ssrc, MccTime now)
{
  advance (self, now);
  drop (self, reason, ssrc);
}

void
mcc_elm_sender_handle_timeout (MccElmSender *self, MccTime now)
{
  advance (self, now);
  if (mcc_asmp_sender_next_timeout (self->asmp) <= now)
    mcc_asmp_sender_handle_timeout (self->asmp, now);
}

MccTime
mcc_elm_sender_next_timeout (const MccElmSender *self)
{
  return mcc_time_min (self->look_next, mcc_asmp_sender_next_timeout (self->asmp));
}

/* An action of the ASMP sender: false when it is not the host's business. */
static bool
translate (MccElmSender *self, const MccSenderAction *asmp, MccElmSenderAction *out)
{
  out->ssrc = asmp->ssrc;
  out->address = asmp->address;
  out->state = asmp->state;
  out->quarantine = asmp->quarantine;
  switch (asmp->type) {
    case MCC_SENDER_SEND_SESSION:
      self->layers.number++;
      self->layers.round_time = mcc_abs_send_time (self->round_start);
      out->type = MCC_ELM_SENDER_ANNOUNCE;
      out->layers = &self->layers;
      out->session = asmp->session;
      out->rtt = asmp->rtt;
      return true;
    case MCC_SENDER_RECEIVER:
      out->type = MCC_ELM_SENDER_RECEIVER;
      mcc_asmp_sender_get_level (self->asmp, asmp->ssrc, &asmp->address, &out->level);
      return true;
    case MCC_SENDER_KEY_UNIT:
      out->type = MCC_ELM_SENDER_KEY_UNIT;
      return true;
    case MCC_SENDER_FEEDBACK_LOST:
      out->type = MCC_ELM_SENDER_FEEDBACK_LOST;
      return true;
    case MCC_SENDER_FEEDBACK_FOUND:
      out->type = MCC_ELM_SENDER_FEEDBACK_FOUND;
      return true;
    default:
      return false;
  }
}

bool
mcc_elm_sender_poll (MccElmSender *self, MccElmSenderAction *out)
{
  MccSenderAction asmp;
  memset (out, 0, sizeof *out);
  while (mcc_asmp_sender_poll (self->asmp, &asmp))
    if (translate (self, &asmp, out))
      return true;
  if (self->tell_whole) {
    self->tell_whole = false;
    out->type = MCC_ELM_SENDER_WHOLE;
    out->target_bps = self->whole.target_bps;
    return true;
  }
  if (!self->tell_members)
    return false;
  self->tell_members = false;
  memcpy (self->told_members, self->members, sizeof self->members);
  out->type = MCC_ELM_SENDER_LEVELS;
  return true;
}

bool
mcc_elm_sender_poll_trace (MccElmSender *self, MccTraceEvent *out)
{
  return mcc_asmp_sender_poll_trace (self->asmp, out);
}

const MccElmLayers *
mcc_elm_sender_layers (const MccElmSender *self)
{
  return &self->layers;
}

const MccAsmpSender *
mcc_elm_sender_asmp (const MccElmSender *self)
{
  return self->asmp;
}

uint32_t
mcc_elm_sender_members (const MccElmSender *self)
{
  return mcc_asmp_sender_members (self->asmp);
}

void
mcc_elm_sender_get_receiver (
    const MccElmSender *self, uint32_t i, MccTime now, MccReceiverInfo *out)
{
  mcc_asmp_sender_get_receiver (self->asmp, i, now, out);
}

unsigned
mcc_elm_sender_get_receivers (
    const MccElmSender *self, MccTime now, MccReceiverInfo *out, unsigned max)
{
  return mcc_asmp_sender_get_receivers (self->asmp, now, out, max);
}

void
mcc_elm_sender_get_stats (const MccElmSender *self, MccTime now, MccElmSenderStats *out)
{
  MccAsmpSenderStats asmp;
  mcc_asmp_sender_get_stats (self->asmp, now, &asmp);
  memset (out, 0, sizeof *out);
  out->count = mcc_elm_sender_count (self);
  uint64_t sum = 0;
  for (unsigned k = 0; k < mcc_elm_sender_count (self); k++) {
    sum += mcc_elm_sender_is_new (self, k, now)
               ? mcc_elm_layers_added_bps (&self->layers, k)
               : mcc_meter_rate_bps (&self->meter[k], MCC_ELM_RATE_WINDOW, now);
    out->cumulative_bps[k] = self->begun[0] == MCC_TIME_NONE ? 0 : sum;
    out->members[k] = self->members[k];
    out->receivers += self->members[k];
  }
  out->whole_bps = self->moves_whole ? self->whole.target_bps : 0;
  out->feedback_interval = self->layers.feedback_interval;
  out->feedback_hz = self->feedback_hz;
  out->round = self->layers.round;
  out->rtt_max = asmp.rtt_max;
  out->reports = asmp.reports;
  memcpy (out->dropped, asmp.dropped, sizeof out->dropped);
}

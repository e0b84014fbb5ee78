/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasspsender.h"

#include <assert.h>
#include <stdlib.h>

#include "mccasspsenderprivate.h"
#include "mccindexapp.h"
#include "mccrng.h"
#include "mccseq.h"

static unsigned
count (const MccAsspSender *self)
{
  return self->streams.count;
}

/* After anything that may have changed who is where, or a target. */
static void
look (MccAsspSender *self)
{
  bool changed = false, lost = true, any = false;
  for (unsigned j = 0; j < count (self); j++) {
    bool occupied = self->stream[j].occupied;
    mcc_assp_sender_look_at (self, j);
    changed = changed || self->stream[j].occupied != occupied;
    any = any || self->stream[j].lost;
    lost = lost && (self->stream[j].lost || !mcc_asmp_sender_has_sent (self->stream[j].asmp));
  }
  self->lost = lost && any;
  mcc_assp_sender_share_rtcp (self, changed);
}

static void
end_round (MccAsspSender *self)
{
  double length_s = mcc_time_to_seconds (self->now - self->round_start);
  for (unsigned j = 0; j < count (self); j++) {
    MccAsspStream *announced = &self->streams.stream[j];
    MccAsspSenderStream *stream = &self->stream[j];
    announced->average_bps = announced->low_bps;
    if (stream->occupied && length_s > 0.0)
      announced->average_bps
          = mcc_assp_sender_limit_rate ((uint64_t)(stream->bits / length_s + 0.5));
    stream->bits = 0.0;
  }
  self->round_start = self->now;
  self->streams.round++;
  self->streams.flags |= MCC_ASSP_DECIDE;
  mcc_assp_sender_end_round (self);
  mcc_assp_sender_announce (self);
}

/* Integrates the targets up to @now (eq. 5). */
static void
advance (MccAsspSender *self, MccTime now)
{
  assert (now >= self->now && now != MCC_TIME_NONE);
  double dt_s = mcc_time_to_seconds (now - self->now);
  for (unsigned j = 0; j < count (self); j++)
    self->stream[j].bits += (double)mcc_asmp_sender_target_bps (self->stream[j].asmp) * dt_s;
  self->now = now;
  if (now - self->round_start >= MCC_ASSP_ROUND)
    end_round (self);
}

static size_t
description_bytes (const MccAsspStreams *streams)
{
  return mcc_assp_app_size (
      &(MccAsspApp){ .subtype = MCC_ASSP_STREAMS, .streams.count = streams->count });
}

static MccAsmpSender *
new_stream (const MccAsspSender *self, unsigned j, uint64_t seed)
{
  const MccAsspSenderConfig *config = &self->config;
  const MccAsspStream *stream = &self->streams.stream[j];
  size_t others
      = config->srtcp_bytes > 0 ? MCC_INDEX_BYTES (count (self)) - MCC_INDEX_BYTES (1) : 0;
  MccAsmpSenderConfig asmp = { .variant = config->variant,
    .ssrc = stream->ssrc,
    .seed = seed,
    .min_bps = stream->low_bps,
    .max_bps = stream->low_bps, /* until somebody is there */
    .start_bps = stream->low_bps,
    .session_bandwidth_bps = config->session_bandwidth_bps,
    .max_receivers = config->max_receivers,
    .no_feedback = MCC_NO_FEEDBACK_MINIMUM,
    .ecn = config->ecn,
    .feedback = config->feedback,
    .ttl = config->ttl,
    .one_of_many = true,
    .wants_block = config->wants_block,
    .idles = true,
    .srtcp_bytes = config->srtcp_bytes,
    .more_bytes = (uint32_t)(description_bytes (&self->streams) + others) };
  return mcc_asmp_sender_new (&asmp, self->now);
}

MccAsspSender *
mcc_assp_sender_new (const MccAsspSenderConfig *config, MccTime now)
{
  if (!mcc_assp_streams_valid (&config->streams))
    return NULL;
  MccAsspSender *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  MccRng rng;
  mcc_rng_init (&rng, config->seed);
  self->config = *config;
  self->now = self->round_start = now;
  self->streams = config->streams;
  self->streams.flags = 0;
  for (unsigned j = 0; j < count (self); j++) {
    self->streams.stream[j].flags &= MCC_ASSP_RUNNING;
    self->stream[j].told_bounds = true;
    self->stream[j].quiet_until = self->stream[j].left = self->stream[j].tried
        = self->stream[j].moved = MCC_TIME_NONE;
  }
  mcc_assp_sender_init_ladder (self);
  /* Random, so that a restarted sender's are not taken for old ones. */
  self->streams.number = (uint32_t)mcc_rng_next (&rng);
  self->streams.round = (uint32_t)mcc_rng_next (&rng);
  for (unsigned j = 0; config->session_bandwidth_bps == 0 && j < count (self); j++)
    if (self->streams.stream[j].high_bps > self->config.session_bandwidth_bps)
      self->config.session_bandwidth_bps = self->streams.stream[j].high_bps;
  self->config.session_bandwidth_bps
      = mcc_assp_sender_limit_rate (self->config.session_bandwidth_bps);
  for (unsigned j = 0; j < count (self); j++) {
    self->streams.stream[j].average_bps = self->streams.stream[j].low_bps;
    self->stream[j].asmp = new_stream (self, j, mcc_rng_next (&rng));
    if (self->stream[j].asmp == NULL) {
      mcc_assp_sender_free (self);
      return NULL;
    }
  }
  mcc_assp_sender_init_ssrcs (self);
  mcc_assp_sender_share_rtcp (self, true);
  return self;
}

void
mcc_assp_sender_free (MccAsspSender *self)
{
  if (self == NULL)
    return;
  for (unsigned j = 0; j < count (self); j++)
    mcc_asmp_sender_free (self->stream[j].asmp);
  free (self);
}

bool
mcc_assp_sender_set_bounds (
    MccAsspSender *self, unsigned stream, uint64_t low_bps, uint64_t high_bps, MccTime now)
{
  advance (self, now);
  MccAsspStreams changed = self->streams;
  if (stream >= changed.count)
    return false;
  changed.stream[stream].low_bps = low_bps;
  changed.stream[stream].high_bps = high_bps;
  if (!mcc_assp_streams_valid (&changed))
    return false;
  changed.ladder++;
  self->streams = changed;
  mcc_assp_sender_bounds_set (self);
  mcc_assp_sender_apply_bounds (self, stream);
  mcc_assp_sender_share_rtcp (self, true);
  mcc_assp_sender_announce (self);
  return true;
}

bool
mcc_assp_sender_set_caps (
    MccAsspSender *self, unsigned stream, const MccAppSession *caps, MccTime now)
{
  assert (stream < count (self));
  advance (self, now);
  return mcc_asmp_sender_set_caps (self->stream[stream].asmp, caps, now);
}

void
mcc_assp_sender_set_running (MccAsspSender *self, unsigned stream, bool running, MccTime now)
{
  assert (stream < count (self));
  advance (self, now);
  uint32_t *flags = &self->streams.stream[stream].flags, before = *flags;
  self->stream[stream].rests = !running;
  running = running && !self->stream[stream].ended;
  *flags = running ? before | MCC_ASSP_RUNNING : before & ~MCC_ASSP_RUNNING;
  if (*flags != before)
    mcc_assp_sender_announce (self);
}

void
mcc_assp_sender_set_ended (MccAsspSender *self, unsigned stream, bool ended, MccTime now)
{
  assert (stream < count (self));
  advance (self, now);
  mcc_assp_sender_note_ended (self, stream, ended);
}

void
mcc_assp_sender_set_ssrc (MccAsspSender *self, unsigned stream, uint32_t ssrc, MccTime now)
{
  assert (stream < count (self));
  advance (self, now);
  mcc_assp_sender_note_ssrc (self, stream, ssrc);
}

/* Whether another stream has a report of it that is not older. */
static bool
overtaken (const MccAsspSender *self, unsigned stream, uint32_t ssrc, const MccAddress *from,
    uint32_t number)
{
  uint32_t known;
  for (unsigned j = 0; j < count (self); j++)
    if (j != stream && mcc_asmp_sender_get_number (self->stream[j].asmp, ssrc, from, &known)
        && !mcc_seq_newer32 (number, known))
      return true;
  return false;
}

/* Whether its probation has passed in another stream (enhanced), and it was not let in there
 * because that was silent: one who moves need not prove again that it is there, and a crowd that
 * does would report twice as much. */
static bool
known_elsewhere (const MccAsspSender *self, unsigned stream, uint32_t ssrc, const MccAddress *from)
{
  for (unsigned j = 0; j < count (self) && self->config.variant == MCC_VARIANT_ENHANCED; j++)
    if (j != stream && mcc_asmp_sender_counts (self->stream[j].asmp, ssrc, from))
      return true;
  return false;
}

/* Takes it out of all streams but @stream; false: it was in none. */
static bool
remove_from_others (MccAsspSender *self, unsigned stream, uint32_t ssrc, const MccAddress *from)
{
  uint32_t number;
  bool found = false, moves = stream < count (self);
  for (unsigned j = 0; j < count (self); j++) {
    if (j == stream || !mcc_asmp_sender_get_number (self->stream[j].asmp, ssrc, from, &number))
      continue;
    found = true;
    bool counted = mcc_asmp_sender_counts (self->stream[j].asmp, ssrc, from);
    if (moves)
      mcc_asmp_sender_handle_moved (self->stream[j].asmp, ssrc, from, self->now);
    else
      mcc_asmp_sender_handle_bye (self->stream[j].asmp, ssrc, from, self->now);
    if (!counted) /* what a stranger does says nothing of the others */
      continue;
    self->stream[j].left = self->now;
    if (moves)
      self->stream[j].moved = self->now;
    if (moves && mcc_assp_streams_lower (&self->streams, j, stream))
      self->stream[j].tried = self->now;
  }
  return found;
}

static MccDrop
drop (MccAsspSender *self, MccDrop reason, uint32_t ssrc)
{
  mcc_asmp_sender_handle_dropped (self->stream[0].asmp, reason, ssrc, self->now);
  return reason;
}

MccDrop
mcc_assp_sender_handle_report (MccAsspSender *self, unsigned stream, uint32_t ssrc,
    const MccAppReport *report, const MccAddress *from, MccTime now)
{
  advance (self, now);
  if (stream >= count (self))
    return drop (self, MCC_DROP_BAD_VALUE, ssrc);
  if (overtaken (self, stream, ssrc, from, report->number))
    return drop (self, MCC_DROP_STALE, ssrc);
  MccAsmpSender *asmp = self->stream[stream].asmp;
  MccDrop verdict = known_elsewhere (self, stream, ssrc, from)
                        ? mcc_asmp_sender_handle_known_report (asmp, ssrc, report, from, now)
                        : mcc_asmp_sender_handle_report (asmp, ssrc, report, from, now);
  if (verdict == MCC_DROP_NONE || verdict == MCC_DROP_PROBATION)
    remove_from_others (self, stream, ssrc, from);
  if (verdict == MCC_DROP_NONE && (report->flags & MCC_REPORT_LEAVING))
    self->stream[stream].left = now;
  look (self);
  return verdict;
}

void
mcc_assp_sender_handle_block (
    MccAsspSender *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  advance (self, now);
  for (unsigned j = 0; j < count (self); j++) /* it may have moved since */
    mcc_asmp_sender_handle_block (self->stream[j].asmp, ssrc, from, now);
}

MccDrop
mcc_assp_sender_handle_plain_report (MccAsspSender *self, unsigned stream, uint32_t ssrc,
    const MccPlainReport *report, const MccAddress *from, MccTime now)
{
  advance (self, now);
  if (stream >= count (self))
    return drop (self, MCC_DROP_BAD_VALUE, ssrc);
  /* Regular RTCP of one of ours, about the stream that it is leaving or not yet in. */
  uint32_t number;
  for (unsigned j = 0; j < count (self); j++)
    if (j != stream && mcc_asmp_sender_get_number (self->stream[j].asmp, ssrc, from, &number))
      return MCC_DROP_NONE;
  MccDrop verdict
      = mcc_asmp_sender_handle_plain_report (self->stream[stream].asmp, ssrc, report, from, now);
  look (self);
  return verdict;
}

MccDrop
mcc_assp_sender_handle_bye (MccAsspSender *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  advance (self, now);
  if (!remove_from_others (self, MCC_ASSP_STREAMS_MAX, ssrc, from))
    return drop (self, MCC_DROP_ADDRESS, ssrc);
  look (self);
  return MCC_DROP_NONE;
}

void
mcc_assp_sender_handle_key_unit_request (MccAsspSender *self, unsigned stream, MccTime now)
{
  advance (self, now);
  if (stream < count (self))
    mcc_asmp_sender_handle_key_unit_request (self->stream[stream].asmp, now);
}

void
mcc_assp_sender_handle_sent (MccAsspSender *self, unsigned stream, uint32_t packets, uint64_t bytes,
    uint32_t highest_seq, MccTime now)
{
  assert (stream < count (self));
  advance (self, now);
  mcc_asmp_sender_handle_sent (self->stream[stream].asmp, packets, bytes, highest_seq, now);
}

void
mcc_assp_sender_handle_dropped (MccAsspSender *self, MccDrop reason, uint32_t ssrc, MccTime now)
{
  advance (self, now);
  drop (self, reason, ssrc);
  if (reason != MCC_DROP_TABLE_FULL)
    return;
  for (unsigned j = 0; j < count (self); j++) /* nobody knows of which one */
    mcc_asmp_sender_handle_unheard (self->stream[j].asmp, now);
}

void
mcc_assp_sender_handle_timeout (MccAsspSender *self, MccTime now)
{
  advance (self, now);
  mcc_assp_sender_await_ssrcs (self);
  mcc_assp_sender_close_ended (self);
  for (unsigned j = 0; j < count (self); j++)
    if (mcc_asmp_sender_next_timeout (self->stream[j].asmp) <= now)
      mcc_asmp_sender_handle_timeout (self->stream[j].asmp, now);
  look (self);
}

MccTime
mcc_assp_sender_next_timeout (const MccAsspSender *self)
{
  MccTime next = mcc_time_min (self->round_start + MCC_ASSP_ROUND, self->ssrcs_until);
  for (unsigned j = 0; j < count (self); j++) {
    next = mcc_time_min (next, mcc_asmp_sender_next_timeout (self->stream[j].asmp));
    next = mcc_time_min (next, mcc_assp_sender_floor_next (self, j));
    next = mcc_time_min (next, mcc_assp_sender_close_next (self, j));
  }
  return next;
}

/* An action of the stream's ASMP sender: false when it is not the host's business. */
static bool
translate (MccAsspSender *self, unsigned j, MccAsspSenderAction *out)
{
  switch (out->asmp.type) {
    case MCC_SENDER_FEEDBACK_LOST:
    case MCC_SENDER_FEEDBACK_FOUND:
      self->stream[j].lost = out->asmp.type == MCC_SENDER_FEEDBACK_LOST;
      look (self);
      return false;
    case MCC_SENDER_STOP:
    case MCC_SENDER_RESUME:
      return false;
    case MCC_SENDER_SEND_SESSION:
      if (self->stream[j].ended) /* receivers take it for gone */
        return false;
      self->streams.number++;
      out->streams = &self->streams;
      mcc_assp_sender_carry_others (self, j, out);
      return true;
    default:
      return true;
  }
}

bool
mcc_assp_sender_poll (MccAsspSender *self, MccAsspSenderAction *out)
{
  for (unsigned j = 0; j < count (self); j++) {
    MccAsspSenderStream *stream = &self->stream[j];
    memset (out, 0, sizeof *out);
    out->stream = j;
    if (stream->occupied != stream->told_occupied) {
      stream->told_occupied = stream->occupied;
      out->type = stream->occupied ? MCC_ASSP_SENDER_OCCUPIED : MCC_ASSP_SENDER_EMPTY;
      return true;
    }
    if (!stream->told_bounds) {
      stream->told_bounds = true;
      out->type = MCC_ASSP_SENDER_BOUNDS;
      out->bounds = self->streams.stream[j];
      return true;
    }
    while (mcc_asmp_sender_poll (stream->asmp, &out->asmp))
      if (translate (self, j, out))
        return true;
  }
  memset (out, 0, sizeof *out);
  if (self->lost == self->told_lost)
    return false;
  self->told_lost = self->lost;
  out->type = self->lost ? MCC_ASSP_SENDER_FEEDBACK_LOST : MCC_ASSP_SENDER_FEEDBACK_FOUND;
  return true;
}

unsigned
mcc_assp_sender_count (const MccAsspSender *self)
{
  return count (self);
}

const MccAsmpSender *
mcc_assp_sender_stream (const MccAsspSender *self, unsigned stream)
{
  assert (stream < count (self));
  return self->stream[stream].asmp;
}

uint64_t
mcc_assp_sender_average_bps (const MccAsspSender *self, unsigned stream)
{
  assert (stream < count (self));
  return self->streams.stream[stream].average_bps;
}

bool
mcc_assp_sender_ect (const MccAsspSender *self)
{
  bool any = false;

  for (unsigned j = 0; j < count (self); j++) {
    MccAsmpSenderStats stats;
    mcc_asmp_sender_get_stats (self->stream[j].asmp, self->now, &stats);
    if (stats.receivers > 0 && !stats.ect)
      return false;
    any = any || stats.ect;
  }
  return any;
}

bool
mcc_assp_sender_occupied (const MccAsspSender *self, unsigned stream)
{
  assert (stream < count (self));
  return self->stream[stream].occupied;
}

const MccAsspStreams *
mcc_assp_sender_streams (const MccAsspSender *self)
{
  return &self->streams;
}

const MccAsspLadder *
mcc_assp_sender_ladder (const MccAsspSender *self)
{
  return self->live ? &self->ladder : NULL;
}

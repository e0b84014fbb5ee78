/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpschedule.h"
#include "mccasspsenderprivate.h"

/* Ours. */
#define GUESS 1.5 /* times what is sent: what those may take whom nothing limits */
#define SAID_TIME (600 * MCC_SECOND) /* so long counts what somebody said who says nothing now */
#define TRY_TIME (20 * MCC_SECOND)   /* who could go up has, by then, or its rules keep it */
#define SPARE_TIME (6 * MCC_SECOND)  /* until all have heard of the new bounds and have gone */

static void
overall_bounds (const MccAsspStreams *streams, uint64_t *low_bps, uint64_t *high_bps)
{
  *low_bps = UINT64_MAX;
  *high_bps = 0;
  for (unsigned j = 0; j < streams->count; j++) {
    const MccAsspStream *stream = &streams->stream[j];
    if (!mcc_assp_streams_open (streams, j))
      continue;
    *low_bps = stream->low_bps < *low_bps ? stream->low_bps : *low_bps;
    *high_bps = stream->high_bps > *high_bps ? stream->high_bps : *high_bps;
  }
}

void
mcc_assp_sender_init_ladder (MccAsspSender *self)
{
  uint64_t low_bps, high_bps;
  unsigned most = self->config.max_streams;
  self->live = most > 0 && self->config.variant == MCC_VARIANT_ENHANCED;
  if (!self->live)
    return;
  overall_bounds (&self->streams, &low_bps, &high_bps);
  if (self->streams.count > most) {
    self->streams.count = most;
    mcc_assp_ladder_even (&self->streams, most, low_bps, high_bps);
  }
  mcc_assp_ladder_init (&self->ladder, low_bps, high_bps, self->streams.count, self->now);
}

void
mcc_assp_sender_bounds_set (MccAsspSender *self)
{
  if (!self->live)
    return;
  overall_bounds (&self->streams, &self->ladder.low_bps, &self->ladder.high_bps);
  self->ladder.changed = self->now;
}

static MccAsspSenderSaid *
said_of (MccAsspSender *self, uint32_t ssrc)
{
  MccAsspSenderSaid *said = &self->said[(ssrc ^ ssrc >> 16) % MCC_ASSP_SENDER_SAID];
  if (said->ssrc != ssrc || (said->bps > 0 && self->now - said->time >= SAID_TIME))
    *said = (MccAsspSenderSaid){ .ssrc = ssrc, .any_since = MCC_TIME_NONE };
  return said;
}

/* Says that it could take any rate, or nothing. */
static void
add_unlimited (MccAsspSender *self, unsigned j, MccAsspSenderSaid *said, bool any)
{
  uint64_t average_bps = self->streams.stream[j].average_bps;
  bool top = mcc_assp_streams_above (&self->streams, j) == MCC_ASSP_STREAMS_MAX;
  if (!any)
    said->any_since = MCC_TIME_NONE;
  else if (said->any_since == MCC_TIME_NONE || said->stream != j)
    said->any_since = self->now;
  said->stream = j;
  if (any && said->bps < average_bps)
    said->bps = 0; /* disproved */
  MccTime since = mcc_time_max (any ? said->any_since : self->now, self->ladder.changed);
  if (said->bps > 0)
    mcc_assp_ladder_add (&self->ladder, j, said->bps, said->bps);
  else if (any && top)
    mcc_assp_ladder_add (&self->ladder, j, (uint64_t)(GUESS * (double)average_bps), average_bps);
  else if (any && self->now - since >= TRY_TIME)
    mcc_assp_ladder_add (&self->ladder, j, average_bps, average_bps);
  else /* where there is another stream above it is about to try that */
    mcc_assp_ladder_add_unsettled (&self->ladder);
}

/* One of its large stream has moved since it was heard: behind the same link, it may have done so
 * too, and what it said of the stream is past. */
static bool
may_have_followed (const MccAsspSender *self, unsigned j, const MccReceiverInfo *info)
{
  MccTime moved = self->stream[j].moved;
  return moved != MCC_TIME_NONE && self->now - moved < MCC_ASMP_MANY_TIME
         && info->age > self->now - moved
         && mcc_asmp_sender_group (self->stream[j].asmp) > MCC_ASMP_FEW_RECEIVERS;
}

/* What a receiver of stream @j could take, as it says, or said. */
static void
add_receiver (MccAsspSender *self, unsigned j, const MccReceiverInfo *info)
{
  if (info->plain)
    return; /* goes nowhere */
  if (may_have_followed (self, j, info)) {
    mcc_assp_ladder_add_unsettled (&self->ladder);
    return;
  }
  MccAsspSenderSaid *said = said_of (self, info->ssrc);
  uint64_t bps = info->state == MCC_RECEIVER_ACTIVE ? info->potential_bps : 0;
  if (bps == 0 || bps >= MCC_APP_RATE_MAX) {
    add_unlimited (self, j, said, bps > 0);
    return;
  }
  *said = (MccAsspSenderSaid){
    .ssrc = info->ssrc, .bps = bps, .time = self->now, .any_since = MCC_TIME_NONE
  };
  mcc_assp_ladder_add (&self->ladder, j, bps, bps);
}

static void
collect (MccAsspSender *self)
{
  MccReceiverInfo info;
  mcc_assp_ladder_clear (&self->ladder);
  for (unsigned j = 0; j < self->streams.count; j++) {
    uint32_t members = mcc_asmp_sender_members (self->stream[j].asmp);
    for (uint32_t i = 0; i < members; i++) {
      mcc_asmp_sender_get_receiver (self->stream[j].asmp, i, self->now, &info);
      add_receiver (self, j, &info);
    }
  }
}

static void
take_bounds (MccAsspSender *self, unsigned j, const MccAsspStream *bounds)
{
  MccAsspStream *stream = &self->streams.stream[j];
  MccAsspSenderStream *ours = &self->stream[j];
  if (stream->low_bps == bounds->low_bps && stream->high_bps == bounds->high_bps
      && stream->flags == bounds->flags)
    return;
  if (bounds->low_bps > stream->low_bps && ours->occupied) {
    ours->spared_bps = ours->spared ? ours->spared_bps : stream->low_bps;
    ours->spared_until = self->now + SPARE_TIME;
  }
  *stream = *bounds;
  /* What was sent within other bounds asks nothing of who comes now. */
  if (!ours->occupied || stream->average_bps < stream->low_bps)
    stream->average_bps = stream->low_bps;
  if (stream->average_bps > stream->high_bps)
    stream->average_bps = stream->high_bps;
  ours->told_bounds = false;
  mcc_assp_sender_apply_bounds (self, j);
}

/* ---- streams that end ---- */

static bool
others_go_on (const MccAsspSender *self, unsigned j)
{
  for (unsigned k = 0; k < self->streams.count; k++)
    if (k != j && mcc_assp_sender_speaks (self, k))
      return true;
  return false;
}

/* The ladder is to have no hole where stream @j was. */
static void
replace (const MccAsspSender *self, unsigned j, MccAsspStreams *streams)
{
  const MccAsspStream *ended = &self->streams.stream[j];
  for (unsigned k = 0; k < streams->count; k++) {
    MccAsspStream *stream = &streams->stream[k];
    if (k == j || mcc_assp_streams_open (streams, k) || !mcc_assp_sender_speaks (self, k))
      continue;
    stream->flags &= ~MCC_ASSP_CLOSED;
    stream->low_bps = ended->low_bps;
    stream->high_bps = ended->high_bps;
    return;
  }
  unsigned below = mcc_assp_streams_below (streams, j), above = mcc_assp_streams_above (streams, j);
  if (below != MCC_ASSP_STREAMS_MAX)
    streams->stream[below].high_bps = ended->high_bps;
  else if (above != MCC_ASSP_STREAMS_MAX)
    streams->stream[above].low_bps = ended->low_bps;
}

static void
take_ladder (MccAsspSender *self, const MccAsspStreams *streams)
{
  for (unsigned j = 0; j < self->streams.count; j++)
    take_bounds (self, j, &streams->stream[j]);
  self->streams.ladder++;
}

static void
take_ends (MccAsspSender *self, const MccAsspStreams *streams)
{
  if (!mcc_assp_streams_valid (streams))
    return;
  take_ladder (self, streams);
  self->ladder.changed = self->now;
  mcc_assp_sender_share_rtcp (self, true);
  mcc_assp_sender_announce (self);
}

void
mcc_assp_sender_close_ended (MccAsspSender *self)
{
  for (unsigned j = 0; j < self->streams.count; j++) {
    MccAsspSenderStream *stream = &self->stream[j];
    if (!stream->ended || stream->closed || self->now < stream->close_at || !others_go_on (self, j))
      continue;
    MccAsspStreams changed = self->streams;
    bool open = mcc_assp_streams_open (&changed, j);
    changed.stream[j].flags |= MCC_ASSP_CLOSED;
    stream->closed = true;
    if (self->live)
      mcc_assp_ladder_set_gone (&self->ladder, j, true);
    if (self->live && open)
      replace (self, j, &changed);
    if (open)
      take_ends (self, &changed);
  }
}

/* It was closed as it had ended. A live ladder will find a use for it, or has no other. */
static void
open_again (MccAsspSender *self, unsigned j)
{
  MccAsspStreams changed = self->streams;
  if (self->live) {
    mcc_assp_ladder_set_gone (&self->ladder, j, false);
    for (unsigned k = 0; k < changed.count; k++) {
      if (mcc_assp_streams_open (&changed, k) && mcc_assp_sender_speaks (self, k))
        return;
      changed.stream[k].flags |= MCC_ASSP_CLOSED;
    }
    changed.stream[j].low_bps = self->ladder.low_bps;
    changed.stream[j].high_bps = self->ladder.high_bps;
  }
  changed.stream[j].flags &= ~MCC_ASSP_CLOSED;
  take_ends (self, &changed);
}

void
mcc_assp_sender_note_ended (MccAsspSender *self, unsigned j, bool ended)
{
  MccAsspSenderStream *stream = &self->stream[j];
  uint32_t *flags = &self->streams.stream[j].flags;
  if (stream->ended == ended)
    return;
  stream->ended = ended;
  mcc_asmp_sender_set_ended (stream->asmp, ended, self->now);
  stream->close_at = self->now + MCC_ASSP_END_TIME;
  bool running = !ended && !stream->rests;
  *flags = running ? *flags | MCC_ASSP_RUNNING : *flags & ~MCC_ASSP_RUNNING;
  if (!ended && stream->closed) {
    stream->closed = false;
    open_again (self, j);
  }
  mcc_assp_sender_share_rtcp (self, true);
  mcc_assp_sender_announce (self);
}

MccTime
mcc_assp_sender_close_next (const MccAsspSender *self, unsigned j)
{
  const MccAsspSenderStream *stream = &self->stream[j];
  bool pending = stream->ended && !stream->closed && self->now < stream->close_at;
  return pending ? stream->close_at : MCC_TIME_NONE;
}

void
mcc_assp_sender_end_round (MccAsspSender *self)
{
  if (!self->live)
    return;
  MccAsspStreams changed = self->streams;
  collect (self);
  if (mcc_assp_ladder_decide (&self->ladder, &changed, self->now))
    take_ladder (self, &changed);
}

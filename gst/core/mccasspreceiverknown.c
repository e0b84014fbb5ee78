/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What our path could carry if more were sent: as the sender is told, and as our own decisions
 * take it. Both are the same knowledge, or the sender would make ladders that we do not follow.
 */
#include "mccasmpschedule.h"
#include "mccasspreceiverprivate.h"

#include <math.h>

#define KNOWN_TIME_S 5.0 /* smoothing of what is known; ours */
#define SLUMP_OVER 1.2   /* times what the link carried then; ours */
/* What an average needs to know of a path that nothing limits: beyond what any decision needs. */
#define SAMPLE_MOST 2

/* What we could take, as far as measured: what the sender makes the ladder from. */
static void
note_known (MccAsspReceiver *self)
{
  uint64_t bps = mcc_assp_receiver_steady (self) ? mcc_asmp_receiver_known_bps (self->asmp) : 0;
  double gain = mcc_time_to_seconds (self->now - self->known_time) / KNOWN_TIME_S;
  self->known_time = self->now;
  if (bps == 0)
    return; /* what was known before counts for the while of a switch */
  self->unlimited = bps == UINT64_MAX;
  if (self->unlimited)
    self->known_bps = 0.0;
  else if (!(self->known_bps > 0.0))
    self->known_bps = (double)bps;
  else
    self->known_bps += fmin (gain, 1.0) * ((double)bps - self->known_bps);
}

uint64_t
mcc_assp_receiver_told_bps (const MccAsspReceiver *self)
{
  return self->unlimited ? MCC_APP_RATE_MAX : (uint64_t)self->known_bps;
}

/* What our queue has shown the path to carry counts also where less arrives: the sender, whom we
 * tell it, makes the ladder of it. */
static uint64_t
potential_bps (const MccAsspReceiver *self)
{
  uint64_t bps = mcc_asmp_receiver_potential_bps (self->asmp);
  uint64_t known_bps = mcc_asmp_receiver_known_bps (self->asmp);
  bool more = self->config.asmp.variant == MCC_VARIANT_ENHANCED && known_bps > bps;
  return more && known_bps != UINT64_MAX ? known_bps : bps;
}

/* What fell by itself rises by itself: where more is sent than the link carried then, and nothing
 * speaks against any rate, our going down says nothing of the streams that we left. */
static void
look_at_slump (MccAsspReceiver *self)
{
  const MccAppSession *session = &self->session[self->stream];
  if (self->slump_bps == 0 || !self->has_session[self->stream]
      || (double)session->target_bps < SLUMP_OVER * (double)self->slump_bps
      || (mcc_asmp_receiver_known_bps (self->asmp) != UINT64_MAX
          && !mcc_asmp_receiver_is_far_below (self->asmp)))
    return;
  self->slump_bps = 0;
  mcc_assp_level_forgive (&self->level, &self->streams, self->slump_stream, self->now);
}

bool
mcc_assp_receiver_is_among_few (const MccAsspReceiver *self)
{
  uint64_t sum = 0;
  for (unsigned j = 0; j < self->streams.count; j++)
    sum += self->has_session[j] ? self->session[j].receivers : 0;
  return sum <= MCC_ASMP_FEW_RECEIVERS;
}

void
mcc_assp_receiver_sample (MccAsspReceiver *self)
{
  note_known (self);
  look_at_slump (self);
  unsigned next = mcc_assp_streams_above (&self->streams, self->stream);
  uint64_t most = UINT64_MAX;
  if (next == MCC_ASSP_NO_STREAM)
    next = self->stream;
  /* A path that nothing limits has no rate: enough for the next stream is enough. */
  if (self->config.asmp.variant == MCC_VARIANT_ENHANCED)
    most = SAMPLE_MOST
           * (self->streams.stream[next].low_bps > self->streams.stream[next].average_bps
                   ? self->streams.stream[next].low_bps
                   : self->streams.stream[next].average_bps);
  mcc_assp_level_correct_bias (&self->level, mcc_assp_receiver_is_among_few (self));
  mcc_assp_level_sample (&self->level, potential_bps (self), most, self->now);
}

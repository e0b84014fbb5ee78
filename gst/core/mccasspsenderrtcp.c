/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasspsenderprivate.h"
#include "mccrtcp.h"

#define ANNOUNCEMENT_MOST 1200 /* bytes: one packet */
#define OCCUPIED_SHARE 0.9     /* of RTCP: ours; the others must be able to call for receivers */

#define SSRCS_TIME (100 * MCC_MSECOND) /* streams that begin together begin within it */

/* The RTCP of all streams reaches everybody, so it is a part of what the slowest receive. */
void
mcc_assp_sender_share_rtcp (MccAsspSender *self, bool force)
{
  unsigned n = 0, occupied = 0;
  uint64_t all = mcc_rtcp_base_bps (
      mcc_asmp_sender_target_bps (self->stream[mcc_assp_streams_lowest (&self->streams)].asmp),
      self->config.session_bandwidth_bps);
  if (all == self->rtcp_bps && !force)
    return;
  self->rtcp_bps = all;
  for (unsigned j = 0; j < self->streams.count; j++) {
    n += !self->stream[j].ended;
    occupied += !self->stream[j].ended && self->stream[j].occupied;
  }
  for (unsigned j = 0; j < self->streams.count; j++) {
    double part = n > 0 ? 1.0 / n : 0.0;
    if (self->stream[j].ended)
      part = 0.0;
    else if (occupied > 0 && occupied < n)
      part = self->stream[j].occupied ? OCCUPIED_SHARE / occupied
                                      : (1.0 - OCCUPIED_SHARE) / (n - occupied);
    uint64_t bps = mcc_assp_sender_limit_rate ((uint64_t)(part * (double)all) + 1);
    mcc_asmp_sender_set_session_bandwidth (self->stream[j].asmp, bps, self->now);
  }
}

/* RTCP's group is everybody's: the announcement of stream @j tells of the others, too. */
void
mcc_assp_sender_carry_others (MccAsspSender *self, unsigned j, MccAsspSenderAction *out)
{
  static const MccAsspApp session = { .subtype = MCC_APP_SESSION, .asmp.subtype = MCC_APP_SESSION };
  MccAsmpSender *asmp = self->stream[j].asmp;
  size_t more = mcc_assp_app_size (&session);
  for (unsigned k = 0; k < self->streams.count; k++) {
    if (k == j || self->stream[k].ended)
      continue;
    if (mcc_asmp_sender_announced_bytes (asmp) + more > ANNOUNCEMENT_MOST)
      return;
    out->also[k] = mcc_asmp_sender_piggyback (self->stream[k].asmp, self->now);
    if (out->also[k] != NULL)
      mcc_asmp_sender_carry (asmp, more);
  }
}

static bool
comes_before (const MccAsspStreams *streams, unsigned a, unsigned b)
{
  bool open = mcc_assp_streams_open (streams, a);
  if (open != mcc_assp_streams_open (streams, b))
    return open;
  return mcc_assp_streams_lower (streams, a, b);
}

void
mcc_assp_sender_announce (MccAsspSender *self)
{
  unsigned found = MCC_ASSP_STREAMS_MAX;
  for (unsigned j = 0; j < self->streams.count; j++)
    if (mcc_assp_sender_speaks (self, j)
        && (found == MCC_ASSP_STREAMS_MAX || comes_before (&self->streams, j, found)))
      found = j;
  if (found < MCC_ASSP_STREAMS_MAX)
    mcc_asmp_sender_announce (self->stream[found].asmp, self->now);
}

static bool
all_known (const MccAsspSender *self)
{
  for (unsigned j = 0; j < self->streams.count; j++)
    if (self->streams.stream[j].ssrc == 0 && !self->stream[j].ended)
      return false;
  return true;
}

void
mcc_assp_sender_init_ssrcs (MccAsspSender *self)
{
  self->ssrcs_until = MCC_TIME_NONE;
  for (unsigned j = 0; j < self->streams.count; j++)
    self->announces = self->announces || self->streams.stream[j].ssrc != 0;
}

void
mcc_assp_sender_await_ssrcs (MccAsspSender *self)
{
  if (self->announces || (!all_known (self) && self->now < self->ssrcs_until))
    return;
  self->announces = true;
  self->ssrcs_until = MCC_TIME_NONE;
  for (unsigned j = 0; j < self->streams.count; j++)
    if (self->streams.stream[j].ssrc != 0)
      mcc_asmp_sender_set_ssrc (self->stream[j].asmp, self->streams.stream[j].ssrc, self->now);
}

/* Whose word stream @j's new SSRC is believed on: a stream's that the receivers know. */
static unsigned
sponsor_of (const MccAsspSender *self, unsigned j)
{
  unsigned sponsor = j;
  for (unsigned k = self->streams.count; k-- > 0;)
    if (k != j && mcc_assp_sender_speaks (self, k)
        && (sponsor == j || self->stream[k].occupied || !self->stream[sponsor].occupied))
      sponsor = k;
  return sponsor;
}

void
mcc_assp_sender_note_ssrc (MccAsspSender *self, unsigned j, uint32_t ssrc)
{
  if (self->streams.stream[j].ssrc == ssrc)
    return;
  self->streams.stream[j].ssrc = ssrc;
  if (!self->announces) {
    if (self->ssrcs_until == MCC_TIME_NONE)
      self->ssrcs_until = self->now + SSRCS_TIME;
    mcc_assp_sender_await_ssrcs (self);
    return;
  }
  mcc_asmp_sender_set_ssrc (self->stream[j].asmp, ssrc, self->now);
  mcc_asmp_sender_announce (self->stream[sponsor_of (self, j)].asmp, self->now);
}

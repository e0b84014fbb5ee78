/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpsource.h"

#define RESTART_INTERVALS 3

void
mcc_asmp_source_init (MccAsmpSource *self, uint32_t wanted, MccTime timeout)
{
  memset (self, 0, sizeof *self);
  self->wanted = wanted;
  self->timeout = timeout;
  self->last = MCC_TIME_NONE;
  self->bye = MCC_TIME_NONE;
}

void
mcc_asmp_source_next (MccAsmpSource *self, uint32_t wanted, MccTime timeout)
{
  MccAsmpSource before = *self;
  mcc_asmp_source_init (self, wanted, timeout);
  self->has_host = before.has_host;
  self->host = before.host;
  self->host_heard = before.host_heard;
}

void
mcc_asmp_source_set_host (MccAsmpSource *self, const MccAddress *host, MccTime now)
{
  self->has_host = true;
  self->host = *host;
  self->host_heard = now;
}

/* The slot of @ssrc; else a free one, else the one that was quiet longest, made empty. */
static unsigned
find_candidate (MccAsmpSource *self, uint32_t ssrc, MccTime now)
{
  unsigned oldest = 0;
  for (unsigned i = 0; i < MCC_ASMP_SOURCE_CANDIDATES; i++) {
    if (self->candidate[i].used && self->candidate[i].ssrc == ssrc)
      return i;
    if (!self->candidate[oldest].used)
      continue;
    if (!self->candidate[i].used || self->candidate[i].time < self->candidate[oldest].time)
      oldest = i;
  }
  memset (&self->candidate[oldest], 0, sizeof self->candidate[oldest]);
  self->candidate[oldest].used = true;
  self->candidate[oldest].ssrc = ssrc;
  self->candidate[oldest].first = now;
  self->candidate[oldest].time = now;
  return oldest;
}

/* Whether the packet completes its sender's probation. */
static bool
probation_passed (MccAsmpSource *self, const MccRtpPacket *packet, MccTime now)
{
  unsigned i = find_candidate (self, packet->ssrc, now);
  bool passed
      = self->candidate[i].announced
        || (self->candidate[i].has_seq && packet->seq == (uint16_t)(self->candidate[i].seq + 1));
  self->candidate[i].has_seq = true;
  self->candidate[i].seq = packet->seq;
  self->candidate[i].time = now;
  return passed;
}

/* The sender we follow began anew: a new process has a new port, but sends on the same host, and
 * the old one was not heard since. */
static bool
looks_like_restart (MccAsmpSource *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  const MccAddress *address = &self->address;
  return from != NULL && self->has_address && from->family == address->family
         && memcmp (from->bytes, address->bytes, sizeof from->bytes) == 0
         && self->candidate[find_candidate (self, ssrc, now)].first > self->last;
}

static bool
may_take_over (const MccAsmpSource *self, bool restart, MccTime now)
{
  if (!self->following || self->lost)
    return true;
  MccTime silence = now - self->last;
  if (silence >= self->timeout)
    return true;
  return restart
         && silence >= mcc_time_max (RESTART_INTERVALS * self->interval, MCC_ASMP_SOURCE_RESTART);
}

static void
take_address (MccAsmpSource *self, const MccAddress *from, MccTime now)
{
  self->address = *from;
  if (self->has_host)
    mcc_asmp_source_set_host (self, from, now);
}

static void
follow (MccAsmpSource *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  self->following = true;
  self->lost = false;
  self->bye = MCC_TIME_NONE;
  self->ssrc = ssrc;
  self->has_address = from != NULL;
  if (from != NULL)
    take_address (self, from, now);
  self->last = now;
  self->interval = 0;
  memset (self->candidate, 0, sizeof self->candidate);
}

/* Our sender's SSRC from another host, while it is heard. */
static bool
is_impostor (const MccAsmpSource *self, const MccAddress *from, MccTime now)
{
  return self->has_address && from != NULL && !self->lost && now - self->last < self->timeout
         && !mcc_address_same_host (&self->address, from);
}

bool
mcc_asmp_source_is_elsewhere (const MccAsmpSource *self, const MccAddress *from, MccTime now)
{
  return self->has_host && from != NULL && now - self->host_heard < MCC_ASMP_SOURCE_MOVED
         && !mcc_address_same_host (&self->host, from);
}

MccSourceVerdict
mcc_asmp_source_handle_packet (
    MccAsmpSource *self, const MccRtpPacket *packet, const MccAddress *from, MccTime now)
{
  if (!self->following && mcc_asmp_source_is_elsewhere (self, from, now))
    return MCC_SOURCE_OTHER;
  if (self->following && packet->ssrc == self->ssrc) {
    if (is_impostor (self, from, now))
      return MCC_SOURCE_OTHER;
    if (from != NULL)
      take_address (self, from, now);
    MccTime gap = mcc_time_min (now - self->last, self->timeout);
    self->interval += gap / 16;
    self->interval -= self->interval / 16;
    self->last = now;
    if (self->bye == MCC_TIME_NONE || now - self->bye >= MCC_ASMP_SOURCE_BYE_GRACE) {
      self->lost = false; /* it is back, and nobody else has taken over */
      self->bye = MCC_TIME_NONE;
    }
    return MCC_SOURCE_OURS;
  }
  if (self->wanted == 0 || packet->ssrc == self->wanted) {
    bool passed = probation_passed (self, packet, now);
    bool restart = self->following && looks_like_restart (self, packet->ssrc, from, now);
    if (may_take_over (self, restart, now)) {
      if (!passed)
        return MCC_SOURCE_WAIT;
      follow (self, packet->ssrc, from, now);
      return MCC_SOURCE_NEW;
    }
    if (restart)
      return MCC_SOURCE_WAIT;
    if (!passed)
      return MCC_SOURCE_OTHER;
  }
  return mcc_asmp_source_tell (self, packet->ssrc) ? MCC_SOURCE_OTHER_NEW : MCC_SOURCE_OTHER;
}

void
mcc_asmp_source_handle_announced (MccAsmpSource *self, uint32_t ssrc, MccTime now)
{
  if ((self->following && ssrc == self->ssrc) || (self->wanted != 0 && ssrc != self->wanted))
    return;
  unsigned i = find_candidate (self, ssrc, now);
  self->candidate[i].announced = true;
  self->candidate[i].time = now;
}

bool
mcc_asmp_source_handle_bye (MccAsmpSource *self, uint32_t ssrc, MccTime now)
{
  if (!self->following || self->lost || ssrc != self->ssrc)
    return false;
  self->lost = true;
  self->bye = now;
  return true;
}

bool
mcc_asmp_source_handle_timeout (MccAsmpSource *self, MccTime now)
{
  if (!self->following || self->lost || now - self->last < self->timeout)
    return false;
  self->lost = true;
  return true;
}

void
mcc_asmp_source_excuse (MccAsmpSource *self, MccTime now)
{
  if (self->following)
    self->last = now;
  self->host_heard = now;
}

MccTime
mcc_asmp_source_next_timeout (const MccAsmpSource *self)
{
  return self->following && !self->lost ? self->last + self->timeout : MCC_TIME_NONE;
}

bool
mcc_asmp_source_tell (MccAsmpSource *self, uint32_t ssrc)
{
  for (unsigned i = 0; i < self->told_count; i++)
    if (self->told[i] == ssrc)
      return false;
  if (self->told_count == MCC_ASMP_SOURCE_TOLD)
    return false; /* a flood of SSRCs is no news */
  self->told[self->told_count++] = ssrc;
  return true;
}

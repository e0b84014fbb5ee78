/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccneighbours.h"

#include <string.h>

#include "mccjitter.h"

/* All ours. */
#define SPACING (10 * MCC_MSECOND)   /* of the packets kept */
#define SAME_TIME (50 * MCC_MSECOND) /* sent so near to each other, they met the same queue */
#define BEHIND (5 * MCC_MSECOND)     /* clocks' and stamps' steps; nobody is nearer than here */
#define ALIKE (20 * MCC_MSECOND)
#define ALIKE_PART 0.25               /* of the larger queue */
#define ALWAYS_NEAR (5 * MCC_MSECOND) /* however short the RTT */

void
mcc_neighbours_init (MccNeighbours *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_neighbours_handle_packet (
    MccNeighbours *self, uint32_t send_time, MccTimeDelta transit, MccTime now)
{
  if (self->seen_count > 0 && now < self->seen_last + SPACING)
    return;
  unsigned place = self->seen_count++ % MCC_NEIGHBOURS_SEEN;
  if (self->seen_count == 0)
    self->seen_count = MCC_NEIGHBOURS_SEEN;
  self->seen[place].send_time = send_time;
  self->seen[place].transit = transit;
  self->seen_last = now;
}

static uint64_t
magnitude (MccTimeDelta d)
{
  return (uint64_t)(d < 0 ? -d : d);
}

/* Our transit of what was sent about @send_time. */
static bool
find_transit (const MccNeighbours *self, uint32_t send_time, MccTimeDelta *out)
{
  unsigned count = self->seen_count < MCC_NEIGHBOURS_SEEN ? self->seen_count : MCC_NEIGHBOURS_SEEN;
  uint64_t best = SAME_TIME;
  bool found = false;
  for (unsigned i = 0; i < count; i++) {
    uint64_t apart = magnitude (mcc_abs_send_time_diff (self->seen[i].send_time, send_time));
    if (apart > best)
      continue;
    best = apart;
    *out = self->seen[i].transit;
    found = true;
  }
  return found;
}

static MccTimeDelta
newest_transit (const MccNeighbours *self)
{
  return self->seen[(self->seen_count - 1) % MCC_NEIGHBOURS_SEEN].transit;
}

static bool
alike (MccTime queue, MccTime own)
{
  MccTime more = mcc_time_max (queue, own), less = mcc_time_min (queue, own);
  return more - less <= mcc_time_max (ALIKE, (MccTime)(ALIKE_PART * (double)more));
}

void
mcc_neighbours_handle_report (MccNeighbours *self, uint32_t ssrc, uint32_t number, uint32_t echo,
    MccTimeDelta transit, MccTime queue, MccTime own_queue)
{
  MccTimeDelta own;
  unsigned place = ssrc % MCC_NEIGHBOURS_HEARD;
  self->heard[place].any = false;
  if (!find_transit (self, echo, &own))
    return;
  /* A queue that has fallen since hides how far away it is. */
  if (own - newest_transit (self) > (MccTimeDelta)ALIKE)
    return;
  self->heard[place].any = true;
  self->heard[place].alike = alike (queue, own_queue);
  self->heard[place].behind = own_queue <= queue || self->heard[place].alike;
  self->heard[place].ssrc = ssrc;
  self->heard[place].number = number;
  self->heard[place].away = transit - own;
  self->heard[place].transit = own;
}

/* Where what @ssrc has to say goes: it has one voice. */
static unsigned
find_voice (MccNeighbours *self, uint32_t ssrc)
{
  unsigned n = self->near_count < MCC_NEIGHBOURS_USED ? self->near_count : MCC_NEIGHBOURS_USED;
  for (unsigned i = 0; i < n; i++)
    if (self->near[i].ssrc == ssrc)
      return i;
  unsigned newest = self->near_count++ % MCC_NEIGHBOURS_USED;
  if (self->near_count == 0)
    self->near_count = MCC_NEIGHBOURS_USED;
  return newest;
}

/* The place of the median RTT. */
static unsigned
median (const MccNeighbours *self)
{
  unsigned n = self->near_count < MCC_NEIGHBOURS_USED ? self->near_count : MCC_NEIGHBOURS_USED;
  for (unsigned i = 0; i < n; i++) {
    unsigned below = 0, same = 0;
    for (unsigned k = 0; k < n; k++) {
      below += self->near[k].rtt < self->near[i].rtt;
      same += self->near[k].rtt == self->near[i].rtt;
    }
    if (below <= n / 2 && n / 2 < below + same)
      return i;
  }
  return 0;
}

static bool
is_not_far (const MccNeighbours *self, uint32_t ssrc, uint32_t number, MccTime rtt)
{
  unsigned place = ssrc % MCC_NEIGHBOURS_HEARD;
  if (!self->heard[place].any || self->heard[place].ssrc != ssrc
      || self->heard[place].number != number)
    return false;
  MccTimeDelta away = self->heard[place].away;
  double near = MCC_NEIGHBOURS_NEAR * (double)rtt;
  return away >= -(MccTimeDelta)BEHIND
         && (away <= (MccTimeDelta)ALWAYS_NEAR || (double)away <= near);
}

bool
mcc_neighbours_is_near (const MccNeighbours *self, uint32_t ssrc, uint32_t number, MccTime rtt)
{
  return is_not_far (self, ssrc, number, rtt) && self->heard[ssrc % MCC_NEIGHBOURS_HEARD].alike;
}

bool
mcc_neighbours_is_behind (const MccNeighbours *self, uint32_t ssrc, uint32_t number, MccTime rtt)
{
  return is_not_far (self, ssrc, number, rtt) && self->heard[ssrc % MCC_NEIGHBOURS_HEARD].behind;
}

bool
mcc_neighbours_handle_rtt (MccNeighbours *self, uint32_t ssrc, uint32_t number, MccTime rtt,
    MccTime *out, MccTimeDelta *out_transit)
{
  unsigned place = ssrc % MCC_NEIGHBOURS_HEARD;
  if (!mcc_neighbours_is_near (self, ssrc, number, rtt))
    return false;
  self->heard[place].any = false;
  unsigned newest = find_voice (self, ssrc);
  self->near[newest].ssrc = ssrc;
  self->near[newest].rtt = mcc_time_max (rtt, MCC_NEIGHBOURS_RTT_MIN);
  self->near[newest].transit = self->heard[place].transit;
  *out = self->near[median (self)].rtt;
  *out_transit = self->near[median (self)].transit;
  return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpreceiverceiling: what the path was seen to carry and no more (docs/design/assp.md).
 */
#include "mccasmpreceiverprivate.h"

#include <math.h>

/* All ours. */
#define OVERLOAD 0.9                   /* of what is sent: less arrives, with losses ... */
#define SHORT_TIME (400 * MCC_MSECOND) /* ... for so long: a window loses as many by chance */
#define FULL_TIME (400 * MCC_MSECOND)  /* a sender that was held up fills a queue for a moment */
#define A_PART 0.65 /* received, of what the link is seen to carry: others have the rest */
#define SHOWN_TIME (20 * MCC_SECOND) /* so long that lasts */
#define RAISED 1.15
#define DISPROVED_TIME (4 * MCC_SECOND) /* more arrives so long, without a queue or losses */
#define SAME_CEILING 0.25
#define EPISODE (2 * MCC_SECOND)
#define CEILING_TIME (120 * MCC_SECOND) /* at first */
#define CEILING_TIME_MAX (960 * MCC_SECOND)

static void
set_ceiling (MccAsmpReceiver *self, double bps)
{
  double ceiling = (double)self->ceiling_bps;
  if (!(fabs (bps - ceiling) < SAME_CEILING * ceiling))
    self->ceiling_life = CEILING_TIME;
  else if (self->now - self->ceiling_time >= self->ceiling_life)
    self->ceiling_life = mcc_time_min (2 * self->ceiling_life, CEILING_TIME_MAX);
  self->ceiling_bps = (uint64_t)bps;
  self->ceiling_time = self->now;
}

/* Less arrives than is sent, and not by the chance of a window. */
static bool
is_too_much (MccAsmpReceiver *self, const MccRateInput *input)
{
  bool too_little
      = self->has_session
        && (double)input->received_now_bps < OVERLOAD * (double)self->session.target_bps;
  bool loses = input->loss_in_interval;
  mcc_asmp_note_since (
      &self->short_since, too_little && (loses || self->short_since != MCC_TIME_NONE), self->now);
  return loses && self->short_since != MCC_TIME_NONE && self->now - self->short_since >= SHORT_TIME;
}

static bool
is_part (double bps, uint64_t link_bps)
{
  return bps < A_PART * (double)link_bps;
}

/* Others have a part of the link. Of many, what stands is often some of them who try the next
 * stream; and of our own sender's streams the one that is tried is nobody else's. */
static bool
note_part (MccAsmpReceiver *self, double received)
{
  uint64_t link_bps = mcc_rate_link_bps (self->rate);
  if (mcc_rate_fills_link (self->rate))
    self->shown_bps = 0;
  if (!is_part (received, link_bps) || !(received > 0.0) || self->now < self->shared_until
      || self->session.receivers > MCC_ASMP_FEW_RECEIVERS)
    return false;
  self->shown_bps = link_bps;
  self->shown_time = self->now;
  return true;
}

bool
mcc_asmp_receiver_has_part (const MccAsmpReceiver *self)
{
  return self->shown_bps > 0 && self->now - self->shown_time < SHOWN_TIME
         && is_part ((double)self->session.target_bps, self->shown_bps);
}

/* At just what it carries a link has no queue for a moment, either. */
static bool
is_disproved (MccAsmpReceiver *self, double received)
{
  double ceiling = (double)self->ceiling_bps;
  bool beyond = self->free_since != MCC_TIME_NONE && received > ceiling;
  mcc_asmp_note_since (&self->beyond_since, ceiling > 0.0 && beyond, self->now);
  return received > RAISED * ceiling
         || (self->beyond_since != MCC_TIME_NONE
             && self->now - self->beyond_since >= DISPROVED_TIME);
}

/* What the path was seen to carry and no more, lately: a stream that was too much, or a link that
 * only we fill. Seen again when it had been forgotten it lasts longer. */
void
mcc_asmp_receiver_note_ceiling (MccAsmpReceiver *self, const MccRateInput *input)
{
  MccRateMode mode = mcc_rate_mode (self->rate);
  double received = (double)input->received_now_bps, ceiling = (double)self->ceiling_bps;
  bool too_much = is_too_much (self, input);
  bool part = note_part (self, received);
  mcc_asmp_note_since (&self->full_since,
      mode != MCC_RATE_TCP && !part
          && self->path.standing > mcc_asmp_receiver_queue_of_ours (self, input)
          && !mcc_asmp_receiver_others_queue (self),
      self->now);
  bool full = self->full_since != MCC_TIME_NONE && self->now - self->full_since >= FULL_TIME;
  if (is_disproved (self, (double)input->received_bps))
    self->ceiling_bps = 0; /* it carries more by now */
  if (part && self->ceiling_of_queue && is_part (ceiling, self->shown_bps))
    self->ceiling_bps = 0; /* ... or did, for others */
  if (mode == MCC_RATE_START || !(received > 0.0) || !(too_much || full))
    return;
  if (self->now < self->shared_until) /* nor is it our part that the link carries */
    return;
  /* A link that became slow by itself may become fast as well. */
  if (self->slumped > 0 && self->now - self->slumped < EPISODE)
    return;
  if (self->now - self->ceiling_time < EPISODE)
    received = fmax (received, ceiling); /* one episode: its highest */
  bool of_queue = !too_much && (self->ceiling_of_queue || self->ceiling_bps == 0);
  set_ceiling (self, received);
  self->ceiling_of_queue = of_queue;
}

void
mcc_asmp_receiver_note_shared (MccAsmpReceiver *self, MccTime until, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  self->shared_until = until;
}

void
mcc_asmp_receiver_note_carried (MccAsmpReceiver *self, uint64_t bps, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  if (bps == 0)
    return;
  set_ceiling (self, (double)bps);
  self->ceiling_of_queue = false;
}

uint64_t
mcc_asmp_receiver_ceiling_bps (const MccAsmpReceiver *self)
{
  bool known = self->ceiling_bps > 0 && self->now - self->ceiling_time < self->ceiling_life;
  return known ? (uint64_t)(MCC_ASMP_CEILING_SHARE * (double)self->ceiling_bps) : UINT64_MAX;
}

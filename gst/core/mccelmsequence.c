/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmsequence.h"

#include <string.h>

#include "mccjitter.h"
#include "mccnumbering.h"

void
mcc_elm_sequence_init (MccElmSequence *self)
{
  memset (self, 0, sizeof *self);
  mcc_elm_sequence_restart (self, -1);
}

void
mcc_elm_sequence_join (MccElmSequence *self, unsigned layer)
{
  self->layer[layer] = (MccElmSequenceLayer){ .missing_since = MCC_TIME_NONE };
}

void
mcc_elm_sequence_restart (MccElmSequence *self, int but)
{
  for (int k = 0; k < MCC_ELM_LAYERS_MAX; k++)
    if (k != but)
      mcc_elm_sequence_join (self, (unsigned)k);
}

/* Of a packet with @c, the number in its layer. */
static uint16_t
own_number (const uint16_t *c, unsigned layer)
{
  return (uint16_t)(c[layer] - (layer > 0 ? c[layer - 1] : 0));
}

unsigned
mcc_elm_sequence_missing (
    MccElmSequence *self, unsigned layer, const uint16_t *c, MccTime now, MccTime *since)
{
  MccElmSequenceLayer *of = &self->layer[layer];
  uint16_t own = own_number (c, layer);
  if (!of->started && !of->told) {
    of->told = true;
    of->told_first = own;
  }
  uint16_t sent = (uint16_t)(own - (of->started ? of->highest : of->told_first));
  sent = sent < 0x8000 ? sent : 0;
  of->missing_since = sent > 0 ? mcc_time_min (of->missing_since, now) : MCC_TIME_NONE;
  *since = of->missing_since;
  return sent;
}

/* Whether the packet before this one was as far off, and just before it. */
static bool
agrees (MccElmSequenceLayer *of, uint16_t own)
{
  bool agreed = of->jumped && own == of->jumped_to;
  of->jumped = true;
  of->jumped_to = (uint16_t)(own + 1);
  return agreed;
}

/* Of a packet that is far off, and agreed with. */
static bool
is_restart (const MccElmSequenceLayer *of, uint16_t ahead, const MccRtpPacket *packet, MccTime now)
{
  if (ahead < 0x8000 || now - of->arrival >= MCC_NUMBERING_RESTART)
    return true;
  return of->stamped && packet->has_send_time
         && mcc_abs_send_time_diff (packet->send_time, of->send_time) > 0;
}

bool
mcc_elm_sequence_number (MccElmSequence *self, unsigned layer, const uint16_t *c,
    const MccRtpPacket *packet, MccTime now, uint16_t *out)
{
  MccElmSequenceLayer *of = &self->layer[layer];
  uint16_t own = own_number (c, layer);
  uint16_t ahead = (uint16_t)(own - of->highest), behind = (uint16_t)-ahead;

  of->missing_since = MCC_TIME_NONE;
  if (of->started && behind < of->known) {
    *out = of->given[own % MCC_ELM_SEQUENCE_LATE];
    return true;
  }
  bool far = of->started && ahead > MCC_ELM_SEQUENCE_JUMP;
  if (far && !(agrees (of, own) && is_restart (of, ahead, packet, now)))
    return false;
  if (!of->started || far) {
    of->known = 0;
    ahead = 1;
  }
  of->jumped = false;
  for (uint16_t i = (uint16_t)(own - ahead + 1); i != (uint16_t)(own + 1); i++)
    of->given[i % MCC_ELM_SEQUENCE_LATE] = ++self->number;
  of->known = of->known + ahead < MCC_ELM_SEQUENCE_LATE ? of->known + ahead : MCC_ELM_SEQUENCE_LATE;
  of->started = true;
  of->highest = own;
  of->stamped = packet->has_send_time;
  of->send_time = packet->send_time;
  of->arrival = now;
  *out = self->number;
  return true;
}

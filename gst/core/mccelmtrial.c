/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmtrial.h"

#include <math.h>
#include <string.h>

#include "mcctcp.h"

/* All ours. */
#define WINDOW_MIN (300 * MCC_MSECOND)
#define WINDOW_RTTS 1.5
#define TOO_MUCH_LOST 0.05
#define TOO_MUCH_DEVIATIONS 3.0
#define RIVAL_WINDOWS 2 /* TCP's overflow of a queue is over after an RTT */
#define OVERLOAD_LOST 0.1
#define OVERLOAD_WINDOWS 2
#define OVERLOAD_SHARE 0.5
#define RISING_WINDOWS 3
#define RISING_QUEUE (60 * MCC_MSECOND)
#define QUEUE_SEEN (20 * MCC_MSECOND) /* less is none */
#define BEFORE_GAIN 0.1

void
mcc_elm_trial_init (MccElmTrial *self)
{
  memset (self, 0, sizeof *self);
  self->start = MCC_TIME_NONE;
}

void
mcc_elm_trial_begin (MccElmTrial *self, MccTime now)
{
  mcc_elm_trial_pause (self);
  self->trial_until = now + MCC_ELM_TRIAL_TIME;
}

void
mcc_elm_trial_pause (MccElmTrial *self)
{
  self->start = MCC_TIME_NONE;
  self->heavy = self->rising = self->unusual = 0;
  self->trial_until = 0;
  self->fraction = 0.0;
}

bool
mcc_elm_trial_active (const MccElmTrial *self, MccTime now)
{
  return now < self->trial_until;
}

void
mcc_elm_trial_shift (MccElmTrial *self, MccTime passed, MccTime now)
{
  MccTime until = mcc_elm_trial_active (self, now - passed) ? self->trial_until + passed : 0;
  mcc_elm_trial_pause (self);
  self->trial_until = until;
}

static void
begin_window (MccElmTrial *self, const MccElmTrialInput *input)
{
  self->start = input->now;
  self->received = input->received;
  self->lost = input->lost;
}

/* Whether the queue has risen for long enough. */
static bool
queue_rises (MccElmTrial *self, const MccElmTrialInput *input)
{
  bool rises = self->rising > 0 && input->queue_least > self->queue;
  if (!rises) {
    self->rising = 1;
    self->queue_first = input->queue_least;
  } else {
    self->rising++;
  }
  self->queue = input->queue_least;
  return self->rising > RISING_WINDOWS && self->queue - self->queue_first >= RISING_QUEUE;
}

bool
mcc_elm_trial_is_unusual (const MccElmTrial *self, uint64_t lost, uint64_t sent)
{
  double usual = self->before * (double)sent;
  return (double)lost > usual + TOO_MUCH_DEVIATIONS * sqrt (usual + 1.0);
}

MccElmVerdict
mcc_elm_trial_look (MccElmTrial *self, const MccElmTrialInput *input, bool *ended)
{
  *ended = false;
  if (self->start == MCC_TIME_NONE || input->received < self->received
      || input->lost < self->lost) {
    begin_window (self, input);
    return MCC_ELM_BEARS;
  }
  uint64_t lost = input->lost - self->lost, sent = input->received - self->received + lost;
  MccTime length = mcc_time_from_seconds (WINDOW_RTTS * mcc_time_to_seconds (input->rtt));
  if (input->now - self->start < mcc_time_max (length, WINDOW_MIN) || sent < MCC_ELM_TRIAL_PACKETS)
    return MCC_ELM_BEARS;
  *ended = true;
  begin_window (self, input);
  self->fraction = (double)lost / (double)sent;
  double x_bps = mcc_tcp_rate_bps (&mcc_tcp_model_default, fmax (input->packet_bytes, 1.0),
      mcc_time_to_seconds (mcc_time_max (input->rtt, MCC_MSECOND)), self->fraction);
  bool top = input->queue_top < QUEUE_SEEN || input->queue_least >= input->queue_top / 2;
  bool heavy = self->fraction >= OVERLOAD_LOST && x_bps < OVERLOAD_SHARE * input->sent_bps && top
               && mcc_elm_trial_is_unusual (self, lost, sent);
  self->heavy = heavy ? self->heavy + 1 : 0;
  if (mcc_elm_trial_active (self, input->now)) {
    bool rises = queue_rises (self, input);
    bool unusual = self->fraction >= TOO_MUCH_LOST && mcc_elm_trial_is_unusual (self, lost, sent)
                   && x_bps < input->sent_bps;
    self->unusual = unusual ? self->unusual + 1 : 0;
    if (self->unusual >= (input->alone ? 1 : RIVAL_WINDOWS) || (rises && input->alone))
      return MCC_ELM_TOO_MUCH;
  } else if (!heavy) { /* an overload is not what is usual, however long it lasts */
    double gain = fmax (BEFORE_GAIN, 1.0 / ++self->windows);
    self->before += gain * (self->fraction - self->before);
    if (self->before < 1e-4)
      self->before = 0.0;
  }
  return self->heavy >= OVERLOAD_WINDOWS ? MCC_ELM_OVERLOAD : MCC_ELM_BEARS;
}

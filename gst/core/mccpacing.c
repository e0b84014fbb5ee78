/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccpacing.h"

#define MEMORY 8.0 /* frames, of the mean */

const MccPacing mcc_pacing_default = { 0 };

/* In whole milliseconds, so that it changes now and then only. */
MccPacing
mcc_pacing_beside (MccTime rtt)
{
  MccTime burst = rtt / MCC_PACING_BURST_OF_RTT / MCC_MSECOND * MCC_MSECOND;
  MccPacing pacing = { .even = true };
  pacing.burst = rtt == 0 ? MCC_PACING_BURST_MOST
                          : mcc_time_clamp (burst, MCC_PACING_BURST_LEAST, MCC_PACING_BURST_MOST);
  return pacing;
}

bool
mcc_pacing_equal (const MccPacing *a, const MccPacing *b)
{
  return a->pairs == b->pairs && a->even == b->even && a->burst == b->burst;
}

void
mcc_pacing_frames_init (MccPacingFrames *self)
{
  *self = (MccPacingFrames){ .first = MCC_TIME_NONE, .newest = MCC_TIME_NONE };
}

double
mcc_pacing_frames_handle (MccPacingFrames *self, MccTime now)
{
  if (self->first == MCC_TIME_NONE) {
    self->first = now;
  } else if (now > self->newest + MCC_PACING_FRAME_GAP
             || now > self->first + MCC_PACING_FRAME_COMES) {
    double time_s = mcc_time_to_seconds (mcc_time_min (now - self->first, MCC_PACING_FRAME_MOST));
    self->mean_s += (time_s - self->mean_s) / (self->mean_s > 0.0 ? MEMORY : 1.0);
    self->first = now;
  }
  self->newest = now;
  return self->mean_s;
}

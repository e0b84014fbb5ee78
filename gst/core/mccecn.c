/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccecn.h"

#include <string.h>

#define ECT1_MOST 2 /* ours, as all below */
#define RUN_RTTS 10
#define BARE_RUN 20 /* an announcement and the packets that it speaks of cross */

void
mcc_ecn_init (MccEcnJudge *self)
{
  memset (self, 0, sizeof *self);
}

void
mcc_ecn_handle_announced (MccEcnJudge *self, bool ect)
{
  if (ect != self->announced_ect)
    self->bare_run = 0;
  self->announced = true;
  self->announced_ect = ect;
}

static void
set_broken (MccEcnJudge *self, MccTime now)
{
  self->broken = true;
  self->wrong = now;
  self->right = 0;
}

static void
judge (MccEcnJudge *self, MccEcn ecn, MccTime rtt, MccTime now)
{
  MccTime time = mcc_time_max (MCC_ECN_RUN_TIME, RUN_RTTS * rtt);

  if (ecn == MCC_ECN_ECT1 && self->ect1++ >= ECT1_MOST) {
    self->ect1 = ECT1_MOST;
    set_broken (self, now);
  }
  if (ecn == MCC_ECN_CE && self->run >= MCC_ECN_RUN && now - self->run_since >= time)
    set_broken (self, now);
  if (!self->broken || ecn != MCC_ECN_ECT0)
    return;
  if (self->right < MCC_ECN_RUN)
    self->right++;
  else if (now - self->wrong >= MCC_ECN_RETRY) {
    self->broken = false;
    self->ect1 = 0;
  }
}

void
mcc_ecn_handle_silence (MccEcnJudge *self, MccTime now)
{
  /* Where the marks are taken off packets come all the same. */
  if (self->announced_ect && !self->seen && self->bare_run < BARE_RUN) {
    set_broken (self, now);
    self->silent = true;
  }
}

void
mcc_ecn_handle_return (MccEcnJudge *self, MccEcn ecn, bool follows)
{
  if (self->silent && (follows || ecn != MCC_ECN_NOT_ECT))
    self->broken = false; /* it was so for the silence alone: no ECT had come that could be wrong */
  self->silent = false;
}

bool
mcc_ecn_handle_packet (MccEcnJudge *self, MccEcn ecn, MccTime rtt, MccTime now)
{
  self->newest = ecn;
  self->seen = self->seen || ecn != MCC_ECN_NOT_ECT;
  if (ecn != MCC_ECN_CE)
    self->run = 0;
  else if (self->run++ == 0)
    self->run_since = now;
  if (self->run > MCC_ECN_RUN)
    self->run = MCC_ECN_RUN;
  if (ecn != MCC_ECN_NOT_ECT)
    self->bare_run = 0;
  else if (self->bare_run < BARE_RUN)
    self->bare_run++;
  judge (self, ecn, rtt, now);
  self->marked += ecn == MCC_ECN_CE;
  return ecn == MCC_ECN_CE && !self->broken && (!self->announced || self->announced_ect);
}

MccEcnPath
mcc_ecn_path (const MccEcnJudge *self)
{
  if (self->broken)
    return MCC_ECN_PATH_BROKEN;
  if (self->announced_ect && self->bare_run >= BARE_RUN)
    return MCC_ECN_PATH_BLEACHES;
  if (self->newest == MCC_ECN_NOT_ECT || (self->announced && !self->announced_ect))
    return MCC_ECN_PATH_NONE;
  return MCC_ECN_PATH_GOOD;
}

const char *
mcc_ecn_path_name (MccEcnPath path)
{
  static const char *const names[] = { "none", "good", "bleached", "broken" };
  return names[path];
}

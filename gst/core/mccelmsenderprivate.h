/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmsenderprivate: the sender's state, for mccelmsender*.c only.
 *
 *   mccelmsender.c         what comes, when: handle, next_timeout, poll
 *   mccelmsendercontrol.c  rates, feedback interval, members, the target
 */
#pragma once

#include "mccelmsender.h"
#include "mccmeter.h"

struct MccElmSender {
  MccElmSenderConfig config;
  MccTime now;
  MccAsmpSender *asmp;
  MccElmLayers layers; /* as announced */
  MccMeter meter[MCC_ELM_LAYERS_MAX];
  MccTime last_sent[MCC_ELM_LAYERS_MAX];
  MccTime begun[MCC_ELM_LAYERS_MAX]; /* the first packet left; MCC_TIME_NONE */
  MccTime look_next;
  MccTime round_start;
  /* t_fb */
  MccTime interval; /* by the control, without the budget's floor */
  MccTime period_start;
  uint64_t period_reports;
  double feedback_hz;
  /* Who is where. */
  uint32_t members[MCC_ELM_LAYERS_MAX], told_members[MCC_ELM_LAYERS_MAX];
  bool tell_members;
  /* The rate to be made. */
  MccElmWhole whole;
  bool moves_whole, tell_whole;
};

static inline unsigned
mcc_elm_sender_count (const MccElmSender *self)
{
  return self->layers.count;
}

static inline uint64_t
mcc_elm_sender_base_bps (const MccElmSender *self)
{
  return self->layers.layer[0].cumulative_bps;
}

/* It came to layers that had begun, and its rate is not measured yet. */
static inline bool
mcc_elm_sender_is_new (const MccElmSender *self, unsigned layer, MccTime now)
{
  MccTime begun = self->begun[layer];
  return begun != self->begun[0] && (begun == MCC_TIME_NONE || now - begun < MCC_ELM_RATE_WINDOW);
}

/* mccelmsendercontrol.c */
void mcc_elm_sender_share_rtcp (MccElmSender *self);
/* What is announced as t_fb. */
void mcc_elm_sender_apply_interval (MccElmSender *self);
/* Once a second, about. */
void mcc_elm_sender_look (MccElmSender *self);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmmemory: which layers were joined in vain (enhanced; ours).
 *
 * The layer that was joined last, and is left within MCC_ELM_KEPT and its last wait, has failed;
 * one that was there before has not. A layer that was left is not joined again before `retry`: the
 * wait is MCC_ELM_BACK_OFF_MIN at first and doubles with each failure in sequence, up to
 * MCC_ELM_BACK_OFF_MAX. Failures of others that we have suffered from count as ours, but one in a
 * wait: however many receivers there are behind a bottleneck, all of them together try about as
 * often as one; and however many failures are forged, the wait grows no faster than by our own.
 */
#pragma once

#include "mccelmlayers.h"

#define MCC_ELM_BACK_OFF_MIN (8 * MCC_SECOND)
#define MCC_ELM_BACK_OFF_MAX (256 * MCC_SECOND)
#define MCC_ELM_HOLD (60 * MCC_SECOND)
#define MCC_ELM_KEPT (20 * MCC_SECOND)

typedef struct {
  MccTime wait[MCC_ELM_LAYERS_MAX];  /* the last one; 0: none */
  MccTime retry[MCC_ELM_LAYERS_MAX]; /* 0: at once */
  MccTime hold[MCC_ELM_LAYERS_MAX];  /* ... while we are alone; 0: none */
  bool learned[MCC_ELM_LAYERS_MAX];  /* another one's failure has made it */
  unsigned newest;                   /* the layer that was joined last; 0: none, or left */
  MccTime joined;
} MccElmMemory;

void mcc_elm_memory_init (MccElmMemory *self);
void mcc_elm_memory_joined (MccElmMemory *self, unsigned layer, MccTime now);
/* The layer was left because it is too much, or it did not come. True: that counts as a failure. */
bool mcc_elm_memory_left (MccElmMemory *self, unsigned layer, MccTime now);
/* It has failed while we were alone: MCC_ELM_HOLD is its least wait as long as we are. */
void mcc_elm_memory_hold (MccElmMemory *self, unsigned layer, MccTime now);
bool mcc_elm_memory_holds (const MccElmMemory *self, unsigned layer, MccTime now);
/* Another one's join of it failed, at our cost. False: it makes no difference. */
bool mcc_elm_memory_learn (MccElmMemory *self, unsigned layer, MccTime now);
bool mcc_elm_memory_allows (const MccElmMemory *self, unsigned layer, MccTime now);

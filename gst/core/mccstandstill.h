/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccstandstill: links that stand still for a moment, as radio links and virtual machines do
 * (enhanced; ours). Nothing comes for much longer than packets are apart, and what comes then is
 * late by about as long: it has waited, or stands behind what others sent in one burst.
 *
 * Laws: packets that were sent late, or lost, are none; constant memory and cost.
 */
#pragma once

#include <stdbool.h>

#include "mcctime.h"

typedef struct {
  MccTime last;  /* arrival */
  MccTime queue; /* of that packet */
  double apart;  /* packets, smoothed, ns; 0: none yet */
} MccStandstill;

void mcc_standstill_init (MccStandstill *self);
/* A packet that waited @queue came at @arrival. How long the link stood still before it; 0: it did
 * not. */
MccTime mcc_standstill_handle_packet (MccStandstill *self, MccTime queue, MccTime arrival);

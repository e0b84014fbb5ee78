/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccslump: whether the link carries far less all of a sudden, and how much.
 *
 * Ours. Packets that queue at the bottleneck arrive at its rate, and where they were sent at x
 * times that the queue grows by (1 - 1/x) of the time. Law: over the last MCC_SLUMP_PACKETS
 * packets, and over either half of them (a rival's burst is in one), the queue grew by
 * MCC_SLUMP_SLOPE of the time they took to arrive at least, and by MCC_SLUMP_QUEUE in all: then
 * what the link carries of us is what the newer half arrived at. A mean over a longer time still
 * tells of before.
 */
#pragma once

#include "mcctime.h"

#define MCC_SLUMP_PACKETS 16
#define MCC_SLUMP_SLOPE 0.5 /* twice of what arrives was sent */
#define MCC_SLUMP_QUEUE (25 * MCC_MSECOND)

typedef struct {
  struct {
    MccTime time, queue;
    uint32_t bytes;
  } packet[MCC_SLUMP_PACKETS + 1]; /* a ring */
  unsigned count;
} MccSlump;

void mcc_slump_clear (MccSlump *self);
/* A packet came after so long in the queue. */
void mcc_slump_handle_packet (MccSlump *self, uint32_t bytes, MccTime queue, MccTime now);
/* What the link carries now; 0: it has not slumped just now. */
uint64_t mcc_slump_bps (const MccSlump *self);

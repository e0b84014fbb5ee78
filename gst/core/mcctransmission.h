/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcctransmission: what of a packet's delay is its own transmission (enhanced; ours).
 *
 * The baseline of the delays (mccqueue.h) is that of small packets: they are on a slow link for
 * less time. There a large one is late without any queue, 32 ms for 1200 bytes at 300 kbit/s, and
 * a video's frames would be taken for a queue that stands. What a byte takes is the difference of
 * the smallest delays of large and of small packets of the last MCC_TRANSMISSION_SPAN: a queue that
 * stands delays both alike.
 *
 * Laws: 0 <= what is left <= the queue; packets of one size keep theirs; a byte takes no longer
 * than at the rate that arrives, so that a link of C of which we receive R hides at most
 * 8 bytes (1/R - 1/C). Constant memory and cost.
 */
#pragma once

#include <stdint.h>

#include "mcctime.h"

#define MCC_TRANSMISSION_SPAN (10 * MCC_SECOND)
#define MCC_TRANSMISSION_CLASSES 16 /* of MCC_TRANSMISSION_BYTES each, and all above */
#define MCC_TRANSMISSION_BYTES 128

typedef struct {
  struct {
    uint32_t packets;
    uint32_t bytes;                     /* of that with the smallest delay */
    MccTime least;                      /* that delay */
  } sized[2][MCC_TRANSMISSION_CLASSES]; /* this and the last half of the span */
  MccTime half_since;
  double s_per_byte;
  uint32_t small_bytes; /* whose delay is the baseline's */
} MccTransmission;

void mcc_transmission_init (MccTransmission *self, MccTime now);
/* @queue: delay above the baseline, ns, of a packet of @bytes that came @now. Returns what of it is
 * no transmission of its own. */
MccTime mcc_transmission_handle_packet (
    MccTransmission *self, uint32_t bytes, MccTime queue, MccTime now);
/* What it takes off the queue for a packet of @bytes. */
MccTime mcc_transmission_own (const MccTransmission *self, uint32_t bytes);
/* What a byte takes, anew; at each decision. @received_bps: the rate that arrives; 0: not known. */
void mcc_transmission_update (MccTransmission *self, uint64_t received_bps);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmlink: what the link carries, seen while our packets stand in its queue (enhanced; ours).
 *
 * Packets that wait in a queue one behind the other arrive at the link's rate. A stretch is a row
 * of packets that each waited for at least the floor; where the wait grew by a part of the time
 * that they took to arrive, more was sent than carried, and what arrived is
 *
 *   C = 8 bytes / time,  of the bytes behind the stretch's first packet
 *
 * Law: alone on the link, and with a floor above the time that the link takes for one packet, C is
 * the link's rate within a packet of the stretch; beside others it is our share of it. A delay that
 * is only longer, or jitters, does not grow, and makes no C.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

typedef struct {
  unsigned packets; /* of the stretch; 0: none */
  MccTime first, last;
  MccTime queue_first, queue_last;
  uint64_t bytes; /* behind the first one */
} MccElmLink;

void mcc_elm_link_clear (MccElmLink *self);
/* A packet came at @now after @queue in the queue. */
void mcc_elm_link_handle_packet (
    MccElmLink *self, uint32_t bytes, MccTime queue, MccTime floor, MccTime now);
/* C in bit/s of a stretch of at least @packets and @time whose wait grew by the part @slope of it;
 * 0: it is none. */
double mcc_elm_link_bps (const MccElmLink *self, unsigned packets, MccTime time, double slope);
/* How fast that was sent, bit/s; 0: there is no stretch. */
double mcc_elm_link_sent_bps (const MccElmLink *self);

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccneighbours: which other receivers are near, and the RTT that one of them has (ours; no paper).
 *
 * A report echoes a packet's send time and says for how long it was held. With our own transit of a
 * packet sent at that time
 *
 *   away = arrival of the report - hold - send time - transit
 *
 * is, where reports travel along the tree, the RTT between the reporter and the point where its
 * path parts from ours: clocks and what both have in common, queues too, cancel. Laws:
 *  - Who is away by less than MCC_NEIGHBOURS_NEAR of its own RTT has about ours: until our own is
 *    measured that may be borrowed, as the sender announced it for the very report that we heard.
 *    Of several the median of the newest of MCC_NEIGHBOURS_USED reporters.
 *  - Whose standing queue is not about ours is not near: elsewhere the queues' difference may
 * happen to be what the paths are apart. But who joins finds a queue that it takes for none: who is
 * as near, and has a longer one, is behind the same.
 *  - Nobody is near whose packet met more of our queue than stands now: reports from elsewhere come
 *    through it, and what it has fallen by hides how far.
 *  - A borrowed RTT is MCC_NEIGHBOURS_RTT_MIN at least: a lie of a reporter (a false hold) makes it
 *    not shorter, and ends with our own first measurement.
 *  - Where others' reports come another way, or not at all, nobody is near.
 * Constant memory and cost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_NEIGHBOURS_NEAR 0.25
#define MCC_NEIGHBOURS_RTT_MIN (50 * MCC_MSECOND)
#define MCC_NEIGHBOURS_SEEN 128
#define MCC_NEIGHBOURS_HEARD 256
#define MCC_NEIGHBOURS_USED 5

typedef struct {
  /* Own packets of the last second or so, MCC_NEIGHBOURS_SPACING apart. */
  struct {
    uint32_t send_time;
    MccTimeDelta transit;
  } seen[MCC_NEIGHBOURS_SEEN];
  unsigned seen_count; /* ever */
  MccTime seen_last;
  /* Reports whose RTT the sender may announce: the newest of those that fall on a place. */
  struct {
    bool any;
    bool alike;  /* its queue and ours ... */
    bool behind; /* ... or its queue is longer: of ours what stood before we came is not known */
    uint32_t ssrc, number;
    MccTimeDelta away, transit;
  } heard[MCC_NEIGHBOURS_HEARD];
  /* RTTs of those near, the newest of each. */
  struct {
    uint32_t ssrc;
    MccTime rtt;
    MccTimeDelta transit;
  } near[MCC_NEIGHBOURS_USED];
  unsigned near_count; /* ever */
} MccNeighbours;

void mcc_neighbours_init (MccNeighbours *self);
/* A packet of ours; transit as in mccjitter.h. */
void mcc_neighbours_handle_packet (
    MccNeighbours *self, uint32_t send_time, MccTimeDelta transit, MccTime now);
/* Another one's report @number. @queue: its standing queue; @own_queue: ours. @transit: what a
 * packet sent at @echo would have had, had it come when this report came, less its hold. */
void mcc_neighbours_handle_report (MccNeighbours *self, uint32_t ssrc, uint32_t number,
    uint32_t echo, MccTimeDelta transit, MccTime queue, MccTime own_queue);
/* Whether @ssrc, whose report @number was just handled and says @rtt, is near. */
bool mcc_neighbours_is_near (
    const MccNeighbours *self, uint32_t ssrc, uint32_t number, MccTime rtt);
/* Whether it is behind the same queue, of which we may know only what came since we joined. */
bool mcc_neighbours_is_behind (
    const MccNeighbours *self, uint32_t ssrc, uint32_t number, MccTime rtt);
/* The sender measured @rtt from report @number of @ssrc. True: *out is about ours, and belongs to
 * our transit *out_transit. */
bool mcc_neighbours_handle_rtt (MccNeighbours *self, uint32_t ssrc, uint32_t number, MccTime rtt,
    MccTime *out, MccTimeDelta *out_transit);

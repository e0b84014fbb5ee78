/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * emulink: one direction of a link.
 *
 *   send -> up? -> RED? -> drop-tail queue -> serialised at rate_bps -> loss -> delay -> arrival
 *
 * Laws:
 *  - A packet of n bytes occupies the link for 8 n / rate_bps seconds; n are IP bytes. rate 0 means
 *    unlimited. A change of rate holds for the bits not yet sent, those of the packet on the wire
 *    included.
 *  - The queue holds at most queue_packets packets or queue_bytes bytes (whichever is not 0; both
 *    may be set), the packet being serialised not counted; what does not fit is dropped on entry.
 *  - With RED (emured) a packet that is picked is marked (CE) where `ecn` is on and it says that it
 *    is ECN-capable, else dropped, before the queue's limit is looked at.
 *  - Loss falls on serialised packets, so lost packets cost capacity like others. Bernoulli
 *    (loss_ratio) and Gilbert-Elliott are drawn independently. Gilbert-Elliott: before each packet
 *    good -> bad with probability gilbert_p, bad -> good with gilbert_r; a packet is lost with
 *    gilbert_bad or gilbert_good; the mean is (p bad + r good) / (p + r).
 *  - Arrival = end of serialisation + delay + U(0, jitter), never before the packet ahead;
 *    a packet picked by reorder_ratio arrives reorder_delay later and may be overtaken.
 *  - A duplicate arrives together with its original.
 */
#pragma once

#include "emured.h"

typedef struct {
  double rate_bps;
  EmuTime delay;
  uint32_t queue_packets;
  uint64_t queue_bytes;
  EmuRedConfig red;
  double loss_ratio;
  double gilbert_p;
  double gilbert_r;
  double gilbert_bad;
  double gilbert_good;
  EmuTime jitter;
  double reorder_ratio;
  EmuTime reorder_delay;
  double duplicate_ratio;
  uint32_t drop_next; /* lose the next n packets, then go on */
  bool up;
  bool trace; /* the observer is told of what leaves, too */
} EmuLinkConfig;

typedef struct {
  uint64_t in_packets; /* offered to the link */
  uint64_t in_bytes;
  uint64_t tx_packets; /* serialised, those lost afterwards included */
  uint64_t tx_bytes;
  uint64_t rx_packets; /* arrived, duplicates included */
  uint64_t rx_bytes;
  uint64_t rx_multicast_packets;
  uint64_t rx_multicast_bytes;
  uint64_t drops_queue; /* RED's included */
  uint64_t marks;
  uint64_t drops_loss;
  uint64_t drops_down;
  uint64_t duplicated;
  uint64_t reordered;
  EmuTime wait_sum; /* time spent waiting, of all serialised packets together */
} EmuLinkStats;

/* What the observer is told: with `value` the time waited (left), else 0. */
typedef enum {
  EMU_SEEN_ENTERED,    /* by the network, from a host */
  EMU_SEEN_DELIVERED,  /* to a host; value: since it entered */
  EMU_SEEN_LEFT,       /* serialised, not lost, of links with `trace`; value: time in the queue */
  EMU_SEEN_DROP_QUEUE, /* at a link */
  EMU_SEEN_DROP_LOSS,
  EMU_SEEN_DROP_DOWN,
  EMU_SEEN_MARKED, /* it goes on, and is seen again */
} EmuSeen;
/* `where`: a directed link, or a node. */
typedef void (*EmuObserve) (
    void *data, EmuSeen what, uint32_t where, const EmuPacket *packet, EmuTime value, EmuTime now);

typedef struct {
  EmuTime time;
  uint64_t order;
  EmuPacket *packet;
} EmuFlight;

typedef struct {
  EmuLinkConfig config;
  EmuLinkStats stats;
  EmuRng rng;
  EmuObserve observe; /* NULL: nobody looks */
  void *observe_data;
  uint32_t observe_where;
  bool bad; /* Gilbert-Elliott state */

  EmuPacket *head; /* waiting, the one being serialised not included */
  EmuPacket **tail;
  uint32_t queued_packets;
  uint64_t queued_bytes;
  uint32_t peak_packets; /* since emu_link_take_peak */

  EmuPacket *sending;
  EmuTime sent_at;
  EmuRed red;
  EmuTime idle_since; /* of the last packet's end */

  EmuTime last_arrival;
  EmuFlight *flights; /* binary heap by (time, order) */
  uint32_t n_flights;
  uint32_t size_flights;
  uint64_t order;
} EmuLink;

/* 0 bit/s (unlimited), no delay, 100 packets, no loss, up. */
void emu_link_config_init (EmuLinkConfig *config);

void emu_link_init (EmuLink *self, const EmuLinkConfig *config, uint64_t seed);
void emu_link_clear (EmuLink *self);
void emu_link_configure (EmuLink *self, const EmuLinkConfig *config, EmuTime now);

/* Takes the packet. The times of all calls must not run back. */
void emu_link_send (EmuLink *self, EmuPacket *packet, EmuTime now);
EmuTime emu_link_next_timeout (const EmuLink *self);
/* To be called at emu_link_next_timeout (), not later in virtual time: `now` is the event's time.
 */
void emu_link_handle_timeout (EmuLink *self, EmuTime now);
/* The next packet that has arrived by `now`, its time in packet->time; NULL when there is none. */
EmuPacket *emu_link_poll (EmuLink *self, EmuTime now);

uint32_t emu_link_take_peak (EmuLink *self);

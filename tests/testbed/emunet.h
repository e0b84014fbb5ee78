/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * emunet: the network: packets of hosts in, packets for hosts out, over a tree of links.
 *
 * Laws:
 *  - Unicast goes by the destination address along the one path of the tree.
 *  - A multicast packet crosses a link at most once, and only if a host behind it wants the group
 *    from that source (emugroups); the sending host never gets its own packet back.
 *  - Each router takes one off the TTL; a packet that came with a TTL of 1 ends there. Link-scope
 *    groups (224.0.0.0/24, ff02::) end at once.
 *  - IGMP and MLD end at the host's own node; general queries go to every host each
 *    query_interval.
 *  - Events run at their own time: how late the caller is changes no figure.
 */
#pragma once

#include "emugroups.h"
#include "emutopology.h"

typedef struct EmuNet EmuNet;

typedef struct {
  uint64_t no_route;
  uint64_t ttl;
  uint64_t link_scope;
  uint64_t malformed;
} EmuNetDrops;

typedef struct {
  EmuLinkStats stats;
  EmuLinkConfig config;
  uint32_t queue_packets;
  uint64_t queue_bytes;
  uint32_t queue_peak_packets; /* in the last whole stats interval */
  double throughput_bps;       /* serialised, in the last whole stats interval */
  uint64_t interval_drops;
} EmuLinkReport;

/* Keeps a pointer to the topology. */
EmuNet *emu_net_new (const EmuTopology *topology, EmuTime now);
void emu_net_free (EmuNet *self);

void emu_net_input (EmuNet *self, uint32_t host, const uint8_t *data, size_t bytes, EmuTime now);
EmuTime emu_net_next_timeout (const EmuNet *self);
void emu_net_handle_timeout (EmuNet *self, EmuTime now);
/* The next packet for a host, its arrival in packet->time; the caller frees it. NULL: none. */
EmuPacket *emu_net_poll (EmuNet *self, uint32_t *host);

/* Told of every packet: entered, delivered, dropped, and left a link with `trace`. */
void emu_net_observe (EmuNet *self, EmuObserve observe, void *data);

/* "LINK[>NODE] key=value ...": all of it or, with a message, nothing. */
bool emu_net_set (EmuNet *self, const char *text, EmuTime now, char error[EMU_ERROR_BYTES]);
/* The same at a later time. */
bool emu_net_set_at (EmuNet *self, const char *text, EmuTime when, char error[EMU_ERROR_BYTES]);
/* UINT32_MAX for host: all. */
void emu_net_set_leave_latency (EmuNet *self, uint32_t host, EmuTime latency);

void emu_net_report (const EmuNet *self, uint32_t link, int direction, EmuLinkReport *out);
const EmuGroups *emu_net_groups (const EmuNet *self, uint32_t host);
const EmuNetDrops *emu_net_drops (const EmuNet *self);
EmuTime emu_net_started (const EmuNet *self);

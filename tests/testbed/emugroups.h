/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * emugroups: which multicast groups one host wants, from its IGMPv1/2/3 and MLDv1/2 reports.
 *
 * Laws:
 *  - A join holds at once, or after join_latency. A leave (of a group, or of one source of it)
 *    takes effect after leave_latency, as a router that still asks for other members; a join in
 *    the meantime cancels it.
 *  - (S,G): the group's filter mode and source list are those of RFC 3376 / RFC 3810; there is one
 *    host on the link, so its filter is the link's.
 *  - A group that is not reported for `expiry` is forgotten (the querier asks in between).
 *  - Malformed reports are ignored from the first byte that does not fit.
 */
#pragma once

#include "emuip.h"

#define EMU_MAX_SOURCES 64
#define EMU_MAX_GROUPS 256

typedef struct {
  EmuAddress address;
  bool listed;          /* in the filter's list */
  bool was_listed;      /* before the record at hand */
  EmuTime linger_until; /* still forwarded until then, though the host wants it no more */
} EmuSource;

typedef struct {
  EmuAddress group;
  bool exclude; /* the filter's mode; include with no source: not a member */
  EmuTime starts;
  EmuTime any_until; /* all sources still forwarded until then */
  EmuTime reported;
  EmuSource *sources;
  uint32_t n_sources;
} EmuGroup;

typedef struct {
  EmuGroup *groups;
  uint32_t n_groups;
  EmuTime join_latency;
  EmuTime leave_latency;
  EmuTime expiry;
  uint64_t reports;
} EmuGroups;

void emu_groups_init (EmuGroups *self, EmuTime join_latency, EmuTime leave_latency, EmuTime expiry);
void emu_groups_clear (EmuGroups *self);
/* True when the packet is IGMP or MLD, which is never forwarded. */
bool emu_groups_handle_packet (
    EmuGroups *self, const uint8_t *data, const EmuHeader *header, EmuTime now);
bool emu_groups_wants (
    const EmuGroups *self, const EmuAddress *group, const EmuAddress *source, EmuTime now);
/* Any source at all: a member in its own eyes, without the latency of joins and leaves. */
bool emu_group_is_joined (const EmuGroup *group);

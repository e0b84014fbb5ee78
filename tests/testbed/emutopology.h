/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * emutopology: hosts, routers and the tree of links between them, read from a text; README.md
 * describes the format.
 */
#pragma once

#include "emulink.h"
#include "emuip.h"

#define EMU_MAX_NODES 512
#define EMU_MAX_LINKS (EMU_MAX_NODES - 1)
#define EMU_NAME_BYTES 32
#define EMU_MAX_COMMANDS 256
#define EMU_MAX_FLOWS 64
#define EMU_ERROR_BYTES 200
#define EMU_NO_LINK UINT32_MAX

typedef struct {
  char name[EMU_NAME_BYTES];
  bool is_host;
  EmuAddress address; /* hosts only */
  EmuAddress address6;
  EmuTime leave_latency; /* EMU_TIME_NONE: the network's */
} EmuNode;

typedef struct {
  char name[EMU_NAME_BYTES];
  uint32_t nodes[2];
  EmuLinkConfig configs[2]; /* [0]: from nodes[0] to nodes[1] */
} EmuTopologyLink;

/* `set` lines, at a time from the start. */
typedef struct {
  EmuTime time;
  char *text;
} EmuCommand;

/* A path between UDP ports of the loopback interface. */
typedef struct {
  uint16_t listen_port;
  uint32_t from;
  uint32_t to;
  uint16_t target_port;
} EmuFlowConfig;

typedef struct {
  EmuNode nodes[EMU_MAX_NODES];
  uint32_t n_nodes;
  EmuTopologyLink links[EMU_MAX_LINKS];
  uint32_t n_links;
  EmuCommand commands[EMU_MAX_COMMANDS];
  uint32_t n_commands;
  EmuFlowConfig flows[EMU_MAX_FLOWS];
  uint32_t n_flows;
  uint64_t seed;
  EmuTime join_latency;
  EmuTime leave_latency;
  EmuTime query_interval;
  EmuTime query_response;
  EmuTime stats_interval;
  int igmp_version;
  int mld_version;
} EmuTopology;

/* NULL and a message with the line number in `error` when the text has a mistake. */
EmuTopology *emu_topology_parse (const char *text, char error[EMU_ERROR_BYTES]);
void emu_topology_free (EmuTopology *self);

/* UINT32_MAX when there is none. */
uint32_t emu_topology_find_node (const EmuTopology *self, const char *name);
uint32_t emu_topology_find_link (const EmuTopology *self, const char *name);

/* "LINK" or "LINK>NODE" (the direction towards NODE): the link, and which of its directions. */
bool emu_topology_find_directions (const EmuTopology *self, const char *target, uint32_t *link,
    bool directions[2], char error[EMU_ERROR_BYTES]);
/* One "key=value" for a link; false and a message, *config untouched, when it is none. */
bool emu_link_config_set (EmuLinkConfig *config, const char *setting, char error[EMU_ERROR_BYTES]);

/* "20ms", "1.5s", "300us"; a bare number is seconds. */
bool emu_parse_time (const char *text, EmuTime *out);
bool emu_parse_count (const char *text, double max, uint64_t *out);

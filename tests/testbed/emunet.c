/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emunet.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Robustness of the queries (RFC 3376 8.1): two may go unheard. */
#define ROBUSTNESS 2

typedef struct {
  uint64_t tx_bytes;
  uint64_t drops;
  double throughput_bps;
  uint64_t interval_drops;
  uint32_t peak;
} Interval;

typedef struct Delivery Delivery;
struct Delivery {
  Delivery *next;
  EmuPacket *packet;
  uint32_t host;
};

struct EmuNet {
  const EmuTopology *topology;
  EmuTime started;

  /* Directed link 2 l + 0 runs from nodes[0] to nodes[1] of link l, 2 l + 1 back. */
  EmuLink *links;
  Interval *intervals;
  uint32_t n_directions;
  uint32_t *out; /* directed links by node, n_out[node] from first_out[node] on */
  uint32_t first_out[EMU_MAX_NODES + 1];
  uint8_t *behind;   /* [direction * n_nodes + node]: is the node behind that direction? */
  uint32_t *heap;    /* directions by their next time-out */
  uint32_t *heap_at; /* where each is */
  EmuTime *timeouts;

  EmuGroups *groups;    /* by node */
  EmuCommand *commands; /* sorted by time */
  uint32_t n_commands;

  Delivery *head;
  Delivery **tail;
  EmuObserve observe; /* NULL: nobody looks */
  void *observe_data;
  EmuTime next_query;
  EmuTime next_interval;
  EmuNetDrops drops;
};

static uint32_t
direction_target (const EmuNet *self, uint32_t direction)
{
  return self->topology->links[direction / 2].nodes[1 - direction % 2];
}

static uint32_t
direction_source (const EmuNet *self, uint32_t direction)
{
  return self->topology->links[direction / 2].nodes[direction % 2];
}

static void
mark_behind (EmuNet *self, uint32_t direction, uint32_t node, uint32_t from_link)
{
  self->behind[direction * self->topology->n_nodes + node] = 1;
  for (uint32_t i = self->first_out[node]; i < self->first_out[node + 1]; i++) {
    if (self->out[i] / 2 != from_link)
      mark_behind (self, direction, direction_target (self, self->out[i]), self->out[i] / 2);
  }
}

static void
build_routes (EmuNet *self)
{
  uint32_t n = 0;

  for (uint32_t node = 0; node < self->topology->n_nodes; node++) {
    self->first_out[node] = n;
    for (uint32_t d = 0; d < self->n_directions; d++) {
      if (direction_source (self, d) == node)
        self->out[n++] = d;
    }
  }
  self->first_out[self->topology->n_nodes] = n;
  for (uint32_t d = 0; d < self->n_directions; d++)
    mark_behind (self, d, direction_target (self, d), d / 2);
}

EmuNet *
emu_net_new (const EmuTopology *topology, EmuTime now)
{
  EmuNet *self = calloc (1, sizeof *self);
  uint32_t n = self->n_directions = 2 * topology->n_links;
  EmuTime expiry = ROBUSTNESS * topology->query_interval + topology->query_response;
  EmuRng seeds = { topology->seed };
  char error[EMU_ERROR_BYTES];

  self->topology = topology;
  self->started = now;
  self->tail = &self->head;
  self->next_query = now;
  self->next_interval = now + topology->stats_interval;
  self->links = calloc (n + 1, sizeof *self->links);
  self->intervals = calloc (n + 1, sizeof *self->intervals);
  self->out = calloc (n + 1, sizeof *self->out);
  self->heap = calloc (n + 1, sizeof *self->heap);
  self->heap_at = calloc (n + 1, sizeof *self->heap_at);
  self->timeouts = calloc (n + 1, sizeof *self->timeouts);
  self->behind = calloc ((size_t)n + 1, topology->n_nodes);
  self->groups = calloc (topology->n_nodes, sizeof *self->groups);
  for (uint32_t d = 0; d < n; d++) {
    emu_link_init (&self->links[d], &topology->links[d / 2].configs[d % 2], emu_rng_next (&seeds));
    self->heap[d] = self->heap_at[d] = d;
    self->timeouts[d] = EMU_TIME_NONE;
  }
  for (uint32_t i = 0; i < topology->n_nodes; i++) {
    EmuTime leave = topology->nodes[i].leave_latency;
    emu_groups_init (&self->groups[i], topology->join_latency,
        leave != EMU_TIME_NONE ? leave : topology->leave_latency, expiry);
  }
  build_routes (self);
  for (uint32_t i = 0; i < topology->n_commands; i++)
    emu_net_set_at (self, topology->commands[i].text, now + topology->commands[i].time, error);
  return self;
}

void
emu_net_free (EmuNet *self)
{
  EmuPacket *packet;
  uint32_t host;

  while ((packet = emu_net_poll (self, &host)))
    free (packet);
  for (uint32_t d = 0; d < self->n_directions; d++)
    emu_link_clear (&self->links[d]);
  for (uint32_t i = 0; i < self->topology->n_nodes; i++)
    emu_groups_clear (&self->groups[i]);
  for (uint32_t i = 0; i < self->n_commands; i++)
    free (self->commands[i].text);
  free (self->commands);
  free (self->links);
  free (self->intervals);
  free (self->out);
  free (self->heap);
  free (self->heap_at);
  free (self->timeouts);
  free (self->behind);
  free (self->groups);
  free (self);
}

void
emu_net_observe (EmuNet *self, EmuObserve observe, void *data)
{
  self->observe = observe;
  self->observe_data = data;
  for (uint32_t d = 0; d < self->n_directions; d++) {
    self->links[d].observe = observe;
    self->links[d].observe_data = data;
    self->links[d].observe_where = d;
  }
}

static void
tell (EmuNet *self, EmuSeen what, uint32_t node, const EmuPacket *packet, EmuTime now)
{
  if (self->observe)
    self->observe (self->observe_data, what, node, packet, now - packet->entered, now);
}

static void
heap_place (EmuNet *self, uint32_t at, uint32_t direction)
{
  self->heap[at] = direction;
  self->heap_at[direction] = at;
}

/* Puts a direction where its time-out now belongs; ties go by number, so runs are repeatable. */
static void
reschedule (EmuNet *self, uint32_t direction)
{
  const EmuTime *timeouts = self->timeouts;
  EmuTime time = emu_link_next_timeout (&self->links[direction]);
  uint32_t at = self->heap_at[direction], child;

#define BEFORE(a, b) (timeouts[a] != timeouts[b] ? timeouts[a] < timeouts[b] : (a) < (b))
  self->timeouts[direction] = time;
  for (; at > 0 && BEFORE (direction, self->heap[(at - 1) / 2]); at = (at - 1) / 2)
    heap_place (self, at, self->heap[(at - 1) / 2]);
  while ((child = 2 * at + 1) < self->n_directions) {
    if (child + 1 < self->n_directions && BEFORE (self->heap[child + 1], self->heap[child]))
      child++;
    if (!BEFORE (self->heap[child], direction))
      break;
    heap_place (self, at, self->heap[child]);
    at = child;
  }
  heap_place (self, at, direction);
#undef BEFORE
}

static void
deliver (EmuNet *self, uint32_t host, EmuPacket *packet, EmuTime now)
{
  Delivery *delivery = malloc (sizeof *delivery);

  assert (delivery);
  packet->time = now;
  *delivery = (Delivery){ NULL, packet, host };
  *self->tail = delivery;
  self->tail = &delivery->next;
}

static void
send_on (EmuNet *self, uint32_t direction, EmuPacket *packet, EmuTime now)
{
  emu_link_send (&self->links[direction], packet, now);
  reschedule (self, direction);
}

static bool
is_wanted_behind (const EmuNet *self, uint32_t direction, const EmuHeader *header, EmuTime now)
{
  const EmuTopology *topology = self->topology;

  for (uint32_t i = 0; i < topology->n_nodes; i++) {
    if (self->behind[direction * topology->n_nodes + i] && topology->nodes[i].is_host
        && emu_groups_wants (&self->groups[i], &header->destination, &header->source, now))
      return true;
  }
  return false;
}

/* from_link EMU_NO_LINK: from the node's own host. Takes the packet. */
static void
forward_multicast (EmuNet *self, uint32_t node, uint32_t from_link, EmuPacket *packet,
    const EmuHeader *header, EmuTime now)
{
  packet->multicast = true;
  for (uint32_t i = self->first_out[node]; i < self->first_out[node + 1]; i++) {
    uint32_t direction = self->out[i];
    if (direction / 2 != from_link && is_wanted_behind (self, direction, header, now))
      send_on (self, direction, emu_packet_copy (packet), now);
  }
  if (from_link != EMU_NO_LINK && self->topology->nodes[node].is_host
      && emu_groups_wants (&self->groups[node], &header->destination, &header->source, now)) {
    tell (self, EMU_SEEN_DELIVERED, node, packet, now);
    deliver (self, node, packet, now);
  } else
    free (packet);
}

static uint32_t
find_host (const EmuNet *self, const EmuAddress *address)
{
  const EmuTopology *topology = self->topology;

  for (uint32_t i = 0; i < topology->n_nodes; i++) {
    if (topology->nodes[i].is_host
        && (emu_address_equal (&topology->nodes[i].address, address)
            || emu_address_equal (&topology->nodes[i].address6, address)))
      return i;
  }
  return UINT32_MAX;
}

static void
forward_unicast (
    EmuNet *self, uint32_t node, EmuPacket *packet, const EmuHeader *header, EmuTime now)
{
  uint32_t host = find_host (self, &header->destination);

  if (host == node) {
    tell (self, EMU_SEEN_DELIVERED, node, packet, now);
    deliver (self, host, packet, now);
    return;
  }
  if (host != UINT32_MAX) {
    for (uint32_t i = self->first_out[node]; i < self->first_out[node + 1]; i++) {
      if (self->behind[self->out[i] * self->topology->n_nodes + host]) {
        send_on (self, self->out[i], packet, now);
        return;
      }
    }
  }
  self->drops.no_route++;
  free (packet);
}

static void
receive (EmuNet *self, uint32_t node, uint32_t from_link, EmuPacket *packet, EmuTime now)
{
  EmuHeader header;

  if (!emu_ip_parse (packet->data, packet->bytes, &header)) {
    self->drops.malformed++;
    free (packet);
    return;
  }
  if (!self->topology->nodes[node].is_host) {
    if (header.ttl <= 1) {
      self->drops.ttl++;
      free (packet);
      return;
    }
    emu_ip_decrement_ttl (packet->data);
  }
  if (emu_address_is_multicast (&header.destination))
    forward_multicast (self, node, from_link, packet, &header, now);
  else
    forward_unicast (self, node, packet, &header, now);
}

void
emu_net_input (EmuNet *self, uint32_t host, const uint8_t *data, size_t bytes, EmuTime now)
{
  EmuHeader header;
  EmuPacket *packet;

  assert (host < self->topology->n_nodes && self->topology->nodes[host].is_host);
  emu_net_handle_timeout (self, now);
  if (!emu_ip_parse (data, bytes, &header)) {
    self->drops.malformed++;
    return;
  }
  if (emu_groups_handle_packet (&self->groups[host], data, &header, now))
    return;
  if (emu_address_is_link_scope (&header.destination)) {
    self->drops.link_scope++;
    return;
  }
  packet = emu_packet_new (data, bytes);
  packet->entered = now;
  tell (self, EMU_SEEN_ENTERED, host, packet, now);
  receive (self, host, EMU_NO_LINK, packet, now);
}

static void
send_queries (EmuNet *self, EmuTime now)
{
  const EmuTopology *topology = self->topology;
  uint8_t query[EMU_QUERY_BYTES];
  size_t bytes;

  for (uint32_t i = 0; i < topology->n_nodes; i++) {
    if (!topology->nodes[i].is_host)
      continue;
    bytes = emu_igmp_query (
        query, topology->igmp_version, topology->query_response, topology->query_interval);
    deliver (self, i, emu_packet_new (query, bytes), now);
    bytes = emu_mld_query (
        query, topology->mld_version, topology->query_response, topology->query_interval);
    deliver (self, i, emu_packet_new (query, bytes), now);
  }
}

static void
close_interval (EmuNet *self)
{
  double seconds = (double)self->topology->stats_interval * 1e-9;

  for (uint32_t d = 0; d < self->n_directions; d++) {
    EmuLinkStats *stats = &self->links[d].stats;
    Interval *interval = &self->intervals[d];
    uint64_t drops = stats->drops_queue + stats->drops_loss + stats->drops_down;

    interval->throughput_bps = 8.0 * (double)(stats->tx_bytes - interval->tx_bytes) / seconds;
    interval->interval_drops = drops - interval->drops;
    interval->peak = emu_link_take_peak (&self->links[d]);
    interval->tx_bytes = stats->tx_bytes;
    interval->drops = drops;
  }
}

static void
run_command (EmuNet *self, EmuTime now)
{
  EmuCommand command = self->commands[0];
  char error[EMU_ERROR_BYTES];

  memmove (self->commands, self->commands + 1, --self->n_commands * sizeof command);
  emu_net_set (self, command.text, now, error);
  free (command.text);
}

static EmuTime
next_link (const EmuNet *self)
{
  return self->n_directions ? self->timeouts[self->heap[0]] : EMU_TIME_NONE;
}

static void
run_link (EmuNet *self, uint32_t direction, EmuTime now)
{
  EmuPacket *packet;

  emu_link_handle_timeout (&self->links[direction], now);
  while ((packet = emu_link_poll (&self->links[direction], now)))
    receive (self, direction_target (self, direction), direction / 2, packet, now);
  reschedule (self, direction);
}

EmuTime
emu_net_next_timeout (const EmuNet *self)
{
  EmuTime next = next_link (self);

  if (self->n_commands && self->commands[0].time < next)
    next = self->commands[0].time;
  if (self->next_query < next)
    next = self->next_query;
  return self->next_interval < next ? self->next_interval : next;
}

void
emu_net_handle_timeout (EmuNet *self, EmuTime now)
{
  EmuTime next;

  while ((next = emu_net_next_timeout (self)) <= now) {
    if (self->next_interval == next) {
      close_interval (self);
      self->next_interval += self->topology->stats_interval;
    } else if (self->n_commands && self->commands[0].time == next) {
      run_command (self, next);
    } else if (self->next_query == next) {
      send_queries (self, next);
      self->next_query += self->topology->query_interval;
    } else {
      run_link (self, self->heap[0], next);
    }
  }
}

EmuPacket *
emu_net_poll (EmuNet *self, uint32_t *host)
{
  Delivery *delivery = self->head;
  EmuPacket *packet;

  if (!delivery)
    return NULL;
  self->head = delivery->next;
  if (!self->head)
    self->tail = &self->head;
  packet = delivery->packet;
  *host = delivery->host;
  free (delivery);
  return packet;
}

/* Applies the settings to copies; the caller takes them over when all were right. */
static bool
parse_set (const EmuNet *self, const char *text, uint32_t *link, bool directions[2],
    EmuLinkConfig configs[2], char error[EMU_ERROR_BYTES])
{
  char buffer[512], *rest = NULL, *word;

  if (strlen (text) >= sizeof buffer) {
    snprintf (error, EMU_ERROR_BYTES, "line too long");
    return false;
  }
  strcpy (buffer, text);
  if (!(word = strtok_r (buffer, " \t\r\n", &rest))) {
    snprintf (error, EMU_ERROR_BYTES, "which link?");
    return false;
  }
  if (!emu_topology_find_directions (self->topology, word, link, directions, error))
    return false;
  configs[0] = self->links[2 * *link].config;
  configs[1] = self->links[2 * *link + 1].config;
  while ((word = strtok_r (NULL, " \t\r\n", &rest))) {
    for (int i = 0; i < 2; i++) {
      if (directions[i] && !emu_link_config_set (&configs[i], word, error))
        return false;
    }
  }
  return true;
}

bool
emu_net_set (EmuNet *self, const char *text, EmuTime now, char error[EMU_ERROR_BYTES])
{
  EmuLinkConfig configs[2];
  uint32_t link;
  bool directions[2];

  if (!parse_set (self, text, &link, directions, configs, error))
    return false;
  for (uint32_t i = 0; i < 2; i++) {
    if (directions[i]) {
      emu_link_configure (&self->links[2 * link + i], &configs[i], now);
      reschedule (self, 2 * link + i);
    }
  }
  return true;
}

bool
emu_net_set_at (EmuNet *self, const char *text, EmuTime when, char error[EMU_ERROR_BYTES])
{
  EmuLinkConfig configs[2];
  uint32_t link, at = self->n_commands;
  bool directions[2];

  if (!parse_set (self, text, &link, directions, configs, error))
    return false;
  self->commands = realloc (self->commands, (at + 1) * sizeof *self->commands);
  assert (self->commands);
  for (; at > 0 && self->commands[at - 1].time > when; at--)
    self->commands[at] = self->commands[at - 1];
  self->commands[at] = (EmuCommand){ when, strdup (text) };
  self->n_commands++;
  return true;
}

void
emu_net_set_leave_latency (EmuNet *self, uint32_t host, EmuTime latency)
{
  for (uint32_t i = 0; i < self->topology->n_nodes; i++) {
    if (host == UINT32_MAX || host == i)
      self->groups[i].leave_latency = latency;
  }
}

void
emu_net_report (const EmuNet *self, uint32_t link, int direction, EmuLinkReport *out)
{
  uint32_t d = 2 * link + (uint32_t)direction;
  const EmuLink *emu_link = &self->links[d];

  out->stats = emu_link->stats;
  out->config = emu_link->config;
  out->queue_packets = emu_link->queued_packets;
  out->queue_bytes = emu_link->queued_bytes;
  out->queue_peak_packets = self->intervals[d].peak;
  out->throughput_bps = self->intervals[d].throughput_bps;
  out->interval_drops = self->intervals[d].interval_drops;
}

const EmuGroups *
emu_net_groups (const EmuNet *self, uint32_t host)
{
  return &self->groups[host];
}

const EmuNetDrops *
emu_net_drops (const EmuNet *self)
{
  return &self->drops;
}

EmuTime
emu_net_started (const EmuNet *self)
{
  return self->started;
}

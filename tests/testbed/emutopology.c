/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emutopology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

static bool
fail (char *error, const char *what, const char *which)
{
  snprintf (error, EMU_ERROR_BYTES, "%s: %.80s", what, which);
  return false;
}

uint32_t
emu_topology_find_node (const EmuTopology *self, const char *name)
{
  for (uint32_t i = 0; i < self->n_nodes; i++) {
    if (strcmp (self->nodes[i].name, name) == 0)
      return i;
  }
  return UINT32_MAX;
}

uint32_t
emu_topology_find_link (const EmuTopology *self, const char *name)
{
  for (uint32_t i = 0; i < self->n_links; i++) {
    if (strcmp (self->links[i].name, name) == 0)
      return i;
  }
  return UINT32_MAX;
}

bool
emu_topology_find_directions (const EmuTopology *self, const char *target, uint32_t *link,
    bool directions[2], char error[EMU_ERROR_BYTES])
{
  char name[2 * EMU_NAME_BYTES], *node;
  uint32_t i;

  snprintf (name, sizeof name, "%s", target);
  if ((node = strchr (name, '>')))
    *node++ = '\0';
  i = emu_topology_find_link (self, name);
  if (i == UINT32_MAX)
    return fail (error, "no such link", target);
  if (node) {
    uint32_t to = emu_topology_find_node (self, node);
    if (to == UINT32_MAX || (to != self->links[i].nodes[0] && to != self->links[i].nodes[1]))
      return fail (error, "the link has no such end", target);
    directions[0] = to == self->links[i].nodes[1];
    directions[1] = !directions[0];
  } else {
    directions[0] = directions[1] = true;
  }
  *link = i;
  return true;
}

static bool
take_name (char out[EMU_NAME_BYTES], const char *name, char *error)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

  if (!name || !*name || strlen (name) >= EMU_NAME_BYTES || name[strspn (name, allowed)])
    return fail (error, "not a name (letters, digits, _ and -, at most 31)", name ? name : "");
  strcpy (out, name);
  return true;
}

/* The n-th host is 10.90.x.y and fd00:90::n, n = 256 x + y, from 1. */
static void
give_addresses (EmuTopology *self, EmuNode *node)
{
  uint8_t ipv4[4] = { 10, 90, 0, 0 };
  uint32_t n = 1;

  for (uint32_t i = 0; i < self->n_nodes; i++)
    n += self->nodes[i].is_host;
  ipv4[2] = (uint8_t)(n >> 8);
  ipv4[3] = (uint8_t)n;
  emu_address_from_ipv4 (&node->address, ipv4);
  emu_address_parse (&node->address6, "fd00:90::");
  node->address6.bytes[14] = ipv4[2];
  node->address6.bytes[15] = ipv4[3];
}

static bool
parse_node (EmuTopology *self, bool is_host, char **rest, char *error)
{
  EmuNode *node = &self->nodes[self->n_nodes];
  char name[EMU_NAME_BYTES], *word;

  if (self->n_nodes == EMU_MAX_NODES)
    return fail (error, "too many nodes", "");
  if (!take_name (name, strtok_r (NULL, BLANKS, rest), error))
    return false;
  if (emu_topology_find_node (self, name) != UINT32_MAX)
    return fail (error, "twice", name);
  strcpy (node->name, name);
  node->is_host = is_host;
  node->leave_latency = EMU_TIME_NONE;
  if (is_host)
    give_addresses (self, node);
  while ((word = strtok_r (NULL, BLANKS, rest))) {
    if (!is_host || strncmp (word, "leave-latency=", 14) != 0
        || !emu_parse_time (word + 14, &node->leave_latency))
      return fail (error, "bad setting of a node", word);
  }
  self->n_nodes++;
  return true;
}

/* Walks from a node over all links but one; true when `to` is reached. */
static bool
is_reachable (const EmuTopology *self, uint32_t from, uint32_t to, uint32_t without)
{
  if (from == to)
    return true;
  for (uint32_t i = 0; i < self->n_links; i++) {
    const uint32_t *nodes = self->links[i].nodes;
    if (i != without && (nodes[0] == from || nodes[1] == from)
        && is_reachable (self, nodes[0] == from ? nodes[1] : nodes[0], to, i))
      return true;
  }
  return false;
}

static bool
parse_link (EmuTopology *self, char **rest, char *error)
{
  EmuTopologyLink link;
  char *word;

  if (self->n_links == EMU_MAX_LINKS)
    return fail (error, "too many links", "");
  if (!take_name (link.name, strtok_r (NULL, BLANKS, rest), error))
    return false;
  if (emu_topology_find_link (self, link.name) != UINT32_MAX)
    return fail (error, "twice", link.name);
  for (int i = 0; i < 2; i++) {
    word = strtok_r (NULL, BLANKS, rest);
    link.nodes[i] = word ? emu_topology_find_node (self, word) : UINT32_MAX;
    if (link.nodes[i] == UINT32_MAX)
      return fail (error, "no such node", word ? word : "");
  }
  /* A tree: no loops, so paths are unique and multicast needs no reverse-path check. */
  if (is_reachable (self, link.nodes[0], link.nodes[1], EMU_NO_LINK))
    return fail (error, "the link closes a loop", link.name);
  emu_link_config_init (&link.configs[0]);
  while ((word = strtok_r (NULL, BLANKS, rest))) {
    if (!emu_link_config_set (&link.configs[0], word, error))
      return false;
  }
  link.configs[1] = link.configs[0];
  self->links[self->n_links++] = link;
  return true;
}

static bool
parse_set (EmuTopology *self, char **rest, char *error)
{
  char *target = strtok_r (NULL, BLANKS, rest), *word;
  uint32_t link;
  bool directions[2];

  if (!emu_topology_find_directions (self, target ? target : "", &link, directions, error))
    return false;
  while ((word = strtok_r (NULL, BLANKS, rest))) {
    for (int i = 0; i < 2; i++) {
      if (directions[i] && !emu_link_config_set (&self->links[link].configs[i], word, error))
        return false;
    }
  }
  return true;
}

/* at TIME set LINK key=value ... */
static bool
parse_at (EmuTopology *self, char **rest, char *error)
{
  char *when = strtok_r (NULL, BLANKS, rest), *verb = strtok_r (NULL, BLANKS, rest);
  EmuTime time;
  EmuTopology *trial;
  char *copy, *copy_rest;
  bool valid;

  if (!when || !emu_parse_time (when, &time) || !verb || strcmp (verb, "set") != 0 || !*rest)
    return fail (error, "not `at TIME set LINK ...'", when ? when : "");
  if (self->n_commands == EMU_MAX_COMMANDS)
    return fail (error, "too many `at' lines", "");
  /* Check it now, on a copy: a mistake must not come to light in the middle of a run. */
  trial = malloc (sizeof *trial);
  copy = copy_rest = strdup (*rest);
  *trial = *self;
  valid = parse_set (trial, &copy_rest, error);
  free (copy);
  free (trial);
  if (!valid)
    return false;
  self->commands[self->n_commands].time = time;
  self->commands[self->n_commands++].text = strdup (*rest);
  *rest = NULL;
  return true;
}

/* udp LISTEN-PORT FROM TO TARGET-PORT */
static bool
parse_udp (EmuTopology *self, char **rest, char *error)
{
  EmuFlowConfig *flow = &self->flows[self->n_flows];
  uint64_t ports[2];
  char *words[4];

  for (int i = 0; i < 4; i++) {
    if (!(words[i] = strtok_r (NULL, BLANKS, rest)))
      return fail (error, "not `udp PORT FROM TO PORT'", "");
  }
  if (self->n_flows == EMU_MAX_FLOWS)
    return fail (error, "too many `udp' lines", "");
  for (int i = 0; i < 2; i++) {
    if (!emu_parse_count (words[3 * i], 65535, &ports[i]) || ports[i] == 0)
      return fail (error, "not a port", words[3 * i]);
  }
  flow->listen_port = (uint16_t)ports[0];
  flow->target_port = (uint16_t)ports[1];
  flow->from = emu_topology_find_node (self, words[1]);
  flow->to = emu_topology_find_node (self, words[2]);
  if (flow->from == UINT32_MAX || flow->to == UINT32_MAX || flow->from == flow->to
      || !self->nodes[flow->from].is_host || !self->nodes[flow->to].is_host)
    return fail (error, "not two hosts", words[1]);
  self->n_flows++;
  return true;
}

static bool
parse_option (EmuTopology *self, const char *word)
{
  const char *equals = strchr (word, '=');
  const char *value = equals ? equals + 1 : "";
  struct {
    const char *key;
    EmuTime *time;
  } times[] = {
    { "join-latency", &self->join_latency },
    { "leave-latency", &self->leave_latency },
    { "query-interval", &self->query_interval },
    { "query-response", &self->query_response },
    { "stats-interval", &self->stats_interval },
  };
  size_t length = equals ? (size_t)(equals - word) : 0;
  uint64_t count;

  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    if (length == strlen (times[i].key) && strncmp (word, times[i].key, length) == 0)
      return emu_parse_time (value, times[i].time) && (i < 2 || *times[i].time >= 10 * EMU_MSECOND);
  }
  if (strncmp (word, "seed=", 5) == 0)
    return emu_parse_count (value, 9e15, &self->seed);
  if (strncmp (word, "igmp=", 5) == 0 && emu_parse_count (value, 3, &count) && count >= 2) {
    self->igmp_version = (int)count;
    return true;
  }
  if (strncmp (word, "mld=", 4) == 0 && emu_parse_count (value, 2, &count) && count >= 1) {
    self->mld_version = (int)count;
    return true;
  }
  return false;
}

static bool
parse_line (EmuTopology *self, char *line, char *error)
{
  char *rest = NULL, *verb, *word;

  line[strcspn (line, "#")] = '\0';
  if (!(verb = strtok_r (line, BLANKS, &rest)))
    return true;
  if (strcmp (verb, "host") == 0 || strcmp (verb, "router") == 0)
    return parse_node (self, verb[0] == 'h', &rest, error);
  if (strcmp (verb, "link") == 0)
    return parse_link (self, &rest, error);
  if (strcmp (verb, "set") == 0)
    return parse_set (self, &rest, error);
  if (strcmp (verb, "at") == 0)
    return parse_at (self, &rest, error);
  if (strcmp (verb, "udp") == 0)
    return parse_udp (self, &rest, error);
  if (strcmp (verb, "option") != 0)
    return fail (error, "unknown word", verb);
  while ((word = strtok_r (NULL, BLANKS, &rest))) {
    if (!parse_option (self, word))
      return fail (error, "bad option", word);
  }
  return true;
}

EmuTopology *
emu_topology_parse (const char *text, char error[EMU_ERROR_BYTES])
{
  EmuTopology *self = calloc (1, sizeof *self);
  char message[EMU_ERROR_BYTES], line[1024];
  bool valid = true;

  self->seed = 1;
  self->query_interval = 20 * EMU_SECOND;
  self->query_response = 2 * EMU_SECOND;
  self->stats_interval = EMU_SECOND;
  self->igmp_version = 3;
  self->mld_version = 2;
  for (int number = 1; *text && valid; number++) {
    size_t length = strcspn (text, "\n");
    if (length >= sizeof line) {
      valid = fail (message, "line too long", "");
    } else {
      memcpy (line, text, length);
      line[length] = '\0';
      valid = parse_line (self, line, message);
    }
    if (!valid)
      snprintf (error, EMU_ERROR_BYTES, "line %d: %.150s", number, message);
    text += length + (text[length] == '\n');
  }
  if (valid && self->n_nodes == 0)
    valid = fail (error, "the topology is empty", "");
  if (!valid) {
    emu_topology_free (self);
    return NULL;
  }
  return self;
}

void
emu_topology_free (EmuTopology *self)
{
  for (uint32_t i = 0; i < self->n_commands; i++)
    free (self->commands[i].text);
  free (self);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emugroups.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* RFC 3376 4.2.12, RFC 3810 5.2.12 */
enum {
  MODE_IS_INCLUDE = 1,
  MODE_IS_EXCLUDE,
  CHANGE_TO_INCLUDE,
  CHANGE_TO_EXCLUDE,
  ALLOW_NEW_SOURCES,
  BLOCK_OLD_SOURCES,
};

void
emu_groups_init (EmuGroups *self, EmuTime join_latency, EmuTime leave_latency, EmuTime expiry)
{
  memset (self, 0, sizeof *self);
  self->join_latency = join_latency;
  self->leave_latency = leave_latency;
  self->expiry = expiry;
}

void
emu_groups_clear (EmuGroups *self)
{
  for (uint32_t i = 0; i < self->n_groups; i++)
    free (self->groups[i].sources);
  free (self->groups);
  memset (self, 0, sizeof *self);
}

bool
emu_group_is_joined (const EmuGroup *group)
{
  if (group->exclude)
    return true;
  for (uint32_t i = 0; i < group->n_sources; i++) {
    if (group->sources[i].listed)
      return true;
  }
  return false;
}

static EmuGroup *
find_group (const EmuGroups *self, const EmuAddress *address)
{
  for (uint32_t i = 0; i < self->n_groups; i++) {
    if (emu_address_equal (&self->groups[i].group, address))
      return &self->groups[i];
  }
  return NULL;
}

static EmuSource *
find_source (const EmuGroup *group, const EmuAddress *address)
{
  for (uint32_t i = 0; i < group->n_sources; i++) {
    if (emu_address_equal (&group->sources[i].address, address))
      return &group->sources[i];
  }
  return NULL;
}

/* Nothing of it is forwarded any more. */
static bool
is_dead (const EmuGroups *self, const EmuGroup *group, EmuTime now)
{
  if (now >= group->reported + self->expiry)
    return true;
  if (emu_group_is_joined (group) || now < group->any_until)
    return false;
  for (uint32_t i = 0; i < group->n_sources; i++) {
    if (now < group->sources[i].linger_until)
      return false;
  }
  return true;
}

static void
drop_dead_groups (EmuGroups *self, EmuTime now)
{
  for (uint32_t i = 0; i < self->n_groups;) {
    if (is_dead (self, &self->groups[i], now)) {
      free (self->groups[i].sources);
      self->groups[i] = self->groups[--self->n_groups];
    } else {
      i++;
    }
  }
}

static EmuGroup *
add_group (EmuGroups *self, const EmuAddress *address, EmuTime now)
{
  EmuGroup *group;

  drop_dead_groups (self, now);
  if (self->n_groups == EMU_MAX_GROUPS)
    return NULL;
  self->groups = realloc (self->groups, (self->n_groups + 1) * sizeof *self->groups);
  assert (self->groups);
  group = &self->groups[self->n_groups++];
  memset (group, 0, sizeof *group);
  group->group = *address;
  group->starts = now + self->join_latency;
  return group;
}

static EmuSource *
add_source (EmuGroup *group, const EmuAddress *address, EmuTime now)
{
  EmuSource *source = find_source (group, address);

  if (source)
    return source;
  for (uint32_t i = 0; i < group->n_sources; i++) {
    if (!group->sources[i].listed && now >= group->sources[i].linger_until) {
      source = &group->sources[i];
      break;
    }
  }
  if (!source) {
    if (group->n_sources == EMU_MAX_SOURCES)
      return NULL;
    group->sources = realloc (group->sources, (group->n_sources + 1) * sizeof *group->sources);
    assert (group->sources);
    source = &group->sources[group->n_sources++];
  }
  memset (source, 0, sizeof *source);
  source->address = *address;
  return source;
}

/* The mode and list that the record makes of the old ones; what falls out of them lingers. */
static void
set_filter (EmuGroups *self, EmuGroup *group, bool exclude, const EmuAddress *sources, uint32_t n,
    EmuTime now)
{
  EmuTime linger_until = now + self->leave_latency;

  if (group->exclude && !exclude)
    group->any_until = linger_until;
  for (uint32_t i = 0; i < group->n_sources; i++) {
    EmuSource *source = &group->sources[i];
    if (!group->exclude && source->listed)
      source->linger_until = linger_until;
    source->was_listed = source->listed;
    source->listed = false;
  }
  for (uint32_t i = 0; i < n; i++) {
    EmuSource *source = find_source (group, &sources[i]);
    bool forwarded = group->exclude && !(source && source->was_listed);

    if (!(source = add_source (group, &sources[i], now)))
      continue;
    if (exclude && forwarded)
      source->linger_until = linger_until;
    source->listed = true;
  }
  group->exclude = exclude;
}

static void
change_sources (EmuGroups *self, EmuGroup *group, bool allow, const EmuAddress *sources, uint32_t n,
    EmuTime now)
{
  for (uint32_t i = 0; i < n; i++) {
    /* In include mode the list says who is wanted, in exclude mode who is not. */
    bool listed = allow != group->exclude;
    EmuSource *source = find_source (group, &sources[i]);

    if (!source && !listed)
      continue;
    if (!source && !(source = add_source (group, &sources[i], now)))
      continue;
    if (!allow && source->listed != listed)
      source->linger_until = now + self->leave_latency;
    source->listed = listed;
  }
}

static void
handle_record (EmuGroups *self, int type, const EmuAddress *address, const EmuAddress *sources,
    uint32_t n, EmuTime now)
{
  EmuGroup *group = find_group (self, address);
  bool joins = type == MODE_IS_EXCLUDE || type == CHANGE_TO_EXCLUDE || type == ALLOW_NEW_SOURCES
               || ((type == MODE_IS_INCLUDE || type == CHANGE_TO_INCLUDE) && n > 0);

  if (!emu_address_is_multicast (address) || type < MODE_IS_INCLUDE || type > BLOCK_OLD_SOURCES)
    return;
  if (group && joins && is_dead (self, group, now)) {
    drop_dead_groups (self, now);
    group = NULL;
  }
  if (!group && (!joins || !(group = add_group (self, address, now))))
    return;
  group->reported = now;
  if (type <= CHANGE_TO_EXCLUDE)
    set_filter (self, group, type == MODE_IS_EXCLUDE || type == CHANGE_TO_EXCLUDE, sources, n, now);
  else
    change_sources (self, group, type == ALLOW_NEW_SOURCES, sources, n, now);
}

/* The records of an IGMPv3 (address_bytes 4) or MLDv2 (16) report, from its byte 8 on. */
static void
handle_records (
    EmuGroups *self, const uint8_t *data, size_t bytes, size_t address_bytes, EmuTime now)
{
  uint32_t n_records = (uint32_t)data[6] << 8 | data[7];
  size_t at = 8;

  while (n_records-- > 0 && at + 4 + address_bytes <= bytes) {
    EmuAddress addresses[1 + EMU_MAX_SOURCES];
    uint32_t n = (uint32_t)data[at + 2] << 8 | data[at + 3];
    size_t length = 4 + (1 + (size_t)n) * address_bytes + 4 * (size_t)data[at + 1];

    if (at + length > bytes || n > EMU_MAX_SOURCES)
      return;
    for (uint32_t i = 0; i <= n; i++) {
      const uint8_t *address = data + at + 4 + i * address_bytes;
      if (address_bytes == 4)
        emu_address_from_ipv4 (&addresses[i], address);
      else
        memcpy (addresses[i].bytes, address, 16);
    }
    handle_record (self, data[at], &addresses[0], &addresses[1], n, now);
    at += length;
  }
}

static void
handle_igmp (EmuGroups *self, const uint8_t *data, size_t bytes, EmuTime now)
{
  EmuAddress group;

  if (bytes < 8)
    return;
  self->reports++;
  emu_address_from_ipv4 (&group, data + 4);
  if (data[0] == 0x12 || data[0] == 0x16)
    handle_record (self, MODE_IS_EXCLUDE, &group, NULL, 0, now);
  else if (data[0] == 0x17)
    handle_record (self, CHANGE_TO_INCLUDE, &group, NULL, 0, now);
  else if (data[0] == 0x22)
    handle_records (self, data, bytes, 4, now);
}

/* True when it was MLD. */
static bool
handle_icmpv6 (EmuGroups *self, const uint8_t *data, size_t bytes, EmuTime now)
{
  EmuAddress group;

  if (bytes < 8 || !((data[0] >= 130 && data[0] <= 132) || data[0] == 143))
    return false;
  self->reports++;
  if (data[0] == 143) {
    handle_records (self, data, bytes, 16, now);
  } else if (bytes >= 24) {
    memcpy (group.bytes, data + 8, 16);
    if (data[0] == 131)
      handle_record (self, MODE_IS_EXCLUDE, &group, NULL, 0, now);
    else if (data[0] == 132)
      handle_record (self, CHANGE_TO_INCLUDE, &group, NULL, 0, now);
  }
  return true;
}

bool
emu_groups_handle_packet (
    EmuGroups *self, const uint8_t *data, const EmuHeader *header, EmuTime now)
{
  const uint8_t *payload = data + header->payload;
  size_t bytes = header->end - header->payload;

  if (header->version == 4 && header->protocol == EMU_PROTOCOL_IGMP) {
    handle_igmp (self, payload, bytes, now);
    return true;
  }
  if (header->version == 6 && header->protocol == EMU_PROTOCOL_ICMPV6)
    return handle_icmpv6 (self, payload, bytes, now);
  return false;
}

bool
emu_groups_wants (
    const EmuGroups *self, const EmuAddress *group_address, const EmuAddress *address, EmuTime now)
{
  const EmuGroup *group = find_group (self, group_address);
  const EmuSource *source;

  if (!group || now < group->starts || now >= group->reported + self->expiry)
    return false;
  if (now < group->any_until)
    return true;
  source = find_source (group, address);
  if (source && now < source->linger_until)
    return true;
  return group->exclude ? !(source && source->listed) : source && source->listed;
}

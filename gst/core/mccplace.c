/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccplace.h"

static uint32_t
get32 (const uint8_t *bytes)
{
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void
put32 (uint8_t *bytes, uint32_t value)
{
  bytes[0] = (uint8_t)(value >> 24);
  bytes[1] = (uint8_t)(value >> 16);
  bytes[2] = (uint8_t)(value >> 8);
  bytes[3] = (uint8_t)value;
}

/* A number that the groups of an IPv4 block share. */
static uint32_t
block_of (uint32_t group)
{
  if (group >> 8 == 0xe00001u) /* 224.0.1.0/24 */
    return group & 0xffffff00u;
  if (group >> 16 == 0xefffu) /* 239.255.0.0/16 */
    return group & 0xffff0000u;
  if (group >> 18 == 0xefc0u >> 2) /* 239.192.0.0/14 */
    return group & 0xfffc0000u;
  return group & 0xff000000u;
}

static bool
is_group (const MccAddress *address)
{
  return address->family == 4 ? (address->bytes[0] & 0xf0) == 0xe0 : address->bytes[0] == 0xff;
}

MccPlaceVerdict
mcc_place_address (const MccAddress *base, MccPlace place, MccAddress *out)
{
  MccAddress result = *base;
  uint8_t *low = result.bytes + (base->family == 4 ? 0 : 12);
  uint32_t before = get32 (low), after = before + place.address_offset;

  if (place.address_offset > 0 && !is_group (base))
    return MCC_PLACE_HOST;
  if (after < before)
    return MCC_PLACE_BLOCK;
  if (base->family == 4 && is_group (base)
      && (block_of (after) != block_of (before) || after >> 8 == 0xe00000u))
    return MCC_PLACE_BLOCK;
  if (place.port_offset > UINT16_MAX - base->port)
    return MCC_PLACE_PORT;
  put32 (low, after);
  result.port = (uint16_t)(base->port + place.port_offset);
  *out = result;
  return MCC_PLACE_GOOD;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * emuip: the bytes of IP, IGMP and MLD: headers in, queries out. Every read is checked: what hosts
 * send is never trusted to be whole.
 */
#pragma once

#include "emutypes.h"

typedef struct {
  EmuAddress source;
  EmuAddress destination;
  uint8_t version; /* 4 or 6 */
  uint8_t ttl;
  uint8_t protocol; /* behind a hop-by-hop header */
  uint32_t payload; /* offset */
  uint32_t end;     /* offset behind the packet */
} EmuHeader;

#define EMU_PROTOCOL_IGMP 2
#define EMU_PROTOCOL_UDP 17
#define EMU_PROTOCOL_ICMPV6 58

/* False, *out untouched, when it is no whole IPv4 or IPv6 packet. */
bool emu_ip_parse (const uint8_t *data, size_t bytes, EmuHeader *out);
/* One off the TTL or hop limit, the IPv4 checksum kept right. The TTL must not be 0. */
void emu_ip_decrement_ttl (uint8_t *data);

/* Sets CE where the packet is ECN-capable (RFC 3168), the IPv4 checksum kept right; false: it is
 * not.
 */
bool emu_ip_mark (uint8_t *data);

bool emu_address_equal (const EmuAddress *a, const EmuAddress *b);
bool emu_address_is_multicast (const EmuAddress *address);
/* 224.0.0.0/24 and IPv6 scopes up to link-local: never forwarded. */
bool emu_address_is_link_scope (const EmuAddress *address);
void emu_address_from_ipv4 (EmuAddress *address, const uint8_t ipv4[4]);
bool emu_address_parse (EmuAddress *address, const char *text);
#define EMU_ADDRESS_TEXT 46
const char *emu_address_format (const EmuAddress *address, char text[EMU_ADDRESS_TEXT]);

/* General queries, as whole IP packets. Version 2 or 3 (IGMP), 1 or 2 (MLD). */
#define EMU_QUERY_BYTES 96
size_t emu_igmp_query (
    uint8_t out[EMU_QUERY_BYTES], int version, EmuTime max_response, EmuTime interval);
size_t emu_mld_query (
    uint8_t out[EMU_QUERY_BYTES], int version, EmuTime max_response, EmuTime interval);

/* An IPv4/UDP packet around a payload, for the mode without devices; `out` holds bytes + 28. */
void emu_udp_wrap (uint8_t *out, const EmuAddress *source, const EmuAddress *destination,
    uint16_t source_port, uint16_t destination_port, const uint8_t *payload, size_t bytes);

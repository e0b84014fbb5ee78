/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emuip.h"

#include <arpa/inet.h>
#include <string.h>

static uint32_t
get16 (const uint8_t *data)
{
  return (uint32_t)data[0] << 8 | data[1];
}

static void
put16 (uint8_t *data, uint32_t value)
{
  data[0] = (uint8_t)(value >> 8);
  data[1] = (uint8_t)value;
}

/* Ones' complement sum, not inverted. */
static uint32_t
sum (const uint8_t *data, size_t bytes, uint32_t start)
{
  for (size_t i = 0; i + 1 < bytes; i += 2)
    start += get16 (data + i);
  if (bytes & 1)
    start += (uint32_t)data[bytes - 1] << 8;
  while (start >> 16)
    start = (start & 0xffff) + (start >> 16);
  return start;
}

void
emu_address_from_ipv4 (EmuAddress *address, const uint8_t ipv4[4])
{
  memset (address->bytes, 0, 10);
  memset (address->bytes + 10, 0xff, 2);
  memcpy (address->bytes + 12, ipv4, 4);
}

static bool
is_ipv4 (const EmuAddress *address)
{
  static const uint8_t prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

  return memcmp (address->bytes, prefix, sizeof prefix) == 0;
}

bool
emu_address_equal (const EmuAddress *a, const EmuAddress *b)
{
  return memcmp (a->bytes, b->bytes, 16) == 0;
}

bool
emu_address_is_multicast (const EmuAddress *address)
{
  return is_ipv4 (address) ? (address->bytes[12] & 0xf0) == 0xe0 : address->bytes[0] == 0xff;
}

bool
emu_address_is_link_scope (const EmuAddress *address)
{
  if (is_ipv4 (address))
    return address->bytes[12] == 224 && address->bytes[13] == 0 && address->bytes[14] == 0;
  return address->bytes[0] == 0xff && (address->bytes[1] & 0x0f) <= 2;
}

bool
emu_address_parse (EmuAddress *address, const char *text)
{
  uint8_t ipv4[4];

  if (inet_pton (AF_INET, text, ipv4) == 1) {
    emu_address_from_ipv4 (address, ipv4);
    return true;
  }
  return inet_pton (AF_INET6, text, address->bytes) == 1;
}

const char *
emu_address_format (const EmuAddress *address, char text[EMU_ADDRESS_TEXT])
{
  if (is_ipv4 (address))
    return inet_ntop (AF_INET, address->bytes + 12, text, EMU_ADDRESS_TEXT);
  return inet_ntop (AF_INET6, address->bytes, text, EMU_ADDRESS_TEXT);
}

static bool
parse_ipv4 (const uint8_t *data, size_t bytes, EmuHeader *out)
{
  uint32_t header = (uint32_t)(data[0] & 0x0f) * 4, total;

  if (bytes < 20)
    return false;
  total = get16 (data + 2);
  if (header < 20 || total < header || total > bytes)
    return false;
  emu_address_from_ipv4 (&out->source, data + 12);
  emu_address_from_ipv4 (&out->destination, data + 16);
  out->version = 4;
  out->ttl = data[8];
  out->protocol = data[9];
  out->payload = header;
  out->end = total;
  return true;
}

static bool
parse_ipv6 (const uint8_t *data, size_t bytes, EmuHeader *out)
{
  uint32_t total;

  if (bytes < 40)
    return false;
  total = 40 + get16 (data + 4);
  if (total > bytes)
    return false;
  memcpy (out->source.bytes, data + 8, 16);
  memcpy (out->destination.bytes, data + 24, 16);
  out->version = 6;
  out->ttl = data[7];
  out->protocol = data[6];
  out->payload = 40;
  out->end = total;
  if (out->protocol == 0) { /* hop-by-hop: MLD's router alert */
    if (total < 48 || total < 40 + 8 + (uint32_t)data[41] * 8)
      return false;
    out->protocol = data[40];
    out->payload = 40 + 8 + (uint32_t)data[41] * 8;
  }
  return true;
}

bool
emu_ip_parse (const uint8_t *data, size_t bytes, EmuHeader *out)
{
  EmuHeader header;
  bool whole = false;

  memset (&header, 0, sizeof header);
  if (bytes >= 1 && data[0] >> 4 == 4)
    whole = parse_ipv4 (data, bytes, &header);
  else if (bytes >= 1 && data[0] >> 4 == 6)
    whole = parse_ipv6 (data, bytes, &header);
  if (whole)
    *out = header;
  return whole;
}

void
emu_ip_decrement_ttl (uint8_t *data)
{
  uint32_t checksum;

  if (data[0] >> 4 == 6) {
    data[7]--;
    return;
  }
  data[8]--;
  checksum = get16 (data + 10) + 0x0100; /* RFC 1141 */
  put16 (data + 10, (checksum & 0xffff) + (checksum >> 16));
}

bool
emu_ip_mark (uint8_t *data)
{
  bool is6 = data[0] >> 4 == 6;
  uint8_t *byte = data + 1;
  uint8_t shift = is6 ? 4 : 0; /* the traffic class begins in the first byte's lower half */
  uint32_t ecn = (*byte >> shift) & 3, checksum;

  if (ecn == 0)
    return false;
  *byte |= (uint8_t)(3 << shift);
  if (!is6) {
    checksum = get16 (data + 10) + 0xffff - (3 - ecn); /* RFC 1624: HC + ~(the new bits) */
    put16 (data + 10, (checksum & 0xffff) + (checksum >> 16));
  }
  return true;
}

/* Codes above 127 are mantissa and exponent (RFC 3376 4.1.1); ours stay below, so clamp. */
static uint8_t
short_code (EmuTime time, EmuTime unit)
{
  EmuTime code = time / unit;

  return code > 127 ? 127 : (uint8_t)code;
}

size_t
emu_igmp_query (uint8_t out[EMU_QUERY_BYTES], int version, EmuTime max_response, EmuTime interval)
{
  /* from 10.90.255.254 to 224.0.0.1, TTL 1, with the router alert option */
  static const uint8_t ip[24] = { 0x46, 0xc0, 0, 0, 0, 0, 0, 0, 1, EMU_PROTOCOL_IGMP, 0, 0, 10, 90,
    255, 254, 224, 0, 0, 1, 0x94, 4, 0, 0 };
  size_t bytes = sizeof ip + (version == 2 ? 8 : 12);
  uint8_t *igmp = out + sizeof ip;

  memset (out, 0, EMU_QUERY_BYTES);
  memcpy (out, ip, sizeof ip);
  put16 (out + 2, (uint32_t)bytes);
  put16 (out + 10, ~sum (out, sizeof ip, 0) & 0xffff);
  igmp[0] = 0x11;
  igmp[1] = short_code (max_response, EMU_SECOND / 10);
  if (version != 2) {
    igmp[8] = 2; /* robustness */
    igmp[9] = short_code (interval, EMU_SECOND);
  }
  put16 (igmp + 2, ~sum (igmp, bytes - sizeof ip, 0) & 0xffff);
  return bytes;
}

size_t
emu_mld_query (uint8_t out[EMU_QUERY_BYTES], int version, EmuTime max_response, EmuTime interval)
{
  static const uint8_t source[16] = { 0xfe, 0x80, [14] = 0xff, [15] = 0xfe };
  static const uint8_t destination[16] = { 0xff, 2, [15] = 1 };
  static const uint8_t alert[8] = { EMU_PROTOCOL_ICMPV6, 0, 5, 2, 0, 0, 1, 0 };
  uint32_t icmp_bytes = version == 1 ? 24 : 28;
  uint8_t *icmp = out + 48;
  EmuTime code = max_response / EMU_MSECOND;

  memset (out, 0, EMU_QUERY_BYTES);
  out[0] = 0x60;
  put16 (out + 4, 8 + icmp_bytes);
  out[7] = 1;
  memcpy (out + 8, source, 16);
  memcpy (out + 24, destination, 16);
  memcpy (out + 40, alert, 8);
  icmp[0] = 130;
  put16 (icmp + 4, code > 0x7fff ? 0x7fff : (uint32_t)code);
  if (version != 1) {
    icmp[24] = 2;
    icmp[25] = short_code (interval, EMU_SECOND);
  }
  put16 (icmp + 2,
      ~sum (icmp, icmp_bytes, sum (out + 8, 32, icmp_bytes + EMU_PROTOCOL_ICMPV6)) & 0xffff);
  return 48 + icmp_bytes;
}

void
emu_udp_wrap (uint8_t *out, const EmuAddress *source, const EmuAddress *destination,
    uint16_t source_port, uint16_t destination_port, const uint8_t *payload, size_t bytes)
{
  memset (out, 0, 28);
  out[0] = 0x45;
  put16 (out + 2, (uint32_t)bytes + 28);
  out[8] = 64;
  out[9] = EMU_PROTOCOL_UDP;
  memcpy (out + 12, source->bytes + 12, 4);
  memcpy (out + 16, destination->bytes + 12, 4);
  put16 (out + 10, ~sum (out, 20, 0) & 0xffff);
  put16 (out + 20, source_port);
  put16 (out + 22, destination_port);
  put16 (out + 24, (uint32_t)bytes + 8);
  memcpy (out + 28, payload, bytes);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccrtpextension.h"

#define RTP_HEADER_BYTES 12
#define RTP_EXTENSION 0x10
#define HEADER_BYTES 4
#define ONE_BYTE_PROFILE 0xbede /* RFC 8285 4.2 */
#define TWO_BYTE_PROFILE 0x1000 /* RFC 8285 4.3; its low 4 bits are the application's */

static uint16_t
get16 (const uint8_t *data)
{
  return (uint16_t)((unsigned)data[0] << 8 | data[1]);
}

/* An element's header is @header bytes long. */
static const uint8_t *
find_last (const uint8_t *data, size_t size, unsigned header, uint8_t id, size_t *bytes)
{
  const uint8_t *found = NULL;
  for (size_t at = 0; at < size;) {
    uint8_t this_id = header == 1 ? data[at] >> 4 : data[at];
    size_t length;
    if (data[at] == 0) { /* padding */
      at++;
      continue;
    }
    if (header == 1 && this_id == 15)
      return found;
    if (size - at < header)
      return NULL;
    length = header == 1 ? (size_t)(data[at] & 0x0f) + 1 : data[at + 1];
    at += header;
    if (size - at < length)
      return NULL;
    if (this_id == id) {
      *bytes = length;
      found = data + at;
    }
    at += length;
  }
  return found;
}

const uint8_t *
mcc_rtp_extension_element (const uint8_t *data, size_t size, uint8_t id, size_t *bytes)
{
  if (id == 0 || size < HEADER_BYTES)
    return NULL;
  uint16_t profile = get16 (data);
  size_t length = 4 * (size_t)get16 (data + 2);
  if (size - HEADER_BYTES < length)
    return NULL;
  if (profile == ONE_BYTE_PROFILE)
    return find_last (data + HEADER_BYTES, length, 1, id, bytes);
  if ((profile & 0xfff0) == TWO_BYTE_PROFILE)
    return find_last (data + HEADER_BYTES, length, 2, id, bytes);
  return NULL;
}

const uint8_t *
mcc_rtp_packet_element (const uint8_t *data, size_t size, uint8_t id, size_t *bytes)
{
  if (size < RTP_HEADER_BYTES || data[0] >> 6 != 2 || !(data[0] & RTP_EXTENSION))
    return NULL;
  size_t at = RTP_HEADER_BYTES + 4 * (size_t)(data[0] & 0x0f);
  return size < at ? NULL : mcc_rtp_extension_element (data + at, size - at, id, bytes);
}

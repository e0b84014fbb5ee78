/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccplace: where a stream of a session is: at offsets from the session's address and port.
 *
 * The address carries into the next octet (IPv6: the low 32 bits). It stays in the base's block,
 * so that routers treat it alike: 224.0.1.0/24, 239.192.0.0/14, 239.255.0.0/16 (RFC 2365), else the
 * first octet; IPv6: the upper 96 bits. 224.0.0.0/24 is nobody's. A host has no neighbours: with a
 * unicast base the address offset is 0.
 */
#pragma once

#include "mcctypes.h"

typedef struct {
  uint16_t address_offset, port_offset;
} MccPlace;

typedef enum {
  MCC_PLACE_GOOD,
  MCC_PLACE_HOST,  /* an address offset to a host */
  MCC_PLACE_BLOCK, /* outside the base's block, or reserved */
  MCC_PLACE_PORT   /* above 65535 */
} MccPlaceVerdict;

/* *out is written only on MCC_PLACE_GOOD. */
MccPlaceVerdict mcc_place_address (const MccAddress *base, MccPlace place, MccAddress *out);

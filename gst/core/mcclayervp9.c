/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VP9: the first byte of the payload descriptor (RFC 9628 4.2).
 */
#include "mcclayerclass.h"

enum { P = 0x40, B = 0x08 };

MccLayerError
mcc_layer_vp9 (const uint8_t *payload, size_t size, MccLayerSlice *out)
{
  if (size < 2) /* a descriptor and nothing behind it */
    return MCC_LAYER_MALFORMED;
  *out = (MccLayerSlice){
    .slice = true, .key = !(payload[0] & P) && (payload[0] & B), .needed = true
  };
  return MCC_LAYER_GOOD;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VP8: the payload descriptor (RFC 7741 4.2) and the first bit of the payload header (4.3).
 */
#include "mcclayerclass.h"

enum { X = 0x80, N = 0x20, S = 0x10, PID = 0x07 };
enum { I = 0x80, L = 0x40, T = 0x20, K = 0x10 };
enum { M = 0x80, Y = 0x20, NOT_KEY = 0x01 };

MccLayerError
mcc_layer_vp8 (const uint8_t *payload, size_t size, MccLayerSlice *out)
{
  MccLayerSlice slice = { .slice = true };
  uint8_t extension = 0;
  size_t at = 1;
  if (size == 0)
    return MCC_LAYER_MALFORMED;
  slice.needed = !(payload[0] & N);
  if (payload[0] & X) {
    if (size <= at)
      return MCC_LAYER_MALFORMED;
    extension = payload[at++];
  }
  if (extension & I) {
    if (size <= at)
      return MCC_LAYER_MALFORMED;
    at += payload[at] & M ? 2 : 1;
  }
  if ((extension & L) && !(extension & T)) /* TL0PICIDX is of layers */
    return MCC_LAYER_MALFORMED;
  at += extension & L ? 1 : 0;
  if (extension & (T | K)) {
    if (size <= at)
      return MCC_LAYER_MALFORMED;
    if (extension & T) {
      slice.layer = payload[at] >> 6;
      slice.sync = payload[at] & Y;
    }
    at++;
  }
  if (size <= at) /* a descriptor and nothing behind it */
    return MCC_LAYER_MALFORMED;
  slice.key = (payload[0] & S) && !(payload[0] & PID) && !(payload[at] & NOT_KEY);
  *out = slice;
  return MCC_LAYER_GOOD;
}

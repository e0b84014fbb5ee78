/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrateprivate: what every rate controller starts with. For mccrate*.c only.
 */
#pragma once

#include "mccrate.h"

struct MccRate {
  const MccRateController *controller;
  double rate_bps; /* finite, >= 0 */
  MccRateMode mode;
  bool owns_queue, asks_pairs, fills_link;
  uint64_t link_bps;
  uint64_t share_bps;
};

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * linkrecord: what one direction of a link leaves behind; a "links" entry of the result.
 */
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "record.h"

namespace sim
{

struct LinkRecord {
  Steps rate_bps;
  Bins bytes, packets; /* that left it */
  Bins queue_drops, random_drops, marks;
  Means delay;               /* s in the queue, of what left it */
  std::vector<float> delays; /* each of them, for the quantiles */
  /* Bytes to groups, by flow number and group. */
  std::map<std::pair<unsigned, unsigned>, Bins> multicast;
};

} // namespace sim

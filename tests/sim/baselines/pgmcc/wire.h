/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * wire: PGMCC's packets as bytes, big endian, in UDP. The draft names the fields and their sizes
 * (2.1.3), the order is ours:
 *
 *   data      type 1, flags 1, 0 2, seq 4, stamp 4, acker 4                          16, and media
 *   ACK, NAK  type 1, flags 1, p 2, from 4, echo 4, echo_seq 4, map 4                20
 *   NAK       and nak_base 4                                                         24
 *
 * Stamps are in us modulo 2^32 (71 min). p is in 1/65535.
 */
#pragma once

#include <cstddef>

#include "pgmcc.h"

namespace sim::pgmcc
{

constexpr std::size_t DATA_HEADER = 16, ACK_SIZE = 20, NAK_SIZE = 24;

std::size_t Write (const Data &data, std::uint8_t *out);         /* DATA_HEADER bytes */
std::size_t Write (const Feedback &feedback, std::uint8_t *out); /* at most NAK_SIZE bytes */

/* False and *out untouched when it is no such packet. Numbers are extended to the value nearest to
 * @seq (0: none yet). A stamp read is what the wire says; an echo the newest time not after @now,
 * the sender's; MCC_TIME_NONE: what the wire says. */
bool Read (const std::uint8_t *bytes, std::size_t size, std::uint64_t seq, Data *out);
bool Read (
    const std::uint8_t *bytes, std::size_t size, std::uint64_t seq, MccTime now, Feedback *out);

} // namespace sim::pgmcc

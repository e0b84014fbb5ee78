/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * pgmcc: what its parts share: packets, constants, formulas.
 *
 * Sections are those of draft-ietf-rmt-bb-pgmcc-03 (July 2004). "Ours" marks what it leaves open.
 * Sequence numbers are 64 bits in here, 32 on the wire (wire.h); they start at 1.
 */
#pragma once

#include <cstdint>

extern "C" {
#include "mcctime.h"
}

namespace sim::pgmcc
{

constexpr double SSTHRESH = 4.0;                /* packets, fixed; 2.2 */
constexpr unsigned LATER_ACKS = 3;              /* an older packet is lost then; 2.2 */
constexpr unsigned MAP_BITS = 32;               /* of the ACK's bitmap; 2.1.2 */
constexpr unsigned GIVEN_UP = 4 * MAP_BITS;     /* packets later, what no map told of; ours */
constexpr double SWITCH_RATIO = 0.75;           /* C; 2.3 */
constexpr double LOSS_GAIN = 500.0 / 65536.0;   /* c; 2.6 */
constexpr MccTime RTO_INITIAL = 3 * MCC_SECOND; /* 2.7 */
constexpr MccTime RTO_MIN = 200 * MCC_MSECOND;  /* ours: as the TCP beside it (Linux) */
constexpr MccTime RTO_MAX = 60 * MCC_SECOND;    /* RFC 6298 2.5 */
constexpr unsigned RETRY_MAX = 1;               /* the second time-out in a row elects anew; 2.7 */
constexpr MccTime NAK_BACKOFF = 50 * MCC_MSECOND; /* ours; the draft leaves it to the transport */
constexpr unsigned GAP_MAX = 1000; /* a longer gap is a new start for a receiver; ours */

constexpr std::uint32_t NOBODY = UINT32_MAX; /* NO_ACKER; 2.1.1 */

/* 2.1.1 */
struct Data {
  std::uint64_t seq;
  MccTime stamp; /* sender's clock */
  std::uint32_t acker;
};

enum class Kind : std::uint8_t { ACK, NAK };

/* 2.1.2 */
struct Feedback {
  Kind kind;
  bool leaving; /* ACKER_LEAVING; 2.3.2 */
  std::uint32_t from;
  double loss_ratio;      /* p */
  MccTime echo;           /* newest stamp + the time since it came; 2.5.1 */
  std::uint64_t echo_seq; /* that packet's number (2.5.3); in an ACK it is RX_MAX as well */
  std::uint64_t nak_base; /* NAK only: the lowest missing number, 0 in a dummy (2.3.1) */
  std::uint32_t map; /* ACK: bit k = echo_seq - k has come; NAK: bit k = nak_base + k is missing */
};

/* What the acker is elected by. */
enum class Model : std::uint8_t { FULL, SIMPLE };

/* M = 1/T, up to a constant: RTT sqrt(p) (1 + 9 p (1 + 32 p^2)) (2.4); simple: RTT sqrt(p) (the
 * form in ASMP 2009, 5.2). 0 without loss: the highest throughput there is. */
double InverseThroughput (Model model, double rtt, double loss_ratio);

/* Whether receiver i replaces the acker: T_i < C T_acker (2.3). */
bool Replaces (double inverse_i, double inverse_acker);

} // namespace sim::pgmcc

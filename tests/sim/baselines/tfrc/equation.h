/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * equation: the TCP throughput equation of TFRC and TFMCC, and its inverse.
 *
 *   X = 8 s / ( R sqrt(2p/3) + t_RTO 3 sqrt(3p/8) p (1 + 32 p^2) )   [bit/s],  t_RTO = 4 R, b = 1
 *
 * RFC 5348 3.1 and RFC 4654 2.1. The core's mcctcp is not used: it has the min (1, .) of PFTK,
 * which these have not.
 */
#pragma once

namespace sim
{

/* @packet_bytes, @rtt (s) and @p > 0. */
double TfrcRate (double packet_bytes, double rtt, double p);
/* The p in (0, 1] at which TfrcRate () is @rate_bps; 1 when the rate is below that of p = 1. */
double TfrcLossEventRate (double packet_bytes, double rtt, double rate_bps);

} // namespace sim

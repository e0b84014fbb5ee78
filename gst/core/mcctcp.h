/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcctcp: the TCP throughput equation and its inverse.
 *
 *   X = s / ( R sqrt(2bp/3) + t_RTO min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2) )      [byte/s]
 *
 * (PFTK; ASMP 2009 eq. 12, ELM eq. 3, RFC 5348 3.1), with t_RTO = 4 R and b = 1. ASMP eq. 21 and
 * ASSP eq. 11 are misprints of it. X falls strictly with p and with R.
 */
#pragma once

typedef struct {
  double packets_per_ack; /* b; 1 = the papers and RFC 5348 */
  double rto_rtts;        /* t_RTO / R; 4 = the papers and RFC 5348 */
} MccTcpModel;

extern const MccTcpModel mcc_tcp_model_default;

/* Rate in bit/s for @packet_bytes > 0 (IP bytes), @rtt_s > 0 (seconds), @loss_ratio in 0..1.
 * loss_ratio <= 0 has no rate: returns INFINITY; above 1 counts as 1. */
double mcc_tcp_rate_bps (
    const MccTcpModel *model, double packet_bytes, double rtt_s, double loss_ratio);

/* The loss ratio for which mcc_tcp_rate_bps() gives @rate_bps; 1 when the rate is below that of
 * p = 1. Round-trips within 1e-6 relative. Seeds a loss history (RFC 5348 6.3.1). */
double mcc_tcp_loss_ratio (
    const MccTcpModel *model, double packet_bytes, double rtt_s, double rate_bps);

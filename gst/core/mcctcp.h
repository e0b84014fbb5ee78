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

/* Of losses of which @marked_share (0..1) are marks (ECN): TCP halves at them as at any, but
 * nothing is missing, and it waits for no time-out (RFC 3168 6.1.2); b is 1.2 for them (ours).
 * 0: the default. */
MccTcpModel mcc_tcp_model_of (double marked_share);

/* Rate in bit/s for @packet_bytes > 0 (IP bytes), @rtt_s > 0 (seconds), @loss_ratio in 0..1.
 * loss_ratio <= 0 has no rate: returns INFINITY; above 1 counts as 1. */
double mcc_tcp_rate_bps (
    const MccTcpModel *model, double packet_bytes, double rtt_s, double loss_ratio);

/* A flow of small packets, a picture in each say: a queue that counts packets loses them as often
 * as large ones, so that by the equation less gives smaller packets, and they less. It has what a
 * flow of MCC_TCP_NOMINAL_BYTES would (TFRC-SP, RFC 4828 4.2, 4.3), but no more packets than one in
 * MCC_TCP_SMALL_INTERVAL_S for it. Never less than mcc_tcp_rate_bps(); arguments as there. */
#define MCC_TCP_NOMINAL_BYTES 1000.0  /* IP; RFC 4828: 1460 of payload */
#define MCC_TCP_SMALL_INTERVAL_S 0.01 /* RFC 4828 4.3 */
double mcc_tcp_small_rate_bps (
    const MccTcpModel *model, double packet_bytes, double rtt_s, double loss_ratio);
/* ... and its inverse, as mcc_tcp_loss_ratio(). */
double mcc_tcp_small_loss_ratio (
    const MccTcpModel *model, double packet_bytes, double rtt_s, double rate_bps);

/* The loss ratio for which mcc_tcp_rate_bps() gives @rate_bps; 1 when the rate is below that of
 * p = 1. Round-trips within 1e-6 relative. Seeds a loss history (RFC 5348 6.3.1). */
double mcc_tcp_loss_ratio (
    const MccTcpModel *model, double packet_bytes, double rtt_s, double rate_bps);

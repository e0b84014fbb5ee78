/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcctcp.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

const MccTcpModel mcc_tcp_model_default = {
  .packets_per_ack = 1.0, /* b: ASMP eq. 12 (D), ELM eq. 3, RFC 5348 3.1 */
  .rto_rtts = 4.0,        /* t_RTO = 4 R: the same */
};

/* Ours (docs/design/receiver.md, ECN): a paced flow meets fewer marks than TCP's bursts do. */
#define MARKED_PACKETS_PER_ACK 0.2 /* more, which is a rate lower by 9 % */

MccTcpModel
mcc_tcp_model_of (double marked_share)
{
  MccTcpModel model = mcc_tcp_model_default;
  model.rto_rtts *= 1.0 - marked_share;
  model.packets_per_ack *= 1.0 + MARKED_PACKETS_PER_ACK * marked_share;
  return model;
}

/* Bisection over the logarithm of p: 2^-1000 .. 1 is narrowed below the spacing of doubles. */
#define MIN_LOG2_LOSS (-1000.0)
#define MAX_STEPS 100

/* The denominator in round-trip times per packet; rises strictly with p. */
static double
rtts_per_packet (const MccTcpModel *model, double loss_ratio)
{
  double p = loss_ratio;
  double b = model->packets_per_ack;
  double fast = sqrt (2.0 * b * p / 3.0);
  double timeout = fmin (1.0, 3.0 * sqrt (3.0 * b * p / 8.0)) * p * (1.0 + 32.0 * p * p);

  return fast + model->rto_rtts * timeout;
}

double
mcc_tcp_rate_bps (const MccTcpModel *model, double packet_bytes, double rtt_s, double loss_ratio)
{
  assert (packet_bytes > 0.0 && rtt_s > 0.0);

  if (!(loss_ratio > 0.0))
    return INFINITY;
  return 8.0 * packet_bytes / (rtt_s * rtts_per_packet (model, fmin (loss_ratio, 1.0)));
}

double
mcc_tcp_loss_ratio (const MccTcpModel *model, double packet_bytes, double rtt_s, double rate_bps)
{
  assert (packet_bytes > 0.0 && rtt_s > 0.0);

  if (!(rate_bps > mcc_tcp_rate_bps (model, packet_bytes, rtt_s, 1.0)))
    return 1.0;
  if (isinf (rate_bps))
    return 0.0;

  double target = 8.0 * packet_bytes / (rtt_s * rate_bps);
  double low = MIN_LOG2_LOSS;
  double high = 0.0;
  for (unsigned i = 0; i < MAX_STEPS; i++) {
    double middle = 0.5 * (low + high);
    if (!(middle > low && middle < high))
      break;
    if (rtts_per_packet (model, exp2 (middle)) < target)
      low = middle;
    else
      high = middle;
  }
  return exp2 (0.5 * (low + high));
}

double
mcc_tcp_small_rate_bps (
    const MccTcpModel *model, double packet_bytes, double rtt_s, double loss_ratio)
{
  double own = mcc_tcp_rate_bps (model, packet_bytes, rtt_s, loss_ratio);
  if (packet_bytes >= MCC_TCP_NOMINAL_BYTES)
    return own;
  double nominal = mcc_tcp_rate_bps (model, MCC_TCP_NOMINAL_BYTES, rtt_s, loss_ratio);
  return fmax (own, fmin (nominal, 8.0 * packet_bytes / MCC_TCP_SMALL_INTERVAL_S));
}

double
mcc_tcp_small_loss_ratio (
    const MccTcpModel *model, double packet_bytes, double rtt_s, double rate_bps)
{
  bool small = packet_bytes < MCC_TCP_NOMINAL_BYTES
               && rate_bps <= 8.0 * packet_bytes / MCC_TCP_SMALL_INTERVAL_S;
  return mcc_tcp_loss_ratio (model, small ? MCC_TCP_NOMINAL_BYTES : packet_bytes, rtt_s, rate_bps);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsenderstats: what the ASMP sender shows of itself.
 */
#include <assert.h>

#include "mccasmpsenderprivate.h"

void
mcc_asmp_sender_get_stats (const MccAsmpSender *self, MccTime now, MccAsmpSenderStats *out)
{
  const MccReceiver *limiting = mcc_asmp_sender_named (self);
  memset (out, 0, sizeof *out);
  out->target_bps = self->target_bps;
  out->sent_bps = mcc_meter_rate_bps (&self->sent, MCC_SENDER_APP_WINDOW, now);
  out->reason = self->reason;
  if (limiting != NULL) {
    out->limiting_ssrc = limiting->ssrc;
    out->limiting_address = limiting->address;
  }
  out->receivers = self->active;
  out->quarantined = self->quarantined;
  out->rtt_max = mcc_asmp_sender_rtt_max (self);
  out->reports = self->reports;
  out->ect = mcc_asmp_sender_ect (self);
  memcpy (out->dropped, self->dropped, sizeof out->dropped);
}

uint64_t
mcc_asmp_sender_target_bps (const MccAsmpSender *self)
{
  return self->target_bps;
}

bool
mcc_asmp_sender_wants_ect (const MccAsmpSender *self)
{
  return self->config.ecn && mcc_asmp_sender_enhanced (self) && self->active > 0
         && self->active_deaf == 0;
}

bool
mcc_asmp_sender_ect (const MccAsmpSender *self)
{
  return mcc_asmp_sender_wants_ect (self) && (self->session.flags & MCC_SESSION_ECT) != 0;
}

uint32_t
mcc_asmp_sender_members (const MccAsmpSender *self)
{
  return self->receivers.count;
}

uint32_t
mcc_asmp_sender_group (const MccAsmpSender *self)
{
  return self->receivers.count - self->unproven;
}

static void
fill_info (const MccReceiver *receiver, MccTime now, MccReceiverInfo *out)
{
  *out = (MccReceiverInfo){ .ssrc = receiver->ssrc,
    .address = receiver->address,
    .state = receiver->quarantine != MCC_QUARANTINE_NONE ? MCC_RECEIVER_QUARANTINED
                                                         : (MccReceiverState)receiver->state,
    .quarantine = (MccQuarantine)receiver->quarantine,
    .no_limit = receiver->no_limit,
    .rate_bps = receiver->rate_bps,
    .received_bps = receiver->plain ? 0 : receiver->received_bps,
    .potential_bps = receiver->plain ? 0 : receiver->potential_bps,
    .level = receiver->level,
    .loss_ratio
    = (double)receiver->loss_ratio * (UINT8_MAX - receiver->marked_share) / (double)UINT8_MAX,
    .rtt = receiver->rtt_us * MCC_USECOND,
    .rtt_measured = receiver->rtt_measured,
    .jitter = receiver->jitter_us * MCC_USECOND,
    .age = now > receiver->last_report ? now - receiver->last_report : 0,
    .plain = receiver->plain };
}

void
mcc_asmp_sender_get_receiver (
    const MccAsmpSender *self, uint32_t i, MccTime now, MccReceiverInfo *out)
{
  assert (i < self->receivers.count);
  fill_info (mcc_receivers_get (&self->receivers, MCC_ORDER_RATE, i), now, out);
}

/* The SSRC breaks ties, so that the list does not depend on the heap's history. */
bool
mcc_receiver_info_slower (const MccReceiverInfo *a, const MccReceiverInfo *b)
{
  bool a_limits = a->state == MCC_RECEIVER_ACTIVE && !a->no_limit;
  bool b_limits = b->state == MCC_RECEIVER_ACTIVE && !b->no_limit;
  if (a_limits != b_limits)
    return a_limits;
  if (a_limits && a->rate_bps != b->rate_bps)
    return a->rate_bps < b->rate_bps;
  return a->ssrc < b->ssrc;
}

/* Puts @info into the heap info[0..count) (fastest first) from @i downwards. */
static void
sift_down (MccReceiverInfo *info, unsigned count, unsigned i, MccReceiverInfo value)
{
  for (;;) {
    unsigned child = 2 * i + 1;
    if (child >= count)
      break;
    if (child + 1 < count && mcc_receiver_info_slower (&info[child], &info[child + 1]))
      child++;
    if (!mcc_receiver_info_slower (&value, &info[child]))
      break;
    info[i] = info[child];
    i = child;
  }
  info[i] = value;
}

unsigned
mcc_asmp_sender_get_receivers (
    const MccAsmpSender *self, MccTime now, MccReceiverInfo *out, unsigned max)
{
  unsigned count = self->receivers.count < max ? self->receivers.count : max;
  MccReceiverInfo info;
  if (count == 0)
    return 0;
  /* The slowest `count` in a heap whose root is the fastest of them, then heap sort in place. */
  for (unsigned i = 0; i < count; i++)
    fill_info (mcc_receivers_get (&self->receivers, MCC_ORDER_RATE, i), now, &out[i]);
  for (unsigned i = count / 2; i-- > 0;)
    sift_down (out, count, i, out[i]);
  for (unsigned i = count; i < self->receivers.count; i++) {
    fill_info (mcc_receivers_get (&self->receivers, MCC_ORDER_RATE, i), now, &info);
    if (mcc_receiver_info_slower (&info, &out[0]))
      sift_down (out, count, 0, info);
  }
  for (unsigned left = count; left-- > 1;) {
    info = out[left];
    out[left] = out[0];
    sift_down (out, left, 0, info);
  }
  return count;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsenderreport: what receivers tell the ASMP sender.
 */
#include <assert.h>
#include <math.h>

#include "mccasmpsenderprivate.h"
#include "mccrtt.h"
#include "mcctcp.h"

static const MccAddress no_address;

static uint32_t
saturate_us (MccTime time)
{
  MccTime us = time / MCC_USECOND;
  return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

/* Newer by serial arithmetic; or a restart: far back, two in sequence, while the old numbers have
 * been silent for longer than they used to be (else a replay could pass for one). */
static bool
number_accepted (const MccAsmpSender *self, MccReceiver *receiver, uint32_t number)
{
  if (receiver->reports == 0 || receiver->plain || mcc_seq_newer32 (number, receiver->number)) {
    receiver->has_candidate = false;
    return true;
  }
  if (receiver->number - number <= MCC_SENDER_RESTART_BACK)
    return false;
  bool in_sequence = receiver->has_candidate && number == receiver->candidate + 1;
  MccTime silence = self->now - receiver->last_report;
  receiver->has_candidate = true;
  receiver->candidate = number;
  if (!in_sequence || silence < 2 * MCC_USECOND * receiver->interval_us)
    return false;
  receiver->has_candidate = false;
  return true;
}

/* Nobody has received what was not sent. Cycles are counted since the receiver's first packet, so
 * it has no more of them than we have; but one that has heard an earlier sender with our SSRC goes
 * on counting: then the 16 bits of RTP decide, as far as they can. */
static bool
seq_plausible (const MccAsmpSender *self, uint32_t highest_seq)
{
  uint64_t sent = self->sent_seq.highest - (UINT64_C (1) << 32);
  uint16_t ahead = (uint16_t)(highest_seq - sent);
  if (!self->sent_seq.started || highest_seq <= sent)
    return true;
  return ahead <= MCC_SENDER_SEQ_AHEAD || ahead >= 0x8000;
}

static void
take_report (MccAsmpSender *self, MccReceiver *receiver, const MccAppReport *report)
{
  bool was_plain = receiver->plain && receiver->state == MCC_RECEIVER_ACTIVE;
  self->active_plain -= was_plain;
  receiver->plain = false;
  if (was_plain) { /* what is known of its host counts from now on */
    mcc_asmp_sender_inherit (self, receiver);
    if (receiver->quarantine != MCC_QUARANTINE_NONE)
      mcc_asmp_sender_push_receiver (self, receiver);
  }
  receiver->number = report->number;
  receiver->no_limit = (report->flags & MCC_REPORT_NO_LIMIT) != 0;
  receiver->pairs = (report->more_flags & MCC_REPORT_PAIRS) != 0;
  receiver->rate_bps = report->rate_bps;
  receiver->received_bps = report->received_bps;
  receiver->potential_bps = report->potential_bps;
  receiver->level = report->level;
  receiver->loss_ratio = (float)report->loss_ratio;
  receiver->marked_share = (uint8_t)(report->marked_share * UINT8_MAX + 0.5);
  self->active_deaf -= receiver->deaf && receiver->state == MCC_RECEIVER_ACTIVE;
  receiver->deaf = report->ecn != MCC_REPORT_ECN_HEEDED && report->ecn != MCC_REPORT_ECN_BLEACHED;
  self->active_deaf += receiver->deaf && receiver->state == MCC_RECEIVER_ACTIVE;
  receiver->rtt_measured = (report->flags & MCC_REPORT_RTT_MEASURED) != 0 && report->rtt > 0;
  receiver->rtt_us = saturate_us (report->rtt);
  receiver->jitter_us = saturate_us (report->jitter);
  receiver->leaving = (report->flags & MCC_REPORT_LEAVING) != 0;
  receiver->no_caps = (report->flags & MCC_REPORT_NO_CAPS) != 0;
  receiver->queueless = report->queue_delay <= MCC_SENDER_QUEUELESS
                        && (report->flags & (MCC_REPORT_CONGESTED | MCC_REPORT_LOSS)) == 0;
  mcc_asmp_sender_note_progress (self, receiver, report->highest_seq);
}

static void
trace_report (MccAsmpSender *self, const MccReceiver *receiver)
{
  MccTraceEvent event = { .type = MCC_TRACE_REPORT,
    .time = self->now,
    .ssrc = receiver->ssrc,
    .i = receiver->number,
    .a = receiver->rate_bps,
    .x = receiver->loss_ratio,
    .y = receiver->rtt_us * 1e-6 };
  mcc_trace_add (&self->trace, &event);
}

/* The receiver's values are stored: what follows for the sender. */
static MccDrop
use_report (MccAsmpSender *self, MccReceiver *receiver, bool known)
{
  receiver->hears |= known;
  mcc_asmp_sender_touch (self, receiver);
  bool was_active = receiver->state == MCC_RECEIVER_ACTIVE, first = receiver->reports == 1;
  if (known && receiver->reports < MCC_SENDER_PROBATION_REPORTS)
    receiver->reports = MCC_SENDER_PROBATION_REPORTS;
  MccDrop drop = mcc_asmp_sender_settle (self, receiver);
  if (first && drop != MCC_DROP_ADDRESS)
    self->session_urgent = true;
  if (receiver->no_caps && drop != MCC_DROP_ADDRESS)
    mcc_asmp_sender_want_caps (self);
  /* At the start somebody is there: wait for its next report before halving; but only once, for who
   * hears nothing is never more than that. */
  if (drop == MCC_DROP_PROBATION && !self->heard && !self->lost && !self->awaited) {
    self->last_feedback = self->now;
    self->awaited = true;
  }
  if (drop != MCC_DROP_NONE)
    return mcc_asmp_sender_drop (self, drop, receiver->ssrc);
  if (receiver->pairs && mcc_asmp_sender_is_feedback (self, receiver))
    self->asked = self->now;
  if (was_active)
    mcc_asmp_sender_apply_limit (self, receiver);
  self->reports++;
  trace_report (self, receiver);
  if (mcc_asmp_sender_is_feedback (self, receiver))
    mcc_asmp_sender_feedback (self, receiver);
  mcc_asmp_sender_round_report (self, receiver);
  mcc_asmp_sender_update_target (self);
  return MCC_DROP_NONE;
}

static MccDrop
handle_report (MccAsmpSender *self, uint32_t ssrc, const MccAppReport *report,
    const MccAddress *from, bool known, MccTime now)
{
  MccDrop drop;
  mcc_asmp_sender_advance (self, now);
  if (ssrc == self->config.ssrc)
    return mcc_asmp_sender_drop (self, MCC_DROP_OWN, ssrc);
  if (!mcc_app_report_plausible (report) || !seq_plausible (self, report->highest_seq))
    return mcc_asmp_sender_drop (self, MCC_DROP_BAD_VALUE, ssrc);
  if (from == NULL)
    from = &no_address;

  MccReceiver *receiver = mcc_receivers_find (&self->receivers, ssrc, from);
  if (receiver == NULL) {
    receiver = mcc_asmp_sender_admit (self, ssrc, from, false, &drop);
    if (receiver == NULL)
      return mcc_asmp_sender_drop (self, drop, ssrc);
  } else if (!number_accepted (self, receiver, report->number)) {
    return mcc_asmp_sender_drop (self, MCC_DROP_STALE, ssrc);
  }
  mcc_asmp_sender_judge (self, receiver);
  take_report (self, receiver, report);
  if (receiver->state == MCC_RECEIVER_ACTIVE || mcc_asmp_sender_holds_name (self, receiver))
    mcc_asmp_sender_measure (self, receiver, report);
  if (report->flags & MCC_REPORT_KEY_UNIT)
    mcc_key_unit_request (&self->key_unit, mcc_asmp_sender_rtt_max (self), self->now);
  return use_report (self, receiver, known);
}

MccDrop
mcc_asmp_sender_handle_report (MccAsmpSender *self, uint32_t ssrc, const MccAppReport *report,
    const MccAddress *from, MccTime now)
{
  return handle_report (self, ssrc, report, from, false, now);
}

MccDrop
mcc_asmp_sender_handle_known_report (MccAsmpSender *self, uint32_t ssrc, const MccAppReport *report,
    const MccAddress *from, MccTime now)
{
  return handle_report (self, ssrc, report, from, true, now);
}

void
mcc_asmp_sender_handle_block (
    MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  if (from == NULL)
    from = &no_address;
  MccReceiver *receiver = mcc_receivers_find (&self->receivers, ssrc, from);
  if (receiver != NULL) {
    receiver->hears = true;
    mcc_asmp_sender_no_stranger (self, receiver);
    return;
  }
  self->named.ssrc = ssrc;
  self->named.address = *from;
}

/* Early RTCP (RFC 4585), for a key unit at the start, tells of two or three packets, of which one
 * lost is no rate of loss: such reports are put together. How many packets the first one tells of
 * only its count of lost ones says. True: an interval is full, its loss in @out. */
static bool
plain_interval (
    MccAsmpSender *self, MccReceiver *receiver, const MccPlainReport *report, double *out)
{
  double fraction = report->fraction_lost, packets = 0.0;
  bool first = receiver->reports == 0;
  if (first && fraction > 0.0)
    packets = report->packets_lost > 0 ? report->packets_lost / fraction : 1.0;
  else if (receiver->highest_seq != 0 && report->highest_seq - receiver->highest_seq <= UINT16_MAX)
    packets = report->highest_seq - receiver->highest_seq;
  receiver->plain_packets += (float)packets;
  receiver->plain_lost += (float)(packets * fraction);
  bool few = receiver->plain_packets < MCC_SENDER_PLAIN_PACKETS;
  bool early
      = first ? fraction > 0.0 : self->now - receiver->plain_since < MCC_SENDER_PLAIN_INTERVAL;
  if (first)
    receiver->plain_since = self->now;
  if (few && early)
    return false;
  *out = receiver->plain_packets > 0.0f
             ? fmin (1.0, (double)receiver->plain_lost / (double)receiver->plain_packets)
             : fraction;
  receiver->plain_packets = receiver->plain_lost = 0.0f;
  receiver->plain_since = self->now;
  return true;
}

/* Weighted mean of the last 8 intervals' loss (ASMP eq. 2-3), newest first; 0: there is none. */
static double
plain_loss (const MccReceiver *receiver)
{
  static const double weight[MCC_RECEIVERS_HISTORY] = { 1, 1, 1, 1, .8, .6, .4, .2 };
  double sum = 0.0, weights = 0.0;
  for (unsigned i = 0; i < receiver->fractions; i++) {
    sum += weight[i] * receiver->fraction[i];
    weights += weight[i];
  }
  return weights > 0.0 ? sum / (weights * UINT16_MAX) : 0.0;
}

static void
add_fraction (MccReceiver *receiver, double fraction)
{
  memmove (receiver->fraction + 1, receiver->fraction,
      (MCC_RECEIVERS_HISTORY - 1) * sizeof receiver->fraction[0]);
  receiver->fraction[0] = (uint16_t)(fraction * UINT16_MAX + 0.5);
  if (receiver->fractions < MCC_RECEIVERS_HISTORY)
    receiver->fractions++;
}

static void
take_plain_report (MccAsmpSender *self, MccReceiver *receiver, const MccPlainReport *report)
{
  MccTime rtt = report->rtt;
  double fraction;
  receiver->plain = receiver->deaf = true;
  if (plain_interval (self, receiver, report, &fraction))
    add_fraction (receiver, fraction);
  receiver->loss_ratio = (float)plain_loss (receiver);
  receiver->no_limit = !(receiver->loss_ratio > 0.0f);
  receiver->rtt_measured = rtt > 0;
  receiver->rtt_us = saturate_us (rtt);
  if (rtt == 0)
    rtt = MCC_SENDER_RTT_FALLBACK;
  receiver->rate_bps = 0;
  if (!receiver->no_limit) {
    double rtt_s = mcc_time_to_seconds (mcc_time_max (rtt, MCC_MSECOND));
    double rate = (mcc_asmp_sender_enhanced (self) ? mcc_tcp_small_rate_bps : mcc_tcp_rate_bps) (
        &mcc_tcp_model_default, self->packet_bytes, rtt_s, receiver->loss_ratio);
    receiver->rate_bps = rate < 1.0                               ? 1
                         : rate < (double)MCC_APP_REPORT_RATE_MAX ? (uint64_t)rate
                                                                  : MCC_APP_REPORT_RATE_MAX;
  }
}

MccDrop
mcc_asmp_sender_handle_plain_report (MccAsmpSender *self, uint32_t ssrc,
    const MccPlainReport *report, const MccAddress *from, MccTime now)
{
  MccDrop drop;
  mcc_asmp_sender_advance (self, now);
  if (ssrc == self->config.ssrc)
    return mcc_asmp_sender_drop (self, MCC_DROP_OWN, ssrc);
  if (!(report->fraction_lost >= 0.0 && report->fraction_lost <= 1.0) || report->rtt > MCC_RTT_MAX
      || !seq_plausible (self, report->highest_seq))
    return mcc_asmp_sender_drop (self, MCC_DROP_BAD_VALUE, ssrc);
  if (from == NULL)
    from = &no_address;

  MccReceiver *receiver = mcc_receivers_find (&self->receivers, ssrc, from);
  if (receiver == NULL) {
    receiver = mcc_asmp_sender_admit (self, ssrc, from, true, &drop);
    if (receiver == NULL)
      return mcc_asmp_sender_drop (self, drop, ssrc);
  } else if (!receiver->plain) {
    /* One of ours, by its regular RTCP: it lives, but its rate is in its reports. The limiting one
     * has to give them. */
    if (receiver != mcc_asmp_sender_limiting (self))
      mcc_asmp_sender_keep (self, receiver);
    return MCC_DROP_NONE;
  }
  take_plain_report (self, receiver, report);
  mcc_asmp_sender_note_progress (self, receiver, report->highest_seq);
  drop = use_report (self, receiver, false);
  if (drop == MCC_DROP_NONE && receiver->loss_ratio <= 0.0f && receiver->plain_lost <= 0.0f)
    mcc_asmp_sender_plain_rise (self, receiver);
  return drop;
}

static MccDrop
handle_end (
    MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, MccReceiverState state, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  MccReceiver *receiver
      = mcc_receivers_find (&self->receivers, ssrc, from != NULL ? from : &no_address);
  if (receiver == NULL)
    return mcc_asmp_sender_drop (self, MCC_DROP_ADDRESS, ssrc);
  mcc_asmp_sender_remove (self, receiver, state);
  mcc_asmp_sender_update_target (self);
  return MCC_DROP_NONE;
}

MccDrop
mcc_asmp_sender_handle_bye (MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  return handle_end (self, ssrc, from, MCC_RECEIVER_LEFT, now);
}

MccDrop
mcc_asmp_sender_handle_moved (
    MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, MccTime now)
{
  return handle_end (self, ssrc, from, MCC_RECEIVER_MOVED, now);
}

bool
mcc_asmp_sender_counts (const MccAsmpSender *self, uint32_t ssrc, const MccAddress *from)
{
  const MccReceiver *receiver
      = mcc_receivers_find (&self->receivers, ssrc, from != NULL ? from : &no_address);
  return receiver != NULL && receiver->state == MCC_RECEIVER_ACTIVE
         && (receiver->hears || !self->config.wants_block);
}

bool
mcc_asmp_sender_get_number (
    const MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, uint32_t *number)
{
  const MccReceiver *receiver
      = mcc_receivers_find (&self->receivers, ssrc, from != NULL ? from : &no_address);
  if (receiver == NULL)
    return false;
  *number = receiver->number;
  return true;
}

bool
mcc_asmp_sender_get_level (
    const MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, unsigned *level)
{
  const MccReceiver *receiver
      = mcc_receivers_find (&self->receivers, ssrc, from != NULL ? from : &no_address);
  if (receiver == NULL)
    return false;
  *level = receiver->level;
  return true;
}

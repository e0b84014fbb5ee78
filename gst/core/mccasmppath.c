/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmppath.h"

#include <math.h>

#include "mcctcp.h"

#define ABSENCE_ECHO (200 * MCC_MSECOND)
#define SEED_EVENTS 2 /* ours */
#define CHANGED 1e-4  /* chance of a false alarm in all of the group */
#define EXPECTED 16   /* loss intervals; ours */
#define TRY_PERIOD_S 16
#define TRY_SLOT_S 3
#define SEED_QUEUE (10 * MCC_MSECOND) /* ours */
#define FAST_MIN (200 * MCC_MSECOND)
#define FAST_PACKETS 20 /* ours; fewer: steady loss on slow links doubles */
#define FAST_SPAN (1 * MCC_SECOND)
#define MANY 6   /* receivers; the lowest of them is 1.3 standard deviations below their mean */
#define OTHERS 2 /* receivers: somebody was there before us */
#define QUEUES_FEW 0.25 /* part of the loss events */
#define QUEUES_MOST 0.5
#define SLOW_MIN (1 * MCC_SECOND)
#define SLOW_SPAN (4 * MCC_SECOND)

bool
mcc_asmp_path_init (MccAsmpPath *self, MccVariant variant, MccLoss *loss)
{
  memset (self, 0, sizeof *self);
  self->variant = variant;
  self->loss = loss;
  if (loss == NULL)
    return false;
  mcc_asmp_path_reset (self);
  return true;
}

void
mcc_asmp_path_clear (MccAsmpPath *self)
{
  if (self->loss != NULL)
    mcc_loss_free (self->loss);
  self->loss = NULL;
}

void
mcc_asmp_path_expect_pairs (MccAsmpPath *self, MccTime apart)
{
  self->paired = apart;
  mcc_pairs_init (&self->pairs, apart);
}

void
mcc_asmp_path_reset (MccAsmpPath *self)
{
  MccVariant variant = self->variant;
  MccLoss *loss = self->loss;
  MccTime paired = self->paired;
  memset (self, 0, sizeof *self);
  self->event_before = MCC_TIME_NONE;
  self->variant = variant;
  self->loss = loss;
  self->paired = paired;
  mcc_loss_reset (loss);
  mcc_jitter_init (&self->jitter);
  mcc_queue_init (&self->queue, 0);
  mcc_transmission_init (&self->transmission, 0);
  mcc_overflow_init (&self->overflow, 0);
  mcc_rtt_init (
      &self->rtt, variant == MCC_VARIANT_PUBLISHED ? MCC_RTT_PUBLISHED : MCC_RTT_ENHANCED);
  mcc_congestion_init (&self->congestion);
  mcc_meter_init (&self->fast, FAST_SPAN);
  mcc_meter_init (&self->slow, SLOW_SPAN);
  mcc_capacity_init (&self->capacity);
  mcc_pairs_init (&self->pairs, self->paired);
  mcc_ecn_init (&self->ecn);
  mcc_standstill_init (&self->standstill);
  mcc_numbering_init (&self->numbering);
  self->queue_min = MCC_TIME_NONE;
}

/* Whether @packet counts as a loss in the equation. Where gaps are excused marks are: the queue is
 * that of two streams. */
static bool
is_marked (MccAsmpPath *self, const MccRtpPacket *packet, MccTime now)
{
  if (self->variant != MCC_VARIANT_ENHANCED)
    return false;
  bool was_broken = self->ecn.broken;
  bool marked = mcc_ecn_handle_packet (&self->ecn, packet->ecn, mcc_rtt_get (&self->rtt), now);
  if (self->ecn.broken && !was_broken) { /* what comes then is the first loss */
    mcc_loss_seed (self->loss, 0.0);
    self->seeded = false;
    self->seed_after = mcc_loss_events (self->loss);
  }
  return marked && now >= self->excuse_until;
}

/* When @packet came into the socket; not before the one that was read before it. */
static MccTime
arrival_of (const MccAsmpPath *self, const MccRtpPacket *packet, MccTime now)
{
  MccTime arrival = now - mcc_time_min (packet->waited, now);
  return mcc_time_min (mcc_time_max (arrival, self->arrival), now);
}

/* What the link carries is measured anew from there on. */
static void
notice_standstill (MccAsmpPath *self, MccTime arrival)
{
  MccTime stood = mcc_standstill_handle_packet (&self->standstill, self->queue_newest, arrival);
  if (stood == 0 || self->variant != MCC_VARIANT_ENHANCED)
    return;
  self->stood_still = mcc_time_max (self->stood_still, stood);
  mcc_meter_init (&self->fast, FAST_SPAN);
  mcc_meter_add (&self->fast, 0, arrival);
}

void
mcc_asmp_path_begin_interval (MccAsmpPath *self, uint32_t send_time, MccTime arrival)
{
  self->decided_send = send_time;
  self->decided_arrival = arrival;
  self->decided_bytes = 0;
}

bool
mcc_asmp_path_handle_packet (MccAsmpPath *self, const MccRtpPacket *packet, MccTime now)
{
  uint64_t number;
  MccTime arrival = arrival_of (self, packet, now);
  MccNumberingInput input = { .packet = packet,
    .now = now,
    .arrival = arrival,
    .queue = self->queue_newest,
    .excused = now < self->excuse_until };
  if (!mcc_numbering_handle_packet (&self->numbering, &input, &number))
    return false;
  MccTime rtt = mcc_time_max (mcc_rtt_get (&self->rtt), 1);
  uint64_t loss_events = mcc_loss_events (self->loss), copies = mcc_loss_duplicates (self->loss);
  bool gap = self->newest > 0 && number > self->newest + 1;
  bool late = number < self->newest;
  if (number > self->newest)
    mcc_ecn_handle_return (&self->ecn, packet->ecn, self->numbering.follows);
  bool marked = is_marked (self, packet, now);
  if (late)
    mcc_loss_handle_late_packet (self->loss, number, packet->bytes, now, rtt, marked);
  else if (marked)
    mcc_loss_handle_marked_packet (self->loss, number, packet->bytes, now, rtt);
  else
    mcc_loss_handle_packet (self->loss, number, packet->bytes, now, rtt);
  if (self->variant == MCC_VARIANT_ENHANCED && mcc_loss_duplicates (self->loss) > copies)
    return true; /* nobody sent it */
  self->newest = late ? self->newest : number;
  mcc_meter_add (&self->fast, packet->bytes, now);
  mcc_meter_add (&self->slow, packet->bytes, now);
  self->arrival = arrival;
  mcc_capacity_handle_packet (&self->capacity, packet->bytes, arrival);
  mcc_carried_add (&self->carried, packet->bytes, now);
  if (!packet->has_send_time)
    return true;

  if (!self->jitter.started)
    mcc_asmp_path_begin_interval (self, packet->send_time, arrival);
  self->decided_bytes += packet->bytes;
  MccTimeDelta apart = mcc_abs_send_time_diff (packet->send_time, self->jitter.last_send);
  mcc_jitter_handle_packet (&self->jitter, packet->send_time, arrival);
  MccTimeDelta transit = self->jitter.cumulative;
  if (self->jitter.jumped)
    mcc_rtt_lose_anchor (&self->rtt, transit);
  if (self->paired > 0)
    mcc_pairs_handle_packet (
        &self->pairs, number, packet->bytes, apart, self->queue_newest, arrival);
  if (self->variant == MCC_VARIANT_PUBLISHED)
    mcc_rtt_handle_packet (
        &self->rtt, mcc_abs_send_time_diff (mcc_abs_send_time (arrival), packet->send_time), now);
  else
    mcc_rtt_handle_packet (&self->rtt, transit, now);
  mcc_congestion_handle_packet (&self->congestion, transit);
  self->queue_newest = mcc_transmission_handle_packet (&self->transmission, packet->bytes,
      mcc_queue_handle_packet (&self->queue, transit, arrival), arrival);
  mcc_overflow_handle_packet (&self->overflow, self->queue_newest, gap, now);
  if (mcc_loss_events (self->loss) > loss_events && packet->ecn != MCC_ECN_CE)
    mcc_overflow_handle_event (&self->overflow);
  self->queue_min = mcc_time_min (self->queue_min, self->queue_newest);
  self->queue_max = mcc_time_max (self->queue_max, self->queue_newest);
  mcc_slump_handle_packet (&self->slump, packet->bytes, self->queue_newest, arrival);
  notice_standstill (self, arrival);
  if (self->variant == MCC_VARIANT_ENHANCED)
    mcc_neighbours_handle_packet (&self->neighbours, packet->send_time, transit, arrival);
  self->has_echo = true;
  self->echo = packet->send_time;
  self->echo_time = arrival;
  self->echo_transit = transit;
  return true;
}

void
mcc_asmp_path_handle_host_dropped (MccAsmpPath *self, uint64_t packets, MccTime now)
{
  mcc_numbering_handle_host_dropped (&self->numbering, packets, now);
}

void
mcc_asmp_path_excuse (MccAsmpPath *self, MccTime now)
{
  mcc_meter_init (&self->fast, FAST_SPAN);
  mcc_meter_init (&self->slow, SLOW_SPAN);
  mcc_capacity_init (&self->capacity); /* what waited in our socket proves nothing */
  mcc_pairs_init (&self->pairs, self->paired);
  mcc_slump_clear (&self->slump);
  self->queue_max = 0;
  self->queue_min = MCC_TIME_NONE;
  self->absent_until = now + ABSENCE_ECHO;
}

void
mcc_asmp_path_splice (MccAsmpPath *self)
{
  mcc_numbering_splice (&self->numbering);
  mcc_pairs_init (&self->pairs, self->paired);
  self->event_before = mcc_loss_last_event (self->loss);
  self->carried = (MccCarried){ 0 };
  mcc_meter_init (&self->fast, FAST_SPAN);
  mcc_meter_init (&self->slow, SLOW_SPAN);
  mcc_slump_clear (&self->slump);
  self->queue_max = 0;
  self->queue_min = MCC_TIME_NONE;
}

void
mcc_asmp_path_forget_losses (MccAsmpPath *self)
{
  mcc_loss_forget (self->loss);
  self->forgotten.arrived = mcc_loss_packets_received (self->loss);
  self->forgotten.lost = mcc_loss_packets_lost (self->loss);
  self->forgotten.marked = mcc_loss_packets_marked (self->loss);
  self->events = self->seed_after = 0;
  self->seeded = false;
}

void
mcc_asmp_path_excuse_losses (MccAsmpPath *self, MccTime until)
{
  self->excuse_until = until;
}

void
mcc_asmp_path_handle_ect (MccAsmpPath *self, bool ect)
{
  mcc_ecn_handle_announced (&self->ecn, ect);
}

double
mcc_asmp_path_overflow_share (const MccAsmpPath *self)
{
  return (1.0 - mcc_loss_marked_share (self->loss)) * mcc_overflow_share (&self->overflow);
}

double
mcc_asmp_path_lost_ratio (const MccAsmpPath *self)
{
  return mcc_loss_ratio (self->loss) * (1.0 - mcc_loss_marked_share (self->loss));
}

/* The one with which the equation gives @bps. */
static double
loss_ratio_of (const MccAsmpPath *self, const MccRateInput *input, MccTime rtt, double bps)
{
  bool enhanced = self->variant == MCC_VARIANT_ENHANCED;
  return (enhanced ? mcc_tcp_small_loss_ratio : mcc_tcp_loss_ratio) (
      &mcc_tcp_model_default, input->packet_bytes, mcc_time_to_seconds (rtt), bps);
}

/* ... what arrives. */
static double
carried_loss_ratio (const MccAsmpPath *self, const MccRateInput *input)
{
  return loss_ratio_of (self, input, input->rtt, (double)input->received_now_bps);
}

/* Packets that arrived for each loss so far, and those of an RTT, in which the next begins no
 * event. Until the RTT is measured the initial one, far too long mostly, makes one event of
 * several. */
static double
first_interval (const MccAsmpPath *self, const MccRateInput *input)
{
  uint64_t arrived = mcc_asmp_path_arrived (self);
  uint64_t marked = mcc_loss_packets_marked (self->loss) - self->forgotten.marked;
  uint64_t losses
      = mcc_loss_packets_lost (self->loss) - self->forgotten.lost + (self->ecn.broken ? 0 : marked);
  double rtt_packets = (double)input->received_now_bps * mcc_time_to_seconds (input->rtt)
                       / (8.0 * input->packet_bytes);
  if (losses <= 1)
    return (double)arrived;
  return fmin ((double)arrived / (double)losses + rtt_packets, (double)arrived);
}

/* The first loss event has no interval before it: the one that gives the rate which the path
 * carried (RFC 5348 6.3.1); but where no queue was near no longer than what arrived so far for each
 * loss. Where others kept that rate down it says nothing: what arrived so far counts, if that is
 * longer. */
static double
first_loss_ratio (const MccAsmpPath *self, const MccRateInput *input)
{
  double carried = carried_loss_ratio (self, input);
  uint64_t arrived = mcc_asmp_path_arrived (self);
  if (input->held_down && arrived > 0)
    return fmin (carried, 1.0 / (double)arrived);
  if (input->queue_peak > SEED_QUEUE || arrived == 0)
    return carried;
  return fmax (carried, 1.0 / first_interval (self, input));
}

/* Somebody has come: what was met before he did says nothing of what there is for us now. The rate
 * that arrives stands for it until so much was measured. */
static void
notice_change (MccAsmpPath *self, const MccRateInput *input)
{
  uint64_t loss_events = mcc_loss_events (self->loss);
  bool looked_at = loss_events == self->judged_events;

  self->judged_events = loss_events;
  if (self->variant != MCC_VARIANT_ENHANCED || !self->seeded || looked_at)
    return;
  unsigned newer = mcc_loss_changed (self->loss, CHANGED / fmax (1.0, self->receivers));
  if (newer == 0 || input->held_down || input->received_now_bps == 0)
    return;
  double ratio = carried_loss_ratio (self, input);
  if (ratio > mcc_loss_ratio (self->loss))
    mcc_loss_reseed (self->loss, newer, ratio);
}

void
mcc_asmp_path_meet_rivals (MccAsmpPath *self, const MccRateInput *input, uint64_t share_bps)
{
  if (input->held_down || !input->rtt_measured)
    return;
  MccTime base = mcc_asmp_path_base_rtt (self);
  MccTime rtt = mcc_time_max (base, (base + mcc_overflow_longest (&self->overflow)) / 4 * 3);
  double bps = fmax ((double)share_bps, (double)input->received_now_bps);
  double ratio = loss_ratio_of (self, input, rtt, bps);
  if (ratio > mcc_loss_ratio (self->loss))
    mcc_loss_reseed (self->loss, 0, ratio);
}

void
mcc_asmp_path_handle_group (MccAsmpPath *self, unsigned receivers, bool limited)
{
  self->receivers = receivers;
  self->limited = limited && receivers >= OTHERS;
}

void
mcc_asmp_path_fit_history (MccAsmpPath *self, unsigned history)
{
  double queues = mcc_overflow_share (&self->overflow);
  if (self->receivers < MANY || queues > QUEUES_MOST)
    mcc_loss_set_history (self->loss, history);
  else if (queues < QUEUES_FEW)
    mcc_loss_set_history (self->loss, (unsigned)fmin (MCC_LOSS_HISTORY_MAX,
                                          fmax (history, (double)mcc_loss_events (self->loss))));
}

bool
mcc_asmp_path_is_expecting (const MccAsmpPath *self)
{
  return self->limited && !self->met_queue && !self->seeded
         && mcc_loss_events (self->loss) - self->seed_after <= SEED_EVENTS;
}

/* The first losses. */
static void
seed_losses (MccAsmpPath *self, const MccRateInput *input, uint64_t events)
{
  bool expects = self->limited && !input->held_down && input->queue_peak <= SEED_QUEUE
                 && mcc_loss_expect (self->loss, carried_loss_ratio (self, input), EXPECTED);
  if (!expects && events <= SEED_EVENTS)
    mcc_loss_seed (self->loss, first_loss_ratio (self, input));
}

void
mcc_asmp_path_decide (MccAsmpPath *self, MccRateInput *input, MccTime now)
{
  MccTime rtt = mcc_rtt_get (&self->rtt);
  uint64_t lost = mcc_loss_packets_lost (self->loss);
  uint64_t marked = mcc_loss_packets_marked (self->loss);
  if (self->queue_min != MCC_TIME_NONE)
    self->standing = self->queue_min;
  self->queue_min = MCC_TIME_NONE;

  input->now = now;
  input->others_limit = self->limited;
  input->rtt = rtt;
  input->rtt_measured = self->rtt.measured;
  input->marked_alone = marked > self->marked_before && lost <= self->lost_before;
  input->loss_in_interval = lost > self->lost_before || marked > self->marked_before;
  MccTime event = mcc_loss_last_event (self->loss);
  input->last_loss_event = event != self->event_before ? event : MCC_TIME_NONE;
  input->packet_bytes = mcc_loss_mean_packet_bytes (self->loss);
  MccTimeDelta span = mcc_abs_send_time_diff (self->jitter.last_send, self->decided_send);
  input->sent_span = span > 0 ? (MccTime)span : 0;
  input->sent_bytes = self->decided_bytes;
  input->came_span = self->jitter.last_arrival - self->decided_arrival;
  mcc_asmp_path_begin_interval (self, self->jitter.last_send, self->jitter.last_arrival);
  input->queue_delay = self->standing;
  input->queue_peak = mcc_time_max (self->queue_max, self->standing);
  self->met_queue |= input->queue_peak > SEED_QUEUE;
  self->queue_max = 0;
  input->received_bps = mcc_asmp_path_received_bps (self, now);
  mcc_transmission_update (&self->transmission, input->received_bps);
  input->transmission = mcc_transmission_own (&self->transmission, (uint32_t)input->packet_bytes);
  /* A few packets tell no rate. */
  double packets_s = FAST_PACKETS * 8.0 * input->packet_bytes / (double)(input->received_bps + 1);
  MccTime window = mcc_time_max (rtt, mcc_time_from_seconds (packets_s));
  window = mcc_time_clamp (window, FAST_MIN, FAST_SPAN);
  input->received_now_bps = mcc_meter_rate_bps (&self->fast, window, now);
  input->stood_still = self->stood_still;
  if (input->received_now_bps > 0) /* else nothing is decided */
    self->stood_still = 0;
  input->grain_bps = (uint64_t)(8.0 * input->packet_bytes / mcc_time_to_seconds (window));
  self->lost_before = lost;
  self->marked_before = marked;

  /* Where the RTT came late there are real intervals. */
  uint64_t loss_events = mcc_loss_events (self->loss);
  if (self->variant == MCC_VARIANT_ENHANCED && !self->seeded && self->rtt.measured
      && input->packet_bytes > 0.0 && input->received_now_bps > 0
      && loss_events > self->seed_after) {
    self->seeded = true;
    seed_losses (self, input, loss_events - self->seed_after);
  }
  notice_change (self, input);
  input->loss_ratio = mcc_loss_ratio (self->loss);
  input->remembered_ratio = mcc_loss_remembered_ratio (self->loss);
  input->marked_share = mcc_loss_marked_share (self->loss);
  input->overflow_share = mcc_asmp_path_overflow_share (self);
  input->capacity = &self->capacity;
  input->pairs = self->paired > 0 ? &self->pairs : NULL;
  input->carried = &self->carried;
  uint32_t sender_s = self->echo >> 18; /* 6.18: wraps after 64 s, four periods */
  input->try_slot = self->has_echo && sender_s % TRY_PERIOD_S < TRY_SLOT_S;
}

bool
mcc_asmp_path_poll_loss_event (MccAsmpPath *self)
{
  uint64_t events = mcc_loss_events (self->loss);
  bool began = events > self->events;
  self->events = events;
  return began;
}

uint64_t
mcc_asmp_path_received_bps (const MccAsmpPath *self, MccTime now)
{
  MccTime window = mcc_time_clamp (2 * mcc_rtt_get (&self->rtt), SLOW_MIN, SLOW_SPAN);
  return mcc_meter_rate_bps (&self->slow, window, now);
}

MccTime
mcc_asmp_path_base_rtt (const MccAsmpPath *self)
{
  MccTime rtt = mcc_rtt_get (&self->rtt);
  return rtt > self->queue_newest + MCC_RTT_FLOOR ? rtt - self->queue_newest : MCC_RTT_FLOOR;
}

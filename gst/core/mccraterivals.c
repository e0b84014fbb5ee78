/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccraterivals: whether somebody else fills the queue at the bottleneck.
 */
#include "mccrateenhanced.h"

/* All ours; found in tests/lib/vnet and tests/sim (docs/deviations.md, rate controller). */
#define DECISION_LAG (100 * MCC_MSECOND)
#define RIVAL_EVIDENCE_S 0.6 /* of a queue that is not ours */
#define RIVAL_MEMORY_S 5.0
#define RIVAL_SHARE 0.9    /* received, of the capacity: somebody else has the rest */
#define RIVAL_BAND 0.15    /* received is what we sent, within this */
#define CAPACITY_FADE 0.03 /* a second: links change */
#define LOSSES_BELOW 3     /* at a standing queue, while ... */
#define LOSSES_TIME (60 * MCC_SECOND)
#define FLOOR_TIME (5 * MCC_SECOND)
#define FLOOR_BAND (5 * MCC_MSECOND)
#define RIVAL_RETURN 1.5 /* times the received rate: what the cuts gave away */
#define ALONE_TIME (2 * MCC_SECOND)
#define ALONE_RTTS 10
#define DIP_EVIDENCE_S 0.25 /* in its dips, that the received rate does not follow */
#define RECEIVED_TIME_S 0.4
#define RECEIVED_PACKETS 5
#define RTT_TIME_S 2.0

static void
note_floor (MccRateEnhanced *self, const MccRateInput *input)
{
  if (input->now - self->floor_since >= FLOOR_TIME) {
    self->floor_since = input->now;
    self->floor[1] = self->floor[0];
    self->floor[0] = MCC_TIME_NONE;
  }
  self->floor[0] = mcc_time_min (self->floor[0], input->queue_delay);
}

/* A queue above this is one, even if what is taken for propagation is out of date. */
static MccTime
empty_queue (const MccRateEnhanced *self, MccTime target)
{
  MccTime floor = mcc_time_min (self->floor[0], self->floor[1]);
  if (floor >= target)
    return target;
  return mcc_time_min (target, floor + mcc_time_max (FLOOR_BAND, (target - floor) / 4));
}

/* Notes what was asked for; returns what was asked when that was sent which arrives now. 0: not
 * known. */
static double
visible_rate (MccRateEnhanced *self, const MccRateInput *input)
{
  unsigned newest = self->asked_count++ % ASKED;
  double rate = self->base.rate_bps;
  if (input->announced_bps > 0) /* others may limit */
    rate = fmin (rate, (double)input->announced_bps);
  self->asked[newest].time = input->now;
  self->asked[newest].rate_bps = rate;
  MccTime lag = input->rtt + SENDER_LAG + DECISION_LAG;
  for (unsigned age = 0; age < ASKED && age < self->asked_count; age++) {
    unsigned slot = (self->asked_count - 1 - age) % ASKED;
    if (input->now - self->asked[slot].time >= lag)
      return self->asked[slot].rate_bps;
  }
  return 0.0;
}

static void
enter_mode (MccRateEnhanced *self, const MccRateInput *input, MccRateMode mode)
{
  self->base.mode = mode;
  self->rival_s = 0.0;
  self->losses_below = 0;
  self->rtt_s = mcc_time_to_seconds (input->rtt);
  self->capacity_bps = 0.0;
  self->restore = false;
  self->calm_since = input->now;
  self->empty_since = MCC_TIME_NONE;
  self->dip_next = input->now + DIP_PERIOD;
  self->dip_from_bps = 0.0;
  if (mode == MCC_RATE_TCP) { /* what the cuts gave away */
    double before_bps = fmin (self->peak_bps, RIVAL_RETURN * (double)input->received_now_bps);
    self->base.rate_bps = fmax (self->base.rate_bps, LOSS_CUT * before_bps);
  }
}

/* Where what arrives follows what we send, below the capacity seen before, and the queue stands all
 * the same, somebody else fills it. */
static void
seek_rivals (
    MccRateEnhanced *self, const MccRateInput *input, MccTime target, double visible, double dt_s)
{
  double received = self->received_bps;
  bool falling = input->queue_delay + MCC_MSECOND < self->queue_last;
  self->rival_s *= 1.0 - dt_s / RIVAL_MEMORY_S;
  if (received < (1.0 - RIVAL_BAND) * visible) {
    /* The link became slower, as far as anybody can tell. */
    self->peak_bps = self->received_bps = received = (double)input->received_now_bps;
    self->floor[0] = self->floor[1] = MCC_TIME_NONE;
    self->rival_s = 0.0;
  } else if (received > (1.0 + RIVAL_BAND) * visible) {
    self->rival_s = fmax (0.0, self->rival_s - dt_s);
  } else if (!falling && input->queue_delay > empty_queue (self, target)
             && received < RIVAL_SHARE * self->peak_bps) {
    self->rival_s += dt_s;
  }
  self->peak_bps = fmax (self->peak_bps, received);
  if (self->rival_s >= RIVAL_EVIDENCE_S || self->losses_below >= LOSSES_BELOW)
    enter_mode (self, input, MCC_RATE_TCP);
}

/* A queue that we alone fill is served at the capacity, whatever we send: what arrives stays the
 * same when we send less, and is less than we send when the link became slower. */
void
mcc_rate_enhanced_judge_rivals (
    MccRateEnhanced *self, const MccRateInput *input, bool new_loss, MccTime dt)
{
  MccTime queue = input->queue_delay, target = mcc_rate_enhanced_target_queue (self, input);
  double packets_s
      = RECEIVED_PACKETS * 8.0 * input->packet_bytes / fmax ((double)input->received_bps, 1.0);
  double dt_s = mcc_time_to_seconds (dt);
  double gain = fmin (1.0, dt_s / fmax (RECEIVED_TIME_S, packets_s));
  double visible = visible_rate (self, input);
  self->rtt_s += fmin (1.0, dt_s / RTT_TIME_S) * (mcc_time_to_seconds (input->rtt) - self->rtt_s);
  bool tcp = self->base.mode == MCC_RATE_TCP;
  self->received_bps += gain * ((double)input->received_now_bps - self->received_bps);
  self->peak_bps *= 1.0 - CAPACITY_FADE * dt_s;
  note_floor (self, input);
  if (queue < target / 2) {
    if (self->empty_since == MCC_TIME_NONE)
      self->empty_since = input->now;
    MccTime patience = mcc_time_max (ALONE_TIME, ALONE_RTTS * input->rtt);
    if (tcp && input->now - self->empty_since >= patience)
      enter_mode (self, input, MCC_RATE_DELAY);
    return;
  }
  self->empty_since = MCC_TIME_NONE;
  if (!(visible > 0.0))
    return;
  if (tcp && input->now >= self->dip_seen && self->dip_from_bps > 0.0) {
    double ratio = (double)input->received_now_bps / visible;
    self->rival_s = fmax (0.0, self->rival_s + (ratio > 1.0 + RIVAL_BAND ? dt_s : -dt_s));
    if (self->rival_s >= DIP_EVIDENCE_S)
      enter_mode (self, input, MCC_RATE_DELAY);
  } else if (self->base.mode == MCC_RATE_DELAY) {
    if (new_loss && self->base.rate_bps < BELOW * mcc_rate_enhanced_equation_bps (input)) {
      if (self->losses_below++ == 0)
        self->losses_since = input->now;
    } else if (input->now - self->losses_since > LOSSES_TIME) {
      self->losses_below = 0;
    }
    seek_rivals (self, input, target, visible, dt_s);
  }
}

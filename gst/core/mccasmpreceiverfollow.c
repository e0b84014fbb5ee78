/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpreceiverprivate.h"

#include <math.h>

#include "mcctcp.h"

#define QUEUE_FREE (15 * MCC_MSECOND) /* a standing queue above says that the path limits */
#define FAIR_SURE 0.8                 /* probability that TCP would get as much ... */
#define FAIR_MOST 1.5 /* ... and times the equation: the rest is seen in the next stream */
#define QUEUE_PRESSED (40 * MCC_MSECOND)
#define PRESSED_TIME (3 * MCC_SECOND)
#define FAR_BELOW 2
#define FAR_ABOVE 1.3                 /* times what is sent: the rate is bounded by twice that */
#define LOSSLESS_PACKETS 100          /* fewer say nothing */
#define UNLIMITED 1.1                 /* times the sender's target: it is not we who limit */
#define AT_END 0.97                   /* of the stream's upper bound */
#define FREE_TIME (4 * MCC_SECOND)    /* ... for so long: a rate that grows runs ahead of it */
#define TRY_TIME (20 * MCC_SECOND)    /* by then who can go up has */
#define ASK_TIME (8 * MCC_SECOND)     /* after a queue that may be others' */
#define GROWN 0.8                     /* of what losses allow: there a rate has done growing */
#define SLUMP_LATELY (5 * MCC_SECOND) /* why we leave what we had */

/* Those who are behind one bottleneck move together: their reports must not fill its queue. */
static bool
is_crowd (const MccAsmpReceiver *self)
{
  return mcc_asmp_receiver_is_enhanced (self) && self->has_session
         && self->session.receivers > MCC_ASMP_FEW_RECEIVERS;
}

bool
mcc_asmp_receiver_is_awaited (const MccAsmpReceiver *self)
{
  uint64_t said_bps = self->schedule.reported_bps;
  return !is_crowd (self) || self->session.limiting_ssrc == self->config.ssrc
         || (double)said_bps < UNLIMITED * (double)self->session.target_bps;
}

void
mcc_asmp_receiver_follow (MccAsmpReceiver *self, uint32_t media_ssrc, const MccAppSession *session,
    bool fresh, MccTime now)
{
  bool enhanced = mcc_asmp_receiver_is_enhanced (self);
  uint64_t potential_bps = mcc_asmp_receiver_potential_bps (self);
  mcc_asmp_receiver_advance (self, now);
  /* A link that has just become slow: the controller knows how much, and that its queue stands. */
  bool slumped = !fresh && mcc_rate_mode (self->rate) == MCC_RATE_DELAY
                 && mcc_asmp_receiver_slump_bps (self) > 0;
  mcc_asmp_source_next (&self->source, media_ssrc, MCC_ASMP_SOURCE_TIMEOUT);
  mcc_asmp_source_handle_announced (&self->source, media_ssrc, now);
  self->crowd = is_crowd (self);
  self->has_session = self->has_other = false;
  self->announce_interval = 0;
  mcc_asmp_path_splice (&self->path);
  self->spliced = self->path.numbering.last != MCC_TIME_NONE;
  self->spliced_once = self->spliced_once || self->spliced;
  self->claim_bps = self->shared_until = 0;
  /* Among rivals the equation goes on to rule; alone, how much this stream may be is not known. */
  bool adapts = enhanced && !slumped;
  if (adapts && (fresh || mcc_rate_mode (self->rate) != MCC_RATE_TCP))
    mcc_rate_reset (self->rate, mcc_asmp_receiver_start_bps (self));
  else if (adapts && session != NULL) /* what arrived of the old one was a bound until now */
    mcc_rate_raise (
        self->rate, potential_bps < session->target_bps ? potential_bps : session->target_bps);
  if (enhanced && fresh) {
    mcc_asmp_path_forget_losses (&self->path);
    self->loss_ratio = 0.0;
    self->lost_reported = mcc_loss_packets_lost (self->path.loss);
  }
  self->event = self->next_decision = self->free_since = self->others_since = MCC_TIME_NONE;
  self->short_since = self->full_since = self->idle_since = self->far_since = MCC_TIME_NONE;
  mcc_swing_splice (&self->swing);
  self->key_unit = !slumped; /* it would be torn by what is in its way; ASSP asks later */
  mcc_asmp_schedule_stop (&self->schedule);
  if (session == NULL)
    return;
  mcc_asmp_receiver_adopt_session (self, media_ssrc, session);
  mcc_asmp_receiver_activate (self);
  /* The sender must know soon who is where; many that switch together wait as newcomers do. */
  if (!self->crowd && session->receivers <= MCC_ASMP_FEW_RECEIVERS)
    mcc_asmp_schedule_hurry (&self->schedule, now);
}

void
mcc_asmp_receiver_hold (MccAsmpReceiver *self, MccTime until, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  self->hold_until = until;
  if (until == 0 || until == now)
    self->claim_bps = 0;
  mcc_asmp_path_excuse_losses (&self->path, until);
  if (self->next_decision == MCC_TIME_NONE && !mcc_asmp_receiver_has_stream (self))
    return;
  self->next_decision = MCC_TIME_NONE;
  if (until != MCC_TIME_NONE)
    mcc_asmp_receiver_resume (self);
}

MccTime
mcc_asmp_receiver_queue_of_ours (const MccAsmpReceiver *self, const MccRateInput *input)
{
  double bps = fmax ((double)input->received_now_bps, 1.0);
  double packet_s = 8.0 * input->packet_bytes / bps - mcc_time_to_seconds (input->transmission);
  return QUEUE_FREE + mcc_time_from_seconds (fmax (packet_s, 0.0));
}

/* Nothing but what arrives bounds us, and we would take far more. */
static bool
is_far_above (const MccAsmpReceiver *self)
{
  MccRateMode mode = mcc_rate_mode (self->rate);
  return self->config.unbounded && self->has_session
         && (mode == MCC_RATE_SLOW_START || mode == MCC_RATE_DELAY)
         && (double)mcc_rate_get_bps (self->rate) >= FAR_ABOVE * (double)self->session.target_bps;
}

/* For a while what we would take was far above what is sent, nothing was lost, and only twice what
 * arrives bounded it: a queue that stands, and stood higher than any of ours would, is others'. Of
 * few receivers one may have a link of its own that others fill in bursts: only what stands all the
 * while counts, or goes without our doing (mccswing). */
static bool
is_seen_as_others (const MccAsmpReceiver *self)
{
  if (is_far_above (self) && mcc_swing_is_others (&self->swing, self->now))
    return true;
  return self->others_since != MCC_TIME_NONE && self->now - self->others_since >= FREE_TIME
         && self->pressed > self->others_since;
}

/* ... or it is that of a link that carries more than what is sent to us. */
bool
mcc_asmp_receiver_others_queue (const MccAsmpReceiver *self)
{
  return is_seen_as_others (self) || (is_far_above (self) && mcc_asmp_receiver_has_part (self));
}

bool
mcc_asmp_receiver_has_rivals (const MccAsmpReceiver *self)
{
  return mcc_rate_mode (self->rate) == MCC_RATE_TCP || self->loss_ratio > 0.0
         || mcc_asmp_receiver_others_queue (self);
}

static void
note_others (MccAsmpReceiver *self, const MccRateInput *input)
{
  bool gone = self->path.standing < QUEUE_FREE && self->session.receivers <= MCC_ASMP_FEW_RECEIVERS;
  mcc_swing_look (&self->swing, self->path.standing, mcc_asmp_receiver_queue_of_ours (self, input),
      mcc_loss_packets_received (self->path.loss), input->sent_span, input->loss_in_interval,
      self->now);
  if (input->loss_in_interval || gone || !is_far_above (self))
    self->others_since = MCC_TIME_NONE;
  else if (self->others_since == MCC_TIME_NONE)
    self->others_since = self->now;
  if (is_seen_as_others (self) && self->ceiling_of_queue)
    self->ceiling_bps = 0; /* it was not ours */
  if (is_far_above (self) && self->path.standing > QUEUE_FREE
      && self->session.receivers <= MCC_ASMP_FEW_RECEIVERS)
    self->doubted = self->now;
}

bool
mcc_asmp_receiver_doubts_queue (const MccAsmpReceiver *self)
{
  return self->doubted != MCC_TIME_NONE && self->now - self->doubted < ASK_TIME;
}

uint64_t
mcc_asmp_receiver_slump_bps (const MccAsmpReceiver *self)
{
  return self->slumped > 0 && self->now - self->slumped < SLUMP_LATELY ? self->slump_bps : 0;
}

/* Whether it is we who keep the stream where it is; nobody does where it is at its end. */
static bool
we_limit (const MccAsmpReceiver *self)
{
  const MccAppSession *session = &self->session;
  if (!self->has_session
      || (double)mcc_rate_get_bps (self->rate) < UNLIMITED * (double)session->target_bps)
    return self->has_session;
  bool at_end = (double)session->target_bps >= AT_END * (double)session->max_bps;
  return !at_end && session->limiting_ssrc == self->config.ssrc;
}

bool
mcc_asmp_receiver_is_far_below (const MccAsmpReceiver *self)
{
  return mcc_rate_mode (self->rate) == MCC_RATE_TCP && self->has_session
         && mcc_asmp_receiver_potential_bps (self) / FAR_BELOW > self->session.target_bps;
}

void
mcc_asmp_receiver_note_freedom (MccAsmpReceiver *self, const MccRateInput *input)
{
  note_others (self, input);
  mcc_asmp_receiver_note_ceiling (self, input);
  mcc_asmp_note_since (&self->far_since, mcc_asmp_receiver_is_far_below (self), self->now);
  bool queue = self->path.standing > QUEUE_PRESSED;
  if (queue)
    self->queued = self->now;
  if (queue || input->loss_in_interval) {
    if (!mcc_asmp_receiver_is_pressed (self))
      self->press_began = self->now;
    self->pressed = self->now;
  }
  bool limits = self->path.standing > QUEUE_FREE || !self->has_session || we_limit (self);
  mcc_asmp_note_since (&self->idle_since, !limits, self->now);
  mcc_asmp_note_since (&self->free_since, !limits && !input->loss_in_interval, self->now);
}

void
mcc_asmp_receiver_claim (MccAsmpReceiver *self, uint64_t bps)
{
  self->claim_bps = bps;
}

/* What the path bore before counts until it is measured again. */
bool
mcc_asmp_receiver_claims (const MccAsmpReceiver *self)
{
  return self->claim_bps > 0
         && (self->now < self->hold_until || mcc_rate_mode (self->rate) == MCC_RATE_START);
}

MccTime
mcc_asmp_receiver_rtt (const MccAsmpReceiver *self)
{
  return mcc_rtt_get (&self->path.rtt);
}

uint64_t
mcc_asmp_receiver_rate_bps (const MccAsmpReceiver *self)
{
  return mcc_rate_get_bps (self->rate);
}

static uint64_t
allowed_bps (const MccAsmpReceiver *self, double loss_ratio)
{
  double bytes = mcc_loss_mean_packet_bytes (self->path.loss);
  if (!(loss_ratio > 0.0) || !(bytes > 0.0))
    return UINT64_MAX;
  MccTcpModel model = mcc_tcp_model_of (mcc_loss_marked_share (self->path.loss));
  double bps
      = mcc_tcp_small_rate_bps (&model, bytes, mcc_time_to_seconds (mcc_rtt_get (&self->path.rtt)),
          mcc_rate_tcp_loss_ratio (loss_ratio, mcc_asmp_path_overflow_share (&self->path)));
  return bps < (double)MCC_APP_RATE_MAX ? (uint64_t)bps : UINT64_MAX;
}

static uint64_t
equation_bps (const MccAsmpReceiver *self)
{
  return allowed_bps (self, self->loss_ratio);
}

void
mcc_asmp_receiver_measure_fair (MccAsmpReceiver *self)
{
  const MccAsmpPath *path = &self->path;
  if (!self->config.unbounded || !mcc_asmp_receiver_is_enhanced (self))
    return;
  mcc_elm_fair_look (
      &self->fair, &(MccElmFairInput){ .now = self->now,
                       .measuring = self->now >= path->excuse_until && path->rtt.measured
                                    && self->has_session && !path->numbering.splice,
                       .received = mcc_loss_packets_received (path->loss),
                       .lost = mcc_loss_packets_lost (path->loss),
                       .events = mcc_loss_events (path->loss),
                       .packet_bytes = mcc_loss_mean_packet_bytes (path->loss),
                       .sent_bps = (double)self->session.target_bps,
                       .rtt_s = mcc_time_to_seconds (mcc_rtt_get (&path->rtt)) });
}

/* Others' queue stands, but of so many packets none was lost: a TCP flow would have what the
 * equation gives for one loss in that many. */
static uint64_t
lossless_bps (const MccAsmpReceiver *self)
{
  uint64_t rate_bps = mcc_rate_get_bps (self->rate);
  uint64_t packets = mcc_asmp_path_arrived (&self->path);
  if (!self->config.unbounded || !self->path.rtt.measured || self->loss_ratio > 0.0
      || packets < LOSSLESS_PACKETS
      || (mcc_rate_mode (self->rate) != MCC_RATE_TCP && !mcc_asmp_receiver_others_queue (self)))
    return rate_bps;
  uint64_t bps = allowed_bps (self, 1.0 / (double)packets);
  return bps > rate_bps ? bps : rate_bps;
}

/* Among rivals, what TCP would get at its own rate: a burst of drops in a full queue hits a fast
 * flow surely, ours in a slow stream now and then. */
static uint64_t
competing_bps (const MccAsmpReceiver *self)
{
  uint64_t equation = equation_bps (self);
  double fair = mcc_elm_fair_at_least (&self->fair, FAIR_SURE);
  if (equation == UINT64_MAX)
    return lossless_bps (self);
  if (self->fair.events_used == 0 || self->session.receivers <= MCC_ASMP_FEW_RECEIVERS)
    return equation;
  fair = fmin (fair, FAIR_MOST * (double)equation);
  return fair > (double)equation ? (uint64_t)fair : equation;
}

bool
mcc_asmp_receiver_is_free (const MccAsmpReceiver *self)
{
  return self->free_since != MCC_TIME_NONE && self->now - self->free_since >= FREE_TIME;
}

/* No queue stands, and what is lost says no more than the equation: a radio link's. */
static bool
is_idle (const MccAsmpReceiver *self)
{
  return self->idle_since != MCC_TIME_NONE && self->now - self->idle_since >= FREE_TIME;
}

/* By the losses of long, which single ones do not move. */
static uint64_t
likely_bps (const MccAsmpReceiver *self)
{
  uint64_t equation = equation_bps (self), rate_bps = mcc_rate_get_bps (self->rate);
  double fair = mcc_elm_fair_at_least (&self->fair, FAIR_SURE);
  if (equation == UINT64_MAX || self->fair.events_used == 0)
    return equation;
  return fair > (double)rate_bps ? (uint64_t)fmin (fair, (double)MCC_APP_RATE_MAX) : rate_bps;
}

bool
mcc_asmp_receiver_shares_queue (
    const MccAsmpReceiver *self, uint32_t ssrc, const MccAppReport *report)
{
  /* What we fill alone is nobody else's, however near and alike his is; but others decide what is
   * sent where we would take more, and fill what stands then. */
  bool ours = mcc_rate_mode (self->rate) == MCC_RATE_DELAY && mcc_rate_owns_queue (self->rate)
              && we_limit (self);
  return !ours && (report->flags & MCC_REPORT_RTT_MEASURED) && self->path.standing > QUEUE_FREE
         && report->queue_delay > QUEUE_FREE
         && mcc_neighbours_is_near (&self->path.neighbours, ssrc, report->number, report->rtt);
}

void
mcc_asmp_receiver_adopt (MccAsmpReceiver *self, uint64_t rate_bps, double loss_ratio, MccTime now)
{
  mcc_asmp_receiver_advance (self, now);
  if (mcc_rate_mode (self->rate) != MCC_RATE_TCP || !(loss_ratio > 0.0)
      || loss_ratio >= self->loss_ratio)
    return;
  mcc_loss_seed (self->path.loss, loss_ratio);
  self->loss_ratio = loss_ratio;
  mcc_rate_raise (self->rate, rate_bps);
}

bool
mcc_asmp_receiver_is_pressed (const MccAsmpReceiver *self)
{
  return self->pressed > 0 && self->now - self->pressed < PRESSED_TIME;
}

bool
mcc_asmp_receiver_is_relieved (const MccAsmpReceiver *self)
{
  return is_crowd (self) && self->queued > 0 && self->now - self->queued < MCC_ASMP_MANY_TIME
         && !mcc_asmp_receiver_is_pressed (self);
}

bool
mcc_asmp_receiver_pressed_only_since (const MccAsmpReceiver *self, MccTime since)
{
  return mcc_asmp_receiver_is_pressed (self) && self->press_began >= since;
}

uint64_t
mcc_asmp_receiver_potential_bps (const MccAsmpReceiver *self)
{
  uint64_t rate_bps = mcc_rate_get_bps (self->rate);
  if (!mcc_asmp_receiver_is_enhanced (self))
    return rate_bps;
  switch (mcc_rate_mode (self->rate)) {
    case MCC_RATE_START:
      return 0;
    case MCC_RATE_TCP:
      if (self->path.rtt.measured)
        return competing_bps (self);
      return equation_bps (self) < rate_bps ? equation_bps (self) : rate_bps;
    default:
      break;
  }
  /* Before the RTT is measured no rate is TCP's. */
  uint64_t most = lossless_bps (self);
  if (self->path.rtt.measured && mcc_asmp_receiver_is_free (self))
    most = equation_bps (self);
  else if (self->path.rtt.measured && is_idle (self))
    most = likely_bps (self);
  uint64_t ceiling = mcc_asmp_receiver_ceiling_bps (self);
  return ceiling < most && !we_limit (self) ? ceiling : most;
}

uint64_t
mcc_asmp_receiver_known_bps (const MccAsmpReceiver *self)
{
  uint64_t rate_bps = mcc_rate_get_bps (self->rate);
  uint64_t ceiling = mcc_asmp_receiver_ceiling_bps (self);
  MccRateMode mode = mcc_rate_mode (self->rate);
  if (!mcc_asmp_receiver_is_enhanced (self) || mode == MCC_RATE_START)
    return 0;
  if (mode == MCC_RATE_TCP && !self->path.rtt.measured)
    return 0; /* what the initial RTT gives is no measurement */
  if (mcc_asmp_receiver_is_far_below (self)) {
    double least = mcc_elm_fair_at_least (&self->fair, FAIR_SURE);
    bool says = self->fair.events_used > 0 && least > UNLIMITED * (double)self->session.target_bps
                && self->far_since != MCC_TIME_NONE && self->now - self->far_since >= TRY_TIME;
    uint64_t bps = mcc_asmp_receiver_potential_bps (self);
    return says ? (uint64_t)fmin (least, (double)bps) : UINT64_MAX;
  }
  if (mode == MCC_RATE_TCP)
    return mcc_asmp_receiver_potential_bps (self);
  if (ceiling != UINT64_MAX)
    return ceiling;
  if (we_limit (self)) { /* a rate that doubles, or grows to what losses allow, says nothing */
    bool grows = self->path.standing < QUEUE_FREE && self->path.rtt.measured
                 && (double)rate_bps < GROWN * (double)likely_bps (self);
    return grows || mode == MCC_RATE_SLOW_START ? 0 : rate_bps;
  }
  if (!self->path.rtt.measured || !is_idle (self))
    return 0;
  uint64_t bps = likely_bps (self); /* above what is sent it is a guess */
  return (double)bps > UNLIMITED * (double)self->session.target_bps ? UINT64_MAX : bps;
}

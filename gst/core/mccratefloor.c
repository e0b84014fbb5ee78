/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccratefloor: whose queue it is, at the lowest rate there is, and at one so low that packets are
 * too far apart to tell. A rate that cannot fall shows nothing: what arrives is what is sent,
 * whoever fills the queue, and of several receivers in one such queue the lowest keeps down what
 * the others would try. Where a packet takes longer than TCP's queue swings, that swing may be our
 * own packets' (mccratecycles.c), and without a loss no equation says that a cut is worth its price
 * (mccrateprobe.c). So in slots of the sender's clock, which all hear alike, those who limit the
 * group all ask for a little more: a queue of our own making grows at once by what is too much,
 * others' does not notice.
 */
#include "mccrateenhanced.h"

/* All ours (docs/design/receiver.md). */
#define NEAR 1.3                /* times the lowest rate */
#define STANDS (5 * MCC_SECOND) /* a queue, at that rate, before anything is tried */
#define TRY_TIME (3 * MCC_SECOND)
#define TRY_TIME_APART (8 * MCC_SECOND) /* reports of a rise are regular ones */
#define TRY_RATE 1.3                    /* times the rate */
#define ROSE 1.15                       /* ... what arrives, at least, else nothing was shown */
#define RECEIVED_S 1.0                  /* of received_bps */
#define GROWTH_S 0.05          /* and a packet: above the highest queue before, it is ours */
#define WAIT (30 * MCC_SECOND) /* then nothing is tried, each time twice as long */
#define WAIT_MAX (480 * MCC_SECOND)

static void
end_try (MccRateEnhanced *self)
{
  self->try_since = MCC_TIME_NONE;
}

static bool
at_lowest (const MccRateEnhanced *self, const MccRateInput *input)
{
  return input->min_bps > 0 && self->base.rate_bps <= NEAR * (double)input->min_bps;
}

/* The queue is ours. */
static void
give_up (MccRateEnhanced *self, const MccRateInput *input)
{
  self->try_wait = self->try_wait == 0 ? WAIT : mcc_time_min (2 * self->try_wait, WAIT_MAX);
  self->try_not_before = input->now + self->try_wait;
  self->base.rate_bps = fmax (LOSS_CUT * self->try_bps, (double)input->min_bps);
  end_try (self);
}

static bool
is_apart (const MccRateEnhanced *self, const MccRateInput *input)
{
  return mcc_rate_packet_s (input) >= APART_S && input->announced_bps > 0
         && self->base.rate_bps <= NEAR * (double)input->announced_bps;
}

static bool
may_try (const MccRateEnhanced *self, const MccRateInput *input)
{
  return input->try_slot && input->now - self->lowest_since >= STANDS
         && !mcc_rate_enhanced_is_probing (self) && !mcc_rate_enhanced_knows_ours (self, input);
}

bool
mcc_rate_enhanced_try_more (MccRateEnhanced *self, const MccRateInput *input, bool new_loss)
{
  double queue_s = mcc_time_to_seconds (input->queue_peak);
  double packet_s = mcc_rate_packet_s (input);
  bool trying = self->try_since != MCC_TIME_NONE;
  bool low = (trying || at_lowest (self, input) || is_apart (self, input))
             && input->now >= self->try_not_before
             && input->queue_delay >= mcc_rate_enhanced_empty_queue (self, input);
  if (!low || new_loss) {
    if (trying && new_loss && self->try_bps > (double)input->min_bps) {
      give_up (self, input);
      return true;
    }
    end_try (self);
    if (!low)
      self->lowest_since = MCC_TIME_NONE;
    return false;
  }
  if (self->lowest_since == MCC_TIME_NONE) {
    self->lowest_since = input->now;
    self->lowest_queue_s = 0.0;
  }
  if (!trying) {
    self->lowest_queue_s = fmax (self->lowest_queue_s, queue_s);
    if (!may_try (self, input))
      return false;
    self->try_since = input->now;
    /* What arrived here once proves nothing when it arrives again. */
    double carried = fmax (self->peak_bps, (double)input->received_bps);
    self->try_bps
        = at_lowest (self, input) ? (double)input->min_bps : fmax (self->base.rate_bps, carried);
  }
  if (queue_s > self->lowest_queue_s + GROWTH_S + packet_s) {
    give_up (self, input);
    return true;
  }
  bool lowest = self->try_bps <= (double)input->min_bps;
  /* Of few packets one more is a rise. */
  double one_more = lowest ? 0.0 : 8.0 * input->packet_bytes / RECEIVED_S;
  bool rose = (double)input->received_bps - one_more >= ROSE * self->try_bps;
  MccTime time = lowest ? TRY_TIME : TRY_TIME_APART;
  if (input->now - self->try_since < time && (lowest || !rose)) {
    self->base.rate_bps = fmax (self->base.rate_bps, TRY_RATE * self->try_bps);
    return true;
  }
  end_try (self);
  if (!rose)
    return false;
  self->try_wait = 0;
  return mcc_rate_enhanced_compete (self, input);
}

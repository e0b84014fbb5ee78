/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccratefloor: whose queue it is, at the lowest rate there is. A rate that cannot fall shows
 * nothing: what arrives is what is sent, whoever fills the queue, and of several receivers in one
 * such queue the lowest keeps down what the others would try. So in slots of the sender's clock,
 * which all hear alike, they all ask for a little more: a queue of our own making grows at once by
 * what is too much, others' does not notice.
 */
#include "mccrateenhanced.h"

/* All ours (docs/design/receiver.md). */
#define NEAR 1.3                /* times the lowest rate */
#define STANDS (5 * MCC_SECOND) /* a queue, at that rate, before anything is tried */
#define TRY_TIME (3 * MCC_SECOND)
#define TRY_RATE 1.3           /* times the lowest rate */
#define ROSE 1.15              /* ... what arrives, at least, else nothing was shown */
#define GROWTH_S 0.05          /* and a packet: above the highest queue before, it is ours */
#define WAIT (30 * MCC_SECOND) /* then nothing is tried, each time twice as long */
#define WAIT_MAX (480 * MCC_SECOND)

static void
end_try (MccRateEnhanced *self)
{
  self->try_since = MCC_TIME_NONE;
}

/* The queue is ours. */
static void
give_up (MccRateEnhanced *self, const MccRateInput *input)
{
  self->try_wait = self->try_wait == 0 ? WAIT : mcc_time_min (2 * self->try_wait, WAIT_MAX);
  self->try_not_before = input->now + self->try_wait;
  self->base.rate_bps = (double)input->min_bps;
  end_try (self);
}

static bool
may_try (const MccRateEnhanced *self, const MccRateInput *input)
{
  return input->try_slot && input->now - self->lowest_since >= STANDS;
}

bool
mcc_rate_enhanced_try_more (MccRateEnhanced *self, const MccRateInput *input, bool new_loss)
{
  double lowest = (double)input->min_bps, queue_s = mcc_time_to_seconds (input->queue_peak);
  double packet_s = 8.0 * input->packet_bytes / fmax ((double)input->received_bps, 1.0);
  bool trying = self->try_since != MCC_TIME_NONE;
  bool at_floor = lowest > 0.0 && (trying || self->base.rate_bps <= NEAR * lowest)
                  && input->now >= self->try_not_before
                  && input->queue_delay >= mcc_rate_enhanced_empty_queue (self, input);
  if (!at_floor || new_loss) {
    end_try (self);
    if (!at_floor)
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
  }
  if (queue_s > self->lowest_queue_s + GROWTH_S + packet_s) {
    give_up (self, input);
    return true;
  }
  if (input->now - self->try_since < TRY_TIME) {
    self->base.rate_bps = fmax (self->base.rate_bps, TRY_RATE * lowest);
    return true;
  }
  end_try (self);
  if ((double)input->received_bps < ROSE * lowest)
    return false;
  self->try_wait = 0;
  return mcc_rate_enhanced_compete (self, input);
}

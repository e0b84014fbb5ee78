/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The enhanced rate controller on a path that the tests make up: what arrives, how long the queue
 * is and what packet dispersion shows. Every 100 ms a decision; what is asked for arrives 400 ms
 * later.
 */
#pragma once

#include <glib.h>
#include <math.h>
#include <string.h>

#include "mccrate.h"
#include "mcctcp.h"

#define RATE_STEP (100 * MCC_MSECOND)
#define RATE_LAG 4 /* steps: RTT 40 ms + sender 200 ms + decision 100 ms, rounded up */
#define RATE_START 150000
#define MBPS UINT64_C (1000000)

typedef struct {
  MccRate *rate;
  MccRateInput input;
  MccCapacity capacity;
  guint64 proven_bps;      /* what the link carries, as packet dispersion shows it; 0: nothing */
  gboolean unheard;        /* no announcement comes */
  guint64 asked[RATE_LAG]; /* and announced; the newest first */
  guint64 least_bps;       /* rate, since it was last set */
} RateFixture;

static inline void
rate_init (RateFixture *f)
{
  *f = (RateFixture){ .rate = mcc_rate_new (&mcc_rate_enhanced, RATE_START) };
  mcc_capacity_init (&f->capacity);
  f->input = (MccRateInput){ .now = 77 * MCC_SECOND,
    .rtt = 40 * MCC_MSECOND,
    .rtt_measured = true,
    .packet_bytes = 1200.0,
    .last_loss_event = MCC_TIME_NONE,
    .received_bps = MBPS,
    .received_now_bps = MBPS,
    .capacity = &f->capacity,
    .announced_bps = MBPS,
    .start_bps = RATE_START,
    .min_bps = 10000,
    .max_bps = 100 * MBPS };
}

static inline void
rate_clear (RateFixture *f)
{
  mcc_rate_free (f->rate);
}

static inline guint64
rate_bps (const RateFixture *f)
{
  return mcc_rate_get_bps (f->rate);
}

static inline MccRateMode
rate_mode (const RateFixture *f)
{
  return mcc_rate_mode (f->rate);
}

static inline void
rate_receive (RateFixture *f, guint64 bps)
{
  f->input.received_bps = f->input.received_now_bps = bps;
}

static inline void
rate_queue (RateFixture *f, guint ms)
{
  f->input.queue_delay = f->input.queue_peak = ms * MCC_MSECOND;
}

static inline double
rate_equation_bps (const RateFixture *f)
{
  return mcc_tcp_rate_bps (&mcc_tcp_model_default, f->input.packet_bytes,
      mcc_time_to_seconds (f->input.rtt), f->input.loss_ratio);
}

/* Between two decisions @bps are sent. */
static inline void
rate_send (RateFixture *f, guint64 bps)
{
  f->input.sent_span = f->input.came_span = RATE_STEP;
  f->input.sent_bytes = bps / 80;
}

/* Decides. The sender announces what it was asked for, which is heard at the next decision. */
static inline void
rate_step (RateFixture *f)
{
  MccRateInput *input = &f->input;
  input->now += RATE_STEP;
  if (f->proven_bps > 0) { /* one after the other, within the jitter */
    mcc_capacity_handle_packet (&f->capacity, 1, input->now);
    mcc_capacity_handle_packet (&f->capacity, (guint32)(f->proven_bps / 800), input->now);
  }
  if (f->unheard)
    input->announced_bps = 0;
  mcc_rate_decide (f->rate, input);
  guint64 most_bps = f->unheard ? G_MAXUINT64 : input->announced_bps;
  memmove (f->asked + 1, f->asked, (RATE_LAG - 1) * sizeof f->asked[0]);
  f->asked[0] = MIN (rate_bps (f), most_bps);
  if (!f->unheard)
    input->announced_bps = rate_bps (f);
  f->least_bps = MIN (f->least_bps, rate_bps (f));
}

static inline void
rate_steps (RateFixture *f, guint n)
{
  while (n-- > 0)
    rate_step (f);
}

/* Decides with a loss event since the last decision. */
static inline void
rate_lose (RateFixture *f, double loss_ratio)
{
  f->input.loss_ratio = loss_ratio;
  f->input.last_loss_event = f->input.now + RATE_STEP / 2;
  rate_step (f);
}

/* Something was lost here lately, as nothing is beside others like us: a mark, which is no sign of
 * others by itself. */
static inline void
rate_lost_lately (RateFixture *f)
{
  f->input.marked_alone = true;
  rate_lose (f, 1e-7);
  f->input.marked_alone = false;
}

/* What is sent arrives. */
static inline void
rate_follow (RateFixture *f, guint n)
{
  while (n-- > 0) {
    rate_receive (f, f->asked[RATE_LAG - 1]);
    rate_step (f);
  }
}

/* Alone: 1 Mb/s and no more is sent and arrives, no queue, for some seconds; something was lost. */
static inline void
rate_alone (RateFixture *f, gboolean unheard)
{
  rate_init (f);
  f->unheard = unheard;
  rate_steps (f, 4);
  g_assert_cmpint (rate_mode (f), ==, MCC_RATE_SLOW_START);
  for (guint i = 1; i <= 2; i++) {
    rate_queue (f, i * 15);
    rate_step (f);
  }
  g_assert_cmpint (rate_mode (f), ==, MCC_RATE_DELAY);
  rate_queue (f, 0);
  f->input.max_bps = MBPS;
  rate_lost_lately (f);
  rate_steps (f, 80);
  g_assert_cmpint (rate_mode (f), ==, MCC_RATE_DELAY);
  g_assert_cmpuint (rate_bps (f), ==, MBPS);
  f->least_bps = MBPS;
}

/* Decisions until the TCP mode; 0: not within @most. */
static inline guint
rate_steps_to_tcp (RateFixture *f, guint most)
{
  for (guint i = 1; i <= most; i++) {
    rate_step (f);
    if (rate_mode (f) == MCC_RATE_TCP)
      return i;
  }
  return 0;
}

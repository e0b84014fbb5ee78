/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who competes, and with whom: the marks of a path without others, and what disproves it.
 */
#include "mccrateenhanced.h"

#include <glib.h>

#define STEP (100 * MCC_MSECOND)
#define LINK 600000

typedef struct {
  MccRateEnhanced rate;
  MccRateInput input;
  MccCapacity capacity;
  guint64 proven_bps; /* what the link carries, as packet dispersion shows it; 0: nothing */
} Fixture;

static void
init (Fixture *f)
{
  *f = (Fixture){ .rate.target_limit_s = INFINITY };
  f->input = (MccRateInput){ .now = 77 * MCC_SECOND,
    .rtt = 60 * MCC_MSECOND,
    .rtt_measured = true,
    .packet_bytes = 1000.0,
    .loss_ratio = 0.02, /* a mean interval of 0.7 s */
    .received_bps = LINK,
    .capacity = &f->capacity };
  mcc_capacity_init (&f->capacity);
  mcc_rate_enhanced_forget_alone (&f->rate, f->input.now);
}

/* @sent_bps leave and @received_bps arrive while the queue goes by @growth_ms a step. */
static void
run (Fixture *f, guint steps, guint64 sent_bps, guint64 received_bps, gint growth_ms)
{
  for (guint i = 0; i < steps; i++) {
    gint64 ms = (gint64)(f->input.queue_delay / MCC_MSECOND) + growth_ms;
    f->rate.queue_last = f->input.queue_delay;
    f->input.now += STEP;
    f->input.queue_delay = f->input.queue_peak = (MccTime)MAX (ms, 0) * MCC_MSECOND;
    f->input.received_now_bps = received_bps;
    f->rate.received_bps = (double)received_bps;
    f->input.sent_span = STEP;
    f->input.sent_bytes = sent_bps / 80;
    if (f->proven_bps > 0) {
      mcc_capacity_handle_packet (&f->capacity, 1, f->input.now);
      mcc_capacity_handle_packet (&f->capacity, (guint32)(f->proven_bps / 800), f->input.now);
    }
    mcc_rate_enhanced_watch_alone (&f->rate, &f->input, false, 0.1);
  }
}

static void
lose (Fixture *f)
{
  f->rate.queue_last = f->input.queue_delay;
  f->input.now += STEP;
  mcc_rate_enhanced_watch_alone (&f->rate, &f->input, true, 0.1);
}

/* 4 s: the queue fills, overflows, empties and is empty for a while. A packet is late while it
 * fills; what arrived is less, in the mean, before the queue is quite gone. */
static void
sawtooth (Fixture *f)
{
  run (f, 5, 720000, LINK, 20);
  run (f, 1, 480000, LINK, 20);
  run (f, 4, 720000, LINK, 20);
  lose (f);
  run (f, 7, 480000, LINK, -20);
  run (f, 3, 480000, 520000, -20);
  run (f, 19, 480000, 480000, 0);
}

static gboolean
is_alone (const Fixture *f)
{
  return mcc_rate_enhanced_is_alone (&f->rate, &f->input);
}

/* Its own overflows, one after the other. */
static void
alone (void)
{
  Fixture f;
  init (&f);
  sawtooth (&f);
  sawtooth (&f);
  g_assert_false (is_alone (&f)); /* not so soon */
  sawtooth (&f);
  g_assert_true (is_alone (&f));
  f.input.loss_ratio = 0.002; /* three mean intervals are 20 s */
  g_assert_false (is_alone (&f));
  sawtooth (&f);
  sawtooth (&f);
  g_assert_true (is_alone (&f));
}

/* Any sign of others begins the time anew. */
static void
signs (void)
{
  for (guint sign = 0; sign < 7; sign++) {
    Fixture f;
    init (&f);
    for (guint i = 0; i < 4; i++)
      sawtooth (&f);
    g_assert_true (is_alone (&f));
    switch (sign) {
      case 0: /* a queue comes while we send less than the link carried */
        run (&f, 3, 480000, 480000, 20);
        break;
      case 1: /* ... or stays */
        run (&f, 10, 720000, LINK, 20);
        run (&f, 5, 720000, LINK, -20);
        run (&f, 5, 480000, 480000, 0);
        break;
      case 2: /* a loss without a queue */
        lose (&f);
        break;
      case 3: /* ... or with a packet in it */
        run (&f, 1, 720000, LINK, 20);
        lose (&f);
        break;
      case 4: /* an overflow at which less arrived */
        run (&f, 10, 720000, 500000, 20);
        lose (&f);
        break;
      case 5: /* a queue that marks is no full one */
        run (&f, 10, 720000, LINK, 20);
        f.input.marked_alone = true;
        lose (&f);
        f.input.marked_alone = false;
        break;
      case 6: /* we have a part of what the link was seen to carry */
        f.proven_bps = 2 * LINK;
        run (&f, 10, 720000, LINK, 20);
        f.proven_bps = 0;
        lose (&f);
        break;
    }
    g_assert_false (is_alone (&f));
    run (&f, 30, 480000, 480000, -200);
    for (guint i = 0; i < 4; i++)
      sawtooth (&f);
    g_assert_true (is_alone (&f));
  }
}

/* One overflow may be anybody's. */
static void
one_overflow (void)
{
  Fixture f;
  init (&f);
  sawtooth (&f);
  run (&f, 150, 480000, 480000, 0);
  g_assert_false (is_alone (&f));
  sawtooth (&f);
  g_assert_true (is_alone (&f));
}

/* A rate that never fell below what the link carried has shown nothing. */
static void
no_test (void)
{
  Fixture f;
  init (&f);
  for (guint i = 0; i < 10; i++) {
    run (&f, 20, 620000, LINK, 10);
    lose (&f);
    run (&f, 20, 580000, LINK, -10);
  }
  g_assert_false (is_alone (&f));
}

/* One that fell for a moment now and then has shown something when these moments are 2 s. */
static void
short_tests (void)
{
  Fixture f;
  init (&f);
  for (guint i = 1; i <= 10; i++) { /* 3 s each, of which 0.3 s are such a moment */
    run (&f, 10, 720000, LINK, 20);
    lose (&f);
    run (&f, 3, 480000, 480000, -200);
    run (&f, 16, LINK, LINK, 0);
    if (i == 6)
      g_assert_false (is_alone (&f));
  }
  g_assert_true (is_alone (&f));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-alone/own-overflows", alone);
  g_test_add_func ("/rate-alone/signs-of-others", signs);
  g_test_add_func ("/rate-alone/one-overflow", one_overflow);
  g_test_add_func ("/rate-alone/nothing-tried", no_test);
  g_test_add_func ("/rate-alone/tried-for-moments", short_tests);
  return g_test_run ();
}

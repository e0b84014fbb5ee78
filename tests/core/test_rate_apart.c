/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whose queue it is, where packets are 53 ms apart and nothing was lost: those who limit ask for
 * more together.
 */
#include "mccrateenhanced.h"

#include <glib.h>

#define STEP (100 * MCC_MSECOND)
#define RATE 150000
#define ASKED_BPS (RATE * 13 / 10)

typedef struct {
  MccRateEnhanced rate;
  MccRateInput input;
} Fixture;

/* In a queue that has stood for 5 s, at the beginning of a slot. */
static void
init (Fixture *f)
{
  *f = (Fixture){ .rate = { .target_limit_s = INFINITY,
                      .competed = MCC_TIME_NONE,
                      .lowest_since = MCC_TIME_NONE,
                      .try_since = MCC_TIME_NONE,
                      .base = { .mode = MCC_RATE_DELAY, .rate_bps = RATE } } };
  f->input = (MccRateInput){ .now = 77 * MCC_SECOND,
    .rtt = 60 * MCC_MSECOND,
    .rtt_measured = true,
    .packet_bytes = 1000.0,
    .received_bps = RATE,
    .received_now_bps = RATE,
    .announced_bps = RATE,
    .min_bps = 16000,
    .queue_delay = 40 * MCC_MSECOND,
    .queue_peak = 60 * MCC_MSECOND };
}

static gboolean
step (Fixture *f, gboolean new_loss)
{
  f->input.now += STEP;
  return mcc_rate_enhanced_try_more (&f->rate, &f->input, new_loss);
}

static void
stand (Fixture *f)
{
  for (guint i = 0; i < 51; i++)
    g_assert_false (step (f, FALSE));
  f->input.try_slot = true;
}

static void
begin (Fixture *f)
{
  init (f);
  stand (f);
  g_assert_true (step (f, FALSE));
  g_assert_cmpfloat_with_epsilon (f->rate.base.rate_bps, ASKED_BPS, 1.0);
  f->input.try_slot = false; /* it goes on when the slot is over */
}

/* As much arrives as was asked for, when the others' reports have been heard. */
static void
others (void)
{
  Fixture f;
  begin (&f);
  for (guint i = 0; i < 60; i++)
    g_assert_true (step (&f, FALSE));
  f.input.received_bps = ASKED_BPS;
  g_assert_true (step (&f, FALSE));
  g_assert_cmpint (f.rate.base.mode, ==, MCC_RATE_TCP);
}

/* No more arrives, or no more than a packet a second: nothing was shown, and it ends after 8 s. */
static void
nothing_shown (void)
{
  static const guint64 received_bps[] = { RATE, RATE * 115 / 100 };
  for (guint row = 0; row < G_N_ELEMENTS (received_bps); row++) {
    Fixture f;
    begin (&f);
    f.input.received_bps = received_bps[row];
    guint steps = 0;
    while (step (&f, FALSE))
      g_assert_cmpuint (++steps, <, 80);
    g_assert_cmpuint (steps, ==, 79);
    g_assert_cmpint (f.rate.base.mode, ==, MCC_RATE_DELAY);
  }
}

/* Our own cut is undone: what arrived here once arrives again. */
static void
after_a_cut (void)
{
  Fixture f;
  init (&f);
  f.rate.peak_bps = 1.25 * RATE;
  stand (&f);
  g_assert_true (step (&f, FALSE));
  g_assert_cmpfloat_with_epsilon (f.rate.base.rate_bps, 1.25 * ASKED_BPS, 1.0);
  f.input.received_bps = RATE * 13 / 10;
  for (guint i = 0; i < 100; i++)
    step (&f, FALSE);
  g_assert_cmpint (f.rate.base.mode, ==, MCC_RATE_DELAY);
}

/* The queue grows by more than 50 ms and a packet, or something is lost: ours. Less is sent, and
 * for 30 s nothing is asked for. */
static void
ours (void)
{
  for (guint lost = 0; lost < 2; lost++) {
    Fixture f;
    begin (&f);
    f.input.queue_peak = lost ? 60 * MCC_MSECOND : 165 * MCC_MSECOND;
    g_assert_true (step (&f, lost));
    g_assert_cmpint (f.rate.base.mode, ==, MCC_RATE_DELAY);
    g_assert_cmpfloat_with_epsilon (f.rate.base.rate_bps, LOSS_CUT * RATE, 1.0);
    f.input.queue_peak = 60 * MCC_MSECOND;
    f.input.try_slot = true;
    for (guint i = 0; i < 300; i++)
      g_assert_false (step (&f, FALSE));
  }
}

static void
not_tried (void)
{
  static const struct {
    const char *name;
    double packet_bytes;
    guint64 announced_bps;
    guint queue_ms;
    gboolean probing;
  } table[] = {
    { "packets tell", 600.0, RATE, 40, FALSE },
    { "others limit", 1000.0, RATE / 2, 40, FALSE },
    { "nothing is announced", 1000.0, 0, 40, FALSE },
    { "no queue", 1000.0, RATE, 5, FALSE },
    { "a cut is to show it", 1000.0, RATE, 40, TRUE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    g_test_message ("%s", table[row].name);
    init (&f);
    f.input.packet_bytes = table[row].packet_bytes;
    f.input.announced_bps = table[row].announced_bps;
    f.input.queue_delay = table[row].queue_ms * MCC_MSECOND;
    f.rate.probe.begun = table[row].probing ? f.input.now : 0;
    f.input.try_slot = true;
    for (guint i = 0; i < 200; i++)
      g_assert_false (step (&f, FALSE));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-apart/others", others);
  g_test_add_func ("/rate-apart/nothing-shown", nothing_shown);
  g_test_add_func ("/rate-apart/after-a-cut", after_a_cut);
  g_test_add_func ("/rate-apart/ours", ours);
  g_test_add_func ("/rate-apart/not-tried", not_tried);
  return g_test_run ();
}

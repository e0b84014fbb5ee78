/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whose queue it is, where packets are too far apart to show it: 200 kb/s arrive, 1000 bytes a
 * packet, and a queue of 45 ms stands, about a packet's time at that rate.
 */
#include "mccrateenhanced.h"

#include <glib.h>

#include "mcctcp.h"

#define STEP (100 * MCC_MSECOND)
#define CARRIED 200000
#define CUT 170000
#define TARGET (60 * MCC_MSECOND)

typedef struct {
  MccRateEnhanced rate;
  MccRateInput input;
} Fixture;

static void
init (Fixture *f)
{
  *f = (Fixture){ .rate = { .target_limit_s = INFINITY,
                      .loss_foreign = MCC_TIME_NONE,
                      .doubted = MCC_TIME_NONE,
                      .known_ours = MCC_TIME_NONE,
                      .floor = { MCC_TIME_NONE, MCC_TIME_NONE },
                      .base = { .mode = MCC_RATE_DELAY, .rate_bps = CARRIED } } };
  f->input = (MccRateInput){ .now = 77 * MCC_SECOND,
    .rtt = 100 * MCC_MSECOND,
    .rtt_measured = true,
    .packet_bytes = 1000.0,
    .loss_ratio = 0.005, /* TCP would get 1 Mb/s */
    .received_bps = CARRIED,
    .received_now_bps = CARRIED,
    .queue_delay = 45 * MCC_MSECOND };
}

/* A decision: @sent_bps were sent, and the queue is @queue_ms. */
static gboolean
step (Fixture *f, guint64 sent_bps, guint queue_ms)
{
  f->input.now += STEP;
  f->input.queue_delay = queue_ms * MCC_MSECOND;
  f->input.sent_span = STEP;
  f->input.sent_bytes = sent_bps / 80;
  MccTime floor = f->rate.floor[0];
  f->rate.floor[0] = mcc_time_min (floor, f->input.queue_delay);
  return mcc_rate_enhanced_probe (&f->rate, &f->input);
}

/* Steps until the verdict, at most 50; 0: ours, or nothing seen. The queue goes by @growth_ms a
 * step down to @least_ms, and is longer by @swing_ms mostly. */
static guint
probe (Fixture *f, guint64 sent_bps, gint growth_ms, guint least_ms, guint swing_ms)
{
  mcc_rate_enhanced_begin_probe (&f->rate, &f->input);
  g_assert_true (mcc_rate_enhanced_is_probing (&f->rate));
  gint queue_ms = 45;
  for (guint i = 1; i <= 50 && mcc_rate_enhanced_is_probing (&f->rate); i++) {
    queue_ms = MAX (queue_ms + growth_ms, (gint)least_ms);
    /* the cut is seen after three decisions */
    if (step (f, i <= 3 ? CARRIED : sent_bps, (guint)queue_ms + (i % 4 == 0 ? 0 : swing_ms)))
      return i;
  }
  g_assert_false (mcc_rate_enhanced_is_probing (&f->rate));
  return 0;
}

static void
verdict (void)
{
  static const struct {
    const char *name;
    guint64 sent_bps;
    gint growth_ms;
    guint least_ms, swing_ms;
    gboolean others;
    guint ends; /* after so many steps, at most */
  } table[] = {
    { "it stands, and swings: others'", CUT, 0, 30, 15, TRUE, 20 },
    { "it grows: others'", CUT, 2, 0, 15, TRUE, 20 },
    { "it falls as fast as we pause: ours", CUT, -15, 0, 0, FALSE, 6 },
    { "... to what the clocks' drift makes of none", CUT, -15, 12, 0, FALSE, 9 },
    { "... to what a slower link adds to each packet", CUT, -15, 22, 3, FALSE, 20 },
    { "others let no less be sent: not seen", CARRIED, 0, 30, 15, FALSE, 50 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    g_test_message ("%s", table[row].name);
    init (&f);
    guint steps = probe (
        &f, table[row].sent_bps, table[row].growth_ms, table[row].least_ms, table[row].swing_ms);
    if (table[row].others)
      g_assert_cmpuint (steps, >=, 3 + 4); /* 55 ms are gone at 13 % of the time */
    else
      g_assert_cmpuint (steps, ==, 0);
    g_assert_cmpuint (f.input.now - 77 * MCC_SECOND, <=, table[row].ends * STEP);
  }
}

/* A key frame after the queue has gone is ours again. */
static void
burst (void)
{
  Fixture f;
  init (&f);
  mcc_rate_enhanced_begin_probe (&f.rate, &f.input);
  for (guint i = 0; i < 2; i++)
    g_assert_false (step (&f, CUT / 8, 16));
  for (guint i = 0; i < 10; i++)
    g_assert_false (step (&f, i == 0 ? 2 * CARRIED : CUT, i < 7 ? 60 : 16));
}

/* Two decisions in five may be chance. */
static void
too_few (void)
{
  Fixture f;
  init (&f);
  mcc_rate_enhanced_begin_probe (&f.rate, &f.input);
  for (guint i = 0; i < 2; i++)
    g_assert_false (step (&f, CUT / 8, 16));
  for (guint i = 0; i < 3; i++)
    g_assert_false (step (&f, CUT, i < 2 ? 60 : 16));
  g_assert_false (mcc_rate_enhanced_is_probing (&f.rate));
}

/* Nothing comes, or nothing that says when it was sent: nothing is told, and it ends. */
static void
silence (void)
{
  Fixture f;
  init (&f);
  mcc_rate_enhanced_begin_probe (&f.rate, &f.input);
  for (guint i = 0; i < 60; i++)
    g_assert_false (step (&f, 0, 45));
  g_assert_false (mcc_rate_enhanced_is_probing (&f.rate));
}

/* The link becomes slower, or stands still: what arrived at the cut proves nothing any more. */
static void
another_link (void)
{
  for (guint stops = 0; stops < 2; stops++) {
    Fixture f;
    init (&f);
    mcc_rate_enhanced_begin_probe (&f.rate, &f.input);
    g_assert_false (step (&f, CARRIED, 45));
    f.rate.cycles.stopped = stops == 1;
    f.rate.slower_at = stops == 0 ? f.input.now : 0;
    for (guint i = 0; i < 20; i++)
      g_assert_false (step (&f, CUT, i % 4 ? 90 : 60));
    g_assert_false (mcc_rate_enhanced_is_probing (&f.rate));
  }
}

/* Steps until a probe is wanted, at most 2000. */
static guint
steps_to_probe (Fixture *f)
{
  for (guint i = 1; i <= 2000; i++) {
    f->input.now += STEP;
    if (mcc_rate_enhanced_wants_probe (&f->rate, &f->input, TARGET, STEP))
      return i;
  }
  return 0;
}

/* A queue between half of its target and that, for 5 s more than below it; later for longer. */
static void
waits (void)
{
  Fixture f;
  init (&f);
  static const guint steps[] = { 50, 100, 200, 400, 800, 1600, 1600 };
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    g_assert_cmpuint (steps_to_probe (&f), ==, steps[i]);

  init (&f); /* as often none */
  for (guint i = 0; i < 1000; i++) {
    f.input.now += STEP;
    f.input.queue_delay = (i / 40 % 2 ? 45 : 20) * MCC_MSECOND;
    g_assert_false (mcc_rate_enhanced_wants_probe (&f.rate, &f.input, TARGET, STEP));
  }

  init (&f); /* TCP's sawtooth about the target: not while it is about to fall */
  f.rate.floor[0] = 35 * MCC_MSECOND;
  f.rate.longest_s = 0.085;
  for (guint i = 0; i < 1000; i++) {
    guint queue_ms = 35 + i % 50;
    f.input.now += STEP;
    f.input.queue_delay = queue_ms * MCC_MSECOND;
    if (f.input.queue_delay > TARGET) /* cuts */
      continue;
    if (!mcc_rate_enhanced_wants_probe (&f.rate, &f.input, TARGET, STEP))
      continue;
    g_test_message ("after %u steps at %u ms", i, queue_ms);
    g_assert_cmpuint (i, <=, 200);
    g_assert_cmpuint (queue_ms, <=, 60);
    break;
  }
  g_assert_cmpuint (f.rate.probe.vain, ==, 1);

  init (&f); /* pairs showed that the queue is ours, and the link is the same */
  f.rate.known_ours = f.input.now;
  g_assert_cmpuint (steps_to_probe (&f), >=, 600);
  init (&f);
  f.rate.known_ours = f.input.now;
  f.rate.slower_at = f.input.now + 1;
  g_assert_cmpuint (steps_to_probe (&f), <, 600);

  init (&f); /* a loss that we had not to answer for */
  f.rate.loss_foreign = f.input.now;
  g_assert_cmpuint (steps_to_probe (&f), ==, 6);
}

static void
not_worth (void)
{
  Fixture f;
  init (&f);
  f.input.loss_ratio = 0.0;
  g_assert_cmpuint (steps_to_probe (&f), ==, 0);
  init (&f);
  f.input.others_limit = true; /* they ask */
  g_assert_cmpuint (steps_to_probe (&f), ==, 0);
  init (&f);
  f.rate.base.rate_bps = 0.6 * mcc_rate_enhanced_equation_bps (&f.input);
  g_assert_cmpuint (steps_to_probe (&f), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-probe/verdict", verdict);
  g_test_add_func ("/rate-probe/bursts-are-ours", burst);
  g_test_add_func ("/rate-probe/too-few", too_few);
  g_test_add_func ("/rate-probe/silence", silence);
  g_test_add_func ("/rate-probe/another-link", another_link);
  g_test_add_func ("/rate-probe/waits-longer-each-time", waits);
  g_test_add_func ("/rate-probe/not-where-tcp-would-get-no-more", not_worth);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a queue lets out: the same whatever we send, or not, and what follows.
 */
#include "mccrateenhanced.h"

#include <glib.h>

#define STEP (100 * MCC_MSECOND)
#define LINK 600000

typedef struct {
  MccRateEnhanced rate;
  MccRateInput input;
} Fixture;

static void
init (Fixture *f)
{
  *f = (Fixture){ .rate.target_limit_s = INFINITY };
  f->input = (MccRateInput){
    .now = 77 * MCC_SECOND, .rtt = 60 * MCC_MSECOND, .packet_bytes = 1000.0, .received_bps = LINK
  };
}

typedef enum {
  NOBODY,
  RTCP_BETWEEN, /* now and then a packet of it: a tenth of the time of ours */
  LOSS_BETWEEN, /* by chance: what is missing was let out, too */
  A_TCP_FLOW,   /* sends as much as we do at LINK */
  SLOWER_FLOW,  /* ... or two thirds of that */
  A_THIRD,      /* nobody: the link carries a third, and that is what we send */
} Other;

/* @bytes were sent over @sent_s and came over @came_s, behind a queue of @queue_ms. */
static void
serve (Fixture *f, guint bytes, double sent_s, double came_s, guint queue_ms)
{
  f->input.now += STEP;
  f->input.sent_bytes = bytes;
  f->input.sent_span = mcc_time_from_seconds (sent_s);
  f->input.came_span = mcc_time_from_seconds (came_s);
  f->input.queue_delay = f->input.queue_peak = queue_ms * MCC_MSECOND;
  mcc_rate_enhanced_watch_served (&f->rate, &f->input);
}

static gboolean
served (const Fixture *f)
{
  return mcc_rate_enhanced_serves_us_alone (&f->rate);
}

/* In each decision another rate of ours, by up to @swing of LINK, comes to the end of a queue of
 * @queue_ms. */
static void
swing_in (Fixture *f, guint steps, double swing, Other other, guint queue_ms)
{
  static const double course[] = { -1.0, -0.4, 0.3, 1.0, 0.5, -0.2, -0.8 };
  for (guint i = 0; i < steps; i++) {
    double sent = LINK * (1.0 + swing * course[i % G_N_ELEMENTS (course)]);
    double came = LINK;
    if (other == A_THIRD) {
      sent /= 3.0;
      came /= 3.0;
    } else if (other >= A_TCP_FLOW)
      came *= sent / (sent + (other == A_TCP_FLOW ? LINK : LINK / 1.5));
    double span_s = sent / came / 10.0;
    f->input.loss_in_interval = other == LOSS_BETWEEN && i % 4 == 3;
    if (other == RTCP_BETWEEN && i % 5 == 4)
      span_s *= 1.1;
    if (f->input.loss_in_interval)
      span_s *= 1.5;
    serve (f, (guint)(sent / 80.0), 0.1, span_s, queue_ms);
  }
}

static void
swing (Fixture *f, guint steps, double swing, Other other)
{
  swing_in (f, steps, swing, other, 100);
}

/* Whatever we send, the same is let out, whatever is lost by chance: six decisions or some more. */
static void
served_alone (void)
{
  for (Other other = NOBODY; other <= LOSS_BETWEEN; other++) {
    Fixture f;
    init (&f);
    swing (&f, 5, 0.2, other);
    g_assert_false (served (&f)); /* so few say nothing */
    swing (&f, 5, 0.2, other);
    g_assert_true (served (&f));
  }
}

/* Another flow's packets come between. It may have been alone ours a moment ago. */
static void
served_with_others (void)
{
  Fixture f;
  for (Other other = A_TCP_FLOW; other <= SLOWER_FLOW; other++) {
    init (&f);
    for (guint i = 0; i < 100; i++) {
      swing (&f, 7, 0.2, other);
      g_assert_false (served (&f));
    }
  }
  swing (&f, 210, 0.2, NOBODY);
  g_assert_true (served (&f));
  swing (&f, 7, 0.2, A_TCP_FLOW);
  g_assert_false (served (&f));
}

/* The end of a burst shows a rate of its own: beside others it excuses nothing. Where it is too
 * short to tell anything it hides nothing either. */
static void
served_bursts (void)
{
  static const double ends_s[][2]
      = { { 0.0005, 0.004 }, { 0.0, 0.1 }, { 0.1, 0.0 }, { 0.004, 0.1 }, { 0.1, 0.004 } };
  for (guint i = 0; i < G_N_ELEMENTS (ends_s); i++) {
    Fixture f;
    init (&f);
    for (guint n = 0; n < 10; n++) /* two thirds of the link are others' */
      serve (&f, 2500, 0.1, n % 2 == 0 ? 0.105 : 0.095, 100);
    serve (&f, 2500, ends_s[i][0], ends_s[i][1], 100);
    g_assert_false (served (&f));
    init (&f);
    serve (&f, 2500, ends_s[i][0], ends_s[i][1], 100);
    swing (&f, 7, 0.2, NOBODY);
    g_assert_true (served (&f));
  }
  Fixture f; /* as is a whole one, of a key frame */
  init (&f);
  for (guint n = 0; n < 10; n++)
    serve (&f, 2500, 0.1, n % 2 == 0 ? 0.11 : 0.09, 100);
  serve (&f, 7500, 0.025, 0.3, 100);
  g_assert_false (served (&f));
}

/* Who always sends about the same sees nothing by it, nor does who waits for nobody. */
static void
nothing_varied (void)
{
  Fixture f;
  init (&f);
  swing (&f, 100, 0.11, NOBODY);
  g_assert_false (served (&f));
  init (&f);
  swing_in (&f, 100, 0.2, NOBODY, 10); /* less than a packet takes */
  g_assert_false (served (&f));
}

/* Who is seen to be alone competes with nobody, whatever else looks like it; who is not does. */
static void
competes (void)
{
  Fixture f;
  init (&f);
  f.rate.base.mode = MCC_RATE_DELAY;
  swing (&f, 14, 0.2, NOBODY);
  g_assert_false (f.rate.mistaken);
  g_assert_false (mcc_rate_enhanced_compete (&f.rate, &f.input));
  g_assert_cmpint (f.rate.base.mode, ==, MCC_RATE_DELAY);
  g_assert_true (f.rate.mistaken);
  swing (&f, 7, 0.2, A_TCP_FLOW);
  g_assert_true (mcc_rate_enhanced_compete (&f.rate, &f.input));
  g_assert_cmpint (f.rate.base.mode, ==, MCC_RATE_TCP);
  init (&f); /* too early: what was seen before counts, too */
  swing (&f, 4, 0.2, NOBODY);
  g_assert_true (mcc_rate_enhanced_compete (&f.rate, &f.input));
  swing (&f, 3, 0.2, NOBODY);
  g_assert_true (served (&f));
}

/* Over a change of the link what came differs: who competes since then sees the new one, at once.
 */
static void
another_link (void)
{
  Fixture f;
  init (&f);
  f.rate.base.mode = MCC_RATE_DELAY;
  swing (&f, 4, 0.2, NOBODY);
  swing (&f, 4, 0.2, A_THIRD);
  g_assert_false (served (&f));
  g_assert_true (mcc_rate_enhanced_compete (&f.rate, &f.input));
  swing (&f, 4, 0.2, A_THIRD);
  g_assert_false (served (&f));
  swing (&f, 4, 0.2, A_THIRD);
  g_assert_true (served (&f));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-served/alone", served_alone);
  g_test_add_func ("/rate-served/with-others", served_with_others);
  g_test_add_func ("/rate-served/bursts", served_bursts);
  g_test_add_func ("/rate-served/nothing-varied", nothing_varied);
  g_test_add_func ("/rate-served/competes", competes);
  g_test_add_func ("/rate-served/another-link", another_link);
  return g_test_run ();
}

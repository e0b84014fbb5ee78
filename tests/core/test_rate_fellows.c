/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Others like us share the queue: what arrives is a part of what the link carries, and a queue is
 * there. They lose nothing, and hold the queue at its target, 27 ms here. A decision each 100 ms.
 */
#include "ratefixture.h"

#define EVIDENCE 7
#define DRAIN 22 /* RTT 40 ms + sender 200 ms + 2 s */
#define LONG 600
#define QUEUE (20 * MCC_MSECOND)

static void
begin (RateFixture *f, gboolean lost)
{
  rate_alone (f, FALSE);
  f->input.loss_ratio = lost ? f->input.loss_ratio : 0.0;
}

/* A quarter of what the link carries arrives. */
static void
part_of_the_link (void)
{
  static const struct {
    const char *name;
    guint high_ms, high, low; /* a queue of so long in so many decisions, 22 ms in so many */
    gboolean lost;
    double packet_bytes;
    guint least, most; /* decisions until it competes; 0: it does not */
  } table[] = {
    { "lost lately", 80, LONG, 0, TRUE, 1200.0, EVIDENCE, EVIDENCE },
    { "nothing lost, but their cuts show nothing", 80, LONG, 0, FALSE, 1200.0, DRAIN + 1,
        DRAIN + EVIDENCE + 3 },
    { "nothing lost, and it drains", 34, 15, 5, FALSE, 1200.0, 0, 0 },
    { "nothing lost, at the target", 26, LONG, 0, FALSE, 1200.0, 0, 0 },
    { "packets so far apart that none need be lost", 80, LONG, 0, FALSE, 4500.0, EVIDENCE,
        EVIDENCE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    guint steps = 0;
    begin (&f, table[row].lost);
    f.input.packet_bytes = table[row].packet_bytes;
    f.proven_bps = 4 * MBPS;
    rate_steps (&f, 20);
    for (guint i = 1; i <= LONG && steps == 0; i++) {
      guint at = (i - 1) % (table[row].high + table[row].low);
      rate_queue (&f, at < table[row].high ? table[row].high_ms : 22);
      rate_follow (&f, 1); /* of a link that others share */
      steps = rate_mode (&f) == MCC_RATE_TCP ? i : 0;
    }
    g_test_message ("%s: %u", table[row].name, steps);
    g_assert_cmpuint (steps, >=, table[row].least);
    g_assert_cmpuint (steps, <=, table[row].most);
    rate_clear (&f);
  }
}

/* Packets 36 ms apart, a third of what pairs show of the link. A TCP flow that had the rest would
 * have dropped several of ours in 10 s, unless its window is large. */
static void
few_packets (void)
{
  static const struct {
    const char *name;
    guint64 link_bps; /* as pairs show; 0: not known */
    guint rtt_ms;
    gboolean competes;
  } table[] = {
    { "a slow link", 3 * MBPS, 40, FALSE },
    { "a link that is not known", 0, 40, TRUE },
    { "a long path", 3 * MBPS, 400, TRUE },
    { "a fast link", 40 * MBPS, 40, TRUE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    MccPairs pairs;
    guint64 number = 0;
    g_test_message ("%s", table[row].name);
    begin (&f, FALSE);
    mcc_pairs_init (&pairs, MCC_PAIRS_APART);
    f.input.packet_bytes = 4500.0;
    f.input.rtt = table[row].rtt_ms * MCC_MSECOND;
    f.input.pairs = table[row].link_bps > 0 ? &pairs : NULL;
    f.proven_bps = 4 * MBPS;
    for (guint i = 0; i < LONG && rate_mode (&f) == MCC_RATE_DELAY; i++) {
      MccTime now = f.input.now;
      if (i == 50)
        rate_queue (&f, 26); /* theirs, at its target */
      mcc_pairs_handle_packet (&pairs, number++, 4500, RATE_STEP, QUEUE, now);
      if (i % 10 == 0 && table[row].link_bps > 0)
        mcc_pairs_handle_packet (
            &pairs, number++, 4500, 0, QUEUE, now + 36000 * MCC_SECOND / table[row].link_bps);
      rate_follow (&f, 1);
    }
    g_assert_cmpint (rate_mode (&f), ==, table[row].competes ? MCC_RATE_TCP : MCC_RATE_DELAY);
    rate_clear (&f);
  }
}

/* Something was lost lately: for 10 s and three mean intervals, of 1200 bytes 9.6 ms apart. What a
 * doubling rate lost does not count, it was ours. */
static void
how_lately (void)
{
  static const struct {
    gdouble loss_ratio;
    guint wait;
    gboolean lately;
  } table[]
      = { { 0.01, 90, TRUE }, { 0.01, 105, FALSE }, { 0.001, 280, TRUE }, { 0.001, 295, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    begin (&f, FALSE);
    f.input.marked_alone = true;
    rate_lose (&f, table[row].loss_ratio);
    f.input.marked_alone = false;
    f.proven_bps = 4 * MBPS;
    rate_steps (&f, table[row].wait - EVIDENCE);
    rate_queue (&f, 80);
    guint steps = rate_steps_to_tcp (&f, EVIDENCE);
    g_assert_cmpuint (steps, ==, table[row].lately ? EVIDENCE : 0);
    rate_clear (&f);
  }
  for (guint doubles = 0; doubles < 2; doubles++) {
    RateFixture f;
    rate_init (&f);
    rate_steps (&f, 4);
    for (guint i = 1; i <= 2; i++) {
      rate_queue (&f, i * 15);
      if (i == 2 && doubles == 1)
        rate_lose (&f, 1e-7);
      else
        rate_step (&f);
    }
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    rate_queue (&f, 0);
    f.input.max_bps = MBPS;
    if (doubles == 0)
      rate_lose (&f, 1e-7);
    f.proven_bps = 4 * MBPS;
    rate_steps (&f, 80);
    rate_queue (&f, 80);
    g_assert_cmpuint (rate_steps_to_tcp (&f, EVIDENCE), ==, doubles == 1 ? 0 : EVIDENCE);
    rate_clear (&f);
  }
}

/* They draw level with us: for a minute less and less arrives, at a queue about its target. */
static void
draw_level (void)
{
  for (guint lost = 0; lost < 2; lost++) {
    RateFixture f;
    guint64 bps = MBPS;
    begin (&f, lost == 1);
    f.input.capacity = NULL; /* dispersion says nothing */
    for (guint i = 0; i < LONG && rate_mode (&f) == MCC_RATE_DELAY; i++) {
      bps = MAX (bps - bps / 200, MBPS / 2);
      rate_receive (&f, bps);
      rate_send (&f, bps);
      rate_queue (&f, i % 10 == 0 ? 34 : 22); /* we cut for it, as they do */
      rate_step (&f);
    }
    g_assert_cmpint (rate_mode (&f), ==, lost == 1 ? MCC_RATE_TCP : MCC_RATE_DELAY);
    rate_clear (&f);
  }
}

/* What stands above the target is cut for, whoever may have filled it. */
static void
cuts_as_they_do (void)
{
  RateFixture f;
  begin (&f, FALSE);
  f.proven_bps = 4 * MBPS;
  rate_steps (&f, 20);
  f.least_bps = MBPS;
  rate_queue (&f, 80);
  rate_step (&f);
  g_assert_cmpuint (rate_bps (&f), <, 900000);
  rate_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-fellows/part-of-the-link", part_of_the_link);
  g_test_add_func ("/rate-fellows/few-packets", few_packets);
  g_test_add_func ("/rate-fellows/how-lately", how_lately);
  g_test_add_func ("/rate-fellows/draw-level", draw_level);
  g_test_add_func ("/rate-fellows/cuts-as-they-do", cuts_as_they_do);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccrtt.h"

#define START (777 * MCC_SECOND)
#define MS(x) ((MccTimeDelta)((x) * (MccTimeDelta)MCC_MSECOND))

static void
assert_rtt_ms (const MccRtt *rtt, double ms)
{
  g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (mcc_rtt_get (rtt)) * 1e3, ms, 1e-3);
}

static void
test_initial (void)
{
  MccRtt rtt;

  for (int form = MCC_RTT_PUBLISHED; form <= MCC_RTT_ENHANCED; form++) {
    mcc_rtt_init (&rtt, form);
    assert_rtt_ms (&rtt, 500);
    mcc_rtt_handle_packet (&rtt, MS (30), START);
    assert_rtt_ms (&rtt, 500);
    g_assert_false (rtt.measured);
    g_assert_false (mcc_rtt_stale (&rtt, START + 100 * MCC_SECOND));
  }
}

/* A neighbour's stands in until the sender has measured ours; its queue moves as ours does. */
static void
test_borrowed (void)
{
  MccRtt rtt;

  mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
  g_assert_false (mcc_rtt_borrow (&rtt, 11 * MCC_SECOND, MS (10), START));
  g_assert_true (mcc_rtt_borrow (&rtt, 80 * MCC_MSECOND, MS (10), START));
  g_assert_true (rtt.measured);
  assert_rtt_ms (&rtt, 80);
  mcc_rtt_handle_packet (&rtt, MS (30), START);
  assert_rtt_ms (&rtt, 90);
  g_assert_true (mcc_rtt_borrow (&rtt, 120 * MCC_MSECOND, MS (10), START));
  assert_rtt_ms (&rtt, 120);
  mcc_rtt_add_reference (&rtt, 1, MS (10));
  g_assert_true (mcc_rtt_handle_effective (&rtt, 60 * MCC_MSECOND, 1, START));
  assert_rtt_ms (&rtt, 60);
  g_assert_false (mcc_rtt_borrow (&rtt, 80 * MCC_MSECOND, MS (10), START));
  assert_rtt_ms (&rtt, 60);
  mcc_rtt_init (&rtt, MCC_RTT_PUBLISHED);
  g_assert_false (mcc_rtt_borrow (&rtt, 80 * MCC_MSECOND, MS (10), START));
}

/* ASMP eq. 8-11: a = 60/20 - 1; then 20 -> 30 ms one way gives 90 ms, with beta 0.5. */
static void
test_published (void)
{
  MccRtt rtt;

  mcc_rtt_init (&rtt, MCC_RTT_PUBLISHED);
  mcc_rtt_handle_packet (&rtt, MS (20), START);
  mcc_rtt_add_reference (&rtt, 1, MS (20));
  g_assert_true (mcc_rtt_handle_effective (&rtt, 60 * MCC_MSECOND, 1, START));
  g_assert_true (rtt.measured);
  assert_rtt_ms (&rtt, 60);
  g_assert_cmpfloat_with_epsilon (rtt.ratio, 3.0, 1e-9);
  mcc_rtt_handle_packet (&rtt, MS (30), START);
  assert_rtt_ms (&rtt, 75);
  mcc_rtt_handle_packet (&rtt, MS (30), START);
  assert_rtt_ms (&rtt, 82.5);
  /* A later RTT_eff changes a, not the average. */
  mcc_rtt_add_reference (&rtt, 2, MS (30));
  g_assert_true (mcc_rtt_handle_effective (&rtt, 60 * MCC_MSECOND, 2, START));
  assert_rtt_ms (&rtt, 82.5);
  mcc_rtt_handle_packet (&rtt, MS (30), START);
  assert_rtt_ms (&rtt, 71.25);
}

/* Without synchronised clocks the published form has no meaning: nothing changes. */
static void
test_published_negative (void)
{
  MccRtt rtt;

  mcc_rtt_init (&rtt, MCC_RTT_PUBLISHED);
  mcc_rtt_handle_packet (&rtt, MS (-5), START);
  mcc_rtt_add_reference (&rtt, 1, MS (-5));
  g_assert_false (mcc_rtt_handle_effective (&rtt, 60 * MCC_MSECOND, 1, START));
  g_assert_false (rtt.measured);
  mcc_rtt_handle_packet (&rtt, MS (20), START);
  g_assert_true (mcc_rtt_handle_effective (&rtt, 60 * MCC_MSECOND, 1, START));
  mcc_rtt_handle_packet (&rtt, MS (-5), START);
  assert_rtt_ms (&rtt, 60);
}

/* RTT_eff + what the queue changed since the packet it echoed, whatever the clocks' offset. */
static void
test_enhanced (void)
{
  static const MccTimeDelta offsets[] = { 0, MS (-40000), MS (86400000), MS (-31999) };

  for (unsigned o = 0; o < G_N_ELEMENTS (offsets); o++) {
    MccRtt rtt;

    mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
    for (unsigned id = 1; id <= 8; id++)
      mcc_rtt_add_reference (&rtt, id, offsets[o] + MS (id));
    g_assert_true (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 5, START));
    assert_rtt_ms (&rtt, 40);
    /* 100 ms of queue over the echoed packet's 5 ms; also past a wrap of 64 s. */
    for (unsigned i = 0; i < 50; i++)
      mcc_rtt_handle_packet (&rtt, offsets[o] + MS (105) + MS (64000) * (i % 3), START);
    assert_rtt_ms (&rtt, 140);
    for (unsigned i = 0; i < 50; i++)
      mcc_rtt_handle_packet (&rtt, offsets[o] + MS (5) - MS (10) + MS (64000), START);
    assert_rtt_ms (&rtt, 30);
    for (unsigned i = 0; i < 50; i++)
      mcc_rtt_handle_packet (&rtt, offsets[o] + MS (5), START);
    assert_rtt_ms (&rtt, 40);
  }
}

static void
test_clamped (void)
{
  MccRtt rtt;

  mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
  mcc_rtt_add_reference (&rtt, 1, 0);
  g_assert_true (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 1, START));
  for (unsigned i = 0; i < 60; i++)
    mcc_rtt_handle_packet (&rtt, MS (-130), START); /* clocks 1000 ppm apart for a minute */
  assert_rtt_ms (&rtt, 1);
  for (unsigned i = 0; i < 60; i++)
    mcc_rtt_handle_packet (&rtt, MS (11000), START); /* an error, not a path */
  assert_rtt_ms (&rtt, 1);
}

/* Our clock, or the sender's, stands still for a while: the transit falls by more than any path's
 * could. What was echoed before the fall is of the old clock, what was echoed since is not. */
static void
test_clock_jumps (void)
{
  for (unsigned fall_ms = 150; fall_ms < 32000; fall_ms += fall_ms < 2000 ? 50 : 1000) {
    MccTimeDelta jump = -MS (fall_ms);
    MccRtt rtt;

    mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
    mcc_rtt_add_reference (&rtt, 1, 0);
    g_assert_true (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 1, START));
    mcc_rtt_add_reference (&rtt, 2, MS (10));
    mcc_rtt_add_reference (&rtt, 3, jump);
    for (unsigned i = 0; i < 20; i++)
      mcc_rtt_handle_packet (&rtt, jump, START);
    assert_rtt_ms (&rtt, 40);
    for (unsigned i = 0; i < 60; i++) /* a queue counts as before */
      mcc_rtt_handle_packet (&rtt, jump + MS (100), START);
    assert_rtt_ms (&rtt, 140);
    g_assert_true (mcc_rtt_handle_effective (&rtt, 50 * MCC_MSECOND, 2, START));
    for (unsigned i = 0; i < 60; i++)
      mcc_rtt_handle_packet (&rtt, jump, START);
    assert_rtt_ms (&rtt, 40);
    g_assert_true (mcc_rtt_handle_effective (&rtt, 45 * MCC_MSECOND, 3, START));
    for (unsigned i = 0; i < 60; i++)
      mcc_rtt_handle_packet (&rtt, jump, START);
    assert_rtt_ms (&rtt, 45);
  }
}

static void
test_bad_effective (void)
{
  MccRtt rtt, before;

  mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
  g_assert_false (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 0, START));
  for (unsigned i = 0; i < 10; i++)
    mcc_rtt_add_reference (&rtt, 0xfffffffau + i, MS (i));
  before = rtt;
  g_assert_false (mcc_rtt_handle_effective (&rtt, 0, 1, START));
  g_assert_false (mcc_rtt_handle_effective (&rtt, MCC_RTT_MAX + 1, 1, START));
  g_assert_false (mcc_rtt_handle_effective (&rtt, 1526 * MCC_SECOND, 1, START));
  g_assert_false (
      mcc_rtt_handle_effective (&rtt, MCC_MSECOND, 0xfffffffb, START));    /* the 9th last */
  g_assert_false (mcc_rtt_handle_effective (&rtt, MCC_MSECOND, 4, START)); /* never sent */
  g_assert_cmpmem (&before, sizeof before, &rtt, sizeof rtt);
  g_assert_true (mcc_rtt_handle_effective (&rtt, MCC_MSECOND, 0xfffffffc, START));
  g_assert_true (mcc_rtt_handle_effective (&rtt, MCC_RTT_MAX, 3, START)); /* over the wrap */
  before = rtt;
  g_assert_false (mcc_rtt_handle_effective (&rtt, MCC_MSECOND, 3, START + 1)); /* repeated */
  g_assert_false (mcc_rtt_handle_effective (&rtt, MCC_MSECOND, 2, START + 1)); /* late */
  g_assert_cmpmem (&before, sizeof before, &rtt, sizeof rtt);
}

static void
test_stale (void)
{
  MccRtt rtt;

  mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
  mcc_rtt_add_reference (&rtt, 1, 0);
  g_assert_true (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 1, START));
  g_assert_false (mcc_rtt_stale (&rtt, START + 60 * MCC_SECOND));
  g_assert_true (mcc_rtt_stale (&rtt, START + 60 * MCC_SECOND + 1));
  g_assert_true (rtt.measured);
  /* The same measurement once more does not make it fresh; a new one does. */
  g_assert_false (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 1, START + 61 * MCC_SECOND));
  g_assert_true (mcc_rtt_stale (&rtt, START + 61 * MCC_SECOND));
  mcc_rtt_add_reference (&rtt, 2, 0);
  g_assert_true (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 2, START + 61 * MCC_SECOND));
  g_assert_false (mcc_rtt_stale (&rtt, START + 61 * MCC_SECOND));
}

/* Hours without an answer: what the clocks' skew does to the transit must not shorten the RTT. */
static void
test_stale_drift (void)
{
  MccRtt rtt;

  mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
  mcc_rtt_add_reference (&rtt, 1, 0);
  g_assert_true (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 1, START));
  for (unsigned i = 1; i <= 7200; i++) { /* -100 ppm */
    mcc_rtt_handle_packet (&rtt, -(MccTimeDelta)(i * 100 * MCC_USECOND), START + i * MCC_SECOND);
    g_assert_cmpuint (mcc_rtt_get (&rtt), >=, 33 * MCC_MSECOND);
  }
  g_assert_cmpuint (mcc_rtt_get (&rtt), >=, 39 * MCC_MSECOND);
  mcc_rtt_handle_packet (&rtt, 20 * MCC_MSECOND, START + 7300 * MCC_SECOND); /* a queue counts */
  g_assert_cmpuint (mcc_rtt_get (&rtt), >=, 49 * MCC_MSECOND);
}

/* What was measured behind a queue is no longer so when that has gone. */
static void
test_stale_queue (void)
{
  MccRtt rtt;

  mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
  mcc_rtt_add_reference (&rtt, 1, MS (400));
  g_assert_true (mcc_rtt_handle_effective (&rtt, 440 * MCC_MSECOND, 1, START));
  for (unsigned i = 1; i <= 120; i++)
    mcc_rtt_handle_packet (&rtt, 0, START + i * MCC_SECOND);
  g_assert_cmpuint (mcc_rtt_get (&rtt), >=, 39 * MCC_MSECOND);
  g_assert_cmpuint (mcc_rtt_get (&rtt), <=, 47 * MCC_MSECOND);
}

/* The link stood for 3 s, and lets out what waited: transits begin anew, and fall. */
static void
test_drains (void)
{
  MccRtt rtt;

  mcc_rtt_init (&rtt, MCC_RTT_ENHANCED);
  mcc_rtt_add_reference (&rtt, 1, 0);
  g_assert_true (mcc_rtt_handle_effective (&rtt, 40 * MCC_MSECOND, 1, START));
  mcc_rtt_lose_anchor (&rtt, 0);
  for (int i = 0; i < 330; i++) {
    mcc_rtt_handle_packet (&rtt, MS (-9 * i), START);
    assert_rtt_ms (&rtt, 40);
  }
  for (unsigned i = 0; i < 60; i++) /* a queue counts as before */
    mcc_rtt_handle_packet (&rtt, MS (-9 * 329 + 100), START);
  assert_rtt_ms (&rtt, 140);
  mcc_rtt_add_reference (&rtt, 2, MS (-9 * 329));
  g_assert_true (mcc_rtt_handle_effective (&rtt, 50 * MCC_MSECOND, 2, START));
  for (unsigned i = 0; i < 60; i++)
    mcc_rtt_handle_packet (&rtt, MS (-9 * 329 - 10), START);
  assert_rtt_ms (&rtt, 40); /* measured anew, it may become shorter */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rtt/borrowed-until-measured", test_borrowed);
  g_test_add_func ("/rtt/initial", test_initial);
  g_test_add_func ("/rtt/published", test_published);
  g_test_add_func ("/rtt/stale-never-below-the-measured", test_stale_drift);
  g_test_add_func ("/rtt/published-needs-a-positive-delay", test_published_negative);
  g_test_add_func ("/rtt/enhanced/independent-of-clock-offset", test_enhanced);
  g_test_add_func ("/rtt/enhanced/clamped", test_clamped);
  g_test_add_func ("/rtt/enhanced/clock-jumps", test_clock_jumps);
  g_test_add_func ("/rtt/bad-effective-changes-nothing", test_bad_effective);
  g_test_add_func ("/rtt/stale", test_stale);
  g_test_add_func ("/rtt/stale-behind-a-queue", test_stale_queue);
  g_test_add_func ("/rtt/enhanced/a-stop-that-drains", test_drains);
  return g_test_run ();
}

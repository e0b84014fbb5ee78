/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a sender's packets leave: evenly, in bursts, together.
 */
#include "mccpairs.h"
#include "sender_fixture.h"

/* While whoever limits asks for it, and nobody else; published never. */
static void
who_limits_asks (void)
{
  static const MccVariant variants[] = { MCC_VARIANT_ENHANCED, MCC_VARIANT_PUBLISHED };
  for (guint i = 0; i < G_N_ELEMENTS (variants); i++) {
    gboolean enhanced = variants[i] == MCC_VARIANT_ENHANCED;
    Fixture f;
    MccAsmpSenderConfig config = default_config (variants[i]);
    Peer slow = { .ssrc = 1, .host = 1, .rate_bps = 300000, .rtt = 100 * MCC_MSECOND };
    Peer fast = { .ssrc = 2, .host = 2, .rate_bps = 900000, .rtt = 100 * MCC_MSECOND };
    fixture_init (&f, &config);
    fast.more_flags = MCC_REPORT_PAIRS;
    for (guint k = 0; k < 20; k++) {
      peer_report (&f, &slow);
      peer_report (&f, &fast);
      run_for (&f, MCC_SECOND);
      g_assert_false (f.pacing.pairs > 0 && k > 2);
    }
    slow.more_flags = MCC_REPORT_PAIRS;
    peer_report (&f, &slow);
    g_assert_cmpuint (f.pacing.pairs, ==, enhanced ? MCC_PAIRS_APART : 0);
    slow.more_flags = 0;
    peer_report (&f, &slow);
    g_assert_cmpuint (f.pacing.pairs, ==, 0);
    slow.more_flags = MCC_REPORT_PAIRS;
    peer_report (&f, &slow);
    g_assert_cmpuint (f.pacing.pairs, ==, enhanced ? MCC_PAIRS_APART : 0);
    fast.more_flags = 0;
    for (guint k = 0; k < 60; k++) { /* it is heard no more */
      peer_report (&f, &fast);
      run_for (&f, MCC_SECOND);
    }
    g_assert_cmpuint (f.pacing.pairs, ==, 0);
    fixture_clear (&f);
  }
}

/* Of several streams whoever asks has them, for MCC_PAIRS_ASKED: not a stranger; published never.
 */
static void
of_streams_anybody_asks (void)
{
  static const MccVariant variants[] = { MCC_VARIANT_ENHANCED, MCC_VARIANT_PUBLISHED };
  for (guint i = 0; i < G_N_ELEMENTS (variants); i++) {
    MccTime wanted = variants[i] == MCC_VARIANT_ENHANCED ? MCC_PAIRS_CLOSE : 0;
    Fixture f;
    MccAsmpSenderConfig config = default_config (variants[i]);
    Peer slow = { .ssrc = 1, .host = 1, .rate_bps = 300000, .rtt = 100 * MCC_MSECOND };
    Peer fast = { .ssrc = 2, .host = 2, .rate_bps = 900000, .rtt = 100 * MCC_MSECOND };
    Peer stranger = { .ssrc = 3, .host = 3, .rate_bps = 900000, .rtt = 100 * MCC_MSECOND };
    config.one_of_many = true;
    fixture_init (&f, &config);
    for (guint k = 0; k < 10; k++) {
      peer_report (&f, &slow);
      peer_report (&f, &fast);
      run_for (&f, MCC_SECOND);
    }
    stranger.more_flags = fast.more_flags = MCC_REPORT_PAIRS;
    peer_report (&f, &stranger);
    g_assert_cmpuint (f.pacing.pairs, ==, 0);
    peer_report (&f, &fast);
    g_assert_cmpuint (f.pacing.pairs, ==, wanted);
    fast.more_flags = 0;
    for (MccTime t = 0; t < MCC_PAIRS_ASKED; t += MCC_SECOND) {
      g_assert_cmpuint (f.pacing.pairs, ==, wanted);
      run_for (&f, MCC_SECOND);
      peer_report (&f, &slow);
      peer_report (&f, &fast);
    }
    g_assert_cmpuint (f.pacing.pairs, ==, 0);
    fixture_clear (&f);
  }
}

/* Nor has one that nothing reaches any more. */
static void
who_hears_nothing_does_not (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer slow = { .ssrc = 1, .host = 1, .rate_bps = 300000, .rtt = 100 * MCC_MSECOND };
  Peer deaf = { .ssrc = 2, .host = 2, .rate_bps = 900000, .rtt = 100 * MCC_MSECOND };
  config.one_of_many = true;
  deaf.more_flags = MCC_REPORT_PAIRS;
  fixture_init (&f, &config);
  for (guint k = 0; k < 40; k++) {
    deaf.highest_seq = k < 10 ? f.seq : deaf.highest_seq;
    peer_report (&f, &slow);
    peer_report (&f, &deaf);
    run_for (&f, MCC_SECOND);
    if (k == 10)
      g_assert_cmpuint (f.pacing.pairs, ==, MCC_PAIRS_CLOSE);
  }
  g_assert_cmpuint (f.pacing.pairs, ==, 0);
  fixture_clear (&f);
}

static void
report_for (Fixture *f, Peer *near, Peer *far, guint seconds)
{
  for (guint k = 0; k < seconds; k++) {
    peer_report (f, near);
    peer_report (f, far);
    run_for (f, MCC_SECOND);
  }
}

/* In small bursts and evenly while somebody limits, as the path of whoever does wants it, and for
 * MCC_PACING_HOLD after; as is cheapest else; published always so. */
static void
who_limits_has_it_even (void)
{
  static const struct {
    guint rtt_ms, burst_ms;
  } table[] = { { 30, 1 }, { 110, 2 }, { 220, 4 }, { 400, 5 } };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    Peer near = { .ssrc = 1, .host = 1, .rtt = table[i].rtt_ms * MCC_MSECOND };
    Peer far = { .ssrc = 2, .host = 2, .rtt = 160 * MCC_MSECOND };
    fixture_init (&f, &config);
    g_assert_false (f.pacing.even);
    near.rate_bps = config.max_bps / 4;
    far.rate_bps = config.max_bps / 2;
    report_for (&f, &near, &far, 20);
    g_assert_true (f.pacing.even);
    g_assert_cmpuint (f.pacing.burst, ==, table[i].burst_ms * MCC_MSECOND);
    near.rate_bps = config.min_bps / 2; /* as low as it goes, by whoever limits */
    report_for (&f, &near, &far, 5);
    g_assert_true (f.pacing.even);
    near.rate_bps = config.max_bps;
    report_for (&f, &near, &far, 20);
    g_assert_true (f.pacing.even);
    g_assert_cmpuint (f.pacing.burst, ==, 3 * MCC_MSECOND);
    near.rate_bps = far.rate_bps = 2 * config.max_bps;
    unsigned passed = 0;
    for (; f.target < config.max_bps; passed++) {
      report_for (&f, &near, &far, 1);
      g_assert_cmpuint (passed, <, 60);
    }
    report_for (&f, &near, &far, 8);
    g_assert_true (f.pacing.even);
    report_for (&f, &near, &far, 4);
    g_assert_false (f.pacing.even);
    fixture_clear (&f);
  }
}

static void
published_does_not (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_PUBLISHED);
  Peer peer = { .ssrc = 1, .host = 1, .rtt = 30 * MCC_MSECOND, .rate_bps = config.max_bps / 4 };
  fixture_init (&f, &config);
  for (guint k = 0; k < 20; k++) {
    peer_report (&f, &peer);
    run_for (&f, MCC_SECOND);
    g_assert_false (f.pacing.even);
  }
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/pacing/who-limits-asks-for-pairs", who_limits_asks);
  g_test_add_func ("/asmp-sender/pacing/of-streams-anybody-asks", of_streams_anybody_asks);
  g_test_add_func ("/asmp-sender/pacing/who-hears-nothing-does-not", who_hears_nothing_does_not);
  g_test_add_func ("/asmp-sender/pacing/who-limits-has-it-even", who_limits_has_it_even);
  g_test_add_func ("/asmp-sender/pacing/published-does-not", published_does_not);
  return g_test_run ();
}

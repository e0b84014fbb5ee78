/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a sender's packets leave: evenly, in bursts, together.
 */
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
      g_assert_false (f.pacing.pairs && k > 2);
    }
    slow.more_flags = MCC_REPORT_PAIRS;
    peer_report (&f, &slow);
    g_assert_true (f.pacing.pairs == enhanced);
    slow.more_flags = 0;
    peer_report (&f, &slow);
    g_assert_false (f.pacing.pairs);
    slow.more_flags = MCC_REPORT_PAIRS;
    peer_report (&f, &slow);
    g_assert_true (f.pacing.pairs == enhanced);
    fast.more_flags = 0;
    for (guint k = 0; k < 60; k++) { /* it is heard no more */
      peer_report (&f, &fast);
      run_for (&f, MCC_SECOND);
    }
    g_assert_false (f.pacing.pairs);
    fixture_clear (&f);
  }
}

/* In small bursts and evenly while somebody limits, as the path of whoever does wants it; as is
 * cheapest where nobody does; published always so. */
static void
who_limits_has_it_even (void)
{
  static const MccVariant variants[] = { MCC_VARIANT_ENHANCED, MCC_VARIANT_PUBLISHED };
  for (guint i = 0; i < G_N_ELEMENTS (variants); i++) {
    gboolean enhanced = variants[i] == MCC_VARIANT_ENHANCED;
    Fixture f;
    MccAsmpSenderConfig config = default_config (variants[i]);
    Peer near = { .ssrc = 1, .host = 1, .rate_bps = 900000, .rtt = 30 * MCC_MSECOND };
    Peer far = { .ssrc = 2, .host = 2, .rate_bps = 900000, .rtt = 200 * MCC_MSECOND };
    fixture_init (&f, &config);
    near.rate_bps = config.max_bps / 4;
    far.rate_bps = config.max_bps / 2;
    for (guint k = 0; k < 20; k++) {
      peer_report (&f, &near);
      peer_report (&f, &far);
      run_for (&f, MCC_SECOND);
    }
    g_assert_true (f.pacing.even == enhanced);
    g_assert_cmpuint (f.pacing.burst, ==, (enhanced ? 1 : 5) * MCC_MSECOND);
    near.rate_bps = config.max_bps;
    for (guint k = 0; k < 20; k++) {
      peer_report (&f, &near);
      peer_report (&f, &far);
      run_for (&f, MCC_SECOND);
    }
    g_assert_true (f.pacing.even == enhanced);
    g_assert_cmpuint (f.pacing.burst, ==, 5 * MCC_MSECOND);
    near.rate_bps = far.rate_bps = 2 * config.max_bps;
    for (guint k = 0; k < 60; k++) {
      peer_report (&f, &near);
      peer_report (&f, &far);
      run_for (&f, MCC_SECOND);
    }
    g_assert_cmpuint (f.target, ==, config.max_bps);
    g_assert_false (f.pacing.even);
    g_assert_cmpuint (f.pacing.burst, ==, 5 * MCC_MSECOND);
    fixture_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/pacing/who-limits-asks-for-pairs", who_limits_asks);
  g_test_add_func ("/asmp-sender/pacing/who-limits-has-it-even", who_limits_has_it_even);
  return g_test_run ();
}

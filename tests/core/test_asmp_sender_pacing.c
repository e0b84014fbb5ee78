/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When a sender lets packets leave together.
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
      g_assert_false (f.pairs && k > 2);
    }
    slow.more_flags = MCC_REPORT_PAIRS;
    peer_report (&f, &slow);
    g_assert_true (f.pairs == enhanced);
    slow.more_flags = 0;
    peer_report (&f, &slow);
    g_assert_false (f.pairs);
    slow.more_flags = MCC_REPORT_PAIRS;
    peer_report (&f, &slow);
    g_assert_true (f.pairs == enhanced);
    fast.more_flags = 0;
    for (guint k = 0; k < 60; k++) { /* it is heard no more */
      peer_report (&f, &fast);
      run_for (&f, MCC_SECOND);
    }
    g_assert_false (f.pairs);
    fixture_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/pairs/who-limits-asks", who_limits_asks);
  return g_test_run ();
}

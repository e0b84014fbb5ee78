/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long one that is silent stays a receiver.
 */
#include "sender_fixture.h"

#define RTT (50 * MCC_MSECOND)
#define MANY 16

/* One falls to a hundredth: RTCP has a hundredth, too, and the others put off their reports, as
 * they must, by a hundred times. They are there all the while. */
static void
test_target_falls (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[MANY];
  for (unsigned i = 0; i < MANY; i++)
    peers[i] = (Peer){ .ssrc = 1 + i, .host = 1 + i, .rate_bps = 10000000, .rtt = RTT };
  fixture_init (&f, &config);
  run_peers (&f, peers, MANY, 100 * MCC_MSECOND, 10 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 10000000);
  peers[0].rate_bps = 100000;
  run_peers (&f, peers, 1, 100 * MCC_MSECOND, 8 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 100000);
  g_assert_cmpuint (f.timed_out, ==, 0);
  /* ... but who has really gone is not waited for for good. */
  run_peers (&f, peers, 1, 100 * MCC_MSECOND, 60 * MCC_SECOND);
  g_assert_cmpuint (f.timed_out, ==, MANY - 1);
  fixture_clear (&f);
}

/* Many have come to layers (ELM), and all are asked for a report each 27 s in place of each second.
 */
static void
test_interval_grows (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[2] = { { .ssrc = 1, .host = 1, .rate_bps = 900000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 800000, .rtt = RTT } };
  fixture_init (&f, &config);
  mcc_asmp_sender_set_report_interval (f.sender, MCC_SECOND, f.now);
  run_peers (&f, peers, 2, MCC_SECOND, 20 * MCC_SECOND);
  mcc_asmp_sender_set_report_interval (f.sender, 27 * MCC_SECOND, f.now);
  run_peers (&f, peers, 2, 30 * MCC_SECOND, 120 * MCC_SECOND);
  g_assert_cmpuint (f.timed_out, ==, 0);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/expiry/target-falls", test_target_falls);
  g_test_add_func ("/asmp-sender/expiry/interval-grows", test_interval_grows);
  return g_test_run ();
}

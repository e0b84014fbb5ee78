/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the host drops for want of room may be the slowest receiver's first word.
 */
#include "sender_fixture.h"

#define INTERVAL (200 * MCC_MSECOND)
#define RTT (50 * MCC_MSECOND)

static void
test_no_rise (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[3];

  for (unsigned i = 0; i < 3; i++)
    peers[i] = (Peer){ .ssrc = i + 1, .host = i, .rate_bps = 600000 + 1000 * i, .rtt = RTT };
  fixture_init (&f, &config);
  run_peers (&f, peers, 3, INTERVAL, 10 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 600000);
  for (unsigned i = 0; i < 3; i++)
    peers[i].rate_bps = 800000;
  /* again and again, then for a while after */
  for (unsigned i = 0; i < 5; i++) {
    mcc_asmp_sender_handle_dropped (f.sender, MCC_DROP_TABLE_FULL, 9, f.now);
    run_peers (&f, peers, 3, INTERVAL, 7 * MCC_SECOND);
    g_assert_cmpuint (f.target, ==, 600000);
  }
  peers[2].rate_bps = 500000; /* falls are followed */
  mcc_asmp_sender_handle_dropped (f.sender, MCC_DROP_TABLE_FULL, 9, f.now);
  peer_report (&f, &peers[2]);
  g_assert_cmpuint (f.target, ==, 500000);
  peers[2].rate_bps = 800000;
  run_peers (&f, peers, 3, INTERVAL, 20 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 800000);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/unheard/no-rise", test_no_rise);
  return g_test_run ();
}

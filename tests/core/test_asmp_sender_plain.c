/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plain players: RTCP without our APP packets.
 */
#include "mcctcp.h"
#include "sender_fixture.h"

#define RTT (100 * MCC_MSECOND)

/* ASMP eq. 12 on a plain player's loss; without loss it does not limit. */
static void
test_plain_player (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 900000, .rtt = RTT };
  MccAddress from = address_of (9);
  fixture_init (&f, &config);
  for (unsigned i = 0; i < 6; i++) {
    mcc_asmp_sender_handle_plain_report (
        f.sender, 9, &(MccPlainReport){ .rtt = RTT }, &from, f.now);
    run_peers (&f, &peer, 1, 200 * MCC_MSECOND, 5 * MCC_SECOND);
  }
  g_assert_cmpuint (f.target, ==, 900000);
  mcc_asmp_sender_handle_plain_report (
      f.sender, 9, &(MccPlainReport){ .fraction_lost = 0.24, .rtt = RTT }, &from, f.now);
  run_peers (&f, &peer, 1, 200 * MCC_MSECOND, 200 * MCC_MSECOND);
  /* 7 intervals (weights 1 1 1 1 .8 .6 .4), loss in the newest: p = 0.24 / 5.8; R 100 ms. */
  g_assert_cmpfloat_with_epsilon (
      (double)f.target, mcc_tcp_rate_bps (&mcc_tcp_model_default, 1000, 0.1, 0.24 / 5.8), 100.0);
  MccReceiverInfo info;
  g_assert_cmpuint (mcc_asmp_sender_get_receivers (f.sender, f.now, &info, 1), ==, 1);
  g_assert_true (info.plain);
  g_assert_cmpuint (info.ssrc, ==, 9);
  g_assert_cmpfloat_with_epsilon (info.loss_ratio, 0.24 / 5.8, 1e-4);
  /* It lives 25 s after its last report. */
  run_peers (&f, &peer, 1, 200 * MCC_MSECOND, 24 * MCC_SECOND);
  g_assert_cmpuint (f.timed_out, ==, 0);
  run_peers (&f, &peer, 1, 200 * MCC_MSECOND, MCC_SECOND);
  g_assert_cmpuint (f.timed_out, ==, 1);
  fixture_clear (&f);
}

/* Early RTCP at the start, also of receivers of ours before their first APP: a packet of two lost.
 */
static void
test_plain_few_packets (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  MccAddress from = address_of (9);
  config.min_bps = 16000;
  config.start_bps = 500000;
  fixture_init (&f, &config);
  run_for (&f, 50 * MCC_MSECOND);
  MccPlainReport report = { .fraction_lost = 0.5, .packets_lost = 1, .rtt = RTT };
  for (unsigned i = 0; i < 4; i++) { /* 25 packets in all */
    report.highest_seq = f.seq;
    mcc_asmp_sender_handle_plain_report (f.sender, 9, &report, &from, f.now);
    drain (&f);
    g_assert_cmpuint (f.target, ==, 500000);
    run_for (&f, 100 * MCC_MSECOND);
    report.fraction_lost = 0.2;
    report.packets_lost++;
  }
  /* ... and what goes on is seen once it is of packets enough. */
  for (unsigned i = 0; i < 4; i++) {
    report.highest_seq = f.seq;
    mcc_asmp_sender_handle_plain_report (f.sender, 9, &report, &from, f.now);
    run_for (&f, 100 * MCC_MSECOND);
  }
  MccReceiverInfo info;
  g_assert_cmpuint (mcc_asmp_sender_get_receivers (f.sender, f.now, &info, 1), ==, 1);
  g_assert_cmpfloat_with_epsilon (info.loss_ratio, 0.2, 0.05);
  g_assert_cmpuint (f.target, <, 100000);
  fixture_clear (&f);
}

/* The count of all that it lost says of how many packets a first report is. */
static void
test_plain_first_report (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  MccAddress from = address_of (9);
  config.min_bps = 16000;
  config.start_bps = 500000;
  fixture_init (&f, &config);
  run_for (&f, 2500 * MCC_MSECOND);
  MccPlainReport report
      = { .fraction_lost = 0.1, .packets_lost = 15, .highest_seq = f.seq, .rtt = RTT };
  mcc_asmp_sender_handle_plain_report (f.sender, 9, &report, &from, f.now);
  run_for (&f, 100 * MCC_MSECOND);
  report.fraction_lost = 0.0;
  report.highest_seq = f.seq;
  mcc_asmp_sender_handle_plain_report (f.sender, 9, &report, &from, f.now);
  drain (&f);
  g_assert_cmpfloat_with_epsilon (
      (double)f.target, mcc_tcp_rate_bps (&mcc_tcp_model_default, 1000, 0.1, 0.1), 100.0);
  fixture_clear (&f);
}

/* Plain players alone: slow growth while they see no loss, and no false alarm between reports. */
static void
test_plain_players_alone (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  MccAddress from = address_of (9);
  fixture_init (&f, &config);
  f.sends = -8000000; /* what was sent is not what holds it */
  for (unsigned i = 0; i < 20; i++) {
    uint64_t before = f.target;
    mcc_asmp_sender_handle_plain_report (
        f.sender, 9, &(MccPlainReport){ .rtt = i % 2 ? 0 : 20 * MCC_MSECOND }, &from, f.now);
    drain (&f);
    g_assert_cmpuint (f.target, <=, before + before / 8);
    run_for (&f, i == 0 ? MCC_SECOND : 5 * MCC_SECOND);
  }
  g_assert_cmpuint (f.target, >, 300000);
  g_assert_cmpuint (f.lost, ==, 0);
  fixture_clear (&f);
}

/* ... also beside one of ours whose claim its own figures contradict: what is not believed is no
 * limit, nor one more that has to raise it. */
static void
test_plain_player_and_a_liar (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer liar = { .ssrc = 666, .host = 66, .rate_bps = 1000, .rtt = 20 * MCC_MSECOND };
  MccAddress from = address_of (9);
  fixture_init (&f, &config);
  f.sends = -8000000;
  for (unsigned i = 0; i < 24; i++) {
    if (i == 3)
      g_assert_cmpuint (f.target, ==, config.min_bps);
    mcc_asmp_sender_handle_plain_report (
        f.sender, 9, &(MccPlainReport){ .rtt = 20 * MCC_MSECOND }, &from, f.now);
    run_peers (&f, &liar, 1, 500 * MCC_MSECOND, 5 * MCC_SECOND);
  }
  g_assert_cmpuint (f.quarantined, ==, 1);
  g_assert_cmpuint (f.target, >, 2 * config.min_bps);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/plain/tcp-model", test_plain_player);
  g_test_add_func ("/asmp-sender/plain/few-packets", test_plain_few_packets);
  g_test_add_func ("/asmp-sender/plain/first-report", test_plain_first_report);
  g_test_add_func ("/asmp-sender/plain/alone", test_plain_players_alone);
  g_test_add_func ("/asmp-sender/plain/beside-a-liar", test_plain_player_and_a_liar);
  return g_test_run ();
}

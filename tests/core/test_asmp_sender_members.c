/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who counts as a receiver.
 */
#include <math.h>

#include "mcctcp.h"
#include "sender_fixture.h"

#define RTT (50 * MCC_MSECOND)
#define INTERVAL (200 * MCC_MSECOND)

static void
check_receivers (const Fixture *f, unsigned count)
{
  MccAsmpSenderStats stats;
  mcc_asmp_sender_get_stats (f->sender, f->now, &stats);
  g_assert_cmpuint (stats.receivers, ==, count);
}

static void
test_probation (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer honest = { .ssrc = 1, .host = 1, .rate_bps = 800000, .rtt = RTT };
  Peer once = { .ssrc = 2, .host = 2, .rate_bps = 1000, .rtt = RTT };
  fixture_init (&f, &config);
  g_assert_cmpint (peer_report (&f, &honest), ==, MCC_DROP_PROBATION);
  check_receivers (&f, 0);
  g_assert_cmpint (peer_report (&f, &honest), ==, MCC_DROP_NONE);
  check_receivers (&f, 1);
  run_peers (&f, &honest, 1, INTERVAL, 10 * MCC_SECOND);
  /* One report of a stranger changes nothing; the second does. */
  g_assert_cmpint (peer_report (&f, &once), ==, MCC_DROP_PROBATION);
  g_assert_cmpuint (f.target, ==, 800000);
  once.number--;
  g_assert_cmpint (peer_report (&f, &once), ==, MCC_DROP_STALE);
  g_assert_cmpuint (f.target, ==, 800000);
  g_assert_cmpint (peer_report (&f, &once), ==, MCC_DROP_NONE);
  g_assert_cmpuint (f.target, ==, 100000);
  fixture_clear (&f);
}

/* A receiver whose RTT is not measured yet reports what the equation gives for the initial 500 ms:
 * it limits by the RTT that we measured. What it saw beyond the equation stands. */
static void
test_assumed_rtt (void)
{
  static const struct {
    uint64_t rate_bps, target_bps;
  } table[] = { { 117200, 586000 }, { 110000, 586000 }, { 50000, 100000 } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    MccAddress from = address_of (1);
    config.start_bps = 2000000;
    fixture_init (&f, &config);
    run_for (&f, MCC_SECOND);
    for (unsigned i = 0; i < 2; i++) {
      MccAppReport report = { .number = i,
        .flags = MCC_REPORT_ECHO,
        .rate_bps = table[row].rate_bps,
        .loss_ratio = 0.02,
        .rtt = 500 * MCC_MSECOND,
        .echo = mcc_abs_send_time (f.now - 105 * MCC_MSECOND),
        .hold = 5 * MCC_MSECOND };
      mcc_asmp_sender_handle_report (f.sender, 1, &report, &from, f.now);
      run_for (&f, 100 * MCC_MSECOND);
    }
    g_assert_cmpuint (f.target, >=, table[row].target_bps * 98 / 100);
    g_assert_cmpuint (f.target, <=, table[row].target_bps * 102 / 100);
    fixture_clear (&f);
  }
}

/* In a large group, where one reports once in minutes, an old rate is no limit; in a small one it
 * is. */
static void
test_old_limits (void)
{
  static const struct {
    unsigned peers;
    uint64_t target_bps;
  } table[] = { { 8, 200000 }, { 20, 500000 } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    Peer peers[22];
    unsigned low = table[row].peers, old = low + 1;
    for (unsigned i = 0; i <= old; i++)
      peers[i] = (Peer){ .ssrc = i + 1, .host = i + 1, .rate_bps = 500000, .rtt = RTT };
    peers[low].rate_bps = 150000;
    peers[old].rate_bps = 200000;
    fixture_init (&f, &config);
    run_peers (&f, peers, old + 1, INTERVAL, 3 * MCC_SECOND);
    run_peers (&f, peers, old, INTERVAL, 6 * MCC_SECOND);
    g_assert_cmpuint (f.target, ==, 150000);
    MccAddress from = address_of (peers[low].host);
    mcc_asmp_sender_handle_bye (f.sender, peers[low].ssrc, &from, f.now);
    run_peers (&f, peers, low, INTERVAL, 1500 * MCC_MSECOND); /* a silent limit goes after 2 s */
    g_assert_cmpuint (f.target, ==, table[row].target_bps);
    fixture_clear (&f);
  }
}

static void
test_bad_values (void)
{
  static const struct {
    MccAppReport report;
    MccDrop drop;
  } table[] = {
    { { .rate_bps = 0 }, MCC_DROP_BAD_VALUE },
    { { .rate_bps = 0, .flags = MCC_REPORT_NO_LIMIT }, MCC_DROP_PROBATION },
    { { .rate_bps = UINT64_C (100000000001) }, MCC_DROP_BAD_VALUE },
    { { .rate_bps = UINT64_MAX, .flags = MCC_REPORT_NO_LIMIT }, MCC_DROP_BAD_VALUE },
    { { .rate_bps = UINT64_C (100000000000) }, MCC_DROP_PROBATION },
    { { .rate_bps = 1 }, MCC_DROP_PROBATION },
    { { .rate_bps = 1000, .rtt = 10 * MCC_SECOND + 1 }, MCC_DROP_BAD_VALUE },
    { { .rate_bps = 1000, .rtt = 10 * MCC_SECOND }, MCC_DROP_PROBATION },
    { { .rate_bps = 1000, .rtt = MCC_TIME_NONE }, MCC_DROP_BAD_VALUE },
    { { .rate_bps = 1000, .loss_ratio = 1.1 }, MCC_DROP_BAD_VALUE },
    { { .rate_bps = 1000, .loss_ratio = -0.1 }, MCC_DROP_BAD_VALUE },
    { { .rate_bps = 1000, .loss_ratio = NAN }, MCC_DROP_BAD_VALUE },
    { { .rate_bps = 1000, .received_bps = UINT64_MAX }, MCC_DROP_BAD_VALUE },
  };
  MccAddress from = address_of (1);
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    fixture_init (&f, &config);
    g_assert_cmpint (mcc_asmp_sender_handle_report (f.sender, 1, &table[row].report, &from, f.now),
        ==, table[row].drop);
    g_assert_cmpuint (dropped (&f, table[row].drop), ==, 1);
    fixture_clear (&f);
  }
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  MccAppReport report = { .rate_bps = 1000 };
  fixture_init (&f, &config);
  g_assert_cmpint (mcc_asmp_sender_handle_report (f.sender, config.ssrc, &report, &from, f.now), ==,
      MCC_DROP_OWN);
  g_assert_cmpint (mcc_asmp_sender_handle_plain_report (
                       f.sender, 1, &(MccPlainReport){ .fraction_lost = NAN }, &from, f.now),
      ==, MCC_DROP_BAD_VALUE);
  g_assert_cmpint (mcc_asmp_sender_handle_plain_report (
                       f.sender, 1, &(MccPlainReport){ .rtt = 1526 * MCC_SECOND }, &from, f.now),
      ==, MCC_DROP_BAD_VALUE);
  fixture_clear (&f);
}

/* A report number that wraps changes nothing; replays and duplicates are no news. */
static void
test_numbers (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 600000, .rtt = RTT, .number = UINT32_MAX - 10 };
  fixture_init (&f, &config);
  run_peers (&f, &peer, 1, INTERVAL, 10 * MCC_SECOND);
  g_assert_cmpuint (peer.number, <, 100);
  g_assert_cmpuint (f.timed_out + f.left, ==, 0);
  g_assert_cmpuint (dropped (&f, MCC_DROP_STALE), ==, 0);
  g_assert_cmpuint (f.target, ==, 600000);

  /* A replay of all it ever said, in sequence, while it is alive: nothing. */
  Peer replay = peer;
  replay.number = UINT32_MAX - 10;
  replay.rate_bps = 1;
  for (unsigned i = 0; i < 30; i++) {
    g_assert_cmpint (peer_report (&f, &replay), ==, MCC_DROP_STALE);
    run_for (&f, INTERVAL / 2);
    g_assert_cmpint (peer_report (&f, &replay), ==, MCC_DROP_STALE);
    run_for (&f, INTERVAL / 4);
    g_assert_cmpint (peer_report (&f, &peer), ==, MCC_DROP_NONE);
    run_for (&f, INTERVAL / 4);
  }
  g_assert_cmpuint (f.target, ==, 600000);
  fixture_clear (&f);
}

static void
test_receiver_restarts (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 600000, .rtt = RTT, .number = 100000 };
  fixture_init (&f, &config);
  run_peers (&f, &peer, 1, INTERVAL, 10 * MCC_SECOND);
  /* A few late ones are not a restart. */
  peer.number -= 5;
  for (unsigned i = 0; i < 5; i++) {
    run_for (&f, INTERVAL);
    g_assert_cmpint (peer_report (&f, &peer), ==, MCC_DROP_STALE);
  }
  run_peers (&f, &peer, 1, INTERVAL, 10 * MCC_SECOND);
  /* Old ones in no sequence: a shuffled replay. */
  static const uint32_t shuffled[] = { 500, 300, 700, 500, 502, 501 };
  Peer replay = peer;
  for (unsigned i = 0; i < G_N_ELEMENTS (shuffled); i++) {
    run_for (&f, INTERVAL);
    replay.number = shuffled[i];
    g_assert_cmpint (peer_report (&f, &replay), ==, MCC_DROP_STALE);
  }
  run_peers (&f, &peer, 1, INTERVAL, 10 * MCC_SECOND);
  peer.number = 1;
  peer.rate_bps = 300000;
  run_for (&f, INTERVAL);
  g_assert_cmpint (peer_report (&f, &peer), ==, MCC_DROP_STALE);
  g_assert_cmpuint (f.target, ==, 600000);
  run_for (&f, INTERVAL);
  g_assert_cmpint (peer_report (&f, &peer), ==, MCC_DROP_NONE);
  g_assert_cmpuint (f.target, ==, 300000);
  fixture_clear (&f);
}

/* A known SSRC from elsewhere waits until the old address is silent for its expiry. */
static void
test_address_changes (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 600000, .rtt = RTT },
    { .ssrc = 1, .host = 2, .rate_bps = 1000, .rtt = RTT } };
  MccAddress forged = address_of (2), real = address_of (1), other = address_of (3);
  fixture_init (&f, &config);
  run_peers (&f, peers, 1, INTERVAL, 10 * MCC_SECOND);
  /* Forged reports: no effect while the real one lives; a BYE from there hits the forger only. */
  for (unsigned i = 0; i < 50; i++) {
    g_assert_cmpint (peer_report (&f, &peers[1]), ==, MCC_DROP_ADDRESS);
    g_assert_cmpint (peer_report (&f, &peers[0]), ==, MCC_DROP_NONE);
    run_for (&f, INTERVAL);
  }
  check_receivers (&f, 1);
  g_assert_cmpuint (f.target, ==, 600000);
  g_assert_cmpint (mcc_asmp_sender_handle_bye (f.sender, 1, &other, f.now), ==, MCC_DROP_ADDRESS);
  g_assert_cmpint (mcc_asmp_sender_handle_bye (f.sender, 1, &forged, f.now), ==, MCC_DROP_NONE);
  drain (&f);
  check_receivers (&f, 1);
  g_assert_cmpuint (f.left, ==, 0);
  g_assert_cmpuint (f.target, ==, 600000);

  /* The path really changed: the new address follows at the old one's expiry. */
  peers[1].rate_bps = 400000;
  MccTime change = f.now;
  while (f.timed_out == 0 && f.now < change + 30 * MCC_SECOND) {
    g_assert_cmpuint (f.target, ==, 600000);
    g_assert_cmpint (peer_report (&f, &peers[1]), ==, MCC_DROP_ADDRESS);
    run_for (&f, INTERVAL);
  }
  g_assert_cmpuint (f.now - change, >=, 2 * MCC_SECOND - INTERVAL);
  g_assert_cmpuint (f.now - change, <=, 8 * MCC_SECOND);
  check_receivers (&f, 1);
  g_assert_cmpuint (f.target, ==, 400000);
  g_assert_cmpint (peer_report (&f, &peers[1]), ==, MCC_DROP_NONE);
  g_assert_cmpint (peer_report (&f, &peers[0]), ==, MCC_DROP_ADDRESS);
  g_assert_cmpint (mcc_asmp_sender_handle_bye (f.sender, 1, &real, f.now), ==, MCC_DROP_NONE);
  check_receivers (&f, 1);
  fixture_clear (&f);
}

/* A receiver lives 3 of its intervals at least, the limiting one 8 s at most. */
static void
test_expiry (void)
{
  static const struct {
    MccVariant variant;
    MccTime interval, least, most;
    bool limiting;
  } table[] = {
    { MCC_VARIANT_ENHANCED, 100 * MCC_MSECOND, 2 * MCC_SECOND, 2 * MCC_SECOND, true },
    { MCC_VARIANT_ENHANCED, MCC_SECOND, 3 * MCC_SECOND, 3 * MCC_SECOND, true },
    { MCC_VARIANT_ENHANCED, 5 * MCC_SECOND, 8 * MCC_SECOND, 8 * MCC_SECOND, true },
    { MCC_VARIANT_ENHANCED, 5 * MCC_SECOND, 14 * MCC_SECOND, 15 * MCC_SECOND, false },
    { MCC_VARIANT_ENHANCED, 100 * MCC_MSECOND, 2 * MCC_SECOND, 3 * MCC_SECOND, false },
    { MCC_VARIANT_PUBLISHED, MCC_SECOND, 5 * MCC_SECOND, 5 * MCC_SECOND, true },
    { MCC_VARIANT_PUBLISHED, 4 * MCC_SECOND, 20 * MCC_SECOND, 20 * MCC_SECOND, true },
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (table[row].variant);
    Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 900000, .rtt = RTT };
    Peer other = { .ssrc = 2, .host = 2, .rate_bps = 1000000, .rtt = RTT };
    if (!table[row].limiting)
      peer.rate_bps = 2000000;
    fixture_init (&f, &config);
    MccTime last = 0;
    for (unsigned i = 0; i < 40; i++) {
      last = f.now;
      peer_report (&f, &peer);
      run_peers (&f, &other, 1, 100 * MCC_MSECOND, table[row].interval);
    }
    g_assert_cmpuint (f.timed_out, ==, 0);
    while (f.timed_out == 0 && f.now < last + 60 * MCC_SECOND)
      run_peers (&f, &other, 1, 100 * MCC_MSECOND, 100 * MCC_MSECOND);
    g_assert_cmpuint (f.now - last, >=, table[row].least);
    g_assert_cmpuint (f.now - last, <=, table[row].most + 200 * MCC_MSECOND);
    fixture_clear (&f);
  }
}

/* One that was silent for long, as it may, has time to report once it limits. */
static void
test_grace_for_the_new_limiting (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 2000000, .rtt = RTT };
  Peer limiting = { .ssrc = 2, .host = 2, .rate_bps = 1000000, .rtt = RTT };
  Peer third = { .ssrc = 3, .host = 3, .rate_bps = 3000000, .rtt = RTT };
  MccAddress from = address_of (2);
  fixture_init (&f, &config);
  Peer both[] = { limiting, third };
  for (unsigned i = 0; i < 20; i++) {
    peer_report (&f, &peer);
    run_peers (&f, both, 2, 100 * MCC_MSECOND, 5 * MCC_SECOND);
  }
  run_peers (&f, both, 2, 100 * MCC_MSECOND, 5 * MCC_SECOND);
  mcc_asmp_sender_handle_bye (f.sender, 2, &from, f.now);
  MccTime since = f.now;
  run_peers (&f, both + 1, 1, 100 * MCC_MSECOND, MCC_SECOND);
  g_assert_cmpuint (f.session.limiting_ssrc, ==, 1);
  g_assert_cmpuint (f.timed_out, ==, 0);
  while (f.timed_out == 0 && f.now < since + 20 * MCC_SECOND)
    run_peers (&f, both + 1, 1, 100 * MCC_MSECOND, 100 * MCC_MSECOND);
  g_assert_cmpuint (f.now - since, <=, 8 * MCC_SECOND);
  fixture_clear (&f);
}

/* Nobody has to report more often before it was told to. */
static void
test_expiry_before_named (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[20];
  MccAsmpSenderStats stats;
  for (unsigned i = 0; i < G_N_ELEMENTS (peers); i++)
    peers[i] = (Peer){ .ssrc = i + 1, .host = i + 1, .rate_bps = 150000 + i, .rtt = RTT };
  fixture_init (&f, &config);
  run_peers (&f, peers, 20, 100 * MCC_MSECOND, 10 * MCC_SECOND);
  MccAddress from = address_of (20);
  MccAppReport report = { .number = peers[19].number++, .rate_bps = 140000, .rtt = RTT };
  mcc_asmp_sender_handle_report (f.sender, 20, &report, &from, f.now);
  for (unsigned i = 0; i < 50; i++) { /* the host cannot send what it would poll */
    f.now += 100 * MCC_MSECOND;
    mcc_asmp_sender_handle_timeout (f.sender, f.now);
  }
  mcc_asmp_sender_get_stats (f.sender, f.now, &stats);
  g_assert_cmpuint (stats.receivers, ==, 20);
  drain (&f);
  g_assert_cmpuint (f.session.limiting_ssrc, ==, 20);
  MccTime named = f.now;
  while (f.timed_out == 0)
    run_peers (&f, peers, 19, 100 * MCC_MSECOND, 100 * MCC_MSECOND);
  g_assert_cmpuint (f.now - named, >=, 2 * MCC_SECOND);
  g_assert_cmpuint (f.now - named, <=, 8 * MCC_SECOND);
  fixture_clear (&f);
}

static void
test_leaving (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 900000, .rtt = RTT };
  fixture_init (&f, &config);
  run_peers (&f, &peer, 1, INTERVAL, 5 * MCC_SECOND);
  peer.flags = MCC_REPORT_LEAVING; /* and its BYE is lost */
  peer_report (&f, &peer);
  run_for (&f, MCC_SECOND);
  g_assert_cmpuint (f.left, ==, 1);
  g_assert_cmpuint (f.timed_out, ==, 0);
  fixture_clear (&f);
}

/* Regular RTCP keeps a receiver that is suppressed; the limiting one must give its rate. */
static void
check_regular_rtcp_keeps (MccVariant variant)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (variant);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 500000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 900000, .rtt = RTT } };
  MccAddress from[] = { address_of (1), address_of (2) };
  fixture_init (&f, &config);
  run_peers (&f, peers, 2, INTERVAL, 5 * MCC_SECOND);
  for (unsigned i = 0; i < 20; i++) {
    run_peers (&f, peers, 1, INTERVAL, MCC_SECOND);
    mcc_asmp_sender_handle_plain_report (
        f.sender, 2, &(MccPlainReport){ .fraction_lost = 0.5, .rtt = RTT }, &from[1], f.now);
  }
  g_assert_cmpuint (f.timed_out, ==, 0);
  g_assert_cmpuint (f.target, ==, 500000);
  for (unsigned i = 0; i < 10; i++) {
    run_peers (&f, peers + 1, 1, INTERVAL, MCC_SECOND);
    mcc_asmp_sender_handle_plain_report (
        f.sender, 1, &(MccPlainReport){ .rtt = RTT }, &from[0], f.now);
  }
  g_assert_cmpuint (f.timed_out, ==, 1);
  fixture_clear (&f);
}

/* Who follows one that left spoke before: nothing rises until it speaks again. */
static void
test_successor_is_heard_first (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer late = { .ssrc = 1, .host = 2, .rate_bps = 900000, .rtt = RTT };
  MccAddress from = address_of (1);
  fixture_init (&f, &config);
  for (unsigned i = 0; i < 4; i++) {
    mcc_asmp_sender_handle_plain_report (
        f.sender, 1, &(MccPlainReport){ .rtt = RTT }, &from, f.now);
    g_assert_cmpint (peer_report (&f, &late), ==, MCC_DROP_ADDRESS);
    run_for (&f, MCC_SECOND);
  }
  uint64_t before = f.target;
  mcc_asmp_sender_handle_bye (f.sender, 1, &from, f.now);
  run_for (&f, 2 * MCC_SECOND);
  g_assert_cmpuint (f.target, <=, before);
  run_peers (&f, &late, 1, INTERVAL, 10 * MCC_SECOND);
  g_assert_cmpuint (f.target, >, before);
  fixture_clear (&f);
}

static void
test_regular_rtcp_keeps (void)
{
  check_regular_rtcp_keeps (MCC_VARIANT_PUBLISHED);
  check_regular_rtcp_keeps (MCC_VARIANT_ENHANCED);
}

/* A flood of SSRCs: who reports stays; nothing rises while somebody may be unheard. */
static void
test_flood (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 600000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 700000, .rtt = RTT } };
  config.max_receivers = 64;
  fixture_init (&f, &config);
  run_peers (&f, peers, 2, INTERVAL, 10 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 600000);
  peers[0].rate_bps = peers[1].rate_bps = 900000;
  for (unsigned i = 0; i < 100000; i++) {
    Peer forged = { .ssrc = 1000 + i, .host = 1000 + i, .rate_bps = 1 };
    g_assert_cmpint (peer_report (&f, &forged), ==, MCC_DROP_PROBATION);
    if (i % 1000 == 999) {
      peer_report (&f, &peers[0]);
      peer_report (&f, &peers[1]);
      run_for (&f, INTERVAL);
      g_assert_cmpuint (f.target, ==, 600000);
    }
  }
  check_receivers (&f, 2);
  g_assert_cmpuint (f.timed_out + f.left, ==, 0);
  MccReceiverInfo info[100];
  g_assert_cmpuint (mcc_asmp_sender_get_receivers (f.sender, f.now, info, 100), ==, 64);
  run_peers (&f, peers, 2, INTERVAL, 15 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 900000);
  fixture_clear (&f);
}

/* Full of those that report: a newcomer is refused, nothing rises, falls are followed. */
static void
test_table_full (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[4];
  Peer late = { .ssrc = 9, .host = 9, .rate_bps = 200000, .rtt = RTT };
  config.max_receivers = 4;
  for (unsigned i = 0; i < 4; i++)
    peers[i] = (Peer){ .ssrc = i + 1, .host = i, .rate_bps = 600000 + 1000 * i, .rtt = RTT };
  fixture_init (&f, &config);
  run_peers (&f, peers, 4, INTERVAL, 10 * MCC_SECOND);
  g_assert_cmpint (peer_report (&f, &late), ==, MCC_DROP_TABLE_FULL);
  check_receivers (&f, 4);
  for (unsigned i = 0; i < 4; i++)
    peers[i].rate_bps = 800000;
  run_peers (&f, peers, 4, INTERVAL, 7 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 600000);
  peers[2].rate_bps = 500000;
  peer_report (&f, &peers[2]);
  g_assert_cmpuint (f.target, ==, 500000);
  run_peers (&f, peers, 2, INTERVAL, 10 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 800000);
  fixture_clear (&f);
}

/* The slowest first, as many as asked. */
static void
test_slowest_first (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_PUBLISHED);
  MccReceiverInfo info[500];
  fixture_init (&f, &config);
  for (unsigned i = 0; i < 500; i++) {
    Peer peer = { .ssrc = i + 1,
      .host = i,
      .rate_bps = 100000 + (i * 7919) % 500,
      .rtt = RTT,
      .flags = i % 10 == 0 ? MCC_REPORT_NO_LIMIT : 0 };
    peer_report (&f, &peer);
    if (i % 7)
      peer_report (&f, &peer);
  }
  for (unsigned max = 1; max <= 500; max += 83) {
    g_assert_cmpuint (mcc_asmp_sender_get_receivers (f.sender, f.now, info, max), ==, max);
    bool limiting = true;
    for (unsigned i = 0; i < max; i++) {
      bool limits = !info[i].no_limit && info[i].state == MCC_RECEIVER_ACTIVE;
      g_assert_true (limiting || !limits);
      if (i > 0 && limits)
        g_assert_cmpuint (info[i].rate_bps, >, info[i - 1].rate_bps);
      limiting = limits;
    }
    g_assert_cmpuint (info[0].rate_bps, <=, 100003);
  }
  g_assert_cmpuint (mcc_asmp_sender_get_receivers (f.sender, f.now, info, 0), ==, 0);
  fixture_clear (&f);
}

static void
test_key_units (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 600000, .rtt = 400 * MCC_MSECOND };
  fixture_init (&f, &config);
  peer.flags = MCC_REPORT_KEY_UNIT;
  peer_report (&f, &peer); /* on probation, but it wants to see something */
  g_assert_cmpuint (f.key_units, ==, 1);
  peer.flags = 0;
  for (unsigned i = 0; i < 1000; i++) {
    if (i % 20 == 0)
      peer_report (&f, &peer);
    mcc_asmp_sender_handle_key_unit_request (f.sender, f.now);
    drain (&f);
    run_for (&f, STEP);
  }
  g_assert_cmpuint (f.key_unit_gap_min, >=, 800 * MCC_MSECOND);
  g_assert_cmpuint (f.key_units, >=, 12);
  g_assert_cmpuint (f.key_units, <=, 13);
  fixture_clear (&f);
}

/* One SSRC from everywhere takes a few places only. */
static void
test_one_ssrc_from_everywhere (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 600000, .rtt = RTT };
  MccReceiverInfo info[100];
  fixture_init (&f, &config);
  run_peers (&f, &peer, 1, INTERVAL, 5 * MCC_SECOND);
  for (unsigned i = 2; i < 1000; i++) {
    Peer forged = { .ssrc = 1, .host = i, .rate_bps = 1 };
    g_assert_cmpint (peer_report (&f, &forged), ==, MCC_DROP_ADDRESS);
  }
  g_assert_cmpuint (mcc_asmp_sender_get_receivers (f.sender, f.now, info, 100), <=, 4);
  run_peers (&f, &peer, 1, INTERVAL, 5 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 600000);
  check_receivers (&f, 1);
  fixture_clear (&f);
}

/* Every drop is counted and traced, the host's too; our SSRC may change. */
static void
test_drops_and_trace (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 77, .host = 1, .rate_bps = 120000 };
  MccTraceEvent event;
  unsigned reports = 0, targets = 0, receivers = 0, drops = 0;
  fixture_init (&f, &config);
  for (unsigned drop = 1; drop < MCC_DROP_COUNT; drop++)
    mcc_asmp_sender_handle_dropped (f.sender, (MccDrop)drop, 1, f.now);
  peer_report (&f, &peer);
  peer_report (&f, &peer);
  mcc_asmp_sender_set_ssrc (f.sender, 77, f.now);
  g_assert_cmpint (peer_report (&f, &peer), ==, MCC_DROP_OWN);
  g_assert_cmpint (
      mcc_asmp_sender_handle_plain_report (f.sender, 77, &(MccPlainReport){ 0 }, NULL, f.now), ==,
      MCC_DROP_OWN);
  for (unsigned drop = 1; drop < MCC_DROP_COUNT; drop++)
    g_assert_cmpuint (dropped (&f, (MccDrop)drop), ==,
        drop == MCC_DROP_OWN         ? 3
        : drop == MCC_DROP_PROBATION ? 2
                                     : 1);
  while (mcc_asmp_sender_poll_trace (f.sender, &event)) {
    reports += event.type == MCC_TRACE_REPORT && event.a == 120000;
    targets += event.type == MCC_TRACE_TARGET;
    receivers += event.type == MCC_TRACE_RECEIVER && event.i == MCC_RECEIVER_ACTIVE;
    drops += event.type == MCC_TRACE_DROP;
  }
  g_assert_cmpuint (reports, ==, 1);
  g_assert_cmpuint (targets, ==, 2);
  g_assert_cmpuint (receivers, ==, 1);
  g_assert_cmpuint (drops, ==, MCC_DROP_COUNT - 1 + 3);
  g_assert_cmpstr (mcc_target_reason_name (MCC_TARGET_APP_LIMITED), ==, "app-limited");
  g_assert_cmpstr (mcc_target_reason_name (MCC_TARGET_PACER), ==, "pacer");
  g_assert_cmpstr (mcc_receiver_state_name (MCC_RECEIVER_TIMED_OUT), ==, "timed-out");
  fixture_clear (&f);
}

/* Without an address the SSRC alone tells receivers apart; the newest changes of many are told. */
static void
test_changes_are_bounded (void)
{
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_PUBLISHED);
  MccAsmpSender *sender = mcc_asmp_sender_new (&config, EPOCH);
  MccSenderAction action;
  uint32_t last = 0;
  unsigned changes = 0;
  for (uint32_t i = 0; i < 2000; i++) {
    mcc_asmp_sender_handle_plain_report (sender, 1 + i / 2, &(MccPlainReport){ 0 }, NULL, EPOCH);
  }
  while (mcc_asmp_sender_poll (sender, &action)) {
    if (action.type != MCC_SENDER_RECEIVER)
      continue;
    g_assert_cmpuint (action.ssrc, >, last);
    last = action.ssrc;
    changes++;
  }
  g_assert_cmpuint (last, ==, 1000);
  g_assert_cmpuint (changes, <=, 64);
  mcc_asmp_sender_free (sender);
}

/* What nobody can have received is refused; wraps and what is still under way are not. */
static void
test_not_sent_yet (void)
{
  static const struct {
    uint32_t sent, reported;
    bool good;
  } table[] = {
    { 5000, 5000, true },
    { 5000, 4000, true },
    { 5000, 0, true },
    { 5000, 5100, true },
    { 5000, 6001, false },
    { 5000, 30000, false },
    { 5000, 65536 + 30000, false },
    { 5000, 65536 + 4990, true },    /* it heard another sender with our SSRC before */
    { 3 * 65536 + 20, 65535, true }, /* joined late */
    { 3 * 65536 + 20, 3 * 65536 - 20, true },
    { 3 * 65536 - 20, 3 * 65536 + 20, true },
    { 3 * 65536 + 20, 3 * 65536 + 2000, false },
    { UINT32_MAX - 10, UINT32_MAX - 20, true },
    { UINT32_MAX - 10, 7, true },
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    MccAddress from = address_of (1);
    MccAppReport report = { .rate_bps = 200000, .highest_seq = 77777 };
    fixture_init (&f, &config);
    /* Nothing was sent: whoever reports heard somebody else. */
    g_assert_cmpint (
        mcc_asmp_sender_handle_report (f.sender, 1, &report, &from, f.now), ==, MCC_DROP_PROBATION);
    mcc_asmp_sender_handle_sent (f.sender, 1, 1000, table[row].sent, f.now);
    report.number++;
    report.highest_seq = table[row].reported;
    g_assert_cmpint (mcc_asmp_sender_handle_report (f.sender, 1, &report, &from, f.now), ==,
        table[row].good ? MCC_DROP_NONE : MCC_DROP_BAD_VALUE);
    g_assert_cmpint (mcc_asmp_sender_handle_plain_report (f.sender, 2,
                         &(MccPlainReport){ .highest_seq = table[row].reported }, &from, f.now),
        ==, table[row].good ? MCC_DROP_PROBATION : MCC_DROP_BAD_VALUE);
    fixture_clear (&f);
  }
  /* After 2^32 packets any number has been sent. */
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  fixture_init (&f, &config);
  mcc_asmp_sender_handle_sent (f.sender, 1, 1000, UINT32_MAX - 1, f.now);
  mcc_asmp_sender_handle_sent (f.sender, 1, 1000, 5, f.now);
  g_assert_cmpint (mcc_asmp_sender_handle_plain_report (
                       f.sender, 2, &(MccPlainReport){ .highest_seq = 30000 }, NULL, f.now),
      ==, MCC_DROP_PROBATION);
  fixture_clear (&f);
}

/* The sender's process stood still: its receivers did not. */
static void
test_own_absence (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 120000, .rtt = 50 * MCC_MSECOND },
    { .ssrc = 12, .host = 2, .rate_bps = 500000, .rtt = 60 * MCC_MSECOND } };
  MccAsmpSenderStats stats;
  fixture_init (&f, &config);
  run_peers (&f, peers, 2, 200 * MCC_MSECOND, 10 * MCC_SECOND);
  f.now += 60 * MCC_SECOND;
  mcc_asmp_sender_handle_timeout (f.sender, f.now);
  drain (&f);
  f.rtt.count = 0;
  for (unsigned i = 0; i < 2; i++) { /* these waited in the socket */
    MccAddress from = address_of (peers[i].host);
    MccAppReport report = { .number = peers[i].number++,
      .flags = MCC_REPORT_ECHO | MCC_REPORT_RTT_MEASURED,
      .rtt = peers[i].rtt,
      .rate_bps = peers[i].rate_bps,
      .echo = mcc_abs_send_time (f.now - 5 * MCC_SECOND) };
    g_assert_cmpint (mcc_asmp_sender_handle_report (f.sender, peers[i].ssrc, &report, &from, f.now),
        ==, MCC_DROP_NONE);
    drain (&f);
  }
  run_peers (&f, peers, 2, 200 * MCC_MSECOND, 2 * MCC_SECOND);
  for (unsigned i = 0; i < f.rtt.count; i++)
    g_assert_cmpuint (f.rtt.entry[i].rtt, <, MCC_SECOND);
  mcc_asmp_sender_get_stats (f.sender, f.now, &stats);
  g_assert_cmpuint (stats.receivers, ==, 2);
  g_assert_cmpuint (stats.target_bps, ==, 120000);
  g_assert_cmpuint (f.timed_out, ==, 0);
  g_assert_cmpuint (f.lost, ==, 0);
  /* Who has really gone expires all the same. */
  f.now += 60 * MCC_SECOND;
  mcc_asmp_sender_handle_timeout (f.sender, f.now);
  drain (&f);
  run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, MCC_SECOND);
  g_assert_cmpuint (f.timed_out, ==, 1);
  fixture_clear (&f);
}

/* Who claims far more than its own loss allows counts for ten times the equation (RFC 8083 4.3). */
static void
test_lying_high (void)
{
  static const struct {
    MccVariant variant;
    double loss_ratio;
    MccTime rtt;
    bool bounded;
  } table[] = { { MCC_VARIANT_ENHANCED, 0.1, 100 * MCC_MSECOND, true },
    { MCC_VARIANT_ENHANCED, 0.1, 0, false }, /* no RTT known */
    { MCC_VARIANT_ENHANCED, 0.0, 100 * MCC_MSECOND, false },
    { MCC_VARIANT_ENHANCED, 0.001, 20 * MCC_MSECOND, false }, /* the equation: 17 Mb/s */
    { MCC_VARIANT_PUBLISHED, 0.1, 100 * MCC_MSECOND, false } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (table[row].variant);
    Peer liar = { .ssrc = 11,
      .host = 1,
      .rate_bps = 8000000,
      .rtt = table[row].rtt,
      .loss_ratio = table[row].loss_ratio };
    fixture_init (&f, &config);
    run_peers (&f, &liar, 1, 200 * MCC_MSECOND, 60 * MCC_SECOND);
    if (table[row].bounded) {
      double bound = 10.0
                     * mcc_tcp_rate_bps (&mcc_tcp_model_default, PACKET_BYTES,
                         mcc_time_to_seconds (table[row].rtt), table[row].loss_ratio);
      g_assert_cmpfloat ((double)f.target, <=, 1.1 * bound);
      g_assert_cmpfloat ((double)f.target, >=, 0.9 * bound);
    } else {
      g_assert_cmpuint (f.target, ==, 8000000);
    }
    fixture_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/members/two-reports-to-count", test_probation);
  g_test_add_func ("/asmp-sender/members/assumed-rtt", test_assumed_rtt);
  g_test_add_func ("/asmp-sender/members/old-limits", test_old_limits);
  g_test_add_func ("/asmp-sender/members/bad-values", test_bad_values);
  g_test_add_func ("/asmp-sender/members/numbers-wrap-and-replay", test_numbers);
  g_test_add_func ("/asmp-sender/members/receiver-restarts", test_receiver_restarts);
  g_test_add_func ("/asmp-sender/members/address-changes", test_address_changes);
  g_test_add_func ("/asmp-sender/members/expiry", test_expiry);
  g_test_add_func ("/asmp-sender/members/grace-for-the-limiting", test_grace_for_the_new_limiting);
  g_test_add_func ("/asmp-sender/members/named-before-it-expires", test_expiry_before_named);
  g_test_add_func ("/asmp-sender/members/leaving-without-bye", test_leaving);
  g_test_add_func ("/asmp-sender/members/regular-rtcp-keeps", test_regular_rtcp_keeps);
  g_test_add_func ("/asmp-sender/members/successor-is-heard-first", test_successor_is_heard_first);
  g_test_add_func ("/asmp-sender/members/flood-of-ssrcs", test_flood);
  g_test_add_func ("/asmp-sender/members/full-table-fails-closed", test_table_full);
  g_test_add_func ("/asmp-sender/members/slowest-first", test_slowest_first);
  g_test_add_func ("/asmp-sender/members/key-units", test_key_units);
  g_test_add_func ("/asmp-sender/members/one-ssrc-from-everywhere", test_one_ssrc_from_everywhere);
  g_test_add_func ("/asmp-sender/members/drops-and-trace", test_drops_and_trace);
  g_test_add_func ("/asmp-sender/actions/receivers-bounded", test_changes_are_bounded);
  g_test_add_func ("/asmp-sender/reports/of-packets-not-sent-yet", test_not_sent_yet);
  g_test_add_func ("/asmp-sender/expiry/own-absence-is-nobodys-silence", test_own_absence);
  g_test_add_func ("/asmp-sender/reports/lying-high", test_lying_high);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The target's laws.
 */
#include <math.h>

#include "sender_fixture.h"

#define RTT (100 * MCC_MSECOND)
#define PACKET_STEP (8 * PACKET_BYTES * MCC_SECOND / RTT) /* one packet per RTT, bit/s */

static void
test_min_of_receivers (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_PUBLISHED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 900000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 400000, .rtt = RTT },
    { .ssrc = 3, .host = 3, .rate_bps = 700000, .rtt = RTT } };
  static const struct {
    uint64_t rate[3];
    uint64_t target;
    MccTargetReason reason;
  } table[] = {
    { { 900000, 400000, 700000 }, 400000, MCC_TARGET_RECEIVER },
    { { 900000, 800000, 700000 }, 700000, MCC_TARGET_RECEIVER },
    { { 300000, 800000, 700000 }, 300000, MCC_TARGET_RECEIVER },
    { { 50000, 800000, 700000 }, 100000, MCC_TARGET_MIN },
    { { 20000000, 30000000, 40000000 }, 10000000, MCC_TARGET_MAX },
  };

  fixture_init (&f, &config);
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    for (unsigned i = 0; i < 3; i++)
      peers[i].rate_bps = table[row].rate[i];
    run_peers (&f, peers, 3, MCC_SECOND, 2 * MCC_SECOND);
    g_assert_cmpuint (f.target, ==, table[row].target);
    MccAsmpSenderStats stats;
    mcc_asmp_sender_get_stats (f.sender, f.now, &stats);
    g_assert_cmpint (stats.reason, ==, table[row].reason);
    g_assert_cmpuint (stats.receivers, ==, 3);
  }
  fixture_clear (&f);
}

/* All are asked for a report each 12 s (ELM), or the slowest session gives no more: who limits is
 * there all the while. */
static void
test_reports_as_asked (void)
{
  for (int elm = 0; elm < 2; elm++) {
    Fixture f;
    Peer peers[2];
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    config.min_bps = elm ? config.min_bps : 8000;
    config.max_bps = elm ? config.max_bps : 32000;
    config.start_bps = config.min_bps;
    fixture_init (&f, &config);
    if (elm)
      mcc_asmp_sender_set_report_interval (f.sender, 12 * MCC_SECOND, f.now);
    for (unsigned i = 0; i < 2; i++)
      peers[i] = (Peer){ .ssrc = 100 + i,
        .host = 1 + i,
        .number = 1,
        .rate_bps = elm ? 400000 + i * 400000 : 8000 + i * 8000,
        .loss_ratio = 0.05,
        .rtt = elm ? 40 * MCC_MSECOND : MCC_SECOND };
    run_peers (&f, peers, 2, 12 * MCC_SECOND, 240 * MCC_SECOND);
    g_assert_cmpuint (f.timed_out, ==, 0);
    MccAsmpSenderStats stats;
    mcc_asmp_sender_get_stats (f.sender, f.now, &stats);
    g_assert_cmpuint (stats.limiting_ssrc, ==, 100);
    fixture_clear (&f);
  }
}

/* Starts @config's sender with a limiting receiver at 400 kb/s and others at 2 Mb/s. */
static void
settle (Fixture *f, Peer *peers, unsigned count)
{
  run_peers (f, peers, count, 200 * MCC_MSECOND, 5 * MCC_SECOND);
  g_assert_cmpuint (f->target, ==, 400000);
  f->max_step = 0;
  f->rise_gap_min = MCC_TIME_NONE;
  f->last_rise = f->now;
}

static void
check_slow_rise (Fixture *f, uint64_t limit)
{
  g_assert_cmpuint (f->target, ==, limit);
  g_assert_cmpuint (f->max_step, ==, PACKET_STEP);
  g_assert_cmpuint (f->rise_gap_min, >=, RTT);
}

static void
test_crash_of_limiting (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 2000000, .rtt = RTT } };

  fixture_init (&f, &config);
  f.sends = 1.0;
  /* That 2 Mb/s were carried before is no reason: its path may be as slow as it was. */
  run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, 20 * MCC_SECOND);
  settle (&f, peers, 2);
  MccTime crash = f.now;
  /* It still limits while it may just be late ... */
  run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, 1500 * MCC_MSECOND);
  g_assert_cmpuint (f.target, ==, 400000);
  /* ... and no longer 10 s later. */
  while (f.target == 400000 && f.now < crash + 20 * MCC_SECOND)
    run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, 200 * MCC_MSECOND);
  g_assert_cmpuint (f.now - crash, <, 10 * MCC_SECOND);
  g_assert_cmpuint (f.timed_out, ==, 1);
  run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, 20 * MCC_SECOND);
  check_slow_rise (&f, 2000000);
  fixture_clear (&f);
}

static void
test_bye_of_limiting (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 2000000, .rtt = RTT } };
  MccAddress from = address_of (1);

  fixture_init (&f, &config);
  settle (&f, peers, 2);
  g_assert_cmpint (mcc_asmp_sender_handle_bye (f.sender, 1, &from, f.now), ==, MCC_DROP_NONE);
  drain (&f);
  g_assert_cmpuint (f.left, ==, 1);
  /* A feedback round without a rise: 6 RTT. */
  run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, 6 * RTT - 1);
  g_assert_cmpuint (f.target, ==, 400000);
  run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, 20 * MCC_SECOND);
  check_slow_rise (&f, 2000000);
  fixture_clear (&f);
}

/* The round is one of those who stay; in a large group, where not all are known, of all. */
static void
test_round_of_those_who_stay (void)
{
  static const struct {
    guint others;
    MccTime holds;
  } table[] = { { 1, 6 * RTT }, { 15, 6 * RTT }, { 16, 18 * RTT } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    Peer peers[17] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = 3 * RTT } };
    MccAddress from = address_of (1);

    for (guint i = 1; i <= table[row].others; i++)
      peers[i] = (Peer){ .ssrc = i + 1, .host = (uint8_t)(i + 1), .rate_bps = 2000000, .rtt = RTT };
    fixture_init (&f, &config);
    settle (&f, peers, 1 + table[row].others);
    mcc_asmp_sender_handle_bye (f.sender, 1, &from, f.now);
    drain (&f);
    run_peers (&f, peers + 1, table[row].others, 200 * MCC_MSECOND, table[row].holds - 1);
    g_assert_cmpuint (f.target, ==, 400000);
    run_peers (&f, peers + 1, table[row].others, 200 * MCC_MSECOND, RTT);
    g_assert_cmpuint (f.target, >, 400000);
    fixture_clear (&f);
  }
}

/* Each reports for the first time, and names the media. */
static void
name_media (Fixture *f, Peer *peers, unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    MccAddress from = address_of (peers[i].host);
    peer_report (f, &peers[i]);
    mcc_asmp_sender_handle_block (f->sender, peers[i].ssrc, &from, f->now);
  }
}

/* Who limited goes, after a while at 2 Mb/s without it: after the silent round back to that at
 * once; but not when one who stays came later than it was carried, nor in one of many streams. A
 * name that nobody has vouched for is none who stays. */
static void
test_back_to_what_was_carried (void)
{
  static const struct {
    bool one_of_many, wants_block;
    MccTime came_last; /* so long before */
    bool back;
  } table[] = { { .back = true }, { .came_last = MCC_SECOND }, { .one_of_many = true },
    { .wants_block = true, .came_last = MCC_SECOND, .back = true } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT },
      { .ssrc = 2, .host = 2, .rate_bps = 3000000, .rtt = RTT },
      { .ssrc = 3, .host = 3, .rate_bps = 2000000, .rtt = RTT } };
    MccAddress from = address_of (1);
    Peer came_last = { .ssrc = 4, .host = 4, .rate_bps = 2000000, .rtt = RTT };

    config.one_of_many = table[row].one_of_many;
    config.wants_block = table[row].wants_block;
    fixture_init (&f, &config);
    name_media (&f, peers + 1, 2);
    run_peers (&f, peers + 1, 2, 200 * MCC_MSECOND, 20 * MCC_SECOND);
    g_assert_cmpuint (f.target, ==, 2000000);
    name_media (&f, peers, 1);
    settle (&f, peers, 3);
    run_peers (&f, &came_last, 1, 200 * MCC_MSECOND, table[row].came_last);
    mcc_asmp_sender_handle_bye (f.sender, 1, &from, f.now);
    drain (&f);
    peers[2].rate_bps = 1500000; /* what they say now is the limit */
    run_peers (&f, peers + 1, 2, 200 * MCC_MSECOND, 6 * RTT - 1);
    g_assert_cmpuint (f.target, ==, 400000);
    run_peers (&f, peers + 1, 2, 200 * MCC_MSECOND, RTT);
    if (table[row].back)
      g_assert_cmpuint (f.target, ==, 1500000);
    else
      g_assert_cmpuint (f.target, <=, 400000 + PACKET_STEP);
    fixture_clear (&f);
  }
}

/* The limit went away, and nobody says anything since: nothing proves more. */
static void
test_silence_raises_nothing (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 2000000, .rtt = RTT } };
  MccAddress from = address_of (1);

  fixture_init (&f, &config);
  settle (&f, peers, 2);
  mcc_asmp_sender_handle_bye (f.sender, 1, &from, f.now);
  drain (&f);
  run_for (&f, 1500 * MCC_MSECOND);
  g_assert_cmpuint (f.timed_out, ==, 0);
  g_assert_cmpuint (f.target, ==, 400000);
  run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, 500 * MCC_MSECOND);
  g_assert_cmpuint (f.target, >, 400000);
  fixture_clear (&f);
}

static void
test_published_follows_at_once (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_PUBLISHED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 2000000, .rtt = RTT } };
  MccAddress from = address_of (1);

  fixture_init (&f, &config);
  settle (&f, peers, 2);
  mcc_asmp_sender_handle_bye (f.sender, 1, &from, f.now);
  drain (&f);
  g_assert_cmpuint (f.target, ==, 2000000);
  fixture_clear (&f);
}

static void
test_limiting_raises_itself (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 2000000, .rtt = RTT } };

  fixture_init (&f, &config);
  settle (&f, peers, 2);
  peers[0].rate_bps = 700000;
  peer_report (&f, &peers[0]);
  g_assert_cmpuint (f.target, ==, 700000);
  /* Beyond the other one: that limits now, and is approached by a packet per RTT. */
  run_peers (&f, peers, 2, 200 * MCC_MSECOND, 3 * MCC_SECOND);
  f.max_step = 0;
  f.rise_gap_min = MCC_TIME_NONE;
  f.last_rise = f.now;
  peers[0].rate_bps = 5000000;
  run_peers (&f, peers, 2, 200 * MCC_MSECOND, 20 * MCC_SECOND);
  check_slow_rise (&f, 2000000);
  fixture_clear (&f);
}

static void
test_falls_at_once (void)
{
  for (unsigned variant = 0; variant < 2; variant++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config ((MccVariant)variant);
    Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT },
      { .ssrc = 2, .host = 2, .rate_bps = 2000000, .rtt = RTT } };

    fixture_init (&f, &config);
    settle (&f, peers, 2);
    peers[1].rate_bps = 123456;
    peer_report (&f, &peers[1]);
    g_assert_cmpuint (f.target, ==, 123456);
    fixture_clear (&f);
  }
}

static void
test_no_limit_does_not_limit (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 1, .rtt = RTT, .flags = MCC_REPORT_NO_LIMIT } };

  fixture_init (&f, &config);
  /* Alone it changes nothing: it proves no rate either. */
  run_peers (&f, peers + 1, 1, 200 * MCC_MSECOND, 5 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 150000);
  g_assert_cmpuint (f.lost, ==, 0);
  settle (&f, peers, 2);
  /* The limiting one no longer knows a limit: nobody does. */
  peers[0].flags = MCC_REPORT_NO_LIMIT;
  run_peers (&f, peers, 2, 200 * MCC_MSECOND, 5 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 400000);
  g_assert_cmpuint (f.session.limiting_ssrc, ==, 0);
  fixture_clear (&f);
}

/* An encoder that sends little proves little. */
static void
test_app_limited (void)
{
  static const struct {
    double sends_bps;
    uint64_t target;
  } table[] = { { 300000, 600000 }, { 20000, 150000 }, { 0, 150000 }, { 2500000, 5000000 } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 8000000, .rtt = RTT };
    fixture_init (&f, &config);
    f.sends = -table[row].sends_bps;
    run_peers (&f, &peer, 1, 200 * MCC_MSECOND, 10 * MCC_SECOND);
    g_assert_cmpfloat_with_epsilon (
        (double)f.target, (double)table[row].target, 0.05 * (double)table[row].target);
    g_assert_cmpint (
        f.reason, ==, row == 1 || row == 2 ? MCC_TARGET_START : MCC_TARGET_APP_LIMITED);
    fixture_clear (&f);
  }
}

/* A source that fills the target proves it: what a receiver allows is reached by doubling about as
 * fast as receivers do (4 RTT, at least 0.4 s). */
static void
test_filled_target_doubles (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 8000000, .rtt = RTT };

  fixture_init (&f, &config);
  f.sends = 1.0;
  while (f.target < 300000 && f.now < EPOCH + 5 * MCC_SECOND)
    run_peers (&f, &peer, 1, 100 * MCC_MSECOND, 100 * MCC_MSECOND);
  MccTime begin = f.now;
  double from = (double)f.target;
  while (f.target < 16 * 300000 && f.now < begin + 10 * MCC_SECOND)
    run_peers (&f, &peer, 1, 100 * MCC_MSECOND, 100 * MCC_MSECOND);
  double doublings = log2 ((double)f.target / from);
  double took_s = mcc_time_to_seconds (f.now - begin);
  g_assert_cmpfloat (took_s / doublings, <=, 0.5);
  g_assert_cmpfloat (took_s / doublings, >=, 0.35);
  fixture_clear (&f);
}

static void
test_no_feedback_at_start (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  config.start_bps = 1000000;

  fixture_init (&f, &config);
  g_assert_cmpuint (f.target, ==, 1000000);
  /* Nobody can answer before the first packet. */
  f.sends = 0.0;
  run_for (&f, 5 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 1000000);
  f.sends = 1.0;
  run_for (&f, STEP - f.now % STEP);
  run_for (&f, 2 * MCC_SECOND - 1);
  g_assert_cmpuint (f.target, ==, 1000000);
  g_assert_cmpuint (f.lost, ==, 0);
  static const uint64_t halves[] = { 500000, 250000, 125000, 100000, 100000, 100000 };
  run_for (&f, 1);
  for (unsigned i = 0; i < G_N_ELEMENTS (halves); i++) {
    g_assert_cmpuint (f.target, ==, halves[i]);
    g_assert_cmpint (f.reason, ==, MCC_TARGET_NO_FEEDBACK);
    run_for (&f, 2 * MCC_SECOND);
  }
  g_assert_cmpuint (f.lost, ==, 1);
  g_assert_cmpuint (f.found, ==, 0);
  g_assert_cmpuint (f.stops, ==, 0);
  fixture_clear (&f);
}

static void
test_feedback_lost_and_back (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 4000000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 4100000, .rtt = RTT } };

  fixture_init (&f, &config);
  run_peers (&f, peers, 2, 200 * MCC_MSECOND, 15 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 4000000);
  g_assert_cmpuint (f.found, ==, 1);
  MccTime silent = f.now;
  while (f.lost == 0 && f.now < silent + MCC_SECOND * 20)
    run_for (&f, 10 * MCC_MSECOND);
  g_assert_cmpuint (f.now - silent, <=, 2 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 2000000);
  run_for (&f, 2 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 1000000);
  run_for (&f, 20 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 100000);
  g_assert_cmpuint (f.timed_out, ==, 2);
  g_assert_cmpuint (f.lost, ==, 1);

  /* Back: nothing at once, then at most a doubling per 250 ms, whatever was sent meanwhile. */
  f.sends = -8000000;
  run_for (&f, 3 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 100000);
  uint64_t previous = f.target;
  for (unsigned i = 0; i < 80; i++) {
    run_peers (&f, peers, 2, 125 * MCC_MSECOND, 125 * MCC_MSECOND);
    g_assert_cmpuint (f.target, <=, 2 * previous);
    if (i < 2)
      g_assert_cmpuint (f.target, ==, 100000);
    if (i % 2 == 1)
      previous = f.target;
  }
  g_assert_cmpuint (f.found, ==, 2);
  g_assert_cmpuint (f.target, ==, 4000000);
  fixture_clear (&f);
}

/* What was sent just now does not hold back a rate that was carried before. */
static void
test_feedback_back_soon (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 4000000, .rtt = RTT };

  fixture_init (&f, &config);
  run_peers (&f, &peer, 1, 200 * MCC_MSECOND, 20 * MCC_SECOND);
  run_for (&f, 20 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 100000);
  /* 5.3 doublings, and two reports until it counts. */
  run_peers (&f, &peer, 1, 50 * MCC_MSECOND, 6 * 250 * MCC_MSECOND + 200 * MCC_MSECOND);
  g_assert_cmpuint (f.target, ==, 4000000);
  fixture_clear (&f);
}

static void
test_no_feedback_hold (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  config.no_feedback = MCC_NO_FEEDBACK_HOLD;
  config.start_bps = 1000000;
  fixture_init (&f, &config);
  run_for (&f, 60 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 1000000);
  g_assert_cmpuint (f.lost, ==, 1);
  /* A policy set later holds too. */
  mcc_asmp_sender_set_no_feedback (f.sender, MCC_NO_FEEDBACK_MINIMUM, f.now);
  run_for (&f, 20 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 100000);
  fixture_clear (&f);
}

static void
test_no_feedback_stop (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 150000, .rtt = RTT };
  config.no_feedback = MCC_NO_FEEDBACK_STOP;
  fixture_init (&f, &config);
  mcc_asmp_sender_handle_sent (f.sender, 1, PACKET_BYTES, 1, f.now);
  f.sends = 0.0;
  run_for (&f, 2 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 100000);
  run_for (&f, 2 * MCC_SECOND - 1);
  g_assert_cmpuint (f.stops, ==, 0);
  run_for (&f, 1);
  g_assert_cmpuint (f.stops, ==, 1);
  unsigned sessions = f.sessions;
  run_for (&f, 30 * MCC_SECOND);
  g_assert_cmpuint (f.stops, ==, 1);
  g_assert_cmpuint (f.sessions, >, sessions + 10);
  g_assert_cmpuint (f.session.flags & MCC_SESSION_STOPPED, ==, MCC_SESSION_STOPPED);
  peer_report (&f, &peer);
  g_assert_cmpuint (f.resumes, ==, 0);
  peer_report (&f, &peer);
  g_assert_cmpuint (f.resumes, ==, 1);
  g_assert_cmpuint (f.found, ==, 1);
  fixture_clear (&f);

  /* One that starts at its minimum has a period there after the message too. */
  config.start_bps = config.min_bps;
  fixture_init (&f, &config);
  mcc_asmp_sender_handle_sent (f.sender, 1, PACKET_BYTES, 1, f.now);
  f.sends = 0.0;
  run_for (&f, 4 * MCC_SECOND - 1);
  g_assert_cmpuint (f.lost, ==, 1);
  g_assert_cmpuint (f.stops, ==, 0);
  run_for (&f, 2 * MCC_SECOND);
  g_assert_cmpuint (f.stops, ==, 1);
  fixture_clear (&f);
}

static void
test_bounds_change (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT };
  fixture_init (&f, &config);
  settle (&f, &peer, 1);
  mcc_asmp_sender_set_bounds (f.sender, 50000, 300000, f.now);
  drain (&f);
  g_assert_cmpuint (f.target, ==, 300000);
  g_assert_cmpint (f.reason, ==, MCC_TARGET_MAX);
  mcc_asmp_sender_set_bounds (f.sender, 600000, 900000, f.now);
  drain (&f);
  g_assert_cmpuint (f.target, ==, 600000);
  g_assert_cmpint (f.reason, ==, MCC_TARGET_MIN);
  fixture_clear (&f);
}

/* What RTCP is 5 % of is the larger bound only where nothing else was said; also if that is the
 * same at the start. */
static void
test_session_bandwidth (void)
{
  static const struct {
    uint64_t at_start, set, announced; /* 0: not */
  } table[] = { { 0, 0, 5000000 }, { 10000000, 0, 10000000 }, { 2000000, 0, 2000000 },
    { 0, 10000000, 10000000 }, { 0, 2000000, 2000000 } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    config.session_bandwidth_bps = table[row].at_start;
    fixture_init (&f, &config);
    if (table[row].set > 0)
      mcc_asmp_sender_set_session_bandwidth (f.sender, table[row].set, f.now);
    mcc_asmp_sender_set_bounds (f.sender, config.min_bps, 5000000, f.now);
    run_for (&f, 5 * MCC_SECOND);
    g_assert_cmpuint (f.session.session_bandwidth_bps, ==, table[row].announced);
    fixture_clear (&f);
  }
}

/* The host that does not poll loses steps, never the newest target. */
static void
test_queue_is_bounded (void)
{
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_PUBLISHED);
  MccAsmpSender *sender = mcc_asmp_sender_new (&config, EPOCH);
  MccSenderAction action;
  MccAddress from = address_of (1);
  uint64_t last = 0, previous = 0;
  unsigned targets = 0;
  for (uint32_t i = 0; i < 1000; i++) {
    MccAppReport report = { .number = i, .rate_bps = 200000 + i };
    mcc_asmp_sender_handle_report (sender, 1, &report, &from, EPOCH + i * MCC_MSECOND);
  }
  while (mcc_asmp_sender_poll (sender, &action)) {
    if (action.type != MCC_SENDER_TARGET)
      continue;
    g_assert_cmpuint (action.previous_bps, ==, previous);
    previous = last = action.target_bps;
    targets++;
  }
  g_assert_cmpuint (last, ==, 200999);
  g_assert_cmpuint (targets, <=, 64);
  mcc_asmp_sender_free (sender);
}

/* Whatever comes in, whenever: bounds hold, time-outs make progress, the table is bounded. */
static void
random_call (MccAsmpSender *sender, GRand *rand, MccTime now)
{
  static const uint64_t rates[] = { 0, 1, 99999, 150000, 2000000, 100000000000, UINT64_MAX };
  static const MccTime times[]
      = { 0, 1, MCC_MSECOND, MCC_SECOND, 10 * MCC_SECOND, 70 * MCC_SECOND, MCC_TIME_NONE };
  static const double losses[] = { 0.0, 1e-9, 0.1, 1.0, 2.0, -1.0 };
  uint32_t ssrc = (uint32_t)g_rand_int_range (rand, 0, 20);
  MccAddress from = address_of ((unsigned)g_rand_int_range (rand, 0, 3));
  MccAppReport report = { .number = g_rand_int (rand) >> g_rand_int_range (rand, 0, 32),
    .flags = g_rand_int (rand) & 0xff,
    .rate_bps = rates[g_rand_int_range (rand, 0, G_N_ELEMENTS (rates))],
    .received_bps = rates[g_rand_int_range (rand, 0, G_N_ELEMENTS (rates))],
    .loss_ratio = losses[g_rand_int_range (rand, 0, G_N_ELEMENTS (losses))],
    .rtt = times[g_rand_int_range (rand, 0, G_N_ELEMENTS (times))],
    .jitter = times[g_rand_int_range (rand, 0, G_N_ELEMENTS (times))],
    .echo = g_rand_int (rand),
    .hold = times[g_rand_int_range (rand, 0, G_N_ELEMENTS (times))] };
  switch (g_rand_int_range (rand, 0, 24)) {
    case 0:
      mcc_asmp_sender_handle_bye (sender, ssrc, &from, now);
      break;
    case 1:
      mcc_asmp_sender_handle_plain_report (sender, ssrc,
          &(MccPlainReport){ .fraction_lost = report.loss_ratio,
              .packets_lost = (int32_t)report.number,
              .highest_seq = report.number,
              .rtt = report.rtt },
          &from, now);
      break;
    case 2:
      mcc_asmp_sender_set_no_feedback (sender, (MccNoFeedback)(ssrc % 3), now);
      break;
    case 3:
      mcc_asmp_sender_set_bounds (sender, 50000, 50000 + ssrc * 1000000, now);
      break;
    case 4:
      mcc_asmp_sender_handle_sent (sender, ssrc, g_rand_int (rand), report.number, now);
      break;
    case 5:
      mcc_asmp_sender_handle_key_unit_request (sender, now);
      break;
    default:
      mcc_asmp_sender_handle_report (sender, ssrc, &report, ssrc % 7 ? &from : NULL, now);
      break;
  }
}

static void
test_any_input (void)
{
  for (guint32 seed = 0; seed < 40; seed++) {
    MccAsmpSenderConfig config
        = default_config (seed % 2 ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED);
    GRand *rand = g_rand_new_with_seed (seed);
    MccTime now = EPOCH;
    MccSenderAction action;
    MccReceiverInfo info[32];
    config.max_receivers = 16;
    MccAsmpSender *sender = mcc_asmp_sender_new (&config, now);
    for (unsigned i = 0; i < 5000; i++) {
      now += (MccTime)g_rand_int_range (rand, 0, 1 << g_rand_int_range (rand, 1, 31));
      random_call (sender, rand, now);
      if (g_rand_boolean (rand))
        while (mcc_asmp_sender_poll (sender, &action)) {
        }
      if (g_rand_boolean (rand)) {
        mcc_asmp_sender_handle_timeout (sender, now);
        while (mcc_asmp_sender_poll (sender, &action)) {
        }
        g_assert_cmpuint (mcc_asmp_sender_next_timeout (sender), >, now);
      }
      MccAsmpSenderStats stats;
      mcc_asmp_sender_get_stats (sender, now, &stats);
      g_assert_cmpuint (stats.target_bps, >=, 50000);
      g_assert_cmpuint (stats.target_bps, <=, 19050000);
      g_assert_cmpuint (stats.receivers, <=, 16);
      g_assert_cmpuint (mcc_asmp_sender_get_receivers (sender, now, info, 32), <=, 16);
    }
    mcc_asmp_sender_free (sender);
    g_rand_free (rand);
  }
}

/* Nobody limits: nobody is named, and the reason is no receiver. */
static void
test_reason_without_limit (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 120000, .rtt = 50 * MCC_MSECOND },
    { .ssrc = 12, .host = 2, .rate_bps = 1, .rtt = 50 * MCC_MSECOND } };
  MccAsmpSenderStats stats;
  MccAddress from = address_of (1);
  peers[1].flags = MCC_REPORT_NO_LIMIT;
  fixture_init (&f, &config);
  run_peers (&f, peers, 2, 200 * MCC_MSECOND, 3 * MCC_SECOND);
  mcc_asmp_sender_get_stats (f.sender, f.now, &stats);
  g_assert_cmpint (stats.reason, ==, MCC_TARGET_RECEIVER);
  g_assert_cmpuint (stats.limiting_ssrc, ==, 11);
  mcc_asmp_sender_handle_bye (f.sender, 11, &from, f.now);
  peers[0].rate_bps = 0;
  run_peers (&f, peers, 2, 200 * MCC_MSECOND, 10 * MCC_SECOND);
  mcc_asmp_sender_get_stats (f.sender, f.now, &stats);
  g_assert_cmpuint (stats.limiting_ssrc, ==, 0);
  g_assert_cmpint (stats.reason, ==, MCC_TARGET_START);
  fixture_clear (&f);
}

/* Who limits is named, in stats and messages alike, only while it does. */
static void
test_names_who_limits (void)
{
  static const struct {
    uint64_t rate_bps;
    MccTargetReason reason;
    uint32_t named;
  } table[] = {
    { 500000, MCC_TARGET_RECEIVER, 11 },
    { 5000000, MCC_TARGET_MAX, 0 },
    { 50000, MCC_TARGET_MIN, 11 },
  };
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_PUBLISHED);
  config.max_bps = 2000000;

  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    Peer peer = { .ssrc = 11, .host = 1, .rate_bps = table[row].rate_bps, .rtt = 50 * MCC_MSECOND };
    MccAsmpSenderStats stats;
    fixture_init (&f, &config);
    run_peers (&f, &peer, 1, 200 * MCC_MSECOND, 3 * MCC_SECOND);
    mcc_asmp_sender_get_stats (f.sender, f.now, &stats);
    g_assert_cmpint (stats.reason, ==, table[row].reason);
    g_assert_cmpuint (stats.limiting_ssrc, ==, table[row].named);
    g_assert_cmpint (stats.limiting_address.family, ==, table[row].named ? 4 : 0);
    g_assert_cmpint (f.reason, ==, table[row].reason);
    g_assert_cmpuint (f.target_ssrc, ==, table[row].named);
    fixture_clear (&f);
  }
}

/* Behind BYE nobody has a reason to report. */
static void
test_ended (void)
{
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 5, .host = 5, .rate_bps = 400000, .rtt = RTT };
  Fixture f;
  fixture_init (&f, &config);
  settle (&f, &peer, 1);
  f.sends = 0.0;
  mcc_asmp_sender_set_ended (f.sender, true, f.now);
  run_for (&f, 30 * MCC_SECOND);
  g_assert_cmpuint (f.lost, ==, 0);
  g_assert_cmpuint (f.target, >=, config.start_bps); /* as of one that begins */
  f.sends = 1.0;
  mcc_asmp_sender_set_ended (f.sender, false, f.now);
  run_for (&f, 1 * MCC_SECOND);
  g_assert_cmpuint (f.lost, ==, 0);
  run_for (&f, 30 * MCC_SECOND); /* and nobody comes */
  g_assert_cmpuint (f.lost, ==, 1);
  g_assert_cmpuint (f.target, ==, config.min_bps);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/target/min-of-receivers-clamped", test_min_of_receivers);
  g_test_add_func ("/asmp-sender/target/who-reports-as-asked-limits", test_reports_as_asked);
  g_test_add_func ("/asmp-sender/target/crash-rises-a-packet-per-rtt", test_crash_of_limiting);
  g_test_add_func ("/asmp-sender/target/bye-holds-a-round-then-rises", test_bye_of_limiting);
  g_test_add_func ("/asmp-sender/target/round-of-those-who-stay", test_round_of_those_who_stay);
  g_test_add_func ("/asmp-sender/target/silence-raises-nothing", test_silence_raises_nothing);
  g_test_add_func ("/asmp-sender/target/published-at-once", test_published_follows_at_once);
  g_test_add_func ("/asmp-sender/target/limiting-raises-itself", test_limiting_raises_itself);
  g_test_add_func ("/asmp-sender/target/falls-at-once", test_falls_at_once);
  g_test_add_func ("/asmp-sender/target/no-limit-is-no-limit", test_no_limit_does_not_limit);
  g_test_add_func ("/asmp-sender/target/back-to-what-was-carried", test_back_to_what_was_carried);
  g_test_add_func ("/asmp-sender/target/feedback-back-soon", test_feedback_back_soon);
  g_test_add_func ("/asmp-sender/target/twice-what-was-sent", test_app_limited);
  g_test_add_func ("/asmp-sender/target/filled-doubles", test_filled_target_doubles);
  g_test_add_func ("/asmp-sender/target/bounds-change", test_bounds_change);
  g_test_add_func ("/asmp-sender/session-bandwidth", test_session_bandwidth);
  g_test_add_func ("/asmp-sender/feedback/none-at-start-halves", test_no_feedback_at_start);
  g_test_add_func ("/asmp-sender/feedback/lost-and-back", test_feedback_lost_and_back);
  g_test_add_func ("/asmp-sender/feedback/hold", test_no_feedback_hold);
  g_test_add_func ("/asmp-sender/feedback/stop-and-resume", test_no_feedback_stop);
  g_test_add_func ("/asmp-sender/feedback/none-behind-the-end", test_ended);
  g_test_add_func ("/asmp-sender/actions/bounded", test_queue_is_bounded);
  g_test_add_func ("/asmp-sender/any-input/bounds-and-progress", test_any_input);
  g_test_add_func ("/asmp-sender/stats/names-who-limits", test_names_who_limits);
  g_test_add_func (
      "/asmp-sender/target/no-receiver-named-without-limit", test_reason_without_limit);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Announcements and the RTT list.
 */
#include "mccrtcp.h"
#include "mcctcp.h"
#include "sender_fixture.h"

#define RTT (80 * MCC_MSECOND)
#define INTERVAL (200 * MCC_MSECOND)

static void
test_content (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 600000, .rtt = RTT },
    { .ssrc = 12, .host = 2, .rate_bps = 700000, .rtt = 3 * RTT } };
  config.session_bandwidth_bps = 5000000;
  config.feedback = address_of (77);
  fixture_init (&f, &config);
  /* The first leaves at once. */
  g_assert_cmpuint (f.sessions, ==, 1);
  g_assert_cmpuint (f.session.target_bps, ==, 150000);
  g_assert_cmpuint (f.session.limiting_ssrc, ==, 0);
  g_assert_cmpuint (f.session.suppress_bps, ==, UINT64_MAX);
  g_assert_cmpuint (f.session.rtt_max, ==, 500 * MCC_MSECOND);
  g_assert_cmpuint (f.rtt.count, ==, 0);
  uint32_t number = f.session.number;
  run_peers (&f, peers, 2, INTERVAL, 10 * MCC_SECOND);
  g_assert_cmpuint (f.session.number - number, ==, f.sessions - 1);
  g_assert_cmpuint (f.session.target_bps, ==, 600000);
  g_assert_cmpuint (f.session.min_bps, ==, 100000);
  g_assert_cmpuint (f.session.max_bps, ==, 10000000);
  g_assert_cmpuint (f.session.start_bps, ==, 150000);
  g_assert_cmpuint (f.session.session_bandwidth_bps, ==, 5000000);
  g_assert_cmpuint (f.session.receivers, ==, 2);
  g_assert_cmpuint (f.session.limiting_ssrc, ==, 11);
  g_assert_cmpuint (f.session.rtt_max, ==, 3 * RTT);
  g_assert_cmpuint (f.session.flags, ==, MCC_SESSION_ENHANCED);
  g_assert_cmpuint (f.session.ttl, ==, 64);
  g_assert_cmpuint (f.session.payload_type, ==, 255);
  g_assert_true (mcc_address_equal (&f.session.feedback, &config.feedback));
  fixture_clear (&f);
}

/* Within the sender's part of the RTCP budget, at least every 500 ms where that allows it. */
static void
test_schedule (void)
{
  static const struct {
    uint64_t rate_bps;
    bool peers;
  } table[] = { { 100000, false }, { 150000, false }, { 400000, false }, { 5000000, false },
    { 150000, true }, { 400000, true }, { 2000000, true }, { 9000000, true } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = table[row].rate_bps, .rtt = RTT },
      { .ssrc = 12, .host = 2, .rate_bps = 9000000, .rtt = RTT } };
    config.start_bps = table[row].rate_bps;
    config.no_feedback = MCC_NO_FEEDBACK_HOLD;
    fixture_init (&f, &config);
    run_peers (&f, peers, table[row].peers ? 2 : 0, INTERVAL, 5 * MCC_SECOND);
    f.session_gap_min = MCC_TIME_NONE;
    f.session_gap_max = 0;
    f.sessions = 0;
    f.session_bytes = 0.0;
    run_peers (&f, peers, table[row].peers ? 2 : 0, INTERVAL, 60 * MCC_SECOND);
    /* The receivers' share too while there are none. */
    double share = table[row].peers ? 0.25 : 1.0;
    double budget_bps = 0.05 * share * 0.8 * (double)table[row].rate_bps;
    double bytes = 200.0 + (table[row].peers ? 16.0 + 12.0 : 0.0);
    double used_bps = f.session_bytes * 8.0 / 60.0;
    g_assert_cmpfloat (used_bps, <=, budget_bps * 1.1);
    g_assert_cmpuint (f.session_gap_min, >=, 100 * MCC_MSECOND);
    MccTime regular = mcc_time_from_seconds ((bytes + 12.0) * 8.0 / budget_bps);
    g_assert_cmpuint (f.session_gap_max, <=, MAX (regular, 500 * MCC_MSECOND) + MCC_MSECOND);
    fixture_clear (&f);
  }
}

static MccAppSession
h264_caps (void)
{
  MccAppSession caps = { .payload_type = 96,
    .send_time_id = 1,
    .clock_rate = 90000,
    .media = "video",
    .encoding_name = "H264" };
  memset (caps.parameters, 'x', 220);
  return caps;
}

/* What announcements really weigh is within the budget; the caps' strings go with each one that the
 * budget bears, else they take half of it at most. */
static void
test_strings (void)
{
  static const struct {
    uint64_t rate_bps;
    MccTime gap_max; /* between two announcements with strings */
    bool always;
  } table[] = { { 100000, 9 * MCC_SECOND, false }, { 300000, 4 * MCC_SECOND, false },
    { 2000000, 510 * MCC_MSECOND, true } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = table[row].rate_bps, .rtt = RTT } };
    MccAppSession caps = h264_caps ();
    config.start_bps = table[row].rate_bps;
    fixture_init (&f, &config);
    g_assert_true (mcc_asmp_sender_set_caps (f.sender, &caps, f.now));
    run_peers (&f, peers, 1, INTERVAL, 20 * MCC_SECOND);
    f.sessions = f.whole = 0;
    f.session_bytes = 0.0;
    f.whole_gap_max = f.session_gap_max = 0;
    run_peers (&f, peers, 1, INTERVAL, 100 * MCC_SECOND);
    /* Of 150 kb/s at least. */
    double budget_bps = 0.05 * 0.25 * 0.8 * MAX ((double)table[row].rate_bps, 150e3);
    g_assert_cmpfloat (f.session_bytes * 8.0 / 100.0, <=, budget_bps * 1.1);
    g_assert_cmpuint (f.whole_gap_max, <=, table[row].gap_max);
    g_assert_cmpuint (f.session_gap_max, <, 5 * MCC_SECOND);
    if (table[row].always)
      g_assert_cmpuint (f.whole, ==, f.sessions);
    else
      g_assert_cmpuint (f.whole, <, f.sessions);
    g_assert_cmpuint (f.session.payload_type, ==, 96);
    g_assert_cmpuint (f.session.send_time_id, ==, 1);
    g_assert_cmpuint (f.session.clock_rate, ==, 90000);
    fixture_clear (&f);
  }
}

/* Who has no caps gets them with the next announcement, which does not wait for its turn; changed
 * ones go out twice. */
static void
test_strings_wanted (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 150000, .rtt = RTT },
    { .ssrc = 12, .host = 2, .rate_bps = 900000, .rtt = RTT, .flags = MCC_REPORT_NO_CAPS } };
  MccAppSession caps = h264_caps ();
  fixture_init (&f, &config);
  peer_report (&f, &peers[1]); /* there are none yet */
  run_peers (&f, peers, 1, INTERVAL, 10 * MCC_SECOND);
  g_assert_cmpuint (f.whole, ==, 0);
  g_assert_cmpuint (f.session.payload_type, ==, 255);
  g_assert_true (mcc_asmp_sender_set_caps (f.sender, &caps, f.now));
  unsigned sessions = f.sessions;
  while (f.sessions < sessions + 2)
    run_peers (&f, peers, 1, INTERVAL, INTERVAL);
  g_assert_cmpuint (f.whole, ==, 2);

  for (unsigned turn = 0; turn < 10; turn++) {
    unsigned whole = f.whole;
    while (f.session.encoding_name[0] != '\0' || f.now < f.last_session + 150 * MCC_MSECOND)
      run_peers (&f, peers, 1, INTERVAL / 4, INTERVAL / 4);
    whole = f.whole;
    peer_report (&f, &peers[1]);
    run_for (&f, 100 * MCC_MSECOND);
    g_assert_cmpuint (f.whole, ==, whole + 1);
    g_assert_cmpstr (f.session.encoding_name, ==, "H264");
    run_peers (&f, peers, 1, INTERVAL, 20 * MCC_SECOND);
  }
  fixture_clear (&f);
}

/* Caps that no announcement can carry are refused, and announcements go on without. */
static void
test_caps_refused (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  MccAppSession caps = h264_caps (), bad[5] = { caps, caps, caps, caps, caps };
  config.session_bandwidth_bps = UINT64_MAX; /* more than an announcement can say */
  fixture_init (&f, &config);
  g_strlcpy (bad[0].encoding_name, "H 264", sizeof bad[0].encoding_name);
  g_strlcpy (bad[1].media, "vid/eo", sizeof bad[1].media);
  bad[2].parameters[7] = '\n';
  bad[3].clock_rate = 0;
  bad[4].send_time_id = 15;
  for (unsigned i = 0; i < G_N_ELEMENTS (bad); i++) {
    MccApp app = { .subtype = MCC_APP_SESSION };
    uint8_t bytes[1024];
    g_assert_true (mcc_asmp_sender_set_caps (f.sender, &caps, f.now));
    g_assert_false (mcc_asmp_sender_set_caps (f.sender, &bad[i], f.now));
    run_for (&f, 5 * MCC_SECOND);
    g_assert_cmpuint (f.session.payload_type, ==, 255);
    app.session = f.session;
    g_assert_cmpuint (mcc_app_encode (&app, bytes, sizeof bytes), >, 0);
  }
  fixture_clear (&f);
}

static void
test_urgent (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 1500000 },
    { .ssrc = 12, .host = 2, .rate_bps = 2000000, .rtt = RTT } };
  fixture_init (&f, &config);
  run_peers (&f, peers, 1, INTERVAL, 10 * MCC_SECOND);
  /* A first report: announced 100 ms after the last one at the latest, with its RTT. */
  unsigned sessions = f.sessions;
  run_until (&f, f.last_session + 50 * MCC_MSECOND);
  while (f.sessions == sessions) /* just after a regular one */
    run_for (&f, STEP);
  peer_report (&f, &peers[1]);
  sessions = f.sessions;
  run_until (&f, f.last_session + 100 * MCC_MSECOND - 1);
  g_assert_cmpuint (f.sessions, ==, sessions);
  run_for (&f, 1);
  g_assert_cmpuint (f.sessions, ==, sessions + 1);
  g_assert_cmpuint (f.rtt.count, ==, 1);
  g_assert_cmpuint (f.rtt.entry[0].ssrc, ==, 12);

  /* A fall by more than 10 %; not one by less. */
  static const struct {
    uint64_t rate_bps;
    bool at_once;
  } table[] = { { 1400000, false }, { 1200000, true } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    run_peers (&f, peers, 1, INTERVAL, 5 * MCC_SECOND);
    sessions = f.sessions;
    while (f.sessions == sessions)
      run_for (&f, STEP);
    run_for (&f, 100 * MCC_MSECOND);
    sessions = f.sessions;
    peers[0].rate_bps = table[row].rate_bps;
    peer_report (&f, &peers[0]);
    g_assert_cmpuint (f.target, ==, table[row].rate_bps);
    g_assert_cmpuint (f.sessions, ==, sessions + table[row].at_once);
  }
  fixture_clear (&f);
}

/* Nothing is announced while no receiver could tell whose it is; then at once. */
static void
test_ssrc (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  config.ssrc = 0;
  fixture_init (&f, &config);
  run_for (&f, 5 * MCC_SECOND);
  g_assert_cmpuint (f.sessions, ==, 0);
  mcc_asmp_sender_set_ssrc (f.sender, 77, f.now);
  drain (&f);
  g_assert_cmpuint (f.sessions, ==, 1);
  run_for (&f, 5 * MCC_SECOND);
  g_assert_cmpuint (f.sessions, >=, 10);
  /* Another one, as after a collision: within what urgent ones keep between them. */
  unsigned sessions = f.sessions;
  while (f.sessions == sessions) /* just after a regular one */
    run_for (&f, STEP);
  mcc_asmp_sender_set_ssrc (f.sender, 77, f.now);
  run_for (&f, 100 * MCC_MSECOND);
  g_assert_cmpuint (f.sessions, ==, sessions + 1);
  mcc_asmp_sender_set_ssrc (f.sender, 78, f.now);
  run_for (&f, 100 * MCC_MSECOND);
  g_assert_cmpuint (f.sessions, ==, sessions + 2);
  fixture_clear (&f);
}

/* Another limiting receiver is named at once, at low rates, too: it reports more often then. */
static void
test_names_who_limits (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 150000, .rtt = RTT },
    { .ssrc = 12, .host = 2, .rate_bps = 160000, .rtt = RTT } };
  MccAppSession caps = h264_caps ();
  fixture_init (&f, &config);
  g_assert_true (mcc_asmp_sender_set_caps (f.sender, &caps, f.now));
  for (unsigned turn = 0; turn < 10; turn++) {
    peers[0].rate_bps = turn % 2 == 0 ? 150000 : 170000;
    peers[1].rate_bps = 160000;
    run_peers (&f, peers, 2, INTERVAL, 10 * MCC_SECOND);
    g_assert_cmpuint (f.session.limiting_ssrc, ==, turn % 2 == 0 ? 11 : 12);
    unsigned sessions = f.sessions;
    run_until (&f, f.last_session + 100 * MCC_MSECOND);
    while (f.sessions == sessions) /* just after a regular one, with or without strings */
      run_for (&f, STEP);
    run_for (&f, 100 * MCC_MSECOND);
    sessions = f.sessions;
    peers[0].rate_bps = turn % 2 == 0 ? 170000 : 150000;
    peer_report (&f, &peers[0]);
    run_for (&f, 600 * MCC_MSECOND);
    g_assert_cmpuint (f.sessions, >, sessions);
    g_assert_cmpuint (f.session.limiting_ssrc, ==, turn % 2 == 0 ? 12 : 11);
  }
  fixture_clear (&f);
}

/* What the first announcements have cost does not keep the first RTT back: without one nobody knows
 * what its path bears, and the rate stays where it began. */
static void
test_first_rtt (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 11, .host = 1, .rate_bps = 150000, .flags = MCC_REPORT_NO_LIMIT };
  MccAppSession caps = h264_caps ();
  config.start_bps = 150000;
  fixture_init (&f, &config);
  run_for (&f, 50 * MCC_MSECOND);
  g_assert_true (mcc_asmp_sender_set_caps (f.sender, &caps, f.now));
  g_assert_cmpint (peer_report (&f, &peer), ==, MCC_DROP_PROBATION);
  run_for (&f, 600 * MCC_MSECOND);
  g_assert_cmpuint (f.rtt.count, ==, 0);
  peer.flags |= MCC_REPORT_ECHO;
  peer_report (&f, &peer);
  run_for (&f, 100 * MCC_MSECOND);
  g_assert_cmpuint (f.rtt.count, ==, 1);
  g_assert_cmpuint (f.rtt.entry[0].ssrc, ==, 11);
  fixture_clear (&f);
}

/* First reports leave something to borrow for a fall, and what was borrowed at a low rate is soon
 * paid at a high one. */
static void
test_borrowing (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[40];
  config.start_bps = 300000;
  for (unsigned i = 0; i < G_N_ELEMENTS (peers); i++)
    peers[i] = (Peer){ .ssrc = i + 1, .host = i, .rate_bps = 300000 + i, .rtt = RTT };
  MccAppSession caps = h264_caps ();
  fixture_init (&f, &config);
  g_assert_true (mcc_asmp_sender_set_caps (f.sender, &caps, f.now));
  run_peers (&f, peers, 20, MCC_SECOND, 20 * MCC_SECOND);
  for (unsigned i = 20; i < G_N_ELEMENTS (peers); i++) { /* each without caps */
    unsigned sessions = f.sessions;
    peers[i].flags = MCC_REPORT_NO_CAPS;
    peer_report (&f, &peers[i]);
    peers[i].flags = 0;
    while (f.sessions == sessions)
      run_for (&f, STEP);
    sessions = f.sessions;
    peers[0].rate_bps = 200000;
    peer_report (&f, &peers[0]);
    run_for (&f, 700 * MCC_MSECOND);
    g_assert_cmpuint (f.sessions, >, sessions);
    g_assert_cmpuint (f.session.target_bps, ==, 200000);
    peers[0].rate_bps = 300000;
    run_peers (&f, peers, i + 1, MCC_SECOND, 3 * MCC_SECOND);
  }
  fixture_clear (&f);

  config.start_bps = 100000;
  fixture_init (&f, &config);
  g_assert_true (mcc_asmp_sender_set_caps (f.sender, &caps, f.now));
  for (unsigned i = 0; i < 10; i++) {
    peers[i].rate_bps = 100000;
    run_peers (&f, peers, i + 1, 100 * MCC_MSECOND, 200 * MCC_MSECOND);
  }
  for (unsigned i = 0; i < 10; i++)
    peers[i].rate_bps = 5000000;
  f.sends = -3e6;
  run_peers (&f, peers, 10, 100 * MCC_MSECOND, 2 * MCC_SECOND);
  f.session_gap_max = 0;
  run_peers (&f, peers, 10, 100 * MCC_MSECOND, 5 * MCC_SECOND);
  g_assert_cmpuint (f.target, ==, 5000000);
  g_assert_cmpuint (f.session_gap_max, <=, 500 * MCC_MSECOND + STEP);
  fixture_clear (&f);
}

/* RTT_eff = now - echo - hold modulo 64 s; only 0..10 s is believed. */
static void
test_rtt_effective (void)
{
  static const struct {
    MccTimeDelta echo_age; /* ns before now */
    MccTime hold;
    MccTime rtt; /* expected */
    bool measured;
  } table[] = {
    { 100 * MCC_MSECOND, 20 * MCC_MSECOND, 80 * MCC_MSECOND, true },
    { 100 * MCC_MSECOND, 0, 100 * MCC_MSECOND, true },
    { 20 * MCC_MSECOND, 20 * MCC_MSECOND, 0, true },
    { 40050 * MCC_MSECOND, 40 * MCC_SECOND, 50 * MCC_MSECOND, true },
    { 63 * MCC_SECOND, 62 * MCC_SECOND, MCC_SECOND, true },
    { 9990 * MCC_MSECOND, 0, 9990 * MCC_MSECOND, true },
    { 10010 * MCC_MSECOND, 0, 0, false },
    { 10 * MCC_MSECOND, 20 * MCC_MSECOND, 0, false }, /* negative */
    { -5 * (MccTimeDelta)MCC_SECOND, 0, 0, false },   /* from the future */
    { 100 * MCC_MSECOND, 64 * MCC_SECOND, 0, false },
    { 100 * MCC_MSECOND, MCC_TIME_NONE, 0, false },
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    for (unsigned phase = 0; phase < 8; phase++) {
      Fixture f;
      MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
      MccAddress from = address_of (1);
      fixture_init (&f, &config);
      run_for (&f, MCC_SECOND + phase * 8 * MCC_SECOND); /* the stamps wrap every 64 s */
      MccAppReport report = { .number = 4294967295u,
        .rate_bps = 200000,
        .flags = MCC_REPORT_ECHO,
        .echo = mcc_abs_send_time (f.now - (MccTime)table[row].echo_age),
        .hold = table[row].hold };
      mcc_asmp_sender_handle_report (f.sender, 1, &report, &from, f.now);
      f.rtt.count = 0;
      unsigned sessions = f.sessions;
      while (f.sessions == sessions)
        run_for (&f, 10 * MCC_MSECOND);
      g_assert_cmpuint (f.rtt.count, ==, table[row].measured);
      if (table[row].measured) {
        g_assert_cmpuint (f.rtt.entry[0].ssrc, ==, 1);
        g_assert_cmpuint (f.rtt.entry[0].number, ==, 4294967295u);
        g_assert_cmpuint (f.rtt.entry[0].rtt, >, 0);
        g_assert_cmpfloat_with_epsilon ((double)f.rtt.entry[0].rtt, (double)table[row].rtt, 10e3);
      }
      fixture_clear (&f);
    }
  }
}

/* Everybody gets an answer: never answered first, then the limiting one, then in turn. */
static void
test_rtt_list_order (void)
{
  enum { PEERS = 250 };
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[PEERS + 1];
  unsigned answers[PEERS + 1] = { 0 };
  config.start_bps = config.min_bps = 5000000;
  for (unsigned i = 0; i <= PEERS; i++)
    peers[i] = (Peer){ .ssrc = i, .host = i, .rate_bps = 6000000 + i * 1000, .rtt = RTT };
  fixture_init (&f, &config);
  f.answers = answers;
  unsigned seen = f.sessions;
  for (unsigned turn = 0; turn < 100; turn++) {
    for (unsigned i = 0; i < PEERS; i++)
      peer_report (&f, &peers[i]);
    if (turn == 50) {
      /* A newcomer among 250 that wait. */
      while (f.sessions == seen)
        run_for (&f, STEP);
      seen = f.sessions;
      peer_report (&f, &peers[0]);
      peer_report (&f, &peers[PEERS]);
      while (f.sessions == seen)
        run_for (&f, STEP);
      g_assert_cmpuint (f.rtt.entry[0].ssrc, ==, PEERS);
      g_assert_cmpuint (f.rtt.entry[1].ssrc, ==, 0); /* the limiting one */
    }
    run_for (&f, 250 * MCC_MSECOND);
    seen = f.sessions;
    for (unsigned i = 0; i < f.rtt.count; i++) {
      for (unsigned k = 0; k < i; k++)
        g_assert_cmpuint (f.rtt.entry[k].ssrc, !=, f.rtt.entry[i].ssrc);
    }
  }
  unsigned least = UINT32_MAX, most = 0;
  for (unsigned i = 1; i < PEERS; i++) {
    least = MIN (least, answers[i]);
    most = MAX (most, answers[i]);
  }
  g_assert_cmpuint (least, >, 5);
  g_assert_cmpuint (most - least, <=, 2);
  g_assert_cmpuint (answers[0], >=, 100); /* the limiting one: each time */
  g_assert_cmpuint (answers[0], >, most + most / 2);
  fixture_clear (&f);
}

/* The lowest rate of a round, forgotten at the next. */
static void
test_rounds (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 600000, .rtt = 200 * MCC_MSECOND },
    { .ssrc = 12, .host = 2, .rate_bps = 700000, .rtt = 200 * MCC_MSECOND } };
  fixture_init (&f, &config);
  run_peers (&f, peers, 2, INTERVAL, 10 * MCC_SECOND);
  uint32_t round = f.session.round;
  run_peers (&f, peers, 2, INTERVAL, 12 * MCC_SECOND);
  /* 6 x 200 ms. */
  g_assert_cmpuint (f.session.round - round, <=, 10);
  g_assert_cmpuint (f.session.round - round, >=, 7);
  g_assert_cmpuint (f.session.suppress_bps, ==, 600000);
  run_for (&f, 1700 * MCC_MSECOND); /* before anybody expires */
  g_assert_cmpuint (f.session.suppress_bps, ==, UINT64_MAX);
  /* Whenever it comes in a round, it is announced before that ends. */
  for (unsigned phase = 0; phase < 12; phase++) {
    bool told = false;
    peer_report (&f, &peers[1]);
    for (MccTime end = f.now + 600 * MCC_MSECOND; f.now < end; run_for (&f, STEP))
      told |= f.session.suppress_bps == 700000;
    g_assert_true (told);
    run_for (&f, (1200 + 100 * phase) * MCC_MSECOND);
  }
  fixture_clear (&f);
}

/* ... as far as it is believed: what one claims by an RTT of 10 s that it does not have silences
 * nobody. */
static void
test_round_of_a_liar (void)
{
  enum { PEERS = 20 };
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[PEERS];
  MccAddress from = address_of (99);
  for (unsigned i = 0; i < PEERS; i++)
    peers[i] = (Peer){ .ssrc = 1 + i, .host = 1 + i, .rate_bps = 600000 + i, .rtt = RTT };
  fixture_init (&f, &config);
  run_peers (&f, peers, PEERS, INTERVAL, 5 * MCC_SECOND);
  uint64_t target = f.target;
  uint64_t claim = (uint64_t)mcc_tcp_rate_bps (&mcc_tcp_model_default, PACKET_BYTES, 10.0, 0.01);
  for (uint32_t i = 0; i < 50; i++) {
    MccAppReport report = { .number = i,
      .flags = MCC_REPORT_ECHO,
      .rate_bps = claim,
      .loss_ratio = 0.01,
      .rtt = 10 * MCC_SECOND,
      .echo = mcc_abs_send_time (f.now - MCC_MSECOND) };
    mcc_asmp_sender_handle_report (f.sender, 99, &report, &from, f.now);
    drain (&f);
    run_peers (&f, peers, PEERS, INTERVAL, INTERVAL);
    g_assert_cmpuint (f.target, >=, target);
    g_assert_cmpuint (f.session.suppress_bps, >=, 600000);
  }
  fixture_clear (&f);
}

/* Who contends for an SSRC is not answered: the list names SSRCs only. */
static void
test_contender_is_not_answered (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 600000, .rtt = RTT },
    { .ssrc = 11, .host = 2, .rate_bps = 600000, .rtt = 5 * MCC_SECOND } };
  fixture_init (&f, &config);
  for (unsigned i = 0; i < 100; i++) {
    peer_report (&f, &peers[0]);
    if (i > 1)
      peer_report (&f, &peers[1]);
    f.rtt.count = 0;
    run_for (&f, INTERVAL);
    for (unsigned k = 0; k < f.rtt.count; k++)
      g_assert_cmpuint (f.rtt.entry[k].rtt, <, MCC_SECOND);
  }
  fixture_clear (&f);
}

/* One receiver that claims an RTT of 10 s does not slow the rounds of all. */
static void
test_rtt_claim (void)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[] = { { .ssrc = 11, .host = 1, .rate_bps = 600000, .rtt = RTT },
    { .ssrc = 12, .host = 2, .rate_bps = 700000, .rtt = 10 * MCC_SECOND } };
  fixture_init (&f, &config);
  run_peers (&f, peers, 2, INTERVAL, 20 * MCC_SECOND);
  g_assert_cmpuint (f.session.rtt_max, ==, 2 * MCC_SECOND);
  uint32_t round = f.session.round;
  run_peers (&f, peers, 2, INTERVAL, 60 * MCC_SECOND);
  g_assert_cmpuint (f.session.round - round, >=, 4);
  fixture_clear (&f);
}

/* A large group at a low rate: who has no RTT counts with half a second, so all of them get one in
 * the time that a report of each takes, and RTCP keeps its share. */
static void
test_rtt_of_newcomers (void)
{
  enum { PEERS = 135, SECONDS = 30 };
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peers[PEERS];
  unsigned answers[PEERS] = { 0 }, without = 0;
  config.min_bps = config.start_bps = 100000;
  fixture_init (&f, &config);
  f.answers = answers;
  for (unsigned i = 0; i < PEERS; i++) /* 6 reports a second are 5 % of 150 kb/s */
    peers[i] = (Peer){ .ssrc = i, .host = i, .rate_bps = 200000, .rtt = RTT };
  for (unsigned i = 0; i < 6 * SECONDS; i++) {
    peer_report (&f, &peers[i % PEERS]);
    run_for (&f, MCC_SECOND / 6 / STEP * STEP);
  }
  for (unsigned i = 0; i < PEERS; i++)
    without += answers[i] == 0;
  g_test_message ("%u without an RTT after %d s, %.0f bytes of announcements", without, SECONDS,
      f.session_bytes);
  g_assert_cmpuint (without, <=, PEERS / 10);
  /* 0.25 of 5 % of 150 kb/s, and what was borrowed at the start */
  g_assert_cmpfloat (f.session_bytes, <, 1.1 * SECONDS * 0.0125 * 150000 / 8 + 2000);
  fixture_clear (&f);
}

/* ECT while there are receivers and all heed marks, and never before it is announced. */
static void
test_ect (void)
{
  static const struct {
    unsigned ecn;
    bool ect;
  } table[] = { { MCC_REPORT_ECN_NONE, false }, { MCC_REPORT_ECN_HEEDED, true },
    { MCC_REPORT_ECN_BLEACHED, true }, { MCC_REPORT_ECN_BROKEN, false } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
    Peer peers[] = {
      { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT, .ecn = MCC_REPORT_ECN_HEEDED },
      { .ssrc = 2, .host = 2, .rate_bps = 500000, .rtt = RTT, .ecn = table[row].ecn },
    };
    MccAddress second = address_of (2);
    config.ecn = true;
    fixture_init (&f, &config);
    run_for (&f, MCC_SECOND);
    g_assert_false (mcc_asmp_sender_ect (f.sender)); /* nobody is there */
    run_peers (&f, peers, 1, 100 * MCC_MSECOND, 2 * MCC_SECOND);
    g_assert_true (mcc_asmp_sender_ect (f.sender));
    g_assert_cmpuint (f.session.flags & MCC_SESSION_ECT, ==, MCC_SESSION_ECT);
    run_peers (&f, peers, 2, 100 * MCC_MSECOND, 2 * MCC_SECOND);
    g_assert_true (mcc_asmp_sender_ect (f.sender) == table[row].ect);
    g_assert_true (((f.session.flags & MCC_SESSION_ECT) != 0) == table[row].ect);
    /* Gone, or another opinion: at once no more, but ECT only when the announcement has said so. */
    mcc_asmp_sender_handle_bye (f.sender, 2, &second, f.now);
    g_assert_true (mcc_asmp_sender_ect (f.sender) == table[row].ect);
    drain (&f);
    run_peers (&f, peers, 1, 100 * MCC_MSECOND, 2 * MCC_SECOND);
    g_assert_true (mcc_asmp_sender_ect (f.sender));
    peers[0].ecn = MCC_REPORT_ECN_BROKEN;
    peer_report (&f, &peers[0]);
    g_assert_false (mcc_asmp_sender_ect (f.sender));
    fixture_clear (&f);
  }
}

/* A plain player does not heed marks; nor does anybody where ECN was not asked for. */
static void
test_no_ect (void)
{
  for (unsigned row = 0; row < 3; row++) {
    Fixture f;
    MccAsmpSenderConfig config
        = default_config (row == 0 ? MCC_VARIANT_PUBLISHED : MCC_VARIANT_ENHANCED);
    Peer peer = { .ssrc = 1, .host = 1, .rate_bps = 400000, .rtt = RTT };
    MccAddress plain = address_of (2);
    peer.ecn = MCC_REPORT_ECN_HEEDED;
    config.ecn = row != 1;
    fixture_init (&f, &config);
    run_peers (&f, &peer, 1, 100 * MCC_MSECOND, 2 * MCC_SECOND);
    g_assert_true (mcc_asmp_sender_ect (f.sender) == (row == 2));
    for (unsigned i = 0; i < 3; i++) {
      mcc_asmp_sender_handle_plain_report (f.sender, 2, &(MccPlainReport){ 0 }, &plain, f.now);
      run_peers (&f, &peer, 1, 100 * MCC_MSECOND, MCC_SECOND);
    }
    g_assert_false (mcc_asmp_sender_ect (f.sender));
    fixture_clear (&f);
  }
}

/* What is shown of a receiver's loss is loss. */
static void
test_marks_are_no_loss (void)
{
  Fixture f;
  MccReceiverInfo info;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Peer peer = { .ssrc = 1,
    .host = 1,
    .rate_bps = 400000,
    .rtt = RTT,
    .loss_ratio = 0.02,
    .ecn = MCC_REPORT_ECN_HEEDED,
    .marked_share = 0.8 };
  fixture_init (&f, &config);
  run_peers (&f, &peer, 1, 100 * MCC_MSECOND, MCC_SECOND);
  mcc_asmp_sender_get_receiver (f.sender, 0, f.now, &info);
  g_assert_cmpfloat_with_epsilon (info.loss_ratio, 0.004, 1e-6);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/session/strings-within-the-budget", test_strings);
  g_test_add_func ("/asmp-sender/session/strings-for-who-lacks-them", test_strings_wanted);
  g_test_add_func ("/asmp-sender/session/caps-that-no-packet-carries", test_caps_refused);
  g_test_add_func ("/asmp-sender/session/content", test_content);
  g_test_add_func ("/asmp-sender/session/within-budget", test_schedule);
  g_test_add_func ("/asmp-sender/session/urgent", test_urgent);
  g_test_add_func ("/asmp-sender/session/of-a-stream-that-is-known", test_ssrc);
  g_test_add_func ("/asmp-sender/session/names-who-limits-at-once", test_names_who_limits);
  g_test_add_func ("/asmp-sender/session/first-rtt", test_first_rtt);
  g_test_add_func ("/asmp-sender/session/borrowed-and-paid", test_borrowing);
  g_test_add_func ("/asmp-sender/rtt/effective", test_rtt_effective);
  g_test_add_func ("/asmp-sender/rtt/list-order", test_rtt_list_order);
  g_test_add_func ("/asmp-sender/rtt/newcomers-of-a-large-group", test_rtt_of_newcomers);
  g_test_add_func ("/asmp-sender/session/rounds", test_rounds);
  g_test_add_func ("/asmp-sender/session/round-of-a-liar", test_round_of_a_liar);
  g_test_add_func ("/asmp-sender/rtt/contender-is-not-answered", test_contender_is_not_answered);
  g_test_add_func ("/asmp-sender/session/one-claim-of-a-long-rtt", test_rtt_claim);
  g_test_add_func ("/asmp-sender/ecn/all-heed-marks", test_ect);
  g_test_add_func ("/asmp-sender/ecn/not-with-plain-players", test_no_ect);
  g_test_add_func ("/asmp-sender/ecn/marks-are-no-loss", test_marks_are_no_loss);
  return g_test_run ();
}

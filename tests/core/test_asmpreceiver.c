/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asmp_receiver_fixture.h"

static void
first_reports (void)
{
  Fixture f;
  init (&f, NULL);
  g_assert_cmpuint (mcc_asmp_receiver_next_timeout (f.receiver), ==, MCC_TIME_NONE);
  announce (&f);
  g_assert_cmpuint (f.sessions, ==, 1);
  stream (&f, 1.2);
  g_assert_cmpuint (f.sources, ==, 1);
  g_assert_cmpuint (f.reports, >=, 1);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_NO_LIMIT, !=, 0);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_RTT_MEASURED, ==, 0);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_ECHO, !=, 0);
  g_assert_cmpuint (f.report.hold, <=, 10 * MCC_MSECOND);
  g_assert_cmpint (answer_rtt (&f, 45 * MCC_MSECOND), ==, MCC_DROP_NONE);
  g_assert_true (stats (&f).rtt_measured);
  guint before = f.reports;
  stream (&f, 2.0);
  g_assert_cmpuint (f.reports, >, before);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_NO_LIMIT, ==, 0);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_RTT_MEASURED, !=, 0);
  g_assert_cmpuint (f.report.rtt, >=, 44 * MCC_MSECOND);
  g_assert_cmpuint (f.report.rtt, <=, 46 * MCC_MSECOND);
  g_assert_cmpuint (f.report.packets_lost, ==, 0);
  /* 36 numbers before the wrap. */
  g_assert_cmpuint (f.report.highest_seq, >=, 65536 + 200);
  g_assert_cmpuint (f.report.highest_seq, <=, 65536u + f.seq - 1);
  g_assert_cmpuint (f.report.rate_bps, >=, 800000);
  g_assert_cmpuint (f.report.rate_bps, <=, 2 * 820000);
  clear (&f);
}

/* The key unit flag is for the first report alone. */
static void
key_unit (void)
{
  Fixture f;
  init (&f, NULL);
  stream (&f, 0.1);
  for (guint i = 0; i < 100 && f.reports == 0; i++)
    stream (&f, 0.05);
  g_assert_cmpuint (f.reports, ==, 1);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_KEY_UNIT, !=, 0);
  for (guint i = 0; i < 100 && f.reports == 1; i++)
    stream (&f, 0.05);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_KEY_UNIT, ==, 0);
  clear (&f);
}

static void
spacing (void)
{
  Fixture f;
  init (&f, NULL);
  f.session.limiting_ssrc = OURS;
  for (guint i = 0; i < 100; i++) {
    announce (&f);
    stream (&f, 0.1);
    answer_rtt (&f, 45 * MCC_MSECOND);
    if (i % 10 == 5)
      f.seq += 20; /* losses */
  }
  g_assert_cmpuint (f.closest, >=, MCC_RTCP_MIN_INTERVAL);
  g_assert_cmpuint (f.reports, >=, 30); /* the limiting receiver reports often */
  g_assert_cmpuint (f.reports * 152 * 8, <=, (guint)(0.05 * 800000 * 10));
  g_assert_cmpuint (stats (&f).reports_sent, ==, f.reports);
  clear (&f);
}

/* Below the announced rate: at once in a small group, after a wait in a large one, not at all when
 * covered. */
static void
early (void)
{
  static const struct {
    guint receivers;
    gboolean covered;
    MccTime growth; /* of the queue, each packet */
    MccTime least, most;
  } table[] = {
    { 4, FALSE, 0, 0, 300 * MCC_MSECOND },
    { 400, FALSE, 0, 0, 700 * MCC_MSECOND },
    { 400, FALSE, 60 * MCC_MSECOND, 0, 400 * MCC_MSECOND }, /* no reason to wait longer */
    { 400, TRUE, 0, 3 * MCC_SECOND, MCC_TIME_NONE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    Fixture f;
    init (&f, NULL);
    f.session.receivers = table[i].receivers;
    announce (&f);
    stream (&f, 1.5);
    answer_rtt (&f, 45 * MCC_MSECOND);
    announce (&f);
    stream (&f, 10.0);
    f.session.limiting_ssrc = 0x77;
    announce (&f);
    /* The link narrows to half: every second packet is lost. */
    guint before = f.reports;
    MccTime begin = f.now, first = MCC_TIME_NONE;
    for (guint k = 0; k < 150; k++) {
      MccApp heard = { .ssrc = 0x77, .subtype = MCC_APP_REPORT };
      heard.report.rate_bps = 110000;
      if (table[i].covered && k % 20 == 0)
        mcc_asmp_receiver_handle_app (f.receiver, &heard, f.now);
      f.seq++;
      advance (&f, f.now + 10 * MCC_MSECOND);
      f.seq++;
      f.delay += table[i].growth;
      rtp (&f, SENDER, f.seq);
      advance (&f, f.now + 10 * MCC_MSECOND);
      if (f.reports > before && first == MCC_TIME_NONE)
        first = f.now - begin;
    }
    g_test_message ("%u receivers, covered %d: first after %.3f s, rate %d kb/s",
        table[i].receivers, table[i].covered,
        first == MCC_TIME_NONE ? -1.0 : mcc_time_to_seconds (first),
        (int)(stats (&f).estimated_bps / 1000));
    g_assert_cmpuint (stats (&f).estimated_bps, <, 700000);
    g_assert_cmpuint (first, >=, table[i].least);
    g_assert_cmpuint (first, <=, table[i].most);
    clear (&f);
  }
}

static void
not_network_loss (void)
{
  Fixture f;
  init (&f, NULL);
  stream (&f, 1.0);
  /* Our own socket dropped 30. */
  mcc_asmp_receiver_handle_host_dropped (f.receiver, 30, f.now);
  f.seq += 30;
  stream (&f, 1.0);
  g_assert_cmpuint (stats (&f).packets_lost, ==, 0);
  /* ... and 30 of the 40 missing. */
  mcc_asmp_receiver_handle_host_dropped (f.receiver, 30, f.now);
  f.seq += 40;
  stream (&f, 1.0);
  g_assert_cmpuint (stats (&f).packets_lost, ==, 10);
  /* An interface that was down. */
  advance (&f, f.now + 5 * MCC_SECOND);
  g_assert_cmpuint (f.lost, ==, 1);
  f.seq += 500;
  stream (&f, 1.0);
  g_assert_cmpuint (stats (&f).packets_lost, ==, 10);
  /* A jump of the sequence space. */
  f.seq += 20000;
  stream (&f, 1.0);
  g_assert_cmpuint (stats (&f).packets_lost, ==, 10);
  g_assert_cmpuint (f.sources, ==, 1);
  clear (&f);
}

/* The buffer overflows until the sender has heard of it: one event. Random loss: each its own, and
 * so where a queue comes and goes within a decision's time, as TCP's does. */
static void
one_episode (void)
{
  for (guint queue = 0; queue < 3; queue++) { /* none, stands, comes and goes */
    Fixture f;
    MccTraceEvent event;
    guint events = 0, first = queue == 2 ? 260 : 0; /* an overflow has ended slow start before */
    init (&f, NULL);
    announce (&f);
    stream (&f, 2.0);
    answer_rtt (&f, 45 * MCC_MSECOND);
    stream (&f, 2.0);
    while (mcc_asmp_receiver_poll_trace (f.receiver, &event)) {
    }
    for (guint i = 0; i < first + 60; i++) {
      guint at = i % 260, ms = queue == 1 || i < first ? MIN (at, 20) * 2 : queue * (at % 6) * 2;
      f.delay = DELAY + (at < 60 ? ms : 0) * MCC_MSECOND;
      f.seq += at > 15 && at < 60 && at % 3 == 0;
      stream (&f, 0.01);
      while (mcc_asmp_receiver_poll_trace (f.receiver, &event))
        events += i >= first && event.type == MCC_TRACE_LOSS_EVENT;
    }
    g_test_message ("%u: %u events", queue, events);
    g_assert_true (queue == 1 ? events == 1 : events >= 5);
    clear (&f);
  }
}

static void
published (void)
{
  MccAsmpReceiverConfig config = { .variant = MCC_VARIANT_PUBLISHED,
    .ssrc = OURS,
    .seed = 7,
    .hears_group = true,
    .report_interval = MCC_SECOND };
  Fixture f;
  init (&f, &config);
  announce (&f);
  stream (&f, 20.5);
  g_assert_cmpuint (f.reports, >=, 20);
  g_assert_cmpuint (f.reports, <=, 21);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_NO_LIMIT, ==, 0);
  /* RTT 500 ms: P/RTT = 16 kb/s a report, gamma 0.2 or 0.9. */
  g_assert_cmpuint (f.report.rate_bps, >=, 150000 + 20 * 3200);
  g_assert_cmpuint (f.report.rate_bps, <=, 150000 + 21 * 14400);
  clear (&f);
}

/* By RFC 3550's rules, whatever bandwidth there is: no more than one a second (with its jitter). */
static void
published_by_rtcp_rules (void)
{
  MccAsmpReceiverConfig config
      = { .variant = MCC_VARIANT_PUBLISHED, .ssrc = OURS, .seed = 7, .hears_group = true };
  Fixture f;
  init (&f, &config);
  announce (&f);
  stream (&f, 60);
  g_assert_cmpuint (f.reports, >=, 40);
  g_assert_cmpuint (f.reports, <=, 80); /* 60 s / (1 s / 1.218) */
  clear (&f);
}

/* RFC 3550 6.2: 5 s without the reduced minimum, randomised to 2.05 ... 6.16 s, mean 4.1 s. */
static void
published_at_rfc3550_minimum (void)
{
  MccAsmpReceiverConfig config = { .variant = MCC_VARIANT_PUBLISHED,
    .ssrc = OURS,
    .seed = 7,
    .hears_group = true,
    .least_interval = 5 * MCC_SECOND };
  Fixture f;
  init (&f, &config);
  announce (&f);
  stream (&f, 410);
  g_assert_cmpuint (f.closest, >=, 2050 * MCC_MSECOND);
  g_assert_cmpuint (f.reports, >=, 90);
  g_assert_cmpuint (f.reports, <=, 110);
  clear (&f);
}

/* gamma = 1: the whole P/RTT of eq. 13 at each report. */
static void
published_without_smoothing (void)
{
  MccAsmpReceiverConfig config = { .variant = MCC_VARIANT_PUBLISHED,
    .ssrc = OURS,
    .seed = 7,
    .hears_group = true,
    .report_interval = MCC_SECOND,
    .unsmoothed = true };
  Fixture f;
  init (&f, &config);
  announce (&f);
  stream (&f, 20.5);
  g_assert_cmpuint (f.report.rate_bps, >=, 150000 + 20 * 15990);
  g_assert_cmpuint (f.report.rate_bps, <=, 150000 + 21 * 16010);
  clear (&f);
}

/* Same input, same output. */
static void
deterministic (void)
{
  MccTraceEvent a, b;
  Fixture f, g;
  init (&f, NULL);
  init (&g, NULL);
  for (guint i = 0; i < 20; i++) {
    announce (&f);
    announce (&g);
    stream (&f, 0.3);
    stream (&g, 0.3);
    f.seq = g.seq = (guint16)(f.seq + i % 3);
    bool more;
    do {
      more = mcc_asmp_receiver_poll_trace (f.receiver, &a);
      g_assert_true (more == mcc_asmp_receiver_poll_trace (g.receiver, &b));
      if (more) {
        g_assert_cmpuint (a.time, ==, b.time);
        g_assert_cmpint (a.type, ==, b.type);
        g_assert_cmpuint (a.a, ==, b.a);
        g_assert_cmpuint (a.b, ==, b.b);
      }
    } while (more);
  }
  clear (&f);
  clear (&g);
}

/* A host that does not poll, and nonsense from the network: bounded, and it goes on. */
static void
abuse (void)
{
  Fixture f;
  MccRng rng;
  init (&f, NULL);
  guint64 seed = g_test_rand_int ();
  g_test_message ("seed %" G_GUINT64_FORMAT, seed);
  mcc_rng_init (&rng, seed);
  MccApp app;
  for (guint i = 0; i < 30000; i++) {
    f.now += mcc_rng_next (&rng) % (i % 1000 == 0 ? 40 * MCC_SECOND : 5 * MCC_MSECOND);
    MccRtpPacket packet = { .ssrc = (guint32)(mcc_rng_next (&rng) % 4),
      .seq = (guint16)mcc_rng_next (&rng),
      .bytes = (guint32)mcc_rng_next (&rng),
      .has_send_time = mcc_rng_uniform (&rng) < 0.8,
      .send_time = (guint32)mcc_rng_next (&rng) & 0xffffff };
    guint64 *words = (guint64 *)&app;
    for (guint k = 0; k < sizeof app / 8; k++)
      words[k] = mcc_rng_next (&rng);
    app.ssrc = (guint32)(mcc_rng_next (&rng) % 4);
    app.subtype = (guint)(mcc_rng_next (&rng) % 5);
    if (app.subtype == MCC_APP_SESSION)
      app.session.media_ssrc %= 4;
    switch (mcc_rng_next (&rng) % 5) {
      case 0:
        mcc_asmp_receiver_handle_app (f.receiver, &app, f.now);
        break;
      case 1:
        mcc_asmp_receiver_handle_timeout (f.receiver, f.now);
        break;
      case 2:
        if (mcc_rng_next (&rng) % 50 == 0)
          mcc_asmp_receiver_handle_bye (f.receiver, app.ssrc, f.now);
        else
          mcc_asmp_receiver_handle_host_dropped (f.receiver, mcc_rng_next (&rng), f.now);
        break;
      default:
        mcc_asmp_receiver_handle_rtp (f.receiver, &packet, NULL, f.now);
    }
    if (i % 100 == 0)
      drain (&f);
  }
  MccReceiverAction action;
  guint n = 0;
  while (mcc_asmp_receiver_poll (f.receiver, &action))
    n++;
  g_assert_cmpuint (n, <=, 16);
  clear (&f);
}

static void
leave (void)
{
  Fixture f;
  MccAppReport report;
  init (&f, NULL);
  announce (&f);
  stream (&f, 1.0);
  guint32 number = f.report.number;
  mcc_asmp_receiver_leave (f.receiver, &report, f.now);
  g_assert_cmpuint (report.flags & MCC_REPORT_LEAVING, !=, 0);
  g_assert_cmpuint (report.number, ==, number + 1);
  clear (&f);
}

/* The strings of the caps may be left out of announcements: they stay, and are asked for before. */
static void
strings_left_out (void)
{
  Fixture f;
  init (&f, NULL);
  f.session.encoding_name[0] = '\0';
  f.session.clock_rate = 90000;
  announce (&f);
  stream (&f, 1.0);
  g_assert_cmpuint (f.sessions, ==, 1);
  g_assert_cmpuint (f.caps.payload_type, ==, MCC_APP_NO_PAYLOAD_TYPE);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_NO_CAPS, !=, 0);
  strcpy (f.session.encoding_name, "H264");
  strcpy (f.session.parameters, "profile=main");
  announce (&f);
  g_assert_cmpuint (f.sessions, ==, 2);
  f.session.encoding_name[0] = f.session.parameters[0] = '\0';
  announce (&f);
  stream (&f, 1.0);
  g_assert_cmpuint (f.sessions, ==, 2);
  g_assert_cmpuint (f.caps.payload_type, ==, 96);
  g_assert_cmpstr (f.caps.encoding_name, ==, "H264");
  g_assert_cmpstr (f.caps.parameters, ==, "profile=main");
  g_assert_cmpuint (f.report.flags & MCC_REPORT_NO_CAPS, ==, 0);
  /* Another payload type: other caps, not known yet. */
  f.session.payload_type = 97;
  announce (&f);
  g_assert_cmpuint (f.sessions, ==, 3);
  g_assert_cmpuint (f.caps.payload_type, ==, MCC_APP_NO_PAYLOAD_TYPE);
  clear (&f);
}

/* A report that no sender would take silences nobody. */
static void
impossible_report_covers_nobody (void)
{
  static const struct {
    guint32 flags;
    guint64 rate_bps;
    MccDrop drop;
  } table[] = { { 0, 0, MCC_DROP_BAD_VALUE }, { 0, MCC_APP_RATE_MAX, MCC_DROP_BAD_VALUE },
    { MCC_REPORT_NO_LIMIT, 0, MCC_DROP_NONE }, { 0, 500000, MCC_DROP_NONE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccApp app = { .ssrc = 77, .subtype = MCC_APP_REPORT };
    init (&f, NULL);
    announce (&f);
    stream (&f, 1.0);
    app.report = (MccAppReport){ .number = 1,
      .rtt = 50 * MCC_MSECOND,
      .flags = table[row].flags,
      .rate_bps = table[row].rate_bps };
    g_assert_cmpint (mcc_asmp_receiver_handle_app (f.receiver, &app, f.now), ==, table[row].drop);
    g_assert_cmpuint (
        stats (&f).dropped[MCC_DROP_BAD_VALUE], ==, table[row].drop == MCC_DROP_BAD_VALUE);
    clear (&f);
  }
}

/* Our process stood still for 5 s: the sender was not silent, nobody takes over, no announcement
 * that waited is echoed, and the rate stays. */
static void
own_absence (void)
{
  Fixture f;
  init (&f, NULL);
  for (guint i = 0; i < 20; i++) {
    announce (&f);
    stream (&f, 0.5);
    answer_rtt (&f, 45 * MCC_MSECOND);
  }
  guint64 before = stats (&f).estimated_bps;
  g_assert_cmpuint (before, >, 500000);
  MccTime stopped = f.now;
  f.now += 5 * MCC_SECOND;
  f.seq = (guint16)(f.seq + 500);
  f.report_time = MCC_TIME_NONE;
  g_assert_cmpint (rtp (&f, 0x99, 1), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpint (rtp (&f, 0x99, 2), ==, MCC_DROP_OTHER_SENDER);
  MccApp app = { .ssrc = SENDER, .subtype = MCC_APP_SESSION, .session = f.session };
  app.session.number = f.session.number++;
  app.session.send_time = mcc_abs_send_time (stopped);
  mcc_asmp_receiver_handle_app (f.receiver, &app, f.now);
  guint reports = f.reports;
  advance (&f, f.now + 5 * MCC_MSECOND);
  if (f.reports > reports && (f.report.flags & MCC_REPORT_ECHO))
    g_assert_cmpuint (f.report.hold, >=, 4 * MCC_SECOND);
  for (guint i = 0; i < 30; i++) {
    announce (&f);
    stream (&f, 0.1);
    g_assert_cmpuint (stats (&f).estimated_bps, >=, before * 9 / 10);
  }
  g_assert_cmpuint (f.lost, ==, 0);
  g_assert_cmpuint (f.sources, ==, 1);
  clear (&f);
}

/* A host that does not poll loses the oldest actions, and nothing else. */
static void
nobody_polls (void)
{
  Fixture f;
  MccReceiverAction action;
  guint n = 0;
  guint32 last = 0;
  init (&f, NULL);
  announce (&f);
  for (guint i = 0; i < 6000; i++) {
    MccRtpPacket packet = { .ssrc = SENDER,
      .seq = f.seq++,
      .bytes = 1000,
      .has_send_time = true,
      .send_time = mcc_abs_send_time (f.now - DELAY) };
    f.now += 10 * MCC_MSECOND;
    while (mcc_asmp_receiver_next_timeout (f.receiver) <= f.now)
      mcc_asmp_receiver_handle_timeout (f.receiver, f.now);
    mcc_asmp_receiver_handle_rtp (f.receiver, &packet, NULL, f.now);
  }
  while (mcc_asmp_receiver_poll (f.receiver, &action)) {
    n++;
    if (action.type != MCC_RECEIVER_SEND_REPORT)
      continue;
    if (last > 0)
      g_assert_cmpuint (action.report.number, ==, last + 1);
    last = action.report.number;
  }
  g_assert_cmpuint (last, ==, stats (&f).reports_sent);
  g_assert_cmpuint (last, >, 16);
  g_assert_cmpuint (n, <=, 16);
  clear (&f);
}

/* Of a large group: half a minute passes until all have their own. */
static void
neighbours_rtt (void)
{
  static const struct {
    guint32 receivers;
    bool borrowed;
  } table[] = { { 6, false }, { MCC_ASMP_FEW_RECEIVERS, false }, { 45, true } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    init (&f, NULL);
    f.session.receivers = table[row].receivers;
    announce (&f);
    stream (&f, 2.0);
    MccAppReport report
        = { .number = 3, .flags = MCC_REPORT_ECHO, .echo = mcc_abs_send_time (f.now - f.delay) };
    MccAppRttList list
        = { .count = 1, .entry = { { .ssrc = 99, .number = 3, .rtt = 180 * MCC_MSECOND } } };
    mcc_asmp_receiver_hear_report (f.receiver, 99, &report, f.now);
    mcc_asmp_receiver_hear_rtts (f.receiver, &list, f.now);
    g_assert_cmpint (stats (&f).rtt_measured, ==, table[row].borrowed);
    if (table[row].borrowed)
      g_assert_cmpuint (stats (&f).rtt, ==, 180 * MCC_MSECOND);
    clear (&f);
  }
}

/* An RTT that is only assumed says nothing of what TCP would get: who loses a little on a fast path
 * and was never told its RTT stays. */
static void
no_rtt_no_congestion (void)
{
  Fixture f;
  init (&f, NULL);
  f.session.min_bps = 500000;
  f.session.target_bps = 4000000;
  announce (&f);
  for (guint i = 1; i <= 10000; i++) { /* 20 s of 4 Mb/s, a fiftieth lost */
    advance (&f, f.now + 2 * MCC_MSECOND);
    if (i % 50 == 0)
      f.seq++;
    else
      rtp (&f, SENDER, f.seq++);
    if (i % 500 == 0)
      announce (&f);
  }
  g_assert_false (stats (&f).rtt_measured);
  g_assert_cmpuint (f.ceased, ==, 0);
  clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpreceiver/says-no-limit-until-measured", first_reports);
  g_test_add_func ("/asmpreceiver/asks-for-a-key-unit-once", key_unit);
  g_test_add_func ("/asmpreceiver/spacing-and-budget", spacing);
  g_test_add_func ("/asmpreceiver/early-reports", early);
  g_test_add_func ("/asmpreceiver/rtt-of-a-neighbour", neighbours_rtt);
  g_test_add_func ("/asmpreceiver/not-network-loss", not_network_loss);
  g_test_add_func ("/asmpreceiver/one-overflow-one-loss-event", one_episode);
  g_test_add_func ("/asmpreceiver/published-reports-each-interval", published);
  g_test_add_func ("/asmpreceiver/published-not-above-one-a-second", published_by_rtcp_rules);
  g_test_add_func ("/asmpreceiver/published/rfc3550-minimum", published_at_rfc3550_minimum);
  g_test_add_func ("/asmpreceiver/published/unsmoothed", published_without_smoothing);
  g_test_add_func ("/asmpreceiver/same-input-same-trace", deterministic);
  g_test_add_func ("/asmpreceiver/abuse", abuse);
  g_test_add_func ("/asmpreceiver/leave", leave);
  g_test_add_func ("/asmpreceiver/no-rtt-no-congestion", no_rtt_no_congestion);
  g_test_add_func ("/asmp-receiver/announcements/strings-left-out", strings_left_out);
  g_test_add_func (
      "/asmp-receiver/reports/impossible-one-covers-nobody", impossible_report_covers_nobody);
  g_test_add_func ("/asmp-receiver/source/own-absence-is-nobodys-silence", own_absence);
  g_test_add_func ("/asmp-receiver/actions/nobody-polls", nobody_polls);
  return g_test_run ();
}

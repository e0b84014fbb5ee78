/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the sender of an ASMP receiver announces, what others say in its place, its end and its
 * return.
 */
#include "asmp_receiver_fixture.h"

#define SEEDS 20

static void
announcements (void)
{
  Fixture f;
  init (&f, NULL);
  announce (&f);
  stream (&f, 0.5);
  for (guint i = 0; i < 10; i++) { /* the number wraps */
    f.session.target_bps += 1000;
    g_assert_cmpint (announce (&f), ==, MCC_DROP_NONE);
  }
  g_assert_cmpuint (f.sessions, ==, 1); /* the rate is no news */
  f.session.payload_type = 97;
  announce (&f);
  g_assert_cmpuint (f.sessions, ==, 2);
  f.session.number -= 3;
  g_assert_cmpint (announce (&f), ==, MCC_DROP_STALE);
  g_assert_cmpuint (stats (&f).announced_bps, ==, 810000);
  g_assert_cmpuint (stats (&f).dropped[MCC_DROP_STALE], ==, 1);

  MccApp other = { .ssrc = 0x99, .subtype = MCC_APP_SESSION, .session = f.session };
  other.session.media_ssrc = 0x99;
  other.session.target_bps = 1;
  for (guint i = 0; i < 5; i++)
    g_assert_cmpint (
        mcc_asmp_receiver_handle_app (f.receiver, &other, f.now), ==, MCC_DROP_OTHER_SENDER);
  drain (&f);
  g_assert_cmpuint (f.others, ==, 0); /* its RTP will tell */
  g_assert_cmpuint (stats (&f).announced_bps, ==, 810000);
  /* Nor does it speak for the stream of ours, end it, or send anybody away. */
  f.seq += 5;
  stream (&f, 1.0);
  other.session = f.session;
  other.session.target_bps = other.session.max_bps = 1;
  other.session.min_bps = MCC_APP_RATE_MAX;
  other.session.flags |= MCC_SESSION_LEAVE;
  other.session.limiting_ssrc = OURS;
  g_assert_cmpint (
      mcc_asmp_receiver_handle_app (f.receiver, &other, f.now), ==, MCC_DROP_OTHER_SENDER);
  mcc_asmp_receiver_handle_bye (f.receiver, 0x99, f.now);
  drain (&f);
  g_assert_cmpuint (stats (&f).announced_bps, ==, 810000);
  g_assert_cmpuint (f.lost + f.ceased, ==, 0);
  MccApp own = { .ssrc = OURS, .subtype = MCC_APP_REPORT };
  g_assert_cmpint (mcc_asmp_receiver_handle_app (f.receiver, &own, f.now), ==, MCC_DROP_OWN);
  clear (&f);
}

/* Nor does a forger in its name, whatever least it names, who suffers from nothing but the rate
 * that it has; be it a little more than the equation gives, as of all whom their losses limit. */
static void
forged_leave (void)
{
  static const MccTime rtts[] = { 45 * MCC_MSECOND, 177 * MCC_MSECOND };
  for (guint row = 0; row < G_N_ELEMENTS (rtts); row++) {
    Fixture f;
    init (&f, NULL);
    announce (&f);
    stream (&f, 5.0);
    answer_rtt (&f, rtts[row]);
    for (guint i = 0; i < 20; i++) {
      f.seq++; /* lost */
      stream (&f, 2.0);
    }
    f.session.flags |= MCC_SESSION_LEAVE;
    f.session.limiting_ssrc = OURS;
    f.session.min_bps = f.session.max_bps = MCC_APP_RATE_MAX;
    g_assert_cmpint (announce (&f), ==, MCC_DROP_NONE);
    stream (&f, 1.0);
    g_assert_cmpuint (f.ceased, ==, 0);
    clear (&f);
  }
}

/* Who is asked by right goes: its path drops half of the least. */
static void
obeyed_leave (void)
{
  Fixture f;
  init (&f, NULL);
  f.session.min_bps = 700000;
  announce (&f);
  stream (&f, 5.0);
  answer_rtt (&f, 45 * MCC_MSECOND);
  for (guint i = 0; i < 500; i++) {
    f.seq++; /* lost */
    stream (&f, 0.01);
  }
  g_assert_cmpuint (f.ceased, ==, 0);
  f.session.flags |= MCC_SESSION_LEAVE;
  f.session.limiting_ssrc = OURS;
  g_assert_cmpint (announce (&f), ==, MCC_DROP_NONE);
  g_assert_cmpuint (f.ceased, ==, 1);
  clear (&f);
}

/* A sender may wait for its first receiver: the announcement alone brings reports. */
static void
announcement_alone (void)
{
  Fixture f;
  init (&f, NULL);
  for (guint i = 0; i < 10; i++) {
    announce (&f);
    advance (&f, f.now + MCC_SECOND);
    /* Who has measured nothing has no reason to go. */
    f.session.flags = MCC_SESSION_LEAVE;
    f.session.limiting_ssrc = OURS;
  }
  g_assert_cmpuint (f.reports, >=, 3);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_NO_LIMIT, !=, 0);
  g_assert_cmpuint (f.report.flags & MCC_REPORT_ECHO, !=, 0);
  g_assert_cmpint (answer_rtt (&f, 45 * MCC_MSECOND), ==, MCC_DROP_NONE);
  g_assert_true (stats (&f).rtt_measured);
  /* Then it starts: what was measured stays, its very first packet counts. */
  g_assert_cmpint (rtp (&f, SENDER, 5), ==, MCC_DROP_NONE);
  g_assert_true (stats (&f).rtt_measured);
  /* Or it is gone. */
  advance (&f, f.now + 30 * MCC_SECOND);
  guint before = f.reports;
  g_assert_cmpuint (f.ceased, ==, 0);
  advance (&f, f.now + 30 * MCC_SECOND);
  g_assert_cmpuint (f.reports, ==, before);
  g_assert_cmpuint (mcc_asmp_receiver_next_timeout (f.receiver), ==, MCC_TIME_NONE);
  clear (&f);
}

static void
restart (void)
{
  Fixture f;
  init (&f, NULL);
  announce (&f);
  stream (&f, 1.0);
  f.seq += 50;
  stream (&f, 1.0);
  g_assert_cmpuint (stats (&f).packets_lost, ==, 50);
  mcc_asmp_receiver_handle_bye (f.receiver, SENDER, f.now);
  drain (&f);
  g_assert_cmpuint (f.lost, ==, 1);
  g_assert_cmpuint (mcc_asmp_receiver_next_timeout (f.receiver), ==, MCC_TIME_NONE);
  /* What it overtook brings nobody back. */
  f.now += MCC_MSECOND;
  g_assert_cmpint (rtp (&f, SENDER, f.seq++), ==, MCC_DROP_NONE);
  g_assert_cmpuint (mcc_asmp_receiver_next_timeout (f.receiver), ==, MCC_TIME_NONE);
  g_assert_cmpint (rtp (&f, 0x52, 1000), ==, MCC_DROP_PROBATION);
  g_assert_cmpint (rtp (&f, 0x52, 1001), ==, MCC_DROP_NONE);
  g_assert_cmpuint (f.sources, ==, 2);
  g_assert_cmpuint (stats (&f).packets_lost, ==, 0);
  g_assert_cmpuint (stats (&f).source_ssrc, ==, 0x52);
  g_assert_cmpuint (stats (&f).announced_bps, ==, 0);
  clear (&f);
}

/* What is said to a sender that was only announced yet is not of the one before it. */
static void
announced_after_another (void)
{
  for (guint silent = 0; silent < 2; silent++) {
    Fixture f;
    init (&f, NULL);
    announce (&f);
    stream (&f, 5.0);
    g_assert_cmpuint (f.report.received_bps, >, 0);
    if (silent)
      advance (&f, f.now + 10 * MCC_SECOND);
    else
      mcc_asmp_receiver_handle_bye (f.receiver, SENDER, f.now);
    drain (&f);
    guint before = f.reports;
    MccApp app = { .ssrc = 0x52, .subtype = MCC_APP_SESSION, .session = f.session };
    app.session.media_ssrc = 0x52;
    g_assert_cmpint (mcc_asmp_receiver_handle_app (f.receiver, &app, f.now), ==, MCC_DROP_NONE);
    drain (&f);
    advance (&f, f.now + 2 * MCC_SECOND);
    g_assert_cmpuint (f.reports, >, before);
    g_assert_cmpuint (f.report.highest_seq, ==, 0);
    g_assert_cmpuint (f.report.received_bps, ==, 0);
    g_assert_cmpuint (f.report.rate_bps, <=, f.session.start_bps);
    g_assert_cmpint (rtp (&f, 0x52, 1000), ==, MCC_DROP_NONE);
    g_assert_cmpuint (f.sources, ==, 2);
    clear (&f);
  }
}

/* The sender crashed and came back with the same SSRC: its numbers start anew, some back. */
static void
announcements_of_a_restart (void)
{
  Fixture f;
  init (&f, NULL);
  for (guint i = 0; i < 10; i++) {
    announce (&f);
    stream (&f, 0.5);
  }
  f.session.number -= 1000;
  f.session.target_bps = 300000;
  g_assert_cmpint (announce (&f), ==, MCC_DROP_STALE);
  advance (&f, f.now + 3 * MCC_SECOND);
  g_assert_cmpint (announce (&f), ==, MCC_DROP_NONE);
  g_assert_cmpuint (stats (&f).announced_bps, ==, 300000);
  clear (&f);
}

/* The sender of a large group is back after an outage, or another one is there in its place: all
 * receivers begin anew together, and make room for each other's reports as newcomers do. */
static void
group_begins_anew (void)
{
  static const struct {
    guint32 ssrc;
    guint silence_s;
    gboolean bye, announced; /* before its stream comes */
  } rows[] = { { SENDER, 20, FALSE, FALSE }, { 0x52, 3, FALSE, FALSE }, { 0x52, 3, FALSE, TRUE },
    { 0x52, 1, TRUE, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (rows); row++) {
    guint soon = 0;
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      MccAsmpReceiverConfig config
          = { .variant = MCC_VARIANT_ENHANCED, .ssrc = OURS, .seed = seed, .hears_group = true };
      Fixture f;
      init (&f, &config);
      f.session.receivers = 1000;
      f.session.limiting_ssrc = 0x77;
      announce (&f);
      stream (&f, 5.0);
      answer_rtt (&f, 45 * MCC_MSECOND);
      stream (&f, 5.0);
      g_assert_cmpuint (f.reports, >, 0);
      if (rows[row].bye)
        mcc_asmp_receiver_handle_bye (f.receiver, SENDER, f.now);
      advance (&f, f.now + rows[row].silence_s * MCC_SECOND);
      if (rows[row].announced) {
        MccApp app = { .ssrc = rows[row].ssrc, .subtype = MCC_APP_SESSION, .session = f.session };
        app.session.media_ssrc = rows[row].ssrc;
        app.session.receivers = app.session.limiting_ssrc = 0;
        g_assert_cmpint (mcc_asmp_receiver_handle_app (f.receiver, &app, f.now), ==, 0);
      }
      f.reports = 0;
      for (guint i = 0; i < 200; i++) {
        rtp (&f, rows[row].ssrc, f.seq++);
        for (guint k = 0; k < 1000 && i == 1; k++) { /* the others' */
          MccApp heard = { .ssrc = 0x1000 + k, .subtype = MCC_APP_REPORT };
          heard.report.rate_bps = 800000;
          heard.report.flags = MCC_REPORT_NO_LIMIT;
          mcc_asmp_receiver_handle_app (f.receiver, &heard, f.now);
        }
        advance (&f, f.now + 10 * MCC_MSECOND);
      }
      soon += f.reports > 0;
      clear (&f);
    }
    g_test_message ("row %u: %u of %u report within 2 s", row, soon, SEEDS);
    g_assert_cmpuint (soon, <=, SEEDS / 10);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpreceiver/announcements", announcements);
  g_test_add_func ("/asmpreceiver/forged-leave", forged_leave);
  g_test_add_func ("/asmpreceiver/obeyed-leave", obeyed_leave);
  g_test_add_func ("/asmpreceiver/announcement-without-stream", announcement_alone);
  g_test_add_func ("/asmpreceiver/new-sender-new-history", restart);
  g_test_add_func ("/asmpreceiver/announced-after-another", announced_after_another);
  g_test_add_func ("/asmp-receiver/announcements/of-a-restart", announcements_of_a_restart);
  g_test_add_func ("/asmpreceiver/group-begins-anew", group_begins_anew);
  return g_test_run ();
}

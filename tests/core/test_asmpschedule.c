/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccasmpschedule.h"

#define T0 (777 * MCC_SECOND)
#define BYTES 152.0
#define RTT (110 * MCC_MSECOND)
#define TARGET 130000
#define SEEDS 50

/* One receiver's schedule; the sender's words and its own rate are set by the tests. */
typedef struct {
  MccAsmpSchedule schedule;
  MccAsmpScheduleInput input;
  guint reports;
  MccTime last, gap_max;
} Fixture;

static void
init (Fixture *f, guint64 seed, guint members)
{
  memset (f, 0, sizeof *f);
  mcc_asmp_schedule_init (&f->schedule, MCC_VARIANT_ENHANCED, true, 0, BYTES, seed);
  f->input = (MccAsmpScheduleInput){ .now = T0,
    .target_bps = TARGET,
    .session_bps = 20000000,
    .members = members,
    .announced = T0 - MCC_MSECOND,
    .rtt = RTT,
    .rtt_max = RTT,
    .announce_interval = MCC_SECOND,
    .rate_bps = 2 * TARGET,
    .suppress_bps = UINT64_MAX };
  f->last = T0;
  mcc_asmp_schedule_start (&f->schedule, &f->input);
}

static MccTime
own_share (void)
{
  return MAX (RTT, mcc_rtcp_interval (TARGET, 20000000, MCC_RTCP_LIMITING_SHARE, 1, BYTES));
}

static MccTime
group_share (guint members)
{
  double share = MCC_RTCP_RECEIVER_SHARE * (1.0 - MCC_RTCP_REGULAR_SHARE) - MCC_RTCP_LIMITING_SHARE;
  return mcc_rtcp_interval (TARGET, 20000000, share, members, BYTES);
}

/* A decision each 100 ms, as the receiver makes them. */
static void
run (Fixture *f, MccTime time)
{
  MccTime until = f->input.now + time;
  while (f->input.now < until) {
    MccTime tick = f->input.now - f->input.now % (100 * MCC_MSECOND) + 100 * MCC_MSECOND;
    MccTime next = MAX (mcc_asmp_schedule_next_timeout (&f->schedule), f->input.now);
    f->input.now = MIN (MIN (tick, next), until);
    if (f->input.now == tick)
      mcc_asmp_schedule_update (&f->schedule, &f->input);
    if (f->input.now < next
        || mcc_asmp_schedule_handle_timeout (&f->schedule, &f->input) != MCC_SCHEDULE_SEND)
      continue;
    mcc_asmp_schedule_sent (&f->schedule, &f->input);
    if (f->reports > 0)
      f->gap_max = MAX (f->gap_max, f->input.now - f->last);
    f->last = f->input.now;
    f->reports++;
  }
}

static void
announce (Fixture *f, bool limiting)
{
  f->input.announced = f->input.now;
  f->input.limiting = limiting;
  mcc_asmp_schedule_update (&f->schedule, &f->input);
}

/* Reports of now on. */
static void
count (Fixture *f)
{
  f->reports = 0;
  f->gap_max = 0;
}

/* Deeply in debt by early reports; somebody else limits. */
static void
fall_again_and_again (Fixture *f)
{
  run (f, 3 * MCC_SECOND);
  for (guint i = 0; i < 20; i++) {
    f->input.rate_bps = TARGET / 2;
    run (f, 100 * MCC_MSECOND);
    announce (f, false);
    f->input.rate_bps = 2 * TARGET;
    run (f, 400 * MCC_MSECOND);
  }
}

static void
limiting_reports_often (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Fixture f;
    init (&f, seed, 6);
    fall_again_and_again (&f);
    announce (&f, true);
    count (&f);
    run (&f, own_share ());
    g_assert_cmpuint (f.reports, >=, 1);
    for (guint i = 0; i < 20; i++) { /* whatever its rate does */
      f.input.rate_bps += TARGET / 20;
      run (&f, MCC_SECOND);
    }
    g_assert_cmpuint (f.gap_max, <=, own_share ());
    g_assert_cmpuint (f.reports, >=, 20 * MCC_SECOND / own_share ());
  }
}

/* Who limits no more does not go on at that pace, and takes it up again when it limits again. */
static void
relieved (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Fixture f;
    init (&f, seed, 6);
    run (&f, 3 * MCC_SECOND);
    announce (&f, true);
    run (&f, 5 * MCC_SECOND);
    count (&f);
    announce (&f, false);
    run (&f, group_share (6) * 4 / 10 - own_share ());
    g_assert_cmpuint (f.reports, ==, 0);
    run (&f, own_share () / 2);
    announce (&f, true);
    count (&f);
    run (&f, own_share ());
    g_assert_cmpuint (f.reports, >=, 1);
    announce (&f, false);
    count (&f);
    run (&f, 20 * MCC_SECOND);
    g_assert_cmpuint (f.reports, >=, 3);
  }
}

/* The announcement that names us is lost, as may happen in a queue that overflows: we report as the
 * limiting one until one comes that can be the answer, even if our rate recovers. */
static void
claims_until_answered (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Fixture f;
    init (&f, seed, 6);
    run (&f, 3 * MCC_SECOND);
    f.input.rate_bps = TARGET / 2;
    count (&f);
    run (&f, RTT);
    g_assert_cmpuint (f.reports, ==, 1);
    f.input.rate_bps = 2 * TARGET;
    announce (&f, false); /* left before our report came */
    f.input.announced = f.last + RTT / 2;
    run (&f, 4 * MCC_SECOND);
    g_assert_cmpuint (f.gap_max, <=, own_share ());
    g_assert_cmpuint (f.reports, >=, 4 * MCC_SECOND / own_share ());

    /* The answer: somebody else limits. */
    announce (&f, false);
    count (&f);
    run (&f, MCC_SECOND);
    g_assert_cmpuint (f.reports, ==, 0);
  }
}

/* ... or until somebody else complains of less, or there is no sender any more. */
static void
claims_end (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Fixture f;
    init (&f, seed, 6);
    run (&f, 3 * MCC_SECOND);
    f.input.rate_bps = TARGET / 2;
    run (&f, 200 * MCC_MSECOND);
    f.input.rate_bps = 2 * TARGET;
    mcc_asmp_schedule_handle_heard (&f.schedule, 7, TARGET / 3, false, &f.input);
    count (&f);
    run (&f, MCC_SECOND);
    g_assert_cmpuint (f.reports, ==, 0);

    init (&f, seed, 600);
    run (&f, 3 * MCC_SECOND);
    f.input.rate_bps = TARGET / 2;
    run (&f, 2 * MCC_SECOND);
    f.input.rate_bps = 2 * TARGET;
    run (&f, 8 * MCC_SECOND);
    count (&f);
    run (&f, 20 * MCC_SECOND);
    g_assert_cmpuint (f.reports, <=, 1);
  }
}

/* Debt delays bad news, but does not silence it. */
static void
debt (void)
{
  static const guint sizes[] = { 2, 6, 16, 100, 1000, 10000 };
  for (guint row = 0; row < G_N_ELEMENTS (sizes); row++) {
    MccTime regular = group_share (sizes[row]);
    MccTime longest
        = mcc_time_from_seconds (mcc_suppress_factor (sizes[row]) * mcc_time_to_seconds (RTT));
    MccTime most = MIN (regular, 5 * MCC_SECOND) + longest + 100 * MCC_MSECOND;
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      Fixture f;
      init (&f, seed, sizes[row]);
      run (&f, 3 * MCC_SECOND);
      f.input.rate_bps = TARGET / 2;
      count (&f);
      for (guint i = 0; i < 600; i++) { /* somebody else limits, and the target exceeds us */
        announce (&f, false);
        run (&f, 100 * MCC_MSECOND);
      }
      g_assert_cmpuint (f.gap_max, <=, most);
      if (regular < 5 * MCC_SECOND) /* the budget holds in the long run */
        g_assert_cmpuint (f.reports, <=, 60 * MCC_SECOND / regular + 5);
      else
        g_assert_cmpuint (f.reports, <=, 60 / 5 + 5);
    }
  }
}

/* Of few nobody waits with bad news, however low the rate and with it the RTCP bandwidth are: the
 * queue grows meanwhile. Unless they are many that are not counted yet. */
static void
few_do_not_wait (void)
{
  static const struct {
    guint members, others; /* those that report for the first time when we are about to */
    bool hears_group, at_once;
  } rows[] = { { 6, 0, true, true }, { 12, 0, true, true }, { 12, 0, false, true },
    { 16, 0, false, true }, { 17, 0, true, false }, { 17, 0, false, false },
    { 12, 200, true, false } };
  for (guint row = 0; row < G_N_ELEMENTS (rows); row++) {
    guint at_once = 0;
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      Fixture f;
      init (&f, seed, rows[row].members);
      f.schedule.hears_group = rows[row].hears_group;
      for (guint i = 0; i < rows[row].others; i++)
        mcc_asmp_schedule_handle_heard (&f.schedule, 7 + i, TARGET, true, &f.input);
      run (&f, 10 * MCC_SECOND);
      f.input.rate_bps = TARGET / 2;
      count (&f);
      run (&f, RTT + 100 * MCC_MSECOND); /* it may have reported just now */
      at_once += f.reports > 0;
    }
    g_test_message ("row %u: %u of %u at once", row, at_once, SEEDS);
    if (rows[row].at_once)
      g_assert_cmpuint (at_once, ==, SEEDS);
    else
      g_assert_cmpuint (at_once, <, SEEDS);
  }
}

typedef enum { NOT_HEEDED, HEEDED, HEEDED_LATE } Sender;

/* Somebody else claims a quarter of the target every 300 ms, each time in a new name, while our
 * rate is half of it; the sender announces twice a second. When our first report after the fall
 * left. */
static MccTime
report_beside_claims (Fixture *f, MccTime time, Sender sender)
{
  MccTime start = f->input.now, announced = 0;
  f->input.rate_bps = TARGET / 2;
  count (f);
  for (guint32 name = 1; f->reports == 0 && f->input.now < start + time; name++) {
    MccTime heeded = start + (sender == HEEDED_LATE ? 1500 : 200) * MCC_MSECOND;
    mcc_asmp_schedule_handle_heard (&f->schedule, 0x5000 + name, TARGET / 4, false, &f->input);
    if (f->input.now >= announced + 500 * MCC_MSECOND) {
      announced = f->input.now;
      f->input.round++;
      f->input.suppress_bps = UINT64_MAX;
      if (sender != NOT_HEEDED && f->input.now >= heeded) {
        f->input.target_bps = f->input.suppress_bps = TARGET / 4;
      }
      announce (f, false);
    }
    run (f, 300 * MCC_MSECOND);
  }
  return f->input.now - start;
}

/* Forged reports, or such as the sender does not get, do not silence who is in trouble for longer
 * than the sender would have needed to answer them. */
static void
heard_in_vain (void)
{
  static const guint sizes[] = { 6, 16, 100, 1000, 10000 };
  for (guint row = 0; row < G_N_ELEMENTS (sizes); row++) {
    /* An announcement a second, taken for the largest RTT; of few nobody waits. */
    MccTime wait = sizes[row] > MCC_ASMP_FEW_RECEIVERS
                       ? mcc_time_from_seconds (mcc_suppress_factor (sizes[row]))
                       : 0;
    gdouble sum_s = 0.0;
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      Fixture f;
      init (&f, seed, sizes[row]);
      run (&f, 10 * MCC_SECOND); /* no newcomer any more */
      MccTime took = report_beside_claims (&f, MCC_SECOND * 60, NOT_HEEDED);
      sum_s += mcc_time_to_seconds (took);
      g_assert_cmpuint (took, <=, 3 * MCC_SECOND + wait);
      /* ... nor later, but for what it owes by then. */
      f.input.rate_bps = 2 * TARGET;
      run (&f, 10 * MCC_SECOND);
      took = report_beside_claims (&f, MCC_SECOND * 60, NOT_HEEDED);
      MccTime owed = MIN (group_share (sizes[row]), 5 * MCC_SECOND);
      g_assert_cmpuint (took, <=, owed + wait + 500 * MCC_MSECOND);
    }
    g_test_message ("one of %u told of its fall after %.1f s", sizes[row], sum_s / SEEDS);
  }
}

/* ... nor a newcomer, whose first report makes room for those of thousands of others that are not
 * there. */
static void
newcomer_beside_many (void)
{
  MccTime wait = mcc_time_from_seconds (mcc_suppress_factor (10000));
  gdouble sum_s = 0.0;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Fixture f;
    init (&f, seed, 1000);
    for (guint32 name = 1; name <= 5000; name++)
      mcc_asmp_schedule_handle_heard (&f.schedule, name, TARGET, true, &f.input);
    MccTime took = report_beside_claims (&f, 300 * MCC_SECOND, NOT_HEEDED);
    sum_s += mcc_time_to_seconds (took);
    g_assert_cmpuint (took, <=, 3 * MCC_SECOND + wait);
  }
  g_test_message ("a newcomer told of its fall after %.1f s", sum_s / SEEDS);
}

/* ... but where the sender follows them, be it a moment later, they do for all: that is no lie. */
static void
heard_for_all (void)
{
  guint reports = 0;
  for (Sender sender = HEEDED; sender <= HEEDED_LATE; sender++)
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      Fixture f;
      init (&f, seed, 10000);
      run (&f, 10 * MCC_SECOND);
      report_beside_claims (&f, 20 * MCC_SECOND, sender);
      reports += f.reports;
      g_assert_cmpuint (f.schedule.deaf_until, ==, 0);
    }
  g_assert_cmpuint (reports, <=, SEEDS / 10);
}

/* A newcomer hears the stream before an announcement: those that were there are no joiners. */
static void
joins_a_large_group (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Fixture f;
    init (&f, seed, 0);
    f.input.announced = 0;
    mcc_asmp_schedule_start (&f.schedule, &f.input);
    f.input.no_limit = true;
    run (&f, 50 * MCC_MSECOND);
    f.input.members = 1000;
    announce (&f, false);
    run (&f, MCC_SECOND);
    g_assert_cmpuint (f.reports, ==, 1);
  }
}

/* Streams that all join together: the first loss is everybody's, and few are counted so far. */
static void
first_loss_of_a_crowd (void)
{
  guint at_once = 0;
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Fixture f;
    init (&f, seed, 0);
    f.schedule.wary = true;
    mcc_asmp_schedule_stop (&f.schedule);
    mcc_asmp_schedule_start (&f.schedule, &f.input);
    f.input.members = 5;
    f.input.rate_bps = TARGET / 2;
    run (&f, 150 * MCC_MSECOND);
    at_once += f.reports > 0;
    run (&f, MCC_SECOND);
    g_assert_cmpuint (f.reports, >, 0);
  }
  g_assert_cmpuint (at_once, <=, SEEDS / 10);
}

/* The sender crashes, or is not heard for long: all who report to it begin anew together, and those
 * who reported before have no less to make room for than newcomers. */
static void
begins_anew (void)
{
  static const struct {
    guint others; /* that report for the first time */
    gboolean no_limit, below;
    MccTime time; /* in which few may report */
  } rows[] = { { 1000, TRUE, FALSE, 2 * MCC_SECOND }, { 0, FALSE, FALSE, 150 * MCC_MSECOND },
    { 0, FALSE, TRUE, 150 * MCC_MSECOND } };
  for (guint row = 0; row < G_N_ELEMENTS (rows); row++) {
    guint at_once = 0;
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      Fixture f;
      init (&f, seed, 1000);
      run (&f, 10 * MCC_SECOND);
      g_assert_cmpuint (f.reports, >, 0);
      mcc_asmp_schedule_stop (&f.schedule);
      mcc_asmp_schedule_forget (&f.schedule);
      f.input.now += 20 * MCC_SECOND;
      f.input.members = 0;
      f.input.announced = 0;
      f.input.no_limit = rows[row].no_limit;
      f.input.rate_bps = rows[row].below ? TARGET / 2 : 2 * TARGET;
      mcc_asmp_schedule_start (&f.schedule, &f.input);
      for (guint32 name = 1; name <= rows[row].others; name++)
        mcc_asmp_schedule_handle_heard (&f.schedule, name, TARGET, true, &f.input);
      count (&f);
      run (&f, rows[row].time);
      at_once += f.reports > 0;
      run (&f, rows[row].others == 0 ? MCC_SECOND : 0);
      g_assert_true (f.reports > 0 || rows[row].others > 0);
    }
    g_test_message ("row %u: %u of %u at once", row, at_once, SEEDS);
    g_assert_cmpuint (at_once, <=, SEEDS / 10);
  }
}

/* Who limited in the stream before has a first report to make in the next one: others do not wait
 * for minutes to hear where it is. */
static void
limited_before (void)
{
  for (guint64 seed = 1; seed <= SEEDS; seed++) {
    Fixture f;
    init (&f, seed, 6);
    announce (&f, true);
    run (&f, 5 * MCC_SECOND);
    mcc_asmp_schedule_stop (&f.schedule);
    f.input.members = 1000;
    f.input.limiting = false;
    f.input.moves = true;
    f.input.no_limit = true;
    mcc_asmp_schedule_start (&f.schedule, &f.input);
    announce (&f, false);
    count (&f);
    run (&f, 3 * MCC_SECOND);
    g_assert_cmpuint (f.reports, ==, 1);
  }
}

/* Who came alone says at once what it meets after its first report, once; who came with many, or a
 * while ago, or hears no other's report, waits. */
static void
second_report (void)
{
  static const struct {
    guint members, others; /* those that report for the first time when we are about to */
    bool hears_group, nobody_limits;
    MccTime after; /* the first report the rate falls */
    bool at_once;
  } rows[] = {
    { 1000, 0, true, false, 200 * MCC_MSECOND, true },
    { 1000, 3, true, false, 4 * MCC_SECOND, true }, { 1000, 0, true, false, 6 * MCC_SECOND, false },
    { 1000, 200, true, false, 200 * MCC_MSECOND, false },
    { 1000, 0, false, false, 200 * MCC_MSECOND, false },
    { 1000, 0, true, true, 200 * MCC_MSECOND, false },
    { 16, 0, true, false, 200 * MCC_MSECOND, false }, /* nobody knew of a large group */
  };
  for (guint row = 0; row < G_N_ELEMENTS (rows); row++) {
    guint at_once = 0;
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
      Fixture f;
      init (&f, seed, rows[row].members);
      f.schedule.hears_group = rows[row].hears_group;
      f.input.no_limit = true;
      for (guint i = 0; i < rows[row].others; i++)
        mcc_asmp_schedule_handle_heard (&f.schedule, 7 + i, TARGET, true, &f.input);
      while (f.reports == 0)
        run (&f, 10 * MCC_MSECOND);
      run (&f, rows[row].after);
      g_assert_cmpuint (f.reports, ==, 1);
      f.input.no_limit = false;
      f.input.nobody_limits = rows[row].nobody_limits;
      f.input.members = 1000;
      f.input.rate_bps = TARGET / 2;
      run (&f, RTT);
      at_once += f.reports > 1;
      f.input.rate_bps = TARGET / 4;
      run (&f, RTT);
      g_assert_cmpuint (f.reports, <=, 2);
    }
    g_test_message ("row %u: %u of %u at once", row, at_once, SEEDS);
    if (rows[row].at_once)
      g_assert_cmpuint (at_once, ==, SEEDS);
    else
      g_assert_cmpuint (at_once, <=, SEEDS / 10);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpschedule/limiting/reports-each-share-or-rtt", limiting_reports_often);
  g_test_add_func ("/asmpschedule/limiting/relieved", relieved);
  g_test_add_func ("/asmpschedule/claim/until-answered", claims_until_answered);
  g_test_add_func ("/asmpschedule/claim/ends", claims_end);
  g_test_add_func ("/asmpschedule/debt/delays-but-does-not-silence", debt);
  g_test_add_func ("/asmpschedule/early/few-do-not-wait", few_do_not_wait);
  g_test_add_func ("/asmpschedule/heard/in-vain-does-not-silence", heard_in_vain);
  g_test_add_func ("/asmpschedule/heard/in-vain-beside-a-newcomer", newcomer_beside_many);
  g_test_add_func ("/asmpschedule/heard/for-all-where-the-sender-follows", heard_for_all);
  g_test_add_func ("/asmpschedule/first/members-are-no-joiners", joins_a_large_group);
  g_test_add_func ("/asmpschedule/first/loss-of-a-crowd", first_loss_of_a_crowd);
  g_test_add_func ("/asmpschedule/first/anew", begins_anew);
  g_test_add_func ("/asmpschedule/first/of-one-who-limited", limited_before);
  g_test_add_func ("/asmpschedule/second/at-once-of-one-who-came-alone", second_report);
  return g_test_run ();
}

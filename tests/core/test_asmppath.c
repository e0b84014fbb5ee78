/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the path makes of its first loss event.
 */
#include "pathfixture.h"

/* One is lost, which three later ones show; then a decision. */
static void
lose (PathFixture *f)
{
  f->seq++;
  stream (f, MCC_LOSS_NDUPACK);
  decide (f);
}

/* The loss ratio with which the equation gives what arrived. */
static double
carried (const PathFixture *f)
{
  return mcc_tcp_loss_ratio (
      &mcc_tcp_model_default, BYTES, mcc_time_to_seconds (f->input.rtt), RATE_BPS);
}

/* Without a queue the loss was not ours: its interval is what arrived so far, if that is less than
 * what gives the received rate. With a queue what arrived is what the path carries. */
static void
first_loss (void)
{
  static const struct {
    guint packets, rtt_ms;
    guint queue_ms; /* of one packet before the loss */
    gboolean carried;
  } table[] = { { 100, 200, 0, FALSE }, { 100, 200, 9, FALSE }, { 100, 200, 12, TRUE },
    { 100, 450, 0, FALSE }, { 240, 200, 0, FALSE }, { 400, 200, 0, TRUE }, { 1000, 450, 0, FALSE },
    { 2000, 450, 0, TRUE }, { 2000, 450, 12, TRUE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    stream (&f, 50);
    measure_rtt (&f, table[row].rtt_ms * MCC_MSECOND);
    stream (&f, table[row].packets - 50 - MCC_LOSS_NDUPACK);
    g_assert_cmpfloat (f.input.loss_ratio, ==, 0.0);
    f.delay += table[row].queue_ms * MCC_MSECOND;
    decide (&f);
    lose (&f);
    double interval = 1.0 / f.input.loss_ratio;
    g_test_message ("row %u: %.0f of %u packets", row, interval, table[row].packets);
    if (table[row].carried)
      g_assert_cmpfloat_with_epsilon (interval * carried (&f), 1.0, 0.12); /* the meter's slots */
    else
      g_assert_cmpfloat_with_epsilon (interval, table[row].packets, 1e-6);
    if (table[row].queue_ms <= 10)
      g_assert_cmpfloat (interval, <=, table[row].packets + 1e-6);
    mcc_asmp_path_clear (&f.path);
  }
}

/* ... since losses were forgotten, whatever came and was lost before. */
static void
first_loss_after_a_trial (void)
{
  for (guint held_down = 0; held_down < 2; held_down++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    stream (&f, 50);
    measure_rtt (&f, 450 * MCC_MSECOND);
    f.seq += 150;
    stream (&f, 1000);
    decide (&f);
    g_assert_cmpuint (mcc_loss_packets_lost (f.path.loss), ==, 150);
    mcc_asmp_path_forget_losses (&f.path);
    stream (&f, 400 - MCC_LOSS_NDUPACK);
    f.input.held_down = held_down;
    decide (&f);
    g_assert_cmpfloat (f.input.loss_ratio, ==, 0.0);
    lose (&f);
    g_assert_cmpfloat (1.0 / f.input.loss_ratio, <=,
        held_down ? MAX (400.0, 1.0 / carried (&f)) * 1.12 : 400.0 + 1e-6);
    g_assert_cmpfloat (1.0 / f.input.loss_ratio, >=, 400.0 - 1e-6);
    mcc_asmp_path_clear (&f.path);
  }
}

/* As received. */
static double
packets_in (const PathFixture *f, double time_s)
{
  return (double)f->input.received_now_bps * time_s / (8.0 * BYTES);
}

/* Losses that the initial RTT made one event count each, once the true one is known; but not where
 * they may be one overflow, and they lengthen nothing. */
static void
merged_losses (void)
{
  static const struct {
    guint losses, packets_between, rtt_ms, queue_ms;
    gboolean each;
  } table[] = { { 1, 20, 100, 0, FALSE }, { 2, 20, 100, 0, TRUE }, { 3, 12, 60, 0, TRUE },
    { 3, 12, 450, 0, FALSE }, { 3, 12, 60, 12, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    guint losses = table[row].losses;
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    stream (&f, 12);
    f.delay += table[row].queue_ms * MCC_MSECOND;
    for (guint i = 0; i < losses; i++) {
      lose (&f);
      stream (&f, table[row].packets_between - MCC_LOSS_NDUPACK - 1);
    }
    g_assert_cmpuint (mcc_loss_events (f.path.loss), ==, 1);
    measure_rtt (&f, table[row].rtt_ms * MCC_MSECOND);
    decide (&f);
    double arrived = 12.0 + losses * (table[row].packets_between - 1.0);
    double each = arrived / losses + packets_in (&f, table[row].rtt_ms * 1e-3);
    double rtt_s = mcc_time_to_seconds (f.input.rtt), bps = (double)f.input.received_now_bps;
    double most = 1.0 / mcc_tcp_loss_ratio (&mcc_tcp_model_default, BYTES, rtt_s, bps);
    most = table[row].queue_ms > 0 ? most : MIN (most, arrived);
    g_test_message ("row %u: %.1f", row, 1.0 / f.input.loss_ratio);
    if (table[row].each)
      g_assert_cmpfloat (each, <, most);
    g_assert_cmpfloat_with_epsilon (
        1.0 / f.input.loss_ratio, table[row].each ? each : most, 1e-6 * most);
    mcc_asmp_path_clear (&f.path);
  }
}

/* Once, by the first decision that knows an RTT; intervals that were measured until then stay. */
static void
seeded_once (void)
{
  static const struct {
    guint losses; /* before the RTT is known */
    gboolean seeded;
  } table[] = { { 1, TRUE }, { 2, TRUE }, { 3, FALSE }, { 5, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    for (guint i = 0; i < table[row].losses; i++) {
      stream (&f, 96);
      lose (&f); /* RTT 500 ms: 1 s apart, each its own */
    }
    g_assert_cmpuint (mcc_loss_events (f.path.loss), ==, table[row].losses);
    double before = f.input.loss_ratio;
    g_assert_cmpfloat_with_epsilon (before, 0.01, 0.0005);
    measure_rtt (&f, 400 * MCC_MSECOND);
    decide (&f);
    double rtt_packets = table[row].losses > 1 ? packets_in (&f, 0.4) : 0.0;
    if (table[row].seeded)
      g_assert_cmpfloat_with_epsilon (1.0 / f.input.loss_ratio, 99 + rtt_packets, 1e-6);
    else
      g_assert_cmpfloat (f.input.loss_ratio, ==, before);
    double seeded = f.input.loss_ratio;
    measure_rtt (&f, 40 * MCC_MSECOND);
    stream (&f, 30);
    g_assert_cmpfloat (carried (&f), >, 2.0 * seeded);
    g_assert_cmpfloat (f.input.loss_ratio, ==, seeded);
    mcc_asmp_path_clear (&f.path);
  }
}

/* A path whose marks say nothing: the history begins anew, and the first loss of it is seeded as
 * the first one of all. */
static void
seeded_after_broken_ecn (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_ENHANCED);
  stream (&f, 50);
  measure_rtt (&f, 400 * MCC_MSECOND);
  stream (&f, 500);
  lose (&f);
  stream (&f, 100);
  lose (&f);
  g_assert_cmpfloat (f.input.loss_ratio, >, 0.0);
  f.path.ecn.ect1 = 2;
  f.ecn = MCC_ECN_ECT1;
  stream (&f, 1);
  g_assert_cmpint (mcc_ecn_path (&f.path.ecn), ==, MCC_ECN_PATH_BROKEN);
  f.ecn = MCC_ECN_NOT_ECT;
  stream (&f, 2000);
  g_assert_cmpfloat (f.input.loss_ratio, ==, 0.0);
  f.delay += 12 * MCC_MSECOND; /* a queue */
  lose (&f);
  g_assert_cmpfloat_with_epsilon (carried (&f) / f.input.loss_ratio, 1.0, 0.12);
  mcc_asmp_path_clear (&f.path);
}

/* Others, or the stream's lower bound, kept the rate down: what arrived says nothing of the path.
 */
static void
held_down (void)
{
  for (guint held = 0; held < 2; held++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    f.input.held_down = held;
    stream (&f, 50);
    measure_rtt (&f, 450 * MCC_MSECOND);
    stream (&f, 3950);
    f.delay += 12 * MCC_MSECOND; /* a queue */
    lose (&f);
    if (held)
      g_assert_cmpfloat_with_epsilon (1.0 / f.input.loss_ratio, 4003, 5);
    else
      g_assert_cmpfloat_with_epsilon (carried (&f) / f.input.loss_ratio, 1.0, 0.12);
    mcc_asmp_path_clear (&f.path);
  }
}

static void
published_is_not_seeded (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_PUBLISHED);
  stream (&f, 50);
  measure_rtt (&f, 450 * MCC_MSECOND);
  stream (&f, 1949);
  f.delay += 12 * MCC_MSECOND;
  lose (&f);
  g_assert_cmpfloat_with_epsilon (f.input.loss_ratio, 1.0 / 1999, 1e-9);
  mcc_asmp_path_clear (&f.path);
}

/* Others come: one interval of the share stands for what was lost before, at the RTT of a queue
 * that TCP fills, unless more was lost than that, or the share is below what arrives anyway. */
static void
rivals_come (void)
{
  static const struct {
    guint64 share_bps;
    gboolean lost; /* once when we came, and again when they did ... */
    guint more;    /* ... and so often */
    guint queue_ms;
    gboolean held_down;
    gdouble bps; /* what the ratio gives; 0: as before */
    guint rtt_ms;
  } table[] = { { 1600000, TRUE, 0, 0, FALSE, 1600000, 200 },
    { 1200000, TRUE, 0, 200, FALSE, 1200000, 300 }, { 400000, TRUE, 0, 0, FALSE, RATE_BPS, 200 },
    { 1600000, FALSE, 0, 0, FALSE, 0, 0 }, { 1600000, TRUE, 0, 0, TRUE, 0, 0 },
    { 1600000, TRUE, 12, 0, FALSE, 0, 0 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    stream (&f, 50);
    measure_rtt (&f, 200 * MCC_MSECOND);
    if (table[row].lost)
      lose (&f);
    stream (&f, 3000);
    f.delay += table[row].queue_ms * MCC_MSECOND;
    stream (&f, 100);
    f.delay -= table[row].queue_ms * MCC_MSECOND;
    if (table[row].lost)
      lose (&f);
    for (guint i = 0; i < table[row].more; i++) {
      stream (&f, 40);
      lose (&f);
    }
    stream (&f, 40);
    decide (&f);
    double before = f.input.loss_ratio;
    f.input.held_down = table[row].held_down;
    mcc_asmp_path_meet_rivals (&f.path, &f.input, table[row].share_bps);
    double after = mcc_loss_ratio (f.path.loss);
    g_test_message ("row %u: %.5f -> %.5f", row, before, after);
    if (table[row].bps > 0.0) {
      double gives = mcc_tcp_loss_ratio (
          &mcc_tcp_model_default, BYTES, table[row].rtt_ms / 1e3, table[row].bps);
      g_assert_cmpfloat (after, >, before);
      g_assert_cmpfloat_with_epsilon (after / gives, 1.0, 0.12); /* the meter's slots */
    } else {
      g_assert_cmpfloat (after, ==, before);
    }
    mcc_asmp_path_clear (&f.path);
  }
}

/* What waited in our socket while we were absent says nothing of the link. */
static void
absence_proves_no_capacity (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_ENHANCED);
  stream (&f, 100);
  MccTime since = f.now - 900 * MCC_MSECOND;
  g_assert_cmpuint (mcc_capacity_proven_bps (f.input.capacity, since, f.now), >, 700000);
  f.now += MCC_SECOND;
  mcc_asmp_path_excuse (&f.path, f.now);
  g_assert_cmpuint (mcc_capacity_proven_bps (f.input.capacity, since, f.now), ==, 0);
  mcc_asmp_path_clear (&f.path);
}

/* A marked packet is a loss event of the equation, and no loss; published heeds none. */
static void
marks (void)
{
  for (guint i = 0; i < 2; i++) {
    MccVariant variant = i == 0 ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED;
    PathFixture f;
    path_init (&f, variant);
    mcc_asmp_path_handle_ect (&f.path, true);
    f.ecn = MCC_ECN_ECT0;
    stream (&f, 50);
    measure_rtt (&f, 200 * MCC_MSECOND);
    stream (&f, 49);
    decide (&f);
    g_assert_false (f.input.loss_in_interval);
    f.ecn = MCC_ECN_CE;
    stream (&f, 1);
    f.ecn = MCC_ECN_ECT0;
    stream (&f, 3);
    g_assert_true (mcc_asmp_path_poll_loss_event (&f.path) == (i == 0));
    decide (&f);
    g_assert_true (f.input.loss_in_interval == (i == 0));
    g_assert_true (f.input.marked_alone == (i == 0));
    g_assert_true ((f.input.loss_ratio > 0.0) == (i == 0));
    g_assert_cmpuint (mcc_loss_packets_lost (f.path.loss), ==, 0);
    g_assert_cmpfloat (mcc_asmp_path_lost_ratio (&f.path), ==, 0.0);
    f.ecn = MCC_ECN_CE;
    lose (&f);
    g_assert_true (f.input.loss_in_interval);
    g_assert_false (f.input.marked_alone);
    mcc_asmp_path_clear (&f.path);
  }
}

/* While two streams share the path its queue says nothing of either. */
static void
marks_are_excused (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_ENHANCED);
  f.ecn = MCC_ECN_ECT0;
  stream (&f, 50);
  mcc_asmp_path_excuse_losses (&f.path, f.now + 500 * MCC_MSECOND);
  f.ecn = MCC_ECN_CE;
  stream (&f, 49);
  g_assert_cmpuint (mcc_loss_events (f.path.loss), ==, 0);
  stream (&f, 1);
  g_assert_cmpuint (mcc_loss_events (f.path.loss), ==, 1);
  mcc_asmp_path_clear (&f.path);
}

/* Where every packet is marked the history of marks is none. Losses count. */
static void
broken_marks (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_ENHANCED);
  mcc_asmp_path_handle_ect (&f.path, true);
  f.ecn = MCC_ECN_CE;
  stream (&f, 50);
  measure_rtt (&f, 100 * MCC_MSECOND);
  stream (&f, 240);
  g_assert_cmpfloat (f.input.loss_ratio, >, 0.05);
  stream (&f, 30);
  g_assert_cmpfloat (f.input.loss_ratio, ==, 0.0);
  stream (&f, 200);
  g_assert_cmpfloat (f.input.loss_ratio, ==, 0.0);
  lose (&f);
  g_assert_cmpfloat (f.input.loss_ratio, >, 0.0);
  g_assert_false (f.input.marked_alone);
  mcc_asmp_path_clear (&f.path);
}

/* A silence as soon as ECT is announced was a pause when nothing is missing behind it. */
static void
silent_ect (void)
{
  for (guint missing = 0; missing < 2; missing++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    stream (&f, 100);
    mcc_asmp_path_handle_ect (&f.path, true);
    f.now += 3 * MCC_SECOND;
    mcc_ecn_handle_silence (&f.path.ecn, f.now);
    g_assert_cmpint (mcc_ecn_path (&f.path.ecn), ==, MCC_ECN_PATH_BROKEN);
    mcc_asmp_path_handle_ect (&f.path, false);
    f.seq += 300 * missing;
    stream (&f, 4000);
    g_assert_cmpint (
        mcc_ecn_path (&f.path.ecn), ==, missing ? MCC_ECN_PATH_BROKEN : MCC_ECN_PATH_NONE);
    g_assert_cmpuint (mcc_loss_packets_lost (f.path.loss), ==, 0);
    mcc_asmp_path_clear (&f.path);
  }
}

/* Losses at the top of the queue are an overflow, those at any length of it are not; marks never.
 */
static void
overflow (void)
{
  static const struct {
    guint top,
        every; /* packets: the queue's sawtooth; one is lost when it is at its top, or each */
    gboolean marked;
    double least, most;
  } table[] = { { 60, 0, FALSE, 1, 1 }, { 60, 37, FALSE, 0, 0.5 }, { 0, 37, FALSE, 0, 0 },
    { 60, 0, TRUE, 0, 0 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    mcc_asmp_path_handle_ect (&f.path, table[row].marked);
    stream (&f, 50);
    measure_rtt (&f, 50 * MCC_MSECOND);
    for (guint i = 1; i <= 6000; i++) {
      guint phase = table[row].top > 0 ? i % (table[row].top + 1) : 0;
      gboolean at = table[row].every > 0 ? i % table[row].every == 0 : phase == table[row].top;
      f.delay = DELAY + phase * MCC_MSECOND;
      f.ecn = table[row].marked ? at ? MCC_ECN_CE : MCC_ECN_ECT0 : MCC_ECN_NOT_ECT;
      f.seq += at && !table[row].marked ? 1 : 0;
      stream (&f, 1);
    }
    decide (&f);
    g_test_message ("row %u: %.2f", row, f.input.overflow_share);
    g_assert_cmpfloat (f.input.overflow_share, >=, table[row].least);
    g_assert_cmpfloat (f.input.overflow_share, <=, table[row].most);
    mcc_asmp_path_clear (&f.path);
  }
}

/* The controller, begun anew for another stream, takes no loss of the one before for its own. */
static void
test_loss_before_splice (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_ENHANCED);
  stream (&f, 100);
  g_assert_cmpuint (f.input.last_loss_event, ==, MCC_TIME_NONE);
  f.seq += 1;
  stream (&f, 100);
  g_assert_cmpuint (f.input.last_loss_event, >, T0);
  mcc_asmp_path_splice (&f.path);
  stream (&f, 100);
  g_assert_cmpuint (f.input.last_loss_event, ==, MCC_TIME_NONE);
  f.seq += 1;
  MccTime lost = f.now;
  stream (&f, 100);
  g_assert_cmpuint (f.input.last_loss_event, >=, lost);
  g_assert_cmpuint (f.input.last_loss_event, <, MCC_TIME_NONE);
  mcc_asmp_path_clear (&f.path);
}

/* A host that reads late delays nothing on the path: with the time that packets waited in the
 * socket there is no queue, and what a report echoes was held since it came. */
static void
late_reader (void)
{
  for (guint told = 0; told < 2; told++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    stream (&f, 100);
    for (guint i = 0; i < 300; i++) { /* four are read when the fourth comes */
      MccTime came = f.now + (i + 1) * 10 * MCC_MSECOND,
              read = came + (3 - i % 4) * 10 * MCC_MSECOND;
      MccRtpPacket packet = { .seq = f.seq++,
        .bytes = BYTES,
        .has_send_time = true,
        .send_time = mcc_abs_send_time (came - f.delay),
        .waited = told ? read - came : 0 };
      g_assert_true (mcc_asmp_path_handle_packet (&f.path, &packet, read));
      g_assert_cmpuint (f.path.echo_time, ==, told ? came : read);
    }
    g_test_message (
        "%s: %.1f ms", told ? "told" : "not told", (double)f.path.queue_max / MCC_MSECOND);
    if (told)
      g_assert_cmpuint (f.path.queue_max, <, MCC_MSECOND);
    else
      g_assert_cmpuint (f.path.queue_max, >, 25 * MCC_MSECOND);
    /* stamps that are wrong: nothing comes before what came, nor after it is read */
    MccTime now = f.now + 10 * MCC_SECOND, last = f.path.arrival;
    MccRtpPacket packet = { .seq = f.seq++, .bytes = BYTES, .waited = now + 1 };
    g_assert_true (mcc_asmp_path_handle_packet (&f.path, &packet, now));
    g_assert_cmpuint (f.path.arrival, ==, last);
    mcc_asmp_path_clear (&f.path);
  }
}

/* What came since the last decision, how long it took, and how long it was sent for; at first since
 * the announcement. */
static void
since_the_last_decision (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_ENHANCED);
  mcc_asmp_path_handle_announcement (&f.path, mcc_abs_send_time (f.now - f.delay), f.now);
  stream (&f, 10);
  for (guint decision = 0; decision < 3; decision++) {
    g_assert_cmpuint (f.input.sent_bytes, ==, 10 * BYTES);
    g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (f.input.sent_span), 0.1, 1e-4);
    g_assert_cmpuint (f.input.came_span, ==, 100 * MCC_MSECOND);
    stream (&f, 10);
  }
  f.delay += 40 * MCC_MSECOND; /* what came in 100 ms was sent in 60 */
  stream (&f, 10);
  g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (f.input.sent_span), 0.06, 1e-4);
  g_assert_cmpuint (f.input.came_span, ==, 100 * MCC_MSECOND);
  mcc_asmp_path_clear (&f.path);
}

/* We were suspended, and our clock with us: what was sent meanwhile did not get lost. A queue that
 * was drained explains as much as it was. */
static void
own_clock_stood_still (void)
{
  static const struct {
    guint queue_s, stood_s; /* a queue goes at once; our clock stood still */
    guint missing;
    guint lost;
  } table[] = { { 0, 20, 2000, 0 }, { 0, 3, 300, 0 }, { 0, 40, 800, 0 }, { 0, 62, 800, 0 },
    { 0, 100, 800, 0 }, { 1, 0, 30, 30 }, { 6, 0, 30, 30 }, { 6, 3, 300, 0 }, { 0, 1, 30, 30 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, row % 2 ? MCC_VARIANT_PUBLISHED : MCC_VARIANT_ENHANCED);
    stream (&f, 200);
    measure_rtt (&f, 100 * MCC_MSECOND);
    for (guint i = 0; i < 1000; i++) {
      f.delay += table[row].queue_s * MCC_MSECOND;
      stream (&f, 1);
    }
    f.delay -= (table[row].queue_s + table[row].stood_s) * MCC_SECOND;
    f.seq = (guint16)(f.seq + table[row].missing);
    stream (&f, 100);
    g_test_message ("row %u: %d lost", row, (int)mcc_loss_packets_lost (f.path.loss));
    g_assert_cmpuint (mcc_loss_packets_lost (f.path.loss), ==, table[row].lost);
    /* The path is as long as before; a second is not told from one that became shorter. */
    if (f.path.variant == MCC_VARIANT_ENHANCED && table[row].stood_s != 1) {
      g_assert_cmpuint (f.input.rtt, >=, 90 * MCC_MSECOND);
      g_assert_cmpuint (f.input.rtt, <=, 110 * MCC_MSECOND);
    }
    lose (&f);
    g_assert_cmpuint (mcc_loss_packets_lost (f.path.loss), ==, table[row].lost + 1);
    mcc_asmp_path_clear (&f.path);
  }
}

/* A link stands still: a decision right behind it, before anything tells what arrives, does not
 * take that from the one that can use it. */
static void
stop_is_not_forgotten (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_ENHANCED);
  stream (&f, 300);
  measure_rtt (&f, 100 * MCC_MSECOND);
  f.now += 490 * MCC_MSECOND;
  f.delay += 490 * MCC_MSECOND;
  stream (&f, 1);
  g_assert_cmpuint (f.decided, ==, f.now);
  g_assert_cmpuint (f.input.received_now_bps, ==, 0);
  f.delay = DELAY;
  stream (&f, 10);
  g_assert_cmpuint (f.input.received_now_bps, >, 0);
  g_assert_cmpuint (f.input.stood_still, ==, 500 * MCC_MSECOND);
  stream (&f, 10);
  g_assert_cmpuint (f.input.stood_still, ==, 0);
  mcc_asmp_path_clear (&f.path);
}

/* A sender whose send times jump is excused one gap in 10 s. */
static void
sender_clock_jumps (void)
{
  static const struct {
    guint every; /* packets, one is lost with each jump */
    guint excused;
  } table[] = { { 1, 1 }, { 100, 1 }, { 900, 1 }, { 3000, 20 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    stream (&f, 200);
    for (guint i = 0; i < 20; i++) {
      f.delay -= 3 * MCC_SECOND;
      f.seq++;
      stream (&f, table[row].every);
    }
    stream (&f, MCC_LOSS_NDUPACK);
    g_assert_cmpuint (mcc_loss_packets_lost (f.path.loss), ==, 20 - table[row].excused);
    mcc_asmp_path_clear (&f.path);
  }
}

typedef struct {
  PathFixture f;
  gboolean stamped;
  MccTime between; /* packets */
} Blocks;

/* Packets @from to @to arrive, sent when it was their turn. */
static void
arrive (Blocks *b, guint from, guint to)
{
  for (guint n = from; n <= to; n++) {
    b->f.now += b->between;
    MccRtpPacket packet = { .seq = (guint16)(60000 + n),
      .bytes = BYTES,
      .has_send_time = b->stamped,
      .send_time = mcc_abs_send_time (T0 + n * b->between) };
    mcc_asmp_path_handle_packet (&b->f.path, &packet, b->f.now);
  }
}

/* Two paths of unlike length: what is late by more than 100 numbers is late, and no restart. */
static void
late_block (void)
{
  static const struct {
    gboolean stamped, copies;
    guint lost; /* of the block */
  } table[] = { { TRUE, FALSE, 0 }, { FALSE, FALSE, 0 }, { TRUE, TRUE, 0 }, { FALSE, TRUE, 0 },
    { TRUE, FALSE, 1 }, { FALSE, FALSE, 1 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Blocks b = { .stamped = table[row].stamped, .between = 100 * MCC_USECOND };
    path_init (&b.f, MCC_VARIANT_ENHANCED);
    arrive (&b, 1, 1000);
    arrive (&b, 1201, 1349);
    arrive (&b, 1001, 1200 - table[row].lost);
    arrive (&b, 1350, 2000);
    if (table[row].copies) {
      arrive (&b, 1001, 1300);
      arrive (&b, 2001, 2200);
    }
    decide (&b.f);
    const MccLoss *loss = b.f.path.loss;
    g_test_message ("row %u: %d lost, %d events", row, (int)mcc_loss_packets_lost (loss),
        (int)mcc_loss_events (loss));
    g_assert_cmpuint (mcc_loss_packets_lost (loss), ==, table[row].lost);
    g_assert_cmpuint (mcc_loss_events (loss), ==, table[row].lost);
    g_assert_cmpuint (mcc_loss_duplicates (loss), ==, table[row].copies ? 300 : 0);
    g_assert_true ((b.f.input.loss_ratio > 0.0) == (table[row].lost > 0));
    mcc_asmp_path_clear (&b.f.path);
  }
}

/* The link stands for 3 s, its buffer keeps all, and lets it out at ten times the rate: the path is
 * as long as before. */
static void
stop_that_drains (void)
{
  PathFixture f;
  path_init (&f, MCC_VARIANT_ENHANCED);
  stream (&f, 300);
  measure_rtt (&f, 40 * MCC_MSECOND);
  stream (&f, 100);
  g_assert_cmpuint (f.input.rtt, <=, 45 * MCC_MSECOND);
  MccTime sent = f.now - f.delay;
  f.now += 3 * MCC_SECOND;
  for (guint i = 0; f.now > sent + f.delay + 10 * MCC_MSECOND; i++) {
    sent += 10 * MCC_MSECOND;
    f.now += MCC_MSECOND;
    MccRtpPacket packet = {
      .seq = f.seq++, .bytes = BYTES, .has_send_time = true, .send_time = mcc_abs_send_time (sent)
    };
    mcc_asmp_path_handle_packet (&f.path, &packet, f.now);
    if (i % 100 == 99)
      decide (&f);
    g_assert_cmpuint (mcc_rtt_get (&f.path.rtt), >=, 35 * MCC_MSECOND);
  }
  mcc_asmp_path_clear (&f.path);
}

/* Two forwarders that do not know of each other: what arrives is what was sent, once. */
static void
copies_are_not_received (void)
{
  Blocks b = { .stamped = TRUE, .between = 10 * MCC_MSECOND };
  path_init (&b.f, MCC_VARIANT_ENHANCED);
  for (guint n = 1; n <= 1000; n++) {
    arrive (&b, n, n);
    b.f.now -= b.between;
    arrive (&b, n, n);
    if (n % 10 == 0)
      decide (&b.f);
  }
  g_assert_cmpuint (mcc_loss_duplicates (b.f.path.loss), ==, 1000);
  g_assert_cmpfloat_with_epsilon ((double)b.f.input.received_bps, RATE_BPS, 0.1 * RATE_BPS);
  mcc_asmp_path_clear (&b.f.path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmppath/first-loss-not-before-the-first-packet", first_loss);
  g_test_add_func ("/asmppath/first-loss-after-a-trial", first_loss_after_a_trial);
  g_test_add_func ("/asmppath/losses-that-the-initial-rtt-merged", merged_losses);
  g_test_add_func ("/asmppath/seeded-once", seeded_once);
  g_test_add_func ("/asmppath/seeded-after-broken-ecn", seeded_after_broken_ecn);
  g_test_add_func ("/asmppath/held-down-is-not-seeded-with-it", held_down);
  g_test_add_func ("/asmppath/published-is-not-seeded", published_is_not_seeded);
  g_test_add_func ("/asmppath/rivals-come", rivals_come);
  g_test_add_func ("/asmppath/absence-proves-no-capacity", absence_proves_no_capacity);
  g_test_add_func ("/asmppath/losses-of-a-full-queue", overflow);
  g_test_add_func ("/asmppath/who-reads-late-has-no-queue", late_reader);
  g_test_add_func ("/asmppath/since-the-last-decision", since_the_last_decision);
  g_test_add_func ("/asmppath/our-clock-stood-still", own_clock_stood_still);
  g_test_add_func ("/asmppath/stop-is-not-forgotten", stop_is_not_forgotten);
  g_test_add_func ("/asmppath/send-times-that-jump-excuse-nothing", sender_clock_jumps);
  g_test_add_func ("/asmppath/late-block-is-no-restart", late_block);
  g_test_add_func ("/asmppath/stop-that-drains", stop_that_drains);
  g_test_add_func ("/asmppath/copies-are-not-received", copies_are_not_received);
  g_test_add_func ("/asmppath/ecn/a-mark-is-an-event-and-no-loss", marks);
  g_test_add_func ("/asmppath/ecn/marks-of-a-switch-are-excused", marks_are_excused);
  g_test_add_func ("/asmppath/ecn/broken-marks-are-forgotten", broken_marks);
  g_test_add_func ("/asmppath/ecn/silence-may-be-a-pause", silent_ect);
  g_test_add_func ("/asmppath/losses-before-another-stream", test_loss_before_splice);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A receiver that no announcement reaches: they are lost where the link is overloaded. Its
 * reports are so large that the regular ones are ten seconds apart and more; only an early one can
 * tell in time.
 */
#include <glib.h>

#include "mccasmpreceiver.h"
#include "mccjitter.h"
#include "mccrtcp.h"

#define T0 (5432 * MCC_SECOND)
#define OURS 0xaaaau
#define SENDER 0x51u
#define COMPOUND_BYTES 20000
#define BYTES 1000

typedef struct {
  MccAsmpReceiver *receiver;
  MccTime now, delay;
  guint16 seq;
  guint reports;
  MccAppReport report; /* newest */
  MccTime report_time;
} Fixture;

static void
drain (Fixture *f)
{
  MccReceiverAction action;
  while (mcc_asmp_receiver_poll (f->receiver, &action)) {
    if (action.type != MCC_RECEIVER_SEND_REPORT)
      continue;
    f->reports++;
    f->report = action.report;
    f->report_time = f->now;
  }
}

static void
advance (Fixture *f, MccTime time)
{
  MccTime until = f->now + time;
  for (MccTime next; (next = mcc_asmp_receiver_next_timeout (f->receiver)) <= until;) {
    f->now = MAX (next, f->now);
    mcc_asmp_receiver_handle_timeout (f->receiver, f->now);
    drain (f);
  }
  f->now = until;
}

/* @seconds of a stream of @bps, of which each @nth packet arrives. */
static void
stream (Fixture *f, double seconds, guint64 bps, guint nth)
{
  MccTime gap = 8 * BYTES * MCC_SECOND / bps;
  for (MccTime end = f->now + mcc_time_from_seconds (seconds); f->now < end;) {
    advance (f, gap);
    if (++f->seq % nth != 0)
      continue;
    MccRtpPacket packet = { .ssrc = SENDER,
      .seq = f->seq,
      .bytes = BYTES,
      .has_send_time = true,
      .send_time = mcc_abs_send_time (f->now - f->delay) };
    mcc_asmp_receiver_handle_rtp (f->receiver, &packet, NULL, f->now);
    drain (f);
  }
}

static void
start (Fixture *f, guint64 start_bps, guint32 compound_bytes)
{
  MccAsmpReceiverConfig config = { .variant = MCC_VARIANT_ENHANCED,
    .ssrc = OURS,
    .seed = 7,
    .start_bps = start_bps,
    .compound_bytes = compound_bytes };
  memset (f, 0, sizeof *f);
  f->now = T0;
  f->delay = 20 * MCC_MSECOND;
  f->seq = 65400;
  f->receiver = mcc_asmp_receiver_new (&config, T0);
}

/* Follows a stream, knows its RTT, has told its first rate. */
static void
init (Fixture *f, guint64 start_bps, guint64 bps)
{
  start (f, start_bps, COMPOUND_BYTES);
  for (guint i = 0; i < 100 && f->reports == 0; i++)
    stream (f, 0.1, bps, 1);
  g_assert_cmpuint (f->reports, ==, 1);
  MccApp list = { .ssrc = SENDER, .subtype = MCC_APP_RTT };
  list.rtt.count = 1;
  list.rtt.entry[0]
      = (MccAppRtt){ .ssrc = OURS, .number = f->report.number, .rtt = 45 * MCC_MSECOND };
  g_assert_cmpint (mcc_asmp_receiver_handle_app (f->receiver, &list, f->now), ==, MCC_DROP_NONE);
  stream (f, 2.0, bps, 1);
  g_assert_cmpuint (f->reports, ==, 2);
  g_assert_cmpuint (f->report.flags & MCC_REPORT_NO_LIMIT, ==, 0);
  stream (f, 2.0, bps, 1);
  g_assert_cmpuint (f->reports, ==, 2);
}

static guint64
rate_bps (const Fixture *f)
{
  MccAsmpReceiverStats stats;
  mcc_asmp_receiver_get_stats (f->receiver, f->now, &stats);
  g_assert_cmpuint (stats.announced_bps, ==, 0);
  return stats.estimated_bps;
}

/* The queue grows while @nth of @bps arrive; returns the time until a report, at most 3 s. */
static double
overload (Fixture *f, guint64 bps, guint nth)
{
  MccTime begin = f->now;
  guint before = f->reports;
  for (guint i = 0; i < 30 && f->reports == before; i++) {
    f->delay = MIN (f->delay + 30 * MCC_MSECOND, 300 * MCC_MSECOND);
    stream (f, 0.1, bps, nth);
  }
  return mcc_time_to_seconds (f->now - begin);
}

/* 800 kb/s arrive, far above the start rate; then half of them, with a queue. */
static void
below_what_arrives (void)
{
  Fixture f;
  init (&f, 150000, 800000);
  g_assert_cmpuint (rate_bps (&f), >=, 800000);
  double time_s = overload (&f, 800000, 2);
  g_test_message ("after %.3f s, %d kb/s", time_s, (int)(f.report.rate_bps / 1000));
  g_assert_cmpfloat (time_s, <, 0.8);
  g_assert_cmpuint (f.report.rate_bps, <, 750000);
  g_assert_cmpuint (f.report.rate_bps, >, 150000); /* which would be no news */
  mcc_asmp_receiver_free (f.receiver);
}

/* As much arrives as our rate allows: no news. */
static void
above_what_arrives (void)
{
  Fixture f;
  init (&f, 150000, 800000);
  g_assert_cmpuint (rate_bps (&f), >=, 800000);
  stream (&f, 1.5, 800000, 1);
  stream (&f, 1.5, 600000, 1); /* the encoder has less to say */
  g_assert_cmpuint (f.reports, ==, 2);
  mcc_asmp_receiver_free (f.receiver);
}

/* Less arrives than the start rate, which the sender may take. */
static void
below_the_start_rate (void)
{
  Fixture f;
  init (&f, 600000, 300000);
  g_assert_cmpuint (rate_bps (&f), >=, 600000);
  double time_s = overload (&f, 300000, 1);
  g_test_message ("after %.3f s, %d kb/s", time_s, (int)(f.report.rate_bps / 1000));
  g_assert_cmpfloat (time_s, <, 0.8);
  g_assert_cmpuint (f.report.rate_bps, <, 590000);
  mcc_asmp_receiver_free (f.receiver);
}

/* RTCP has its share of what is sent: of what arrives, or of the start rate if that is more. */
static void
share_of_what_arrives (void)
{
  static const struct {
    guint64 start_bps, bps, target_bps;
  } table[]
      = { { 150000, 300000, 300000 }, { 150000, 600000, 600000 }, { 600000, 300000, 600000 } };
  const double share
      = MCC_RTCP_RECEIVER_SHARE * (1.0 - MCC_RTCP_REGULAR_SHARE) - MCC_RTCP_LIMITING_SHARE;
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    start (&f, table[row].start_bps, 2000);
    stream (&f, 10.0, table[row].bps, 1);
    guint before = f.reports;
    stream (&f, 400.0, table[row].bps, 1);
    double mean_s = mcc_time_to_seconds (
                        mcc_rtcp_interval (table[row].target_bps, UINT64_MAX, share, 1, 2000))
                    / MCC_RTCP_COMPENSATION;
    double reports = f.reports - before;
    g_test_message ("row %u: %.0f reports, %.1f expected", row, reports, 400.0 / mean_s);
    g_assert_cmpfloat_with_epsilon (reports * mean_s / 400.0, 1.0, 0.12);
    mcc_asmp_receiver_free (f.receiver);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-receiver/unheard/below-what-arrives-is-news", below_what_arrives);
  g_test_add_func ("/asmp-receiver/unheard/above-it-is-none", above_what_arrives);
  g_test_add_func ("/asmp-receiver/unheard/below-the-start-rate-is-news", below_the_start_rate);
  g_test_add_func ("/asmp-receiver/unheard/share-of-what-arrives", share_of_what_arrives);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whose reports a receiver that joins others takes for those of its company, and for how long.
 */
#include "asmp_receiver_fixture.h"

#define OTHER 0x77u
#define OTHERS_BPS 1500000u

/* 800 kb/s arrive, with five loss events; @limiting limits. */
static void
join (Fixture *f, const MccAsmpReceiverConfig *config, guint32 limiting)
{
  init (f, config);
  f->session.receivers = 3;
  f->session.limiting_ssrc = limiting;
  announce (f);
  stream (f, 1.0);
  answer_rtt (f, 50 * MCC_MSECOND);
  for (guint i = 0; i < 5; i++) {
    f->seq++;
    stream (f, 0.1);
  }
}

/* The other one reports, @away (both ways) from where our paths part. */
static void
hear (Fixture *f, guint32 number, guint32 flags, MccTime away)
{
  MccTime sent = f->now - f->delay - 10 * MCC_MSECOND * (1 + away / (10 * MCC_MSECOND));
  MccApp app = { .ssrc = OTHER, .subtype = MCC_APP_REPORT };
  app.report = (MccAppReport){ .number = number,
    .flags = MCC_REPORT_ECHO | flags,
    .rate_bps = OTHERS_BPS,
    .received_bps = 800000,
    .loss_ratio = 0.01,
    .rtt = 50 * MCC_MSECOND,
    .queue_delay = 60 * MCC_MSECOND,
    .echo = mcc_abs_send_time (sent),
    .hold = f->now - sent - f->delay - away };
  g_assert_cmpint (mcc_asmp_receiver_handle_app (f->receiver, &app, f->now), ==, MCC_DROP_NONE);
  drain (f);
}

static gboolean
is_lifted (Fixture *f)
{
  stream (f, 0.2);
  return stats (f).estimated_bps == OTHERS_BPS;
}

static void
whom (void)
{
  static const struct {
    const char *name;
    MccVariant variant;
    bool deaf, unbounded;
    guint32 limiting, number, flags;
    guint away_ms;
    gboolean lifted;
  } table[] = {
    { "near", MCC_VARIANT_ENHANCED, false, false, OTHER, 4000, MCC_REPORT_RTT_MEASURED, 2, TRUE },
    { "far", MCC_VARIANT_ENHANCED, false, false, OTHER, 4000, MCC_REPORT_RTT_MEASURED, 30, FALSE },
    { "has just come, too", MCC_VARIANT_ENHANCED, false, false, OTHER, 3, MCC_REPORT_RTT_MEASURED,
        2, FALSE },
    { "its RTT is not known", MCC_VARIANT_ENHANCED, false, false, OTHER, 4000, 0, 2, FALSE },
    { "has no limit", MCC_VARIANT_ENHANCED, false, false, OTHER, 4000,
        MCC_REPORT_RTT_MEASURED | MCC_REPORT_NO_LIMIT, 2, FALSE },
    { "leaves", MCC_VARIANT_ENHANCED, false, false, OTHER, 4000,
        MCC_REPORT_RTT_MEASURED | MCC_REPORT_LEAVING, 2, FALSE },
    { "nobody limits", MCC_VARIANT_ENHANCED, false, false, 0, 4000, MCC_REPORT_RTT_MEASURED, 2,
        FALSE },
    { "we limit", MCC_VARIANT_ENHANCED, false, false, OURS, 4000, MCC_REPORT_RTT_MEASURED, 2,
        FALSE },
    { "published", MCC_VARIANT_PUBLISHED, false, false, OTHER, 4000, MCC_REPORT_RTT_MEASURED, 2,
        FALSE },
    { "unicast", MCC_VARIANT_ENHANCED, true, false, OTHER, 4000, MCC_REPORT_RTT_MEASURED, 2,
        FALSE },
    { "of several streams", MCC_VARIANT_ENHANCED, false, true, OTHER, 4000, MCC_REPORT_RTT_MEASURED,
        2, FALSE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    const MccAsmpReceiverConfig config = { .variant = table[row].variant,
      .ssrc = OURS,
      .seed = 7,
      .hears_group = !table[row].deaf,
      .unbounded = table[row].unbounded };
    Fixture f;
    g_test_message ("%s", table[row].name);
    join (&f, &config, table[row].limiting);
    g_assert_cmpuint (stats (&f).estimated_bps, <, OTHERS_BPS);
    hear (&f, table[row].number, table[row].flags, table[row].away_ms * MCC_MSECOND);
    g_assert_cmpint (is_lifted (&f), ==, table[row].lifted);
    clear (&f);
  }
}

static void
how_long (void)
{
  Fixture f;
  join (&f, NULL, OTHER);
  g_assert_cmpuint (stats (&f).estimated_bps, <, OTHERS_BPS);
  for (guint i = 0; i < 4; i++) {
    announce (&f);
    hear (&f, 4000, MCC_REPORT_RTT_MEASURED, 2 * MCC_MSECOND);
    g_assert_true (is_lifted (&f));
    stream (&f, 0.8);
    /* What is told the host is reported, too. */
    g_assert_cmpuint (f.report.rate_bps, ==, OTHERS_BPS);
  }
  stream (&f, 1.0);
  hear (&f, 4000, MCC_REPORT_RTT_MEASURED, 2 * MCC_MSECOND);
  stream (&f, 1.0);
  g_assert_cmpuint (stats (&f).estimated_bps, !=, OTHERS_BPS);
  clear (&f);
}

/* Who is there again after a BYE, which anybody may forge, has seen the queue before; the stream of
 * another sender is another one, and nothing that was heard in the old one counts there. */
static void
again (void)
{
  Fixture f;
  join (&f, NULL, OTHER);
  stream (&f, 7.0);
  mcc_asmp_receiver_handle_bye (f.receiver, SENDER, f.now);
  announce (&f);
  for (guint i = 0; i < 5; i++) {
    f.seq++;
    stream (&f, 0.1);
  }
  g_assert_cmpuint (stats (&f).estimated_bps, <, OTHERS_BPS);
  hear (&f, 4000, MCC_REPORT_RTT_MEASURED, 2 * MCC_MSECOND);
  stream (&f, 0.5); /* a decision, without an RTT */
  g_assert_false (is_lifted (&f));
  clear (&f);

  join (&f, NULL, OTHER);
  hear (&f, 4000, MCC_REPORT_RTT_MEASURED, 2 * MCC_MSECOND);
  g_assert_true (is_lifted (&f));
  mcc_asmp_receiver_handle_bye (f.receiver, SENDER, f.now);
  drain (&f);
  g_assert_cmpuint (stats (&f).estimated_bps, !=, OTHERS_BPS);
  for (guint i = 0; i < 50; i++) {
    advance (&f, f.now + 10 * MCC_MSECOND);
    rtp (&f, SENDER + 1, (guint16)i);
    g_assert_cmpuint (stats (&f).estimated_bps, !=, OTHERS_BPS);
  }
  clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpreceiver/company/whom", whom);
  g_test_add_func ("/asmpreceiver/company/how-long", how_long);
  g_test_add_func ("/asmpreceiver/company/again", again);
  return g_test_run ();
}

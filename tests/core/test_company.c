/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who joins states what those behind the same queue state, as long as nothing says that another
 * link limits it.
 */
#include <glib.h>

#include "mcccompany.h"

#define T0 (777 * MCC_SECOND)
#define KBPS UINT64_C (1000)
#define OWN (200 * KBPS)

typedef struct {
  MccCompany company;
  MccCompanyInput input;
} Fixture;

/* Receives 300 kb/s, 37 packets/s, behind a queue of 40 ms; its own rate is lower. */
static void
init (Fixture *f)
{
  mcc_company_init (&f->company);
  mcc_company_join (&f->company);
  f->input = (MccCompanyInput){ .now = T0,
    .rate_bps = OWN,
    .received_bps = 300 * KBPS,
    .target_bps = 310 * KBPS,
    .queue = 40 * MCC_MSECOND,
    .packets = 1000,
    .packets_lost = 3 };
}

static void
hear (Fixture *f, guint32 ssrc, guint64 kbps)
{
  const MccAppReport report
      = { .rate_bps = kbps * KBPS, .loss_ratio = 0.02, .queue_delay = 50 * MCC_MSECOND };
  mcc_company_hear (&f->company, ssrc, &report, f->input.now);
}

static guint64
decide (Fixture *f)
{
  f->input.now += 100 * MCC_MSECOND;
  f->input.packets += 4;
  return mcc_company_rate_bps (&f->company, &f->input);
}

static void
states_the_lowest (void)
{
  Fixture f;
  init (&f);
  g_assert_cmpuint (decide (&f), ==, OWN);
  hear (&f, 1, 400);
  hear (&f, 2, 500);
  g_assert_cmpuint (decide (&f), ==, 400 * KBPS);
  /* Each has one voice, and may change its mind. */
  hear (&f, 1, 550);
  g_assert_cmpuint (decide (&f), ==, 500 * KBPS);
  /* No more than twice what arrives. */
  hear (&f, 2, 5000);
  hear (&f, 1, 5000);
  g_assert_cmpuint (decide (&f), ==, 600 * KBPS);
  hear (&f, 3, 100);
  g_assert_cmpuint (decide (&f), ==, OWN);
}

/* Many high ones crowd no low one out, and what was said long ago does not count. */
static void
keeps_the_lowest (void)
{
  Fixture f;
  init (&f);
  hear (&f, 1, 350);
  for (guint i = 2; i < 100; i++)
    hear (&f, i, 500 + i);
  g_assert_cmpuint (decide (&f), ==, 350 * KBPS);
  f.input.now += 3900 * MCC_MSECOND;
  hear (&f, 5, 450);
  g_assert_cmpuint (decide (&f), ==, 450 * KBPS);
  f.input.now += 3900 * MCC_MSECOND;
  g_assert_cmpuint (decide (&f), ==, OWN);
}

static void
is_new_for_a_while (void)
{
  Fixture f;
  guint lifted = 0;
  init (&f);
  for (guint i = 0; i < 200; i++) {
    hear (&f, 1, 400);
    lifted += decide (&f) > OWN;
  }
  g_assert_cmpuint (lifted, ==, MCC_COMPANY_TIME / (100 * MCC_MSECOND));
}

static void
was_there_before (void)
{
  Fixture f;
  init (&f);
  mcc_company_init (&f.company);
  hear (&f, 1, 400);
  g_assert_cmpuint (decide (&f), ==, OWN);
}

/* Not now, but again when it has passed; or never again. */
static void
another_link (void)
{
  static const struct {
    const char *name;
    guint64 received_kbps;
    guint queue_ms, lost;
    gboolean now, later;
  } table[] = {
    { "as they", 300, 40, 0, TRUE, TRUE },
    { "its queue is a little longer", 300, 65, 0, TRUE, TRUE },
    { "its queue is longer", 300, 75, 0, FALSE, TRUE },
    { "its queue is much longer", 300, 135, 0, FALSE, TRUE },
    { "its queue is far longer", 300, 145, 0, FALSE, FALSE },
    { "not all that is sent arrives", 240, 40, 0, FALSE, TRUE },
    { "it loses as much, and chance", 300, 40, 2, TRUE, TRUE },
    { "it loses more", 300, 40, 3, FALSE, FALSE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    init (&f);
    hear (&f, 1, 400);
    decide (&f);
    g_test_message ("%s", table[row].name);
    f.input.received_bps = table[row].received_kbps * KBPS;
    f.input.queue = table[row].queue_ms * MCC_MSECOND;
    f.input.packets_lost += table[row].lost;
    g_assert_cmpuint (decide (&f), ==, table[row].now ? 400 * KBPS : OWN);
    f.input.received_bps = 300 * KBPS;
    f.input.queue = 40 * MCC_MSECOND;
    f.input.packets_lost = 3;
    g_assert_cmpuint (decide (&f), ==, table[row].later ? 400 * KBPS : OWN);
  }
}

/* Who loses what they lose is not sent away by it: 2 % of 37 packets/s are 4 in 6 s. */
static void
loses_what_they_lose (void)
{
  Fixture f;
  guint lifted = 0;
  init (&f);
  for (guint i = 0; i < 59; i++) {
    hear (&f, 1, 400);
    f.input.packets_lost += i % 12 == 6;
    lifted += decide (&f) > OWN;
  }
  g_assert_cmpuint (lifted, ==, 59);
}

/* A long queue may differ by more. */
static void
long_queues (void)
{
  const MccAppReport report
      = { .rate_bps = 400 * KBPS, .loss_ratio = 0.02, .queue_delay = 400 * MCC_MSECOND };
  Fixture f;
  init (&f);
  mcc_company_hear (&f.company, 1, &report, f.input.now);
  f.input.queue = 490 * MCC_MSECOND;
  g_assert_cmpuint (decide (&f), ==, 400 * KBPS);
  f.input.queue = 510 * MCC_MSECOND;
  g_assert_cmpuint (decide (&f), ==, OWN);
}

/* Three times what they lose is another link's in the end: 12 of 200 packets, 4 are usual. */
static void
loses_more_each_second (void)
{
  Fixture f;
  init (&f);
  for (guint i = 0; i < 50; i++) {
    hear (&f, 1, 400);
    f.input.packets_lost += i % 4 == 3;
    decide (&f);
  }
  g_assert_cmpuint (decide (&f), ==, OWN);
}

/* A packet that comes late is no loss any more, also one of before the first decision. */
static void
late_packet (void)
{
  Fixture f;
  init (&f);
  hear (&f, 1, 400);
  decide (&f);
  f.input.packets_lost--;
  g_assert_cmpuint (decide (&f), ==, 400 * KBPS);
  f.input.packets_lost += 2;
  decide (&f);
  f.input.packets_lost--;
  decide (&f);
  f.input.packets_lost += 2;
  g_assert_cmpuint (decide (&f), ==, 400 * KBPS);
}

/* While nobody is heard nothing says how much is usually lost. */
static void
heard_late (void)
{
  Fixture f;
  init (&f);
  for (guint i = 0; i < 40; i++) {
    f.input.packets_lost += i % 8 == 0;
    g_assert_cmpuint (decide (&f), ==, OWN);
  }
  hear (&f, 1, 400);
  g_assert_cmpuint (decide (&f), ==, 400 * KBPS);
}

/* Nor does a higher one's queue or loss, however large he says they are, excuse ours. */
static void
one_lies (void)
{
  const MccAppReport lie
      = { .rate_bps = 9000 * KBPS, .loss_ratio = 1.0, .queue_delay = 10 * MCC_SECOND };
  Fixture f;
  init (&f);
  hear (&f, 1, 400);
  mcc_company_hear (&f.company, 2, &lie, f.input.now);
  f.input.queue = 135 * MCC_MSECOND;
  g_assert_cmpuint (decide (&f), ==, OWN);
  f.input.queue = 40 * MCC_MSECOND;
  g_assert_cmpuint (decide (&f), ==, 400 * KBPS);
  f.input.packets_lost += 4;
  g_assert_cmpuint (decide (&f), ==, OWN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/company/states-the-lowest", states_the_lowest);
  g_test_add_func ("/company/keeps-the-lowest", keeps_the_lowest);
  g_test_add_func ("/company/is-new-for-a-while", is_new_for_a_while);
  g_test_add_func ("/company/was-there-before", was_there_before);
  g_test_add_func ("/company/another-link", another_link);
  g_test_add_func ("/company/loses-what-they-lose", loses_what_they_lose);
  g_test_add_func ("/company/long-queues", long_queues);
  g_test_add_func ("/company/loses-more-each-second", loses_more_each_second);
  g_test_add_func ("/company/late-packet", late_packet);
  g_test_add_func ("/company/heard-late", heard_late);
  g_test_add_func ("/company/one-lies", one_lies);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an ASSP receiver makes of other receivers' reports.
 */
#include "assp_receiver_fixture.h"

/* A report of a fellow in @stream. */
static void
hear (Fixture *self, unsigned stream, const MccAppReport *report)
{
  MccAsspApp app = { .ssrc = 4711, .subtype = MCC_APP_REPORT, .stream = stream };
  app.asmp = (MccApp){ .ssrc = app.ssrc, .subtype = MCC_APP_REPORT, .report = *report };
  mcc_assp_receiver_handle_app (self->receiver, &app, self->now);
}

/* What a fellow's up does to us is waited for, till it is back or settled; not again and again. */
static void
test_trial (void)
{
  static const struct {
    const char *name;
    struct {
      MccTime at; /* from the begin */
      unsigned stream;
    } other[6];
    MccTime patient_until; /* 0: not at all */
  } table[] = {
    { "goes up", { { 0, 1 }, { MCC_SECOND, 2 } }, 6 * MCC_SECOND },
    { "and comes back", { { 0, 1 }, { MCC_SECOND, 2 }, { 3 * MCC_SECOND, 1 } }, 7 * MCC_SECOND },
    { "and back late", { { 0, 1 }, { MCC_SECOND, 2 }, { 7 * MCC_SECOND, 1 } }, 6 * MCC_SECOND },
    { "and forth and back, in reports that may be forged",
        { { 0, 1 }, { MCC_SECOND, 2 }, { 4 * MCC_SECOND, 1 }, { 5 * MCC_SECOND, 2 },
            { 7 * MCC_SECOND, 1 }, { 9 * MCC_SECOND, 2 } },
        10 * MCC_SECOND },
    { "goes down", { { 0, 1 }, { MCC_SECOND, 0 } }, 0 },
    { "comes from below", { { 0, 0 }, { MCC_SECOND, 1 } }, 0 },
    { "was up before we knew", { { MCC_SECOND, 2 } }, 0 },
    { "again at once",
        { { 0, 1 }, { MCC_SECOND, 2 }, { 7 * MCC_SECOND, 1 }, { 8 * MCC_SECOND, 2 } },
        6 * MCC_SECOND },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    MccTime last = 0;
    g_test_message ("%s", table[row].name);
    run (&self, 5 * MCC_SECOND);
    MccTime begin = self.now;
    guint next = 0;
    while (self.now < begin + 12 * MCC_SECOND) {
      while (next < 6 && (next == 0 || table[row].other[next].at > 0)
             && self.now >= begin + table[row].other[next].at) {
        hear (&self, table[row].other[next].stream, &(MccAppReport){ .number = next + 1 });
        next++;
      }
      if (mcc_assp_receiver_is_patient (self.receiver))
        last = self.now - begin;
      run (&self, 100 * MCC_MSECOND);
    }
    if (table[row].patient_until == 0)
      g_assert_cmpuint (last, ==, 0);
    else
      g_assert_cmpfloat_with_epsilon (
          mcc_time_to_seconds (last), mcc_time_to_seconds (table[row].patient_until), 0.25);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* A queue that stands for a moment, because a sender was held up, says nothing of the link. */
static void
test_burst_is_no_ceiling (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 10 * MCC_SECOND);
  self.queue = 60 * MCC_MSECOND;
  run (&self, 250 * MCC_MSECOND);
  self.queue = 40 * MCC_MSECOND; /* more arrives than is sent */
  run (&self, 100 * MCC_MSECOND);
  self.queue = 0;
  run (&self, 6 * MCC_SECOND);
  g_assert_cmpuint (
      mcc_asmp_receiver_potential_bps (mcc_assp_receiver_asmp (self.receiver)), ==, UINT64_MAX);
  mcc_assp_receiver_free (self.receiver);
}

/* Who leaves and could take more has gone up: what that does to us comes before it says so. */
static void
test_trial_begins (void)
{
  static const struct {
    unsigned stream;
    uint64_t potential_bps;
    bool patient;
  } table[] = { { 1, 3000000, true }, { 1, MCC_APP_RATE_MAX, true }, { 1, 2900000, false },
    { 1, 0, false }, { 0, 3000000, false }, { 2, 9000000, false } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    run (&self, 5 * MCC_SECOND);
    hear (&self, table[row].stream,
        &(MccAppReport){
            .number = 1, .flags = MCC_REPORT_LEAVING, .potential_bps = table[row].potential_bps });
    g_assert_cmpint (mcc_assp_receiver_is_patient (self.receiver), ==, table[row].patient);
    run (&self, LEAVE + 4 * MCC_SECOND - 100 * MCC_MSECOND);
    g_assert_cmpint (mcc_assp_receiver_is_patient (self.receiver), ==, table[row].patient);
    run (&self, 200 * MCC_MSECOND);
    g_assert_false (mcc_assp_receiver_is_patient (self.receiver));
    mcc_assp_receiver_free (self.receiver);
  }
}

/* A trial of the one stream leaves patience for another stream's. */
static void
test_trials_of_each (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 5 * MCC_SECOND);
  hear (&self, 0, &(MccAppReport){ .number = 1 });
  hear (&self, 1, &(MccAppReport){ .number = 2 });
  run (&self, 7 * MCC_SECOND);
  g_assert_false (mcc_assp_receiver_is_patient (self.receiver));
  hear (&self, 0, &(MccAppReport){ .number = 3 });
  hear (&self, 2, &(MccAppReport){ .number = 4 });
  g_assert_true (mcc_assp_receiver_is_patient (self.receiver));
  mcc_assp_receiver_free (self.receiver);
}

/* What a trial leaves us of our link is not what the link carries; what a stream of our own choice
 * shows, is. */
static void
test_trial_is_no_ceiling (void)
{
  for (guint row = 0; row < 3; row++) {
    bool trial = row > 0, ours = row == 2;
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    run (&self, 10 * MCC_SECOND);
    hear (&self, 0, &(MccAppReport){ .number = 1 });
    hear (&self, trial ? 1 : 0, &(MccAppReport){ .number = 2 });
    if (ours) {
      lock (&self, 1);
      run (&self, 1800 * MCC_MSECOND);
    }
    self.queue = 60 * MCC_MSECOND;
    run (&self, 3 * MCC_SECOND);
    self.queue = 0;
    run (&self, 10 * MCC_SECOND);
    uint64_t known_bps = mcc_asmp_receiver_known_bps (self.receiver->asmp);
    if (trial && !ours)
      g_assert_cmpuint (known_bps, ==, UINT64_MAX);
    else
      g_assert_cmpuint (known_bps, <=, ours ? 2200000 : 1100000);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* One who goes down takes along who suffers with it, not who suffers for itself later, nor when it
 * is a new ladder that has moved it. */
static void
test_led (void)
{
  static const struct {
    MccTime losses; /* from the begin, for 300 ms; the fellow goes after 2 s */
    bool ladder, led;
  } table[] = { { MCC_SECOND, false, true }, { 2200 * MCC_MSECOND, false, true },
    { 4 * MCC_SECOND, false, false }, { MCC_SECOND, true, false } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    bool led = false;
    run (&self, 5 * MCC_SECOND);
    hear (&self, 1, &(MccAppReport){ .number = 1 });
    for (MccTime t = 0; t < 8 * MCC_SECOND; t += 100 * MCC_MSECOND) {
      self.lossy = t >= table[row].losses && t < table[row].losses + 300 * MCC_MSECOND;
      if (t == 1500 * MCC_MSECOND && table[row].ladder)
        set_streams (&self, 3);
      if (t == 2 * MCC_SECOND)
        hear (&self, 0, &(MccAppReport){ .number = 2 });
      led = led || mcc_assp_receiver_is_led (self.receiver);
      run (&self, 100 * MCC_MSECOND);
    }
    g_test_message ("losses after %.1f s", mcc_time_to_seconds (table[row].losses));
    g_assert_cmpint (led, ==, table[row].led);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* One says that it is in @stream, behind a queue of @queue, @away from where our paths part. */
static void
hear_company (
    Fixture *self, unsigned stream, uint32_t flags, uint64_t bps, MccTime queue, MccTime away)
{
  hear (self, stream,
      &(MccAppReport){ .number = 1,
          .flags = MCC_REPORT_RTT_MEASURED | MCC_REPORT_ECHO | flags,
          .rate_bps = bps,
          .queue_delay = queue,
          .rtt = 120 * MCC_MSECOND,
          .echo = mcc_abs_send_time (self->now - 15 * MCC_MSECOND - self->queue - away) });
}

/* A stream that one behind the same queue is in costs our link nothing. */
static void
test_company (void)
{
  static const struct {
    const char *name;
    unsigned stream, more_flags;
    uint64_t bps;
    MccTime queue, away;
    bool joins;
  } table[] = {
    { "near", 1, 0, 2500000, 60 * MCC_MSECOND, 0, true },
    { "and two streams up", 2, 0, 3500000, 60 * MCC_MSECOND, 0, true },
    { "far away", 1, 0, 2500000, 60 * MCC_MSECOND, 80 * MCC_MSECOND, false },
    { "behind another queue", 1, 0, 2500000, 120 * MCC_MSECOND, 0, false },
    { "has just come", 1, MCC_REPORT_NO_LIMIT, 2500000, 60 * MCC_MSECOND, 0, false },
    { "leaves", 1, MCC_REPORT_LEAVING, 2500000, 60 * MCC_MSECOND, 0, false },
    { "has trouble there", 1, 0, 1500000, 60 * MCC_MSECOND, 0, false },
    { "no queue stands", 1, 0, 2500000, 0, 0, false },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
    run (&self, 5 * MCC_SECOND);
    self.queue = table[row].queue > 0 ? 60 * MCC_MSECOND : 0;
    run (&self, 2 * MCC_SECOND);
    g_assert_cmpuint (self.joins, ==, 1);
    g_test_message ("%s", table[row].name);
    for (unsigned n = 0; n < 2; n++) {
      g_assert_cmpuint (self.joins, ==, 1); /* once is chance */
      hear_company (&self, table[row].stream, table[row].more_flags, table[row].bps,
          table[row].queue, table[row].away);
      run (&self, MCC_SECOND);
    }
    g_assert_cmpuint (self.joins, ==, table[row].joins ? 2 : 1);
    g_assert_cmpuint (self.join.stream, ==, table[row].joins ? table[row].stream : 0);
    g_assert_cmpint (self.join.overlap, ==, table[row].joins);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Where many are behind our link, the link carries two streams for as long as some of them wait. */
static void
test_company_of_many (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  self.members = 45;
  run (&self, 5 * MCC_SECOND);
  self.queue = 60 * MCC_MSECOND;
  run (&self, 2 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  hear_company (&self, 1, 0, 2500000, self.queue, 0);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 2);
  mcc_assp_receiver_free (self.receiver);
}

/* A queue that grows as we are sent more, and stays when we get all that the link carries, is ours
 * alone: whoever is in a higher stream has another link. Not one that stands while others decide
 * what we are sent. */
static void
test_company_of_nobody (void)
{
  static const struct {
    MccTime step, then;
    unsigned joins;
  } table[] = { { 60 * MCC_MSECOND, 60 * MCC_MSECOND, 2 },
    { 20 * MCC_MSECOND, 60 * MCC_MSECOND, 1 }, { 20 * MCC_MSECOND, 20 * MCC_MSECOND, 2 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
    run (&self, 5 * MCC_SECOND);
    while (self.queue < 60 * MCC_MSECOND) {
      self.queue += table[row].step;
      run (&self, 100 * MCC_MSECOND);
    }
    run (&self, 300 * MCC_MSECOND);
    queue_to (&self, table[row].then, MCC_SECOND);
    run (&self, table[row].then < 60 * MCC_MSECOND ? 20 * MCC_SECOND : 0);
    g_assert_cmpuint (self.joins, ==, 1);
    for (unsigned n = 0; n < 2; n++) {
      hear_company (&self, 1, 0, 2500000, self.queue, 0);
      run (&self, 500 * MCC_MSECOND);
    }
    g_test_message ("row %u", row);
    g_assert_cmpuint (self.joins, ==, table[row].joins);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Once in 20 s, where it was in vain: company may have another bottleneck after all. */
static void
test_company_again (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  MccTime first = 0, second = 0;
  run (&self, 5 * MCC_SECOND);
  self.queue = 60 * MCC_MSECOND;
  run (&self, 2 * MCC_SECOND);
  for (unsigned i = 0; i < 400 && second == 0; i++) {
    hear_company (&self, 1, 0, 2500000, self.queue, 0);
    run (&self, 100 * MCC_MSECOND);
    if (self.joins == 2 && first == 0) {
      first = self.now;
      lock (&self, 0);
    }
    if (first > 0 && self.joins == 3)
      lock (&self, -1);
    second = self.joins == 4 ? self.now : 0;
  }
  g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (second - first), 22.0, 3.0);
  mcc_assp_receiver_free (self.receiver);
}

/* One behind our queue goes up: we go, too, where our own rate is enough for it. */
static void
test_drawn (void)
{
  static const struct {
    const char *name;
    unsigned from, to;
    MccTime away, pause; /* between what it says in both streams */
    uint32_t members;
    bool lossy, joins;
  } table[] = {
    { "goes up", 0, 1, 0, MCC_SECOND, 3, false, true },
    { "far away", 0, 1, 80 * MCC_MSECOND, MCC_SECOND, 3, false, false },
    { "was near long ago", 0, 1, 0, 40 * MCC_SECOND, 3, false, false },
    { "was never with us", 1, 1, 0, MCC_SECOND, 3, false, false },
    { "two streams up", 0, 2, 0, MCC_SECOND, 3, false, false },
    { "of a large group", 0, 1, 0, MCC_SECOND, 40, false, false },
    { "our rate is too low", 0, 1, 0, 8 * MCC_SECOND, 3, true, false },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
    self.members = table[row].members;
    run (
        &self, 15 * MCC_SECOND); /* nothing speaks against the next stream but that no round asks */
    self.queue = 60 * MCC_MSECOND;
    run (&self, MCC_SECOND);
    g_test_message ("%s", table[row].name);
    hear_company (
        &self, table[row].from, MCC_REPORT_NO_LIMIT, 1500000, self.queue, table[row].away);
    self.lossy = table[row].lossy;
    run (&self, table[row].pause);
    g_assert_cmpuint (self.joins, ==, 1);
    hear_company (&self, table[row].to, MCC_REPORT_NO_LIMIT, 0, self.queue, table[row].away);
    run (&self, 500 * MCC_MSECOND);
    g_assert_cmpuint (self.joins, ==, table[row].joins ? 2 : 1);
    g_assert_cmpint (self.join.overlap, ==, table[row].joins);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Where no queue stood before, one that begins when a fellow goes up shows whose link is ours. */
static void
test_drawn_by_its_queue (void)
{
  static const struct {
    const char *name;
    int queue_s; /* from when the fellow goes up; 100: never */
    uint32_t members;
    bool joins;
  } table[] = {
    { "at once", 0, 3, true },
    { "soon", 1, 3, true },
    { "never", 100, 3, false },
    { "much later", 5, 3, false },
    { "stood before", -5, 3, false },
    { "in a large group", 0, 40, false },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
    self.members = table[row].members;
    g_test_message ("%s", table[row].name);
    run (&self, 10 * MCC_SECOND);
    hear (&self, 0, &(MccAppReport){ .number = 1 });
    for (int i = -60; i < 80; i++) {
      self.queue = i >= 10 * table[row].queue_s ? 60 * MCC_MSECOND : 0;
      if (i == 0)
        hear (&self, 1, &(MccAppReport){ .number = 2, .flags = MCC_REPORT_NO_LIMIT });
      run (&self, 100 * MCC_MSECOND);
    }
    g_assert_cmpuint (self.joins, ==, table[row].joins ? 2 : 1);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* What a fellow has tried in vain over our link we need not try for two minutes. */
static void
test_learns (void)
{
  static const struct {
    const char *name;
    int queue_s, back_s; /* from when the fellow goes up; 100: never */
    MccTime tries_after; /* from then, at least */
  } table[] = {
    { "in vain", 0, 4, 100 * MCC_SECOND },
    { "had no part in our queue", 100, 4, 0 },
    { "queue stood before", -5, 4, 0 },
    { "stayed for long", 0, 30, 0 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
    MccTime tried = 0;
    self.members = 40; /* nobody is drawn */
    g_test_message ("%s", table[row].name);
    run (&self, 10 * MCC_SECOND);
    hear (&self, 0, &(MccAppReport){ .number = 1 });
    for (int i = -60; i < 1600 && tried == 0; i++) {
      bool up = i >= 0 && i < 10 * table[row].back_s;
      self.queue
          = i >= 10 * table[row].queue_s && i < 10 * table[row].back_s ? 60 * MCC_MSECOND : 0;
      if (i % 5 == 0)
        hear (&self, up ? 1 : 0, &(MccAppReport){ .number = (guint32)(100 + i) });
      if (i > 10 * table[row].back_s + 50 && i % 50 == 0) {
        self.streams.flags |= MCC_ASSP_DECIDE;
        self.streams.round++;
      }
      run (&self, 100 * MCC_MSECOND);
      if (self.joins > 1)
        tried = (MccTime)(i - 10 * table[row].back_s) * 100 * MCC_MSECOND;
    }
    g_test_message ("tries after %.1f s", mcc_time_to_seconds (tried));
    g_assert_cmpuint (tried, >, 0);
    if (table[row].tries_after > 0)
      g_assert_cmpuint (tried, >=, table[row].tries_after);
    else
      g_assert_cmpuint (tried, <, 60 * MCC_SECOND);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* However many trials a fellow makes believe, in as many streams as there are: what presses us is
 * put off for a part of the time. */
static void
test_forged_trials (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  guint patient = 0;
  set_streams (&self, 5);
  run (&self, 5 * MCC_SECOND);
  for (guint32 i = 0; i < 6000; i++) {
    guint32 step = i % 100;
    if (step == 0 || step == 10 || step == 59)
      hear (&self, step == 10 ? 2 + i / 100 % 3 : 1, &(MccAppReport){ .number = i });
    patient += mcc_assp_receiver_is_patient (self.receiver);
    run (&self, 100 * MCC_MSECOND);
  }
  g_test_message ("patient for %.0f of 600 s", patient / 10.0);
  g_assert_cmpuint (patient, <=, 6000 / 4 + 300);
  mcc_assp_receiver_free (self.receiver);
}

/* Nor do failures that it makes believe, whenever a queue stands for a moment, keep us below. */
static void
test_forged_failures (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  MccTime tried = 0;
  self.members = 40;
  run (&self, 10 * MCC_SECOND);
  hear (&self, 0, &(MccAppReport){ .number = 0 });
  for (guint32 i = 0; i < 3000 && tried == 0; i++) {
    self.queue = i % 600 < 2 ? 60 * MCC_MSECOND : 0;
    if (i % 30 == 0 || i % 30 == 25)
      hear (&self, i % 30 == 0 ? 1 : 0, &(MccAppReport){ .number = i });
    if (i % 50 == 40) {
      self.streams.flags |= MCC_ASSP_DECIDE;
      self.streams.round++;
    }
    run (&self, 100 * MCC_MSECOND);
    if (self.joins > 1)
      tried = i * 100 * MCC_MSECOND;
  }
  g_test_message ("tries after %.1f s", mcc_time_to_seconds (tried));
  g_assert_cmpuint (tried, >, 0);
  mcc_assp_receiver_free (self.receiver);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-others/waits-for-a-fellows-trial", test_trial);
  g_test_add_func ("/assp-others/a-trial-begins-with-the-last-report-below", test_trial_begins);
  g_test_add_func ("/assp-others/waits-for-a-trial-of-each-stream", test_trials_of_each);
  g_test_add_func ("/assp-others/a-trial-is-no-ceiling", test_trial_is_no_ceiling);
  g_test_add_func ("/assp-others/a-burst-is-no-ceiling", test_burst_is_no_ceiling);
  g_test_add_func ("/assp-others/led-by-who-suffers-with-it", test_led);
  g_test_add_func ("/assp-others/goes-where-its-link-goes-anyway", test_company);
  g_test_add_func ("/assp-others/goes-there-at-once-with-many", test_company_of_many);
  g_test_add_func ("/assp-others/not-with-a-queue-of-its-own", test_company_of_nobody);
  g_test_add_func ("/assp-others/goes-there-again-later", test_company_again);
  g_test_add_func ("/assp-others/goes-up-with-who-is-behind-its-queue", test_drawn);
  g_test_add_func ("/assp-others/goes-up-with-who-makes-its-queue", test_drawn_by_its_queue);
  g_test_add_func ("/assp-others/learns-from-who-makes-its-queue", test_learns);
  g_test_add_func ("/assp-others/forged-trials", test_forged_trials);
  g_test_add_func ("/assp-others/forged-failures", test_forged_failures);
  return g_test_run ();
}

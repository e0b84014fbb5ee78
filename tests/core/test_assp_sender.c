/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "assp_sender_fixture.h"
#include "mccasmpschedule.h"

static void
report_queueless (Fixture *self, unsigned host, unsigned stream, uint64_t bps)
{
  report_with (self, host, stream, bps, ++self->number, 0);
}

static void
leave_stream (Fixture *self, unsigned host, unsigned stream)
{
  MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, (uint8_t)host } };
  MccAppReport report = { .number = ++self->number, .flags = MCC_REPORT_LEAVING, .rate_bps = 1 };
  mcc_assp_sender_handle_report (self->sender, stream, 1000 + host, &report, &from, self->now);
  drain (self);
}

/* Reports of @host twice a second. */
static void
stay (Fixture *self, unsigned host, unsigned stream, uint64_t bps, MccTime length)
{
  for (MccTime end = self->now + length; self->now < end;) {
    report (self, host, stream, bps);
    run (self, 500 * MCC_MSECOND);
  }
}

static void
block (Fixture *self, unsigned host)
{
  MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, (uint8_t)host } };
  mcc_assp_sender_handle_block (self->sender, 1000 + host, &from, self->now);
}

/* Two seconds of reports of host 1, in stream 1, and of host 2. */
static void
stay_both (Fixture *self, unsigned stream, uint64_t bps)
{
  for (unsigned n = 0; n < 4; n++) {
    report (self, 1, 1, 4000000);
    stay (self, 2, stream, bps, 500 * MCC_MSECOND);
  }
}

/* Who does not hear the media is nobody in a stream that is sent; in one that waits for its first
 * receiver it is somebody, but cannot go from there into another. published believes it. */
static void
test_deaf (void)
{
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    bool enhanced = variant == MCC_VARIANT_ENHANCED;
    MccAsspSenderConfig config
        = { .variant = variant, .seed = 5, .streams = ladder, .wants_block = true, .ttl = 4 };
    Fixture self = { .now = START, .live = true };
    self.sender = mcc_assp_sender_new (&config, START);
    self.silent[2] = true;
    for (unsigned n = 0; n < 60; n++) {
      block (&self, 1);
      stay (&self, 1, 1, 4000000, 500 * MCC_MSECOND);
    }
    g_assert_cmpuint (self.target[1], ==, 4000000);
    stay_both (&self, 1, 2100000);
    g_assert_cmpuint (self.target[1], ==, enhanced ? 4000000 : 2100000);
    stay_both (&self, 2, 6000000);
    g_assert_cmpuint (report (&self, 2, 2, 6000000), ==, MCC_DROP_NONE);
    g_assert_cmpuint (report (&self, 2, 1, 2100000), ==, MCC_DROP_PROBATION);
    g_assert_cmpuint (report (&self, 2, 1, 2100000), ==, enhanced ? MCC_DROP_PROBATION : 0);
    g_assert_cmpuint (report (&self, 1, 1, 4000000), ==, MCC_DROP_NONE);
    block (&self, 2);
    g_assert_cmpuint (report (&self, 2, 1, 2100000), ==, MCC_DROP_NONE);
    g_assert_cmpuint (self.target[1], ==, 2100000);
    /* ... and one who has heard it goes on. */
    g_assert_cmpuint (report (&self, 1, 0, 900000), ==, enhanced ? 0 : MCC_DROP_PROBATION);
    mcc_assp_sender_free (self.sender);
  }
}

/* One keyed liar beside nine in a stream holds it down for 30 s in all, whatever it does in others
 * meanwhile: how long it stays in this one, and away from it. */
static void
test_liar (void)
{
  static const struct {
    unsigned here, away, other; /* 500 ms; the stream it goes to */
    uint64_t bps;
  } cases[] = { { 1, 0, 0, 1000 }, { 1, 0, 0, 2000000 }, { 30, 4, 0, 1000 }, { 30, 4, 2, 1000 },
    { 6, 6, 0, 1000 }, { 2, 2, 2, 2000000 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (cases); i++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
    double held = 0.0;
    self.live = true; /* its words are nobody's bound */
    for (unsigned n = 0; n < 540; n++) {
      for (unsigned host = 1; host <= 9; host++)
        report (&self, host, 1, 4000000);
      bool here = cases[i].away == 0 || n % (cases[i].here + cases[i].away) < cases[i].here;
      if (n >= 60)
        report_queueless (&self, 66, here ? 1 : cases[i].other, cases[i].bps);
      run (&self, 500 * MCC_MSECOND);
      if (n >= 60 && self.target[1] < 3800000)
        held += 0.5;
      if (n == 59)
        g_assert_cmpuint (self.target[1], ==, 4000000);
    }
    g_test_message ("case %u: held down for %.1f s of 240 s", i, held);
    g_assert_cmpfloat (held, >, 1.0);
    g_assert_cmpfloat (held, <=, 30.0);
    mcc_assp_sender_free (self.sender);
  }
}

static void
test_invalid (void)
{
  MccAsspSenderConfig config = { .streams = ladder };
  config.streams.stream[1].low_bps = 1999999;
  g_assert_null (mcc_assp_sender_new (&config, START));
  config.streams.count = 0;
  g_assert_null (mcc_assp_sender_new (&config, START));
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  g_assert_false (mcc_assp_sender_set_bounds (self.sender, 0, 300000, 2000001, START));
  g_assert_false (mcc_assp_sender_set_bounds (self.sender, 3, 300000, 2000000, START));
  g_assert_cmpuint (report (&self, 1, 3, 500000), ==, MCC_DROP_BAD_VALUE);
  g_assert_true (mcc_assp_sender_set_bounds (self.sender, 0, 400000, 1500000, START));
  drain (&self);
  g_assert_cmpuint (self.target[0], ==, 400000);
  mcc_assp_sender_free (self.sender);
}

/* eq. 4: the least of those in the stream, within its bounds; nobody: low. */
static void
test_targets (void)
{
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    Fixture self = fixture_new (variant);
    run (&self, MCC_SECOND);
    for (unsigned i = 0; i < 30; i++) {
      report (&self, 1, 0, 900000);
      report (&self, 2, 0, 700000);
      report (&self, 3, 1, 90000000);
      run (&self, 500 * MCC_MSECOND);
    }
    g_assert_cmpuint (self.target[0], ==, 700000);
    g_assert_cmpuint (self.target[1], ==, 5000000);
    g_assert_cmpuint (self.target[2], ==, 5000000);
    g_assert_true (mcc_assp_sender_occupied (self.sender, 1));
    g_assert_false (mcc_assp_sender_occupied (self.sender, 2));
    g_assert_cmpuint (self.occupied[0], ==, 1);
    mcc_assp_sender_free (self.sender);
  }
}

/* Who counts in one stream counts in the next with its first report there; a stranger does not, and
 * nobody who has its SSRC. */
static void
test_known (void)
{
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    Fixture self = fixture_new (variant);
    self.live = true;
    stay (&self, 1, 0, 1500000, 2 * MCC_SECOND);
    bool known = variant == MCC_VARIANT_ENHANCED;
    g_assert_cmpuint (
        report (&self, 1, 1, 2500000), ==, known ? MCC_DROP_NONE : MCC_DROP_PROBATION);
    g_assert_cmpuint (report (&self, 2, 1, 2500000), ==, MCC_DROP_PROBATION);
    MccAddress other = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, 9 } };
    MccAppReport forged = { .number = ++self.number, .rate_bps = 1, .rtt = 40 * MCC_MSECOND };
    g_assert_cmpuint (
        mcc_assp_sender_handle_report (self.sender, 2, 1001, &forged, &other, self.now), !=,
        MCC_DROP_NONE);
    mcc_assp_sender_free (self.sender);
  }
}

/* One that moves is out of its old stream with its first report in the new one. */
static void
test_moves (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  stay (&self, 1, 0, 1500000, 20 * MCC_SECOND);
  g_assert_cmpuint (self.target[0], ==, 1500000);
  report (&self, 1, 1, 2500000);
  g_assert_true (mcc_assp_sender_occupied (self.sender, 1));
  g_assert_false (mcc_assp_sender_occupied (self.sender, 0));
  g_assert_cmpuint (self.target[0], ==, 300000); /* at once */
  g_assert_cmpuint (self.empty[0], ==, 1);
  g_assert_cmpuint (self.moved, ==, 1);
  g_assert_cmpstr (mcc_receiver_state_name (MCC_RECEIVER_MOVED), ==, "moved");
  g_assert_cmpuint (self.left, ==, 0);
  /* What it had said before comes late. */
  g_assert_cmpuint (report_number (&self, 1, 0, 400000, self.number - 1), ==, MCC_DROP_STALE);
  g_assert_false (mcc_assp_sender_occupied (self.sender, 0));
  MccAddress other = { .family = 4, .port = 1, .bytes = { 10, 0, 0, 9 } };
  MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, 1 } };
  g_assert_cmpuint (
      mcc_assp_sender_handle_bye (self.sender, 1001, &other, self.now), ==, MCC_DROP_ADDRESS);
  g_assert_cmpuint (
      mcc_assp_sender_handle_bye (self.sender, 1001, &from, self.now), ==, MCC_DROP_NONE);
  g_assert_false (mcc_assp_sender_occupied (self.sender, 1));
  drain (&self);
  g_assert_cmpuint (self.moved, ==, 1);
  g_assert_cmpuint (self.left, ==, 1);
  mcc_assp_sender_free (self.sender);
}

/* eq. 5: the mean of the target over the round. */
static void
test_average (void)
{
  Fixture self = fixture_new (MCC_VARIANT_PUBLISHED);
  stay (&self, 1, 0, 1000000, 10 * MCC_SECOND);
  double sum = 0.0;
  for (unsigned i = 0; i < 10; i++) { /* a round, half of it at 1.6 Mb/s */
    uint64_t bps = i < 5 ? 1000000 : 1600000;
    report (&self, 1, 0, bps);
    sum += (double)self.target[0] * 0.5;
    run (&self, 500 * MCC_MSECOND);
  }
  g_assert_cmpfloat_with_epsilon (
      (double)mcc_assp_sender_average_bps (self.sender, 0), sum / 5.0, 1000.0);
  g_assert_cmpfloat_with_epsilon (sum / 5.0, 1300000.0, 1.0);
  g_assert_cmpuint (mcc_assp_sender_average_bps (self.sender, 1), ==, 2000000);
  g_assert_cmpuint (mcc_assp_sender_average_bps (self.sender, 2), ==, 5000000);
  mcc_assp_sender_free (self.sender);
}

/* The number goes up by one every 5 s, is in every announcement, and is told soon. */
static void
test_rounds (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  g_assert_false (self.streams.flags & MCC_ASSP_DECIDE);
  uint32_t first = self.streams.round;
  stay (&self, 1, 0, 1000000, 61 * MCC_SECOND);
  g_assert_cmpuint (self.streams.round, ==, first + 12);
  g_assert_cmpuint (self.longest_round_wait, <, MCC_SECOND);
  mcc_assp_sender_free (self.sender);
}

static void
test_plain (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  MccAddress player = { .family = 4, .port = 9, .bytes = { 10, 0, 1, 1 } };
  MccAddress ours = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, 1 } };
  report (&self, 1, 0, 500000);
  /* rtpsession's regular RTCP of the same receiver: no second one in another stream. */
  g_assert_cmpint (mcc_assp_sender_handle_plain_report (self.sender, 1, 1001,
                       &(MccPlainReport){ .fraction_lost = 0.1 }, &ours, self.now),
      ==, MCC_DROP_NONE);
  g_assert_false (mcc_assp_sender_occupied (self.sender, 1));
  mcc_assp_sender_handle_plain_report (
      self.sender, 1, 2001, &(MccPlainReport){ .fraction_lost = 0.1 }, &player, self.now);
  g_assert_true (mcc_assp_sender_occupied (self.sender, 1));
  g_assert_cmpint (mcc_assp_sender_handle_plain_report (self.sender, 3, 2002,
                       &(MccPlainReport){ .fraction_lost = 0.1 }, &player, self.now),
      ==, MCC_DROP_BAD_VALUE);
  mcc_assp_sender_free (self.sender);
}

/* A stream announces itself when it is known, and is listed without an SSRC before. */
static void
test_begins_late (void)
{
  MccAsspSenderConfig config = { .seed = 5, .streams = ladder, .ttl = 4 };
  Fixture self = { .now = START };
  for (unsigned j = 0; j < 3; j++)
    config.streams.stream[j].ssrc = 0;
  self.sender = mcc_assp_sender_new (&config, START);
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (self.announcements, ==, 0);
  for (unsigned j = 0; j < 3; j++) {
    unsigned of[3] = { 0 };
    mcc_assp_sender_set_ssrc (self.sender, j, 11 * (j + 1), self.now);
    for (unsigned i = 0; i < 300; i++) {
      MccAsspSenderAction action;
      self.now += STEP;
      mcc_assp_sender_handle_timeout (self.sender, self.now);
      while (mcc_assp_sender_poll (self.sender, &action)) {
        if (action.type != MCC_ASSP_SENDER_ASMP || action.asmp.type != MCC_SENDER_SEND_SESSION)
          continue;
        of[action.stream]++;
        for (unsigned k = 0; k < 3; k++)
          g_assert_cmpuint (action.streams->stream[k].ssrc, ==, k <= j ? 11 * (k + 1) : 0);
      }
      if (i == 10) {
        g_assert_cmpuint (of[j], >=, 1);
        /* it is not believed on its own word */
        g_assert_cmpuint (of[0] + of[1] + of[2], >, j == 0 ? 0 : of[j]);
      }
    }
    for (unsigned k = 0; k < 3; k++)
      g_assert_cmpuint (of[k] > 0, ==, k <= j);
  }
  mcc_assp_sender_free (self.sender);
}

/* Encoders give their first packets one after the other: whoever is heard first lists them all. */
static void
test_begins_together (void)
{
  MccAsspSenderConfig config = { .seed = 5, .streams = ladder, .ttl = 4 };
  Fixture self = { .now = START };
  unsigned announcements = 0;
  for (unsigned j = 0; j < 3; j++)
    config.streams.stream[j].ssrc = 0;
  self.sender = mcc_assp_sender_new (&config, START);
  for (unsigned i = 0; i < 20; i++) {
    MccAsspSenderAction action;
    self.now += STEP;
    if (i % 2 == 0 && i < 6)
      mcc_assp_sender_set_ssrc (self.sender, 2 - i / 2, 11 * (3 - i / 2), self.now);
    if (mcc_assp_sender_next_timeout (self.sender) <= self.now)
      mcc_assp_sender_handle_timeout (self.sender, self.now);
    while (mcc_assp_sender_poll (self.sender, &action)) {
      if (action.type != MCC_ASSP_SENDER_ASMP || action.asmp.type != MCC_SENDER_SEND_SESSION)
        continue;
      announcements++;
      for (unsigned k = 0; k < 3; k++)
        g_assert_cmpuint (action.streams->stream[k].ssrc, ==, 11 * (k + 1));
    }
    g_assert_cmpuint (announcements >= 3, ==, i >= 4);
  }
  mcc_assp_sender_free (self.sender);
}

/* Each stream has caps, an SSRC and key units of its own. */
static void
test_each_its_own (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  MccAppSession caps = { .payload_type = 96, .clock_rate = 90000, .encoding_name = "VP8" };
  g_assert_true (mcc_assp_sender_set_caps (self.sender, 2, &caps, self.now));
  mcc_assp_sender_set_ssrc (self.sender, 2, 34, self.now);
  mcc_assp_sender_set_running (self.sender, 2, true, self.now);
  mcc_assp_sender_handle_key_unit_request (self.sender, 2, self.now);
  mcc_assp_sender_handle_key_unit_request (self.sender, 7, self.now);
  unsigned key_units = 0, with_caps = 0;
  for (unsigned i = 0; i < 1000; i++) {
    MccAsspSenderAction action;
    self.now += STEP;
    mcc_assp_sender_handle_timeout (self.sender, self.now);
    while (mcc_assp_sender_poll (self.sender, &action)) {
      bool asmp = action.type == MCC_ASSP_SENDER_ASMP;
      if (asmp && action.asmp.type == MCC_SENDER_KEY_UNIT) {
        g_assert_cmpuint (action.stream, ==, 2);
        key_units++;
      } else if (asmp && action.asmp.type == MCC_SENDER_SEND_SESSION) {
        bool named = g_strcmp0 (action.asmp.session->encoding_name, "VP8") == 0;
        g_assert_true (!named || action.stream == 2);
        with_caps += named;
        g_assert_cmpuint (action.streams->stream[2].ssrc, ==, 34);
        g_assert_cmpuint (action.streams->stream[2].flags, ==, MCC_ASSP_RUNNING);
        g_assert_cmpuint (action.streams->stream[1].flags, ==, 0);
      }
    }
  }
  g_assert_cmpuint (key_units, ==, 1);
  g_assert_cmpuint (with_caps, >=, 1);
  g_assert_cmpuint (mcc_assp_sender_count (self.sender), ==, 3);
  mcc_assp_sender_free (self.sender);
}

/* Feedback of one stream is feedback. */
static void
test_feedback (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  stay (&self, 1, 1, 2500000, 20 * MCC_SECOND);
  g_assert_cmpuint (self.lost, ==, 0);
  run (&self, 60 * MCC_SECOND);
  g_assert_cmpuint (self.lost, ==, 1);
  g_assert_cmpuint (self.empty[1], ==, 1);
  g_assert_cmpuint (self.target[1], ==, 2000000);
  stay (&self, 1, 0, 500000, 5 * MCC_SECOND);
  g_assert_cmpuint (self.found, ==, 1);
  mcc_assp_sender_free (self.sender);
}

/* A receiver in each step, of 1 to 12, says what it could take and gets what the stream has. */
static void
report_potentials (Fixture *self, unsigned fast_stream, uint64_t fast_bps)
{
  static uint32_t number;
  number++;
  for (unsigned host = 1; host <= 12; host++) {
    bool fast = host > 4;
    MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, (uint8_t)host } };
    MccAppReport report = { .number = number,
      .flags = MCC_REPORT_RTT_MEASURED,
      .rate_bps = fast ? 1600000 : 500000,
      .received_bps = 500000,
      .potential_bps = fast ? fast_bps : 500000,
      .rtt = 40 * MCC_MSECOND };
    mcc_assp_sender_handle_report (
        self->sender, fast ? fast_stream : 0, 1000 + host, &report, &from, self->now);
    drain (self);
  }
}

/* A lower bound is for those who bear it: a stream that is far too much for all in it sinks to the
 * least of them, and while the network goes on sending it to those who have left it is quiet. */
static void
test_sinks (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  self.live = true;
  run (&self, MCC_SECOND);
  stay (&self, 1, 0, 400000, MCC_SECOND);
  for (unsigned i = 0; i < 4; i++) {
    report (&self, 2, 2, 6000000);
    report (&self, 3, 2, 8000000);
    run (&self, 500 * MCC_MSECOND);
  }
  g_assert_cmpuint (self.target[2], ==, 6000000);
  /* The link of one alone falls: the other still has its due. */
  report (&self, 2, 2, 1500000);
  g_assert_cmpuint (self.target[2], ==, 5000000);
  report (&self, 3, 2, 3100000); /* near the bound it holds its ground */
  g_assert_cmpuint (self.target[2], ==, 5000000);
  report (&self, 3, 2, 1600000);
  g_assert_cmpuint (self.target[2], ==, 1500000);
  report (&self, 9, 2, 9000000); /* one report alone, of whoever it be, changes nothing */
  g_assert_cmpuint (self.target[2], ==, 1500000);
  leave_stream (&self, 9, 2);
  /* One who moves takes part no more; one whose path recovers has the stream. */
  leave_stream (&self, 2, 2);
  report (&self, 3, 2, 5500000);
  run (&self, 1200 * MCC_MSECOND);
  g_assert_cmpuint (self.target[2], >=, 5000000);
  report (&self, 3, 2, 1600000);
  g_assert_cmpuint (self.target[2], ==, 1600000);
  /* The floor is the lowest stream's, also when that moves. */
  report (&self, 3, 2, 100000);
  g_assert_cmpuint (self.target[2], ==, ladder.stream[0].low_bps);
  mcc_assp_sender_set_bounds (
      self.sender, 0, 2 * ladder.stream[0].low_bps, ladder.stream[0].high_bps, self.now);
  drain (&self);
  g_assert_cmpuint (self.target[2], ==, 2 * ladder.stream[0].low_bps);
  mcc_assp_sender_set_bounds (
      self.sender, 0, ladder.stream[0].low_bps, ladder.stream[0].high_bps, self.now);
  leave_stream (&self, 3, 2);
  report (&self, 3, 0, 1500000);
  g_assert_cmpuint (self.empty[2], ==, 1);
  g_assert_cmpuint (self.target[2], ==, ladder.stream[0].low_bps);
  run (&self, 2 * MCC_SECOND); /* RFC 3376 8.8: the leave latency */
  g_assert_cmpuint (self.target[2], ==, ladder.stream[0].low_bps);
  run (&self, 4 * MCC_SECOND);
  g_assert_cmpuint (self.target[2], ==, ladder.stream[2].low_bps);
  mcc_assp_sender_free (self.sender);
}

/* It sinks for few, who all speak: names that nobody has vouched for make no large group of them.
 */
static void
test_sinks_beside_names (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  self.live = true;
  stay (&self, 1, 0, 400000, MCC_SECOND);
  for (unsigned i = 0; i < 4; i++) {
    report (&self, 2, 2, 6000000);
    run (&self, 500 * MCC_MSECOND);
  }
  for (unsigned name = 0; name <= MCC_ASMP_FEW_RECEIVERS; name++)
    report (&self, 100 + name, 2, 9000000);
  report (&self, 2, 2, 1500000);
  g_assert_cmpuint (self.target[2], ==, 1500000);
  mcc_assp_sender_free (self.sender);
}

/* One of the stream has gone up: what is left of it does not make room for the trial. */
static void
test_sinks_for_no_trial (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  stay (&self, 1, 0, 400000, 2 * MCC_SECOND);
  for (unsigned i = 0; i < 4; i++) {
    report (&self, 2, 1, 3000000);
    report (&self, 3, 1, 3000000);
    run (&self, 500 * MCC_MSECOND);
  }
  report (&self, 3, 2, 5500000);
  stay (&self, 2, 1, 1000000, 7 * MCC_SECOND);
  g_assert_cmpuint (self.target[1], ==, 2000000);
  stay (&self, 2, 1, 1000000, 2 * MCC_SECOND);
  g_assert_cmpuint (self.target[1], ==, 1000000);
  mcc_assp_sender_free (self.sender);
}

/* ... but nobody is known to have left who only falls silent, and who comes has the whole stream.
 */
static void
test_sinks_not (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  self.live = true;
  stay (&self, 3, 2, 1600000, 2 * MCC_SECOND);
  g_assert_cmpuint (self.target[2], ==, 1600000);
  for (unsigned i = 0; i < 200 && self.empty[2] == 0; i++)
    run (&self, 100 * MCC_MSECOND);
  g_assert_cmpuint (self.empty[2], ==, 1);
  g_assert_cmpuint (self.target[2], ==, ladder.stream[2].low_bps);
  stay (&self, 3, 2, 1600000, 2 * MCC_SECOND);
  leave_stream (&self, 3, 2);
  run (&self, 1200 * MCC_MSECOND); /* its next report does not come */
  g_assert_cmpuint (self.target[2], ==, ladder.stream[0].low_bps);
  report (&self, 4, 2, 7000000);
  g_assert_cmpuint (self.target[2], >=, ladder.stream[2].low_bps);
  mcc_assp_sender_free (self.sender);
  self = fixture_new (MCC_VARIANT_PUBLISHED); /* the papers' streams keep their bounds */
  stay (&self, 3, 2, 1600000, 2 * MCC_SECOND);
  g_assert_cmpuint (self.target[2], ==, ladder.stream[2].low_bps);
  mcc_assp_sender_free (self.sender);
}

/* The fast get a stream of their own, where most are they stay; what is above them rises only when
 * the slow have had time to go. Without max_streams the ladder stays. */
static void
test_live (void)
{
  for (unsigned live = 0; live < 2; live++) {
    MccAsspSenderConfig config = { .variant = MCC_VARIANT_ENHANCED,
      .seed = 5,
      .streams = ladder,
      .max_streams = live ? 3 : 0,
      .ttl = 4 };
    Fixture self = { .now = START, .live = true };
    self.sender = mcc_assp_sender_new (&config, START);
    drain (&self);
    for (unsigned i = 0; i < 60 && self.bounds == 0; i++) {
      report_potentials (&self, 0, 1600000);
      run (&self, MCC_SECOND);
    }
    g_assert_cmpint (self.bounds > 0, ==, live);
    const MccAsspStreams *now = mcc_assp_sender_streams (self.sender);
    g_assert_cmpuint (now->ladder, ==, ladder.ladder + live);
    if (live) {
      unsigned slow = mcc_assp_streams_place (now, 500000.0);
      unsigned fast = mcc_assp_streams_place (now, 1600000.0);
      g_assert_cmpuint (fast, ==, 0); /* eight of twelve */
      g_assert_cmpuint (slow, !=, 0);
      g_assert_cmpuint (now->stream[slow].low_bps, ==, 300000);
      for (unsigned j = 1; j < 3; j++) /* where nobody is yet what it was before asks nothing */
        g_assert_cmpuint (now->stream[j].average_bps, ==, now->stream[j].low_bps);
      g_assert_cmpuint (now->stream[0].average_bps, >=, now->stream[0].low_bps);
      g_assert_cmpuint (now->stream[fast].low_bps, >, 500000);
      g_assert_cmpuint (
          mcc_asmp_sender_target_bps (mcc_assp_sender_stream (self.sender, 0)), ==, 500000);
      run (&self, 7 * MCC_SECOND);
      g_assert_cmpuint (mcc_asmp_sender_target_bps (mcc_assp_sender_stream (self.sender, 0)), >=,
          now->stream[fast].low_bps);
    }
    mcc_assp_sender_free (self.sender);
  }
}

/* One socket sends all: ECT only if nobody in any stream would be hurt. */
static void
test_ect (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  self.live = true; /* targets are not what this is about */
  self.ecn[1] = self.ecn[2] = MCC_REPORT_ECN_HEEDED;
  run (&self, MCC_SECOND);
  g_assert_false (mcc_assp_sender_ect (self.sender));
  for (unsigned i = 0; i < 10; i++) {
    report (&self, 1, 0, 1000000);
    report (&self, 2, 1, 3000000);
    run (&self, 200 * MCC_MSECOND);
  }
  g_assert_true (mcc_assp_sender_ect (self.sender)); /* the empty one does not matter */
  self.ecn[2] = MCC_REPORT_ECN_NONE;
  report (&self, 2, 1, 3000000);
  g_assert_true (mcc_asmp_sender_ect (mcc_assp_sender_stream (self.sender, 0)));
  g_assert_false (mcc_assp_sender_ect (self.sender));
  leave_stream (&self, 2, 1);
  for (unsigned i = 0; i < 15; i++) {
    report (&self, 1, 0, 1000000);
    run (&self, 200 * MCC_MSECOND);
  }
  g_assert_true (mcc_assp_sender_ect (self.sender));
  mcc_assp_sender_free (self.sender);
}

/* Who says that it could take any rate, in a stream that is not the highest, counts as what it said
 * before; of whom nothing is known it is waited for. */
static void
test_said (void)
{
  for (unsigned known = 0; known < 2; known++) {
    MccAsspSenderConfig config = {
      .variant = MCC_VARIANT_ENHANCED, .seed = 5, .streams = ladder, .max_streams = 3, .ttl = 4
    };
    Fixture self = { .now = START, .live = true };
    self.sender = mcc_assp_sender_new (&config, START);
    drain (&self);
    for (unsigned i = 0; i < 40 && self.bounds == 0; i++) {
      report_potentials (&self, 0, known && i < 8 ? 1600000 : MCC_APP_RATE_MAX);
      run (&self, MCC_SECOND);
    }
    g_assert_cmpint (self.bounds > 0, ==, known);
    const MccAsspStreams *now = mcc_assp_sender_streams (self.sender);
    unsigned fast = mcc_assp_streams_place (now, 1600000.0);
    g_assert_cmpint (now->stream[fast].low_bps > 500000, ==, known);
    mcc_assp_sender_free (self.sender);
  }
}

static void
report_all (Fixture *self)
{
  for (unsigned host = 1; host <= 20; host++) {
    MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, (uint8_t)host } };
    MccAppReport report = { .number = ++self->number,
      .flags = MCC_REPORT_RTT_MEASURED,
      .rate_bps = 500000,
      .received_bps = 500000,
      .potential_bps = host <= 12 ? 1600000 : 500000,
      .rtt = 40 * MCC_MSECOND };
    mcc_assp_sender_handle_report (self->sender, 0, 1000 + host, &report, &from, self->now);
    drain (self);
  }
}

/* Of a large group one has moved: what the others said before is not acted upon. */
static void
test_followers (void)
{
  for (unsigned moves = 0; moves < 2; moves++) {
    MccAsspSenderConfig config = {
      .variant = MCC_VARIANT_ENHANCED, .seed = 5, .streams = ladder, .max_streams = 3, .ttl = 4
    };
    Fixture self = { .now = START, .live = true };
    self.sender = mcc_assp_sender_new (&config, START);
    drain (&self);
    for (unsigned i = 0; i < 4; i++) {
      report_all (&self);
      run (&self, MCC_SECOND);
    }
    if (moves)
      report (&self, 1, 1, 2500000);
    run (&self, 25 * MCC_SECOND);
    g_assert_cmpint (self.bounds > 0, ==, !moves);
    mcc_assp_sender_free (self.sender);
  }
}

/* ... but what a stranger does, who is in another stream with each report, says nothing of them. */
static void
test_stranger_moves (void)
{
  MccAsspSenderConfig config = { .variant = MCC_VARIANT_ENHANCED,
    .seed = 5,
    .streams = ladder,
    .max_streams = 3,
    .wants_block = true,
    .ttl = 4 };
  Fixture self = { .now = START, .live = true };
  self.sender = mcc_assp_sender_new (&config, START);
  drain (&self);
  for (unsigned i = 0; i < 4; i++) {
    for (unsigned host = 1; host <= 20; host++)
      block (&self, host);
    report_all (&self);
    run (&self, MCC_SECOND);
  }
  for (unsigned i = 0; i < 25; i++) {
    report (&self, 200, 1 - i % 2, 2500000);
    run (&self, MCC_SECOND);
  }
  g_assert_cmpuint (self.bounds, >, 0);
  mcc_assp_sender_free (self.sender);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-sender/who-does-not-hear-is-nobody", test_deaf);
  g_test_add_func ("/assp-sender/liar-for-30-s", test_liar);
  g_test_add_func ("/assp-sender/refuses-streams-that-overlap", test_invalid);
  g_test_add_func ("/assp-sender/eq-4", test_targets);
  g_test_add_func ("/assp-sender/a-receiver-is-in-one-stream", test_moves);
  g_test_add_func ("/assp-sender/known-in-all-streams", test_known);
  g_test_add_func ("/assp-sender/waits-for-who-may-have-followed", test_followers);
  g_test_add_func ("/assp-sender/waits-for-no-stranger", test_stranger_moves);
  g_test_add_func ("/assp-sender/eq-5", test_average);
  g_test_add_func ("/assp-sender/rounds-of-5-s", test_rounds);
  g_test_add_func ("/assp-sender/plain-players", test_plain);
  g_test_add_func ("/assp-sender/begins-late", test_begins_late);
  g_test_add_func ("/assp-sender/begins-together", test_begins_together);
  g_test_add_func ("/assp-sender/caps-ssrc-and-key-units-of-each", test_each_its_own);
  g_test_add_func ("/assp-sender/feedback-of-any-stream", test_feedback);
  g_test_add_func ("/assp-sender/sinks-where-nobody-bears-the-bound", test_sinks);
  g_test_add_func ("/assp-sender/sinks-beside-names", test_sinks_beside_names);
  g_test_add_func ("/assp-sender/sinks-for-no-trial", test_sinks_for_no_trial);
  g_test_add_func ("/assp-sender/silence-makes-no-stream-quiet", test_sinks_not);
  g_test_add_func ("/assp-sender/live-ladder", test_live);
  g_test_add_func ("/assp-sender/ect-of-all-streams", test_ect);
  g_test_add_func ("/assp-sender/counts-as-what-it-said", test_said);
  return g_test_run ();
}

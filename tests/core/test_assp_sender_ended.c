/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams of an ASSP sender that end, or have not begun, while others go on.
 */
#include "assp_sender_fixture.h"
#include "vnetassp.h"

static void
set_ended (Fixture *self, unsigned j, bool ended)
{
  self->silent[j] = ended;
  mcc_assp_sender_set_ended (self->sender, j, ended, self->now);
  drain (self);
}

static bool
closed (const Fixture *self, unsigned j)
{
  return (self->streams.stream[j].flags & MCC_ASSP_CLOSED) != 0;
}

static Fixture
fixture_of (const MccAsspStreams *streams, unsigned max_streams)
{
  MccAsspSenderConfig config = { .variant = MCC_VARIANT_ENHANCED,
    .seed = 5,
    .streams = *streams,
    .max_streams = max_streams,
    .ttl = 4 };
  Fixture self = { .now = START, .enhanced = true, .live = true };
  self.sender = mcc_assp_sender_new (&config, START);
  g_assert_nonnull (self.sender);
  drain (&self);
  return self;
}

/* @host in @stream says what its path could take. */
static void
tell (Fixture *self, unsigned host, unsigned stream, uint64_t bps)
{
  MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, (uint8_t)host } };
  MccAppReport report = { .number = ++self->number,
    .flags = MCC_REPORT_RTT_MEASURED,
    .rate_bps = bps,
    .received_bps = bps,
    .potential_bps = bps,
    .rtt = 40 * MCC_MSECOND };
  mcc_assp_sender_handle_report (self->sender, stream, 1000 + host, &report, &from, self->now);
  drain (self);
}

/* It is closed, says nothing any more, and is not said to run; nor does it wake. */
static void
test_closes (void)
{
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    Fixture self = fixture_new (variant);
    for (unsigned j = 0; j < 3; j++)
      mcc_assp_sender_set_running (self.sender, j, true, self.now);
    for (unsigned i = 0; i < 10; i++) {
      report (&self, 1, 1, 4000000);
      run (&self, 500 * MCC_MSECOND);
    }
    g_assert_cmpuint (mcc_assp_streams_lowest (&self.streams), ==, 0);
    uint16_t before = self.streams.ladder;
    set_ended (&self, 0, true);
    run (&self, MCC_ASSP_END_TIME - 2 * STEP);
    g_assert_false (closed (&self, 0));
    memset (self.told, 0, sizeof self.told);
    run (&self, MCC_SECOND);
    g_assert_true (closed (&self, 0));
    g_assert_cmpuint (self.streams.ladder, ==, (uint16_t)(before + 1));
    g_assert_cmpuint (self.bounds, ==, 1);
    g_assert_false (self.streams.stream[0].flags & MCC_ASSP_RUNNING);
    g_assert_true (self.streams.stream[1].flags & MCC_ASSP_RUNNING);
    g_assert_cmpuint (mcc_assp_streams_lowest (&self.streams), ==, 1);
    mcc_assp_sender_set_running (self.sender, 0, true, self.now);
    for (unsigned i = 0; i < 60; i++) {
      report (&self, 1, 1, 4000000);
      run (&self, 500 * MCC_MSECOND);
    }
    g_assert_cmpuint (self.told[0].announced + self.told[0].carried, ==, 0);
    g_assert_cmpuint (self.told[1].announced, >, 10);
    g_assert_false (self.streams.stream[0].flags & MCC_ASSP_RUNNING);
    g_assert_true (closed (&self, 0));
    mcc_assp_sender_free (self.sender);
  }
}

/* Those that end together do not close one after the other; the last one never does. What is sent
 * again is open again, and who has not is closed then. */
static void
test_all_end (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  run (&self, 5 * MCC_SECOND);
  for (unsigned j = 0; j < 3; j++) {
    set_ended (&self, 2 - j, true);
    run (&self, 100 * MCC_MSECOND);
  }
  unsigned announcements = self.announcements;
  run (&self, 20 * MCC_SECOND);
  g_assert_cmpuint (self.announcements, ==, announcements);
  self.announcements = 0; /* rounds have passed */
  g_assert_cmpuint (self.bounds, ==, 0);
  set_ended (&self, 1, false);
  run (&self, MCC_SECOND);
  g_assert_true (closed (&self, 0) && !closed (&self, 1) && closed (&self, 2));
  g_assert_true (self.streams.stream[1].flags & MCC_ASSP_RUNNING);
  set_ended (&self, 0, false);
  set_ended (&self, 1, true);
  run (&self, 2 * MCC_SECOND);
  g_assert_true (!closed (&self, 0) && closed (&self, 1) && closed (&self, 2));
  mcc_assp_sender_free (self.sender);
}

/* A looped film: what idled goes on idling, and is not closed though nothing of it is sent. */
static void
test_all_begin_again (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
  run (&self, 5 * MCC_SECOND);
  mcc_assp_sender_set_running (self.sender, 1, false, self.now);
  for (unsigned j = 0; j < 3; j++)
    set_ended (&self, j, true);
  run (&self, 5 * MCC_SECOND);
  for (unsigned j = 0; j < 3; j++)
    set_ended (&self, j, false);
  run (&self, 2 * MCC_SECOND);
  g_assert_true (!closed (&self, 0) && !closed (&self, 1) && !closed (&self, 2));
  g_assert_true (self.streams.stream[0].flags & MCC_ASSP_RUNNING);
  g_assert_false (self.streams.stream[1].flags & MCC_ASSP_RUNNING);
  mcc_assp_sender_set_running (self.sender, 1, true, self.now);
  run (&self, 2 * MCC_SECOND);
  g_assert_true (self.streams.stream[1].flags & MCC_ASSP_RUNNING);
  mcc_assp_sender_free (self.sender);
}

/* A live ladder: no hole is left, and no plan places anybody in what has ended. */
static void
test_live (void)
{
  for (unsigned j = 0; j < 3; j++) {
    Fixture self = fixture_of (&ladder, 3);
    const MccAsspStreams *now = mcc_assp_sender_streams (self.sender);
    run (&self, 2 * MCC_SECOND);
    set_ended (&self, j, true);
    run (&self, MCC_SECOND);
    g_assert_false (mcc_assp_streams_open (now, j));
    unsigned low = mcc_assp_streams_lowest (now), high = mcc_assp_streams_above (now, low);
    g_assert_cmpuint (now->stream[low].low_bps, ==, 300000);
    g_assert_cmpuint (now->stream[low].high_bps, ==, now->stream[high].low_bps);
    g_assert_cmpuint (now->stream[high].high_bps, ==, 10000000);
    for (unsigned i = 0; i < 150; i++) { /* of which another ladder would be made */
      for (unsigned host = 1; host <= 9; host++)
        tell (&self, host, low, host % 3 == 0 ? 400000 : host % 3 == 1 ? 2200000 : 2300000);
      run (&self, MCC_SECOND);
      g_assert_false (mcc_assp_streams_open (now, j));
    }
    g_assert_cmpuint (self.bounds, >, 3);
    mcc_assp_sender_free (self.sender);
  }
}

/* Where the ladder does without a stream, that one takes the place of the one that ends; where the
 * last one goes on again it has all of the range. */
static void
test_live_place (void)
{
  Fixture self = fixture_of (&ladder, 3);
  const MccAsspStreams *now = mcc_assp_sender_streams (self.sender);
  for (unsigned i = 0; i < 60 && self.bounds == 0; i++) {
    for (unsigned host = 1; host <= 4; host++)
      tell (&self, host, 0, 2200000); /* who would stay, at 2 Mb/s */
    run (&self, MCC_SECOND);
  }
  g_assert_true (mcc_assp_streams_open (now, 0));
  g_assert_false (mcc_assp_streams_open (now, 1) || mcc_assp_streams_open (now, 2));
  MccAsspStream before = now->stream[0];
  set_ended (&self, 0, true);
  run (&self, MCC_SECOND);
  g_assert_false (mcc_assp_streams_open (now, 0));
  unsigned in_place = mcc_assp_streams_lowest (now);
  g_assert_cmpuint (now->stream[in_place].low_bps, ==, before.low_bps);
  g_assert_cmpuint (now->stream[in_place].high_bps, ==, before.high_bps);
  set_ended (&self, 1, true);
  set_ended (&self, 2, true);
  run (&self, 2 * MCC_SECOND);
  memset (self.told, 0, sizeof self.told); /* what was not said has its numbers, too */
  set_ended (&self, 0, false);
  run (&self, 2 * MCC_SECOND);
  g_assert_true (mcc_assp_streams_open (now, 0));
  g_assert_false (mcc_assp_streams_open (now, 1) || mcc_assp_streams_open (now, 2));
  g_assert_cmpuint (now->stream[0].low_bps, ==, 300000);
  g_assert_cmpuint (now->stream[0].high_bps, ==, 10000000);
  mcc_assp_sender_free (self.sender);
}

/* RTCP is scarce: one announcement a second or less. */
static const MccAsspStreams scarce = { .count = 3,
  .stream = { { 100000, 150000, 0, 1, 0, 0, 11 }, { 150000, 250000, 0, 2, 2, 0, 22 },
      { 250000, 400000, 0, 3, 4, 0, 33 } } };

/* A stream that has ended takes nothing with it that was to be told of another. */
static void
test_falls_are_told (void)
{
  Fixture self = fixture_of (&scarce, 0);
  MccTime longest = 0;
  for (unsigned n = 0; n < 40; n++) {
    for (unsigned i = 0; i < 10; i++) {
      report (&self, 1, 0, 140000);
      report (&self, 2, 1, 240000);
      run (&self, 500 * MCC_MSECOND);
      if (n == 3 && i == 0)
        set_ended (&self, 0, true);
    }
    MccTime begun = self.now;
    unsigned before = self.told[1].announced + self.told[1].carried;
    report (&self, 1, 0, 101000 + 100 * (n % 2)); /* it would have something to say, too */
    report (&self, 2, 1, 160000);
    while (self.told[1].announced + self.told[1].carried == before
           && self.now - begun < 5 * MCC_SECOND)
      run (&self, STEP);
    if (n >= 4)
      longest = MAX (longest, self.now - begun);
  }
  g_test_message ("told within %.2f s", mcc_time_to_seconds (longest));
  g_assert_cmpuint (longest, <=, 300 * MCC_MSECOND);
  mcc_assp_sender_free (self.sender);
}

/* Rounds and what is set are announced by the lowest that is heard. */
static void
test_speaks (gconstpointer data)
{
  bool begun = GPOINTER_TO_UINT (data);
  MccAsspStreams streams = scarce;
  streams.stream[0].ssrc = begun ? 11 : 0;
  Fixture self = fixture_of (&streams, 0);
  self.silent[0] = true;
  if (begun)
    set_ended (&self, 0, true);
  run (&self, 2 * MCC_SECOND);
  self.longest_round_wait = 0;
  for (unsigned i = 0; i < 120; i++) {
    report (&self, 2, 1, 240000);
    run (&self, 500 * MCC_MSECOND);
  }
  g_test_message ("rounds %.2f s late", mcc_time_to_seconds (self.longest_round_wait));
  g_assert_cmpuint (self.longest_round_wait, <, MCC_SECOND);
  MccTime all = 0;
  /* Of one that has not begun the part of RTCP is kept, and the rest is too scarce for more. */
  for (unsigned i = 0; i < 10 && begun; i++) {
    for (unsigned k = 0; k < 6; k++) {
      report (&self, 2, 1, 240000);
      run (&self, 500 * MCC_MSECOND);
    }
    unsigned before = self.announcements;
    if (i % 2)
      mcc_assp_sender_set_running (self.sender, 2, i % 4 == 1, self.now);
    else
      g_assert_true (mcc_assp_sender_set_bounds (self.sender, 2, 250000 + i, 400000, self.now));
    MccTime since = self.now;
    while (self.announcements == before && self.now - since < 10 * MCC_SECOND)
      run (&self, STEP);
    all += self.now - since;
  }
  g_test_message ("told after %.2f s", mcc_time_to_seconds (all) / 10.0); /* by stream 0: 0.45 s */
  g_assert_cmpuint (all, <=, 2 * MCC_SECOND);
  mcc_assp_sender_free (self.sender);
}

/* Who is in a stream that ends, and who comes later, sees another one soon. */
static void
test_receivers (void)
{
  enum { N = 2 };
  Vnet *vnet = vnet_new (3);
  VnetAsspSenderConfig config = vnet_assp_sender_default;
  VnetAsspSender *sender = vnet_assp_sender_new (vnet, &config, 5 * MCC_MSECOND);
  VnetLink link = { .rate_bps = 4000000, .delay = 20 * MCC_MSECOND, .queue_bytes = 50000 };
  MccAsspReceiverConfig settings
      = { .asmp = { .variant = config.variant, .hears_group = true }, .lock_stream = -1 };
  VnetAsspReceiver *receiver[N];
  int at = vnet_add_link (vnet, VNET_CORE, &link);
  settings.lock_stream = 0;
  receiver[0]
      = vnet_assp_receiver_new (vnet, at, 0, &settings, 500 * MCC_MSECOND, 4000 * MCC_SECOND, 0.0);
  vnet_run (vnet, 10 * MCC_SECOND);
  g_assert_cmpuint (vnet_assp_receiver_stream (receiver[0]), ==, 0);
  vnet_assp_sender_break (sender, 0);
  mcc_assp_sender_set_ended (
      vnet_assp_sender_core (sender), 0, true, config.epoch + vnet_now (vnet));
  vnet_run (vnet, 13 * MCC_SECOND);
  g_assert_cmpuint (vnet_assp_receiver_stream (receiver[0]), ==, 1);
  settings.lock_stream = -1;
  receiver[1]
      = vnet_assp_receiver_new (vnet, at, 0, &settings, 500 * MCC_MSECOND, 5000 * MCC_SECOND, 0.0);
  vnet_run (vnet, 16 * MCC_SECOND);
  g_assert_cmpuint (vnet_assp_receiver_stream (receiver[1]), ==, 1);
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (vnet_assp_receiver_core (receiver[1]), &stats);
  g_assert_cmpuint (stats.joins, ==, 1);
  for (guint i = 0; i < N; i++)
    vnet_assp_receiver_free (receiver[i]);
  vnet_assp_sender_free (sender);
  vnet_free (vnet);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-sender-ended/is-closed", test_closes);
  g_test_add_func ("/assp-sender-ended/all-together", test_all_end);
  g_test_add_func ("/assp-sender-ended/begin-again", test_all_begin_again);
  g_test_add_func ("/assp-sender-ended/live-ladder", test_live);
  g_test_add_func ("/assp-sender-ended/live-ladder/another-in-its-place", test_live_place);
  g_test_add_func ("/assp-sender-ended/falls-are-told", test_falls_are_told);
  g_test_add_data_func (
      "/assp-sender-ended/others-speak/ended", GUINT_TO_POINTER (TRUE), test_speaks);
  g_test_add_data_func ("/assp-sender-ended/others-speak/not-begun", NULL, test_speaks);
  g_test_add_func ("/assp-sender-ended/receivers-see-another", test_receivers);
  return g_test_run ();
}

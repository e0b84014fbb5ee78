/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What one receiver may do to the others, whatever it says (mccasmpsendertrust.c).
 */
#include "sender_fixture.h"

#define HONEST 9
#define HONEST_BPS 2000000
#define LIAR 9

static void
honest (Peer *peers, unsigned count)
{
  for (unsigned i = 0; i < count; i++)
    peers[i] = (Peer){ .ssrc = 100 + i,
      .host = 1 + i,
      .number = 1,
      .rate_bps = HONEST_BPS + i * 1000,
      .rtt = 40 * MCC_MSECOND };
}

static MccReceiverInfo
info_of (const Fixture *self, uint32_t ssrc)
{
  MccReceiverInfo info[64] = { 0 };
  unsigned count = mcc_asmp_sender_get_receivers (self->sender, self->now, info, 64);
  for (unsigned i = 0; i < count; i++)
    if (info[i].ssrc == ssrc)
      return info[i];
  g_error ("no receiver %u", ssrc);
}

static void
settle (Fixture *self, Peer *peers, MccVariant variant)
{
  MccAsmpSenderConfig config = default_config (variant);
  fixture_init (self, &config);
  honest (peers, HONEST);
  run_peers (self, peers, HONEST, 500 * MCC_MSECOND, 30 * MCC_SECOND);
  g_assert_cmpuint (self->target, ==, HONEST_BPS);
}

/* Seconds until the target is at @bps again, @limit at most. */
static double
seconds_below (Fixture *self, Peer *peers, unsigned count, uint64_t bps, unsigned limit)
{
  MccTime begin = self->now, last = begin;
  while (self->now - begin < limit * MCC_SECOND) {
    run_peers (self, peers, count, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
    if (self->target < bps)
      last = self->now;
  }
  return mcc_time_to_seconds (last - begin);
}

typedef struct {
  const char *name;
  uint64_t rate_bps;
  double loss_ratio;
  MccTime rtt;
} Lie;

/* One keyed liar among ten. */
static void
test_liar (gconstpointer data)
{
  const Lie *lie = data;
  Fixture self;
  Peer peers[HONEST + 1];
  settle (&self, peers, MCC_VARIANT_ENHANCED);
  peers[LIAR] = (Peer){ .ssrc = 666,
    .host = 66,
    .number = 1,
    .rate_bps = lie->rate_bps,
    .loss_ratio = lie->loss_ratio,
    .queueless = true,
    .rtt = lie->rtt };
  double held = seconds_below (&self, peers, HONEST + 1, HONEST_BPS * 95 / 100, 120);
  g_test_message ("%s: held down for %.1f s", lie->name, held);
  g_assert_cmpfloat (held, >, 5.0); /* it was believed at first, as a true one would be */
  g_assert_cmpfloat (held, <=, 30.0);
  g_assert_cmpint (info_of (&self, 666).state, ==, MCC_RECEIVER_QUARANTINED);
  fixture_clear (&self);
}

/* Another name does not help: its host is known. */
static void
test_new_name (void)
{
  Fixture self;
  Peer peers[HONEST + 1];
  settle (&self, peers, MCC_VARIANT_ENHANCED);
  peers[LIAR]
      = (Peer){ .ssrc = 666, .host = 66, .number = 1, .rate_bps = 1000, .rtt = 40 * MCC_MSECOND };
  seconds_below (&self, peers, HONEST + 1, HONEST_BPS, 60);
  for (unsigned i = 0; i < 5; i++) {
    peers[LIAR].ssrc++;
    double held = seconds_below (&self, peers, HONEST + 1, HONEST_BPS, 10);
    g_assert_cmpfloat (held, ==, 0.0);
  }
  fixture_clear (&self);
}

/* The equation takes the place of its claim: with losses it limits as they do. */
static void
test_equation (void)
{
  Fixture self;
  Peer peers[HONEST + 1];
  settle (&self, peers, MCC_VARIANT_ENHANCED);
  /* 1000 bytes, 40 ms: 0.05 % loss allows about 7 Mb/s, 1 % about 2.2, 3 % 1.1 */
  peers[LIAR] = (Peer){ .ssrc = 666,
    .host = 66,
    .number = 1,
    .rate_bps = 1000,
    .loss_ratio = 0.0005,
    .rtt = 40 * MCC_MSECOND };
  seconds_below (&self, peers, HONEST + 1, HONEST_BPS, 60);
  g_assert_cmpint (info_of (&self, 666).state, ==, MCC_RECEIVER_QUARANTINED);
  g_assert_cmpuint (self.target, ==, HONEST_BPS);
  peers[LIAR].loss_ratio = 0.03;
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 5 * MCC_SECOND);
  g_assert_cmpuint (self.target, <, 1400000);
  g_assert_cmpuint (self.target, >, 700000);
  fixture_clear (&self);
}

/* Who says the truth again for long enough is believed again. */
static void
test_release (void)
{
  Fixture self;
  Peer peers[HONEST + 1];
  settle (&self, peers, MCC_VARIANT_ENHANCED);
  peers[LIAR]
      = (Peer){ .ssrc = 666, .host = 66, .number = 1, .rate_bps = 1000, .rtt = 40 * MCC_MSECOND };
  seconds_below (&self, peers, HONEST + 1, HONEST_BPS, 60);
  peers[LIAR].rate_bps = HONEST_BPS + 1;
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 60 * MCC_SECOND);
  g_assert_cmpint (info_of (&self, 666).state, ==, MCC_RECEIVER_QUARANTINED);
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 120 * MCC_SECOND);
  g_assert_cmpint (info_of (&self, 666).state, ==, MCC_RECEIVER_ACTIVE);
  fixture_clear (&self);
}

/* Alone: that it is not believed raises nothing, and it is no feedback. */
static void
test_alone (void)
{
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Fixture self;
  Peer peer
      = { .ssrc = 666, .host = 66, .number = 1, .rate_bps = 2000000, .rtt = 40 * MCC_MSECOND };
  fixture_init (&self, &config);
  run_peers (&self, &peer, 1, 500 * MCC_MSECOND, 10 * MCC_SECOND);
  peer.rate_bps = 1000;
  run_peers (&self, &peer, 1, 500 * MCC_MSECOND, 60 * MCC_SECOND);
  g_assert_cmpint (info_of (&self, 666).state, ==, MCC_RECEIVER_QUARANTINED);
  g_assert_cmpuint (self.target, ==, config.min_bps);
  g_assert_cmpuint (self.lost, ==, 1);
  fixture_clear (&self);
}

/* A rise after a quarantine is no faster than one after a leave. */
static void
test_rise (void)
{
  Fixture self;
  Peer peers[HONEST + 1];
  settle (&self, peers, MCC_VARIANT_ENHANCED);
  peers[LIAR]
      = (Peer){ .ssrc = 666, .host = 66, .number = 1, .rate_bps = 1000, .rtt = 40 * MCC_MSECOND };
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 5 * MCC_SECOND);
  g_assert_cmpuint (self.target, ==, 100000);
  self.max_step = 0;
  self.rise_gap_min = MCC_TIME_NONE;
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 60 * MCC_SECOND);
  g_assert_cmpuint (self.target, ==, HONEST_BPS);
  g_assert_cmpuint (self.max_step, <=, (uint64_t)(8.0 * PACKET_BYTES / 0.04) + 1);
  fixture_clear (&self);
}

/* An honest receiver on a path that does not bear the minimum is asked to leave, and its claim
 * counts until it had the time to. */
static void
test_asked_to_leave (void)
{
  Fixture self;
  Peer peers[HONEST + 1];
  settle (&self, peers, MCC_VARIANT_ENHANCED);
  peers[LIAR] = (Peer){ .ssrc = 77,
    .host = 77,
    .number = 1,
    .rate_bps = 60000,
    .loss_ratio = 0.3,
    .rtt = 200 * MCC_MSECOND };
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 15 * MCC_SECOND);
  g_assert_cmpuint (self.target, ==, 100000);
  g_assert_false (self.session.flags & MCC_SESSION_LEAVE);
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 8 * MCC_SECOND);
  g_assert_true (self.session.flags & MCC_SESSION_LEAVE);
  g_assert_cmpuint (self.session.limiting_ssrc, ==, 77);
  g_assert_cmpuint (self.target, ==, 100000);
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 12 * MCC_SECOND);
  MccReceiverInfo info = info_of (&self, 77);
  g_assert_cmpint (info.state, ==, MCC_RECEIVER_QUARANTINED);
  g_assert_cmpint (info.quarantine, ==, MCC_QUARANTINE_BELOW_MINIMUM);
  g_assert_cmpuint (self.target, ==, HONEST_BPS);
  g_assert_false (self.session.flags & MCC_SESSION_LEAVE);
  fixture_clear (&self);
}

/* Where nobody could have more, nobody is sent away; nor is a plain player, who is not asked. */
static void
test_not_asked (void)
{
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Fixture self;
  Peer peers[3];
  fixture_init (&self, &config);
  honest (peers, 3);
  for (unsigned i = 0; i < 3; i++) {
    peers[i].rate_bps = 60000;
    peers[i].loss_ratio = 0.3;
    peers[i].rtt = 200 * MCC_MSECOND;
  }
  MccTime end = self.now + 120 * MCC_SECOND;
  while (self.now < end) {
    run_peers (&self, peers, 3, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
    g_assert_false (self.session.flags & MCC_SESSION_LEAVE);
  }
  g_assert_cmpuint (self.target, ==, 100000);
  fixture_clear (&self);
}

/* published is the papers': the lowest rules for ever. */
static void
test_published (void)
{
  Fixture self;
  Peer peers[HONEST + 1];
  settle (&self, peers, MCC_VARIANT_PUBLISHED);
  peers[LIAR]
      = (Peer){ .ssrc = 666, .host = 66, .number = 1, .rate_bps = 1000, .rtt = 40 * MCC_MSECOND };
  run_peers (&self, peers, HONEST + 1, 500 * MCC_MSECOND, 120 * MCC_SECOND);
  g_assert_cmpuint (self.target, ==, 100000);
  fixture_clear (&self);
}

/* Reports of one whose media has stopped are no feedback (RFC 8083 4.2). */
static void
test_no_media (void)
{
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  MccAppReport report = { .rate_bps = 2000000,
    .flags = MCC_REPORT_RTT_MEASURED | MCC_REPORT_ECHO,
    .rtt = 40 * MCC_MSECOND,
    .queue_delay = 20 * MCC_MSECOND,
    .hold = 5 * MCC_MSECOND };
  MccAddress from = address_of (1);
  Fixture self;
  MccTime lost_at = 0, stopped_at = 0;
  fixture_init (&self, &config);
  for (unsigned i = 0; i < 120; i++) {
    report.number++;
    report.echo = mcc_abs_send_time (self.now - 45 * MCC_MSECOND);
    if (i < 40)
      report.highest_seq = self.seq;
    else if (stopped_at == 0)
      stopped_at = self.now;
    mcc_asmp_sender_handle_report (self.sender, 5, &report, &from, self.now);
    run_for (&self, 500 * MCC_MSECOND);
    if (self.lost > 0 && lost_at == 0)
      lost_at = self.now;
  }
  g_assert_cmpuint (lost_at, >, stopped_at + 5 * MCC_SECOND);
  g_assert_cmpuint (lost_at, <, stopped_at + 15 * MCC_SECOND);
  g_assert_cmpuint (self.target, ==, config.min_bps);
  /* it comes again */
  for (unsigned i = 0; i < 40; i++) {
    report.number++;
    report.echo = mcc_abs_send_time (self.now - 45 * MCC_MSECOND);
    report.highest_seq = self.seq;
    mcc_asmp_sender_handle_report (self.sender, 5, &report, &from, self.now);
    run_for (&self, 500 * MCC_MSECOND);
  }
  g_assert_cmpuint (self.target, ==, 2000000);
  fixture_clear (&self);
}

static void
test_names (void)
{
  g_assert_cmpstr (mcc_quarantine_name (MCC_QUARANTINE_CONTRADICTED), ==, "contradicted");
  g_assert_cmpstr (mcc_quarantine_name (MCC_QUARANTINE_BELOW_MINIMUM), ==, "below-minimum");
  g_assert_cmpstr (mcc_quarantine_name ((MccQuarantine)99), ==, "unknown");
  g_assert_cmpstr (mcc_receiver_state_name (MCC_RECEIVER_QUARANTINED), ==, "quarantined");
}

int
main (int argc, char **argv)
{
  static const Lie lies[] = {
    { "tiny-without-loss", 1000, 0.0, 40 * MCC_MSECOND },
    { "tiny-without-rtt", 1000, 0.0, 0 },
    { "at-the-minimum", 100000, 0.0, 40 * MCC_MSECOND },
    { "above-the-minimum", 300000, 0.0, 40 * MCC_MSECOND },
    { "little-loss", 1000, 0.0001, 40 * MCC_MSECOND },
    { "consistent-below-the-minimum", 30000, 0.5, 200 * MCC_MSECOND },
  };
  g_test_init (&argc, &argv, NULL);
  for (unsigned i = 0; i < G_N_ELEMENTS (lies); i++) {
    char *path = g_strdup_printf ("/asmp-sender-trust/liar-for-30-s/%s", lies[i].name);
    g_test_add_data_func (path, &lies[i], test_liar);
    g_free (path);
  }
  g_test_add_func ("/asmp-sender-trust/new-name-of-a-known-host", test_new_name);
  g_test_add_func ("/asmp-sender-trust/equation-instead-of-its-claim", test_equation);
  g_test_add_func ("/asmp-sender-trust/release", test_release);
  g_test_add_func ("/asmp-sender-trust/alone-raises-nothing", test_alone);
  g_test_add_func ("/asmp-sender-trust/rise-as-after-a-leave", test_rise);
  g_test_add_func ("/asmp-sender-trust/asked-to-leave", test_asked_to_leave);
  g_test_add_func ("/asmp-sender-trust/not-asked-where-nobody-could-have-more", test_not_asked);
  g_test_add_func ("/asmp-sender-trust/published-believes", test_published);
  g_test_add_func ("/asmp-sender-trust/no-media-no-feedback", test_no_media);
  g_test_add_func ("/asmp-sender-trust/names", test_names);
  return g_test_run ();
}

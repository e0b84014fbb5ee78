/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What one receiver may do to the others, whatever it says (mccasmpsendertrust.c).
 */
#include "sender_fixture.h"

#define HONEST 9
#define HONEST_BPS 2000000
#define TENTH HONEST

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

/* Nine that tell the truth, settled, and one that joins them. */
typedef struct {
  Fixture sender;
  Peer peers[HONEST + 1];
} Scene;

static const Peer tiny_claim
    = { .ssrc = 666, .host = 66, .number = 1, .rate_bps = 1000, .rtt = 40 * MCC_MSECOND };

static void
scene_init (Scene *self, MccVariant variant, const Peer *tenth)
{
  MccAsmpSenderConfig config = default_config (variant);
  fixture_init (&self->sender, &config);
  honest (self->peers, HONEST);
  run_peers (&self->sender, self->peers, HONEST, 500 * MCC_MSECOND, 30 * MCC_SECOND);
  g_assert_cmpuint (self->sender.target, ==, HONEST_BPS);
  self->peers[TENTH] = *tenth;
}

static void
scene_run (Scene *self, unsigned seconds)
{
  run_peers (&self->sender, self->peers, HONEST + 1, 500 * MCC_MSECOND, seconds * MCC_SECOND);
}

/* Seconds until the target is at @bps again, @limit at most. */
static double
scene_seconds_below (Scene *self, uint64_t bps, unsigned limit)
{
  MccTime begin = self->sender.now, last = begin;
  while (self->sender.now - begin < limit * MCC_SECOND) {
    run_peers (&self->sender, self->peers, HONEST + 1, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
    if (self->sender.target < bps)
      last = self->sender.now;
  }
  return mcc_time_to_seconds (last - begin);
}

static MccReceiverState
scene_state (const Scene *self)
{
  return info_of (&self->sender, self->peers[TENTH].ssrc).state;
}

static void
scene_clear (Scene *self)
{
  fixture_clear (&self->sender);
}

typedef struct {
  const char *name;
  uint64_t rate_bps;
  double loss_ratio;
  MccTime rtt;
  uint32_t flags;
} Lie;

/* One keyed liar among ten. */
static void
test_liar (gconstpointer data)
{
  const Lie *lie = data;
  Peer tenth = { .ssrc = 666,
    .host = 66,
    .number = 1,
    .flags = lie->flags,
    .rate_bps = lie->rate_bps,
    .loss_ratio = lie->loss_ratio,
    .queueless = true,
    .rtt = lie->rtt };
  Scene self;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tenth);
  double held = scene_seconds_below (&self, HONEST_BPS * 95 / 100, 120);
  g_test_message ("%s: held down for %.1f s", lie->name, held);
  g_assert_cmpfloat (held, >, 5.0); /* it was believed at first, as a true one would be */
  g_assert_cmpfloat (held, <=, 30.0);
  g_assert_cmpint (scene_state (&self), ==, MCC_RECEIVER_QUARANTINED);
  scene_clear (&self);
}

/* Who does not hear the media cannot name its SSRC: no report of his counts, in no name, whatever
 * it echoes, until a block does. published believes him. */
static void
test_deaf (void)
{
  for (int published = 0; published < 2; published++) {
    Fixture self;
    Peer peers[HONEST + 1];
    MccAsmpSenderConfig config
        = default_config (published ? MCC_VARIANT_PUBLISHED : MCC_VARIANT_ENHANCED);
    config.wants_block = true;
    fixture_init (&self, &config);
    honest (peers, HONEST);
    for (unsigned i = 0; i < 60; i++) {
      for (unsigned k = 0; k < HONEST; k++) {
        MccAddress from = address_of (peers[k].host);
        mcc_asmp_sender_handle_block (self.sender, peers[k].ssrc, &from, self.now);
      }
      run_peers (&self, peers, HONEST, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
    }
    g_assert_cmpuint (self.target, ==, HONEST_BPS);
    peers[HONEST] /* who guesses well */
        = (Peer){ .ssrc = 666, .host = 66, .rate_bps = 1000, .rtt = 40 * MCC_MSECOND };
    run_peers (&self, peers, HONEST + 1, 100 * MCC_MSECOND, 2 * MCC_SECOND);
    g_assert_cmpuint (self.target, ==, published ? config.min_bps : HONEST_BPS);
    if (!published)
      g_assert_cmpint (info_of (&self, 666).state, ==, MCC_RECEIVER_PROBATION);
    MccAddress from = address_of (66);
    mcc_asmp_sender_handle_block (self.sender, 666, &from, self.now);
    run_peers (&self, peers, HONEST + 1, 100 * MCC_MSECOND, 100 * MCC_MSECOND);
    g_assert_cmpuint (self.target, ==, config.min_bps);
    fixture_clear (&self);
  }
}

/* ... nor does his RTT pace anybody, nor does he, or who gets no media, keep a sender from slowing
 * down that nobody else has answered. */
static void
test_deaf_alone (void)
{
  Fixture self;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  config.wants_block = true;
  config.start_bps = 5000000;
  fixture_init (&self, &config);
  Peer peer = { .ssrc = 666, .host = 66, .rate_bps = 9000000, .rtt = 10 * MCC_SECOND };
  for (unsigned i = 0; i < 60; i++) {
    run_peers (&self, &peer, 1, MCC_SECOND, MCC_SECOND);
    peer.ssrc += i % 2;
  }
  MccAsmpSenderStats stats;
  mcc_asmp_sender_get_stats (self.sender, self.now, &stats);
  g_assert_cmpuint (stats.rtt_max, ==, 0);
  g_assert_cmpuint (self.target, ==, config.min_bps);
  fixture_clear (&self);
}

/* Another name does not help: its host is known, also if it passed for a plain player first. */
static void
test_new_name (gconstpointer data)
{
  const unsigned plain = *(const unsigned *)data;
  Scene self;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tiny_claim);
  scene_seconds_below (&self, HONEST_BPS, 60);
  MccAddress from = address_of (self.peers[TENTH].host);
  for (unsigned i = 0; i < 5; i++) {
    self.peers[TENTH].ssrc++;
    for (unsigned k = 0; k < plain; k++)
      mcc_asmp_sender_handle_plain_report (self.sender.sender, self.peers[TENTH].ssrc,
          &(MccPlainReport){ .rtt = 40 * MCC_MSECOND }, &from, self.sender.now);
    drain (&self.sender);
    double held = scene_seconds_below (&self, HONEST_BPS, 10);
    g_assert_cmpfloat (held, ==, 0.0);
    g_assert_cmpint (scene_state (&self), ==, MCC_RECEIVER_QUARANTINED);
    g_assert_cmpuint (self.sender.quarantined, ==, 2 + i);
  }
  scene_clear (&self);
}

/* Nor does it help to go in time and come back, under the same name or another: what counted
 * against it goes on. */
static void
test_comes_and_goes (gconstpointer data)
{
  const MccTime stay = *(const unsigned *)data * MCC_MSECOND;
  static const uint64_t claims[] = { 1000, 100000, 300000 };
  for (unsigned i = 0; i < G_N_ELEMENTS (claims) * 2; i++) {
    Scene self;
    Peer tenth = tiny_claim;
    tenth.rate_bps = claims[i / 2];
    tenth.queueless = true;
    scene_init (&self, MCC_VARIANT_ENHANCED, &tenth);
    MccAddress from = address_of (tenth.host);
    MccTime begin = self.sender.now;
    double held = 0.0;
    while (self.sender.now - begin < 240 * MCC_SECOND) {
      for (MccTime end = self.sender.now + stay; self.sender.now < end;) {
        run_peers (&self.sender, self.peers, HONEST + 1, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
        held += self.sender.target < HONEST_BPS * 95 / 100 ? 0.5 : 0.0;
      }
      mcc_asmp_sender_handle_bye (
          self.sender.sender, self.peers[TENTH].ssrc, &from, self.sender.now);
      self.peers[TENTH].ssrc += i % 2;
    }
    g_test_message ("claims %u, %s name: held down for %.1f s of 240 s", (unsigned)tenth.rate_bps,
        i % 2 ? "another" : "the same", held);
    g_assert_cmpfloat (held, <=, 30.0);
    scene_clear (&self);
  }
}

/* Nor to take it back for a moment, whenever a report is due: the time counts for what it said. */
static void
test_takes_it_back (void)
{
  Scene self;
  Peer tenth = tiny_claim;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tenth);
  tenth.flags = MCC_REPORT_NO_LIMIT;
  double held = 0.0;
  for (unsigned i = 0; i < 40; i++) {
    peer_report (&self.sender, &self.peers[TENTH]);
    for (unsigned k = 0; k < 14; k++) {
      run_peers (&self.sender, self.peers, HONEST, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
      held += self.sender.target < HONEST_BPS * 95 / 100 ? 0.5 : 0.0;
    }
    tenth.number = self.peers[TENTH].number++;
    peer_report (&self.sender, &tenth);
    run_for (&self.sender, 10 * MCC_MSECOND);
  }
  g_test_message ("held down for %.1f s of 280 s", held);
  g_assert_cmpfloat (held, <=, 30.0);
  scene_clear (&self);
}

/* What honest receivers said when their path was bad, an hour later and without a key: in their own
 * addresses (forged) or from elsewhere, in order, between their reports. */
static void
test_replay_after_an_hour (void)
{
  Scene self;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tiny_claim);
  Peer *peer = &self.peers[0], said = *peer;
  said.rate_bps = 50000;
  said.loss_ratio = 0.1;
  for (unsigned minute = 0; minute < 60; minute++)
    run_peers (&self.sender, self.peers, HONEST, 500 * MCC_MSECOND, 60 * MCC_SECOND);
  g_assert_cmpuint (self.sender.target, ==, HONEST_BPS);
  uint64_t stale = dropped (&self.sender, MCC_DROP_STALE);
  uint64_t elsewhere = dropped (&self.sender, MCC_DROP_ADDRESS);
  for (unsigned i = 0; i < 100; i++) {
    for (unsigned k = 0; k < 5; k++) {
      Peer again = said, away = said;
      again.number = away.number = said.number++;
      away.host = 77;
      g_assert_cmpint (peer_report (&self.sender, &again), ==, MCC_DROP_STALE);
      g_assert_cmpint (peer_report (&self.sender, &away), !=, MCC_DROP_NONE);
      g_assert_cmpuint (self.sender.target, ==, HONEST_BPS);
    }
    run_peers (&self.sender, self.peers, HONEST, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
    g_assert_cmpuint (self.sender.target, ==, HONEST_BPS);
  }
  g_assert_cmpuint (dropped (&self.sender, MCC_DROP_STALE) - stale, ==, 500);
  g_assert_cmpuint (dropped (&self.sender, MCC_DROP_ADDRESS) - elsewhere, ==, 500);
  g_assert_cmpuint (self.sender.timed_out, ==, 0);
  scene_clear (&self);
}

/* The equation takes the place of its claim: with losses it limits as they do. */
static void
test_equation (void)
{
  /* 1000 bytes, 40 ms: 0.05 % loss allows about 7 Mb/s, 1 % about 2.2, 3 % 1.1 */
  Peer tenth = { .ssrc = 666,
    .host = 66,
    .number = 1,
    .rate_bps = 1000,
    .loss_ratio = 0.0005,
    .rtt = 40 * MCC_MSECOND };
  Scene self;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tenth);
  scene_seconds_below (&self, HONEST_BPS, 60);
  g_assert_cmpint (scene_state (&self), ==, MCC_RECEIVER_QUARANTINED);
  g_assert_cmpuint (self.sender.target, ==, HONEST_BPS);
  self.peers[TENTH].loss_ratio = 0.03;
  scene_run (&self, 5);
  g_assert_cmpuint (self.sender.target, <, 1400000);
  g_assert_cmpuint (self.sender.target, >, 700000);
  scene_clear (&self);
}

/* Who says the truth again for long enough is believed again. */
static void
test_release (void)
{
  Scene self;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tiny_claim);
  scene_seconds_below (&self, HONEST_BPS, 60);
  self.peers[TENTH].rate_bps = HONEST_BPS + 1;
  scene_run (&self, 60);
  g_assert_cmpint (scene_state (&self), ==, MCC_RECEIVER_QUARANTINED);
  scene_run (&self, 120);
  g_assert_cmpint (scene_state (&self), ==, MCC_RECEIVER_ACTIVE);
  scene_clear (&self);
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
  Scene self;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tiny_claim);
  scene_run (&self, 5);
  g_assert_cmpuint (self.sender.target, ==, 100000);
  self.sender.max_step = 0;
  self.sender.rise_gap_min = MCC_TIME_NONE;
  scene_run (&self, 60);
  g_assert_cmpuint (self.sender.target, ==, HONEST_BPS);
  g_assert_cmpuint (self.sender.max_step, <=, (uint64_t)(8.0 * PACKET_BYTES / 0.04) + 1);
  scene_clear (&self);
}

/* Two of one mind: one is just the lowest and claims an RTT of 10 s, which is to pace the rise; the
 * other brings the target down for a moment and is silent. */
static void
test_rise_at_its_pace (void)
{
  Scene self;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tiny_claim);
  self.peers[0].rtt = 10 * MCC_SECOND;
  scene_run (&self, 1);
  g_assert_cmpuint (self.sender.target, ==, 100000);
  self.peers[TENTH].rate_bps = 0;
  double held = scene_seconds_below (&self, HONEST_BPS * 95 / 100, 1200);
  g_test_message ("held down for %.1f s", held);
  /* one packet per 2 s each 2 s */
  g_assert_cmpfloat (held, <=, 30.0 + 2.0 * (1900000 - 100000) / (8.0 * PACKET_BYTES / 2.0));
  scene_clear (&self);
}

/* An honest receiver on a path that does not bear the minimum is asked to leave, and its claim
 * counts until it had the time to. */
static void
test_asked_to_leave (void)
{
  Peer tenth = { .ssrc = 77,
    .host = 77,
    .number = 1,
    .rate_bps = 60000,
    .loss_ratio = 0.3,
    .rtt = 200 * MCC_MSECOND };
  Scene self;
  scene_init (&self, MCC_VARIANT_ENHANCED, &tenth);
  scene_run (&self, 15);
  g_assert_cmpuint (self.sender.target, ==, 100000);
  g_assert_false (self.sender.session.flags & MCC_SESSION_LEAVE);
  scene_run (&self, 8);
  g_assert_true (self.sender.session.flags & MCC_SESSION_LEAVE);
  g_assert_cmpuint (self.sender.session.limiting_ssrc, ==, 77);
  g_assert_cmpuint (self.sender.target, ==, 100000);
  scene_run (&self, 12);
  MccReceiverInfo info = info_of (&self.sender, 77);
  g_assert_cmpint (info.state, ==, MCC_RECEIVER_QUARANTINED);
  g_assert_cmpint (info.quarantine, ==, MCC_QUARANTINE_BELOW_MINIMUM);
  g_assert_cmpuint (self.sender.target, ==, HONEST_BPS);
  g_assert_false (self.sender.session.flags & MCC_SESSION_LEAVE);
  scene_clear (&self);
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
  Scene self;
  scene_init (&self, MCC_VARIANT_PUBLISHED, &tiny_claim);
  scene_run (&self, 120);
  g_assert_cmpuint (self.sender.target, ==, 100000);
  scene_clear (&self);
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

/* It limits, its RTP port is cut, and it goes on with its last rate: the others must not have that
 * for ever. */
static void
test_no_media_of_one_of_two (void)
{
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  MccAppReport slow = { .rate_bps = 300000,
    .flags = MCC_REPORT_RTT_MEASURED | MCC_REPORT_ECHO | MCC_REPORT_CONGESTED,
    .rtt = 40 * MCC_MSECOND,
    .queue_delay = 20 * MCC_MSECOND,
    .hold = 5 * MCC_MSECOND };
  MccAppReport fast = slow;
  MccAddress at_slow = address_of (1), at_fast = address_of (2);
  Fixture self;
  fast.rate_bps = 2000000;
  fixture_init (&self, &config);
  for (unsigned i = 0; i < 120; i++) {
    slow.number = fast.number = i + 1;
    slow.echo = fast.echo = mcc_abs_send_time (self.now - 45 * MCC_MSECOND);
    fast.highest_seq = self.seq;
    if (i < 40)
      slow.highest_seq = self.seq;
    mcc_asmp_sender_handle_report (self.sender, 5, &slow, &at_slow, self.now);
    mcc_asmp_sender_handle_report (self.sender, 6, &fast, &at_fast, self.now);
    run_for (&self, 500 * MCC_MSECOND);
    if (i == 45) /* 3 s: it may be a moment */
      g_assert_cmpuint (self.target, ==, 300000);
  }
  g_assert_cmpuint (self.target, ==, 2000000);
  g_assert_cmpuint (self.lost, ==, 0);
  /* it comes again */
  slow.number = 121;
  slow.highest_seq = self.seq;
  mcc_asmp_sender_handle_report (self.sender, 5, &slow, &at_slow, self.now);
  run_for (&self, 100 * MCC_MSECOND);
  g_assert_cmpuint (self.target, ==, 300000);
  fixture_clear (&self);
}

/* no-feedback=stop: one that RTCP reaches, but no media. While nothing is sent it is believed,
 * since nobody could hear any; once it is sent, who cannot name it gives no feedback. */
static void
test_no_media_after_stop (void)
{
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  Fixture self;
  Peer peer = {
    .ssrc = 5, .host = 5, .rate_bps = 2000000, .flags = MCC_REPORT_NO_LIMIT, .rtt = 40 * MCC_MSECOND
  };
  MccAddress from = address_of (peer.host);
  config.wants_block = true;
  config.no_feedback = MCC_NO_FEEDBACK_STOP;
  fixture_init (&self, &config);
  while (self.stops == 0)
    run_for (&self, 100 * MCC_MSECOND);
  g_assert_cmpuint (self.lost, ==, 1);
  for (unsigned i = 0; i < 120; i++) {
    self.sends = self.stops > self.resumes ? 0.0 : 1.0;
    run_peers (&self, &peer, 1, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
  }
  g_assert_cmpuint (self.resumes, >=, 1);
  g_assert_cmpuint (self.lost, >=, 2);
  /* it hears the media again */
  for (unsigned i = 0; i < 20; i++) {
    mcc_asmp_sender_handle_block (self.sender, peer.ssrc, &from, self.now);
    run_peers (&self, &peer, 1, 500 * MCC_MSECOND, 500 * MCC_MSECOND);
  }
  unsigned lost = self.lost;
  run_peers (&self, &peer, 1, 500 * MCC_MSECOND, 60 * MCC_SECOND);
  g_assert_cmpuint (self.lost, ==, lost);
  g_assert_cmpuint (self.resumes, ==, self.stops);
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
    { "tiny-without-loss", 1000, 0.0, 40 * MCC_MSECOND, 0 },
    { "tiny-without-rtt", 1000, 0.0, 0, 0 },
    { "at-the-minimum", 100000, 0.0, 40 * MCC_MSECOND, 0 },
    { "above-the-minimum", 300000, 0.0, 40 * MCC_MSECOND, 0 },
    { "little-loss", 1000, 0.0001, 40 * MCC_MSECOND, 0 },
    { "consistent-below-the-minimum", 30000, 0.5, 200 * MCC_MSECOND, 0 },
    { "always-leaving", 1000, 0.0, 40 * MCC_MSECOND, MCC_REPORT_LEAVING },
  };
  g_test_init (&argc, &argv, NULL);
  for (unsigned i = 0; i < G_N_ELEMENTS (lies); i++) {
    char *path = g_strdup_printf ("/asmp-sender-trust/liar-for-30-s/%s", lies[i].name);
    g_test_add_data_func (path, &lies[i], test_liar);
    g_free (path);
  }
  g_test_add_func ("/asmp-sender-trust/who-does-not-hear-is-nobody", test_deaf);
  g_test_add_func ("/asmp-sender-trust/who-does-not-hear-delays-nothing", test_deaf_alone);
  static const unsigned plain[] = { 0, 1, 2 }; /* reports without APP before */
  for (unsigned i = 0; i < G_N_ELEMENTS (plain); i++) {
    char *path = g_strdup_printf ("/asmp-sender-trust/new-name-of-a-known-host/%u", plain[i]);
    g_test_add_data_func (path, &plain[i], test_new_name);
    g_free (path);
  }
  static const unsigned stays[] = { 1000, 2000, 5000, 15000, 19000 };
  for (unsigned i = 0; i < G_N_ELEMENTS (stays); i++) {
    char *path = g_strdup_printf ("/asmp-sender-trust/comes-and-goes/%u-ms", stays[i]);
    g_test_add_data_func (path, &stays[i], test_comes_and_goes);
    g_free (path);
  }
  g_test_add_func ("/asmp-sender-trust/takes-it-back-for-a-moment", test_takes_it_back);
  g_test_add_func ("/asmp-sender-trust/replay-after-an-hour", test_replay_after_an_hour);
  g_test_add_func ("/asmp-sender-trust/equation-instead-of-its-claim", test_equation);
  g_test_add_func ("/asmp-sender-trust/release", test_release);
  g_test_add_func ("/asmp-sender-trust/alone-raises-nothing", test_alone);
  g_test_add_func ("/asmp-sender-trust/rise-as-after-a-leave", test_rise);
  g_test_add_func ("/asmp-sender-trust/rise-at-its-pace", test_rise_at_its_pace);
  g_test_add_func ("/asmp-sender-trust/asked-to-leave", test_asked_to_leave);
  g_test_add_func ("/asmp-sender-trust/not-asked-where-nobody-could-have-more", test_not_asked);
  g_test_add_func ("/asmp-sender-trust/published-believes", test_published);
  g_test_add_func ("/asmp-sender-trust/no-media-no-feedback", test_no_media);
  g_test_add_func ("/asmp-sender/trust/no-media-of-one-of-two", test_no_media_of_one_of_two);
  g_test_add_func ("/asmp-sender-trust/no-media-after-stop", test_no_media_after_stop);
  g_test_add_func ("/asmp-sender-trust/names", test_names);
  return g_test_run ();
}

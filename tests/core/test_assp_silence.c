/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ASSP receiver whose stream falls silent while its sender goes on: an encoder that died, or a
 * source that rests.
 */
#include "assp_receiver_fixture.h"

static unsigned
stream_of (const Fixture *self)
{
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (self->receiver, &stats);
  return stats.stream;
}

static void
set_dead (Fixture *self, bool dead)
{
  for (unsigned j = 0; j < MCC_ASSP_STREAMS_MAX; j++)
    self->dead[j] = dead;
}

/* In @stream, unlocked; all rounds bid to decide. */
static Fixture
fixture_in (unsigned stream, MccTime length)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, (int)stream);
  run (&self, length);
  lock (&self, -1);
  self.streams.flags = MCC_ASSP_DECIDE;
  g_assert_cmpuint (stream_of (&self), ==, stream);
  return self;
}

/* The camera is off, or the screen does not change: who is in a stream stays there, sees the first
 * frame that comes, and nothing is held against any stream. */
static void
test_rests (void)
{
  static const struct {
    MccTime before, length; /* before: with room for two streams only after a while */
    uint32_t members;
  } table[] = { { 5 * MCC_SECOND, 15 * MCC_SECOND, 3 }, { 20 * MCC_SECOND, 15 * MCC_SECOND, 3 },
    { 5 * MCC_SECOND, 5 * MCC_SECOND, 3 }, { 20 * MCC_SECOND, 5 * MCC_SECOND, 3 },
    { 20 * MCC_SECOND, 300 * MCC_SECOND, 3 }, { 20 * MCC_SECOND, 15 * MCC_SECOND, 40 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_in (2, table[row].before);
    self.members = table[row].members;
    for (unsigned i = 0; i < 5; i++) {
      g_test_message ("row %u, %u", row, i);
      guint joins = self.joins;
      self.cuts = false; /* a key unit is not whole at once */
      set_dead (&self, true);
      run (&self, table[row].length);
      g_assert_cmpuint (self.joins - joins, <=, 2 + table[row].length / (30 * MCC_SECOND));
      set_dead (&self, false);
      run (&self, 100 * MCC_MSECOND);
      g_assert_cmpuint (stream_of (&self), ==, 2);
      g_assert_true (self.joined[2]);
      self.cuts = true;
      for (unsigned k = 0; k < 10; k++) {
        self.streams.round++;
        run (&self, 2 * MCC_SECOND);
        g_assert_cmpuint (stream_of (&self), ==, 2);
      }
      for (unsigned j = 0; j < 3; j++)
        g_assert_cmpuint (self.receiver->level.stream[j].failures, ==, 0);
    }
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Where the key unit of another one is whole before ours begins, we are back soon. */
static void
test_overtaken (void)
{
  Fixture self = fixture_in (2, 20 * MCC_SECOND);
  for (unsigned i = 0; i < 5; i++) {
    set_dead (&self, true);
    run (&self, 5 * MCC_SECOND);
    set_dead (&self, false);
    run (&self, 100 * MCC_MSECOND);
    g_assert_cmpuint (stream_of (&self), ==, 1);
    for (unsigned k = 0; k < 5; k++) {
      self.streams.round++;
      run (&self, 5 * MCC_SECOND);
    }
    g_assert_cmpuint (stream_of (&self), ==, 2);
    g_assert_cmpuint (self.receiver->level.stream[2].failures, ==, 0);
  }
  mcc_assp_receiver_free (self.receiver);
}

/* The highest stream that comes, wherever it is; and what comes only later is found, too. */
static void
test_alive (void)
{
  static const struct {
    unsigned stream, alive;
    MccTime later, within;
  } table[] = { { 2, 1, 0, 4 * MCC_SECOND }, { 2, 0, 0, 14 * MCC_SECOND },
    { 1, 2, 0, 14 * MCC_SECOND }, { 0, 1, 0, 4 * MCC_SECOND }, { 0, 2, 0, 14 * MCC_SECOND },
    { 2, 0, 30 * MCC_SECOND, 90 * MCC_SECOND } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_in (table[row].stream, 5 * MCC_SECOND);
    g_test_message ("row %u", row);
    set_dead (&self, true);
    self.dead[table[row].alive] = table[row].later > 0;
    run (&self, table[row].later);
    self.dead[table[row].alive] = false;
    run (&self, table[row].within);
    g_assert_cmpuint (stream_of (&self), ==, table[row].alive);
    g_assert_cmpint (self.change.reason, ==, MCC_ASSP_REASON_LADDER);
    g_assert_false (self.joined[table[row].stream]);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Another stream comes first, but no picture of it before ours comes again. */
static void
test_comes_again (void)
{
  Fixture self = fixture_in (2, 5 * MCC_SECOND);
  guint switched = self.switched;
  self.cuts = false;
  self.dead[2] = true;
  run (&self, 4 * MCC_SECOND);
  g_assert_true (self.joined[1] && self.joined[2]);
  g_assert_true (self.receiver->arrived);
  self.dead[2] = false;
  run (&self, 100 * MCC_MSECOND);
  g_assert_true (self.joined[2] && !self.joined[1]);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  g_assert_cmpuint (self.switched, ==, switched);
  g_assert_cmpuint (self.receiver->level.stream[1].failures, ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* Packets of another one come, but no picture: the next one. */
static void
test_no_picture (void)
{
  Fixture self = fixture_in (2, 5 * MCC_SECOND);
  self.cuts = false;
  self.dead[2] = true;
  run (&self, 8 * MCC_SECOND);
  g_assert_cmpuint (self.failed, ==, 0);
  g_assert_cmpuint (self.to, ==, 1);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.failed, ==, 1);
  self.cuts = true;
  run (&self, 4 * MCC_SECOND);
  g_assert_cmpuint (self.to, ==, 0);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* What is described anew is looked into at once: its encoder may have begun again. */
static void
test_another_ladder (void)
{
  Fixture self = fixture_in (2, 5 * MCC_SECOND);
  set_dead (&self, true);
  run (&self, 25 * MCC_SECOND);
  g_assert_false (self.joined[0] || self.joined[1]);
  self.dead[1] = false;
  set_streams (&self, 3);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 1);
  mcc_assp_receiver_free (self.receiver);
}

/* Nothing is shown yet, and the stream where it begins is dead: one that lives is found. What is
 * dead as a whole is waited for, and shown as soon as it comes. */
static void
test_begins_in_the_dead (void)
{
  static const struct {
    int lock;
    unsigned alive; /* bits */
    unsigned stream;
    MccTime within;
  } table[] = { { -1, 4, 2, 35 * MCC_SECOND }, { -1, 2, 1, 16 * MCC_SECOND },
    { -1, 6, 1, 16 * MCC_SECOND }, { -1, 0, MCC_ASSP_NO_STREAM, 200 * MCC_SECOND },
    { 1, 5, MCC_ASSP_NO_STREAM, 200 * MCC_SECOND } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, table[row].lock);
    g_test_message ("row %u", row);
    for (unsigned j = 0; j < 3; j++)
      self.dead[j] = !(table[row].alive >> j & 1);
    run (&self, table[row].within);
    g_assert_cmpuint (stream_of (&self), ==, table[row].stream);
    g_assert_cmpuint (self.joins - self.leaves, ==, 1);
    for (unsigned j = 0; j < 3; j++)
      g_assert_cmpuint (self.receiver->level.stream[j].failures, ==, 0);
    set_dead (&self, false);
    run (&self, 100 * MCC_MSECOND);
    g_assert_cmpuint (stream_of (&self), !=, MCC_ASSP_NO_STREAM);
    if (table[row].lock >= 0)
      g_assert_cmpuint (stream_of (&self), ==, (guint)table[row].lock);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* A source that begins while we look into a stream that our path does not carry: no picture of it
 * is whole, and we are in the lowest again. */
static void
test_begins_while_it_looks (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  set_dead (&self, true);
  run (&self, MCC_ASSP_JOIN_TIMEOUT_LAST + 2 * MCC_SECOND);
  g_assert_cmpuint (self.to, ==, 1);
  set_dead (&self, false);
  self.cuts = false;
  self.lossy = true;
  run (&self, 3 * MCC_SECOND);
  g_assert_cmpuint (self.to, ==, 0);
  guint limits = self.limits;
  run (&self, 30 * MCC_SECOND); /* nor is there one of the lowest: the sender hears of it */
  g_assert_cmpuint (self.to, ==, 0);
  g_assert_cmpuint (self.limits, >, limits);
  self.cuts = true;
  run (&self, 100 * MCC_MSECOND);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  g_assert_cmpuint (self.receiver->level.stream[1].failures, ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* ... not where the whole sender is silent, or the path is out: it is no stream's fault. */
static void
test_begins_in_silence (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  set_dead (&self, true);
  run (&self, 3 * MCC_SECOND);
  self.silent = true;
  run (&self, 100 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  g_assert_true (self.joined[0]);
  mcc_assp_receiver_free (self.receiver);
}

/* Down to a stream that is dead, as one that came from above finds: on to one that lives. */
static void
test_goes_down_to_the_dead (void)
{
  Fixture self = fixture_in (1, 20 * MCC_SECOND);
  self.dead[0] = true;
  self.lossy = true;
  run (&self, 6 * MCC_SECOND);
  g_assert_cmpuint (self.to, ==, 0);
  self.lossy = false;
  run (&self, 25 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 1);
  mcc_assp_receiver_free (self.receiver);
}

/* The stream that we were in dies while we wait for another one that does not come either: back in
 * it, one that lives is found. */
static void
test_dies_behind_us (void)
{
  Fixture self = fixture_in (1, 20 * MCC_SECOND);
  self.dead[2] = true;
  lock (&self, 2);
  lock (&self, -1);
  run (&self, 3 * MCC_SECOND);
  g_assert_true (self.joined[1] && self.joined[2]);
  self.dead[1] = true;
  run (&self, 30 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* Who waits for a dead stream goes where the user, or another ladder, wants it. */
static void
test_wants_another (void)
{
  static const struct {
    int lock, then;
    unsigned dead, stream;
    MccTime waits;
  } table[] = { { -1, 2, 0, 2, 5 * MCC_SECOND }, { -1, 2, 0, 2, 17 * MCC_SECOND },
    { 2, -1, 2, 0, 5 * MCC_SECOND }, { 2, 1, 2, 1, 40 * MCC_SECOND } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, table[row].lock);
    g_test_message ("row %u", row);
    self.dead[table[row].dead] = true;
    self.dead[1] = table[row].stream != 1;
    run (&self, table[row].waits);
    g_assert_cmpuint (stream_of (&self), ==, MCC_ASSP_NO_STREAM);
    lock (&self, table[row].then);
    run (&self, MCC_SECOND);
    g_assert_cmpuint (stream_of (&self), ==, table[row].stream);
    g_assert_cmpuint (self.joins - self.leaves, ==, 1);
    mcc_assp_receiver_free (self.receiver);
  }
}

static void
test_ladder_turned_round (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  self.dead[0] = true;
  run (&self, 5 * MCC_SECOND);
  set_streams (&self, 3);
  for (unsigned j = 0; j < 3; j++) {
    self.streams.stream[j].low_bps = 1000000 * (3 - j);
    self.streams.stream[j].high_bps = 1000000 * (4 - j);
  }
  run (&self, MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  mcc_assp_receiver_free (self.receiver);
}

/* The user wants a dead stream, and there is no room for two: the one that lives is seen. */
static void
test_wants_the_dead (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, MCC_SECOND);
  self.dead[2] = true;
  lock (&self, 2);
  run (&self, 60 * MCC_SECOND);
  g_assert_cmpuint (self.joins, <=, 4);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  self.dead[2] = false;
  run (&self, 65 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  lock (&self, 0); /* another wish counts at once */
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* ... and another one than that which is tried just now: that one counts, at once, with room for
 * two or without. */
static void
test_wants_another_meanwhile (void)
{
  for (guint room = 0; room < 2; room++) {
    Fixture self = fixture_in (0, room ? 20 * MCC_SECOND : MCC_SECOND);
    self.dead[2] = true;
    lock (&self, 2);
    run (&self, MCC_SECOND);
    g_assert_cmpint (self.joined[0], ==, (int)room);
    lock (&self, 1);
    run (&self, 20 * MCC_SECOND);
    g_assert_cmpuint (stream_of (&self), ==, 1);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* The same stream elsewhere is another answer. */
static void
test_ladder_has_it_elsewhere (void)
{
  Fixture self = fixture_in (0, 20 * MCC_SECOND);
  self.dead[2] = true;
  lock (&self, 2);
  run (&self, MCC_SECOND);
  set_streams (&self, 3);
  self.streams.stream[2].address_offset = 7;
  self.dead[2] = false;
  run (&self, 20 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  mcc_assp_receiver_free (self.receiver);
}

/* Neither what the user wants nor what was shown comes: the former is looked for now and then. */
static void
test_wants_what_comes_later (void)
{
  Fixture self = fixture_in (0, MCC_SECOND);
  self.dead[2] = true;
  lock (&self, 2);
  self.dead[0] = true;
  run (&self, 10 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, MCC_ASSP_NO_STREAM);
  self.dead[2] = false;
  run (&self, 80 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  mcc_assp_receiver_free (self.receiver);
}

/* While our host stood still nothing could come: that is no silence. */
static void
test_host_stood_still (void)
{
  Fixture self = fixture_in (1, 20 * MCC_SECOND);
  guint joins = self.joins;
  self.now += 10 * MCC_SECOND;
  self.next_send = self.now;
  announce (&self);
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, joins);
  g_assert_cmpuint (self.failed, ==, 0);
  g_assert_false (self.leaving.flags & MCC_REPORT_LEAVING);
  mcc_assp_receiver_free (self.receiver);
}

/* The stream that we are in got another SSRC before the move: it is ours still. */
static void
test_renamed_before_a_move (void)
{
  Fixture self = fixture_in (0, 20 * MCC_SECOND);
  rename_streams (&self);
  run (&self, 5 * MCC_SECOND);
  self.cuts = false;
  lock (&self, 1);
  run (&self, 100 * MCC_MSECOND);
  g_assert_true (self.joined[0] && self.joined[1]);
  MccRtpPacket packet = { .ssrc = self.ssrc, .seq = ++self.seq[0], .bytes = 1250 };
  g_assert_cmpint (
      mcc_assp_receiver_handle_rtp (self.receiver, 0, &packet, NULL, self.now), ==, MCC_DROP_NONE);
  mcc_assp_receiver_free (self.receiver);
}

/* Packets that our own host dropped while we go up say nothing of the path; others do. */
static void
test_host_drops_in_an_up (void)
{
  for (guint told = 0; told < 2; told++) {
    Fixture self = fixture_in (0, 20 * MCC_SECOND);
    self.cuts = false;
    for (unsigned k = 0; k < 10 && self.joins == 1; k++) {
      self.streams.round++;
      run (&self, MCC_SECOND);
    }
    g_assert_true (self.joined[1]);
    run (&self, 300 * MCC_MSECOND);
    self.dead[1] = true;
    run (&self, 600 * MCC_MSECOND);
    self.dead[1] = false;
    self.seq[1] = (uint16_t)(self.seq[1] + 60);
    if (told)
      mcc_assp_receiver_handle_host_dropped (self.receiver, 60, self.now);
    run (&self, 1500 * MCC_MSECOND);
    g_assert_cmpuint (self.failed, ==, 1 - told);
    self.cuts = true;
    run (&self, 100 * MCC_MSECOND);
    g_assert_cmpuint (stream_of (&self), ==, told);
    mcc_assp_receiver_free (self.receiver);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-receiver/silence/source-rests", test_rests);
  g_test_add_func ("/assp-receiver/silence/source-rests/overtaken", test_overtaken);
  g_test_add_func ("/assp-receiver/silence/another-is-alive", test_alive);
  g_test_add_func ("/assp-receiver/silence/comes-again", test_comes_again);
  g_test_add_func ("/assp-receiver/silence/no-picture", test_no_picture);
  g_test_add_func ("/assp-receiver/silence/another-ladder", test_another_ladder);
  g_test_add_func ("/assp-receiver/silence/begins-in-the-dead", test_begins_in_the_dead);
  g_test_add_func ("/assp-receiver/silence/begins-while-it-looks", test_begins_while_it_looks);
  g_test_add_func ("/assp-receiver/silence/begins-in-silence", test_begins_in_silence);
  g_test_add_func ("/assp-receiver/silence/goes-down-to-the-dead", test_goes_down_to_the_dead);
  g_test_add_func ("/assp-receiver/silence/host-drops-in-an-up", test_host_drops_in_an_up);
  g_test_add_func ("/assp-receiver/silence/dies-behind-us", test_dies_behind_us);
  g_test_add_func ("/assp-receiver/silence/wants-another", test_wants_another);
  g_test_add_func ("/assp-receiver/silence/ladder-turned-round", test_ladder_turned_round);
  g_test_add_func ("/assp-receiver/silence/wants-the-dead", test_wants_the_dead);
  g_test_add_func ("/assp-receiver/silence/renamed-before-a-move", test_renamed_before_a_move);
  g_test_add_func ("/assp-receiver/silence/wants-another-meanwhile", test_wants_another_meanwhile);
  g_test_add_func ("/assp-receiver/silence/ladder-has-it-elsewhere", test_ladder_has_it_elsewhere);
  g_test_add_func ("/assp-receiver/silence/wants-what-comes-later", test_wants_what_comes_later);
  g_test_add_func ("/assp-receiver/silence/host-stood-still", test_host_stood_still);
  return g_test_run ();
}

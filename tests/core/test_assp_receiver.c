/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "assp_receiver_fixture.h"

static unsigned
stream_of (const Fixture *self)
{
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (self->receiver, &stats);
  return stats.stream;
}

/* It knows nothing but the RTCP group, and learns the rest there. */
static void
test_start (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
  self.silent = true;
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 0);
  self.silent = false;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  g_assert_cmpuint (self.join.stream, ==, 0);
  g_assert_cmpuint (self.join.group.address_offset, ==, 1);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  g_assert_cmpint (self.change.reason, ==, MCC_ASSP_REASON_START);
  g_assert_cmpuint (self.ladders, ==, 1);
  mcc_assp_receiver_free (self.receiver);
}

static void
test_lock (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  g_assert_cmpuint (stream_of (&self), ==, 1);
  lock (&self, 99); /* the highest there is */
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  g_assert_cmpuint (self.joins, ==, 2);
  mcc_assp_receiver_free (self.receiver);
}

/* The old stream hears that we go, the new one that we are there, before any packet of it: its
 * encoder may idle. */
static void
test_reports (void)
{
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    Fixture self = fixture_new (variant, 0);
    run (&self, 10 * MCC_SECOND);
    g_assert_cmpuint (self.limits, >, 0);
    self.dead[1] = true;
    lock (&self, 1);
    g_assert_cmpuint (self.leaving_stream, ==, 0);
    g_assert_true (self.leaving.flags & MCC_REPORT_LEAVING);
    run (&self, 300 * MCC_MSECOND);
    g_assert_true (self.has_first);
    g_assert_cmpuint (self.report_stream, ==, 1);
    g_assert_true (self.first.flags & MCC_REPORT_NO_LIMIT);
    g_assert_true (self.first.flags & MCC_REPORT_KEY_UNIT);
    g_assert_cmpuint (self.first.highest_seq, ==, 0); /* of another stream it would be forged */
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Half of the packets are lost from the begin of the switch until the old stream is gone: neither
 * losses nor a limit. */
static void
test_gap (void)
{
  for (unsigned variant = MCC_VARIANT_PUBLISHED; variant <= MCC_VARIANT_ENHANCED; variant++) {
    Fixture self = fixture_new (variant, 0);
    run (&self, 10 * MCC_SECOND);
    uint64_t rate_bps = mcc_asmp_receiver_rate_bps (mcc_assp_receiver_asmp (self.receiver));
    unsigned limits = self.limits;
    self.seq[1] = (uint16_t)(self.seq[0] - 50); /* of a space of its own: not late */
    lock (&self, 1);
    self.lossy = true;
    run (&self, LEAVE);
    self.lossy = false;
    run (&self, 450 * MCC_MSECOND);
    g_assert_cmpuint (stream_of (&self), ==, 1);
    g_assert_cmpuint (self.limits, ==, limits);
    MccAsmpReceiverStats stats;
    mcc_asmp_receiver_get_stats (mcc_assp_receiver_asmp (self.receiver), self.now, &stats);
    g_assert_cmpuint (stats.packets_lost, ==, 0);
    g_assert_cmpuint (stats.duplicates + stats.reordered, ==, 0);
    g_assert_cmpfloat (stats.loss_ratio, ==, 0.0);
    if (variant == MCC_VARIANT_PUBLISHED)
      g_assert_cmpuint (stats.estimated_bps, ==, rate_bps);
    run (&self, 5 * MCC_SECOND);
    g_assert_cmpuint (self.limits, >, limits);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* The next switch waits until the last one's leave has had its effect. */
static void
test_leave_latency (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 5 * MCC_SECOND);
  for (unsigned i = 1; i <= 20; i++) {
    unsigned joins = self.joins;
    lock (&self, (int)(i % 3));
    while (self.joins == joins) {
      MccTime left = self.left;
      run (&self, STEP);
      if (self.joins > joins && i > 1) {
        g_assert_cmpuint (self.now - left, >=, LEAVE);
        g_assert_cmpuint (self.now - left, <=, LEAVE + 2 * MCC_SECOND);
      }
    }
    while (self.switched <= i)
      run (&self, STEP);
  }
  g_assert_cmpuint (self.failed, ==, 0);
  g_assert_cmpuint (self.leaves, ==, 20);
  mcc_assp_receiver_free (self.receiver);
}

/* No room for both: the old one is left first. */
static void
test_no_room (void)
{
  Fixture self = fixture_new (MCC_VARIANT_PUBLISHED, 0);
  run (&self, MCC_SECOND);
  unsigned leaves = self.leaves;
  lock (&self, 2);
  g_assert_cmpuint (self.leaves, ==, leaves + 1);
  g_assert_false (self.join.overlap);
  g_assert_cmpuint (self.leave.stream, ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* Room: both are received until the host has cut over. */
static void
test_overlap (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 20 * MCC_SECOND);
  g_assert_cmpuint (
      mcc_asmp_receiver_potential_bps (mcc_assp_receiver_asmp (self.receiver)), ==, UINT64_MAX);
  self.cuts = false;
  lock (&self, 1);
  g_assert_true (self.join.overlap);
  run (&self, 2 * MCC_SECOND);
  g_assert_cmpuint (self.leaves, ==, 0);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  g_assert_cmpuint (self.key_units, >=, 2); /* no picture comes: asked for again */
  mcc_assp_receiver_handle_cut (self.receiver, self.to, self.now);
  drain (&self);
  g_assert_cmpuint (self.leaves, ==, 1);
  g_assert_cmpuint (self.leave.stream, ==, 0);
  g_assert_cmpuint (stream_of (&self), ==, 1);
  g_assert_cmpuint (self.change.duration, ==, 2 * MCC_SECOND);
  unsigned key_units = self.key_units;
  run (&self, 3 * MCC_SECOND);
  g_assert_cmpuint (self.key_units, ==, key_units);
  mcc_assp_receiver_free (self.receiver);
}

/* A stream that does not come: back to the old one, which an overlap has never left. */
static void
test_dead (void)
{
  for (unsigned room = 0; room < 2; room++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    run (&self, room ? 20 * MCC_SECOND : MCC_SECOND);
    self.dead[1] = true;
    unsigned switched = self.switched;
    lock (&self, 1);
    g_assert_cmpint (self.join.overlap, ==, room);
    lock (&self, -1);
    run (&self, MCC_ASSP_JOIN_TIMEOUT + MCC_SECOND);
    g_assert_cmpuint (self.failed, ==, 1);
    g_assert_cmpuint (self.failure.from, ==, 1);
    g_assert_cmpuint (self.failure.stream, ==, 0);
    g_assert_cmpuint (stream_of (&self), ==, 0);
    g_assert_cmpuint (self.switched, ==, switched + 1 - room);
    g_assert_true (self.joined[0] && !self.joined[1]);
    g_assert_cmpuint (self.report_stream, ==, 0);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* What is shown falls silent: another stream while the sender lives, none when it is gone too. */
static void
test_dies (void)
{
  static const struct {
    unsigned stream;
    int lock;
    bool silent, leaves;
  } table[] = { { 1, -1, false, true }, { 2, -1, false, true }, { 0, -1, false, true },
    { 1, 1, false, false }, { 0, -1, true, false } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, (int)table[row].stream);
    run (&self, 5 * MCC_SECOND);
    g_assert_cmpuint (stream_of (&self), ==, table[row].stream);
    lock (&self, table[row].lock);
    self.dead[table[row].stream] = true;
    self.silent = table[row].silent;
    run (&self, 4 * MCC_SECOND);
    g_assert_cmpint (stream_of (&self) != table[row].stream, ==, table[row].leaves);
    if (table[row].stream == 0 && table[row].leaves)
      g_assert_cmpint (self.change.reason, ==, MCC_ASSP_REASON_LADDER);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Neither where it went nor where it was: the lowest, and a look into the others now and then. */
static void
test_all_dead (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  run (&self, MCC_SECOND);
  self.dead[0] = self.dead[1] = self.dead[2] = true;
  lock (&self, 2);
  lock (&self, -1);
  run (&self, 22 * MCC_SECOND);
  g_assert_cmpuint (self.failed, ==, 2);
  unsigned in[3] = { 0 };
  for (unsigned i = 0; i < 80; i++) {
    run (&self, MCC_SECOND);
    g_assert_cmpint (self.joined[0] + self.joined[1] + self.joined[2], ==, 1);
    in[self.to]++;
  }
  g_assert_cmpuint (in[0], >, 50);
  g_assert_cmpuint (in[1], >=, 4);
  g_assert_cmpuint (in[2], >=, 4);
  self.dead[0] = false;
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* Another sender's description does nothing while ours is there; after it has gone, all begins anew
 * with that one's ladder. */
static void
test_other_sender (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 2);
  run (&self, 5 * MCC_SECOND);
  uint32_t ours = self.ssrc;
  self.ssrc = 0xbad0;
  set_streams (&self, 1);
  g_assert_cmpint (describe (&self), ==, MCC_DROP_OTHER_SENDER);
  self.streams.stream[0].ssrc = 0xbeef; /* it does not even name itself */
  g_assert_cmpint (describe (&self), ==, MCC_DROP_BAD_VALUE);
  g_assert_cmpuint (self.joins, ==, 1);
  self.ssrc = ours;
  set_streams (&self, 3);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 2);
  g_assert_cmpuint (self.joins, ==, 1);
  self.silent = self.dead[2] = true;
  run (&self, 3 * MCC_SECOND);
  self.silent = self.dead[2] = false;
  self.ssrc = 0x5000;
  set_streams (&self, 2);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.ladders, >=, 2);
  g_assert_cmpuint (stream_of (&self), ==, 1); /* as locked, as far as there is */
  g_assert_false (self.joined[2]);
  mcc_assp_receiver_free (self.receiver);
}

/* A stream that has not begun has no SSRC, and nobody speaks for it. */
static void
test_not_begun (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  MccAsspApp app = { .subtype = MCC_ASSP_STREAMS };
  self.streams.stream[2].ssrc = 0;
  run (&self, 2 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  app.streams = self.streams;
  app.streams.number += 1000;
  app.streams.stream[0].ssrc = 0xbad;
  g_assert_cmpint (
      mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_BAD_VALUE);
  app = (MccAsspApp){ .subtype = MCC_APP_SESSION, .stream = 2 };
  app.asmp.subtype = MCC_APP_SESSION;
  g_assert_cmpint (
      mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_OTHER_SENDER);
  app = (MccAsspApp){ .subtype = MCC_APP_RTT };
  app.asmp.subtype = MCC_APP_RTT;
  app.asmp.rtt = (MccAppRttList){ .count = 1, .entry = { { OURS, 1, MCC_SECOND } } };
  g_assert_cmpint (mcc_assp_receiver_handle_app (self.receiver, &app, self.now), !=, MCC_DROP_NONE);
  mcc_assp_receiver_handle_bye (self.receiver, 0, self.now);
  app = (MccAsspApp){ .ssrc = 0xbad, .subtype = MCC_ASSP_STREAMS, .streams = self.streams };
  app.streams.stream[0].ssrc = 0xbad;
  g_assert_cmpint (
      mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_OTHER_SENDER);
  unsigned joins = self.joins;
  run (&self, 2 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, joins);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* What pressed many and is gone was, as a rule, some of them who tried the next stream and have
 * come back: who follows them at once undoes it. Few hear of each other; losses without a queue are
 * nobody's trial. */
static void
test_relieved (void)
{
  static const struct {
    const char *name;
    guint members;
    bool queue, waits;
  } table[]
      = { { "many", 45, true, true }, { "few", 3, true, false }, { "losses", 45, false, false } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    MccTime relieved = 0, up = 0;
    g_test_message ("%s", table[row].name);
    self.members = table[row].members;
    run (&self, 20 * MCC_SECOND);
    self.queue = table[row].queue ? 100 * MCC_MSECOND : 0;
    self.lossy = !table[row].queue;
    run (&self, table[row].queue ? 2 * MCC_SECOND : 50 * MCC_MSECOND);
    self.queue = 0;
    self.lossy = false;
    MccTime over = self.now;
    run (&self, 4 * MCC_SECOND);
    lock (&self, -1);
    self.streams.flags = MCC_ASSP_DECIDE;
    unsigned joins = self.joins;
    while (self.now < over + 60 * MCC_SECOND) {
      if (mcc_asmp_receiver_is_relieved (mcc_assp_receiver_asmp (self.receiver)))
        relieved = self.now - over;
      if (up == 0 && self.joins > joins)
        up = self.now - over;
      self.streams.round++;
      run (&self, 500 * MCC_MSECOND);
    }
    g_assert_cmpfloat_with_epsilon (
        mcc_time_to_seconds (relieved), table[row].waits ? 30.0 : 0.0, 1.0);
    if (table[row].waits)
      g_assert_cmpuint (up, >, relieved);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* The stream is no more: the highest that is left. Other changes of the ladder disturb nobody. */
static void
test_ladder (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 2);
  run (&self, 5 * MCC_SECOND);
  lock (&self, -1);
  set_streams (&self, 4);
  run (&self, 3 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  set_streams (&self, 2);
  announce (&self);
  g_assert_cmpuint (self.join.stream, ==, 1);
  g_assert_cmpint (self.join.reason, ==, MCC_ASSP_REASON_LADDER);
  run (&self, 3 * MCC_SECOND);
  g_assert_cmpuint (stream_of (&self), ==, 1);
  g_assert_false (self.joined[2]);
  mcc_assp_receiver_free (self.receiver);
}

/* The bound of our stream rises; less is sent until those have left who hold it there. Who bears
 * what is sent waits for them, not for ever; who does not goes at once. */
static void
test_spared (void)
{
  for (guint row = 0; row < 3; row++) {
    bool lossy = row == 1;
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    self.less = row == 2 ? 60 : 0; /* what comes is about the target */
    run (&self, 20 * MCC_SECOND);
    lock (&self, -1);
    set_streams (&self, 3);
    self.streams.stream[0].high_bps = self.streams.stream[1].low_bps = 5000000;
    self.streams.stream[1].high_bps = self.streams.stream[2].low_bps = 6000000;
    self.streams.stream[2].high_bps = 7000000;
    announce (&self);
    self.lossy = lossy;
    run (&self, 6 * MCC_SECOND);
    g_assert_cmpuint (stream_of (&self), ==, lossy ? 0 : 1);
    run (&self, 8 * MCC_SECOND);
    g_assert_cmpuint (stream_of (&self), ==, 0);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* A link that slumps: the next stream is told what it carries now; a key unit of it would be torn
 * by the flood, and is asked for when that is over, once, whether packets came before (@data) or
 * not. */
static void
test_slump (gconstpointer data)
{
  bool comes = GPOINTER_TO_INT (data);
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  run (&self, 10 * MCC_SECOND);
  queue_to (&self, 60 * MCC_MSECOND, 100 * MCC_MSECOND); /* ends the slow start */
  queue_to (&self, 0, 100 * MCC_MSECOND);
  run (&self, 5 * MCC_SECOND);
  lock (&self, -1);
  self.cuts = false;
  guint joins = self.joins, asked = self.key_units;
  for (guint i = 0; i < 50 && self.joins == joins; i++) { /* of three packets one comes */
    self.queue += 2 * STEP;
    run (&self, 3 * STEP);
  }
  g_assert_cmpint (self.join.reason, ==, MCC_ASSP_REASON_TROUBLE);
  g_assert_cmpuint (self.join.stream, ==, 0);
  self.dead[0] = !comes; /* it waits in the queue */
  run (&self, 300 * MCC_MSECOND);
  g_assert_true (self.has_first);
  g_assert_false (self.first.flags & MCC_REPORT_KEY_UNIT);
  g_assert_cmpuint (self.first.rate_bps, >, 400000); /* two thirds of a megabit came */
  g_assert_cmpuint (self.first.rate_bps, <, 600000);
  g_assert_cmpuint (self.key_units, ==, asked);
  run (&self, 200 * MCC_MSECOND);
  g_assert_cmpuint (self.key_units, ==, asked + 1);
  self.dead[0] = false;
  run (&self, 500 * MCC_MSECOND);
  g_assert_cmpuint (self.key_units, ==, asked + 1);
  run (&self, 600 * MCC_MSECOND); /* nothing whole has come */
  g_assert_cmpuint (self.key_units, ==, asked + 2);
  run (&self, 2500 * MCC_MSECOND); /* there is nowhere else to go, and no news but bad ones */
  g_assert_true (self.failed == 0 && self.joined[0]);
  g_assert_false (self.report.flags & MCC_REPORT_NO_LIMIT);
  mcc_assp_receiver_free (self.receiver);
}

/* Who goes up says in its last report below that it bears the next stream; published says nothing.
 */
static void
test_last_report_before_up (void)
{
  for (guint variant = 0; variant < 2; variant++) {
    bool ours = variant == 1;
    Fixture self = fixture_new (ours ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED, -1);
    self.streams.flags = MCC_ASSP_DECIDE;
    for (unsigned i = 0; i < 20 && self.joins < 2; i++) {
      self.streams.round++;
      run (&self, 2 * MCC_SECOND);
    }
    g_assert_cmpuint (self.joins, >=, 2);
    g_assert_cmpint (self.join.reason, ==, MCC_ASSP_REASON_UP);
    g_assert_true (self.leaving.flags & MCC_REPORT_LEAVING);
    if (ours)
      g_assert_cmpuint (self.leaving.potential_bps, >=, 2000000);
    else
      g_assert_cmpuint (self.leaving.potential_bps, ==, 0);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* The sender makes the ladder of what we told it to bear, not of what we measure just now. */
static void
test_ladder_of_what_was_told (void)
{
  for (guint told = 0; told < 2; told++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    run (&self, 20 * MCC_SECOND);
    lock (&self, -1);
    self.receiver->unlimited = false;
    self.receiver->known_bps = told ? 2600000.0 : 2200000.0;
    self.receiver->level.average_bps = 2200000.0;
    self.receiver->level.has_average = true;
    set_streams (&self, 3);
    self.streams.stream[0].high_bps = self.streams.stream[1].low_bps = 2500000;
    describe (&self);
    mcc_assp_receiver_handle_cut (self.receiver, self.to, self.now);
    drain (&self);
    run (&self, 100 * MCC_MSECOND);
    g_assert_cmpuint (self.joins, ==, told ? 1 : 2);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* In a stream that slower ones hold down 2 x received is not the path's rate, where that is known.
 */
static void
test_known_path (void)
{
  for (guint known = 0; known < 2; known++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    run (&self, 10 * MCC_SECOND);
    self.queue = 20 * MCC_MSECOND; /* no freedom, and nothing full */
    run (&self, 5 * MCC_SECOND);
    if (known)
      mcc_asmp_receiver_note_carried (self.receiver->asmp, 3200000, self.now);
    lock (&self, -1);
    self.streams.flags = MCC_ASSP_DECIDE;
    for (unsigned i = 0; i < 6; i++) {
      self.streams.round++;
      run (&self, 2 * MCC_SECOND);
    }
    g_assert_cmpuint (stream_of (&self), ==, known);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* A round that bids to decide in the middle of a switch is let go. */
static void
test_round_in_gap (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 20 * MCC_SECOND); /* nothing limits: it would go up at once */
  self.cuts = false;
  lock (&self, 1);
  lock (&self, -1);
  self.streams.flags = MCC_ASSP_DECIDE;
  for (unsigned i = 0; i < 5; i++) {
    self.streams.round++;
    run (&self, MCC_SECOND);
    g_assert_cmpuint (self.joins, ==, 2);
  }
  mcc_assp_receiver_handle_cut (self.receiver, self.to, self.now);
  drain (&self);
  run (&self, 10 * MCC_SECOND); /* the number is an old one by now */
  g_assert_cmpuint (self.joins, ==, 2);
  self.streams.round++;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 3);
  g_assert_cmpuint (self.join.stream, ==, 2);
  g_assert_cmpint (self.join.reason, ==, MCC_ASSP_REASON_UP);
  mcc_assp_receiver_free (self.receiver);
}

/* The sender's SSRC of our stream changes (RFC 3550 8.2): no switch, the same stream goes on. */
static void
test_renamed (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 5 * MCC_SECOND);
  unsigned limits = self.limits;
  rename_streams (&self);
  run (&self, 5 * MCC_SECOND);
  g_assert_cmpuint (self.joins, ==, 1);
  g_assert_cmpuint (self.switched, ==, 1);
  g_assert_cmpuint (stream_of (&self), ==, 0);
  g_assert_cmpuint (self.limits, >, limits);
  MccAsmpReceiverStats stats;
  mcc_asmp_receiver_get_stats (mcc_assp_receiver_asmp (self.receiver), self.now, &stats);
  g_assert_cmpuint (stats.source_ssrc, ==, self.ssrc);
  g_assert_cmpuint (stats.received_bps, >, 900000);
  mcc_assp_receiver_free (self.receiver);
}

/* Our own SSRC: packets with it are ours, come back from the network. */
static void
test_own (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, MCC_SECOND);
  MccAsspApp app = { .ssrc = OURS, .subtype = MCC_APP_REPORT };
  g_assert_cmpint (mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_OWN);
  mcc_assp_receiver_set_ssrc (self.receiver, OURS + 1);
  app.ssrc = OURS + 1;
  g_assert_cmpint (mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_OWN);
  mcc_assp_receiver_free (self.receiver);
}

/* A queue that comes and goes while as much arrives is no end of our path; one that stands is. */
static void
test_swing (void)
{
  for (unsigned swings = 0; swings < 2; swings++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    run (&self, 10 * MCC_SECOND);
    for (unsigned i = 0; i < 10; i++) {
      self.queue = swings == 0 || i % 2 == 0 ? 30 * MCC_MSECOND : 0;
      run (&self, 1500 * MCC_MSECOND);
    }
    uint64_t bps = mcc_asmp_receiver_potential_bps (mcc_assp_receiver_asmp (self.receiver));
    g_test_message ("potential %.0f", (double)bps);
    if (swings)
      g_assert_cmpuint (bps, >, 1300000);
    else
      g_assert_cmpuint (bps, <, 1000000); /* what arrives */
    mcc_assp_receiver_free (self.receiver);
  }
}

/* A queue that stands though the link carries more than what is sent is others': what a TCP flow
 * would get there is no more than so many packets without a loss show. */
static void
test_rivals_without_losses (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  const MccAsmpReceiver *asmp = mcc_assp_receiver_asmp (self.receiver);
  MccAsmpReceiverStats stats;
  self.floor = true;
  run (&self, 2 * MCC_SECOND);
  queue_to (&self, 500 * MCC_MSECOND, 40 * MCC_MSECOND);
  run (&self, 3 * MCC_SECOND);
  queue_to (&self, 100 * MCC_MSECOND, STEP); /* the link carries twice as much */
  run (&self, 2 * MCC_SECOND);
  mcc_asmp_receiver_get_stats (asmp, self.now, &stats);
  g_assert_cmpint (stats.mode, ==, MCC_RATE_TCP);
  g_assert_cmpfloat (stats.loss_ratio, ==, 0.0);
  uint64_t bps = mcc_asmp_receiver_potential_bps (asmp);
  g_test_message ("potential %.0f", (double)bps);
  g_assert_cmpuint (bps, >=, mcc_asmp_receiver_rate_bps (asmp));
  g_assert_cmpuint (bps, <, 20000000);
  mcc_assp_receiver_free (self.receiver);
}

/* A radio link loses packets by itself. What they allow is our rate where no queue stands, though
 * less is sent; where one stands, what arrives. A window that has lost by chance is no end of the
 * path, half a stream that does not arrive is. */
static void
test_radio (void)
{
  static const struct {
    unsigned lost_each;
    MccTime lossy, after, queue;
    uint64_t least_bps, most_bps;
  } table[] = { { 100, 0, 0, 0, 2000000, 6000000 },
    { 100, 40 * MCC_MSECOND, 6 * MCC_SECOND, 0, 2000000, 6000000 },
    { 100, MCC_SECOND, 0, 0, 300000, 800000 },
    { 100, 0, 6 * MCC_SECOND, 30 * MCC_MSECOND, 400000, 1400000 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    self.lost_each = table[row].lost_each;
    self.less = 30;
    run (&self, 20 * MCC_SECOND);
    self.queue = table[row].queue;
    self.lossy = true;
    run (&self, table[row].lossy);
    self.lossy = false;
    run (&self, table[row].after);
    uint64_t bps = mcc_asmp_receiver_potential_bps (mcc_assp_receiver_asmp (self.receiver));
    g_test_message ("row %u: potential %.0f", row, (double)bps);
    g_assert_cmpuint (bps, >=, table[row].least_bps);
    g_assert_cmpuint (bps, <=, table[row].most_bps);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* A rate that grows to what losses allow, as one that doubles, is not yet what the path bears, and
 * the sender is not told so; where a queue stands it is. */
static void
test_grows (void)
{
  for (guint queue = 0; queue <= 1; queue++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    const MccAsmpReceiver *asmp = mcc_assp_receiver_asmp (self.receiver);
    self.lost_each = 40;
    run (&self, MCC_SECOND);
    self.queue = queue * 20 * MCC_MSECOND;
    run (&self, MCC_SECOND);
    g_assert_cmpuint (mcc_asmp_receiver_rate_bps (asmp), >, 800000);
    g_assert_cmpuint (mcc_asmp_receiver_rate_bps (asmp), <, 1100000);
    g_assert_cmpint (mcc_asmp_receiver_known_bps (asmp) > 0, ==, queue);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* A stream of which a sixth is lost at first is too much, but where others may have taken it; while
 * the old stream is there, too, that takes its part; and where it has grown to four times what was
 * announced, half of it is enough. */
static void
test_trial_losses (void)
{
  static const struct {
    bool rivals, both;
    unsigned lost; /* of 41 */
    bool too_much;
    uint32_t bytes;
  } table[] = { { false, false, 0, false, 2500 }, { false, false, 4, false, 2500 },
    { false, false, 9, true, 2500 }, { true, false, 9, false, 2500 },
    { true, true, 9, false, 2500 }, { true, true, 20, true, 2500 },
    { false, false, 20, false, 10000 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    run (&self, 5 * MCC_SECOND);
    MccAsspReceiver *receiver = self.receiver;
    receiver->left = table[row].both ? receiver->now : receiver->now - 2 * LEAVE;
    receiver->probe.needed_bps = 2e6;
    receiver->probe.sent_bps = 1e6;
    receiver->probe.rivals = table[row].rivals;
    for (uint16_t seq = 0; seq < 42; seq++) {
      receiver->now += STEP;
      if (seq % 41 == 0 || seq > table[row].lost)
        mcc_assp_receiver_probe (
            receiver, &(MccRtpPacket){ .seq = seq, .bytes = table[row].bytes });
    }
    g_assert_cmpint (mcc_assp_receiver_is_too_much (receiver), ==, table[row].too_much);
    mcc_assp_receiver_free (receiver);
  }
}

/* Of few in all streams together the first second of an average weighs no more than others. */
static void
test_first_second (void)
{
  for (guint many = 0; many <= 1; many++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, -1);
    self.members = many ? 10 : 5; /* of each of three streams */
    run (&self, 4 * MCC_SECOND);
    const MccAsspLevel *level = &self.receiver->level;
    g_assert_true (level->has_average);
    g_assert_cmpfloat (level->mean[0].average_bps, !=, level->mean[1].average_bps);
    g_assert_cmpfloat (level->average_bps, ==, level->mean[many ? 0 : 1].average_bps);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Many behind one link move together: no report of each in its queue. */
static void
test_crowd (void)
{
  for (unsigned crowd = 0; crowd < 2; crowd++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    self.members = crowd ? 100 : 10;
    run (&self, 15 * MCC_SECOND);
    unsigned before = self.reports;
    lock (&self, 1);
    run (&self, 200 * MCC_MSECOND);
    g_assert_cmpuint (self.leaves, ==, 1);
    g_assert_cmpuint (self.reports - before, ==, crowd ? 0 : 1); /* that it leaves */
    run (&self, 20 * MCC_SECOND);
    g_assert_true (self.has_first);
    g_assert_cmpuint (self.report_stream, ==, 1);
    mcc_assp_receiver_free (self.receiver);
  }
}

static void
test_leave (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  MccAppReport report;
  unsigned stream;
  run (&self, 5 * MCC_SECOND);
  mcc_assp_receiver_leave (self.receiver, &stream, &report, self.now);
  g_assert_cmpuint (stream, ==, 1);
  g_assert_true (report.flags & MCC_REPORT_LEAVING);
  g_assert_cmpuint (report.number, ==, self.report.number + 1);
  mcc_assp_receiver_free (self.receiver);
}

static void
test_bad_factors (void)
{
  MccAsspReceiverConfig config = { .factors = { 0.3, 0.5, 0.8, 1.2 }, .lock_stream = -1 };
  g_assert_null (mcc_assp_receiver_new (&config, START));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-receiver/radio", test_radio);
  g_test_add_func ("/assp-receiver/grows", test_grows);
  g_test_add_func ("/assp-receiver/first-second", test_first_second);
  g_test_add_func ("/assp-receiver/learns-all-from-the-rtcp-group", test_start);
  g_test_add_func ("/assp-receiver/lock", test_lock);
  g_test_add_func ("/assp-receiver/reports-say-where-it-is", test_reports);
  g_test_add_func ("/assp-receiver/nothing-is-measured-in-the-gap", test_gap);
  g_test_add_func ("/assp-receiver/respects-the-leave-latency", test_leave_latency);
  g_test_add_func ("/assp-receiver/no-room-no-overlap", test_no_room);
  g_test_add_func ("/assp-receiver/overlap-until-the-cut", test_overlap);
  g_test_add_func ("/assp-receiver/comes-back-from-a-dead-stream", test_dead);
  g_test_add_func ("/assp-receiver/leaves-a-stream-that-died", test_dies);
  g_test_add_func ("/assp-receiver/falls-back-to-the-lowest", test_all_dead);
  g_test_add_func ("/assp-receiver/one-sender-at-a-time", test_other_sender);
  g_test_add_func ("/assp-receiver/stream-that-has-not-begun", test_not_begun);
  g_test_add_func ("/assp-receiver/ladder-without-its-stream", test_ladder);
  g_test_add_func ("/assp-receiver/spared", test_spared);
  g_test_add_data_func ("/assp-receiver/slump/silent", GINT_TO_POINTER (false), test_slump);
  g_test_add_data_func ("/assp-receiver/slump/at-once", GINT_TO_POINTER (true), test_slump);
  g_test_add_func ("/assp-receiver/last-report-before-an-up", test_last_report_before_up);
  g_test_add_func ("/assp-receiver/a-path-that-is-known", test_known_path);
  g_test_add_func ("/assp-receiver/ladder-of-what-was-told", test_ladder_of_what_was_told);
  g_test_add_func ("/assp-receiver/relieved", test_relieved);
  g_test_add_func ("/assp-receiver/no-decision-in-the-gap", test_round_in_gap);
  g_test_add_func ("/assp-receiver/another-ssrc-is-no-other-stream", test_renamed);
  g_test_add_func ("/assp-receiver/own-packets", test_own);
  g_test_add_func ("/assp-receiver/queue-that-comes-and-goes", test_swing);
  g_test_add_func ("/assp-receiver/rivals-without-losses", test_rivals_without_losses);
  g_test_add_func ("/assp-receiver/losses-of-a-trial", test_trial_losses);
  g_test_add_func ("/assp-receiver/a-crowd-does-not-report-at-once", test_crowd);
  g_test_add_func ("/assp-receiver/last-report", test_leave);
  g_test_add_func ("/assp-receiver/factors-out-of-range", test_bad_factors);
  return g_test_run ();
}

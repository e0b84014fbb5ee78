/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ASSP receiver on its way from one stream to another: what the host shows meanwhile; where a
 * lock leads in a ladder that moves; what is counted as another sender's.
 */
#include "assp_receiver_fixture.h"

static MccAsspReceiverStats
stats_of (const Fixture *self)
{
  MccAsspReceiverStats stats;
  mcc_assp_receiver_get_stats (self->receiver, &stats);
  return stats;
}

static void
cut (Fixture *self, unsigned stream)
{
  mcc_assp_receiver_handle_cut (self->receiver, stream, self->now);
  drain (self);
}

/* The picture of what was joined comes just as it is given up: once the host has left that, too, it
 * shows nothing, and has thrown away what came of the old one. */
static void
test_cut_to_what_was_given_up (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 20 * MCC_SECOND);
  self.cuts = false;
  lock (&self, 1);
  g_assert_true (self.join.overlap);
  lock (&self, -1);
  run (&self, MCC_ASSP_JOIN_TIMEOUT + STEP);
  g_assert_cmpuint (self.failed, ==, 1);
  g_assert_false (stats_of (&self).switching);
  unsigned joins = self.joins, leaves = self.leaves, switched = self.switched;
  cut (&self, 1);
  g_assert_cmpuint (self.joins, ==, joins + 1);
  g_assert_cmpuint (self.leaves, ==, leaves + 1);
  g_assert_cmpuint (self.leave.stream, ==, 0);
  g_assert_cmpuint (self.join.stream, ==, 0);
  g_assert_false (self.join.overlap);
  g_assert_true (self.joined[0] && !self.joined[1]);
  unsigned key_units = self.key_units;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.key_units, >, key_units);
  self.cuts = true;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (stats_of (&self).stream, ==, 0);
  g_assert_cmpuint (self.switched, ==, switched + 1);
  g_assert_cmpint (self.change.reason, ==, MCC_ASSP_REASON_BACK);
  cut (&self, 0); /* what is shown begins anew: nothing to do */
  g_assert_cmpuint (self.joins, ==, joins + 1);
  mcc_assp_receiver_free (self.receiver);
}

/* ... where the old one is closed by then: the lowest that is open. */
static void
test_cut_to_what_was_given_up_of_another_ladder (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 20 * MCC_SECOND);
  self.cuts = false;
  lock (&self, 1);
  lock (&self, -1);
  run (&self, MCC_ASSP_JOIN_TIMEOUT + STEP);
  g_assert_cmpuint (self.failed, ==, 1);
  self.streams.stream[0].flags |= MCC_ASSP_CLOSED;
  self.streams.ladder++;
  describe (&self);
  cut (&self, 1);
  g_assert_cmpuint (self.join.stream, ==, 1);
  g_assert_false (self.joined[0]);
  self.cuts = true;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (stats_of (&self).stream, ==, 1);
  mcc_assp_receiver_free (self.receiver);
}

/* Alone: a late cut to it is none to the one that was joined in its place. */
static void
test_late_cut (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, MCC_SECOND);
  self.cuts = false;
  lock (&self, 1);
  g_assert_false (self.join.overlap);
  lock (&self, -1);
  run (&self, MCC_ASSP_PICTURE_TIMEOUT + MCC_SECOND);
  g_assert_cmpuint (self.failed, ==, 1);
  g_assert_cmpuint (self.join.stream, ==, 0);
  unsigned joins = self.joins;
  cut (&self, 1);
  g_assert_cmpuint (stats_of (&self).stream, ==, MCC_ASSP_NO_STREAM);
  g_assert_true (stats_of (&self).switching);
  cut (&self, 0);
  g_assert_cmpuint (stats_of (&self).stream, ==, 0);
  g_assert_cmpuint (self.joins, ==, joins);
  mcc_assp_receiver_free (self.receiver);
}

/* Place @j is the @rank[j]-th. */
static void
set_ranks (Fixture *self, const unsigned rank[3])
{
  for (unsigned j = 0; j < 3; j++) {
    MccAsspStream *stream = &self->streams.stream[j];
    stream->low_bps = stream->average_bps = 1000000 * (rank[j] + 1);
    stream->high_bps = 1000000 * (rank[j] + 2);
    stream->flags = 0;
  }
  self->streams.ladder++;
}

static void
test_lock_of_a_ladder_that_moves (void)
{
  static const unsigned first[3] = { 2, 0, 1 }, second[3] = { 1, 2, 0 };
  static const struct {
    int lock;
    const unsigned *rank;
    unsigned closed, stream;
  } table[] = { { 0, first, 3, 1 }, { 1, first, 3, 1 }, { 2, first, 3, 2 }, { 3, first, 3, 0 },
    { 8, first, 3, 0 }, { 0, second, 3, 2 }, { 8, second, 3, 1 }, { 0, second, 2, 0 },
    { 8, second, 1, 0 }, { 1, second, 1, 0 } };
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  set_ranks (&self, first);
  run (&self, 5 * MCC_SECOND);
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    g_test_message ("row %u", row);
    set_ranks (&self, table[row].rank);
    if (table[row].closed < 3)
      self.streams.stream[table[row].closed].flags = MCC_ASSP_CLOSED;
    announce (&self);
    lock (&self, table[row].lock);
    run (&self, 8 * MCC_SECOND);
    g_assert_cmpuint (stats_of (&self).stream, ==, table[row].stream);
  }
  mcc_assp_receiver_free (self.receiver);
}

static MccDrop
packet_of (Fixture *self, unsigned stream, uint32_t ssrc, uint8_t host)
{
  MccAddress from = { .family = 4, .port = 5004, .bytes = { 10, 0, 0, host } };
  MccRtpPacket packet = { .ssrc = ssrc, .seq = ++self->seq[stream], .bytes = 1250 };
  MccDrop drop = mcc_assp_receiver_handle_rtp (self->receiver, stream, &packet, &from, self->now);
  drain (self);
  return drop;
}

/* What the network brings of a stream that was left is ours: dropped, and not said to be another
 * sender's. Nor are reports that are heard before anybody has described streams. */
static void
test_not_another_sender (void)
{
  MccAddress host = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, 1 } };
  MccAsspApp app = { .ssrc = 5, .subtype = MCC_APP_REPORT, .stream = 0 };
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  app.asmp = (MccApp){ .ssrc = 5, .subtype = MCC_APP_REPORT, .report = { .number = 1 } };
  g_assert_cmpint (
      mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpuint (stats_of (&self).dropped[MCC_DROP_OTHER_SENDER], ==, 0);
  run (&self, MCC_SECOND);
  mcc_asmp_receiver_set_host (mcc_assp_receiver_asmp (self.receiver), &host, self.now);
  lock (&self, 1);
  g_assert_false (self.join.overlap);
  g_assert_cmpint (packet_of (&self, 0, SENDER, 1), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpuint (stats_of (&self).dropped[MCC_DROP_OTHER_SENDER], ==, 0);
  g_assert_cmpint (packet_of (&self, 0, 0xbad, 1), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpuint (stats_of (&self).dropped[MCC_DROP_OTHER_SENDER], ==, 1);
  g_assert_cmpint (packet_of (&self, 0, SENDER, 2), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpuint (stats_of (&self).dropped[MCC_DROP_OTHER_SENDER], ==, 2);
  mcc_assp_receiver_free (self.receiver);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-receiver/moves/cut-to-what-was-given-up", test_cut_to_what_was_given_up);
  g_test_add_func ("/assp-receiver/moves/cut-to-what-was-given-up/another-ladder",
      test_cut_to_what_was_given_up_of_another_ladder);
  g_test_add_func ("/assp-receiver/moves/late-cut", test_late_cut);
  g_test_add_func (
      "/assp-receiver/moves/lock-of-a-ladder-that-moves", test_lock_of_a_ladder_that_moves);
  g_test_add_func ("/assp-receiver/moves/not-another-sender", test_not_another_sender);
  return g_test_run ();
}

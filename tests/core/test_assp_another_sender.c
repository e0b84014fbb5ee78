/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ASSP receiver and other senders than its own; and its host's absence.
 */
#include "assp_receiver_fixture.h"

static void
bye (Fixture *self, unsigned streams)
{
  for (unsigned j = 0; j < streams; j++)
    mcc_assp_receiver_handle_bye (self->receiver, SENDER + j, self->now);
  drain (self);
}

/* A BYE in the name of a stream that we do not receive may come from anywhere. */
static void
test_forged_bye (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 5 * MCC_SECOND);
  mcc_assp_receiver_handle_bye (self.receiver, SENDER + 1, self.now);
  drain (&self);
  self.ssrc = 0xbad0;
  set_streams (&self, 1);
  g_assert_cmpint (describe (&self), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpuint (self.joins, ==, 1);
  g_assert_cmpuint (self.leaves, ==, 0);
  bye (&self, 3); /* the sender itself */
  g_assert_cmpint (describe (&self), ==, MCC_DROP_NONE);
  g_assert_cmpuint (self.joins, ==, 2);
  mcc_assp_receiver_free (self.receiver);
}

/* What a BYE has overtaken does not bring the sender back: nobody reports to one that is gone. */
static void
test_overtaken_by_bye (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 5 * MCC_SECOND);
  bye (&self, 3);
  self.now += MCC_MSECOND;
  send_packet (&self, 0, self.now - WIRE);
  self.silent = self.dead[0] = true;
  unsigned before = self.reports;
  run (&self, 60 * MCC_SECOND);
  g_assert_cmpuint (self.reports, ==, before);
  mcc_assp_receiver_free (self.receiver);
}

/* It begins again under its old names: its numbers are others, and count at once; without a BYE a
 * description that is behind is an old one. */
static void
test_same_names (void)
{
  for (unsigned said = 0; said < 2; said++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
    run (&self, 5 * MCC_SECOND);
    if (said)
      bye (&self, 3);
    self.streams.number -= 1000;
    set_streams (&self, 2);
    g_assert_cmpint (describe (&self), ==, said ? MCC_DROP_NONE : MCC_DROP_STALE);
    g_assert_cmpuint (mcc_assp_receiver_streams (self.receiver)->count, ==, said ? 2 : 3);
    g_assert_cmpuint (self.joins, ==, 1);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* One that takes over at once has another clock, and another path. */
static void
test_another_clock (gconstpointer data)
{
  MccTime ahead = (MccTime)(GPOINTER_TO_UINT (data)) * MCC_SECOND;
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 10 * MCC_SECOND);
  bye (&self, 3);
  self.ssrc = 0x5000;
  set_streams (&self, 2);
  self.epoch = ahead;
  self.announced = self.now;
  uint64_t limits = self.limits;
  run (&self, 10 * MCC_SECOND);
  g_assert_cmpuint (self.joins, >=, 2);
  g_assert_cmpuint (self.limits, >, limits);
  g_assert_cmpuint (self.report.queue_delay, <, 50 * MCC_MSECOND);
  g_assert_cmpuint (self.report.rate_bps, >=, 1000000);
  mcc_assp_receiver_free (self.receiver);
}

/* The host was away in the middle of a switch: that the new stream did not come is its own affair.
 */
static void
test_absence_in_a_switch (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 10 * MCC_SECOND);
  self.cuts = false;
  lock (&self, 1);
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.to, ==, 1);
  MccTime away = 20 * MCC_SECOND;
  self.now += away;
  self.next_send += away;
  self.announced += away;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.failed, ==, 0);
  self.cuts = true;
  run (&self, MCC_SECOND);
  g_assert_cmpuint (self.change.stream, ==, 1);
  g_assert_cmpuint (self.failed, ==, 0);
  mcc_assp_receiver_free (self.receiver);
}

/* The sender dies without a word after our stream has been followed anew and before a packet of it
 * came: while a move beside it comes to nothing (@data 0), or renamed (1). It is gone all the same,
 * and restarts under other names. */
static void
test_dies_unfollowed (gconstpointer data)
{
  bool renamed = GPOINTER_TO_INT (data);
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
  run (&self, 20 * MCC_SECOND);
  if (renamed) {
    MccAsspApp app = { .ssrc = self.ssrc, .subtype = MCC_ASSP_STREAMS };
    self.streams.number++;
    app.streams = self.streams;
    app.streams.stream[1].ssrc = SENDER + 0x100;
    g_assert_cmpint (
        mcc_assp_receiver_handle_app (self.receiver, &app, self.now), ==, MCC_DROP_NONE);
    drain (&self);
  } else {
    self.dead[2] = true;
    lock (&self, 2);
    lock (&self, -1);
    g_assert_true (self.join.overlap);
    run (&self, MCC_SECOND);
  }
  self.dead[0] = self.dead[1] = self.dead[2] = self.silent = true;
  guint joins = self.joins;
  run (&self, 10 * MCC_SECOND);
  self.ssrc = 0x5000;
  set_streams (&self, 3);
  g_assert_cmpint (describe (&self), ==, MCC_DROP_OTHER_SENDER); /* too soon to say */
  run (&self, 20 * MCC_SECOND);
  g_assert_cmpint (describe (&self), ==, MCC_DROP_NONE);
  g_assert_cmpuint (self.joins, ==, joins + 1);
  self.dead[0] = self.dead[1] = self.dead[2] = self.silent = false;
  run (&self, MCC_SECOND);
  g_assert_cmpint (self.change.reason, ==, MCC_ASSP_REASON_START);
  mcc_assp_receiver_free (self.receiver);
}

/* Who is heard is there, however long it has described nothing; so is the stream that a move goes
 * on beside. */
static void
test_heard_without_descriptions (void)
{
  for (guint moves = 0; moves < 2; moves++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 1);
    run (&self, 20 * MCC_SECOND);
    self.silent = true;
    run (&self, (moves ? 13 : 20) * MCC_SECOND);
    self.dead[2] = moves;
    if (moves) {
      lock (&self, 2);
      g_assert_true (self.join.overlap);
      run (&self, 4 * MCC_SECOND);
    }
    self.ssrc = 0x5000;
    set_streams (&self, 3);
    g_assert_cmpint (describe (&self), ==, MCC_DROP_OTHER_SENDER);
    mcc_assp_receiver_free (self.receiver);
  }
}

static MccDrop
packet_from (Fixture *self, unsigned j, uint8_t host)
{
  MccAddress from = { .family = 4, .port = 5004, .bytes = { 10, 0, 0, host } };
  MccRtpPacket packet = { .ssrc = self->ssrc + j, .seq = ++self->seq[j], .bytes = 1250 };
  MccDrop drop = mcc_assp_receiver_handle_rtp (self->receiver, j, &packet, &from, self->now);
  drain (self);
  return drop;
}

/* One sender's streams come from the host that describes them: the first packet of one that is
 * joined, and what still comes of the one that goes on beside. */
static void
test_one_host (void)
{
  MccAddress host = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, 1 } };
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  run (&self, 20 * MCC_SECOND);
  mcc_asmp_receiver_set_host (mcc_assp_receiver_asmp (self.receiver), &host, self.now);
  lock (&self, 1);
  g_assert_true (self.join.overlap);
  for (unsigned i = 0; i < 5; i++) {
    g_assert_cmpint (packet_from (&self, 0, 2), ==, MCC_DROP_OTHER_SENDER);
    g_assert_cmpint (packet_from (&self, 0, 1), ==, MCC_DROP_NONE);
    g_assert_cmpint (packet_from (&self, 1, 2), ==, MCC_DROP_OTHER_SENDER);
  }
  g_assert_cmpint (packet_from (&self, 1, 1), ==, MCC_DROP_NONE);
  g_assert_cmpint (packet_from (&self, 1, 2), ==, MCC_DROP_OTHER_SENDER);
  mcc_assp_receiver_free (self.receiver);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-receiver/another-sender/forged-bye", test_forged_bye);
  g_test_add_func ("/assp-receiver/another-sender/overtaken-by-bye", test_overtaken_by_bye);
  g_test_add_func ("/assp-receiver/another-sender/same-names", test_same_names);
  g_test_add_data_func (
      "/assp-receiver/another-sender/clock-ahead", GUINT_TO_POINTER (8), test_another_clock);
  g_test_add_data_func (
      "/assp-receiver/another-sender/clock-behind", GUINT_TO_POINTER (64 - 8), test_another_clock);
  g_test_add_data_func ("/assp-receiver/another-sender/after-a-death/in-a-move",
      GINT_TO_POINTER (false), test_dies_unfollowed);
  g_test_add_data_func ("/assp-receiver/another-sender/after-a-death/renamed",
      GINT_TO_POINTER (true), test_dies_unfollowed);
  g_test_add_func (
      "/assp-receiver/another-sender/heard-without-descriptions", test_heard_without_descriptions);
  g_test_add_func ("/assp-receiver/another-sender/one-host", test_one_host);
  g_test_add_func ("/assp-receiver/absence-in-a-switch", test_absence_in_a_switch);
  return g_test_run ();
}

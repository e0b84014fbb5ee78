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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-receiver/another-sender/forged-bye", test_forged_bye);
  g_test_add_func ("/assp-receiver/another-sender/overtaken-by-bye", test_overtaken_by_bye);
  g_test_add_data_func (
      "/assp-receiver/another-sender/clock-ahead", GUINT_TO_POINTER (8), test_another_clock);
  g_test_add_data_func (
      "/assp-receiver/another-sender/clock-behind", GUINT_TO_POINTER (64 - 8), test_another_clock);
  g_test_add_func ("/assp-receiver/absence-in-a-switch", test_absence_in_a_switch);
  return g_test_run ();
}

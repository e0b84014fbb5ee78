/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What packets that leave together tell an ASSP receiver of its link, and it the sender.
 */
#include "assp_receiver_fixture.h"
#include "mccasmpreceiverprivate.h"

#define QUEUE (30 * MCC_MSECOND)

static bool
others (const Fixture *self)
{
  return mcc_asmp_receiver_others_queue (self->receiver->asmp);
}

static uint64_t
potential (const Fixture *self)
{
  return mcc_asmp_receiver_potential_bps (self->receiver->asmp);
}

/* A receiver in the lowest stream, behind a queue. */
static Fixture
behind_queue (int pairs, uint32_t members)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  self.pairs = pairs;
  self.members = members;
  self.unasked = members > MCC_ASMP_FEW_RECEIVERS;
  run (&self, 10 * MCC_SECOND);
  self.queue = QUEUE;
  run (&self, 8 * MCC_SECOND);
  return self;
}

/* Of a link that carries far more than what arrives no queue is the end: others fill it, and
 * nothing was lost there. Where it carries no more the queue is ours. Of many, some may be what
 * stands. */
static void
part_is_no_ceiling (void)
{
  static const struct {
    int pairs;
    uint32_t members;
    bool others;
  } table[] = { { NO_PAIRS, 3, false }, { PAIRS_COME_APART, 3, false },
    { PAIRS_COME_TOGETHER, 3, true }, { PAIRS_COME_TOGETHER, 40, false } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = behind_queue (table[row].pairs, table[row].members);
    g_test_message ("row %u: potential %" G_GUINT64_FORMAT, row, potential (&self));
    g_assert_cmpint (others (&self), ==, table[row].others);
    if (table[row].others)
      g_assert_cmpuint (potential (&self), >, 3000000);
    else
      g_assert_cmpuint (potential (&self), <, 2100000);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* What had been taken for the end is forgotten once pairs show more; and they are believed again
 * when they show that nothing is left for others. */
static void
newest_proof_counts (void)
{
  Fixture self = behind_queue (NO_PAIRS, 3);
  g_assert_cmpuint (mcc_asmp_receiver_ceiling_bps (self.receiver->asmp), <, 1100000);
  self.pairs = PAIRS_COME_TOGETHER;
  run (&self, 10 * MCC_SECOND);
  g_assert_cmpuint (mcc_asmp_receiver_ceiling_bps (self.receiver->asmp), ==, UINT64_MAX);
  g_assert_true (others (&self));
  self.pairs = PAIRS_COME_APART;
  run (&self, 13 * MCC_SECOND);
  g_assert_false (others (&self));
  mcc_assp_receiver_free (self.receiver);
}

/* A link that more comes over for 4 s, without a queue, has no such end; at just what it carries it
 * has no queue for a moment, either. */
static void
more_for_a_while (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED, 0);
  MccAsmpReceiver *asmp = self.receiver->asmp;
  self.less = 100;
  run (&self, 10 * MCC_SECOND);
  self.queue = QUEUE;
  run (&self, 8 * MCC_SECOND);
  self.queue = 0;
  run (&self, 8 * MCC_SECOND);
  g_assert_cmpuint (mcc_asmp_receiver_ceiling_bps (asmp), <, 1000000);
  self.less = 0;
  run (&self, 3 * MCC_SECOND);
  g_assert_cmpuint (mcc_asmp_receiver_ceiling_bps (asmp), <, 1000000);
  run (&self, 4 * MCC_SECOND);
  g_assert_cmpuint (mcc_asmp_receiver_ceiling_bps (asmp), ==, UINT64_MAX);
  mcc_assp_receiver_free (self.receiver);
}

/* Lasts for a while, not for ever; nor for another sender. */
static void
proof_lasts (void)
{
  static const struct {
    guint seconds;
    bool anew, others;
  } table[] = { { 15, false, true }, { 45, false, false }, { 15, true, false } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self = behind_queue (PAIRS_COME_TOGETHER, 3);
    self.pairs = NO_PAIRS;
    self.queue = 0;
    if (table[row].anew) {
      self.silent = true;
      self.dead[0] = true;
      run (&self, 7 * MCC_SECOND);
      self.ssrc += 0x100;
      self.streams.number = self.session_number = 0;
      for (unsigned j = 0; j < 3; j++)
        self.streams.stream[j].ssrc = self.ssrc + j;
      self.silent = self.dead[0] = false;
    }
    run (&self, table[row].anew ? 8 * MCC_SECOND : table[row].seconds * MCC_SECOND);
    g_test_message ("row %u: part %d", row, mcc_asmp_receiver_has_part (self.receiver->asmp));
    g_assert_cmpint (mcc_asmp_receiver_has_part (self.receiver->asmp), ==, table[row].others);
    mcc_assp_receiver_free (self.receiver);
  }
}

/* Who competes far below what its losses allow may go up by itself; who still does not tells the
 * sender what TCP would surely get, so that a stream can be made for it. */
static void
known_beside_rivals (void)
{
  Fixture self = behind_queue (PAIRS_COME_TOGETHER, 3);
  MccAsmpReceiver *asmp = self.receiver->asmp;
  self.lost_each = 900;
  for (guint i = 0; i < 200 && mcc_rate_mode (asmp->rate) != MCC_RATE_TCP; i++)
    run (&self, 100 * MCC_MSECOND);
  run (&self, 15 * MCC_SECOND);
  g_assert_cmpuint (mcc_asmp_receiver_known_bps (asmp), ==, UINT64_MAX);
  run (&self, 100 * MCC_SECOND);
  uint64_t known = mcc_asmp_receiver_known_bps (asmp);
  g_assert_cmpint (mcc_rate_mode (asmp->rate), ==, MCC_RATE_TCP);
  g_assert_cmpuint (known, >, 2000000);
  g_assert_cmpuint (known, <, mcc_asmp_receiver_potential_bps (asmp));
  mcc_assp_receiver_free (self.receiver);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-pairs/a-part-is-no-ceiling", part_is_no_ceiling);
  g_test_add_func ("/assp-pairs/the-newest-proof-counts", newest_proof_counts);
  g_test_add_func ("/assp-pairs/more-for-a-while", more_for_a_while);
  g_test_add_func ("/assp-pairs/a-proof-lasts", proof_lasts);
  g_test_add_func ("/assp-pairs/known-beside-rivals", known_beside_rivals);
  return g_test_run ();
}

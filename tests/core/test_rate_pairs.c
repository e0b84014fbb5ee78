/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whose queue it is, by packets that leave together: what arrives proves nothing by itself.
 */
#include "ratefixture.h"

#define RATE MBPS

typedef struct {
  RateFixture f;
  MccPairs pairs;
  uint64_t number;
} Fixture;

static void
init (Fixture *self)
{
  *self = (Fixture){ 0 };
  mcc_pairs_init (&self->pairs, MCC_PAIRS_APART);
  rate_alone (&self->f, FALSE);
  self->f.input.pairs = &self->pairs;
}

/* @seconds in which two packets a second leave together, the second of @bytes, and a link of
 * @link_bps, 0: none do. */
static void
run_with (Fixture *self, double seconds, guint64 link_bps, guint32 bytes)
{
  for (guint i = 0; i < (guint)(10 * seconds) && rate_mode (&self->f) == MCC_RATE_DELAY; i++) {
    rate_step (&self->f);
    MccTime now = self->f.input.now;
    mcc_pairs_handle_packet (&self->pairs, self->number++, 1200, RATE_STEP, 20 * MCC_MSECOND, now);
    if (i % 10 == 0 && link_bps > 0)
      mcc_pairs_handle_packet (&self->pairs, self->number++, bytes, 0, 20 * MCC_MSECOND,
          now + 8 * bytes * MCC_SECOND / link_bps);
  }
}

static void
run (Fixture *self, double seconds, guint64 link_bps)
{
  run_with (self, seconds, link_bps, 1200);
}

/* Who has seen no queue asks nothing; who has does, for a while. */
static void
asks (void)
{
  Fixture self;
  init (&self);
  g_assert_false (mcc_rate_asks_pairs (self.f.rate));
  rate_queue (&self.f, 80);
  run (&self, 0.2, 0);
  g_assert_true (mcc_rate_asks_pairs (self.f.rate));
  rate_queue (&self.f, 0);
  run (&self, 7, 0);
  g_assert_true (mcc_rate_asks_pairs (self.f.rate));
  run (&self, 2, 0);
  g_assert_false (mcc_rate_asks_pairs (self.f.rate));
  rate_clear (&self.f);
}

/* A queue came and went, and pairs showed that it was ours. */
static void
know_ours (Fixture *self)
{
  init (self);
  rate_queue (&self->f, 80);
  run (self, 0.2, RATE);
  rate_queue (&self->f, 0);
  run (self, 4, RATE);
}

/* Known to be ours it is not asked for again for a minute. */
static void
knows (void)
{
  static const struct {
    double later;
    gboolean asks;
  } table[] = { { 1.0, FALSE }, { 40.0, FALSE }, { 75.0, TRUE } };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    Fixture self;
    know_ours (&self);
    g_assert_false (mcc_rate_asks_pairs (self.f.rate));
    run (&self, table[i].later, 0);
    rate_queue (&self.f, 80);
    run (&self, 0.1, 0);
    g_assert_cmpint (rate_mode (&self.f), ==, MCC_RATE_DELAY);
    g_assert_true (mcc_rate_asks_pairs (self.f.rate) == table[i].asks);
    rate_clear (&self.f);
  }
}

/* Who then receives much less, though the link is the same, has to ask again. */
static void
knows_no_longer (void)
{
  Fixture self;
  know_ours (&self);
  run (&self, 8, 0);
  for (guint percent = 95; percent >= 60; percent -= 5) {
    self.f.input.max_bps = RATE * percent / 100;
    run (&self, 0.5, 0);
    rate_receive (&self.f, RATE * percent / 100);
    rate_queue (&self.f, 80);
    rate_step (&self.f);
    g_assert_cmpint (rate_mode (&self.f), ==, MCC_RATE_DELAY);
    g_assert_true (mcc_rate_asks_pairs (self.f.rate) == (percent < 70));
    rate_queue (&self.f, 0);
  }
  rate_clear (&self.f);
}

/* A short packet is over within the jitter: it does not show that the link carries no more. */
static void
short_ones_show_little (void)
{
  Fixture self;
  init (&self);
  rate_queue (&self.f, 80);
  run_with (&self, 0.2, 4 * RATE, 120);
  rate_queue (&self.f, 0);
  run_with (&self, 4, 4 * RATE, 120);
  g_assert_true (mcc_rate_asks_pairs (self.f.rate));
  rate_clear (&self.f);
}

/* A queue on a link that is seen to carry much more is others', and is competed for: without an
 * asking any more. One on a link that carries no more is ours. */
static void
shows_others (void)
{
  static const guint64 links_bps[] = { RATE, 2 * RATE, 10 * RATE };
  for (guint i = 0; i < G_N_ELEMENTS (links_bps); i++) {
    Fixture self;
    init (&self);
    run (&self, 5, links_bps[i]);
    g_assert_cmpint (rate_mode (&self.f), ==, MCC_RATE_DELAY);
    rate_queue (&self.f, 80);
    run (&self, 1.0, links_bps[i]);
    g_test_message ("%d kb/s: mode %d", (int)(links_bps[i] / 1000), rate_mode (&self.f));
    g_assert_cmpint (rate_mode (&self.f), ==, i == 0 ? MCC_RATE_DELAY : MCC_RATE_TCP);
    g_assert_false (i > 0 && mcc_rate_asks_pairs (self.f.rate));
    rate_clear (&self.f);
  }
}

/* A queue that comes and goes, below the target of few packets (27 ms) and above that of many: who
 * has the rest of a link of which pairs show that we have little, and lets it grow so far, is no
 * other like us. Nothing is lost. */
static void
longer_than_theirs (void)
{
  static const struct {
    guint64 link_bps; /* 0: no pairs */
    guint queue_ms;
    gboolean competes;
  } table[] = { { 8 * RATE, 25, TRUE }, { 8 * RATE, 17, FALSE }, { RATE * 3 / 2, 25, FALSE },
    { 0, 25, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture self;
    init (&self);
    self.f.input.loss_ratio = 0.0;
    for (guint i = 0; i < 8; i++) {
      rate_queue (&self.f, i == 0 ? 80 : table[row].queue_ms); /* it asks from then on */
      run (&self, i == 0 ? 0.1 : 5, table[row].link_bps);
      rate_queue (&self.f, 0);
      run (&self, 0.5, table[row].link_bps);
    }
    g_assert_true ((rate_mode (&self.f) == MCC_RATE_TCP) == table[row].competes);
    rate_clear (&self.f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-pairs/asks", asks);
  g_test_add_func ("/rate-pairs/knows", knows);
  g_test_add_func ("/rate-pairs/knows-no-longer", knows_no_longer);
  g_test_add_func ("/rate-pairs/short-ones-show-little", short_ones_show_little);
  g_test_add_func ("/rate-pairs/shows-others", shows_others);
  g_test_add_func ("/rate-pairs/longer-than-theirs", longer_than_theirs);
  return g_test_run ();
}

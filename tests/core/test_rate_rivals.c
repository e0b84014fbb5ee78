/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who fills the queue? 1 Mb/s of ours arrives; a queue of 80 ms is far above its target, one of 20
 * ms just below. A decision each 100 ms, so 0.6 s of evidence (which fades) are 7 of them.
 */
#include "ratefixture.h"

#define EVIDENCE 7

/* The link carries far more than what arrives of ours; heard announcements or not. */
static void
part_of_the_link (void)
{
  static const struct {
    guint percent; /* received, of what the link carries */
    gboolean unheard, others;
  } table[] = { { 60, FALSE, TRUE }, { 64, FALSE, TRUE }, { 66, FALSE, FALSE },
    { 84, FALSE, FALSE }, { 100, FALSE, FALSE }, { 30, TRUE, TRUE }, { 60, TRUE, TRUE },
    { 70, TRUE, FALSE }, { 100, TRUE, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    rate_alone (&f, table[row].unheard);
    f.proven_bps = 100 * MBPS / table[row].percent;
    rate_steps (&f, 20);
    rate_queue (&f, 80);
    if (table[row].others) {
      g_assert_cmpuint (rate_steps_to_tcp (&f, 30), ==, EVIDENCE);
      g_assert_cmpuint (f.least_bps, ==, MBPS);
      /* No fair share is above half of the link; that is said once. */
      g_assert_cmpfloat_with_epsilon ((double)mcc_rate_share_bps (f.rate), (double)f.proven_bps / 2,
          0.05 * (double)f.proven_bps);
      rate_receive (&f, table[row].unheard ? 0 : f.input.received_bps); /* nor in a silence */
      rate_step (&f);
      g_assert_cmpuint (mcc_rate_share_bps (f.rate), ==, 0);
    } else {
      rate_step (&f);
      g_assert_cmpuint (mcc_rate_share_bps (f.rate), ==, 0);
      g_assert_cmpuint (rate_bps (&f), <, 900000);
      g_assert_cmpuint (rate_steps_to_tcp (&f, 40), ==, 0);
    }
    rate_clear (&f);
  }
}

/* Far above what arrives, which therefore says nothing about others: we may be the ones. */
static void
not_all_arrives (void)
{
  for (guint unheard = 0; unheard < 2; unheard++) {
    RateFixture f;
    rate_alone (&f, unheard == 1);
    f.proven_bps = 4 * MBPS;
    rate_steps (&f, 20);
    rate_receive (&f, 780000);
    rate_queue (&f, 80);
    rate_step (&f);
    g_assert_cmpuint (rate_bps (&f), <, 780000);
    rate_clear (&f);
  }
}

/* At low rates a packet more or less is much of what arrives, and no overload of ours. */
static void
grain (void)
{
  static const struct {
    guint64 grain_bps;
    gboolean others;
  } table[] = { { 0, FALSE }, { 100000, FALSE }, { 330000, TRUE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    guint steps = 0;
    rate_alone (&f, FALSE);
    f.proven_bps = 2 * MBPS;
    f.input.grain_bps = table[row].grain_bps;
    rate_steps (&f, 20);
    rate_queue (&f, 80);
    while (steps < 30 && rate_mode (&f) != MCC_RATE_TCP) {
      rate_receive (&f, steps++ % 8 < 4 ? 680000 : 1280000);
      rate_step (&f);
    }
    if (table[row].others) {
      g_assert_cmpuint (steps, ==, EVIDENCE);
      g_assert_cmpuint (f.least_bps, ==, MBPS);
    } else {
      g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
      g_assert_cmpuint (f.least_bps, <, 680000);
    }
    rate_clear (&f);
  }
}

/* Dispersion says nothing, but what arrives falls as we cut: the rest is not ours. Served at the
 * same rate whatever we send: ours. */
static void
follows_our_cuts (void)
{
  for (guint follows = 0; follows < 2; follows++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.input.capacity = NULL;
    rate_queue (&f, 80);
    for (guint i = 0; i < 30 && rate_mode (&f) != MCC_RATE_TCP; i++)
      if (follows)
        rate_follow (&f, 1);
      else
        rate_step (&f);
    g_assert_cmpint (rate_mode (&f), ==, follows ? MCC_RATE_TCP : MCC_RATE_DELAY);
    if (follows) { /* what the cuts gave away is taken back */
      double back_bps = 0.85 * MIN (1e6, 1.5 * (double)f.input.received_now_bps);
      g_assert_cmpfloat_with_epsilon ((double)rate_bps (&f), back_bps, 0.02 * back_bps);
    }
    rate_clear (&f);
  }
}

/* Slow start, or alone. */
static void
begin (RateFixture *f, guint slow_start)
{
  if (!slow_start) {
    rate_alone (f, FALSE);
    return;
  }
  rate_init (f);
  rate_steps (f, 4);
}

/* A stream that others hold down, in a queue that was seen to be somebody else's: its first loss is
 * no reason to cut, but to take what the equation allows. Unless what arrives is the whole link. */
static void
others_overflow (void)
{
  static const struct {
    guint percent; /* received, of what the link carries */
    gboolean seen, competes;
  } table[] = { { 75, TRUE, TRUE }, { 84, TRUE, TRUE }, { 86, TRUE, FALSE }, { 75, FALSE, FALSE } };
  for (guint slow_start = 0; slow_start < 2; slow_start++)
    for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
      RateFixture f;
      begin (&f, slow_start);
      f.proven_bps = 100 * MBPS / table[row].percent;
      rate_steps (&f, 2);
      g_assert_cmpint (rate_mode (&f), ==, slow_start ? MCC_RATE_SLOW_START : MCC_RATE_DELAY);
      guint64 before_bps = rate_bps (&f);
      rate_queue (&f, 10); /* a packet and a bit: says nothing by itself */
      f.input.others_queue = table[row].seen;
      rate_lose (&f, 0.0005);
      g_assert_cmpint (rate_mode (&f), ==, table[row].competes ? MCC_RATE_TCP : MCC_RATE_DELAY);
      g_assert_true ((mcc_rate_share_bps (f.rate) > 0) == (table[row].competes && !slow_start));
      if (!table[row].competes)
        g_assert_cmpuint (rate_bps (&f), <=, before_bps);
      rate_clear (&f);
    }
}

/* What is sent is not what we asked for: a loss at a queue that stands is not of our asking, though
 * the link was never seen to carry more. Unless less arrives than is sent. */
static void
crowd_holds_overflow (void)
{
  static const struct {
    gboolean crowd_holds, arrives, competes;
  } table[] = { { TRUE, TRUE, TRUE }, { FALSE, TRUE, FALSE }, { TRUE, FALSE, FALSE } };
  for (guint slow_start = 0; slow_start < 2; slow_start++)
    for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
      RateFixture f;
      begin (&f, slow_start);
      f.proven_bps = MBPS; /* it shows our own packets' distance */
      f.input.crowd_holds = table[row].crowd_holds;
      for (guint i = 0; i < 8; i++) {
        rate_queue (&f, slow_start ? 0 : 27);
        rate_step (&f);
        f.input.announced_bps = MBPS;
      }
      g_assert_cmpint (rate_mode (&f), ==, slow_start ? MCC_RATE_SLOW_START : MCC_RATE_DELAY);
      rate_queue (&f, 60);
      if (!table[row].arrives)
        rate_receive (&f, 800000);
      rate_lose (&f, 0.0005);
      g_assert_cmpint (rate_mode (&f), ==, table[row].competes ? MCC_RATE_TCP : MCC_RATE_DELAY);
      rate_clear (&f);
    }
}

/* At the lowest rate, in a queue that stands below its target. */
static void
rate_at_floor (RateFixture *f)
{
  rate_alone (f, FALSE);
  f->input.loss_ratio = 0.0; /* forgotten: no equation asks for more */
  f->input.min_bps = MBPS;
  f->input.max_bps = 100 * MBPS;
  f->input.capacity = NULL;
  rate_queue (f, 27); /* its target */
  rate_steps (f, 55); /* 5 s and a bit */
  g_assert_cmpint (rate_mode (f), ==, MCC_RATE_DELAY);
  f->input.min_bps = rate_bps (f); /* as low as it can be */
  rate_steps (f, 55);
  f->input.try_slot = true;
}

/* All try a little more; the queue does not notice: it is others'. */
static void
tries_at_the_floor (void)
{
  RateFixture f;
  rate_at_floor (&f);
  guint64 lowest_bps = f.input.min_bps;
  rate_follow (&f, 1);
  g_assert_cmpuint (rate_bps (&f) / 10, ==, lowest_bps * 13 / 100);
  for (guint i = 0; i < 32 && rate_mode (&f) != MCC_RATE_TCP; i++)
    rate_follow (&f, 1);
  g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_TCP);
  rate_clear (&f);
}

/* It grows: ours. Not again for 30 s and 5 s of standing, then 60 s; nor does a loss, a receiver
 * that holds all down, or the time between the slots prove anything. */
static void
is_ours_at_the_floor (void)
{
  RateFixture f;
  rate_at_floor (&f);
  guint64 lowest_bps = f.input.min_bps;
  for (guint wait = 300; wait <= 600; wait *= 2) {
    f.input.try_slot = true;
    rate_queue (&f, 27);
    rate_step (&f);
    g_assert_cmpuint (rate_bps (&f) / 10, ==, lowest_bps * 13 / 100);
    rate_queue (&f, 27 + 50 + 11); /* and a packet: 9.6 ms */
    rate_step (&f);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    g_assert_cmpuint (rate_bps (&f), ==, lowest_bps);
    for (guint i = 0; i < wait + 48; i++) {
      rate_queue (&f, i < 6 ? 80 - 10 * i : 27); /* as slowly as one of ours drains; its target */
      rate_step (&f);
      g_assert_cmpuint (rate_bps (&f), <, lowest_bps * 11 / 10);
    }
    rate_step (&f);
  }
  rate_clear (&f);
  for (guint row = 0; row < 3; row++) {
    rate_at_floor (&f);
    f.input.try_slot = row != 0;
    for (guint i = 0; i < 40; i++)
      if (row == 1 && i == 10)
        rate_lose (&f, 0.001);
      else if (row == 2)
        rate_step (&f); /* what arrives stays as it was */
      else
        rate_follow (&f, 1);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    rate_clear (&f);
  }
}

typedef struct {
  const char *name;
  double loss_ratio;
  guint percent;      /* received, of what the link carries */
  guint arriving;     /* at the loss: received, of what was sent */
  gboolean cut, loss; /* just before it; whether there is one */
  guint wait;         /* steps until the queue stands */
  gboolean others, marked;
  double forgotten; /* the ratio falls to that; 0: it stays */
} Foreign;

/* The link's share alone says nothing (0.75, 0.83), nor do our cuts (there are none). */
static void
foreign_losses (void)
{
  static const Foreign table[] = {
    { "foreign", 0.01, 75, 100, FALSE, TRUE, 30, TRUE, FALSE, 0.0 },
    { "marked, perhaps by our own queue", 0.01, 75, 100, FALSE, TRUE, 30, FALSE, TRUE, 0.0 },
    { "nearly the whole link", 0.01, 84, 100, FALSE, TRUE, 30, TRUE, FALSE, 0.0 },
    { "the whole link", 0.01, 86, 100, FALSE, TRUE, 30, FALSE, FALSE, 0.0 },
    { "no loss event", 0.01, 75, 100, FALSE, FALSE, 30, FALSE, FALSE, 0.0 },
    { "nearly all arrives", 0.01, 75, 82, FALSE, TRUE, 30, TRUE, FALSE, 0.0 },
    { "our overload", 0.01, 75, 78, FALSE, TRUE, 30, FALSE, FALSE, 0.0 },
    { "a cut under way", 0.01, 75, 100, TRUE, TRUE, 30, FALSE, FALSE, 0.0 },
    { "just below half of the equation", 0.014, 75, 100, FALSE, TRUE, 30, TRUE, FALSE, 0.0 },
    { "just above", 0.02, 75, 100, FALSE, TRUE, 30, FALSE, FALSE, 0.0 },
    { "5 s ago", 0.01, 75, 100, FALSE, TRUE, 41, TRUE, FALSE, 0.0 },
    { "longer ago", 0.01, 75, 100, FALSE, TRUE, 51, FALSE, FALSE, 0.0 },
    { "less than three intervals ago", 0.001, 75, 100, FALSE, TRUE, 270, TRUE, FALSE, 0.0 },
    { "more", 0.001, 75, 100, FALSE, TRUE, 290, FALSE, FALSE, 0.0 },
    { "forgotten", 0.001, 75, 100, FALSE, TRUE, 30, FALSE, FALSE, 0.0002 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    const Foreign *t = &table[row];
    RateFixture f;
    rate_alone (&f, FALSE);
    f.proven_bps = 100 * MBPS / t->percent;
    if (t->cut) {
      rate_queue (&f, 80);
      rate_step (&f);
      g_assert_cmpuint (rate_bps (&f), <, 900000);
      rate_queue (&f, 0);
    }
    rate_receive (&f, MBPS * t->arriving / 100);
    f.input.loss_ratio = t->loss_ratio;
    f.input.marked_alone = t->marked;
    if (t->loss)
      rate_lose (&f, t->loss_ratio);
    f.input.marked_alone = false;
    rate_receive (&f, MBPS);
    rate_step (&f);
    if (t->forgotten > 0.0) {
      f.input.remembered_ratio = f.input.loss_ratio;
      f.input.loss_ratio = t->forgotten;
    }
    rate_steps (&f, t->wait - 1);
    g_assert_cmpuint (rate_bps (&f), ==, MBPS);
    f.least_bps = MBPS;
    rate_queue (&f, 80);
    guint steps = rate_steps_to_tcp (&f, EVIDENCE);
    g_test_message ("%s: TCP after %u, least %d kb/s", t->name, steps, (int)(f.least_bps / 1000));
    g_assert_cmpuint (steps, ==, t->others ? EVIDENCE : 0);
    if (t->others)
      g_assert_cmpuint (f.least_bps, ==, MBPS);
    else
      g_assert_cmpuint (f.least_bps, <, 900000);
    rate_clear (&f);
  }
}

/* 2 Mb/s were seen; then the link carries 600 kb/s, and ours alone: cut at once, and again as long
 * as the queue grows, and what was seen does not make others of it. */
static void
slower_link (void)
{
  RateFixture f;
  rate_alone (&f, FALSE);
  f.proven_bps = 2 * MBPS;
  rate_steps (&f, 20);
  f.proven_bps = 600000;
  rate_receive (&f, 600000);
  rate_queue (&f, 80);
  rate_step (&f);
  guint64 first = rate_bps (&f);
  g_assert_cmpuint (first, <, 500000);
  g_assert_cmpuint (first, >=, 420000);
  rate_queue (&f, 120);
  rate_step (&f);
  g_assert_cmpuint (rate_bps (&f), <, first);
  /* What is sent now arrives, the queue stands, two seconds' proof would be three times as much. */
  g_assert_cmpuint (rate_steps_to_tcp (&f, 30), ==, 0);
  rate_clear (&f);
}

/* A first cut is on its way, so that what arrives is nearly what is asked for now, yet far less
 * than what was sent: the next one is as quick. */
static void
slower_link_under_a_cut (void)
{
  static const struct {
    guint64 received_bps;
    gboolean slower;
  } table[] = { { 680000, TRUE }, { 720000, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.proven_bps = 2 * MBPS;
    rate_steps (&f, 20);
    f.input.capacity = NULL; /* the first cut needs no doubt */
    rate_receive (&f, 900000);
    rate_queue (&f, 40);
    rate_step (&f);
    f.input.capacity = &f.capacity;
    guint64 first = rate_bps (&f);
    g_assert_cmpuint (first, <, 850000);
    rate_receive (&f, table[row].received_bps);
    g_assert_cmpuint (table[row].received_bps, >, first * 8 / 10);
    rate_queue (&f, 60);
    rate_step (&f);
    if (table[row].slower)
      g_assert_cmpuint (rate_bps (&f), <, 680000);
    else
      g_assert_cmpuint (rate_bps (&f), ==, first);
    rate_clear (&f);
  }
}

/* What the cuts gave away is taken back: 0.85 x what arrived once, but no more than half again of
 * what arrives, or the start rate. */
static void
takes_back (void)
{
  static const struct {
    guint64 received_bps;
    double back_bps;
  } table[]
      = { { 40000, 0.85 * RATE_START }, { 200000, 0.85 * 1.5 * 200000 }, { 780000, 0.85 * 1e6 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.input.capacity = NULL;
    rate_queue (&f, 14); /* the full link shows */
    rate_follow (&f, 5);
    rate_queue (&f, 0);
    f.input.max_bps = table[row].received_bps;
    rate_receive (&f, table[row].received_bps);
    rate_steps (&f, 60);
    /* Just below the target, which is more than a packet. */
    double packet_ms = 9.6e6 / (double)table[row].received_bps;
    rate_queue (&f, (guint)(15 + MIN (packet_ms, 200)));
    rate_steps (&f, EVIDENCE - 1);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    f.input.max_bps = MBPS;
    rate_step (&f);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_TCP);
    /* The memory has faded by 1 % a second. */
    g_assert_cmpfloat ((double)rate_bps (&f), <=, table[row].back_bps + 1);
    g_assert_cmpfloat ((double)rate_bps (&f), >=, 0.92 * table[row].back_bps);
    if (table[row].back_bps < 500000)
      g_assert_cmpfloat_with_epsilon ((double)rate_bps (&f), table[row].back_bps, 1.0);
    rate_clear (&f);
  }
}

/* At a standing queue, far below the equation, not the whole link; losses of our cuts or not. A
 * mark may be of a queue that is short, and ours. */
/* A stream is sent at its lower bound although we ask for less: what arrives is what was to be
 * sent, no sign that the queue is ours. */
static void
below_the_floor (void)
{
  for (guint floor = 0; floor < 2; floor++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.input.capacity = NULL;
    rate_queue (&f, 14);
    rate_follow (&f, 5);
    rate_queue (&f, 0);
    f.input.max_bps = 100000; /* the sender's stream */
    rate_follow (&f, 60);
    f.input.max_bps = 60000;
    f.input.floor_bps = floor * 100000;
    rate_queue (&f, 100);
    rate_receive (&f, 100000);
    for (guint i = 0; i < 5 * EVIDENCE; i++) {
      f.input.announced_bps = 100000;
      rate_step (&f);
    }
    g_assert_cmpint (rate_mode (&f), ==, floor ? MCC_RATE_TCP : MCC_RATE_DELAY);
    rate_clear (&f);
  }
}

/* 2 Mb/s arrived once, then 1.65: that others took the rest is remembered so long. Where we send
 * less than we may nothing shows that the link still has it, so less long. */
static void
capacity_memory_fades (void)
{
  static const struct {
    guint steps;
    gboolean used, others;
  } table[] = { { 20, TRUE, TRUE }, { 55, TRUE, TRUE }, { 95, TRUE, FALSE }, { 5, FALSE, TRUE },
    { 25, FALSE, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.input.capacity = NULL;
    f.input.max_bps = 2 * MBPS;
    rate_follow (&f, 300);
    g_assert_cmpuint (rate_bps (&f), ==, 2 * MBPS);
    rate_queue (&f, 14); /* the full link shows */
    rate_follow (&f, 5);
    rate_queue (&f, 0);
    f.input.max_bps = 1650000;
    rate_receive (&f, table[row].used ? 1650000 : 800000);
    rate_steps (&f, table[row].steps);
    rate_receive (&f, 1650000);
    rate_steps (&f, 20);
    rate_queue (&f, 20);
    g_assert_cmpuint (rate_steps_to_tcp (&f, 15), ==, table[row].others ? EVIDENCE : 0);
    rate_clear (&f);
  }
}

/* Others were here and left. A queue that grows faster than what we send can make it is theirs, as
 * long as we have not met the link's end ourselves: it cuts nothing. */
static void
others_return (void)
{
  static const struct {
    const char *name;
    gboolean were_here;
    guint wait;          /* steps alone */
    gboolean filled;     /* ... in which a queue of our own stands */
    guint64 carried_bps; /* before, of ours */
    guint64 sent_bps;    /* while the queue grows */
    guint queue_ms;
    gboolean others;
  } table[] = {
    { "back", TRUE, 50, FALSE, 0, MBPS, 80, TRUE },
    { "never here", FALSE, 50, FALSE, 0, MBPS, 80, FALSE },
    { "two minutes ago", TRUE, 1180, FALSE, 0, MBPS, 80, TRUE },
    { "longer ago", TRUE, 1210, FALSE, 0, MBPS, 80, FALSE },
    { "we found the end of the link since", TRUE, 50, TRUE, 0, MBPS, 80, FALSE },
    { "more than ours", TRUE, 50, FALSE, 0, 3 * MBPS / 2, 70, TRUE },
    { "ours, and a packet", TRUE, 50, FALSE, 0, 3 * MBPS / 2, 58, FALSE },
    { "ours, but the link carried that much", TRUE, 50, FALSE, 2 * MBPS, 3 * MBPS / 2, 58, TRUE },
  };
  for (guint n = 0; n < 2 * G_N_ELEMENTS (table); n++) {
    RateFixture f;
    MccCarried carried = { 0 };
    guint row = n / 2;
    g_test_message ("%s", table[row].name);
    rate_alone (&f, FALSE);
    rate_send (&f, MBPS);
    if (table[row].were_here) {
      f.proven_bps = 2 * MBPS;
      rate_steps (&f, 20);
      rate_queue (&f, 80);
      g_assert_cmpuint (rate_steps_to_tcp (&f, 30), ==, EVIDENCE);
      rate_queue (&f, 0);
      rate_steps (&f, 25);
    }
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    f.input.capacity = NULL; /* dispersion says nothing */
    f.input.carried = &carried;
    mcc_carried_add (&carried, table[row].carried_bps * 5 / 8, f.input.now);
    if (table[row].filled) {
      rate_send (&f, 2 * MBPS);
      rate_queue (&f, 40);
      rate_step (&f);
      rate_send (&f, MBPS);
      rate_queue (&f, 0);
    }
    rate_steps (&f, table[row].wait);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    if (n % 2 == 1)
      f.input.loss_ratio
          = 0.0; /* nor need those who were here prove by a loss that they are no fellows */
    f.least_bps = rate_bps (&f);
    rate_send (&f, table[row].sent_bps);
    rate_queue (&f, table[row].queue_ms);
    rate_step (&f);
    rate_send (&f, MBPS);
    guint steps = rate_steps_to_tcp (&f, EVIDENCE - 1);
    if (table[row].others) {
      g_assert_cmpuint (steps, ==, EVIDENCE - 1);
      g_assert_cmpuint (f.least_bps, ==, MBPS);
    } else {
      g_assert_cmpuint (f.least_bps, <, 950000);
    }
    rate_clear (&f);
  }
}

/* Who meets others on a link that was alone ours has at most half of it. Where they were here two
 * minutes ago at most, what was lost beside them says more than that. */
static void
share (void)
{
  static const struct {
    guint wait; /* steps alone */
    gboolean said;
  } table[] = { { 50, FALSE }, { 1150, FALSE }, { 1210, TRUE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.proven_bps = 2 * MBPS;
    rate_steps (&f, 20);
    for (guint times = 0; times < 2; times++) {
      rate_queue (&f, 80);
      g_assert_cmpuint (rate_steps_to_tcp (&f, 30), >, 0);
      g_assert_true ((mcc_rate_share_bps (f.rate) > 0) == (times == 0 || table[row].said));
      rate_queue (&f, 0);
      rate_steps (&f, 25);
      g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
      rate_steps (&f, table[row].wait);
    }
    rate_clear (&f);
  }
}

/* Whose overflow is it? Ours where the queue stands and we have the whole link. */
static void
owns_queue (void)
{
  static const struct {
    guint percent, queue_ms; /* received, of what the link carries */
    double packet_bytes;
    gboolean owns;
  } table[] = { { 100, 12, 1200, TRUE }, { 86, 12, 1200, TRUE }, { 84, 12, 1200, FALSE },
    { 100, 9, 1200, FALSE }, /* less than a packet */
    { 100, 8, 600, TRUE }, { 100, 7, 600, FALSE }, { 100, 0, 600, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.proven_bps = 100 * MBPS / table[row].percent;
    f.input.packet_bytes = table[row].packet_bytes;
    rate_steps (&f, 20);
    rate_queue (&f, table[row].queue_ms);
    rate_step (&f);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    g_assert_cmpint (mcc_rate_owns_queue (f.rate), ==, table[row].owns);
    rate_clear (&f);
  }
  RateFixture f;
  rate_init (&f);
  g_assert_false (mcc_rate_owns_queue (f.rate));
  rate_steps (&f, 4);
  g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_SLOW_START);
  g_assert_true (mcc_rate_owns_queue (f.rate));
  rate_clear (&f);
  rate_alone (&f, FALSE);
  f.proven_bps = 2 * MBPS;
  rate_steps (&f, 20);
  rate_queue (&f, 80);
  g_assert_cmpuint (rate_steps_to_tcp (&f, 30), ==, EVIDENCE);
  f.proven_bps = MBPS;
  rate_steps (&f, 30);
  g_assert_false (mcc_rate_owns_queue (f.rate));
  rate_clear (&f);
}

/* A buffer of 100 ms is known, the peak is near, the standing queue below its target. */
static void
nearly_full_buffer (void)
{
  static const struct {
    guint queue_ms, peak_ms;
    double packet_bytes;
    gboolean cuts;
  } table[] = { { 22, 90, 1200, TRUE }, { 16, 90, 1200, FALSE }, { 16, 90, 900, TRUE },
    { 22, 70, 1200, FALSE }, { 7, 90, 300, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.proven_bps = MBPS;
    rate_queue (&f, 90);
    f.input.queue_peak = 100 * MCC_MSECOND;
    rate_lose (&f, 0.001);
    rate_queue (&f, 0);
    rate_steps (&f, 60);
    g_assert_cmpuint (rate_bps (&f), ==, MBPS);
    f.input.packet_bytes = table[row].packet_bytes;
    rate_queue (&f, table[row].queue_ms);
    f.input.queue_peak = table[row].peak_ms * MCC_MSECOND;
    rate_step (&f);
    g_assert_cmpuint (rate_bps (&f), ==, table[row].cuts ? 970000 : MBPS);
    rate_clear (&f);
  }
}

/* A queue above which none fell for 10 s is what the path adds, and nobody's. */
static void
floor_of_the_queue (void)
{
  for (guint rises = 0; rises < 2; rises++) {
    RateFixture f;
    rate_alone (&f, FALSE);
    f.proven_bps = 2 * MBPS;
    f.input.capacity = NULL;
    rate_queue (&f, 12);
    rate_steps (&f, 120);
    f.input.capacity = &f.capacity;
    rate_steps (&f, 20);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    rate_queue (&f, rises ? 20 : 16);
    g_assert_cmpuint (rate_steps_to_tcp (&f, 15), ==, rises ? EVIDENCE : 0);
    rate_clear (&f);
  }
}

/* 1 Mb/s in packets of 6 kB, 48 ms apart, which show no more than that, and a queue of 45 ms, less
 * than its target. TCP would get far more. Others' stays, and swings, when we send less. */
static void
cut_shows_it (void)
{
  for (guint others = 0; others < 2; others++) {
    RateFixture f;
    guint queue_ms = 45, cut = 0;
    rate_alone (&f, FALSE);
    f.input.packet_bytes = 6000.0;
    f.input.loss_ratio = 1e-3;
    f.proven_bps = MBPS;
    for (guint i = 1; i < 90 && rate_mode (&f) == MCC_RATE_DELAY; i++) {
      guint64 sent_bps = f.asked[RATE_LAG - 1];
      rate_send (&f, sent_bps);
      rate_receive (&f, MIN (sent_bps, MBPS));
      cut += rate_bps (&f) < 9 * MBPS / 10;
      if (!others && sent_bps < 9 * MBPS / 10)
        queue_ms -= MIN (queue_ms, 15);
      rate_queue (&f, queue_ms + (others && i % 4 > 0 ? 10 : 0));
      rate_step (&f);
    }
    g_test_message ("%s: cut for %d decisions", others ? "others" : "alone", (int)cut);
    g_assert_cmpuint (cut, >, 0);
    g_assert_cmpint (rate_mode (&f), ==, others ? MCC_RATE_TCP : MCC_RATE_DELAY);
    if (!others) /* and it is back */
      g_assert_cmpuint (rate_bps (&f), >, 9 * MBPS / 10);
    rate_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-rivals/part-of-the-link", part_of_the_link);
  g_test_add_func ("/rate-rivals/not-all-arrives", not_all_arrives);
  g_test_add_func ("/rate-rivals/a-packet-more-or-less", grain);
  g_test_add_func ("/rate-rivals/follows-our-cuts", follows_our_cuts);
  g_test_add_func ("/rate-rivals/overflow-of-a-queue-that-is-theirs", others_overflow);
  g_test_add_func ("/rate-rivals/loss-of-what-was-not-asked-for", crowd_holds_overflow);
  g_test_add_func ("/rate-rivals/tries-more-at-the-floor", tries_at_the_floor);
  g_test_add_func ("/rate-rivals/a-queue-of-its-own-at-the-floor", is_ours_at_the_floor);
  g_test_add_func ("/rate-rivals/takes-back-what-the-cuts-gave", takes_back);
  g_test_add_func ("/rate-rivals/sent-at-its-floor", below_the_floor);
  g_test_add_func ("/rate-rivals/foreign-losses", foreign_losses);
  g_test_add_func ("/rate-rivals/slower-link-proves-anew", slower_link);
  g_test_add_func ("/rate-rivals/slower-link-under-a-cut", slower_link_under_a_cut);
  g_test_add_func ("/rate-rivals/capacity-memory-fades", capacity_memory_fades);
  g_test_add_func ("/rate-rivals/nearly-full-buffer-with-two-of-ours", nearly_full_buffer);
  g_test_add_func ("/rate-rivals/others-return", others_return);
  g_test_add_func ("/rate-rivals/share-of-a-link-that-was-ours", share);
  g_test_add_func ("/rate-rivals/overflow-of-our-own", owns_queue);
  g_test_add_func ("/rate-rivals/floor-of-the-queue", floor_of_the_queue);
  g_test_add_func ("/rate-rivals/a-cut-shows-it", cut_shows_it);
  return g_test_run ();
}

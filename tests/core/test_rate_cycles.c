/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Queues that come and go. 1 Mb/s of ours is sent and arrives, 1200 bytes a packet (9.6 ms). A
 * queue of 20 ms is below its target, so that nothing is cut for it.
 */
#include "ratefixture.h"

static void
begin (RateFixture *f, gboolean unheard)
{
  rate_alone (f, unheard);
  f->input.capacity = NULL; /* dispersion says nothing */
  rate_send (f, MBPS);
}

static void
fall (RateFixture *f, guint from_ms, guint to_ms, guint steps)
{
  for (guint i = 1; i <= steps; i++) {
    rate_queue (f, from_ms - (from_ms - to_ms) * i / steps);
    rate_step (f);
  }
}

/* A queue of 90 ms falls to 20, and is back a second later: one cycle proves it. */
static void
one_long_cycle (void)
{
  static const struct {
    const char *name;
    guint stands;       /* steps, before the fall */
    guint fall;         /* steps */
    guint64 sent_bps;   /* meanwhile */
    guint64 then_bps;   /* what arrives for half a second after it */
    guint64 return_bps; /* ... and when the queue returns */
    guint wait, back_ms;
    gboolean others;
  } table[] = {
    { "others", 20, 1, MBPS, MBPS, MBPS, 10, 60, TRUE },
    { "others, in three steps", 20, 3, MBPS, MBPS, MBPS, 10, 60, TRUE },
    { "others, and we send a little less", 20, 3, 900000, MBPS, MBPS, 10, 60, TRUE },
    { "we pause", 20, 1, 300000, MBPS, MBPS, 10, 60, FALSE },
    { "we send three quarters", 20, 3, 750000, MBPS, MBPS, 10, 60, FALSE },
    { "we sent less", 20, 1, MBPS, 800000, MBPS, 10, 60, FALSE },
    { "the link is faster now", 20, 1, MBPS, 1200000, 1200000, 10, 60, FALSE },
    { "half-way back", 20, 1, MBPS, MBPS, MBPS, 10, 57, TRUE },
    { "not back", 20, 1, MBPS, MBPS, MBPS, 10, 53, FALSE },
    { "stood for half a second: one is not enough", 5, 1, MBPS, MBPS, MBPS, 10, 60, FALSE },
    { "long ago", 20, 1, MBPS, MBPS, MBPS, 310, 60, FALSE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    g_test_message ("%s", table[row].name);
    begin (&f, TRUE);
    rate_queue (&f, 90);
    rate_steps (&f, table[row].stands);
    rate_send (&f, table[row].sent_bps);
    fall (&f, 90, 20, table[row].fall);
    rate_send (&f, MBPS);
    rate_receive (&f, table[row].then_bps);
    rate_steps (&f, 5);
    rate_receive (&f, table[row].return_bps);
    rate_steps (&f, table[row].wait);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    rate_queue (&f, table[row].back_ms);
    g_assert_cmpuint (rate_steps_to_tcp (&f, 5), ==, table[row].others ? 1 : 0);
    rate_clear (&f);
  }
}

/* Each stands for 0.3 s: it takes three, and the fourth queue shows it. */
static void
short_cycles (void)
{
  static const struct {
    const char *name;
    guint queue_ms, peak_ms; /* of a decision: the smallest and the largest */
    guint gone;              /* steps */
    guint64 sent_bps;        /* as it falls */
    gboolean others;
  } table[] = {
    { "others", 20, 20, 3, MBPS, TRUE },
    { "less than a packet", 11, 11, 3, MBPS, FALSE },
    { "less than a packet behind RTCP of the session", 13, 13, 3, MBPS, FALSE },
    { "less than what bursts make of it", 20, 40, 3, MBPS, FALSE },
    { "longer than its peak, as the slump's may be", 20, 10, 3, MBPS, TRUE },
    { "every 5 s", 20, 20, 47, MBPS, TRUE },
    { "too seldom", 20, 20, 200, MBPS, FALSE },
    { "we pause", 20, 20, 3, 800000, FALSE },
    { "back at once, as where a host pauses and catches up", 20, 20, 1, MBPS, FALSE },
    { "two decisions", 20, 20, 2, MBPS, TRUE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    guint cycles = 0;
    g_test_message ("%s", table[row].name);
    begin (&f, FALSE);
    guint burst_ms = MAX (table[row].peak_ms, table[row].queue_ms) - table[row].queue_ms;
    f.input.queue_peak = burst_ms * MCC_MSECOND;
    rate_steps (&f, 50);
    for (; cycles < 10; cycles++) {
      rate_queue (&f, table[row].queue_ms);
      f.input.queue_peak = table[row].peak_ms * MCC_MSECOND;
      rate_steps (&f, 3);
      if (rate_mode (&f) == MCC_RATE_TCP)
        break;
      rate_queue (&f, 0);
      f.input.queue_peak = burst_ms * MCC_MSECOND;
      rate_send (&f, table[row].sent_bps);
      rate_step (&f);
      rate_send (&f, MBPS);
      rate_steps (&f, table[row].gone - 1);
    }
    g_assert_cmpuint (cycles, ==, table[row].others ? 3 : 10);
    rate_clear (&f);
  }
}

/* When the link becomes slower, what arrived on the mean says nothing of how fast its queue should
 * fall; a second later it does. */
static void
slower_link (void)
{
  for (guint later = 0; later < 2; later++) {
    RateFixture f;
    begin (&f, FALSE);
    rate_queue (&f, 20);
    rate_steps (&f, 15);
    rate_receive (&f, 500000);
    rate_send (&f, 500000);
    rate_queue (&f, 300);
    rate_step (&f); /* less than was sent: slower */
    rate_steps (&f, later == 1 ? 25 : 8);
    fall (&f, 300, 40, 2);
    rate_queue (&f, 200);
    g_assert_cmpuint (rate_steps_to_tcp (&f, 3), ==, later == 1 ? 1 : 0);
    rate_clear (&f);
  }
}

/* A long queue that fell, and short ones since that never come half-way back to it. */
static void
shorter_since (void)
{
  RateFixture f;
  begin (&f, FALSE);
  rate_queue (&f, 100);
  rate_steps (&f, 3);
  guint steps = 0;
  for (; steps < 20 && rate_mode (&f) == MCC_RATE_DELAY; steps++) {
    rate_queue (&f, 0);
    rate_steps (&f, 3);
    rate_queue (&f, 20);
    rate_steps (&f, 3);
  }
  g_assert_cmpuint (steps, ==, 4);
  rate_clear (&f);
}

/* Nothing comes for a while: the queue is the last one, and no proof that bursts have gone. */
static void
nothing_comes (void)
{
  RateFixture f;
  begin (&f, FALSE);
  f.input.queue_peak = 20 * MCC_MSECOND;
  rate_steps (&f, 50);
  for (guint cycle = 0; cycle < 6; cycle++) {
    rate_queue (&f, 20);
    f.input.sent_bytes = 0;
    f.input.sent_span = 0;
    rate_steps (&f, 2);
    rate_send (&f, MBPS);
    f.input.queue_peak = 40 * MCC_MSECOND;
    rate_steps (&f, 2);
    rate_queue (&f, 0);
    f.input.queue_peak = 20 * MCC_MSECOND;
    rate_steps (&f, 2);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
  }
  rate_clear (&f);
}

/* A queue that was seen once, since when nothing came: a host that stood still. */
static void
seen_once (void)
{
  RateFixture f;
  begin (&f, FALSE);
  for (guint cycle = 0; cycle < 6; cycle++) {
    rate_queue (&f, 20);
    rate_step (&f);
    f.input.sent_bytes = 0;
    f.input.sent_span = 0;
    rate_steps (&f, 2);
    rate_send (&f, MBPS);
    rate_queue (&f, 0);
    rate_steps (&f, 3);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
  }
  rate_clear (&f);
}

/* 1.25 Mb/s come while the queue stands, and it falls as it should at that rate; between nothing is
 * sent, so that less comes on the mean. */
static void
bursts (void)
{
  static const struct {
    const char *name;
    guint span_ms; /* in which what stood came */
    gboolean others;
  } table[] = { { "ours", 80, FALSE }, { "others", 100, TRUE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    guint cycles = 0;
    g_test_message ("%s", table[row].name);
    begin (&f, FALSE);
    for (; cycles < 10 && rate_mode (&f) == MCC_RATE_DELAY; cycles++) {
      rate_queue (&f, 22);
      f.input.came_span = table[row].span_ms * MCC_MSECOND;
      rate_steps (&f, 3);
      rate_queue (&f, 0); /* 100 ms for what takes 80 */
      rate_step (&f);
      f.input.came_span = RATE_STEP;
      rate_steps (&f, 2);
    }
    g_assert_cmpuint (cycles, ==, table[row].others ? 4 : 10);
    rate_clear (&f);
  }
}

/* While the rate doubles, what arrived says nothing of how fast its queue should fall. */
static void
slow_start (void)
{
  RateFixture f;
  rate_init (&f);
  f.input.capacity = NULL;
  f.input.packet_bytes = 100.0;
  f.input.max_bps = MBPS;
  rate_send (&f, MBPS);
  rate_steps (&f, 4);
  for (guint cycle = 0; cycle < 6; cycle++) {
    rate_queue (&f, 9);
    rate_steps (&f, 3);
    rate_queue (&f, 0);
    rate_steps (&f, 3);
    g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_SLOW_START);
  }
  for (guint i = 1; i <= 2; i++) {
    rate_queue (&f, i * 15);
    rate_step (&f);
  }
  g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
  rate_clear (&f);
}

/* A second after a queue of 40 ms, for which we cut, there is another, though less is sent. (Where
 * it stands between, at nine tenths of the most that arrived, another rule speaks.) */
static void
less_than_noted (void)
{
  static const struct {
    const char *name;
    guint fades;       /* per cent, of what arrives, from one queue to the next */
    guint64 burst_bps; /* sent as it came */
    gboolean empties;  /* between */
    double packet_bytes;
    gboolean others;
    gboolean none_lost; /* as beside others like us */
  } table[] = {
    { "others", 3, 0, TRUE, 1200.0, TRUE, FALSE },
    { "the link's capacity", 0, 0, TRUE, 1200.0, FALSE, FALSE },
    { "nearly that", 1, 0, TRUE, 1200.0, FALSE, FALSE },
    { "ours", 3, 2 * MBPS, TRUE, 1200.0, FALSE, FALSE },
    { "the same queue", 3, 0, FALSE, 1200.0, FALSE, FALSE },
    { "more than a packet behind RTCP", 3, 0, TRUE, 3500.0, TRUE, FALSE },
    { "less than that", 3, 0, TRUE, 4500.0, FALSE, FALSE },
    { "others like us", 3, 0, TRUE, 1200.0, FALSE, TRUE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    guint queues = 0;
    g_test_message ("%s", table[row].name);
    begin (&f, FALSE);
    if (table[row].none_lost)
      f.input.loss_ratio = 0.0;
    f.input.packet_bytes = table[row].packet_bytes;
    f.input.transmission = mcc_time_from_seconds (8.0 * table[row].packet_bytes / MBPS);
    for (guint64 bps = MBPS; queues < 4; bps -= bps * table[row].fades / 100) {
      rate_receive (&f, bps);
      rate_send (&f, bps);
      rate_queue (&f, table[row].empties ? 0 : 40);
      rate_steps (&f, 9);
      rate_send (&f, table[row].burst_bps > 0 ? table[row].burst_bps : bps);
      rate_queue (&f, 40);
      rate_step (&f);
      g_assert_cmpint (rate_mode (&f) == MCC_RATE_TCP, ==, ++queues == 4 && table[row].others);
    }
    rate_clear (&f);
  }
}

/* What arrives is a little less at one queue and a little more at the next: another flow of ours
 * that holds its queue, too. With rivals it becomes less and less. */
static void
more_than_noted (void)
{
  static const struct {
    const char *name;
    guint percent[6]; /* arrives, of 1 Mb/s */
    gboolean others;
  } table[] = {
    { "to and fro", { 100, 96, 100, 96, 100, 96 }, FALSE },
    { "slowly back", { 100, 96, 99, 95, 98, 94 }, FALSE },
    { "one more in between", { 100, 97, 94, 97, 94, 91 }, TRUE },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    g_test_message ("%s", table[row].name);
    begin (&f, FALSE);
    for (guint i = 0; i < G_N_ELEMENTS (table[row].percent); i++) {
      guint64 bps = MBPS * table[row].percent[i] / 100;
      rate_receive (&f, bps);
      rate_send (&f, bps);
      rate_queue (&f, 0);
      rate_steps (&f, 9);
      rate_queue (&f, 40);
      rate_step (&f);
    }
    g_assert_cmpint (rate_mode (&f), ==, table[row].others ? MCC_RATE_TCP : MCC_RATE_DELAY);
    rate_clear (&f);
  }
}

/* The link becomes slower, once: of what is noted then a part came before that, and what was noted
 * before was another link's. */
static void
slower_than_noted (void)
{
  static const guint64 noted_bps[][5]
      = { { MBPS, 600000, 400000, 388000, 388000 }, { MBPS, 960000, 920000, 400000, 388000 } };
  for (guint row = 0; row < G_N_ELEMENTS (noted_bps); row++) {
    RateFixture f;
    begin (&f, FALSE);
    for (guint i = 0; i < G_N_ELEMENTS (noted_bps[row]); i++) {
      rate_queue (&f, 0);
      rate_steps (&f, 9);
      rate_receive (&f, noted_bps[row][i]);
      rate_send (&f, noted_bps[row][i]);
      rate_queue (&f, 60);
      rate_step (&f);
      g_assert_cmpint (rate_mode (&f), ==, MCC_RATE_DELAY);
    }
    rate_clear (&f);
  }
}

/* Near the capacity at which a buffer of 20 ms overflowed it comes nearer very slowly. If more
 * arrives all the while and leaves no queue, the link carries more. */
static void
beyond_the_capacity (void)
{
  static const struct {
    guint percent;     /* received, of the capacity noted */
    guint64 grain_bps; /* ... but for so much: a packet */
    gboolean disproved;
  } table[] = { { 100, 0, FALSE }, { 99, 0, FALSE }, { 102, 0, TRUE }, { 104, 0, TRUE },
    { 104, 50000, FALSE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    RateFixture f;
    begin (&f, FALSE);
    f.input.max_bps = 100 * MBPS;
    rate_queue (&f, 20);
    rate_lose (&f, 1e-4);
    rate_queue (&f, 0);
    rate_steps (&f, 10); /* restored */
    guint64 before_bps = rate_bps (&f);
    f.input.grain_bps = table[row].grain_bps;
    rate_receive (&f, MBPS * table[row].percent / 100);
    rate_steps (&f, 20);
    if (table[row].disproved)
      g_assert_cmpfloat ((double)rate_bps (&f), >, 1.1 * (double)before_bps);
    else
      g_assert_cmpfloat ((double)rate_bps (&f), <, 1.02 * (double)before_bps);
    rate_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rate-cycles/one-long-cycle", one_long_cycle);
  g_test_add_func ("/rate-cycles/short-cycles", short_cycles);
  g_test_add_func ("/rate-cycles/slower-link", slower_link);
  g_test_add_func ("/rate-cycles/shorter-since", shorter_since);
  g_test_add_func ("/rate-cycles/nothing-comes", nothing_comes);
  g_test_add_func ("/rate-cycles/seen-once", seen_once);
  g_test_add_func ("/rate-cycles/bursts", bursts);
  g_test_add_func ("/rate-cycles/slow-start", slow_start);
  g_test_add_func ("/rate-cycles/less-than-the-capacity-noted", less_than_noted);
  g_test_add_func ("/rate-cycles/more-than-the-capacity-noted", more_than_noted);
  g_test_add_func ("/rate-cycles/slower-than-the-capacity-noted", slower_than_noted);
  g_test_add_func ("/rate-cycles/beyond-the-capacity-noted", beyond_the_capacity);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lossfeed.h"

static void
assert_counts (const Feed *feed, uint64_t expected, uint64_t received, uint64_t lost)
{
  g_assert_cmpuint (mcc_loss_packets_expected (feed->loss), ==, expected);
  g_assert_cmpuint (mcc_loss_packets_received (feed->loss), ==, received);
  g_assert_cmpuint (mcc_loss_packets_lost (feed->loss), ==, lost);
}

static void
found_by_name (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++)
    g_assert_true (mcc_loss_find (loss_measures[m]->name) == loss_measures[m]);
  g_assert_null (mcc_loss_find ("none"));
  g_assert_null (mcc_loss_find (""));
  g_assert_null (mcc_loss_find (NULL));
}

static void
nothing_yet (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    mcc_loss_handle_interval (feed.loss);
    assert_counts (&feed, 0, 0, 0);
    assert_ratio (&feed, 0.0);
    g_assert_cmpfloat (mcc_loss_mean_packet_bytes (feed.loss), ==, 0.0);
    g_assert_cmpuint (mcc_loss_last_event (feed.loss), ==, MCC_TIME_NONE);
    feed_free (&feed);
  }
}

/* What a pattern counts, for every measure. */
static void
counts (void)
{
  static const struct {
    const char *pattern;
    uint64_t received, lost, duplicates, reordered, events;
  } rows[] = {
    { "..........", 10, 0, 0, 0, 0 },
    { ".....x..", 7, 0, 0, 0, 0 }, /* two later ones prove nothing */
    { ".....x...", 8, 1, 0, 0, 1 },
    { ".....xx...", 8, 2, 0, 0, 1 },
    { ".....x.x..", 8, 1, 0, 0, 1 },
    { ".....x.x...", 9, 2, 0, 0, 1 },
    { ".....2......", 12, 0, 0, 1, 0 }, /* overtaken by two */
    { ".....3......", 12, 0, 0, 1, 0 }, /* by three: lost, then repaired */
    { ".....9...........", 17, 0, 0, 1, 0 },
    { ".....1.1..", 10, 0, 0, 2, 0 },
    { ".....33......", 13, 0, 0, 2, 0 },
    { "....d....", 9, 0, 1, 0, 0 },
    { ".....xdddd", 9, 1, 4, 0, 1 },
    { ".....xd.", 7, 0, 1, 0, 0 }, /* duplicates do not prove a loss */
    { ".....xdd", 7, 0, 2, 0, 0 },
  };

  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
      Feed feed = feed_new (loss_measures[m], NULL);
      feed_pattern (&feed, rows[i].pattern);
      assert_counts (&feed, strlen (rows[i].pattern), rows[i].received, rows[i].lost);
      g_assert_cmpuint (mcc_loss_duplicates (feed.loss), ==, rows[i].duplicates);
      g_assert_cmpuint (mcc_loss_reordered (feed.loss), ==, rows[i].reordered);
      g_assert_cmpuint (mcc_loss_events (feed.loss), ==, rows[i].events);
      g_assert_cmpuint (mcc_loss_resyncs (feed.loss), ==, 0);
      feed_free (&feed);
    }
  }
}

/* Two of three in a row lost between t and t + 30 ms: at t + 10 and t + 20. */
static void
lost_times_are_interpolated (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    feed_pattern (&feed, "....");
    MccTime first = feed.time;
    feed_pattern (&feed, "xx....");
    g_assert_cmpuint (mcc_loss_last_event (feed.loss), ==, first);
    feed_free (&feed);
  }
}

static void
late_arrival_repairs (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    feed.rtt = MCC_SECOND;
    feed_received (&feed, 100);
    uint64_t hole = feed.seq;
    feed_lost (&feed, 40);
    feed_received (&feed, 1000);
    assert_counts (&feed, 1140, 1100, 40);
    mcc_loss_handle_interval (feed.loss);
    g_assert_cmpfloat (mcc_loss_ratio (feed.loss), >, 0.0);

    for (uint64_t seq = hole; seq < hole + 40; seq++) {
      g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 1);
      feed_packet (&feed, seq);
    }
    assert_counts (&feed, 1140, 1140, 0);
    assert_ratio (&feed, 0.0);
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 0);
    g_assert_cmpuint (mcc_loss_last_event (feed.loss), ==, MCC_TIME_NONE);
    g_assert_cmpuint (mcc_loss_duplicates (feed.loss), ==, 0);
    feed_packet (&feed, hole);
    g_assert_cmpuint (mcc_loss_duplicates (feed.loss), ==, 1);
    feed_free (&feed);
  }
}

/* A repaired event leaves the history as it would be without it, even a full one; @which of the
 * twenty. */
static void
assert_no_trace (const MccLossMeasure *measure, unsigned which)
{
  Feed a = feed_new (measure, NULL);
  Feed b = feed_new (measure, NULL);
  uint64_t hole = 0;

  for (unsigned i = 0; i < 20; i++) {
    feed_received (&a, 50 + 7 * i);
    feed_received (&b, 50 + 7 * i);
    if (i == which) {
      hole = a.seq;
      feed_lost (&a, 2);
      feed_received (&b, 2);
    } else {
      feed_pattern (&a, "x.x");
      feed_pattern (&b, "x.x");
    }
    if (i % 4 == 2) { /* no hole is open then */
      mcc_loss_handle_interval (a.loss);
      mcc_loss_handle_interval (b.loss);
    }
  }
  feed_received (&a, 10);
  feed_received (&b, 10);
  mcc_loss_handle_interval (a.loss);
  mcc_loss_handle_interval (b.loss);
  g_assert_cmpfloat (mcc_loss_ratio (a.loss), !=, mcc_loss_ratio (b.loss));
  feed_packet (&a, hole + 1);
  feed_packet (&a, hole);
  assert_ratio (&a, mcc_loss_ratio (b.loss));
  g_assert_cmpuint (mcc_loss_events (a.loss), ==, mcc_loss_events (b.loss));
  feed_free (&a);
  feed_free (&b);
}

static void
repaired_event_leaves_no_trace (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    assert_no_trace (loss_measures[m], 17);
    assert_no_trace (loss_measures[m], 19);
  }
}

/* A loss and the packet that takes its place in the record 32768 later are not mixed up. */
static void
old_loss_is_forgotten (void)
{
  Feed feed = feed_new (&mcc_loss_lip, NULL);

  feed_received (&feed, 10);
  uint64_t hole = feed.seq;
  feed_lost (&feed, 1);
  feed_received (&feed, 32768);
  feed_packet (&feed, hole + 32768);
  g_assert_cmpuint (mcc_loss_duplicates (feed.loss), ==, 1);
  feed_packet (&feed, hole);
  g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 1);
  feed_free (&feed);
}

/* A path that delivers everything twice, the second time 200 packets late, is no restart. */
static void
late_copies_are_no_restart (void)
{
  Feed feed = feed_new (&mcc_loss_lip, NULL);

  feed_received (&feed, 200);
  for (unsigned i = 0; i < 1000; i++) {
    feed_received (&feed, 1);
    feed_packet (&feed, feed.seq - 200);
  }
  g_assert_cmpuint (mcc_loss_resyncs (feed.loss), ==, 0);
  g_assert_cmpuint (mcc_loss_duplicates (feed.loss), ==, 1000);
  assert_counts (&feed, 1200, 1200, 0);
  feed_free (&feed);
}

static void
repair_behind_the_history_changes_no_ratio (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    feed_received (&feed, 20);
    uint64_t hole = feed.seq;
    for (unsigned i = 0; i < 200; i++) {
      feed_pattern (&feed, "x.........");
      mcc_loss_handle_interval (feed.loss);
    }
    double ratio = mcc_loss_ratio (feed.loss);
    uint64_t lost = mcc_loss_packets_lost (feed.loss);
    feed_packet (&feed, hole);
    g_assert_cmpfloat (mcc_loss_ratio (feed.loss), ==, ratio);
    g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, lost - 1);
    feed_free (&feed);
  }
}

/* Jumps of the sequence numbers, after 200 packets and one event. */
static void
restart_is_no_loss (void)
{
  static const int64_t jumps[]
      = { 3001, 30000, INT64_C (1) << 40, -250, -40000, -(INT64_C (1) << 50) };

  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    for (unsigned i = 0; i < G_N_ELEMENTS (jumps); i++) {
      Feed feed = feed_new (loss_measures[m], NULL);
      feed_pattern (&feed, "..........x..........");
      mcc_loss_handle_interval (feed.loss);
      double ratio = mcc_loss_ratio (feed.loss);
      g_assert_cmpfloat (ratio, >, 0.0);
      feed.seq += (uint64_t)jumps[i];
      feed_received (&feed, 1000);
      g_assert_cmpuint (mcc_loss_resyncs (feed.loss), ==, 1);
      g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 1);
      assert_counts (&feed, 21 + 999, 20 + 999, 1);
      g_assert_cmpfloat (mcc_loss_ratio (feed.loss), <=, ratio);
      /* The stream counts its losses as before. */
      feed_pattern (&feed, "x...");
      g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 2);
      feed_free (&feed);
    }
  }
}

/* Behind its own start it looks like the past; 100 numbers in a row without a new one tell. */
static void
restart_within_the_past (void)
{
  Feed feed = feed_new (&mcc_loss_lip, NULL);

  feed_received (&feed, 5000);
  feed.seq -= 4000;
  for (unsigned i = 0; i < 300; i++) {
    feed_received (&feed, 9);
    feed_lost (&feed, 1);
  }
  g_assert_cmpuint (mcc_loss_resyncs (feed.loss), ==, 1);
  g_assert_cmpuint (mcc_loss_duplicates (feed.loss), ==, 99);
  g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 300 - 99 / 9 - 1);
  feed_free (&feed);
}

/* Unless they are known to be late, whose place is where they were missing. */
static void
known_to_be_late (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);

    mcc_loss_handle_late_packet (feed.loss, feed.seq, feed.bytes, feed.time, feed.rtt, false);
    feed_received (&feed, 5000);
    feed_lost (&feed, 300);
    feed_received (&feed, 200);
    g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 300);
    for (uint64_t seq = feed.seq - 1000; seq < feed.seq; seq++)
      mcc_loss_handle_late_packet (feed.loss, seq, feed.bytes, feed.time, feed.rtt, false);
    mcc_loss_handle_late_packet (feed.loss, FEED_SEQ - 200, feed.bytes, feed.time, feed.rtt, false);
    assert_counts (&feed, 5500, 5500, 0);
    g_assert_cmpuint (mcc_loss_resyncs (feed.loss), ==, 0);
    g_assert_cmpuint (mcc_loss_duplicates (feed.loss), ==, 700);
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 0);
    feed_free (&feed);
  }
}

static void
strays_change_nothing (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    for (unsigned i = 0; i < 100; i++) {
      feed_received (&feed, 10);
      feed_packet (&feed, feed.seq + 20000 + 10 * i);
      feed_packet (&feed, feed.seq - 50000 + 10 * i);
    }
    assert_counts (&feed, 1000, 1000, 0);
    g_assert_cmpuint (mcc_loss_resyncs (feed.loss), ==, 0);
    feed_free (&feed);
  }
}

static void
before_the_first (void)
{
  Feed feed = feed_new (&mcc_loss_lap, NULL);

  feed_received (&feed, 1);
  feed_packet (&feed, FEED_SEQ - 1);
  feed_packet (&feed, FEED_SEQ - 100);
  feed_received (&feed, 9);
  assert_counts (&feed, 10, 10, 0);
  g_assert_cmpuint (mcc_loss_reordered (feed.loss), ==, 2);
  feed_free (&feed);
}

static void
burst_longer_than_the_history (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    feed_received (&feed, 100);
    for (unsigned i = 0; i < 50; i++) {
      feed_lost (&feed, 2999);
      feed_received (&feed, 1);
    }
    feed_received (&feed, 2);
    mcc_loss_handle_interval (feed.loss);
    assert_counts (&feed, 100 + 50 * 3000 + 2, 152, 50 * 2999);
    g_assert_cmpfloat (mcc_loss_ratio (feed.loss), >, 0.0);
    g_assert_cmpfloat (mcc_loss_ratio (feed.loss), <=, 1.0);
    feed_free (&feed);
  }
}

static void
mean_size_is_that_of_the_history (void)
{
  MccLossConfig config = mcc_loss_config_default;
  config.history = 2;

  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], &config);
    feed.bytes = 1400;
    feed_received (&feed, 30);
    g_assert_cmpfloat (mcc_loss_mean_packet_bytes (feed.loss), ==, 1400.0);
    feed.bytes = 200;
    feed_received (&feed, 10);
    g_assert_cmpfloat (mcc_loss_mean_packet_bytes (feed.loss), ==, 1100.0);
    for (unsigned i = 0; i < 3; i++) {
      feed_pattern (&feed, "x.........");
      mcc_loss_handle_interval (feed.loss);
    }
    g_assert_cmpfloat (mcc_loss_mean_packet_bytes (feed.loss), ==, 200.0);
    feed_free (&feed);
  }
}

static void
seed_gives_its_ratio (void)
{
  static const double ratios[] = { 1e-6, 0.001, 0.02, 0.5, 1.0 };

  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    for (unsigned i = 0; i < G_N_ELEMENTS (ratios); i++) {
      Feed feed = feed_new (loss_measures[m], NULL);
      mcc_loss_seed (feed.loss, ratios[i]);
      g_assert_cmpfloat_with_epsilon (mcc_loss_ratio (feed.loss), ratios[i], 1e-12);
      feed_received (&feed, 100);
      feed_pattern (&feed, "xxx...");
      mcc_loss_handle_interval (feed.loss);
      mcc_loss_seed (feed.loss, ratios[i]);
      g_assert_cmpfloat_with_epsilon (mcc_loss_ratio (feed.loss), ratios[i], 1e-12);
      mcc_loss_seed (feed.loss, 7.0);
      assert_ratio (&feed, 1.0);
      mcc_loss_seed (feed.loss, 0.0);
      assert_ratio (&feed, 0.0);
      mcc_loss_seed (feed.loss, NAN);
      assert_ratio (&feed, 0.0);
      feed_free (&feed);
    }
  }
}

/* The rest of the event that brought the seed is in the seed. */
static void
seed_covers_its_event (void)
{
  for (unsigned m = 1; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    feed.rtt = 200 * MCC_MSECOND;
    feed_received (&feed, 100);
    feed_pattern (&feed, "x...");
    mcc_loss_seed (feed.loss, 0.01);
    feed_pattern (&feed, "xxx....");
    assert_ratio (&feed, 0.01);
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 1);
    feed_free (&feed);
  }
}

static void
extended_event_takes_losses_in (void)
{
  for (unsigned m = 1; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    feed_received (&feed, 100);
    MccTime event = feed.time;
    feed_pattern (&feed, "x...");
    mcc_loss_extend_event (feed.loss, feed.time + 300 * MCC_MSECOND);
    feed_pattern (&feed, "......x...x..."); /* beyond the RTT, within the extension */
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 1);
    g_assert_cmpuint (mcc_loss_last_event (feed.loss), ==, event);
    mcc_loss_extend_event (feed.loss, MCC_TIME_NONE);
    feed_pattern (&feed, "...x...");
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 2);
    feed_free (&feed);
  }
}

/* The extension is over by itself when its time is. */
static void
extension_ends (void)
{
  Feed feed = feed_new (&mcc_loss_lip, NULL);

  feed_received (&feed, 100);
  feed_pattern (&feed, "x...");
  mcc_loss_extend_event (feed.loss, feed.time + 300 * MCC_MSECOND);
  feed_received (&feed, 30);
  feed_pattern (&feed, "x...");
  g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 2);
  feed_free (&feed);
}

/* The ratio is that of the same stream with the marked packets lost; but nothing is lost. */
static void
marks_count_as_losses (void)
{
  static const char *const patterns[] = {
    "....................m....................",
    "..........mmmmm...........mm.............",
    "....m..............m....x.......m.x......",
    "..m...x..........x.m...............mmm...",
    "m..........x......m......................",
  };

  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    for (unsigned i = 0; i < G_N_ELEMENTS (patterns); i++) {
      Feed marked = feed_new (loss_measures[m], NULL), lost = feed_new (loss_measures[m], NULL);
      gchar *losses = g_strdelimit (g_strdup (patterns[i]), "m", 'x');
      unsigned marks = 0, missing = 0;
      for (const char *c = patterns[i]; *c != '\0'; c++) {
        marks += *c == 'm';
        missing += *c == 'x';
      }
      for (unsigned times = 0; times < 12; times++) {
        feed_received (&marked, 7 * times + 1);
        feed_received (&lost, 7 * times + 1);
        feed_pattern (&marked, patterns[i]);
        feed_pattern (&lost, losses);
        mcc_loss_handle_interval (marked.loss);
        mcc_loss_handle_interval (lost.loss);
        assert_ratio (&marked, mcc_loss_ratio (lost.loss));
      }
      g_assert_cmpfloat (mcc_loss_ratio (marked.loss), >, 0.0);
      g_assert_cmpuint (mcc_loss_events (marked.loss), ==, mcc_loss_events (lost.loss));
      g_assert_cmpuint (mcc_loss_last_event (marked.loss), ==, mcc_loss_last_event (lost.loss));
      g_assert_cmpuint (mcc_loss_packets_lost (marked.loss), ==, 12 * missing);
      g_assert_cmpuint (mcc_loss_packets_marked (marked.loss), ==, 12 * marks);
      g_assert_cmpuint (
          mcc_loss_packets_expected (marked.loss), ==, mcc_loss_packets_expected (lost.loss));
      g_free (losses);
      feed_free (&marked);
      feed_free (&lost);
    }
  }
}

/* Which part of the ratio is no loss: events without one; of interval loss, packets. */
static void
share_of_marks (void)
{
  for (unsigned m = 0; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    bool interval = loss_measures[m] == &mcc_loss_interval;
    feed_pattern (&feed, "..........x.........");
    mcc_loss_handle_interval (feed.loss);
    g_assert_cmpfloat (mcc_loss_marked_share (feed.loss), ==, 0.0);
    feed_pattern (&feed, "..........m.........");
    mcc_loss_handle_interval (feed.loss);
    g_assert_cmpfloat_with_epsilon (mcc_loss_marked_share (feed.loss), 0.5, 1e-9);
    feed_pattern (&feed, "..........mxx.......");
    mcc_loss_handle_interval (feed.loss);
    g_assert_cmpfloat_with_epsilon (
        mcc_loss_marked_share (feed.loss), interval ? 2.0 / 5.0 : 1.0 / 3.0, 1e-9);
    feed_free (&feed);
  }
}

/* A mark stays when the losses of its event are repaired; a late one repairs but its event stays;
 * a copy is none. */
static void
marks_are_not_repaired (void)
{
  for (unsigned m = 1; m < G_N_ELEMENTS (loss_measures); m++) {
    Feed feed = feed_new (loss_measures[m], NULL);
    uint64_t lost;
    feed_received (&feed, 50);
    feed_pattern (&feed, "m");
    lost = feed.seq;
    feed_pattern (&feed, "x....");
    g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 1);
    g_assert_cmpfloat (mcc_loss_marked_share (feed.loss), ==, 0.0);
    feed_packet (&feed, lost);
    g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 0);
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 1);
    g_assert_cmpfloat (mcc_loss_marked_share (feed.loss), ==, 1.0);

    feed_received (&feed, 50);
    lost = feed.seq;
    feed_pattern (&feed, "x....");
    feed_marked (&feed, lost);
    feed_marked (&feed, lost);
    g_assert_cmpuint (mcc_loss_packets_lost (feed.loss), ==, 0);
    g_assert_cmpuint (mcc_loss_packets_marked (feed.loss), ==, 2);
    g_assert_cmpuint (mcc_loss_duplicates (feed.loss), ==, 1);
    g_assert_cmpuint (mcc_loss_events (feed.loss), ==, 2);
    feed_free (&feed);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loss/found-by-name", found_by_name);
  g_test_add_func ("/loss/nothing-yet", nothing_yet);
  g_test_add_func ("/loss/counts", counts);
  g_test_add_func ("/loss/lost-times-are-interpolated", lost_times_are_interpolated);
  g_test_add_func ("/loss/late-arrival-repairs", late_arrival_repairs);
  g_test_add_func ("/loss/repaired-event-leaves-no-trace", repaired_event_leaves_no_trace);
  g_test_add_func ("/loss/repair-behind-the-history-changes-no-ratio",
      repair_behind_the_history_changes_no_ratio);
  g_test_add_func ("/loss/old-loss-is-forgotten", old_loss_is_forgotten);
  g_test_add_func ("/loss/late-copies-are-no-restart", late_copies_are_no_restart);
  g_test_add_func ("/loss/restart-is-no-loss", restart_is_no_loss);
  g_test_add_func ("/loss/restart-within-the-past", restart_within_the_past);
  g_test_add_func ("/loss/known-to-be-late", known_to_be_late);
  g_test_add_func ("/loss/strays-change-nothing", strays_change_nothing);
  g_test_add_func ("/loss/before-the-first", before_the_first);
  g_test_add_func ("/loss/burst-longer-than-the-history", burst_longer_than_the_history);
  g_test_add_func ("/loss/mean-size-is-that-of-the-history", mean_size_is_that_of_the_history);
  g_test_add_func ("/loss/seed-gives-its-ratio", seed_gives_its_ratio);
  g_test_add_func ("/loss/seed-covers-its-event", seed_covers_its_event);
  g_test_add_func ("/loss/extended-event-takes-losses-in", extended_event_takes_losses_in);
  g_test_add_func ("/loss/extension-ends", extension_ends);
  g_test_add_func ("/loss/marks-count-as-losses", marks_count_as_losses);
  g_test_add_func ("/loss/share-of-marks", share_of_marks);
  g_test_add_func ("/loss/marks-are-not-repaired", marks_are_not_repaired);
  return g_test_run ();
}

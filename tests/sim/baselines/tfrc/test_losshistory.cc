/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <initializer_list>

#include <glib.h>

#include "tfrc/losshistory.h"

using sim::LossHistory;

namespace
{

constexpr MccTime START = 7 * MCC_SECOND;
constexpr MccTime RTT = 10 * MCC_MSECOND;

/* Packets 1 ms apart; those lost leave a gap in time, too. */
class Feed
{
public:
  explicit Feed (double discount_min = 1, std::uint32_t first = 100)
      : history (discount_min), m_seq (first)
  {
  }
  unsigned Received (unsigned count, MccTime rtt = RTT)
  {
    unsigned events = 0;
    for (unsigned i = 0; i < count; i++, m_now += MCC_MSECOND)
      events += history.HandlePacket (m_seq++, false, m_now, rtt);
    return events;
  }
  void Lose (unsigned count)
  {
    m_seq += count;
    m_now += count * MCC_MSECOND;
  }
  /* Loss events whose intervals are @lengths, oldest first; @open packets behind the last. */
  void Intervals (double first, std::initializer_list<unsigned> lengths, unsigned open)
  {
    Received (50);
    Lose (1);
    for (unsigned length : lengths) {
      Received (3, 0);
      history.SetFirstInterval (first);
      Received (length - 4, 0);
      Lose (1);
    }
    Received (open - 1, 0);
  }

  LossHistory history;

private:
  std::uint32_t m_seq;
  MccTime m_now = START;
};

void
check_mean (const LossHistory &history, double mean)
{
  g_assert_cmpfloat_with_epsilon (1 / history.LossEventRate (), mean, 1e-9 * mean);
}

void
no_loss_no_rate ()
{
  Feed feed;

  feed.Received (1000);
  g_assert_cmpfloat (feed.history.LossEventRate (), ==, 0);
}

/* RFC 5348 5.4: worked by hand. */
void
weighted_mean_by_hand ()
{
  Feed feed;

  /* Newest first 10 20 30 40 50 60 70 and the first 80; I_0 = 4:
   * (10 + 20 + 30 + 40 + .8 50 + .6 60 + .4 70 + .2 80) / 6 */
  feed.Intervals (80, { 70, 60, 50, 40, 30, 20, 10 }, 4);
  check_mean (feed.history, 220.0 / 6);
  /* I_0 = 100 raises it: (100 + 10 + 20 + 30 + .8 40 + .6 50 + .4 60 + .2 70) / 6 */
  feed.Received (96);
  check_mean (feed.history, 260.0 / 6);
}

void
fewer_intervals_divide_by_their_weights ()
{
  Feed feed;

  feed.Intervals (90, { 20, 10 }, 4);
  check_mean (feed.history, 120.0 / 3);
  feed.Received (296);
  check_mean (feed.history, (300.0 + 10 + 20) / 3);
}

void
ninth_interval_is_forgotten ()
{
  Feed feed;

  feed.Intervals (100000, { 20, 20, 20, 20, 20, 20, 20, 20 }, 4);
  check_mean (feed.history, 20);
  feed.history.ScaleFirstInterval (7); /* gone: of no effect */
  check_mean (feed.history, 20);
}

void
first_interval_can_be_scaled ()
{
  Feed feed;

  feed.Intervals (400, { 20 }, 4);
  check_mean (feed.history, 210);
  feed.history.ScaleFirstInterval (0.25);
  check_mean (feed.history, 60);
}

/* RFC 5348 5.1: NDUPACK = 3. */
void
lost_when_three_later_have_come ()
{
  LossHistory history (1);

  for (std::uint32_t seq : { 1u, 2u, 4u, 5u })
    g_assert_false (history.HandlePacket (seq, false, START + seq * MCC_MSECOND, RTT));
  g_assert_cmpuint (history.Lost (), ==, 0);
  g_assert_true (history.HandlePacket (6, false, START + 6 * MCC_MSECOND, RTT));
  g_assert_cmpuint (history.Lost (), ==, 1);
  g_assert_cmpuint (history.Events (), ==, 1);
}

void
reordering_is_no_loss_and_duplicates_count_once ()
{
  LossHistory history (1);
  MccTime now = START;

  for (std::uint32_t seq : { 1u, 3u, 4u, 4u, 4u, 2u, 2u, 5u, 7u, 7u, 7u, 6u, 8u, 1u })
    g_assert_false (history.HandlePacket (seq, false, now += MCC_MSECOND, RTT));
  g_assert_cmpuint (history.Lost (), ==, 0);
}

void
numbers_wrap ()
{
  Feed feed (1, UINT32_MAX - 70);

  feed.Intervals (80, { 70, 60, 50, 40, 30, 20, 10 }, 4);
  check_mean (feed.history, 220.0 / 6);
  g_assert_cmpuint (feed.history.Lost (), ==, 8);
}

/* RFC 5348 5.2: with their interpolated times. */
void
losses_within_one_rtt_are_one_event ()
{
  for (unsigned gap = 5; gap <= 15; gap++) {
    Feed feed;

    feed.Received (20);
    feed.Lose (1);
    feed.Received (gap - 1);
    feed.Lose (1);
    feed.Received (10);
    g_assert_cmpuint (feed.history.Lost (), ==, 2);
    g_assert_cmpuint (feed.history.Events (), ==, gap <= 10 ? 1 : 2);
  }
  /* A long burst is one event per RTT: its losses' times lie between its neighbours'. */
  Feed feed;
  feed.Received (20);
  feed.Lose (33); /* first losses at 0, 11, 22 ms */
  feed.Received (10);
  g_assert_cmpuint (feed.history.Events (), ==, 3);
}

void
mark_is_a_loss_event ()
{
  Feed feed;
  LossHistory &history = feed.history;

  feed.Received (10);
  g_assert_true (history.HandlePacket (110, true, START + 10 * MCC_MSECOND, RTT));
  g_assert_false (history.HandlePacket (111, true, START + 11 * MCC_MSECOND, RTT));
  g_assert_cmpuint (history.Events (), ==, 1);
  g_assert_cmpuint (history.Lost (), ==, 0);
}

/* RFC 5348 5.5: worked by hand, DF >= 1/4. */
void
long_open_interval_discounts_the_others ()
{
  Feed feed (0.25), plain (1);

  for (Feed *f : { &feed, &plain })
    f->Intervals (10, { 10, 10, 10, 10, 10, 10, 10 }, 4);
  for (Feed *f : { &feed, &plain })
    f->Received (16); /* I_0 = 20 = 2 I_mean: not yet */
  g_assert_cmpfloat (feed.history.LossEventRate (), ==, plain.history.LossEventRate ());
  feed.Received (20);
  /* I_0 = 40, DF = 1/2: (40 + 10 (1 + 1 + 1 + .8 + .6 + .4 + .2) / 2) / (1 + 5 / 2) */
  check_mean (feed.history, 65 / 3.5);
  feed.Received (60);
  /* I_0 = 100, DF = max (1/5, 1/4) */
  check_mean (feed.history, 112.5 / 2.25);
  plain.Received (80);
  check_mean (plain.history, 150.0 / 6);
  /* The event that ends it keeps the older ones discounted: 100, then seven of 10. */
  feed.Lose (1);
  feed.Received (3, 0);
  check_mean (feed.history, 112.5 / 2.25);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/losshistory/no-loss-no-rate", no_loss_no_rate);
  g_test_add_func ("/losshistory/weighted-mean-by-hand", weighted_mean_by_hand);
  g_test_add_func ("/losshistory/fewer-intervals-divide-by-their-weights",
      fewer_intervals_divide_by_their_weights);
  g_test_add_func ("/losshistory/ninth-interval-is-forgotten", ninth_interval_is_forgotten);
  g_test_add_func ("/losshistory/first-interval-can-be-scaled", first_interval_can_be_scaled);
  g_test_add_func ("/losshistory/lost-when-three-later-have-come", lost_when_three_later_have_come);
  g_test_add_func ("/losshistory/reordering-is-no-loss-and-duplicates-count-once",
      reordering_is_no_loss_and_duplicates_count_once);
  g_test_add_func ("/losshistory/numbers-wrap", numbers_wrap);
  g_test_add_func (
      "/losshistory/losses-within-one-rtt-are-one-event", losses_within_one_rtt_are_one_event);
  g_test_add_func ("/losshistory/mark-is-a-loss-event", mark_is_a_loss_event);
  g_test_add_func ("/losshistory/long-open-interval-discounts-the-others",
      long_open_interval_discounts_the_others);
  return g_test_run ();
}

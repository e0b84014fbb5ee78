/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a link carries, from packets that queue.
 */
#include <glib.h>

#include "mccelmlink.h"

#define START (777 * MCC_SECOND)
#define FLOOR (5 * MCC_MSECOND)
#define BYTES 1000

/* @packets, one each @gap, the first after @queue in the queue, each next one @growth more. */
static void
arrive (MccElmLink *link, unsigned packets, MccTime gap, MccTime queue, gint64 growth)
{
  for (unsigned i = 0; i < packets; i++)
    mcc_elm_link_handle_packet (
        link, BYTES, (MccTime)((gint64)queue + i * growth), FLOOR, START + i * gap);
}

static void
test_rate (void)
{
  MccElmLink link;
  mcc_elm_link_clear (&link);
  g_assert_cmpfloat (mcc_elm_link_bps (&link, 1, 0, 0.0), ==, 0.0);
  g_assert_cmpfloat (mcc_elm_link_sent_bps (&link), ==, 0.0);
  /* sent each 5 ms, carried each 10 */
  arrive (&link, 11, 10 * MCC_MSECOND, FLOOR, 5 * (gint64)MCC_MSECOND);
  g_assert_cmpfloat_with_epsilon (mcc_elm_link_bps (&link, 11, 100 * MCC_MSECOND, 0.4), 800e3, 1.0);
  g_assert_cmpfloat_with_epsilon (mcc_elm_link_sent_bps (&link), 1600e3, 1.0);
  g_assert_cmpfloat (mcc_elm_link_bps (&link, 12, 0, 0.4), ==, 0.0);
  g_assert_cmpfloat (mcc_elm_link_bps (&link, 11, 101 * MCC_MSECOND, 0.4), ==, 0.0);
  g_assert_cmpfloat (mcc_elm_link_bps (&link, 11, 0, 0.6), ==, 0.0);
}

/* A queue that was empty ends a stretch; a longer delay, or one that falls, is no overload. */
static void
test_none (void)
{
  static const struct {
    MccTime queue;
    gint64 growth;
  } table[] = { { 0, 0 }, { 50 * MCC_MSECOND, 0 }, { 90 * MCC_MSECOND, -(gint64)MCC_MSECOND } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccElmLink link;
    mcc_elm_link_clear (&link);
    arrive (&link, 20, 10 * MCC_MSECOND, table[row].queue, table[row].growth);
    g_assert_cmpfloat (mcc_elm_link_bps (&link, 5, 0, 0.05), ==, 0.0);
  }
  MccElmLink link;
  mcc_elm_link_clear (&link);
  arrive (&link, 11, 10 * MCC_MSECOND, FLOOR, 5 * (gint64)MCC_MSECOND);
  mcc_elm_link_handle_packet (&link, BYTES, FLOOR - 1, FLOOR, START + MCC_SECOND);
  g_assert_cmpfloat (mcc_elm_link_bps (&link, 1, 0, 0.0), ==, 0.0);
}

/* A long stretch is cut: it tells of now. */
static void
test_cut (void)
{
  MccElmLink link;
  mcc_elm_link_clear (&link);
  arrive (&link, 100, 10 * MCC_MSECOND, FLOOR, 5 * (gint64)MCC_MSECOND);
  g_assert_cmpuint (link.last - link.first, <=, 500 * MCC_MSECOND);
  g_assert_cmpfloat_with_epsilon (mcc_elm_link_bps (&link, 5, 0, 0.4), 800e3, 1.0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/link/rate", test_rate);
  g_test_add_func ("/elm/link/none", test_none);
  g_test_add_func ("/elm/link/long-stretch", test_cut);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Packets of several sizes over a link: what is left of their delays is the queue.
 */
#include <glib.h>

#include "mccrng.h"
#include "mcctransmission.h"

#define START (4711 * MCC_SECOND)
#define SMALL 200
#define LARGE 1240
#define PERIOD (20 * MCC_MSECOND) /* of a packet */

typedef struct {
  MccTransmission transmission;
  MccTime now;
  double link_bps, base_bps; /* @base_bps: the link's when the baseline was taken */
  MccTime least, most;       /* of what was left */
} Link;

static void
link_init (Link *link, double link_bps)
{
  link->now = START;
  link->link_bps = link->base_bps = link_bps;
  mcc_transmission_init (&link->transmission, START);
}

/* Small and large ones in turn for @seconds, behind @queue, which a random one is added to. */
static void
run (Link *link, double seconds, MccTime queue, MccTime noise, uint64_t received_bps)
{
  MccTime end = link->now + mcc_time_from_seconds (seconds);
  MccRng rng;
  mcc_rng_init (&rng, 7);
  link->least = MCC_TIME_NONE;
  link->most = 0;
  for (guint i = 0; link->now < end; i++) {
    guint bytes = i % 2 ? LARGE : SMALL;
    double takes_s = 8.0 * bytes / link->link_bps - 8.0 * SMALL / link->base_bps;
    MccTime delay = queue + (MccTime)(mcc_rng_uniform (&rng) * (double)noise);
    MccTime left = mcc_transmission_handle_packet (
        &link->transmission, bytes, delay + mcc_time_from_seconds (MAX (takes_s, 0.0)), link->now);
    link->least = MIN (link->least, left);
    link->most = MAX (link->most, left);
    link->now += PERIOD;
    if (i % 5 == 4)
      mcc_transmission_update (&link->transmission, received_bps);
  }
}

/* 1040 bytes more are 28 ms at 300 kbit/s: no queue, after half a second. */
static void
test_no_queue (void)
{
  Link link;
  link_init (&link, 300e3);
  run (&link, 0.1, 0, 0, 250000);
  g_assert_cmpuint (link.most, >=, 27 * MCC_MSECOND);
  run (&link, 0.4, 0, 0, 250000);
  run (&link, 60.0, 0, 2 * MCC_MSECOND, 250000);
  g_assert_cmpuint (link.most, <, 3 * MCC_MSECOND);
}

/* A queue that stands is seen in small and in large, whether it was there before or not. */
static void
test_standing_queue (void)
{
  Link link;
  link_init (&link, 300e3);
  run (&link, 20.0, 50 * MCC_MSECOND, 2 * MCC_MSECOND, 250000);
  run (&link, 20.0, 50 * MCC_MSECOND, 2 * MCC_MSECOND, 250000);
  g_assert_cmpuint (link.least, >=, 48 * MCC_MSECOND);
  g_assert_cmpuint (link.most, <, 54 * MCC_MSECOND);
  run (&link, 20.0, 0, 2 * MCC_MSECOND, 250000);
  run (&link, 1.0, 100 * MCC_MSECOND, 0, 250000);
  g_assert_cmpuint (link.least, >=, 98 * MCC_MSECOND);
  g_assert_cmpuint (link.most, <, 101 * MCC_MSECOND);
}

/* Whatever others' queue does, no more is hidden than the rate that arrives explains. */
static void
test_bound (void)
{
  for (guint i = 0; i < 2; i++) {
    Link link;
    uint64_t received_bps = i ? 1000000 : 4000000;
    link_init (&link, 10e6);
    for (MccTime queue = 0; queue < MCC_SECOND; queue += 100 * MCC_MSECOND) {
      run (&link, 3.0, queue, 40 * MCC_MSECOND, received_bps);
      MccTime most = mcc_time_from_seconds (8.0 * (LARGE - SMALL) / (double)received_bps);
      g_assert_cmpuint (link.least + most + MCC_MSECOND, >=, queue);
    }
  }
}

/* A link that becomes slower, then faster: known after the span at most. */
static void
test_link_changes (void)
{
  Link link;
  double span_s = mcc_time_to_seconds (MCC_TRANSMISSION_SPAN);
  link_init (&link, 300e3);
  run (&link, 20.0, 0, MCC_MSECOND, 150000);
  link.link_bps = 200e3; /* small ones take 2.7 ms more */
  run (&link, span_s, 0, MCC_MSECOND, 150000);
  run (&link, 20.0, 0, MCC_MSECOND, 150000);
  g_assert_cmpuint (link.most, <, 5 * MCC_MSECOND);
  link.link_bps = link.base_bps = 2e6;
  run (&link, span_s, 0, MCC_MSECOND, 150000);
  run (&link, 1.0, 30 * MCC_MSECOND, MCC_MSECOND, 150000);
  g_assert_cmpuint (link.least, >=, 28 * MCC_MSECOND);
}

/* After a silence nothing of before counts. */
static void
test_silence (void)
{
  Link link;
  link_init (&link, 300e3);
  run (&link, 20.0, 0, 0, 250000);
  link.now += 3600 * MCC_SECOND;
  run (&link, 0.1, 0, 0, 250000);
  run (&link, 0.1, 0, 0, 250000);
  g_assert_cmpuint (link.most, >=, 27 * MCC_MSECOND);
}

/* Packets of one size, or nearly, or while no rate is known: as they came. */
static void
test_nothing_known (void)
{
  MccTransmission transmission;
  mcc_transmission_init (&transmission, START);
  for (guint i = 0; i < 1000; i++) {
    MccTime now = START + i * PERIOD, queue = (i * 37 % 100) * MCC_MSECOND;
    guint bytes = i < 500 ? 1000 + i % 2 * 240 : (i % 2 ? 1400 : 100);
    g_assert_cmpuint (mcc_transmission_handle_packet (&transmission, bytes, queue, now), ==, queue);
    mcc_transmission_update (&transmission, i < 500 ? 250000 : 0);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/transmission/no-queue", test_no_queue);
  g_test_add_func ("/transmission/standing-queue", test_standing_queue);
  g_test_add_func ("/transmission/bound", test_bound);
  g_test_add_func ("/transmission/link-changes", test_link_changes);
  g_test_add_func ("/transmission/silence", test_silence);
  g_test_add_func ("/transmission/nothing-known", test_nothing_known);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccstall.h"

#define EPOCH (5 * MCC_SECOND + 3)
#define PACKET 2304u /* kernel memory of a packet of 1200 bytes */

/* One packet each @interval: none is stale, whatever waits. */
static MccTime
stream (MccStall *stall, MccTime now, MccTime interval, unsigned packets, uint32_t backlog)
{
  uint64_t dropped;
  for (unsigned i = 0; i < packets; i++, now += interval) {
    g_assert_false (mcc_stall_needs_backlog (stall, now));
    g_assert_false (mcc_stall_handle_packet (stall, backlog, now, &dropped));
    g_assert_cmpuint (dropped, ==, 0);
  }
  return now - interval;
}

/* A host that is merely busy lets packets wait, but is never silent for so long. */
static void
test_busy_host (void)
{
  MccStall stall;
  mcc_stall_init (&stall);
  stream (&stall, EPOCH, MCC_TIME_ABSENCE - 1, 50, 1000000);
}

/* The first packet of all, long after the start: nothing stood still. */
static void
test_first_packet (void)
{
  MccStall stall;
  uint64_t dropped;
  mcc_stall_init (&stall);
  g_assert_false (mcc_stall_needs_backlog (&stall, EPOCH));
  g_assert_false (mcc_stall_handle_packet (&stall, 1000000, EPOCH, &dropped));
}

static void
test_silent_sender (void)
{
  MccStall stall;
  uint64_t dropped;
  mcc_stall_init (&stall);
  MccTime now = stream (&stall, EPOCH, 10 * MCC_MSECOND, 20, 0) + 60 * MCC_SECOND;
  g_assert_true (mcc_stall_needs_backlog (&stall, now));
  /* it comes back with a key unit */
  g_assert_false (mcc_stall_handle_packet (&stall, MCC_STALL_BACKLOG_BYTES - 1, now, &dropped));
  g_assert_cmpuint (dropped, ==, 0);
  stream (&stall, now + 1, MCC_MSECOND, 20, MCC_STALL_BACKLOG_BYTES);
}

static void
test_pile (void)
{
  static const struct {
    MccTime silence;
    unsigned waiting;
    bool pile;
  } table[] = { { MCC_TIME_ABSENCE - 1, 1000, false }, { MCC_TIME_ABSENCE, 1000, true },
    { MCC_SECOND, MCC_STALL_BACKLOG_BYTES / PACKET, false },
    { MCC_SECOND, MCC_STALL_BACKLOG_BYTES / PACKET + 1, true }, { 600 * MCC_SECOND, 57, true } };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    MccStall stall;
    uint64_t dropped = 0, stale = 0;
    mcc_stall_init (&stall);
    MccTime now = stream (&stall, EPOCH, 10 * MCC_MSECOND, 20, 0) + table[row].silence;
    /* packet i is read, those behind it wait */
    for (unsigned left = table[row].waiting + 1; left-- > 0; now += 20 * MCC_USECOND) {
      bool asked = mcc_stall_needs_backlog (&stall, now);
      bool is_stale = mcc_stall_handle_packet (&stall, asked ? left * PACKET : 0, now, &dropped);
      bool expected = table[row].pile && (left + 1) * PACKET >= MCC_STALL_DRAINED_BYTES;
      g_assert_cmpint (is_stale, ==, expected);
      stale += is_stale;
      /* told once, with the last of them */
      if (expected && left * PACKET < MCC_STALL_DRAINED_BYTES)
        g_assert_cmpuint (dropped, ==, stale);
      else
        g_assert_cmpuint (dropped, ==, 0);
    }
    stream (&stall, now, 10 * MCC_MSECOND, 20, 0);
  }
}

/* It stood still again before the first pile was gone: one pile, all of it is told. */
static void
test_stands_still_again (void)
{
  MccStall stall;
  uint64_t dropped;
  mcc_stall_init (&stall);
  MccTime now = stream (&stall, EPOCH, 10 * MCC_MSECOND, 5, 0) + MCC_SECOND;
  g_assert_true (mcc_stall_handle_packet (&stall, MCC_STALL_BACKLOG_BYTES, now, &dropped));
  now += MCC_SECOND;
  g_assert_true (mcc_stall_handle_packet (&stall, MCC_STALL_DRAINED_BYTES, now, &dropped));
  g_assert_cmpuint (dropped, ==, 0);
  g_assert_true (mcc_stall_handle_packet (&stall, 0, now + MCC_SECOND, &dropped));
  g_assert_cmpuint (dropped, ==, 3);
  /* and the next pile counts anew */
  g_assert_true (
      mcc_stall_handle_packet (&stall, MCC_STALL_BACKLOG_BYTES, now + 2 * MCC_SECOND, &dropped));
  g_assert_true (mcc_stall_handle_packet (&stall, 0, now + 2 * MCC_SECOND + 1, &dropped));
  g_assert_cmpuint (dropped, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stall/busy-host", test_busy_host);
  g_test_add_func ("/stall/first-packet", test_first_packet);
  g_test_add_func ("/stall/silent-sender", test_silent_sender);
  g_test_add_func ("/stall/what-piled-up-is-stale", test_pile);
  g_test_add_func ("/stall/stands-still-again", test_stands_still_again);
  return g_test_run ();
}

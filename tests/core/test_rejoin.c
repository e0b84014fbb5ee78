/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccrejoin.h"

#define START (5000 * MCC_SECOND)
#define STEP (20 * MCC_MSECOND) /* between packets, and between calls */

typedef struct {
  MccRejoin rejoin;
  MccTime now;
  guint n;
  MccTime at[64]; /* when it was to be done */
} World;

static World
begin (void)
{
  World world = { .now = START };

  mcc_rejoin_init (&world.rejoin, START);
  return world;
}

/* @seconds pass, in which packets come or not. */
static void
pass (World *self, guint seconds, gboolean packets)
{
  for (MccTime end = self->now + seconds * MCC_SECOND; self->now < end;) {
    self->now += STEP;
    if (packets)
      mcc_rejoin_handle_heard (&self->rejoin, self->now);
    g_assert_cmpuint (mcc_rejoin_next_timeout (&self->rejoin), <=, self->now + MCC_REJOIN_MOST);
    if (mcc_rejoin_next_timeout (&self->rejoin) <= self->now
        && mcc_rejoin_handle_timeout (&self->rejoin, self->now)) {
      g_assert_cmpuint (self->n, <, G_N_ELEMENTS (self->at));
      self->at[self->n++] = self->now;
    }
  }
}

/* Those of the silence since @since: 5 s after it, then after 10, 20, 40, 60, 60 s. */
static void
check_backs_off (const World *self, MccTime since)
{
  static const guint waits[] = { 5, 10, 20, 40, 60, 60, 60 };
  MccTime expected = since;

  for (guint i = 0; i < G_N_ELEMENTS (waits); i++) {
    expected += waits[i] * MCC_SECOND;
    g_assert_cmpuint (self->at[i], ==, expected);
  }
}

/* Media for a minute, then nothing, then media again. */
static void
test_silence (void)
{
  World world = begin ();
  MccTime lost;

  pass (&world, 60, TRUE);
  g_assert_cmpuint (world.n, ==, 0);
  lost = world.now;
  pass (&world, 256, FALSE);
  g_assert_cmpuint (world.n, ==, 7);
  check_backs_off (&world, lost);

  world.n = 0;
  pass (&world, 300, TRUE);
  g_assert_cmpuint (world.n, ==, 0);
  lost = world.now;
  pass (&world, 256, FALSE); /* from the beginning again */
  g_assert_cmpuint (world.n, ==, 7);
  check_backs_off (&world, lost);
}

/* One who waits for a sender from the start on is as deaf. */
static void
test_nobody_yet (void)
{
  World world = begin ();

  pass (&world, 256, FALSE);
  g_assert_cmpuint (world.n, ==, 7);
  check_backs_off (&world, START);
}

/* RTCP every 4 s of a sender whose media pause is enough. */
static void
test_rare_packets (void)
{
  World world = begin ();

  for (guint i = 0; i < 30; i++) {
    pass (&world, 4, FALSE);
    mcc_rejoin_handle_heard (&world.rejoin, world.now);
  }
  g_assert_cmpuint (world.n, ==, 0);
}

/* Without an interface it is tried every 5 s; once there is one, backed off. */
static void
test_no_interface (void)
{
  World world = begin ();

  for (guint i = 1; i <= 20; i++) {
    pass (&world, 5, FALSE);
    g_assert_cmpuint (world.n, ==, i);
    mcc_rejoin_handle_failed (&world.rejoin, world.now);
  }
  world.n = 0;
  pass (&world, 5, FALSE);
  g_assert_cmpuint (world.n, ==, 1);
  pass (&world, 9, FALSE);
  g_assert_cmpuint (world.n, ==, 1);
  pass (&world, 1, FALSE);
  g_assert_cmpuint (world.n, ==, 2);
}

/* A host that stood still has packets to read first. */
static void
test_absence (void)
{
  World world = begin ();

  pass (&world, 10, TRUE);
  world.now += 100 * MCC_SECOND;
  g_assert_false (mcc_rejoin_handle_timeout (&world.rejoin, world.now));
  pass (&world, 4, FALSE);
  g_assert_cmpuint (world.n, ==, 0);
  pass (&world, 1, FALSE);
  g_assert_cmpuint (world.n, ==, 1);
  /* one that is called a little late is none */
  world.now = mcc_rejoin_next_timeout (&world.rejoin) + MCC_TIME_ABSENCE - 1;
  g_assert_true (mcc_rejoin_handle_timeout (&world.rejoin, world.now));
}

/* Who has left for good does not come back. */
static void
test_stopped (void)
{
  World world = begin ();

  mcc_rejoin_stop (&world.rejoin);
  mcc_rejoin_handle_heard (&world.rejoin, START + 1);
  mcc_rejoin_handle_failed (&world.rejoin, START + 1);
  g_assert_cmpuint (mcc_rejoin_next_timeout (&world.rejoin), ==, MCC_TIME_NONE);
  g_assert_false (mcc_rejoin_handle_timeout (&world.rejoin, START + 1000 * MCC_SECOND));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rejoin/backs-off-while-nothing-is-heard", test_silence);
  g_test_add_func ("/rejoin/nobody-heard-yet", test_nobody_yet);
  g_test_add_func ("/rejoin/rare-packets-are-enough", test_rare_packets);
  g_test_add_func ("/rejoin/without-an-interface", test_no_interface);
  g_test_add_func ("/rejoin/absence-is-no-silence", test_absence);
  g_test_add_func ("/rejoin/left-for-good", test_stopped);
  return g_test_run ();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mcccarried.h"

#define T0 (UINT64_C (8765) * MCC_SECOND + 4321)
#define PACKET 1250
#define SLOT_S (MCC_CARRIED_SLOT / MCC_SECOND)

/* @seconds of @bps from @time on; returns the end. */
static MccTime
feed (MccCarried *carried, guint64 bps, guint seconds, MccTime time)
{
  guint64 packets = bps * seconds / (8 * PACKET);
  for (guint64 i = 0; i < packets; i++)
    mcc_carried_add (carried, PACKET, time + i * seconds * MCC_SECOND / packets);
  return time + seconds * MCC_SECOND;
}

static void
highest_whole_slot (void)
{
  MccCarried carried = { 0 };
  g_assert_cmpuint (mcc_carried_bps (&carried, 0, T0), ==, 0);
  MccTime now = feed (&carried, 1000000, SLOT_S, T0);
  g_assert_cmpuint (mcc_carried_bps (&carried, 0, now - 1), ==, 0); /* it has not ended */
  g_assert_cmpuint (mcc_carried_bps (&carried, 0, now), ==, 1000000);
  now = feed (&carried, 5000000, 1, now); /* a burst is no rate */
  now = feed (&carried, 500000, SLOT_S - 1, now);
  g_assert_cmpuint (mcc_carried_bps (&carried, 0, now), ==, 1400000);
  g_assert_cmpuint (mcc_carried_bps (&carried, T0 + 1, now), ==, 1400000);
  g_assert_cmpuint (mcc_carried_bps (&carried, now - MCC_CARRIED_SLOT + 1, now), ==, 0);
}

static void
forgets (void)
{
  for (guint goes_on = 0; goes_on < 2; goes_on++) {
    MccCarried carried = { 0 };
    MccTime end = feed (&carried, 2000000, SLOT_S, T0);
    MccTime over = T0 + (MCC_CARRIED_SLOTS + 1) * MCC_CARRIED_SLOT;
    if (goes_on)
      feed (&carried, 100000, (MCC_CARRIED_SLOTS + 2) * SLOT_S, end);
    else
      g_assert_cmpuint (mcc_carried_bps (&carried, 0, over - 1), ==, 2000000);
    g_assert_cmpuint (
        mcc_carried_bps (&carried, 0, over + MCC_CARRIED_SLOT), ==, goes_on ? 100000 : 0);
    /* After any silence. */
    MccTime later = over + 1000 * MCC_CARRIED_SLOT;
    mcc_carried_add (&carried, PACKET, later);
    g_assert_cmpuint (mcc_carried_bps (&carried, 0, later), ==, 0);
    g_assert_cmpuint (
        mcc_carried_bps (&carried, 0, later + MCC_CARRIED_SLOT), ==, 8 * PACKET / SLOT_S);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/carried/highest-whole-slot", highest_whole_slot);
  g_test_add_func ("/carried/forgets-after-two-minutes", forgets);
  return g_test_run ();
}

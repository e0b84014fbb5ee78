/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccpump: calls are due when the machine says, on the system clock, here a GstTestClock.
 */
#include <gst/check/gsttestclock.h>
#include <gst/gst.h>

#include "gstmccpump.h"

#define START (5000 * MCC_SECOND)

typedef struct {
  GMutex lock;
  GCond cond;
  guint calls;
  MccTime last;
  MccTime next; /* what the callback returns, relative to now */
} Owner;

static GstTestClock *test_clock;

static MccTime
on_timeout (gpointer data, MccTime now)
{
  Owner *owner = data;
  MccTime next;

  g_mutex_lock (&owner->lock);
  owner->calls++;
  owner->last = now;
  next = owner->next == MCC_TIME_NONE ? MCC_TIME_NONE : now + owner->next;
  g_cond_signal (&owner->cond);
  g_mutex_unlock (&owner->lock);
  return next;
}

static void
wait_calls (Owner *owner, guint calls)
{
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;

  g_mutex_lock (&owner->lock);
  while (owner->calls < calls)
    if (!g_cond_wait_until (&owner->cond, &owner->lock, end))
      break;
  g_assert_cmpuint (owner->calls, ==, calls);
  g_mutex_unlock (&owner->lock);
}

static void
setup (Owner *owner, MccTime next)
{
  memset (owner, 0, sizeof *owner);
  g_mutex_init (&owner->lock);
  g_cond_init (&owner->cond);
  owner->next = next;
  test_clock = GST_TEST_CLOCK (gst_test_clock_new_with_start_time (START));
  gst_system_clock_set_default (GST_CLOCK (test_clock));
}

static void
teardown (Owner *owner)
{
  gst_system_clock_set_default (NULL);
  g_clear_pointer (&test_clock, gst_object_unref);
  g_mutex_clear (&owner->lock);
  g_cond_clear (&owner->cond);
}

static void
advance_to_pending (MccTime expected)
{
  GstClockID id;

  gst_test_clock_wait_for_next_pending_id (test_clock, &id);
  g_assert_cmpuint (gst_clock_id_get_time (id), ==, expected);
  gst_clock_id_unref (id);
  gst_test_clock_set_time (test_clock, expected);
  id = gst_test_clock_process_next_clock_id (test_clock);
  gst_clock_id_unref (id);
}

static void
test_calls_when_due (void)
{
  Owner owner;
  GstMccPump *pump;

  setup (&owner, 100 * MCC_MSECOND);
  pump = gst_mcc_pump_new ("test", on_timeout, &owner);
  gst_mcc_pump_start (pump);
  wait_calls (&owner, 1);
  g_assert_cmpuint (owner.last, ==, START);
  advance_to_pending (START + 100 * MCC_MSECOND);
  wait_calls (&owner, 2);
  advance_to_pending (START + 200 * MCC_MSECOND);
  wait_calls (&owner, 3);
  g_assert_cmpuint (owner.last, ==, START + 200 * MCC_MSECOND);
  gst_mcc_pump_stop (pump);
  gst_mcc_pump_free (pump);
  teardown (&owner);
}

static void
test_wake_is_earlier_only (void)
{
  Owner owner;
  GstMccPump *pump;

  setup (&owner, 10 * MCC_SECOND);
  pump = gst_mcc_pump_new ("test", on_timeout, &owner);
  gst_mcc_pump_start (pump);
  wait_calls (&owner, 1);
  gst_test_clock_wait_for_next_pending_id (test_clock, NULL);
  gst_mcc_pump_wake (pump, START + 20 * MCC_SECOND); /* later than planned: nothing changes */
  gst_mcc_pump_wake (pump, START + 50 * MCC_MSECOND);
  while (gst_test_clock_get_next_entry_time (test_clock) != START + 50 * MCC_MSECOND)
    g_usleep (1000);
  advance_to_pending (START + 50 * MCC_MSECOND);
  wait_calls (&owner, 2);
  gst_mcc_pump_free (pump);
  teardown (&owner);
}

static void
test_idle_wakes_and_stops (void)
{
  Owner owner;
  GstMccPump *pump;

  setup (&owner, MCC_TIME_NONE);
  pump = gst_mcc_pump_new ("test", on_timeout, &owner);
  gst_mcc_pump_start (pump);
  wait_calls (&owner, 1);
  gst_mcc_pump_wake (pump, START); /* due already */
  wait_calls (&owner, 2);
  gst_mcc_pump_stop (pump);
  gst_mcc_pump_wake (pump, START); /* stopped: harmless */
  gst_mcc_pump_start (pump);
  wait_calls (&owner, 3);
  gst_mcc_pump_free (pump);
  teardown (&owner);
}

static void
test_now_never_runs_back (void)
{
  Owner owner;
  GstMccPump *pump;
  GstClockTime before;

  setup (&owner, MCC_TIME_NONE);
  pump = gst_mcc_pump_new ("test", on_timeout, &owner);
  gst_test_clock_advance_time (test_clock, GST_SECOND);
  before = gst_mcc_pump_now (pump);
  g_assert_cmpuint (before, ==, START + MCC_SECOND);
  /* a clock that is calibrated backwards */
  gst_clock_set_calibration (GST_CLOCK (test_clock), 0, 0, 1, 2);
  g_assert_cmpuint (gst_mcc_pump_now (pump), >=, before);
  gst_mcc_pump_free (pump);
  teardown (&owner);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pump/calls-when-due", test_calls_when_due);
  g_test_add_func ("/pump/wake-is-earlier-only", test_wake_is_earlier_only);
  g_test_add_func ("/pump/idle-wakes-and-stops", test_idle_wakes_and_stops);
  g_test_add_func ("/pump/now-never-runs-back", test_now_never_runs_back);
  return g_test_run ();
}

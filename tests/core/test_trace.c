/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mcctrace.h"

static MccTrace trace;

static void
add (uint64_t a)
{
  MccTraceEvent event = { .type = MCC_TRACE_RATE, .time = 7 * MCC_SECOND, .a = a };

  mcc_trace_add (&trace, &event);
}

static void
test_in_order (void)
{
  MccTraceEvent event = { .a = 99 };

  memset (&trace, 0, sizeof trace);
  g_assert_false (mcc_trace_poll (&trace, &event));
  g_assert_cmpuint (event.a, ==, 99);
  for (uint64_t i = 0; i < MCC_TRACE_RING; i++)
    add (i);
  for (uint64_t i = 0; i < MCC_TRACE_RING; i++) {
    g_assert_true (mcc_trace_poll (&trace, &event));
    g_assert_cmpuint (event.a, ==, i);
    g_assert_cmpuint (event.time, ==, 7 * MCC_SECOND);
  }
  g_assert_false (mcc_trace_poll (&trace, &event));
  g_assert_cmpuint (trace.overwritten, ==, 0);
}

static void
test_keeps_newest (void)
{
  MccTraceEvent event;

  memset (&trace, 0, sizeof trace);
  for (uint64_t i = 0; i < MCC_TRACE_RING + 5; i++)
    add (i);
  g_assert_cmpuint (trace.overwritten, ==, 5);
  for (uint64_t i = 5; i < MCC_TRACE_RING + 5; i++) {
    g_assert_true (mcc_trace_poll (&trace, &event));
    g_assert_cmpuint (event.a, ==, i);
  }
  g_assert_false (mcc_trace_poll (&trace, &event));
}

static void
test_names (void)
{
  for (int a = MCC_TRACE_RATE; a <= MCC_TRACE_SOURCE; a++) {
    g_assert_cmpstr (mcc_trace_name (a), !=, "unknown");
    for (int b = MCC_TRACE_RATE; b < a; b++)
      g_assert_cmpstr (mcc_trace_name (a), !=, mcc_trace_name (b));
  }
  g_assert_cmpstr (mcc_trace_name (MCC_TRACE_SOURCE + 1), ==, "unknown");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trace/in-order", test_in_order);
  g_test_add_func ("/trace/keeps-newest", test_keeps_newest);
  g_test_add_func ("/trace/names-differ", test_names);
  return g_test_run ();
}

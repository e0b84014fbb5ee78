/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lastref.h"

#include "ownport.h"

void
last_unref (GstElement *element)
{
  for (guint i = 0; i < 500 && g_atomic_int_get (&G_OBJECT (element)->ref_count) > 1; i++)
    g_usleep (10000);
  g_assert_cmpint (g_atomic_int_get (&G_OBJECT (element)->ref_count), ==, 1);
  gst_object_unref (element);
}

void
last_unref_running (const gchar *factory, void (*gone) (GstState state))
{
  static const GstState states[] = { GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING };

  if (!g_test_subprocess ()) {
    g_setenv ("ASAN_OPTIONS", "detect_leaks=0", TRUE); /* GStreamer leaves the pads of such a one */
    g_test_trap_subprocess (NULL, 30 * G_USEC_PER_SEC, 0);
    g_test_trap_assert_passed ();
    g_test_trap_assert_stderr_unmatched ("*assertion*failed*");
    return;
  }
  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  for (guint i = 0; i < G_N_ELEMENTS (states); i++) {
    GstElement *element = gst_element_factory_make (factory, NULL);

    gst_object_ref_sink (element);
    g_object_set (element, "multicast-iface", "lo", "port", own_port (2), NULL);
    g_assert_cmpint (gst_element_set_state (element, states[i]), !=, GST_STATE_CHANGE_FAILURE);
    gst_object_unref (element);
    if (gone)
      gone (states[i]);
  }
}

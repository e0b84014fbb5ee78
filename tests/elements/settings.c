/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "settings.h"
#include "lastref.h"

#include <string.h>

static void
stop (GstElement *element)
{
  gst_element_set_state (element, GST_STATE_NULL);
  last_unref (element);
}

void
settings_refused (const gchar *launch, const gchar *part, const gchar *mend)
{
  GstElement *element = gst_parse_launch (launch, NULL);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (element, bus);
  g_assert_cmpint (
      gst_element_set_state (element, GST_STATE_PLAYING), ==, GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_message_parse_error (message, &error, NULL);
  g_test_message ("%s: %s", launch, error->message);
  g_assert_true (g_str_has_prefix (error->message, part));
  g_assert_nonnull (strstr (error->message, mend));
  g_error_free (error);
  gst_message_unref (message);
  gst_bus_set_flushing (bus, TRUE);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  stop (element);
}

void
settings_accepted (const gchar *launch, GstState state)
{
  GstElement *element = gst_parse_launch (launch, NULL);

  g_test_message ("%s", launch);
  g_assert_cmpint (gst_element_set_state (element, state), !=, GST_STATE_CHANGE_FAILURE);
  g_usleep (20000);
  stop (element);
}

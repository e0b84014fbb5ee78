/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lastref.h"

void
last_unref (GstElement *element)
{
  for (guint i = 0; i < 500 && g_atomic_int_get (&G_OBJECT (element)->ref_count) > 1; i++)
    g_usleep (10000);
  g_assert_cmpint (g_atomic_int_get (&G_OBJECT (element)->ref_count), ==, 1);
  gst_object_unref (element);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * lastref: nobody else holds what a test lets go.
 */
#pragma once

#include <gst/gst.h>

/* Asserts that the caller's reference is the last one, and drops it. What an element does by
 * gst_element_call_async() (the release of a pad, an encoder's settings, a session description)
 * holds it until that thread has let go: that may take 5 s. */
void last_unref (GstElement *element);

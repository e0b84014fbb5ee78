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

/* A test of elements that lose their last reference in READY, PAUSED and PLAYING: GStreamer
 * complains of who lets go too early; nothing else comes of it. @gone, NULL: none, is called after
 * each. In a process of its own. */
void last_unref_running (const gchar *factory, void (*gone) (GstState state));

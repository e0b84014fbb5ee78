/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccentry: a request pad of a sender, and the clocksync behind it, that go in any state.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Removes @pad, a ghost of the sink pad of @clocksync (NULL: of nothing), from @element. Waits for
 * nobody: a thread that streams into it may wait for PLAYING. @clocksync stays where it is, in NULL
 * whatever its bin does; who is behind it gets EOS. */
void gst_mcc_entry_release (GstElement *element, GstPad *pad, GstElement *clocksync);
/* READY->PAUSED: who is behind a @clocksync that was released before gets EOS. */
void gst_mcc_entry_end (GstElement *clocksync);

G_END_DECLS

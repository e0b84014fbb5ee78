/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * settings: what elements say to their properties' values.
 */
#pragma once

#include <gst/gst.h>

/* What gst-launch makes of @launch does not play, and the error begins with the property @part and
 * tells the @mend. */
void settings_refused (const gchar *launch, const gchar *part, const gchar *mend);
/* It reaches @state, as far as sockets go, and leaks nothing. */
void settings_accepted (const gchar *launch, GstState state);

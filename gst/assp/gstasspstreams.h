/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstasspstreams: the property `streams`, and where the streams are.
 */
#pragma once

#include <gst/gst.h>

#include "gstmccsenderproperties.h"
#include "gstmccsession.h"
#include "mccasspapp.h"

G_BEGIN_DECLS

/* "low:high,low:high,...", lowest first, bit/s. FALSE + *error, which names the property, the
 * stream and the mend. Offsets are set, SSRCs are not. */
gboolean gst_assp_streams_parse (const gchar *text, MccAsspStreams *out, GError **error);
/* @n streams from @low_bps to @high_bps in equal ratios. */
void gst_assp_streams_make (guint n, guint64 low_bps, guint64 high_bps, MccAsspStreams *out);
MccPlace gst_assp_streams_place (const MccAsspStreams *streams, guint stream);

G_END_DECLS

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsdp: what a stream is, told to others: as a session description for plain players (RFC
 * 8866, 4570, 3605) and in the announcement that our receivers get.
 */
#pragma once

#include <gst/gst.h>

#include "gstmccsession.h"
#include "mccapp.h"

G_BEGIN_DECLS

/* The caps fields of the announcement (media, encoding_name, payload_type, clock_rate, parameters,
 * send_time_id) from RTP caps; the rest of *session stays. FALSE, and payload_type 255: the caps
 * have no payload type, clock rate or encoding name. A parameter that does not fit is left out. */
gboolean gst_mcc_caps_to_session (GstCaps *caps, MccAppSession *session);
/* The RTP caps that these fields describe; NULL = none yet. Law: to (from (x)) = x. */
GstCaps *gst_mcc_caps_from_session (const MccAppSession *session);

/* The SDP text of one stream with @caps, sent with @settings; @max_bps 0 = unsaid. NULL + *error:
 * the caps say too little. */
gchar *gst_mcc_sdp_to_text (const GstMccSessionSettings *settings, GstCaps *caps, guint64 max_bps,
    const gchar *name, GError **error);

G_END_DECLS

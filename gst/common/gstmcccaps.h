/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmcccaps: RTP caps that a user gives to a receiver, and what may stand in those of strangers.
 * (Caps of the announcement: gstmccsdp.h.)
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* From the properties `caps` and `encoding-name`, either may be NULL. FALSE + *error, which names
 * the property, when they do not do. *out NULL: nothing given. */
gboolean gst_mcc_caps_from_user (
    GstCaps *caps, const gchar *encoding_name, GstCaps **out, GError **error);
/* Whether a stranger may name this field: of SDP attributes only what depayloaders read. */
gboolean gst_mcc_caps_is_harmless (const gchar *name);
/* Without what differs between streams of one content and comes in band; then the caps of all of
 * them are equal. Takes @caps. */
GstCaps *gst_mcc_caps_of_any_stream (GstCaps *caps);
/* The id that @caps give to the extension of mcclayerorder.h; 0: none. */
guint8 gst_mcc_caps_layer_order_id (GstCaps *caps);
/* Without it. Takes @caps. */
GstCaps *gst_mcc_caps_without_layer_order (GstCaps *caps);
/* Without the abs-send-time extension. Takes @caps. */
GstCaps *gst_mcc_caps_without_send_time (GstCaps *caps);

G_END_DECLS

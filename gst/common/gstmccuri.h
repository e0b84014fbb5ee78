/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccuri: scheme://[source@]host:port?property=value&... of the elements' GstURIHandler.
 *
 * A URI may come from a web page or a play list, so it sets only what the element's own class
 * installs as plain values (numbers, booleans, enums, strings, caps that start no clock), never a
 * file to write (sdp-location), an object, or what GstBin brings. All or nothing: a URI with an
 * error changes nothing. Law: set (get (x)) = x for the network properties; and after set (a), set
 * (b) address, port, source and the query's properties are what set (b) alone makes them, but for
 * values that the application has given instead of a's.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Sets address, port, source-address and the query's properties of @element, which is in NULL. */
gboolean gst_mcc_uri_set (
    GstElement *element, const gchar *scheme, const gchar *uri, GError **error);
/* Whether a property is being set back to what it is unset, because a URI set it and another one
 * does not. */
gboolean gst_mcc_uri_takes_back (GstElement *element);
/* The element's URI: address, port, source-address, and the network properties that are not at
 * their defaults. NULL when it has no address. */
gchar *gst_mcc_uri_get (GstElement *element, const gchar *scheme);
/* In a G_DEFINE_TYPE_WITH_CODE: elements of @type handle URIs of @scheme (static) by the two above.
 */
void gst_mcc_uri_implement (GType type, GstURIType kind, const gchar *scheme);

G_END_DECLS

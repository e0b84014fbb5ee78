/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstmccreceiver.c, gstmccreceiverkeyunit.c and gstmccreceiverproperties.c share.
 */
#pragma once

#include "gstmccreceiver.h"

G_BEGIN_DECLS

void gst_mcc_receiver_install_properties (GObjectClass *object);

/* The session's handler, of what concerns key units. */
void gst_mcc_receiver_handle_key_unit_request (gpointer owner, guint stream, guint32 ssrc);
void gst_mcc_receiver_handle_lost (gpointer owner, guint packets);
GstBuffer *gst_mcc_receiver_handle_leaving (gpointer owner, GstBuffer *buffer, GstBuffer **before);

G_END_DECLS

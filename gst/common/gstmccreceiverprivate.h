/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstmccreceiver.c and gstmccreceiverproperties.c share.
 */
#pragma once

#include "gstmccreceiver.h"

G_BEGIN_DECLS

void gst_mcc_receiver_install_properties (GObjectClass *object);

G_END_DECLS

/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccreader: a thread that reads datagrams from up to two sockets. RTCP comes in this way and
 * not by a udpsrc, so that a sender holds no live source and no element that waits for EOS.
 */
#pragma once

#include <gio/gio.h>

#include "mcctypes.h"

G_BEGIN_DECLS

typedef struct _GstMccReader GstMccReader;

/* From the reader's thread. */
typedef void (*GstMccReaderFunc) (
    gpointer owner, const guint8 *data, gsize size, const MccAddress *from);

/* Reads at once; @second may be NULL. The sockets must be non-blocking. */
GstMccReader *gst_mcc_reader_new (
    GSocket *first, GSocket *second, GstMccReaderFunc func, gpointer owner);
/* Waits until the callback has returned. */
void gst_mcc_reader_free (GstMccReader *self);

G_END_DECLS

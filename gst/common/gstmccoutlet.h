/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccoutlet: one continuous src pad behind rtpbin's pads, which come and go with the senders.
 *
 * Downstream sees one stream: stream-start, caps, segment, buffers; new caps only when they changed
 * (the SSRC is not in them); never EOS but from _eos(). A newer stream takes over with its first
 * packet; what an older one still delivers is dropped.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstMccOutlet GstMccOutlet;

typedef struct {
  /* A decoder downstream asks for a key unit. */
  void (*key_unit_wanted) (gpointer owner);
  /* The jitterbuffer has given up @packets packets. */
  void (*lost) (gpointer owner, guint packets);
  /* The first packet of the stream @ssrc went out; the older ones are not needed any more. */
  void (*took_over) (gpointer owner, guint32 ssrc);
  /* Every packet that leaves: transfer full, as what leaves in its place, and *before (NULL when
   * called) before that. */
  GstBuffer *(*leaving) (gpointer owner, GstBuffer *buffer, GstBuffer **before);
} GstMccOutletFuncs;

GstMccOutlet *gst_mcc_outlet_new (
    const GstMccOutletFuncs *funcs, gpointer owner, const gchar *stream_id, GstClockTime latency);
void gst_mcc_outlet_free (GstMccOutlet *self);
/* No transfer. */
GstPad *gst_mcc_outlet_get_src (GstMccOutlet *self);
/* Before _start(): buffers go by @ghost, a ghost pad of that src pad, without the hop between. */
void gst_mcc_outlet_set_exit (GstMccOutlet *self, GstPad *ghost);
void gst_mcc_outlet_start (GstMccOutlet *self);
void gst_mcc_outlet_stop (GstMccOutlet *self);
/* Links a pad of rtpbin; it is unlinked by _remove(). */
void gst_mcc_outlet_add (GstMccOutlet *self, GstPad *pad, guint32 ssrc);
void gst_mcc_outlet_remove (GstMccOutlet *self, GstPad *pad);
void gst_mcc_outlet_eos (GstMccOutlet *self);
/* What is downstream lets go of what it has; nothing leaves until _flush_stop(), after which a
 * segment goes before the first buffer, and an EOS is forgotten. */
void gst_mcc_outlet_flush_start (GstMccOutlet *self);
void gst_mcc_outlet_flush_stop (GstMccOutlet *self, gboolean reset_time);

G_END_DECLS

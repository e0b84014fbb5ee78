/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsource: an internal element that reads a receiver's RTP and hands it to rtpbin. It takes
 * the place of udpsrc, whose objects and signals cost more per packet than all that we do.
 *
 * Live: reads only in PLAYING, stamps packets with the running time at which they were read. Asks
 * `accept` for each datagram before it makes a buffer of it, then holds packets until the caps are
 * known (rtpbin drops RTP without caps in silence, the first key unit with it): at most
 * GST_MCC_SOURCE_HOLD long and GST_MCC_SOURCE_PACKETS packets; the oldest give way and are
 * counted. Packets of a sender that may come to be followed wait apart, as long and as many: once
 * it is (gst_mcc_source_reset()), they go first, and the key unit that it began with is not lost. A
 * socket that fails (interface down) is one warning, then it is tried again. A flush (FLUSH_START
 * and FLUSH_STOP sent to the element) stops reading and throws away what is held.
 *
 * Sockets come and go while it runs; each is an input. With `merge` the owner makes one stream of
 * them: it gets each buffer and gives back what goes to rtpbin by gst_mcc_source_push().
 */
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "gstmccarrival.h"
#include "mccstall.h"
#include "mcctypes.h"

G_BEGIN_DECLS

#define GST_MCC_SOURCE_HOLD MCC_SECOND
#define GST_MCC_SOURCE_PACKETS 512

#define GST_TYPE_MCC_SOURCE (gst_mcc_source_get_type ())
G_DECLARE_FINAL_TYPE (GstMccSource, gst_mcc_source, GST, MCC_SOURCE, GstElement)

typedef enum {
  GST_MCC_SOURCE_DROP,
  GST_MCC_SOURCE_PASS,
  GST_MCC_SOURCE_WAIT /* its sender may come to be followed */
} GstMccSourceVerdict;

/* A socket that is read, and what goes with it until it is not. */
typedef struct {
  gatomicrefcount references;
  GSocket *socket;
  guint stream;
  GstMccArrival arrival; /* of the datagram that `accept` is asked about; the source's thread's */
  gint unread;           /* nobody has read it for a while, by intent; atomic */
  /* The owner's, of the source's thread alone. */
  MccTime drops_checked;
  guint32 drops;
  MccStall stall;
} GstMccInput;

GstMccInput *gst_mcc_input_new (GSocket *socket, guint stream);
void gst_mcc_input_unref (GstMccInput *self);

/* Without a lock of it: accept, eos, merge and due from the source's thread, the
 * others from who flushes. */
typedef struct {
  /* May be NULL. What came becomes what was meant, in place; FALSE: it is dropped. */
  gboolean (*decrypt) (gpointer owner, guint8 *data, gsize *size);
  /* @now is gst_mcc_session_clock()'s. */
  GstMccSourceVerdict (*accept) (gpointer owner, GstMccInput *input, const guint8 *data, gsize size,
      const MccAddress *from, MccTime now);
  /* The application ends the stream. */
  void (*eos) (gpointer owner);
  /* Before the flush of rtpbin starts, after it has stopped; may be NULL. */
  void (*flush_start) (gpointer owner);
  void (*flush_stop) (gpointer owner, gboolean reset_time);
  /* May be NULL. Takes @buffer, which was accepted (GST_MCC_SOURCE_WAIT is a drop then). */
  void (*merge) (gpointer owner, guint stream, GstBuffer *buffer, MccTime now);
  /* With merge: before each wait; returns when it wants to be called without a packet. */
  MccTime (*due) (gpointer owner, MccTime now);
} GstMccSourceFuncs;

/* A new element, floating, with @socket as the input of stream 0 (NULL: none yet). The socket stays
 * open. */
GstElement *gst_mcc_source_new (GSocket *socket, const GstMccSourceFuncs *funcs, gpointer owner);
/* Reads @input too, instead of the one of its stream, if there is one. Any thread. */
void gst_mcc_source_add (GstMccSource *self, GstMccInput *input);
/* @socket is not read any more: another one may be the input of its stream by now. Any thread. */
void gst_mcc_source_remove (GstMccSource *self, GSocket *socket);
/* Nobody has read the inputs, by intent: what was lost so is told of none. Any thread. */
void gst_mcc_source_set_unread (GstMccSource *self);
/* `due` is to be called soon. Any thread. */
void gst_mcc_source_wake (GstMccSource *self);
/* From merge and due: @buffer (transfer full) goes to rtpbin. @late: it came before now; it leaves
 * with the time of now, or rtpbin would take the clocks for drifting. */
void gst_mcc_source_push (GstMccSource *self, GstBuffer *buffer, gboolean late);
/* Links the src pad to rtpbin's @sink, a ghost pad; buffers go straight to what it ghosts. */
gboolean gst_mcc_source_link (GstMccSource *self, GstPad *sink);
/* No callback comes any more when this returns. */
void gst_mcc_source_stop (GstMccSource *self);
/* Caps of what comes; any thread. */
void gst_mcc_source_set_caps (GstMccSource *self, GstCaps *caps);
/* Another stream begins whose caps are not known yet: holds again. The old caps are taken when no
 * others come in GST_MCC_SOURCE_HOLD. */
void gst_mcc_source_reset (GstMccSource *self);
/* Packets dropped for want of caps. */
guint64 gst_mcc_source_get_dropped (GstMccSource *self);

G_END_DECLS

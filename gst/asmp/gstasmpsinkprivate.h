/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstasmpsink.c (properties, states) and gstasmpsinkcontrol.c (the core's host) share.
 */
#pragma once

#include "gstasmpsink.h"
#include "mccasmpsender.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_asmp_sink_debug);

struct _GstAsmpSink {
  GstMccSender parent;
  GstPad *sink; /* the ghost pad */
  GstElement *clocksync;
  GstMccSendStream *stream;
  guint64 target_bps; /* guarded by the sender's lock */
};

/* gstasmpsinkcontrol.c */
extern const GstMccSenderMachine gst_asmp_sink_machine;
extern const GstMccSessionHandler gst_asmp_sink_session_handler;
extern const GstMccSendStreamHandler gst_asmp_sink_stream_handler;

gboolean gst_asmp_sink_poll_locked (GstMccSender *sender, GstMccSenderTodo *out);
void gst_asmp_sink_act (GstMccSender *sender, GstMccSenderTodo *todo);
MccTime gst_asmp_sink_tick (GstMccSender *sender, MccTime now);
guint64 gst_asmp_sink_get_target (GstMccSender *sender);
GstStructure *gst_asmp_sink_get_stats (GstMccSender *sender, guint max_receivers);
/* Takes the encoder settings over; FALSE: an error was posted. */
gboolean gst_asmp_sink_update_encoder (GstAsmpSink *self);

G_END_DECLS

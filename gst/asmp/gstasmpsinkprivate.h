/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstasmpsink.c (properties, states) and gstasmpsinkcontrol.c (the core's host) share.
 */
#pragma once

#include "gstasmpsink.h"
#include "gstmccproperties.h"
#include "gstmccpump.h"
#include "gstmccsendstream.h"
#include "gstmccsession.h"
#include "gstmccstats.h"
#include "mccasmpsender.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_asmp_sink_debug);

/* Warnings that were posted. */
#define WARNED_FEEDBACK (1u << 0)
#define WARNED_CAPS (1u << 1)

struct _GstAsmpSink {
  GstBin parent;
  GstPad *sink; /* the ghost pad */
  GstElement *clocksync;

  GstMccProperties network;
  GstMccSession *session;
  GstMccPump *pump;
  GstMccSendStream *stream;
  GstMccMessages *messages;

  GstMccSenderSettings settings; /* guarded by the object lock */

  /* Guards what follows: the core and what it told last. A leaf: nothing is called with it held
   * but the core and the pump's clock. */
  GMutex lock;
  MccAsmpSender *core; /* NULL below PAUSED */
  guint64 target_bps;
  gboolean ect;   /* as the socket has it */
  gboolean ended; /* BYE was said: announce no more */
  gboolean mute;  /* the caps cannot be announced */
  guint warned;
  MccTime next_stats;
};

/* gstasmpsinkcontrol.c */
extern const GstMccSessionHandler gst_asmp_sink_session_handler;
extern const GstMccSendStreamHandler gst_asmp_sink_stream_handler;

MccTime gst_asmp_sink_pump (gpointer owner, MccTime now);
/* Polls what the core wants done and does it. Without a lock. */
void gst_asmp_sink_drain (GstAsmpSink *self);
void gst_asmp_sink_request_key_unit (GstAsmpSink *self);
GstStructure *gst_asmp_sink_get_stats (GstAsmpSink *self, guint max_receivers);
/* Takes the encoder settings over; FALSE: an error was posted. */
gboolean gst_asmp_sink_update_encoder (GstAsmpSink *self);

G_END_DECLS

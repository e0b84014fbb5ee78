/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstasmpsink.c (properties, states) and gstasmpsinkcontrol.c (the core's host) share.
 */
#pragma once

#include "gstasmpsink.h"
#include "gstmccencoder.h"
#include "gstmccpacer.h"
#include "gstmccproperties.h"
#include "gstmccpump.h"
#include "gstmccsession.h"
#include "gstmccstats.h"
#include "mccasmpsender.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_asmp_sink_debug);

/* The sender's properties of interface.md. */
typedef struct {
  guint64 min_bps, max_bps, start_bps;
  gboolean start_set; /* by the user: not clamped */
  gboolean sync;
  gdouble pacing_factor;
  guint pacing_max_delay_ms;
  MccNoFeedback no_feedback;
  guint max_receivers;
  gchar *sdp_location;
  GstElement *encoder;
  gchar *encoder_name, *encoder_property;
  GstMccEncoderControl encoder_control;
  GstMccEncoderUnit encoder_unit;
  gboolean configure_encoder;
} GstAsmpSinkSettings;

/* Warnings that were posted. */
#define WARNED_FEEDBACK (1u << 0)
#define WARNED_ABOVE (1u << 1)
#define WARNED_SDP (1u << 2)
#define WARNED_CAPS (1u << 3)

struct _GstAsmpSink {
  GstBin parent;
  GstPad *sink; /* the ghost pad */
  GstElement *clocksync;
  GstMccPacer *pacer;

  GstMccProperties network;
  GstMccSession *session;
  GstMccPump *pump;
  GstMccEncoder *encoder;
  GstMccMessages *messages;

  GstAsmpSinkSettings settings; /* guarded by the object lock */

  /* Guards what follows: the core and what it told last. A leaf: nothing is called with it held
   * but the core and the pump's clock. */
  GMutex lock;
  MccAsmpSender *core; /* NULL below PAUSED */
  guint64 target_bps;
  gboolean ended; /* BYE was said: announce no more */
  gboolean mute;  /* the caps cannot be announced */
  guint warned;
  MccTime above_since; /* unsteered input is above the target; MCC_TIME_NONE = it is not */
  MccTime next_stats;
  MccTime next_ask; /* of the encoder, when the target stays */
};

/* gstasmpsinkcontrol.c */
extern const GstMccSessionHandler gst_asmp_sink_session_handler;
extern const GstMccPacerHandler gst_asmp_sink_pacer_handler;

MccTime gst_asmp_sink_pump (gpointer owner, MccTime now);
/* Polls what the core wants done and does it. Without a lock. */
void gst_asmp_sink_drain (GstAsmpSink *self);
void gst_asmp_sink_request_key_unit (GstAsmpSink *self);
GstStructure *gst_asmp_sink_get_stats (GstAsmpSink *self, guint max_receivers);
/* The encoder and the payloader upstream; @expected: caps are here, so both should be. */
void gst_asmp_sink_look_upstream (GstAsmpSink *self, gboolean expected);
/* Takes the encoder settings over; FALSE: an error was posted. */
gboolean gst_asmp_sink_update_encoder (GstAsmpSink *self);

G_END_DECLS

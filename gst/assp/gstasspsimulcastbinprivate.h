/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstasspsimulcastbin.c (pads, states), gstasspsimulcastbinproperties.c and
 * gstasspsimulcastbincontrol.c (the core's host) share.
 */
#pragma once

#include "gstasspbranch.h"
#include "gstasspsimulcastbin.h"
#include "gstasspstreams.h"
#include "gstmccproperties.h"
#include "gstmccpump.h"
#include "gstmccsenderproperties.h"
#include "gstmccsendstream.h"
#include "gstmccsession.h"
#include "gstmccstats.h"
#include "mccasspsender.h"
#include "mccidle.h"

G_BEGIN_DECLS

#define GST_ASSP_SCHEME "assp"

GST_DEBUG_CATEGORY_EXTERN (gst_assp_simulcast_bin_debug);

/* Warnings that were posted. */
#define WARNED_FEEDBACK (1u << 0)
#define WARNED_CAPS (1u << 1)

/* Our own properties; guarded by the object lock. */
typedef struct {
  gchar *streams; /* NULL: max_streams between min-bitrate and max-bitrate */
  guint max_streams;
  gchar *encoder_description;
  guint idle_timeout_ms; /* 0: encoders never idle */
} GstAsspSettings;

typedef struct {
  /* Made NULL->READY, unmade READY->NULL. */
  GstMccSendStream *send;
  GstAsspBranch *branch; /* NULL: request pads */
  GstElement *clocksync; /* of a request pad */
  /* Guarded by the element's lock. */
  MccIdle idle;
  guint64 target_bps, rtcp_bps;
  gboolean ended; /* BYE was said: announce no more */
  gboolean mute;  /* the caps cannot be announced */
  gboolean failed;
} GstAsspStream;

struct _GstAsspSimulcastBin {
  GstBin parent;
  GstPad *sink;                         /* the always pad; without target in NULL */
  GstPad *request[GST_MCC_STREAMS_MAX]; /* no ref; guarded by the object lock */
  gulong linked[GST_MCC_STREAMS_MAX];

  GstMccProperties network;
  GstMccSenderSettings sender;
  GstAsspSettings settings;
  GstMccSession *session;
  GstMccPump *pump;
  GstMccMessages *messages;

  /* Made NULL->READY, unmade READY->NULL. */
  GstElement *clocksync, *tee; /* of the always pad */
  MccAsspStreams bounds;       /* as begun with: a live ladder moves those of the core */
  gboolean live;               /* ... which it has */
  GstAsspStream stream[GST_MCC_STREAMS_MAX];
  guint n_built, n_streams; /* in the making; that others may use */
  GRecMutex figures; /* guards n_streams against who reads figures or sets properties meanwhile,
                        also from what such a thread posts; outside `lock` */

  /* Guards what follows, and a part of the streams. A leaf: nothing is called with it held but the
   * core and the pump's clock. */
  GMutex lock;
  MccAsspSender *core; /* NULL below PAUSED */
  gboolean stopped;    /* no-feedback=stop */
  gboolean ect;        /* as the socket has it */
  MccTime idle_after;  /* of streams but the lowest */
  guint warned;
  MccTime next_stats;
};

/* gstasspsimulcastbinproperties.c */
void gst_assp_simulcast_bin_install_properties (GObjectClass *klass);
/* What the new value of property @id changes at once, where there is something to change. */
void gst_assp_simulcast_bin_apply (GstAsspSimulcastBin *self, guint id);
void gst_assp_simulcast_bin_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec);
void gst_assp_simulcast_bin_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec);
void gst_assp_simulcast_bin_init_settings (GstAsspSimulcastBin *self);
void gst_assp_simulcast_bin_clear_settings (GstAsspSimulcastBin *self);
/* The streams that the settings ask for, for @pads request pads (0: the always pad). FALSE: an
 * error was posted. */
gboolean gst_assp_simulcast_bin_get_bounds (
    GstAsspSimulcastBin *self, guint pads, MccAsspStreams *out);
/* Takes the encoder settings over; FALSE: an error was posted. */
gboolean gst_assp_simulcast_bin_update_encoders (GstAsspSimulcastBin *self);

/* gstasspsimulcastbincontrol.c */
extern const GstMccSessionHandler gst_assp_simulcast_bin_session_handler;
extern const GstMccSendStreamHandler gst_assp_simulcast_bin_stream_handler;

MccTime gst_assp_simulcast_bin_pump (gpointer owner, MccTime now);
/* Polls what the core wants done and does it. Without a lock. */
void gst_assp_simulcast_bin_drain (GstAsspSimulcastBin *self);
/* For all streams. */
void gst_assp_simulcast_bin_request_key_units (GstAsspSimulcastBin *self);
GstStructure *gst_assp_simulcast_bin_get_stats (GstAsspSimulcastBin *self, guint max_receivers);
/* Of the streams that run. */
guint64 gst_assp_simulcast_bin_get_target (GstAsspSimulcastBin *self);
/* The stream's encoder has failed: it is not sent any more. FALSE: it was the last one. */
gboolean gst_assp_simulcast_bin_stream_failed (GstAsspSimulcastBin *self, guint stream);

G_END_DECLS

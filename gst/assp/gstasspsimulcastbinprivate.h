/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstasspsimulcastbin.c (pads, states), gstasspsimulcastbinproperties.c and
 * gstasspsimulcastbincontrol.c (the core's host) share.
 */
#pragma once

#include "gstasspbranch.h"
#include "gstasspsimulcastbin.h"
#include "gstasspstreams.h"
#include "gstmccentry.h"
#include "mccasspsender.h"
#include "mccidle.h"

G_BEGIN_DECLS

#define GST_ASSP_SCHEME "assp"

GST_DEBUG_CATEGORY_EXTERN (gst_assp_simulcast_bin_debug);

/* Our own properties; guarded by the object lock. */
typedef struct {
  gchar *streams;    /* NULL: max_streams between min-bitrate and max-bitrate */
  guint max_streams; /* 0: the bounds of streams stay; where they are NULL, three */
  gchar *encoder_description;
  guint idle_timeout_ms; /* 0: encoders never idle */
} GstAsspSettings;

typedef struct {
  /* Made NULL->READY, unmade READY->NULL. */
  GstMccSendStream *send;
  GstAsspBranch *branch; /* NULL: request pads */
  /* Guarded by the sender's lock. */
  MccIdle idle;
  gboolean gate_running, gate_open; /* as act() was told last */
  guint64 target_bps, rtcp_bps;
  gboolean failed;
} GstAsspStream;

struct _GstAsspSimulcastBin {
  GstMccSender parent;
  GstMccEntries entries;

  GstAsspSettings settings;

  /* Made NULL->READY, unmade READY->NULL. */
  GstElement *tee;       /* of the always pad */
  MccAsspStreams bounds; /* as begun with: a live ladder moves those of the core */
  gboolean live;         /* ... which it has */
  GstAsspStream stream[GST_MCC_STREAMS_MAX];
  guint n_built, n_streams; /* in the making; that others may use */
  GRecMutex figures; /* guards n_streams against who reads figures or sets properties meanwhile,
                        also from what such a thread posts; outside the sender's lock */

  /* Guarded by the sender's lock. */
  MccTime idle_after; /* of streams but the lowest */
};

/* gstasspsimulcastbinproperties.c */
/* From class_init: the element's own, and the sender's. */
void gst_assp_simulcast_bin_install_properties (GstMccSenderClass *klass);
void gst_assp_simulcast_bin_apply (GstMccSender *sender, guint id);
void gst_assp_simulcast_bin_init_settings (GstAsspSimulcastBin *self);
void gst_assp_simulcast_bin_clear_settings (GstAsspSimulcastBin *self);
/* The streams that the settings ask for, for @pads request pads (0: the always pad). FALSE: an
 * error was posted. */
gboolean gst_assp_simulcast_bin_get_bounds (
    GstAsspSimulcastBin *self, guint pads, MccAsspStreams *out);
/* READY->PAUSED: what may have changed since. FALSE: an error was posted. */
gboolean gst_assp_simulcast_bin_check_settings (GstAsspSimulcastBin *self);
/* Takes the encoder settings over; FALSE: an error was posted. */
gboolean gst_assp_simulcast_bin_update_encoders (GstAsspSimulcastBin *self);

/* gstasspsimulcastbincontrol.c */
extern const GstMccSenderMachine gst_assp_simulcast_bin_machine;
extern const GstMccSessionHandler gst_assp_simulcast_bin_session_handler;
extern const GstMccSendStreamHandler gst_assp_simulcast_bin_stream_handler;

gboolean gst_assp_simulcast_bin_poll_locked (GstMccSender *sender, GstMccSenderTodo *out);
void gst_assp_simulcast_bin_act (GstMccSender *sender, GstMccSenderTodo *todo);
MccTime gst_assp_simulcast_bin_tick (GstMccSender *sender, MccTime now);
void gst_assp_simulcast_bin_request_key_units (GstMccSender *sender);
GstStructure *gst_assp_simulcast_bin_get_stats (GstMccSender *sender, guint max_receivers);
/* Of the streams that run. */
guint64 gst_assp_simulcast_bin_get_target (GstMccSender *sender);
/* The stream's encoder has failed: it is not sent any more. FALSE: it was the last one. */
gboolean gst_assp_simulcast_bin_stream_failed (GstAsspSimulcastBin *self, guint stream);

G_END_DECLS

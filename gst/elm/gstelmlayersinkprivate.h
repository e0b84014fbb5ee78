/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstelmlayersink.c (pads, properties, states) and gstelmlayersinkcontrol.c (the core's host)
 * share.
 */
#pragma once

#include "gstelmfan.h"
#include "gstelmlayersink.h"
#include "gstelmsplit.h"
#include "gstmccentry.h"
#include "mccelmsender.h"

G_BEGIN_DECLS

#define GST_ELM_LAYERS_MAX MCC_LAYER_ORDER_LAYERS_MAX

GST_DEBUG_CATEGORY_EXTERN (gst_elm_layer_sink_debug);

/* Warnings that were posted. */
#define WARNED_MALFORMED (1u << (GST_MCC_SENDER_WARNED_LAST + 1))
#define WARNED_ONE_LAYER (1u << (GST_MCC_SENDER_WARNED_LAST + 2))

/*  sink ----- clocksync -.
 *  or                     split -> pacer -> fan -> rtpbin, a session a layer -> udpsink
 *  layer_%u - clocksync -'
 */
struct _GstElmLayerSink {
  GstMccSender parent; /* its core is made when the layers have been counted */
  GstMccEntries entries;

  guint layers; /* the property; guarded by the object lock */

  /* Made NULL->READY, unmade READY->NULL, which who sets properties meanwhile keeps waiting by
   * `built`; outside the sender's lock. */
  GRecMutex built;
  gboolean ready; /* all of it is made: what is set now is for _apply() */
  GstMccSendStream *send;
  GstElement *split, *fan;
  guint n_built; /* layers that there is room for */

  /* Guarded by the sender's lock, within which the split's figures may be asked for. */
  guint64 target_bps; /* of all layers, as announced */
  guint64 whole_bps;  /* ... as they should be; 0 = as they are */
  guint64 home_bps,
      left_bps; /* the encoder's, as it was set and as we left it: kept for a restart */
  guint64 rtcp_bps;
  MccTime next_look;
  guint64 units[GST_ELM_LAYERS_MAX]; /* at the last look */
  MccTime looked;
  gboolean stopped;     /* as act() was told last */
  gconstpointer driven; /* the encoder that the core was told of; only compared */
  GstMccEncoderStatus driven_status;
};

/* gstelmlayersinkcontrol.c */
extern const GstMccSenderMachine gst_elm_layer_sink_machine;
extern const GstMccSessionHandler gst_elm_layer_sink_session_handler;
extern const GstMccSendStreamHandler gst_elm_layer_sink_stream_handler;
extern const GstElmSplitHandler gst_elm_layer_sink_split_handler;

gboolean gst_elm_layer_sink_poll_locked (GstMccSender *sender, GstMccSenderTodo *out);
void gst_elm_layer_sink_act (GstMccSender *sender, GstMccSenderTodo *todo);
MccTime gst_elm_layer_sink_tick (GstMccSender *sender, MccTime now);
guint64 gst_elm_layer_sink_get_target (GstMccSender *sender);
GstStructure *gst_elm_layer_sink_get_stats (GstMccSender *sender, guint max_receivers);
MccPlace gst_elm_layer_sink_place (guint layer);
/* Looks for the encoder; the core is told of another one. @expected: one that is named is there by
 * now, or a warning says that it is not. */
void gst_elm_layer_sink_find_encoder (GstElmLayerSink *self, gboolean expected);

G_END_DECLS

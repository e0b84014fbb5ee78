/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstelmlayersink.c (pads, properties, states) and gstelmlayersinkcontrol.c (the core's host)
 * share.
 */
#pragma once

#include "gstelmfan.h"
#include "gstelmlayersink.h"
#include "gstelmsplit.h"
#include "gstmccproperties.h"
#include "gstmccpump.h"
#include "gstmccsendstream.h"
#include "gstmccsession.h"
#include "gstmccstats.h"
#include "mccelmsender.h"

G_BEGIN_DECLS

#define GST_ELM_LAYERS_MAX MCC_LAYER_ORDER_LAYERS_MAX

GST_DEBUG_CATEGORY_EXTERN (gst_elm_layer_sink_debug);

/* Warnings that were posted. */
#define WARNED_FEEDBACK (1u << 0)
#define WARNED_CAPS (1u << 1)
#define WARNED_MALFORMED (1u << 2)
#define WARNED_ONE_LAYER (1u << 3)

/*  sink ----- clocksync -.
 *  or                     split -> pacer -> fan -> rtpbin, a session a layer -> udpsink
 *  layer_%u - clocksync -'
 */
struct _GstElmLayerSink {
  GstBin parent;
  GstPad *sink;                        /* the always pad; without target in NULL */
  GstPad *request[GST_ELM_LAYERS_MAX]; /* no ref; guarded by the object lock */

  GstMccProperties network;
  GstMccSenderSettings settings; /* guarded by the object lock */
  guint layers;                  /* the property; guarded by the object lock */
  GstMccSession *session;
  GstMccPump *pump;
  GstMccMessages *messages;

  /* Made NULL->READY, unmade READY->NULL, which who sets properties meanwhile keeps waiting by
   * `built`; outside `lock`. */
  GRecMutex built;
  gboolean ready; /* all of it is made: what is set now is for apply() */
  GstMccSendStream *send;
  GstElement *split, *fan, *clocksync[GST_ELM_LAYERS_MAX];
  guint n_built;    /* layers that there is room for */
  gboolean of_pads; /* a layer a request pad */

  /* Guards what follows. A leaf: nothing is called with it held but the core, the pump's clock and
   * the split's figures. */
  GMutex lock;
  gboolean running;   /* PAUSED or PLAYING */
  MccElmSender *core; /* NULL until the layers are counted */
  MccAppSession caps; /* as announced */
  gboolean has_caps, mute, ended;
  guint64 target_bps; /* of all layers, as announced */
  guint64 whole_bps;  /* ... as they should be; 0 = as they are */
  guint64 home_bps,
      left_bps; /* the encoder's, as it was set and as we left it: kept for a restart */
  guint64 rtcp_bps;
  guint warned;
  MccTime next_stats, next_look;
  guint64 units[GST_ELM_LAYERS_MAX]; /* at the last look */
  MccTime looked;
};

/* gstelmlayersinkcontrol.c */
extern const GstMccSessionHandler gst_elm_layer_sink_session_handler;
extern const GstMccSendStreamHandler gst_elm_layer_sink_stream_handler;
extern const GstElmSplitHandler gst_elm_layer_sink_split_handler;

MccTime gst_elm_layer_sink_pump (gpointer owner, MccTime now);
void gst_elm_layer_sink_on_sent (
    gpointer owner, guint layer, guint packets, guint64 bytes, guint32 highest_seq);
/* Polls what the core wants done and does it. Without a lock. */
void gst_elm_layer_sink_drain (GstElmLayerSink *self);
void gst_elm_layer_sink_request_key_unit (GstElmLayerSink *self);
GstStructure *gst_elm_layer_sink_get_stats (GstElmLayerSink *self, guint max_receivers);
MccPlace gst_elm_layer_sink_place (guint layer);

G_END_DECLS

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-elmlayersink
 * @title: elmlayersink
 *
 * Sends the layers of a scalable stream, each to a multicast group of its own; receivers
 * (elmlayersrc) subscribe as many of them as their path can carry.
 *
 * |[
 * gst-launch-1.0 videotestsrc is-live=true ! video/x-raw,format=I420 ! x264enc bframes=3
 *     b-pyramid=true b-adapt=false rc-lookahead=0 sync-lookahead=0 mb-tree=false threads=1
 *     vbv-buf-capacity=400 option-string=scenecut=0 ! video/x-h264,profile=main
 *     ! rtph264pay config-interval=-1 ! elmlayersink address=239.255.12.60 port=5020
 * ]|
 */
#include <stdio.h>

#include "gstelmlayersinkprivate.h"
#include "gstmccentry.h"
#include "gstmccuri.h"

GST_DEBUG_CATEGORY (gst_elm_layer_sink_debug);
#define GST_CAT_DEFAULT gst_elm_layer_sink_debug

#define SCHEME "elm"
#define DEFAULT_LAYERS 3

enum { PROP_LAYERS = GST_MCC_SENDER_PROPERTY_LAST + 1 };
enum { SIGNAL_ENCODER_BITRATE_CHANGED, SIGNAL_FORCE_KEY_UNIT, N_SIGNALS };
static guint signals[N_SIGNALS];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate request_template = GST_STATIC_PAD_TEMPLATE (
    "layer_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));

G_DEFINE_FINAL_TYPE_WITH_CODE (GstElmLayerSink, gst_elm_layer_sink, GST_TYPE_BIN,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SINK, SCHEME))
GST_ELEMENT_REGISTER_DEFINE (elmlayersink, "elmlayersink", GST_RANK_NONE, GST_TYPE_ELM_LAYER_SINK)

/* ---- pads ---- */

static guint
count_request_pads (GstElmLayerSink *self)
{
  guint n = 0;

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_ELM_LAYERS_MAX; i++)
    n += self->request[i] != NULL;
  GST_OBJECT_UNLOCK (self);
  return n;
}

/* Whoever releases it meanwhile does not free it. Transfer: full, or NULL. */
static GstPad *
ref_request_pad (GstElmLayerSink *self, guint i)
{
  GstPad *pad;

  GST_OBJECT_LOCK (self);
  pad = self->request[i] ? gst_object_ref (self->request[i]) : NULL;
  GST_OBJECT_UNLOCK (self);
  return pad;
}

static void
pad_missing (GstElmLayerSink *self, guint i)
{
  GST_ELEMENT_ERROR (self, CORE, PAD,
      ("layer_%u is missing: number the pads from layer_0, the base layer, on.", i), (NULL));
}

static GstPadLinkReturn
on_link (GstPad *pad, GstObject *parent, GstPad *peer)
{
  if (count_request_pads (GST_ELM_LAYER_SINK (parent)) == 0)
    return GST_PAD_LINK_OK;
  GST_ELEMENT_ERROR (parent, CORE, PAD,
      ("sink and layer_%%u exclude each other: link one scalable stream to sink, or one stream a "
       "layer to layer_0, layer_1, ..."),
      (NULL));
  return GST_PAD_LINK_REFUSED;
}

static void
on_linked (GstPad *pad, GstPad *peer, gpointer data)
{
  GstElmLayerSink *self = data;

  g_rec_mutex_lock (&self->built);
  if (self->ready)
    gst_mcc_send_stream_look_upstream (self->send, FALSE);
  g_rec_mutex_unlock (&self->built);
}

/* Takes the place of layer @wanted, or the first free one; -1: none. */
static gint
take_number (GstElmLayerSink *self, GstPad *pad, gint wanted)
{
  gint number = -1;

  GST_OBJECT_LOCK (self);
  for (gint i = 0; i < GST_ELM_LAYERS_MAX && number < 0; i++)
    if ((wanted < 0 || wanted == i) && !self->request[i])
      number = i;
  if (number >= 0)
    self->request[number] = pad;
  GST_OBJECT_UNLOCK (self);
  return number;
}

static GstPad *
gst_elm_layer_sink_request_new_pad (
    GstElement *element, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (element);
  gint wanted = -1, number;
  gchar *pad_name;
  GstPad *pad;

  if (gst_pad_is_linked (self->sink)) {
    GST_ELEMENT_ERROR (self, CORE, PAD,
        ("sink and layer_%%u exclude each other: sink is linked; unlink it, or link nothing to "
         "layer_%%u."),
        (NULL));
    return NULL;
  }
  if (GST_STATE (self) > GST_STATE_NULL || GST_STATE_NEXT (self) > GST_STATE_NULL) {
    GST_ELEMENT_ERROR (self, CORE, PAD,
        ("layer_%%u: the layers are fixed while it runs; request them in NULL."), (NULL));
    return NULL;
  }
  if (name && (sscanf (name, "layer_%d", &wanted) != 1 || wanted < 0))
    return NULL;
  pad = gst_ghost_pad_new_no_target_from_template (NULL, template);
  number = take_number (self, pad, wanted);
  if (number < 0) {
    gst_object_unref (gst_object_ref_sink (pad));
    return NULL;
  }
  pad_name = g_strdup_printf ("layer_%d", number);
  gst_object_set_name (GST_OBJECT (pad), pad_name);
  g_free (pad_name);
  gst_element_add_pad (element, pad);
  return pad;
}

static void
gst_elm_layer_sink_release_pad (GstElement *element, GstPad *pad)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (element);
  GstElement *clocksync = NULL;

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_ELM_LAYERS_MAX; i++)
    if (self->request[i] == pad) {
      self->request[i] = NULL;
      clocksync = self->clocksync[i] ? gst_object_ref (self->clocksync[i]) : NULL;
    }
  GST_OBJECT_UNLOCK (self);
  gst_mcc_entry_release (element, pad, clocksync); /* the others go on, and end without it */
  gst_clear_object (&clocksync);
}

/* ---- building: NULL->READY ---- */

static void
on_encoder_changed (gpointer owner, GstElement *encoder, guint64 bitrate)
{
  g_signal_emit (owner, signals[SIGNAL_ENCODER_BITRATE_CHANGED], 0, encoder, bitrate);
}

/* clocksync in front of the split's pad of @layer (-1: all). */
static gboolean
build_entry (GstElmLayerSink *self, guint i, gint layer, GstPad *ghost, gboolean sync)
{
  GstPad *sink, *src;
  gboolean good;

  self->clocksync[i] = gst_element_factory_make ("clocksync", NULL);
  if (!self->clocksync[i]) {
    gst_mcc_messages_missing (GST_ELEMENT (self), "clocksync");
    GST_ELEMENT_ERROR (self, CORE, MISSING_PLUGIN,
        ("The element clocksync is missing; install GStreamer's core plugins (Debian: "
         "libgstreamer1.0-0)."),
        (NULL));
    return FALSE;
  }
  g_object_set (self->clocksync[i], "sync", sync, NULL);
  gst_bin_add (GST_BIN (self), self->clocksync[i]);
  src = gst_element_get_static_pad (self->clocksync[i], "src");
  good = gst_pad_link (src, gst_elm_split_add_pad (GST_ELM_SPLIT (self->split), layer))
         == GST_PAD_LINK_OK;
  gst_object_unref (src);
  sink = gst_element_get_static_pad (self->clocksync[i], "sink");
  gst_ghost_pad_set_target (GST_GHOST_PAD (ghost), sink);
  if (i == 0)
    gst_mcc_send_stream_set_entry (self->send, sink);
  gst_object_unref (sink);
  return good;
}

static gboolean
build_pad (GstElmLayerSink *self, guint i, gboolean request, gboolean sync)
{
  GstPad *ghost = request ? ref_request_pad (self, i) : gst_object_ref (self->sink);
  gboolean good;

  if (!ghost) { /* released meanwhile */
    pad_missing (self, i);
    return FALSE;
  }
  good = build_entry (self, i, request ? (gint)i : -1, ghost, sync);
  gst_object_unref (ghost);
  return good;
}

/* From the pacer to the sessions. */
static gboolean
link_layers (GstElmLayerSink *self)
{
  guint overhead = gst_mcc_session_get_overhead (self->session);
  GstElement *pacer = gst_mcc_send_stream_get_pacer (self->send);

  gst_mcc_pacer_set_overhead (GST_MCC_PACER (pacer), overhead);
  gst_elm_fan_set_overhead (GST_ELM_FAN (self->fan), overhead);
  for (guint i = 0; i < self->n_built; i++) {
    GstPad *sink = gst_mcc_session_get_rtp_pad (self->session, i);
    GstPad *src = gst_elm_fan_add_pad (
        GST_ELM_FAN (self->fan), gst_elm_split_get_ssrc (GST_ELM_SPLIT (self->split), i));
    gboolean good = gst_pad_link (src, sink) == GST_PAD_LINK_OK;

    gst_object_unref (sink);
    if (!good)
      return FALSE;
  }
  return gst_element_link_many (self->split, pacer, self->fan, NULL);
}

static gboolean
open_session (GstElmLayerSink *self, const GstMccSenderSettings *settings, guint n)
{
  MccPlace places[GST_ELM_LAYERS_MAX];
  GstMccSessionSettings network;
  GError *error = NULL;
  gboolean ok;

  for (guint i = 0; i < n; i++)
    places[i] = gst_elm_layer_sink_place (i);
  gst_mcc_properties_get_settings (&self->network, &network);
  if (network.session_bandwidth == 0)
    network.session_bandwidth = settings->max_bps;
  ok = gst_mcc_session_open_streams (self->session, &network, places, n, &error);
  gst_mcc_properties_settings_clear (&network);
  if (!ok) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
        g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
  }
  return ok;
}

/* The pads' numbers leave no gap. */
static gboolean
check_pads (GstElmLayerSink *self, guint pads)
{
  for (guint i = 0; i < pads; i++)
    if (!self->request[i]) {
      pad_missing (self, i);
      return FALSE;
    }
  return TRUE;
}

/* Who makes layers knows what they need: of the encoder only its rate is set, where all layers come
 * from one, and its payloader. */
static gboolean
update_encoder (GstElmLayerSink *self)
{
  GstMccEncoderSettings encoder;
  gboolean ok;

  gst_mcc_sender_settings_get_encoder (&self->settings, GST_ELEMENT (self), &encoder);
  if (self->of_pads)
    encoder.control = GST_MCC_ENCODER_CONTROL_NONE;
  ok = gst_mcc_send_stream_set_encoder (self->send, &encoder);
  encoder.configure = FALSE;
  ok = ok && gst_mcc_encoder_set_settings (gst_mcc_send_stream_get_encoder (self->send), &encoder);
  gst_mcc_sender_settings_encoder_clear (&encoder);
  return ok;
}

/* What the new value of @id changes at once. */
static void
apply (GstElmLayerSink *self, guint id)
{
  GstMccSenderSettings settings;

  g_rec_mutex_lock (&self->built);
  settings = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));
  if (self->ready && id == GST_MCC_SENDER_PROPERTY_SYNC)
    for (guint i = 0; i < GST_ELM_LAYERS_MAX; i++)
      if (self->clocksync[i])
        g_object_set (self->clocksync[i], "sync", settings.sync, NULL);
  if (self->ready
      && (id == GST_MCC_SENDER_PROPERTY_PACING_FACTOR
          || id == GST_MCC_SENDER_PROPERTY_PACING_MAX_DELAY))
    gst_mcc_send_stream_configure (self->send, &settings);
  g_rec_mutex_unlock (&self->built);
}

static gboolean
build (GstElmLayerSink *self)
{
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));
  guint pads = count_request_pads (self), n;

  GST_OBJECT_LOCK (self);
  n = pads ? pads : self->layers;
  GST_OBJECT_UNLOCK (self);
  if (!gst_mcc_sender_settings_check (&settings, GST_ELEMENT (self)) || !check_pads (self, pads)
      || !open_session (self, &settings, n))
    return FALSE;
  self->n_built = n;
  self->of_pads = pads > 0;
  self->send = gst_mcc_send_stream_new (
      GST_BIN (self), 0, &gst_elm_layer_sink_stream_handler, on_encoder_changed);
  gst_mcc_send_stream_configure (self->send, &settings);
  self->split = gst_elm_split_new (&gst_elm_layer_sink_split_handler, self, n);
  self->fan = gst_elm_fan_new (gst_elm_layer_sink_on_sent, self);
  gst_bin_add_many (GST_BIN (self), self->split, self->fan, NULL);
  if (!link_layers (self))
    return FALSE;
  for (guint i = 0; i < MAX (pads, 1); i++)
    if (!build_pad (self, i, pads > 0, settings.sync))
      return FALSE;
  if (!update_encoder (self))
    return FALSE;
  g_rec_mutex_lock (&self->built);
  self->ready = TRUE;
  g_rec_mutex_unlock (&self->built);
  /* what was set meanwhile */
  apply (self, GST_MCC_SENDER_PROPERTY_SYNC);
  apply (self, GST_MCC_SENDER_PROPERTY_PACING_FACTOR);
  gst_mcc_send_stream_look_upstream (self->send, FALSE);
  return TRUE;
}

static void
remove_child (GstElmLayerSink *self, GstElement **child)
{
  GstElement *element;

  GST_OBJECT_LOCK (self);
  element = g_steal_pointer (child);
  GST_OBJECT_UNLOCK (self);
  if (!element)
    return;
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (self), element);
}

/* READY->NULL */
static void
unbuild (GstElmLayerSink *self)
{
  GstMccSendStream *send;

  g_rec_mutex_lock (&self->built);
  self->ready = FALSE;
  send = g_steal_pointer (&self->send);
  gst_ghost_pad_set_target (GST_GHOST_PAD (self->sink), NULL);
  for (guint i = 0; i < GST_ELM_LAYERS_MAX; i++) {
    GstPad *pad = ref_request_pad (self, i);

    if (pad)
      gst_ghost_pad_set_target (GST_GHOST_PAD (pad), NULL);
    gst_clear_object (&pad);
    remove_child (self, &self->clocksync[i]);
  }
  g_rec_mutex_unlock (&self->built);
  if (send)
    gst_mcc_send_stream_unlink (send);
  remove_child (self, &self->fan);
  remove_child (self, &self->split);
  if (send)
    gst_mcc_send_stream_remove (send);
  gst_mcc_session_close (self->session);
  gst_mcc_send_stream_free (send);
  self->n_built = 0;
}

/* ---- states ---- */

/* READY->PAUSED, before the data flows. What may have changed since NULL->READY is looked at again:
 * settings; a base layer that was released, without which nothing can be sent. */
static gboolean
start (GstElmLayerSink *self)
{
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));

  if (!gst_mcc_sender_settings_check (&settings, GST_ELEMENT (self))
      || !check_pads (self, self->of_pads ? 1 : 0))
    return FALSE;
  gst_mcc_send_stream_start (self->send, settings.max_bps);
  g_mutex_lock (&self->lock);
  self->running = TRUE;
  self->has_caps = self->mute = self->ended = FALSE;
  self->warned = 0;
  self->looked = 0; /* units are counted anew */
  self->target_bps = self->whole_bps = self->rtcp_bps = 0;
  self->next_stats = self->next_look = MCC_TIME_NONE;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* Pads that were released in READY: their layers end as the data begins. */
static void
end_released (GstElmLayerSink *self)
{
  for (guint i = 0; self->of_pads && i < self->n_built; i++)
    if (!self->request[i] && self->clocksync[i])
      gst_mcc_entry_end (self->clocksync[i]);
}

static void
stop (GstElmLayerSink *self)
{
  g_mutex_lock (&self->lock);
  self->running = FALSE;
  g_clear_pointer (&self->core, mcc_elm_sender_free);
  g_mutex_unlock (&self->lock);
  gst_mcc_messages_clear (self->messages);
}

static GstStateChangeReturn
gst_elm_layer_sink_change_state (GstElement *element, GstStateChange transition)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (element);
  GstStateChangeReturn ret;

  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (!build (self)) {
        unbuild (self);
        return GST_STATE_CHANGE_FAILURE;
      }
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (!start (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      gst_mcc_pump_stop (self->pump);
      gst_mcc_session_stop (self->session); /* says BYE */
      break;
    default:
      break;
  }
  ret = GST_ELEMENT_CLASS (gst_elm_layer_sink_parent_class)->change_state (element, transition);
  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (ret == GST_STATE_CHANGE_FAILURE)
        unbuild (self);
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (ret == GST_STATE_CHANGE_FAILURE) {
        stop (self);
        break;
      }
      if (!gst_mcc_session_start (self->session))
        GST_ELEMENT_WARNING (self, RESOURCE, READ, ("RTCP cannot be received."), (NULL));
      gst_mcc_pump_start (self->pump);
      end_released (self);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      stop (self);
      break;
    case GST_STATE_CHANGE_READY_TO_NULL:
      unbuild (self);
      break;
    default:
      break;
  }
  return ret;
}

static void
gst_elm_layer_sink_handle_message (GstBin *bin, GstMessage *message)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (bin);

  if (self->session && gst_mcc_session_handle_message (self->session, message))
    return;
  GST_BIN_CLASS (gst_elm_layer_sink_parent_class)->handle_message (bin, message);
}

/* ---- properties ---- */

static void
gst_elm_layer_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (object);

  if (gst_mcc_properties_set (&self->network, object, id, value))
    return;
  if (gst_mcc_sender_settings_set (&self->settings, GST_ELEMENT (self), id, value)) {
    apply (self, id);
  } else if (id == PROP_LAYERS) {
    GST_OBJECT_LOCK (self);
    self->layers = g_value_get_uint (value);
    GST_OBJECT_UNLOCK (self);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
gst_elm_layer_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (object);

  if (gst_mcc_properties_get (&self->network, object, id, value))
    return;
  switch (id) {
    case GST_MCC_SENDER_PROPERTY_TARGET_BITRATE:
      g_mutex_lock (&self->lock);
      g_value_set_uint64 (value, self->whole_bps > 0 ? self->whole_bps : self->target_bps);
      g_mutex_unlock (&self->lock);
      break;
    case GST_MCC_SENDER_PROPERTY_STATS:
      g_value_take_boxed (value, gst_elm_layer_sink_get_stats (self, G_MAXUINT));
      break;
    case PROP_LAYERS:
      GST_OBJECT_LOCK (self);
      g_value_set_uint (value, self->layers);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      if (!gst_mcc_sender_settings_get (&self->settings, GST_ELEMENT (self), id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

/* ---- life ---- */

static void
gst_elm_layer_sink_dispose (GObject *object)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (object);

  /* While the children are still here. */
  g_clear_pointer (&self->pump, gst_mcc_pump_free);
  g_clear_pointer (&self->session, gst_mcc_session_free);
  G_OBJECT_CLASS (gst_elm_layer_sink_parent_class)->dispose (object);
}

static void
gst_elm_layer_sink_finalize (GObject *object)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (object);

  gst_mcc_messages_free (self->messages);
  gst_mcc_properties_clear (&self->network);
  gst_mcc_sender_settings_clear (&self->settings);
  g_rec_mutex_clear (&self->built);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_elm_layer_sink_parent_class)->finalize (object);
}

static void
gst_elm_layer_sink_class_init (GstElmLayerSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_elm_layer_sink_debug, "elmlayersink", 0, "adaptive layer sender");
  object_class->set_property = gst_elm_layer_sink_set_property;
  object_class->get_property = gst_elm_layer_sink_get_property;
  object_class->dispose = gst_elm_layer_sink_dispose;
  object_class->finalize = gst_elm_layer_sink_finalize;
  element_class->change_state = gst_elm_layer_sink_change_state;
  element_class->request_new_pad = gst_elm_layer_sink_request_new_pad;
  element_class->release_pad = gst_elm_layer_sink_release_pad;
  GST_BIN_CLASS (klass)->handle_message = gst_elm_layer_sink_handle_message;

  gst_mcc_properties_install (object_class, SCHEME);
  gst_mcc_sender_properties_install (object_class, TRUE);
  g_object_class_install_property (object_class, PROP_LAYERS,
      g_param_spec_uint ("layers", "Most layers",
          "Layers that the stream at sink is split into at most; the highest takes the rest. Their "
          "groups are address + 0, 1, ...",
          1, GST_ELM_LAYERS_MAX, DEFAULT_LAYERS, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
  /* Worker thread, no lock: (encoder, bit/s) */
  signals[SIGNAL_ENCODER_BITRATE_CHANGED]
      = g_signal_new ("encoder-bitrate-changed", GST_TYPE_ELM_LAYER_SINK, G_SIGNAL_RUN_LAST, 0,
          NULL, NULL, NULL, G_TYPE_NONE, 2, GST_TYPE_ELEMENT, G_TYPE_UINT64);
  signals[SIGNAL_FORCE_KEY_UNIT] = g_signal_new_class_handler ("force-key-unit",
      GST_TYPE_ELM_LAYER_SINK, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_elm_layer_sink_request_key_unit), NULL, NULL, NULL, G_TYPE_NONE, 0);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &request_template);
  gst_element_class_set_static_metadata (element_class, "Adaptive layer sender (ELM)",
      "Sink/Network/RTP",
      "Sends the layers of a scalable stream to a multicast group each; receivers subscribe as "
      "many as their path can carry, fair to TCP",
      "adaptivemulticast");
}

static void
gst_elm_layer_sink_init (GstElmLayerSink *self)
{
  GstPadTemplate *template = gst_static_pad_template_get (&sink_template);

  /* RTCP has no part in EOS, preroll or liveness; we are a sink before there is a udpsink. */
  gst_bin_set_suppressed_flags (GST_BIN (self), GST_ELEMENT_FLAG_SOURCE | GST_ELEMENT_FLAG_SINK);
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SINK);
  g_mutex_init (&self->lock);
  g_rec_mutex_init (&self->built);
  gst_mcc_properties_init (&self->network, SCHEME);
  gst_mcc_sender_settings_init (&self->settings);
  self->layers = DEFAULT_LAYERS;
  self->pump = gst_mcc_pump_new ("elmlayersink", gst_elm_layer_sink_pump, self);
  self->session
      = gst_mcc_session_new_sender (GST_BIN (self), &gst_elm_layer_sink_session_handler, self);
  self->messages = gst_mcc_messages_new (GST_ELEMENT (self));
  self->sink = gst_ghost_pad_new_no_target_from_template ("sink", template);
  gst_object_unref (template);
  gst_pad_set_link_function (self->sink, on_link);
  g_signal_connect (self->sink, "linked", G_CALLBACK (on_linked), self);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);
}

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
#include "gstelmlayersinkprivate.h"
#include "gstmccuri.h"

GST_DEBUG_CATEGORY (gst_elm_layer_sink_debug);
#define GST_CAT_DEFAULT gst_elm_layer_sink_debug

#define SCHEME "elm"
#define DEFAULT_LAYERS 3

enum { PROP_LAYERS = GST_MCC_SENDER_PROPERTY_LAST + 1 };

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate request_template = GST_STATIC_PAD_TEMPLATE (
    "layer_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));

G_DEFINE_FINAL_TYPE_WITH_CODE (GstElmLayerSink, gst_elm_layer_sink, GST_TYPE_MCC_SENDER,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SINK, SCHEME))
GST_ELEMENT_REGISTER_DEFINE (elmlayersink, "elmlayersink", GST_RANK_NONE, GST_TYPE_ELM_LAYER_SINK)

/* ---- pads ---- */

static const GstMccEntryWords words = { .name = "layer",
  .things = "layers",
  .lowest = "the base layer",
  .to_sink = "one scalable stream",
  .to_names = "one stream a layer" };

static void
on_linked (GstPad *pad, GstPad *peer, gpointer data)
{
  GstElmLayerSink *self = data;

  g_rec_mutex_lock (&self->built);
  if (self->ready)
    gst_mcc_send_stream_look_upstream (self->send, FALSE);
  g_rec_mutex_unlock (&self->built);
}

static GstPad *
gst_elm_layer_sink_request_new_pad (
    GstElement *element, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  return gst_mcc_entries_request (&GST_ELM_LAYER_SINK (element)->entries, template, name);
}

static void
gst_elm_layer_sink_release_pad (GstElement *element, GstPad *pad)
{
  gst_mcc_entries_release (&GST_ELM_LAYER_SINK (element)->entries, pad);
}

/* ---- building: NULL->READY ---- */

/* clocksync in front of the split's pad of layer @i, or of all. */
static gboolean
build_pad (GstElmLayerSink *self, guint i, gboolean request, gboolean sync)
{
  GstPad *sink, *src;
  gboolean good;

  if (!gst_mcc_entries_build (&self->entries, i, request, sync))
    return FALSE;
  src = gst_element_get_static_pad (self->entries.clocksync[i], "src");
  good = gst_pad_link (
             src, gst_elm_split_add_pad (GST_ELM_SPLIT (self->split), request ? (gint)i : -1))
         == GST_PAD_LINK_OK;
  gst_object_unref (src);
  sink = gst_element_get_static_pad (self->entries.clocksync[i], "sink");
  if (i == 0)
    gst_mcc_send_stream_set_entry (self->send, sink);
  gst_object_unref (sink);
  return good;
}

/* From the pacer to the sessions. */
static gboolean
link_layers (GstElmLayerSink *self)
{
  GstMccSession *session = GST_MCC_SENDER (self)->session;
  guint overhead = gst_mcc_session_get_overhead (session);
  GstElement *pacer = gst_mcc_send_stream_get_pacer (self->send);

  gst_mcc_pacer_set_overhead (GST_MCC_PACER (pacer), overhead);
  gst_elm_fan_set_overhead (GST_ELM_FAN (self->fan), overhead);
  for (guint i = 0; i < self->n_built; i++) {
    GstPad *sink = gst_mcc_session_get_rtp_pad (session, i);
    GstPad *src = gst_elm_fan_add_pad (GST_ELM_FAN (self->fan));
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

  for (guint i = 0; i < n; i++)
    places[i] = gst_elm_layer_sink_place (i);
  return gst_mcc_sender_open_session (GST_MCC_SENDER (self), places, n, settings->max_bps);
}

/* Who makes layers knows what they need: of the encoder only its rate is set, where all layers come
 * from one, and its payloader. */
static gboolean
update_encoder (GstElmLayerSink *self)
{
  GstMccEncoderSettings encoder;
  gboolean ok;

  gst_mcc_sender_settings_get_encoder (
      &GST_MCC_SENDER (self)->settings, GST_ELEMENT (self), &encoder);
  if (self->entries.of_pads)
    encoder.control = GST_MCC_ENCODER_CONTROL_NONE;
  ok = gst_mcc_send_stream_set_encoder (self->send, &encoder);
  encoder.configure = FALSE;
  ok = ok && gst_mcc_encoder_set_settings (gst_mcc_send_stream_get_encoder (self->send), &encoder);
  gst_mcc_sender_settings_encoder_clear (&encoder);
  return ok;
}

/* What the new value of @id changes at once, where all is made. */
static void
apply_made (GstElmLayerSink *self, guint id, const GstMccSenderSettings *settings)
{
  switch (id) {
    case GST_MCC_SENDER_PROPERTY_SYNC:
      gst_mcc_entries_set_sync (&self->entries, settings->sync);
      break;
    case GST_MCC_SENDER_PROPERTY_PACING_FACTOR:
    case GST_MCC_SENDER_PROPERTY_PACING_MAX_DELAY:
      gst_mcc_send_stream_configure (self->send, settings);
      break;
    case GST_MCC_SENDER_PROPERTY_ENCODER:
    case GST_MCC_SENDER_PROPERTY_ENCODER_NAME:
    case GST_MCC_SENDER_PROPERTY_ENCODER_CONTROL:
      /* one that is found begins with its own rate, not with another's */
      gst_mcc_encoder_set_bitrate (gst_mcc_send_stream_get_encoder (self->send), 0);
      if (update_encoder (self))
        gst_elm_layer_sink_find_encoder (self, GST_STATE (self) > GST_STATE_READY);
      break;
    default:
      break;
  }
}

static void
gst_elm_layer_sink_apply (GstMccSender *sender, guint id)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  GstMccSenderSettings settings;

  g_rec_mutex_lock (&self->built);
  settings = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (self));
  if (self->ready)
    apply_made (self, id, &settings);
  g_rec_mutex_unlock (&self->built);
}

/* min-bitrate has no effect: its default forbids no low max-bitrate. */
static GstMccSenderSettings
get_settings (GstMccSender *sender)
{
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (sender));

  if (!settings.min_set)
    settings.min_bps = MIN (settings.min_bps, settings.max_bps);
  return settings;
}

static gboolean
gst_elm_layer_sink_prepare (GstMccSender *sender)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  GstMccSenderSettings settings = get_settings (sender);
  guint pads = gst_mcc_entries_count (&self->entries), n;

  GST_OBJECT_LOCK (self);
  n = pads ? pads : self->layers;
  GST_OBJECT_UNLOCK (self);
  if (!gst_mcc_sender_settings_check (&settings, GST_ELEMENT (self))
      || !gst_mcc_entries_check (&self->entries, pads) || !open_session (self, &settings, n))
    return FALSE;
  self->n_built = n;
  self->send = gst_mcc_send_stream_new (
      GST_BIN (self), 0, &gst_elm_layer_sink_stream_handler, gst_mcc_sender_encoder_changed);
  gst_mcc_send_stream_configure (self->send, &settings);
  self->split = gst_elm_split_new (&gst_elm_layer_sink_split_handler, self, n,
      gst_mcc_properties_get_ssrc_seed (&sender->network));
  self->fan = gst_elm_fan_new (GST_ELM_SPLIT (self->split), gst_mcc_sender_handle_sent, self);
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
  gst_elm_layer_sink_apply (sender, GST_MCC_SENDER_PROPERTY_SYNC);
  gst_elm_layer_sink_apply (sender, GST_MCC_SENDER_PROPERTY_PACING_FACTOR);
  gst_mcc_send_stream_look_upstream (self->send, FALSE);
  for (guint i = 1; i < pads; i++) {
    GstPad *sink = gst_element_get_static_pad (self->entries.clocksync[i], "sink");

    gst_mcc_send_stream_configure_entry (self->send, sink);
    gst_object_unref (sink);
  }
  return TRUE;
}

/* READY->NULL */
static void
gst_elm_layer_sink_release (GstMccSender *sender)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  GstMccSendStream *send;

  g_rec_mutex_lock (&self->built);
  self->ready = FALSE;
  send = g_steal_pointer (&self->send);
  gst_ghost_pad_set_target (GST_GHOST_PAD (self->entries.sink), NULL);
  for (guint i = 0; i < GST_ELM_LAYERS_MAX; i++)
    gst_mcc_entries_clear (&self->entries, i);
  g_rec_mutex_unlock (&self->built);
  if (send)
    gst_mcc_send_stream_unlink (send);
  gst_mcc_sender_unmake (sender, &self->fan);
  gst_mcc_sender_unmake (sender, &self->split);
  if (send)
    gst_mcc_send_stream_remove (send);
  gst_mcc_session_close (sender->session);
  gst_mcc_send_stream_free (send);
  self->n_built = 0;
}

/* ---- states ---- */

/* READY->PAUSED, before the data flows. What may have changed since NULL->READY is looked at again:
 * settings; a base layer that was released, without which nothing can be sent. */
static gboolean
gst_elm_layer_sink_start (GstMccSender *sender)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (sender);
  GstMccSenderSettings settings = get_settings (sender);

  if (!gst_mcc_sender_settings_check (&settings, GST_ELEMENT (self))
      || !gst_mcc_entries_check (&self->entries, self->entries.of_pads ? 1 : 0))
    return FALSE;
  gst_mcc_send_stream_start (self->send, settings.max_bps);
  g_mutex_lock (&sender->lock);
  self->looked = 0; /* units are counted anew */
  self->target_bps = self->whole_bps = self->rtcp_bps = 0;
  self->next_look = MCC_TIME_NONE;
  self->stopped = FALSE;
  g_mutex_unlock (&sender->lock);
  return TRUE;
}

/* Pads that were released in READY: their layers end as the data begins. */
static void
gst_elm_layer_sink_started (GstMccSender *sender)
{
  gst_mcc_entries_end_released (&GST_ELM_LAYER_SINK (sender)->entries);
}

/* ---- properties ---- */

static void
gst_elm_layer_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (object);

  if (id != PROP_LAYERS) {
    gst_mcc_sender_set_property (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  self->layers = g_value_get_uint (value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_elm_layer_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (object);

  if (id != PROP_LAYERS) {
    gst_mcc_sender_get_property (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  g_value_set_uint (value, self->layers);
  GST_OBJECT_UNLOCK (self);
}

/* ---- life ---- */

static void
gst_elm_layer_sink_finalize (GObject *object)
{
  GstElmLayerSink *self = GST_ELM_LAYER_SINK (object);

  g_rec_mutex_clear (&self->built);
  G_OBJECT_CLASS (gst_elm_layer_sink_parent_class)->finalize (object);
}

static void
gst_elm_layer_sink_class_init (GstElmLayerSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstMccSenderClass *sender_class = GST_MCC_SENDER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_elm_layer_sink_debug, "elmlayersink", 0, "adaptive layer sender");
  object_class->finalize = gst_elm_layer_sink_finalize;
  element_class->request_new_pad = gst_elm_layer_sink_request_new_pad;
  element_class->release_pad = gst_elm_layer_sink_release_pad;
  sender_class->scheme = SCHEME;
  sender_class->element_name = "elmlayersink";
  sender_class->machine = &gst_elm_layer_sink_machine;
  sender_class->handler = &gst_elm_layer_sink_session_handler;
  sender_class->prepare = gst_elm_layer_sink_prepare;
  sender_class->release = gst_elm_layer_sink_release;
  sender_class->start = gst_elm_layer_sink_start;
  sender_class->started = gst_elm_layer_sink_started;
  sender_class->poll_locked = gst_elm_layer_sink_poll_locked;
  sender_class->act = gst_elm_layer_sink_act;
  sender_class->tick = gst_elm_layer_sink_tick;
  sender_class->apply = gst_elm_layer_sink_apply;
  sender_class->get_target = gst_elm_layer_sink_get_target;
  sender_class->get_stats = gst_elm_layer_sink_get_stats;
  gst_mcc_sender_class_install (sender_class, GST_MCC_SENDS_LAYERS);
  object_class->set_property = gst_elm_layer_sink_set_property;
  object_class->get_property = gst_elm_layer_sink_get_property;
  g_object_class_install_property (object_class, PROP_LAYERS,
      g_param_spec_uint ("layers", "Most layers",
          "Layers that the stream at sink is split into at most; the highest takes the rest. Their "
          "groups are address + 0, 1, ...",
          1, GST_ELM_LAYERS_MAX, DEFAULT_LAYERS, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));

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
  gst_mcc_sender_setup (GST_MCC_SENDER (self));
  g_rec_mutex_init (&self->built);
  self->layers = DEFAULT_LAYERS;
  gst_mcc_entries_init (
      &self->entries, GST_MCC_SENDER (self), &words, GST_ELM_LAYERS_MAX, &sink_template);
  g_signal_connect (self->entries.sink, "linked", G_CALLBACK (on_linked), self);
}

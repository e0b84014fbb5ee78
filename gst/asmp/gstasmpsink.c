/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-asmpsink
 * @title: asmpsink
 *
 * Sends one adaptive RTP stream to a multicast group: receivers (asmpsrc) report the rate that is
 * fair to TCP on their path, and the encoder upstream follows the lowest one.
 *
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! video/x-raw,format=I420 ! x264enc tune=zerolatency !
 *     rtph264pay ! asmpsink address=239.255.12.42 port=5004 max-bitrate=4000000
 * ]|
 */
#include "gstasmpsinkprivate.h"
#include "gstmccuri.h"

GST_DEBUG_CATEGORY (gst_asmp_sink_debug);
#define GST_CAT_DEFAULT gst_asmp_sink_debug

enum { SIGNAL_ENCODER_BITRATE_CHANGED, SIGNAL_FORCE_KEY_UNIT, N_SIGNALS };
static guint signals[N_SIGNALS];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));

G_DEFINE_FINAL_TYPE_WITH_CODE (GstAsmpSink, gst_asmp_sink, GST_TYPE_BIN,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SINK, "asmp"))
GST_ELEMENT_REGISTER_DEFINE (asmpsink, "asmpsink", GST_RANK_NONE, GST_TYPE_ASMP_SINK)

/* ---- states ---- */

static gboolean
open_session (GstAsmpSink *self, const GstMccSenderSettings *settings)
{
  GstMccSessionSettings network;
  GError *error = NULL;
  gboolean ok;

  gst_mcc_properties_get_settings (&self->network, &network);
  if (network.session_bandwidth == 0)
    network.session_bandwidth = settings->max_bps;
  ok = gst_mcc_session_open (self->session, &network, &error);
  gst_mcc_properties_settings_clear (&network);
  if (!ok) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
        g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
    return FALSE;
  }
  return gst_mcc_send_stream_link (self->stream, self->session);
}

static void
close_session (GstAsmpSink *self)
{
  gst_mcc_send_stream_unlink (self->stream);
  gst_mcc_session_close (self->session);
}

/* NULL->READY */
static gboolean
prepare (GstAsmpSink *self)
{
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));

  if (!self->clocksync) {
    gst_mcc_messages_missing (GST_ELEMENT (self), "clocksync");
    GST_ELEMENT_ERROR (self, CORE, MISSING_PLUGIN,
        ("The element clocksync is missing; install GStreamer's core plugins (Debian: "
         "libgstreamer1.0-0)."),
        (NULL));
    return FALSE;
  }
  if (!gst_mcc_sender_settings_check (&settings, GST_ELEMENT (self))
      || !gst_asmp_sink_update_encoder (self))
    return FALSE;
  if (!open_session (self, &settings)) {
    close_session (self);
    return FALSE;
  }
  gst_mcc_send_stream_configure (self->stream, &settings);
  gst_mcc_encoder_set_bitrate (
      gst_mcc_send_stream_get_encoder (self->stream), gst_mcc_sender_settings_start (&settings));
  gst_mcc_send_stream_look_upstream (self->stream, FALSE);
  return TRUE;
}

/* READY->PAUSED, before the data flows */
static gboolean
make_core (GstAsmpSink *self)
{
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));
  MccAsmpSenderConfig config = { .min_bps = settings.min_bps,
    .max_bps = settings.max_bps,
    .start_bps = gst_mcc_sender_settings_start (&settings),
    .max_receivers = settings.max_receivers,
    .no_feedback = settings.no_feedback,
    .ecn = settings.ecn,
    .seed = gst_mcc_properties_get_seed (&self->network),
    .ssrc = gst_mcc_session_get_ssrc (self->session, 0) };
  GInetAddress *inet;

  if (!gst_mcc_sender_settings_check (
          &settings, GST_ELEMENT (self))) /* they may have changed since NULL->READY */
    return FALSE;
  g_mutex_lock (&self->network.lock);
  config.variant = self->network.variant;
  config.session_bandwidth_bps = self->network.settings.session_bandwidth;
  inet = g_inet_address_new_from_string (
      self->network.settings.address ? self->network.settings.address : "");
  config.ttl
      = (uint8_t)(inet && g_inet_address_get_is_multicast (inet) ? self->network.settings.ttl_mc
                                                                 : self->network.settings.ttl);
  g_mutex_unlock (&self->network.lock);
  g_clear_object (&inet);
  gst_mcc_session_get_feedback (self->session, &config.feedback);

  gst_mcc_send_stream_start (self->stream, config.start_bps);
  gst_mcc_session_set_ect (self->session, FALSE);
  g_mutex_lock (&self->lock);
  self->ect = FALSE;
  self->core = mcc_asmp_sender_new (&config, gst_mcc_pump_now (self->pump));
  self->target_bps = config.start_bps;
  self->ended = FALSE;
  self->warned = 0;
  self->next_stats = MCC_TIME_NONE;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
free_core (GstAsmpSink *self)
{
  g_mutex_lock (&self->lock);
  g_clear_pointer (&self->core, mcc_asmp_sender_free);
  g_mutex_unlock (&self->lock);
  gst_mcc_messages_clear (self->messages);
}

static GstStateChangeReturn
gst_asmp_sink_change_state (GstElement *element, GstStateChange transition)
{
  GstAsmpSink *self = GST_ASMP_SINK (element);
  GstStateChangeReturn ret;

  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (!prepare (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (!make_core (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      gst_mcc_pump_stop (self->pump);
      gst_mcc_session_stop (self->session); /* says BYE */
      break;
    default:
      break;
  }
  ret = GST_ELEMENT_CLASS (gst_asmp_sink_parent_class)->change_state (element, transition);
  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (ret == GST_STATE_CHANGE_FAILURE)
        close_session (self);
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (ret == GST_STATE_CHANGE_FAILURE) {
        free_core (self);
        break;
      }
      if (!gst_mcc_session_start (self->session))
        GST_ELEMENT_WARNING (self, RESOURCE, READ, ("RTCP cannot be received."), (NULL));
      gst_mcc_pump_start (self->pump);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      free_core (self);
      break;
    case GST_STATE_CHANGE_READY_TO_NULL:
      close_session (self);
      break;
    default:
      break;
  }
  return ret;
}

static void
gst_asmp_sink_handle_message (GstBin *bin, GstMessage *message)
{
  GstAsmpSink *self = GST_ASMP_SINK (bin);

  if (self->session && gst_mcc_session_handle_message (self->session, message))
    return;
  GST_BIN_CLASS (gst_asmp_sink_parent_class)->handle_message (bin, message);
}

static void
on_linked (GstPad *pad, GstPad *peer, gpointer data)
{
  GstAsmpSink *self = data;

  if (GST_STATE (self) >= GST_STATE_READY)
    gst_mcc_send_stream_look_upstream (self->stream, FALSE);
}

static void
on_encoder_changed (gpointer owner, GstElement *encoder, guint64 bitrate)
{
  g_signal_emit (owner, signals[SIGNAL_ENCODER_BITRATE_CHANGED], 0, encoder, bitrate);
}

/* ---- properties ---- */

#define BPS G_GUINT64_FORMAT

/* Bounds that changed while the core runs. */
static void
apply_bounds (GstAsmpSink *self)
{
  GstMccSenderSettings s = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));

  if (s.min_bps < GST_MCC_LOWEST_BPS || s.max_bps > GST_MCC_HIGHEST_BPS || s.min_bps > s.max_bps) {
    if (GST_STATE (self) > GST_STATE_READY)
      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
          ("min-bitrate (%" BPS ") and max-bitrate (%" BPS ") do not go together and are not used; "
           "set them so that %d <= min-bitrate <= max-bitrate.",
              s.min_bps, s.max_bps, GST_MCC_LOWEST_BPS),
          (NULL));
    return;
  }
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_set_bounds (self->core, s.min_bps, s.max_bps, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, 0);
}

static void
apply_no_feedback (GstAsmpSink *self, MccNoFeedback policy)
{
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_set_no_feedback (self->core, policy, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, 0);
}

/* What the new value of @id changes at once. */
static void
apply (GstAsmpSink *self, guint id)
{
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&self->settings, GST_ELEMENT (self));

  switch (id) {
    case GST_MCC_SENDER_PROPERTY_MIN_BITRATE:
    case GST_MCC_SENDER_PROPERTY_MAX_BITRATE:
      apply_bounds (self);
      break;
    case GST_MCC_SENDER_PROPERTY_SYNC:
      if (self->clocksync)
        g_object_set (self->clocksync, "sync", settings.sync, NULL);
      break;
    case GST_MCC_SENDER_PROPERTY_PACING_FACTOR:
    case GST_MCC_SENDER_PROPERTY_PACING_MAX_DELAY:
      gst_mcc_send_stream_configure (self->stream, &settings);
      break;
    case GST_MCC_SENDER_PROPERTY_NO_FEEDBACK:
      apply_no_feedback (self, settings.no_feedback);
      break;
    case GST_MCC_SENDER_PROPERTY_ENCODER:
    case GST_MCC_SENDER_PROPERTY_ENCODER_NAME:
    case GST_MCC_SENDER_PROPERTY_ENCODER_CONTROL:
    case GST_MCC_SENDER_PROPERTY_CONFIGURE_ENCODER:
      if (GST_STATE (self) >= GST_STATE_READY && gst_asmp_sink_update_encoder (self))
        gst_mcc_encoder_find (gst_mcc_send_stream_get_encoder (self->stream), self->sink, FALSE);
      break;
    default:
      break;
  }
}

static void
gst_asmp_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstAsmpSink *self = GST_ASMP_SINK (object);

  if (gst_mcc_properties_set (&self->network, object, id, value))
    return;
  if (gst_mcc_sender_settings_set (&self->settings, GST_ELEMENT (self), id, value))
    apply (self, id);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_asmp_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstAsmpSink *self = GST_ASMP_SINK (object);

  if (gst_mcc_properties_get (&self->network, object, id, value))
    return;
  switch (id) {
    case GST_MCC_SENDER_PROPERTY_TARGET_BITRATE:
      g_mutex_lock (&self->lock);
      g_value_set_uint64 (value, self->target_bps);
      g_mutex_unlock (&self->lock);
      break;
    case GST_MCC_SENDER_PROPERTY_STATS:
      g_value_take_boxed (value, gst_asmp_sink_get_stats (self, G_MAXUINT));
      break;
    default:
      if (!gst_mcc_sender_settings_get (&self->settings, GST_ELEMENT (self), id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
install_signals (GObjectClass *klass)
{
  /* Worker thread, no lock: (encoder, bit/s) */
  signals[SIGNAL_ENCODER_BITRATE_CHANGED]
      = g_signal_new ("encoder-bitrate-changed", GST_TYPE_ASMP_SINK, G_SIGNAL_RUN_LAST, 0, NULL,
          NULL, NULL, G_TYPE_NONE, 2, GST_TYPE_ELEMENT, G_TYPE_UINT64);
  signals[SIGNAL_FORCE_KEY_UNIT] = g_signal_new_class_handler ("force-key-unit", GST_TYPE_ASMP_SINK,
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (gst_asmp_sink_request_key_unit), NULL, NULL,
      NULL, G_TYPE_NONE, 0);
}

/* ---- life ---- */

static void
gst_asmp_sink_dispose (GObject *object)
{
  GstAsmpSink *self = GST_ASMP_SINK (object);

  /* While the children are still here. */
  g_clear_pointer (&self->pump, gst_mcc_pump_free);
  g_clear_pointer (&self->session, gst_mcc_session_free);
  G_OBJECT_CLASS (gst_asmp_sink_parent_class)->dispose (object);
}

static void
gst_asmp_sink_finalize (GObject *object)
{
  GstAsmpSink *self = GST_ASMP_SINK (object);

  gst_mcc_send_stream_free (self->stream);
  gst_mcc_messages_free (self->messages);
  gst_mcc_properties_clear (&self->network);
  gst_mcc_sender_settings_clear (&self->settings);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_asmp_sink_parent_class)->finalize (object);
}

static void
gst_asmp_sink_class_init (GstAsmpSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_asmp_sink_debug, "asmpsink", 0, "adaptive multicast sender");
  object_class->set_property = gst_asmp_sink_set_property;
  object_class->get_property = gst_asmp_sink_get_property;
  object_class->dispose = gst_asmp_sink_dispose;
  object_class->finalize = gst_asmp_sink_finalize;
  element_class->change_state = gst_asmp_sink_change_state;
  GST_BIN_CLASS (klass)->handle_message = gst_asmp_sink_handle_message;

  gst_mcc_properties_install (object_class, "asmp");
  gst_mcc_sender_properties_install (object_class, FALSE);
  gst_mcc_sender_properties_install_ecn (object_class);
  install_signals (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Adaptive multicast sender (ASMP)",
      "Sink/Network/RTP",
      "Sends an RTP stream to a multicast group and drives its encoder so that every receiver's "
      "path can carry it, fair to TCP",
      "adaptivemulticast");
}

static void
gst_asmp_sink_init (GstAsmpSink *self)
{
  GstElement *first, *pacer;
  GstPadTemplate *template;
  GstPad *pad;

  /* RTCP has no part in EOS, preroll or liveness; we are a sink before there is a udpsink. */
  gst_bin_set_suppressed_flags (GST_BIN (self), GST_ELEMENT_FLAG_SOURCE | GST_ELEMENT_FLAG_SINK);
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SINK);
  g_mutex_init (&self->lock);
  gst_mcc_sender_settings_init (&self->settings);
  gst_mcc_properties_init (&self->network, "asmp");
  self->pump = gst_mcc_pump_new ("asmpsink", gst_asmp_sink_pump, self);
  self->session = gst_mcc_session_new_sender (GST_BIN (self), &gst_asmp_sink_session_handler, self);
  self->messages = gst_mcc_messages_new (GST_ELEMENT (self));

  self->stream = gst_mcc_send_stream_new (
      GST_BIN (self), 0, &gst_asmp_sink_stream_handler, on_encoder_changed);
  pacer = gst_mcc_send_stream_get_pacer (self->stream);
  self->clocksync = gst_element_factory_make ("clocksync", NULL);
  if (self->clocksync) {
    gst_bin_add (GST_BIN (self), self->clocksync);
    gst_element_link (self->clocksync, pacer);
  }
  first = self->clocksync ? self->clocksync : pacer;
  pad = gst_element_get_static_pad (first, "sink");
  gst_mcc_send_stream_set_entry (self->stream, pad);
  template = gst_static_pad_template_get (&sink_template);
  self->sink = gst_ghost_pad_new_from_template ("sink", pad, template);
  gst_object_unref (template);
  gst_object_unref (pad);
  g_signal_connect (self->sink, "linked", G_CALLBACK (on_linked), self);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);
}

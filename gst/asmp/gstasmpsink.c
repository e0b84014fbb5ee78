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

#define DEFAULT_MIN_BPS 100000
#define DEFAULT_MAX_BPS 10000000
#define DEFAULT_START_BPS 150000
#define DEFAULT_PACING_FACTOR 1.5
#define DEFAULT_PACING_MAX_DELAY_MS 150
#define DEFAULT_MAX_RECEIVERS 4096
#define LOWEST_BPS 1000 /* below, RTCP has nothing to report with */
#define HIGHEST_BPS ((G_GUINT64_CONSTANT (1) << 48) - 1) /* docs/wire-format.md */

enum {
  PROP_MIN_BITRATE = GST_MCC_PROPERTY_LAST + 1,
  PROP_MAX_BITRATE,
  PROP_START_BITRATE,
  PROP_TARGET_BITRATE,
  PROP_SYNC,
  PROP_ENCODER,
  PROP_ENCODER_NAME,
  PROP_ENCODER_CONTROL,
  PROP_CONFIGURE_ENCODER,
  PROP_ENCODER_BITRATE_PROPERTY,
  PROP_ENCODER_BITRATE_UNIT,
  PROP_PACING_FACTOR,
  PROP_PACING_MAX_DELAY,
  PROP_NO_FEEDBACK,
  PROP_MAX_RECEIVERS,
  PROP_SDP_LOCATION,
  PROP_STATS,
};

enum { SIGNAL_ENCODER_BITRATE_CHANGED, SIGNAL_FORCE_KEY_UNIT, N_SIGNALS };
static guint signals[N_SIGNALS];

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));

G_DEFINE_FINAL_TYPE_WITH_CODE (GstAsmpSink, gst_asmp_sink, GST_TYPE_BIN,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SINK, "asmp"))
GST_ELEMENT_REGISTER_DEFINE (asmpsink, "asmpsink", GST_RANK_NONE, GST_TYPE_ASMP_SINK)

#define GST_TYPE_MCC_NO_FEEDBACK (gst_mcc_no_feedback_get_type ())

static GType
gst_mcc_no_feedback_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[]
      = { { MCC_NO_FEEDBACK_MINIMUM, "Fall to min-bitrate and stay there", "minimum" },
          { MCC_NO_FEEDBACK_HOLD, "Keep the target (private networks only)", "hold" },
          { MCC_NO_FEEDBACK_STOP, "Stop the media, keep announcing", "stop" }, { 0, NULL, NULL } };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstMccNoFeedback", values));
  return type;
}

/* ---- states ---- */

static gboolean
fail_setting (GstAsmpSink *self, gchar *text)
{
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s", text), (NULL));
  g_free (text);
  return FALSE;
}

#define BPS G_GUINT64_FORMAT

static gboolean
check_rates (GstAsmpSink *self, const GstAsmpSinkSettings *s)
{
  if (s->min_bps < LOWEST_BPS)
    return fail_setting (self,
        g_strdup_printf ("min-bitrate is %" BPS "; set it to %d or more.", s->min_bps, LOWEST_BPS));
  if (s->max_bps > HIGHEST_BPS)
    return fail_setting (
        self, g_strdup_printf (
                  "max-bitrate is %" BPS "; set it to %" BPS " or less.", s->max_bps, HIGHEST_BPS));
  if (s->min_bps > s->max_bps)
    return fail_setting (self, g_strdup_printf ("min-bitrate (%" BPS ") is above max-bitrate (%" BPS
                                                "); lower min-bitrate or raise max-bitrate.",
                                   s->min_bps, s->max_bps));
  if (s->start_set && (s->start_bps < s->min_bps || s->start_bps > s->max_bps))
    return fail_setting (
        self, g_strdup_printf ("start-bitrate (%" BPS ") is outside min-bitrate "
                               "(%" BPS ") to max-bitrate (%" BPS "); set it between them.",
                  s->start_bps, s->min_bps, s->max_bps));
  return TRUE;
}

/* The settings but for what must be freed. */
static GstAsmpSinkSettings
get_settings (GstAsmpSink *self)
{
  GstAsmpSinkSettings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  settings.sdp_location = settings.encoder_name = settings.encoder_property = NULL;
  settings.encoder = NULL;
  return settings;
}

static gboolean
open_session (GstAsmpSink *self, const GstAsmpSinkSettings *settings)
{
  GstMccSessionSettings network;
  GError *error = NULL;
  GstPad *src, *sink;
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
  src = gst_element_get_static_pad (GST_ELEMENT (self->pacer), "src");
  sink = gst_mcc_session_get_rtp_pad (self->session, 0);
  ok = gst_pad_link (src, sink) == GST_PAD_LINK_OK;
  gst_object_unref (src);
  gst_object_unref (sink);
  if (!ok)
    GST_ELEMENT_ERROR (self, CORE, PAD, (NULL), ("the pacer cannot be linked to rtpbin"));
  return ok;
}

static void
close_session (GstAsmpSink *self)
{
  GstPad *src = gst_element_get_static_pad (GST_ELEMENT (self->pacer), "src");
  GstPad *peer = gst_pad_get_peer (src);

  if (peer) {
    gst_pad_unlink (src, peer);
    gst_object_unref (peer);
  }
  gst_object_unref (src);
  gst_mcc_session_close (self->session);
  gst_mcc_encoder_reset (self->encoder);
}

static guint64
start_rate (const GstAsmpSinkSettings *settings)
{
  return CLAMP (settings->start_bps, settings->min_bps, settings->max_bps);
}

/* NULL->READY */
static gboolean
prepare (GstAsmpSink *self)
{
  GstAsmpSinkSettings settings = get_settings (self);

  if (!self->clocksync) {
    gst_mcc_messages_missing (GST_ELEMENT (self), "clocksync");
    GST_ELEMENT_ERROR (self, CORE, MISSING_PLUGIN,
        ("The element clocksync is missing; install GStreamer's core plugins (Debian: "
         "libgstreamer1.0-0)."),
        (NULL));
    return FALSE;
  }
  if (!check_rates (self, &settings) || !gst_asmp_sink_update_encoder (self))
    return FALSE;
  if (!open_session (self, &settings)) {
    close_session (self);
    return FALSE;
  }
  gst_mcc_pacer_set_overhead (self->pacer, gst_mcc_session_get_overhead (self->session));
  gst_mcc_pacer_set_config (
      self->pacer, settings.pacing_factor, settings.pacing_max_delay_ms * MCC_MSECOND);
  gst_mcc_encoder_set_bitrate (self->encoder, start_rate (&settings));
  gst_asmp_sink_look_upstream (self, FALSE);
  return TRUE;
}

/* READY->PAUSED, before the data flows */
static gboolean
make_core (GstAsmpSink *self)
{
  GstAsmpSinkSettings settings = get_settings (self);
  MccAsmpSenderConfig config = { .min_bps = settings.min_bps,
    .max_bps = settings.max_bps,
    .start_bps = start_rate (&settings),
    .max_receivers = settings.max_receivers,
    .no_feedback = settings.no_feedback,
    .seed = gst_mcc_properties_get_seed (&self->network),
    .ssrc = gst_mcc_session_get_ssrc (self->session, 0) };
  GInetAddress *inet;

  if (!check_rates (self, &settings)) /* they may have changed since NULL->READY */
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

  gst_mcc_pacer_set_target (self->pacer, config.start_bps);
  g_mutex_lock (&self->lock);
  self->core = mcc_asmp_sender_new (&config, gst_mcc_pump_now (self->pump));
  self->target_bps = config.start_bps;
  self->ended = FALSE;
  self->warned = 0;
  self->above_since = self->next_stats = MCC_TIME_NONE;
  self->next_ask = 0;
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
    gst_asmp_sink_look_upstream (self, FALSE);
}

static void
on_encoder_changed (gpointer owner, GstElement *encoder, guint64 bitrate)
{
  g_signal_emit (owner, signals[SIGNAL_ENCODER_BITRATE_CHANGED], 0, encoder, bitrate);
}

/* ---- properties ---- */

/* Bounds that changed while the core runs. */
static void
apply_bounds (GstAsmpSink *self)
{
  GstAsmpSinkSettings s = get_settings (self);

  if (s.min_bps < LOWEST_BPS || s.max_bps > HIGHEST_BPS || s.min_bps > s.max_bps) {
    if (GST_STATE (self) > GST_STATE_READY)
      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
          ("min-bitrate (%" BPS ") and max-bitrate (%" BPS ") do not go together and are not used; "
           "set them so that %d <= min-bitrate <= max-bitrate.",
              s.min_bps, s.max_bps, LOWEST_BPS),
          (NULL));
    return;
  }
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_set_bounds (self->core, s.min_bps, s.max_bps, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_asmp_sink_drain (self);
}

static void
apply_no_feedback (GstAsmpSink *self, MccNoFeedback policy)
{
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_set_no_feedback (self->core, policy, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_asmp_sink_drain (self);
}

/* What the new value of @id changes at once. */
static void
apply (GstAsmpSink *self, guint id)
{
  GstAsmpSinkSettings settings = get_settings (self);

  switch (id) {
    case PROP_MIN_BITRATE:
    case PROP_MAX_BITRATE:
      apply_bounds (self);
      break;
    case PROP_SYNC:
      if (self->clocksync)
        g_object_set (self->clocksync, "sync", settings.sync, NULL);
      break;
    case PROP_PACING_FACTOR:
    case PROP_PACING_MAX_DELAY:
      gst_mcc_pacer_set_config (
          self->pacer, settings.pacing_factor, settings.pacing_max_delay_ms * MCC_MSECOND);
      break;
    case PROP_NO_FEEDBACK:
      apply_no_feedback (self, settings.no_feedback);
      break;
    case PROP_ENCODER:
    case PROP_ENCODER_NAME:
    case PROP_ENCODER_CONTROL:
    case PROP_CONFIGURE_ENCODER:
      if (GST_STATE (self) >= GST_STATE_READY && gst_asmp_sink_update_encoder (self))
        gst_mcc_encoder_find (self->encoder, self->sink, FALSE);
      break;
    default:
      break;
  }
}

static void
take_string (gchar **place, const GValue *value)
{
  const gchar *text = g_value_get_string (value);

  g_free (*place);
  *place = text && *text ? g_strdup (text) : NULL;
}

/* Called with the object lock. */
static gboolean
set_locked (GstAsmpSinkSettings *s, guint id, const GValue *value)
{
  switch (id) {
    case PROP_MIN_BITRATE:
      s->min_bps = g_value_get_uint64 (value);
      return TRUE;
    case PROP_MAX_BITRATE:
      s->max_bps = g_value_get_uint64 (value);
      return TRUE;
    case PROP_START_BITRATE:
      s->start_bps = g_value_get_uint64 (value);
      s->start_set = TRUE;
      return TRUE;
    case PROP_SYNC:
      s->sync = g_value_get_boolean (value);
      return TRUE;
    case PROP_ENCODER_NAME:
      take_string (&s->encoder_name, value);
      return TRUE;
    case PROP_ENCODER_CONTROL:
      s->encoder_control = (GstMccEncoderControl)g_value_get_enum (value);
      return TRUE;
    case PROP_CONFIGURE_ENCODER:
      s->configure_encoder = g_value_get_boolean (value);
      return TRUE;
    case PROP_ENCODER_BITRATE_PROPERTY:
      take_string (&s->encoder_property, value);
      return TRUE;
    case PROP_ENCODER_BITRATE_UNIT:
      s->encoder_unit = (GstMccEncoderUnit)g_value_get_enum (value);
      return TRUE;
    case PROP_PACING_FACTOR:
      s->pacing_factor = g_value_get_double (value);
      return TRUE;
    case PROP_PACING_MAX_DELAY:
      s->pacing_max_delay_ms = g_value_get_uint (value);
      return TRUE;
    case PROP_NO_FEEDBACK:
      s->no_feedback = (MccNoFeedback)g_value_get_enum (value);
      return TRUE;
    case PROP_MAX_RECEIVERS:
      s->max_receivers = g_value_get_uint (value);
      return TRUE;
    case PROP_SDP_LOCATION:
      take_string (&s->sdp_location, value);
      return TRUE;
    default:
      return FALSE;
  }
}

static void
gst_asmp_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstAsmpSink *self = GST_ASMP_SINK (object);
  gboolean known;

  if (gst_mcc_properties_set (&self->network, object, id, value))
    return;
  if (id == PROP_ENCODER) {
    GstElement *encoder = g_value_dup_object (value), *old;

    GST_OBJECT_LOCK (self);
    old = self->settings.encoder;
    self->settings.encoder = encoder;
    GST_OBJECT_UNLOCK (self);
    gst_clear_object (&old); /* its last reference may go: not under a lock */
    known = TRUE;
  } else {
    GST_OBJECT_LOCK (self);
    known = set_locked (&self->settings, id, value);
    GST_OBJECT_UNLOCK (self);
  }
  if (known)
    apply (self, id);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

/* Called with the object lock. */
static gboolean
get_locked (const GstAsmpSinkSettings *s, guint id, GValue *value)
{
  switch (id) {
    case PROP_MIN_BITRATE:
      g_value_set_uint64 (value, s->min_bps);
      return TRUE;
    case PROP_MAX_BITRATE:
      g_value_set_uint64 (value, s->max_bps);
      return TRUE;
    case PROP_START_BITRATE:
      g_value_set_uint64 (value, s->start_bps);
      return TRUE;
    case PROP_SYNC:
      g_value_set_boolean (value, s->sync);
      return TRUE;
    case PROP_ENCODER:
      g_value_set_object (value, s->encoder);
      return TRUE;
    case PROP_ENCODER_NAME:
      g_value_set_string (value, s->encoder_name);
      return TRUE;
    case PROP_ENCODER_CONTROL:
      g_value_set_enum (value, (gint)s->encoder_control);
      return TRUE;
    case PROP_CONFIGURE_ENCODER:
      g_value_set_boolean (value, s->configure_encoder);
      return TRUE;
    case PROP_ENCODER_BITRATE_PROPERTY:
      g_value_set_string (value, s->encoder_property);
      return TRUE;
    case PROP_ENCODER_BITRATE_UNIT:
      g_value_set_enum (value, (gint)s->encoder_unit);
      return TRUE;
    case PROP_PACING_FACTOR:
      g_value_set_double (value, s->pacing_factor);
      return TRUE;
    case PROP_PACING_MAX_DELAY:
      g_value_set_uint (value, s->pacing_max_delay_ms);
      return TRUE;
    case PROP_NO_FEEDBACK:
      g_value_set_enum (value, (gint)s->no_feedback);
      return TRUE;
    case PROP_MAX_RECEIVERS:
      g_value_set_uint (value, s->max_receivers);
      return TRUE;
    case PROP_SDP_LOCATION:
      g_value_set_string (value, s->sdp_location);
      return TRUE;
    default:
      return FALSE;
  }
}

static void
gst_asmp_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstAsmpSink *self = GST_ASMP_SINK (object);
  gboolean known;

  if (gst_mcc_properties_get (&self->network, object, id, value))
    return;
  switch (id) {
    case PROP_TARGET_BITRATE:
      g_mutex_lock (&self->lock);
      g_value_set_uint64 (value, self->target_bps);
      g_mutex_unlock (&self->lock);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, gst_asmp_sink_get_stats (self, G_MAXUINT));
      break;
    default:
      GST_OBJECT_LOCK (self);
      known = get_locked (&self->settings, id, value);
      GST_OBJECT_UNLOCK (self);
      if (!known)
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

/* Read from NULL to READY; from READY to PAUSED; at any time. */
#define STOPPED (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)
#define READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define LIVE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

static void
install_rates (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_MIN_BITRATE,
      g_param_spec_uint64 ("min-bitrate", "Lowest rate",
          "Never send less than this, bit/s on the wire (1000 or more)", 0, G_MAXUINT64,
          DEFAULT_MIN_BPS, LIVE));
  g_object_class_install_property (klass, PROP_MAX_BITRATE,
      g_param_spec_uint64 ("max-bitrate", "Highest rate",
          "Never send more than this, bit/s on the wire", 0, G_MAXUINT64, DEFAULT_MAX_BPS, LIVE));
  g_object_class_install_property (klass, PROP_START_BITRATE,
      g_param_spec_uint64 ("start-bitrate", "Rate at the start",
          "Target until receivers report, bit/s on the wire (unset: the default, within the "
          "bounds)",
          0, G_MAXUINT64, DEFAULT_START_BPS, READY));
  g_object_class_install_property (klass, PROP_TARGET_BITRATE,
      g_param_spec_uint64 ("target-bitrate", "Target",
          "What the network allows now, bit/s on the wire", 0, G_MAXUINT64, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, PROP_NO_FEEDBACK,
      g_param_spec_enum ("no-feedback", "Without feedback",
          "What happens when no receiver reports (any more)", GST_TYPE_MCC_NO_FEEDBACK,
          MCC_NO_FEEDBACK_MINIMUM, LIVE));
  g_object_class_install_property (klass, PROP_MAX_RECEIVERS,
      g_param_spec_uint ("max-receivers", "Receivers",
          "Receivers that are kept; reports of more are dropped and counted", 1, 1000000,
          DEFAULT_MAX_RECEIVERS, READY));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "application/x-adaptive-multicast-sender-stats: rates, receivers, who limits and why",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
install_sending (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_SYNC,
      g_param_spec_boolean ("sync", "Sync",
          "Hold packets until their time on the clock has come (needed for files)", TRUE, LIVE));
  g_object_class_install_property (klass, PROP_PACING_FACTOR,
      g_param_spec_double ("pacing-factor", "Pacing factor",
          "Packets leave at up to this many times the target", 1.0, 100.0, DEFAULT_PACING_FACTOR,
          LIVE));
  g_object_class_install_property (klass, PROP_PACING_MAX_DELAY,
      g_param_spec_uint ("pacing-max-delay", "Pacing delay",
          "No packet waits longer than this, ms; it goes faster instead", 1, 10000,
          DEFAULT_PACING_MAX_DELAY_MS, LIVE));
  g_object_class_install_property (klass, PROP_SDP_LOCATION,
      g_param_spec_string ("sdp-location", "SDP file",
          "File to write the session description for plain players to", NULL, READY));
}

static void
install_encoder (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_ENCODER,
      g_param_spec_object ("encoder", "Encoder", "The encoder to drive (unset: the one upstream)",
          GST_TYPE_ELEMENT, LIVE));
  g_object_class_install_property (klass, PROP_ENCODER_NAME,
      g_param_spec_string ("encoder-name", "Encoder's name",
          "Name of the encoder to drive, anywhere in the pipeline (unset: the one upstream)", NULL,
          LIVE));
  g_object_class_install_property (klass, PROP_ENCODER_CONTROL,
      g_param_spec_enum ("encoder-control", "Encoder control", "Who sets the encoder's bitrate",
          GST_TYPE_MCC_ENCODER_CONTROL, GST_MCC_ENCODER_CONTROL_AUTO, LIVE));
  g_object_class_install_property (klass, PROP_CONFIGURE_ENCODER,
      g_param_spec_boolean ("configure-encoder", "Configure the encoder",
          "Give encoder and payloader settings that follow the network quickly, on properties "
          "still at their default",
          TRUE, LIVE));
  g_object_class_install_property (klass, PROP_ENCODER_BITRATE_PROPERTY,
      g_param_spec_string ("encoder-bitrate-property", "Bitrate property",
          "Property of the encoder that takes its bitrate (unset: from the table of encoders)",
          NULL, STOPPED));
  g_object_class_install_property (klass, PROP_ENCODER_BITRATE_UNIT,
      g_param_spec_enum ("encoder-bitrate-unit", "Bitrate unit", "Unit of encoder-bitrate-property",
          GST_TYPE_MCC_ENCODER_UNIT, GST_MCC_UNIT_UNKNOWN, STOPPED));
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

  gst_mcc_encoder_free (self->encoder);
  gst_mcc_messages_free (self->messages);
  gst_mcc_properties_clear (&self->network);
  gst_clear_object (&self->settings.encoder);
  g_free (self->settings.sdp_location);
  g_free (self->settings.encoder_name);
  g_free (self->settings.encoder_property);
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
  install_rates (object_class);
  install_sending (object_class);
  install_encoder (object_class);
  install_signals (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Adaptive multicast sender (ASMP)",
      "Sink/Network/RTP",
      "Sends an RTP stream to a multicast group and drives its encoder so that every receiver's "
      "path can carry it, fair to TCP",
      "adaptivemulticast");
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_NO_FEEDBACK, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_ENCODER_CONTROL, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_ENCODER_UNIT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_VARIANT, 0);
}

static void
init_settings (GstAsmpSink *self)
{
  self->settings = (GstAsmpSinkSettings){ .min_bps = DEFAULT_MIN_BPS,
    .max_bps = DEFAULT_MAX_BPS,
    .start_bps = DEFAULT_START_BPS,
    .sync = TRUE,
    .pacing_factor = DEFAULT_PACING_FACTOR,
    .pacing_max_delay_ms = DEFAULT_PACING_MAX_DELAY_MS,
    .no_feedback = MCC_NO_FEEDBACK_MINIMUM,
    .max_receivers = DEFAULT_MAX_RECEIVERS,
    .configure_encoder = TRUE };
}

static void
gst_asmp_sink_init (GstAsmpSink *self)
{
  GstElement *first, *pacer = gst_mcc_pacer_new (&gst_asmp_sink_pacer_handler, self);
  GstPadTemplate *template;
  GstPad *pad;

  /* RTCP has no part in EOS, preroll or liveness; we are a sink before there is a udpsink. */
  gst_bin_set_suppressed_flags (GST_BIN (self), GST_ELEMENT_FLAG_SOURCE | GST_ELEMENT_FLAG_SINK);
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SINK);
  g_mutex_init (&self->lock);
  init_settings (self);
  gst_mcc_properties_init (&self->network, "asmp");
  self->pump = gst_mcc_pump_new ("asmpsink", gst_asmp_sink_pump, self);
  self->session = gst_mcc_session_new_sender (GST_BIN (self), &gst_asmp_sink_session_handler, self);
  self->encoder = gst_mcc_encoder_new (GST_ELEMENT (self), on_encoder_changed);
  self->messages = gst_mcc_messages_new (GST_ELEMENT (self));

  self->pacer = GST_MCC_PACER (pacer);
  gst_bin_add (GST_BIN (self), pacer);
  self->clocksync = gst_element_factory_make ("clocksync", NULL);
  if (self->clocksync) {
    gst_bin_add (GST_BIN (self), self->clocksync);
    gst_element_link (self->clocksync, pacer);
  }
  first = self->clocksync ? self->clocksync : pacer;
  pad = gst_element_get_static_pad (first, "sink");
  template = gst_static_pad_template_get (&sink_template);
  self->sink = gst_ghost_pad_new_from_template ("sink", pad, template);
  gst_object_unref (template);
  gst_object_unref (pad);
  g_signal_connect (self->sink, "linked", G_CALLBACK (on_linked), self);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);
}

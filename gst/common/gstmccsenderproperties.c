/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccsenderproperties.h"

#include "gstmccuri.h"

#define DEFAULT_MIN_BPS 100000
#define DEFAULT_MAX_BPS 10000000
#define DEFAULT_START_BPS 150000
#define DEFAULT_PACING_FACTOR 1.5
#define DEFAULT_PACING_MAX_DELAY_MS 150
#define DEFAULT_MAX_RECEIVERS 4096

GType
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

static gboolean
fail (GstElement *element, gchar *text)
{
  GST_ELEMENT_ERROR (element, LIBRARY, SETTINGS, ("%s", text), (NULL));
  g_free (text);
  return FALSE;
}

#define BPS G_GUINT64_FORMAT

gboolean
gst_mcc_sender_settings_check (const GstMccSenderSettings *s, GstElement *element)
{
  if (s->min_bps < GST_MCC_LOWEST_BPS)
    return fail (element, g_strdup_printf ("min-bitrate is %" BPS "; set it to %d or more.",
                              s->min_bps, GST_MCC_LOWEST_BPS));
  if (s->max_bps > (guint64)GST_MCC_HIGHEST_BPS)
    return fail (element, g_strdup_printf ("max-bitrate is %" BPS "; set it to %" BPS " or less.",
                              s->max_bps, (guint64)GST_MCC_HIGHEST_BPS));
  if (s->min_bps > s->max_bps)
    return fail (element, g_strdup_printf ("min-bitrate (%" BPS ") is above max-bitrate (%" BPS
                                           "); lower min-bitrate or raise max-bitrate.",
                              s->min_bps, s->max_bps));
  if (s->start_set && (s->start_bps < s->min_bps || s->start_bps > s->max_bps))
    return fail (
        element, g_strdup_printf ("start-bitrate (%" BPS ") is outside min-bitrate "
                                  "(%" BPS ") to max-bitrate (%" BPS "); set it between them.",
                     s->start_bps, s->min_bps, s->max_bps));
  return TRUE;
}

static void
take_string (gchar **place, const GValue *value)
{
  const gchar *text = g_value_get_string (value);

  g_free (*place);
  *place = text && *text ? g_strdup (text) : NULL;
}

/* Called with the object lock. @by_user: not back to what it is unset. */
static gboolean
set_locked (GstMccSenderSettings *s, guint id, const GValue *value, gboolean by_user)
{
  switch (id) {
    case GST_MCC_SENDER_PROPERTY_MIN_BITRATE:
      s->min_bps = g_value_get_uint64 (value);
      s->min_set = by_user;
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_MAX_BITRATE:
      s->max_bps = g_value_get_uint64 (value);
      s->max_set = by_user;
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_START_BITRATE:
      s->start_bps = g_value_get_uint64 (value);
      s->start_set = by_user;
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_SYNC:
      s->sync = g_value_get_boolean (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER_NAME:
      take_string (&s->encoder_name, value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER_CONTROL:
      s->encoder_control = (GstMccEncoderControl)g_value_get_enum (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_CONFIGURE_ENCODER:
      s->configure_encoder = g_value_get_boolean (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER_BITRATE_PROPERTY:
      take_string (&s->encoder_property, value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER_BITRATE_UNIT:
      s->encoder_unit = (GstMccEncoderUnit)g_value_get_enum (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_PACING_FACTOR:
      s->pacing_factor = g_value_get_double (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_PACING_MAX_DELAY:
      s->pacing_max_delay_ms = g_value_get_uint (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_NO_FEEDBACK:
      s->no_feedback = (MccNoFeedback)g_value_get_enum (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_MAX_RECEIVERS:
      s->max_receivers = g_value_get_uint (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ECN:
      s->ecn = g_value_get_boolean (value);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_SDP_LOCATION:
      take_string (&s->sdp_location, value);
      return TRUE;
    default:
      return FALSE;
  }
}

/* Called with the object lock. */
static gboolean
get_locked (const GstMccSenderSettings *s, guint id, GValue *value)
{
  switch (id) {
    case GST_MCC_SENDER_PROPERTY_MIN_BITRATE:
      g_value_set_uint64 (value, s->min_bps);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_MAX_BITRATE:
      g_value_set_uint64 (value, s->max_bps);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_START_BITRATE:
      g_value_set_uint64 (value, s->start_bps);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_SYNC:
      g_value_set_boolean (value, s->sync);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER:
      g_value_set_object (value, s->encoder);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER_NAME:
      g_value_set_string (value, s->encoder_name);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER_CONTROL:
      g_value_set_enum (value, (gint)s->encoder_control);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_CONFIGURE_ENCODER:
      g_value_set_boolean (value, s->configure_encoder);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER_BITRATE_PROPERTY:
      g_value_set_string (value, s->encoder_property);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ENCODER_BITRATE_UNIT:
      g_value_set_enum (value, (gint)s->encoder_unit);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_PACING_FACTOR:
      g_value_set_double (value, s->pacing_factor);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_PACING_MAX_DELAY:
      g_value_set_uint (value, s->pacing_max_delay_ms);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_NO_FEEDBACK:
      g_value_set_enum (value, (gint)s->no_feedback);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_MAX_RECEIVERS:
      g_value_set_uint (value, s->max_receivers);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_ECN:
      g_value_set_boolean (value, s->ecn);
      return TRUE;
    case GST_MCC_SENDER_PROPERTY_SDP_LOCATION:
      g_value_set_string (value, s->sdp_location);
      return TRUE;
    default:
      return FALSE;
  }
}

/* Read from NULL to READY; from READY to PAUSED; at any time. */
#define STOPPED (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)
#define READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define LIVE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

static void
install_rate (GObjectClass *klass, guint id, const gchar *name, const gchar *nick,
    const gchar *blurb, guint64 preset, GParamFlags flags)
{
  g_object_class_install_property (
      klass, id, g_param_spec_uint64 (name, nick, blurb, 0, G_MAXUINT64, preset, flags));
}

#define NO_FEEDBACK "What happens when no receiver reports (any more)"
#define CONFIGURE                                                                                  \
  "Give encoder and payloader settings that follow the network quickly, on properties still at "   \
  "their default"
#define ENCODER "The encoder to drive (unset: the one upstream)"
#define ENCODER_NAME                                                                               \
  "Name of the encoder to drive, anywhere in the pipeline (unset: the one upstream)"
#define RECEIVERS "that are kept; reports of more are dropped and counted"
#define BANDWIDTH "Bandwidth of the whole session in bit/s; RTCP never takes more than 5 % of it "

/* What differs between senders, by GstMccSends. */
static const struct {
  const gchar *min, *max, *start, *target, *no_feedback, *configure;
  const gchar *encoder, *encoder_name, *receivers, *sdp, *bandwidth;
} blurbs[] = {
  [GST_MCC_SENDS_STREAM] = { .min = "Never send less than this, bit/s on the wire (1000 or more)",
      .max = "Never send more than this, bit/s on the wire",
      .start
      = "Target until receivers report, bit/s on the wire (unset: the default, within the bounds)",
      .target = "What the network allows now, bit/s on the wire",
      .no_feedback = NO_FEEDBACK,
      .configure = CONFIGURE,
      .encoder = ENCODER,
      .encoder_name = ENCODER_NAME,
      .receivers = "Receivers " RECEIVERS,
      .sdp = "File to write the session description for plain players to",
      .bandwidth = BANDWIDTH "(0: max-bitrate)" },
  [GST_MCC_SENDS_STREAMS]
  = { .min = "Where the lowest stream begins, bit/s on the wire (1000 or more)",
      .max = "What the highest stream reaches up to, bit/s on the wire",
      .start = "Without effect here: each stream starts at its lower bound",
      .target = "What the network allows now of all streams that run, bit/s on the wire",
      .no_feedback = NO_FEEDBACK ": hold is refused, a stream that nobody reports on is at its "
                                 "lower bound; stop stops all streams",
      .configure = CONFIGURE,
      .encoder = "With one request pad: the encoder to drive (unset: the one upstream). Several "
                 "have names, and raw video has encoder-description",
      .encoder_name = "With request pads: names of the encoders to drive, lowest stream first, "
                      "with commas between (unset: those upstream)",
      .receivers = "Receivers of each stream " RECEIVERS,
      .sdp = "Files to write the streams' session descriptions for plain players to; %d becomes "
             "the stream's number",
      .bandwidth = BANDWIDTH "(0: the upper bound of the highest stream)" },
  [GST_MCC_SENDS_LAYERS]
  = { .min = "Without effect here: the rate of all layers never falls below what the encoder was "
             "set to",
      .max = "Of all layers together: how far their encoder's rate may rise, bit/s on the wire",
      .start = "Announced for all layers together until they have been measured, bit/s on the wire",
      .target = "What the encoder of all layers should make, once that has moved; before, what all "
                "layers together have, bit/s on the wire",
      .no_feedback
      = NO_FEEDBACK ": stop sends nothing meanwhile, the others are without effect here",
      .configure = "Give the payloader the settings that late joiners and tunnels need, on "
                   "properties still at their default; the encoder's are the user's",
      .encoder = ENCODER,
      .encoder_name = ENCODER_NAME,
      .receivers = "Receivers " RECEIVERS,
      .sdp = "File to write the base layer's session description for plain players to",
      .bandwidth = BANDWIDTH "(0: max-bitrate)" },
};

static void
install_rates (GObjectClass *klass, GstMccSends what)
{
  GParamFlags flags = what == GST_MCC_SENDS_STREAM ? LIVE : STOPPED;

  install_rate (klass, GST_MCC_SENDER_PROPERTY_MIN_BITRATE, "min-bitrate", "Lowest rate",
      blurbs[what].min, DEFAULT_MIN_BPS, flags);
  install_rate (klass, GST_MCC_SENDER_PROPERTY_MAX_BITRATE, "max-bitrate", "Highest rate",
      blurbs[what].max, DEFAULT_MAX_BPS, flags);
  install_rate (klass, GST_MCC_SENDER_PROPERTY_START_BITRATE, "start-bitrate", "Rate at the start",
      blurbs[what].start, DEFAULT_START_BPS, READY);
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_TARGET_BITRATE,
      g_param_spec_uint64 ("target-bitrate", "Target", blurbs[what].target, 0, G_MAXUINT64, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_NO_FEEDBACK,
      g_param_spec_enum ("no-feedback", "Without feedback", blurbs[what].no_feedback,
          GST_TYPE_MCC_NO_FEEDBACK, MCC_NO_FEEDBACK_MINIMUM, LIVE));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_MAX_RECEIVERS,
      g_param_spec_uint ("max-receivers", "Receivers", blurbs[what].receivers, 1, 1000000,
          DEFAULT_MAX_RECEIVERS, READY));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "application/x-adaptive-multicast-sender-stats: rates, receivers, who limits and why",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
install_sending (GObjectClass *klass, GstMccSends what)
{
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_SYNC,
      g_param_spec_boolean ("sync", "Sync",
          "Hold packets until their time on the clock has come (needed for files)", TRUE, LIVE));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_PACING_FACTOR,
      g_param_spec_double ("pacing-factor", "Pacing factor",
          "Packets leave at up to this many times the target", 1.0, 100.0, DEFAULT_PACING_FACTOR,
          LIVE));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_PACING_MAX_DELAY,
      g_param_spec_uint ("pacing-max-delay", "Pacing delay",
          "No packet waits longer than this, ms; it goes faster instead", 1, 10000,
          DEFAULT_PACING_MAX_DELAY_MS, LIVE));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_SDP_LOCATION,
      g_param_spec_string ("sdp-location", "SDP file", blurbs[what].sdp, NULL, READY));
}

void
gst_mcc_sender_properties_install_ecn (GObjectClass *klass)
{
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_ECN,
      g_param_spec_boolean ("ecn", "ECN",
          "Send media as ECN-capable, so that queues mark it instead of dropping it, while all "
          "receivers say that they heed marks (variant enhanced)",
          FALSE, READY));
}

static void
install_encoder (GObjectClass *klass, GstMccSends what)
{
  /* of a payloader, which takes them before it runs */
  GParamFlags configure = what == GST_MCC_SENDS_LAYERS ? STOPPED : LIVE;

  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_ENCODER,
      g_param_spec_object ("encoder", "Encoder", blurbs[what].encoder, GST_TYPE_ELEMENT, LIVE));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_ENCODER_NAME,
      g_param_spec_string (
          "encoder-name", "Encoder's name", blurbs[what].encoder_name, NULL, LIVE));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_ENCODER_CONTROL,
      g_param_spec_enum ("encoder-control", "Encoder control", "Who sets the encoder's bitrate",
          GST_TYPE_MCC_ENCODER_CONTROL, GST_MCC_ENCODER_CONTROL_AUTO, LIVE));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_CONFIGURE_ENCODER,
      g_param_spec_boolean (
          "configure-encoder", "Configure the encoder", blurbs[what].configure, TRUE, configure));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_ENCODER_BITRATE_PROPERTY,
      g_param_spec_string ("encoder-bitrate-property", "Bitrate property",
          "Property of the encoder that takes its bitrate (unset: from the table of encoders)",
          NULL, STOPPED));
  g_object_class_install_property (klass, GST_MCC_SENDER_PROPERTY_ENCODER_BITRATE_UNIT,
      g_param_spec_enum ("encoder-bitrate-unit", "Bitrate unit", "Unit of encoder-bitrate-property",
          GST_TYPE_MCC_ENCODER_UNIT, GST_MCC_UNIT_UNKNOWN, STOPPED));
}

void
gst_mcc_sender_properties_install (GObjectClass *klass, const gchar *scheme, GstMccSends what)
{
  gst_mcc_properties_install (klass, scheme, blurbs[what].bandwidth);
  install_rates (klass, what);
  install_sending (klass, what);
  install_encoder (klass, what);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_NO_FEEDBACK, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_ENCODER_CONTROL, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_ENCODER_UNIT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_VARIANT, 0);
}

void
gst_mcc_sender_settings_init (GstMccSenderSettings *self)
{
  *self = (GstMccSenderSettings){ .min_bps = DEFAULT_MIN_BPS,
    .max_bps = DEFAULT_MAX_BPS,
    .start_bps = DEFAULT_START_BPS,
    .sync = TRUE,
    .pacing_factor = DEFAULT_PACING_FACTOR,
    .pacing_max_delay_ms = DEFAULT_PACING_MAX_DELAY_MS,
    .no_feedback = MCC_NO_FEEDBACK_MINIMUM,
    .max_receivers = DEFAULT_MAX_RECEIVERS,
    .configure_encoder = TRUE };
}

void
gst_mcc_sender_settings_clear (GstMccSenderSettings *self)
{
  gst_clear_object (&self->encoder);
  g_clear_pointer (&self->sdp_location, g_free);
  g_clear_pointer (&self->encoder_name, g_free);
  g_clear_pointer (&self->encoder_property, g_free);
}

gboolean
gst_mcc_sender_settings_set (
    GstMccSenderSettings *self, GstElement *element, guint id, const GValue *value)
{
  gboolean by_user = !gst_mcc_uri_takes_back (element), known;

  if (id == GST_MCC_SENDER_PROPERTY_ENCODER) {
    GstElement *encoder = g_value_dup_object (value), *old;

    GST_OBJECT_LOCK (element);
    old = self->encoder;
    self->encoder = encoder;
    GST_OBJECT_UNLOCK (element);
    gst_clear_object (&old); /* its last reference may go: not under a lock */
    return TRUE;
  }
  GST_OBJECT_LOCK (element);
  known = set_locked (self, id, value, by_user);
  GST_OBJECT_UNLOCK (element);
  return known;
}

gboolean
gst_mcc_sender_settings_get (
    GstMccSenderSettings *self, GstElement *element, guint id, GValue *value)
{
  gboolean known;

  GST_OBJECT_LOCK (element);
  known = get_locked (self, id, value);
  GST_OBJECT_UNLOCK (element);
  return known;
}

GstMccSenderSettings
gst_mcc_sender_settings_copy (GstMccSenderSettings *self, GstElement *element)
{
  GstMccSenderSettings settings;

  GST_OBJECT_LOCK (element);
  settings = *self;
  GST_OBJECT_UNLOCK (element);
  settings.sdp_location = settings.encoder_name = settings.encoder_property = NULL;
  settings.encoder = NULL;
  return settings;
}

guint64
gst_mcc_sender_settings_start (const GstMccSenderSettings *self)
{
  return CLAMP (self->start_bps, self->min_bps, self->max_bps);
}

void
gst_mcc_sender_settings_get_encoder (
    GstMccSenderSettings *self, GstElement *element, GstMccEncoderSettings *out)
{
  GST_OBJECT_LOCK (element);
  *out = (GstMccEncoderSettings){ .control = self->encoder_control,
    .configure = self->configure_encoder,
    .encoder = self->encoder ? gst_object_ref (self->encoder) : NULL,
    .encoder_name = g_strdup (self->encoder_name),
    .property = g_strdup (self->encoder_property),
    .unit = self->encoder_unit,
    .max_bps = self->max_bps };
  GST_OBJECT_UNLOCK (element);
}

void
gst_mcc_sender_settings_encoder_clear (GstMccEncoderSettings *encoder)
{
  gst_clear_object (&encoder->encoder);
  g_free ((gchar *)encoder->encoder_name);
  g_free ((gchar *)encoder->property);
  memset (encoder, 0, sizeof *encoder);
}

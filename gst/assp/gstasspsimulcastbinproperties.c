/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "gstasspsimulcastbinprivate.h"

#define GST_CAT_DEFAULT gst_assp_simulcast_bin_debug

#define MAX_STREAMS 3 /* where neither streams nor max-streams is set */
#define DEFAULT_ENCODER "x264enc tune=zerolatency speed-preset=superfast"
#define DEFAULT_IDLE_TIMEOUT_MS 10000
/* Streams that lie closer together are not worth their encoders. */
#define STEP_MIN 1.5

#define ONE_ENCODER                                                                                \
  "encoder is one element, but there are several streams; set encoder-name to their encoders' "    \
  "names, with commas between."
#define OWN_ENCODERS(property)                                                                     \
  property " is for the encoders of request pads, and there are none: leave it out; "              \
           "encoder-description says what encodes the raw video."
#define NO_HOLD                                                                                    \
  "no-feedback is hold, which simulcast has not: a stream that nobody reports on is at its lower " \
  "bound; set it to minimum or stop."

enum {
  PROP_STREAMS = GST_MCC_SENDER_PROPERTY_LAST + 1,
  PROP_MAX_STREAMS,
  PROP_ENCODER_DESCRIPTION,
  PROP_IDLE_TIMEOUT,
};

/* Read from NULL to READY; at any time. */
#define STOPPED (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)

void
gst_assp_simulcast_bin_init_settings (GstAsspSimulcastBin *self)
{
  self->settings = (GstAsspSettings){ .encoder_description = g_strdup (DEFAULT_ENCODER),
    .idle_timeout_ms = DEFAULT_IDLE_TIMEOUT_MS };
}

void
gst_assp_simulcast_bin_clear_settings (GstAsspSimulcastBin *self)
{
  g_free (self->settings.streams);
  g_free (self->settings.encoder_description);
}

/* ---- what is wrong with them ---- */

static gboolean
fail (GstAsspSimulcastBin *self, gchar *text)
{
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s", text), (NULL));
  g_free (text);
  return FALSE;
}

#define BPS G_GUINT64_FORMAT

/* `streams` within min-bitrate and max-bitrate, where the user set these. */
static gboolean
check_range (
    GstAsspSimulcastBin *self, const GstMccSenderSettings *sender, const MccAsspStreams *streams)
{
  guint64 low = streams->stream[0].low_bps, high = streams->stream[streams->count - 1].high_bps;

  if (sender->min_set && low < sender->min_bps)
    return fail (self, g_strdup_printf ("streams: stream 0 begins at %" BPS ", below min-bitrate "
                                        "(%" BPS "); raise it or lower min-bitrate.",
                           low, sender->min_bps));
  if (sender->max_set && high > sender->max_bps)
    return fail (
        self, g_strdup_printf ("streams: stream %u reaches up to %" BPS ", above max-bitrate "
                               "(%" BPS "); lower it or raise max-bitrate.",
                  streams->count - 1, high, sender->max_bps));
  return TRUE;
}

/* Why the encoder or encoder-name (@id) that is set cannot be taken; NULL: it can. Called with the
 * object lock. */
static const gchar *
refuse_encoder_locked (GstAsspSimulcastBin *self, guint id, gboolean of_pads, guint count)
{
  const GstMccSenderSettings *all = &GST_MCC_SENDER (self)->settings;

  if (id == GST_MCC_SENDER_PROPERTY_ENCODER_NAME)
    return all->encoder_name && !of_pads ? OWN_ENCODERS ("encoder-name") : NULL;
  if (!all->encoder)
    return NULL;
  return !of_pads ? OWN_ENCODERS ("encoder") : count > 1 ? ONE_ENCODER : NULL;
}

static gboolean
check_others (
    GstAsspSimulcastBin *self, const GstMccSenderSettings *sender, gboolean of_pads, guint count)
{
  const gchar *location, *why;
  gboolean one_file;

  if (sender->no_feedback == MCC_NO_FEEDBACK_HOLD)
    return fail (self, g_strdup (NO_HOLD));
  GST_OBJECT_LOCK (self);
  location = GST_MCC_SENDER (self)->settings.sdp_location;
  one_file = location && !strstr (location, "%d");
  why = refuse_encoder_locked (self, GST_MCC_SENDER_PROPERTY_ENCODER, of_pads, count);
  if (!why)
    why = refuse_encoder_locked (self, GST_MCC_SENDER_PROPERTY_ENCODER_NAME, of_pads, count);
  GST_OBJECT_UNLOCK (self);
  if (one_file && count > 1)
    return fail (self, g_strdup ("sdp-location names one file for all streams; put %d where the "
                                 "stream's number goes, as in stream%d.sdp."));
  return why ? fail (self, g_strdup (why)) : TRUE;
}

gboolean
gst_assp_simulcast_bin_check_settings (GstAsspSimulcastBin *self)
{
  GstMccSenderSettings sender
      = gst_mcc_sender_settings_copy (&GST_MCC_SENDER (self)->settings, GST_ELEMENT (self));

  return gst_mcc_sender_settings_check (&sender, GST_ELEMENT (self))
         && check_others (self, &sender, self->entries.of_pads, self->bounds.count);
}

static guint
default_count (const GstMccSenderSettings *sender, guint max_streams)
{
  gdouble ratio = (gdouble)sender->max_bps / (gdouble)sender->min_bps;

  return CLAMP ((guint)(log (ratio) / log (STEP_MIN)), 1, max_streams);
}

gboolean
gst_assp_simulcast_bin_get_bounds (GstAsspSimulcastBin *self, guint pads, MccAsspStreams *out)
{
  GstMccSenderSettings sender
      = gst_mcc_sender_settings_copy (&GST_MCC_SENDER (self)->settings, GST_ELEMENT (self));
  GError *error = NULL;
  guint max_streams;
  gchar *streams;
  gboolean good;

  if (!gst_mcc_sender_settings_check (&sender, GST_ELEMENT (self)))
    return FALSE;
  GST_OBJECT_LOCK (self);
  streams = g_strdup (self->settings.streams);
  max_streams = self->settings.max_streams;
  GST_OBJECT_UNLOCK (self);
  self->live = streams == NULL || max_streams > 0;
  if (!streams) {
    guint count = default_count (&sender, max_streams ? max_streams : MAX_STREAMS);

    if (max_streams > 0 && pads > max_streams)
      return fail (self, g_strdup_printf ("max-streams is %u, but there are %u request pads; raise "
                                          "it, or request fewer.",
                             max_streams, pads));
    gst_assp_streams_make (pads ? pads : count, sender.min_bps, sender.max_bps, out);
    return check_others (self, &sender, pads > 0, out->count);
  }
  good = gst_assp_streams_parse (streams, out, &error);
  g_free (streams);
  if (!good) {
    fail (self, g_strdup (error->message));
    g_error_free (error);
    return FALSE;
  }
  if (pads && pads != out->count)
    return fail (self, g_strdup_printf ("streams has the bounds of %u streams, but there are %u "
                                        "request pads; give as many as there are pads.",
                           out->count, pads));
  if (max_streams > 0 && max_streams < out->count)
    return fail (
        self, g_strdup_printf ("max-streams is %u, but streams has the bounds of %u; raise "
                               "it, or give fewer.",
                  max_streams, out->count));
  return check_range (self, &sender, out) && check_others (self, &sender, pads > 0, out->count);
}

/* ---- encoders ---- */

gboolean
gst_assp_simulcast_bin_update_encoders (GstAsspSimulcastBin *self)
{
  GstMccEncoderSettings encoder;
  gchar **names;
  gboolean good = TRUE;

  gst_mcc_sender_settings_get_encoder (
      &GST_MCC_SENDER (self)->settings, GST_ELEMENT (self), &encoder);
  names = g_strsplit (encoder.encoder_name ? encoder.encoder_name : "", ",", -1);
  for (guint i = 0; good && i < self->n_streams; i++) {
    GstMccEncoderSettings one = encoder;

    one.encoder_name = i < g_strv_length (names) && *g_strstrip (names[i]) ? names[i] : NULL;
    /* Ours are found where they are. */
    if (self->stream[i].branch)
      one.encoder_name = NULL;
    if (self->stream[i].branch || self->n_streams > 1)
      one.encoder = NULL;
    good = gst_mcc_send_stream_set_encoder (self->stream[i].send, &one);
  }
  g_strfreev (names);
  gst_mcc_sender_settings_encoder_clear (&encoder);
  return good;
}

/* ---- setting and getting ---- */

static void
apply_encoder (GstAsspSimulcastBin *self)
{
  if (!gst_assp_simulcast_bin_update_encoders (self))
    return;
  for (guint i = 0; i < self->n_streams; i++) {
    gst_mcc_send_stream_look_upstream (self->stream[i].send, FALSE);
    if (GST_STATE (self) > GST_STATE_READY)
      gst_mcc_encoder_check_name (gst_mcc_send_stream_get_encoder (self->stream[i].send));
  }
}

/* What is set while it runs and not used; in READY it fails the change to PAUSED. */
static void
tell_unused (GstAsspSimulcastBin *self, guint id)
{
  const gchar *why = NULL;
  gboolean of_pads;
  guint count;

  g_rec_mutex_lock (&self->figures);
  count = self->n_streams;
  of_pads = self->entries.of_pads;
  g_rec_mutex_unlock (&self->figures);
  GST_OBJECT_LOCK (self);
  if (id == GST_MCC_SENDER_PROPERTY_NO_FEEDBACK)
    why = GST_MCC_SENDER (self)->settings.no_feedback == MCC_NO_FEEDBACK_HOLD ? NO_HOLD : NULL;
  else if (count > 0)
    why = refuse_encoder_locked (self, id, of_pads, count);
  GST_OBJECT_UNLOCK (self);
  if (why && GST_STATE (self) > GST_STATE_READY)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", why), (NULL));
}

static void
apply_sync (GstAsspSimulcastBin *self, gboolean sync)
{
  gst_mcc_entries_set_sync (&self->entries, sync);
  for (guint i = 0; i < self->n_streams; i++)
    if (self->stream[i].branch)
      gst_assp_branch_set_leaky (self->stream[i].branch, sync);
}

void
gst_assp_simulcast_bin_apply (GstMccSender *sender, guint id)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (sender);
  GstMccSenderSettings settings;

  g_rec_mutex_lock (&self->figures);
  settings = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (self));
  switch (id) {
    case GST_MCC_SENDER_PROPERTY_SYNC:
      apply_sync (self, settings.sync);
      break;
    case GST_MCC_SENDER_PROPERTY_PACING_FACTOR:
    case GST_MCC_SENDER_PROPERTY_PACING_MAX_DELAY:
      for (guint i = 0; i < self->n_streams; i++)
        gst_mcc_send_stream_configure (self->stream[i].send, &settings);
      break;
    case GST_MCC_SENDER_PROPERTY_ENCODER:
    case GST_MCC_SENDER_PROPERTY_ENCODER_NAME:
    case GST_MCC_SENDER_PROPERTY_ENCODER_CONTROL:
    case GST_MCC_SENDER_PROPERTY_CONFIGURE_ENCODER:
      apply_encoder (self);
      break;
    default:
      break;
  }
  g_rec_mutex_unlock (&self->figures);
  if (id == GST_MCC_SENDER_PROPERTY_ENCODER || id == GST_MCC_SENDER_PROPERTY_ENCODER_NAME
      || id == GST_MCC_SENDER_PROPERTY_NO_FEEDBACK)
    tell_unused (self, id);
}

static void
take_string (gchar **place, const GValue *value)
{
  const gchar *text = g_value_get_string (value);

  g_free (*place);
  *place = text && *text ? g_strdup (text) : NULL;
}

static void
gst_assp_simulcast_bin_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (object);

  if (id <= GST_MCC_SENDER_PROPERTY_LAST) {
    gst_mcc_sender_set_property (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_STREAMS:
      take_string (&self->settings.streams, value);
      break;
    case PROP_MAX_STREAMS:
      self->settings.max_streams = g_value_get_uint (value);
      break;
    case PROP_ENCODER_DESCRIPTION:
      g_free (self->settings.encoder_description);
      self->settings.encoder_description = g_value_dup_string (value);
      break;
    case PROP_IDLE_TIMEOUT:
      self->settings.idle_timeout_ms = g_value_get_uint (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_assp_simulcast_bin_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstAsspSimulcastBin *self = GST_ASSP_SIMULCAST_BIN (object);

  if (id <= GST_MCC_SENDER_PROPERTY_LAST) {
    gst_mcc_sender_get_property (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_STREAMS:
      g_value_set_string (value, self->settings.streams);
      break;
    case PROP_MAX_STREAMS:
      g_value_set_uint (value, self->settings.max_streams);
      break;
    case PROP_ENCODER_DESCRIPTION:
      g_value_set_string (value, self->settings.encoder_description);
      break;
    case PROP_IDLE_TIMEOUT:
      g_value_set_uint (value, self->settings.idle_timeout_ms);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

void
gst_assp_simulcast_bin_install_properties (GstMccSenderClass *sender_class)
{
  GObjectClass *klass = G_OBJECT_CLASS (sender_class);

  gst_mcc_sender_class_install (sender_class, GST_MCC_SENDS_STREAMS);
  gst_mcc_sender_properties_install_ecn (klass);
  klass->set_property = gst_assp_simulcast_bin_set_property;
  klass->get_property = gst_assp_simulcast_bin_get_property;
  g_object_class_install_property (klass, PROP_STREAMS,
      g_param_spec_string ("streams", "Streams",
          "Bounds of each stream in bit/s on the wire, lowest first: low:high,low:high,... They "
          "stay, unless max-streams is set (unset: at most max-streams of them between min-bitrate "
          "and max-bitrate, which follow what the receivers can take)",
          NULL, STOPPED));
  g_object_class_install_property (klass, PROP_MAX_STREAMS,
      g_param_spec_uint ("max-streams", "Most streams",
          "At most so many streams, whose bounds follow what the receivers can take, from those of "
          "streams on; never more than streams has bounds, or than there are request pads: a "
          "higher number adds none (0: the bounds of streams stay; where it is unset, 3)",
          0, MCC_ASSP_STREAMS_MAX, 0, STOPPED));
  g_object_class_install_property (klass, PROP_ENCODER_DESCRIPTION,
      g_param_spec_string ("encoder-description", "Encoder",
          "The encoder of each stream as gst-launch-1.0 takes it, such as vp8enc; raw video in, "
          "H.264, H.265, VP8, VP9, AV1, JPEG, MPEG-4, Theora or RTP out",
          DEFAULT_ENCODER, STOPPED));
  g_object_class_install_property (klass, PROP_IDLE_TIMEOUT,
      g_param_spec_uint ("idle-timeout", "Idle time-out",
          "A stream that had no receiver for so many ms is not encoded until one comes (one that "
          "had some goes on for 7 s at least, for those who still show it); the lowest always is "
          "(0: all always are, for plain players of higher streams)",
          0, G_MAXUINT, DEFAULT_IDLE_TIMEOUT_MS, STOPPED | GST_PARAM_MUTABLE_READY));
}

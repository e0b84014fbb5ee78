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

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));

G_DEFINE_FINAL_TYPE_WITH_CODE (GstAsmpSink, gst_asmp_sink, GST_TYPE_MCC_SENDER,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SINK, "asmp"))
GST_ELEMENT_REGISTER_DEFINE (asmpsink, "asmpsink", GST_RANK_NONE, GST_TYPE_ASMP_SINK)

/* ---- states ---- */

/* NULL->READY */
static gboolean
gst_asmp_sink_prepare (GstMccSender *sender)
{
  static const MccPlace here;
  GstAsmpSink *self = GST_ASMP_SINK (sender);
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (self));

  if (!self->clocksync) {
    gst_mcc_sender_tell_missing (sender, "clocksync");
    return FALSE;
  }
  if (!gst_mcc_sender_settings_check (&settings, GST_ELEMENT (self))
      || !gst_asmp_sink_update_encoder (self)
      || !gst_mcc_sender_open_session (sender, &here, 1, settings.max_bps)
      || !gst_mcc_send_stream_link (self->stream, sender->session))
    return FALSE;
  gst_mcc_send_stream_configure (self->stream, &settings);
  gst_mcc_encoder_set_bitrate (
      gst_mcc_send_stream_get_encoder (self->stream), gst_mcc_sender_settings_start (&settings));
  gst_mcc_send_stream_look_upstream (self->stream, FALSE);
  return TRUE;
}

/* READY->NULL */
static void
gst_asmp_sink_release (GstMccSender *sender)
{
  GstMccSendStream *stream = GST_ASMP_SINK (sender)->stream;

  /* of one that is let go while it runs */
  gst_element_set_state (gst_mcc_send_stream_get_pacer (stream), GST_STATE_NULL);
  gst_mcc_send_stream_unlink (stream);
  gst_mcc_session_close (sender->session);
}

/* READY->PAUSED, before the data flows */
static gboolean
gst_asmp_sink_start (GstMccSender *sender)
{
  GstAsmpSink *self = GST_ASMP_SINK (sender);
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (self));
  MccAsmpSenderConfig config = { .min_bps = settings.min_bps,
    .max_bps = settings.max_bps,
    .start_bps = gst_mcc_sender_settings_start (&settings),
    .max_receivers = settings.max_receivers,
    .no_feedback = settings.no_feedback,
    .ecn = settings.ecn,
    .wants_block = true,
    .seed = gst_mcc_properties_get_seed (&sender->network) };
  GInetAddress *inet;
  gboolean good;

  if (!gst_mcc_sender_settings_check (
          &settings, GST_ELEMENT (self))) /* they may have changed since NULL->READY */
    return FALSE;
  g_mutex_lock (&sender->network.lock);
  config.variant = sender->network.variant;
  config.session_bandwidth_bps = sender->network.opened.session_bandwidth;
  inet = g_inet_address_new_from_string (sender->network.opened.address);
  config.ttl = (uint8_t)(g_inet_address_get_is_multicast (inet) ? sender->network.opened.ttl_mc
                                                                : sender->network.opened.ttl);
  g_mutex_unlock (&sender->network.lock);
  g_clear_object (&inet);
  gst_mcc_session_get_feedback (sender->session, &config.feedback);
  config.srtcp_bytes = gst_mcc_session_get_srtcp_bytes (sender->session);

  gst_mcc_send_stream_set_pacing (self->stream, &mcc_pacing_default);
  gst_mcc_send_stream_start (self->stream, config.start_bps);
  g_mutex_lock (&sender->lock);
  sender->core = mcc_asmp_sender_new (&config, gst_mcc_pump_now (sender->pump));
  good = sender->core != NULL;
  self->target_bps = config.start_bps;
  g_mutex_unlock (&sender->lock);
  if (!good)
    gst_mcc_sender_tell_no_memory (sender);
  return good;
}

static void
on_linked (GstPad *pad, GstPad *peer, gpointer data)
{
  GstAsmpSink *self = data;

  if (GST_STATE (self) >= GST_STATE_READY)
    gst_mcc_send_stream_look_upstream (self->stream, FALSE);
}

/* ---- properties ---- */

#define BPS G_GUINT64_FORMAT

/* Bounds that changed while the core runs. */
static void
apply_bounds (GstMccSender *self)
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
apply_no_feedback (GstMccSender *self, MccNoFeedback policy)
{
  g_mutex_lock (&self->lock);
  if (self->core)
    mcc_asmp_sender_set_no_feedback (self->core, policy, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, 0);
}

static void
apply_encoder (GstAsmpSink *self)
{
  GstMccEncoder *encoder = gst_mcc_send_stream_get_encoder (self->stream);

  if (GST_STATE (self) < GST_STATE_READY || !gst_asmp_sink_update_encoder (self))
    return;
  gst_mcc_encoder_find (encoder, self->sink, FALSE);
  if (GST_STATE (self) > GST_STATE_READY)
    gst_mcc_encoder_check_name (encoder);
}

/* What the new value of @id changes at once. */
static void
gst_asmp_sink_apply (GstMccSender *sender, guint id)
{
  GstAsmpSink *self = GST_ASMP_SINK (sender);
  GstMccSenderSettings settings
      = gst_mcc_sender_settings_copy (&sender->settings, GST_ELEMENT (self));

  switch (id) {
    case GST_MCC_SENDER_PROPERTY_MIN_BITRATE:
    case GST_MCC_SENDER_PROPERTY_MAX_BITRATE:
      apply_bounds (sender);
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
      apply_no_feedback (sender, settings.no_feedback);
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
}

/* ---- life ---- */

static void
gst_asmp_sink_finalize (GObject *object)
{
  GstAsmpSink *self = GST_ASMP_SINK (object);

  gst_mcc_send_stream_free (self->stream);
  G_OBJECT_CLASS (gst_asmp_sink_parent_class)->finalize (object);
}

static void
gst_asmp_sink_class_init (GstAsmpSinkClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstMccSenderClass *sender_class = GST_MCC_SENDER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_asmp_sink_debug, "asmpsink", 0, "adaptive multicast sender");
  G_OBJECT_CLASS (klass)->finalize = gst_asmp_sink_finalize;
  sender_class->scheme = "asmp";
  sender_class->element_name = "asmpsink";
  sender_class->machine = &gst_asmp_sink_machine;
  sender_class->handler = &gst_asmp_sink_session_handler;
  sender_class->prepare = gst_asmp_sink_prepare;
  sender_class->release = gst_asmp_sink_release;
  sender_class->start = gst_asmp_sink_start;
  sender_class->poll_locked = gst_asmp_sink_poll_locked;
  sender_class->act = gst_asmp_sink_act;
  sender_class->tick = gst_asmp_sink_tick;
  sender_class->apply = gst_asmp_sink_apply;
  sender_class->get_target = gst_asmp_sink_get_target;
  sender_class->get_stats = gst_asmp_sink_get_stats;
  gst_mcc_sender_class_install (sender_class, GST_MCC_SENDS_STREAM);
  gst_mcc_sender_properties_install_ecn (G_OBJECT_CLASS (klass));

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

  gst_mcc_sender_setup (GST_MCC_SENDER (self));
  self->stream = gst_mcc_send_stream_new (
      GST_BIN (self), 0, &gst_asmp_sink_stream_handler, gst_mcc_sender_encoder_changed);
  pacer = gst_mcc_send_stream_get_pacer (self->stream);
  self->clocksync = gst_element_factory_make ("clocksync", NULL);
  if (self->clocksync) {
    gst_mcc_hold_add (GST_MCC_SENDER (self)->hold, self->clocksync);
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

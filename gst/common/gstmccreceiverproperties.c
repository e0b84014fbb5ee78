/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccreceiverprivate.h"

#define DEFAULT_LATENCY_MS 300 /* as gstmccproperties.c sets it */

void
gst_mcc_receiver_install_properties (GObjectClass *object)
{
  /* read from NULL to READY */
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  guint latency_ms = GST_MCC_RECEIVER_CLASS (object)->latency_ms;

  gst_mcc_properties_install (object, GST_MCC_RECEIVER_CLASS (object)->scheme,
      "Bandwidth of the whole session in bit/s, an upper bound for rtpsession's part of RTCP (0: "
      "what the sender announces)");
  g_object_class_install_property (object, GST_MCC_RECEIVER_PROPERTY_LATENCY,
      g_param_spec_uint ("latency", "latency",
          "Milliseconds that packets may wait for late ones (jitterbuffer), 0-60000; at least the "
          "sender's pacing-max-delay + the network's jitter",
          0, G_MAXUINT, latency_ms ? latency_ms : DEFAULT_LATENCY_MS, flags));
  g_object_class_install_property (object, GST_MCC_RECEIVER_PROPERTY_CAPS,
      g_param_spec_boxed ("caps", "caps",
          "RTP caps of the stream (unset: as the sender announces; needed with plain senders only)",
          GST_TYPE_CAPS, flags));
  g_object_class_install_property (object, GST_MCC_RECEIVER_PROPERTY_ENCODING_NAME,
      g_param_spec_string ("encoding-name", "encoding-name",
          "Short for caps: H264, H265, VP8, VP9, OPUS, ... (unset: as the sender announces)", NULL,
          flags));
  g_object_class_install_property (object, GST_MCC_RECEIVER_PROPERTY_SSRC,
      g_param_spec_uint ("ssrc", "ssrc",
          "SSRC of the sender to follow when there are several (0: the first heard)", 0, G_MAXUINT,
          0, flags | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object, GST_MCC_RECEIVER_PROPERTY_ESTIMATED_BITRATE,
      g_param_spec_uint64 ("estimated-bitrate", "estimated-bitrate",
          "TCP-friendly rate of the path, bit/s on the wire, as reported to the sender", 0,
          G_MAXUINT64, 0, read));
  g_object_class_install_property (object, GST_MCC_RECEIVER_PROPERTY_STATS,
      g_param_spec_boxed ("stats", "stats",
          "application/x-adaptive-multicast-receiver-stats: rates, loss, RTT, queue, reports",
          GST_TYPE_STRUCTURE, read));
}

void
gst_mcc_receiver_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstMccReceiver *self = GST_MCC_RECEIVER (object);

  if (gst_mcc_properties_set (&self->properties, object, id, value)) {
    gst_mcc_properties_apply_key (&self->properties, GST_ELEMENT (self), id, self->session);
    if (id == GST_MCC_PROPERTY_STATS_INTERVAL)
      gst_mcc_pump_wake (self->pump, 0);
    return;
  }
  switch (id) {
    case GST_MCC_RECEIVER_PROPERTY_LATENCY:
      g_mutex_lock (&self->properties.lock);
      self->properties.settings.latency_ms = g_value_get_uint (value);
      g_mutex_unlock (&self->properties.lock);
      break;
    case GST_MCC_RECEIVER_PROPERTY_CAPS:
      GST_OBJECT_LOCK (self);
      gst_caps_replace (&self->caps, (GstCaps *)gst_value_get_caps (value));
      GST_OBJECT_UNLOCK (self);
      break;
    case GST_MCC_RECEIVER_PROPERTY_ENCODING_NAME:
      GST_OBJECT_LOCK (self);
      g_free (self->encoding_name);
      self->encoding_name = g_value_dup_string (value);
      if (self->encoding_name && !*self->encoding_name)
        g_clear_pointer (&self->encoding_name, g_free);
      GST_OBJECT_UNLOCK (self);
      break;
    case GST_MCC_RECEIVER_PROPERTY_SSRC:
      GST_OBJECT_LOCK (self);
      self->wanted_ssrc = g_value_get_uint (value);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

void
gst_mcc_receiver_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstMccReceiver *self = GST_MCC_RECEIVER (object);

  if (gst_mcc_properties_get (&self->properties, object, id, value))
    return;
  switch (id) {
    case GST_MCC_RECEIVER_PROPERTY_LATENCY:
      g_mutex_lock (&self->properties.lock);
      g_value_set_uint (value, self->properties.settings.latency_ms);
      g_mutex_unlock (&self->properties.lock);
      break;
    case GST_MCC_RECEIVER_PROPERTY_CAPS:
      GST_OBJECT_LOCK (self);
      gst_value_set_caps (value, self->caps);
      GST_OBJECT_UNLOCK (self);
      break;
    case GST_MCC_RECEIVER_PROPERTY_ENCODING_NAME:
      GST_OBJECT_LOCK (self);
      g_value_set_string (value, self->encoding_name);
      GST_OBJECT_UNLOCK (self);
      break;
    case GST_MCC_RECEIVER_PROPERTY_SSRC:
      GST_OBJECT_LOCK (self);
      g_value_set_uint (value, self->wanted_ssrc);
      GST_OBJECT_UNLOCK (self);
      break;
    case GST_MCC_RECEIVER_PROPERTY_ESTIMATED_BITRATE:
      g_mutex_lock (&self->lock);
      g_value_set_uint64 (value, self->estimated_bps);
      g_mutex_unlock (&self->lock);
      break;
    case GST_MCC_RECEIVER_PROPERTY_STATS:
      g_value_take_boxed (value, gst_mcc_receiver_make_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}
